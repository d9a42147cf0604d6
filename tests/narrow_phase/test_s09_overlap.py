"""s09_overlap: which solids overlap at one time of the step, or when it begins. Touch is not overlap."""

from types import SimpleNamespace

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide._options import Options
from gpu_collide.pipeline.launch.launcher import Launcher
from gpu_collide.pipeline.narrow_phase.immediate import Immediate
from gpu_collide.pipeline.narrow_phase.plan import decide
from gpu_collide.pipeline.narrow_phase.stages import mark_overlaps
from gpu_collide.reference.narrow_phase import s01_screw, s02_facing, s09_overlap
from gpu_collide.reference.narrow_phase._tables import tables_of
from tests.narrow_phase._launch import C, Stages, sharing

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

OVERLAP = gc.Status.INITIAL_OVERLAP


def overlaps(meshes, shape, start, backend, end=None, turn=None):
    turn = np.tile([1.0, 0, 0, 0], (len(start), 1)) if turn is None else turn
    at = gc.Poses.from_quat_wxyz(start, turn)
    on = at if end is None else gc.Poses.from_quat_wxyz(end, turn)
    pairs = np.arange(len(start)).reshape(-1, 2)
    found = gc.collide(gc.Bodies(meshes, shape, at, on), pairs, check_start=True, backend=backend).to_numpy()
    return found.status == OVERLAP


@pytest.mark.parametrize(
    "place, deep",
    [
        ((0, 0, 0), True),  # the same cube twice: no edge pierces a face, no vertex is inside
        ((0.5, 0, 0), True),  # four coplanar faces
        ((0.5, 0.5, 0), True),
        ((0.3, 0.2, 0.1), True),
        ((1 - 1e-6, 0, 0), True),
        ((1 - 1e-9, 0, 0), False),  # less than the depth that counts
        ((1, 0, 0), False),  # touch: face, edge, corner
        ((1, 1, 0), False),
        ((1, 1, 1), False),
        ((1.1, 0, 0), False),
    ],
)
def test_known_answers(place, deep, backend):
    still = np.array([[0, 0, 0], place], float)
    assert overlaps(gc.shapes.box(), None, still, backend.kind) == [deep]
    # how the step goes on has no say
    away = still + [[0, 0, 0], [3, 1, 2]]
    assert overlaps(gc.shapes.box(), None, still, backend.kind, end=away) == [deep]


def test_one_inside_the_other_and_rings_in_rings(backend):
    nested = [gc.shapes.box((4, 4, 4)), gc.shapes.box()]
    for shape in ([0, 1], [1, 0]):
        assert overlaps(nested, shape, np.zeros((2, 3)), backend.kind) == [True]
    # two linked tori do not overlap, a ball in the hole neither; a ball in the tube does
    ring, ball = gc.shapes.torus(1.0, 0.3), gc.shapes.icosphere(1)
    upright = np.array([[1.0, 0, 0, 0], [np.sqrt(0.5), np.sqrt(0.5), 0, 0]])
    assert overlaps(ring, None, np.array([[0.0, 0, 0], [1.0, 0, 0]]), backend.kind, turn=upright) == [False]
    small = gc.Mesh(ball.vertices * 0.1, ball.faces)
    for x, inside in ((0.0, False), (1.0, True)):
        at = np.array([[0.0, 0, 0], [x, 0, 0]])
        assert overlaps([ring, small], [0, 1], at, backend.kind) == [inside]


def test_open_meshes_have_no_inside_but_are_pierced(backend):
    box = gc.shapes.box((2, 2, 2))
    lidless = gc.Mesh(box.vertices, box.faces[:-1])  # without the side x = 1
    cube = gc.shapes.box((0.5, 0.5, 0.5))
    assert not lidless.closed
    for x, deep in ((0.0, False), (1.0, False), (-1.0, True)):  # within, in the opening, through a wall
        at = np.array([[0, 0, 0], [x, 0.1, 0.2]])
        assert overlaps([lidless, cube], [0, 1], at, backend.kind) == [deep]


def test_agrees_with_the_reference_on_random_places(backend):
    rng = np.random.default_rng(9)
    meshes = [gc.shapes.box(), gc.shapes.car(), gc.shapes.l_block(), gc.shapes.star()]
    n = 80
    start = np.zeros((2 * n, 3))
    start[1::2] = rng.normal(size=(n, 3)) * 1.2
    turn = rng.normal(size=(2 * n, 4))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    shape = rng.integers(0, len(meshes), 2 * n)
    here = overlaps(meshes, shape, start, backend.kind, turn=turn)
    there = overlaps(meshes, shape, start, "reference", turn=turn)
    assert 20 < here.sum() < 70
    assert np.array_equal(here, there)


def moving(n=60, seed=3):
    """Pairs of all sorts of shapes in motion, flat open sheets and thin boxes among them."""
    rng = np.random.default_rng(seed)
    sheet = gc.Mesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], [[0, 1, 2, 3]])
    meshes = [gc.shapes.box(), gc.shapes.car(), gc.shapes.star(), gc.shapes.box((2.0, 0.5, 0.02)), sheet]
    places, turns = rng.normal(size=(2, 2 * n, 3)) * 0.8, rng.normal(size=(2, 2 * n, 4))
    turns /= np.linalg.norm(turns, axis=2, keepdims=True)
    poses = [gc.Poses.from_quat_wxyz(p, q) for p, q in zip(places, turns, strict=True)]
    shape = rng.integers(0, len(meshes), 2 * n)
    return gc.Bodies(meshes, shape, *poses), np.arange(2 * n).reshape(-1, 2), rng.uniform(-0.5, 0.5, n)


def at_times(backend, bodies, pairs, when, groups=None):
    """Which pairs overlap at the times `when`, by one launch."""
    stages = Stages(backend, bodies, pairs, "double")
    buffers = stages.tables | stages.common() | stages.solver()  # which launches s01
    state = backend.to_device(stages.state)
    buffers |= {"state_in": state, "state_out": state}
    run = Launcher(backend, "double", 1 << 30)
    if groups:
        run.launch_each = lambda name, n, *bound, **args: run.launch_groups(name, groups, *bound, **args)
    when = backend.to_device(np.asarray(when, float))
    plan, none = decide(bodies.meshes, Options(precision="double"), backend), SimpleNamespace(buffers={})
    x = Immediate(run, plan, none, bodies.shape[pairs], buffers)
    x.buffers |= buffers
    mark_overlaps(x, x.todo, when)
    return backend.to_host(state) == int(C["GC_PAIR_OVERLAP"])


def by_reference(bodies, pairs, when):
    p0, q0, _ = s01_screw.pose_arrays(bodies.start)
    p1, q1, _ = s01_screw.pose_arrays(bodies.end)
    found = []
    for (a, b), s in zip(pairs, when, strict=True):
        meshes = [bodies.meshes[bodies.shape[k]] for k in (a, b)]
        ends = [(p[k], q[k]) for k in (a, b) for p, q in ((p0, q0), (p1, q1))]
        screw = s01_screw.screw_of_pair(*meshes, *ends)
        sides = [s02_facing.side_of(screw, tables_of(m), k) for m, k in zip(meshes, "ab", strict=True)]
        found.append(s09_overlap.overlap_at(screw, *sides, s))
    return np.array(found)


def test_any_time_of_the_step_agrees_with_the_reference(backend):
    bodies, pairs, when = moving()
    expected = by_reference(bodies, pairs, when)
    assert 10 < expected.sum() < 50
    assert (expected != by_reference(bodies, pairs, np.full(len(pairs), -0.5))).sum() > 10
    for groups in (None, 1, 3):
        assert np.array_equal(at_times(backend, bodies, pairs, when, groups), expected)


@pytest.mark.backends("cpu", "opencl", "cuda")  # groups of several work-items are OpenCL's
def test_groups_of_several_work_items_say_the_same(backend):
    bodies, pairs, when = moving(seed=4)
    other = sharing(backend)
    assert np.array_equal(at_times(other, bodies, pairs, when), by_reference(bodies, pairs, when))


def test_times_behind_the_step_are_not_asked_about(backend):
    bodies, pairs, when = moving()
    asked = np.arange(len(pairs)) % 2 == 0
    found = at_times(backend, bodies, pairs, np.where(asked, when, 2.0))
    assert np.array_equal(found, asked & by_reference(bodies, pairs, when)) and found.any()


def test_boxes_keep_what_touches_or_goes_a_little_deeper(backend):
    """Cubes face to face, edge on edge and corner on corner: a box test a trace too eager would lose the
    overlaps just deeper than the depth that counts (1e-7 of the radius)."""
    turn = np.array([[1.0, 0, 0, 0], [np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8)]])
    for way in ([1, 0, 0], [1, 1, 0], [1, 1, 1]):
        for gap, deep in ((-3e-7, True), (0.0, False), (1e-9, False)):
            still = np.array([[0, 0, 0], np.array(way) * (1 + gap)])
            assert overlaps(gc.shapes.box(), None, still, backend.kind) == [deep]
    reach = 0.5 + np.sqrt(0.5)  # an edge of the turned cube on the face of the other
    for gap, deep in ((-3e-7, True), (1e-9, False)):
        still = np.array([[0, 0, 0], [reach + gap, 0.01, 0.02]])
        assert overlaps(gc.shapes.box(), None, still, backend.kind, turn=turn) == [deep]


@pytest.mark.parametrize("gap", [0.0, 3e-8, -1e-5])
def test_a_sharp_tip_that_touches_does_not_overlap(gap, backend):
    """The corner of a tetrahedron whose faces meet at a sharp tip: the sum of their normals leads out through
    one of them, so that shrinking along it once pushed the tip into what it touched."""
    tip, ground = gc.shapes.convex_hull(np.eye(4)[:, :3]), gc.shapes.box((10.0, 10.0, 10.0))
    down = np.array([1.0, 1.0, 1.0]) / np.sqrt(3)  # outward normal of the face that lies on the ground
    axis = np.cross(down, [0, 0, -1.0])
    angle = np.arctan2(np.linalg.norm(axis), down @ [0, 0, -1.0])
    turn = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis / np.linalg.norm(axis)])
    height = 5.0 + down @ [1.0, 0, 0] + gap
    pose = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, height]], [[1, 0, 0, 0], turn])
    found = gc.collide(
        gc.Bodies([ground, tip], [0, 1], pose, pose), [[0, 1], [1, 0]], check_start=True, backend=backend.name
    ).to_numpy()
    assert (np.asarray(found.status) == gc.Status.INITIAL_OVERLAP).all() == (gap < 0)
