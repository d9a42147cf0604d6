"""An icosahedron whose triangles are cut in four."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.hull import hull_triangles

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["cut_icosahedron"]


def cut_icosahedron(cuts: int) -> tuple[Array, Array]:
    """Points about the origin, as far from it but for rounding, and triangles, cut so many times."""
    golden = (1 + 5**0.5) / 2
    rectangle = [[s, t * golden, 0.0] for s in (-1, 1) for t in (-1, 1)]
    points = np.concatenate([np.roll(rectangle, k, axis=1) for k in range(3)])
    faces = hull_triangles(points)
    for _ in range(cuts):
        points, faces = _subdivide(points, faces)
    return points, faces


def _subdivide(points: Array, faces: Array) -> tuple[Array, Array]:
    """Cut every triangle in four at the middles of its sides."""
    sides = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]], axis=-1).reshape(-1, 2)
    keys, which = np.unique(sides[:, 0] * len(points) + sides[:, 1], return_inverse=True)
    middle = points[keys // len(points)] + points[keys % len(points)]
    # Back onto one sphere now, so that later cuts stay even.
    middle *= np.linalg.norm(points[0]) / np.linalg.norm(middle, axis=1, keepdims=True)
    a, b, c = faces.T
    ab, bc, ca = (which.reshape(-1, 3) + len(points)).T
    cut = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return np.concatenate([points, middle]), cut
