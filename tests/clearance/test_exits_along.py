"""Exits along trajectories: those of `collide` for each step, through batches, files, tables and commands."""

import io

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.recordings.pieces import numbered, some_bodies

OVERLAP, HIT = gc.Status.INITIAL_OVERLAP, gc.Status.HIT
STEPS, BODIES = 5, 5


@pytest.fixture(scope="module")
def recording():
    """Boxes and blocks that go through each other and a still one; one stands in it all along."""
    rng = np.random.default_rng(4)
    position = rng.normal(size=(STEPS + 1, BODIES, 3)) * 0.8
    q = rng.normal(size=(STEPS + 1, BODIES, 4))
    position[:, -1], q[:, -1] = [0.1, 0.2, 0.3], [1, 0, 0, 0]
    q[1:] = 4.0 * q[:1] + q[1:] * (np.abs(q[1:]).max(axis=-1, keepdims=True) < 9)
    frames = {
        "time": np.array([0.0, 0.5, 1.0, 2.0, 2.5, 3.5]), "position": position,
        "quat_wxyz": q / np.linalg.norm(q, axis=-1, keepdims=True),
    }  # fmt: skip
    meshes = [gc.shapes.box(), gc.shapes.l_block()]
    return gc.Recording.from_arrays(frames, meshes=meshes, shape=[0, 1, 0, 1, 0], static=gc.shapes.box())


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_exits_are_those_of_each_step(recording, motion, backend):
    found = recording.collide(exit=True, motion=motion, backend=backend.kind, frames_per_batch=2)
    plain = recording.collide(motion=motion, backend=backend.kind)
    assert plain.exit is None and found.pairs.tobytes() == plain.pairs.tobytes()
    assert np.isin([OVERLAP, HIT], found.pairs["status"]).all()
    for step in range(STEPS):
        rows = found.pairs[found.pairs["step"] == step]
        pairs = np.column_stack([rows["body_a"], rows["body_b"]])
        alone = gc.collide(recording.bodies(step), pairs, exit=True, motion=motion, backend=backend.kind)
        begin, end = recording.times[step : step + 2]
        expected = np.where(
            alone.exit <= 1.0, np.minimum(begin + alone.exit * (end - begin), end), alone.exit
        )
        assert found.exit[found.pairs["step"] == step].tobytes() == expected.tobytes()
    still = (found.pairs["body_a"] == BODIES - 1) & (found.pairs["body_b"] == BODIES)
    assert still.sum() == STEPS and (found.exit[still] == np.inf).all()  # a pair of which neither moves


def test_exits_go_through_parts_files_and_tables(recording, backend):
    found = recording.collide(exit=True, backend=backend.kind)
    parts = list(recording.collide(exit=True, stream=True, frames_per_batch=1, backend=backend.kind))
    assert len(parts) == STEPS
    assert gc.TrajectoryContacts.concatenate(parts).exit.tobytes() == found.exit.tobytes()
    parts[1] = next(iter(list(recording.collide(stream=True, frames_per_batch=1, backend=backend.kind))[1:]))
    mixed = gc.TrajectoryContacts.concatenate(parts)
    there = found.pairs["step"] != 1
    assert np.isnan(mixed.exit[~there]).all() and (mixed.exit[there] == found.exit[there]).all()
    file = io.BytesIO()
    found.save(file)
    file.seek(0)
    assert gc.TrajectoryContacts.load(file).exit.tobytes() == found.exit.tobytes()
    some = found[found.kind == gc.Kind.EE]
    assert len(some.exit) == len(some.pairs)
    table = found.to_pandas("pairs")
    assert np.array_equal(table["exit"].isna(), ~np.isfinite(found.exit))
    assert "exit" not in recording.collide(backend=backend.kind).to_pandas("pairs")
    some = numbered(some_bodies(recording, np.arange(3)).collide(exit=True), np.arange(3), recording)
    assert len(some.exit) == len(some.pairs)


def test_what_is_refused(recording):
    with pytest.raises(ValueError, match="refine: expected 'exact' with exit=True"):
        recording.collide(exit=True, refine="pixels")
    with pytest.raises(TypeError, match="exit: expected a bool"):
        recording.collide(exit=1)
    with pytest.raises(TypeError, match="exit: expected no such option"):
        recording.encounters(exit=True)
