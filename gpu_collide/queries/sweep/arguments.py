"""Arguments of swept queries checked, and made into rows; who answers them, and the `Hits` of the answers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._options import HITS, RESULTS
from gpu_collide._validate import as_float_array, as_int_array, check_bool, check_choice, first_few
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.casts import CLUSTERS, ELLIPSOIDS, SPHERES, Casts, GivenCasts
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.preparation import prepared
from gpu_collide.queries.engine_cache import remembered
from gpu_collide.queries.obstacles import Obstacles
from gpu_collide.queries.scene import Scene
from gpu_collide.queries.sweep import residency
from gpu_collide.queries.sweep.residency import NO_RULES, CastRules
from gpu_collide.queries.sweep.rounded import among_rounded, rounding_of, thicker
from gpu_collide.queries.sweep.turning import chord_error, extent_of, extent_there, turning_bodies
from gpu_collide.results.hits import Hits
from gpu_collide.results.of_bodies import hits_of_bodies
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = [
    "OBSTACLES", "answer", "casts_on", "check_turning", "cluster_casts", "ellipsoid_casts", "limit_of",
    "sphere_casts", "within_digits",
]  # fmt: skip

#: What was called ``world``, which is a number now.
OBSTACLES = "obstacles", (Scene, Bodies, Mesh)
#: Lengths beyond so many sizes of the smallest mesh leave no room for the products of the kernels.
MOST = {"mixed": 1e40, "double": 1e40, "single": 1e8}
#: The same with ``turning="exact"`` in sizes of the smallest mesh that turns; and radians in a step.
MOST_EXACT, MOST_TURN = {"mixed": 1e8, "double": 1e8, "single": 1e5}, 1000.0
TURNING = ("refuse", "chord", "exact")
#: What ellipsoids and characters know.
CHORDS = TURNING[:2]
#: So many are squared and summed faster than they are compared.
FEW_NUMBERS = 1 << 10
#: What is told of a query that touches nothing.
NOTHING = dict.fromkeys(("body", "face", "number", "sphere"), -1) | {"feature": 0, "time": 1, "point": 0}
NOTHING["normal"] = 0


def sphere_casts(
    start: Any, path: Any, radius: Any, results: Any = "auto", rules: CastRules = NO_RULES
) -> Casts | GivenCasts:
    """`Casts` of spheres, or of points, whose radius is None. `rules` are not theirs yet."""
    if residency.on_device_or_wanted_there(results, start, path, radius, *rules):
        sizes = 0.0 if radius is None else radius
        return residency.casts(
            SPHERES, lambda: _spheres(start, path, radius), start, path, sizes, rules=rules
        )
    return _spheres(start, path, radius)


def _spheres(start: Any, path: Any, radius: Any) -> Casts:
    starts, paths = _ways(start, path)
    n = len(starts)
    sizes = _per_query(radius, "radius", n) if radius is not None else np.zeros(n)
    return _checked(SPHERES, starts, paths, sizes, *_none(n))


def ellipsoid_casts(
    start: Any,
    path: Any,
    radii: Any,
    orientation: Any,
    results: Any = "auto",
    beside: tuple[tuple[Any, int], ...] = (),
    rules: CastRules = NO_RULES,
) -> Casts | GivenCasts:
    """`Casts` of ellipsoids. `beside`: what else comes with them, and how many axes it has if it has rows."""
    if residency.on_device_or_wanted_there(
        results, start, path, radii, orientation, *rules, *(array for array, _ in beside)
    ):
        make = lambda: _ellipsoids(start, path, radii, orientation)  # noqa: E731
        return residency.casts(ELLIPSOIDS, make, start, path, radii, orientation, beside=beside, rules=rules)
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
    return _checked(ELLIPSOIDS, starts, paths, sizes, quat, *_none(n)[1:4], good)


def cluster_casts(
    clusters: Any,
    start: Any,
    path: Any,
    orientation: Any,
    results: Any = "auto",
    rules: CastRules = NO_RULES,
) -> Casts | GivenCasts:
    """`Casts` of clusters: one for all, or a list and which each query has."""
    which, all_of = residency.clusters(clusters)
    if residency.on_device_or_wanted_there(results, start, path, orientation, which, *rules):
        make = lambda: _clusters(clusters, start, path, orientation)  # noqa: E731
        return residency.casts(
            CLUSTERS, make, start, path, None, orientation, which=which, clusters=all_of, rules=rules
        )
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
    return _checked(CLUSTERS, starts, paths, radii, quat, balls, which, begin, good)


def cluster_numbers(numbers: Any, n: int, m: int) -> Array:
    """Which of `m` clusters each query has."""
    return as_int_array(
        numbers, "clusters", shape=(n,), low=0, high=max(m, 1), dtype=np.int32,
        expected=f"numbers of clusters from 0 to {m - 1}",
    )  # fmt: skip


_NONE = np.zeros((0, 4)), np.zeros((0, 3))


def _none(n: int) -> tuple[Array, Array, Array, Array, Array]:
    """What spheres do not have; and all of them are swept."""
    return (*_NONE, np.zeros(n, np.int32), np.zeros(1, np.int32), np.ones(n, bool))


def _ways(start: Any, path: Any) -> tuple[Array, Array]:
    """Starts and paths, (n, 3) each; one start or one path may do for all."""
    starts, paths = as_float_array(start, "start"), as_float_array(path, "displacement")
    if starts.shape == paths.shape == (len(starts), 3):
        return starts, paths
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


def _checked(
    form: int, start: Array, path: Array, radius: Any, quat: Array, balls: Array, which: Array, begin: Array,
    moves: Array,
) -> Casts:  # fmt: skip
    """Casts in which rows that are no numbers stay where they are."""
    reach = _norm(start) + _norm(path) + (_norm(radius) if form != CLUSTERS else 0.0)
    reach = reach if math.isfinite(reach) else math.inf
    casts = Casts(form, start, path, radius, quat, balls, which, begin, moves, reach)
    if casts.reach < math.inf and (form == SPHERES or moves.all()):
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
    start, path = (np.where(rows, x, 0.0) for x in (casts.start, casts.path))
    return replace(casts, start=start, path=path, reach=math.inf)


def _norm(array: Array) -> float:
    """No number of it is larger without its sign; not finite if one is not, or too large to be squared."""
    if array.ndim and not array.strides[0]:  # all rows are the first
        array = array[:1]
    if array.size > FEW_NUMBERS:  # of many, a product would wake all threads
        return max(float(array.max()), -float(array.min()))
    return math.sqrt(np.vdot(array, array))


def casts_on(where: Any, precision: Any, max_bytes: Any) -> Any:
    """Who answers about casts: the kernels on a backend, or the reference, which has the same verbs."""
    if where.kind == "reference":
        from gpu_collide.reference import sweep

        return sweep.Reference()
    from gpu_collide.pipeline.sweep.casts import CastQuery

    return CastQuery(where, precision, max_bytes)


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
    rules: CastRules,
) -> Hits:
    """`Hits` of what is swept through a world."""
    two_sided, zone = _asked(hits, results, turns, casts.form, two_sided, buffer)
    exact, to = turns == "exact", getattr(world, "expansion", None)
    if to is not None:
        rules.refuse_ignored()
    programs = ("sweep_body",) if exact else ("sweep",)
    given = world, casts_on, precision, backend, max_bytes, programs
    with Obstacles(*given, spins=exact, rounded=casts.form != ELLIPSOIDS, compounds=True) as among:
        bodies, engine, where = among.bodies, among.engine, among.where
        radii = rounding_of(bodies)
        rules, casts = rules.among(among, casts)
        turn = _refused_turning(bodies, turns)
        exact = exact and turn
        limit, stays = limit_of(bodies, engine.precision), residency.keeps_on_device(casts, where, results)
        if exact:
            limit = min(limit, exact_limit(bodies, engine.precision))

        def refuse() -> None:
            residency.fetched_casts(casts)
            rules.checked(len(casts), len(bodies))

        landing = None
        if not radii[-1]:
            landing = residency.device_queries(
                casts, where, stays, engine, lambda: among.world(exact), limit, refuse
            )
        told = {"turning": 0.0} if exact else {}
        chords = turn and not exact
        if landing is not None:
            every = hits == "all"
            if chords:
                told = {"turning": chord_error(extent_there(landing, bodies), bodies)}
            rows = landing.all(two_sided, zone) if every else landing.first(two_sided, zone, hits == "any")
            there = Hits(**(rows if stays else residency.fetched(rows, where)), info=engine.about() | told)
            return there if to is None else hits_of_bodies(there, to)
        casts = replace(residency.fetched_casts(casts), rules=rules.checked(len(casts), len(bodies)))
        largest = thicker(casts, radii[-1])
        within = within_digits(largest, limit)
        rows = casts if within is None else _staying(replace(casts, moves=casts.moves & within))
        if chords:
            extent = extent_of(thicker(rows, radii[-1]), bodies, turning_bodies(bodies))
            told = {"turning": chord_error(extent, bodies)}
        found = among_rounded(
            among, radii, exact, rows, hits,
            lambda made, some: _answered(engine, made, some, hits, two_sided, zone),
        )  # fmt: skip
        found["info"] = engine.about() | told
    if not rows.every:
        lost = np.where(casts.moves, np.uint8(Status.UNRESOLVED), np.uint8(Status.INVALID_INPUT))
        found["status"] = np.where(rows.moves, found["status"], lost)
    if to is not None:
        return hits_of_bodies(Hits(**found), to)
    if stays:
        return residency.placed(Hits(**found), where)
    return Hits(**found) if where.kind == "reference" else Hits.sealed(**found)


def _answered(
    engine: Any, made: Any, casts: Casts, hits: Any, two_sided: bool, zone: float
) -> dict[str, Any]:
    """The fields of `Hits` of casts on the host."""
    n = len(casts)
    if hits == "all":
        found = engine.all(made, casts, two_sided, zone)
        if not casts.every:  # they stood at 0, where a body may have come by
            told = casts.moves[found["query"]]
            found = {name: array[told] for name, array in found.items()}
        count = np.bincount(found["query"], minlength=n)
        found["offsets"], hit = np.concatenate([[0], np.cumsum(count)]), count > 0
    else:
        found = engine.first(made, casts, two_sided, zone, hits == "any")
        if not casts.every:
            for name, array in found.items():
                array[~casts.moves] = NOTHING[name]
        found["query"], found["offsets"] = np.arange(n, dtype=np.int32), np.arange(n + 1)
        hit = found["feature"] != 0
    found["status"] = hit.astype(np.uint8)  # `Status.HIT` is 1, MISS 0
    return found


@remembered
def _asked(hits: Any, results: Any, turns: Any, form: int, two_sided: Any, buffer: Any) -> tuple[bool, float]:
    """What is asked besides, checked: from both sides? And the buffer."""
    check_choice(hits, "hits", HITS)
    check_choice(results, "results", RESULTS)
    if form == ELLIPSOIDS:
        check_turning(turns, "ellipsoids")
    else:
        check_choice(turns, "turning", TURNING)
    return check_bool(two_sided, "two_sided"), _buffer(buffer)


def check_turning(turns: Any, what: str) -> None:
    """Raise unless `turns` is what ellipsoids and characters know."""
    if turns == "exact":
        raise ValueError(
            f"turning: expected 'refuse' or 'chord' for {what}, got 'exact', which rays, spheres and "
            "clusters know; pass turning='chord', and shorter steps for a smaller error"
        )
    check_choice(turns, "turning", CHORDS)


def _buffer(buffer: Any) -> float:
    if isinstance(buffer, (bool, np.bool_)) or not isinstance(buffer, (int, float, np.integer, np.floating)):
        raise TypeError(f"buffer: expected a number, got {type(buffer).__name__}")
    if not (buffer >= 0 and np.isfinite(buffer)):
        raise ValueError(f"buffer: expected a finite length, zero or more, got {buffer}")
    return float(buffer)


def limit_of(bodies: Bodies, precision: str) -> float:
    """Lengths beyond leave no room for the products of the kernels."""
    size = bodies.__dict__.get("_least_size")
    if size is None:
        size = min(float(prepared.measures_of(mesh)[4]) for mesh in bodies.meshes)
        bodies.__dict__["_least_size"] = size
    return MOST[precision] * size


def exact_limit(bodies: Bodies, precision: str) -> float:
    """`limit_of` where some bodies turn on their own motions.

    Raises
    ------
    ValueError
        Such bodies are farther away or move farther, or turn by more than `MOST_TURN`.
    """
    which = turning_bodies(bodies)
    limit = MOST_EXACT[precision] * min(
        float(prepared.measures_of(bodies.meshes[k])[4]) for k in np.unique(bodies.shape[which])
    )
    places = [bodies.start.position[which], bodies.end.position[which]]
    if bodies.spins is not None:
        places.append(bodies.spins.displacement[which])
        turn = np.linalg.norm(bodies.spins.rotation[which], axis=1)
        if (turn > MOST_TURN).any():
            bad = which[turn > MOST_TURN]
            raise ValueError(
                f"obstacles: expected turns of at most {MOST_TURN:g} rad in a step with turning='exact', got "
                f"{turn.max():.6g} ({bad.size} bodies, first: {first_few(bad)}); make shorter steps"
            )
    far = np.abs(np.concatenate(places, axis=1)).max(axis=1)
    if (far > limit).any():
        bad = which[far > limit]
        raise ValueError(
            f"obstacles: expected bodies that turn to stay within {limit:.6g} of the origin with "
            f"turning='exact', {MOST_EXACT[precision]:g} sizes of the smallest of them, got {far.max():.6g} "
            f"({bad.size} bodies, first: {first_few(bad)}); count positions from somewhere near them"
        )
    return limit


def within_digits(casts: Casts, limit: float) -> Array | None:
    """Which rows have lengths that the precision can multiply; None: all."""
    if casts.form == SPHERES and casts.reach <= limit:
        return None
    reach = np.abs(casts.start).max(axis=1, initial=0.0) + np.abs(casts.path).max(axis=1, initial=0.0)
    if casts.form == ELLIPSOIDS:
        most = casts.radius.max(axis=1)
        reach = (reach + most) * (most / casts.radius.min(axis=1))
    elif casts.form == SPHERES:
        reach = reach + casts.radius
    else:
        reach = reach + np.abs(casts.balls).max(initial=0.0) + casts.radius.max(initial=0.0)
    within = reach <= limit
    return None if within.all() else within


def _refused_turning(bodies: Bodies, turns: str) -> bool:
    """Does a body turn? Raises if that is refused."""
    which = turning_bodies(bodies)
    if which.size and turns == "refuse":
        raise ValueError(
            f"obstacles: expected bodies that move without turning, got {which.size} that turn, first: "
            f"{first_few(which)}; pass turning='exact' (rays, spheres and clusters), or turning='chord' to "
            "have paths taken for straight as these bodies see them"
        )
    return bool(which.size)
