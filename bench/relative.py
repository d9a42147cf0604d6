"""B's poses seen from A at the start and end of the step, independent of the library's own arithmetic."""

from __future__ import annotations

import numpy as np


def relative_poses(bodies, pairs):
    """``position0, quat0, position1, quat1`` (p, 3), (p, 4): B in A's frame, quaternions w x y z."""
    out = []
    for poses in (bodies.start, bodies.end):
        position = np.asarray(poses.position)
        quat = np.asarray(poses.quat_wxyz)
        quat = quat / np.linalg.norm(quat, axis=1, keepdims=True)
        back = quat[pairs[:, 0]] * np.array([1.0, -1.0, -1.0, -1.0])
        out.append(rotate(back, position[pairs[:, 1]] - position[pairs[:, 0]]))
        out.append(multiply(back, quat[pairs[:, 1]]))
    return tuple(out)


def screw_poses(position0, quat0, position1, quat1, time):
    """Positions (p, 3) and quaternions (p, 4) at `time` on the screw motion between two poses (p pairs)."""
    turn = multiply(quat1, quat0 * np.array([1.0, -1.0, -1.0, -1.0]))
    turn = np.where(turn[:, :1] < 0, -turn, turn)
    sine = np.linalg.norm(turn[:, 1:], axis=1)
    half = np.arctan2(sine, turn[:, 0])
    chord = position1 - position0
    axis = turn[:, 1:] / np.where(sine > 1e-12, sine, 1.0)[:, None]
    along = (chord * axis).sum(axis=1, keepdims=True) * axis
    across = chord - along
    # Point of the axis, seen from position0: half the chord across it, and the rest by the half angle.
    with np.errstate(divide="ignore", invalid="ignore"):
        arm = 0.5 * across + np.cross(axis, across) / (2.0 * np.tan(half))[:, None]
    step = np.concatenate([np.cos(half * time)[:, None], np.sin(half * time)[:, None] * axis], axis=1)
    moved = position0 + arm + rotate(step, -arm) + time * along
    straight = position0 + time * chord
    turning = sine > 1e-9
    turning = turning[:, None]
    return np.where(turning, moved, straight), np.where(turning, multiply(step, quat0), quat0)


def multiply(p, q):
    """Product of quaternions (n, 4), w x y z: first q, then p."""
    pw, pv, qw, qv = p[:, :1], p[:, 1:], q[:, :1], q[:, 1:]
    w = pw * qw - (pv * qv).sum(axis=1, keepdims=True)
    return np.concatenate([w, pw * qv + qw * pv + np.cross(pv, qv)], axis=1)


def rotate(q, x):
    """Turn x, (3,) or (n, 3), by the quaternions q (n, 4)."""
    u = q[:, 1:]
    x = np.broadcast_to(x, u.shape)
    t = 2.0 * np.cross(u, x)
    return x + q[:, :1] * t + np.cross(u, t)
