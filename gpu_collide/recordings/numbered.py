"""Frames and bodies identified by numbers: which exist, at what times, and where some are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import first_few, how_many

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["MOST_NUMBER", "NumberedFrames"]

MOST_NUMBER = 1 << 62  # of frames and bodies, also below zero: differences fit

_PENDING = 1 << 16  # rows that are looked at together, at least


class NumberedFrames:
    """The frames and bodies of rows (frame, time, body), which come piece by piece in any order.

    Attributes
    ----------
    numbers : (t,) int64
        Numbers of the frames that have rows, ascending.
    times : (t,) float64
        Their times.
    ids : (n,) int64 or str
        Ids of the bodies that have rows, ascending.
    ordered : bool
        Whether rows came in the order of their frames.
    lengths : (r,) int64
        How many frames follow each other without one that is missing between.
    """

    def __init__(self, place: str) -> None:
        self._place = place  # for messages
        self.numbers = np.zeros(0, np.int64)
        self.ids: Array = np.zeros(0, np.int64)
        self.times = np.zeros(0)
        self.ordered = True
        self._last = np.iinfo(np.int64).min
        self._pieces: list[tuple[Array, Array, Array]] = []
        self._held = 0

    def take(self, frame: Array, time: Array, body: Array) -> None:
        """Take the rows of a piece."""
        self.ordered &= bool(frame[0] >= self._last) and bool((np.diff(frame) >= 0).all())
        self._last = frame[-1]
        at, first = np.unique(frame, return_index=True)
        self._check_times(frame, time, np.searchsorted(at, frame), time[first])
        self._pieces.append((at, time[first], np.unique(body)))
        self._held += len(at)
        if self._held > max(_PENDING, len(self.numbers)):
            self._merge()

    def _check_times(self, frame: Array, time: Array, of: Array, times: Array) -> None:
        """Raise unless every row has the time of its frame, which is the number `of` among `times`."""
        if np.isnan(time).any():
            missing = np.unique(frame[np.isnan(time)])
            raise ValueError(
                f"{self._place}: expected a time in every row, got none in "
                f"{how_many(len(missing), 'frame')}, first: {first_few(missing)}"
            )
        differs = times[of] != time
        if differs.any():
            raise ValueError(
                f"{self._place}: expected one time per frame, got different ones in frames "
                f"{first_few(np.unique(frame[differs]))}; bring bodies whose poses were taken at times of "
                "their own to common times first"
            )

    def _merge(self) -> None:
        if not self._pieces:
            return
        before = [(self.numbers, self.times, self.ids)] if len(self.numbers) else []
        pieces, self._pieces, self._held = before + self._pieces, [], 0
        frame, time, body = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
        self.numbers, first = np.unique(frame, return_index=True)
        self.times, self.ids = time[first], np.unique(body)
        self._check_times(frame, time, np.searchsorted(self.numbers, frame), self.times)

    def close(self) -> None:
        """All rows have come: check that time goes on, and find what is missing."""
        self._merge()
        late = np.flatnonzero(np.diff(self.times) <= 0)
        if len(late):
            raise ValueError(
                f"{self._place}: expected times that increase with the number of the frame, got "
                f"{how_many(len(late), 'frame')} not later than the one before, first: "
                f"{first_few(self.numbers[late + 1])}"
            )
        step = np.diff(self.numbers)
        sizes, often = np.unique(step, return_counts=True)
        gaps = np.zeros(len(step), bool)
        if len(sizes) and 2 * often.max() >= len(step) and not (step % sizes[often.argmax()]).any():
            gaps = step > sizes[often.argmax()]  # numbers in equal steps, of which some are left out
        ends = np.concatenate([np.flatnonzero(gaps) + 1, [len(self.numbers)]])
        self.lengths = np.diff(ends, prepend=0)
