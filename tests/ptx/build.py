"""Kernels out of PTX built as libraries, one each, kept by content in the folder of built kernels.

A kernel is built when it is first launched, with what it calls: a text that adds a kernel to others, or
changes one, costs the building of that one.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from dataclasses import dataclass
from functools import cache, lru_cache

from gpu_collide.backends.cache import cached, digest, private_file
from gpu_collide.backends.compiler import compile_shared, find_compiler
from tests.ptx.parse import Instruction, parse
from tests.ptx.translate import needed, translate

__all__ = ["LEVEL", "Library", "library", "module", "opcodes"]

#: How much the compiler optimises. Twice the building makes launches 1.8 times as fast: what runs for hours
#: sets "1". The bits are the same.
LEVEL = "GPU_COLLIDE_PTX_LEVEL"
# Not fused, not reordered, not assumed: what the opcode says is what is computed.
FLAGS = (
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


@dataclass(frozen=True, eq=False)
class Library:
    """A kernel of one PTX text: what it was built as, which others of the same C text share, and the source
    lines that its sites stand for."""

    built: ctypes.CDLL
    sites: tuple[str, ...]


@lru_cache(maxsize=32)
def module(ptx: bytes):
    """The parsed `Module` of a PTX text."""
    return parse(ptx.decode())


def library(ptx: bytes, kernel: str, *, fused: bool = False, count: bool = False) -> Library:
    """A kernel of a PTX module as a library of this machine; see `translate`."""
    with _lock:
        return _library(ptx, kernel, fused, count)


@cache
def _library(ptx: bytes, kernel: str, fused: bool, count: bool) -> Library:
    made = translate(module(ptx), kernel, fused=fused, count=count)
    parts = needed(module(ptx), kernel).functions
    opcodes.update(s.op for f in parts for s in f.body if isinstance(s, Instruction))
    return Library(_built(made.text), made.sites)


@cache
def _built(text: str) -> ctypes.CDLL:
    command, version = find_compiler()
    flags = (f"-O{os.environ.get(LEVEL, '0')}", *FLAGS)
    flags += X86_64 if platform.machine() in ("x86_64", "AMD64") else ()
    name = f"{digest(text, *flags, version)}.ptx.so"
    make = lambda: compile_shared(command, flags, text, "ptx.c")  # noqa: E731
    return cached(name, make, lambda data: ctypes.CDLL(str(private_file(name, data))))
