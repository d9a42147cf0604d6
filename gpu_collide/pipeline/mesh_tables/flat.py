"""Tables of several meshes as flat arrays: those of one mesh behind those of another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Flat", "Placed"]


class Placed(NamedTuple):
    """Arrays on a backend.

    Attributes
    ----------
    buffers : dict
        By the names of kernel arguments.
    nbytes : int
    more : Any
        What else there is to know of them.
    """

    buffers: dict
    nbytes: int
    more: Any = None

    @classmethod
    def of(cls, host, backend, more=None):
        """Arrays of the host, which nobody else has."""
        placed = {name: backend.to_device(array.reshape(-1), copy=False) for name, array in host.items()}
        return cls(placed, sum(array.nbytes for array in host.values()), more)


class Flat:
    """Numbers of one dtype.

    Parameters
    ----------
    dtype : dtype
    """

    def __init__(self, dtype):
        self._dtype, self._parts, self._size = dtype, [], 0

    def add(self, head, record, tables):
        """Put arrays, by the names of columns, behind the others; the columns of `head` say where they begin.

        Raises
        ------
        ValueError
            They are too large to be indexed by an int.
        """
        for name, array in tables.items():
            head[record[name]] = self._size
            self._parts.append(array.reshape(-1))
            self._size += array.size
            if self._size >= 2**31:
                raise ValueError(f"meshes: expected tables below 2**31 entries in all, got {self._size}")

    def joined(self):
        """All of them."""
        return np.concatenate(self._parts).astype(self._dtype, copy=False)
