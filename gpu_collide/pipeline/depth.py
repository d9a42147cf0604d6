"""Launch order of how deep pairs overlap at a time (c02).

Of two convex bodies that is the least of all pairs of features that overlap. Of others first come edges that
go through faces, what of the overlap hangs together by them, and how far each region reaches; then pairs of
features, none deeper than that, and the region of each. The kernels make lists in any order, which are put in
order here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.order import order_of, taken
from gpu_collide.geometry.preparation.prepared import is_convex, is_solid
from gpu_collide.pipeline.launch.launcher import MOST_INDEX, TooLarge
from gpu_collide.pipeline.narrow_phase.executor import Span
from gpu_collide.pipeline.narrow_phase.scratch import CUTS, DEEP
from gpu_collide.results.enums import Kind, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide._types import Array
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.pipeline.narrow_phase.executor import Entries
    from gpu_collide.pipeline.narrow_phase.immediate import Immediate

__all__ = ["Depths", "depths_of", "take_depths", "with_regions"]

_PLACE, _CUT, _FEATURES, _REGION = (
    sources.record(name) for name in ("deep", "passage", "candidate", "region")
)


class Depths(NamedTuple):
    """Pairs of features that overlap, or regions.

    Attributes
    ----------
    features : (r, 4) int32
        Pair, `Kind`, features of A and of B; NONE, -1, -1 of a region that reaches so far.
    places : (r, 13) array
        As the record ``deep`` has them: depth, points and normal in the world.
    """

    features: Array
    places: Array

    @property
    def depth(self) -> Array:
        """(r,) depths."""
        return self.places[:, _PLACE["depth"]]

    def fields(self) -> dict[str, Array]:
        """What a row of `Clearance` has of each."""
        kind, a, b = self.features.T[1:]
        places = {name: self.places[:, _PLACE[name]] for name in ("point_a", "point_b", "normal")}
        distance = 0.0 - self.depth  # no zero has a sign
        features = {"kind": kind, "feature_a": a, "feature_b": b}
        return features | {"distance": distance, "lower_bound": distance} | places

    def some(self, rows: Array) -> Depths:
        """Those with these numbers."""
        return Depths(self.features.take(rows, axis=0), self.places.take(rows, axis=0))

    def rounded(self, rounding: Array) -> Depths:
        """Those of bodies with rounding radii (r, 2): deeper by both, with points on the surfaces."""
        places = self.places.copy()
        normal = places[:, _PLACE["normal"]]
        places[:, _PLACE["depth"]] += rounding.sum(axis=1)
        places[:, _PLACE["point_a"]] += rounding[:, :1] * normal
        places[:, _PLACE["point_b"]] -= rounding[:, 1:] * normal
        return Depths(self.features, places)

    def beside(self, other: Depths) -> Depths:
        """Both, in order."""
        features, places = (np.concatenate(two) for two in zip(self, other, strict=True))
        return Depths(features, places).some(order_of(*features.T, *places.T))

    def least(self, region: Array, give: Array, sign: float = 1.0) -> Depths:
        """Of each region of each pair the least deep, or with ``sign=-1`` the deepest; of those that are
        equal, within `give` of their pair, the first."""
        if not len(region):
            return self
        pair, kind, a, b = self.features.T
        order = order_of(pair, region, kind, a, b)
        pair, region, depth = pair[order], region[order], sign * self.depth[order].astype(np.float64)
        begins = np.flatnonzero(np.append(True, (pair[1:] != pair[:-1]) | (region[1:] != region[:-1])))
        least = np.repeat(np.minimum.reduceat(depth, begins), np.diff(np.append(begins, len(order))))
        rows = np.flatnonzero(depth <= least + give[pair])
        _, first = np.unique(np.searchsorted(begins, rows, side="right"), return_index=True)
        return self.some(order[rows[first]])


class Regions(NamedTuple):
    """What of the overlap of some pairs hangs together.

    Attributes
    ----------
    listed : (pairs,) int
        Place of each pair in the lists, or -1.
    given : dict of str to buffer
        The lists, as arguments.
    rows : (r, 3) int32
        As the record ``region`` has them, in order.
    reach : Depths
        How far each reaches, and how deep features of it may be.
    """

    listed: Array
    given: dict[str, Any]
    rows: Array
    reach: Depths


def take_depths(x: Immediate, meshes: Sequence[Mesh], moment: float, rows: dict[str, Array]) -> Depths:
    """Puts the depth of pairs that overlap at a time into their rows of `Clearance`; returns all regions."""
    convex = np.logical_and(*np.array([is_convex(mesh) or mesh.thin for mesh in meshes])[x.shapes.T])
    rounding = np.array([mesh.rounding for mesh in meshes])[x.shapes.T]
    both, without = rounding[0] + rounding[1], rows["kind"] == Kind.NONE
    rounded = both > 0.0
    overlap, least = rows["status"] == Status.INITIAL_OVERLAP, np.zeros(x.pairs.n)
    if rounded.any():  # these may overlap while their meshes do not
        state = x.run.backend.to_host(x.buffers["state_in"])[: x.pairs.n]
        overlap &= ~rounded | (state & int(x.run.c["GC_PAIR_OVERLAP"]) > 0)
        # a normal along which meshes touch has to lead out of the rounding
        least = np.where(rounded & convex, -1.0, least)
        least[rounded & ~convex & ~without] = np.inf
    touch = (rows["status"] == Status.HIT) | (rows["status"] == Status.INITIAL_OVERLAP)
    touch &= convex | rounded
    touch &= rows["distance"] + both <= _give(x, meshes)
    found = depths_of(x, meshes, moment, np.flatnonzero(overlap | touch), overlap)
    if not len(found.features):
        return found
    # what only touches has its place already, unless surfaces cross by less than is an overlap
    of = found.features[:, 0]
    counts = (found.depth > np.minimum(least, _overlap(x, meshes))[of]) | without[of]
    if not counts.all():
        found = found.some(np.flatnonzero(counts))
    if rounded.any():
        found = found.rounded(rounding.T[found.features[:, 0]])
    deepest, pair = found, found.features[:, 0]
    if (pair[1:] == pair[:-1]).any():
        deepest = found.least(np.zeros(len(pair), np.int32), _give(x, meshes), sign=-1.0)
    for name, column in deepest.fields().items():
        rows[name].reshape(-1, *column.shape[1:])[deepest.features[:, 0]] = column
    return found


def with_regions(
    fields: dict[str, Array], regions: Sequence[tuple[Array, Depths]]
) -> tuple[dict[str, Array], Array]:
    """Fields with a row for each region in place of those of its pair, the deepest first, and what row each
    was.

    Parameters
    ----------
    fields : dict of str to (n, ...) array
    regions : sequence of (k,) int array, Depths
        Rows of the pairs, and their regions.
    """
    at = np.concatenate([np.zeros(0, np.int64), *(row for row, _ in regions)])
    if np.bincount(at).max(initial=0) < 2:  # the only one of a pair is in its row already
        return fields, np.arange(len(fields["status"]))
    some = np.setdiff1d(np.arange(len(fields["status"])), at)
    row, depth = np.append(some, at), np.zeros(len(some) + len(at))
    fields = {name: column[row] for name, column in fields.items()}
    told = [found.fields() for _, found in regions]
    for name in told[0]:
        fields[name][len(some) :] = np.concatenate([columns[name] for columns in told])
    depth[len(some) :] = fields["distance"][len(some) :]
    order = order_of(row, depth, fields["kind"], fields["feature_a"], fields["feature_b"])
    return taken(fields, order), row[order]


def depths_of(x: Immediate, meshes: Sequence[Mesh], moment: float, asked: Array, overlap: Array) -> Depths:
    """Regions of the pairs that overlap at a time, of bodies that both are solids, each with its depth.

    Parameters
    ----------
    x : Immediate
        Its motions are found.
    meshes : sequence of Mesh
    moment : float
        In [-1/2, 1/2].
    asked : (k,) int array
        Pairs that overlap; or that touch.
    overlap : (pairs,) bool array
        Which are known to overlap: of others that are not convex those count of which edges go through faces.
    """
    solid, convex = (np.array([told(mesh) for mesh in meshes]) for told in (is_solid, is_convex))
    thin = np.array([mesh.thin for mesh in meshes])  # a point or a line in a solid has a depth
    a, b = x.shapes[asked].T
    has = (solid | thin)[a] & (solid | thin)[b] & ~(thin[a] & thin[b])
    todo, rough = asked[has].astype(np.int32), ~((convex | thin)[a] & (convex | thin)[b])[has]
    if not rough.any():
        pairs = _overlapping(x, todo, np.full(x.pairs.n, -1.0), moment)
        return pairs.least(np.zeros(len(pairs.features), np.int32), _give(x, meshes))
    regions = _regions(x, meshes, todo[rough], moment, overlap)
    only = rough & (regions.listed[todo] < 0) & ~overlap[todo]
    todo, rough = todo[~only], rough[~only]
    most = np.full(x.pairs.n, -1.0)
    np.maximum.at(most, regions.rows[:, 0], regions.reach.places[:, _PLACE["limit"]].astype(np.float64))
    pairs = _overlapping(x, todo, most, moment)
    row = _rows(x, pairs, regions)
    reach = np.append(regions.reach.places[:, _PLACE["limit"]], np.inf)
    own = np.flatnonzero(
        (row >= 0) & (pairs.depth <= reach[row]) | ~np.isin(pairs.features[:, 0], todo[rough])
    )
    alone = np.setdiff1d(np.arange(len(regions.rows)), row[own])
    return pairs.some(own).least(row[own], _give(x, meshes)).beside(regions.reach.some(alone))


def _give(x: Immediate, meshes: Sequence[Mesh]) -> Array:
    """Depths of a pair of bodies that differ by less are equal."""
    return float(x.run.c["GC_TOL_TOUCH"]) * _sizes(x, meshes)


def _overlap(x: Immediate, meshes: Sequence[Mesh]) -> Array:
    """The least depths of pairs that are an overlap."""
    return float(x.run.c["GC_OVERLAP_DEPTH"]) * _sizes(x, meshes)


def _sizes(x: Immediate, meshes: Sequence[Mesh]) -> Array:
    """The larger radius of each pair."""
    radius = np.array([mesh.radius for mesh in meshes])
    return np.maximum(*radius[x.shapes.T])


def _overlapping(x: Immediate, todo: Array, most: Array, moment: float) -> Depths:
    """c02_depth: pairs of features that overlap, in any order, none deeper than `most` of their pair; where
    that is negative, of convex bodies, those that may be the least."""
    limits = x.run.to_device(most, x.run.real)

    def emit(found: Entries) -> None:
        x.launch(x.plan.solver("c02_depth"), x.listed(todo), found.out, most_in=limits, moment=moment)

    if not len(todo):
        return Depths(np.zeros((0, _FEATURES.stride), np.int32), np.zeros((0, _PLACE.stride), x.run.real))
    return Depths(*_read(x, x.fill("deep", DEEP, len(todo), emit)))


def _read(x: Immediate, found: Entries) -> list[Array]:
    """The columns of a list."""
    to_host, n = x.run.backend.to_host, int(found.n)
    columns = found.kind.columns.items()
    return [to_host(found.columns[name])[: width * n].reshape(n, width) for name, (width, _) in columns]


# -- regions -------------------------------------------------------------------------------------------------
def _regions(x: Immediate, meshes: Sequence[Mesh], todo: Array, moment: float, overlap: Array) -> Regions:
    """c02_cuts, c02_regions, c02_reach of these pairs."""

    def emit(found: Entries) -> None:
        x.launch(x.plan.solver("c02_cuts"), x.listed(todo), found.out, moment=moment)

    cuts, at = _read(x, x.fill("cuts", CUTS, len(todo), emit))
    pair, of, edge, face = (cuts[:, _CUT[name]] for name in ("pair", "of", "edge", "face"))
    order = np.lexsort((face, at[:, 0], edge, of, pair))
    cuts, at = cuts[order], at[order]
    # a pair through none of whose faces an edge goes is in no list: one body is inside the other
    pair, cut_start = np.unique(cuts[:, 0], return_index=True)
    listed = np.full(x.pairs.n, -1)
    listed[pair] = np.arange(len(pair))
    cut_start = np.append(cut_start, len(cuts))
    links = _links(x, meshes, cuts)
    links[:, 1:3] -= cut_start[listed[links[:, 0]]][:, None]
    nodes = np.diff(cut_start) + x.plan.counts[x.shapes[pair], 0].sum(axis=1)
    node_start = np.append(0, np.cumsum(nodes))
    sent = {
        "cut": cuts, "cut_at": at, "link": links[:, 1:], "cut_start": cut_start, "node_start": node_start,
        "link_start": np.searchsorted(links[:, 0], np.append(pair, x.pairs.n)),
    }  # fmt: skip
    need = 4 * int(node_start[-1]) + sum(4 * array.size for array in sent.values())
    if node_start[-1] > MOST_INDEX:
        raise TooLarge(need)
    x.run.room.check(x.held + need)
    given = {f"{name}_in": _sent(x, array) for name, array in sent.items()}
    node, loop = x.zeros(int(node_start[-1]) + 1), x.zeros(len(cuts) + 1)
    x.launch(x.plan.solver("c02_regions"), x.listed(pair), given, node_out=node, loop_out=loop)
    given |= {"node_in": node, "loop_in": loop}
    place = listed[cuts[:, 0]]
    first = x.run.backend.to_host(node)[(node_start[:-1] - cut_start[:-1])[place] + np.arange(len(cuts))]
    inside = todo[(listed[todo] < 0) & overlap[todo]]
    rows = np.concatenate([
        np.column_stack([cuts[:, 0], place, first]),
        np.column_stack([inside, np.full_like(inside, -1), np.zeros_like(inside)]),
    ])  # fmt: skip
    rows = np.unique(rows, axis=0).astype(np.int32)
    return Regions(listed, given, rows, _reach(x, rows, given, moment))


def _sent(x: Immediate, array: Array) -> Any:
    kind = np.int32 if array.dtype.kind == "i" else x.run.real
    flat = np.ascontiguousarray(array).reshape(-1)
    return x.run.to_device(flat if flat.size else np.zeros(1), kind)


def _links(x: Immediate, meshes: Sequence[Mesh], cuts: Array) -> Array:
    """Cuts on the line in which the same two faces meet: pair of bodies, two cuts, two faces, in order."""
    rows = [np.zeros((0, 4), np.int64)]
    shape = x.shapes[cuts[:, _CUT["pair"]], cuts[:, _CUT["of"]]]
    for mesh in np.unique(shape):
        some = np.flatnonzero(shape == mesh)
        start, faces = meshes[mesh].edge_face_start, meshes[mesh].edge_faces
        count = np.diff(start)[cuts[some, _CUT["edge"]]]
        cut = np.repeat(some, count)
        place = np.arange(len(cut)) - np.repeat(np.cumsum(count) - count, count)
        own = faces[start[cuts[cut, _CUT["edge"]]] + place] >> 1
        of, face = cuts[cut, _CUT["of"]], cuts[cut, _CUT["face"]]
        a, b = np.where(of == 0, own, face), np.where(of == 0, face, own)
        rows.append(np.column_stack([cuts[cut, _CUT["pair"]], a, b, cut]))
    table = np.concatenate(rows)
    table = table[np.lexsort(table.T[::-1])]
    same = (table[1:, :3] == table[:-1, :3]).all(axis=1)
    return np.column_stack([table[1:, 0], table[:-1, 3], table[1:, 3], table[1:, 1:3]])[same]


def _reach(x: Immediate, rows: Array, given: dict[str, Any], moment: float) -> Depths:
    """c02_reach: how far each region reaches."""
    n = len(rows)
    features, places = x.zeros(_FEATURES.stride * n), x.zeros(_PLACE.stride * n, x.run.real)
    x.launch(
        x.plan.solver("c02_reach"), Span(n, n), given,
        item_in=_sent(x, rows), moment=moment, deep_out=features, place_out=places,
    )  # fmt: skip
    to_host = x.run.backend.to_host
    return Depths(to_host(features).reshape(n, _FEATURES.stride), to_host(places).reshape(n, _PLACE.stride))


def _rows(x: Immediate, pairs: Depths, regions: Regions) -> Array:
    """c02_own: the row of the region of each pair of features, or -1."""
    n, pair = len(pairs.features), pairs.features[:, 0]
    if not len(regions.rows):
        return np.full(n, -1)
    region = x.empty(n, np.int32)
    x.launch(
        x.plan.solver("c02_own"), Span(n, n), regions.given, deep_in=_sent(x, pairs.features),
        place_in=_sent(x, pairs.places), listed_in=_sent(x, regions.listed[pair]), region_out=region,
    )  # fmt: skip
    keys = _keys(regions.rows[:, 0], regions.rows[:, _REGION["first"]])
    wanted = _keys(pair, x.run.backend.to_host(region))
    row = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[row] == wanted, row, -1)


def _keys(pair: Array, region: Array) -> Array:
    """A number for each region of each pair, and for none."""
    return (pair.astype(np.int64) << 32) + region + 1
