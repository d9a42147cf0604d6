"""Points, spheres, ellipsoids and clusters on straight paths (stages w01, w02): what is launched, and with
which buffers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.casts import CLUSTERS, SPHERES
from gpu_collide.pipeline.launch.launcher import TooLarge
from gpu_collide.pipeline.launch.world_query import WorldQuery
from gpu_collide.pipeline.mesh_tables.cast_tables import cast_tables_for, key_bits, obstacles_for

__all__ = ["CastQuery", "CastWorld"]

CATCH, CATCH_REAL = (sources.record(name) for name in ("cast_hit", "cast_hit_real"))
#: Queries that are worked off at a time; on a processor as many as its caches hold with their results.
PIECE, PIECE_IN_CACHES = 1 << 20, 1 << 18
#: From so many queries and numbers of nodes on they are put in order: below, all lies in caches.
MANY, LARGE = 2048, 1 << 15
#: What `w01_first` tells of each: of all that is told of a touch the time by which they are in order is last.
TOLD = CATCH_REAL["touch"]
NAMES = {"feature": "kind", "body": "body", "face": "face", "number": "number", "sphere": "ball"}
CAUGHT = ("body", "face", "number", "sphere")
TOUCH = ("time", "point", "normal", "touch")
#: Touches of a query are in this order.
ORDER = ("query", "touch", "feature", "body", "number", "sphere")


class CastWorld(NamedTuple):
    """A world on a backend.

    Attributes
    ----------
    buffers : dict
        By the names of kernel arguments.
    shift : (3,) float64
        What positions count from.
    """

    buffers: dict
    shift: np.ndarray


class CastQuery(WorldQuery):
    """Launches on one backend; `gpu_collide.reference.sweep.Reference` has the same verbs."""

    def world(self, bodies, resident=None):
        """`World` of bodies; of a scene, if `resident` is what it keeps."""
        self.run.build("sweep")
        if resident is None:
            grounds = cast_tables_for(bodies.meshes, self.backend, self.precision)
            made = obstacles_for(bodies, self.backend, self.precision)
            held = grounds.nbytes + made.nbytes
        else:
            grounds, made = resident.grounds, resident.obstacles(bodies)
            held = resident.nbytes
        self.leave_room_beside(held)
        return CastWorld({**grounds.buffers, **made.buffers}, made.shift)

    def first(self, world, casts, two_sided, buffer, any_hit):
        """What each first touches, or anything that it touches with `any_hit`.

        Parameters
        ----------
        world : World
        casts : Casts
        two_sided : bool
        buffer : float
        any_hit : bool

        Returns
        -------
        dict of str to ndarray
            ``time``, ``point``, ``normal``, ``body``, ``face``, ``feature``, ``number``, ``sphere`` of each.
        """
        n, run, be = len(casts), self.run, self.backend
        found = _results(n)
        each = (6 + 4 + 3 + TOLD) * run.real.itemsize + 4 * (2 + len(CAUGHT)) + 1
        size = min(max(1, run.room.fits(each)), PIECE_IN_CACHES if be.serial_groups else PIECE)
        outs: dict = {}

        def some(at, stop):
            part, k = slice(at, stop), stop - at
            if not outs or outs["feature_out"].size != k:
                outs["feature_out"] = be.empty(k, np.uint8)
                outs["caught_out"] = be.empty(k * len(CAUGHT), np.int32)
                outs["told_out"] = be.empty(k * TOLD, run.real)
            run.launch("w01_first", k, world.buffers, self._queries(world, casts, part), outs, n=k,
                       any=int(any_hit), two_sided=int(two_sided), buffer=buffer)  # fmt: skip
            feature, caught, told = be.to_hosts(outs.values())
            found["feature"][part] = feature
            for name, row in zip(CAUGHT, caught.reshape(-1, k), strict=True):
                found[name][part] = row
            found["time"][part] = told[:k]
            for name, rows in zip(("point", "normal"), told[k:].reshape(2, k, 3), strict=True):
                found[name][part] = rows
            if world.shift.any():
                points = found["point"][part]
                np.add(points, world.shift, out=points, where=(feature > 0)[:, None])

        run.room.pieces(n, size, some)
        return found

    def all(self, world, casts, two_sided, buffer):
        """All that each touches, in `ORDER`: without a buffer that of the times.

        Returns
        -------
        dict of str to ndarray
            ``query`` and what `first` returns, of each touch.
        """
        n, run, be = len(casts), self.run, self.backend
        found = []
        each = (6 + 4 + 3) * run.real.itemsize + 4 * 3 + 8
        touch = CATCH.stride * 4 + CATCH_REAL.stride * run.real.itemsize

        def some(at, stop):
            part, k = slice(at, stop), stop - at
            bound = world.buffers, self._queries(world, casts, part)
            args = {"n": k, "two_sided": int(two_sided), "buffer": buffer}
            count = be.empty(k, np.int32)
            none = be.empty(1, np.int32), be.empty(1, run.real)
            begin = be.zeros(k + 1, np.int64)
            run.launch("w02_all", k, *bound, **args, fill=0, begin_in=begin, caught_out=none[0],
                       told_out=none[1], count_out=count)  # fmt: skip
            begin = be.exclusive_scan(count)
            total = int(be.item(begin))
            if total * CATCH_REAL.stride >= 2**31 or total * touch > run.room.fits(1, held=k * each):
                raise TooLarge(k * each + total * touch)
            caught = be.empty(max(total, 1) * CATCH.stride, np.int32)
            told = be.empty(max(total, 1) * CATCH_REAL.stride, run.real)
            if total:
                run.launch("w02_all", k, *bound, **args, fill=1, begin_in=begin, caught_out=caught,
                           told_out=told, count_out=count)  # fmt: skip
            rows = self._read(world, caught, told, total)
            rows["query"] = be.to_host(caught).reshape(-1, CATCH.stride)[:total, CATCH["query"]] + at
            order = np.lexsort([rows[name] for name in reversed(ORDER)])
            found.append({name: array[order] for name, array in rows.items() if name != "touch"})

        def refusal(at, need):
            return (
                f"max_bytes: expected room for all that query {at} touches, {need} bytes, got "
                f"{run.room.max_bytes} beside the world; pass a larger max_bytes"
            )

        run.room.pieces(n, min(max(1, run.room.fits(2 * each)), PIECE), some, refusal=refusal)
        empty = {**_results(0), "query": np.zeros(0, np.int32)}
        return {name: np.concatenate([empty[name], *(piece[name] for piece in found)]) for name in empty}

    def _queries(self, world, casts, part):
        """Buffers of some queries."""
        run, n = self.run, part.stop - part.start
        own = casts.radius if casts.form == CLUSTERS else casts.radius[part]
        apart = casts.form != SPHERES or own.strides[0] != 0
        ways = np.empty((n, 6), run.real)
        np.subtract(casts.start[part], world.shift, out=ways[:, :3], casting="same_kind")
        ways[:, 3:] = casts.path[part]
        placed = run.to_device(ways)
        with np.errstate(over="ignore"):  # of lengths that float32 has not; these are not swept
            radius = run.to_device(own if apart else own[:1], run.real)
        return {
            "ways_in": placed,
            "form": casts.form,
            "apart": int(apart),
            "todo_in": self.order(world, placed, n),
            "radius_in": radius,
            "turned_in": run.to_device(casts.quat[part], run.real),
            "balls_in": run.to_device(casts.balls, run.real),
            "cluster_in": run.to_device(casts.cluster[part], np.int32),
            "cluster_start_in": run.to_device(casts.begin, np.int32),
        }

    def order(self, world, ways, n, ahead=False):
        """In which order queries are worked off: neighbours along a curve, if that pays. `ahead`: nothing is
        waited for, and nothing comes from the host."""
        run, be = self.run, self.backend
        if n < MANY or world.buffers["nodes_in"].size < LARGE:
            if ahead:
                return be.arrays.arange(n, dtype=np.int32)
            return run.to_device(np.arange(n, dtype=np.int32))
        keys, launch = be.empty(n, np.int32), run.launch_noted if ahead else run.launch
        launch("w01_keys", n, world.buffers, n=n, ways_in=ways, keys_out=keys)
        return be.argsort(keys, key_bits(be))

    def _read(self, world, caught, told, n=None):
        """Results to the host."""
        ints = self.backend.to_host(caught).reshape(-1, CATCH.stride)[:n]
        reals = self.backend.to_host(told).reshape(-1, CATCH_REAL.stride)[:n]
        rows = {name: ints[:, CATCH[column]] for name, column in NAMES.items()}
        rows |= {name: reals[:, CATCH_REAL[name]].astype(np.float64) for name in TOUCH}
        rows["point"][rows["feature"] > 0] += world.shift
        return rows


def _results(n):
    """Arrays that are filled piece by piece."""
    return {
        "feature": np.zeros(n, np.uint8), "body": np.full(n, -1, np.int32), "face": np.full(n, -1, np.int32),
        "number": np.full(n, -1, np.int32), "sphere": np.full(n, -1, np.int32), "time": np.ones(n),
        "point": np.zeros((n, 3)), "normal": np.zeros((n, 3)),
    }  # fmt: skip
