"""`Robot.edges`: whole numbers, exact gaps, half turns, thin rods, links against each other, splines."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.motion_proofs import as_robot as like
from tests.oracle.arm_of_boxes import Arm, overlaps


def moved(x=0.0, y=0.0, z=0.0):
    m = np.eye(4)
    m[:3, 3] = x, y, z
    return m


def boxes(middles, size):
    at = gc.Poses.from_quat_wxyz(middles, np.tile([1.0, 0, 0, 0], (len(middles), 1)))
    return gc.Bodies(gc.shapes.box(size), None, at, at)


def names(found):
    return [gc.Status(s).name for s in found.status]


def planar(joints, width=0.0625, **more):
    """Bars of length 1 along x, one behind the other, that turn about z."""
    bar = (gc.shapes.box((1.0, width, width)), moved(0.5))
    made = [
        gc.Joint(
            f"j{k}", "revolute", f"l{k - 1}" if k else "base", f"l{k}", moved(1.0 if k else 0.0), [0, 0, 2]
        )
        for k in range(joints)
    ]
    return gc.Robot(made, {"base": [], **{f"l{k}": bar for k in range(joints)}}, **more)


def sliding(axis=(1.0, 0, 0)):
    """A unit cube on a rail."""
    return gc.Robot([gc.Joint("rail", "prismatic", "base", "cube", axis=axis)], {"cube": gc.shapes.box()})


@pytest.mark.parametrize(
    "margin, wanted", [(0.0, "MISS MISS HIT"), (0.25, "MISS HIT HIT"), (0.6, "HIT HIT HIT")]
)
def test_exact_gaps(margin, wanted, backend):
    """A cube that slides past cubes, gaps of 1/2, 1/4 and 0: a gap as great as the margin is within it."""
    found = [
        sliding().edges([[-3.0]], [[3.0]], boxes([[0, y, 0]], 1.0), margin=margin, backend=backend.name)
        for y in (1.5, 1.25, 1.0)
    ]
    assert [names(one)[0] for one in found] == wanted.split()
    assert all(one.pieces[0] == 1 for one in found if one.status[0] == gc.Status.MISS)


def test_the_first_hit_is_told_with_time_links_and_place():
    """Cube against cube, from x = -3 to 3 in whole numbers: they meet at x = -1, a third of the way."""
    found = sliding().edges([[-3.0]], [[3.0]], boxes([[0, 0, 0]], 1.0), max_pieces=1 << 20, places=True)
    assert names(found) == ["HIT"] and found.link[0] == 0 and found.other[0] == 0
    assert 0 <= found.time[0] - 1 / 3 <= 1 / (1 << 20) and found.free_fraction[0] <= 1 / 3
    assert abs(found.point[0, 0] + 0.5) < 1e-5 and (np.abs(found.point[0, 1:]) <= 0.5).all()


def test_half_turns_and_whole_ones():
    """A bar that turns by half a turn, a whole one, two, and back: what stands in its way is hit, what stands
    just beyond it is not. Ends of whole turns are equal poses: not at rest."""
    robot = planar(1)
    turns = np.pi * np.array([[1.0], [2.0], [4.0], [-2.0]])
    for place, wanted in (([0.0, 0.9, 0], "HIT HIT HIT HIT"), ([0.0, 1.2, 0], "MISS MISS MISS MISS"),
                          ([0.0, -0.9, 0], "MISS HIT HIT HIT")):  # fmt: skip
        found = robot.edges(np.zeros((4, 1)), turns, boxes([place], 0.125))
        assert names(found) == wanted.split()
    assert found.time[3] < found.time[1]  # the other way round it comes sooner


def test_a_whole_turn_among_many_is_found_where_it_is_met():
    """Four turns: the time is that of the angle at which the bar's face meets the post's corner."""
    found = planar(1).edges([[0.0]], [[8 * np.pi]], boxes([[0.0, 0.9, 0]], 0.125), max_pieces=1 << 14)
    angle = found.time[0] * 8 * np.pi
    # the bar's left face, 1/32 beside its axis, meets the corner (1/16, 0.8375)
    meets = np.arctan2(0.8375, 0.0625) - np.arcsin(0.03125 / np.hypot(0.8375, 0.0625))
    assert 0 <= angle - meets < 8 * np.pi / (1 << 14)


def test_a_rod_that_poses_miss():
    """Rods of 4 mm, one turning past another that stands: 65 poses step over it, the proof does not."""
    arm = Arm([[0.0, 0.0]], [[0.0, 3.0]], 0.5, 0.004)
    moment = 25.5 / 64
    middle, axes = arm.at(np.array([0]), np.array([moment]))
    rod = middle[0, 1] + axes[0, 1, :, 2] * 0.2
    size = np.array([0.004, 0.8, 0.004])
    poses = arm.at(np.zeros(65, int), np.linspace(0, 1, 65))
    still = np.tile(np.eye(3), (65, 1, 1))
    assert (
        overlaps(poses[0][:, 1], poses[1][:, 1], arm.halves(), np.tile(rod, (65, 1)), still, size / 2) > 0
    ).all()
    found = like(arm).edges(arm.q0, arm.q1, boxes([rod], size), max_pieces=4096)
    assert names(found) == ["HIT"] and abs(found.time[0] - moment) < 5e-3
    assert like(arm).link_names[found.link[0]] == "link 1"


@pytest.mark.shared_bits("tests/clearance/test_c01_clearance.py")
def test_random_arms_against_poses(backend):
    """No pose of 257 collides before the end of what is proved free; what collides does, at the time told."""
    rng = np.random.default_rng(1)
    q0, way = rng.uniform(-1.2, 1.2, (120, 4)), rng.normal(size=(120, 4))
    arm = Arm(q0, q0 + way / np.linalg.norm(way, axis=1, keepdims=True), 0.3, 0.06)
    places, half = rng.uniform([-0.7, -0.7, 0.1], [0.7, 0.7, 1.2], (6, 3)), np.full(3, 0.12)
    found = like(arm).edges(
        arm.q0, arm.q1, boxes(places, 2 * half), self_collisions=False, backend=backend.name
    )
    assert np.bincount(found.status, minlength=5)[[0, 1, 2]].min() > 10
    still, rows = np.tile(np.eye(3), (arm.n, 1, 1)), np.arange(arm.n)
    for moment in np.linspace(0, 1, 257):
        middle, axes = arm.at(rows, np.full(arm.n, moment))
        free = (found.status == gc.Status.MISS) | (moment < found.free_fraction)
        for link in range(arm.links):
            for place in places:
                gap = overlaps(
                    middle[:, link], axes[:, link], arm.halves(), np.tile(place, (arm.n, 1)), still, half
                )
                assert (gap[free] > 0).all()
    met = np.flatnonzero(np.isfinite(found.time))
    middle, axes = arm.at(met, found.time[met])
    at = np.arange(len(met)), found.link[met]  # the base has no shape and is named last
    gap = overlaps(middle[at], axes[at], arm.halves(), places[found.other[met]], still[: len(met)], half)
    assert (gap < 1e-11).all()


def test_links_against_each_other():
    """Four bars of length 1: closed to a square the last meets the first; folded less it does not. The
    neighbours of each are no pairs, nor are pairs that are ignored."""
    robot = planar(4)
    pairs = [tuple(robot.link_names[k] for k in pair) for pair in robot.link_pairs]
    assert pairs == [("l0", "l2"), ("l0", "l3"), ("l1", "l3")]
    quarter = np.pi / 2
    q1 = [[0, quarter, quarter, quarter], [0, quarter, quarter, 0.5]]
    found = robot.edges(np.zeros((2, 4)), q1)
    assert names(found) == ["HIT", "MISS"] and found.other_is_link[0]
    assert {robot.link_names[found.link[0]], robot.link_names[found.other[0]]} == {"l0", "l3"}
    ignored = planar(4, ignore=[("l3", "l0")])
    assert names(ignored.edges(np.zeros((1, 4)), q1[:1])) == ["MISS"]


def test_splines_are_edges_with_rates():
    """A bar that swings out to 0.7 rad and back, from rest to rest in two pieces, meets what stands at 0.6
    rad and not what stands at 0.9; the straight edge between the same ends does not move at all."""
    robot, q = planar(1), np.array([[0.0], [0.7], [0.0]])
    rest = np.zeros((2, 1))
    for angle, wanted in ((0.6, "HIT"), (0.9, "MISS")):
        post = boxes([[0.8 * np.cos(angle), 0.8 * np.sin(angle), 0]], 0.03125)
        assert names(robot.edges(q[:-1], q[1:], post, v0=rest, v1=rest))[0] == wanted
        out = robot.edges([[0.0]], [[0.0]], post, v0=[[2.8]], v1=[[-2.8]])  # 2.8 t (1 - t): 0.7 at most
        assert names(out)[0] == wanted
        assert names(robot.edges([[0.0]], [[0.0]], post)) == ["MISS"]


def test_mimicking_joints_and_prismatic_ones():
    """A gripper: one finger goes out by q, the other, which mimics it, by as much the other way."""
    finger = gc.shapes.box((0.125, 0.125, 0.125))
    joints = [
        gc.Joint("left", "prismatic", "palm", "l", axis=[0, 1, 0], limits=(0.0, 0.5)),
        gc.Joint("right", "prismatic", "palm", "r", axis=[0, 1, 0], mimic=("left", -1.0, -0.25)),
    ]
    robot = gc.Robot(joints, {"palm": [], "l": finger, "r": finger})
    assert robot.joint_names == ("left",) and robot.limits.tolist() == [[0.0, 0.5]]
    assert robot.forward([[0.5]]).position[0, :, 1].tolist() == [0.0, 0.5, -0.75]
    post = boxes([[0, -0.75, 0]], 0.125)
    found = robot.edges([[0.0], [0.0]], [[0.25], [0.5]], post)
    assert names(found) == ["MISS", "HIT"] and robot.link_names[found.link[1]] == "r"


def test_the_base_moves_everything():
    turned = gc.Poses.from_quat_wxyz([[10.0, 20.0, 30.0]], [[np.sqrt(0.5), 0, 0, np.sqrt(0.5)]])
    robot = planar(2, base=turned)
    assert np.abs(robot.forward([[0.0, 0.0]]).position[0, 2] - [10, 21, 30]).max() < 1e-14
    found = robot.edges([[0.0, 0.0]], [[1.0, 0.0]], boxes([[9.5, 21.5, 30.0]], 0.25))
    assert names(found) == ["HIT"]


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: planar(2).edges([[0.0]], [[0.0]]), ValueError, "q0: expected shape"),
        (lambda: planar(2).edges([[0.0, 0]], [[0.0, np.nan]]), ValueError, "q1: expected finite"),
        (lambda: planar(2).edges([[0.0, 0]], [[0.0, 0]] * 2), ValueError, "q1: expected the shape of q0"),
        (lambda: planar(2).edges([[0.0, 0]], [[0.0, 0]]), TypeError, "nothing to hit"),
        (lambda: planar(2).edges([[0.0, 0]], [[0.0, 0]], v0=[[0.0, 0]]), TypeError, "v0, v1: expected both"),
        (lambda: gc.Robot([], {}), ValueError, "shapes: expected a link"),
        (lambda: gc.Robot([], {"a": []}), ValueError, "shapes: expected a shape"),
        (lambda: gc.Robot(["j"], {"a": gc.shapes.box()}), TypeError, "joints: expected gpu_collide.Joint"),
        (lambda: gc.Robot([gc.Joint("j", "planar", "a", "b")], {"b": []}), ValueError, "'planar'"),
        (lambda: gc.Robot([gc.Joint("j", "fixed", "a", "b"), gc.Joint("k", "fixed", "b", "a")],
                          {"b": gc.shapes.box()}), ValueError, "circle"),
        (lambda: gc.Robot([], {"a": gc.shapes.box(), "b": []}), ValueError, "one without a joint above it"),
        (lambda: gc.Robot([gc.Joint("j", "revolute", "a", "b", axis=[0, 0, 0])], {"b": gc.shapes.box()}),
         ValueError, "axis of some length"),
        (lambda: gc.Robot([gc.Joint("j", "revolute", "a", "b", mimic=("k", 1, 0))], {"b": gc.shapes.box()}),
         ValueError, "to mimic a joint"),
        (lambda: planar(2, ignore=[("l0", "arm")]), ValueError, "ignore: expected names of links"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
