"""Characters (stages w03 to w05): planes of contact, velocities clipped by them, whole steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.pipeline.mesh_tables.cast_tables import motions_for
from gpu_collide.pipeline.sweep.casts import CastQuery
from gpu_collide.pipeline.sweep.stages import NEAR, PIECE, SLIDE, looking, ruled, slide_rows

__all__ = ["CharacterQuery"]


class CharacterQuery(CastQuery):
    """Launches on one backend; `gpu_collide.reference.sweep.Walkers` has the same verbs."""

    programs = ("characters", "sweep")

    def motions(self, bodies):
        """How far bodies go in their step, (bodies, 3) float64 in a flat buffer."""
        return motions_for(bodies, self.backend)

    def planes(self, world, casts, two_sided, reach, since):
        """Planes nearer than `reach`, in the order of `NEAR`."""
        numbers = {"reach": reach, "since": since, **looking(two_sided, casts.rules)}
        return self._lists(
            NEAR, world, len(casts), numbers,
            lambda part: self._placed(self._ellipsoids(world, casts, part)),
        )  # fmt: skip

    def clip(self, velocity, begin, planes):
        """Velocities clipped by their planes (planes, 4), and in how many of them each lies."""
        n, run, be = len(velocity), self.run, self.backend
        run.build("characters")
        out = be.empty(max(3 * n, 1), run.real)
        active = be.zeros(max(n, 1), np.int32)
        if n:
            run.launch(
                "w04_clip", n, n=n, velocity_in=run.to_device(velocity, run.real),
                begin_in=run.to_device(begin, np.int32), planes_in=run.to_device(planes, run.real),
                velocity_out=out, active_out=active,
            )  # fmt: skip
        found = be.to_host(out)[: 3 * n].reshape(-1, 3).astype(np.float64)
        return found, be.to_host(active)[:n]

    def slide(self, world, casts, velocity, fall, rules):
        """One step of each: ``position``, ``velocity``, ``fall_velocity``, ``ground_normal``, ``status``,
        ``ground``, ``casts``."""
        n, run, be = len(casts), self.run, self.backend
        found: dict[str, Any] = {}

        def some(at, stop):
            part, k = slice(at, stop), stop - at
            ways = {"path_in": casts.path, "velocity_in": velocity, "fall_in": fall}
            given = self._ellipsoids(world, casts, part)
            given |= {name: self._flat(array[part]) for name, array in ways.items()}
            piece = self.piece(SLIDE, k, world.buffers, given)
            piece.launch(SLIDE.kernel, k, n=k, ruled=int(casts.rules is not None), **rules)
            told, walked, _ = piece.made.values()
            rows = slide_rows(*be.to_hosts((told, walked)))
            rows["position"] += world.shift
            if k == n:
                found.update(rows)
                return
            for name, array in rows.items():
                found.setdefault(name, np.empty((n, *array.shape[1:]), array.dtype))[part] = array

        each = 13 * run.real.itemsize + SLIDE.nbytes(run.real)
        run.room.pieces(n, min(max(1, run.room.fits(each)), PIECE), some)
        return found or slide_rows(np.zeros(0), np.zeros(0, np.int32))

    def _ellipsoids(self, world, casts, part):
        """Arrays of some ellipsoids, flat, as w03 and w05 read them."""
        arrays = {
            "start_in": casts.start[part] - world.shift, "radius_in": casts.radius[part],
            "turned_in": casts.quat[part],
        }  # fmt: skip
        return {name: self._flat(array) for name, array in arrays.items()} | ruled(casts, part)

    def _flat(self, array):
        return np.ascontiguousarray(array, self.run.real).reshape(-1)
