"""What launches cost on a GPU, counted: instructions of warps, lanes at work, bytes.

Within ``with counting() as counted`` kernels of the stand-in are built and run with counts; outside, nothing
of it is there. A count is of PTX instructions as a warp executes them, see lockstep.h; what an instruction
weighs is in `weights`.
"""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from tests.ptx import build, translate
from tests.ptx import device as simulated
from tests.ptx.blocks import Block, numbered
from tests.ptx.weights import PIPES, costs

__all__ = ["COLUMNS", "Counted", "counting"]

#: Of each block, in the order of lockstep.h.
COLUMNS = ("warps", "lanes", "busiest", "local_bytes", "shared_bytes", "global_bytes", "sectors")
_SUMS = ("executed", "instructions", "least", "lanes", *PIPES)


@dataclass
class Counted:
    """Counts by kernel, of all launches since the beginning.

    Attributes
    ----------
    launches, barriers, group_sizes : dict of str to int
    blocks : dict of str to (list of Block, array)
        Of each kernel its basic blocks and, (len, len(COLUMNS)), what was counted of each.
    """

    launches: dict[str, int] = field(default_factory=dict)
    barriers: dict[str, int] = field(default_factory=dict)
    group_sizes: dict[str, int] = field(default_factory=dict)
    blocks: dict[str, tuple[list[Block], np.ndarray]] = field(default_factory=dict)

    def add(self, ptx: bytes, kernel: str, library: build.Library, group: int, barriers: int) -> None:
        """Take what a launch counted, and set its counters back."""
        blocks = _blocks(ptx, kernel)
        counts = np.ctypeslib.as_array(
            (ctypes.c_double * (len(blocks) * len(COLUMNS))).in_dll(library.built, "ptx_counts")
        ).reshape(len(blocks), len(COLUMNS))
        self.group_sizes[kernel] = group
        self.launches[kernel] = self.launches.get(kernel, 0) + 1
        self.barriers[kernel] = self.barriers.get(kernel, 0) + barriers
        before = self.blocks.get(kernel, (blocks, 0.0))[1]
        self.blocks[kernel] = blocks, before + counts
        counts[:] = 0.0

    def totals(self, kernel: str, by=None) -> dict:
        """Sums over a kernel: `instructions` of warps, `least` the same if lanes never waited for each other,
        `executed` without weights, `use` the share of lanes at work, by pipe how many instructions it takes,
        and bytes. With `by`, a function of a block and an instruction, a dict of such dicts without bytes."""
        blocks, counts = self.blocks[kernel]
        sums: dict = {}
        for block, row in zip(blocks, counts.tolist(), strict=True):
            for s in block.instructions:
                key = by(block, s) if by else None
                to = sums.setdefault(key, dict.fromkeys(_SUMS, 0.0))
                cost = costs(s.op)
                to["executed"] += row[0]
                to["lanes"] += row[1]
                to["instructions"] += row[0] * cost["instructions"]
                to["least"] += row[2] * cost["instructions"]
                for pipe in PIPES:
                    to[pipe] += row[0] * cost[pipe]
        for to in sums.values():
            to["use"] = to.pop("lanes") / (32.0 * to["executed"]) if to["executed"] else 0.0
        if by:
            return sums
        return sums[None] | dict(zip(COLUMNS[3:], counts.sum(axis=0)[3:].tolist(), strict=True))


@lru_cache(maxsize=64)
def _blocks(ptx: bytes, kernel: str) -> list[Block]:
    return numbered(translate.needed(build.module(ptx), kernel))


@contextlib.contextmanager
def counting():
    """Count what kernels of the stand-in do within a block of statements; yields a `Counted`."""
    counted = Counted()
    before, simulated.counted = simulated.counted, counted
    try:
        yield counted
    finally:
        simulated.counted = before
