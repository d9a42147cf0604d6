"""`FilterReport`: rows, sums, text."""

import json

import pytest

import gpu_collide as gc
from gpu_collide.results.report import FilterReport, FilterRow

pytestmark = pytest.mark.smoke


def example():
    report = FilterReport()
    report.add("spheres", 6646, 3800, 6646e-7)
    report.add("boxes", 2846, 1911, 2846 * 26.13e-6)
    report.add("narrow phase", 935, 935, 935 * 450.98e-6, hits=842)
    return report


def test_rows_say_what_passed_and_what_a_test_cost():
    row = example()["boxes"]
    assert (row.got, row.settled, row.passed) == (2846, 1911, 935)
    assert row.share == pytest.approx(0.6715, abs=1e-4)
    assert row.microseconds == pytest.approx(26.13)
    assert FilterRow("plane", 0, 0, 0.0).share == FilterRow("plane", 0, 0, 0.0).microseconds == 0.0


def test_adding_to_a_row_and_adding_reports():
    report = example()
    report.add("spheres", 10, 10, 1e-6)
    assert report["spheres"] == FilterRow("spheres", 6656, 3810, 6646e-7 + 1e-6)
    double = example() + example()
    assert [row.name for row in double] == ["spheres", "boxes", "narrow phase"]
    assert double["narrow phase"].hits == 2 * 842
    assert sum([example(), example()]) == double
    assert example() + FilterReport() == example() == FilterReport() + example()


def test_what_only_one_report_has_keeps_its_place():
    other = FilterReport()
    other.add("hierarchy", 1000, 900, 1e-4)
    other.add("spheres", 100, 50, 1e-5)
    other.add("plane", 50, 5, 1e-4)
    other.add("narrow phase", 45, 45, 1e-3, hits=3)
    for total in (example() + other, other + example()):
        names = [row.name for row in total]
        assert (
            names.index("hierarchy")
            < names.index("spheres")
            < names.index("plane")
            < names.index("narrow phase")
        )
        assert total["narrow phase"].hits == 845
        assert total["plane"] == other["plane"]


def test_json_there_and_back():
    report = example()
    assert FilterReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    with pytest.raises(ValueError, match="rows: expected each test once, got 'spheres' twice"):
        FilterReport([FilterRow("spheres", 1, 0, 0.0)] * 2)


def test_the_table_reads_like_its_model():
    lines = str(example()).splitlines()
    assert lines[0].split("  ")[0] == "test" and "definitive answers" in lines[0]
    assert [line.split("  ")[0] for line in lines[1:4]] == ["spheres", "boxes", "narrow phase"]
    assert len({len(line) for line in lines[:4]}) == 1
    assert "3,800" in lines[1] and "57.2 %" in lines[1] and "26.1 us" in lines[2] and "451 us" in lines[3]
    assert "842 pairs with contacts" in lines[4]
    assert "spheres 3800/6646" in repr(example())
    assert "-" in str(FilterReport([FilterRow("plane", 0, 0, 0.0)])).splitlines()[1]


def moving():
    """Two cubes that meet, two that pass far away."""
    start = [[0, 0, 0], [-3, 0.1, 0.2], [0, 0, 0], [-3, 50, 0]]
    end = [[0, 0, 0], [0, 0.1, 0.2], [0, 0, 0], [0, 50, 0]]
    still = [[1.0, 0, 0, 0]] * 4
    poses = [gc.Poses.from_quat_wxyz(x, still) for x in (start, end)]
    return gc.Bodies(gc.shapes.box(), None, *poses), [[0, 1], [2, 3]]


def test_collide_reports(backend):
    bodies, pairs = moving()
    plain = gc.collide(bodies, pairs, backend=backend.kind).to_numpy()
    assert plain.report is None
    found = gc.collide(bodies, pairs, backend=backend.kind, report=True).to_numpy()
    for name in ("time", "toi", "status", "feature_a", "position"):
        assert getattr(found, name).tobytes() == getattr(plain, name).tobytes()
    report = found.report
    assert (report["spheres"].got, report["spheres"].settled) == (2, 1)
    last = report.rows[-1]
    assert (last.name, last.got, last.settled, last.hits) == ("narrow phase", 1, 1, 1)
    assert all(row.seconds > 0 for row in report)


def test_a_report_survives_the_file(tmp_path):
    bodies, pairs = moving()
    found = gc.collide(bodies, pairs, report=True)
    found.save(tmp_path / "found.npz")
    assert gc.Contacts.load(tmp_path / "found.npz").report == found.report


def test_without_filters_the_narrow_phase_gets_every_pair():
    bodies, pairs = moving()
    for kind in ("cpu", "reference"):
        report = gc.collide(bodies, pairs, tuning=gc.Tuning(filters="none"), report=True, backend=kind).report
        assert [row.name for row in report] == ["narrow phase"]
        assert (report["narrow phase"].got, report["narrow phase"].hits) == (2, 1)
        report = gc.collide(
            bodies, pairs, tuning=gc.Tuning(filters=("boxes",)), report=True, backend=kind
        ).report
        assert [row.name for row in report] == ["boxes", "narrow phase"]
        assert (report["boxes"].got, report["boxes"].settled, report["narrow phase"].got) == (2, 1, 1)


def test_arguments_that_do_not_fit():
    bodies, pairs = moving()
    for bad in (3, None, b"auto", (1,), {"spheres"}):
        with pytest.raises(TypeError, match="filters: expected"):
            gc.collide(bodies, pairs, tuning=gc.Tuning(filters=bad))
    for bad in ("spheres", "all", ("cones",)):
        with pytest.raises(ValueError, match="filters: expected 'auto', 'none' or a tuple"):
            gc.collide(bodies, pairs, tuning=gc.Tuning(filters=bad))
    with pytest.raises(ValueError, match="filters: expected each once, got 'boxes' twice"):
        gc.collide(bodies, pairs, tuning=gc.Tuning(filters=("boxes", "spheres", "boxes")))
    with pytest.raises(TypeError, match="report: expected a bool, got int"):
        gc.collide(bodies, pairs, report=1)
