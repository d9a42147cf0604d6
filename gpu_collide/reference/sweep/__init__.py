"""Swept spheres in NumPy float64: every query against every feature, by plain quadratics."""

from __future__ import annotations

from gpu_collide.reference.sweep._walkers import Walkers
from gpu_collide.reference.sweep._world import Reference

__all__ = ["Reference", "Walkers"]
