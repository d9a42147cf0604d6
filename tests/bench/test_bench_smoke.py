"""Every case of the bench runs, on a handful of pairs."""

import pytest

import gpu_collide as gc
import studies
from bench import run

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def bench(*words):
    return run.main([*words, "--pairs", "24", "--repeat", "1"])


def study(*words):
    return run.main([*words, "--repeat", "1"], cases=studies, prog="python -m studies")


@pytest.mark.parametrize("case", ["cubes", "cars"])
def test_small_shapes_in_every_mode(case, tmp_path, capsys):
    assert bench(case, "--resolution", "6", "--results", str(tmp_path)) == 0
    said = capsys.readouterr().out
    for mode in ("exact", "segments", "pixels"):
        assert mode in said
    names = sorted(path.name for path in tmp_path.glob("*/*.csv"))
    assert names == [f"{case}.csv", f"{case}_stages.csv"]


def test_tori_in_exact_mode(capsys):
    assert run.main(["tori", "--pairs", "4", "--repeat", "1", "--mode", "exact", "--resolution", "6"]) == 0
    assert "exact" in capsys.readouterr().out


def test_filter_takes_part_of_a_name(capsys):
    assert bench("-f", "cube", "--mode", "exact", "--resolution", "6") == 0
    assert "== cubes ==" in capsys.readouterr().out


def test_moves_beside_fcl_and_embree(tmp_path, capsys):
    pytest.importorskip("fcl", reason="python-fcl is not installed")
    pytest.importorskip("embreex", reason="embreex is not installed")
    figure = tmp_path / "moves.png"
    assert bench("moves", "--quick", "--backend", "cpu", "--figure", str(figure)) == 0
    assert figure.stat().st_size > 10000
    said = capsys.readouterr().out
    assert "sampled_per_s" in said and "embree_per_s" in said and "us_per_ray" in said


def test_sweeps_beside_embree(capsys, monkeypatch):
    pytest.importorskip("embreex", reason="embreex is not installed")
    from bench.cases import sweeps

    monkeypatch.setattr(sweeps, "SIZES", (500, 2_000))
    monkeypatch.setattr(sweeps, "TRACKS", (2_000,))
    monkeypatch.setattr(sweeps, "SAMPLE", 40)  # the reference takes 10 ms each
    assert bench("sweeps", "--quick", "--backend", "cpu") == 0
    said = capsys.readouterr().out
    assert "embree_per_s" in said and "us_radius_0.5" in said


def test_beside_fcl(capsys):
    pytest.importorskip("fcl", reason="python-fcl is not installed")
    assert bench("fcl") == 0
    said = capsys.readouterr().out
    assert "ratio" in said and "tori" in said


def test_casts_of_bodies_that_turn(capsys):
    pytest.importorskip("fcl", reason="python-fcl is not installed")
    assert bench("casts", "--quick", "--backend", "cpu") == 0
    said = capsys.readouterr().out
    assert "relative" in said and "fcl" in said and "invented" in said


def test_beside_poses_in_warp(capsys):
    pytest.importorskip("warp", reason="Warp is not installed")
    assert bench("sampled") == 0
    said = capsys.readouterr().out
    assert "late_most" in said and "256" in said


def test_filters_tell_what_they_settled(capsys):
    assert bench("filters") == 0
    said = capsys.readouterr().out
    assert "spheres+boxes+plane" in said and "narrow phase" in said


def test_rows_tell_an_exponent(capsys):
    assert run.main(["rows", "--quick", "--repeat", "1", "--no-save"]) == 0
    assert "exponent" in capsys.readouterr().out


@pytest.mark.parametrize("without", ["bolt in nut", pytest.param("", marks=pytest.mark.slow)])
def test_dense_tells_exponents_and_draws(tmp_path, capsys, monkeypatch, without):
    """python-fcl takes seconds for a bolt in its nut."""
    from bench.cases import dense

    monkeypatch.setattr(dense, "PAIRS", {k: v for k, v in dense.PAIRS.items() if k != without})
    figure = tmp_path / "dense.png"
    words = ["dense", "--quick", "--repeat", "1", "--pairs", "1", "--backend", "cpu"]
    assert run.main([*words, "--figure", str(figure), "--results", str(tmp_path)]) == 0
    assert figure.stat().st_size > 10000
    said = capsys.readouterr().out
    assert "exponent" in said and ("bolt in nut  near miss" in said) != bool(without) and "scans" in said
    text = next(tmp_path.glob("*/dense.csv")).read_text()
    assert "prepare_ms" in text and "fcl_found" in text and "fcl_pairs" in text


def test_dense_is_not_measured_longer_than_enough(monkeypatch):
    from bench.cases import dense

    clock, called, took = [0.0], [], [0.0]
    monkeypatch.setattr(dense.time, "process_time", lambda: clock[0])

    def call():
        called.append(1)
        clock[0] += took[0]
        return "found"

    for seconds, calls in ((0.01, 4), (0.2, 3), (1.0, 2), (9.0, 1)):
        called.clear()
        took[0] = seconds
        assert dense._timed(call, 3, 2) == ("found", pytest.approx(seconds / 2)) and len(called) == calls


def test_primitives_tell_a_rate(capsys):
    assert run.main(["primitives", "--quick", "--repeat", "1", "--no-save"]) == 0
    assert "million_per_s" in capsys.readouterr().out


def test_calls_count_files_and_hops(capsys):
    from bench.cases import calls

    assert run.main(["calls", "--quick", "--no-save", "--backend", "cpu"]) == 0
    said = capsys.readouterr().out
    assert "collide, pairs" in said and "folder_hops" in said and "sweep.rays" in said
    found = calls.counted(lambda: gc.shapes.box())
    assert 1 < found["files"] <= found["hops"] < found["calls"] * 2 and found["folder_hops"] <= found["hops"]
    assert calls.counted(lambda: sum(range(9))) == {"files": 0, "calls": 0, "hops": 0, "folder_hops": 0}


def test_batches_of_several_sizes(capsys):
    from bench.cases import batches

    assert batches.sizes(2_000_000) == [2_000, 20_000, 200_000, 2_000_000] and batches.sizes(20) == [20]
    assert bench("batches", "--no-save") == 0
    said = capsys.readouterr().out
    assert "pairs_per_s" in said and "tori" in said and "host" in said


def test_resolution_draws_its_figure(tmp_path, capsys):
    figure = tmp_path / "resolution.png"
    words = ["resolution", "--pairs", "6", "--resolution", "6", "--resolution", "12"]
    assert study(*words, "--figure", str(figure)) == 0
    assert figure.stat().st_size > 10000
    assert "pixels" in capsys.readouterr().out


def test_bisection_draws_its_figure(tmp_path, capsys):
    figure = tmp_path / "bisection.png"
    assert study("bisection", "--pairs", "24", "--figure", str(figure)) == 0
    assert figure.stat().st_size > 10000
    assert "missed" in capsys.readouterr().out


WRONG = {
    "--resolution": ["0", "nan", "-6"],
    "--pairs": ["0", "2.5"],
    "--repeat": ["x"],
    "--seed": ["-1"],
    "--properness": ["2"],
    "--backend": ["fast"],
    "--figure": ["a.xyz"],
    "--faces": ["0", "many"],
}


@pytest.mark.parametrize("words", [(name, value) for name, values in WRONG.items() for value in values])
def test_arguments_that_cannot_be(words, capsys):
    """``--resolution 0`` ended in a traceback."""
    with pytest.raises(SystemExit) as stop:
        run.main(["cubes", *words])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert f"argument {words[0]}" in said and words[1] in said and "Traceback" not in said


def test_a_study_takes_no_recording(capsys):
    with pytest.raises(SystemExit) as stop:
        study("resolution", "race.npz")
    assert stop.value.code == 2
    assert "expected resolution, bisection or all, got the recording race.npz" in capsys.readouterr().err


def test_a_recording_that_is_none(tmp_path, capsys):
    (tmp_path / "race.npz").write_text("x")
    assert run.main(["race", str(tmp_path / "race.npz"), "--no-save"]) == 1
    assert "not a readable .npz file" in capsys.readouterr().err
