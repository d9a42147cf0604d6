"""Queries that lie on a GPU, taken over by kernels (``kernels/upload``): checks, lengths without digits,
positions from where the world counts, outcomes. `gpu_collide.pipeline.sweep.device_queries` launches what
they ask."""

from __future__ import annotations

import numpy as np

from gpu_collide.bodies.casts import CLUSTERS, ELLIPSOIDS, SPHERES
from gpu_collide.bodies.poses import UNIT_TOLERANCE
from gpu_collide.pipeline.launch.launcher import Launcher

__all__ = ["TAKEN", "DeviceImport"]

#: Small arrays that queries have in common, kept on a backend: so many, of so many bytes at most.
MOST_KEPT, MOST_BYTES = 64, 1 << 20
#: What `g06_casts` and `g07_results` take of a query beside what the stages do.
TAKEN = (6 + 3 + 4 + 7) * 8 + 16 + 12
RULES = ("group", "mask", "ignore", "world")


class DeviceImport:
    """The queries of one call about casts on ``cuda``.

    Parameters
    ----------
    sweep : Sweep or Characters
    world : World
    given : GivenCasts
        At least one.
    limit : float
        Lengths beyond are none that the precision can multiply.
    refuse : callable
        Raises for arguments of which a kernel counted something wrong.
    """

    def __init__(self, sweep, world, given, limit, refuse):
        self.sweep, self.world, self.given, self.limit = sweep, world, given, limit
        self.run, self.be, self.refuse = sweep.run, sweep.backend, refuse
        self._double = Launcher(
            self.be, "mixed", 0
        )  # what is taken over and told is float64 in every precision
        self._double.build("device_queries")
        self._shift = dict(zip(("shift_x", "shift_y", "shift_z"), world.shift.tolist(), strict=True))
        self._wrong = self.be.zeros(1, np.int32)
        self._none = {
            dtype: self.be.empty(1, dtype) for dtype in (np.float64, np.float32, np.int32, np.int64)
        }
        self._arrays = {
            name: None if array is None else self._placed(array, kind)
            for name, array, kind in (
                ("start", given.start, np.float64),
                ("path", given.path, np.float64),
                ("radius", None if given.form == CLUSTERS else given.radius, np.float64),
                ("quat", given.quat, np.float64),
                ("cluster", given.cluster, np.int64),
            )
        }
        if given.rules is not None:
            everything = np.full(1, -1), np.zeros(1)  # all bits and no body; all worlds
            self._arrays |= {
                name: self._placed(everything[name == "world"] if array is None else array, np.int64)
                for name, array in zip(RULES, given.rules, strict=True)
            }

    def _take(self, at, stop, apart):
        """What `g06_casts` makes of some queries, in float64; `apart`: starts and paths in arrays of their
        own."""
        given, be, none, k = self.given, self.be, self._none, stop - at
        form, width = given.form, 3 if given.form == ELLIPSOIDS else 1
        out = {"radius": none[np.float64], "quat": none[np.float64], "cluster": none[np.int32]}
        if form == CLUSTERS:
            out["cluster"] = be.empty(k, np.int32)
        else:
            out["radius"] = be.empty(width * k, np.float64)
        if form != SPHERES:
            out["quat"] = be.empty(4 * k, np.float64)
        if apart:
            out["start"], out["path"] = be.empty(3 * k, np.float64), be.empty(3 * k, np.float64)
        else:
            out["ways"] = ways = be.empty(6 * k, np.float64)
            out["start"], out["path"] = ways, ways[3:]
        out["state"] = be.empty(k, np.uint8)
        arrays, clusters = self._arrays, len(given.begin) - 1
        turned = given.quat is not None
        cluster = none[np.int64] if arrays["cluster"] is None else arrays["cluster"][at:stop]
        self._double.launch_ahead(
            "g06_casts", k, n=k, form=form, turned=int(turned), out_step=3 if apart else 6,
            n_clusters=clusters, tolerance=UNIT_TOLERANCE, limit=self.limit,
            ball=float(np.abs(given.balls).max(initial=0.0)),
            fat=float(given.radius.max(initial=0.0)) if form == CLUSTERS else 0.0, **self._shift,
            **self._ways("start", at, stop), **self._ways("path", at, stop),
            **self._part("radius", arrays["radius"], given.radius.ndim == width // 2 + 1, width, at, stop),
            **self._part("quat", arrays["quat"], turned and given.quat.ndim == 2, 4, at, stop),
            cluster_given=cluster, wrong_out=self._wrong,
            **{f"{name}_out": array for name, array in out.items() if name != "ways"},
        )  # fmt: skip
        return out

    def _ways(self, column, at, stop, name=None):
        """Starts or paths as they were given, one or a row each, as kernels take them by `name`."""
        rows = getattr(self.given, column).ndim == 2
        return self._part(name or column, self._arrays[column], rows, 3, at, stop)

    def _part(self, name, array, rows, width, at, stop):
        """A given array, or its rows from `at` to `stop` if it has `rows`, as kernels take it."""
        if array is None:
            return {f"{name}_given": self._none[np.float64], f"{name}_step": 0}
        part = array[width * at : width * stop] if rows else array
        return {f"{name}_given": part, f"{name}_step": width if rows else 0}

    def _rules(self, at, stop):
        """``rules_in`` of some queries, if they have any."""
        if self.given.rules is None:
            return {}
        k, out = stop - at, self.be.empty(4 * (stop - at), np.int32)
        parts: dict = {}
        for name, array in zip(RULES, self.given.rules, strict=True):
            parts |= self._part(name, self._arrays[name], array is not None and array.ndim == 1, 1, at, stop)
        self._double.launch_ahead(
            "g06_rules", k, n=k, n_bodies=self.world.n_bodies, **parts, rules_out=out, wrong_out=self._wrong
        )
        return {"rules_in": out}

    def _queries(self, at, stop):
        """Buffers of some queries as w01 and w02 read them, and what is said of each."""
        form, k = self.given.form, stop - at
        taken = self._take(at, stop, apart=False)
        none = self._none[self.run.real.type]
        bound = {
            "form": form,
            "apart": 1,
            "ways_in": self._real(taken["ways"]),
            "radius_in": none if form == CLUSTERS else self._real(taken["radius"]),
            "turned_in": none if form == SPHERES else self._real(taken["quat"]),
            "balls_in": none,
            "cluster_in": self._none[np.int32],
            "cluster_start_in": self._none[np.int32],
        }
        if form == CLUSTERS:
            bound["radius_in"] = self._kept(self.given.radius.astype(self.run.real))
            bound["balls_in"] = self._kept(self.given.balls.astype(self.run.real)).reshape(-1)
            bound["cluster_in"] = taken["cluster"]
            bound["cluster_start_in"] = self._kept(self.given.begin)
        bound |= self._rules(at, stop)
        bound["todo_in"] = self.sweep.order(self.world, bound["ways_in"], k, ahead=True)
        return bound, taken["state"]

    def _characters(self, taken, at, stop):
        """Buffers of what `_take` made of some, as w03 and w05 read them."""
        names = {"start_in": "start", "radius_in": "radius", "turned_in": "quat"}
        return {name: self._real(taken[own]) for name, own in names.items()} | self._rules(at, stop)

    def _placed(self, array, dtype):
        """A given array, flat on the device: where it lies, if it is contiguous and of this dtype."""
        be = self.be
        if isinstance(array, np.ndarray):
            array = np.ascontiguousarray(array, dtype)
            return self._kept(array).reshape(-1) if array.size <= 4 else be.to_device(array.reshape(-1))
        return be.arrays.ascontiguousarray(array.astype(dtype, copy=False)).reshape(-1)

    def _kept(self, array):
        """A small array of the host's on the device, kept there for the calls that have the same."""
        if array.nbytes > MOST_BYTES:
            return self.be.to_device(array)
        kept = self.be.kept.setdefault("constants", {})
        key = (array.dtype.str, array.shape, array.tobytes())
        found = kept.get(key)
        if found is None:
            while len(kept) >= MOST_KEPT:
                kept.pop(next(iter(kept)), None)
            found = kept[key] = self.be.to_device(array)
        return found

    def _real(self, array):
        """An array of float64 as the stages read it."""
        return array.astype(self.run.real, copy=False)

    def _status(self, state, touched, point=None):
        """Outcomes; moves `point` to where it is in the world, if it is given."""
        k = state.size
        out = self.be.empty(k, np.uint8)
        shifted = point is not None and bool(self.world.shift.any())
        self._double.launch_ahead(
            "g07_hits", k, n=k, shifted=int(shifted), **self._shift, state_in=state, touched_in=touched,
            point=point if shifted else self._none[np.float64], status_out=out,
        )  # fmt: skip
        return out

    def _wait(self, count=None):
        """Wait for all that was enqueued; the number in `count`, if it is given. Raises what is wrong."""
        (wrong,), *rest = self.be.numbers(self._wrong, *([] if count is None else [count]))
        self.run.settle()
        self._check(wrong)
        return rest[0][0] if rest else None

    def _check(self, wrong):
        """Raise what is wrong, if a kernel counted something."""
        if wrong:
            self.refuse()
            raise AssertionError("arguments are wrong for the kernel and right for the host")
