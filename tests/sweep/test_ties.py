"""Touches at the same time: which one is told is the rule of docs/sweep.md, the same everywhere.

Whole numbers and paths along axes, where no arithmetic rounds: times that are the same are equal.
"""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.results.hits import Feature
from tests.sweep._scenes import BLOCK, still

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

KEYS = ("body", "feature", "number", "face", "sphere", "time")
DOWN = [0, 0, -4.0]


def ask(backend, function, *args, precisions=("mixed", "double", "single"), **options):
    """The `Hits` of a backend, which all precisions, the reference and ``hits="all"`` must share."""
    found = [function(*args, backend=backend.kind, precision=p, **options) for p in precisions]
    found.append(function(*args, backend="reference", **options))
    every = function(*args, backend=backend.kind, hits="all", **options)
    for other in found[1:]:
        for name in KEYS:
            assert np.array_equal(getattr(found[0], name), getattr(other, name)), name
    at = every.offsets[:-1][found[0].hit]
    for name in KEYS:
        assert np.array_equal(getattr(every, name)[at], getattr(found[0], name)[found[0].hit]), name
    keys = [getattr(every, name) for name in ("query", "time", "feature", "body", "number", "sphere")]
    assert (np.lexsort(keys[::-1]) == np.arange(len(every))).all()
    return found[0]


def sheet(order):
    """Eight triangles about the origin, in the plane z = 0, facing up, in any order."""
    x, y = np.meshgrid([-2.0, 0, 2], [-2.0, 0, 2], indexing="ij")
    k = np.arange(9).reshape(3, 3)
    squares = [(k[i, j], k[i + 1, j], k[i + 1, j + 1], k[i, j + 1]) for i in (0, 1) for j in (0, 1)]
    faces = [t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))]
    corners = np.column_stack((x.ravel(), y.ravel(), np.zeros(9)))
    return gc.Mesh(corners, [faces[i] for i in order], merge_coplanar=False)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("radius", [0.0, 0.5, 1.0])
def test_of_faces_that_meet_the_least_number_is_told(backend, seed, radius):
    """Onto a vertex of six faces, onto edges of two, and onto one face."""
    mesh = sheet(np.random.default_rng(seed).permutation(8))
    place = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [-1, 0], [-1, -1], [1.5, 0.5]], float)
    start = np.column_stack((place, np.full(len(place), 3.0)))
    found = ask(backend, gc.sweep.spheres, start, DOWN, radius, still(mesh, [0, 0, 0]))
    assert (found.feature == Feature.FACE).all() and (found.time == (3 - radius) / 4).all()
    faces = np.asarray(mesh.vertices)[np.asarray(mesh.face_vertices).reshape(-1, 3)][..., :2]
    for number, x in zip(found.number, place, strict=True):
        to, side = x - faces, np.roll(faces, -1, axis=1) - faces
        on = (side[..., 0] * to[..., 1] - side[..., 1] * to[..., 0] >= 0).all(axis=1)
        assert number == np.flatnonzero(on)[0]


@pytest.mark.parametrize("radius", [0.0, 1.0])
def test_of_bodies_in_one_place_the_first_is_told(backend, radius):
    """Four of the same beside two others: onto a face, an edge, a corner and a side."""
    world = still(BLOCK, [[9, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, -8], [0, 0, 0], [0, 0, 0]])
    start = np.array([[0.5, 0.25, 3], [1, 0, 3], [1, 1, 3], [0, -1, 3]])
    found = ask(backend, gc.sweep.spheres, start, DOWN, radius, world)
    assert (found.body == 1).all() and (found.time == (2 - radius) / 4).all()
    every = gc.sweep.spheres(start, DOWN, radius, world, hits="all", backend=backend.kind)
    assert every.body[:4].tolist() == [1, 2, 4, 5] and (every.time[:4] == found.time[0]).all()


def test_of_bodies_side_by_side_the_first_is_told_whatever_the_tree(backend):
    """A sphere comes down between two boxes and touches both at once, in worlds of other orders."""
    rng = np.random.default_rng(2)
    places = np.array([[x, y, 0] for x in range(-8, 9, 4) for y in range(-8, 9, 4)], float)
    start = np.array([[2.0, 0, 8], [0, 2, 8], [-6, 4, 8], [2, 2, 8]])
    for _ in range(4):
        order = places[rng.permutation(len(places))]
        found = ask(backend, gc.sweep.spheres, start, [0, 0, -8.0], 1.25, still(BLOCK, order))
        for x, body, time in zip(start[:3], found.body, found.time, strict=False):
            away = (np.maximum(np.abs(order[:, :2] - x[:2]) - 1, 0) ** 2).sum(axis=1)
            assert time == 0.78125 and (away == 1).sum() == 2 and body == np.flatnonzero(away == 1)[0]
        assert not found.hit[3]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_a_face_is_told_before_an_edge_and_an_edge_before_a_vertex(backend, order):
    """A sphere of radius 5 comes down to z = 5, where a corner at (3, 0, 1), an edge at x = -4, z = 2 and a
    top at z = 0, each of another body, are just as far."""
    meshes = [BLOCK, gc.shapes.box((2, 4, 2)), BLOCK]
    position = np.array([[4.0, 1, 0], [-5.0, 0, 1], [0, 0, -1]])[order]
    here = gc.Poses.from_quat_wxyz(position, np.tile([1.0, 0, 0, 0], (3, 1)))
    world = gc.Bodies([meshes[i] for i in order], np.arange(3), here, here)
    args = [0, 0, 9.0], [0, 0, -8.0], 5.0, world
    every = gc.sweep.spheres(*args, hits="all", backend=backend.kind)
    kinds = every.feature[every.time == 0.5].tolist()
    assert kinds == sorted(kinds) and set(kinds) == {Feature.FACE, Feature.EDGE, Feature.VERTEX}
    found = ask(backend, gc.sweep.spheres, *args)
    assert found.feature[0] == Feature.FACE and found.body[0] == order.index(2) and found.time[0] == 0.5
