"""Quaternions of turns about axes: one angle about z, or several about axes that a text names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, check_bool
from gpu_collide.bodies.quaternion import multiply
from gpu_collide.geometry.arrays.angles import sine_cosine

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, FloatArray

__all__ = ["quat_of_euler", "quat_of_yaw", "radians_of"]


def radians_of(angle: Any, name: str, degrees: Any) -> FloatArray:
    """The argument `name` in radians. Of degrees what a whole revolution leaves is converted, so that many
    revolutions cost no digits."""
    angle = as_float_array(angle, name)
    if not check_bool(degrees, "degrees"):
        return angle
    with np.errstate(invalid="ignore"):
        return np.fmod(angle, 720.0) * (np.pi / 180.0)


def quat_of_yaw(yaw: FloatArray) -> Array:
    """Quaternions (..., 4), w first, of turns about z by `yaw` (...) radians."""
    return _about(2, yaw)


def _about(axis: int, angle: FloatArray) -> Array:
    quat = np.zeros((*angle.shape, 4))
    quat[..., 1 + axis], quat[..., 0] = sine_cosine(0.5 * angle)
    return quat


def quat_of_euler(axes: Any, angles: Any, degrees: Any) -> Array:
    """Quaternions (..., 4), w first, of turns one after the other about `axes`, as `Poses.from_euler` says.

    Raises
    ------
    TypeError, ValueError
        `axes` is no text of one to three of the letters, or angles are not one for each letter.
    """
    if not isinstance(axes, str):
        raise TypeError(f"axes: expected a text such as 'ZYX', got {type(axes).__name__}")
    letters = axes.lower()
    good = 1 <= len(axes) <= 3 and set(letters) <= set("xyz") and axes in (letters, axes.upper())
    if not good or any(a == b for a, b in zip(letters, letters[1:], strict=False)):
        raise ValueError(
            "axes: expected one to three of x, y, z (axes that stand still) or of X, Y, Z (the body's own "
            f"axes), no two neighbours alike, got {axes!r}"
        )
    angles = radians_of(angles, "angles", degrees)
    if angles.shape[-1:] != (len(axes),):
        raise ValueError(
            f"angles: expected shape (..., {len(axes)}), one for each of {axes!r}, got {angles.shape}"
        )
    turns = [_about("xyz".index(letter), angles[..., k]) for k, letter in enumerate(letters)]
    quat = turns[0]
    for turn in turns[1:]:  # about axes that stand still the later turn comes on the left
        quat = multiply(quat, turn) if axes.isupper() else multiply(turn, quat)
    return quat
