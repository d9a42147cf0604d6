"""Vectors as three arrays, x, y and z: NumPy is several times as fast with these as with rows of three.

Sums of three terms are written out, so that their bits do not depend on how NumPy reduces a short row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["blocks", "columns", "cross", "dot", "length", "over_faces"]

_BLOCK = 1 << 13


def columns(rows: Array, width: int = 3) -> list[Array]:
    """x, y, z of rows (n, 3), or so many first columns of others, each contiguous."""
    return [np.ascontiguousarray(rows[:, k]) for k in range(width)]


def dot(a: Any, b: Any) -> Array:
    """Scalar products."""
    return (a[0] * b[0] + a[2] * b[2]) + a[1] * b[1]


def cross(a: Any, b: Any) -> list[Array]:
    """Vector products."""
    return [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]


def length(a: Any) -> Array:
    """Lengths."""
    return np.sqrt((a[0] * a[0] + a[1] * a[1]) + a[2] * a[2])


def over_faces(best: np.ufunc, x: Array, begins: Array) -> Array:
    """``best.reduceat(x, begins)``, of the corners of faces that begin there, three or more each; where all
    are triangles without its loop, in its order."""
    if len(x) != 3 * len(begins):
        return best.reduceat(x, begins)
    return best(x[0::3], best(x[1::3], x[2::3]))


def blocks(n: int) -> Iterator[slice]:
    """Some of n rows at a time: what is made of them on the way stays in a core's cache, and takes no fresh
    memory, which costs more than the arithmetic."""
    for first in range(0, n, _BLOCK):
        yield slice(first, min(first + _BLOCK, n))
