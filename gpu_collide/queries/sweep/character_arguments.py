"""Arguments of characters, checked: gravity, up, platforms, and which slopes are ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, as_int_array
from gpu_collide.queries.sweep import residency

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["MOST_SLIDES", "falls", "length", "ridden", "slides", "slope", "upwards"]

#: Casts of a pass at most.
MOST_SLIDES = 64


def falls(gravity: Any, n: int) -> Any:
    """(3,) or (n, 3) array where it lies."""
    if gravity is None:
        return np.zeros(3)
    fall = residency.floats(gravity, "gravity")
    if fall.shape not in ((3,), (n, 3)):
        raise ValueError(f"gravity: expected shape (3,) or ({n}, 3), got {fall.shape}")
    return fall


def upwards(up: Any, fall: Any) -> Array:
    """A unit vector: `up`, or against the first fall that is one."""
    if up is None:
        way = _against(fall if isinstance(fall, np.ndarray) else _first_fall(fall))
    else:
        way = as_float_array(up, "up", shape=(3,))
    most = np.abs(way).max()
    if not (np.isfinite(most) and most > 0):
        raise ValueError(f"up: expected a direction, got {way.tolist()}")
    way = way / most
    return np.asarray(way / np.linalg.norm(way))


def _against(fall: Array) -> Array:
    """Against the first fall that is one, else z."""
    fall = fall.reshape(-1, 3)
    with np.errstate(invalid="ignore"):
        some = np.flatnonzero(np.isfinite(fall).all(axis=1) & (np.abs(fall).max(axis=1, initial=0) > 0))
    return -fall[some[0]] if some.size else np.array([0.0, 0.0, 1.0])


def _first_fall(fall: Any) -> Array:
    """Of falls on a device the first that is one, on the host; the one copy that is waited for before the
    work, which who says where up is spares."""
    fall = fall.reshape(-1, 3)
    size = abs(fall).max(axis=1)
    return as_float_array(fall[((size > 0) & (size < np.inf)).argmax()], "gravity")


def ridden(riding: Any, m: int, n: int) -> Array:
    """Of m bodies that which each of n characters rides on, -1: none."""
    if riding is None:
        return np.full(n, -1, np.int32)
    return as_int_array(
        riding, "riding", shape=(n,), low=-1, high=m, dtype=np.int32, expected=f"bodies 0 to {m - 1}, or -1"
    )


def slides(value: Any) -> int:
    """Casts of a pass."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"max_slides: expected a whole number, got {type(value).__name__}")
    if not 1 <= value <= MOST_SLIDES:
        raise ValueError(f"max_slides: expected 1 to {MOST_SLIDES}, got {value}")
    return int(value)


def slope(value: Any) -> float:
    """Degrees."""
    angle = length(value, "max_slope")
    if angle > 90:
        raise ValueError(f"max_slope: expected degrees from 0 to 90, got {value}")
    return angle


def length(value: Any, name: str) -> float:
    """A finite number, zero or more."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    if not (value >= 0 and np.isfinite(value)):
        raise ValueError(f"{name}: expected a finite number, zero or more, got {value}")
    return float(value)
