"""A polyhedron around a mesh with a rounding radius, as near to it as is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_positive
from gpu_collide.geometry.hull import hull_triangles
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.preparation.prepared import is_convex, kept_with
from gpu_collide.geometry.shapes import icosphere

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["polyhedron_around", "polyhedron_to_see"]

#: How far outside of a sphere an icosahedron around it is, cut 0 to 5 times, in radii.
OUTSIDE = (0.2584086, 0.0704663, 0.0180740, 0.0045490, 0.0011392, 0.0002850)
#: So that rounding leaves nothing out, in radii.
PAD = 1e-9
MANY = 32


def polyhedron_around(mesh: Mesh, tolerance: float | None) -> Any:
    """`Mesh.to_polyhedron`."""
    if not mesh.rounding:
        return mesh
    share = OUTSIDE[2] + PAD if tolerance is None else check_positive(tolerance, "tolerance") / mesh.rounding
    cuts = int(np.searchsorted(-np.array(OUTSIDE), PAD - share))
    if cuts == len(OUTSIDE):
        raise ValueError(
            f"tolerance: expected at least {OUTSIDE[-1] + PAD:.3g} of the rounding radius {mesh.rounding:g}, "
            f"got {tolerance}; queries take the mesh as it is, without a tolerance"
        )
    return kept_with(mesh, f"polyhedron {cuts}", lambda: _made(mesh, cuts))


def polyhedron_to_see(mesh: Mesh) -> Any:
    """One for pictures: coarse where there are many faces, since each has a hull of its own."""
    many = mesh.n_faces > MANY and not is_convex(mesh)
    return polyhedron_around(mesh, (OUTSIDE[0] + 2 * PAD) * mesh.rounding if many and mesh.rounding else None)


def _made(mesh: Mesh, cuts: int) -> Mesh:
    ball = icosphere(cuts)
    inside = np.abs(ball.face_planes[:, 3]).min()  # of what is around the sphere the faces touch it
    ball_points = ball.vertices * (mesh.rounding * (1.0 + PAD) / inside)
    if mesh.thin or mesh.n_faces == 1 or is_convex(mesh):
        points, triangles = _around(mesh.vertices, ball_points)
        return Mesh(points, triangles)
    # of others the mesh, and what is around each face
    parts = [_around(mesh.vertices[loop], ball_points) for loop in mesh.faces]
    if not mesh.two_sided and mesh.closed:
        parts.append((mesh.vertices, mesh.faces))
    first = np.append(0, np.cumsum([len(points) for points, _ in parts]))
    faces = [loop + k for (_, loops), k in zip(parts, first, strict=False) for loop in loops]
    return Mesh(np.concatenate([points for points, _ in parts]), faces)


def _around(core: Array, ball: Array) -> tuple[Array, Array]:
    """Vertices and triangles of the hull of balls about some points."""
    points = (core[:, None] + ball).reshape(-1, 3)
    triangles = hull_triangles(points)
    used, corners = np.unique(triangles, return_inverse=True)
    return points[used], corners.reshape(-1, 3)
