"""Casts and characters on a GPU, where data stay (stages w01 to w05): they are taken from where they lie, all
launches are enqueued, and the host waits once, for a few counts.

What the host does for each query elsewhere kernels do here (`gpu_collide.pipeline.launch.device_import`).
The bits are
those of `gpu_collide.pipeline.sweep.casts` and `gpu_collide.pipeline.sweep.characters`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.casts import CLUSTERS, ELLIPSOIDS, SPHERES
from gpu_collide.pipeline.launch.device_import import TAKEN, DeviceImport
from gpu_collide.pipeline.sweep.stages import (
    ALL,
    FIRST,
    NEAR,
    PIECE,
    SLIDE,
    first_rows,
    in_lists,
    looking,
    touching,
)

__all__ = ["DeviceQueries"]

#: Numbers that `g08_extent` tells of a part of the queries (``G08_EXTENT_STRIDE``), and parts at most.
EXTENT, PARTS = 10, 4096
CHARACTER_REALS = SLIDE.outs["told_out"][0]
INVALID = sources.constants()["GC_STATUS_INVALID_INPUT"]


class DeviceQueries(DeviceImport):
    """One call about casts on ``cuda``: all its launches, and one wait."""

    def first(self, two_sided, buffer, any_hit):
        """`Sweep.first`, with what is in `Hits` beside it."""
        n, run, be = len(self.given), self.run, self.be
        found: list = []
        numbers = {"any": int(any_hit), **touching(two_sided, buffer, self.given.rules)}

        def some(at, stop):
            k = stop - at
            queries, state = self._queries(at, stop)
            made = FIRST.made(be, run.real, k)
            kernel = FIRST.kernel + self.world.variant
            run.launch_noted(kernel, k, queries, self.world.buffers, made, n=k, **numbers)
            feature, caught, told = made.values()
            told = told.astype(np.float64, copy=False)
            self._double.launch_ahead(
                "g07_unsaid", k, n=k, state_in=state, feature=feature, caught=caught, told=told
            )
            row = first_rows(k, feature, caught, told)
            row["status"] = self._status(state, feature, told[k : 4 * k])
            found.append(row)

        each = 7 * run.real.itemsize + FIRST.nbytes(run.real) + 11 + TAKEN
        run.room.pieces(n, min(max(1, run.room.fits(each)), PIECE), some)
        self._wait()
        rows = self._joined(found)
        rows["query"] = be.arrays.arange(n, dtype=np.int32)
        rows["offsets"] = be.arrays.arange(n + 1, dtype=np.int64)
        return rows

    def all(self, two_sided, buffer):
        """`Sweep.all`, with what is in `Hits` beside it."""
        return self._lists(ALL, touching(two_sided, buffer, self.given.rules), self._queries)

    def planes(self, two_sided, reach, since):
        """`Characters.planes`, with what is in `Planes` beside it."""

        def queries(at, stop):
            taken = self._take(at, stop, apart=True)
            state = (taken["state"] != 0).astype(np.uint8) * np.uint8(INVALID)
            return self._characters(taken, at, stop), state

        numbers = {"reach": reach, "since": since, **looking(two_sided, self.given.rules)}
        return self._lists(NEAR, numbers, queries)

    def _lists(self, stage, numbers, queries):
        """What each query has, with its status, and where it begins."""
        found: list = []
        sums: list = []
        done = 0
        pieces = in_lists(self, self.world, stage, len(self.given), queries, numbers, TAKEN)
        for rows, count, begin, state in pieces:
            found.append(rows | {"status": self._status(state, (count > 0).astype(np.uint8))})
            sums.append(begin[: -1 if len(sums) + 1 < len(pieces) else None] + np.int64(done))
            done += len(rows["query"])
        return self._joined(found) | {"offsets": self.be.arrays.concatenate(sums)}

    def launch(self, fill, name, n, /, *bound, **args):
        """Enqueue; what is enqueued behind the one wait has no time that could be told."""
        (self.run.launch_ahead if fill else self.run.launch_noted)(name, n, *bound, **args)

    def total(self, sums):
        """The last of some sums: the one wait."""
        return self._wait(sums[-1:])

    def listed(self, stage, world, ints, reals, n, at):
        """A list on the device."""
        return stage.rows(self.be.arrays, ints, reals, n, at, self._kept(world.shift))

    def extent(self, spins, fall=None, riding=None, n_bodies=0):
        """What chords depend on of all queries in a world in which bodies turn by `spins` (turning, 3).

        On the host: the most of each number of `EXTENT`, and of each turn the square of how far ellipsoids
        are off it. Of characters, who fall and ride, it keeps which are swept: `swept`.
        """
        run, form, walks = self._double, self.given.form, fall is not None
        width = {SPHERES: 1, ELLIPSOIDS: 3, CLUSTERS: 0}[form]
        turns = len(spins) if form == ELLIPSOIDS else 0
        falls = self._placed(fall, np.float64) if walks else None
        rides = None if riding is None else self._placed(riding, np.int64)
        found: list = []

        def some(at, stop):
            k = stop - at
            parts = min(-(-k // 64), PARTS)
            each = min(-(-k // 64), max(1, PARTS // max(turns, 1)))
            taken = self._take(at, stop, apart=True)
            most = self.be.empty(parts * EXTENT, np.float64)
            leaning = self.be.empty(each * turns, np.float64)
            run.launch_ahead(
                "g08_extent", parts, n=parts, total=k, width=width, walks=int(walks), n_bodies=n_bodies,
                rides=int(rides is not None), lowest=-np.inf, radius_in=taken["radius"], state=taken["state"],
                **self._ways("start", at, stop), **self._ways("path", at, stop),
                **self._part("fall", falls, walks and fall.ndim == 2, 3, at, stop),
                riding_given=self._none[np.int64] if rides is None else rides[at:stop], extent_out=most,
                wrong_out=self._wrong,
            )  # fmt: skip
            if turns:
                run.launch_ahead(
                    "g08_leaning", each * turns, n=each * turns, total=k, n_turning=turns,
                    radius_in=taken["radius"], quat_in=taken["quat"],
                    spin_in=self._kept(np.ascontiguousarray(spins, np.float64)), leaning_out=leaning,
                )  # fmt: skip
            found.append((most.reshape(-1, EXTENT), leaning.reshape(each, turns), taken["state"]))

        each = TAKEN + 8 * (EXTENT + turns) // 64
        run.room.pieces(len(self.given), min(max(1, self.run.room.fits(each)), PIECE), some)
        cp = self.be.arrays
        most = cp.concatenate([row[0] for row in found]).max(axis=0)
        leaning = [cp.concatenate([row[1] for row in found]).max(axis=0)] if turns else []
        self.swept = cp.concatenate([row[2] for row in found]) == 0
        wrong, most, *leaning = self.be.to_hosts([self._wrong, most, *leaning])
        self._check(wrong[0])
        return most, leaning[0] if turns else np.zeros(len(spins))

    def walkers(self, fall, riding):
        """Starts, paths, falls and radii, (n, 3), 0 of those not swept; and what each rides, or None."""
        own: Any = self._arrays | {"fall": self._placed(fall, np.float64)}
        swept = self.swept[:, None]
        rows = [
            self.be.arrays.where(swept, own[name].reshape(-1, 3), 0.0)
            for name in ("start", "path", "fall", "radius")
        ]
        return (*rows, None if riding is None else self._placed(riding, np.int64))

    def rules(self):
        """(n, 4) rules of each, or None."""
        found = self._rules(0, len(self.given)).get("rules_in")
        return None if found is None else found.reshape(-1, 4)

    def paths(self, pieces):
        """Their ways in each of some equal pieces of a step, (n, 3); of what `extent` found not to be swept
        no numbers."""
        path: Any = self._arrays["path"]
        way = path.reshape(-1, 3) / np.float64(pieces)
        return self.be.arrays.where(self.swept[:, None], way, np.nan)

    def slide(self, fall, riding, motion, rules, turns=None):
        """`Characters.slide` in one piece of the step, with what is in `Slides` beside it.

        Parameters
        ----------
        fall : (3,) or (n, 3) array
        riding : (n,) array of int, or None
        motion : (bodies, 3) float64 buffer
            Of the bodies that may be ridden, over their step.
        rules : dict
        turns : (which, quaternions, origins), optional
            Arrays (bodies, ...) of those that carry along an arc.
        """
        n, run, be = len(self.given), self.run, self.be
        each = 19 * run.real.itemsize + SLIDE.nbytes(run.real) + TAKEN
        each += 8 * (12 + CHARACTER_REALS) + 12
        falls, rides = self._placed(fall, np.float64), None
        if riding is not None:
            rides = self._placed(riding, np.int64)
        found: list = []

        def some(at, stop):
            k = stop - at
            taken = self._take(at, stop, apart=True)
            path, fell = be.empty(3 * k, np.float64), be.empty(3 * k, np.float64)
            self._double.launch_ahead(
                "g06_walkers", k, n=k, n_bodies=motion.shape[0] // 3, rides=int(rides is not None),
                **self._part("fall", falls, fall.ndim == 2, 3, at, stop), **self._shift,
                riding_given=self._none[np.int64] if rides is None else rides[at:stop], motion_in=motion,
                start=taken["start"], velocity=taken["path"], state=taken["state"], path_out=path,
                fall_out=fell, wrong_out=self._wrong,
            )  # fmt: skip
            if rides is not None and turns is not None:
                which, quat, origin = (self._kept(np.ascontiguousarray(x)).reshape(-1) for x in turns)
                self._double.launch_ahead(
                    "g08_carried", k, n=k, n_bodies=motion.shape[0] // 3, riding_given=rides[at:stop],
                    **self._ways("start", at, stop), state_in=taken["state"], velocity_in=taken["path"],
                    turns_in=which, turn_in=quat, origin_in=origin, motion_in=motion, path_out=path,
                )  # fmt: skip
            ways = {"path_in": path, "velocity_in": taken["path"], "fall_in": fell}
            made = SLIDE.made(be, run.real, k)
            run.launch_noted(
                SLIDE.kernel, k, self._characters(taken, at, stop), self.world.buffers, made,
                {name: self._real(x) for name, x in ways.items()}, n=k,
                ruled=int(self.given.rules is not None), **rules,
            )  # fmt: skip
            told, walked, _ = made.values()
            found.append(self._slides(at, stop, taken["state"], told, walked))

        run.room.pieces(n, min(max(1, run.room.fits(each)), PIECE), some)
        self._wait()
        return self._joined(found)

    def _slides(self, at, stop, state, told, walked):
        be, k = self.be, stop - at
        names = ("position", "velocity", "fall_velocity", "ground_normal")
        row = {name: be.empty((k, 3), np.float64) for name in names}
        row |= {name: be.empty(k, np.int32) for name in ("ground_body", "casts")}
        row["status"] = be.empty(k, np.uint8)
        self._double.launch_ahead(
            "g07_slides", k, n=k, **self._shift, state_in=state, walked_in=walked,
            told_in=told.astype(np.float64, copy=False),
            **self._ways("start", at, stop, name="position"),
            **{f"{name}_out": array for name, array in row.items()},
        )  # fmt: skip
        return row

    def _joined(self, found):
        if len(found) == 1:
            return found[0]
        return {name: self.be.arrays.concatenate([row[name] for row in found]) for name in found[0]}
