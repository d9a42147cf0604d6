"""The host's processor: the kernel text built by the machine's C compiler, run by a pool of threads."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import platform
import queue
import struct
import threading
import time
from functools import lru_cache

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.backends.base import Backend, Kernel, KernelArg, shape_of, thread_count
from gpu_collide.backends.cache import cached, digest, private_file
from gpu_collide.backends.compiler import INSTALL_HINT, compile_shared, extra_flags, find_compiler
from gpu_collide.errors import BackendUnavailableError, KernelCompileError

__all__ = ["CpuBackend", "INSTALL_HINT", "empty_aligned", "find_compiler"]

# No contraction, no fast-math: the same bits as the other targets. -fno-math-errno and -fno-trapping-math
# only drop side effects (errno, the exception flags), which lets sqrt and floor be single instructions and
# loops vectorise. GCC 12's straight-line (SLP) vectoriser gives other bits than the same text at -O1,
# contraction off or not; its loop vectoriser does not, and is the one that pays here (docs/decisions/0009).
FLAGS = (
    "-std=c11", "-O3", "-fno-tree-slp-vectorize", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-fPIC", "-shared", "-fvisibility=hidden",
)  # fmt: skip
_NATIVE = ("-march=native",)
_ALIGN = 64


@lru_cache(maxsize=1)
def _processor() -> str:
    """The instruction set in words: a -march=native build must not run on another machine."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()} {platform.node()}"
    keep = ("model name", "flags", "Features", "CPU part", "CPU implementer")
    found = {line.split(":")[0].strip(): line for line in lines if line.startswith(keep)}
    return platform.machine() + "\n" + "\n".join(found.values())


def build_library(text: str, precision: str, flags: tuple[str, ...], use=lambda library: library):
    """What ``use(library)`` makes of the shared library of `text`, compiled unless this machine has done so
    before."""
    command, version = find_compiler()
    flags = (*FLAGS, *flags, *extra_flags(), f"-DGC_PRECISION={sources.PRECISIONS[precision]}")
    name = digest(text, " ".join(flags), " ".join(command), version, _processor())
    name += ".dll" if os.name == "nt" else ".so"
    by_path = any(flag.startswith(("-g", "-fsanitize")) for flag in flags)  # for those who look at it
    return cached(
        name,
        lambda: compile_shared(command, flags, text, name),
        lambda data: use(_load(data, name, by_path)),
    )


_loads = itertools.count(1)


def _load(data: bytes, name: str, by_path: bool = False) -> ctypes.CDLL:
    """The shared library that `data` holds: from memory where that is possible, where nobody can cut it short
    while it runs, else from a file of this process alone."""
    if hasattr(os, "memfd_create") and not by_path:
        with contextlib.suppress(OSError):
            fd = os.memfd_create("gpu_collide", os.MFD_CLOEXEC)
            try:
                with os.fdopen(fd, "wb", closefd=False) as file:
                    file.write(data)
                # The loader takes a name that it has seen for the library that it has: each gets its own.
                return ctypes.CDLL(f"/proc/self{'/.' * next(_loads)}/fd/{fd}")
            finally:
                os.close(fd)
    try:
        return ctypes.CDLL(str(private_file(name, data)))
    except OSError as error:
        raise KernelCompileError(f"the library of the kernels cannot be loaded: {error}") from None


def empty_aligned(shape, dtype, make=np.empty) -> np.ndarray:
    """Contiguous array whose data begins at a multiple of 64 bytes (a cache line, the widest vector)."""
    shape, dtype = shape_of(shape), np.dtype(dtype)
    n_bytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
    # A sanitizer sees an access past the end only if there is no slack behind it.
    align = 1 if any("sanitize" in flag for flag in extra_flags()) else _ALIGN
    raw = make(n_bytes + align - 1, np.uint8)
    start = -raw.__array_interface__["data"][0] % align
    return raw[start : start + n_bytes].view(dtype).reshape(shape)


def _why(command: list[str]) -> str:
    """What is wrong with a compiler that does not build, and what to do."""
    if flags := os.environ.get("GPU_COLLIDE_CFLAGS", "").strip():
        return (
            f"{' '.join(command)} cannot build the kernels with GPU_COLLIDE_CFLAGS={flags!r}; correct it or "
            "unset it"
        )
    return f"{' '.join(command)} cannot build shared libraries; {INSTALL_HINT}"


class _Job:
    """One launch, shared by the threads that run it; keeps the argument memory alive until all have run.

    The thread that launches takes part, and is back in Python every `TURN_SECONDS`, where signals are heeded.
    On Ctrl-C it leaves at once: the helpers stop before their next share, a few items later, and what they
    write until then belongs to the job alone.
    """

    __slots__ = ("args", "counters", "done", "function", "keep")

    def __init__(self, function, args, groups, shares, keep):
        self.function = function
        self.args = args
        self.counters = (ctypes.c_int * 5)(0, 0, groups, shares, 0)
        self.done = threading.Lock()
        self.keep = keep
        self.done.acquire()

    def lead(self) -> None:
        """Take part, and return when all groups have run."""
        mine = (ctypes.c_int * 2)(-1, 0)
        code = _PAUSED
        try:
            while code == _PAUSED:
                begun = time.perf_counter()
                code = self.function(self.args, self.counters, mine)
                if code == _PAUSED and time.perf_counter() - begun > _LONG:
                    # A share took long, and others may: waiting can be interrupted, computing can not.
                    _pool.offer(self, mine)
                    break
            if code != _FINISHED:
                self.done.acquire()
        except BaseException:
            self.counters[4] = 1
            raise
        self.keep = None  # a helper that comes too late only looks at the counters, and may come very late

    def help(self, mine=None) -> None:
        """Take part in it, from the group and share `mine` on if another thread began them."""
        code = _PAUSED
        while code == _PAUSED:
            code = self.function(self.args, self.counters, mine)
        if code == _FINISHED:
            self.done.release()


_FINISHED, _PAUSED = 1, 2
_LONG = sources.TURN_SECONDS + 0.2  # seconds


class _Pool:
    """Helper threads.

    A launch is offered to as many as it has groups for. The launching thread takes part, and waits only for
    groups that some helper has begun; a helper that comes too late finds no group left.
    """

    def __init__(self):
        self._jobs: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0

    def _work(self) -> None:
        get = self._jobs.get
        while True:
            job, mine = get()
            job.help(mine)
            del job, mine  # not kept alive until the next one comes

    def need(self, helpers: int) -> None:
        """Have at least so many threads."""
        if self._threads < helpers:
            with self._lock:
                while self._threads < helpers:
                    threading.Thread(target=self._work, name="gpu_collide", daemon=True).start()
                    self._threads += 1

    def offer(self, job: _Job, mine=None) -> None:
        """Have some helper take part in a job."""
        self.need(1)
        self._jobs.put((job, mine))

    def run(self, job: _Job, helpers: int) -> None:
        self.need(helpers)
        for _ in range(helpers):
            self._jobs.put((job, None))
        job.lead()


_pool = _Pool()


def _new_pool() -> None:
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_pool)  # threads do not survive a fork


class _Handle:
    """A compiled kernel and the layout of its arguments: pointers, and scalars in 8-byte slots."""

    __slots__ = ("function", "pack", "pointers", "scalars")

    def __init__(self, function, signature: sources.Signature, precision: str):
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        function.restype = ctypes.c_int
        self.function = function
        self.scalars = [i for i, a in enumerate(signature.args) if not a.pointer]
        codes = {"i4": "i4x", "u4": "I4x", "i8": "q", "u1": "B7x", "f4": "f4x", "f8": "d"}
        kinds = [signature.args[i].dtype(precision) for i in self.scalars]
        self.pack = struct.Struct("=" + "".join(codes[f"{k.kind}{k.itemsize}"] for k in kinds))
        self.pointers = ctypes.c_void_p * len(signature.args)


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
    serial_groups = True

    def __init__(self, threads: int | None = None, flags: tuple[str, ...] | None = None):
        super().__init__()
        self.threads = threads or thread_count()
        # More groups than threads, so that a thread with hard pairs does not keep the others waiting.
        self.max_groups = self.threads * 16
        command, version = find_compiler()
        self.device = f"{self.threads} thread{'s' * (self.threads > 1)}, {version.splitlines()[0]}"
        self._flags = _NATIVE if flags is None else flags
        try:
            self.self_test()
        except (KernelCompileError, OSError) as first:
            if flags is not None:
                raise
            self._flags = ()  # a compiler that does not know -march=native
            try:
                self.self_test()
            except (KernelCompileError, OSError):
                raise BackendUnavailableError(f"{_why(command)}\n{first}") from first

    def to_device(self, array, *, copy=True):
        array = np.asarray(array)
        if not copy and array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
            view = array.view()
            view.flags.writeable = False
            return view
        buf = empty_aligned(array.shape, array.dtype.newbyteorder("="))
        buf[...] = array
        return buf

    def to_host(self, buf):
        return buf

    def empty(self, shape, dtype):
        return empty_aligned(shape, dtype)

    def zeros(self, shape, dtype):
        return empty_aligned(shape, dtype, np.zeros)

    def fill(self, buf, value):
        buf.fill(value)
        return buf

    def _build(self, text, precision, signatures):
        def handles(library):
            try:
                named = {s.name: library["gc_run_" + s.name] for s in signatures.values()}
            except AttributeError as error:
                raise KernelCompileError(
                    f"{' '.join(find_compiler()[0])} made a library without the kernels: {error}"
                ) from None
            return {s.name: _Handle(named[s.name], s, precision) for s in signatures.values()}

        return build_library(text + sources.c_entry_points(signatures), precision, self._flags, handles)

    def _buffer_arg(self, kernel: Kernel, arg: KernelArg, value):
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != arg.dtype
            or not value.flags.c_contiguous
            or not (arg.const or value.flags.writeable)
        ):
            raise self._wrong_buffer(kernel, arg, value)
        return value

    def _launch(self, kernel, groups, group_size, values, parts):
        handle: _Handle = kernel.handle
        scalars = ctypes.create_string_buffer(handle.pack.pack(*(values[i] for i in handle.scalars)))
        first = ctypes.addressof(scalars)
        slot = iter(range(first, first + 8 * len(handle.scalars), 8))
        args = handle.pointers(
            *(
                value.__array_interface__["data"][0] if arg.pointer else next(slot)
                for arg, value in zip(kernel.args, values, strict=True)
            )
        )
        shares = max(1, min(parts, 1 << 30) // groups)
        job = _Job(handle.function, args, groups, shares, (scalars, values))
        helpers = min(self.threads, groups) - 1
        if helpers > 0:
            _pool.run(job, helpers)
        elif shares > 1:
            job.lead()
        else:
            job.help()
