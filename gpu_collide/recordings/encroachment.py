"""Post-encroachment time: how long after one body has left a place another comes there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.queries.collide import collide
from gpu_collide.recordings.separation import Separations
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.recordings.tracks import Tracks

__all__ = ["post_encroachment_times"]

_HALVINGS = 20  # of an interval of frames: below a microsecond at 1 Hz and more
_MOST_PLACES = 1 << 21  # pairs of steps whose places are compared at a time: below a gigabyte if all are near
_LEVELS = 2  # halvings in one call
_FIRST = 4  # multiples of the interval in the first call, each way; then twice as many, and so on
_ARC = 1.6  # a way along an arc of at most half a turn is pi / 2 times its chord, or less


def post_encroachment_times(
    tracks: Tracks, a: Array, b: Array, first: Array, last: Array, most: float, options: dict[str, Any]
) -> Array:
    """Post-encroachment time of pairs that do not touch, (k,) float64 seconds; inf: above `most`.

    Parameters
    ----------
    tracks : Tracks
    a, b : (k,) int ndarray
    first, last : (k,) int ndarray
        Steps of each event; places are those where the bodies are in these, and `most` seconds before and
        behind.
    most : float
    options : dict
        Of `collide`.

    Notes
    -----
    One body leaves a place at t and the other arrives at t + d. So the least d over all places is the least
    by which the clock of one has to be put back for the two to touch, and `collide` says whether they do, at
    each d on the whole way. Multiples of the interval of frames are asked, more and more at once, each way
    round, and the first with a touch is followed back by halving. What would touch only for less than an
    interval of d, both ways round, is not found: a body stands on each place for longer, unless it moves by
    its length in a step. Steps that a direction keeps apart (`Separations`) are not asked.

    Post-encroachment time after B. L. Allen, B. T. Shin, P. J. Cooper, "Analysis of traffic conflicts and
    collisions", Transportation Research Record 667, 1978.
    """
    times = tracks.times
    stop = np.minimum(last + 1, len(times) - 1)
    low = np.searchsorted(times, times[first] - most)
    high = np.searchsorted(times, times[stop] + most, "right") - 1
    places = np.cumsum((high - low).astype(np.int64) ** 2)
    some = np.flatnonzero(np.diff(places // _MOST_PLACES, prepend=-1))
    told = [
        _of_rows(tracks, a[rows], b[rows], low[rows], high[rows], most, options)
        for rows in np.split(np.arange(len(a)), some[1:])
    ]
    return np.concatenate(told)


def _of_rows(tracks: Tracks, a: Array, b: Array, low: Array, high: Array, most: float, options: Any) -> Array:
    """`post_encroachment_times` of some rows, by steps from `low` up to `high`."""
    times = tracks.times
    interval = float(np.median(np.diff(times)))
    count = int(np.ceil(most / interval - 1e-9))
    search = _Search(tracks, a, b, *_near(tracks, a, b, low, high, count * interval))
    least, most_at = search.shifts()
    begin = np.floor(least / interval).astype(int) + 1  # multiples within the open interval of shifts
    more = np.maximum(np.ceil(most_at / interval).astype(int) - begin, 0)
    which = np.repeat(np.arange(len(more)), more)
    k = np.arange(len(which)) - np.repeat(np.cumsum(more) - more - begin, more)
    above = np.full((len(a), 2), np.inf)  # each way round, in intervals
    far, near, reach = np.abs(k), 0, _FIRST
    while near < count:  # a row that has touched asks for no more
        asked = (far > near) & (far <= min(reach, count)) & np.isinf(above[search.of[which]]).all(axis=1)
        part, of = search.of_queries(which[asked])
        hit = part.touch(of, k[asked] * interval, options)
        touched = k[asked][hit]
        np.minimum.at(above, (part.of[of[hit]], (touched < 0).astype(int)), np.abs(touched))
        near, reach = reach, 2 * reach
    above[above > above.min(axis=1, keepdims=True)] = np.inf
    row, way = np.nonzero(np.isfinite(above))
    return _halved(search, row, np.where(way, -1.0, 1.0), above[row, way], interval, most, options)


def _halved(
    search: _Search, row: Array, sign: Array, above: Array, interval: float, most: float, options: Any
) -> Array:
    """Post-encroachment times, from the first multiples of the interval at which rows touch."""
    order = np.argsort(search.of, kind="stable")
    start = np.searchsorted(search.of[order], [row, row + 1])
    counts = start[1] - start[0]
    query = np.repeat(np.arange(len(row)), counts)
    which = order[np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts - start[0], counts)]
    least, most_at = (shift[which] * sign[query] / interval for shift in search.shifts())
    soon, late = np.minimum(least, most_at), np.maximum(least, most_at)
    some = (soon < above[query]) & (late > above[query] - 1.0)
    query, (part, which) = query[some], search.of_queries(which[some])
    below, inner = above - 1.0, np.arange(1, 1 << _LEVELS) / (1 << _LEVELS)
    for _ in range(_HALVINGS // _LEVELS if len(row) else 0):
        ends = (sign * below)[query] * interval, (sign * above)[query] * interval
        some = ~part.apart.apart(which, np.minimum(*ends), np.maximum(*ends))
        query, which = query[some], which[some]
        asked = below[:, None] + inner * (above - below)[:, None]
        shifts = (sign[:, None] * asked)[query] * interval
        hit = part.touch(np.repeat(which, len(inner)), shifts.reshape(-1), options).reshape(shifts.shape)
        touch = np.zeros(asked.shape, bool)
        np.logical_or.at(touch, query, hit)
        rows, at, step = np.arange(len(row)), np.full(len(row), (1 << _LEVELS) // 2), (1 << _LEVELS) // 2
        for _ in range(_LEVELS):  # as if one were asked after the other
            met = touch[rows, at - 1]
            middle = asked[rows, at - 1]
            below, above = np.where(met, below, middle), np.where(met, middle, above)
            step //= 2
            at = np.where(met, at - step, at + step)
    pet = np.full(search.rows, np.inf)
    np.minimum.at(pet, row, above * interval)
    return np.where(pet <= most, pet, np.inf)


def _near(
    tracks: Tracks, a: Array, b: Array, low: Array, high: Array, most: float
) -> tuple[Array, Array, Array]:
    """Row, step of A and step of B of all steps that come near the same places, by whatever shift of at most
    `most` seconds."""
    times, measures = tracks.times, tracks.measures
    radius = (np.linalg.norm(measures[:, :3], axis=1) + measures[:, 3])[tracks.shape]
    found = []
    for row, (one, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        step, places = np.arange(low[row], high[row]), []
        for body in (one, other):
            mine = step[tracks.both_known(np.full(len(step), body), np.full(len(step), body), step)]
            here, there = tracks.place(body, mine), tracks.place(body, mine + 1)
            length = np.sqrt(sum((x - y) ** 2 for x, y in zip(here.T, there.T, strict=True)))
            places.append((mine, here, radius[body] + _ARC * length))
        (i, at, reach), (j, to, more) = places
        apart = np.zeros((len(i), len(j)))
        for x, y in zip(at.T, to.T, strict=True):
            apart += (x[:, None] - y) ** 2
        near = apart <= (reach[:, None] + more) ** 2
        near &= (times[j] - times[i + 1][:, None] < most) & (times[i][:, None] - times[j + 1] < most)
        rows, columns = np.nonzero(near)
        found.append((np.full(len(rows), row), i[rows], j[columns]))
    nothing = np.zeros(0, int)
    of, i, j = (np.concatenate([nothing, *(part[k] for part in found)]) for k in range(3))
    return of, i, j


class _Search:
    """Steps of two bodies each, by whatever shift of the clock of one.

    Attributes
    ----------
    of : (c,) int64
        The row of each.
    i, j : (c,) int64
        The steps of A and of B.
    """

    def __init__(self, tracks: Tracks, a: Array, b: Array, of: Array, i: Array, j: Array) -> None:
        self.tracks, self.a, self.b, self.rows = tracks, a, b, len(a)
        self.of, self.i, self.j = of, i, j

    @cached_property
    def apart(self) -> Separations:
        """What may lie between the two of each."""
        return Separations(self.tracks, self.a[self.of], self.i, self.b[self.of], self.j)

    def of_queries(self, which: Array) -> tuple[_Search, Array]:
        """Those that some queries are about, and the numbers of these in it."""
        used, at = np.unique(which, return_inverse=True)
        steps = self.of[used], self.i[used], self.j[used]
        return _Search(self.tracks, self.a, self.b, *steps), at.reshape(-1)

    def shifts(self) -> tuple[Array, Array]:
        """Shifts between which the two steps have a time in common."""
        times = self.tracks.times
        return times[self.j] - times[self.i + 1], times[self.j + 1] - times[self.i]

    def touch(self, which: Array, shift: Array, options: Any) -> Array:
        """(k,) bool: whether A at t touches B at t + shift, at any t of both steps of `which`."""
        tracks, times, touch = self.tracks, self.tracks.times, np.zeros(len(which), bool)
        i, j = self.i[which], self.j[which]
        since, until = np.maximum(times[i], times[j] - shift), np.minimum(times[i + 1], times[j + 1] - shift)
        both = np.flatnonzero(until > since)
        both = both[~self.apart.apart(which[both], shift[both], shift[both])]
        if not len(both):
            return touch
        row = self.of[which[both]]
        body, step = np.concatenate([self.a[row], self.b[row]]), np.concatenate([i[both], j[both]])
        late = np.concatenate([np.zeros(len(both)), shift[both]])
        whole = tracks.bodies.again(tracks.shape[body], tracks.at(body, step), tracks.at(body, step + 1))
        ends = [
            whole.poses_at(
                np.clip((np.tile(at[both], 2) + late - times[step]) / np.diff(times)[step], 0.0, 1.0)
            )
            for at in (since, until)
        ]
        pairs = np.arange(len(body)).reshape(2, -1).T
        bodies = tracks.bodies.again(tracks.shape[body], *ends)
        met = collide(bodies, pairs, contacts="first", motion="body", **options)
        touch[both] = (met.status == Status.HIT) | (met.status == Status.INITIAL_OVERLAP)
        return touch
