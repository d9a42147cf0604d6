"""Timing, comparison and CSV files of the bench, on results made by hand."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from bench import cases, report, run
from bench import timing as timing_module
from bench.checks import compare_with_exact
from bench.settings import Settings
from bench.timing import Timing, measure, measure_in_turn


def contacts(rows):
    """Stand-in for a result: rows of (pair, kind, feature_a, feature_b, time)."""
    columns = np.array(rows, float).reshape(-1, 5)
    pair, kind, a, b = columns[:, :4].astype(int).T
    place = np.stack([columns[:, 4], np.zeros(len(rows)), np.zeros(len(rows))], axis=1)
    features = {"pair": pair, "kind": kind, "feature_a": a, "feature_b": b}
    return SimpleNamespace(**features, time=columns[:, 4], position=place, local_a=place, local_b=-place)


def test_comparison_counts_false_and_missed_and_takes_the_nearest_meeting():
    exact = contacts([(0, 2, 1, 1, 0.2), (0, 2, 1, 1, 0.8), (1, 0, 3, 4, 0.5)])
    found = contacts([(0, 2, 1, 1, 0.79), (2, 2, 9, 9, 0.1)])
    errors = compare_with_exact(found, (found, exact), exact)
    assert errors["false"] == 0.5
    assert errors["missed"] == 0.5
    assert errors["time_median"] == pytest.approx(0.01)
    assert errors["place_median"] == pytest.approx(0.01)
    assert errors["edge_time"] == pytest.approx(0.01) and np.isnan(errors["vertex_time"])


def test_crossing_the_threshold_is_neither_false_nor_missed():
    proper = contacts([(0, 2, 1, 1, 0.2)])
    improper = contacts([(0, 0, 5, 6, 0.3)])
    both = contacts([(0, 2, 1, 1, 0.2), (0, 0, 5, 6, 0.3)])
    errors = compare_with_exact(improper, (both, both), proper)
    assert errors["false"] == 0.0 and errors["missed"] == 0.0


def test_a_neighbour_within_three_pixels_is_no_miss_but_false():
    """``pixels`` reports one contact of those at a vertex: by names, 16 % of cars' were missed."""
    exact = contacts([(0, 2, 1, 1, 0.2), (1, 2, 1, 1, 0.8)])
    found = contacts([(0, 0, 5, 6, 0.22), (1, 2, 9, 9, 0.6)])
    by_name = compare_with_exact(found, (found, exact), exact)
    assert by_name["missed"] == 1.0 and by_name["false"] == 1.0
    by_place = compare_with_exact(found, (found, exact), exact, pixel=0.01)  # 2 and 20 pixels away
    assert by_place["missed"] == 0.5 and by_place["false"] == 1.0
    found.local_b = found.local_b + 1.0  # near on A alone
    assert compare_with_exact(found, (found, exact), exact, pixel=0.01)["missed"] == 1.0


def test_a_contact_of_another_pair_is_no_neighbour():
    exact, found = contacts([(1, 2, 1, 1, 0.2)]), contacts([(0, 2, 1, 1, 0.2), (2, 2, 1, 1, 0.2)])
    assert compare_with_exact(found, (found, exact), exact, pixel=0.01)["missed"] == 1.0


def test_nothing_found_and_nothing_there():
    errors = compare_with_exact(contacts([]), (contacts([]), contacts([])), contacts([]))
    assert errors["false"] == 0.0 and errors["missed"] == 0.0 and np.isnan(errors["time_median"])
    errors = compare_with_exact(contacts([]), (contacts([]), contacts([])), contacts([]), pixel=0.01)
    assert errors["missed"] == 0.0


def test_measure_keeps_the_minimum_and_its_stages(monkeypatch):
    """By a clock of its own: on a busy machine a nap of 2 ms took 10 and more, 6 times of 20."""
    naps, now = iter([0.03, 0.01, 0.002, 0.01]), [0.0]
    monkeypatch.setattr(timing_module, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def call():
        nap = next(naps)
        now[0] += nap
        return SimpleNamespace(info={"timings": {"s07_solve": nap, "compile": 0.5, "to_host": 0.25}})

    timing = measure(call, 3)
    assert timing.best == pytest.approx(0.002) and timing.startup == pytest.approx(0.028)
    assert timing.spread == pytest.approx(4.0)
    assert timing.part("kernel") == 0.002
    assert timing.part("compile") == 0.5 and timing.part("transfer") == 0.25


def test_measure_in_turn_alternates():
    order = []
    measure_in_turn([lambda: order.append("a"), lambda: order.append("b")], 2)
    assert "".join(order) == "ababab"


def test_report_writes_csv_with_what_the_numbers_belong_to(tmp_path):
    out = report.Report("cubes", Settings(results=tmp_path))
    out.set_device(SimpleNamespace(info={"backend": "opencl", "device": "Some Device"}))
    out.add(refine="exact", pairs=5, us_per_pair=1.25)
    out.add_stages("exact", Timing(1.0, [0.5, 0.75], {"s01_screw": 0.25, "total": 0.4}), 5)
    files = out.write()
    assert [path.name for path in files] == ["cubes.csv", "cubes_stages.csv"]
    assert files[0].parent.name == "opencl-some-device"
    lines = files[0].read_text().splitlines()
    about = [line for line in lines if line.startswith("# ")]
    assert any(line.startswith("# commit: ") for line in about) and "# numpy: " in "\n".join(about)
    rows = list(csv.DictReader(lines[len(about) :]))
    assert rows == [{"refine": "exact", "pairs": "5", "us_per_pair": "1.25"}]
    stages = {
        row["stage"]: float(row["share"])
        for row in csv.DictReader(files[1].read_text().splitlines()[len(about) :])
    }
    assert stages == {"s01_screw": 0.5, "host, between stages": 0.5}


def test_every_case_has_a_name_and_a_help_line(capsys):
    assert run.main(["--list"]) == 0
    listed = capsys.readouterr().out
    for name in cases.NAMES:
        assert cases.load(name).NAME == name
        assert cases.load(name).HELP in listed


@pytest.mark.parametrize("words", [["nonsense"], ["-f", "nonsense"], []])
def test_wrong_case_names_are_answered_with_the_right_ones(words, capsys):
    with pytest.raises(SystemExit):
        run.main(words)
    assert "case" in capsys.readouterr().err


def test_race_without_a_path_says_what_it_needs(capsys):
    assert run.main(["race"]) == 1
    assert "RACE.npz" in capsys.readouterr().err
