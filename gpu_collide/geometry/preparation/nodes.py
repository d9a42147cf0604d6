"""The nodes of the tree of a mesh's faces, as the search for near faces reads them (``m02_nodes``).

`node_table` is NumPy alone; `gpu_collide.geometry.preparation.compiled` has the same of large meshes from
the kernel, in
a tenth of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.soa import columns, dot, length
from gpu_collide.geometry.preparation.cones import face_cones
from gpu_collide.geometry.preparation.face_tree import PATCH_LEVEL

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface
    from gpu_collide.geometry.preparation.face_tree import FaceTree

__all__ = ["halved", "node_table", "slabs", "unit_or_zero"]

_NODE = int(sources.constants()["GC_NODE_STRIDE"])
_ROUNDED = float(sources.constants()["GC_CONE_ROUNDED"])
_BLOCK = 1 << 13  # faces at a time: what they need stays in a core's cache


def node_table(
    mesh: Surface, tree: FaceTree, points: Any, begins: Any, dtype: DTypeLike, stepped: Any = None
) -> Array:
    """Nodes of all levels, the leaves first.

    Parameters
    ----------
    mesh : Surface
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
    planes, cones = normals, face_cones(mesh)[:, tree.order]
    out, at, boxes = np.empty((sum(tree.counts), _NODE), dtype), 0, columns(tree.boxes[:, :3])
    boxes += columns(tree.boxes[:, 3:])
    for level, count in enumerate(tree.counts):
        if level:
            boxes = [halved(np.minimum if k < 3 else np.maximum, x) for k, x in enumerate(boxes)]
            normals = [halved(np.add, x) for x in normals]
        if level == PATCH_LEVEL:  # from here on, each vertex once a patch
            near, first = [x[points] for x in centred], begins
        elif level:
            first = first[::2]
        ends = np.append(first, len(near[0]))
        step = max(1, _BLOCK >> level)
        for j in range(0, count, step):
            some, held = slice(j, min(j + step, count)), slice(ends[j], ends[min(j + step, count)])
            part = [x[some] for x in boxes]
            rows = out[at + j : at + min(j + step, count)]
            rows[:, :6] = np.stack(part, axis=1)
            normal = unit_or_zero([x[some] for x in normals])
            rows[:, 6:12] = slabs([x[held] for x in near], first[some] - ends[j], normal, part)
            leaves = slice(j << level, min(some.stop << level, cones.shape[1]))
            for k in range(2):
                rows[:, 12 + k] = _cones([x[leaves] for x in planes], cones[k, leaves], level, normal)
        at += count
        if stepped is not None:
            stepped()
    return out


def halved(best: np.ufunc, x: Array) -> Array:
    """Of each two neighbours the better one, or their sum; the last may be alone."""
    out = x[::2].copy()
    best(out[: len(x) // 2], x[1::2], out=out[: len(x) // 2])
    return out


def slabs(points: Any, first: Any, normal: Any, boxes: Any) -> Array:
    """Slab and radius (n, 6) of some nodes: unit normal, range along it, greatest distance from the middle of
    the box. `first` is where each node's points begin."""
    node = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(points[0]))))
    off = [x - (0.5 * (boxes[k] + boxes[k + 3]))[node] for k, x in enumerate(points)]
    radius = np.maximum.reduceat((off[0] * off[0] + off[1] * off[1]) + off[2] * off[2], first)
    along = dot(points, [x[node] for x in normal])
    low, high = np.minimum.reduceat(along, first), np.maximum.reduceat(along, first)
    return np.stack([*normal, low + 0.0, high + 0.0, np.sqrt(radius)], axis=1)  # no zero has a sign


def unit_or_zero(normal: Any) -> Any:
    """Unit vectors, or 0 where the sum of the faces' normals is nearly nothing."""
    long = length(normal)
    with np.errstate(invalid="ignore", divide="ignore"):
        return [np.where(long > 1e-3, x / long, 0.0) for x in normal]


def _cones(planes: Any, cones: Array, level: int, normal: Any) -> Array:
    """Cosine of the half angle of the double cone about each node's normal that holds those of its faces."""
    off = np.clip(dot(planes, [np.repeat(x, 1 << level)[: len(cones)] for x in normal]), 0.0, 1.0)
    both = off * cones - np.sqrt(1.0 - off * off) * np.sqrt(1.0 - cones * cones)
    least = np.minimum(np.minimum.reduceat(both, np.arange(0, len(cones), 1 << level)), 1.0)
    return np.maximum(least * _ROUNDED, 0.0)
