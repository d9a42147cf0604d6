"""`Mesh(merge_coplanar=...)`: neighbouring flat faces become one, and the solid stays what it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_collide.geometry import shapes
from gpu_collide.geometry.arrays import adjacency as adj
from gpu_collide.geometry.mesh.mesh import Mesh
from tests.acceptance import lattice_solids
from tests.api._meshes import SQUARE, check_invariants, grid
from tests.support.seeds import generator


def test_merge_coplanar_undoes_triangulate():
    for make in (shapes.box, shapes.car, shapes.torus):
        mesh = make()
        cut = Mesh(mesh.vertices, mesh.faces, triangulate=True)
        assert (np.diff(cut.face_start) == 3).all()
        back = Mesh(cut.vertices, cut.faces, merge_coplanar=True)
        assert (back.n_vertices, back.n_edges, back.n_faces) == (mesh.n_vertices, mesh.n_edges, mesh.n_faces)
        # Each polygon leads back to the triangles it is made of.
        for f in range(back.n_faces):
            parts = back.source_faces[back.source_faces_start[f] : back.source_faces_start[f + 1]]
            assert set(cut.face_vertices[cut.face_start[parts][:, None] + np.arange(3)].ravel()) == set(
                back.source_vertex[back.face(f)]
            )
            assert back.source_face[f] == parts.min()
        assert sorted(back.source_faces.tolist()) == list(range(cut.n_faces))


def test_merge_coplanar_of_a_fine_sheet():
    points, faces = grid(12)
    mesh = Mesh(points, faces, merge_coplanar=True)
    assert mesh.n_faces == 1 and mesh.n_vertices == 4
    assert points[mesh.source_vertex].tolist() == mesh.vertices.tolist()
    assert len(mesh.source_faces) == len(faces)
    assert next(entry for entry in mesh.report if "removed" in entry[0])[1] == 140


def test_merge_coplanar_of_a_shape_that_is_not_convex_stays_convex_piecewise():
    points, faces = grid(9)
    middle = points[faces].mean(axis=1)
    keep = ~((np.abs(middle[:, 0] - 4) < 2) & (np.abs(middle[:, 1] - 4) < 2))  # a square ring
    mesh = Mesh(points, faces[keep], merge_coplanar=True)
    check_invariants(mesh)
    area = np.linalg.norm(adj.newell(mesh.vertices, mesh.face_start, mesh.face_vertices), axis=1).sum()
    assert area == pytest.approx(64 - 16) and mesh.n_faces <= 8
    assert (np.diff(mesh.edge_face_start) <= 2).all()
    Mesh(mesh.vertices, mesh.faces)  # every piece passes the checks of a given polygon


def test_merge_coplanar_respects_slight_bends():
    points, faces = grid(6, lambda x, y: 1e-4 * np.abs(x - 2))
    assert Mesh(points, faces, merge_coplanar=True).n_faces == 2
    points, faces = grid(6, lambda x, y: 1e-2 * x**2)
    assert Mesh(points, faces, merge_coplanar=True).n_faces == 5  # one strip per column
    points, faces = grid(6, lambda x, y: 1e-2 * (x**2 + x * y))
    assert Mesh(points, faces, merge_coplanar=True).n_faces == len(faces)


def test_merge_coplanar_tolerance():
    """By default the rounding of the dtype: 1e-9 is a bend in float64 and nothing in float32."""
    points, faces = grid(3, lambda x, y: 1e-9 * x**2)
    assert Mesh(points, faces, merge_coplanar=True).n_faces == 2
    assert Mesh(points.astype(np.float32), faces, merge_coplanar=True).n_faces == 1
    assert Mesh(points, faces, merge_coplanar=1e-7).n_faces == 1
    assert Mesh(points, faces, merge_coplanar=np.True_).n_faces == 2
    assert Mesh(points, faces, merge_coplanar=False).n_faces == 8
    assert Mesh(points * [1, 1, 0.1] + 1e6, faces, merge_coplanar=True).n_faces == 1
    for bad, error in ((1e-3, ValueError), (-1e-9, ValueError), (np.nan, ValueError), ("yes", TypeError)):
        with pytest.raises(error, match="merge_coplanar: expected"):
            Mesh(points, faces, merge_coplanar=bad)


def test_merge_coplanar_leaves_other_sides_of_edges_alone():
    """Mixed winding, and two sheets on top of each other, are not merged across."""
    assert Mesh(SQUARE, [[0, 1, 2], [0, 3, 2]], merge_coplanar=True).n_faces == 2
    assert Mesh(SQUARE, [[0, 1, 2], [2, 1, 0]], merge_coplanar=True).n_faces == 2


def random_rotation(seed):
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2]), st.booleans())
def test_merge_coplanar_keeps_the_solid(seed, which, single):
    """A finely cut, rotated solid, perhaps rounded to float32, stays closed and keeps its volume."""
    rng = np.random.default_rng(seed)
    solid = (shapes.box, shapes.l_block, shapes.car)[which]()
    cut = Mesh(solid.vertices, solid.faces, triangulate=True)
    points, faces = cut.vertices, cut.face_vertices.reshape(-1, 3)
    for _ in range(rng.integers(0, 3)):
        points, faces = _halve(points, faces)
    points = points @ random_rotation(seed).T + rng.normal(size=3)
    if single:
        points = points.astype(np.float32)
    mesh = Mesh(points, faces, merge_coplanar=True)
    assert mesh.closed and mesh.volume == pytest.approx(solid.volume, rel=1e-6)
    Mesh(mesh.vertices, mesh.faces)
    if not single:
        # Straight edges lose their middle vertices and flat convex faces become one polygon.
        assert which == 1 or (mesh.n_vertices, mesh.n_faces) == (solid.n_vertices, solid.n_faces)


def _halve(points, faces):
    """Every triangle in four."""
    sides = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]], axis=-1).reshape(-1, 2)
    keys, which = np.unique(sides, axis=0, return_inverse=True)
    a, b, c = faces.T
    ab, bc, ca = (which.reshape(-1, 3) + len(points)).T
    cut = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return np.concatenate([points, points[keys].mean(axis=1)]), cut


@pytest.mark.parametrize("seed, number", [(4, 4), (43, 13), (28, 12), (26, 6)])
def test_edges_of_four_faces_stay(seed, number):
    """A chain of sides that two faces share went whole, with an edge at which two faces more meet: these had
    corners in the middle of a face then, and what only touched such a solid was told to overlap it."""
    rng = generator(seed, 79)
    for _ in range(number + 1):
        made = (lattice_solids.cells if rng.uniform() < 0.35 else lattice_solids.solid)(rng)
    shape = made.shape
    merged = Mesh(shape.vertices, [list(loop) for loop in shape.loops], merge_coplanar=True)
    assert not lattice_solids.touches_itself(shape.mesh()) and merged.n_faces < len(shape.loops)
    assert not lattice_solids.touches_itself(merged)
