"""The host's processor: the kernel text built by the machine's C compiler, run by a pool of threads."""

from __future__ import annotations

import ctypes
import math
import struct
import time
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import drivers, libraries, pool
from gpu_collide.backends.base import PART_ITEMS, Backend, Bound, Kernel, KernelArg
from gpu_collide.backends.buffers import shape_of
from gpu_collide.backends.compiler import INSTALL_HINT, extra_flags
from gpu_collide.backends.host import thread_count
from gpu_collide.backends.sequence import C_TEXT, Count, Launch, Scan, Sequence, Zero
from gpu_collide.errors import BackendUnavailableError, KernelCompileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array, Buffer, ShapeLike
    from gpu_collide.backends.declarations import Signature

__all__ = ["CpuBackend", "INSTALL_HINT", "empty_aligned"]

_ALIGN = 64
#: Seconds of work beyond which a sequence is worth threads, and after how many runs that is looked at again.
LONG_RUN, RUNS_BY_THREADS = 2e-3, 15


_byte, _address = ctypes.c_char, ctypes.addressof
_capsule = ctypes.pythonapi.PyCapsule_GetPointer
_capsule.argtypes, _capsule.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
#: Where the address stands in ``PyArrayInterface`` of 64 bits: behind five int and two pointers.
_DATA = 40
_pointer_at = ctypes.c_size_t.from_address


def _data(array: Array) -> int:
    """The address of an array that may not be written to, in a third of the time of `array.ctypes`."""
    held = array.__array_struct__  # which frees what it points to with itself
    return _pointer_at(_capsule(held, None) + _DATA).value


def empty_aligned(
    shape: ShapeLike, dtype: DTypeLike, make: Callable[..., Any] = np.empty, align: int = _ALIGN
) -> np.ndarray:
    """Contiguous array whose data begins at a multiple of 64 bytes (a cache line, the widest vector)."""
    size = shape if type(shape) is int else math.prod(shape_of(shape))
    dtype = np.dtype(dtype)
    if align == 1:
        return make(shape, dtype)
    raw = make(size * dtype.itemsize + align - 1, np.uint8)
    return np.ndarray(shape, dtype, raw, -_address(_byte.from_buffer(raw)) % align)


class _Handle:
    """A compiled kernel, and how its arguments are packed: a pointer or a number in 8 bytes each."""

    __slots__ = ("function", "pace", "pack")

    def __init__(self, function: Any, signature: Signature, precision: str) -> None:
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        function.restype = ctypes.c_int
        self.function = function
        codes = {"i4": "i4x", "u4": "I4x", "i8": "q", "u1": "B7x", "f4": "f4x", "f8": "d"}
        kinds = ["Q" if a.pointer else codes[a.dtype(precision).str[1:]] for a in signature.args]
        self.pack = struct.Struct("=" + "".join(kinds)).pack
        self.pace = math.inf  # seconds that a part took last time


class _CpuBound(Bound):
    __slots__ = ("_args", "_packed")

    def __init__(self, backend: Any, kernel: Any, values: Any, args: Any) -> None:
        super().__init__(backend, kernel, values)
        self._args = args
        self._packed = kernel.handle.pack(*values)

    @property
    def packed(self) -> bytes:
        """The arguments as a driver takes them."""
        return self._packed

    @property
    def buffers(self) -> list[Any]:
        """The buffers among the arguments."""
        return [self._args[arg.name] for arg in self._kernel.args if arg.pointer]

    def _run(self, groups: int, size: int, parts: Any, new: Any) -> None:
        kernel, packed = self._kernel, self._packed
        if new:
            values = list(self._values)
            for place, value in new.items():
                values[place] = value
            packed = kernel.handle.pack(*values)
        pool.run(kernel.handle, packed, groups, parts, self._backend.threads, (kernel, self._args))


class _CpuSequence(Sequence):
    """All steps in one call of C, on this thread alone, unless that takes long: then step by step, with all
    threads."""

    def __init__(self, backend: Any, steps: Any) -> None:
        super().__init__(backend, steps)
        self._launches = [step.bound for step in self.steps if isinstance(step, Launch)]
        # each library has the same runner, and takes the kernels of all
        library = self._launches[0].kernel.handle.function.library if self._launches else None
        self._by_threads = 0  # runs to come that go step by step
        self._clock: Callable[[], float] = time.perf_counter
        self._alone = self._together = 0.0  # seconds of the last run in C, and of the one behind it
        self._renewed = 0  # how often it was found since then that runs are long
        self._packed: list[Any] = []  # arguments of the launches, where C reads them and writes their counts
        self._function = library and _sequence_of(library)
        rows = [self._row(step) for step in self.steps]
        self._rows = np.array(rows, np.int64)
        self._address = self._rows.__array_interface__["data"][0]
        self._written = {str(k): array for k, array in enumerate(self._arrays())}

    def _row(self, step: Any) -> Any:
        """A step as ``gc_step`` in `gpu_collide.backends.sequence.C_TEXT`."""
        at = self.backend.address
        if isinstance(step, Launch):
            kernel = step.bound.kernel
            packed = ctypes.create_string_buffer(step.bound.packed)  # type: ignore[attr-defined]
            self._packed.append(packed)
            driver = ctypes.cast(kernel.handle.function, ctypes.c_void_p).value
            each = PART_ITEMS if step.groups is None else 1
            return 0, driver, _address(packed), 0, 0, *self._count(step.n), step.most, each
        if isinstance(step, Zero):
            return 1, at(step.buffer), 0, 0, 0, 0, step.buffer.nbytes, 0, 0
        if isinstance(step, Scan):
            return 2, at(step.counts, False), at(step.out), 0, 0, 0, step.counts.size, 0, 0
        n, most = self._count(step.n), step.out.size
        return 3, at(step.numbers, False), at(step.flags, False), at(step.out), at(step.n_out), *n, most, 0

    def _count(self, n: Any) -> Any:
        if isinstance(n, int):
            return 0, n
        return self.backend.address(n.array if isinstance(n, Count) else n, False), 0

    def _arrays(self) -> Any:
        """All buffers."""
        for step in self.steps:
            found: Any = step
            if isinstance(step, Launch):
                found = step.bound.buffers  # type: ignore[attr-defined]
            yield from (array for array in found if isinstance(array, np.ndarray))

    def run(self) -> bool:
        if self._by_threads or self._function is None:
            return self._run_by_threads()
        if pool.crew.dropped:
            pool.settle(None, self._written)
        begun = self._clock()
        state = _SequenceState()
        state[8] = pool.TURN
        code = pool.PAUSED
        while code == pool.PAUSED:  # back in Python now and then, where signals are heeded
            code = self._function(self._address, len(self._rows), state)
        took = self._clock() - begun
        if took > LONG_RUN and self._clock is time.thread_time and self.backend.threads > 1:
            self._alone, self._together, self._renewed = took, 0.0, 0
            self._by_threads = RUNS_BY_THREADS
        # what seems long is looked at by this thread's own time, as others on the machine make nothing long
        self._clock = time.thread_time if took > LONG_RUN else time.perf_counter
        return code == pool.FINISHED

    def _run_by_threads(self) -> bool:
        """Step by step."""
        begun = time.perf_counter()
        done = super().run()
        took = time.perf_counter() - begun
        self._together = self._together or took
        self._by_threads = max(self._by_threads - 1, 0)
        if self._by_threads == 0 and self._function is not None and self._is_long(took):
            self._by_threads = RUNS_BY_THREADS
        return done

    def _is_long(self, took: float) -> bool:
        """Would a run that took so long by threads take long alone? It would take as much longer as the last
        one that was alone did than the one behind it. Where that is mostly the steps' own time, it is tried
        now and then."""
        self._renewed += 1
        tried = took < LONG_RUN / 4 and self._renewed > RUNS_BY_THREADS
        return not tried and took * self._alone > LONG_RUN * self._together


_SequenceState = ctypes.c_int * 9


def _sequence_of(library: Any) -> Any:
    function = library["gc_run_sequence"]
    function.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    function.restype = ctypes.c_int
    return function


class CpuBackend(Backend):
    """The embedded default on a machine without a GPU.

    Parameters
    ----------
    threads : int, optional
        Default: ``GPU_COLLIDE_THREADS``, else the cores this process may use.
    flags : tuple of str, optional
        Compiler flags besides `FLAGS`, instead of ``-march=native`` (sanitizer builds use it).

    Raises
    ------
    BackendUnavailableError
        No compiler works here.
    """

    name = kind = "cpu"
    serial_groups = parallel_builds = quick_sequences = True

    def __init__(self, threads: int | None = None, flags: tuple[str, ...] | None = None) -> None:
        super().__init__()
        self.threads = threads or thread_count()
        # More groups than threads, so that a thread with hard pairs does not keep the others waiting.
        self.max_groups = self.threads * 16
        self._builder = libraries.builder()
        self.device = f"{self.threads} thread{'s' * (self.threads > 1)}, {self._builder.described}"
        self._flags = self._builder.flags if flags is None else flags
        # A sanitizer sees an access past the end only if there is no slack behind it.
        self._align = 1 if any("sanitize" in flag for flag in extra_flags()) else _ALIGN
        try:
            self.self_test()
        except (KernelCompileError, OSError) as first:
            if flags is not None:
                raise
            self._flags = ()  # a compiler that does not know -march=native
            try:
                self.self_test()
            except (KernelCompileError, OSError):
                raise BackendUnavailableError(f"{self._builder.why_not_built}\n{first}") from first
        if flags is None:
            libraries.remember(self._builder, self._flags)

    def to_device(self, array: Array, *, copy: bool = True) -> Buffer:
        array = np.asarray(array)
        flags = array.flags
        if not copy and flags.c_contiguous and flags.aligned and array.dtype.isnative:
            view = array.view()
            view.flags.writeable = False
            return view
        dtype = array.dtype
        buf = self.empty(array.shape, dtype if dtype.isnative else dtype.newbyteorder("="))
        buf[...] = array
        return buf

    def to_host(self, buf: Buffer) -> Array:
        return buf

    def to_hosts(self, buffers: Iterable[Buffer]) -> list[Array]:
        return list(buffers)

    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        return empty_aligned(shape, dtype, align=self._align)

    def zeros(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        return empty_aligned(shape, dtype, np.zeros, self._align)

    def fill(self, buf: Buffer, value: Any) -> Buffer:
        if pool.crew.dropped:
            pool.settle(None, {"buf": buf})
        buf.fill(value)
        return buf

    def write(self, buf: Buffer, array: Array, at: int | None = None) -> Buffer:
        fits = at is None and type(array) is np.ndarray and array.dtype == buf.dtype
        if not fits or array.shape != buf.shape:
            array = self._must_fit(buf, array, at)
        if pool.crew.dropped:
            pool.settle(None, {"buf": buf})
        try:
            buf[... if at is None else slice(at, at + array.size)] = array
        except ValueError:  # all else was looked at above
            raise ValueError(
                "buf must be a buffer that may be written, got one made with copy=False"
            ) from None
        return buf

    def write_all(self, writes: Iterable[tuple[Buffer, Array]]) -> None:
        if pool.crew.dropped:
            super().write_all(writes)
            return
        for buf, array in writes:
            if type(array) is np.ndarray and array.dtype == buf.dtype and array.shape == buf.shape:
                buf[...] = array
            else:
                self.write(buf, array)

    def numbers(self, *buffers: Buffer) -> list[list]:
        return [buf.reshape(-1).tolist() for buf in buffers]

    def item(self, buf: Buffer, index: int = -1) -> Any:
        return buf.item(index)

    def exclusive_scan(self, counts: Buffer, out: Buffer | None = None) -> Buffer:
        out = self.empty(counts.size + 1, np.int64) if out is None else out
        out[0] = 0
        np.add.accumulate(counts.reshape(-1), 0, np.int64, out[1:])
        return out

    def _build(self, text: str, precision: str, signatures: dict[str, Signature]) -> Any:
        def handles(library: Any) -> Any:
            try:
                named = {s.name: library["gc_run_" + s.name] for s in signatures.values()}
            except AttributeError as error:
                raise KernelCompileError(
                    f"{' '.join(self._builder.command)} made a library without the kernels: {error}"
                ) from None
            for function in named.values():
                function.library = library
            return {s.name: _Handle(named[s.name], s, precision) for s in signatures.values()}

        text += drivers.c_entry_points(signatures) + C_TEXT
        return libraries.build_library(text, precision, self._flags, handles, self._builder)

    def _buffer_arg(self, kernel: Kernel, arg: KernelArg, value: Any) -> Any:
        """Its address."""
        if isinstance(value, np.ndarray) and value.dtype == arg.dtype:
            flags = value.flags
            if flags.carray and value.size:
                return _address(_byte.from_buffer(value))  # type: ignore[arg-type]  # faster still
            if flags.c_contiguous and (arg.const or flags.writeable):
                return _data(value)
        raise self._wrong_buffer(kernel, arg, value)

    def bind(self, kernel: Any, **args: Any) -> Bound:
        return _CpuBound(self, kernel, self._values(kernel, args), args)

    def sequence(self, steps: Any, *, looking: bool = True) -> Any:
        return _CpuSequence(self, steps)

    def address(self, buf: Any, writes: bool = True) -> int:
        """Where the contents of a buffer lie, for a kernel that reads it, or writes it as well."""
        if isinstance(buf, np.ndarray) and buf.flags.c_contiguous and (buf.flags.writeable or not writes):
            return _data(buf)
        raise TypeError(f"steps: expected contiguous cpu buffers, writeable where written, got {buf!r:.80}")

    def _launch(self, kernel: Any, groups: int, size: int, values: Any, parts: Any, args: Any) -> None:
        handle: _Handle = kernel.handle
        pool.run(handle, handle.pack(*values), groups, parts, self.threads, (kernel, args))
