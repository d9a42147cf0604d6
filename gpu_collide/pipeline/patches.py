"""Patches: a large mesh cut into small ones, so that a pair looks only at what comes near.

A patch is a run of faces in the leaf order of the mesh's bounding-volume tree, with the vertices and edges of
those faces, numbered anew and laid out like a mesh of its own (``kernels/gc_types.h``); tables lead back to
the numbers of the whole mesh. An edge or vertex on a border is in every patch that has a face there.

That is enough to find every candidate: a contact lies on all faces around the feature it is on, so all of
them are near, and one of them faces the right way. The same contact found twice has the same bits and is kept
once (s08). Solving and reporting use the whole mesh, so neither frame nor tolerance nor properness knows of
patches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_collide import _sources
from gpu_collide.pipeline.bvh import Tree

__all__ = ["PATCH_LEVEL", "Patches", "cut", "face_tree"]

#: A patch is one node of the face tree on this level: 32 faces, so that a mask of them is an int.
PATCH_LEVEL = int(_sources.constants()["GC_PATCH_LEVEL"])


@dataclass(frozen=True)
class Patches:
    """All patches of a mesh, table by table one after another.

    Attributes
    ----------
    counts : (p, 3) int64
        Vertices, edges, faces of each patch.
    tables : dict of name to (flat, begins)
        The index tables of `gpu_collide.pipeline.tables`, and where each patch begins in them; the entries
        are numbers within the patch. ``source_vertices``, ``source_edges``, ``source_faces`` lead to the
        mesh.
    """

    counts: np.ndarray
    tables: dict


def _grouped(key_patch, key_item, values, patches, items):
    """CSR of `values` by (patch, item): `patches` and `items` list the groups in order. Returns flat values
    and the number of values in each group."""
    span = np.int64(items.max() + 1 if len(items) else 1)
    groups = patches * span + items
    at = np.searchsorted(groups, key_patch * span + key_item)
    order = np.argsort(at, kind="stable")
    return values[order], np.bincount(at, minlength=len(groups))


def _starts(sizes, group_patch, n_patches):
    """Begins of CSR rows counted from each patch's own first value, with the closing entry of every patch."""
    per_patch = np.bincount(group_patch, minlength=n_patches)
    row0 = np.cumsum(per_patch) - per_patch
    out = np.zeros(len(sizes) + n_patches, np.int64)
    place = np.arange(len(sizes)) + group_patch + 1
    out[place] = sizes
    begins = row0 + np.arange(n_patches)
    total = np.cumsum(out)
    return total - np.repeat(total[begins], per_patch + 1), begins


def _unique_in_patch(patch, item):
    """Distinct (patch, item), and for each entry its number within the patch."""
    span = np.int64(item.max() + 1 if len(item) else 1)
    keys, inverse = np.unique(patch * span + item, return_inverse=True)
    owner, source = keys // span, keys % span
    first = np.searchsorted(owner, np.arange(int(patch.max()) + 1 if len(patch) else 0))
    return owner, source, inverse.reshape(-1) - first[patch], first


def _corner_index(mesh, order):
    """Where the corners of the faces in that order stand in ``face_vertices``."""
    sizes = np.diff(mesh.face_start)[order]
    return np.repeat(mesh.face_start[order] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def cut(mesh, order, size=1 << PATCH_LEVEL):
    """Cut `mesh` into patches of `size` faces in the given order of its faces.

    Parameters
    ----------
    mesh : Mesh
    order : (faces,) int
        Face numbers; patch k takes entries ``k * size`` to ``(k + 1) * size``.
    size : int

    Returns
    -------
    Patches
    """
    nf = len(mesh.face_planes)
    n_patches = -(-nf // size)
    place = np.empty(nf, np.int64)
    place[order] = np.arange(nf)
    patch, local_face = place // size, place % size

    corners = np.diff(mesh.face_start)
    # corners of the faces in leaf order
    sizes = corners[order]
    index = (
        np.repeat(mesh.face_start[order], sizes)
        + np.arange(sizes.sum())
        - np.repeat(np.cumsum(sizes) - sizes, sizes)
    )
    corner_patch = np.repeat(patch[order], sizes)
    vertex_patch, vertex_source, corner_vertex, vertex0 = _unique_in_patch(
        corner_patch, mesh.face_vertices[index].astype(np.int64)
    )
    edge_patch, edge_source, corner_edge, _ = _unique_in_patch(
        corner_patch, mesh.face_edges[index].astype(np.int64)
    )
    face_start, face_row = _starts(sizes, patch[order], n_patches)

    vertex_span = np.int64(len(mesh.vertices))
    ends = mesh.edges[edge_source].astype(np.int64)
    keys = vertex_patch * vertex_span + vertex_source
    local_ends = (
        np.searchsorted(keys, edge_patch[:, None] * vertex_span + ends) - vertex0[edge_patch][:, None]
    )

    edge_first = np.searchsorted(edge_patch, np.arange(n_patches))
    local_edge = np.arange(len(edge_source)) - edge_first[edge_patch]
    face_of = mesh.edge_faces.astype(np.int64) >> 1
    edge_of = np.repeat(np.arange(len(mesh.edges)), np.diff(mesh.edge_face_start))
    edge_faces, edge_sizes = _grouped(
        patch[face_of], edge_of, 2 * local_face[face_of] + (mesh.edge_faces & 1), edge_patch, edge_source
    )
    edge_face_start, edge_row = _starts(edge_sizes, edge_patch, n_patches)
    vertex_edges, vertex_edge_sizes = _grouped(
        np.repeat(edge_patch, 2), ends.reshape(-1),
        (2 * local_edge[:, None] + np.arange(2)).reshape(-1), vertex_patch, vertex_source,
    )  # fmt: skip
    vertex_edge_start, vertex_row = _starts(vertex_edge_sizes, vertex_patch, n_patches)
    face_at = np.repeat(order, sizes)
    vertex_faces, vertex_face_sizes = _grouped(
        corner_patch,
        mesh.face_vertices[index].astype(np.int64),
        local_face[face_at],
        vertex_patch,
        vertex_source,
    )
    vertex_face_start, _ = _starts(vertex_face_sizes, vertex_patch, n_patches)

    per_patch = [np.bincount(p, minlength=n_patches) for p in (vertex_patch, edge_patch, patch)]
    first_vertex, first_edge, first_face = (np.cumsum(c) - c for c in per_patch)

    def begin_of(group_first, group_sizes):
        total = np.concatenate([[0], np.cumsum(group_sizes)])
        return total[group_first]

    corner0 = begin_of(first_face, sizes)
    tables = {
        "face_start": (face_start, face_row),
        "face_vertices": (corner_vertex, corner0),
        "face_edges": (corner_edge, corner0),
        "edges": (local_ends.reshape(-1), 2 * first_edge),
        "edge_face_start": (edge_face_start, edge_row),
        "edge_faces": (edge_faces, begin_of(first_edge, edge_sizes)),
        "vertex_edge_start": (vertex_edge_start, vertex_row),
        "vertex_edges": (vertex_edges, begin_of(first_vertex, vertex_edge_sizes)),
        "vertex_face_start": (vertex_face_start, vertex_row),
        "vertex_faces": (vertex_faces, begin_of(first_vertex, vertex_face_sizes)),
        "edge_flags": (mesh.edge_flags[edge_source], first_edge),
        "vertex_flags": (mesh.vertex_flags[vertex_source], first_vertex),
        "source_vertices": (vertex_source, first_vertex),
        "source_edges": (edge_source, first_edge),
        "source_faces": (np.asarray(order), first_face),
    }
    tables = {
        name: (flat.astype(np.int32), begins.astype(np.int64)) for name, (flat, begins) in tables.items()
    }
    return Patches(np.stack(per_patch, axis=1).astype(np.int64), tables)


def _slabs(mesh, order, size, boxes):
    """Slab and radius (n, 6) of runs of `size` faces: unit normal, range along it, greatest distance from the
    middle of the box (see ``kernels/gc_types.h``)."""
    centred = mesh.vertices - mesh.center
    sizes = np.diff(mesh.face_start)[order]
    corners = centred[mesh.face_vertices[_corner_index(mesh, order)]]
    face_first = np.arange(0, len(order), size)
    first = (np.cumsum(sizes) - sizes)[face_first]
    of_node = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(corners))))
    distance = np.linalg.norm(corners - 0.5 * (boxes[of_node, :3] + boxes[of_node, 3:]), axis=1)
    normal = np.add.reduceat(mesh.face_planes[order, :3], face_first, axis=0)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.where(length > 1e-3, normal / np.where(length > 0, length, 1.0), 0.0)
    along = np.einsum("ij,ij->i", corners, normal[of_node])
    return np.column_stack(
        [normal, np.minimum.reduceat(along, first), np.maximum.reduceat(along, first),
         np.maximum.reduceat(distance, first)]
    )  # fmt: skip


def face_tree(mesh, number, backend, module, tables):
    """The tree of a mesh's faces.

    Parameters
    ----------
    mesh : Mesh
    number : int
        Which of the meshes in `tables`.
    backend, module
    tables : dict
        ``headers_in``, ``topology_in``, ``vertices_in`` of the whole meshes.

    Returns
    -------
    order : (faces,) int64
        Face of each leaf.
    levels : list of (n, GC_PATCH_NODE) float64
        Nodes, level by level from single faces up.
    """
    n = len(mesh.face_planes)
    boxes = backend.empty(6 * n, np.dtype(np.float32 if module.precision == "single" else np.float64))
    backend.launch_items(module["b01_faces"], n, n_faces=n, mesh=number, boxes_out=boxes, **tables)
    tree = Tree.build(backend, module, boxes)
    order = tree.order_host.astype(np.int64)
    nodes = backend.to_host(tree.nodes).reshape(-1, 6).astype(np.float64)
    levels = []
    for level, (start, count) in enumerate(zip(tree.levels.starts, tree.levels.counts, strict=True)):
        box = nodes[start : start + count]
        levels.append(np.column_stack([box, _slabs(mesh, order, 1 << level, box)]))
    return order, levels
