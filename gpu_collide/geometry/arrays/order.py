"""The order of rows by several columns, and some rows of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu_collide._types import Array

__all__ = ["groups_of", "order_of", "taken"]

#: Of fewer rows keys take longer to make than to go without.
FEW = 256


def order_of(*columns: Array) -> Array:
    """The order of rows by columns of numbers, the first above all: as ``np.lexsort(columns[::-1])``, in a
    tenth of the time where one number of 64 bits holds all of a row. No column has a NaN."""
    if len(columns[0]) < FEW:
        return np.lexsort(columns[::-1])
    key, most = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        column = _ranks(column) if column.dtype.kind == "f" else column
        low, high = int(column.min()), int(column.max())
        most *= high - low + 1
        if most >= 1 << 63:
            return np.lexsort(columns[::-1])
        key *= high - low + 1
        key += column
        key -= low
    return key.argsort(kind="stable")


def groups_of(*columns: Array) -> Array:
    """A number for each row, the same of rows that are the same in all columns of numbers."""
    order = order_of(*columns)
    groups, new = np.empty(len(order), np.int64), np.zeros(len(order), bool)
    for column in columns:
        inner = column.take(order)
        new[1:] |= inner[1:] != inner[:-1]
    groups[order] = np.cumsum(new)
    return groups


def _ranks(column: Array) -> Array:
    """Whole numbers in the order of numbers: the same of those that are equal."""
    order = column.argsort()
    inner, ranks = column.take(order), np.empty(len(order), np.int64)
    ranks[order] = np.append(0, np.cumsum(inner[1:] != inner[:-1]))
    return ranks


def taken(fields: Mapping[str, Array], rows: Array) -> dict[str, Array]:
    """Some rows of all columns; numbers of rows are four times as fast as an index of arrays, a mask is
    slower still."""
    return {name: column.take(rows, axis=0) for name, column in fields.items()}
