"""s09_overlap: which solids overlap when the step begins. Touch is not overlap."""

import numpy as np
import pytest

import gpu_collide as gc

OVERLAP = gc.Status.INITIAL_OVERLAP


def overlaps(meshes, shape, start, backend, end=None, turn=None):
    turn = np.tile([1.0, 0, 0, 0], (len(start), 1)) if turn is None else turn
    at = gc.Poses.from_quat_wxyz(start, turn)
    on = at if end is None else gc.Poses.from_quat_wxyz(end, turn)
    pairs = np.arange(len(start)).reshape(-1, 2)
    found = gc.collide(gc.Bodies(meshes, shape, at, on), pairs, check_start=True, backend=backend)
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
