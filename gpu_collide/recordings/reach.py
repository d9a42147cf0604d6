"""Pairs of bodies that may come near each other while each goes on as it moves, found by boxes around their
ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_collide._types import Array

__all__ = ["Ways", "near_pairs", "ways_of"]

_STEPS = 8  # of a block, whose boxes are compared before those of its steps
_MOST_PAIRS = 1 << 20  # compared at a time
#: A body whose turn is even leaves the straight line along its chord by at most half its way times its turn,
#: for the direction, and a share of both, for the arc that is longer than its chord.
_BEND = 0.64
_ROUNDED = 1e-6  # of radii and ways


class Ways(NamedTuple):
    """Where bodies may be while each goes on along the screw of each step.

    Attributes
    ----------
    low, high : (s, n + m, 3) float64 ndarray
        Boxes around moving and static bodies; inf and -inf of steps that do not count.
    start, way : (s, n, 3) float64 ndarray
        Lines along which the moving ones go.
    reach : (s, n) float64 ndarray
        How far from its even way along the line all of a body is, at most.
    """

    low: Array
    high: Array
    start: Array
    way: Array
    reach: Array

    def overlap(self, step: Array, a: Array, b: Array, distance: float) -> Array:
        """(k,) bool: the boxes of two bodies in a step come within a distance along each axis."""
        near = np.ones(len(step), bool)
        for axis in range(3):
            low, high = self.low[..., axis], self.high[..., axis]
            near &= low[step, a] - distance <= high[step, b]
            near &= low[step, b] - distance <= high[step, a]
        return near

    def meet(self, step: Array, a: Array, b: Array) -> Array:
        """(k,) bool: balls of the reach around two bodies in a step come to touch, or one of them stands
        still."""
        near = b >= self.reach.shape[1]
        both = np.flatnonzero(~near)
        step, a, b = step[both], a[both], b[both]
        between, way = self.start[step, b] - self.start[step, a], self.way[step, b] - self.way[step, a]
        reach = self.reach[step, a] + self.reach[step, b]
        length, along = (way**2).sum(axis=1), -(between * way).sum(axis=1)
        share = np.clip(along / np.where(length > 0, length, 1.0), 0.0, 1.0)
        near[both] = ((between + share[:, None] * way) ** 2).sum(axis=1) <= reach**2
        return near


def ways_of(position: Array, unit: Array, known: Array, share: Array, radius: Array, still: Array) -> Ways:
    """Ways of bodies along a recording.

    Parameters
    ----------
    position, unit : (s + 1, n, 3), (s + 1, n, 4) float64 ndarray
        Poses at the frames.
    known : (s, n) bool ndarray
        Steps that count.
    share : (s,) float64 ndarray
        How long the motion goes on, in steps, 1 and up.
    radius : (n,) float64 ndarray
        Of balls around the origins of the bodies that hold them.
    still : (2, m, 3) float64 ndarray
        Boxes of bodies that stand still.
    """
    start, share = position[:-1], share[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        way = position[1:] - start
        chord = np.sqrt((way**2).sum(axis=-1))
        half = np.arccos(np.minimum(np.abs((unit[:-1] * unit[1:]).sum(axis=-1)), 1.0))
        along = chord * share * np.where(half > 1e-3, half / np.sin(np.maximum(half, 1e-3)), 1.0 + 1e-6)
        off = np.minimum(_BEND * along * (2.0 * half * share), 2.0 * along)
        reach = radius + off + _ROUNDED * (radius + along)
        way = share[..., None] * way
        end = start + way
        more = reach[..., None] + 1e-14 * (np.abs(start) + np.abs(end))
        low, high = np.minimum(start, end) - more, np.maximum(start, end) + more
    low[~known], high[~known] = np.inf, -np.inf
    shape = (len(low), *still.shape[1:])
    boxes = zip((low, high), still, strict=True)
    low, high = (np.concatenate([own, np.broadcast_to(more, shape)], axis=1) for own, more in boxes)
    return Ways(low, high, start, way, more.max(axis=-1))


def near_pairs(ways: Ways, distance: float, world: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Pairs of which `Ways.overlap` is true, some steps after the other.

    Parameters
    ----------
    ways : Ways
    distance : float
    world : (n,) int ndarray
        Moving bodies of different worlds are no pair; the others are in all, and no pair among themselves.

    Yields
    ------
    step, a, b : (k,) int ndarray
        In the order of (step, a, b), with a below b.
    """
    n = len(world)
    for first in range(0, len(ways.low), _STEPS):
        steps = np.arange(first, min(first + _STEPS, len(ways.low)))
        low, high = ways.low[steps].min(axis=0) - distance, ways.high[steps].max(axis=0)
        found = [np.zeros((3, 0), int)]
        for a, b in (*_of_block(low[:n], high[:n], world), *_with_still(low, high, n)):
            step = np.repeat(steps, len(a))
            a, b = np.tile(a, len(steps)), np.tile(b, len(steps))
            some = ways.overlap(step, a, b, distance)
            found.append(np.stack([step[some], a[some], b[some]]))
        step, a, b = np.concatenate(found, axis=1)
        order = np.lexsort([b, a, step])
        yield step[order], a[order], b[order]


def _meet(low: Array, high: Array, a: Array, b: Array) -> Array:
    """(k,) bool: boxes a and b, some rows of (n, 3), overlap."""
    near = np.ones(len(a), bool)
    for axis in range(3):
        near &= (low[a, axis] <= high[b, axis]) & (low[b, axis] <= high[a, axis])
    return near


def _with_still(low: Array, high: Array, n: int) -> Iterator[tuple[Array, Array]]:
    """Pairs of boxes that overlap, one of the first n and one of the others."""
    own = np.flatnonzero((low[:n] <= high[:n]).all(axis=1))
    for body in range(n, len(low)):
        near = own[_meet(low, high, own, np.full(len(own), body))]
        yield near, np.full(len(near), body)


def _of_block(low: Array, high: Array, world: Array) -> Iterator[tuple[Array, Array]]:
    """Pairs of boxes (n, 3) that overlap, of the same world."""
    rows = np.flatnonzero((low <= high).all(axis=1))
    rows = rows[np.lexsort([low[rows, 0], world[rows]])]
    ends = np.concatenate([low[rows, 0], high[rows, 0]])  # which boxes begin before each ends, in its world
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
