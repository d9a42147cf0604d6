"""Poses from rows, one for each body in each frame in which it is there: block by block, wherever rows
are."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gpu_collide.bodies.poses import Poses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    from gpu_collide._types import Array
    from gpu_collide.recordings.clock import Between

    Piece: TypeAlias = dict[str, Array]
    Reader: TypeAlias = Callable[[int, int], Iterator[Piece]]

__all__ = ["RowPoses", "RowsInMemory"]

_PIECE_ROWS = 1 << 14  # handed on at a time
_UNORDERED_POSES = 1 << 18  # collected at a time where rows are in no order of frames: some 35 MB


class _Rows(Protocol):
    """Rows by frames.

    Attributes
    ----------
    place : str
        What they are called in messages.
    ordered : bool
        Whether they come in the order of their frames.
    """

    place: str
    ordered: bool

    def opened(self) -> AbstractContextManager[Reader]:
        """What reads the rows of frames from `first` up to `stop` in pieces, with the entries ``frame`` and
        ``body`` (k,) int, numbers of both, ``position`` (k, 3) and ``quat`` (k, 4), w first."""
        ...


class RowPoses:
    """Poses of bodies in rows, the source of a `Recording`.

    Attributes
    ----------
    frames : (t,) int64
        What the recording calls each frame.
    ids : (n,) array
        What it calls each body.
    lengths : (r,) int64
        Frames of each stretch without a gap.
    """

    named = True

    def __init__(
        self, rows: _Rows, frames: Array, ids: Array, lengths: Array, between: Between | None = None
    ) -> None:
        self._rows, self._between = rows, between
        self.frames, self.ids, self.lengths = frames, ids, lengths
        self.n_bodies = len(ids)

    def poses(self, first: int, stop: int) -> tuple[Poses, Array]:
        return next(self.blocks(first, stop, max(stop - first, 1)))

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[tuple[Poses, Array]]:
        """Poses (k, n) of the frames from `first` up to `stop`, so many at a time, and which bodies are
        there; at least one block."""
        if stop <= first:
            yield _Block(0, 0, self).poses()
            return
        with self._rows.opened() as read:
            if self._rows.ordered:
                yield from self._in_order(read, first, stop, frames)
                return
            most = max(frames, _UNORDERED_POSES // max(self.n_bodies, 1))
            for begin in range(first, stop, most - most % frames):
                end = min(begin + most - most % frames, stop)
                block = _Block(begin, end, self)
                for piece in read(begin, end):
                    block.put(piece)
                poses, there = block.poses()
                for k in range(0, end - begin, frames):
                    yield poses[k : k + frames], there[k : k + frames]

    def _in_order(self, read: Reader, first: int, stop: int, frames: int) -> Iterator[tuple[Poses, Array]]:
        rows = read(first, stop)
        held: Piece | None = None
        for begin in range(first, stop, frames):
            block = _Block(begin, min(begin + frames, stop), self)
            while held is not None or (held := next(rows, None)) is not None:
                held = block.put(held)
                if held is not None:
                    break
            yield block.poses()


class RowsInMemory:
    """Rows that are held, sorted by frame.

    Attributes
    ----------
    start : (t + 1,) int64
        Rows ``start[k]:start[k + 1]`` are those of frame k.
    columns : dict
        As `RowPoses` takes them.
    """

    ordered = True

    def __init__(self, place: str, start: Array, columns: Piece) -> None:
        self.place, self.start, self.columns = place, start, columns

    def opened(self) -> AbstractContextManager[Reader]:
        return contextlib.nullcontext(self._read)

    def _read(self, first: int, stop: int) -> Iterator[Piece]:
        begin, end = int(self.start[first]), int(self.start[stop])
        for at in range(begin, end, _PIECE_ROWS):
            rows = slice(at, min(at + _PIECE_ROWS, end))
            yield {name: values[rows] for name, values in self.columns.items()}


class _Block:
    """Poses of some frames, put together from rows."""

    def __init__(self, begin: int, end: int, source: RowPoses) -> None:
        self.begin, self.end, self.source, n = begin, end, source, source.n_bodies
        self.position = np.full(((end - begin) * n, 3), np.nan)
        self.quat = np.full(((end - begin) * n, 4), np.nan)
        self.count = np.zeros((end - begin) * n, np.int32)

    def put(self, rows: Piece) -> Piece | None:
        """Take the rows up to the end of this block; those behind it, None where there are none."""
        later = rows["frame"] >= self.end
        rest = None
        if later.any():
            rest = {name: values[later] for name, values in rows.items()}
            rows = {name: values[~later] for name, values in rows.items()}
        at = self._places(rows["frame"], rows["body"])
        np.add.at(self.count, at, 1)
        self.position[at], self.quat[at] = rows["position"], rows["quat"]
        return rest

    def poses(self) -> tuple[Poses, Array]:
        source, shape = self.source, (self.end - self.begin, self.source.n_bodies)
        twice = np.flatnonzero(self.count > 1)
        if len(twice):
            frame, body = divmod(int(twice[0]), shape[1])
            raise ValueError(
                f"{source._rows.place}: expected one row per frame and body, got {self.count[twice[0]]} for "
                f"frame {source.frames[self.begin + frame]} and body {source.ids[body]}"
            )
        if source._between is not None:
            frames, bodies, poses = source._between.within(self.begin, self.end)
            at = self._places(frames, bodies)
            self.position[at], self.quat[at] = poses.position, poses.quat_wxyz
            self.count[at] = 1
        there = self.count.astype(bool).reshape(shape)
        return Poses.from_quat_wxyz(self.position.reshape(*shape, 3), self.quat.reshape(*shape, 4)), there

    def _places(self, frame: Array, body: Array) -> Array:
        return (frame - self.begin) * self.source.n_bodies + body
