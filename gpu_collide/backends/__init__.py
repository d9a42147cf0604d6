"""Where the kernels run: ``cuda``, ``opencl``, ``cpu``, and ``reference`` where none of them can."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_collide._calls import warn_caller
from gpu_collide.backends import declarations
from gpu_collide.backends.base import Backend, GpuUnusableError
from gpu_collide.backends.fork import LostByFork, renew_after_fork
from gpu_collide.errors import (
    DOCTOR,
    BackendUnavailableError,
    KernelCompileError,
    PrecisionUnavailableError,
)

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array, Buffer, ShapeLike
    from gpu_collide.backends.declarations import Signature

__all__ = ["NAMES", "Backend", "Device", "devices", "get_backend"]

NAMES = ("cuda", "cpu", "opencl", "reference")
"""Names of the backends, in the order in which ``"auto"`` tries them."""

#: By name; ``cuda`` is that of device 0, and ``cuda:1`` that of device 1.
_open: dict[str, Backend | BackendUnavailableError] = {}
#: Backends that "auto" passes over for programs in a precision, and why.
_refused: dict[tuple, Exception] = {}
_lock = threading.RLock()


class _Child:
    """What a forked child begins with: a lock that nobody holds, and backends that still work."""

    @staticmethod
    def _after_fork() -> None:
        global _lock
        _lock = threading.RLock()
        for key in list(_open):  # opened anew, which says why it cannot be
            if key.startswith(("opencl", "cuda")) and isinstance(_open[key], Backend):
                del _open[key]


_child = _Child()
renew_after_fork(_child)


class ReferenceBackend(Backend):
    """The NumPy implementation; it has no kernels, so only its name and memory are of use."""

    name = kind = "reference"
    device = "NumPy"

    def to_device(self, array: Array, *, copy: bool = True) -> Buffer:
        return array

    def to_host(self, buf: Buffer) -> Array:
        return buf

    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        import numpy as np

        return np.empty(shape, dtype)

    def fill(self, buf: Buffer, value: Any) -> Buffer:
        buf.fill(value)
        return buf

    def _build(self, text: str, precision: str, signatures: dict[str, Signature]) -> NoReturn:
        raise BackendUnavailableError("backend 'reference' is NumPy and runs no kernels")

    def _buffer_arg(self, kernel: Any, arg: Any, value: Any) -> Any:
        return value

    def write(self, buf: Buffer, array: Array, at: int | None = None) -> Buffer:
        array = self._must_fit(buf, array, at)
        buf[... if at is None else slice(at, at + array.size)] = array
        return buf

    def bind(self, kernel: Any, **args: Any) -> NoReturn:
        raise BackendUnavailableError("backend 'reference' is NumPy and runs no kernels")

    def _launch(self, kernel: Any, groups: int, size: int, values: Any, parts: Any, args: Any) -> NoReturn:
        raise BackendUnavailableError("backend 'reference' is NumPy and runs no kernels")


def _create(name: str) -> Backend:
    if name == "cpu":
        from gpu_collide.backends.cpu import CpuBackend

        return CpuBackend()
    if name == "opencl":
        from gpu_collide.backends.opencl import OpenclBackend

        return OpenclBackend()
    if name == "cuda":
        from gpu_collide.backends.cuda import CudaBackend

        return CudaBackend()
    return ReferenceBackend()


def _key(name: str) -> str:
    """Under which a backend is kept: there is one of ``cuda`` for each device that was current."""
    if name == "cuda":
        from gpu_collide.backends.cuda import current_device

        number = current_device()
        return name if number == 0 else f"{name}:{number}"
    return name


def _try(name: str) -> Backend | BackendUnavailableError:
    """The one instance of backend `name` in this process, on the current device, or why there is none."""
    with _lock:
        key = _key(name)
        if key not in _open:
            made: Backend | BackendUnavailableError
            try:
                made = _create(name)
            except BackendUnavailableError as error:
                made = error
            except KernelCompileError as error:
                made = BackendUnavailableError(f"backend {name!r}: {error}")
            key = _key(name)  # CuPy, which knows the device, may be there only now
            _open[key] = made
        return _open[key]


def get_backend(
    name: str = "auto",
    precision: str | None = None,
    programs: tuple[str, ...] = ("screw", "screen", "solve"),
) -> Backend:
    """The backend called `name`, opened once per process; for ``cuda`` that of the current device.

    Parameters
    ----------
    name : {"auto", "cpu", "opencl", "cuda", "reference"}
        ``"auto"`` takes ``cuda`` if there is a GPU, else ``cpu`` if there is a C compiler, else ``opencl`` if
        there is a device, else ``reference``, with one warning that says what to install. The environment
        variable ``GPU_COLLIDE_BACKEND`` narrows ``"auto"`` to one name or to several, separated by commas.
    precision : {"mixed", "double", "single"}, optional
        ``"auto"`` passes over devices without float64 unless it is ``"single"`` or not given.
    programs : tuple of str
        What is launched first, of `sources.PROGRAMS`: with a precision, ``"auto"`` passes over backends that
        do not build it.

    Raises
    ------
    ValueError
        Unknown name.
    BackendUnavailableError
        The backend asked for is not usable; the text says why and what to install.
    """
    if name != "auto":
        return _named(name)
    wanted = [w.strip() for w in os.environ.get("GPU_COLLIDE_BACKEND", "").split(",") if w.strip()]
    if wanted and wanted != ["auto"]:
        for word in wanted:
            if word not in NAMES:
                raise ValueError(
                    f"GPU_COLLIDE_BACKEND must hold names out of {', '.join(NAMES)}, got {word!r}"
                )
        if len(wanted) == 1:
            return _named(wanted[0])
    else:
        wanted = list(NAMES)
    reasons: dict[str, Any] = {}
    for candidate in wanted:
        if candidate == "reference":
            _warn_once(reasons)
        opened: Any = _try(candidate)
        if isinstance(opened, Backend):
            opened = _builds(opened, precision, programs)
            if isinstance(opened, Backend):
                _tell(reasons, candidate)
                return opened
        reasons[candidate] = opened
    raise BackendUnavailableError("; ".join(f"{k}: {v}" for k, v in reasons.items()) + f"\n{DOCTOR}")


def _tell(reasons: dict, taken: str) -> None:
    """Say once why a backend is passed over that the caller would have expected: one that the parent process
    may have used, or a GPU that is there and cannot be used."""
    for name, error in reasons.items():
        gpu = isinstance(error, GpuUnusableError) or (
            name == "cuda" and isinstance(_open.get(_key(name)), Backend)
        )
        if (gpu or isinstance(error, LostByFork)) and name not in _told:
            _told.add(name)
            why = f"the GPU is not used: {error}" if gpu else str(error)
            warn_caller(f"{why}; {taken!r} is taken now")


def _builds(opened: Backend, precision: str | None, programs: tuple[str, ...]) -> Backend | Exception:
    """`opened` if it builds `programs` in `precision`, else why not: its compiler is tried now, while there
    are others to go on to."""
    if not opened.has_float64 and precision not in (None, "single"):
        return PrecisionUnavailableError(f"{opened.device} has no float64 (precision='single' would do)")
    if precision is None or isinstance(opened, ReferenceBackend):
        return opened
    key = opened.name, opened.device, precision, programs
    if key not in _refused:
        try:
            opened.module(programs, precision)
            return opened
        except (BackendUnavailableError, KernelCompileError) as error:
            _refused[key] = error
    return _refused[key]


def _named(name: str) -> Backend:
    if name not in NAMES:
        raise ValueError(f"backend must be one of auto, {', '.join(NAMES)}, got {name!r}")
    opened = _try(name)
    if isinstance(opened, Backend):
        return opened
    raise BackendUnavailableError(f"backend {name!r} is not usable here: {opened}\n{DOCTOR}")


_warned = False
_told: set[str] = set()  # names of backends whose absence was explained


def _warn_once(reasons: dict) -> None:
    global _warned
    if _warned or not reasons:
        return
    _warned = True
    from gpu_collide.backends import cpu, opencl

    # Up to the first semicolon: after it stands what to install, which the sentence says by itself.
    why = "; ".join(f"{name}: {str(error).splitlines()[0].split('; ')[0]}" for name, error in reasons.items())
    warn_caller(
        f"gpu_collide runs its slow NumPy reference, for want of a compiler or an OpenCL device. To be fast, "
        f"{cpu.INSTALL_HINT}, or {opencl.INSTALL_HINT}. ({why}) {DOCTOR}"
    )


@dataclass(frozen=True)
class Device:
    """One line of `devices`.

    Attributes
    ----------
    backend : str
    device : str
        The device in words; empty if there is none.
    usable : bool
    precision : tuple of str
        The values of ``precision`` it accepts.
    why_not : str
        Why it is not usable, and what to do; empty if it is.
    """

    backend: str
    device: str
    usable: bool
    precision: tuple[str, ...]
    why_not: str


class Devices(tuple):
    """The answer of `devices`: a tuple of `Device` that prints as a table."""

    def __repr__(self) -> str:
        rows = [("backend", "usable", "precision", "device, or why not")]
        for d in self:
            text = d.device if d.usable else d.why_not.splitlines()[0]
            rows.append((d.backend, "yes" if d.usable else "no", " ".join(d.precision) or "-", text))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = (
            "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]])
            for row in rows
        )
        return "\n".join(line.rstrip() for line in lines)


def devices() -> Devices:
    """Devices of this machine, one record each, in the order in which ``backend="auto"`` chooses.

    Every OpenCL device is listed; the one that ``backend="opencl"`` takes is the first usable.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> [d.backend for d in gc.devices() if d.backend == "reference"]
    ['reference']
    """
    found = []
    for name in NAMES:
        if name == "opencl":
            found += _opencl_devices()
            continue
        opened = _try(name)
        found.append(_record(name, opened))
    return Devices(found)


def _record(name: str, opened: Backend | BackendUnavailableError, device: str = "") -> Device:
    if not isinstance(opened, Backend):
        return Device(name, device, False, (), str(opened))
    if name == "reference":
        return Device(name, opened.device, True, ("double",), "")
    precision = tuple(declarations.PRECISIONS) if opened.has_float64 else ("single",)
    return Device(name, opened.device, True, precision, "")


def _opencl_devices() -> list[Device]:
    from gpu_collide.backends import opencl

    first = _try("opencl")
    try:
        listed = opencl.list_devices()
    except BackendUnavailableError as error:
        return [Device("opencl", "", False, (), str(error))]
    found = []
    for device in listed:
        described = opencl.describe(device)
        if isinstance(first, Backend) and first.device == described:
            found.append(_record("opencl", first))
            continue
        try:
            found.append(_record("opencl", opencl.OpenclBackend(device)))
        except BackendUnavailableError as error:
            found.append(Device("opencl", described, False, (), str(error)))
    return found
