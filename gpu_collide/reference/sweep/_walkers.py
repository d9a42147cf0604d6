"""The verbs of `gpu_collide.pipeline.sweep.characters.CharacterQuery`, one character after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.reference.sweep._world import Reference
from gpu_collide.reference.sweep.w03_planes import planes_near
from gpu_collide.reference.sweep.w04_clip import nearest_allowed
from gpu_collide.reference.sweep.w05_slide import Rules, step

__all__ = ["Walkers"]


class Walkers(Reference):
    """NumPy in float64, whatever the precision asked for."""

    def planes(self, world, casts, two_sided, reach, since):
        """As `CharacterQuery.planes`."""
        names = ("query", "feature", "body", "face", "number", "normal", "gap", "point", "body_displacement")
        rows: dict[str, list[Any]] = {name: [] for name in names}
        for i in range(len(casts)):
            near = planes_near(world.bodies, casts, i, casts.start[i], two_sided, reach, since, world.rules)
            for plane in near:
                rows["query"].append(i)
                for name in names[1:]:
                    rows[name].append(getattr(plane, name))
        types = {
            "query": np.int32,
            "feature": np.uint8,
            "body": np.int32,
            "face": np.int32,
            "number": np.int32,
        }
        out = {}
        for name, values in rows.items():
            empty = np.zeros((0, 3) if name in ("normal", "point", "body_displacement") else 0)
            out[name] = np.array(values if values else empty, types.get(name, np.float64))
        order = np.lexsort([out[name] for name in ("number", "body", "feature", "gap", "query")])
        return {name: array[order] for name, array in out.items()}

    def clip(self, velocity, begin, planes):
        """As `CharacterQuery.clip`."""
        found, active = np.zeros((len(velocity), 3)), np.zeros(len(velocity), np.int32)
        for i, v in enumerate(velocity):
            own = planes[begin[i] : begin[i + 1]]
            answer, active[i] = nearest_allowed(v, own[:, :3], own[:, 3])
            found[i] = v if answer is None else answer
        return found, active

    def slide(self, world, casts, velocity, fall, rules):
        """As `CharacterQuery.slide`."""
        n = len(casts)
        found: dict[str, Any] = {
            name: np.zeros((n, 3)) for name in ("position", "velocity", "fall_velocity", "ground_normal")
        }
        found |= {name: np.zeros(n, np.int32) for name in ("status", "ground", "casts")}
        common = Rules.of(rules)
        for i in range(n):
            row = step(world.bodies, casts, i, velocity[i], fall[i], common, world.rules)
            for name, value in row.items():
                found[name][i] = value
        return found
