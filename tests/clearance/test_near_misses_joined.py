"""Near misses of parts of a recording: joined they are those of the whole, to the bit."""

import dataclasses

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.recordings.pieces import some_steps
from tests.clearance.test_near_misses import BITS, recording, same, traffic, two

pytestmark = pytest.mark.shared_bits(BITS)


def pieces(given, cuts, **asked):
    """Near misses of the steps between cuts, each by itself, with the numbers of the whole."""
    ends = [0, *cuts, len(given.times) - 1]
    return [
        gc.clearance(some_steps(given, first, stop), **asked).shifted(first)
        for first, stop in zip(ends[:-1], ends[1:], strict=True)
    ]


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_pieces_of_a_recording_join(motion, backend):
    """Wherever it is cut, and in whatever order it is joined; some boxes stand still for long."""
    rng = np.random.default_rng(1)
    for seed, whole in ((21, False), (22, True)):
        given = traffic(seed, n=10, frames=14, whole=whole, still=0.7)
        asked = dict(max_distance=2.0, motion=motion, backend=backend.kind)
        once = gc.clearance(given, **asked)
        assert (once.last_step > once.first_step + 2).any()
        for cuts in (range(1, 13), np.sort(rng.choice(np.arange(1, 13), 3, replace=False)).tolist()):
            parts = pieces(given, cuts, **asked)
            same(gc.NearMisses.concatenate(parts), once)
            halves = [gc.NearMisses.concatenate(half) for half in (parts[:2], parts[2:])]
            same(gc.NearMisses.concatenate(halves), once)


def test_a_stream_joins(backend):
    given = traffic(23, n=8, frames=9)
    asked = dict(max_distance=2.0, backend=backend.kind)
    parts = list(gc.clearance(given, **asked, stream=True, frames_per_batch=2))
    assert [part.frames.tolist() for part in parts] == [[0, 2], [2, 4], [4, 6], [6, 8]]
    same(gc.NearMisses.concatenate(parts), gc.clearance(given, **asked))


@pytest.mark.parametrize("cut", range(1, 5))
def test_who_stands_still_over_a_seam_is_still_there(cut):
    """A car waits beside another for three steps: one pass, in whatever of them the recording is cut. If it
    is away for a frame meanwhile these are two."""
    xs = [-3, 0, 0, 0, 0, 3]
    valid = np.ones((6, 2), bool)
    valid[2, 1] = False
    for there, first in ((np.ones((6, 2), bool), [0]), (valid, [0, 4])):
        given = two(xs, 1.5, valid=there)
        found = gc.NearMisses.concatenate(pieces(given, [cut], max_distance=1.0, backend="cpu"))
        same(found, gc.clearance(given, max_distance=1.0, backend="cpu"))
        assert found.first_step.tolist() == first


@pytest.mark.parametrize("cut", range(1, 8))
def test_races_are_not_joined(cut):
    """Two races, between which there is no step, and one of a single frame, though all are beside each
    other."""
    xs = [-3, 0, 0.5, 0.5, 0.5, 0.5, 0, 3, 9]
    given = two(xs, 1.5, race_lengths=[3, 1, 5], times=[0, 1, 2, 0, 0, 1, 2, 3, 4])
    once = gc.clearance(given, max_distance=1.0, backend="cpu")
    assert once.first_step.tolist() == [0, 5]
    joined = gc.NearMisses.concatenate(pieces(given, [cut], max_distance=1.0, backend="cpu"))
    for name in once._rows:
        assert getattr(joined, name).tobytes() == getattr(once, name).tobytes(), name


def test_what_cannot_be_joined(tmp_path):
    given = two([-3, 0, 0, 3], 1.5)
    parts = pieces(given, [1, 2], max_distance=1.0, backend="cpu")
    with pytest.raises(ValueError, match="parts: expected parts in the order of their steps, got part 1"):
        gc.NearMisses.concatenate(parts[::-1])
    with pytest.raises(TypeError, match="parts: expected NearMisses"):
        gc.NearMisses.concatenate([gc.shapes.box()])
    with pytest.raises(ValueError, match="steps: expected -1 or more, since the first frame"):
        parts[1].shifted(-2)
    old = dataclasses.replace(parts[0], frames=None, since=None, moved=None)
    old.save(tmp_path / "old")
    old = gc.NearMisses.load(tmp_path / "old")
    assert old.frames.tolist() == [-1, -1] and gc.NearMisses.concatenate([old]) is old
    with pytest.raises(ValueError, match="got part 0 from a file of an earlier version"):
        gc.NearMisses.concatenate([old, parts[1]])
    with pytest.raises(TypeError, match="stream: expected none with Bodies"):
        gc.clearance(given.bodies(0), [[0, 1]], stream=True)
    with pytest.raises(ValueError, match="max_distance: expected a finite length"):
        gc.clearance(recording([[[0, 0, 0]]]), stream=True)
