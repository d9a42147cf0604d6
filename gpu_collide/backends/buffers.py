"""The verbs of a backend that create, fill and read buffers, and what they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends.host import host_memory_free
from gpu_collide.errors import MemoryLimitError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike

    from gpu_collide._types import Buffer, ShapeLike

__all__ = ["Buffers", "DeviceMemoryError", "shape_of"]


class DeviceMemoryError(MemoryLimitError, MemoryError):
    """The device has no room for a buffer."""


class Buffers(ABC):
    """A place where arrays lie, made and read by the verbs below.

    Buffers belong to the backend that made them: NumPy arrays on ``cpu``, `ClBuffer` on ``opencl``, CuPy
    arrays on ``cuda``. All of them have ``shape``, ``dtype``, ``size`` and ``nbytes``.
    """

    def current(self) -> AbstractContextManager[Any]:
        """A context in which arrays of `arrays` are made on its device."""
        return nullcontext()

    @property
    def arrays(self) -> Any:
        """The library whose arrays results are that stay where they were computed: NumPy, or CuPy."""
        return np

    @abstractmethod
    def to_device(self, array: np.ndarray, *, copy: bool = True) -> Buffer:
        """Buffer with the contents of `array`.

        ``copy=False`` lets ``cpu`` hand the array itself to the kernels, which may only read it; the caller
        promises that nothing writes to it meanwhile.
        """

    @abstractmethod
    def to_host(self, buf: Buffer) -> np.ndarray:
        """Contents of `buf` once all launches before have ended; may share its memory on ``cpu``."""

    @abstractmethod
    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        """Buffer of undefined contents."""

    def zeros(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        """Buffer of zeros."""
        return self.fill(self.empty(shape, dtype), 0)

    @abstractmethod
    def fill(self, buf: Buffer, value: Any) -> Buffer:
        """Set every element to `value`; returns `buf`."""

    @abstractmethod
    def write(self, buf: Buffer, array: np.ndarray, at: int | None = None) -> Buffer:
        """Put the contents of `array`, of the same shape and dtype, into `buf`; returns `buf`.

        With `at` `array` takes the elements of `buf`, one axis, from this one on, and leaves the others. What
        was launched before works with the old contents; `array` may change as soon as this returns.
        """

    def write_all(self, writes: Iterable[tuple[Buffer, np.ndarray]]) -> None:
        """`write` of each buffer and array."""
        for buf, array in writes:
            self.write(buf, array)

    def _must_fit(self, buf: Buffer, array: Any, at: int | None) -> np.ndarray:
        """`array` as an array that `write` can put into `buf`."""
        array = np.asarray(array)
        if array.dtype != buf.dtype:
            raise TypeError(f"array must be of dtype {buf.dtype}, as the buffer is, got {array.dtype}")
        if at is None and array.shape != buf.shape:
            raise ValueError(f"array must have the buffer's shape {buf.shape}, got {array.shape}")
        if at is not None and not (array.ndim == len(buf.shape) == 1 and 0 <= at <= buf.size - array.size):
            raise ValueError(
                f"array must have one axis and lie within the buffer's {buf.shape}, got {array.shape} at {at}"
            )
        return array

    def item(self, buf: Buffer, index: int = -1) -> Any:
        """One element as a Python number (`index` counts flat, from the end if negative)."""
        return self.to_host(buf).reshape(-1)[index].item()

    def exclusive_scan(self, counts: Buffer, out: Buffer | None = None) -> Buffer:
        """Sums before each element: int64 buffer of length n + 1, its last element the total; `out`, if one
        of this length is given."""
        host = self.to_host(counts).reshape(-1)
        sums = np.empty(host.size + 1, np.int64)
        sums[0] = 0
        np.add.accumulate(host, 0, np.int64, sums[1:])
        return self.to_device(sums, copy=False) if out is None else self.write(out, sums)

    def argsort(self, keys: Buffer, bits: int = 64) -> Buffer:
        """Places of the elements of `keys`, one axis of integers, in rising order; equal ones stay in order.

        `bits`: the keys are from 0 to 2**bits - 1, if there are fewer than 64; few bits may be sorted faster.
        Returns an int32 buffer.
        """
        host = self.to_host(keys).reshape(-1)
        if bits <= 16:
            host = host.astype(np.uint16)  # which NumPy sorts digit by digit
        return self.to_device(np.argsort(host, kind="stable").astype(np.int32), copy=False)

    def numbers(self, *buffers: Buffer) -> list[list]:
        """The contents of some small buffers of numbers, as lists; where that pays, by one copy."""
        return [self.to_host(buf).reshape(-1).tolist() for buf in buffers]

    def to_hosts(self, buffers: Iterable[Buffer]) -> list[np.ndarray]:
        """`to_host` of each, waiting once for all."""
        return [self.to_host(buf) for buf in buffers]

    def memory_free(self) -> int:
        """Bytes that may be allocated now (an estimate)."""
        return host_memory_free()


def shape_of(shape: Any) -> tuple[int, ...]:
    """`shape` as a tuple of int."""
    if type(shape) is int:
        return (shape,)
    try:
        return tuple([int(s) for s in shape])
    except TypeError:
        return (int(shape),)
