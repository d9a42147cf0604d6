"""Poses in the rows of a parquet file (with the package pyarrow, extra ``data``)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import first_few
from gpu_collide.bodies.poses import Poses
from gpu_collide.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gpu_collide._types import Array, StrPath

__all__ = ["COLUMNS", "ParquetPoses", "open_parquet"]

MOST_GAPS = 1 << 16  # body numbers that need not all have a row
COLUMNS = ("frame", "time", "body", "x", "y", "z", "qw", "qx", "qy", "qz")


def open_parquet(path: StrPath) -> tuple[Array, ParquetPoses]:
    """Times of the frames of a parquet file, and the source of its poses."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError("reading .parquet recordings", "pyarrow", "data") from error
    with _told(path):
        file = parquet.ParquetFile(path, page_checksum_verification=True)
    with file, _told(path):
        names = file.schema_arrow.names
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            raise ValueError(
                f"path: {path} has no column {missing[0]!r}; it has {', '.join(names)}. Expected are "
                f"{', '.join(COLUMNS)}"
            )
        for name in COLUMNS:
            _column(file.schema_arrow.empty_table(), name, path)
        times, n = _frames_of(file, path)
    return times, ParquetPoses(path, n)


@contextlib.contextmanager
def _told(path: StrPath) -> Iterator[None]:
    """What pyarrow raises about a damaged file becomes one ``ValueError`` that names it."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith(f"path: {path}"):
            raise
        raise ValueError(f"path: cannot read a parquet file from {path!r}: {error}") from error


def _frames_of(file: Any, path: StrPath) -> tuple[Array, int]:
    """Time of every frame of a parquet file, and the number of bodies; reads three columns by pieces."""
    times, n, rows = np.full(0, np.nan), 0, file.metadata.num_rows
    for piece in file.iter_batches(columns=["frame", "time", "body"]):
        frame, time, body = (_column(piece, name, path) for name in ("frame", "time", "body"))
        if not len(frame):
            continue
        if min(frame.min(), body.min()) < 0:
            raise ValueError(f"path: {path}: expected frames and bodies numbered from 0, got negative ones")
        if frame.max() >= rows or body.max() >= max(rows, MOST_GAPS):
            raise ValueError(
                f"path: {path}: expected frames and bodies numbered from 0 without gaps, got frame "
                f"{frame.max()} and body {body.max()} in {rows} rows"
            )
        n = max(n, int(body.max()) + 1)
        if frame.max() >= len(times):
            longer = np.full(int(frame.max()) + 1, np.nan)
            longer[: len(times)] = times
            times = longer
        known = times[frame]
        times[frame] = time
        differs = (times[frame] != time) | (~np.isnan(known) & (known != time))
        if differs.any():
            raise ValueError(
                f"path: {path}: expected one time per frame, got different ones in frames "
                f"{first_few(np.unique(frame[differs]))}"
            )
    bad = np.flatnonzero(np.isnan(times))
    if len(bad):
        raise ValueError(
            f"path: {path}: expected rows for every frame from 0 to {len(times) - 1}, got none (or no time) "
            f"for {len(bad)}, first: {first_few(bad)}"
        )
    return times, n


def _column(table: Any, name: str, path: StrPath) -> Array:
    column = table.column(name)
    values = column.to_numpy(zero_copy_only=False) if hasattr(column, "to_numpy") else np.asarray(column)
    whole = name in ("frame", "body")
    if values.dtype.kind not in ("iu" if whole else "fiu"):
        what = "integers without gaps" if whole else "numbers"
        raise ValueError(f"path: {path}: column {name!r}: expected {what}, got {values.dtype}")
    return values if whole else values.astype(np.float64)


class ParquetPoses:
    """Poses in rows of a parquet file; a slice reads the row groups that hold its frames."""

    def __init__(self, path: StrPath, n_bodies: int) -> None:
        self.path, self.n_bodies = path, n_bodies

    def poses(self, first: int, stop: int) -> Poses:
        import pyarrow.parquet as parquet

        with _told(self.path):
            rows = parquet.read_table(
                self.path,
                columns=[name for name in COLUMNS if name != "time"],
                filters=[("frame", ">=", first), ("frame", "<", stop)],
                page_checksum_verification=True,
            ).combine_chunks()
        values = {name: _column(rows, name, self.path) for name in rows.column_names}
        frame, body = values["frame"].astype(np.int64) - first, values["body"].astype(np.int64)
        count = np.bincount(frame * self.n_bodies + body, minlength=(stop - first) * self.n_bodies)
        if (count > 1).any():
            at = np.flatnonzero(count > 1)
            raise ValueError(
                f"path: {self.path}: expected one row per frame and body, got {count[at[0]]} for frame "
                f"{first + at[0] // self.n_bodies} and body {at[0] % self.n_bodies}"
            )
        position = np.full((stop - first, self.n_bodies, 3), np.nan)
        quat = np.full((stop - first, self.n_bodies, 4), np.nan)
        for k, name in enumerate(("x", "y", "z")):
            position[frame, body, k] = values[name]
        for k, name in enumerate(("qw", "qx", "qy", "qz")):
            quat[frame, body, k] = values[name]
        return Poses.from_quat_wxyz(position, quat)
