"""One pair, computed on each backend and compared with the reference and among the backends."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import gpu_collide as gc
from gpu_collide.checks.bits import same_bits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["Tried", "self_test"]

NEAR = 1e-9  # of the step, or of the box of side 1: worlds apart from what rounding does to this pair
NEAR_SINGLE = 1e-3


@dataclass(frozen=True)
class Tried:
    """How one backend fared: its precision, seconds of the first call (with what had to be built) and of a
    second one, whether the answer is right, and if not, why."""

    backend: str
    precision: str
    first: float
    again: float
    right: bool
    why_not: str


def self_test(names: Sequence[str], progress: Callable[[str], Any] = lambda what: None) -> list[Tried]:
    """Ask each backend of `names` for the contacts of a box that flies through another and turns."""
    bodies = _bodies()
    truth = gc.collide(bodies, [[0, 1]], backend="reference")
    tried: list[Tried] = []
    first_bits: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        progress(f"self-test: backend {name} (a first time, its kernels are built)")
        try:
            precision = _precision(name)
            first, _ = _timed(bodies, name, precision)
            again, found = _timed(bodies, name, precision)
            why_not = _difference(found, truth, NEAR_SINGLE if precision == "single" else NEAR)
            if not why_not and name != "reference" and precision == "mixed":
                other, bits = next(iter(first_bits.items()), (name, found))
                first_bits.setdefault(name, found)
                differ = same_bits(found, bits)
                why_not = f"other bits than {other} in {', '.join(differ)}" if differ else ""
            tried.append(Tried(name, precision, first, again, not why_not, why_not))
        except Exception as error:  # whatever a driver or a compiler comes up with
            text = str(error).strip() or type(error).__name__
            tried.append(Tried(name, "", float("nan"), float("nan"), False, text))
    return tried


def _timed(bodies: gc.Bodies, name: Any, precision: Any) -> tuple[float, gc.Contacts]:
    begin = time.perf_counter()
    found = gc.collide(bodies, [[0, 1]], backend=name, precision=precision).to_numpy()
    return time.perf_counter() - begin, found


def _precision(name: str) -> Any:
    offered = next(d.precision for d in gc.devices() if d.backend == name and d.usable)
    return "mixed" if "mixed" in offered or name == "reference" else offered[0]


def _bodies() -> gc.Bodies:
    start = gc.Poses.from_quat_wxyz([[0.0, 0, 0], [-3, 0.1, 0.2]], [[1.0, 0, 0, 0]] * 2)
    end = gc.Poses.from_quat_wxyz([[0.0, 0, 0], [3, 0.1, 0.2]], [[1.0, 0, 0, 0], [0.8, 0, 0, 0.6]])
    return gc.Bodies(gc.shapes.box(), None, start, end)


def _difference(found: gc.Contacts, truth: gc.Contacts, near: float) -> str:
    """In what an answer differs from the reference's; empty if in nothing."""
    if len(found) != len(truth):
        return f"{len(found)} contacts, the reference has {len(truth)}"
    for name in ("status", "kind", "feature_a", "feature_b", "sustained"):
        if not np.array_equal(getattr(found, name), getattr(truth, name)):
            return f"{name} is not that of the reference"
    for name in ("time", "position", "normal", "properness", "local_a", "local_b"):
        off = float(np.abs(getattr(found, name) - getattr(truth, name)).max(initial=0.0))
        if not off <= near:
            return f"{name} is off by {off:.1e} from the reference"
    return ""
