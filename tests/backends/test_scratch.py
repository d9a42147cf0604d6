"""What an item finds in scratch is litter: no result may hang on what an earlier item left there, or on
what is in a fresh buffer."""

import numpy as np
import pytest

import gpu_collide as gc
import gpu_collide.backends as backends
from bench import dense_shapes
from gpu_collide.scenes import random_impacts
from tests.acceptance import lattice, stored_bits
from tests.backends.littered import Littered, all_scratch

EACH, SHARED = 1024, 1  # groups: scratch of its own for each item; the same for all
ELSEWHERE = (
    "screen_first",
    "screen_small",
    "hulls_apart",
)  # below; where a group has many work-items (tests/ptx)


@pytest.fixture(params=[EACH, SHARED])
def littered(request, monkeypatch):
    """`cpu` with litter, in the place of the usual one."""
    made = Littered(request.param, request.param)
    monkeypatch.setitem(backends._open, "cpu", made)
    return made


def test_stored_bits(littered):
    differ, _, _ = stored_bits.compare("cpu")
    assert not differ
    assert littered.littered >= {name for name in all_scratch() if not name.startswith(ELSEWHERE)}


@pytest.mark.parametrize(
    "seed", [790, 791, *(pytest.param(k, marks=pytest.mark.slow) for k in range(792, 800))]
)
def test_dense_whole_numbers(littered, seed):
    assert not lattice.judged_dense(seed, 20, "cpu")[1]


def test_first_of_dense_shapes(littered):
    ball, bumpy = gc.shapes.icosphere(4), dense_shapes.bumpy(4000)
    bodies, pairs = random_impacts(ball, bumpy, 30, seed=4)
    every, first = (
        gc.collide(bodies, pairs, backend="cpu", contacts=which).to_numpy() for which in ("all", "first")
    )
    assert any(name.startswith("screen_first") for name in littered.littered)
    assert first.toi.tobytes() == every.toi.tobytes()
    assert len(first) == np.count_nonzero(every.time == every.toi[every.pair]) > 0


def test_far_pairs(littered):
    hull = gc.shapes.icosphere(2)
    bodies, pairs = random_impacts(hull, hull, 30, seed=4)
    every = gc.clearance(bodies, pairs, backend="cpu")
    limit = np.where(np.arange(len(pairs)) % 2, 0.9 * every.distance, every.distance + 0.1)
    near = gc.clearance(bodies, pairs, backend="cpu", max_distance=limit)
    assert any(name.startswith("hulls_apart") for name in littered.littered)
    np.testing.assert_array_equal(np.isfinite(near.distance), every.distance <= limit)
    assert np.isinf(near.distance).any()
