"""How many parts the step of each character is divided into, by the rotating bodies within its reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._validate import first_few
from gpu_collide.bodies.quaternion import turn_vector
from gpu_collide.queries.sweep.turning import Chords, reach_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.queries.sweep.turning import Extent

__all__ = ["MOST_PIECES", "Cuts", "Walkers", "distance", "room_of"]

#: A step is cut into so many pieces at most.
MOST_PIECES = 64
#: Into one of these numbers, or `MOST_PIECES` + 1, which are too many: who is cut alike is moved together.
COUNTS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, MOST_PIECES, MOST_PIECES + 1])
#: Pairs of a body that turns and a character that are looked at at a time.
AT_ONCE = 1 << 20


class Walkers(NamedTuple):
    """Characters before their step: arrays of NumPy, or of CuPy where they stay on a device.

    Attributes
    ----------
    arrays : module
        NumPy or CuPy.
    start, path, fall, radius : (n, 3)
    on : (n,) int, or None
        The body that each rides, -1: none.
    swept : (n,) bool
        The others stay where they are.
    meets : callable or None
        ``meets(body, rows)``: who of some may meet it (or each the one in its row), or rides it; None:
        everybody.
    """

    arrays: Any
    start: Any
    path: Any
    fall: Any
    radius: Any
    on: Any
    swept: Any
    meets: Callable[[Any, Any], Any] | None = None


def _norm(x: Any) -> Any:
    x, y, z = (x[:, k] for k in range(3))
    return np.sqrt(x * x + y * y + z * z)


def distance(a: Any, b: Any) -> Any:
    """Of places, row by row."""
    return _norm(a - b)


def room_of(walkers: Walkers, bodies: Bodies, step: float) -> Any:
    """How far each may come from its start, (n,): twice what it goes, falls, climbs and is carried. Pushes
    may take it farther."""
    own, where = _norm(walkers.path) + _norm(walkers.fall) + 2.0 * step, walkers.arrays.where
    if walkers.on is not None:
        there = bodies.start.valid & bodies.end.valid
        origin = np.where(there[:, None], bodies.start.position, 0.0)
        way = np.where(there, distance(bodies.end.position, bodies.start.position), 0.0)
        turn = np.where(there, _norm(turn_vector(bodies.start.unit_wxyz, bodies.end.unit_wxyz)), 0.0)
        way, turn, origin = (walkers.arrays.asarray(table)[walkers.on] for table in (way, turn, origin))
        own = own + where(walkers.on >= 0, way + turn * distance(walkers.start, origin), 0.0)
    return where(walkers.swept, 2.0 * own, 0.0)


class Cuts:
    """Into how many pieces bodies that turn have the step cut of those who may come to them.

    Parameters
    ----------
    bodies : Bodies
    which : (k,) int
        Those that turn.
    walkers : Walkers
    room : (n,)
        How far each may come.
    extent_for : callable
        `Extent` of all that walk, for bodies of these numbers.
    skin : float
        Below 0 it is a share of the least radius.
    """

    def __init__(
        self,
        bodies: Bodies,
        which: Array,
        walkers: Walkers,
        room: Any,
        extent_for: Callable[[Array], Extent],
        skin: float,
    ) -> None:
        self._turning, self._walkers = which, walkers
        extent = extent_for(which[:0])
        self._skin = skin if skin > 0 else -skin * extent.least
        wide = room + (walkers.radius.max(axis=1) + 4.0 * self._skin)
        self._wide = walkers.arrays.where(walkers.swept, wide, 0.0)
        # those that come near the box of all paths
        origin, way, reach = _ways(bodies, which)
        around = (reach + float(self._wide.max()))[:, None]
        low, high = np.minimum(origin, origin + way) - around, np.maximum(origin, origin + way) + around
        close = ((low <= extent.high) & (high >= extent.low)).all(axis=1)
        self._near, self._balls = which[close], (origin[close], way[close], reach[close])
        self._pieces = np.ones(len(self._near), int)
        if self._near.size:
            self._chords = Chords(extent_for(self._near), bodies, self._near)
            self._count()

    def _count(self) -> None:
        """No chord is to be off by more than half the skin; `MOST_PIECES` + 1: these are too few."""
        while True:
            error = self._chords.errors(self._pieces)
            more = (error > 0.5 * self._skin) & (self._pieces <= MOST_PIECES)
            if not more.any():
                return
            # between a quarter (of curves) and a half (of ellipsoids that lean) is left of twice as many
            guess = np.minimum(self._pieces * np.sqrt(2.0 * error / self._skin), MOST_PIECES + 1.0)
            wanted = np.maximum(self._pieces + 1, guess.astype(int))
            self._pieces = np.where(more, COUNTS[np.searchsorted(COUNTS, wanted)], self._pieces)

    def of_each(self) -> Any:
        """The pieces of each character, (n,): the most that a body asks for to which it may come."""
        walkers, where = self._walkers, self._walkers.arrays.where
        pieces, many = walkers.arrays.ones(len(walkers.swept), np.int64), []
        for k, rows in self._around(np.flatnonzero(self._pieces > 1)):
            near, asked = self._reached(k, rows), self._pieces[k]
            if walkers.arrays is np:
                many += np.unique(k[near & (asked > MOST_PIECES)]).tolist()
                np.maximum.at(pieces, rows[near], asked[near])
            else:
                many += [k] if asked > MOST_PIECES and bool(near.any()) else []
                pieces = where(near & (pieces < asked), int(asked), pieces)
        if many:
            error = self._chords.errors(MOST_PIECES)[many].max()
            raise ValueError(
                f"skin: expected more than {2 * error:.3g}, twice what paths are off by as bodies that turn "
                f"see them (first that characters may come to: {first_few(self._near[many])}) if the step is "
                f"cut into {MOST_PIECES} pieces, got {self._skin:.3g}; pass a larger skin, or make shorter "
                "steps"
            )
        return where(walkers.swept, pieces, pieces.max())  # who stays goes with the most

    def groups(self, pieces: Any, todo: Any) -> list[tuple[int, Any]]:
        """Of characters with so many pieces each, of those in `todo` (None: all): (pieces, who has so many);
        None for who, if these are all."""
        asked = sorted({1, *self._pieces.tolist()} - {MOST_PIECES + 1})
        if len(asked) == 1 and todo is None:
            return [(1, None)]
        which = [pieces == number if todo is None else todo & (pieces == number) for number in asked]
        some = self._walkers.arrays.stack([rows.any() for rows in which]).tolist()
        groups = [(number, rows) for number, rows, any_ in zip(asked, which, some, strict=True) if any_]
        return groups if len(groups) > 1 or todo is not None else [(number, None) for number, _ in groups]

    def absent(self, pieces: int) -> Array:
        """Bodies to which none of those comes whose step is cut into so many pieces, and whose chords may be
        anywhere then: they are left out of their world."""
        return np.setdiff1d(self._turning, self._near[self._pieces <= pieces])

    @property
    def slack(self) -> float:
        """No chord is off by more."""
        return 0.5 * self._skin

    def error(self, pieces: int) -> float:
        """By how much chords are off in so many pieces."""
        some = self._pieces <= pieces
        return float(self._chords.errors(pieces)[some].max()) if some.any() else 0.0

    def _around(self, which: Array) -> Iterator[tuple[Any, Any]]:
        """Of some of those near (numbers, rows of characters that may come to them), with all that may: on
        the host pairs, by the axis on which characters are spread most; on a device one after the other, with
        all characters, so that nothing is waited for."""
        start = self._walkers.start
        if self._walkers.arrays is not np:
            yield from ((k, slice(None)) for k in which.tolist())
            return
        axis = int(np.ptp(start, axis=0).argmax())
        order = np.argsort(start[:, axis], kind="stable")
        origin, way, reach = self._balls
        ends = origin[which, axis], (origin + way)[which, axis]
        wide = (reach[which] + self._wide.max()) * (1 + 1e-9) + 1e-9 * np.abs(ends).max(
            axis=0
        )  # for rounding
        first, last = np.searchsorted(start[order, axis], [np.min(ends, 0) - wide, np.max(ends, 0) + wide])
        most, done = max(AT_ONCE, len(start)), 0
        for stop in [*np.flatnonzero(np.diff(np.cumsum(last - first) // most)).tolist(), len(which) - 1]:
            count = (last - first)[done : stop + 1]
            begin = np.repeat(first[done : stop + 1] - np.cumsum(count) + count, count)
            yield np.repeat(which[done : stop + 1], count), order[begin + np.arange(count.sum())]
            done = stop + 1

    def _reached(self, k: Any, some: Any) -> Any:
        """Who of some may come to the ball about the origin of one of those near, wherever that is on its
        way: to that in its row, or all to one."""
        walkers = self._walkers
        origin, way, reach = self._balls
        square = (way * way).sum(axis=1, keepdims=True)
        table = np.concatenate([origin, way, way / np.where(square > 0, square, 1.0), reach[:, None]], axis=1)
        columns: Any = table[k].tolist() if np.ndim(k) == 0 else table[k].T
        *origin, u, v, w, a, b, c, reach = columns
        start = walkers.start[some]
        x, y, z = (start[:, axis] - origin[axis] for axis in range(3))
        share = (x * a + y * b + z * c).clip(0.0, 1.0)
        x, y, z = x - share * u, y - share * v, z - share * w
        within = self._wide[some] + reach
        near = walkers.swept[some] & (x * x + y * y + z * z <= within * within)
        if walkers.meets is None:
            return near
        return near & walkers.meets(self._near[k] if np.ndim(k) else int(self._near[k]), some)


def _ways(bodies: Bodies, which: Array) -> tuple[Array, Array, Array]:
    """Where some bodies start, how far they go, and how far they reach from their origins."""
    start = bodies.start.position[which]
    return start, bodies.end.position[which] - start, reach_of(bodies, which)
