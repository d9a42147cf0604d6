"""Shared libraries of kernels for `cpu`: built by the machine's C compiler once, then read from the cache.
What is in the cache serves without a compiler too."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import os
import platform
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gpu_collide.backends import cache, declarations
from gpu_collide.backends.compiler import INSTALL_HINT, compile_shared, extra_flags, find_compiler
from gpu_collide.errors import BackendUnavailableError, KernelCompileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["FLAGS", "Builder", "build_library", "builder", "remember"]

# No contraction, no fast-math: the same bits as the other targets. -fno-math-errno and -fno-trapping-math
# only drop side effects (errno, the exception flags), which lets sqrt and floor be single instructions and
# loops vectorise. GCC 12's straight-line (SLP) vectoriser gives other bits than the same text at -O1,
# contraction off or not; its loop vectoriser does not, and is the one that pays here (docs/decisions/0009).
FLAGS = (
    "-std=c11", "-O3", "-fno-tree-slp-vectorize", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-fPIC", "-shared", "-fvisibility=hidden",
)  # fmt: skip
_NATIVE = ("-march=native",)


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


class Builder(NamedTuple):
    """The compiler whose libraries are used.

    Attributes
    ----------
    command : list of str
    version : str
        As it says itself.
    flags : tuple of str
        For this processor, besides `FLAGS`.
    gone : str
        Why it builds nothing more: what the cache has of it is all there is. Empty if it is here.
    """

    command: list[str]
    version: str
    flags: tuple[str, ...] = _NATIVE
    gone: str = ""

    @property
    def described(self) -> str:
        """It in words."""
        name = self.version.splitlines()[0]
        return f"kernels from the cache, built by {name}; no C compiler now" if self.gone else name

    @property
    def why_not_built(self) -> str:
        """What is wrong with a compiler that does not build, and what to do."""
        command = " ".join(self.command)
        if flags := os.environ.get("GPU_COLLIDE_CFLAGS", "").strip():
            with_flags = f"with GPU_COLLIDE_CFLAGS={flags!r}; correct it or unset it"
            return f"{command} cannot build the kernels {with_flags}"
        return f"{command} cannot build shared libraries; {INSTALL_HINT}"


def builder() -> Builder:
    """The C compiler; where there is none, the last one whose libraries for this processor were kept.

    Raises
    ------
    BackendUnavailableError
        There is neither.
    """
    try:
        return Builder(*find_compiler())
    except BackendUnavailableError as error:
        why = str(error)
        there, gone = cache.found(_record_name(), lambda data: _recorded(data, why))
        if not there:
            raise
        return gone


def _recorded(data: bytes, gone: str) -> Builder:
    command, version, flags = json.loads(data)
    if not isinstance(version, str) or not version.strip():
        raise ValueError("no version")
    if not all(isinstance(word, str) for words in (command, flags) for word in list(words)):
        raise ValueError("no words")
    return Builder(list(command), version, tuple(flags), gone)


def remember(used: Builder, flags: tuple[str, ...]) -> None:
    """Keep which compiler and flags built what is in the cache, for when the compiler is gone."""
    if used.gone:
        return
    data = json.dumps([used.command, used.version, flags]).encode()

    def is_same(kept: bytes) -> None:
        if kept != data:
            raise ValueError("another compiler's")

    if not cache.found(_record_name(), is_same)[0]:
        cache.keep(_record_name(), data)


def _record_name() -> str:
    return f"compiler-{cache.digest(_processor())}.json"


def build_library(
    text: str,
    precision: str,
    flags: tuple[str, ...],
    use: Callable[[Any], Any] = lambda library: library,
    by: Builder | None = None,
) -> Any:
    """What ``use(library)`` makes of the shared library of `text`, compiled unless this machine has done so
    before."""
    used = by or builder()
    flags = (*FLAGS, *flags, *extra_flags(), f"-DGC_PRECISION={declarations.PRECISIONS[precision]}")
    name = cache.digest(text, " ".join(flags), " ".join(used.command), used.version, _processor())
    name += ".dll" if os.name == "nt" else ".so"
    by_path = any(flag.startswith(("-g", "-fsanitize")) for flag in flags)  # for those who look at it

    def make() -> bytes:
        if used.gone:
            raise BackendUnavailableError(f"the cache lacks some of the kernels, and there is {used.gone}")
        return compile_shared(used.command, flags, text, name)

    return cache.cached(name, make, lambda data: use(_load(data, name, by_path)))


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
        return ctypes.CDLL(str(cache.private_file(name, data)))
    except OSError as error:
        raise KernelCompileError(f"the library of the kernels cannot be loaded: {error}") from None
