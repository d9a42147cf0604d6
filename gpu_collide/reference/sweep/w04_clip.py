"""Stage w04: the nearest velocity that leads into no plane, found by trying all sets of planes that it may
lie in."""

from __future__ import annotations

from itertools import combinations

import numpy as np

__all__ = ["NOTHING", "nearest_allowed"]

#: A velocity leads into a plane by more than this share of its length, or not at all.
NOTHING = 1e-12


def nearest_allowed(v, normals, pushes):
    """The velocity, and in how many planes it lies; None and -1 if there is none.

    It is the nearest place to `v` on no plane, on one, on the line of two or at the point of three: of all
    those that satisfy every plane the one nearest to `v`.
    """
    nothing = NOTHING * max(np.linalg.norm(v), np.abs(pushes).max(initial=0.0))
    best, active = None, -1
    for count in range(4):
        for some in combinations(range(len(normals)), count):
            x = _on(v, normals[list(some)], pushes[list(some)])
            if x is None or (normals @ x < pushes - nothing).any():
                continue
            if best is None or np.linalg.norm(x - v) < np.linalg.norm(best - v) - nothing:
                best, active = x, count
    return best, active


def _on(v, n, push):
    """The place nearest to v on all of some planes; None if they have no common line or point."""
    if len(n) == 0:
        return v.copy()
    gram = n @ n.T
    if np.linalg.matrix_rank(gram, tol=1e-13) < len(n):
        return None
    return v + n.T @ np.linalg.solve(gram, push - n @ v)
