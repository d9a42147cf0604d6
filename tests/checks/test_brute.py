"""The brute force of `verify`: known answers, and that it is independent of who asks."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.checks.brute import Shape, features_at, sure_contacts
from gpu_collide.checks.casts import crossing, distance
from gpu_collide.checks.motion import Motion, matrices

pytestmark = pytest.mark.smoke

BOX = gc.shapes.box()
TRIANGLE = np.array([[[0.0, 0, 0], [4, 0, 0], [0, 4, 0]]])


def two(start, end, quat=(1.0, 0, 0, 0)):
    """A box at the origin and one that goes from a place to another."""
    one = [1.0, 0, 0, 0]
    poses = [gc.Poses.from_quat_wxyz([[0, 0, 0], x], [one, q]) for x, q in ((start, one), (end, quat))]
    return gc.Bodies(BOX, None, *poses)


def test_a_box_tilted_onto_a_box():
    """The lowest corner of a box on its tip goes straight down onto the upper face."""
    tip = np.array([0.8804762392171493, 0.3647051996315009, -0.2797048, 0.1159]) * [1, 1, -1, 0]
    tip /= np.linalg.norm(tip)
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.05, 0.1, 3]], [[1, 0, 0, 0], tip])
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.05, 0.1, 0]], [[1, 0, 0, 0], tip])
    motion = Motion.between(gc.Bodies(BOX, None, start, end), np.array([[0, 1]]))
    shape = Shape(BOX)
    found = sure_contacts(shape, shape, motion)
    low = matrices(tip[None])[0] @ shape.v.T
    vertex = int(low[2].argmin())
    assert (found.kind[0], found.feature_b[0]) == (gc.Kind.FV, vertex)
    assert shape.normal[found.feature_a[0]].tolist() == [0, 0, 1]
    assert found.time[0] == pytest.approx((3 + low[2, vertex] - 0.5) / 3, abs=1e-12)


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-3, 1.0, 3.14])
def test_motions_end_where_the_poses_say(turn):
    rng = np.random.default_rng(3)
    axis = rng.normal(size=(2, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    q0 = np.array([[1.0, 0, 0, 0], [0.6, 0.8, 0, 0]])
    q1 = np.column_stack((np.full(2, np.cos(turn / 2)), axis * np.sin(turn / 2)))
    q1[0] = [1, 0, 0, 0]
    q1[1] = q1[1] if turn == 0 else [
        0.6 * q1[1, 0] - 0.8 * q1[1, 1], 0.8 * q1[1, 0] + 0.6 * q1[1, 1],
        0.6 * q1[1, 2] + 0.8 * q1[1, 3], 0.6 * q1[1, 3] - 0.8 * q1[1, 2],
    ]  # fmt: skip
    q1[1] = q0[1] if turn == 0 else q1[1]
    place = rng.normal(size=(2, 2, 3))
    bodies = gc.Bodies(
        BOX, None, gc.Poses.from_quat_wxyz(place[0], q0), gc.Poses.from_quat_wxyz(place[1], q1)
    )
    motion = Motion.between(bodies, np.array([[0, 1]]))
    x = rng.normal(size=(1, 3))
    a1 = matrices(q1[:1])[0]
    want = a1.T @ (matrices(q1[1:])[0] @ x[0] + place[1, 1] - place[1, 0])
    assert motion.angle[0] == pytest.approx(turn, abs=2e-7)
    got = motion.at(motion.begins(x), np.ones(1))
    assert np.abs(got[0] - want).max() < 1e-12
    assert np.abs(motion.back(got, np.ones(1)) - x).max() < 1e-12


def test_what_grazes_is_left_alone():
    """Face upon face: everything coincides, nothing is beyond doubt."""
    motion = Motion.between(two([0, 0, 3], [0, 0, 0]), np.array([[0, 1]]))
    assert len(sure_contacts(Shape(BOX), Shape(BOX), motion).time) == 0


def test_features_are_where_they_are_said_to_be():
    motion = Motion.between(two([0.3, 0.2, 3], [0.3, 0.2, 0]), np.array([[0, 1]]))
    shape, one = Shape(BOX), np.zeros(1, int)
    top = np.flatnonzero(shape.normal[:, 2] > 0.5)
    low = np.flatnonzero((shape.v == [-0.5, -0.5, -0.5]).all(1))
    place, gap, inside, sine = features_at(shape, shape, motion, gc.Kind.FV, top, low, np.array([2 / 3]))
    assert place[0] == pytest.approx([-0.2, -0.3, 0.5]) and gap[0] == pytest.approx(0, abs=1e-15)
    assert inside[0] == pytest.approx(0.2) and sine[0] == 1 and one.size == 1


def test_distances_from_triangles():
    x = np.array([[1.0, 1, 2], [-3, 0, 4], [4, 4, 0], [2, -1, 0]])[:, None]
    want = [2.0, 5.0, np.sqrt(8), 1.0]
    assert distance(x, TRIANGLE)[:, 0].tolist() == pytest.approx(want)


@pytest.mark.parametrize(
    "start, path, share",
    [
        ([1, 1, 2], [0, 0, -4], 0.5),
        ([1, 1, -2], [0, 0, 4], np.inf),  # from behind
        ([3, 3, 2], [0, 0, -4], np.inf),  # beside
        ([1, 1, 2], [0, 0, -1], np.inf),  # before
        ([1, 1, 2], [1, 0, 0], np.inf),  # along
    ],
)
def test_crossings_of_triangles(start, path, share):
    assert crossing(np.array(start, float), np.array([path], float), TRIANGLE) == pytest.approx(share)
