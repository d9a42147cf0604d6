"""Rotations of seeded scenes, as quaternions (n, 4), w x y z.

Their order of sums is part of the scenes: the same seed gives the same bits. `Poses` has another order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gpu_collide._types import Array, ArrayLike

__all__ = ["axis_angle", "multiply", "rotate"]


def axis_angle(axis: Array, angle: ArrayLike) -> Array:
    """Turns by `angle` (n,), radians, about unit vectors `axis` (n, 3)."""
    half = 0.5 * np.asarray(angle)[:, None]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=1)


def multiply(p: Array, q: Array) -> Array:
    """Product of quaternions (n, 4): first q, then p."""
    pw, pv, qw, qv = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    w = pw * qw - (pv * qv).sum(axis=1, keepdims=True)
    return np.concatenate([w, pw * qv + qw * pv + np.cross(pv, qv)], axis=1)


def rotate(q: Array, x: Array) -> Array:
    """Turn x, (3,) or (n, 3), by the quaternions q (n, 4)."""
    u = q[:, 1:]
    x = np.broadcast_to(x, u.shape)
    t = 2.0 * np.cross(u, x)
    return x + q[:, :1] * t + np.cross(u, t)
