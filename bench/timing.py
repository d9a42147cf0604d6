"""Warm up, repeat, and keep the minimum with the spread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

#: Beginnings of the stage names in ``Contacts.info["timings"]`` that are not work of a kernel.
_COMPILE = ("compile", "build")
_TRANSFER = ("transfer", "upload", "download", "to_device", "to_host", "pack")


@dataclass
class Timing:
    """Seconds of one measured call; `stages` belongs to the fastest run."""

    first: float
    runs: list[float]
    stages: dict[str, float]

    @property
    def best(self) -> float:
        return min(self.runs)

    @property
    def spread(self) -> float:
        """Slowest over fastest run, minus 1: above some 0.1 the machine was not quiet."""
        return max(self.runs) / min(self.runs) - 1.0

    def part(self, what: str) -> float:
        """Seconds of the fastest run that went into "compile", "transfer" or "kernel"."""
        total = 0.0
        for name, seconds in self.stages.items():
            kind = "compile" if name.startswith(_COMPILE) else "kernel"
            kind = "transfer" if name.startswith(_TRANSFER) else kind
            total += seconds if kind == what and name != "total" else 0.0
        return total

    @property
    def startup(self) -> float:
        """What the first call cost beyond a warm one: compiling, loading, filling caches."""
        return max(self.first - self.best, 0.0)


def stages_of(result) -> dict[str, float]:
    """Stage times of a result of ``gc.collide``, seconds; empty for anything else."""
    info = getattr(result, "info", None) or {}
    return {str(k): float(v) for k, v in info.get("timings", {}).items()}


def measure(call: Callable[[], object], repeat: int = 3) -> Timing:
    """Time `call`, which must return host arrays (so that nothing is still running when it returns)."""
    first, _ = _timed(call)
    runs = [_timed(call) for _ in range(max(repeat, 1))]
    return _collect(first, runs)


def measure_in_turn(calls: list[Callable[[], object]], repeat: int = 3) -> list[Timing]:
    """Like `measure` for several calls in turn, so that a busy minute of the machine hits all of them."""
    firsts = [_timed(call)[0] for call in calls]
    runs = [[_timed(call) for call in calls] for _ in range(max(repeat, 1))]
    return [_collect(first, [turn[k] for turn in runs]) for k, first in enumerate(firsts)]


def _timed(call):
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    return seconds, stages_of(result)


def _collect(first, runs):
    stages = min(runs, key=lambda run: run[0])[1]
    return Timing(first, [seconds for seconds, _ in runs], stages)
