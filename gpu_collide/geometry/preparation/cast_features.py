"""The features that spheres are swept against: faces, edges and vertices of a mesh in the order of its tree
of faces.

Each edge and each vertex belongs to one face, the first of its faces in the tree, so that a walk over the
tree sees it once (``kernels/sweep/gc_cast_mesh.h``). All of them are there: what folds inwards is touched by
what starts beneath it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.preparation.bvh8 import Bvh8, build_bvh8

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface
    from gpu_collide.geometry.preparation.face_tree import FaceTree

__all__ = ["CastFeatures", "make_cast_features"]


@dataclass(frozen=True)
class CastFeatures:
    """Features of a mesh, lengths centred on it and divided by its scale.

    Attributes
    ----------
    faces : (nf + 1, 3) int32
        Where the rows in `loops`, the edges and the vertices of each face begin; the last row is where those
        of the last end.
    source : (nf,) int32
        The mesh's face of each.
    edges, vertices : (k + 1, 2) int32
        Number in the mesh, and where its faces begin in `around`.
    around : (m,) int32
        Faces at edges, then at vertices, each by their number in the mesh; here by their place in the tree.
    loops : (L + nf, 3) float64
        Of each face its normal, then its corners.
    sides : (k, 6) float64
        Both ends of the edges.
    tips : (v, 3) float64
    tree : WideTree
    low, high : (3,) float64
        Box of the mesh.
    """

    faces: NDArray[np.int32]
    source: NDArray[np.int32]
    edges: NDArray[np.int32]
    vertices: NDArray[np.int32]
    around: NDArray[np.int32]
    loops: NDArray[np.float64]
    sides: NDArray[np.float64]
    tips: NDArray[np.float64]
    tree: Bvh8
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def make_cast_features(mesh: Surface, tree: FaceTree, scale: float) -> CastFeatures:
    """`CastFeatures` of a mesh in the order of its tree; `scale` is a power of two."""
    points, order = (mesh.vertices - mesh.center) / scale, tree.order.astype(np.int64)
    place = np.empty(len(order), np.int64)  # of each face in the tree
    place[order] = np.arange(len(order))
    numbers = np.arange(len(order) + 1)

    sizes = np.diff(mesh.face_start).astype(np.int64)[order]
    starts = np.concatenate([[0], np.cumsum(sizes + 1)])
    begins = np.repeat(mesh.face_start[:-1].astype(np.int64)[order], sizes)
    rows = np.delete(np.arange(starts[-1]), starts[:-1])
    loops = np.empty((starts[-1], 3))
    loops[starts[:-1]] = mesh.face_planes[order, :3]
    loops[rows] = points[mesh.face_vertices[begins + rows - np.repeat(starts[:-1] + 1, sizes)]]

    edge, edge_owner, edge_around = _owned(mesh.edge_face_start, mesh.edge_faces >> 1, place)
    vertex, vertex_owner, vertex_around = _owned(mesh.vertex_face_start, mesh.vertex_faces, place)
    edges, around = _listed(edge, edge_around, 0)
    vertices, more = _listed(vertex, vertex_around, len(around))
    faces = np.stack(
        [starts, np.searchsorted(edge_owner, numbers), np.searchsorted(vertex_owner, numbers)], axis=1
    )
    boxes = tree.boxes / scale
    return CastFeatures(
        faces.astype(np.int32), order.astype(np.int32), edges, vertices,
        np.concatenate([around, more]).astype(np.int32), loops,
        points[mesh.edges[edge]].reshape(-1, 6), points[vertex], build_bvh8(boxes),
        boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0),
    )  # fmt: skip


def _owned(start: Array, faces: Array, place: Array) -> tuple[Array, Array, Array]:
    """Features that have faces in the order of the faces that own them, these, and a list of the faces around
    each, by their numbers in the mesh but told by their places in the tree."""
    count = np.diff(start).astype(np.int64)
    used = np.flatnonzero(count)
    of = np.repeat(np.arange(len(count)), count)
    by_number = np.lexsort((faces, of))
    around = place[faces[by_number]]
    begins = start[:-1].astype(np.int64)[used]
    owner = np.minimum.reduceat(around, begins) if len(used) else np.zeros(0, np.int64)
    order = np.argsort(owner, kind="stable")
    feature = used[order]
    lists = [begins[order], count[feature]]
    ends = np.cumsum(lists[1])
    at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(lists[0] - (ends - lists[1]), lists[1])
    return feature, owner[order], np.stack([np.repeat(np.arange(len(feature)), lists[1]), around[at]], axis=1)


def _listed(feature: Array, around: Array, begin: int) -> tuple[Array, Array]:
    """Rows (number in the mesh, where its faces begin) and one that ends them; and the faces."""
    rows = np.zeros((len(feature) + 1, 2), np.int64)
    rows[:-1, 0], rows[-1, 0] = feature, -1
    rows[:, 1] = begin + np.searchsorted(around[:, 0], np.arange(len(feature) + 1))
    return rows.astype(np.int32), around[:, 1]
