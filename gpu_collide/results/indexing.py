"""Rows of a result: selection by an index, and records that print as a table."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.results.enums import Kind
from gpu_collide.results.table_schema import Column
from gpu_collide.results.tables import text_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array

__all__ = ["Rows", "chosen", "has_bodies", "one_row", "starts_of"]

SHOWN = ("step", "pair", "body_a", "body_b", "time", "part_a", "part_b", "kind", "feature_a", "feature_b",
         "position", "normal", "properness", "normal_speed", "sustained")  # fmt: skip


class Rows(np.ndarray):
    """Structured array of contacts that prints as a table; a field of it is a plain array."""

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return part.view(np.ndarray) if isinstance(part, Rows) and part.dtype.names is None else part

    def __repr__(self) -> str:
        if not self.dtype.names or self.ndim != 1:
            return repr(self.view(np.ndarray))
        count = f"{len(self)} {'contact' if len(self) == 1 else 'contacts'}"
        columns = []
        for name in SHOWN:
            if name not in self.dtype.names:
                continue
            column = Column(name, "", "", words=Kind if name == "kind" else None)
            values = self[name]
            axes = zip("xyz", values.T, strict=True) if values.ndim > 1 else [("", values)]
            short = {"position": "", "normal": "n"}.get(name, name)
            columns += [(short + axis, column, part) for axis, part in axes]
        return f"{count}\n{text_of(columns)}" if len(self) else count

    __str__ = __repr__


def chosen(index: Any, count: int) -> NDArray[np.int64]:
    """Rows that an index means, rising, each once.

    Parameters
    ----------
    index : slice, (count,) array_like of bool, or array_like of int
        Negative numbers count from the end.
    count : int
        How many rows there are.

    Raises
    ------
    TypeError, ValueError, IndexError
        Something else, a mask of another length, or a row that is not there.
    """
    if isinstance(index, slice):
        return np.sort(np.arange(count)[index])
    rows = as_numpy(index, "index")
    if rows.dtype == bool:
        if rows.shape != (count,):
            raise ValueError(f"index: expected a mask of shape ({count},), got {rows.shape}")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.zeros(0, np.int64)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise TypeError(
            f"index: expected an integer, a slice, a mask or a list of rows, got {type(index).__name__} of "
            f"{rows.dtype} and shape {rows.shape}"
        )
    bad = (rows < -count) | (rows >= count)
    if bad.any():
        raise IndexError(f"row {rows[bad][0]} is out of range: there are {count} rows")
    return np.unique(np.where(rows < 0, rows + count, rows).astype(np.int64))


def one_row(index: Any, count: int) -> int | None:
    """The row that an integer means, None of anything else."""
    if isinstance(index, (bool, np.bool_)):
        raise TypeError("index: expected an integer, a slice, a mask or a list of rows, got bool")
    try:
        row = operator.index(index)
    except TypeError:
        return None
    if not -count <= row < count:
        raise IndexError(f"row {row} is out of range: there are {count} rows")
    return row % count


def starts_of(owner: Array, count: int) -> NDArray[np.int64]:
    """CSR offsets of rows that belong to `owner`, rising, of `count`."""
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))]).astype(np.int64)


def has_bodies(of_a: Array, of_b: Array, a: int, b: int | None) -> NDArray[np.bool_]:
    """Which of pairs with the bodies `of_a`, `of_b` have body `a`, and `b` unless that is None."""
    for name, body in (("a", a), ("b", b)):
        if body is None and name == "b":
            continue
        if isinstance(body, (bool, np.bool_)) or not hasattr(body, "__index__"):
            raise TypeError(f"{name}: expected the number of a body, got {type(body).__name__}")
    if b is None:
        return (of_a == a) | (of_b == a)
    return ((of_a == a) & (of_b == b)) | ((of_a == b) & (of_b == a))
