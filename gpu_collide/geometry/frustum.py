"""Polyhedra around cylinders and cones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_positive
from gpu_collide.geometry.arrays.angles import sine_cosine
from gpu_collide.geometry.hull import hull_triangles

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["corners_around"]

MOST_SIDES = 1 << 16
#: Of the radius, if no tolerance is given: 17 sides.
TOLERANCE = 0.0181


def corners_around(mesh: Any, tolerance: float | None) -> tuple[Array, Array]:
    """Corners (n, 3) and triangles of a polyhedron around a cylinder or a cone, no point of which is farther
    outside of it than the tolerance."""
    radius = max(mesh.ends)
    given = TOLERANCE * radius if tolerance is None else check_positive(tolerance, "tolerance")
    # a side touches the circle in its middle, its corners are radius (1 / cos(pi / n) - 1) outside
    sides = max(int(np.ceil(np.pi / np.arccos(radius / (radius + given)))), 3)
    if sides > MOST_SIDES:
        raise ValueError(
            f"tolerance: expected one that takes {MOST_SIDES:,} sides at most, got {given:g} of a radius of "
            f"{radius:g}, which takes {sides:,}"
        )
    angle = (np.arange(sides) + 0.5) * (2 * np.pi / sides)
    sine, cosine = sine_cosine(angle)
    low, high = mesh.vertices
    axis = (high - low) / np.linalg.norm(high - low)
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    ring = (cosine[:, None] * u + sine[:, None] * np.cross(axis, u)) / np.cos(np.pi / sides)
    rings = [
        middle + r * ring if r > 0 else middle[None] for middle, r in zip((low, high), mesh.ends, strict=True)
    ]
    points = np.concatenate(rings)
    return points, hull_triangles(points)
