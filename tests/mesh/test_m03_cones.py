"""m03_cones: the kernels make the cones that NumPy makes, bit for bit."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.geometry.preparation import compiled
from gpu_collide.geometry.preparation.cones import face_cones
from tests.api._meshes import grid
from tests.mesh._meshes import meshes


def bumpy(n=20):
    """Triangles around corners of all angles, convex, flat and reflex."""
    ring = gc.shapes.torus(n_major=2 * n, n_minor=n)
    x, quads = ring.vertices, ring.face_vertices.reshape(-1, 4)
    lift = 1.0 + 0.1 * np.sin(9 * x[:, :1]) * np.cos(7 * x[:, 1:2])
    return gc.Mesh(x * lift, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]))


def turned():
    """Some faces of a ball wound against the others."""
    ball = gc.shapes.icosphere(2)
    faces = ball.face_vertices.reshape(-1, 3).copy()
    faces[::7] = faces[::7, ::-1]
    return gc.Mesh(ball.vertices, faces)


def without_length(length):
    """The arrays of a ball, one of whose edges is too short for a direction; `Mesh` would have closed it."""
    ball = gc.shapes.icosphere(1)
    names = ("face_start", "face_vertices", "face_edges", "face_planes", "edges", "edge_face_start",
             "edge_faces", "radius", "two_sided")  # fmt: skip
    low, high = ball.edges[5]
    points = ball.vertices - ball.vertices[low]
    points[high] = [length, 0, 0]
    return SimpleNamespace(vertices=points, **{name: getattr(ball, name) for name in names})


def waves(two_sided):
    return gc.Mesh(*grid(24, lambda x, y: 0.1 * np.sin(3 * x)), two_sided=two_sided)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cones_are_those_of_numpy(backend, dtype):
    kernels = compiled.Kernels(backend, dtype)
    narrow = free = 0
    for mesh in [*meshes(), bumpy(), turned(), waves(False), waves(True), gc.shapes.icosphere(3)]:
        found, expected = kernels.face_cones(mesh), face_cones(mesh)
        assert found.dtype == np.float64
        assert np.array_equal(found, expected)
        narrow, free = narrow + (expected > 0.5).sum(), free + (expected == 0).sum()
    assert narrow > 1000 and free > 100


def test_cones_of_a_flat_sheet(backend):
    """By hand: a normal off the sheet's tilts some edge by more than -0.1 and the bit for rounding; at the
    border it may be any."""
    sheet = gc.Mesh(*grid(4, lambda x, y: 0 * x))
    cones, rings = compiled.Kernels(backend).face_cones(sheet)
    assert (rings == 1.0).all()
    assert (cones == 0.0).any() and (cones > 0.0).any()
    limit = np.cos(np.arcsin(0.1 / np.cos(np.pi / 4)))  # the widest angle between edges is a right one
    assert np.all(cones[cones > 0.0] <= limit) and np.all(cones[cones > 0.0] > limit - 1e-3)


@pytest.mark.parametrize("length", [0.0, 1e-170, 1e-300])
def test_edges_too_short_to_have_a_direction(backend, length):
    """NumPy warned of an invalid value: the direction was infinite, and was multiplied."""
    mesh = without_length(length)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = face_cones(mesh)
    assert np.array_equal(compiled.Kernels(backend).face_cones(mesh), expected)
    at_it = np.isin(mesh.face_vertices.reshape(-1, 3), mesh.edges[5]).any(axis=1)
    assert not expected[0][at_it].any() and expected[0][~at_it].any()
