"""Which movers begin inside something: solids at rest, as `collide` looks at them; and how deep they are, as
`clearance` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.arrays.order import taken
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.clearance_arguments import PROGRAMS, Asked
from gpu_collide.queries.collide import collide
from gpu_collide.queries.engine_cache import engines_of, options_of
from gpu_collide.queries.pluecker.places import ON_MOVER
from gpu_collide.results.enums import Kind, Touch
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.movers import Movers
    from gpu_collide.bodies.rules import Rules

__all__ = ["TOUCH_OF_KIND", "overlaps", "start_inside"]

#: A point is looked at as a solid of this share of the greatest coordinate of a mesh.
SPECK = 2e-8
WORLD, MOVERS = 1, 2
#: Each region of the pairs that overlap, and nothing of others.
DEPTHS = Asked(tolerance=1e-9, max_distance=-1.0, at=np.zeros(1), regions=True)
#: What the features of a pair, the obstacle's first, are to a mover.
TOUCH_OF_KIND = {
    Kind.FV: Touch.VF, Kind.VF: Touch.FV, Kind.EE: Touch.EE, Kind.EV: Touch.VE, Kind.VE: Touch.EV,
    Kind.VV: Touch.VV, Kind.NONE: Touch.OVERLAP,
}  # fmt: skip
_TOUCHES = np.zeros(len(Kind), np.int32)
_TOUCHES[list(TOUCH_OF_KIND)] = list(TOUCH_OF_KIND.values())
_TOUCHES.setflags(write=False)


def start_inside(
    rows: Movers, bodies: Bodies, rules: Rules, info: dict[str, Any], max_bytes: int | None
) -> Array:
    """Whether each of `rows` overlaps a body that it is asked about, (n,) bool."""
    there, here = np.flatnonzero(bodies.start.valid), np.flatnonzero(rows.moves)
    # who has no pose is not there, which the caller has been told
    inside = np.zeros(len(rows.position), bool)
    if not len(there) or not len(here):
        return inside
    if (rows.body[here] >= 0).all():
        both, pairs, options = _paired(rows, here, rows.body[here], bodies, info, max_bytes)
        inside[here] = _overlap(both, pairs, options)
        return inside
    both, options = _together(rows, here, there, bodies, info, max_bytes)
    m, at = len(there), np.full(len(bodies) + 1, -1)  # the last: of who is none of them
    at[there] = np.arange(m)
    number, own = m + np.arange(len(here)), at[rows.own[here]]
    side = np.where(np.arange(len(both)) < m, WORLD, MOVERS)
    itself = np.column_stack((own, number))[own >= 0]
    found = collide(both, group=side, mask=WORLD + MOVERS - side, ignore=itself, still_pairs=True, **options)
    pair = np.asarray(found.pairs)[found.status == Status.INITIAL_OVERLAP]
    k = here[pair.max(axis=1) - m]
    kept = rules.meet(rows.rank[k], rows.group[k], rows.mask[k], rows.own[k], there[pair.min(axis=1)])
    inside[k[kept]] = True
    return inside


def overlaps(
    rows: Movers,
    mover: Array,
    body: Array,
    bodies: Bodies,
    info: dict[str, Any],
    max_bytes: int | None,
) -> dict[str, Array]:
    """Regions in which some rows of movers overlap the body that stands beside each, as columns of
    `TouchPoints`. Where no features tell the depth, or there is none, it is a row of the kind OVERLAP."""
    both, pairs, options = _paired(rows, mover, body, bodies, info, max_bytes)
    checked = options_of(**options)
    engines = engines_of(get_backend(checked.backend, checked.precision, PROGRAMS))
    engine = engines.take(both.meshes, checked)
    deep, _ = engine.clearance(both, pairs, DEPTHS)
    engines.give(both.meshes, engine)
    into = np.flatnonzero(deep["status"] == Status.INITIAL_OVERLAP)
    deep = taken(deep, into)
    row, told = deep["pair"], deep["distance"] < 0.0
    kind, number, normal = np.where(told, deep["kind"], Kind.NONE), deep["feature_b"], deep["normal"]
    point = np.where(ON_MOVER[_TOUCHES[kind]][:, None], deep["point_b"], deep["point_a"])
    distance = np.where(told, deep["distance"], 0.0)
    if rows.meshes is None:  # the place of a speck is that of its point
        kind = np.where(kind == Kind.FV, kind, Kind.NONE)
        number, point = np.zeros_like(number), rows.position[mover[row]]
        depth = ((point - deep["point_a"]) * normal).sum(axis=1)
        distance = np.where(kind == Kind.FV, np.minimum(depth, 0.0), distance)
    if not told.all():
        point, normal = (np.where(told[:, None], place, 0.0) for place in (point, normal))
    named = kind != Kind.NONE
    return {
        "mover": mover[row].astype(np.int32), "kind": _TOUCHES[kind], "body": body[row].astype(np.int32),
        "feature_a": np.where(named, number, np.int32(-1)),
        "feature_b": np.where(named, deep["feature_a"], np.int32(-1)),
        "point": point, "normal": normal, "distance": distance,
    }  # fmt: skip


def _overlap(both: Bodies, pairs: Array, options: dict[str, Any]) -> Array:
    """Whether the solids of each pair overlap, (k,) bool."""
    return np.asarray(collide(both, pairs, **options).status == Status.INITIAL_OVERLAP)


def _paired(
    rows: Movers, mover: Array, body: Array, bodies: Bodies, info: dict[str, Any], max_bytes: int | None
) -> tuple[Bodies, Array, dict[str, Any]]:
    """Some rows of movers and the body that stands beside each: bodies, pairs with the mover as B, and how
    they are to be looked at."""
    both, options = _together(rows, mover, body, bodies, info, max_bytes)
    row = np.arange(len(mover))
    return both, np.column_stack((row, len(row) + row)), options


def _together(
    rows: Movers, here: Array, there: Array, bodies: Bodies, info: dict[str, Any], max_bytes: int | None
) -> tuple[Bodies, dict[str, Any]]:
    """Some bodies of the world at rest, then some rows of movers, and how `collide` is to look at them."""
    meshes = (_speck(bodies),) if rows.meshes is None else rows.meshes
    poses = Poses.from_quat_wxyz(
        np.concatenate((bodies.start.position[there], rows.position[here])),
        np.concatenate((bodies.start.quat_wxyz[there], rows.quat[here])),
    )
    shape = np.concatenate((bodies.shape[there], len(bodies.meshes) + rows.shape[here]))
    options: dict[str, Any] = {
        "contacts": "first", "precision": info["precision"], "backend": info["backend"], "results": "host"
    }  # fmt: skip
    if max_bytes is not None:
        options["max_bytes"] = max_bytes
    return Bodies([*bodies.meshes, *meshes], shape, poses, poses), options


def _speck(bodies: Bodies) -> Mesh:
    """A small solid about a point."""
    size = max(float(np.abs(mesh.vertices).max()) for mesh in bodies.meshes)
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * (SPECK * size)
    return Mesh(corners, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
