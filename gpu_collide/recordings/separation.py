"""Steps of two bodies that stay apart, whatever their clocks say: a filter of few operations before
`collide`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.poses import Poses
    from gpu_collide.recordings.tracks import Tracks

__all__ = ["Separations", "balls_meet", "bend_of", "stay_apart"]

_ROUNDED = 1e-6  # of sizes and ways: what counts as touching, and rounding, are below a thousandth of it


class _Swept(NamedTuple):
    """Boxes around bodies in a step: places (c, 3) of their middles at both ends, their axes (c, 3, 3) in
    columns, half their sides (c, 3), and how far a point is off the even way between its ends (c,)."""

    start: Array
    end: Array
    axes_start: Array
    axes_end: Array
    half: Array
    bend: Array


class Separations:
    """Directions that may lie between the bodies of some pairs, each in a step of its own.

    Four are tried: the first two axes of the boxes around both bodies, which are level for vehicles. Along
    each, places are linear in time but for a bend that is bounded; so the least and greatest distance over
    times, and over shifts of one clock against the other, are at the ends of both.

    Parameters
    ----------
    tracks : Tracks
    a, i, b, j : (c,) int ndarray
        Body A in step i, and B in step j; poses of both are known.
    """

    def __init__(self, tracks: Tracks, a: Array, i: Array, b: Array, j: Array) -> None:
        times = tracks.times
        one, other = _of_steps(tracks, a, i), _of_steps(tracks, b, j)
        self._late = times[i] - times[j]
        self._lasts = times[i + 1] - times[i], times[j + 1] - times[j]
        self._between, ways, self._reach = _along(one, other)
        self._speeds = [way / lasts[:, None] for way, lasts in zip(ways, self._lasts, strict=True)]

    def apart(self, which: Array, low: Array, high: Array) -> Array:
        """(k,) bool: whether A at t and B at t + d are apart at all t of both steps of `which`, for each d
        from `low` to `high` seconds. True is proved; False says nothing."""
        low, high = low + self._late[which], high + self._late[which]
        first = np.maximum(-high, 0.0)[:, None]
        last = np.minimum(self._lasts[0][which], self._lasts[1][which] - low)[:, None]
        between, reach = self._between[which], self._reach[which]
        speed = self._speeds[1][which]
        shifts = speed * low[:, None], speed * high[:, None]
        speed = speed - self._speeds[0][which]
        ways = speed * first, speed * last
        above = between + np.minimum(*shifts) + np.minimum(*ways) > reach
        below = between + np.maximum(*shifts) + np.maximum(*ways) < -reach
        apart: Array = (above | below).any(axis=1)
        return apart


def stay_apart(bodies: Bodies, pairs: Array, measures: Array) -> Array:
    """Of which pairs (p, 2) of bodies a direction proves that they do not touch in their step; False says
    nothing. `measures` are those of their meshes."""
    swept = _swept(measures[bodies.shape], bodies.start, bodies.end)
    radius = np.linalg.norm(swept.half, axis=1) + swept.bend
    apart = ~balls_meet(swept.start, swept.end - swept.start, radius, pairs)
    rows = np.flatnonzero(~apart)
    between, ways, reach = _along(*(_Swept(*(x[side] for x in swept)) for side in pairs[rows].T))
    ends = between, between + ways[1] - ways[0]
    apart[rows] = ((np.minimum(*ends) > reach) | (np.maximum(*ends) < -reach)).any(axis=1)
    return apart


def balls_meet(start: Array, way: Array, radius: Array, pairs: Array) -> Array:
    """(p,) bool: whether balls (n,) that go evenly along ways (n, 3) come to touch."""
    a, b = pairs.T
    between, moved = ([np.take(x, b) - np.take(x, a) for x in rows.T] for rows in (start, way))
    length = sum(x * x for x in moved)
    along = sum(x * y for x, y in zip(between, moved, strict=True))
    at = np.clip(-along / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
    square = sum((x + at * y) ** 2 for x, y in zip(between, moved, strict=True))
    far = _ROUNDED * sum(np.abs(x) for x in between)
    meet: Array = square <= ((1.0 + _ROUNDED) * (np.take(radius, a) + np.take(radius, b)) + far) ** 2
    return meet


def bend_of(turn: Array, chord: Array) -> Array:
    """How far a point that turns by at most pi is off the even way between its ends, a chord apart, at most:
    its radius is chord / (2 sin(turn / 2)), and a way whose acceleration is at most a is off its chord by
    a / 8."""
    return chord * np.where(turn > 1e-6, 0.0625 * turn**2 / np.sin(np.maximum(0.5 * turn, 1e-6)), turn)


def _along(one: _Swept, other: _Swept) -> tuple[Array, list[Array], Array]:
    """Along four directions of each pair, (c, 4): from A to B at the start, the ways of both, and how far
    they reach together."""
    along = np.concatenate([one.axes_start[:, :, :2], other.axes_start[:, :, :2]], axis=2)  # in columns
    along = np.ascontiguousarray(along.transpose(0, 2, 1))
    between = _dots(along, other.start - one.start)
    reach = [
        np.maximum(*(_dots(np.abs(along @ axes), of.half) for axes in (of.axes_start, of.axes_end)))
        + of.bend[:, None]
        for of in (one, other)
    ]
    ways = [_dots(along, of.end - of.start) for of in (one, other)]
    return between, ways, (1.0 + _ROUNDED) * (reach[0] + reach[1]) + _ROUNDED * np.abs(between)


def _dots(rows: Array, vectors: Array) -> Array:
    """Products (c, m) of matrices (c, m, 3) and vectors (c, 3)."""
    return (rows @ vectors[:, :, None])[:, :, 0]


def _of_steps(tracks: Tracks, body: Array, step: Array) -> _Swept:
    """Of bodies in steps; what many pairs have in common is made once."""
    count = len(tracks.shape)
    key, of = np.unique(step * count + body, return_inverse=True)
    step, body = np.divmod(key, count)
    swept = _swept(tracks.measures[tracks.shape[body]], tracks.at(body, step), tracks.at(body, step + 1))
    return _Swept(*(x[of.reshape(-1)] for x in swept))


def _swept(boxes: Array, start: Poses, end: Poses) -> _Swept:
    middle, half = boxes[:, :3], boxes[:, 5:8]
    cosine = np.abs((start.unit_wxyz * end.unit_wxyz).sum(axis=-1))
    angle = 2.0 * np.arccos(np.minimum(cosine, 1.0))
    places = start.apply(middle), end.apply(middle)
    chord = np.linalg.norm(places[1] - places[0], axis=1) + angle * np.linalg.norm(half, axis=1)
    axes = _axes(start.unit_wxyz), _axes(end.unit_wxyz)
    return _Swept(*places, *axes, half, bend_of(angle, chord))


def _axes(unit: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions."""
    w, x, y, z = unit.T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
