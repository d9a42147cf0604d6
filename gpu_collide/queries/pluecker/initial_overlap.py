"""Which movers begin inside something: solids at rest, as `collide` looks at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.collide import collide
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.movers import Movers
    from gpu_collide.bodies.rules import Rules

__all__ = ["overlap", "start_inside"]

#: A point is looked at as a solid of this share of the greatest coordinate of a mesh.
SPECK = 2e-8
WORLD, MOVERS = 1, 2


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
        inside[here] = overlap(rows, here, rows.body[here], bodies, info, max_bytes)
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


def overlap(
    rows: Movers, mover: Array, body: Array, bodies: Bodies, info: dict[str, Any], max_bytes: int | None
) -> Array:
    """Whether each of some rows of movers overlaps the body that stands beside it, (k,) bool."""
    if not len(mover):
        return np.zeros(0, bool)
    here, mine = np.unique(mover, return_inverse=True)
    there, theirs = np.unique(body, return_inverse=True)
    both, options = _together(rows, here, there, bodies, info, max_bytes)
    pairs = np.column_stack((theirs.reshape(-1), len(there) + mine.reshape(-1)))
    return np.asarray(collide(both, pairs, **options).status == Status.INITIAL_OVERLAP)


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
