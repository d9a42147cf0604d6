"""`contacts_at`: all places where bodies at a pose are near each other, and how deep they overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide._validate import check_finite, check_pairs, lengths_of_pairs
from gpu_collide.backends import get_backend, sources
from gpu_collide.bodies.bodies import Bodies, check_bodies
from gpu_collide.bodies.rules import check_rules
from gpu_collide.geometry.arrays.order import order_of, taken
from gpu_collide.queries.collide import refuse_rules, warn_of_invalid_in
from gpu_collide.queries.compounds import for_compounds
from gpu_collide.queries.engine import engine_on
from gpu_collide.queries.engine_cache import options_of
from gpu_collide.queries.frusta import fields_of_frusta, has_frusta, with_points
from gpu_collide.queries.input_warnings import warn_of_bodies
from gpu_collide.queries.pairs import gathered, open_search
from gpu_collide.queries.pluecker.contacts import contacts
from gpu_collide.queries.pluecker.initial_overlap import TOUCH_OF_KIND
from gpu_collide.queries.pluecker.places import ON_MOVER
from gpu_collide.queries.scene import Scene
from gpu_collide.results.clearance import Clearance
from gpu_collide.results.enums import Kind, Status, Touch

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, BackendName, Precision
    from gpu_collide.results.trace import TouchPoints

__all__ = ["contacts_at"]

#: A length that is finite.
LONGEST = float(np.finfo(np.float64).max)

_KINDS = np.full(len(Touch), Kind.NONE, np.int8)
_KINDS[[int(touch) for touch in TOUCH_OF_KIND.values()]] = [int(kind) for kind in TOUCH_OF_KIND]


@for_compounds
@within_memory
def contacts_at(
    bodies: Bodies | Scene,
    pairs: ArrayLike | None = None,
    *,
    margin: ArrayLike = 0.0,
    at: float = 0.0,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    precision: Precision | None = None,
    backend: BackendName | None = None,
    max_bytes: int | None = None,
) -> Clearance:
    """All contacts of bodies at a pose: every place within a margin, and the depth of each overlap.

    Parameters
    ----------
    bodies : Bodies or Scene
        A `Scene` has its own rules, precision, backend and memory; they are not given then.
    pairs : (p, 2) array_like of int, optional
        Rows (A, B) of body numbers. Default: the pairs that the rules allow and the broad phase finds within
        the margin, standing ones included; A < B, in lexicographic order.
    margin : float or (p,) array_like, optional
        Up to which distance places are told, of all pairs or of each of `pairs`. Unit of the poses.
    at : float, optional
        Fraction of the step in [0, 1] whose poses count, ``bodies.poses_at(at)``.
    world, group, mask, ignore
        Which pairs are made, as in `find_pairs`; not together with `pairs`.
    precision, backend, max_bytes
        As in `collide`; default ``"mixed"``, ``"auto"`` and 2 GiB.

    Returns
    -------
    Clearance
        A row for each place, the rows of a pair one behind the other, the deepest and nearest first. A pair
        without a place has one row of distance inf. `status` is that of the pair: MISS, apart, even if
        within the margin; HIT, in touch within 1e-11 of the size; INITIAL_OVERLAP, in each other by more than
        rounding; INVALID_INPUT; UNRESOLVED, too large or too small for the precision. Negative distances are
        depths, of regions as ``clearance(regions=True)`` has them; of an overlap shallower than `collide`
        tells from touch (1e-7 of the sizes) all places. `lower_bound` is the nearest place of the pair.

    Raises
    ------
    TypeError, ValueError, MemoryLimitError, BackendUnavailableError
        As `collide`.

    Warns
    -----
    RuntimeWarning
        Bodies of invalid pose, as in `collide`.

    Notes
    -----
    Places are those of `gpu_collide.pluecker.contacts`, which has the same for movers and points: pairs of
    features whose shortest connection ends inside both, and all vertices before a face. Nothing is nearer
    than the nearest of them. Of solids that overlap the places that are apart are told as well, such as the
    other legs of a table of which one is in the floor.

    Distances of meshes with a rounding radius are less by both radii, and places are on the rounded surfaces;
    so they are negative where only the roundings overlap, for every place.

    Cylinders and cones have, beside the places where features are nearest, the corners of what lies flat: of
    a disc eight points of its rim, fixed on the body. Vertices 0 and 1 are their ends, 2 to 17 the points of
    their rims, edge 0 the side, edges 1 to 4 places where borders cross a rim. Of open meshes they are pushed
    out along the faces' normals.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.01, 1.01, 1.01]], [[1, 0, 0, 0]] * 2)
    >>> found = gc.contacts_at(gc.Bodies(gc.shapes.box(), None, poses, poses), margin=0.02)
    >>> [gc.Kind(kind).name for kind in found.kind], found.distance.round(6).tolist()
    (['VV'], [0.017321])
    """
    time = _time(at)
    rules = {"world": world, "group": group, "mask": mask, "ignore": ignore}
    how: dict[str, Any] = {"precision": precision, "backend": backend, "max_bytes": max_bytes}
    scene = bodies if isinstance(bodies, Scene) else None
    if scene is not None:
        for name, value in (rules | how).items():
            if value is not None:
                raise ValueError(
                    f"{name}: expected nothing with a Scene, which has its own, got {value!r}; pass it to "
                    "the Scene"
                )
        how = {name: getattr(scene.options, name) for name in how}
        bodies = _now(scene)
    elif pairs is not None:
        refuse_rules(**rules)
    bodies = check_bodies(bodies)
    how = {name: value for name, value in how.items() if value is not None}
    options = options_of(**how)
    options.check_meshes(bodies.meshes)
    there = bodies.start if bodies.start is bodies.end else bodies.poses_at(time)
    stand = bodies.moved(there, there)
    if pairs is None:
        near = lengths_of_pairs(margin, "margin", None, LONGEST)
        if scene is not None:
            some = _near_in(scene, stand, float(near))
        else:
            engine = engine_on(get_backend(options.backend, options.precision, ("bvh",)), options)
            if rules["world"] is None:
                rules["world"] = bodies.world
            every = check_rules(len(stand), **rules, still_pairs=True)
            some = gathered(open_search(engine, stand, every, margin=float(near)))
    else:
        some = check_pairs(pairs, len(stand))
        near = lengths_of_pairs(margin, "margin", len(some), LONGEST)
        warn_of_invalid_in(stand, some)
    near = np.broadcast_to(near, (len(some),))
    revolved = has_frusta(stand, some)
    fields, info = (
        _of_meshes(stand, some, near, time, how)
        if revolved is None
        else _of_both(stand, some, near, time, how, revolved)
    )
    info |= {"at": time, "margin": float(near.max(initial=0.0))}
    if bodies.worlds is not None:
        info["worlds"] = bodies.worlds
    status = np.zeros(len(some), np.uint8)
    status[fields["pair"]] = fields["status"]
    warn_of_bodies(stand, some, status)
    return Clearance(pairs=some, **fields, info=info)._of(stand)


def _of_meshes(
    stand: Bodies, some: Array, near: Array, time: float, how: dict[str, Any]
) -> tuple[dict[str, Array], dict[str, Any]]:
    """The rows of pairs without cylinders and cones, and who answered."""
    rows = np.arange(len(some), dtype=np.int32)
    told = contacts(
        stand.take(some[:, 1]), stand, near, pairs=np.column_stack((rows, some[:, 0])), **how
    )  # B is the mover, so that normals lead to it
    return _fields(told, near, _touch(stand, some), time), dict(told.info)


def _of_both(
    stand: Bodies, some: Array, near: Array, time: float, how: dict[str, Any], revolved: Array
) -> tuple[dict[str, Array], dict[str, Any]]:
    """The rows of pairs of which some (p,) have a cylinder or a cone, and who answered."""
    others, of = np.flatnonzero(~revolved), np.flatnonzero(revolved)
    meshes, info = _of_meshes(with_points(stand, some[others]), some[others], near[others], time, how)
    found = fields_of_frusta(stand, some[of], near[of], _touch(stand, some[of]), time, how)
    meshes["pair"], found["pair"] = others[meshes["pair"]], of[found["pair"]]
    fields = {name: np.concatenate([meshes[name], found[name]]) for name in meshes}
    order = np.argsort(fields["pair"], kind="stable")
    fields = {name: column[order] for name, column in fields.items()}
    return fields | {"pair": fields["pair"].astype(np.int32)}, info


def _time(at: Any) -> float:
    if isinstance(at, (bool, np.bool_)) or not isinstance(at, (int, float, np.number)):
        raise TypeError(f"at: expected a number, got {type(at).__name__}")
    time = float(check_finite(np.array([at], float), "at")[0])
    if not 0.0 <= time <= 1.0:
        raise ValueError(f"at: expected a fraction of the step in [0, 1], got {time}")
    return time


def _now(scene: Scene) -> Bodies:
    bodies, _, _ = scene.hold()
    scene.let_loose()
    return bodies


def _near_in(scene: Scene, stand: Bodies, margin: float) -> Array:
    """Pairs of bodies of a scene that `stand` somewhere, near each other."""
    _, rules, kept = scene.hold()
    try:
        return gathered(kept.search(kept.engines.of(tuning=None), stand, rules.among_still, margin))
    finally:
        scene.let_loose()


def _touch(bodies: Bodies, pairs: Array) -> Array:
    """What distance is touch, (p,) float64."""
    radius = np.array([mesh.radius for mesh in bodies.meshes])
    a, b = bodies.shape[pairs[:, 0]], bodies.shape[pairs[:, 1]]
    return float(sources.constants("mixed")["GC_TOL_TOUCH"]) * np.maximum(radius[a], radius[b])


def _fields(told: TouchPoints, margin: Array, touch: Array, time: float) -> dict[str, Array]:
    """The rows of `Clearance` for places whose mover is B of their pair."""
    n = len(told.status)
    least = np.full(n, np.inf)
    np.minimum.at(least, told.mover, told.distance)
    status = told.status.copy()
    status[(status == Status.HIT) & (least > touch)] = Status.MISS
    none = np.flatnonzero(np.diff(told.point_start) == 0)
    known = (status[none] == Status.MISS) | (status[none] == Status.HIT)
    on_b = ON_MOVER[told.kind][:, None]
    way = told.normal * told.distance[:, None]
    bound = np.where(told.distance < 0.0, told.distance, np.maximum(least, 0.0)[told.mover])
    m, zero = len(none), np.zeros((len(none), 3))
    rows: dict[str, tuple[Array, Any]] = {  # and those of pairs without a place
        "pair": (told.mover, none.astype(np.int32)),
        "time": (np.full(len(told.mover), time), np.full(m, np.inf)),
        "distance": (told.distance, np.full(m, np.inf)),
        "lower_bound": (bound, np.where(known, margin[none], 0.0)),
        "kind": (_KINDS[told.kind], np.full(m, Kind.NONE, np.int8)),
        "feature_a": (told.feature_b, np.full(m, -1, np.int32)),
        "feature_b": (told.feature_a, np.full(m, -1, np.int32)),
        "point_a": (np.where(on_b, told.point - way, told.point), zero),
        "point_b": (np.where(on_b, told.point, told.point + way), zero),
        "normal": (told.normal, zero),
    }
    fields = {name: np.concatenate(both) if m else both[0] for name, both in rows.items()}
    fields["status"] = status[fields["pair"]]
    order = order_of(*(fields[x] for x in ("pair", "distance", "kind", "feature_a", "feature_b")))
    return taken(fields, order)
