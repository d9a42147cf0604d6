"""NVIDIA GPUs: the kernel text built by NVRTC, loaded and launched through CuPy."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import nvrtc, sources
from gpu_collide.backends.async_sequence import AsyncSequence
from gpu_collide.backends.base import Backend, Bound, GpuUnusableError, Kernel, KernelArg
from gpu_collide.backends.buffers import DeviceMemoryError, shape_of
from gpu_collide.backends.cache import cached, digest, private_file
from gpu_collide.backends.declarations import PRECISIONS
from gpu_collide.backends.fork import Driver, LostByFork
from gpu_collide.backends.transfer_stream import TransferStream
from gpu_collide.errors import BackendUnavailableError, DeviceError, KernelCompileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array, Buffer, ShapeLike
    from gpu_collide.backends.declarations import Signature

__all__ = ["INSTALL_HINT", "CudaBackend", "compile_only"]

INSTALL_HINT = "pip install 'gpu-collide[cuda12]' or 'gpu-collide[cuda13]', and NVIDIA's driver"

# The arithmetic of the other targets: no contraction, denormals kept, division and sqrt correctly rounded.
# CuPy's own compiler always flushes denormals, so it is not used.
FLAGS = ("--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")


def compile_only(
    arch: int | str,
    precision: str = "mixed",
    *,
    text: str | None = None,
    kind: str = "cubin",
    major: int | None = None,
) -> bytes:
    """Compile the kernels for an architecture; no GPU needed.

    Parameters
    ----------
    arch : int or str
        Such as 90 or ``"sm_90"``.
    precision : {"mixed", "double", "single"}
    text : str, optional
        Instead of the package's kernel text.
    kind : {"cubin", "ptx"}
    major : int, optional
        CUDA version to prefer if several are installed.
    """
    number = str(arch).removeprefix("sm_")
    return nvrtc.build(
        sources.source() if text is None else text, _options(number, precision, kind), kind, major
    )


def _options(arch: str, precision: str, kind: str = "cubin") -> list[str]:
    # A virtual architecture (compute_) stops at PTX, which takes a third of the time of a cubin.
    target = "sm" if kind == "cubin" else "compute"
    return [
        f"--gpu-architecture={target}_{arch}",
        f"-DGC_PRECISION={PRECISIONS[precision]}",
        *FLAGS,
    ]


_NO_MEMORY = 2  # cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY
_driver = Driver("CUDA")


def current_device() -> int:
    """Number of the current device; 0 as long as nobody imported CuPy, or if it cannot tell."""
    cupy = sys.modules.get("cupy")
    try:
        return 0 if cupy is None else int(cupy.cuda.runtime.getDevice())
    except Exception:  # no driver, a forked child, or no CuPy at all under this name
        return 0


def _translating(verb: Callable[..., Any]) -> Callable[..., Any]:
    """A verb that works on the backend's device, whichever is current, and whose CUDA errors become errors of
    this package."""

    @functools.wraps(verb)
    def translated(self: Any, *args: Any, **keywords: Any) -> Any:
        try:
            if current_device() == self.device_id:
                return verb(self, *args, **keywords)
            with self.current():
                return verb(self, *args, **keywords)
        except self.cuda_errors as error:
            raise self.translated(error, verb.__name__) from error

    return translated


class _CudaBound(Bound):
    __slots__ = ("_typed",)

    def __init__(self, backend: Any, kernel: Any, values: Any) -> None:
        super().__init__(backend, kernel, values)
        self._typed = _typed(kernel, values)

    def _run(self, groups: int, size: int, parts: Any, new: Any) -> None:
        typed = self._typed
        if new:
            values = list(typed)
            for place, value in new.items():
                values[place] = self._kernel.args[place].dtype.type(value)
            typed = tuple(values)
        self._backend.enqueue(self._kernel, groups, size, typed)


def _typed(kernel: Kernel, values: Any) -> tuple:
    """Numbers as NumPy scalars of exactly the declared types: a Python int would reach CuPy as 64 bits."""
    return tuple(
        value if arg.pointer else arg.dtype.type(value)
        for arg, value in zip(kernel.args, values, strict=True)
    )


class CudaBackend(Backend):
    """The CUDA device that is current when it is made. Work goes to CuPy's current stream there, buffers are
    CuPy arrays.

    Raises
    ------
    BackendUnavailableError
        No CuPy, no driver, no GPU or no NVRTC; the text says which.
    """

    name = kind = "cuda"
    group_size = 64
    small_group_size = 32
    item_group_size = 128

    def __init__(self) -> None:
        super().__init__()
        _driver.use()
        try:
            import cupy
        except ImportError as error:
            _driver.unused()
            raise BackendUnavailableError(f"CuPy is not importable ({error}); {INSTALL_HINT}") from None
        self._made_cupy = cupy
        runtime = cupy.cuda.runtime
        try:
            if runtime.getDeviceCount() < 1:
                raise BackendUnavailableError("no CUDA device")
            device = cupy.cuda.Device()
            properties = runtime.getDeviceProperties(device.id)
        except runtime.CUDARuntimeError as error:
            _driver.unused()
            raise BackendUnavailableError(
                f"no CUDA device ({error}); a GPU and NVIDIA's driver are needed"
            ) from None
        self.cuda_errors = (
            cupy.cuda.memory.OutOfMemoryError,
            runtime.CUDARuntimeError,
            cupy.cuda.driver.CUDADriverError,
        )
        self._major = runtime.runtimeGetVersion() // 1000
        self._arch = device.compute_capability
        self.device_id = device.id
        self.device = f"{properties['name'].decode()} (sm_{self._arch})"
        self.max_groups = properties["multiProcessorCount"] * 32
        self._resident = properties["multiProcessorCount"] * properties["maxThreadsPerMultiProcessor"]
        self._stacks: dict[
            Any, int
        ] = {}  # bytes of a work-item's stack, by handle; and the largest that was launched
        self._stack_had = 0
        try:
            self.self_test()
        except LostByFork:
            raise
        except (BackendUnavailableError, KernelCompileError, DeviceError) as error:
            raise GpuUnusableError(f"{self.device}: {error}") from error

    def translated(self, error: Exception, doing: str) -> Exception:
        """What an error of CUDA is raised as."""
        if isinstance(error, MemoryError) or getattr(error, "status", None) == _NO_MEMORY:
            return DeviceMemoryError(f"{self.device}: {error}")
        return DeviceError(
            f"{self.device}: {error}, reported at {doing}; a launch or copy before it may be the reason. The "
            "device may be of no more use to this process: start a new one"
        )

    @property
    def _cupy(self) -> Any:
        _driver.use()
        return self._made_cupy

    def current(self) -> Any:
        """A context in which its device is the current one."""
        _driver.use()
        if current_device() == self.device_id:
            return contextlib.nullcontext()
        return self._made_cupy.cuda.Device(self.device_id)

    @property
    def reserved_bytes(self) -> int:
        # the driver reserves the largest stack that is launched, for all work-items that can work at once
        return self._resident * max([*self._stacks.values(), self._stack_had])

    @property
    def arrays(self) -> Any:
        return self._cupy

    @_translating
    def to_device(self, array: Array, *, copy: bool = True) -> Buffer:
        array = np.asarray(array)
        return self._cupy.asarray(
            np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        )

    @_translating
    def to_host(self, buf: Buffer) -> Array:
        return self._cupy.asnumpy(buf)

    @_translating
    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        return self._cupy.empty(shape_of(shape), dtype)

    @_translating
    def fill(self, buf: Buffer, value: Any) -> Buffer:
        buf.fill(value)
        return buf

    @_translating
    def write(self, buf: Buffer, array: Array, at: int | None = None) -> Buffer:
        self._cupy  # noqa: B018  raises in a forked child
        array = np.ascontiguousarray(self._must_fit(buf, array, at), buf.dtype)
        if at is None:
            buf.set(array)
        elif array.size:
            buf[at : at + array.size].set(array)
        return buf

    @_translating
    def item(self, buf: Buffer, index: int = -1) -> Any:
        return buf.reshape(-1)[index].item()

    @_translating
    def exclusive_scan(self, counts: Buffer, out: Buffer | None = None) -> Buffer:
        out = self.empty(counts.size + 1, np.int64) if out is None else out
        out[:1] = 0
        if counts.size:
            self._cupy.cumsum(counts.reshape(-1), dtype=np.int64, out=out[1:])
        return out

    @_translating
    def argsort(self, keys: Buffer, bits: int = 64) -> Buffer:
        # The last row sorts first; between equals the places decide, whatever CuPy's sort does with equals.
        cp, keys = self._cupy, keys.reshape(-1)
        if keys.size == 0:
            return cp.empty(0, np.int32)
        places = cp.arange(keys.size, dtype=keys.dtype)
        return cp.lexsort(cp.stack([places, keys])).astype(np.int32)

    def sequence(self, steps: Any, *, looking: bool = True) -> Any:
        return super().sequence(steps) if looking else AsyncSequence(self, steps)

    @_translating
    def numbers(self, *buffers: Buffer) -> list[list]:
        cp, places, at = self._cupy, [], 0
        for buf in buffers:
            places.append((at, at + buf.size))
            at += buf.size
        joined = cp.asnumpy(cp.concatenate([buf.reshape(-1).astype(np.int64) for buf in buffers]))
        return [joined[begin:end].tolist() for begin, end in places]

    @_translating
    def to_hosts(self, buffers: Any) -> Any:
        host = [buf.get(blocking=False) for buf in buffers]
        self._cupy.cuda.get_current_stream().synchronize()
        return host

    @_translating
    def lane(self) -> TransferStream:
        """A stream for copies during the work, until `give_lane`."""
        kept = self.kept.setdefault("lanes", [])
        return kept.pop() if kept else TransferStream(self._cupy)

    def give_lane(self, lane: TransferStream) -> None:
        """Keep a lane for the next call. What it has not copied yet comes before all later work."""
        self.behind(lane.last())
        self.kept["lanes"].append(lane)

    @_translating
    def begin(self, lane: TransferStream) -> None:
        """`Lane.begin`."""
        lane.begin()

    @_translating
    def send(self, lane: TransferStream, arrays: Any, buffers: Any) -> Any:
        """`Lane.send`."""
        return lane.send(arrays, buffers)

    @_translating
    def behind(self, event: Any) -> None:
        """What the current stream is given next waits for an event; the host does not."""
        if event is not None:
            self._cupy.cuda.get_current_stream().wait_event(event)

    @_translating
    def mark(self) -> Any:
        """An event between what was launched and what will be."""
        event = self._cupy.cuda.Event()
        event.record()
        return event

    @_translating
    def seconds_between(self, before: Any, behind: Any) -> float:
        """Seconds between two marks, of which all has ended."""
        return 1e-3 * self._cupy.cuda.get_elapsed_time(before, behind)

    def _build(self, text: str, precision: str, signatures: dict[str, Signature]) -> Any:
        arch = self._arch
        archs = nvrtc.supported(self._major)
        kind = "cubin"
        if int(arch) not in archs:
            # A GPU newer than this NVRTC: the driver translates the newest PTX that NVRTC knows.
            older = [a for a in archs if a < int(arch)]
            if not older:
                raise KernelCompileError(f"NVRTC {nvrtc.version(self._major)} does not compile for sm_{arch}")
            arch, kind = str(older[-1]), "ptx"
        options = _options(arch, precision, kind)
        key = digest(text, " ".join(options), kind, nvrtc.version(self._major))
        name = f"{key}.{kind}"

        def handles(data: Any) -> Any:
            try:
                with self.current():
                    module = self._cupy.RawModule(path=str(private_file(name, data)))
                    found = {kernel: module.get_function(kernel) for kernel in signatures}
                self._stacks |= {f: getattr(f, "local_size_bytes", 0) for f in found.values()}
                return found
            except OSError as error:
                raise BackendUnavailableError(f"{self.device}: no file for the kernels: {error}") from None
            except self.cuda_errors as error:
                raise self.translated(error, "loading the kernels") from error

        return cached(name, lambda: nvrtc.build(text, options, kind, self._major), handles)

    def _buffer_arg(self, kernel: Kernel, arg: KernelArg, value: Any) -> Any:
        if (
            not isinstance(value, self._cupy.ndarray)
            or value.dtype != arg.dtype
            or not value.flags.c_contiguous
        ):
            raise self._wrong_buffer(kernel, arg, value)
        return value

    def bind(self, kernel: Any, **args: Any) -> Bound:
        return _CudaBound(self, kernel, self._values(kernel, args))

    def _launch(self, kernel: Any, groups: int, size: int, values: Any, parts: Any, args: Any) -> None:
        self.enqueue(kernel, groups, size, _typed(kernel, values))

    def enqueue(self, kernel: Kernel, groups: int, size: int, typed: tuple) -> None:
        """Launch with arguments as CuPy takes them."""
        _driver.use()
        try:
            with self.current():
                kernel.handle((groups,), (size,), typed)
        except self.cuda_errors as error:
            raise self.translated(error, f"launching {kernel.name}") from error
        self._stack_had = max(self._stack_had, self._stacks.get(kernel.handle, 0))

    @_translating
    def synchronize(self) -> None:
        self._cupy.cuda.get_current_stream().synchronize()

    @_translating
    def memory_free(self) -> int:
        free, _ = self._cupy.cuda.runtime.memGetInfo()
        free += self._cupy.get_default_memory_pool().free_bytes()
        # what the driver will still take for the stacks of kernels that are built
        return max(free - (self.reserved_bytes - self._resident * self._stack_had), 0)
