"""Whether two results are the same, bit by bit."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

__all__ = ["same_bits"]


def same_bits(one: Any, other: Any) -> list[str]:
    """Names of the arrays in which two results of one query differ in any bit."""
    one, other = (r.to_numpy() if hasattr(r, "to_numpy") else r for r in (one, other))
    differ = []
    for name in (field.name for field in fields(one)):
        a, b = getattr(one, name), getattr(other, name)
        if (a is None) != (b is None):
            differ.append(name)
        elif isinstance(a, np.ndarray) and (a.shape != b.shape or a.tobytes() != b.tobytes()):
            differ.append(name)
    return differ
