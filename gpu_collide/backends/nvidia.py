"""NVIDIA's hardware and driver as far as they can be examined without CuPy, to advise what to install."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

__all__ = ["driver", "gpus"]

_LIBRARIES = ("nvcuda.dll",) if os.name == "nt" else ("libcuda.so.1", "libcuda.so")
_DISPLAY, _VENDOR = "0x03", "0x10de"  # classes of PCI devices that draw or compute; NVIDIA


def driver() -> tuple[int, int] | None:
    """The newest CUDA version that the driver serves, such as (12, 4); None if there is no driver."""
    for name in _LIBRARIES:
        try:
            version, library = ctypes.c_int(), ctypes.CDLL(name)
            if library.cuDriverGetVersion(ctypes.byref(version)) == 0:
                return version.value // 1000, version.value % 1000 // 10
        except (OSError, AttributeError):
            continue
    return None


def gpus(devices: Path = Path("/sys/bus/pci/devices"), nodes: Path = Path("/dev")) -> int:
    """How many NVIDIA GPUs the system lists, with a driver or without; 0 where it does not say."""

    def read(path: Path) -> str:
        try:
            return path.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            return ""

    listed = [
        path
        for path in devices.glob("*")
        if read(path / "vendor") == _VENDOR and read(path / "class").startswith(_DISPLAY)
    ]
    return len(listed) or len(list(nodes.glob("nvidia[0-9]*")))
