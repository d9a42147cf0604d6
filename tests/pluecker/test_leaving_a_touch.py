"""What begins in touch and leaves is let go, and nothing else is: by signs of whole numbers."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.pluecker_touching import tally
from tests.pluecker._crowds import still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

TETRAHEDRA = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
MINE = np.array([[1, 4, 3], [3, 1, 2], [3, 3, 0], [0, 1, 2]])
THEIRS = np.array([[1, 2, -2], [1, -2, -2], [-1, -2, 1], [0, 1, 2]])  # the last corners are at one place


def solid(corners):
    up = np.cross(corners[1] - corners[0], corners[2] - corners[0]) @ (corners[3] - corners[0])
    return gc.Mesh(corners, TETRAHEDRA if up > 0 else [face[::-1] for face in TETRAHEDRA])


@pytest.fixture(params=["mixed", "single"])
def how(request, backend):
    return [{"backend": backend.kind, "precision": request.param}, {"backend": "reference"}]


def test_a_corner_leaves_a_corner_behind_the_planes_of_all_faces_there(how):
    """An edge of each separates the two, no face does: it was held."""
    for options in how:
        found = gc.pluecker.translate(
            still(solid(MINE), [0.0, 0, 0]), still(solid(THEIRS), [0.0, 0, 0]), [-3.0, 2, -2], **options
        )
        assert found.fraction[0] == 1 and found.status[0] == gc.Status.MISS
        into = gc.pluecker.translate(
            still(solid(MINE), [0.0, 0, 0]), still(solid(THEIRS), [0.0, 0, 0]), [-1.0, -2, -2], **options
        )
        assert into.fraction[0] == 0 and into.kind[0]


@pytest.mark.parametrize("far", [1e3, 1e12, 1e15])
def test_a_long_way_makes_nothing_separate(backend, far):
    """The plane's normal and the way are rounded, and a way is as long as one likes. (The zone of the longest
    is wider than the bodies: all of their faces are at the place then, and what leaves is held.)"""
    mover, world = still(solid(MINE), [0.0, 0, 0]), still(solid(THEIRS), [0.0, 0, 0])
    for kind in (backend.kind, "reference"):
        for way, leaves in (([-3.0, 2, -2], True), ([-1.0, -2, -2], False), ([-3.0, -1, -2], False)):
            found = gc.pluecker.translate(mover, world, np.multiply(way, far), backend=kind)
            assert found.fraction[0] == (1 if leaves and far < 1e15 else 0), (kind, way)


def test_what_stands_in_the_zone_without_touching_is_held(backend):
    """A quarter of the zone off it is no touch: each pair of features decides for itself."""
    zone = 1e-6
    mover, world = still(solid(MINE), [0.0, 0, 0.2 * zone]), still(solid(THEIRS), [0.0, 0, 0])
    for kind in (backend.kind, "reference"):
        found = gc.pluecker.translate(mover, world, [-3.0, 2, -2], expel=zone, backend=kind)
        assert found.fraction[0] < 1


def test_a_corner_on_an_edge_that_rises_by_a_rounding_first_is_not_let_in(how):
    """Its corner 4 begins on an edge, a rounding behind the one face there, along which it turns; the other,
    which it goes behind, is excused by that one. (Single precision has other roundings.)"""
    mine = [[0, -1, -2], [-2, 2, 1], [0, -1, 2], [2, -1, -1], [-1, -2, 0], [2, 2, -2], [0, -2, 1]]
    sides = [
        [0, 4, 1],
        [0, 1, 5],
        [0, 3, 4],
        [0, 5, 3],
        [1, 4, 2],
        [1, 2, 5],
        [2, 3, 5],
        [2, 6, 3],
        [2, 4, 6],
    ]
    theirs = [[1, 1, 2], [1, -2, -1], [-2, -1, -1], [1, -1, -2], [0, 2, -2], [0, 0, 2]]
    others = [[0, 1, 3], [0, 5, 1], [0, 3, 4], [0, 4, 5], [1, 2, 3], [1, 5, 2], [2, 4, 3], [2, 5, 4]]
    mover = still(gc.Mesh(mine, [*sides, [3, 6, 4]]), [3.5, 3.5, -1])
    world = still(gc.Mesh(theirs, others), [2.0, 0, -1])
    for options in how:
        found = gc.pluecker.rotate(mover, world, -11 * np.pi / 12, [0, 1, 1], [1.5, 2, 0], **options)
        assert found.kind[0] and found.fraction[0] < 1e-6, (options, found.fraction)


def turned(mesh, place, quat):
    poses = gc.Poses.from_quat_wxyz([np.array(place, float)], [quat])
    return gc.Bodies(mesh, None, poses, poses)


def test_a_corner_that_turns_along_a_plane_rises_by_a_rounding_and_leaves(how):
    """A corner on an edge turns along one face there, and leaves the other; a corner leaves a corner. By
    rounding they rise first, so that they stopped 1e-16 behind the start, where nothing was asked."""
    s = 0.5**0.5
    box = gc.shapes.box((2, 2, 1))
    one = [[-2.0, 0, 2], [-2, 2, -2], [0, -1, 1], [0, 2, 0]]
    two = [[-2.0, 2, -2], [1, -1, -1], [-2, -1, 0], [-1, -2, -1]]
    below = np.array([0.0, 0, -2])
    cases = (
        (box, [-2, -2.5, -1.5], [s, s, 0, 0], box, [0.0, -1, 0], -7, [2, 2, -2], [0, -2, -0.5]),
        (solid(np.array(one)), below, [1, 0, 0, 0], solid(np.array(two)), below, -2, [-2, 1, 1], [-3, 2, -2]),
    )
    for mine, place, quat, theirs, there, twelfths, axis, origin in cases:
        mover, world = turned(mine, place, quat), still(theirs, there)
        for options in how:
            if options.get("precision") == "single" and mine is box:
                continue  # a quarter turn is rounded: the corner stands in the other box by 3e-8
            found = gc.pluecker.rotate(mover, world, twelfths * np.pi / 12, axis, origin, **options)
            assert found.fraction[0] == 1, options


def test_what_is_on_the_axis_comes_no_nearer(how):
    """A box turns about a corner of its own that lies in a face of the other, edge along edge: the corner's
    distance is rounding, and so was the angle at which it came through the face. What stops the box is a
    face of the other that an edge comes to, later."""
    mover = turned(gc.shapes.box((2, 2, 1)), [2, 0, -1], [0, 1, 0, 0])
    world = turned(gc.shapes.box((2, 2, 1)), [0, 0, 0], [0, 1, 0, 0])
    for options in how:
        found = gc.pluecker.rotate(mover, world, 2 * np.pi / 3, [0, -3, 1], [1, -0.5, 0], **options)
        assert found.fraction[0] == pytest.approx(0.8031614184036902, abs=4 * found.expel[0]), options


def test_tetrahedra_hulls_and_boxes_that_touch(how):
    """Of these 300 ways 15 were held."""
    for options in how:
        n = 120 if options["backend"] == "reference" else 300
        counts, wrong = tally([5, 0], n, **options)
        assert counts["leave"] > n / 3 and counts["enter"] > n / 6 and counts["slide"] > n / 20
        assert not wrong, wrong
