"""`edges(..., clearance=)`: the least gap of free edges, in closed form, and beside distances at poses."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.motion_proofs import as_robot
from tests.oracle.arm_of_boxes import Arm
from tests.robots.test_edges import boxes, moved, names, planar, sliding


@pytest.mark.parametrize("clearance, told", [(np.inf, True), (0.75, True), (0.25, False)])
def test_a_cube_that_slides_past_another(clearance, told, backend):
    """The gap is exactly 1/2, while the cubes are beside each other: from 1/3 to 2/3 of the way."""
    found = sliding().edges(
        [[-3.0]], [[3.0]], boxes([[0, 1.5, 0]], 1.0), clearance=clearance, backend=backend.name
    )
    assert names(found) == ["MISS"]
    if told:
        assert abs(found.gap[0] - 0.5) < 1e-12 and 0.49 < found.gap_bound[0] <= found.gap[0]
        assert 1 / 3 - 1e-9 <= found.gap_time[0] <= 2 / 3 + 1e-9
        assert (found.gap_link[0], found.gap_other[0], found.gap_other_is_link[0]) == (0, 0, False)
    else:
        assert np.isinf(found.gap[0]) and np.isinf(found.gap_time[0]) and found.gap_link[0] == -1
        assert found.gap_bound[0] == 0.25


def test_a_bar_that_turns_towards_a_post():
    """A bar without width but for 1/16 turns by 1 rad; the post's corner stands 0.1 beside where it ends."""
    robot, width = planar(1), 0.0625
    place = 0.75 * np.array([np.cos(1.0), np.sin(1.0)]) + (width / 2 + 0.1) * np.array(
        [-np.sin(1.0), np.cos(1.0)]
    )
    found = robot.edges(
        [[0.0]], [[1.0]], boxes([[place[0] - 0.125, place[1] + 0.125, 0]], 0.25), clearance=1.0
    )
    assert abs(found.gap[0] - 0.1) < 1e-12 and found.gap_time[0] == 1.0  # the end is a pose that is looked at
    assert 0 <= found.gap[0] - found.gap_bound[0] <= 0.01


def test_links_against_each_other():
    """Two cubes on rails of their own go towards each other until 1/4 is left, and a third stands aside."""
    joints = [
        gc.Joint("one", "prismatic", "base", "a", moved(-2.0), [1, 0, 0]),
        gc.Joint("two", "prismatic", "base", "b", moved(2.0), [1, 0, 0]),
    ]
    robot = gc.Robot(joints, {"base": [], "a": gc.shapes.box(), "b": gc.shapes.box()})
    found = robot.edges([[0.0, 0.0]], [[1.0, -1.75]], boxes([[0, 3, 0]], 1.0), clearance=np.inf)
    assert abs(found.gap[0] - 0.25) < 1e-12 and found.gap_other_is_link[0]
    assert {robot.link_names[found.gap_link[0]], robot.link_names[found.gap_other[0]]} == {"a", "b"}


def test_what_is_not_free_has_no_gap():
    found = sliding().edges([[-3.0]], [[3.0]], boxes([[0, 0, 0]], 1.0), clearance=np.inf)
    assert names(found) == ["HIT"] and np.isinf(found.gap[0]) and found.gap_bound[0] == 0
    plain = sliding().edges([[-3.0]], [[3.0]], boxes([[0, 5, 0]], 1.0))
    assert np.isinf(plain.gap[0]) and plain.gap_bound[0] == 0
    with pytest.raises(ValueError, match="clearance"):
        sliding().edges([[-3.0]], [[3.0]], boxes([[0, 5, 0]], 1.0), clearance=-1.0)


@pytest.mark.parametrize("seed, limit", [(0, np.inf), (1, 0.2)])
def test_random_arms_beside_distances_at_poses(seed, limit):
    """At none of 65 poses is anything nearer than the bound, and the gap is what it is at its time. The bound
    is as near to the gap as it is said to be."""
    rng = np.random.default_rng(seed)
    q0, way = rng.uniform(-1.2, 1.2, (40, 4)), rng.normal(size=(40, 4))
    arm = Arm(q0, q0 + way / np.linalg.norm(way, axis=1, keepdims=True), 0.3, 0.06)
    places = rng.uniform([-0.7, -0.7, 0.1], [0.7, 0.7, 1.2], (4, 3))
    found = as_robot(arm).edges(arm.q0, arm.q1, boxes(places, 0.2), clearance=limit)
    free = np.flatnonzero(found.status == gc.Status.MISS)
    assert len(free) > 10 and np.isfinite(found.gap[free]).sum() > 5
    smallest = gc.shapes.box(2 * arm.halves()).radius
    told = free[np.isfinite(found.gap[free])]
    assert (found.gap[told] - found.gap_bound[told] <= 0.01 * smallest + 1e-12).all()
    assert (found.gap_bound[np.setdiff1d(free, told)] == limit).all()
    for k in free:
        times = np.append(np.linspace(0, 1, 65), found.gap_time[k] if k in told else 0.0)
        pairs, apart = distances(arm, places, k, times)
        assert (apart >= found.gap_bound[k]).all()
        if k in told:
            other = found.gap_other[k] + (0 if found.gap_other_is_link[k] else arm.links)
            at = apart[-1, pairs.index((found.gap_link[k], other))]
            assert abs(at - found.gap[k]) < 1e-12
            assert (apart >= found.gap[k] - 0.01 * smallest - 1e-12).all()


def distances(arm, places, edge, times):
    """At poses of an edge those of the links to boxes of 0.2 and to links that are no neighbours: pairs, and
    (t, pairs)."""
    t, n, m = len(times), arm.links, len(places)
    middle, axes = arm.at(np.full(t, edge), times)
    matrix = np.tile(np.eye(4), (t, n + m, 1, 1))
    matrix[:, :n, :3, :3], matrix[:, :n, :3, 3], matrix[:, n:, :3, 3] = axes, middle, places
    at = gc.Poses.from_matrix(matrix.reshape(-1, 4, 4))
    meshes = [gc.shapes.box(2 * arm.halves()), gc.shapes.box(0.2)]
    bodies = gc.Bodies(meshes, np.tile(np.repeat([0, 1], [n, m]), t), at, at)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n + m) if j != i + 1 or j == n]
    every = (np.array(pairs) + (n + m) * np.arange(t)[:, None, None]).reshape(-1, 2)
    return pairs, gc.clearance(bodies, every, at=0.0).distance.reshape(t, -1)
