"""Kernels out of PTX built as libraries, one each, kept by content in the folder of built kernels.

A kernel is built when it is first launched, with what it calls: a text that adds a kernel to others, or
changes one, costs the building of that one.
"""

from __future__ import annotations

import ctypes
import platform
import threading
from functools import cache, lru_cache

from gpu_collide.backends.cache import cached, digest, private_file
from gpu_collide.backends.compiler import compile_shared, find_compiler
from tests.ptx.parse import Instruction, parse
from tests.ptx.translate import needed, translate

__all__ = ["library", "module", "opcodes", "texts"]

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
_lock = threading.RLock()
opcodes: set[str] = set()
"""Of all kernels that this process has launched."""


@lru_cache(maxsize=32)
def module(ptx: bytes):
    """The parsed `Module` of a PTX text."""
    return parse(ptx.decode())


def library(ptx: bytes, kernel: str, *, fused: bool = False, count: bool = False) -> ctypes.CDLL:
    """A kernel of a PTX module as a library of this machine; see `translate`."""
    with _lock:
        return _library(ptx, kernel, fused, count)


@cache
def _library(ptx: bytes, kernel: str, fused: bool, count: bool) -> ctypes.CDLL:
    text = translate(module(ptx), kernel, fused=fused, count=count)
    parts = needed(module(ptx), kernel).functions
    opcodes.update(s.op for f in parts for s in f.body if isinstance(s, Instruction))
    return _built(text)


@cache
def _built(text: str) -> ctypes.CDLL:
    command, version = find_compiler()
    flags = FLAGS + (X86_64 if platform.machine() in ("x86_64", "AMD64") else ())
    name = f"{digest(text, *flags, version)}.ptx.so"
    make = lambda: compile_shared(command, flags, text, "ptx.c")  # noqa: E731
    return cached(name, make, lambda data: ctypes.CDLL(str(private_file(name, data))))


def texts(built: ctypes.CDLL, name: str) -> list[str]:
    """Strings of a library: source lines (``ptx_sites``) or basic blocks (``ptx_blocks``)."""
    first = ctypes.pointer(ctypes.c_char_p.in_dll(built, name))
    found = []
    while first[len(found)]:
        found.append(first[len(found)].decode())
    return found
