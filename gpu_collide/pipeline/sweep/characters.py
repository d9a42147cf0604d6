"""Characters (stages w03 to w05): planes of contact, velocities clipped by them, whole steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.launch.launcher import TooLarge
from gpu_collide.pipeline.mesh_tables.cast_tables import motions_for
from gpu_collide.pipeline.sweep.casts import PIECE, CastQuery

__all__ = ["CharacterQuery"]

NEARBY, NEARBY_REAL, WALKED, WALKED_REAL = (
    sources.record(name) for name in ("nearby", "nearby_real", "character_result", "character_result_real")
)
#: Planes that a character has room for (``GC_CHARACTER_PLANES``: those near it and what it met, each twice),
#: times what is kept of each.
PLANES = 2 * (16 + 1) * 4
NAMES = {"query": "query", "feature": "kind", "body": "body", "face": "face", "number": "number"}


class CharacterQuery(CastQuery):
    """Launches on one backend; `gpu_collide.reference.sweep.Walkers` has the same verbs."""

    def world(self, bodies, resident=None):
        """`World` of bodies; of a scene, if `resident` is what it keeps."""
        self.run.build("characters")
        return super().world(bodies, resident)

    def motions(self, bodies):
        """How far bodies go in their step, (bodies, 3) float64 in a flat buffer."""
        return motions_for(bodies, self.backend)

    def planes(self, world, casts, two_sided, reach, since):
        """Planes nearer than `reach`, ordered by query, gap, feature, body and number."""
        n, run, be = len(casts), self.run, self.backend
        found, each = [], (3 + 3 + 4) * run.real.itemsize + 4 + 8
        row = NEARBY.stride * 4 + NEARBY_REAL.stride * run.real.itemsize

        def some(at, stop):
            part, k = slice(at, stop), stop - at
            bound = world.buffers, self._characters(world, casts, part)
            args = {"n": k, "two_sided": int(two_sided), "reach": reach, "since": since}
            count = be.empty(k, np.int32)
            none = be.empty(1, np.int32), be.empty(1, run.real)
            run.launch("w03_planes", k, *bound, **args, fill=0, begin_in=be.zeros(k + 1, np.int64),
                       near_out=none[0], told_out=none[1], count_out=count)  # fmt: skip
            begin = be.exclusive_scan(count)
            total = int(be.item(begin))
            if total * NEARBY_REAL.stride >= 2**31 or total * row > run.room.fits(1, held=k * each):
                raise TooLarge(k * each + total * row)
            near = be.empty(max(total, 1) * NEARBY.stride, np.int32)
            told = be.empty(max(total, 1) * NEARBY_REAL.stride, run.real)
            if total:
                run.launch("w03_planes", k, *bound, **args, fill=1, begin_in=begin, near_out=near,
                           told_out=told, count_out=count)  # fmt: skip
            found.append(self._planes(world, near, told, total, at))

        def refusal(at, need):
            return (
                f"max_bytes: expected room for all that ellipsoid {at} is near, {need} bytes, got "
                f"{run.room.max_bytes} beside the world; pass a larger max_bytes"
            )

        run.room.pieces(n, min(max(1, run.room.fits(2 * each)), PIECE), some, refusal=refusal)
        if not found:
            found = [self._planes(world, be.empty(0, np.int32), be.empty(0, run.real), 0, 0)]
        return {name: np.concatenate([piece[name] for piece in found]) for name in found[0]}

    def _planes(self, world, near, told, total, at):
        ints = self.backend.to_host(near).reshape(-1, NEARBY.stride)[:total]
        reals = self.backend.to_host(told).reshape(-1, NEARBY_REAL.stride)[:total].astype(np.float64)
        rows = {name: ints[:, NEARBY[column]] for name, column in NAMES.items()}
        rows |= {
            name: reals[:, NEARBY_REAL[name]] for name in ("normal", "gap", "point", "body_displacement")
        }
        rows["query"] = rows["query"] + np.int32(at)
        rows["feature"] = rows["feature"].astype(np.uint8)
        rows["point"] = rows["point"] + world.shift
        order = np.lexsort([rows[name] for name in ("number", "body", "feature", "gap", "query")])
        return {name: array[order] for name, array in rows.items()}

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
        each = (3 * 4 + 3 + 4 + PLANES + WALKED_REAL.stride) * run.real.itemsize + 4 * WALKED.stride
        reals = {"position": 3, "velocity": 3, "fall_velocity": 3, "ground_normal": 3}
        found: dict[str, Any] = {name: np.zeros((n, k)) for name, k in reals.items()}
        found |= {name: np.zeros(n, np.int32) for name in ("status", "ground", "casts")}

        def some(at, stop):
            part, k = slice(at, stop), stop - at
            told = be.empty(k * WALKED_REAL.stride, run.real)
            walked = be.empty(k * WALKED.stride, np.int32)
            run.launch(
                "w05_slide", k, world.buffers, self._characters(world, casts, part), n=k, **rules,
                path_in=run.to_device(casts.path[part], run.real),
                velocity_in=run.to_device(velocity[part], run.real),
                fall_in=run.to_device(fall[part], run.real), planes_scratch=be.empty(k * PLANES, run.real),
                told_out=told, walked_out=walked,
            )  # fmt: skip
            row = be.to_host(told).reshape(-1, WALKED_REAL.stride).astype(np.float64)
            for name in reals:
                found[name][part] = row[:, WALKED_REAL[name]]
            found["position"][part] += world.shift
            ints = be.to_host(walked).reshape(-1, WALKED.stride)
            for name in ("status", "ground", "casts"):
                found[name][part] = ints[:, WALKED[name]]

        run.room.pieces(n, min(max(1, run.room.fits(each)), PIECE), some)
        return found

    def _characters(self, world, casts, part):
        run = self.run
        return {
            "start_in": run.to_device(casts.start[part] - world.shift, run.real),
            "radius_in": run.to_device(casts.radius[part], run.real),
            "turned_in": run.to_device(casts.quat[part], run.real),
        }
