"""Movers in a still world in NumPy float64, by angles and linear systems where the kernels go by sides."""

from __future__ import annotations

from gpu_collide.reference.pluecker.movers import Reference

__all__ = ["Reference"]
