"""m01_patches: the kernels cut a mesh as NumPy does, entry by entry."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import get_backend, sources
from gpu_collide.errors import BackendUnavailableError, KernelCompileError
from gpu_collide.geometry.preparation import compiled, prepared
from gpu_collide.geometry.preparation.face_tree import face_tree
from gpu_collide.geometry.preparation.patches import PATCH_COLUMNS, cut
from tests.mesh._meshes import meshes, prism, soup


def differences(found, expected):
    """Names of what is not the same in two `Patches`."""
    pairs = {"counts": (found.counts, expected.counts), "begins": (found.begins, expected.begins)}
    assert list(found.tables) == list(expected.tables) == list(PATCH_COLUMNS)
    pairs |= {name: (found.tables[name], table) for name, table in expected.tables.items()}
    return [name for name, (a, b) in pairs.items() if a.dtype != b.dtype or not np.array_equal(a, b)]


@pytest.mark.parametrize("size", [1, 5, 32])
def test_patches_are_those_of_numpy(backend, size):
    kernels = compiled.Kernels(backend)
    for mesh in meshes():
        order = face_tree(mesh).order
        assert differences(kernels.cut(mesh, order, size), cut(mesh, order, size)) == []


def test_patches_of_two_triangles(backend):
    """By hand: both triangles hold vertices 1 and 2, and the first of them owns what they share."""
    mesh = gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]])
    found = compiled.Kernels(backend).cut(mesh, np.array([1, 0]), 1)
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
    assert found.counts.tolist() == [[3, 3, 1], [3, 3, 1]]
    table = {name: values.tolist() for name, values in found.tables.items()}
    assert table["source_faces"] == [1, 0]
    assert table["source_vertices"] == [1, 2, 3, 0, 1, 2]
    assert table["source_edges"] == [2, 3, 4, 0, 1, 2]
    assert table["face_vertices"] == [0, 2, 1, 0, 1, 2]
    assert table["edges"] == [0, 1, 0, 2, 1, 2, 0, 1, 0, 2, 1, 2]
    # face 1 comes first, so that it owns edge 2 and vertices 1 and 2, whose other face is one patch on
    assert table["edge_face_start"] == [0, 2, 3, 4, 0, 1, 2, 2]
    assert table["edge_faces_away"] == [1, 0, 0, 0, 0, 0]
    assert table["vertex_face_start"] == [0, 2, 4, 5, 0, 1, 1, 1]
    assert table["vertex_faces_away"] == [1, 0, 1, 0, 0, 0]


def test_faces_of_many_corners_are_sorted(backend):
    """Thousands of corners in one patch, in rising and in falling order; and a single patch for all."""
    for mesh in (prism(3000), soup(2)):
        order = np.arange(mesh.n_faces)[::-1]
        assert differences(compiled.Kernels(backend).cut(mesh, order, 7), cut(mesh, order, 7)) == []


def test_places_are_named_as_the_header_has_them():
    assert set(PATCH_COLUMNS) < set(sources.record("mesh").offsets)


def all_of(mesh, dtype):
    parts = prepared.patches_of(mesh)
    return parts, prepared.nodes_of(mesh, dtype)


@pytest.mark.parametrize("error", [BackendUnavailableError, KernelCompileError])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_meshes_take_the_kernels_and_numpy_where_there_are_none(monkeypatch, error, dtype):
    """The same of both, and the kernels are used for the large one alone."""
    cpu = get_backend("cpu")
    monkeypatch.setattr(compiled, "FEW_FACES", 300)
    made, asked = [], []

    def get(name):
        asked.append(name)
        return cpu

    def refuse(name):
        raise error(f"no {name} here")

    monkeypatch.setattr(compiled, "get_backend", get)
    for k in (1, 2):
        made.append(all_of(gc.shapes.icosphere(k), dtype))
    assert asked == 3 * ["cpu"], "320 faces, for their order, patches and nodes; 80 faces not"
    monkeypatch.setattr(compiled, "get_backend", refuse)
    monkeypatch.setattr(prepared, "_stores", type(prepared._stores)())
    for k, (parts, nodes) in zip((1, 2), made, strict=True):
        again = all_of(gc.shapes.icosphere(k), dtype)
        assert differences(again[0], parts) == [] and np.array_equal(again[1], nodes)
        assert nodes.dtype == dtype


def test_more_faces_than_ints_can_count_are_left_to_numpy(monkeypatch):
    monkeypatch.setattr(compiled, "FEW_FACES", 0)
    monkeypatch.setattr(compiled, "MOST_FACES", 79)
    assert compiled.kernels_for(gc.shapes.icosphere(1)) is None
    monkeypatch.setattr(compiled, "MOST_FACES", 80)
    assert compiled.kernels_for(gc.shapes.icosphere(1)) is not None
