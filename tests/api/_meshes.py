"""What the tests of `Mesh` share: a sheet, a square, and all that the attributes promise about each other."""

import numpy as np
import pytest

from gpu_collide.geometry.arrays import adjacency as adj

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def grid(n, height=None):
    """Flat (or wavy) sheet of 2 (n - 1)^2 triangles."""
    x, y = (c.ravel() for c in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    z = np.zeros(n * n) if height is None else height(x, y)
    i = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate([np.column_stack([i, i + n, i + n + 1]), np.column_stack([i, i + n + 1, i + 1])])
    return np.column_stack([x, y, z]).astype(float), faces


def check_invariants(mesh):
    """Everything the attributes promise about each other."""
    for name, value in vars(mesh).items():
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, name
            assert value.dtype in (np.float64, np.int32, np.int64), name
    loops = mesh.faces
    sides = {}
    for f, loop in enumerate(loops):
        assert len(set(loop.tolist())) == len(loop) >= 3
        for k, a in enumerate(loop):
            b = loop[(k + 1) % len(loop)]
            sides.setdefault((min(a, b), max(a, b)), []).append(2 * f + int(a > b))
            assert tuple(mesh.edges[mesh.face_edges[mesh.face_start[f] + k]]) == (min(a, b), max(a, b))
    assert [tuple(e) for e in mesh.edges] == sorted(sides)
    for e, edge in enumerate(mesh.edges):
        around = mesh.edge_faces[mesh.edge_face_start[e] : mesh.edge_face_start[e + 1]]
        assert around.tolist() == sides[tuple(edge)]
    for v in range(mesh.n_vertices):
        edges = mesh.vertex_edges[mesh.vertex_edge_start[v] : mesh.vertex_edge_start[v + 1]]
        assert all(mesh.edges[code >> 1, code & 1] == v for code in edges)
        assert len(edges) == (mesh.edges == v).sum()
        faces = mesh.vertex_faces[mesh.vertex_face_start[v] : mesh.vertex_face_start[v + 1]]
        assert faces.tolist() == [f for f, loop in enumerate(loops) if v in loop]
        assert mesh.vertex_flags[v] == (mesh.edge_flags[edges >> 1] & adj.EDGE_REFLEX).any()
    normals, offsets = mesh.face_planes[:, :3], mesh.face_planes[:, 3]
    assert np.abs(np.linalg.norm(normals, axis=1) - 1).max() < 1e-14
    local = mesh.vertices - mesh.center
    for f, loop in enumerate(loops):
        assert np.abs(local[loop] @ normals[f] + offsets[f]).max() <= 1e-6 * mesh.radius
    assert mesh.radius == pytest.approx(np.linalg.norm(local, axis=1).max(), rel=1e-15)
    assert np.allclose(
        mesh.center, (mesh.vertices.min(0) + mesh.vertices.max(0)) / 2, rtol=0, atol=1e-15 * 1e3
    )
