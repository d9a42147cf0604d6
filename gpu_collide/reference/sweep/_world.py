"""The verbs of `pipeline.sweep.casts.CastQuery`: every query against every feature of every body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.reference.sweep.w01_first import first_touches
from gpu_collide.reference.sweep.w02_all import all_touches

__all__ = ["Reference"]


class World(NamedTuple):
    """Bodies, and the rules of their scene; `exact`: those that turn are seen on their own motions, not along
    chords."""

    bodies: object
    exact: bool = False
    rules: object = None


class Reference:
    """NumPy in float64, whatever the precision asked for; without trees, and without a limit of memory."""

    precision = "double"

    def about(self):
        """Backend, device and precision, as ``info`` tells them."""
        return {"backend": "reference", "device": "NumPy", "precision": "double", "timings": {}}

    def world(self, bodies, resident=None, exact=False, rules=None, slack=None, parted=False):
        """The world of some bodies."""
        return World(bodies, exact, rules)

    def part(self, world, bodies):
        """The same world with other poses."""
        return world._replace(bodies=bodies)

    def first(self, world, casts, two_sided, buffer, any_hit):
        """As `Sweep.first`; any touch is the first one."""
        n = len(casts)
        found: dict = {
            "feature": np.zeros(n, np.uint8), "body": np.full(n, -1, np.int32),
            "face": np.full(n, -1, np.int32), "number": np.full(n, -1, np.int32),
            "sphere": np.full(n, -1, np.int32), "time": np.ones(n), "point": np.zeros((n, 3)),
            "normal": np.zeros((n, 3)),
        }  # fmt: skip
        rows = first_touches(world.bodies, casts, two_sided, buffer, world.exact, world.rules)
        for name in found:
            found[name][rows["query"]] = rows[name]
        return found

    def all(self, world, casts, two_sided, buffer):
        """As `Sweep.all`."""
        return all_touches(world.bodies, casts, two_sided, buffer, world.exact, world.rules)
