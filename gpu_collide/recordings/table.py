"""Recordings from tables: columns of pandas, Arrow, polars or plain arrays as poses and sizes of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._validate import as_numpy, check_finite, check_positive, first_few, how_many
from gpu_collide.bodies.euler import quat_of_yaw, radians_of
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.boxes import boxes
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.shapes import box
from gpu_collide.recordings.clock import Clock
from gpu_collide.recordings.ids import numbered_ids
from gpu_collide.recordings.rows import RowPoses, RowsInMemory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array, FloatArray

__all__ = ["NAMES", "TableRows", "rows_of_table"]

NAMES = {name: name for name in ("id", "time", "x", "y", "yaw", "length", "width")}
"""Columns that are read where no others are named."""

_MAY_LACK = {"z": 0.0, "height": 1.5}  # read if they are there, else these numbers
_SIZES = ("length", "width", "height")
_QUAT = ("qw", "qx", "qy", "qz")  # what the four columns of a quaternion are called here


class TableRows(NamedTuple):
    """What the rows of a table say.

    Attributes
    ----------
    times : (t,) float64
    source : RowPoses
    meshes : tuple of Mesh or None
        A box for each size; None where sizes are not asked for.
    shape : (n,) ndarray of int or None
    """

    times: NDArray[np.float64]
    source: RowPoses
    meshes: tuple[Mesh, ...] | None
    shape: Array | None


def rows_of_table(
    table: Any, columns: Mapping[str, Any], quat: Any, degrees: Any, rate: Any, max_gap: Any, sized: bool
) -> TableRows:
    """The rows of a table; arguments as those of `Recording.from_table`.

    Parameters
    ----------
    columns : mapping
        Of each column as it is called here its name in the table; None where it need not be there.
    quat : sequence of str or None
    sized : bool
        Whether sizes are read.
    """
    rate = check_positive(rate, "rate", none_ok=True)
    wanted = _wanted(columns, quat, sized)
    if rate is not None and wanted["time"] == "time" and "frame" in _names_of(table):
        wanted["time"] = "frame"
    read = _read(table, wanted)
    time = check_finite(_times(read["time"]), "time")
    if rate is not None:
        time = time / rate
    ids, body = numbered_ids(read["id"], "id")
    quats = (
        np.stack([_floats(read, name) for name in _QUAT], axis=-1) if quat is not None
        else quat_of_yaw(radians_of(_floats(read, "yaw"), "yaw", degrees))
    )  # fmt: skip
    poses = Poses.from_quat_wxyz(np.stack([_floats(read, name) for name in "xyz"], axis=-1), quats)
    clock = Clock(time, body, max_gap, "table", ids.tolist())
    at = np.argsort(clock.frame, kind="stable")
    rows, frame = clock.order[at], clock.frame[at]
    held = {
        "frame": frame, "body": body[rows], "position": poses.position[rows], "quat": poses.quat_wxyz[rows]
    }  # fmt: skip
    start = np.searchsorted(frame, np.arange(len(clock.times) + 1))
    source = RowPoses(
        RowsInMemory("table", start, held),
        np.arange(len(clock.times)),
        ids,
        clock.lengths,
        clock.between(poses),
    )
    meshes, shape = _boxes(read, body, ids.tolist()) if sized else (None, None)
    return TableRows(clock.times, source, meshes, shape)


def _wanted(columns: Mapping[str, Any], quat: Any, sized: bool) -> dict[str, Any]:
    """What is read: of each column as it is called here its name in the table, or a number for all rows."""
    wanted = {name: of for name, of in columns.items() if sized or name not in _SIZES}
    if quat is not None:
        if len(quat) != 4:
            raise ValueError(f"quat_wxyz: expected the names of four columns, w first, got {quat!r}")
        del wanted["yaw"]
        wanted |= dict(zip(_QUAT, quat, strict=True))
    return wanted


def _read(table: Any, wanted: dict[str, Any]) -> dict[str, Array]:
    """Columns (r,) by what they are called here; those of a mapping are broadcast to one shape."""
    names = _names_of(table)
    read = {}
    for name, of in wanted.items():
        if of is None and name in _MAY_LACK:
            of = name if name in names else _MAY_LACK[name]
        if name in (*_SIZES, "z") and isinstance(of, (int, float, np.number)) and not isinstance(of, bool):
            read[name] = np.asarray(float(of))
        elif of is not None:
            read[name] = _values(table, names, name, of)
    try:
        arrays = np.broadcast_arrays(*read.values())
    except ValueError:
        shapes = ", ".join(f"{wanted[name] or name} {values.shape}" for name, values in read.items())
        raise ValueError(
            f"table: expected columns of one length, or that can be broadcast, got {shapes}"
        ) from None
    columns = {name: array.ravel() for name, array in zip(read, arrays, strict=True)}
    there = columns.pop("valid", None)
    if there is None:
        return columns
    if there.dtype.kind not in "biu" or not np.isin(there, (0, 1)).all():
        raise TypeError(f"valid: expected a column of True and False, got {there.dtype}")
    return {name: values[there.astype(bool)] for name, values in columns.items()}


def _names_of(table: Any) -> list[Any]:
    """Names of the columns of a table, whatever library it is of."""
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        raise TypeError(
            "table: expected a table with its rows, got one that is not collected; table.collect()"
        )
    names = getattr(table, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(table, "columns", None)  # pandas, polars
    if names is None:
        names = (
            table.keys() if hasattr(table, "keys") else getattr(getattr(table, "dtype", None), "names", None)
        )
    if names is None or not hasattr(table, "__getitem__"):
        raise TypeError(
            "table: expected a table of pandas, pyarrow or polars, or a dict of arrays, got "
            f"{type(table).__name__}"
        )
    return list(names)


def _values(table: Any, names: list[Any], name: str, of: Any) -> Array:
    """Values of the column `of` of a table, which is `name` here."""
    if not isinstance(of, str):
        either = " or a number" if name in (*_SIZES, "z") else ""
        raise TypeError(f"{name}: expected the name of a column{either}, got {type(of).__name__}")
    if of not in names:
        how = f"say which by {name}="
        how += " (or a number, for all)" if name in (*_SIZES, "z") else ""
        has = ", ".join(map(str, names[:20])) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"{name}: the table has no column {of!r}; it has {has or 'none at all'}; {how}")
    column = table[of]
    if isinstance(column, np.ndarray) and column.dtype == object:
        return column
    if hasattr(column, "to_numpy"):
        return np.asarray(column.to_numpy())
    if (
        name == "id"
        and isinstance(column, (list, tuple))
        and not any(isinstance(v, (list, tuple)) for v in column)
    ):
        array = np.empty(len(column), object)
        array[:] = column
        return array
    return as_numpy(column, name)


def _times(values: Array) -> FloatArray:
    if values.dtype.kind in "mM" or (len(values) and hasattr(values.flat[0], "year")):
        what = "a date" if values.dtype == object else str(values.dtype)
        raise TypeError(
            f"time: expected seconds as numbers, got {what}; with pandas: "
            "(column - column.min()).dt.total_seconds()"
        )
    if values.dtype.kind not in "fiu" and values.dtype != object:
        raise TypeError(
            f"time: expected seconds as numbers, got {values.dtype}; column.astype(float) reads numbers"
        )
    return _numbers(values, "time")


def _floats(read: dict[str, Array], name: str) -> FloatArray:
    return _numbers(read[name], name)


def _numbers(values: Array, name: str) -> FloatArray:
    """Numbers as float64, not a number where a library has nothing."""
    if values.dtype == object:
        texts = [value for value in values.tolist() if isinstance(value, (str, bytes))]
        try:
            if texts:
                raise TypeError(f"texts such as {texts[0]!r}")
            return np.array(
                [
                    np.nan if value is None or type(value).__name__ == "NAType" else float(value)
                    for value in values
                ]
            )
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name}: expected numbers, got {error}") from None
    if values.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected numbers, got {values.dtype}")
    return values.astype(np.float64)


def _boxes(read: dict[str, Array], body: Array, ids: list[Any]) -> tuple[tuple[Mesh, ...], Array]:
    """A box for each size that bodies have, and which of them each has: the largest that its rows say."""
    given = np.stack([_floats(read, name) for name in _SIZES], axis=-1)
    with np.errstate(invalid="ignore"):
        bad = ((given <= 0) | np.isinf(given)).any(axis=1)
    if bad.any():
        rows = np.flatnonzero(bad)
        size = ", ".join(f"{value:g}" for value in given[rows[0]])
        raise ValueError(
            f"length, width, height: expected positive numbers, got others in {how_many(len(rows), 'row')}, "
            f"first: {first_few(rows)} ({size} of {ids[body[rows[0]]]!r})"
        )
    sizes = np.full((len(ids), 3), -np.inf)
    np.maximum.at(sizes, body, np.where(np.isnan(given), -np.inf, given))
    none = np.flatnonzero(np.isinf(sizes).any(axis=1))
    if len(none):
        raise ValueError(
            "length, width, height: expected a size of each body, got none of "
            f"{how_many(len(none), 'body', 'bodies')}, first: {ids[none[0]]!r}"
        )
    different, shape = np.unique(sizes, axis=0, return_inverse=True)
    return tuple(boxes(different)) or (box(),), shape.ravel()
