"""Rows of parquet and CSV files (with the package pyarrow, extra ``data``): poses by frames, or vehicles.

Frames and bodies of poses are looked up by their numbers or names, whatever these are: the first frame is the
one of the least number, the first body that of the least. Such a file is read as a stream of pieces, so that
neither its size nor that of its row groups counts. A table of vehicles is read whole.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.errors import MissingExtraError
from gpu_collide.recordings.numbered import MOST_NUMBER, NumberedFrames
from gpu_collide.recordings.rows import RowPoses
from gpu_collide.recordings.table import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array, StrPath

__all__ = ["COLUMNS", "columns_of_file", "open_parquet", "read_rows"]

COLUMNS = ("frame", "time", "body", "x", "y", "z", "qw", "qx", "qy", "qz")
_PLACE, _TURN = ("x", "y", "z"), ("qw", "qx", "qy", "qz")

_PIECE_ROWS = 1 << 14  # read at a time


def columns_of_file(path: StrPath) -> list[str]:
    """Names of the columns of a parquet file."""
    with _reading(path) as file:
        return list(file.schema_arrow.names)


def read_rows(path: StrPath) -> Any:
    """All rows of a parquet or CSV file, as a ``pyarrow.Table``."""
    try:
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("reading tables of vehicles", "pyarrow", "data") from error
    try:
        if str(path).lower().endswith(".csv"):
            return pyarrow.csv.read_csv(path)
        return pyarrow.parquet.read_table(path, page_checksum_verification=True)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"path: cannot read a table from {path!r}: {error}") from error


def open_parquet(path: StrPath) -> tuple[Array, RowPoses]:
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
    rows = _FileRows(path, frames, np.array(groups, np.int64).reshape(-1, 2))
    return frames.times, RowPoses(rows, frames.numbers, frames.ids, frames.lengths)


@contextlib.contextmanager
def _reading(path: StrPath) -> Iterator[Any]:
    """An open file; what pyarrow raises about it becomes one ``ValueError``."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError("reading .parquet recordings", "pyarrow", "data") from error
    try:
        # Buffered, and not ahead: else whole row groups are in memory, however large they are.
        with parquet.ParquetFile(
            path, page_checksum_verification=True, buffer_size=1 << 16, pre_buffer=False
        ) as file:
            yield file
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith(f"path: {path}"):
            raise
        raise ValueError(f"path: cannot read a parquet file from {path!r}: {error}") from error


@contextlib.contextmanager
def _opened(path: StrPath) -> Iterator[Any]:
    """An open file whose columns are there."""
    with _reading(path) as file:
        names = file.schema_arrow.names
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise ValueError(
                f"path: {path} has no column {missing[0]!r}; it has {', '.join(names)}. Expected are "
                f"{', '.join(COLUMNS)}, or those of a table of vehicles, {', '.join(NAMES)}"
            )
        for name in COLUMNS:
            _check_type(file.schema_arrow.field(name), path)
        yield file


def _check_type(field: Any, path: StrPath) -> None:
    import pyarrow

    types, what = pyarrow.types, "numbers"
    good = types.is_integer(field.type) or types.is_floating(field.type)
    if field.name == "frame":
        what, good = "integers", types.is_integer(field.type)
    if field.name == "body":
        what, good = "integers or texts", types.is_integer(field.type) or _is_text(field.type)
    if not good:
        raise ValueError(f"path: {path}: column {field.name!r}: expected {what}, got {field.type}")


def _is_text(kind: Any) -> bool:
    import pyarrow

    types = pyarrow.types
    return _is_text(kind.value_type) if types.is_dictionary(kind) else (
        types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    )  # fmt: skip


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
                    what = "integers" if name == "frame" else "an id in each row"
                    raise ValueError(f"path: {path}: column {name!r}: expected {what}, got rows without")
                column = column.cast("float64").fill_null(np.nan)
            if _is_text(column.type):
                columns[name] = np.array(column.to_pylist(), "U")
                continue
            values = np.from_dlpack(column)  # to_numpy would import pandas
            if whole and max(int(values.max()), -int(values.min())) > MOST_NUMBER:
                raise ValueError(f"path: {path}: column {name!r}: expected numbers up to 2**62")
            columns[name] = values.astype(np.int64 if whole else np.float64, copy=False)
        yield columns


class _FileRows:
    """Rows of a parquet file, for `RowPoses`.

    Attributes
    ----------
    place : str
    ordered : bool
    """

    def __init__(self, path: StrPath, found: NumberedFrames, groups: NDArray[np.int64]) -> None:
        self.path, self.place, self.ordered = path, f"path: {path}", found.ordered
        self._frames, self._ids, self._groups = found.numbers, found.ids, groups

    @contextlib.contextmanager
    def opened(self) -> Iterator[Any]:
        with _opened(self.path) as file:
            yield lambda first, stop: self._read(file, first, stop)

    def _read(self, file: Any, first: int, stop: int) -> Iterator[dict[str, Array]]:
        """The rows of these frames, their numbers looked up."""
        low, high = self._frames[first], self._frames[stop - 1]
        groups = np.flatnonzero((self._groups[:, 0] <= high) & (self._groups[:, 1] >= low)).tolist()
        for piece in _pieces(file, self.path, [name for name in COLUMNS if name != "time"], groups):
            mine = (piece["frame"] >= low) & (piece["frame"] <= high)
            if not mine.all():
                piece = {name: values[mine] for name, values in piece.items()}
            for name, known in (("frame", self._frames), ("body", self._ids)):
                at = np.searchsorted(known, piece[name])
                if (known[np.minimum(at, len(known) - 1)] != piece[name]).any():
                    raise ValueError(f"{self.place}: expected the file that was opened, got another")
                piece[name] = at
            yield {
                "frame": piece["frame"],
                "body": piece["body"],
                "position": np.stack([piece[name] for name in _PLACE], axis=-1),
                "quat": np.stack([piece[name] for name in _TURN], axis=-1),
            }
