"""Where the instructions of counted kernels go: by function and by line of the kernels' sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from gpu_collide.backends import sources
from tests.ptx.counting import Counted

__all__ = ["Share", "function_at", "shares", "show"]

_DEFINITION = re.compile(r"(?:GC_KERNEL|GC_CROWDED_KERNEL|GC_LARGE|GC_FN|GC_INLINE)\b[^(;]*?(\w+)\(")


@dataclass(frozen=True)
class Share:
    """What is counted of one function, or of one line, of a kernel, a pair; `caller` is the function that it
    is inlined into, or the function itself."""

    kernel: str
    caller: str
    function: str
    line: str
    instructions: float
    least: float
    memory: float
    use: float


def function_at(place: str) -> str:
    """The function that has a place, ``"narrow_phase/candidates/gc_emit.h:119"``; ``"?"`` for one that is
    of no kernel file."""
    path, _, line = place.rpartition(":")
    found = "?"
    for first, name in _functions(path):
        if first > int(line or 0):
            break
        found = name
    return found


@cache
def _functions(path: str) -> list[tuple[int, str]]:
    """First line and name of each function of a kernel file, in order."""
    file = sources.kernels_dir() / path
    if not path or not file.is_file():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    heads = ((i, _DEFINITION.match(line)) for i, line in enumerate(lines, 1))
    return [(i, m.group(1)) for i, m in heads if m]


def shares(counted: Counted, pairs: int, lines: bool = False) -> list[Share]:
    """All functions of all kernels, or all their lines, the largest first."""

    def place(_, s):
        own, _, into = s.place.partition(" in ")
        return function_at(into or own), function_at(own), own if lines else ""

    found = []
    for kernel in counted.blocks:
        for key, t in counted.totals(kernel, place).items():
            sums = (t[name] / pairs for name in ("instructions", "least", "memory"))
            found.append(Share(kernel, *key, *sums, t["use"]))
    return sorted(found, key=lambda s: -s.instructions)


def show(case: str, group: int, counted: Counted, pairs: int, most: int) -> None:
    """Print the `most` largest functions, and the `most` largest lines."""
    for lines in (False, True):
        what = "lines" if lines else "functions"
        print(f"\n== {case}, groups of {group}: instructions a pair, by {what} ==")
        print(f"{'instructions':>13}{'least':>10}{'memory':>9}{'use':>6}  kernel")
        for s in shares(counted, pairs, lines)[:most]:
            where = s.function if s.caller == s.function else f"{s.function} in {s.caller}"
            print(f"{s.instructions:13,.0f}{s.least:10,.0f}{s.memory:9,.0f}{s.use:6.2f}"
                  f"  {s.kernel:<14} {where}  {s.line}")  # fmt: skip
