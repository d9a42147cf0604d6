"""b02_keys: the order of the leaves."""

import numpy as np
import pytest

from gpu_collide.pipeline.broad_phase.trees import leaf_order
from gpu_collide.reference.broad_phase import b02_keys as reference

pytestmark = pytest.mark.smoke


def boxes_at(centres, size=0.1):
    centres = np.asarray(centres, float)
    return np.concatenate([centres - size, centres + size], axis=1)


def keys(backend, boxes, ranks, origin, per_length, bits, precision="mixed"):
    n, real = len(boxes), "f4" if precision == "single" else "f8"
    out = backend.fill(backend.empty(n, np.int64), -1)
    backend.launch_items(
        backend.module("bvh", precision)["b02_keys"], n, n=n, bits=bits, ranked=1, origin_x=origin[0],
        origin_y=origin[1], origin_z=origin[2], per_length=per_length, keys_out=out,
        boxes_in=backend.to_device(boxes.astype(real).reshape(-1)),
        rank_in=backend.to_device(np.asarray(ranks, np.int32)),
    )  # fmt: skip
    return backend.to_host(out)


@pytest.mark.parametrize("bits", [1, 7, 13, 21])
def test_keys_as_in_the_reference(backend, bits):
    rng = np.random.default_rng(bits)
    centres = rng.uniform(-1.5, 1.5, (500, 3))
    centres[:4] = [[1e300, 0, 0], [0, -1e9, 0], [np.nan, 0, 0], [-1, -1, -1]]
    ranks = rng.integers(0, 2 ** min(63 - 3 * bits, 20), 500)
    origin, per_length = np.full(3, -1.0), 2.0**bits / 2
    got = keys(backend, boxes_at(centres), ranks, origin, per_length, bits)
    assert np.array_equal(got, reference.keys_of(boxes_at(centres), ranks, origin, per_length, bits))
    assert (got >= 0).all()


def test_corners_of_the_cube(backend):
    """Axis x has the highest bit of three, z the lowest."""
    corners = [[x, y, z] for x in (0.25, 0.75) for y in (0.25, 0.75) for z in (0.25, 0.75)]
    assert keys(backend, boxes_at(corners), np.zeros(8), np.zeros(3), 2.0, 1).tolist() == list(range(8))


def order_of(backend, boxes, ranks=None, n_ranks=1, precision="mixed"):
    real = "f4" if precision == "single" else "f8"
    given = None if ranks is None else backend.to_device(np.asarray(ranks, np.int32))
    buf = backend.to_device(boxes.astype(real).reshape(-1))
    order, middle = leaf_order(backend, backend.module("bvh", precision), buf, len(boxes), given, n_ranks)
    return backend.to_host(order), middle


@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 5000])
def test_segments_are_ranges(backend, n):
    rng = np.random.default_rng(n)
    ranks = rng.integers(0, 5, n)
    order, _ = order_of(backend, boxes_at(rng.normal(size=(n, 3))), ranks, 5)
    assert np.array_equal(np.sort(order), np.arange(n))
    assert np.array_equal(ranks[order], np.sort(ranks))


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("where", [0.0, 1e6, 1e-20, 1e18])
def test_neighbours_are_near(backend, where, precision):
    """In a row of 1,000 places mixed up, the mean step along the order is 1 (any place: 333); outliers do not
    spoil it, nor does the size of the numbers."""
    rng = np.random.default_rng(8)
    centres = np.zeros((1000, 3))
    centres[:, 1] = rng.permutation(1000) * (where if 0 < where < 1 or where > 1e10 else 1.0)
    if where == 1e6:
        centres += where
    unit = centres[:, 1].max() / 1000 if where != 1e6 else 1.0
    centres[7], centres[8] = 1e25, -1e25
    order, _ = order_of(backend, boxes_at(centres, 0.0), precision=precision)
    y = np.delete(centres[order, 1], np.flatnonzero((order == 7) | (order == 8)))
    steps = np.abs(np.diff(y)) / unit
    assert steps.mean() < (3 if precision == "mixed" or where != 1e6 else 10)


def test_one_spot_and_no_numbers(backend):
    """All in one place, or nowhere: the order is that of the numbers."""
    for centre in (3.0, 0.0, np.nan, np.inf, 1e308):
        with np.errstate(invalid="ignore"):
            order, middle = order_of(backend, boxes_at(np.full((50, 3), centre)))
        assert np.array_equal(order, np.arange(50)) and np.isfinite(middle).all()
