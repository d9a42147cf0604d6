"""Joint values along edges, cubic polynomials of time, and bounds of their derivatives on pieces of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.reference.robots.r02_deviations import Rates

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["Curves"]


class Curves(NamedTuple):
    """Of each edge and joint (n, j) the coefficients of ``start + t (rate + t (square + t cube))``."""

    start: Array
    rate: Array
    square: Array
    cube: Array

    @classmethod
    def between(cls, q0: Array, q1: Array, v0: Array | None = None, v1: Array | None = None) -> Curves:
        """Straight, or with derivatives at both ends (Hermite)."""
        way = q1 - q0
        if v0 is None or v1 is None:
            return cls(q0, way, np.zeros_like(way), np.zeros_like(way))
        return cls(q0, v0, 3 * way - 2 * v0 - v1, v0 + v1 - 2 * way)

    def at(self, motion: Array, time: Array) -> Array:
        """Values (k, j) of edges at times, (k,) each."""
        start, rate, square, cube = (part[motion] for part in self)
        t = np.asarray(time)[:, None]
        return start + t * (rate + t * (square + t * cube))

    def rates(self, motion: Array, begin: Array, end: Array) -> Rates:
        """Of pieces of edges from `begin` to `end`, (k,) each."""
        _, rate, square, cube = (part[motion] for part in self)
        t, h = (0.5 * (begin + end))[:, None], (end - begin)[:, None]
        middle = self.at(motion, t[:, 0])
        first = h * (rate + t * (2 * square + 3 * t * cube))
        second = h * h * (2 * square + 6 * t * cube)
        third = np.abs(6 * h**3 * cube)
        change = np.abs(second) + third / 2
        speed = np.abs(first) + np.abs(second) / 2 + third / 8
        return Rates(middle, first, second, speed, change, third, np.abs(middle) + speed / 2)
