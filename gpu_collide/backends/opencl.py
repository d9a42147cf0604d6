"""OpenCL devices: the kernel text built by the device's driver, through PyOpenCL."""

from __future__ import annotations

import math
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._interrupt import AtOnce
from gpu_collide.backends import declarations, first_look
from gpu_collide.backends.base import Backend, Bound, Kernel, KernelArg
from gpu_collide.backends.buffers import DeviceMemoryError, shape_of
from gpu_collide.backends.cache import cache_dir, safe_by_name
from gpu_collide.backends.fork import Driver
from gpu_collide.backends.host import host_memory_free, process_memory_free
from gpu_collide.errors import BackendUnavailableError, KernelCompileError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array, Buffer, ShapeLike
    from gpu_collide.backends.declarations import Signature

__all__ = [
    "ClBuffer",
    "INSTALL_HINT",
    "OpenclBackend",
    "describe",
    "find_platforms",
    "list_devices",
    "wanted",
]

INSTALL_HINT = (
    "pip install 'gpu-collide[opencl]' and the device's driver (for processors, Debian/Ubuntu: "
    "apt install pocl-opencl-icd)"
)


_driver = Driver("OpenCL")


def _pyopencl() -> Any:
    _driver.use()
    try:
        _prepare_pocl()
        with AtOnce():
            import pyopencl
    except ImportError as error:
        _driver.unused()
        raise BackendUnavailableError(f"PyOpenCL is not importable ({error}); {INSTALL_HINT}") from None
    return pyopencl


def _prepare_pocl() -> None:
    """Give PoCL a cache folder that it can write and others can not: without one it offers no platform at
    all, and says nothing; from one that others fill it would run what they like."""
    if "POCL_CACHE_DIR" in os.environ:
        return
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME")
    if home:
        folder = Path(home, "pocl") if os.environ.get("XDG_CACHE_HOME") else Path(home, ".cache", "pocl")
        if safe_by_name(folder) and os.access(folder, os.W_OK):
            return
    os.environ["POCL_CACHE_DIR"] = str(cache_dir() / "pocl")


def find_platforms() -> list[tuple[Any, list, str]]:
    """All OpenCL platforms, each with its devices, and if it has none, why.

    Raises
    ------
    BackendUnavailableError
        No PyOpenCL, or no platform.
    """
    cl = _pyopencl()
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:  # PLATFORM_NOT_FOUND_KHR: the loader is there, a driver is not
        raise BackendUnavailableError(f"no OpenCL platform ({error}); {INSTALL_HINT}") from None
    found = []
    for place in platforms:
        try:
            devices, why_not = place.get_devices(), ""
        except cl.Error as error:  # a platform whose device is absent
            devices, why_not = [], str(error)
        found.append((place, devices, why_not))
    return found


def wanted(device: Any) -> bool:
    """Whether ``GPU_COLLIDE_OPENCL_DEVICE`` leaves a device in."""
    return os.environ.get("GPU_COLLIDE_OPENCL_DEVICE", "").lower() in describe(device).lower()


def list_devices() -> list:
    """All OpenCL devices, GPUs first, those with float64 before those without.

    ``GPU_COLLIDE_OPENCL_DEVICE`` keeps those whose "platform / device" holds it (upper and lower case alike).

    Raises
    ------
    BackendUnavailableError
        No PyOpenCL, no platform, or no device.
    """
    found = [device for _, devices, _ in find_platforms() for device in devices if wanted(device)]
    if not found:
        name = os.environ.get("GPU_COLLIDE_OPENCL_DEVICE", "").lower()
        named = f" named like GPU_COLLIDE_OPENCL_DEVICE={name!r}" if name else ""
        raise BackendUnavailableError(f"no OpenCL device{named}; {INSTALL_HINT}")
    gpu = _pyopencl().device_type.GPU
    return sorted(found, key=lambda d: (not d.type & gpu, not has_float64(d)))


def describe(device: Any) -> str:
    """Platform, its version and the device; two PoCLs differ in the version alone."""
    version = device.platform.version.split(" ", 2)[-1].split(",")[0].strip()
    return f"{device.platform.name} {version} / {device.name.strip()}"


def has_float64(device: Any) -> bool:
    """Whether the device computes in float64."""
    return "cl_khr_fp64" in device.extensions.split() and bool(device.double_fp_config)


_LARGE = 1 << 20  # bytes of a buffer from which on it is asked what memory is free
_SMALL = 1 << 16  # bytes of an array up to which it is copied by the call that makes a buffer of it
_ZEROS = bytes(_SMALL)
_SPARE = 32 << 20  # bytes left to the driver, which does not survive being refused


class ClBuffer:
    """Memory of an OpenCL device with a shape and a dtype."""

    __slots__ = ("data", "dtype", "nbytes", "owner", "shape", "size")

    def __init__(self, data: Any, shape: ShapeLike, dtype: DTypeLike) -> None:
        self.owner: OpenclBackend | None = None
        self.data = data
        self.shape = shape_of(shape)
        self.dtype = np.dtype(dtype)
        self.size = math.prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize

    def __del__(self) -> None:
        if self.owner is not None:
            self.owner._sizes.pop(id(self), None)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"ClBuffer(shape={self.shape}, dtype={self.dtype})"


class _ClBound(Bound):
    """It has a kernel object of its own, whose arguments are set already."""

    __slots__ = ("_changed", "_handle", "_lock")

    def __init__(self, backend: Any, kernel: Any, values: Any, handle: Any) -> None:
        super().__init__(backend, kernel, values)
        self._handle = handle
        self._lock = threading.Lock()
        self._changed: set[int] = set()  # numbers that are not the bound ones
        for place, value in enumerate(values):
            self._set(place, value)

    def _set(self, place: int, value: Any) -> None:
        arg = self._kernel.args[place]
        self._handle.set_arg(place, value if arg.pointer else arg.dtype.type(value))

    def _run(self, groups: int, size: int, parts: Any, new: Any) -> None:
        with self._lock:
            if new or self._changed:
                new = new or {}
                for place in self._changed - new.keys():
                    self._set(place, self._values[place])
                self._changed |= new.keys()
                for place, value in new.items():
                    self._set(place, value)
                self._changed = set(new)
            self._backend.enqueue(self._handle, groups, size)


class OpenclBackend(Backend):
    """One OpenCL device.

    Parameters
    ----------
    device : pyopencl.Device, optional
        Default: the first of `list_devices` that passes `self_test`.
    group_size : int, optional
        Work-items a group. Default: 1 on a processor, where a group is one thread's work and the kernels are
        built without barriers (``GC_SERIAL_GROUPS``); on a GPU 64, 32 where an item is little work, or 128
        for one work-item per item.

    Raises
    ------
    BackendUnavailableError
        No device works; the text says what was wrong with each.
    """

    name = kind = "opencl"

    def __init__(self, device: Any = None, group_size: int | None = None) -> None:
        super().__init__()
        self._wanted_size = group_size
        self._cl = _pyopencl()
        reasons = []
        for candidate in list_devices() if device is None else [device]:
            try:
                first_look.look(candidate)
                self._open(candidate)
                self.self_test()
                return
            except (BackendUnavailableError, KernelCompileError, self._cl.Error) as error:
                lines = str(error).strip().splitlines() or [type(error).__name__]
                reasons.append(f"{describe(candidate)}: {lines[0]}")
        raise BackendUnavailableError("no OpenCL device works: " + "; ".join(reasons))

    def _open(self, device: Any) -> None:
        cl = self._cl
        self._modules.clear()
        self._builds.clear()
        self._device = device
        self.device = describe(device)
        self.has_float64 = has_float64(device)
        self.max_buffer = device.max_mem_alloc_size
        self._device_memory = device.global_mem_size
        self._sizes: dict[int, int] = {}
        self._made_context = cl.Context([device])
        self._made_queue = cl.CommandQueue(self._made_context)
        self._on_host = not device.type & cl.device_type.GPU
        # Memory of the host is taken now and can be refused. Else PoCL takes it when the buffer is first
        # used, and ends the process if it cannot.
        self._flags = cl.mem_flags.READ_WRITE | (cl.mem_flags.ALLOC_HOST_PTR if self._on_host else 0)
        size = self._wanted_size or (1 if self._on_host else 64)
        largest = min(device.max_work_group_size, device.max_work_item_sizes[0])
        self.group_size = min(size, largest)
        self.item_group_size = min(self._wanted_size or (1 if self._on_host else 128), largest)
        self.serial_groups = self.group_size == 1
        self.small_group_size = None if self.serial_groups else min(self._wanted_size or 32, size, largest)
        self.max_groups = device.max_compute_units * 16

    @property
    def _context(self) -> Any:
        _driver.use()
        return self._made_context

    @property
    def _queue(self) -> Any:
        _driver.use()
        return self._made_queue

    def to_device(self, array: Array, *, copy: bool = True) -> Buffer:
        array = np.asarray(array)
        dtype = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
        array = np.asarray(array, dtype, order="C")
        nbytes = array.nbytes
        if 16 <= nbytes <= _SMALL:
            return self._new(array.shape, dtype, array)
        buf = self._new(array.shape, dtype)
        if nbytes:
            self._cl.enqueue_copy(self._queue, buf.data, array)
        return buf

    def to_host(self, buf: Buffer) -> Array:
        out = np.empty(buf.shape, buf.dtype)
        if buf.nbytes:
            self._cl.enqueue_copy(self._queue, out, buf.data)
        return out

    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        return self._new(shape, dtype)

    def zeros(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        buf = ClBuffer(None, shape, dtype)
        if buf.nbytes <= _SMALL:
            return self._new(shape, dtype, _ZEROS[: max(buf.nbytes, 16)])
        return self.fill(self.empty(shape, dtype), 0)

    def _new(self, shape: ShapeLike, dtype: DTypeLike, contents: Any = None) -> ClBuffer:
        """Buffer of `contents`, of 16 bytes at least, or undefined ones. The driver copies them at once: a
        command for it would cost ten times as much."""
        cl = self._cl
        buf = ClBuffer(None, shape, dtype)
        if buf.nbytes > self.max_buffer:
            raise DeviceMemoryError(
                f"a buffer of {buf.nbytes} bytes was needed; {self.device} allows {self.max_buffer} in one"
            )
        room = self._room(buf.nbytes)
        if buf.nbytes > room:
            raise DeviceMemoryError(
                f"a buffer of {buf.nbytes} bytes was needed; {self.device} has room for {max(room, 0)}, "
                f"beside {self._held()} that are held"
            )
        flags, size = self._flags, max(buf.nbytes, 16)  # OpenCL has no buffers of no bytes
        try:
            if contents is None:
                buf.data = cl.Buffer(self._context, flags, size)
            else:
                flags |= cl.mem_flags.COPY_HOST_PTR
                buf.data = cl.Buffer(self._context, flags, hostbuf=contents)
        except cl.Error as error:
            raise DeviceMemoryError(f"{self.device} could not allocate {buf.nbytes} bytes: {error}") from None
        buf.owner, self._sizes[id(buf)] = self, buf.nbytes
        return buf

    def _room(self, nbytes: int) -> int:
        """Bytes that another buffer of about this size may take."""
        if nbytes < _LARGE:
            # its own few bytes are no matter; but a driver that gets no memory ends the process
            return nbytes if not self._on_host or process_memory_free() > _SPARE else 0
        room = self._device_memory - self._held()
        if self._on_host:
            room = min(room, process_memory_free() - _SPARE, host_memory_free() - _SPARE)
        return room

    def _held(self) -> int:
        """Bytes of all buffers there are."""
        return sum(list(self._sizes.values()))

    def fill(self, buf: Buffer, value: Any) -> Buffer:
        if buf.nbytes:
            pattern = np.array(value, buf.dtype)
            self._cl.enqueue_fill_buffer(self._queue, buf.data, pattern, 0, buf.nbytes)
        return buf

    def write(self, buf: Buffer, array: Array, at: int | None = None) -> Buffer:
        array = np.ascontiguousarray(self._must_fit(buf, array, at), buf.dtype)
        if at is not None:
            if array.size:
                self._cl.enqueue_copy(self._queue, buf.data, array, dst_offset=at * array.itemsize)
        elif 16 <= array.nbytes <= _SMALL:  # on its way in a buffer, it need not be waited for
            array = self._new(buf.shape, buf.dtype, array).data
            self._cl.enqueue_copy(self._queue, buf.data, array, byte_count=buf.nbytes)
        elif buf.nbytes:
            self._cl.enqueue_copy(self._queue, buf.data, array)
        return buf

    def item(self, buf: Buffer, index: int = -1) -> Any:
        out = np.empty((), buf.dtype)
        if not -buf.size <= index < buf.size:
            raise IndexError(f"index {index} is outside a buffer of {buf.size} elements")
        self._cl.enqueue_copy(self._queue, out, buf.data, src_offset=index % buf.size * buf.dtype.itemsize)
        return out.item()

    def build_options(self, precision: str) -> list[str]:
        """Options for the driver's compiler."""
        options = ["-cl-std=CL1.2", f"-DGC_PRECISION={declarations.PRECISIONS[precision]}"]
        if self.serial_groups:
            options.append("-DGC_SERIAL_GROUPS")
        if self._device.single_fp_config & self._cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT:
            options.append("-cl-fp32-correctly-rounded-divide-sqrt")
        return options

    def _build(self, text: str, precision: str, signatures: dict[str, Signature]) -> Any:
        cl = self._cl
        program = cl.Program(self._context, text)
        try:
            # Drivers keep their own cache on disk (PoCL, NVIDIA, Intel and AMD all do), safe between
            # processes.
            program.build(self.build_options(precision), cache_dir=False)
        except cl.Error as error:
            raise KernelCompileError(f"{self.device} refused the kernels:\n{error}") from None
        handles = {}
        for sig in signatures.values():
            handle = cl.Kernel(program, sig.name)
            handle.set_scalar_arg_dtypes([None if a.pointer else a.dtype(precision) for a in sig.args])
            handles[sig.name] = handle
        return handles

    def _buffer_arg(self, kernel: Kernel, arg: KernelArg, value: Any) -> Any:
        if not isinstance(value, ClBuffer) or value.dtype != arg.dtype:
            raise self._wrong_buffer(kernel, arg, value)
        return value.data

    def bind(self, kernel: Any, **args: Any) -> Bound:
        values = self._values(kernel, args)
        program = kernel.handle.get_info(self._cl.kernel_info.PROGRAM)
        return _ClBound(self, kernel, values, self._cl.Kernel(program, kernel.name))

    def _launch(self, kernel: Any, groups: int, size: int, values: Any, parts: Any, args: Any) -> None:
        with kernel.lock:  # arguments live in the kernel object
            kernel.handle(self._queue, (groups * size,), (size,), *values)

    def enqueue(self, handle: Any, groups: int, size: int) -> None:
        """Launch a kernel object whose arguments are set."""
        self._cl.enqueue_nd_range_kernel(self._queue, handle, (groups * size,), (size,))

    def synchronize(self) -> None:
        self._queue.finish()

    def memory_free(self) -> int:
        # OpenCL cannot say what is free: on a processor the host can, on a GPU three quarters are taken for
        # free.
        if self._on_host:
            return min(host_memory_free(), process_memory_free(), self._device_memory - self._held())
        return self._device_memory // 4 * 3
