"""Arguments of casts as given: which arrays are on a GPU, their shapes, and where results go."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._validate import as_float_array, as_int_array, as_numpy, on_device
from gpu_collide.bodies.casts import CLUSTERS, SPHERES, Cluster, GivenCasts
from gpu_collide.bodies.rules import cast_rules, cast_worlds

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.casts import Casts
    from gpu_collide.queries.obstacles import Obstacles

__all__ = [
    "NO_RULES", "CastRules", "balls_of", "casts", "check_lengths", "check_turns", "clusters", "count",
    "fetched", "fetched_casts",
    "floats", "integers", "device_queries", "on_device_or_wanted_there", "placed", "keeps_on_device",
]  # fmt: skip

#: Numbers of devices: arrays lie on several.
SEVERAL = -1


class CastRules(NamedTuple):
    """Which bodies casts meet, as it was given: each a number, a row for each query, or None."""

    group: Any = None
    mask: Any = None
    ignore: Any = None
    world: Any = None

    def where_they_lie(self, n: int) -> tuple[Any, Any, Any, Any] | None:
        """The arrays, of n queries, whose values nobody has looked at; None: none was given."""
        if all(value is None for value in self):
            return None
        group, mask, ignore, world = (
            None if value is None else integers(value, name, n, one=True)
            for name, value in zip(self._fields, self, strict=True)
        )
        return group, mask, ignore, world

    def among(self, obstacles: Obstacles, swept: Casts | GivenCasts) -> tuple[CastRules, Casts | GivenCasts]:
        """The same with ranks of worlds, on the host, by those of the obstacles; and casts with them."""
        if self.world is None:
            return self, swept
        found = self._replace(
            world=cast_worlds(as_numpy(self.world, "world"), len(swept), obstacles.worlds())
        )
        if isinstance(swept, GivenCasts):
            swept = dataclasses.replace(swept, rules=found.where_they_lie(len(swept)))
        return found, swept

    def refuse_ignored(self) -> None:
        """Raise if a body is ignored, among bodies that are several for a cast."""
        if self.ignore is not None:
            raise ValueError(
                "ignore: expected None among compounds of several meshes, got some; leave bodies out by "
                "group and mask"
            )

    def checked(self, n: int, n_bodies: int) -> Array | None:
        """(n, 4) rules, or None."""
        return cast_rules(*self, n, n_bodies)


NO_RULES = CastRules()


def on_device_or_wanted_there(results: Any, *arrays: Any) -> bool:
    """Does an array lie on a GPU, or are results to stay on one?"""
    for array in arrays:
        if type(array) is not np.ndarray and on_device(array) is not None:
            return True
    return isinstance(results, str) and results == "device"


def casts(
    form: int,
    host: Callable[[], Casts],
    start: Any,
    path: Any,
    sizes: Any,
    orientation: Any = None,
    *,
    which: Any = None,
    clusters: Any = (),
    beside: tuple[tuple[Any, int], ...] = (),
    rules: CastRules = NO_RULES,
) -> GivenCasts:
    """`GivenCasts` of arguments, whose shapes and dtypes are checked. `beside` as in `ellipsoid_casts`."""
    starts, paths = floats(start, "start"), floats(path, "displacement")
    n = count(starts, paths)
    arrays: list[tuple[Any, int]] = [(starts, 2), (paths, 2)]
    quat = numbers = None
    balls, radius, begin = balls_of(clusters)
    if form == CLUSTERS:
        if not clusters and n:
            raise ValueError("clusters: expected at least one Cluster, got none")
        numbers = np.zeros(n, np.int32) if which is None else integers(which, "clusters", n)
        arrays += [] if which is None else [(numbers, 1)]
    else:
        name, tail = ("radius", ()) if form == SPHERES else ("radii", (3,))
        radius = floats(sizes, name)
        check_lengths(radius, name, n, tail)
        arrays.append((radius, 1 + len(tail)))
    if orientation is not None:
        quat = floats(orientation, "orientation")
        check_turns(quat, n)
        arrays.append((quat, 2))
    arrays += [(_somewhere(array), axes) for array, axes in beside if array is not None]
    meets = rules.where_they_lie(n)
    arrays += [(array, 1) for array in meets or () if array is not None]
    rows = [array for array, axes in arrays if array.ndim == axes]
    devices = {array.device.id for array, _ in arrays if not isinstance(array, np.ndarray)}
    device = None if not devices else devices.pop() if len(devices) == 1 else SEVERAL
    whole = bool(rows) and not any(isinstance(array, np.ndarray) for array in rows)
    return GivenCasts(form, n, starts, paths, radius, quat, numbers, balls, begin, device, whole, host, meets)


def floats(obj: Any, name: str) -> Any:
    """An array of numbers where it lies: by CuPy, of any real dtype, or `as_float_array`."""
    there = on_device(obj)
    if there is None:
        return as_float_array(obj, name)
    if there.dtype.kind not in "fiu" or there.dtype.itemsize > 8:
        raise TypeError(f"{name}: expected float32 or float64, got {there.dtype}")
    return there


def integers(obj: Any, name: str, n: int, one: bool = False) -> Any:
    """(n,) integers where they lie; `one`: or one for all."""
    there = on_device(obj)
    if there is None:
        return as_int_array(obj, name, shape=() if one and np.ndim(obj) == 0 else (n,))
    if there.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integers, got {there.dtype}; pass {name}.astype(int)")
    if there.shape != (n,) and not (one and there.shape == ()):
        raise ValueError(f"{name}: expected shape ({n},), got {there.shape}")
    return there


def _somewhere(obj: Any) -> Any:
    there = on_device(obj)
    return np.asarray(obj) if there is None else there


def count(starts: Any, paths: Any) -> int:
    """How many queries there are; one start or one path may do for all."""
    for name, array in (("start", starts), ("displacement", paths)):
        if array.ndim not in (1, 2) or array.shape[-1] != 3:
            raise ValueError(f"{name}: expected shape (n, 3) or (3,), got {array.shape}")
    if starts.ndim == paths.ndim == 2 and len(starts) != len(paths):
        raise ValueError(
            f"displacement: expected as many rows as start, {len(starts)}, or shape (3,), got {paths.shape}"
        )
    n = len(starts) if starts.ndim == 2 else len(paths) if paths.ndim == 2 else 1
    if n >= 2**30:
        raise ValueError(f"start: expected fewer than 2**30 queries, got {n}")
    return n


def check_lengths(array: Any, name: str, n: int, tail: tuple[int, ...]) -> None:
    """Raise unless there is a length (or `tail` of them) for all or for each query."""
    if array.shape not in (tail, (n, *tail)):
        raise ValueError(f"{name}: expected shape {tail} or {(n, *tail)}, got {array.shape}")


def check_turns(quat: Any, n: int) -> None:
    """Raise unless there is a quaternion for all or for each query."""
    if quat.shape not in ((4,), (n, 4)):
        raise ValueError(f"orientation: expected quaternions wxyz, shape (4,) or ({n}, 4), got {quat.shape}")


def clusters(value: Any) -> tuple[Any, tuple[Cluster, ...]]:
    """Which cluster each query has, as it was given (None: there is one for all), and the clusters."""
    which = None
    if isinstance(value, Cluster):
        found: Any = (value,)
    elif isinstance(value, (tuple, list)) and len(value) == 2 and not isinstance(value[0], Cluster):
        found, which = tuple(value[0]), value[1]
    else:
        raise TypeError(
            "clusters: expected a Cluster, or a list of them and (n,) numbers in it, got "
            f"{type(value).__name__}"
        )
    for k, cluster in enumerate(found):
        if not isinstance(cluster, Cluster):
            raise TypeError(f"clusters: expected Cluster, got {type(cluster).__name__} at index {k}")
    return which, found


def balls_of(clusters: tuple[Cluster, ...]) -> tuple[Array, Array, Array]:
    """Centres and radii of all balls, and the first ball of each cluster."""
    begin = np.concatenate([[0], np.cumsum([len(c) for c in clusters])]).astype(np.int32)
    balls = np.concatenate([np.zeros((0, 3)), *(c.centers for c in clusters)])
    return balls, np.concatenate([np.zeros(0), *(c.radii for c in clusters)]), begin


def keeps_on_device(swept: Casts | GivenCasts, where: Any, results: str) -> bool:
    """Do the arrays of a result stay on the device? The rule of docs/devices.md."""
    if where.kind != "cuda" or results == "host":
        return False
    return results == "device" or (_is_there(swept, where) and swept.whole)  # type: ignore[union-attr]


def _is_there(swept: Casts | GivenCasts, where: Any) -> bool:
    return isinstance(swept, GivenCasts) and swept.device == where.device_id


def device_queries(
    swept: Casts | GivenCasts,
    where: Any,
    stay: bool,
    engine: Any,
    world: Callable[[], Any],
    limit: float,
    refuse: Callable[[], object],
) -> Any:
    """`DeviceQueries` of casts whose arrays are used in place, or whose results stay there; else None.

    `world` makes what they are cast through; `refuse` raises what is wrong with arguments.
    """
    if where.kind != "cuda" or not isinstance(swept, GivenCasts) or not len(swept):
        return None
    if not _is_there(swept, where) and not (stay and swept.device is None):
        return None
    from gpu_collide.pipeline.sweep.device_queries import DeviceQueries

    if swept.device is None:
        refuse()  # all of it is on the host: what is wrong is said before any launch
    return DeviceQueries(engine, world(), swept, limit, refuse)


def fetched_casts(swept: Casts | GivenCasts) -> Casts:
    """The same on the host."""
    return swept.host() if isinstance(swept, GivenCasts) else swept


def fetched(rows: dict[str, Any], where: Any) -> dict[str, Any]:
    """Arrays on the host, by one wait for all."""
    return dict(zip(rows, where.to_hosts(rows.values()), strict=True))


def placed(result: Any, where: Any) -> Any:
    """A result of host arrays on the device of a backend."""
    arrays = {f.name: getattr(result, f.name) for f in dataclasses.fields(result) if f.name != "info"}
    with where.current():
        return dataclasses.replace(result, **{name: where.to_device(a) for name, a in arrays.items()})
