"""Arguments of swept queries checked, and made into rows; who answers them, and the `Hits` of the answers."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._options import HITS, RESULTS
from gpu_collide._validate import as_float_array, as_int_array, check_bool, check_choice, first_few
from gpu_collide.bodies.bodies import Bodies, refuse_spins
from gpu_collide.bodies.casts import CLUSTERS, ELLIPSOIDS, SPHERES, Casts, GivenCasts
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.preparation import prepared
from gpu_collide.queries.backend_choice import not_obstacles, resolve_backend
from gpu_collide.queries.pairs import warn_of_invalid
from gpu_collide.queries.scene import Scene
from gpu_collide.queries.sweep import residency
from gpu_collide.queries.sweep.turning import chord_error, extent_of, extent_there, turning_bodies
from gpu_collide.results.hits import Feature, Hits
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gpu_collide._types import Array

__all__ = [
    "TURNING", "answer", "cluster_casts", "ellipsoid_casts", "engine_for", "limit_of", "open_world",
    "sphere_casts", "within_digits",
]  # fmt: skip

#: Lengths beyond so many sizes of the smallest mesh leave no room for the products of the kernels.
MOST = {"mixed": 1e40, "double": 1e40, "single": 1e8}
TURNING = ("refuse", "chord")
#: What is told of a query that touches nothing.
NOTHING = dict.fromkeys(("body", "face", "number", "sphere"), -1) | {"feature": 0, "time": 1, "point": 0}
NOTHING["normal"] = 0


def sphere_casts(start: Any, path: Any, radius: Any, results: Any = "auto") -> Casts | GivenCasts:
    """`Casts` of spheres; points have radius 0."""
    if residency.on_device_or_wanted_there(results, start, path, radius):
        return residency.casts(SPHERES, lambda: _spheres(start, path, radius), start, path, radius)
    return _spheres(start, path, radius)


def _spheres(start: Any, path: Any, radius: Any) -> Casts:
    starts, paths = _ways(start, path)
    n = len(starts)
    sizes = _per_query(radius, "radius", n)
    return _checked(Casts(SPHERES, starts, paths, sizes, *_none(n)))


def ellipsoid_casts(
    start: Any,
    path: Any,
    radii: Any,
    orientation: Any,
    results: Any = "auto",
    beside: tuple[tuple[Any, int], ...] = (),
) -> Casts | GivenCasts:
    """`Casts` of ellipsoids. `beside`: what else comes with them, and how many axes it has if it has rows."""
    if residency.on_device_or_wanted_there(
        results, start, path, radii, orientation, *(array for array, _ in beside)
    ):
        make = lambda: _ellipsoids(start, path, radii, orientation)  # noqa: E731
        return residency.casts(ELLIPSOIDS, make, start, path, radii, orientation, beside=beside)
    return _ellipsoids(start, path, radii, orientation)


def _ellipsoids(start: Any, path: Any, radii: Any, orientation: Any) -> Casts:
    starts, paths = _ways(start, path)
    n = len(starts)
    sizes = _per_query(radii, "radii", n, 3)
    if (sizes <= 0).any():
        bad = np.flatnonzero((sizes <= 0).any(axis=1))
        raise ValueError(
            f"radii: expected lengths above zero, got {sizes[bad[0]].tolist()} ({bad.size} rows, first: "
            f"{first_few(bad)}); points are for rays"
        )
    quat, good = _orientation(orientation, n)
    casts = Casts(ELLIPSOIDS, starts, paths, sizes, *_none(n))
    return _checked(replace(casts, quat=quat, moves=casts.moves & good))


def cluster_casts(
    clusters: Any, start: Any, path: Any, orientation: Any, results: Any = "auto"
) -> Casts | GivenCasts:
    """`Casts` of clusters: one for all, or a list and which each query has."""
    which, all_of = residency.clusters(clusters)
    if residency.on_device_or_wanted_there(results, start, path, orientation, which):
        make = lambda: _clusters(clusters, start, path, orientation)  # noqa: E731
        return residency.casts(CLUSTERS, make, start, path, None, orientation, which=which, clusters=all_of)
    return _clusters(clusters, start, path, orientation)


def _clusters(clusters: Any, start: Any, path: Any, orientation: Any) -> Casts:
    numbers, all_of = residency.clusters(clusters)
    starts, paths = _ways(start, path)
    n = len(starts)
    which = np.zeros(n, np.int32) if numbers is None else cluster_numbers(numbers, n, len(all_of))
    if not all_of and n:
        raise ValueError("clusters: expected at least one Cluster, got none")
    quat, good = _orientation(orientation, n)
    balls, radii, begin = residency.balls_of(all_of)
    moves = np.ones(n, bool) & good
    return _checked(Casts(CLUSTERS, starts, paths, radii, quat, balls, which, begin, moves))


def cluster_numbers(numbers: Any, n: int, m: int) -> Array:
    """Which of `m` clusters each query has."""
    return as_int_array(
        numbers, "clusters", shape=(n,), low=0, high=max(m, 1), dtype=np.int32,
        expected=f"numbers of clusters from 0 to {m - 1}",
    )  # fmt: skip


def _none(n: int) -> tuple[Array, Array, Array, Array, Array]:
    """What spheres do not have; and all of them are swept."""
    return np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(n, np.int32), np.zeros(1, np.int32), np.ones(n, bool)


def _ways(start: Any, path: Any) -> tuple[Array, Array]:
    """Starts and paths, (n, 3) each; one start or one path may do for all."""
    starts, paths = as_float_array(start, "start"), as_float_array(path, "displacement")
    shape = (residency.count(starts, paths), 3)
    return np.broadcast_to(starts, shape), np.broadcast_to(paths, shape)


def _per_query(value: Any, name: str, n: int, width: int | None = None) -> Array:
    """Lengths, of one for all or of one for each query."""
    tail = () if width is None else (width,)
    array = as_float_array(value, name)
    residency.check_lengths(array, name, n, tail)
    if (array < 0).any():
        bad = np.flatnonzero((array < 0).reshape(len(array), -1).any(axis=1)) if array.ndim else [0]
        raise ValueError(
            f"{name}: expected lengths, zero or more, got {array.min()} ({len(bad)} rows, first: "
            f"{first_few(bad)})"
        )
    if array.shape == tail and not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite lengths, got {array.tolist()}")
    return np.broadcast_to(array, (n, *tail))


def _orientation(orientation: Any, n: int) -> tuple[Array, Array]:
    """Unit quaternions, and which rows had one."""
    if orientation is None:
        return np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), np.ones(n, bool)
    quat = as_float_array(orientation, "orientation")
    residency.check_turns(quat, n)
    poses = Poses.from_quat_wxyz(np.zeros((n, 3)), np.broadcast_to(quat, (n, 4)))
    return poses.unit_wxyz, poses.valid


def _checked(casts: Casts) -> Casts:
    """Casts in which rows that are no numbers stay where they are."""
    radius: Any = casts.radius
    own = [radius] if casts.form != CLUSTERS else []
    if casts.moves.all() and np.isfinite(sum(_reach(x) for x in (casts.start, casts.path, *own))):
        return casts  # as always, but for the odd call
    good: Any = np.isfinite(casts.start).all(axis=1) & np.isfinite(casts.path).all(axis=1)
    if casts.form != CLUSTERS:
        flat = radius.reshape(len(good), 3 if casts.form == ELLIPSOIDS else 1)
        good &= np.isfinite(flat).all(axis=1)
        radius = np.where(good[:, None], flat, 1.0).reshape(radius.shape)
    return _staying(replace(casts, radius=radius, moves=casts.moves & good))


def _staying(casts: Casts) -> Casts:
    """Casts of which those that do not move have start and path zero."""
    rows = casts.moves[:, None]
    return replace(casts, start=np.where(rows, casts.start, 0.0), path=np.where(rows, casts.path, 0.0))


def _reach(array: Array) -> float:
    """No number of it is larger; not finite, if one is not."""
    if array.ndim and not array.strides[0]:  # all rows are the first
        array = array[:1]
    return float(array.max(initial=0.0)) - float(array.min(initial=0.0))


@contextmanager
def open_world(world: Any) -> Iterator[tuple[Bodies, Any]]:
    """The bodies of a world, and what a `Scene` keeps of them (else None)."""
    if isinstance(world, Scene):
        with world.held() as (bodies, _, resident):
            refuse_spins(bodies, "obstacles")
            yield bodies, resident
        return
    if not isinstance(world, Bodies):
        raise not_obstacles(world)
    refuse_spins(world, "obstacles")
    invalid = np.flatnonzero(~(world.start.valid & world.end.valid))
    warn_of_invalid(world, invalid, ("is not there", "are not there"))
    yield world, None


def engine_for(
    world: Any, precision: Any, backend: Any, max_bytes: Any, characters: bool = False
) -> tuple[Any, Any]:
    """Who answers: where a `Scene` is kept, else according to the arguments (None: not given); and the
    backend."""
    options, where = resolve_backend(world, precision, backend, max_bytes, ("sweep",))
    if where.kind == "reference":
        from gpu_collide.reference import sweep

        return sweep.Walkers() if characters else sweep.Reference(), where
    if characters:
        from gpu_collide.pipeline.sweep.characters import CharacterQuery

        return CharacterQuery(where, options.precision, options.max_bytes), where
    from gpu_collide.pipeline.sweep.casts import CastQuery

    return CastQuery(where, options.precision, options.max_bytes), where


def answer(
    casts: Casts | GivenCasts,
    world: Any,
    hits: Any,
    two_sided: Any,
    buffer: Any,
    turns: Any,
    precision: Any,
    backend: Any,
    max_bytes: Any,
    results: Any,
) -> Hits:
    """`Hits` of what is swept through a world."""
    check_choice(hits, "hits", HITS)
    check_choice(results, "results", RESULTS)
    check_choice(turns, "turning", TURNING)
    two_sided, zone = check_bool(two_sided, "two_sided"), _buffer(buffer)
    engine, where = engine_for(world, precision, backend, max_bytes)
    stays = residency.keeps_on_device(casts, where, results)
    with where.current(), open_world(world) as (bodies, resident):
        turn = _refused_turning(bodies, turns)
        limit = limit_of(bodies, engine.precision)
        landing = residency.device_queries(casts, where, stays, engine, bodies, resident, limit)
        if landing is not None:
            every = hits == "all"
            told = {"turning": chord_error(extent_there(landing, bodies), bodies)} if turn else {}
            rows = landing.all(two_sided, zone) if every else landing.first(two_sided, zone, hits == "any")
            return Hits(**(rows if stays else residency.fetched(rows, where)), info=engine.about() | told)
        casts = residency.fetched_casts(casts)
        within = within_digits(casts, bodies, engine.precision)
        rows = casts if within.all() else _staying(replace(casts, moves=casts.moves & within))
        extent = extent_of(rows, bodies, turning_bodies(bodies)) if turn else None
        told = {"turning": chord_error(extent, bodies)} if turn else {}
        lost = np.where(casts.moves, np.uint8(Status.UNRESOLVED), np.uint8(Status.INVALID_INPUT))
        found = _answered(engine, engine.world(bodies, resident), rows, lost, hits, two_sided, zone)
    found.info.update(engine.about() | told)
    return residency.placed(found, where) if stays else found


def _answered(
    engine: Any, made: Any, casts: Casts, lost: Array, hits: Any, two_sided: bool, zone: float
) -> Hits:
    """`Hits` of casts on the host; `lost` is said of those that do not move."""
    n = len(casts)
    if hits == "all":
        found = engine.all(made, casts, two_sided, zone)
        if not casts.moves.all():  # they stood at 0, where a body may have come by
            told = casts.moves[found["query"]]
            found = {name: array[told] for name, array in found.items()}
        count = np.bincount(found["query"], minlength=n)
        offsets, hit = np.concatenate([[0], np.cumsum(count)]), count > 0
    else:
        found = engine.first(made, casts, two_sided, zone, hits == "any")
        if not casts.moves.all():
            for name, array in found.items():
                array[~casts.moves] = NOTHING[name]
        found["query"] = np.arange(n, dtype=np.int32)
        offsets, hit = np.arange(n + 1), found["feature"] != Feature.NONE
    status = np.where(hit, np.uint8(Status.HIT), np.uint8(Status.MISS))
    status = np.where(casts.moves, status, lost)
    return Hits(status=status, offsets=offsets, **found)


def _buffer(buffer: Any) -> float:
    if isinstance(buffer, (bool, np.bool_)) or not isinstance(buffer, (int, float, np.integer, np.floating)):
        raise TypeError(f"buffer: expected a number, got {type(buffer).__name__}")
    if not (buffer >= 0 and np.isfinite(buffer)):
        raise ValueError(f"buffer: expected a finite length, zero or more, got {buffer}")
    return float(buffer)


def limit_of(bodies: Bodies, precision: str) -> float:
    """Lengths beyond leave no room for the products of the kernels."""
    return MOST[precision] * min(float(prepared.measures_of(mesh)[4]) for mesh in bodies.meshes)


def within_digits(casts: Casts, bodies: Bodies, precision: str) -> Array:
    """Which rows have lengths that the precision can multiply."""
    limit = limit_of(bodies, precision)
    if casts.form == SPHERES and sum(_reach(x) for x in (casts.start, casts.path, casts.radius)) <= limit:
        return np.ones(len(casts), bool)
    reach = np.abs(casts.start).max(axis=1, initial=0.0) + np.abs(casts.path).max(axis=1, initial=0.0)
    if casts.form == ELLIPSOIDS:
        most = casts.radius.max(axis=1)
        reach = (reach + most) * (most / casts.radius.min(axis=1))
    elif casts.form == SPHERES:
        reach = reach + casts.radius
    else:
        reach = reach + np.abs(casts.balls).max(initial=0.0) + casts.radius.max(initial=0.0)
    return np.asarray(reach <= limit)


def _refused_turning(bodies: Bodies, turns: str) -> bool:
    """Does a body turn? Raises if that is refused."""
    which = turning_bodies(bodies)
    if which.size and turns == "refuse":
        raise ValueError(
            f"obstacles: expected bodies that move without turning, got {which.size} that turn, first: "
            f"{first_few(which)}; pass turning='chord' to have paths taken for straight as these bodies see "
            "them, or use collide, which turns exactly"
        )
    return bool(which.size)
