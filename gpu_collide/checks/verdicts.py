"""The records that the judges of the families write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["Verdicts"]

SHOWN = 5  # sentences of a kind: the next thousand say the same


@dataclass
class Verdicts:
    """One answer, judged: how many things were asked and found, what brute force is sure of, errors.

    Attributes
    ----------
    asked, found, sure : int
    worst : float
        Largest error of a length that was compared, over the size of what it is an error of.
    wrong : list of str
        What is wrong, a sentence each, no more than a few of a kind.
    count : int
        How many things are wrong.
    """

    asked: int = 0
    found: int = 0
    sure: int = 0
    worst: float = 0.0
    wrong: list[str] = field(default_factory=list)
    count: int = 0

    def note(self, rows: Array, text: str, unit: str = "pair") -> None:
        """`text` holds of these rows."""
        rows = np.unique(rows)
        self.count += len(rows)
        if len(rows):
            more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
            self.wrong.append(f"{unit} {', '.join(str(r) for r in rows[:SHOWN])}{more}: {text}")

    def within(self, rows: Array, error: Array, allowed: float, text: str, unit: str = "pair") -> None:
        """Errors, as shares of a size, that may be at most `allowed`; what is no number is wrong."""
        error = np.asarray(error, float)
        finite = error[np.isfinite(error)]
        self.worst = max(self.worst, float(finite.max(initial=0.0)))
        bad = ~(error <= allowed)
        if bad.any():
            at = np.where(np.isfinite(error), error, np.inf).max()
            self.note(np.asarray(rows)[bad], f"{text} (by up to {at:.1e} of the size)", unit)
