"""Casts and characters as given, checked, to what the stages read of them."""

import math
from typing import NamedTuple

import numpy as np

__all__ = ["Taken", "rules", "taken_over", "walkers"]


class Taken(NamedTuple):
    """What is made of queries.

    Attributes
    ----------
    start, path : (n, 3) float64
    radius : (n, k) float64
    quat : (n, 4) float64
    cluster : (n,) int
    state : list of str
        ``"swept"``, ``"invalid"`` or ``"too long"``.
    wrong : int
        How many have a radius, or the number of a cluster, that is none.
    """

    start: np.ndarray
    path: np.ndarray
    radius: np.ndarray
    quat: np.ndarray
    cluster: np.ndarray
    state: list
    wrong: int


def taken_over(start, path, radius, quat, cluster, limit, tolerance, shift, extent=None, clusters=0):
    """`Taken` of rows for each query. `radius` (n, 1) of spheres, (n, 3) of ellipsoids, None of `clusters`,
    which have `extent`: the largest coordinate of a centre plus the largest radius."""
    n = len(start)
    sizes = np.ones((n, 1)) if radius is None else np.array(radius, float)
    start, path, turned = np.array(start, float), np.array(path, float), np.zeros((n, 4))
    which, state, wrong = np.zeros(n, int), [], 0
    for i in range(n):
        good = all(map(math.isfinite, (*start[i], *path[i])))
        bad = False
        if radius is None:
            bad = not 0 <= cluster[i] < clusters
            which[i] = 0 if bad else cluster[i]
            reach = extent
        else:
            bad = any(r <= 0 for r in sizes[i]) if sizes.shape[1] == 3 else sizes[i, 0] < 0
            good = good and not bad and all(map(math.isfinite, sizes[i]))
            sizes[i] = sizes[i] if good else 1.0
            reach = max(sizes[i])
        wrong += bad
        far = 0.0 if not good else max(map(abs, start[i])) + max(map(abs, path[i])) + reach
        if radius is not None and sizes.shape[1] == 3:
            far *= max(sizes[i]) / min(sizes[i])
        length = 1.0 if quat is None else math.hypot(*quat[i])
        right = abs(length - 1) <= tolerance
        turned[i] = (1, 0, 0, 0) if quat is None or not right else np.array(quat[i]) / length
        state.append("invalid" if not (good and right) else "too long" if far > limit else "swept")
        if state[-1] != "swept":
            start[i] = path[i] = 0.0
    return Taken(start - shift, path, sizes, turned, which, state, wrong)


def walkers(taken, fall, riding, motion, shift):
    """Starts, velocities, ways with what carries them, falls (n, 3) of characters, which of them are
    moved, and how many ride on a body that there is not."""
    start, velocity, carried = taken.start.copy(), taken.path.copy(), np.zeros_like(taken.path)
    good, fell, wrong = [], np.array(fall, float), 0
    for i, state in enumerate(taken.state):
        fine = state == "swept" and all(map(math.isfinite, fell[i]))
        good.append(fine)
        none = not -1 <= riding[i] < len(motion)
        wrong += none
        if not fine:
            start[i], velocity[i], fell[i] = -np.asarray(shift), 0.0, 0.0
        elif not none and riding[i] >= 0:
            carried[i] = motion[riding[i]]
    return start, velocity, velocity + carried, fell, good, wrong


def rules(group, mask, ignore, world, n_bodies):
    """Rows (group, mask, ignore, world) of each, and how many have a number that is none."""
    rows, wrong = [], 0
    for *bits, which, place in zip(group, mask, ignore, world, strict=True):
        read = [int.from_bytes((b % 2**32).to_bytes(4, "little"), "little", signed=True) for b in bits]
        good = [-(2**31) <= b < 2**32 for b in bits]
        right = all(good) and -1 <= which < n_bodies
        rows.append(
            [r if g else 0 for r, g in zip(read, good, strict=True)] + [which if right else -1, place]
        )
        wrong += not right
    return rows, wrong
