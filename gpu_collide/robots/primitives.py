"""Prisms around the cylinders of robot files."""

from __future__ import annotations

import numpy as np

from gpu_collide._validate import check_positive
from gpu_collide.geometry.arrays.angles import sine_cosine
from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["around_cylinder"]

#: Sides of the prism around a cylinder: its edges are 0.49 % of the radius outside.
SIDES = 32
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
