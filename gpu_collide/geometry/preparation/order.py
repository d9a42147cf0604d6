"""The order of the leaves of a tree that divides each node along its longest side (`m04_order`;
docs/decisions/0082)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["leaf_order"]


def leaf_order(middles: NDArray[np.float64]) -> NDArray[np.int32]:
    """Faces in the order of the leaves (``m04_order``): of a node of level l those that are lowest along the
    axis on which its middles spread most are its first child, ``1 << (l - 1)`` of them.

    Parameters
    ----------
    middles : (n, 3) float64
        Of the faces' boxes. Equal ones go by the faces' numbers, so that there is one answer.
    """
    n = len(middles)
    height = (n - 1).bit_length()
    # places on each axis, no two equal: from here on what comes before what is told by whole numbers
    values, ranks = np.sort(middles, axis=0), np.empty((3, n + 1), np.int32)
    for k in range(3):
        ranks[k, np.argsort(middles[:, k], kind="stable")] = np.arange(n, dtype=np.int32)
    ranks[:, n] = n  # of what fills the last node up
    order = np.full(1 << height, n, np.int32)
    order[:n] = np.arange(n)
    for level in range(height, 0, -1):
        faces = order[: -(-n >> level) << level].reshape(-1, 1 << level)
        axis, widest = np.zeros(len(faces), np.intp), np.full(len(faces), -1.0)
        for k in range(3):
            own = ranks[k][faces]
            least, most = own.min(axis=1), np.where(own == n, -1, own).max(axis=1)
            spread = values[most, k] - values[least, k]
            axis[spread > widest] = k
            widest = np.maximum(spread, widest)
        own = ranks[axis[:, None], faces]
        lower = np.argpartition(own, (1 << (level - 1)) - 1, axis=1)
        order[: faces.size] = np.take_along_axis(faces, lower, axis=1).reshape(-1)
    return order[:n]
