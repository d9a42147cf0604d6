"""Unit quaternions from input of nearly unit length, or from rotation matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import all_true, owned

if TYPE_CHECKING:
    from gpu_collide._types import Array, ArrayLike, FloatArray

__all__ = ["FEW", "UNIT_TOLERANCE", "quat_of_matrix", "units", "units_of_few"]

UNIT_TOLERANCE = 1e-3  # a quaternion this far off unit length is normalised, farther is invalid
FEW = 4  # rows that Python looks at faster than NumPy
_GOOD = [owned(np.ones(n, bool)) for n in range(FEW + 1)]  # so many poses, none of them bad


def _norm4(q: FloatArray) -> FloatArray:
    """Length of quaternions; sums in a fixed order, so that a row has the same bits in any batch."""
    s = q * q
    return np.sqrt(s[..., 0] + s[..., 1] + s[..., 2] + s[..., 3])


def units(position: Array, quat: Array, valid: ArrayLike | None) -> tuple[Array, Array]:
    """Unit quaternions, (1, 0, 0, 0) where there is no pose, and where there is one."""
    with np.errstate(invalid="ignore", over="ignore"):
        length = _norm4(quat)
        # false for what is not a number, too; column by column, which is much faster than .all(axis)
        good = np.abs(length - 1) <= UNIT_TOLERANCE
    finite = np.isfinite(position)
    if not all_true(finite):
        for column in range(3):
            good &= finite[..., column]
    if valid is not None:
        good &= np.asarray(valid)
    if all_true(good):
        return quat / length[..., None], np.asarray(good)
    unit = np.where(good[..., None], quat, [1.0, 0.0, 0.0, 0.0])
    unit /= np.where(good, length, 1.0)[..., None]
    return unit, np.asarray(good)


def units_of_few(position: Array, quat: Array) -> tuple[Array, Array]:
    """`units` of a few rows, the same bits without the price of a dozen calls of NumPy."""
    units, good, done = [], [], True
    sqrt = math.sqrt
    for (x, y, z), (a, b, c, d) in zip(position.tolist(), quat.tolist(), strict=True):
        length = sqrt(a * a + b * b + c * c + d * d)
        # zero times what is not finite is not a number
        is_pose = abs(length - 1) <= UNIT_TOLERANCE and x * 0.0 + y * 0.0 + z * 0.0 == 0.0
        units.append((a / length, b / length, c / length, d / length) if is_pose else (1.0, 0.0, 0.0, 0.0))
        good.append(is_pose)
        done = done and is_pose and length == 1.0
    if done:  # dividing would change nothing
        return quat, _GOOD[len(good)]
    return np.array(units), np.array(good)


def quat_of_matrix(rotation: FloatArray) -> FloatArray:
    """Unit quaternions (..., 4), w first, of rotation matrices (..., 3, 3).

    Shepperd's method: the largest of the four components is found from the diagonal, the others are divided
    by it.
    """
    m = rotation
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    # Row k is 4 times component k times the whole quaternion.
    rows = np.stack(
        [
            np.stack([1 + xx + yy + zz, a, b, c], axis=-1),
            np.stack([a, 1 + xx - yy - zz, d, e], axis=-1),
            np.stack([b, d, 1 - xx + yy - zz, f], axis=-1),
            np.stack([c, e, f, 1 - xx - yy + zz], axis=-1),
        ],
        axis=-2,
    )
    largest = np.argmax(np.stack([rows[..., k, k] for k in range(4)], axis=-1), axis=-1)
    row = np.take_along_axis(rows, largest[..., None, None], axis=-2)[..., 0, :]
    return row / _norm4(row)[..., None]
