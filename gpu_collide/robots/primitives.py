"""Meshes around the primitives of robot files: polyhedra that contain a cylinder or a sphere."""

from __future__ import annotations

import numpy as np

from gpu_collide._validate import check_positive
from gpu_collide.geometry.arrays.angles import sine_cosine
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.shapes import icosphere

__all__ = ["around_cylinder", "around_sphere"]

#: Sides of the prism around a cylinder: its edges are 0.49 % of the radius outside.
SIDES = 32
#: Cuts of the icosahedron around a sphere: 320 faces, whose corners are 1.9 % of the radius outside.
CUTS = 2
#: What rounding may take from a plane, as a share of the radius.
PAD = 1e-12


def around_cylinder(radius: float, length: float) -> Mesh:
    """Prism of 32 sides about z that contains the cylinder; its ends are the cylinder's own.

    No point of it is farther from the cylinder than 0.49 % of the radius.
    """
    radius, length = check_positive(radius, "radius"), check_positive(length, "length")
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    sine, cosine = sine_cosine(angle)
    out = radius * (1 + PAD) / float(sine_cosine(np.pi / SIDES)[1])
    rim = np.column_stack([out * cosine, out * sine, np.full(SIDES, -0.5 * length)])
    i = np.arange(SIDES)
    sides = np.stack([i, (i + 1) % SIDES, (i + 1) % SIDES + SIDES, i + SIDES], axis=1)
    return Mesh(np.concatenate([rim, rim + [0, 0, length]]), [*sides, i[::-1], i + SIDES])


def around_sphere(radius: float) -> Mesh:
    """Polyhedron of 320 triangles that contains the sphere about the origin.

    No point of it is farther from the sphere than 1.9 % of the radius.
    """
    radius = check_positive(radius, "radius")
    unit = icosphere(CUTS)
    corner = unit.vertices[unit.face_vertices.reshape(-1, 3)]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    depth = (normal * corner[:, 0]).sum(axis=1) / np.sqrt((normal**2).sum(axis=1))
    return Mesh(unit.vertices * (radius * (1 + PAD) / depth.min()), unit.face_vertices.reshape(-1, 3))
