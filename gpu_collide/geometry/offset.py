"""A polyhedron around a mesh with a rounding radius, as near to it as is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_positive
from gpu_collide.geometry.hull import hull_triangles
from gpu_collide.geometry.icosahedron import cut_icosahedron
from gpu_collide.geometry.preparation.prepared import is_convex

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = ["cuts_of", "cuts_to_see", "polyhedron_around"]

#: How far outside of a sphere an icosahedron around it is, cut 0 to 5 times, in radii.
OUTSIDE = (0.2584086, 0.0704663, 0.0180740, 0.0045490, 0.0011392, 0.0002850)
#: So that rounding leaves nothing out, in radii.
PAD = 1e-9
#: Cuts where nobody says; and faces of a mesh that is not convex from where on pictures of it take none.
USUAL, MANY = 2, 32


def cuts_of(mesh: Surface, tolerance: float | None) -> int:
    """How often triangles are cut, so that nothing is farther outside than a tolerance."""
    if tolerance is None:
        return USUAL
    cuts = int(
        np.searchsorted(-np.array(OUTSIDE), PAD - check_positive(tolerance, "tolerance") / mesh.rounding)
    )
    if cuts == len(OUTSIDE):
        raise ValueError(
            f"tolerance: expected at least {OUTSIDE[-1] + PAD:.3g} of the rounding radius {mesh.rounding:g}, "
            f"got {tolerance}; queries take the mesh as it is, without a tolerance"
        )
    return cuts


def cuts_to_see(mesh: Surface) -> int:
    """The same for pictures: none where there are many faces, since each has a hull of its own."""
    return 0 if len(mesh.face_planes) > MANY and not is_convex(mesh) else USUAL


def polyhedron_around(mesh: Surface, cuts: int) -> tuple[Array, list[Array]]:
    """Vertices and faces: of a convex mesh the hull of balls about its vertices; of others the mesh, and what
    is around each face."""
    points, faces = cut_icosahedron(cuts)
    a, b, c = points[faces].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    inside = ((normal * a).sum(axis=1) / np.linalg.norm(normal, axis=1)).min()  # how far the faces are
    ball = points * (mesh.rounding * (1.0 + PAD) / inside)
    loops = np.split(mesh.face_vertices, mesh.face_start[1:-1])
    if mesh.thin or len(loops) == 1 or is_convex(mesh):
        vertices, triangles = _around(mesh.vertices, ball)
        return vertices, list(triangles)
    parts: list[tuple[Array, list[Array]]] = []
    for loop in loops:
        vertices, triangles = _around(mesh.vertices[loop], ball)
        parts.append((vertices, list(triangles)))
    if not mesh.two_sided and mesh.closed:
        parts.append((mesh.vertices, loops))
    first = np.append(0, np.cumsum([len(vertices) for vertices, _ in parts]))
    every = [loop + k for (_, some), k in zip(parts, first, strict=False) for loop in some]
    return np.concatenate([vertices for vertices, _ in parts]), every


def _around(core: Array, ball: Array) -> tuple[Array, Array]:
    """Vertices and triangles of the hull of balls about some points."""
    points = (core[:, None] + ball).reshape(-1, 3)
    triangles = hull_triangles(points)
    used, corners = np.unique(triangles, return_inverse=True)
    return points[used], corners.reshape(-1, 3)
