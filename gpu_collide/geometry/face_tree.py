"""The tree of a mesh's faces, and its nodes as the search for near faces reads them.

The tree is implicit, as those of the broad phase: leaves in the order of a Morton curve, node j of level l
over leaves ``j << l`` to ``(j + 1) << l`` (``kernels/common/gc_types.h``). It is made on the host, since it
belongs to the mesh: whatever backend and precision ask, it is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry import morton
from gpu_collide.geometry.columns import columns, dot, length

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array
    from gpu_collide.geometry.mesh import Mesh

__all__ = ["PATCH_LEVEL", "FaceTree", "face_tree", "node_table"]

_C = sources.constants()
#: A patch is one node of the tree on this level: 32 faces, so that a mask of them is an int.
PATCH_LEVEL = int(_C["GC_PATCH_LEVEL"])
_NODE = int(_C["GC_NODE_STRIDE"])
_BLOCK = 1 << 13  # faces at a time: what they need stays in a core's cache
_BITS = 21  # of a code on each axis: three fit a 64-bit number


@dataclass(frozen=True)
class FaceTree:
    """Order and boxes of a mesh's faces.

    Attributes
    ----------
    order : (faces,) int32
        Face of each leaf.
    boxes : (faces, 6) float64
        Least and greatest coordinates of each leaf, centred on the mesh.
    """

    order: np.ndarray
    boxes: np.ndarray

    @property
    def counts(self) -> list[int]:
        """Nodes of each level, from the leaves up; list of int."""
        n = len(self.order)
        return [-(-n >> level) for level in range((n - 1).bit_length() + 1)]


def face_tree(mesh: Mesh) -> FaceTree:
    """`FaceTree` of a mesh."""
    corners = [x[mesh.face_vertices] for x in columns(mesh.vertices - mesh.center)]
    begins = mesh.face_start[:-1]
    low = [np.minimum.reduceat(x, begins) for x in corners]
    high = [np.maximum.reduceat(x, begins) for x in corners]
    centres = [0.5 * a + 0.5 * b for a, b in zip(low, high, strict=True)]
    chosen = morton.sample(len(begins))
    origin, side = morton.cube(np.stack([x[chosen] for x in centres], axis=1), _BITS)
    order = np.argsort(morton.codes(centres, _BITS, origin, side), kind="stable").astype(np.int32)
    return FaceTree(order, np.stack([x[order] for x in (*low, *high)], axis=1))


def node_table(
    mesh: Mesh, tree: FaceTree, points: Any, begins: Any, dtype: DTypeLike, stepped: Any = None
) -> Array:
    """Nodes of all levels, the leaves first.

    Parameters
    ----------
    mesh : Mesh
    tree : FaceTree
    points : (k,) int
        The vertices of each patch, patch by patch.
    begins : (patches,) int
        Where each patch begins in them.
    dtype : dtype
    stepped : callable, optional
        Called after each level.

    Returns
    -------
    (nodes, GC_NODE_STRIDE)
    """
    start = mesh.face_start.astype(np.int64)
    sizes = np.diff(start)[tree.order]
    first = np.cumsum(sizes) - sizes
    corners = np.repeat(start[tree.order] - first, sizes) + np.arange(int(sizes.sum()))
    centred = columns(mesh.vertices - mesh.center)
    near = [x[mesh.face_vertices[corners]] for x in centred]
    normals = columns(mesh.face_planes[tree.order, :3])
    out, at, boxes = np.empty((sum(tree.counts), _NODE), dtype), 0, columns(tree.boxes[:, :3])
    boxes += columns(tree.boxes[:, 3:])
    for level, count in enumerate(tree.counts):
        if level:
            boxes = [_halve(np.minimum if k < 3 else np.maximum, x) for k, x in enumerate(boxes)]
        if level == PATCH_LEVEL:  # from here on, each vertex once a patch
            near, first = [x[points] for x in centred], begins
        elif level:
            first = first[::2]
        size, ends = 1 << level, np.append(first, len(near[0]))
        step = max(1, _BLOCK >> level)
        for j in range(0, count, step):
            some, held = slice(j, min(j + step, count)), slice(ends[j], ends[min(j + step, count)])
            part = [x[some] for x in boxes]
            rows = out[at + j : at + min(j + step, count)]
            rows[:, :6] = np.stack(part, axis=1)
            rows[:, 6:] = _slabs(
                [x[held] for x in near], first[some] - ends[j],
                [x[j * size : some.stop * size] for x in normals], part, size,
            )  # fmt: skip
        at += count
        if stepped is not None:
            stepped()
    return out


def _halve(best: np.ufunc, x: Array) -> Array:
    """Of each two neighbours the better one; the last may be alone."""
    out = x[::2].copy()
    best(out[: len(x) // 2], x[1::2], out=out[: len(x) // 2])
    return out


def _slabs(points: Any, first: Any, normals: Any, boxes: Any, size: int) -> Array:
    """Slab and radius (n, 6) of the nodes of a level: unit normal, range along it, greatest distance from the
    middle of the box. `first` is where each node's points begin; it has `size` faces."""
    node = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(points[0]))))
    off = [x - (0.5 * (boxes[k] + boxes[k + 3]))[node] for k, x in enumerate(points)]
    radius = np.maximum.reduceat((off[0] * off[0] + off[1] * off[1]) + off[2] * off[2], first)
    normal = [np.add.reduceat(x, np.arange(0, len(x), size)) for x in normals]
    long = length(normal)
    with np.errstate(invalid="ignore", divide="ignore"):
        normal = [np.where(long > 1e-3, x / long, 0.0) for x in normal]
    along = dot(points, [x[node] for x in normal])
    low, high = np.minimum.reduceat(along, first), np.maximum.reduceat(along, first)
    return np.stack([*normal, low, high, np.sqrt(radius)], axis=1)
