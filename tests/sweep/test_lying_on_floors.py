"""What lies on a floor goes along it: its seams, rims and ridges do not hold it, the next slope does."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.sweep._scenes import BOX, still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

RADIUS = 0.5
#: How far it has sunk in: nothing, or what rounding leaves of a place that a cast before this one led to.
SUNK = (0.0, 1e-16, 1e-15, 1e-14, 1e-12, 1e-9, 1e-6, 1e-2)


def tiles(n, slope=0.0):
    """A square of n by n tiles of two triangles; beyond x = 0 it rises by `slope`."""
    line = np.arange(n + 1) - n / 2
    x, y = np.meshgrid(line, line, indexing="ij")
    k = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel(), k[:-1, 1:].ravel()
    faces = np.concatenate((np.column_stack((a, b, c)), np.column_stack((a, c, d))))
    return gc.Mesh(np.stack((x, y, slope * np.maximum(x, 0.0)), -1).reshape(-1, 3), faces)


def lying(rng, n, side, height, sunk):
    """Balls over a square at `height`, and level ways."""
    start = np.column_stack((rng.uniform(-side, side, (n, 2)), np.full(n, height + RADIUS - sunk)))
    return start, np.column_stack((rng.normal(size=(n, 2)), np.zeros(n)))


@pytest.mark.parametrize("sunk", SUNK)
def test_seams_of_a_floor_hold_nothing(backend, sunk):
    rng = np.random.default_rng(1)
    start, way = lying(rng, 600, 3.0, 0.0, sunk)
    way[::5, 0] = 0.0  # along a row of tiles
    way[1::5, 1] = way[1::5, 0]  # along their diagonals
    world = still(tiles(8), [0, 0, 0])
    for hits in ("first", "any", "all"):
        assert not gc.sweep.spheres(start, way, RADIUS, world, hits=hits, backend=backend.kind).hit.any()


@pytest.mark.parametrize("sunk", SUNK)
def test_what_lies_on_a_box_goes_over_its_rim(backend, sunk):
    rng = np.random.default_rng(2)
    start, way = lying(rng, 200, 0.45, 0.5, sunk)
    assert not gc.sweep.spheres(start, 3 * way, RADIUS, still(BOX, [0, 0, 0]), backend=backend.kind).hit.any()


def test_a_ball_on_a_ridge_goes_along_it(backend):
    corners = [[x, y, -abs(y)] for y in (0, -1, 1) for x in (0, 1, 2)]
    ridge = gc.Mesh(corners, [[0, 3, 4, 1], [1, 4, 5, 2], [0, 1, 7, 6], [1, 2, 8, 7]])
    start = [[0.3, 0, RADIUS - sunk] for sunk in SUNK]
    way = [[3.0, 0, 0]] * len(SUNK)
    assert not gc.sweep.spheres(start, way, RADIUS, still(ridge, [0, 0, 0]), backend=backend.kind).hit.any()


def test_the_reference_goes_along_too():
    rng = np.random.default_rng(4)
    for sunk in SUNK:
        start, way = lying(rng, 60, 1.5, 0.0, sunk)
        assert not gc.sweep.spheres(
            start, way, RADIUS, still(tiles(4), [0, 0, 0]), backend="reference"
        ).hit.any()
        start, way = lying(rng, 60, 0.45, 0.5, sunk)
        assert not gc.sweep.spheres(start, way, RADIUS, still(BOX, [0, 0, 0]), backend="reference").hit.any()


@pytest.mark.parametrize("slope", [1e-9, 1e-7, 1e-5, 1e-3, 0.3])
def test_what_goes_along_stops_at_the_next_slope(backend, slope):
    rng = np.random.default_rng(3)
    world = still(tiles(4, slope), [0, 0, 0])
    up = np.array([-slope, 0, 1]) / np.hypot(slope, 1)
    for sunk in SUNK:
        start, way = lying(rng, 300, 0.5, 0.0, sunk)
        start[:, 0] = -rng.uniform(0.5, 1, 300)
        way[:, 0] = np.abs(way[:, 0]) + 1.0
        way[:, 1] *= 0.2
        found = gc.sweep.spheres(start, way, RADIUS, world, backend=backend.kind)
        end = start + found.time[:, None] * way
        over = end[:, 0] > 0
        # 5.6e-17 at most seen in 120,000
        assert (end[over] @ up >= RADIUS - sunk - 1e-15).all()
        assert found.hit[start[:, 0] + way[:, 0] > 0.4].all()


def test_what_comes_down_on_a_seam_is_still_held(backend):
    x = np.linspace(-2, 2, 81)
    start = np.column_stack((x, np.zeros(81), np.full(81, 2.0)))
    steep = np.column_stack((np.zeros((81, 2)), np.full(81, -3.0)))
    flat = np.column_stack((np.zeros(81), np.full(81, 1.5), np.full(81, -1.6)))
    world = still(tiles(8), [0, 0, 0])
    for way in (steep, flat):
        found = gc.sweep.spheres(start, way, RADIUS, world, backend=backend.kind)
        assert found.hit.all()
        np.testing.assert_allclose(found.time, -1.5 / way[:, 2], atol=1e-14)


def test_the_reference_stops_at_the_same_slopes():
    """On floors whose corners lie higher and lower, level and rising."""
    rng = np.random.default_rng(5)
    for rise in (1e-6, 1e-3, 0.1):
        flat = tiles(4)
        corners = flat.vertices + np.outer(rise * rng.integers(-2, 3, len(flat.vertices)), [0, 0, 1])
        world = still(gc.Mesh(corners, flat.face_vertices.reshape(-1, 3)), [0, 0, 0])
        start, way = lying(rng, 120, 1.5, 0.0, 0.0)
        start[:, 2] += 2 * rise - rng.choice([1e-6, 1e-3, 0.1], 120) - 2 * rise * (rng.random(120) < 0.5)
        way[:, 2] = rng.choice([0.0, 1e-3], 120)
        truth = gc.sweep.spheres(start, way, RADIUS, world, backend="reference")
        found = gc.sweep.spheres(start, way, RADIUS, world, backend="cpu")
        assert (found.hit == truth.hit).all() and 10 < found.hit.sum()
        # 7e-14 at most seen
        np.testing.assert_allclose(found.time, truth.time, atol=1e-11)
        assert (truth.time[truth.hit] > 0).sum() > 5


def test_a_centre_within_a_sheet_is_in_front_of_it(backend):
    """It leaves by the front and is held by the back (`sweep_report --seed 31 --family touching`)."""
    sheet = still(tiles(4), [0, 0, 0])
    start, radius = [[-1, 1, 0], [-1, -1.75, 0], [0.5, 0.25, 0]], [3.0, 1.0, 0.5]
    for rise in (1.0, -1.0):
        way = [[1, -1, rise], [2, 3, rise], [0, 0, rise]]
        found = gc.sweep.spheres(start, way, radius, sheet, two_sided=True, backend=backend.kind)
        assert found.hit.tolist() == [rise < 0] * 3 and (found.time == (1.0 if rise > 0 else 0.0)).all()
