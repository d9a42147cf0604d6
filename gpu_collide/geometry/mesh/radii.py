"""Radii of round shapes checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, check_distance, check_finite, how_many
from gpu_collide.geometry.arrays.measures import MAGNITUDES

if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_ends", "check_rounding"]


def check_rounding(value: Any) -> float:
    """Check a rounding radius; returns it as ``float``."""
    rounding = check_distance(value, "rounding")
    if rounding and not MAGNITUDES[0] < rounding < MAGNITUDES[1]:
        raise ValueError(
            f"rounding: expected 0 or a length between {MAGNITUDES[0]:g} and {MAGNITUDES[1]:g}, got {value}"
        )
    return rounding


def check_ends(value: Any, vertices: Any, faces: Any, rounding: float) -> tuple[float, float]:
    """Check radii of flat ends; returns them as two ``float``."""
    radii = check_finite(as_float_array(value, "ends", shape=(2,)), "ends")
    if not (radii >= 0.0).all() or not MAGNITUDES[0] < radii.max() < MAGNITUDES[1]:
        raise ValueError(
            f"ends: expected two radii from 0 up, the larger one between {MAGNITUDES[0]:g} and "
            f"{MAGNITUDES[1]:g}, got {radii.tolist()}"
        )
    if np.shape(vertices) != (2, 3) or len(faces) != 0 or rounding:
        raise ValueError(
            f"ends: expected two vertices, no faces and no rounding beside it, got vertices of shape "
            f"{np.shape(vertices)}, {how_many(len(faces), 'face')} and rounding={rounding:g}"
        )
    return float(radii[0]), float(radii[1])
