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
from gpu_collide.pipeline.launch.launcher import TooLarge
from gpu_collide.pipeline.sweep.casts import CATCH, CATCH_REAL, CAUGHT, NAMES, ORDER, PIECE, TOLD, TOUCH
from gpu_collide.pipeline.sweep.characters import NAMES as NEARBY_NAMES
from gpu_collide.pipeline.sweep.characters import NEARBY, NEARBY_REAL, PLANES, WALKED, WALKED_REAL

__all__ = ["DeviceQueries"]

#: Numbers that `g08_extent` tells of a part of the queries (``G08_EXTENT_STRIDE``), and parts at most.
EXTENT, PARTS = 10, 4096
INVALID = sources.constants()["GC_STATUS_INVALID_INPUT"]


class DeviceQueries(DeviceImport):
    """One call about casts on ``cuda``: all its launches, and one wait."""

    def first(self, two_sided, buffer, any_hit):
        """`Sweep.first`, with what is in `Hits` beside it."""
        n, run, be = len(self.given), self.run, self.be
        found: list = []
        each = (6 + 4 + 3 + TOLD) * run.real.itemsize + 4 * (3 + len(CAUGHT)) + TAKEN

        def some(at, stop):
            k = stop - at
            feature, caught = be.empty(k, np.uint8), be.empty(k * len(CAUGHT), np.int32)
            told, (queries, state) = be.empty(k * TOLD, run.real), self._queries(at, stop)
            run.launch_noted("w01_first", k, self.world.buffers, queries, n=k, any=int(any_hit),
                              two_sided=int(two_sided), buffer=buffer, feature_out=feature, caught_out=caught,
                              told_out=told)  # fmt: skip
            told = told.astype(np.float64, copy=False)
            self._double.launch_ahead(
                "g07_unsaid", k, n=k, state_in=state, feature=feature, caught=caught, told=told
            )
            row = dict(zip(CAUGHT, (caught[j * k : (j + 1) * k] for j in range(len(CAUGHT))), strict=True))
            row |= {"feature": feature, "time": told[:k], "point": told[k : 4 * k].reshape(k, 3)}
            row |= {"normal": told[4 * k :].reshape(k, 3)}
            row["status"] = self._status(state, feature, told[k : 4 * k])
            found.append(row)

        run.room.pieces(n, min(max(1, run.room.fits(each)), PIECE), some)
        self._wait()
        rows = self._joined(found)
        rows["query"] = be.arrays.arange(n, dtype=np.int32)
        rows["offsets"] = be.arrays.arange(n + 1, dtype=np.int64)
        return rows

    def all(self, two_sided, buffer):
        """`Sweep.all`, with what is in `Hits` beside it."""
        run = self.run
        each = (6 + 4 + 3) * run.real.itemsize + 4 * 3 + 8 + TAKEN
        touch = 2 * (CATCH.stride * 4 + CATCH_REAL.stride * run.real.itemsize)

        def launch(k, bound, count, begin, lists, fill):
            self._how(fill)("w02_all", k, self.world.buffers, bound, n=k, two_sided=int(two_sided),
                            buffer=buffer, fill=fill, begin_in=begin, caught_out=lists[0],
                            told_out=lists[1], count_out=count)  # fmt: skip

        def told(ints, reals, at):
            rows = {"query": ints[:, CATCH["query"]] + np.int32(at)}
            rows |= {name: ints[:, CATCH[column]] for name, column in NAMES.items()}
            rows |= {name: _column(reals, CATCH_REAL, name) for name in TOUCH}
            rows = self._ordered(rows, ORDER)
            del rows["touch"]
            return rows

        what = "all that query {at} touches"
        widths = CATCH.stride, CATCH_REAL.stride
        return self._lists(each, touch, widths, self._queries, launch, told, what)

    def planes(self, two_sided, reach, since):
        """`Characters.planes`, with what is in `Planes` beside it."""
        run = self.run
        each = (3 + 3 + 4) * run.real.itemsize + 4 + 8 + TAKEN
        row = 2 * (NEARBY.stride * 4 + NEARBY_REAL.stride * run.real.itemsize)

        def launch(k, bound, count, begin, lists, fill):
            self._how(fill)("w03_planes", k, self.world.buffers, bound, n=k, two_sided=int(two_sided),
                            reach=reach, since=since, fill=fill, begin_in=begin, near_out=lists[0],
                            told_out=lists[1], count_out=count)  # fmt: skip

        def queries(at, stop):
            taken = self._take(at, stop, apart=True)
            state = (taken["state"] != 0).astype(np.uint8) * np.uint8(INVALID)
            return self._characters(taken), state

        def told(ints, reals, at):
            rows = {name: ints[:, NEARBY[column]] for name, column in NEARBY_NAMES.items()}
            rows["query"] = rows["query"] + np.int32(at)
            names = ("normal", "gap", "point", "body_displacement")
            rows |= {name: _column(reals, NEARBY_REAL, name) for name in names}
            return self._ordered(rows, ("query", "gap", "feature", "body", "number"))

        what = "all that ellipsoid {at} is near"
        return self._lists(each, row, (NEARBY.stride, NEARBY_REAL.stride), queries, launch, told, what)

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
        each = (3 * 4 + 3 + 4 + PLANES + WALKED_REAL.stride) * run.real.itemsize + 4 * WALKED.stride + TAKEN
        each += 8 * (12 + WALKED_REAL.stride) + 12
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
            told, walked = be.empty(k * WALKED_REAL.stride, run.real), be.empty(k * WALKED.stride, np.int32)
            run.launch_noted(
                "w05_slide", k, self.world.buffers, self._characters(taken),
                {name: self._real(x) for name, x in ways.items()}, n=k, **rules,
                planes_scratch=be.empty(k * PLANES, run.real), told_out=told, walked_out=walked,
            )  # fmt: skip
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

    def _lists(self, each, touch, widths, queries, launch, told, what):
        """What is counted, then filled: rows of all queries, with their status and offsets."""
        n, run, be = len(self.given), self.run, self.be
        found: list = []
        sums: list = []
        done = 0

        def some(at, stop):
            nonlocal done
            k = stop - at
            bound, state = queries(at, stop)
            count = be.empty(k, np.int32)
            none = self._none[np.int32], self._none[run.real.type]
            launch(k, bound, count, be.zeros(k + 1, np.int64), none, 0)
            count = count * (state == 0)  # nothing is said of the others
            begin = be.exclusive_scan(count)
            total = self._wait(begin[k:])
            if total * max(widths) >= 2**31 or total * touch > run.room.fits(1, held=k * each):
                raise TooLarge(k * each + total * touch)
            lists = (
                be.empty(max(total, 1) * widths[0], np.int32),
                be.empty(max(total, 1) * widths[1], run.real),
            )
            if total:
                launch(k, bound, be.empty(k, np.int32), begin, lists, 1)
            ints, reals = (x.reshape(-1, w)[:total] for x, w in zip(lists, widths, strict=True))
            rows = told(ints, reals.astype(np.float64, copy=False), at)
            status = self._status(state, (count > 0).astype(np.uint8))
            found.append(rows | {"status": status})
            sums.append(begin[:k] + np.int64(done))
            done += total
            if stop == n:
                sums.append(begin[k:] + np.int64(done - total))

        def refusal(at, need):
            return (
                f"max_bytes: expected room for {what.format(at=at)}, {need} bytes, got "
                f"{run.room.max_bytes} beside the world; pass a larger max_bytes"
            )

        run.room.pieces(n, min(max(1, run.room.fits(2 * each)), PIECE), some, refusal=refusal)
        return self._joined(found) | {"offsets": be.arrays.concatenate(sums)}

    def _how(self, fill):
        """How lists are counted and filled: what is enqueued behind the one wait has no time that could be
        told."""
        return self.run.launch_ahead if fill else self.run.launch_noted

    def _ordered(self, rows, keys):
        """Rows in the order of these columns; places in the world, dtypes as results have them."""
        cp = self.be.arrays
        if rows[keys[0]].shape[0]:
            order = cp.lexsort(cp.stack([rows[name].astype(np.float64) for name in reversed(keys)]))
            rows = {name: array[order] for name, array in rows.items()}
        rows["point"] = rows["point"] + self._kept(self.world.shift)
        rows["feature"] = rows["feature"].astype(np.uint8)
        return {name: cp.ascontiguousarray(array) for name, array in rows.items()}

    def _joined(self, found):
        if len(found) == 1:
            return found[0]
        return {name: self.be.arrays.concatenate([row[name] for row in found]) for name in found[0]}


def _column(reals: Any, record: Any, name: str) -> Any:
    """A column of rows of reals, or the three of a vector."""
    return reals[:, record[name]]
