"""Places of movers at rest, told once each; and what lies behind a surface and yet is inside of nothing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies import quaternion
from gpu_collide.geometry.arrays.order import groups_of, order_of, taken
from gpu_collide.geometry.preparation.prepared import kept_with
from gpu_collide.results.enums import Touch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.movers import Movers
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = [
    "ASIDE",
    "BEYOND",
    "behind_nothing",
    "beside",
    "separated",
    "sorted_rows",
    "told_before",
]

_C = sources.constants("mixed", "pluecker/gc_found.h")
#: Added to the kind of a place that is out of reach, which only tells what is not inside; and of one in the
#: zone that is beside a border.
BEYOND, ASIDE = int(_C["GC_TOUCH_BEYOND"]), int(_C["GC_TOUCH_ASIDE"])
#: By `Touch`: is the place where the mover is, and its feature a vertex?
ON_MOVER = np.isin(np.arange(len(Touch)), (Touch.VF, Touch.VE, Touch.VV))
ON_MOVER.setflags(write=False)
#: No two differences of points that are not equal are at right angles to this, but by chance.
ALONG = np.array([0.8017837, 0.5345225, 0.2672612])
#: Two normals of one place may differ by this much.
ALIKE = 0.1
#: Of so few rows all pairs are compared at once.
FEW_ROWS = 32
#: To look at all vertices of a mesh of more takes longer than to ask whether it overlaps another.
MOST_VERTICES = 256
#: An edge leads behind a face by more than this share of its length, and four times what is touch.
LEVEL = 1e-9


def told_before(found: dict[str, Array], far: Array, rough: Array) -> Array:
    """Places that one before them tells, too: the shortest way from body to body is the same, within `rough`
    at either end; (c,) bool.

    Parameters
    ----------
    found : dict
        In the order of results: the larger features first.
    far : (c,) bool
        Which are out of the zone: of those in it, each could have stopped the mover, and all are told.
    rough : (c,) float64
    """
    told = np.zeros(len(found["kind"]), bool)
    rows = np.flatnonzero(far)
    mover = found["mover"][rows]  # in order
    same = mover[1:] == mover[:-1]
    rows = rows[np.append(False, same) | np.append(same, False)] if len(rows) > 1 else rows[:0]
    if not len(rows):
        return told
    on_mover = ON_MOVER[found["kind"][rows]][:, None]
    normal, point = found["normal"][rows], found["point"][rows]
    way = normal * found["distance"][rows, None]
    foot = np.where(on_mover, point - way, point)
    height, rough = foot @ ALONG, rough[rows]
    mover, body = found["mover"][rows], found["body"][rows]
    if len(rows) <= FEW_ROWS:
        pairs = iter([_pairs_of(len(rows))])
    else:
        pairs = _neighbours(order_of(mover, body, height), height, rough, mover)
    for one, two in pairs:
        same = (mover[one] == mover[two]) & (body[one] == body[two]) & _within(normal, one, two, ALIKE)
        for end in (foot, foot + way):
            same &= _within(end, one, two, rough[one])
        told[rows[np.maximum(one, two)[same]]] = True
    return told


@cache
def _pairs_of(n: int) -> tuple[Array, Array]:
    """All pairs of `n` rows."""
    return np.triu_indices(n, 1)


def _neighbours(order: Array, height: Array, rough: Array, mover: Array) -> Iterator[tuple[Array, Array]]:
    """Pairs of rows of one mover at about one height, one after the other in an order by both."""
    begin = np.arange(len(order) - 1)
    for step in range(1, len(order)):
        begin = begin[: np.searchsorted(begin, len(order) - step)]  # whose next so far was near as well
        one, two = order[begin], order[begin + step]
        near = (height[two] - height[one] <= 2.0 * rough[one]) & (mover[one] == mover[two])
        begin = begin[near]
        if not len(begin):
            return
        yield one[near], two[near]


def _within(rows: Array, one: Array, two: Array, most: Array | float) -> Array:
    """Whether no coordinate of two rows differs by more, (k,) bool."""
    way = np.abs(rows.take(one, axis=0) - rows.take(two, axis=0))
    return (way[:, 0] <= most) & (way[:, 1] <= most) & (way[:, 2] <= most)


def behind_nothing(found: dict[str, Array], stands: Array, rows: Movers, bodies: Bodies) -> Array:
    """Places deeper than `stands` behind a surface whose vertex, or edge of the mover, is as near before
    another: it is behind a thin plate; (c,) bool. A vertex from which an edge leads behind that other one
    is before nothing: so stand those of a box before the sides of an equal one that it has sunk into."""
    kind, distance = found["kind"], found["distance"]
    behind = distance < -stands
    if not behind.any():
        return behind
    some = _of_movers(found["mover"], behind)
    if len(some) < len(behind):
        if len(some):
            behind[some] = behind_nothing(taken(found, some), stands[some], rows, bodies)
        return behind
    of_world = (kind == Touch.FV) | (kind == Touch.EV)
    what = np.where(of_world, 1, np.where(kind == Touch.EE, 2, 0))
    number = np.where(of_world, found["feature_b"], found["feature_a"])
    which = groups_of(found["mover"], found["body"], what, number)
    ahead = ~behind
    ahead &= np.isin(which, which[behind])
    ahead &= ~_leads_behind(found, ahead, stands, rows, bodies)
    before = np.full(len(which), np.inf)
    np.minimum.at(before, which[ahead], np.abs(distance[ahead]))
    return behind & (before[which] <= -distance)


def beside(found: dict[str, Array], stands: Array, rows: Movers, bodies: Bodies) -> Array:
    """Places of vertices that touch a face, within `stands`, though an edge leads from them behind it, of a
    mover and a body that touch or overlap elsewhere as well; (c,) bool. So touch the sides of a box those of
    one that it stands on."""
    touch = found["distance"] <= stands
    drop = _leads_behind(found, touch, stands, rows, bodies)
    if not drop.any():
        return drop
    some = _of_movers(found["mover"], drop)
    pair = found["mover"][some].astype(np.int64) << 32 | found["body"][some]
    kept = np.unique(pair[(touch & ~drop)[some]])
    drop[some] &= np.isin(pair, kept)
    return drop


def separated(
    found: dict[str, Array], pairs: tuple[Array, Array], least: Array, rows: Movers, bodies: Bodies
) -> Array:
    """Which of some movers and the body beside each, two (c,) int, have a plane between them, square to the
    normal of a place of theirs: all vertices of one are farther than `least`, of each mover, before all of
    the other. So they do not overlap; of others nothing is said, (c,) bool."""
    mover, body = pairs
    apart = np.zeros(len(mover), bool)
    ahead = np.flatnonzero(found["distance"] > least[found["mover"]])
    if rows.meshes is None or not len(ahead):
        return apart
    key = found["mover"][ahead].astype(np.int64) << 32 | found["body"][ahead]
    key, first = np.unique(key, return_index=True)
    wanted = mover.astype(np.int64) << 32 | body
    at = np.searchsorted(key, wanted).clip(max=len(key) - 1)
    some = np.flatnonzero(key[at] == wanted)
    mover, body = mover[some], body[some]
    normal = found["normal"].take(ahead[first[at[some]]], axis=0)
    low = _support(rows.meshes, rows.shape[mover], rows.quat.take(mover, axis=0), normal)
    high = _support(bodies.meshes, bodies.shape[body], bodies.start.unit_wxyz.take(body, axis=0), -normal)
    way = rows.position.take(mover, axis=0) - bodies.start.position.take(body, axis=0)
    between = way[:, 0] * normal[:, 0] + way[:, 1] * normal[:, 1] + way[:, 2] * normal[:, 2]
    apart[some] = between + low + high > least[mover]
    return apart


def _support(meshes: Sequence[Mesh], shape: Array, quat: Array, normal: Array) -> Array:
    """How high along a normal the lowest vertex of each mesh is from its origin, less its rounding radius,
    (k,); -inf of a mesh of many vertices."""
    along, low = quaternion.rotate(quaternion.conjugate(quat), normal), np.full(len(shape), -np.inf)
    for mesh, mine in _by_mesh(meshes, shape):
        if mesh.n_vertices <= MOST_VERTICES:
            low[mine] = (mesh.vertices @ along.take(mine, axis=0).T).min(axis=0) - mesh.rounding
    return low


def _by_mesh(meshes: Sequence[Mesh], shape: Array) -> Iterator[tuple[Mesh, Array]]:
    """Meshes with their rows."""
    for k in np.flatnonzero(np.bincount(shape)):
        yield meshes[int(k)], np.flatnonzero(shape == k)


def _of_movers(mover: Array, some: Array) -> Array:
    """All rows of the movers that have some rows, (c,) bool."""
    has = np.zeros(int(mover.max(initial=-1)) + 1, bool)
    has[mover[some]] = True
    return np.flatnonzero(has[mover])


def _leads_behind(
    found: dict[str, Array], asked: Array, stands: Array, rows: Movers, bodies: Bodies
) -> Array:
    """Of places asked for, (c,) bool, those of a vertex from which an edge leads behind the face."""
    kind, number = found["kind"], (found["feature_a"], found["feature_b"])
    leads = np.zeros(len(kind), bool)
    of_bodies = bodies.meshes, bodies.shape, bodies.start.unit_wxyz, found["body"]
    of_movers = rows.meshes or (), rows.shape, rows.quat, found["mover"]
    for which, sign, side in ((Touch.VF, 1.0, of_movers), (Touch.FV, -1.0, of_bodies)):
        meshes, shape, quat, body = side
        some = np.flatnonzero(asked & (kind == which))
        if not len(some) or not meshes:  # points have no edges
            continue
        for mesh, mine in _by_mesh(meshes, shape[body[some]]):
            mine = some[mine]
            turn = quaternion.conjugate(quat.take(body[mine], axis=0))
            normal = quaternion.rotate(turn, sign * found["normal"].take(mine, axis=0))
            tip = number[which == Touch.FV][mine]
            leads[mine] = _lowest(mesh, tip, normal) < -4.0 * stands[mine]
    return leads


def _lowest(mesh: Mesh, vertex: Array, normal: Array) -> Array:
    """How high along a normal the lowest end is of the edges at each vertex, (k,), less their rounding."""
    start, count, edge, rounding = kept_with(mesh, "edges from vertices", lambda: _edges_from(mesh))
    start, count = start[vertex], count[vertex]
    row = np.repeat(np.arange(len(vertex)), count)
    at = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + start[row]
    low = np.zeros(len(vertex))
    np.minimum.at(low, row, (edge[at] * normal[row]).sum(axis=1) + rounding[at])
    return low


def _edges_from(mesh: Mesh) -> tuple[Array, Array, Array, Array]:
    """Of each vertex the first of its edges, and how many it has; of each of these the way to its other end,
    and what it may be off by."""
    ends = np.concatenate([mesh.edges, mesh.edges[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    count = np.bincount(ends[:, 0], minlength=mesh.n_vertices)
    edge = mesh.vertices[ends[:, 1]] - mesh.vertices[ends[:, 0]]
    return np.cumsum(count) - count, count, edge, LEVEL * np.linalg.norm(edge, axis=1)


def sorted_rows(found: dict[str, Any]) -> dict[str, Any]:
    """The same in the order of mover, kind, feature of the mover, body and feature of the body."""
    names = ("mover", "kind", "feature_a", "body", "feature_b")
    return taken(found, order_of(*(found[name] for name in names)))
