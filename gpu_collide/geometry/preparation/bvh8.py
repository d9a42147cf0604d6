"""Trees with eight children per node over boxes (``kernels/sweep/gc_bvh8.h``).

Boxes come in an order in which neighbours are near each other; a leaf is some of them in a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from gpu_collide._types import Array

__all__ = ["LEAF", "WIDE", "Bvh8", "build_bvh8", "outwards", "widened"]

#: Children of a node, and most boxes of a leaf.
WIDE, LEAF = 8, 3
#: Bits of a leaf's kid that say how many boxes it holds.
COUNT_BITS = 3


class Bvh8(NamedTuple):
    """A tree.

    Attributes
    ----------
    boxes : (nodes, 6, 8) float64
        Least x, y, z and greatest of the children; inside out where there is none.
    kids : (nodes, 8) int32
        Numbers of nodes; below 0: ``-1 - (first << 3 | count - 1)``, boxes of a leaf.
    """

    boxes: NDArray[np.float64]
    kids: NDArray[np.int32]


def build_bvh8(boxes: Array) -> Bvh8:
    """The tree over boxes (n, 6) in their order, n > 0; its root is node 0."""
    n = len(boxes)
    starts = np.arange(0, n, LEAF)
    counts = np.minimum(LEAF, n - starts)
    low, high = np.minimum.reduceat(boxes[:, :3], starts), np.maximum.reduceat(boxes[:, 3:], starts)
    kids = -1 - (starts << COUNT_BITS | (counts - 1))
    levels = []
    while True:
        rows = -(-len(kids) // WIDE)
        room = rows * WIDE
        box = np.empty((room, 6))
        box[:, :3], box[:, 3:] = np.inf, -np.inf
        box[: len(kids), :3], box[: len(kids), 3:] = low, high
        kid = np.full(room, -1, np.int64)
        kid[: len(kids)] = kids
        levels.append((box.reshape(rows, WIDE, 6).transpose(0, 2, 1), kid.reshape(rows, WIDE)))
        if rows == 1:
            break
        grouped = box.reshape(rows, WIDE, 6)
        low, high = grouped[:, :, :3].min(axis=1), grouped[:, :, 3:].max(axis=1)
        kids = np.arange(rows)
    # the root first, then level by level: numbers of nodes count from where theirs begin
    begin, done = {}, 0
    for level in reversed(range(len(levels))):
        begin[level] = done
        done += len(levels[level][1])
    numbered = [np.where(k >= 0, k + begin.get(level - 1, 0), k) for level, (_, k) in enumerate(levels)]
    return Bvh8(
        np.concatenate([box for box, _ in reversed(levels)]),
        np.concatenate(numbered[::-1]).astype(np.int32),
    )


def widened(boxes: Array, dtype: DTypeLike) -> Array:
    """Boxes (nodes, 6, 8) in `dtype`, not smaller than they were; those inside out remain so."""
    most = np.finfo(dtype).max
    return outwards(np.clip(boxes, -most, most), dtype)


def outwards(boxes: Array, dtype: DTypeLike) -> Array:
    """Boxes, low and high ends along axis 1, in `dtype`, not smaller than they were."""
    out = boxes.astype(dtype)
    if out.dtype == boxes.dtype:
        return out
    inf, low, high = out.dtype.type(np.inf), out[:, :3], out[:, 3:]
    np.copyto(low, np.nextafter(low, -inf), where=low > boxes[:, :3])
    np.copyto(high, np.nextafter(high, inf), where=high < boxes[:, 3:])
    return out
