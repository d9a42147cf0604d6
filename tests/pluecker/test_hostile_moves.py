"""Single moves that gave a wrong answer, each with its story."""

import numpy as np
import pytest

import gpu_collide as gc

PLATE = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]


def at(*places, quat=(1.0, 0, 0, 0)):
    places = np.array(places, float)
    return gc.Poses.from_quat_wxyz(places, np.tile(quat, (len(places), 1)))


def bodies(mesh, poses):
    return gc.Bodies(mesh, None, poses, poses)


@pytest.fixture
def kinds(backend):
    """The backend, and the reference beside one of them."""
    return [backend.kind, "reference"] if backend.kind == "cpu" else [backend.kind]


def test_a_far_face_in_whose_plane_a_mover_goes_does_not_hold_it(kinds):
    """The mover's top lies in the plane of a corner of the box, 19 units away, and goes along it but for one
    rounding. It was held at once: the corner was in the zone of the plane, and the sides of a path that lies
    in the plane say nothing about the inside of the face."""
    s = 2**-0.5
    corners = [[0, 0, 0], [1, 0, 1], [-0.5, 1, 1], [-0.5, -1, 1]]
    tip = gc.Mesh(corners, [[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]])
    turned = (0.9238795325112867, 0, 0.27059805007309845, 0.27059805007309845)
    mover, still = at([20, 2, -7], quat=(s, s, 0, 0)), at([0, 0, 0], quat=turned)
    world = bodies(gc.shapes.box((2, 1, 1)), still)
    for kind in kinds:
        found = gc.pluecker.translate(bodies(tip, mover), world, [-23, 0, 6.0], backend=kind)
        # the bodies' spheres, of radii 1.5 and 1.3, are apart until 20 - 23 f < 2.8
        assert found.fraction[0] > 0.7


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_second_crossing_of_a_plane_counts(kinds, two_sided):
    """A point rises through the plane of a wall beside it, and falls through it where the wall is. Of a wall
    with two sides only the first crossing was looked at."""
    wall = gc.Mesh([[2, -1, 1], [4, -1, 1], [4, 1, 1], [2, 1, 1]], [[0, 1, 2, 3]], two_sided=two_sided)
    point, world = np.array([[-2.7, 0, 0.9]]), bodies(wall, at([0, 0, 0]))
    turn = np.pi - np.arcsin(1 / np.hypot(2.7, 0.9)) - np.arctan(0.9 / 2.7)
    for kind in kinds:
        found = gc.pluecker.rotate(point, world, 3.1, [0, 1, 0], [0, 0, 0], backend=kind)
        assert found.kind[0] == gc.pluecker.Touch.VF
        assert found.fraction[0] * 3.1 == pytest.approx(turn, abs=1e-9) and found.fraction[0] * 3.1 < turn


@pytest.mark.parametrize("lift", [0.0, 1e-13])
@pytest.mark.parametrize("angle", [0.0, 0.6])
def test_sheets_in_one_plane_meet_at_their_borders(kinds, lift, angle):
    """Two plates in one plane slid into each other: no corner crosses the other's plane."""
    plate = gc.Mesh(PLATE, [[0, 1, 2, 3]], two_sided=True)
    mover = bodies(plate, at([5, 0.25, lift], quat=(np.cos(angle / 2), 0, 0, np.sin(angle / 2))))
    reach = np.cos(angle) + np.sin(angle)  # of the turned square, towards the other
    for kind in kinds:
        found = gc.pluecker.translate(mover, bodies(plate, at([0, 0, 0])), [-10, 0, 0.0], backend=kind)
        assert found.fraction[0] == pytest.approx((4 - reach) / 10, abs=1e-9)
        assert found.fraction[0] <= (4 - reach) / 10


ALONG, ACROSS, UP, SLANTED, BACK = (0.5, 0, 0), (0.5, 0.3, 0), (0, 0, 0.5), (0.3, 0.2, 0.5), (-0.2, 0, 0.4)


@pytest.mark.parametrize("share", [0.0, 0.125, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("way", [ALONG, ACROSS, UP, SLANTED, BACK])
def test_an_aligned_stack_slides_and_leaves(kinds, share, way):
    """A box stands on another of the same size, its corners over the other's corners, 0 to 1 zones above it.
    Its corners were held by the side faces, in whose planes they stand, when they moved over the top."""
    expel = 1e-9
    box, world = gc.shapes.box(), bodies(gc.shapes.box(), at([0, 0, 0]))
    for kind in kinds:
        mover = bodies(box, at([0, 0, 1 + share * expel]))
        found = gc.pluecker.translate(mover, world, way, expel=expel, backend=kind)
        assert found.fraction[0] == 1
    down = gc.pluecker.translate(mover, world, (0.5, 0, -0.1), expel=expel, backend=kinds[0])
    assert down.fraction[0] < 1e-6 and down.kind[0] != 0


@pytest.mark.parametrize("turning", [False, True])
def test_boxes_at_one_level_in_a_tilted_world(kinds, turning):
    """Two boxes stand side by side, apart, on one tilted floor; one moves along the floor towards the other.
    Its corners lie in the plane of the other's bottom, and it was held at once by that plane."""
    n, rng = 60, np.random.default_rng(0)
    quat = rng.normal(size=(n, 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    tilt = gc.Poses.from_quat_wxyz(np.zeros((n, 3)), quat)

    def tilted(x):
        return np.concatenate([tilt[k : k + 1].apply([x]) for k in range(n)]).reshape(n, 3)

    plate, hand = gc.shapes.box((1, 1, 0.25)), gc.shapes.box((1, 0.25, 0.25))
    start = gc.Poses.from_quat_wxyz(tilted([1.0, 1, 0]), quat)
    movers, world = gc.Bodies(hand, None, start, start), gc.Bodies(plate, None, tilt, tilt)
    pairs = np.column_stack((np.arange(n), np.arange(n))).astype(np.int32)
    for kind in kinds:
        how = {"pairs": pairs, "backend": kind}
        if turning:
            turn = 1.0, tilted([0, 0, 1.0]), tilted([1.6, 0.36, 0])
            found = gc.pluecker.rotate(movers, world, *turn, **how)
            assert np.ptp(found.fraction) < 1e-9 and found.fraction.min() > 0.1
        else:
            found = gc.pluecker.translate(movers, world, tilted([-1.0, -1.2, 0]), **how)
            # the gap between the sides is 1 - 0.125 - 0.5, and closes by 1.2
            assert np.allclose(found.fraction, 0.375 / 1.2, rtol=0, atol=1e-9)
