"""Exceptions of the package.

Wrong arguments raise the built-in ``TypeError`` or ``ValueError`` with a message that names the argument,
what was expected and what came. The classes here are for trouble that a caller may want to catch by kind:
something the machine lacks, or a limit the caller set. Trouble of a single pair is never an exception; it is
that pair's ``status``.
"""

from __future__ import annotations

__all__ = [
    "GpuCollideError",
    "BackendUnavailableError",
    "PrecisionUnavailableError",
    "KernelCompileError",
    "MemoryLimitError",
    "DeviceError",
    "MissingExtraError",
]


#: Last words of what the machine lacks.
DOCTOR = "`gpu-collide doctor` says what was found here, and what to install"


class GpuCollideError(Exception):
    """Base class of every exception defined by gpu_collide."""


class BackendUnavailableError(GpuCollideError, RuntimeError):
    """The requested backend cannot run on this machine; the message says why and what to install."""


class PrecisionUnavailableError(BackendUnavailableError):
    """The device lacks float64 and the requested precision needs it."""


class KernelCompileError(GpuCollideError, RuntimeError):
    """A compiler rejected the kernel source; the message holds the compiler's own output."""


class MemoryLimitError(GpuCollideError, ValueError):
    """``max_bytes`` (or the device) is too small for even one pair; the message gives the bytes needed."""


class DeviceError(GpuCollideError, RuntimeError):
    """A device failed at its work. Devices tell of it late: what failed may have been launched before, also
    by others in this process, and what is computed on the device afterwards may fail as well."""


class MissingExtraError(GpuCollideError, ImportError):
    """An optional dependency is missing; the message names the extra that brings it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package!r}, which is not installed. "
            f"Install it with:  pip install 'gpu-collide[{extra}]'  ({DOCTOR})"
        )
        self.what = what
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return MissingExtraError, (self.what, self.package, self.extra)
