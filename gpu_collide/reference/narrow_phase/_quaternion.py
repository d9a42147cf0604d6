"""Unit quaternions as arrays (..., 4) in the order w, x, y, z; float64 throughout."""

import numpy as np

from gpu_collide.bodies.quaternion import cross

# Sine of the half angle below which there is no turn.
NO_TURN = 1e-15
# Cosine of the half angle up to which a turn is a half turn.
HALF_TURN = 1e-15
# Components of a half turn's axis up to this are zero.
AXIS_COMPONENT = 1e-9


def multiply(p, q):
    """Hamilton product ``p q`` of quaternions (..., 4): first turn by ``q``, then by ``p``."""
    pw, pv, qw, qv = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    w = pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)
    return np.concatenate([w, pw * qv + qw * pv + cross(pv, qv)], axis=-1)


def conjugate(q):
    """Inverse of a unit quaternion (..., 4)."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q, x):
    """Vectors ``x`` (..., 3) turned by unit quaternions ``q`` (..., 4)."""
    v = q[..., 1:]
    t = 2.0 * cross(v, x)
    return x + q[..., :1] * t + cross(v, t)


def from_axis_angle(axis, angle):
    """Unit quaternion (..., 4) of a right-handed turn by ``angle`` (...) rad about the unit ``axis`` (...,
    3)."""
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)


def to_matrix(q):
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def normalised(q):
    """``q`` (..., 4) over its length; a zero quaternion becomes NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return q / np.linalg.norm(q, axis=-1, keepdims=True)


def axis_angle(dq):
    """Axis (..., 3) and angle (...) in [0, pi] of relative turns ``dq`` (..., 4).

    Of the two quaternions of a turn the one with w >= 0 is used. A half turn has two axes: the one whose
    first component that is not zero is positive. Without a turn the axis is NaN and the angle 0.
    """
    w, v = dq[..., 0], dq[..., 1:]
    large = np.abs(v) > AXIS_COMPONENT
    first = np.take_along_axis(v, np.argmax(large, axis=-1)[..., None], axis=-1)[..., 0]
    half_turn = np.abs(w) <= HALF_TURN
    negative = np.where(half_turn, large.any(axis=-1) & (first < 0), w < 0)
    sign = np.where(negative, -1.0, 1.0)
    w, v = w * sign, v * sign[..., None]
    length = np.linalg.norm(v, axis=-1)
    turns = length >= NO_TURN
    angle = np.where(turns, 2.0 * np.arctan2(length, np.maximum(w, 0.0)), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        axis = np.where(turns[..., None], v / length[..., None], np.nan)
    return axis, angle
