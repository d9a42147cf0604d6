"""End poses of shapes of revolution, without the spin about their own axis."""

import math

import numpy as np

__all__ = ["least_turned"]


def least_turned(start_quat, end_position, end_quat, low, high):
    """Where a body ends whose shape of revolution has its axis from `low` to `high`, in body coordinates, or
    is a ball around both: position (3,) and rotation matrix (3, 3), turned as little as possible.

    The turn that takes the axis where it ends, about a line across both (Rodrigues).
    """
    first, last = _matrix(start_quat), _matrix(end_quat)
    middle, way = 0.5 * (low + high), high - low
    turn = np.eye(3)
    if way.any():
        way = way / math.sqrt(way @ way)
        a, b = first @ way, last @ way
        c, v = a @ b, np.cross(a, b)
        if c > -1 + 1e-12:
            k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
            turn = np.eye(3) + k + k @ k / (1 + c)
        else:  # any half turn that takes it there
            turn = last @ first.T
    rotation = turn @ first
    return end_position + last @ middle - rotation @ middle, rotation


def _matrix(q):
    w, (x, y, z) = q[0], q[1:]
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * k + 2 * k @ k
