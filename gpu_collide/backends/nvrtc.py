"""NVRTC, NVIDIA's run-time compiler, through ctypes. It needs neither a GPU nor a driver."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_collide.errors import BackendUnavailableError, KernelCompileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["INSTALL_HINT", "build", "libraries", "supported", "version"]

INSTALL_HINT = "pip install nvidia-cuda-nvrtc-cu12 (it comes with the extras cuda12 and cuda13)"


def _candidates(major: int | None) -> list[str]:
    """Libraries to try, those of the CUDA version `major` first."""
    patterns = ("*/lib/libnvrtc.so.[0-9]*", "*/bin/nvrtc64_*_0.dll", "*/bin/x86_64/nvrtc64_*_0.dll")
    found = []
    spec = find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec else []:
        for pattern in patterns:
            found += sorted(str(p) for p in Path(root).glob(pattern))
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if os.environ.get(variable):
            folder = Path(os.environ[variable])
            for pattern in ("lib64/libnvrtc.so.[0-9]*", "lib/libnvrtc.so.[0-9]*", "bin/nvrtc64_*_0.dll"):
                found += sorted(str(p) for p in folder.glob(pattern))
    found += ["libnvrtc.so.12", "libnvrtc.so.13"]
    if system := ctypes.util.find_library("nvrtc"):
        found.append(system)

    def other_major(path: str) -> bool:
        number = re.search(r"(?:so\.|nvrtc64_)(\d\d)", path)
        return major is not None and (number is None or int(number.group(1)) != major)

    return sorted(found, key=other_major)


_kept: list[ctypes.CDLL] = []


def _load_builtins(path: str) -> None:
    """Load the library that NVRTC opens by name when it compiles: beside it, where a wheel has it and no
    loader looks, and of its version."""
    number = re.search(r"so\.(\d+)", path)
    for name in sorted(Path(path).parent.glob(f"libnvrtc-builtins.so.{number.group(1) if number else ''}*")):
        try:
            _kept.append(ctypes.CDLL(str(name)))
        except OSError:  # NVRTC tells of it when it compiles
            continue


def libraries(major: int | None = None) -> Iterator[tuple[str, Any, str]]:
    """Libraries that are looked for, in their order: path or name, the library, and if it is None, why."""
    for path in _candidates(major):
        try:
            _load_builtins(path)
            lib = ctypes.CDLL(path)
            lib.nvrtcGetErrorString.restype = ctypes.c_char_p
            yield path, lib, ""
        except (OSError, AttributeError) as error:
            yield path, None, str(error)


@lru_cache(maxsize=2)
def _library(major: int | None = None) -> ctypes.CDLL:
    for _, lib, _ in libraries(major):
        if lib is not None:
            return lib
    raise BackendUnavailableError(f"NVRTC was not found; {INSTALL_HINT}")


def _check(lib: Any, code: int) -> None:
    if code:
        raise KernelCompileError(f"NVRTC: {lib.nvrtcGetErrorString(code).decode()}")


def version(major: int | None = None) -> str:
    """Version of the NVRTC that is used, such as ``"12.9"``."""
    lib = _library(major)
    a, b = ctypes.c_int(), ctypes.c_int()
    _check(lib, lib.nvrtcVersion(ctypes.byref(a), ctypes.byref(b)))
    return f"{a.value}.{b.value}"


def supported(major: int | None = None) -> list[int]:
    """Architectures it compiles for, such as 90 for sm_90, ascending."""
    lib = _library(major)
    n = ctypes.c_int()
    _check(lib, lib.nvrtcGetNumSupportedArchs(ctypes.byref(n)))
    archs = (ctypes.c_int * n.value)()
    _check(lib, lib.nvrtcGetSupportedArchs(archs))
    return sorted(archs)


def build(text: str, options: list[str], kind: str = "cubin", major: int | None = None) -> bytes:
    """Compile CUDA C++ `text` to ``"cubin"`` or ``"ptx"``.

    Raises
    ------
    BackendUnavailableError
        NVRTC is not installed.
    KernelCompileError
        The text was refused; the message holds the compiler's log.
    """
    lib = _library(major)
    program = ctypes.c_void_p()
    _check(lib, lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None))
    try:
        argv = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        if lib.nvrtcCompileProgram(program, len(options), argv):
            log = _fetch(lib, program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
            raise KernelCompileError(f"NVRTC refused the kernels ({' '.join(options)}):\n{log}")
        if kind == "ptx":
            return _fetch(lib, program, "PTX").rstrip(b"\0")
        return _fetch(lib, program, "CUBIN")
    finally:
        lib.nvrtcDestroyProgram(ctypes.byref(program))


def _fetch(lib: Any, program: Any, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(lib, getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    data = ctypes.create_string_buffer(size.value)
    _check(lib, getattr(lib, f"nvrtcGet{what}")(program, data))
    return data.raw
