"""The frames of rows that have times, one clock for all bodies or one for each: which rows share a frame,
where bodies are away, and where a body is between two of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide._validate import check_positive, how_many

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.poses import Poses

__all__ = ["Between", "Clock"]

SAME = 1e-6  # seconds within which times are one frame: rounding of seconds since 1970 is 2.4e-7
SAME_SHARE = 1e-3  # of a usual interval, where that is less
GAP = 1.5  # usual intervals from which on a body is away
_QUICK = 0.1  # quantile of the intervals of bodies that is the clock's, if all are multiples of it
_EVEN, _OFF = 0.99, 0.1  # share of them that has to be one, and by how much of it they may miss
_UNEVEN = 0.1  # share of intervals that may be gaps, where a clock is not even
_NO_GAP = "max_gap: expected seconds from which on a body without a row is away, got None"
_SLOW_ROWS = 3  # intervals from which on a body has a clock of its own, if they are alike


@dataclass(frozen=True)
class Between:
    """Bodies between two of their rows, at frames of other bodies.

    Attributes
    ----------
    first, stop : (m,) int64
        They are put at the frames from `first` up to `stop`.
    body : (m,) int64
    start, end : (m,) float64
        Times of the two rows.
    poses : (Poses, Poses)
        Of shape (m,), at both.
    times : (t,) float64
        Of the frames.
    """

    first: Array
    stop: Array
    body: Array
    start: Array
    end: Array
    poses: tuple[Poses, Poses]
    times: Array

    def within(self, begin: int, end: int) -> tuple[Array, Array, Poses]:
        """Frames, bodies and poses of those at the frames from `begin` up to `end`."""
        low, high = np.maximum(self.first, begin), np.minimum(self.stop, end)
        here = np.flatnonzero(low < high)
        counts = high[here] - low[here]
        of = np.repeat(here, counts)
        frame = low[of] + np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        share = (self.times[frame] - self.start[of]) / (self.end[of] - self.start[of])
        return frame, self.body[of], self.poses[0][of].toward(self.poses[1][of], share)


class Clock:
    """Frames of rows (time, body), in any order.

    Attributes
    ----------
    times : (t,) float64
        Of the frames, ascending: all times at which somebody has a row.
    order : (r,) int64
        The rows by body and time.
    frame : (r,) int64
        Frame of each row, in that order.
    lengths : (k,) int64
        Frames of each stretch; nobody moves from one to the next.
    """

    def __init__(self, time: Array, body: Array, max_gap: Any, place: str, ids: list[Any]) -> None:
        max_gap = check_positive(max_gap, "max_gap", none_ok=True)
        self.order = order = np.lexsort([time, body])
        self._time, self._body = time[order], body[order]
        follows = np.flatnonzero(np.diff(self._body) == 0)  # rows whose body has another one behind
        steps = np.diff(self._time)[follows]
        usual = _usual(steps)
        sorted_times, back = np.unique(self._time, return_inverse=True)
        apart = np.append(True, np.diff(sorted_times) > min(SAME, SAME_SHARE * usual))[: len(sorted_times)]
        self.times, self.frame = sorted_times[apart], (np.cumsum(apart) - 1)[back.ravel()]
        self._check_twice(follows, place, ids)
        limit = self._limit(steps, follows, ids) if max_gap is None else max_gap + 2 * SAME
        if len(steps) and not (steps <= limit).any():
            raise ValueError(
                f"max_gap: expected at least the {steps.min():.6g} s from a row of a body to its next, got "
                f"{max_gap:g}"
            )
        self._near = follows[steps <= limit]
        ends = np.append(np.flatnonzero(np.diff(self.times) > limit) + 1, len(self.times))
        self.lengths = np.diff(ends, prepend=0)

    def between(self, poses: Poses) -> Between | None:
        """Bodies between their rows, of which `poses` (r,) are given in the order of the rows; None if each
        frame that a body passes is a row of it."""
        at = self._near[self.frame[self._near + 1] - self.frame[self._near] > 1]
        if not len(at):
            return None
        return Between(
            self.frame[at] + 1, self.frame[at + 1], self._body[at], self.times[self.frame[at]],
            self.times[self.frame[at + 1]], (poses[self.order[at]], poses[self.order[at + 1]]), self.times,
        )  # fmt: skip

    def _check_twice(self, follows: Array, place: str, ids: list[Any]) -> None:
        twice = follows[self.frame[follows] == self.frame[follows + 1]]
        if len(twice):
            first = twice[0]
            raise ValueError(
                f"{place}: expected one row of a body at a time, got {how_many(len(twice), 'row')} more, "
                f"first {ids[self._body[first]]!r} at {self.times[self.frame[first]]:.9g} s; drop what is "
                "there twice"
            )

    def _limit(self, steps: Array, follows: Array, ids: list[Any]) -> float:
        """Seconds from which on a body is away, from the intervals between its rows."""
        if not len(steps):
            return 0.0
        usual = _usual(steps)
        ratio = steps / usual
        if np.mean(np.abs(ratio - np.rint(ratio)) <= _OFF) >= _EVEN:
            self._check_slow(steps, follows, GAP * usual, ids)
            return GAP * usual
        usual = float(np.median(steps))
        if np.mean(steps > GAP * usual) > _UNEVEN:
            raise ValueError(
                f"{_NO_GAP}, and times are too uneven to tell: {usual:.6g} s from one row of a body to its "
                f"next in the median, up to {steps.max():.6g}"
            )
        return GAP * usual

    def _check_slow(self, steps: Array, follows: Array, limit: float, ids: list[Any]) -> None:
        """Raise if a body has rows at steady intervals that are all longer than `limit`."""
        begins = np.flatnonzero(np.append(True, np.diff(self._body[follows]) != 0))
        least, most = np.minimum.reduceat(steps, begins), np.maximum.reduceat(steps, begins)
        many = np.diff(np.append(begins, len(steps))) >= _SLOW_ROWS
        slow = np.flatnonzero(many & (least > limit) & (most < (1 + _OFF) * least))
        if len(slow):
            who = ids[self._body[follows[begins[slow[0]]]]]
            raise ValueError(
                f"{_NO_GAP}, and {how_many(len(slow), 'body', 'bodies')} (first: {who!r}) have a row every "
                f"{least[slow[0]]:.6g} s where others have one every {limit / GAP:.6g} s"
            )


def _usual(steps: Array) -> float:
    """Seconds from one row of a body to its next that are usual where it is not away."""
    return float(np.quantile(steps, _QUICK)) if len(steps) else np.inf
