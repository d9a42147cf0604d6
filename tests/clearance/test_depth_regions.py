"""Regions of overlap of bodies that are not convex: which is the deepest, and a row for each."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.clearance._families import BOX, ONE, legs, posed, two

OVERLAP = gc.Status.INITIAL_OVERLAP
ROUNDING = 1e-13  # of depths, in sizes: 2e-14 seen, as test_c02_depth says


@pytest.mark.parametrize("second", [0.55, 0.52, 0.5])
def test_the_deepest_region(second):
    """Of two legs in the ground the longer one decides, and it says by how much."""
    ground = gc.shapes.box((10.0, 10.0, 1.0))
    table = legs(0.6, second)
    assert table.closed and table.volume > 0
    found = two(ground, table, [0.05, 0.0, 1.0])
    assert found.status[0] == OVERLAP
    assert found.distance == pytest.approx(-0.1, abs=ROUNDING)
    assert found.normal.tolist() == [[0, 0, 1]]
    assert found.point_b[0, 0] < 0.0


def test_a_row_for_each_region(backend):
    ground, table = gc.shapes.box((10.0, 10.0, 1.0)), legs(0.6, 0.52)
    p = np.array([[0, 0, 0], [0.05, 0, 1.0], [0, 0, 0], [0.2, 0.1, 0.3], [0, 0, 0], [0.05, 0, 5.0]])
    bodies, pairs = posed([ground, table, BOX], [0, 1, 2, 2, 0, 1], p, np.tile(ONE, (6, 1)))
    found = gc.clearance(bodies, pairs, at=[0.0, 1.0], regions=True, backend=backend.kind)
    assert found.pair.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert found.time.tolist() == [0, 0, 1, 1, 0, 1, 0, 1]
    assert np.allclose(
        found.distance, [-0.1, -0.02] * 2 + [-0.7] * 2 + [found.distance[6]] * 2, atol=ROUNDING
    )
    assert found.point_b[:2, 0].tolist() == pytest.approx([-0.95, 0.85], abs=0.21)
    slow = gc.clearance(bodies, pairs, at=[0.0, 1.0], regions=True, backend="reference")
    for name in ("pair", "status", "time", "kind", "feature_a", "feature_b"):
        assert getattr(found, name).tolist() == getattr(slow, name).tolist(), name
    each = gc.clearance(bodies, pairs, at=[0.0, 1.0], backend=backend.kind)
    assert each.distance.tolist() == found.distance[[0, 2, 4, 5, 6, 7]].tolist()


def test_regions_are_of_a_time():
    with pytest.raises(ValueError, match="regions: expected times with it"):
        gc.clearance(*posed([BOX], [0, 0], np.eye(3)[:2], np.tile(ONE, (2, 1))), regions=True)
    with pytest.raises(TypeError, match="regions: expected a bool"):
        gc.clearance(*posed([BOX], [0, 0], np.eye(3)[:2], np.tile(ONE, (2, 1))), at=0.0, regions=1)


def test_two_legs_as_deep_as_each_other():
    found = two(gc.shapes.box((10.0, 10.0, 1.0)), legs(0.6), [0.05, 0.0, 1.0])
    assert found.distance == pytest.approx(-0.1, abs=ROUNDING)


def test_a_tip_in_a_valley():
    """Below the bottom of a valley no face is behind the tip: it reaches so far along the area vector."""
    # a block with a groove along y, 90 degrees, bottom at the origin
    outline = [(-1, 1), (-1, -1), (1, -1), (1, 1), (0, 0)]
    n = len(outline)
    pieces = [(0, 1, 4), (1, 2, 4), (2, 3, 4)]
    corners = [(x, y, z) for y in (-1.0, 1.0) for x, z in outline]
    faces = [list(p) for p in pieces] + [[n + i for i in reversed(p)] for p in pieces]
    faces += [[(i + 1) % n, i, n + i, n + (i + 1) % n] for i in range(n)]
    block = gc.Mesh(corners, faces)
    assert block.closed and block.volume > 0
    tip = gc.Mesh(
        [[0, 0, 0], [0.1, 0, 1], [-0.05, 0.1, 1], [-0.05, -0.1, 1]],
        [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]],
    )
    for depth in (1e-4, 0.01, 0.1):
        found = two(block, tip, [0.0, 0.0, -depth])
        assert found.status[0] == OVERLAP
        assert 0.9 * depth < -found.distance[0] < 1.5 * depth
        assert found.normal[0, 2] > 0.9
