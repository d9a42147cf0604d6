"""The corners of the patches in which bodies touch: faces of both, cut with each other along a normal.

A contact tells one place and a normal. Around it those faces of A and of B that lie across the normal are
seen along it, as polygons in a plane. The corners of what two of them have in common are corners of A within
the face of B, corners of B within that of A, and places where edges cross. Each is a pair of features, as of
any contact, and both bodies are treated alike.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.adjacency import EDGE_FLAT, flat_sheets, gathered
from gpu_collide.results.enums import Kind
from gpu_collide.results.manifolds import tangents_of

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["ALIGNED", "TIE", "WITHIN", "Corners", "Frames", "corners_of", "stands_out"]

_C = sources.constants("mixed", "clearance/gc_patch.h")
#: Cosine of 15 degrees: faces that lie across a normal so far take part in its patch, and contacts whose
#: normals differ by no more are of one region.
ALIGNED = _C["GC_PATCH_ALIGNED"]
#: What a corner may be outside of a polygon and count as within, in sizes.
WITHIN = _C["GC_PATCH_WITHIN"]
#: Sine of the angle below which two edges are parallel and do not cross.
PARALLEL = _C["GC_PATCH_PARALLEL"]
#: Lengths that differ by no more count as equal where one of several points is chosen, in sizes, so that
#: rounding does not choose; areas in squares of it.
TIE = _C["GC_PATCH_TIE"]
#: Pairs of borders that are looked at together.
AT_ONCE = 1 << 20

#: What of A and of B each kind is of: 0 face, 1 edge, 2 vertex.
_FACE, _EDGE, _VERTEX = range(3)
_OF_A = np.zeros(6, int)
_OF_B = np.zeros(6, int)
for _kind, _a, _b in (
    (Kind.FV, _FACE, _VERTEX), (Kind.VF, _VERTEX, _FACE), (Kind.EE, _EDGE, _EDGE),
    (Kind.EV, _EDGE, _VERTEX), (Kind.VE, _VERTEX, _EDGE), (Kind.VV, _VERTEX, _VERTEX),
):  # fmt: skip
    _OF_A[_kind], _OF_B[_kind] = _a, _b


class Frames(NamedTuple):
    """Pairs as patches see them, each in a frame with the world's directions and A's position as its origin.

    Attributes
    ----------
    mesh_a, mesh_b : (p,) int
    rotation_a, rotation_b : (p, 3, 3) float64
    offset : (p, 3) float64
        From A's position to B's.
    origin : (p, 3) float64
        A's position in the world.
    """

    mesh_a: Array
    mesh_b: Array
    rotation_a: Array
    rotation_b: Array
    offset: Array
    origin: Array

    @classmethod
    def of(cls, bodies: Bodies, time: float, pairs: Array) -> Frames:
        """Those of pairs (p, 2) of bodies at a time of their step."""
        poses = bodies.start if bodies.start is bodies.end else bodies.poses_at(time)
        turn, (a, b) = poses.to_matrix()[:, :3, :3], pairs.T
        here = poses.position
        return cls(bodies.shape[a], bodies.shape[b], turn[a], turn[b], here[b] - here[a], here[a])


class Corners(NamedTuple):
    """Corners of patches: (c,) arrays, and points (c, 3) relative to `Frames.origin`."""

    region: Array
    kind: Array
    feature_a: Array
    feature_b: Array
    distance: Array
    point_a: Array
    point_b: Array


class _Tables(NamedTuple):
    """Several meshes behind each other. Loops are those of all faces, then all edges as loops of two
    corners, each with the number of what it is of in its own mesh."""

    vertex: Array
    normal: Array
    middle: Array  # of the corners of each face
    ends: Array  # (n_edges, 2) vertices
    loop_start: Array
    loop_vertex: Array
    loop_edge: Array
    number: Array
    flat: Array
    first: dict[int, Array]  # of each kind of feature where those of each mesh begin
    faces: dict[int, tuple[Array, Array]]  # of each kind of feature its faces, as a CSR
    edges: dict[int, tuple[Array, Array]]
    sheet: Array  # of each face the lowest of those that it forms a flat sheet with
    members: tuple[Array, Array]


@functools.lru_cache(maxsize=8)
def _tables(meshes: tuple[Mesh, ...]) -> _Tables:
    counts = np.array([(m.n_faces, m.n_edges, m.n_vertices) for m in meshes])
    first = dict(enumerate(np.concatenate([np.zeros((1, 3), int), np.cumsum(counts, axis=0)]).T))
    n_faces, n_edges, _ = (int(x[-1]) for x in first.values())

    def join(name: str, kind: int | None = None) -> Array:
        shift = first[kind] if kind is not None else np.zeros(len(meshes) + 1, int)
        return np.concatenate([np.asarray(getattr(m, name)) + k for m, k in zip(meshes, shift, strict=False)])

    def csr(start: str, values: list[Array]) -> tuple[Array, Array]:
        counts = np.concatenate([np.diff(getattr(m, start)) for m in meshes])
        return np.append(0, np.cumsum(counts)), np.concatenate(values)

    ends = join("edges", _VERTEX)
    face_start, corner = csr("face_start", [join("face_vertices", _VERTEX)])
    loop_start = np.concatenate([face_start, face_start[-1] + 2 * np.arange(1, n_edges + 1)])
    edge = np.arange(n_edges)
    shift = list(zip(meshes, first[_FACE], first[_EDGE], strict=False))
    of_edge = csr("edge_face_start", [(m.edge_faces >> 1) + f for m, f, _ in shift])
    faces = {
        _FACE: (np.arange(n_faces + 1), np.arange(n_faces)),
        _EDGE: of_edge,
        _VERTEX: csr("vertex_face_start", [m.vertex_faces + f for m, f, _ in shift]),
    }
    edges = {
        _FACE: (np.zeros(n_faces + 1, int), edge[:0]),
        _EDGE: (np.arange(n_edges + 1), edge),
        _VERTEX: csr("vertex_edge_start", [(m.vertex_edges >> 1) + e for m, _, e in shift]),
    }
    flat = (join("edge_flags") & EDGE_FLAT) > 0
    sheet = flat_sheets(n_faces, of_edge[1][of_edge[0][:-1][flat]], of_edge[1][of_edge[0][:-1][flat] + 1])
    order = np.argsort(sheet, kind="stable")
    number = np.concatenate([np.arange(n) for n in counts[:, 0]] + [np.arange(n) for n in counts[:, 1]])
    normal = np.concatenate([m.face_planes[:, :3] for m in meshes])
    vertex = np.concatenate([m.vertices for m in meshes])
    middle = np.add.reduceat(vertex[corner], face_start[:-1]) / np.diff(face_start)[:, None]
    return _Tables(
        vertex, normal, middle, ends, loop_start,
        np.concatenate([corner, ends.reshape(-1)]),
        np.concatenate([join("face_edges", _EDGE), np.repeat(edge, 2)]), number, flat, first, faces, edges,
        sheet, (np.searchsorted(sheet[order], np.arange(n_faces + 1)), order),
    )  # fmt: skip


def stands_out(bodies: Bodies, frames: Frames, rows: dict[str, Array]) -> Array:
    """Whether both features of each contact (r,) are outermost along its normal: whether what surrounds them
    lies behind them."""
    t = _tables(bodies.meshes)
    out = np.ones(len(rows["kind"]), bool)
    pair = rows["pair"]
    for mesh, turn, name, of, sign in (
        (frames.mesh_a, frames.rotation_a, "a", _OF_A, 1.0),
        (frames.mesh_b, frames.rotation_b, "b", _OF_B, -1.0),
    ):
        local = sign * np.einsum("nji,nj->ni", turn[pair], rows["normal"])
        what = of[rows["kind"]]
        for kind in (_EDGE, _VERTEX):
            mine = np.flatnonzero(what == kind)
            at = rows[f"feature_{name}"][mine] + t.first[kind][mesh[pair[mine]]]
            if kind == _VERTEX:
                owner, edge = gathered(*t.edges[_VERTEX], at)
                ends = t.ends[edge]
                far = np.where(ends[:, 0] == at[owner], ends[:, 1], ends[:, 0])
                way = t.vertex[far] - t.vertex[at[owner]]
            else:
                owner, face = gathered(*t.faces[_EDGE], at)
                begin, end = t.vertex[t.ends[at[owner]]].transpose(1, 0, 2)
                along, way = end - begin, t.middle[face] - begin
                share = (way * along).sum(axis=1) / (along * along).sum(axis=1)
                way = way - share[:, None] * along
            up = (way * local[mine[owner]]).sum(axis=1)
            leads = (up > 0.0) & (up * up > PARALLEL**2 * (way * way).sum(axis=1))
            out[mine[owner[leads]]] = False
    return out


def corners_of(
    bodies: Bodies,
    frames: Frames,
    rows: dict[str, Array],
    region: Array,
    pair: Array,
    normal: Array,
    least: Array,
    most: Array,
) -> tuple[Corners, Array]:
    """Corners of the patches of contacts.

    Parameters
    ----------
    bodies : Bodies
    frames : Frames
    rows : dict
        The contacts: kind, feature_a and feature_b, all of kinds that have features.
    region : (r,) int ndarray
        Of each contact.
    pair, normal : (k,) int, (k, 3) ndarray
        Pair of each region, row of `frames`, and the normal along which it is seen.
    least : (k,) float64 ndarray
        What is nearer along the normal is seen through a body, and left out.
    most : (k,) float64 ndarray
        As is what is farther apart.

    Returns
    -------
    corners : Corners
        In no order, and each as often as faces have it in common.
    told : (r,) bool ndarray
        Contacts in whose patch there are corners.
    """
    t = _tables(bodies.meshes)
    kind = rows["kind"]
    across = [
        _across(t, frames, side, rows[f"feature_{name}"], of[kind], region, pair, normal)
        for side, name, of in ((0, "a", _OF_A), (1, "b", _OF_B))
    ]
    # each contact's loops of A with each of B's
    starts = [np.searchsorted(row, np.arange(len(kind) + 1)) for row, _ in across]
    row, loop_a = across[0]
    owner, loop_b = gathered(starts[1], across[1][1], row)
    row, loop_a = row[owner], loop_a[owner]
    n_faces = len(t.sheet)
    keep = (loop_a < n_faces) | (loop_b < n_faces)
    seed = np.stack([region[row], loop_a, loop_b])[:, keep]
    seed, of_row = np.unique(seed, axis=1, return_inverse=True)
    items, of_item = seed, np.arange(seed.shape[1])
    for side in (1, 2):  # all faces of the flat sheets
        one = items[side] < n_faces
        owner, member = gathered(*t.members, items[side][one])
        grown = items[:, one][:, owner]
        grown[side] = member
        of_item = np.concatenate([of_item[one][owner], of_item[~one]])
        items = np.concatenate([grown, items[:, ~one]], axis=1)
    found, item = _cut_all(t, frames, items, pair, normal, (least, most))
    with_corners = np.zeros(seed.shape[1], bool)
    with_corners[of_item[item]] = True
    told = np.zeros(len(kind), bool)
    told[row[keep][with_corners[of_row.reshape(-1)]]] = True
    return found, told


def _across(
    t: _Tables, frames: Frames, side: int, feature: Array, what: Array, region: Array, pair: Array,
    normal: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """Of each contact the loops of one body that lie across its region's normal: the sheets of faces at its
    feature, or if there is none edges; (contact, loop), contacts rising."""
    mesh = (frames.mesh_a, frames.mesh_b)[side]
    turn = (frames.rotation_a, frames.rotation_b)[side]
    local = np.einsum("kji,kj->ki", turn[pair], normal) * (1.0, -1.0)[side]  # outwards
    found = []
    for kind in (_FACE, _EDGE, _VERTEX):
        rows = np.flatnonzero(what == kind)
        at = feature[rows] + t.first[kind][mesh[pair[region[rows]]]]
        owner, face = gathered(*t.faces[kind], at)
        lies = (t.normal[face] * local[region[rows[owner]]]).sum(axis=1) >= ALIGNED
        found.append(np.stack([rows[owner[lies]], t.sheet[face[lies]]]))
        bare = np.ones(len(rows), bool)
        bare[owner[lies]] = False
        owner, edge = gathered(*t.edges[kind], at[bare])
        way = t.vertex[t.ends[edge, 1]] - t.vertex[t.ends[edge, 0]]
        up = (way * local[region[rows[bare][owner]]]).sum(axis=1)
        lies = (up * up <= (1.0 - ALIGNED**2) * (way * way).sum(axis=1)) & ~t.flat[edge]
        found.append(np.stack([rows[bare][owner[lies]], len(t.sheet) + edge[lies]]))
    row, loop = np.concatenate(found, axis=1)
    order = np.lexsort([loop, row])
    return row[order], loop[order]


def _cut_all(
    t: _Tables, frames: Frames, items: Array, pair: Array, normal: Array, limits: tuple[Array, Array]
) -> tuple[Corners, Array]:
    """Corners that loops of A and of B have in common, and which item each is of. Loops of about as many
    corners are cut together, so that few rows are filled up."""
    size = np.diff(t.loop_start)
    longest = np.maximum(size[items[1]], size[items[2]])
    step = np.ceil(np.log2(np.maximum(longest, 4))).astype(int)
    parts, which = [], []
    for power in np.unique(step):
        mine = np.flatnonzero(step == power)
        for rows in np.split(mine, np.arange(0, len(mine), max(AT_ONCE >> (2 * int(power)), 1))[1:]):
            found, item = _cut(t, frames, items[:, rows], pair, normal, limits)
            parts.append(found)
            which.append(rows[item])
    if not parts:
        none, points = np.zeros(0, int), np.zeros((0, 3))
        return Corners(none, none, none, none, np.zeros(0), points, points), none
    return Corners(*(np.concatenate(x) for x in zip(*parts, strict=True))), np.concatenate(which)


class _Side(NamedTuple):
    """Loops of one body as they are seen: corners (n, k, 3) as two coordinates across and the height."""

    corner: Array
    real: Array  # (n, k) corners that are not filled up
    vertex: Array
    edge: Array
    border: Array  # (n, k) borders at which corners of a patch may be
    is_face: Array  # (n,)
    up: Array  # (n, 3) normal of the face, seen in the same way


def _seen(t: _Tables, loop: Array, turn: Array, offset: Array, axes: Array) -> _Side:
    begin, count = t.loop_start[loop], t.loop_start[loop + 1] - t.loop_start[loop]
    k = np.arange(count.max())
    at = begin[:, None] + np.minimum(k, count[:, None] - 1)
    real = k < count[:, None]
    vertex, edge = t.loop_vertex[at], t.loop_edge[at]
    through = axes @ turn
    corner = t.vertex[vertex] @ through.transpose(0, 2, 1) + np.einsum("nij,nj->ni", axes, offset)[:, None]
    is_face = loop < len(t.sheet)
    up = np.einsum("nij,nj->ni", through, t.normal[np.where(is_face, loop, 0)])
    # filled up rows repeat their last corner: the last of them is where the border to the first begins
    border = ~t.flat[edge] & (is_face[:, None] | (k == 0))
    return _Side(corner, real, vertex, edge, border, is_face, up)


def _cut(
    t: _Tables, frames: Frames, items: Array, pair: Array, normal: Array, limits: tuple[Array, Array]
) -> tuple[Corners, Array]:
    region = items[0]
    of = pair[region]
    t1, t2 = tangents_of(normal[region])
    axes = np.stack([t1, t2, normal[region]], axis=1)
    a = _seen(t, items[1], frames.rotation_a[of], np.zeros((len(of), 3)), axes)
    b = _seen(t, items[2], frames.rotation_b[of], frames.offset[of], axes)
    scale = np.maximum(*(np.abs(x.corner - a.corner[:, :1]).max(axis=(1, 2)) for x in (a, b)))
    found = []
    for top, low, meets in ((a, b, Kind.VF), (b, a, Kind.FV)):
        within = _inside(top.corner, low, WITHIN * scale) & top.real & low.is_face[:, None]
        item, k = np.nonzero(within)
        place, plane, up = top.corner[item, k], low.corner[item, 0], low.up[item]
        height = plane[:, 2] - ((up[:, :2] * (place - plane)[:, :2]).sum(axis=1)) / up[:, 2]
        vertex, loop = top.vertex[item, k], items[1 if low is a else 2][item]
        sides = (place[:, 2], height, vertex, loop) if top is a else (height, place[:, 2], loop, vertex)
        found.append((item, np.full(len(item), int(meets)), place[:, :2], *sides))
    found.append(_crossings(a, b, WITHIN * scale))
    item, kind, place, high_a, high_b, feature_a, feature_b = (
        np.concatenate(x) for x in zip(*found, strict=True)
    )
    gap = high_b - high_a
    near = (gap >= limits[0][region[item]]) & (gap <= limits[1][region[item]])
    item, kind, place, high_a, high_b = (x[near] for x in (item, kind, place, high_a, high_b))
    points = [
        np.einsum("nij,ni->nj", axes[item], np.column_stack([place, high])) for high in (high_a, high_b)
    ]
    numbers = []
    for feature, of_kind, mesh in (
        (feature_a[near], _OF_A, frames.mesh_a), (feature_b[near], _OF_B, frames.mesh_b)
    ):  # fmt: skip
        what, mine = of_kind[kind], mesh[of[item]]
        first = np.stack([t.first[k] for k in (_FACE, _EDGE, _VERTEX)])
        numbers.append(feature - first[what, mine])
    (on_a, on_b), (number_a, number_b) = points, numbers
    return Corners(region[item], kind, number_a, number_b, high_b - high_a, on_a, on_b), item


def _inside(point: Array, loop: _Side, within: Array) -> Array:
    """Which points (n, m, 3) are within loops, seen along the normal: no farther outside than `within`."""
    begin = loop.corner[:, :, :2]
    way = np.roll(begin, -1, axis=1) - begin
    length = np.sqrt((way * way).sum(axis=2))
    turn = np.where(loop.up[:, 2] < 0.0, -1.0, 1.0)
    away = point[:, :, None, :2] - begin[:, None]
    left = way[:, None, :, 0] * away[..., 1] - way[:, None, :, 1] * away[..., 0]
    return (left * turn[:, None, None] >= -(within[:, None] * length)[:, None]).all(axis=2)


def _crossings(a: _Side, b: _Side, within: Array) -> tuple[Array, ...]:
    """Where borders of both cross: item, kind, place, heights on both, and edges."""
    begin, way = [], []
    for side in (a, b):
        begin.append(side.corner)
        way.append(np.roll(side.corner, -1, axis=1) - side.corner)
    (pa, pb), (da, db) = begin, way
    la, lb = (np.sqrt((d[..., :2] ** 2).sum(axis=2)) for d in way)
    gap = pb[:, None, :, :2] - pa[:, :, None, :2]
    da_, db_ = da[:, :, None], db[:, None]
    turn = da_[..., 0] * db_[..., 1] - da_[..., 1] * db_[..., 0]
    cross = np.abs(turn) > PARALLEL * la[:, :, None] * lb[:, None]
    cross &= a.border[:, :, None] & b.border[:, None]
    safe = np.where(cross, turn, 1.0)
    s = (gap[..., 0] * db_[..., 1] - gap[..., 1] * db_[..., 0]) / safe
    u = (gap[..., 0] * da_[..., 1] - gap[..., 1] * da_[..., 0]) / safe
    for share, length in ((s, la[:, :, None]), (u, lb[:, None])):
        cross &= np.abs(share - 0.5) * length <= 0.5 * length + within[:, None, None]
    item, i, j = np.nonzero(cross)
    s, u = (np.clip(x[item, i, j], 0.0, 1.0)[:, None] for x in (s, u))
    on_a, on_b = pa[item, i] + s * da[item, i], pb[item, j] + u * db[item, j]
    place = 0.5 * (on_a + on_b)[:, :2]
    kind = np.full(len(item), int(Kind.EE))
    return item, kind, place, on_a[:, 2], on_b[:, 2], a.edge[item, i], b.edge[item, j]
