"""Points and their distances under a rotation about z: constant part, sine and cosine."""

from __future__ import annotations

import numpy as np

from gpu_collide.bodies.quaternion import dot

__all__ = ["FULL", "falls_at", "swing_of_point", "turned_by", "value_at"]

FULL = 2 * np.pi


def turned_by(x, angle):
    """Points or vectors, turned about z by the right-hand rule."""
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.stack(
        [x[..., 0] * cosine - x[..., 1] * sine, x[..., 1] * cosine + x[..., 0] * sine, x[..., 2] + 0 * angle],
        axis=-1,
    )


def falls_at(still, sine, cosine):
    """The angle in [0, 2 pi) at which it goes from above zero to below; NaN if it never does."""
    reach = np.hypot(sine, cosine)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.mod(np.arctan2(sine, cosine) + np.arccos(-still / reach), FULL)
    # it falls at once, but for rounding
    soon = (still + cosine >= 0) & (sine < 0) & (angle > FULL - 1e-6)
    return np.where(soon, 0.0, angle)


def swing_of_point(x, normal, corner):
    """Constant part, sine and cosine of the distance of x, as it turns about z, from a plane."""
    still = normal[..., 2] * x[..., 2] - dot(normal, corner)
    sine = normal[..., 1] * x[..., 0] - normal[..., 0] * x[..., 1]
    return still, sine, normal[..., 0] * x[..., 0] + normal[..., 1] * x[..., 1]


def value_at(swing, angle):
    with np.errstate(invalid="ignore"):
        return swing[0] + swing[1] * np.sin(angle) + swing[2] * np.cos(angle)
