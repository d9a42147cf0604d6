"""m02_nodes: the kernels make the nodes that NumPy makes, bit for bit."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.geometry.preparation import compiled
from gpu_collide.geometry.preparation.face_tree import face_tree
from gpu_collide.geometry.preparation.nodes import node_table
from gpu_collide.geometry.preparation.patches import PATCH_COLUMNS, cut
from tests.api._meshes import grid
from tests.mesh._meshes import meshes

NODE = sources.record("node")


def arguments(mesh):
    tree = face_tree(mesh)
    parts = cut(mesh, tree.order)
    return (
        mesh,
        tree,
        parts.tables["source_vertices"],
        parts.begins[:, PATCH_COLUMNS.index("source_vertices")],
    )


def folded():
    """Forty pairs of faces, back to back, whose normals cancel: nodes without a slab."""
    points = np.random.default_rng(8).normal(size=(120, 3))
    loops = np.arange(120).reshape(-1, 3)
    return gc.Mesh(points, np.concatenate([loops, loops[:, ::-1]]), two_sided=True)


def doubled():
    """A closed ball, each face twice, back to back: all normals cancel, and heights are zeros of any sign."""
    ball = gc.shapes.icosphere(3)
    loops = ball.face_vertices.reshape(-1, 3)
    return gc.Mesh(ball.vertices, np.concatenate([loops, loops[:, ::-1]]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nodes_are_those_of_numpy(backend, dtype):
    kernels = compiled.Kernels(backend, dtype)
    some = [*meshes(), folded(), doubled(), gc.Mesh(*grid(24, lambda x, y: 0.1 * np.sin(3 * x))),
            gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])]  # fmt: skip
    for mesh in some:
        levels = []
        found = kernels.node_table(*arguments(mesh), stepped=lambda: levels.append(1))  # noqa: B023
        expected = node_table(*arguments(mesh), dtype)
        assert found.dtype == expected.dtype == dtype
        assert found.tobytes() == expected.tobytes()
        assert len(levels) == (mesh.n_faces - 1).bit_length() + 1
    empty = kernels.node_table(*arguments(folded()))[:, NODE["normal"]]
    assert (empty == 0).all(axis=1).any() and not (empty == 0).all()


def test_nodes_of_two_triangles(backend):
    """By hand: a roof of two faces."""
    mesh = gc.Mesh([[0, 0, 0], [0, 2, 0], [1, 0, 1], [-1, 0, 1]], [[0, 2, 1], [0, 1, 3]])
    left, right, top = compiled.Kernels(backend, np.float64).node_table(*arguments(mesh))
    assert mesh.center.tolist() == [0, 1, 0.5]
    assert top[:6].tolist() == [-1, -1, -0.5, 1, 1, 0.5]
    assert {tuple(left[:6]), tuple(right[:6])} == {(0, -1, -0.5, 1, 1, 0.5), (-1, -1, -0.5, 0, 1, 0.5)}
    slope = np.sqrt(0.5)
    assert np.allclose(np.abs(left[6:9]), [slope, 0, slope], atol=1e-15)
    assert np.allclose(left[9:11], -0.5 * slope * np.sign(left[8]), atol=1e-15), "a plane: no range"
    assert np.allclose(top[6:9], [0, 0, np.sign(left[8])], atol=1e-15)
    assert np.allclose(top[9:11], [-0.5, 0.5], atol=1e-15)
    assert np.allclose([left[11], top[11]], [np.sqrt(1.5), 1.5], atol=1e-15), "from the boxes' middles"
