"""Patches: a large mesh cut into small ones, so that a pair looks only at what comes near.

A patch is a run of faces in the leaf order of the mesh's bounding-volume tree, with the vertices and edges of
those faces, numbered anew and laid out like a mesh of its own (``kernels/common/gc_types.h``); tables lead
back to the numbers of the whole mesh. An edge or vertex on a border has a copy in every patch with a face
there. One of them owns it: there it is a feature, with all that is around it in the whole mesh, and its
entries may lead to other patches. The other copies are places only.

That is enough to find every candidate: a contact lies on all faces around the feature it is on, so all of
them are near, the owner's among them. Solving and reporting use the whole mesh, so neither frame nor
tolerance nor properness knows of patches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.bvh import Tree

__all__ = ["PATCH_LEVEL", "Patches", "cut", "face_tree"]

#: A patch is one node of the face tree on this level: 32 faces, so that a mask of them is an int.
PATCH_LEVEL = int(sources.constants()["GC_PATCH_LEVEL"])


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
        mesh. ``edge_faces_away`` and the like say for each entry how many patches on it counts in.
    """

    counts: np.ndarray
    tables: dict


def _rows(start, rows):
    """Where the entries of some rows of a CSR table stand in it, and the number of entries of each row."""
    sizes = start[rows + 1] - start[rows]
    first = np.repeat(start[rows] - np.cumsum(sizes) + sizes, sizes)
    return first + np.arange(sizes.sum()), sizes


class _Copies:
    """The copies of vertices or edges in the patches: ascending by patch, then by number in the mesh."""

    def __init__(self, patch, item):
        self.span = np.int64(item.max() + 1)
        self.keys, inverse = np.unique(patch * self.span + item, return_inverse=True)
        self.patch, self.source = self.keys // self.span, self.keys % self.span
        self.first = np.searchsorted(self.patch, np.arange(int(patch.max()) + 1))
        self.given = inverse.reshape(-1) - self.first[patch]  # number within the patch of what was given

    def find(self, patch, item):
        """Number within the patch of a copy, and whether there is one."""
        at = np.searchsorted(self.keys, patch * self.span + item)
        there = self.keys[np.minimum(at, len(self.keys) - 1)] == patch * self.span + item
        return np.where(there, at - self.first[patch], -1), there

    def owned(self, owner):
        """Rows of the copies in the patch that owns the item."""
        return np.flatnonzero(owner[self.source] == self.patch)


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
    index, sizes = _rows(mesh.face_start, order)
    corner_patch = np.repeat(patch[order], sizes)
    vertices = _Copies(corner_patch, mesh.face_vertices[index].astype(np.int64))
    edges = _Copies(corner_patch, mesh.face_edges[index].astype(np.int64))
    ends = mesh.edges[edges.source].astype(np.int64)
    local_ends, _ = vertices.find(edges.patch[:, None], ends)

    # what is around a feature, in the patch that owns it: the first that has a face there
    edge_owner = np.minimum.reduceat(patch[mesh.edge_faces >> 1], mesh.edge_face_start[:-1])
    at, edge_sizes = _around(mesh.edge_face_start, edges, edge_owner)
    edge_face, edge_side = mesh.edge_faces[at] >> 1, mesh.edge_faces[at] & 1
    edge_from = np.repeat(edges.patch, edge_sizes)
    with_faces = np.flatnonzero(np.diff(mesh.vertex_face_start))
    vertex_owner = np.full(len(mesh.vertices), -1, np.int64)
    vertex_owner[with_faces] = np.minimum.reduceat(
        patch[mesh.vertex_faces], mesh.vertex_face_start[:-1][with_faces]
    )
    at, vertex_face_sizes = _around(mesh.vertex_face_start, vertices, vertex_owner)
    vertex_face, vertex_from = mesh.vertex_faces[at], np.repeat(vertices.patch, vertex_face_sizes)
    at, vertex_edge_sizes = _around(mesh.vertex_edge_start, vertices, vertex_owner)
    edge_at, edge_end = mesh.vertex_edges[at].astype(np.int64) >> 1, mesh.vertex_edges[at] & 1
    here = np.repeat(vertices.patch, vertex_edge_sizes)
    there = np.where(edges.find(here, edge_at)[1], here, edge_owner[edge_at])
    local_edge, _ = edges.find(there, edge_at)

    copies = [np.bincount(p, minlength=n_patches) for p in (vertices.patch, edges.patch, patch)]
    first_vertex, first_edge, first_face = (np.cumsum(c) - c for c in copies)
    face_start, face_row = _starts(sizes, patch[order], n_patches)
    edge_face_start, edge_row = _starts(edge_sizes, edges.patch, n_patches)
    vertex_edge_start, vertex_row = _starts(vertex_edge_sizes, vertices.patch, n_patches)
    vertex_face_start, _ = _starts(vertex_face_sizes, vertices.patch, n_patches)
    corner0, edge_face0 = _before(sizes, first_face), _before(edge_sizes, first_edge)
    vertex_edge0, vertex_face0 = (_before(k, first_vertex) for k in (vertex_edge_sizes, vertex_face_sizes))
    tables = {
        "face_start": (face_start, face_row),
        "face_vertices": (vertices.given, corner0),
        "face_edges": (edges.given, corner0),
        "edges": (local_ends.reshape(-1), 2 * first_edge),
        "edge_face_start": (edge_face_start, edge_row),
        "edge_faces": (2 * local_face[edge_face] + edge_side, edge_face0),
        "vertex_edge_start": (vertex_edge_start, vertex_row),
        "vertex_edges": (2 * local_edge + edge_end, vertex_edge0),
        "vertex_face_start": (vertex_face_start, vertex_row),
        "vertex_faces": (local_face[vertex_face], vertex_face0),
        "edge_flags": (mesh.edge_flags[edges.source], first_edge),
        "vertex_flags": (mesh.vertex_flags[vertices.source], first_vertex),
        "source_vertices": (vertices.source, first_vertex),
        "source_edges": (edges.source, first_edge),
        "source_faces": (np.asarray(order), first_face),
        "edge_faces_away": (patch[edge_face] - edge_from, edge_face0),
        "vertex_edges_away": (there - here, vertex_edge0),
        "vertex_faces_away": (patch[vertex_face] - vertex_from, vertex_face0),
    }
    tables = {name: (flat.astype(np.int32), begins) for name, (flat, begins) in tables.items()}
    return Patches(np.stack(copies, axis=1).astype(np.int64), tables)


def _around(start, copies, owner):
    """Entries of a CSR table of the mesh for the copies that own their item, in the order of all copies, and
    how many each copy has (others none)."""
    owned = copies.owned(owner)
    at, sizes = _rows(start, copies.source[owned])
    counts = np.zeros(len(copies.patch), np.int64)
    counts[owned] = sizes
    return at, counts


def _before(sizes, first):
    """Entries before each patch, where `first` is its first row."""
    return np.concatenate([[0], np.cumsum(sizes)])[first]


def _slabs(mesh, order, size, boxes):
    """Slab and radius (n, 6) of runs of `size` faces: unit normal, range along it, greatest distance from the
    middle of the box (see ``kernels/common/gc_types.h``)."""
    centred = mesh.vertices - mesh.center
    index, sizes = _rows(mesh.face_start, order)
    corners = centred[mesh.face_vertices[index]]
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
