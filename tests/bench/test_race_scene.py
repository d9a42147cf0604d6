"""The race of the bench, and the example, on a small made-up track."""

import dataclasses

import numpy as np
import pytest

import gpu_collide as gc
from bench import run
from bench.cases import race as case
from bench.settings import BenchError
from examples import race as example
from gpu_collide.scenes import demo_race


@pytest.fixture(scope="module")
def arrays():
    return demo_race(2, stations=60, seconds=8.0)


@pytest.fixture(scope="module")
def recording(arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("race") / "small.npz"
    np.savez(path, **arrays)
    return path


def test_the_whole_case(recording, tmp_path, capsys):
    words = ["race", str(recording), "--repeat", "1", "--backend", "cpu", "--results", str(tmp_path)]
    assert run.main(words) == 0
    said = capsys.readouterr().out
    assert "faster_than_driven" in said
    rows = next(tmp_path.glob("*/race.csv")).read_text().splitlines()
    rows = [line.split(",") for line in rows if line.startswith("small,")]
    assert [row[1] for row in rows] == ["1", "4", "16"]
    assert [int(row[2]) for row in rows] == [60 * 32 * tiles for tiles in case.TILES]
    assert len({row[6] for row in rows}) == 1, "as many contacts on any number of copies"


def test_the_check_sees_a_changed_contact(arrays):
    recording = gc.Recording.from_arrays(arrays)
    poses, options = recording.poses(), {"static": recording.static, "backend": "cpu"}
    result = recording.collide(backend="cpu")
    assert len(result) > 10
    assert case.check_steps(recording, poses, recording.times, result, options, 0) >= case.SAMPLE // 2
    moved = dataclasses.replace(result, position=result.position + 1e-12)
    with pytest.raises(BenchError, match="position differs"):
        case.check_steps(recording, poses, recording.times, moved, options, 0)


def test_a_recording_without_a_track_is_told(arrays, tmp_path, capsys):
    np.savez(tmp_path / "bare.npz", **{n: a for n, a in arrays.items() if not n.startswith("track")})
    assert run.main(["race", str(tmp_path / "bare.npz")]) == 1
    assert "expected a recording with one track" in capsys.readouterr().err


def test_the_example(recording, capsys):
    example.main([str(recording)])
    said = capsys.readouterr().out
    assert "TrajectoryContacts" in said and "approaching at" in said and "skipped: teleport" in said
