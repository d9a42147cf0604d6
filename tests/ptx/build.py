"""Translated PTX built as a library, kept by content in the folder of built kernels."""

from __future__ import annotations

import ctypes
import platform
import threading
from functools import lru_cache
from pathlib import Path

from gpu_collide.backends.cache import cached, digest, private_file
from gpu_collide.backends.compiler import compile_shared, find_compiler
from tests.ptx.translate import translate

__all__ = ["argument_sizes", "library", "stack_bytes", "texts"]

# Not fused, not reordered, not assumed: what the opcode says is what is computed.
FLAGS = (
    "-O1",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fno-math-errno",
    "-w",
)
X86_64 = ("-msse4.1",)  # floor and rint as instructions; there since 2008
_HERE = Path(__file__).parent
_lock = threading.Lock()


@lru_cache(maxsize=1)
def _translator() -> str:
    """Contents of what a library depends on besides its PTX."""
    files = ("parse.py", "opcodes.py", "translate.py", "runtime.h", "build.py")
    return digest(*((_HERE / name).read_bytes() for name in files))


def library(ptx: bytes, *, fused: bool = False, count: bool = False) -> ctypes.CDLL:
    """A PTX module as a library of this machine; see `translate`."""
    with _lock:
        return _library(ptx, fused, count)


@lru_cache(maxsize=64)
def _library(ptx: bytes, fused: bool, count: bool) -> ctypes.CDLL:
    command, version = find_compiler()
    flags = FLAGS + (X86_64 if platform.machine() in ("x86_64", "AMD64") else ())
    name = f"{digest(ptx, _translator(), str((fused, count)), *flags, version)}.ptx.so"

    def make() -> bytes:
        text = translate(ptx.decode(), fused=fused, count=count)
        return compile_shared(command, flags, text, "ptx.c")

    return cached(name, make, lambda data: ctypes.CDLL(str(private_file(name, data))))


def argument_sizes(library: ctypes.CDLL, kernel: str) -> list[int]:
    """Bytes of each argument of a kernel."""
    return _until_zero(library, f"ptx_sizes_{kernel}", ctypes.c_int)


def texts(library: ctypes.CDLL, name: str) -> list[str]:
    """Strings of a library: source lines (``ptx_sites``) or basic blocks (``ptx_blocks``)."""
    return [text.decode() for text in _until_zero(library, name, ctypes.c_char_p)]


def _until_zero(library, name, kind) -> list:
    first = ctypes.pointer(kind.in_dll(library, name))
    found = []
    while first[len(found)]:
        found.append(first[len(found)])
    return found


def stack_bytes(library: ctypes.CDLL, kernel: str) -> int:
    """Bytes of local memory that a work-item of a kernel takes with all that it calls."""
    return ctypes.c_int.in_dll(library, f"ptx_stack_{kernel}").value
