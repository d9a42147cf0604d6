"""Patches: a large mesh divided into small ones, so that a pair reads only what comes near.

A patch is a run of faces in the leaf order of the mesh's bounding-volume tree, with the vertices and edges of
those faces, numbered anew and laid out like a mesh of its own (``kernels/common/gc_types.h``); tables lead
back to the numbers of the whole mesh. An edge or vertex on a border has a copy in every patch with a face
there. One of them owns it: there it is a feature, with all that is around it in the whole mesh, and its
entries may lead to other patches. The other copies are places only.

That is enough to find every candidate: a contact lies on all faces around the feature it is on, so all of
them are near, the owner's among them. Solving and reporting use the whole mesh, so neither frame nor
tolerance nor properness knows of patches.

`cut` is NumPy alone; `gpu_collide.geometry.preparation.compiled` has the same of large meshes from the
kernels of
``m01_patches``, in a tenth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.adjacency import next_corner
from gpu_collide.geometry.preparation.face_tree import PATCH_LEVEL

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = ["PATCH_COLUMNS", "Patches", "cut", "entries"]

#: Tables of a patch, in the order of the header (gc_mesh in gc_types.h).
PATCH_COLUMNS = tuple(sources.record("cut").offsets)


@dataclass(frozen=True)
class Patches:
    """All patches of a mesh, table by table one after another.

    Attributes
    ----------
    counts : (p, 3) int64
        Vertices, edges, faces of each patch.
    tables : dict of name to int32 array
        The tables of `PATCH_COLUMNS`, flat; the entries are numbers within the patch. ``source_vertices``,
        ``source_edges``, ``source_faces`` lead to the mesh. ``edge_faces_away`` and the like say for each
        entry how many patches on it counts in.
    begins : (p, columns) int64
        Where each patch begins in each of them.
    """

    counts: np.ndarray
    tables: dict
    begins: np.ndarray


def entries(start: Array, rows: Array) -> tuple[Array, Array]:
    """Where the entries of some rows of a CSR table stand in it, and the number of entries of each row."""
    sizes = start[rows + 1] - start[rows]
    first = np.repeat(start[rows] - np.cumsum(sizes) + sizes, sizes)
    return first + np.arange(sizes.sum()), sizes


class _Copies:
    """The copies of vertices or edges in the patches: ascending by patch, then by number in the mesh."""

    def __init__(self, patch: Array, item: Array) -> None:
        self.span = np.int64(item.max() + 1)
        keys = patch * self.span + item
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        new = np.append(True, ranked[1:] != ranked[:-1])
        self.keys, self.shown = (
            ranked[new],
            order[new],
        )  # shown: the first of what was given that is this copy
        self.patch, self.source = patch[self.shown], item[self.shown]
        self.first = np.searchsorted(self.patch, np.arange(int(patch.max()) + 1))
        self.given = np.empty(len(keys), np.int64)  # number within the patch of what was given
        self.given[order] = np.cumsum(new) - 1
        self.given -= self.first[patch]

    def find(self, patch: Array, item: Array) -> tuple[Array, Array]:
        """Number within the patch of a copy, and whether there is one."""
        at = np.searchsorted(self.keys, patch * self.span + item)
        there = self.keys[np.minimum(at, len(self.keys) - 1)] == patch * self.span + item
        return np.where(there, at - self.first[patch], -1), there

    def owned(self, owner: Array) -> Array:
        """Rows of the copies in the patch that owns the item."""
        return np.flatnonzero(owner[self.source] == self.patch)


def _starts(sizes: Array, group_patch: Array, n_patches: int) -> tuple[Array, Array]:
    """Begins of CSR rows counted from each patch's own first value, with the closing entry of every patch."""
    per_patch = np.bincount(group_patch, minlength=n_patches)
    row0 = np.cumsum(per_patch) - per_patch
    out = np.zeros(len(sizes) + n_patches, np.int64)
    place = np.arange(len(sizes)) + group_patch + 1
    out[place] = sizes
    begins = row0 + np.arange(n_patches)
    total = np.cumsum(out)
    return total - np.repeat(total[begins], per_patch + 1), begins


def cut(mesh: Surface, order: Array, size: int = 1 << PATCH_LEVEL) -> Patches:
    """Cut `mesh` into patches of `size` faces in the given order of its faces.

    Parameters
    ----------
    mesh : Surface
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
    index, sizes = entries(mesh.face_start, order)
    corner_patch = np.repeat(patch[order], sizes)
    corner = mesh.face_vertices[index]
    vertices = _Copies(corner_patch, corner)
    edges = _Copies(corner_patch, mesh.face_edges[index])
    # an edge goes from its lower vertex to the higher; its copy is the side of a face, which may walk it back
    tail = edges.shown
    head = next_corner(np.append(0, np.cumsum(sizes)))[tail]
    back = corner[tail] > corner[head]
    tail, head = np.where(back, head, tail), np.where(back, tail, head)
    local_ends = np.stack([vertices.given[tail], vertices.given[head]], axis=1)

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
    local_edge, found = edges.find(here, edge_at)
    there, gone = here.copy(), np.flatnonzero(~found)
    there[gone] = edge_owner[edge_at[gone]]
    local_edge[gone], _ = edges.find(there[gone], edge_at[gone])

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
    return Patches(
        np.stack(copies, axis=1).astype(np.int64),
        {name: tables[name][0].astype(np.int32) for name in PATCH_COLUMNS},
        np.stack([tables[name][1] for name in PATCH_COLUMNS], axis=1),
    )


def _around(start: Array, copies: _Copies, owner: Array) -> Any:
    """Entries of a CSR table of the mesh for the copies that own their item, in the order of all copies, and
    how many each copy has (others none)."""
    owned = copies.owned(owner)
    at, sizes = entries(start, copies.source[owned])
    counts = np.zeros(len(copies.patch), np.int64)
    counts[owned] = sizes
    return at, counts


def _before(sizes: Array, first: Array) -> Array:
    """Entries before each patch, where `first` is its first row."""
    return np.concatenate([[0], np.cumsum(sizes)])[first]
