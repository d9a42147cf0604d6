"""Pairs of bodies that may come near each other while each goes on as it moves, found by boxes around their
ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_collide._types import Array

__all__ = ["Ways", "near_pairs", "overlap"]

_STEPS = 8  # of a block, whose boxes are compared before those of its steps
_MOST_PAIRS = 1 << 20  # compared at a time
#: A body whose turn is even leaves the straight line along its chord by at most half its way times its turn,
#: for the direction, and a share of both, for the arc that is longer than its chord.
_BEND = 0.64
_ROUNDED = 1e-6  # of radii and ways


class Ways:
    """Where bodies may be while each goes on along the screw of each step.

    Parameters
    ----------
    position, unit : (s + 1, n, 3), (s + 1, n, 4) float64 ndarray
        Poses at the frames.
    known : (s, n) bool ndarray
        Steps that count.
    radius : (n,) float64 ndarray
        Of balls around the origins of the bodies that hold them.
    still : (2, m, 3) float64 ndarray
        Boxes of bodies that stand still, which come behind the others.
    """

    def __init__(self, position: Array, unit: Array, known: Array, radius: Array, still: Array) -> None:
        self.n, self._known, self._radius, self._still = len(radius), known, radius, still
        place = [np.ascontiguousarray(position[..., axis]) for axis in range(3)]
        with np.errstate(invalid="ignore", over="ignore"):
            self._start, self._way = [x[:-1] for x in place], [x[1:] - x[:-1] for x in place]
            x, y, z = self._way
            cosine = sum(unit[:-1, :, k] * unit[1:, :, k] for k in range(4))
            half = np.arccos(np.minimum(np.abs(cosine), 1.0))
            arc = np.where(half > 1e-3, half / np.sin(np.maximum(half, 1e-3)), 1.0 + 1e-6)
            self._along, self._turn = np.sqrt(x * x + y * y + z * z) * arc, 2.0 * half
            self._far = 1e-14 * sum(np.abs(x) for x in place)[:-1]

    def reach(self, share: Array) -> Array:
        """(s, n): how far all of a body is from its even way along the chord of the step, at most, while it
        goes on for so many steps, (s,), 1 and up."""
        along = share[:, None] * self._along
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.minimum(_BEND * along * (self._turn * share[:, None]), 2.0 * along)
            return self._radius + off + _ROUNDED * (self._radius + along) + self._far

    def boxes(self, share: Array) -> tuple[Array, Array]:
        """Low and high corners (3, s, n + m) of boxes around them; inf and -inf of steps that do not
        count."""
        reach, shape = self.reach(share), (*self._known.shape[:1], self._still.shape[1])
        corners: tuple[list[Array], list[Array]] = [], []
        with np.errstate(invalid="ignore", over="ignore"):
            for axis, (start, way) in enumerate(zip(self._start, self._way, strict=True)):
                end = start + share[:, None] * way
                own = np.minimum(start, end) - reach, np.maximum(start, end) + reach
                for side, (values, none) in enumerate(zip(own, (np.inf, -np.inf), strict=True)):
                    values[~self._known] = none
                    more = np.broadcast_to(self._still[side, :, axis], shape)
                    corners[side].append(np.concatenate([values, more], axis=1))
        return np.stack(corners[0]), np.stack(corners[1])

    def meet(self, share: Array, step: Array, a: Array, b: Array, distance: float) -> Array:
        """(k,) bool: balls of the reach around two bodies come within a distance; True where one of them
        stands still."""
        near, reach = b >= self.n, self.reach(share)
        both = np.flatnonzero(~near)
        step, a, b = step[both], a[both], b[both]
        between = [x[step, b] - x[step, a] for x in self._start]
        way = [share[step] * (x[step, b] - x[step, a]) for x in self._way]
        length = sum(x * x for x in way)
        along = sum(x * y for x, y in zip(between, way, strict=True))
        at = np.clip(-along / np.where(length > 0, length, 1.0), 0.0, 1.0)
        apart = sum((x + at * y) ** 2 for x, y in zip(between, way, strict=True))
        near[both] = apart <= (reach[step, a] + reach[step, b] + distance) ** 2
        return near


def overlap(boxes: tuple[Array, Array], step: Array, a: Array, b: Array, distance: float) -> Array:
    """(k,) bool: two of the boxes of a step come within a distance along each axis."""
    near = np.ones(len(step), bool)
    for low, high in zip(*boxes, strict=True):
        near &= (low[step, a] - distance <= high[step, b]) & (low[step, b] - distance <= high[step, a])
    return near


def near_pairs(
    boxes: tuple[Array, Array], distance: float, world: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """Pairs of which `overlap` is true, some steps after the other.

    Parameters
    ----------
    boxes : tuple of (3, s, n + m) float64 ndarray
    distance : float
    world : (n,) int ndarray
        Moving bodies of different worlds are no pair; the others are in all, and no pair among themselves.

    Yields
    ------
    step, a, b : (k,) int ndarray
        In the order of (step, a, b), with a below b.
    """
    n = len(world)
    for first in range(0, boxes[0].shape[1], _STEPS):
        steps = np.arange(first, min(first + _STEPS, boxes[0].shape[1]))
        low, high = boxes[0][:, steps].min(axis=1) - distance, boxes[1][:, steps].max(axis=1)
        found = [np.zeros((3, 0), int)]
        for a, b in (*_of_block(low[:, :n], high[:, :n], world), *_with_still(low, high, n)):
            step = np.repeat(steps, len(a))
            a, b = np.tile(a, len(steps)), np.tile(b, len(steps))
            some = overlap(boxes, step, a, b, distance)
            found.append(np.stack([step[some], a[some], b[some]]))
        step, a, b = np.concatenate(found, axis=1)
        order = np.lexsort([b, a, step])
        yield step[order], a[order], b[order]


def _meet(low: Array, high: Array, a: Array, b: Array) -> Array:
    """(k,) bool: boxes a and b, some of (3, n), overlap."""
    near = np.ones(len(a), bool)
    for least, most in zip(low, high, strict=True):
        near &= (least[a] <= most[b]) & (least[b] <= most[a])
    return near


def _with_still(low: Array, high: Array, n: int) -> Iterator[tuple[Array, Array]]:
    """Pairs of boxes that overlap, one of the first n and one of the others."""
    own = np.flatnonzero((low[:, :n] <= high[:, :n]).all(axis=0))
    for body in range(n, low.shape[1]):
        near = own[_meet(low, high, own, np.full(len(own), body))]
        yield near, np.full(len(near), body)


def _of_block(low: Array, high: Array, world: Array) -> Iterator[tuple[Array, Array]]:
    """Pairs of boxes (3, n) that overlap, of the same world."""
    rows = np.flatnonzero((low <= high).all(axis=0))
    rows = rows[np.lexsort([low[0, rows], world[rows]])]
    ends = np.concatenate([low[0, rows], high[0, rows]])  # which boxes begin before each ends, in its world
    is_end = np.repeat([False, True], len(rows))
    order = np.lexsort([is_end, ends, np.tile(world[rows], 2)])
    begun = np.cumsum(~is_end[order])
    stop = np.empty(len(rows), int)
    stop[order[is_end[order]] - len(rows)] = begun[is_end[order]]
    counts = stop - np.arange(1, len(rows) + 1)
    cuts = np.flatnonzero(np.diff(np.cumsum(counts) // _MOST_PAIRS, prepend=0))
    for some in np.split(np.arange(len(rows)), cuts):
        i = np.repeat(some, counts[some])
        j = i + 1 + np.arange(len(i)) - np.repeat(np.cumsum(counts[some]) - counts[some], counts[some])
        i, j = rows[i], rows[j]
        near = _meet(low, high, i, j)
        yield np.minimum(i[near], j[near]), np.maximum(i[near], j[near])
