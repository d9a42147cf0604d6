"""Triangulation of one polygon by ear clipping, the ear nearest to equilateral first.

A cut by clipping ears is right if every triangle has a positive area and no two sides of the polygon cross:
the areas then add up to a polygon that covers each place once, so nothing is covered twice and nothing lies
outside. Both are checked, and what fails is refused.

The work is n log n for n corners as long as few of them lie beside an ear. It is counted, and a polygon that
takes too much of it is refused.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import first_few

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from gpu_collide._types import Array

__all__ = ["clip_ears", "crosses_itself"]

# Distances of a corner from a diagonal, in sizes of the polygon, that are tried one after the other: a cut
# that passes a corner closely leaves a sliver, whose normal is rounding.
CLEARANCES = (1e-6, 1e-9, 0.0)
# Area of a triangle, in squares of the polygon's size, above which the sides of a polygon surely cross.
CROSSING = 1e-12
# What one polygon may cost, in comparisons of some 2 ns: 4 s, and what is linear in its corners.
MOST_WORK, FOR_EACH_CORNER = 2_000_000_000, 30_000
EACH_LOOK, EACH_TEST = 5_000, 20  # at an ear; of a corner against a triangle, or of two sides
FEW = 32  # corners up to which they are tested one by one
AT_ONCE = 1 << 18  # pairs of sides
ROUNDING = 1e-14  # that a corner may be off a triangle, in sizes, and seem to be in it


def crosses_itself(faces: Any) -> NoReturn:
    raise ValueError(
        f"faces: face {first_few(faces)} crosses itself and cannot be cut into triangles; repair its loop"
    )


def _check_work(work: int, n: int, source: Any) -> None:
    if work > MOST_WORK + FOR_EACH_CORNER * n:
        raise ValueError(
            f"faces: face {first_few(source)} has {n} corners in such an order that cutting it into "
            "triangles would take minutes; cut it into smaller faces, or give triangles"
        )


def clip_ears(plane: Array, convex: bool, source: Any) -> Array:
    """Triangles (n - 2, 3) of one polygon (n, 2), by the numbers of its corners.

    Clipping an ear changes no other corner but its two neighbours; what clearances forbid is looked at again
    when nothing else is left. `convex`: no corner can be in an ear.
    """
    if not convex:
        _refuse_crossings(plane, source)
    ears = _Ears(plane, convex, source)
    triangles = []
    while ears.count > 3:
        for clearance in CLEARANCES:
            if ears.best() is not None:
                break
            ears.look_at_all(clearance)
        ear = ears.best()
        if ear is None:
            crosses_itself(source)
        triangles.append((ears.before[ear], ear, ears.after[ear]))
        ears.clip(ear)
    a, b, c = ears.left()
    (ax, ay), (bx, by), (cx, cy) = plane[[a, b, c]].tolist()
    if not convex and (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0:
        crosses_itself(source)
    return np.array([*triangles, (a, b, c)])


class _Ears:
    """The corners that are left of a polygon, and how good an ear each is."""

    def __init__(self, plane: Array, convex: bool, source: Any) -> None:
        n = self.count = len(plane)
        self._plane, self._convex, self._source, self._work = plane, convex, source, 0
        self._x, self._y = plane[:, 0].tolist(), plane[:, 1].tolist()
        self.before, self.after = [n - 1, *range(n - 1)], [*range(1, n), 0]
        self._there = np.ones(n, bool)
        # a hole is joined to the border by a side walked twice: those corners are one
        self._place = np.zeros(0) if convex else np.unique(plane, axis=0, return_inverse=True)[1].reshape(-1)
        self._quality = [0.0] * n
        self._heap: list[tuple[float, int]] = []
        self._sort()
        self.look_at_all(CLEARANCES[0])

    def _sort(self) -> None:
        """Those that are left along both axes: sorted coordinates, the other ones, and whose they are."""
        self._sorted_for = self.count
        left = np.flatnonzero(self._there)
        self._along = []
        for axis in (0, 1):
            order = left[np.argsort(self._plane[left, axis], kind="stable")]
            self._along.append((self._plane[order, axis].tolist(), self._plane[order, 1 - axis], order))

    def left(self) -> list[int]:
        """The corners that are left."""
        return np.flatnonzero(self._there).tolist()

    def best(self) -> int | None:
        """The best ear, the first of those that are as good."""
        heap = self._heap
        while heap and (not self._there[heap[0][1]] or -heap[0][0] != self._quality[heap[0][1]]):
            heapq.heappop(heap)
        return heap[0][1] if heap else None

    def clip(self, ear: int) -> None:
        """Take a corner away."""
        a, c = self.before[ear], self.after[ear]
        self.after[a], self.before[c], self._there[ear] = c, a, False
        self.count -= 1
        if 2 * self.count < self._sorted_for and not self._convex:
            self._sort()
        for k in (a, c):
            self._look(k, CLEARANCES[0])

    def look_at_all(self, clearance: float) -> None:
        """How good all are, with so much room to other corners."""
        for k in self.left():
            self._look(k, clearance)

    def _look(self, b: int, clearance: float) -> None:
        quality = self._quality[b] = self._looked(b, clearance)
        if quality > 0:
            heapq.heappush(self._heap, (-quality, b))

    def _looked(self, b: int, clearance: float) -> float:
        """Twice the area of an ear over the square of its longest side; 0 if it is none, or a corner is in it
        or near its sides."""
        a, c, x, y = self.before[b], self.after[b], self._x, self._y
        ax, ay, bx, by, cx, cy = x[a], y[a], x[b], y[b], x[c], y[c]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        sides = (ax, ay, bx - ax, by - ay), (bx, by, cx - bx, cy - by), (cx, cy, ax - cx, ay - cy)
        squares = [u * u + v * v for _, _, u, v in sides]
        if not self._convex:
            if not area > clearance * math.sqrt(squares[2]):
                return 0.0
            ab, bc, ca = map(math.sqrt, squares)
            grown = 1 + (clearance + ROUNDING) * (ab + bc + ca) / area  # the last over the incircle's radius
            ranges = [_range(three, (bc, ca, ab), grown) for three in ((ax, bx, cx), (ay, by, cy))]
            limits = [(*side, -clearance * length) for side, length in zip(sides, (ab, bc, ca), strict=True)]
            if self._holds(self._within(*ranges), [self._place[k] for k in (a, b, c)], limits):
                return 0.0
        return area / max(*squares, 1e-300)

    def _holds(self, corners: Array, places: list[int], limits: Any) -> bool:
        """Whether a triangle holds one of these corners that is left, at another place than its own are."""
        if len(corners) <= FEW:
            return any(
                self._there[k]
                and self._place[k] not in places
                and all(u * (self._y[k] - oy) - v * (self._x[k] - ox) >= low for ox, oy, u, v, low in limits)
                for k in corners.tolist()
            )
        x, y = self._plane[corners].T
        inside = self._there[corners]
        for place in places:
            inside &= self._place[corners] != place
        for ox, oy, u, v, low in limits:
            inside &= u * (y - oy) - v * (x - ox) >= low
        return bool(inside.any())

    def _within(self, *ranges: tuple[float, float]) -> Array:
        """Corners in a box, found along the axis where there are fewer beside it."""
        found: Any = None
        for (low, high), (values, others, order), across in zip(
            ranges, self._along, ranges[::-1], strict=True
        ):
            first, stop = bisect_left(values, low), bisect_right(values, high)
            if found is None or stop - first < found[1] - found[0]:
                found = first, stop, others, order, across
        first, stop, others, order, (low, high) = found
        others = others[first:stop]
        corners = order[first:stop][(others >= low) & (others <= high)]
        self._work += EACH_LOOK + EACH_TEST * len(corners) + stop - first
        _check_work(self._work, len(self._plane), self._source)
        return corners


def _range(three: Any, weights: Any, grown: float) -> tuple[float, float]:
    """Along one axis, a triangle grown about the centre of its incircle, by the sides across its corners."""
    middle = sum(u * w for u, w in zip(three, weights, strict=True)) / sum(weights)
    low, high = middle + (min(three) - middle) * grown, middle + (max(three) - middle) * grown
    return low - ROUNDING, high + ROUNDING


def _cross(u: Array, v: Array) -> Array:
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]


def _refuse_crossings(plane: Array, source: Any) -> None:
    """Raise ``ValueError`` if two sides of the polygon (n, 2) cross."""
    n, following = len(plane), np.roll(plane, -1, axis=0)
    low, high = np.minimum(plane, following), np.maximum(plane, following)
    ways = []
    for axis in (0, 1):
        order = np.argsort(low[:, axis], kind="stable")
        stop = np.searchsorted(low[order, axis], high[order, axis], side="right")
        ways.append((int(stop.sum()), axis, order, stop.tolist()))
    work, axis, order, stop = min(ways, key=lambda way: way[0])
    work -= n * (n + 1) // 2
    low, high = low[order, 1 - axis], high[order, 1 - axis]
    pairs: list[tuple[int, Array]] = []
    begun = work
    for i in range(n):
        if stop[i] > i + 1:  # beside these along the one axis; and along the other as well
            both = (low[i + 1 : stop[i]] <= high[i]) & (high[i + 1 : stop[i]] >= low[i])
            pairs.append((i, i + 1 + np.flatnonzero(both)))
            work += EACH_TEST * len(pairs[-1][1])
        _check_work(work, n, source)
        if work - begun > EACH_TEST * AT_ONCE or i == n - 1 and pairs:
            first = np.repeat([k for k, _ in pairs], [len(found) for _, found in pairs])
            second = np.concatenate([found for _, found in pairs])
            if _cross_each_other(plane, following, order[first], order[second]).any():
                crosses_itself(source)
            pairs, begun = [], work


def _cross_each_other(plane: Array, following: Array, i: Array, j: Array) -> Array:
    """Whether sides i and j of a polygon cross, each of the other's ends surely on either side."""
    p, q, r, s = plane[i], following[i], plane[j], following[j]
    of_p, of_q = _cross(s - r, p - r), _cross(s - r, q - r)
    of_r, of_s = _cross(q - p, r - p), _cross(q - p, s - p)
    least = np.minimum.reduce([np.abs(of) for of in (of_p, of_q, of_r, of_s)])
    return (of_p * of_q < 0) & (of_r * of_s < 0) & (least > CROSSING)
