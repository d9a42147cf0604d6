"""Poses in the rows of a parquet file (with the package pyarrow, extra ``data``).

Frames and bodies are looked up by their numbers, whatever these are: the first frame is the one of the least
number, the first body that of the least. The file is read as a stream of pieces, so that neither its size nor
that of its row groups counts.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.errors import MissingExtraError
from gpu_collide.recordings.numbered import MOST_NUMBER, NumberedFrames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array, StrPath

__all__ = ["COLUMNS", "ParquetPoses", "open_parquet"]

COLUMNS = ("frame", "time", "body", "x", "y", "z", "qw", "qx", "qy", "qz")
_PLACE, _TURN = ("x", "y", "z"), ("qw", "qx", "qy", "qz")

_PIECE_ROWS = 1 << 14  # read at a time
_UNORDERED_POSES = 1 << 18  # collected at a time where rows are in no order of frames: some 35 MB


def open_parquet(path: StrPath) -> tuple[Array, ParquetPoses]:
    """Times of the frames of a parquet file, and the source of its poses."""
    frames, groups = NumberedFrames(f"path: {path}"), []  # of each row group the least and the largest
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            low, high = MOST_NUMBER, -MOST_NUMBER
            for piece in _pieces(file, path, ("frame", "time", "body"), [group]):
                frames.take(piece["frame"], piece["time"], piece["body"])
                low, high = min(low, int(piece["frame"].min())), max(high, int(piece["frame"].max()))
            groups.append((low, high))
    frames.close()
    return frames.times, ParquetPoses(path, frames, np.array(groups, np.int64).reshape(-1, 2))


@contextlib.contextmanager
def _opened(path: StrPath) -> Iterator[Any]:
    """An open file whose columns are there; what pyarrow raises about it becomes one ``ValueError``."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError("reading .parquet recordings", "pyarrow", "data") from error
    try:
        # Buffered, and not ahead: else whole row groups are in memory, however large they are.
        with parquet.ParquetFile(
            path, page_checksum_verification=True, buffer_size=1 << 16, pre_buffer=False
        ) as file:
            names = file.schema_arrow.names
            missing = [name for name in COLUMNS if name not in names]
            if missing:
                raise ValueError(
                    f"path: {path} has no column {missing[0]!r}; it has {', '.join(names)}. Expected are "
                    f"{', '.join(COLUMNS)}"
                )
            for name in COLUMNS:
                _check_type(file.schema_arrow.field(name), path)
            yield file
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith(f"path: {path}"):
            raise
        raise ValueError(f"path: cannot read a parquet file from {path!r}: {error}") from error


def _check_type(field: Any, path: StrPath) -> None:
    import pyarrow

    types, what = pyarrow.types, "numbers"
    good = types.is_integer(field.type) or types.is_floating(field.type)
    if field.name in ("frame", "body"):
        what = "integers" if field.name == "frame" else "integers (give each body a number)"
        good = types.is_integer(field.type)
    if not good:
        raise ValueError(f"path: {path}: column {field.name!r}: expected {what}, got {field.type}")


def _pieces(file: Any, path: StrPath, names: Any, groups: Any) -> Iterator[dict[str, Array]]:
    """Columns of an open file by name, some rows at a time; never without any."""
    for piece in file.iter_batches(_PIECE_ROWS, row_groups=groups, columns=list(names), use_threads=False):
        if not len(piece):
            continue
        columns = {}
        for name in names:
            column, whole = piece.column(name), name in ("frame", "body")
            if column.null_count:
                if whole:
                    raise ValueError(f"path: {path}: column {name!r}: expected integers, got rows without")
                column = column.cast("float64").fill_null(np.nan)
            values = np.from_dlpack(column)  # to_numpy would import pandas
            if whole and max(int(values.max()), -int(values.min())) > MOST_NUMBER:
                raise ValueError(f"path: {path}: column {name!r}: expected numbers up to 2**62")
            columns[name] = values.astype(np.int64 if whole else np.float64, copy=False)
        yield columns


class ParquetPoses:
    """Poses in rows of a parquet file, read block by block.

    Attributes
    ----------
    frames : (t,) int64
        The file's number of each frame.
    ids : (n,) int64
        The file's number of each body.
    lengths : (r,) int64
        Frames of each stretch without a gap.
    """

    def __init__(self, path: StrPath, found: NumberedFrames, groups: NDArray[np.int64]) -> None:
        self.path = path
        self.frames, self.ids, self.lengths = found.numbers, found.ids, found.lengths
        self._ordered, self._groups = found.ordered, groups
        self.n_bodies = len(self.ids)

    def poses(self, first: int, stop: int) -> Poses:
        return next(self.blocks(first, stop, max(stop - first, 1)))

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[Poses]:
        """Poses of the frames from `first` up to `stop`, so many at a time; at least one block."""
        if stop <= first:
            yield _Block(0, 0, self).poses()
            return
        with _opened(self.path) as file:
            if self._ordered:
                yield from self._in_order(file, first, stop, frames)
                return
            most = max(frames, _UNORDERED_POSES // max(self.n_bodies, 1))
            for begin in range(first, stop, most - most % frames):
                end = min(begin + most - most % frames, stop)
                block = _Block(begin, end, self)
                for piece in self._rows(file, begin, end):
                    block.put(piece)
                poses = block.poses()
                for k in range(0, end - begin, frames):
                    yield poses[k : k + frames]

    def _in_order(self, file: Any, first: int, stop: int, frames: int) -> Iterator[Poses]:
        rows = self._rows(file, first, stop)
        held: dict[str, Array] | None = None
        for begin in range(first, stop, frames):
            block = _Block(begin, min(begin + frames, stop), self)
            while held is not None or (held := next(rows, None)) is not None:
                held = block.put(held)
                if held is not None:
                    break
            yield block.poses()

    def _rows(self, file: Any, first: int, stop: int) -> Iterator[dict[str, Array]]:
        """The rows of these frames, their numbers looked up."""
        low, high = self.frames[first], self.frames[stop - 1]
        groups = np.flatnonzero((self._groups[:, 0] <= high) & (self._groups[:, 1] >= low)).tolist()
        for piece in _pieces(file, self.path, [name for name in COLUMNS if name != "time"], groups):
            mine = (piece["frame"] >= low) & (piece["frame"] <= high)
            if not mine.all():
                piece = {name: values[mine] for name, values in piece.items()}
            for name, known in (("frame", self.frames), ("body", self.ids)):
                at = np.searchsorted(known, piece[name])
                if (known[np.minimum(at, len(known) - 1)] != piece[name]).any():
                    raise ValueError(f"path: {self.path}: expected the file that was opened, got another")
                piece[name] = at
            yield piece


class _Block:
    """Poses of some frames, put together from rows."""

    def __init__(self, begin: int, end: int, source: ParquetPoses) -> None:
        self.begin, self.end, self.source, n = begin, end, source, source.n_bodies
        self.position = np.full(((end - begin) * n, 3), np.nan)
        self.quat = np.full(((end - begin) * n, 4), np.nan)
        self.count = np.zeros((end - begin) * n, np.int32)

    def put(self, rows: dict[str, Array]) -> dict[str, Array] | None:
        """Take the rows up to the end of this block; those behind it, None where there are none."""
        later = rows["frame"] >= self.end
        rest = None
        if later.any():
            rest = {name: values[later] for name, values in rows.items()}
            rows = {name: values[~later] for name, values in rows.items()}
        at = (rows["frame"] - self.begin) * self.source.n_bodies + rows["body"]
        np.add.at(self.count, at, 1)
        for to, names in ((self.position, _PLACE), (self.quat, _TURN)):
            for k, name in enumerate(names):
                to[at, k] = rows[name]
        return rest

    def poses(self) -> Poses:
        source, shape = self.source, (self.end - self.begin, self.source.n_bodies)
        twice = np.flatnonzero(self.count > 1)
        if len(twice):
            frame, body = divmod(int(twice[0]), shape[1])
            raise ValueError(
                f"path: {source.path}: expected one row per frame and body, got {self.count[twice[0]]} for "
                f"frame {source.frames[self.begin + frame]} and body {source.ids[body]}"
            )
        return Poses.from_quat_wxyz(self.position.reshape(*shape, 3), self.quat.reshape(*shape, 4))
