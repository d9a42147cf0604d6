"""Runs of rows of two bodies each: rows of consecutive steps, or of blocks of steps, that go on with the one
before are one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Runs", "begins"]


def begins(body_a: Array, body_b: Array, since: Array, last_step: Array) -> Array:
    """Which rows, in the order of (body_a, body_b, first step), do not go on with the row before: they are of
    other bodies, or what ends before the step `since` is a run of its own."""
    new = np.ones(len(body_a), bool)
    new[1:] = (np.diff(body_a) != 0) | (np.diff(body_b) != 0) | (since[1:] > last_step[:-1])
    return new


class Runs:
    """Rows of several blocks of steps, and the runs that they make.

    Parameters
    ----------
    rows : dict of str to (r, ...) ndarray
        With ``body_a``, ``body_b``, ``first_step`` and ``last_step``, in any order.
    since : (r,) int ndarray
        As `begins` has it.

    Attributes
    ----------
    rows : dict
        The same in the order of (body_a, body_b, first_step).
    first : (k,) int ndarray
        The first row of each run.
    run : (r,) int ndarray
        The run of each row.
    """

    def __init__(self, rows: dict[str, Array], since: Array) -> None:
        order = np.lexsort([rows[name] for name in ("first_step", "body_b", "body_a")])
        self.rows = {name: values[order] for name, values in rows.items()}
        new = begins(self.rows["body_a"], self.rows["body_b"], since[order], self.rows["last_step"])
        self.first, self.run = np.flatnonzero(new), np.cumsum(new) - 1

    def least(self, *keys: Array) -> Array:
        """The row of each run with the least last key, of equal ones with the least key before it; of equal
        rows the earliest."""
        return np.lexsort([*keys, self.run])[self.first]

    def joined(self, name: str, join: Any) -> Array:
        """A column of all rows of each run as one, by a ufunc."""
        values = self.rows[name]
        return join.reduceat(values, self.first) if len(self.first) else values
