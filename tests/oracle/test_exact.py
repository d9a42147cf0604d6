"""The exact judge against cases worked out by hand, against sampling, and against wrong answers."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tests.oracle import exact_pose, shapes
from tests.oracle.exact import Placed, Topology, whole
from tests.oracle.exact_motion import Rotation, Translation, first, first_through
from tests.oracle.exact_pose import distance2, inside, penetrating, touching
from tests.oracle.scenes_base import random_quat, turn_quat
from tests.oracle.solid import RawMesh, apply, quat_mul, rotation_matrix

NONE = (1.0, 0, 0, 0)


def solid(mesh):
    mesh.pieces = [mesh]
    return Topology(mesh)


CUBE = solid(shapes.box((2, 2, 2)))
TENT = solid(
    RawMesh([[-1, -1, 0], [1, -1, 0], [0, 1, 0], [0, 0, 1.0]], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
)
PLATE = Topology(RawMesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [(0, 1, 2, 3)]))
POINT = Topology(RawMesh([[0.0, 0, 0]], [(0,)]))


def at(topology, position=(0, 0, 0), quat=NONE):
    return Placed.at(topology, np.asarray(position, float), np.asarray(quat, float))


def move(mover, still, vector):
    return Translation(mover, still, np.asarray(vector, float))


def rotate(mover, still, angle, axis=(0, 0, 1), origin=(0, 0, 0)):
    return Rotation(mover, still, angle, np.asarray(axis, float), np.asarray(origin, float))


def share(motion):
    event = first(motion)
    return None if event is None else motion.fraction(event.time)


def test_float64_numbers_are_taken_as_they_are():
    numbers, shift = whole([0.1, -3.0, 2.0**-1074, 1e300])
    assert [Fraction(n, 1 << shift) for n in numbers] == [Fraction(x) for x in (0.1, -3.0, 2.0**-1074, 1e300)]


def test_a_pose_is_exact_and_its_quaternion_any_length():
    for k in (1.0, 0.3, 1e5):
        body = at(CUBE, (10.5, 0, 0), np.array([1, 1, 0, 0]) * k)  # a quarter about x
        got = [tuple(Fraction(c, body.scale) for c in p) for p in body.points]
        want = [
            (Fraction(21, 2) + Fraction(x), Fraction(-z), Fraction(y))
            for x, y, z in shapes.box((2, 2, 2)).vertices
        ]
        assert got == want


@pytest.mark.parametrize(
    ("position", "touch", "enter", "square"),
    [
        ((2, 0, 0), True, False, 0),  # face on face
        ((2, 2, 0), True, False, 0),  # edge on edge
        ((2, 2, 2), True, False, 0),  # corner on corner
        ((1.5, 0, 0), True, True, 0),  # no edge goes through the inside of a face
        ((0, 0, 0), True, True, 0),  # the same place
        ((3, 0, 0), False, False, 1),
        ((3, 3, 4), False, False, 6),
        ((2 + 2**-40, 0, 0), False, False, Fraction(1, 2**80)),
        ((2 - 2**-40, 0.25, 0.5), True, True, 0),
    ],
)
def test_cubes_at_rest(position, touch, enter, square):
    a, b = at(CUBE, position), at(CUBE)
    assert (touching(a, b), penetrating(a, b), distance2(a, b)) == (touch, enter, square)


def test_a_corner_over_a_face_an_edge_over_an_edge_and_a_point():
    turned = (np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0)
    gap = float(distance2(at(CUBE, (0, 0, 3), turned), at(CUBE))) ** 0.5
    assert gap == pytest.approx(2 - 2**0.5, abs=1e-15)  # the edge along x over the top
    tilted = np.array([1, 0, 0, 0.3])
    crossed = at(CUBE, (0, 0, 3), (np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0))
    assert float(distance2(crossed, at(CUBE, (0, 0, 0), tilted))) ** 0.5 == pytest.approx(
        2 - 2**0.5, abs=1e-15
    )
    assert distance2(at(POINT, (0, 0, 5)), at(CUBE)) == 16
    assert touching(at(POINT, (0, 1, 1)), at(CUBE)) and not touching(at(POINT, (0, 1, 1 + 2**-50)), at(CUBE))


def test_inside_of_a_solid():
    body = at(shapes_l := Topology(shapes.l_block()))
    corners = shapes.l_block().vertices
    rng = np.random.default_rng(1)
    triangles = shapes_l.triangles
    for x in rng.uniform(corners.min(0) - 0.2, corners.max(0) + 0.2, (60, 3)):
        one = at(POINT, x)
        a, b = exact_pose.together(one, body)
        v = corners[triangles] - x  # the winding number, by solid angles
        n = np.sqrt((v * v).sum(-1))
        det = np.linalg.det(v)
        div = n.prod(1) + sum(
            (v[:, i] * v[:, j]).sum(1) * n[:, k] for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        )
        winding = np.arctan2(det, div).sum() / (2 * np.pi)
        assert inside(a.points[0], b) == (abs(winding) > 0.5)


@pytest.mark.parametrize(
    ("start", "vector", "when", "through"),
    [
        ((5, 0, 0), (-6, 0, 0), Fraction(1, 2), Fraction(1, 2)),
        ((5, 0, 0), (-3, 0, 0), 1, None),  # just reaches
        ((5, 0, 0), (-2.9, 0, 0), None, None),
        ((5, 2, 0), (-6, 0, 0), Fraction(1, 2), None),  # edge passes along an edge
        ((5, 2, 0), (-6, -1, 0), Fraction(1, 2), Fraction(1, 2)),
        ((5, 2, 0), (-6, 1, 0), None, None),
        ((5, 5, 5), (-6, -6, -6), Fraction(1, 2), Fraction(1, 2)),  # corner to corner
        ((0, 0, 2), (0, 0, 1), 0, None),  # rests, and leaves
        ((0, 0, 2), (5, 0, 0), 0, None),  # rests, and slides
        ((0, 0, 2), (5, 0, -(2.0**-60)), 0, 0),  # rests, and goes in
    ],
)
def test_cubes_carried(start, vector, when, through):
    motion = move(at(CUBE, start), at(CUBE), vector)
    assert share(motion) == when
    assert first_through(motion) == through


def test_edges_only_meet_with_edges():
    """Two tents crossing with their lowest and highest edges: no corner meets a face."""
    roof = RawMesh([[-3, -1, 0], [3, -1, 0], [3, 1, 0], [-3, 1, 0], [-3, 0, 1], [3, 0, 1.0]],
                   [(0, 3, 2, 1), (0, 1, 5, 4), (2, 3, 4, 5), (0, 4, 3), (1, 2, 5)])  # fmt: skip
    roof = solid(roof)
    upside = at(roof, (0, 0, 4), (0, 1, 1, 0))  # ridge down, along y
    motion = move(upside, at(roof), (0, 0, -8))
    event = first(motion)
    assert (event.kind, event.time) == (3, Fraction(2, 8))
    assert first_through(motion) == Fraction(2, 8)


def test_a_corner_and_a_face_both_ways():
    down = at(TENT, (0, 0, 5), (0, 1, 0, 0))  # tip down, at height 4
    event = first(move(down, at(CUBE), (0, 0, -6)))
    assert (event.kind, event.time) == (1, Fraction(1, 2))
    event = first(move(at(CUBE, (0, 0, 5)), at(TENT), (0, 0, -6)))
    assert (event.kind, event.time) == (2, Fraction(1, 2))


def test_points_and_plates():
    assert share(move(at(POINT, (0, 0, 2)), at(PLATE), (0, 0, -4))) == Fraction(1, 2)
    assert share(move(at(POINT, (1, 1, 2)), at(PLATE), (0, 0, -4))) == Fraction(1, 2)  # its corner
    assert share(move(at(POINT, (1 + 2**-52, 1, 2)), at(PLATE), (0, 0, -4))) is None
    assert share(move(at(POINT, (3, 0, 0)), at(PLATE), (-4, 0, 0))) == Fraction(1, 2)  # in its plane
    assert share(move(at(PLATE, (4, 0, 0)), at(PLATE), (-4, 0, 0))) == Fraction(1, 2)  # both in one plane


def test_turns_known_by_hand():
    arm = at(solid(shapes.box((2, 0.5, 0.5))), (2, 0, 0))  # from 1 to 3 along x
    wall = Topology(RawMesh([[0, 1, -1], [0, 3, -1], [0, 3, 1], [0, 1, 1.0]], [(0, 1, 2, 3)], two_sided=True))
    # a wall at 90 degrees, radius 1 to 3; the arm's front edge at y = 1/4 has its largest angle where x = 1
    want = (mpmath.pi / 2 - mpmath.atan(mpmath.mpf(1) / 4)) / mpmath.mpf(2.0)
    got = share(rotate(arm, at(wall), 2.0))
    # the wall begins at y = 1: the arm's inner edge stands at a distance of sqrt(1 + 1/16) > 1
    assert abs(got - want) < mpmath.mpf(10) ** -50
    assert share(rotate(arm, at(wall), -2.0)) is None
    assert abs(share(rotate(arm, at(wall), -3.0, axis=(0, 0, -5.0))) - want * 2 / 3) < mpmath.mpf(10) ** -50
    far = rotate(at(POINT, (1, 0, 0)), at(POINT, (0, 1, 0)), 3.0)
    assert far.events() == []


def test_an_edge_turns_onto_an_edge():
    """Tents ridge to ridge under a turn about a line beside them: against the angle in closed form."""
    long = solid(shapes.box((0.2, 6, 0.2)))
    turned = (np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0)  # edges up and down, along y
    still = at(solid(shapes.box((6, 0.2, 0.2))), (0, 0, 0), (np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0))
    motion = rotate(at(long, (0, 0, 2), turned), still, -np.pi / 2, axis=(0, 1, 0), origin=(4, 0, 2))
    event = first(motion)
    assert event.kind == 3
    x, r = motion.at(event.time), motion.at(event.time - Fraction(1, 10**40))
    assert float(distance2(*x)) < 1e-70 and not touching(*r)


def test_a_corner_on_the_axis_and_a_circle_in_a_plane():
    # the tip is on the axis, in the plate's plane and in its middle: touches at all angles
    tip = at(TENT, (0, 0, 1), (0, 1, 0, 0))
    motion = rotate(tip, at(PLATE), 1.0)
    assert share(motion) == 0 and first_through(motion) is None
    # a point that circles in the plate's plane comes in over a side
    motion = rotate(at(POINT, (2, 0, 0)), at(PLATE), -2.0, origin=(2, 2, 0))
    assert share(motion) is not None
    assert abs(motion.fraction(first(motion).time) - mpmath.asin(mpmath.mpf(1) / 2) / 2) < 1e-50


def _sampled(mover, still, position, quat, n=400):
    """The first of n moments at which the bodies touch, by looking: positions (n, 3), quaternions (n, 4)."""
    for k in range(n):
        if touching(at(mover, position[k], quat[k]), still):
            return k
    return None


@pytest.mark.parametrize("turning", [False, True])
def test_against_sampling(turning):
    rng = np.random.default_rng(7 + turning)
    kinds = (shapes.box(), shapes.hull(rng, 7), shapes.l_block(), shapes.star(rng), shapes.sheet())
    meshes = [Topology(m) for m in kinds]
    hits, n = 0, 40
    for _ in range(200):
        if hits == 12:
            break
        mover, other = (meshes[i] for i in rng.integers(0, len(meshes), 2))
        p, q = rng.normal(size=3) * 1.5, random_quat(rng, 1)[0]
        still = at(other, (0, 0, 0), random_quat(rng, 1)[0])
        if touching(at(mover, p, q), still):
            continue
        steps = np.linspace(0, 1, n)
        if turning:
            axis, angle, origin = rng.normal(size=3), rng.uniform(0.3, np.pi), rng.normal(size=3) * 2
            motion = rotate(at(mover, p, q), still, angle, axis, origin)
            turn = turn_quat(axis / np.linalg.norm(axis), steps * angle)
            places = apply(rotation_matrix(turn), p - origin) + origin
            poses = places, quat_mul(turn, np.broadcast_to(q, turn.shape))
        else:
            v = rng.normal(size=3) * 0.4 - 1.5 * p
            motion = move(at(mover, p, q), still, v)
            poses = p + steps[:, None] * v, np.broadcast_to(q, (n, 4))
        event = first(motion)
        seen = _sampled(mover, still, *poses, n)
        if event is None:
            assert seen is None
            continue
        hits += 1
        when = float(motion.fraction(event.time))
        assert seen is None or when <= steps[seen] + 1e-12
        assert touching(*motion.at(event.time)) or float(distance2(*motion.at(event.time))) < 1e-60
        before = event.time * (1 - Fraction(1, 10**20))
        assert not touching(*motion.at(before))
    assert hits == 12
