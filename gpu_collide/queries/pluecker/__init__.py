"""Movers among bodies: how far they may go, what they touch, and that they never go into anything.

J. M. P. van Waveren, "Robust continuous collision detection between arbitrary polyhedra using trajectory
parameterization of polyhedral features".
"""

from __future__ import annotations

from gpu_collide.queries.pluecker.contacts import contacts
from gpu_collide.queries.pluecker.features import default_expel
from gpu_collide.queries.pluecker.movers import internal
from gpu_collide.queries.pluecker.moves import move, rotate, translate
from gpu_collide.queries.pluecker.primitives import (
    edge_edge_rotation,
    edge_edge_translation,
    line,
    side,
    vertex_polygon_rotation,
    vertex_polygon_translation,
)
from gpu_collide.results.trace import Touch, TouchPoints, Trace

__all__ = [
    "Touch", "TouchPoints", "Trace", "contacts", "default_expel", "edge_edge_rotation",
    "edge_edge_translation", "internal", "line", "move", "rotate", "side", "translate",
    "vertex_polygon_rotation", "vertex_polygon_translation",
]  # fmt: skip
