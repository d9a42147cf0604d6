"""Chains of joints by plain 4 x 4 matrices, and screws between two poses: nothing of the library is in it."""

import numpy as np

__all__ = ["matrix", "poses", "screw"]


def hat(w):
    """(..., 3, 3) matrices that take the cross product with w."""
    m = np.zeros((*w.shape, 3))
    m[..., 0, 1], m[..., 0, 2], m[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    return m - np.swapaxes(m, -1, -2)


def matrix(rotation, shift):
    m = np.zeros((*np.broadcast_shapes(rotation.shape[:-2], np.shape(shift)[:-1]), 4, 4))
    m[..., :3, :3], m[..., :3, 3], m[..., 3, 3] = rotation, shift, 1
    return m


def turned(axis, angle):
    """Rotations about a unit axis (3,) by angles (k,), after Rodrigues."""
    k = hat(np.asarray(axis, float))
    angle = np.asarray(angle)[:, None, None]
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def poses(parents, origins, axes, prismatic, q):
    """(k, j, 4, 4): frames of joints at values q (k, j); joint j is carried by parents[j] < j, or -1."""
    frames = []
    for j, p in enumerate(parents):
        here = np.eye(4) if p < 0 else frames[p]
        if prismatic[j]:
            own = matrix(np.eye(3), q[:, j, None] * axes[j])
        else:
            own = matrix(turned(axes[j], q[:, j]), np.zeros(3))
        frames.append(here @ origins[j] @ own)
    return np.stack(frames, axis=1)


def screw(first, last, share):
    """(..., 4, 4): where the screw by less than half a turn from `first` to `last` is after a share of it.

    Angle and axis from the trace and the skew part; the shift along the turn solves a linear system."""
    rotation = last[..., :3, :3] @ np.swapaxes(first[..., :3, :3], -1, -2)
    skew = rotation - np.swapaxes(rotation, -1, -2)
    twice = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    sine = np.linalg.norm(twice, axis=-1) / 2
    angle = np.arctan2(sine, (np.trace(rotation, axis1=-2, axis2=-1) - 1) / 2)
    axis = twice / np.where(sine > 0, 2 * sine, 1.0)[..., None]
    k = hat(axis)

    def parts(s):
        a = (s * angle)[..., None, None]
        safe = np.where(angle > 1e-7, angle, 1.0)[..., None, None]
        # integral of the turning from 0 to s
        along = (
            s * np.eye(3)
            + (1 - np.cos(a)) / safe * k
            + (s * (angle > 1e-7)[..., None, None] - np.sin(a) / safe)
            * (k @ k)
            * (angle > 1e-7)[..., None, None]
        )
        return np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * (k @ k), along

    whole, there = parts(1.0), parts(share)
    way = last[..., :3, 3] - first[..., :3, 3]
    shift = np.linalg.solve(whole[1], way[..., None])
    position = first[..., :3, 3] + (there[1] @ shift)[..., 0]
    return matrix(there[0] @ first[..., :3, :3], position)
