"""Movers in a still world: how far they may go, what they touch, and that they never go into anything.

J. M. P. van Waveren, "Robust continuous collision detection between arbitrary polyhedra using trajectory
parameterization of polyhedral features".
"""

from __future__ import annotations

from gpu_collide.queries.pluecker.features import default_expel
from gpu_collide.queries.pluecker.primitives import (
    edge_edge_rotation,
    edge_edge_translation,
    line,
    side,
    vertex_polygon_rotation,
    vertex_polygon_translation,
)

__all__ = [
    "default_expel", "edge_edge_rotation", "edge_edge_translation", "line", "side",
    "vertex_polygon_rotation", "vertex_polygon_translation",
]  # fmt: skip
