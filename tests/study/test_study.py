"""The study: its numbers are those of what it looks at, and its files hold them."""

import csv
import math

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import scenes
from gpu_collide.cli import main
from gpu_collide.reference.narrow_phase.census import census
from gpu_collide.study import page, paper, run, tori

SMALL = {"pairs": 30, "resolutions": (3.0, 12.0), "repeat": 1}


@pytest.fixture(scope="module")
def small():
    return run.study({"cars": (gc.shapes.car(),)}, **SMALL)


def test_the_estimate_is_the_formula_and_one_number_of_the_paper_is_misprinted():
    for degrees, ours, said in paper.estimates():
        assert ours == pytest.approx(
            (1 - math.cos(math.radians(degrees) / 2)) / math.radians(degrees), rel=1e-12
        )
        assert (round(ours, 3) == said) == (degrees != 60)
    assert round(float(gc.chord_error(math.radians(60))), 3) == 0.128


def test_the_estimate_keeps_its_digits():
    angle = np.array([0.0, 1e-12, -0.5, 2 * math.pi])
    want = [0.0, 1e-12 / 8, (1 - math.cos(0.25)) / 0.5, 1 / math.pi]
    assert gc.chord_error(angle) == pytest.approx(want, rel=1e-12)
    assert gc.chord_error(0.5).shape == ()


@pytest.mark.parametrize("bad", [45.0, -7.0, math.nan, math.inf])
def test_angles_that_are_none(bad):
    with pytest.raises(ValueError, match="angle: expected finite radians"):
        gc.chord_error(bad)


def test_the_estimate_is_the_height_of_an_arc_over_its_chord():
    """A body half a unit off its pivot: the screw takes its centre along the arc."""
    angle, radius = 0.7, 2.5
    a, b = np.array([radius, 0.0]), radius * np.array([math.cos(angle), math.sin(angle)])
    height = radius - np.linalg.norm((a + b) / 2)
    assert height / (radius * angle) == pytest.approx(float(gc.chord_error(angle)), rel=1e-12)


def test_exact_is_exact_and_the_others_get_better(small):
    rows = {(r["mode"], r["resolution"]): r for r in small.rows}
    assert set(rows) == {(m, x) for m in ("exact", "segments", "pixels") for x in (3.0, 12.0)}
    for (mode, _), r in rows.items():
        assert r["pairs"] == 30 and r["exact_contacts"] > 10 and r["us_per_pair"] > 0
        stages = sum(
            v for k, v in r.items() if k.startswith("us_") and k not in ("us_per_pair", "us_processor")
        )
        # Parts of the same call. How large a part is the machine's affair: this is mostly the call itself.
        assert 0 < stages <= r["us_per_pair"]
        if mode == "exact":
            assert r["false"] == r["missed"] == 0 and r["time_worst"] < 1e-12 and r["place_worst"] < 1e-12
            assert r["contacts"] == r["exact_contacts"]
        else:
            assert 0 <= r["time_median"] <= r["time_95"] <= r["time_worst"]
    assert (
        rows["segments", 12.0]["time_95"] < rows["segments", 3.0]["time_95"] < rows["pixels", 3.0]["time_95"]
    )
    assert rows["pixels", 12.0]["false"] < rows["pixels", 3.0]["false"]
    assert rows["exact", 12.0]["records_per_pair"] > 2 * rows["exact", 3.0]["records_per_pair"]


def test_errors_that_are_there_are_told(monkeypatch):
    """Of an answer that lacks a tenth of its contacts, has a tenth invented, and is late by 0.01."""
    real = gc.collide

    def worse(*args, **words):
        found = real(*args, **words).to_numpy()
        if words.get("tuning", gc.Tuning()).candidates == "raster":
            body = np.array(found.feature_b)
            body[::10] += 1000  # no such feature: one invented, and the true one missed
            object.__setattr__(found, "feature_b", body)
            object.__setattr__(found, "time", found.time + 0.01)
        return found

    monkeypatch.setattr(gc, "collide", worse)
    row = run.study({"cubes": (gc.shapes.box(),)}, modes=("exact",), **SMALL).rows[0]
    assert 0.08 < row["false"] < 0.13 and 0.05 < row["missed"] < 0.2
    assert row["time_median"] == pytest.approx(0.01) and row["time_worst"] == pytest.approx(0.01)


def test_what_is_counted():
    """Candidates are a superset of the contacts."""
    bodies, pairs = scenes.random_impacts(gc.shapes.box(), None, 8, seed=4)
    found = gc.collide(bodies, pairs, min_properness=-1.0).to_numpy()
    met = np.diff(found.contact_start)
    for approximate in (False, True):
        counts = np.array(census(bodies, pairs, 6.0, approximate))
        assert (counts[met > 0] > 0).all()
    assert (np.array(census(bodies, pairs, 6.0))[:, 1] >= met).all()


def test_the_csv_and_the_page(small):
    lines = small.csv().splitlines()
    assert "# seed: 1" in lines and f"# version: {gc.__version__}" in lines
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == 6 and float(rows[0]["us_per_pair"]) > 0
    text = page.page(small, "gpu-collide study", "study.png")
    assert "Made by `gpu-collide study`" in text and "(study.png)" in text
    assert "| 60 | 0.128 | 0.173 (misprinted) |" in text and "| 45 | 0.097 | 0.097 |" in text
    assert "Beside the paper" not in text, "its resolutions were not run"
    rows = [{**small.rows[0], "resolution": at, "us_processor": 1.5} for at in (6.0, 12.0, 24.0)]
    text = page.page(run.Study(rows, small.settings), "gpu-collide study")
    assert "| cars | exact | 109 / 1.5 | 128 / 1.5 | 170 / 1.5 |" in text


def test_the_passage_has_three_proper_contacts():
    bodies, pairs = tori.passage()
    found = gc.collide(bodies, pairs, min_properness=0.0).to_numpy()
    assert len(found) == 3 and found.status[0] == gc.Status.HIT and np.diff(found.time).min() > 0.1
    assert len(bodies.meshes[0].face_start) - 1 == 300 and len(bodies.meshes[0].edges) == 600


def test_the_command_writes_its_files(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    words = [
        "study",
        "--shape",
        "tori",
        "--pairs",
        "2",
        "--resolution",
        "6",
        "--mode",
        "pixels",
        "--repeat",
        "1",
    ]
    assert main([*words, "--plain", "-q", "-o", str(tmp_path)]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "study.csv", "study.md", "study.png", "tori.png", "tori_screen.png",
    ]  # fmt: skip
    assert all(p.stat().st_size > 500 for p in tmp_path.iterdir())
    told = (tmp_path / "study.md").read_text()
    assert "gpu-collide study --shape tori --resolution 6.0 --mode pixels --pairs 2" in told
    assert "tori" in capsys.readouterr().out


def test_shapes_of_ones_own(tmp_path, capsys):
    (tmp_path / "a.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    )
    words = ["study", str(tmp_path / "a.obj"), "--pairs", "5", "--resolution", "6", "--repeat", "1"]
    assert main([*words, "--mode", "exact", "--plain", "-q", "-o", str(tmp_path / "out")]) == 0
    assert "\na,exact,6" in (tmp_path / "out" / "study.csv").read_text()
    capsys.readouterr()
    for more, said in ((["--shape", "cars"], "not both"), ([str(tmp_path / "gone.obj")], "no such mesh file"),
                       (["b", "c"], "one mesh file or two, got 3")):  # fmt: skip
        assert main([*words[:2], *more, *words[2:]]) == 2
        assert said in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main([*words, "-o", str(tmp_path / "file" / "x")]) == 2
    assert "-o: cannot make the folder" in capsys.readouterr().err
