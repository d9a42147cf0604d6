"""What is made of a mesh ahead: the tree of its faces, its patches, and both joined for several meshes."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.geometry.preparation import prepared
from gpu_collide.geometry.preparation.face_tree import face_tree
from gpu_collide.pipeline.mesh_tables.tables import build_tables, short_edges
from tests.mesh._meshes import meshes
from tests.support.slow_tables import slow_tables

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

STRIDE = int(sources.constants()["GC_MESH_STRIDE"])
WIDTH = int(sources.constants()["GC_NODE_STRIDE"])


def on_host(tables, backend):
    found = {name: backend.to_host(b).reshape(-1) for name, b in tables.buffers.items()}
    return found | {f"screen.{name}": backend.to_host(b).reshape(-1) for name, b in tables.screen.items()}


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_joined_tables_are_those_built_item_by_item(backend, precision, near):
    real = np.float32 if precision == "single" else np.float64
    raster = np.float64 if precision == "double" else np.float32
    some = meshes()
    tables = build_tables(some, backend, precision, near)
    orders = [face_tree(mesh).order for mesh in some] if near else []
    found, expected = on_host(tables, backend), slow_tables(some, orders, real, raster, STRIDE)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array), name
    for buffers in (tables.buffers, tables.screen):
        assert all(buffer.size for buffer in buffers.values())
    each = {id(b): b.nbytes for b in (*tables.buffers.values(), *tables.screen.values())}
    assert tables.nbytes == sum(each.values())
    assert tables.counts.tolist() == [[m.n_vertices, m.n_edges, m.n_faces] for m in some]


def test_measures():
    for mesh in meshes():
        found = prepared.measures_of(mesh)
        half = np.abs(mesh.vertices - mesh.center).max(axis=0)
        assert found[:4].tolist() == [*mesh.center, mesh.radius] and np.array_equal(found[5:8], half)
        assert found[4] == 2.0 ** np.ceil(np.log2(mesh.radius)) >= mesh.radius
        corners = [mesh.vertices[mesh.face(f)] for f in range(mesh.n_faces)]
        reach = max(np.linalg.norm(p - p.mean(axis=0), axis=1).max() for p in corners)
        assert abs(found[8] - reach) <= 1e-14 * reach


def test_nodes_hold_their_faces():
    """Box, slab and radius of every node, against all points of its faces."""
    for mesh in meshes():
        tree, points = face_tree(mesh), mesh.vertices - mesh.center
        nodes, row = prepared.nodes_of(mesh, np.float64), 0
        heights = range((mesh.n_faces - 1).bit_length() + 1)
        for level in heights:
            for first in range(0, mesh.n_faces, 1 << level):
                faces, node = tree.order[first : first + (1 << level)], nodes[row]
                held = points[np.concatenate([mesh.face(f) for f in faces])]
                low, high = held.min(axis=0), held.max(axis=0)
                assert np.array_equal(node[:6], [*low, *high])
                total = mesh.face_planes[faces, :3].sum(axis=0)
                length = np.linalg.norm(total)
                if abs(length - 1e-3) > 1e-9:
                    expected = total / length if length > 1e-3 else np.zeros(3)
                    assert np.abs(node[6:9] - expected).max() < 1e-11
                along = held @ node[6:9]
                reach = np.linalg.norm(held - 0.5 * (low + high), axis=1).max()
                assert np.abs(node[9:12] - [along.min(), along.max(), reach]).max() < 1e-14 * mesh.radius * 4
                row += 1
        assert row == len(nodes) and nodes.shape[1] == WIDTH


def test_short_edges_are_the_percentile_of_both_meshes():
    some = [*meshes(), gc.shapes.torus(), gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])]
    a, b = np.indices((len(some), len(some))).reshape(2, -1)
    lengths = [np.linalg.norm(m.vertices[m.edges[:, 1]] - m.vertices[m.edges[:, 0]], axis=1) for m in some]
    expected = [
        np.percentile(np.concatenate([lengths[i], lengths[j]]), 10) for i, j in zip(a, b, strict=True)
    ]
    assert np.array_equal(short_edges(some, a, b), expected)
    assert short_edges(some, a[:0], b[:0]).shape == (0,)
