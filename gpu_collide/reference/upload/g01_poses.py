"""Poses as given, to poses as the kernels read them."""

import math

import numpy as np

__all__ = ["taken_over"]


def taken_over(start_position, start_quat, end_position, end_quat, tolerance):
    """Positions (n, 3) and unit quaternions (n, 4) at start and end, and which bodies (n,) have two poses."""
    n = len(start_position)
    positions, quats = np.zeros((2, n, 3)), np.zeros((2, n, 4))
    valid = np.zeros(n, bool)
    for i in range(n):
        good = []
        for k, (position, quat) in enumerate(((start_position, start_quat), (end_position, end_quat))):
            length = math.hypot(*quat[i])
            fine = all(map(math.isfinite, (*position[i], *quat[i]))) and abs(length - 1) <= tolerance
            quats[k, i] = quat[i] / length if fine else (1, 0, 0, 0)
            good.append(fine)
        valid[i] = all(good)
        if valid[i]:
            positions[:, i] = start_position[i], end_position[i]
    return *positions, *quats, valid
