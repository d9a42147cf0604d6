"""Single moves that gave a wrong answer, each with its story."""

from fractions import Fraction

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle import passages
from tests.oracle.exact import Placed, Topology
from tests.oracle.exact_motion import Translation, first_through
from tests.oracle.exact_nudge import in_by_at_most

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

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


@pytest.mark.parametrize("lift", [0.0, 0.5, 1.0, 2.0, -0.5])
def test_what_starts_in_the_plane_of_a_wall_comes_at_its_back(kinds, lift):
    """A point in the plane of a wall with two sides, beside it, goes behind and comes back to where the wall
    is. From the back it was not looked for, so near to the plane: 2 of 100,000 turns of sheets on whole
    numbers."""
    expel = 1e-9
    corners = np.array([[2, -1, -1], [4, -1, -1], [4, 1, -1], [2, 1, -1.0]])
    wall = gc.Mesh(corners, [[0, 1, 2, 3]], two_sided=True)
    place = np.array([-2.7, 0, -1 + lift * expel])
    turn = np.pi - 2 * np.arctan(1 / 2.7)  # through the lowest place
    tip = np.array([[0, 0, 0], [-1, -1, -1], [-1, 1, -1], [-1, 0, 1]]) * 1e-3
    for kind in kinds:
        how = {"backend": kind, "expel": expel}
        found = gc.pluecker.rotate(
            place[None], bodies(wall, at([0, 0, 0])), -2.9, [0, 1, 0], [0, 0, 0], **how
        )
        assert found.kind[0] == gc.pluecker.Touch.VF and found.normal[0, 2] < -0.99
        assert abs(turn - found.fraction[0] * 2.9) < 1e-8
        # the same with the wall turning
        corner = bodies(gc.Mesh(tip, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]]), at(place))
        found = gc.pluecker.rotate(bodies(wall, at([0, 0, 0])), corner, 2.9, [0, 1, 0], [0, 0, 0], **how)
        assert found.kind[0] != 0 and abs(turn - found.fraction[0] * 2.9) < 2e-3
        # what stands on it leaves to its own side, and comes back to it
        stands = np.array([[2.7, 0, -1 + 0.2 * expel], [2.7, 0, -1 - 0.2 * expel]])
        up, down = (
            gc.pluecker.rotate(stands, bodies(wall, at([0, 0, 0])), way, [0, 1, 0], [0, 0, 0], **how).fraction
            for way in (-0.5, 0.5)
        )
        assert np.array_equal(up, [1, 0]) and np.array_equal(down, [0, 1])


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


def test_a_box_placed_corner_on_corner_leaves_though_rounding_puts_it_in(kinds):
    """Two turned boxes have a corner in common, but for the rounding of their poses: by that, the one that
    moves away begins in the other by 1e-16, and its exact path leads through the other's edge. It was held at
    once. To leave is right: no pose says whether it is in or beside, and what it goes through is no more than
    the rounding of a place, a 16th of the default zone: beside the other by that, its path is free,
    exactly."""
    turned = (0.7071067811865476, 0, 0.7071067811865475, 0.0)
    start, there, way = [1, -2.5, -0.9999999999999996], [-1, -1, 0], [-2.0, 2, -2]
    world, sizes = bodies(gc.shapes.box((1, 2, 3)), at(there, quat=turned)), ((1, 1, 1), (1, 2, 3))
    motion = Translation(
        *(
            Placed.at(Topology(passages.box(s)), x, turned)
            for s, x in zip(sizes, (start, there), strict=True)
        ),
        way,
    )
    assert first_through(motion) == 0
    for kind in kinds:
        found = gc.pluecker.translate(
            bodies(gc.shapes.box(), at(start, quat=turned)), world, way, backend=kind
        )
        assert found.fraction[0] == 1
        assert in_by_at_most(motion, Fraction(1), found.expel[0] / 16)
        # more than rounding, and inwards
        deep = bodies(gc.shapes.box(), at(start + np.array([-0.2, 0.2, 0.2]) * found.expel[0], quat=turned))
        assert gc.pluecker.translate(deep, world, [-2.0, 2, 0.01], backend=kind).fraction[0] < 1e-9


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


def test_a_tip_leaves_a_sharp_wedge(kinds):
    """A tip stands at its stop on one side of a wedge of 40 degrees, up to half a zone from the edge, and
    leaves along that side's normal. The other side, whose plane is less than a zone behind it, held it."""
    angle, expel = np.radians(40.0), 1e-6
    side = np.array([np.cos(angle), 0, -np.sin(angle)])  # from the edge down the other side
    wedge = gc.Mesh(
        [[0, -1, 0], [0, 1, 0], [1, -1, 0], [1, 1, 0], [*side * [1, 0, 1] - [0, 1, 0]], [*side + [0, 1, 0]]],
        [[0, 2, 3, 1], [0, 1, 5, 4], [0, 4, 2], [1, 3, 5], [2, 4, 5, 3]],
    )
    down = np.array([-np.sin(angle), 0, -np.cos(angle)])  # outward normal of that side
    share = np.linspace(0.0, 0.5, 21)[:, None] * expel
    start = share * side + expel * down
    for kind in kinds:
        found = gc.pluecker.translate(start, bodies(wedge, at([0, 0, 0])), down, expel=expel, backend=kind)
        assert (found.fraction == 1).all()
        found = gc.pluecker.translate(start, bodies(wedge, at([0, 0, 0])), -down, expel=expel, backend=kind)
        assert (found.fraction < 1e-6).all() and (found.kind == gc.pluecker.Touch.VF).all()


@pytest.mark.parametrize("turning", [False, True])
def test_what_stands_over_a_plate_thinner_than_the_zone_leaves(kinds, turning):
    """The plate's back is less than a zone behind the mover, which was held by it on its way up."""
    expel = 1e-3
    plate, box = gc.shapes.box((4, 4, 0.4 * expel)), gc.shapes.box()
    mover = bodies(box, at([0.1, 0.2, 0.5 + 0.7 * expel]))
    for kind in kinds:
        how = {"expel": expel, "backend": kind}
        world = bodies(plate, at([0, 0, 0]))
        if turning:
            found = gc.pluecker.rotate(mover, world, 0.3, [0, 1, 0], [2.0, 0, 0.5], **how)
        else:
            found = gc.pluecker.translate(mover, world, [0.1, 0, 0.5], **how)
        assert found.fraction[0] == 1
        assert gc.pluecker.translate(mover, world, [0.1, 0, -0.5], **how).fraction[0] == 0


def test_a_stack_turns_on_the_spot(kinds):
    """Corners over corners, turned about the common axis: the corners go out over the sides and in again, if
    they are half a zone above."""
    box = gc.shapes.box()
    for kind in kinds:
        for share in (0.0, 0.5):
            mover, world = bodies(box, at([0, 0, 1 + share * 1e-9])), bodies(box, at([0, 0, 0]))
            for angle in (1.5, -3.0) if share else (1.5,):
                found = gc.pluecker.rotate(
                    mover, world, angle, [0, 0, 1], [0, 0, 0], expel=1e-9, backend=kind
                )
                assert found.fraction[0] == 1
            # a hinge at one lower edge: up is free, the other way a corner goes into the box below
            up = gc.pluecker.rotate(mover, world, -0.5, [0, 1, 0], [-0.5, 0, 0.5], expel=1e-9, backend=kind)
            assert up.fraction[0] == 1
            down = gc.pluecker.rotate(mover, world, 0.5, [0, 1, 0], [-0.5, 0, 0.5], expel=1e-9, backend=kind)
            assert down.fraction[0] < 1e-6


def test_nothing_goes_into_an_inner_corner(kinds):
    """A point in the inner edge of an L, but for a rounding to either side: behind a fold that opens inwards
    lies the solid, not a face to leave over."""
    outline = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
    corners = [[x, y, z] for z in (-1, 1) for x, y in outline]
    sides = [[k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6)]
    ends = [[6, 7, 8, 9], [6, 9, 10, 11], [3, 2, 1, 0], [5, 4, 3, 0]]
    world = bodies(gc.Mesh(corners, [*sides, *ends]), at([0, 0, 0]))
    off = np.array([[x, y, 0] for x in (-1, 0, 1) for y in (-1, 0, 1)]) * 1e-15
    for kind in kinds:
        for way in ([-1, -1, 0.1], [-1, 0, 0], [0, -1, 0], [-1, 0.2, 0], [0.2, -1, 0]):
            found = gc.pluecker.translate(off + [1, 1, 0], world, way, backend=kind)
            away = (np.array(way)[0] >= 0) & (off[:, 1] > 0) | (np.array(way)[1] >= 0) & (off[:, 0] > 0)
            assert (found.fraction[~away] < 1e-9).all()


def test_a_turn_nearly_along_a_face_stops_beside_it(kinds):
    """A tip swings through its lowest place, a tenth of a zone over the plane of a top, over the border: it
    was stopped 2,000 zones before, where it comes into the zone of the plane."""
    expel = 1e-6
    box = bodies(gc.shapes.box((2, 2, 2)), at([0, 0, 0]))
    origin = np.array([1.0, 0, 2 + 0.1 * expel])  # the lowest place is over the border x = 1
    start = origin + [np.sin(0.9), 0, -np.cos(0.9)]
    for kind in kinds:
        found = gc.pluecker.rotate(start[None], box, 1.5, [0, 1, 0], origin, expel=expel, backend=kind)
        x, _, z = found.position[0]
        assert found.kind[0] == gc.pluecker.Touch.VF
        assert 0 <= x - 1 < 2.01 * expel and 0 < z - 1 < 1.01 * expel


@pytest.mark.parametrize("two_sided", [False, True])
def test_a_turn_within_the_plane_of_a_sheet_meets_its_border(kinds, two_sided):
    plate = gc.Mesh(PLATE, [[0, 1, 2, 3]], two_sided=two_sided)
    mover = bodies(plate, at([3.5, 0.25, 0]))
    for kind in kinds:
        # its right corners come round
        found = gc.pluecker.rotate(
            mover, bodies(plate, at([0.9, 0, 0])), 3.0, [0, 0, 1], [3.3, 0.25, 0], backend=kind
        )
        reach = found.point[0] @ found.normal[0]
        assert found.kind[0] == gc.pluecker.Touch.VF and found.feature_a[0] == 2
        # the corner (1.2, 1) from the axis, at x = 1.9
        turn = np.arccos(-1.4 / np.hypot(1.2, 1)) - np.arctan2(1, 1.2)
        assert 0 <= turn - found.fraction[0] * 3 < 1e-9 and abs(reach - 1.9) < 1e-9
        # a point in the plane comes at the border too, one over it by a zone does not
        way = [[-3, 0, 0.0]] * 2
        high = np.array([[3, 0.1, 0], [3, 0.1, found.expel[0] * 4]])
        rays = gc.pluecker.translate(high, bodies(plate, at([0.9, 0, 0])), way, backend=kind)
        assert abs(rays.fraction[0] - 1.1 / 3) < 1e-9 and rays.fraction[1] == 1
