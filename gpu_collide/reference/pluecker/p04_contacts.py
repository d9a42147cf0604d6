"""Stage p04: all places where a mover at rest and obstacles are near each other, of all pairs of features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.pluecker.p02_translate import EE, FV, LATERAL, VF, next_on_edge, polygons_seen

__all__ = ["Near", "near_of", "near_points"]

VE, EV, VV = 4, 5, 6
_C = sources.constants()
_F = sources.constants("mixed", "pluecker/gc_found.h")
BEYOND, ASIDE = int(_F["GC_TOUCH_BEYOND"]), int(_F["GC_TOUCH_ASIDE"])
STANDS, WIDE, PARALLEL, FACING, ROUNDING = (
    float(_C[f"GC_{name}"])
    for name in ("ZONE_STANDS", "ZONE_ASIDE", "ZONE_PARALLEL", "FACING_ROUNDING", "ROUNDING")
)


class Near(NamedTuple):
    """How far before and behind a surface a place counts (`limit`, `deep`), and how far before it is told
    (`reach`); how far beside a border by rounding (`beside`), and what stopped (`aside`); how far off that
    may stand (`stands`); the bound on errors."""

    reach: float
    limit: float
    deep: float
    beside: float
    aside: float
    stands: float
    bound: float

    def flag(self, distance):
        """What is added to the kind of a place so far off."""
        return 0 if distance <= self.reach else BEYOND


def near_of(distance, deep, expel, doubt):
    """`Near` of a mover."""
    bound = doubt / float(_C["GC_ZONE_SURE"])
    stands, aside = STANDS * expel, WIDE * expel
    deep = max(deep, aside)
    beside = LATERAL * (bound + float(_C["GC_ZONE_DEFAULT"]) * ROUNDING * distance)
    return Near(distance + stands, max(distance + stands, deep), deep, beside, aside, stands, bound)


def near_points(mover, obstacle, near):
    """Where a mover and obstacles are near each other.

    Yields
    ------
    kind, feature of the mover, feature of the obstacle, point, normal, distance along it
    """
    for tips, other, on_face, on_edge in ((mover, obstacle, VF, VE), (obstacle, mover, FV, EV)):
        for kind, found in (
            (on_face, _over_faces(tips, other, near)),
            (on_edge, _beside_edges(tips, other, near)),
        ):
            for v, number, normal, gap, flag in found:
                pair = int(tips.vertices[v]), int(number)
                shown = kind + flag
                if kind in (VF, VE):
                    yield shown, *pair, tips.places[v], normal, gap
                else:
                    yield shown, *pair[::-1], tips.places[v], -normal, gap
    yield from _vertices(mover, obstacle, near)
    for mine, ends, normals in mover.edges.values():
        for theirs, still, others in obstacle.edges.values():
            for a, b, normal, gap, flag in _edges(ends[:, None], normals, still[None], others, near):
                yield EE + flag, int(mine[a]), int(theirs[b]), _place(ends[a], still[b]), normal, gap


def _over_faces(tips, faces, near):
    """Vertices over faces, or in the zone and beside their borders: vertex, face, normal, distance, flag."""
    x = tips.places
    none = np.zeros(0, int), np.zeros((0, 2, 3)), np.zeros((0, 3))
    for numbers, seen, normals, _ in polygons_seen(x, faces._replace(borders=none), 0.0):
        away = x[:, None, None] - seen
        gap = np.einsum("vknj,vkj->vkn", away, normals).min(axis=-1)
        along = np.roll(seen, -1, axis=2) - seen
        inward = cross(normals[:, :, None], along)
        inward = inward / np.linalg.norm(inward, axis=-1, keepdims=True)
        least = np.einsum("vknj,vknj->vkn", away, inward).min(axis=-1)
        over = (gap >= -near.deep) & (gap <= near.limit) & (least >= -near.beside)
        wide = ~over & (np.abs(gap) <= near.aside) & (least >= -near.aside)
        for v, k in np.argwhere(over):
            yield v, numbers[k], normals[v, k], float(gap[v, k]), near.flag(gap[v, k])
        for v, k in np.argwhere(wide):
            ways = _ways(seen[v, k], np.roll(seen[v, k], -1, axis=0), x[v])
            way = ways[np.argmin(dot(ways, ways))]
            length = float(np.linalg.norm(way))
            yield v, numbers[k], way / length, length, ASIDE


def _ways(c, d, x):
    """The shortest ways from segments c-d to x."""
    w = d - c
    k = np.clip(dot(x - c, w) / dot(w, w), 0, 1)
    return x - c - k[..., None] * w


def _beside_edges(tips, other, near):
    """Vertices next to edges, beyond their faces: vertex, edge, normal, distance, flag."""
    x = tips.places[:, None]
    for numbers, ends, normals in other.edges.values():
        c, w = ends[:, 0], ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(w, axis=-1)
        along = dot(x - c, w) / length
        way = _ways(c, ends[:, 1], x)
        gap = np.linalg.norm(way, axis=-1)
        good = (along >= -near.beside) & (along <= length + near.beside)
        good &= (gap > near.stands) & (gap <= near.limit)
        for k, sign in zip(range(normals.shape[1]), (1.0, -1.0), strict=False):
            into = sign * cross(normals[:, k], w) / length[:, None]
            good &= dot(into, way) <= near.beside
        for v, k in np.argwhere(good):
            if _leads(tips, v, -way[v, k], near):
                yield v, numbers[k], way[v, k] / gap[v, k], float(gap[v, k]), near.flag(gap[v, k])


def _leads(tips, v, way, near):
    """Do all edges at a vertex lead away from what lies `way` from it?"""
    edges = tips.fans[v] - tips.places[v]
    edges = edges[np.isfinite(edges[:, 0])]
    return bool((edges @ way <= near.beside * np.linalg.norm(edges, axis=1)).all())


def _vertices(mover, obstacle, near):
    """Vertices that are next to each other."""
    way = mover.places[:, None] - obstacle.places
    gap = np.linalg.norm(way, axis=-1)
    for v, w in np.argwhere((gap > near.stands) & (gap <= near.limit)):
        if _leads(mover, v, -way[v, w], near) and _leads(obstacle, w, way[v, w], near):
            pair = int(mover.vertices[v]), int(obstacle.vertices[w])
            yield VV + near.flag(gap[v, w]), *pair, mover.places[v], way[v, w] / gap[v, w], float(gap[v, w])


def _edges(ends, normals, still, others, near):
    """Edges that cross near each other, of all of one body and all of the other: numbers, normal, distance,
    flag."""
    u, w = ends[..., 1, :] - ends[..., 0, :], still[..., 1, :] - still[..., 0, :]
    out = cross(u, w)
    length = np.linalg.norm(out, axis=-1)
    crossing = length > PARALLEL * near.bound * np.maximum(np.abs(u).max(axis=-1), np.abs(w).max(axis=-1))
    from_ = ends[..., 0, :] - still[..., 0, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = out / length[..., None]
        gap = dot(out, from_)
        # from_ + s u = t w + gap out, as areas over the one that u and w span; how far within the ends,
        # across the other edge
        s, t = dot(cross(w, from_), out) / length, dot(cross(u, from_), out) / length
        within_u, within_w = np.minimum(s, 1 - s), np.minimum(t, 1 - t)
        least = length * np.minimum(
            within_u / np.linalg.norm(w, axis=-1), within_w / np.linalg.norm(u, axis=-1)
        )
        fits = {
            sign: _faces(sign, u, others[None], near.beside) & _faces(sign, w, normals[:, None], near.beside)
            for sign in (1.0, -1.0)
        }
        sign = np.where(fits[1.0] & (~fits[-1.0] | (gap >= 0)), 1.0, -1.0)
        within = crossing & (fits[1.0] | fits[-1.0]) & (least >= -near.beside)
        told = within & (sign * gap >= -near.deep) & (sign * gap <= near.limit)
        wide = crossing & ~within & (np.abs(gap) <= near.aside) & (least >= -near.aside)
    for a, b in np.argwhere(told):
        way = sign[a, b]
        yield a, b, way * out[a, b], float(way * gap[a, b]), near.flag(way * gap[a, b])
    for a, b in np.argwhere(wide):
        way = _way_of_ends(ends[a, 0], still[0, b]) if least[a, b] < -near.beside else gap[a, b] * out[a, b]
        far = float(np.linalg.norm(way))
        yield a, b, way / far if far else out[a, b], far, ASIDE
    for a, b in np.argwhere(~crossing):
        way = _way_of_ends(ends[a, 0], still[0, b])
        far = float(np.linalg.norm(way))
        if far <= near.aside:
            across = cross(w[0, b], np.eye(3)[np.argmin(np.abs(w[0, b]))])
            yield a, b, way / far if far else across / np.linalg.norm(across), far, ASIDE


def _place(ends, still):
    """The place on the still edge next to the other one, or next to its middle if they are parallel."""
    if np.linalg.norm(cross(ends[1] - ends[0], still[1] - still[0])) > 0:
        return next_on_edge(ends, still, np.zeros(3))[0]
    middle = ends.mean(axis=0)
    return middle - _ways(still[None, 0], still[None, 1], middle)[0]


def _way_of_ends(p, r):
    """The shortest way from the segment r to p, which do not cross."""
    ways = np.concatenate([_ways(r[None, 0], r[None, 1], p), -_ways(p[None, 0], p[None, 1], r)])
    return ways[np.argmin(dot(ways, ways))]


def _faces(sign, other, normals, slack):
    """Does `sign` times the normal of two edges lead away from the faces of one, which `other` crosses, but
    for a height of `slack`?"""
    slack, good = FACING * np.abs(other).max(axis=-1) + slack, True
    for k in range(min(normals.shape[-2], 2)):
        along = sign * dot(other, normals[..., k, :])
        good = good & (along <= slack if k == 0 else along >= -slack)
    return good
