"""Stage p01: lines, sides, and how far features may move, computed in another way.

The kernels work with sides of lines, twice the digits and half-angle tangents. Here a translation is a linear
system, a rotation is turned until its axis is z, as in the source, and solved by angles; nothing has more
than float64. All functions broadcast, and take what `gpu_collide.pipeline.movers.primitives.Primitives`
takes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.pluecker._borders import (
    BESIDE,
    clear_by,
    comes_across,
    comes_over,
    edge_parts,
    edge_stays,
    ends_beside,
    stays_before,
    stop_over,
    stretch,
)
from gpu_collide.reference.pluecker._meetings import crossing, crossing_by, leads_out, moving, slack_beside
from gpu_collide.reference.pluecker._swings import (
    FULL,
    falls_at,
    swing_of_point,
    turned_by,
    value_at,
)

__all__ = [
    "edge_edge_rotation", "edge_edge_translation", "line", "side", "vertex_polygon_rotation",
    "vertex_polygon_translation",
]  # fmt: skip

# rods that touch at the start have not passed each other: within this share of lengths and ways
TOUCH = 1e-13
#: Edges are on one line within so many times the tolerance beside borders.
ALONG = float(sources.constants()["GC_ZONE_ALONG"])
# rounding of a place that turns, in its distances from the axis
ROUNDING = 1e-15


class Query(NamedTuple):
    """What a query about bodies knows besides features.

    Attributes
    ----------
    behind : float
        The most that a start may be behind what it meets.
    doubt : float
        How far off rounding may put a place.
    across : (.., n, 3) float64 or None
        The normal of the face behind each border of a polygon that bends outwards there; NaN: of none.
    normal : (.., 3) float64 or None
        Of the polygon; else from its corners.
    through : (..) bool or None
        Which vertices have to come to the polygon's front first, from its back, where they start.
    """

    behind: float
    doubt: float = 0.0
    across: np.ndarray | None = None
    normal: np.ndarray | None = None
    through: np.ndarray | None = None

    @classmethod
    def of(cls, query, expel):
        """`query`, or what holds of numbers that are exact."""
        return cls(expel) if query is None else query


def line(a, b):
    """Lines (.., 6) through points (.., 3)."""
    a, b = np.broadcast_arrays(a, b)
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack(
        [ax * by - bx * ay, ax * bz - bx * az, ax - bx, ay * bz - by * az, az - bz, by - ay], axis=-1
    )


def side(p, q):
    """Sides of lines (.., 6): the permuted inner product."""
    return np.sum(p * q[..., [4, 5, 3, 2, 0, 1]], axis=-1)


def vertex_polygon_translation(vertex, vector, polygon, expel, lateral, query=None):
    """Where the ray meets the plane, and whether its line goes through the polygon."""
    query = Query.of(query, expel)
    normal, corner = _plane(polygon, query.normal)
    distance = dot(normal, vertex - corner)
    approach = -dot(normal, vector)
    with np.errstate(divide="ignore", invalid="ignore"):
        fraction = np.maximum((distance - expel) / approach, 0)
    hit = (approach > 0) & (distance >= -query.behind) & (fraction <= 1)
    # seen from the vertex, so that its own line goes through the origin
    c = polygon - vertex[..., None, :]
    d = np.roll(c, -1, axis=-2)
    inward = cross(normal[..., None, :], d - c)
    parts = stretch(inward, -c, vector[..., None, :], expel, lateral)
    fraction, over = stop_over(fraction, [np.moveaxis(part, -1, 0) for part in parts])
    hit = hit & over & (fraction <= 1)
    path = line(np.zeros_like(vector), vector)[..., None, :]
    width = np.linalg.norm(cross(vector[..., None, :], d - c), axis=-1)
    hit = hit & np.all(side(path, line(c, d)) + lateral * width >= 0, axis=-1)
    if query.across is not None:
        # a face behind a border, at the start: over it, or out
        least = clear_by(distance, lateral, query.doubt)[..., None]
        parts = (dot(query.across, -c) >= least) & (dot(query.across, vector[..., None, :]) >= 0)
        hit = hit & ~((fraction == 0) & parts.any(axis=-1))
    return np.where(hit, fraction, np.inf)


def edge_edge_translation(edge, vector, still, expel, lateral, query=None):
    """a + s u + f v = c + t w, for s, t and f."""
    query = Query.of(query, expel)
    (a, u, m), (c, w, n) = _edge(*edge), _edge(*still)
    out = cross(u, w)
    length = np.linalg.norm(out, axis=-1)
    longer = np.maximum(np.abs(u).max(axis=-1), np.abs(w).max(axis=-1))
    rate, gap = dot(out, vector), dot(out, c - a)
    borders = (
        (cross(out, w), a - c, vector), (cross(w, out), a + u - c, vector),
        (cross(u, out), c - a, -vector), (cross(out, u), c + w - a, -vector),
    )  # fmt: skip
    best: Any = np.inf
    for sign in (1.0, -1.0):
        with np.errstate(divide="ignore", invalid="ignore"):
            approach, distance = -sign * rate, -sign * gap
            fraction = np.maximum((distance - expel * length) / approach, 0)
            s = dot(c - a, cross(vector, w)) / -rate
            t = dot(c - a, cross(vector, u)) / -rate
            over_s = lateral * np.linalg.norm(cross(vector, w), axis=-1) / approach
            over_t = lateral * np.linalg.norm(cross(vector, u), axis=-1) / approach
        hit = leads_out(sign, u, n) & leads_out(sign, w, m) & (length > expel / 8 * longer)
        both = leads_out(-sign, u, n) & leads_out(-sign, w, m)  # no behind: past each other they part
        hit = hit & (approach > 0) & (distance >= np.where(both, 0, -query.behind * length)) & (fraction <= 1)
        hit = hit & (s >= -over_s) & (s <= 1 + over_s) & (t >= -over_t) & (t <= 1 + over_t)
        stretches = [stretch(*border, expel, lateral) for border in borders]
        fraction, over = stop_over(fraction, [np.stack(part) for part in zip(*stretches, strict=True)])
        if np.any(expel > 0):
            with np.errstate(divide="ignore", invalid="ignore"):
                least = clear_by(distance / length, lateral, query.doubt)
            parts = edge_parts(n, c, a, a + u, vector, least) | edge_parts(m, a, c, c + w, -vector, least)
            over = over & ~((fraction == 0) & parts)
        best = np.minimum(best, np.where(hit & over & (fraction <= 1), fraction, np.inf))
    return best


def vertex_polygon_rotation(vertex, turn, polygon, expel, lateral, query=None):
    """The angles at which a circle meets a plane, and whether that is inside the polygon."""
    query = Query.of(query, expel)
    angle, turned = _about_z(turn)
    x, polygon = turned(vertex), turned(polygon, 1)
    across = None if query.across is None else turned(query.across, 1, free=True)
    normal, corner = _plane(polygon, None if query.normal is None else turned(query.normal, free=True))
    swing = swing_of_point(x, normal, corner)
    still, sine, cosine = swing
    stop, met = _stop(still, sine, cosine, still - expel, sine, cosine, query.behind, lateral)
    point = turned_by(x, met)
    motion = moving(point)
    approach = np.maximum(np.abs(dot(motion, normal)), np.sqrt(lateral * np.linalg.norm(motion, axis=-1)))
    # what turns along the plane, or about itself, does not come through it
    hit = (stop <= angle) & ~((still + cosine >= -query.doubt) & (np.hypot(sine, cosine) <= query.doubt / 4))
    if query.through is not None:
        rises = (sine > 0) | ((sine == 0) & (cosine < 0))
        hit = hit & (~query.through | (rises & (still + np.hypot(sine, cosine) >= 0)))
    borders = []
    for k in range(polygon.shape[-2]):
        c = polygon[..., k, :]
        w = polygon[..., (k + 1) % polygon.shape[-2], :] - c
        inward = cross(normal, w)
        hit = hit & (dot(inward, point - c) >= -slack_beside(motion, inward, approach, lateral))
        with np.errstate(divide="ignore", invalid="ignore"):
            borders.append(swing_of_point(x, inward / np.linalg.norm(inward, axis=-1, keepdims=True), c))
    if np.any(expel > 0):
        first, stop = stop, comes_over(borders, stop, BESIDE * expel, lateral)
        hit = hit & (stop <= angle) & ((stop == first) | (value_at(swing, stop) >= -query.behind))
        hit = hit & np.isfinite(comes_over(borders, stop, lateral, lateral))
    if across is not None:
        least = clear_by(value_at(swing, 0.0), lateral, query.doubt)
        for k in range(polygon.shape[-2]):
            plane = swing_of_point(x, across[..., k, :], polygon[..., k, :])
            hit = hit & ~((stop == 0) & stays_before(plane, met, least))
    return np.where(hit, _part(stop, angle), np.inf)


def edge_edge_rotation(edge, turn, still, expel, lateral, query=None):
    """The angles at which two lines meet, and whether that is within both edges."""
    query = Query.of(query, expel)
    angle, turned = _about_z(turn)
    (a, u, m), (c, w, n) = _edge(*edge), _edge(*still)
    a, b, c, d = turned(a), turned(a + u), turned(c), turned(c + w)
    m, n = turned(m, 1, free=True), turned(n, 1, free=True)
    swing = _swing_of_lines(line(a, b), line(c, d))
    wide = np.linalg.norm(b - a, axis=-1) * np.linalg.norm(d - c, axis=-1)
    reach = np.linalg.norm(a, axis=-1) + np.linalg.norm(c, axis=-1)
    best: Any = np.inf
    for sign in (1.0, -1.0):
        real = still_part, sine, cosine = tuple(-sign * part for part in swing)
        # where they meet at all, from the thickest zone that they may have
        thick = expel * wide
        _, met = _stop(still_part, sine, cosine, still_part - thick, sine, cosine, thick, thick)
        lines = sign, a, b - a, m, c, d - c, n
        met, length, arrival, hit, both = crossing_by(lines, real, met, expel, lateral)
        least = still_part - np.hypot(sine, cosine)
        hit = hit & (least <= lateral * length)
        if m.shape[-2] == n.shape[-2] == 2:  # not lines that cross all the while: an end comes first
            most = np.abs(still_part) + np.hypot(sine, cosine)
            hit = hit & (most > query.doubt * length + ROUNDING * wide * reach)
        # the still line, moved outwards by the zone
        outer = _swing_of_lines(line(a, b), line(c + expel * arrival, d + expel * arrival))
        touch = TOUCH * wide * reach
        behind = np.where(both, touch, query.behind * length)
        zone, zone_sine, zone_cosine = (-sign * part for part in outer)
        stop, _ = _stop(still_part, sine, cosine, zone, zone_sine, zone_cosine, behind, thick)
        hit = hit & (stop <= angle)
        if np.any(expel > 0):
            ends = ends_beside(sign, a, b, c, d, arrival, met)
            first, stop = stop, comes_across(ends, stop, BESIDE * expel, lateral)
            hit = hit & (stop <= angle) & ((stop == first) | (value_at(real, stop) >= -query.behind * length))
            hit = hit & np.isfinite(comes_across(ends, stop, lateral, lateral))
            with np.errstate(divide="ignore", invalid="ignore"):
                clear = clear_by(value_at(real, 0.0) / length, lateral, query.doubt)
            parts = edge_stays(n, c, (a, b), met, clear, expel, 1.0)
            parts = parts | edge_stays(m, a, (c, d), met, clear, expel, -1.0)
            hit = hit & ~((stop == 0) & parts)
        best = np.minimum(best, np.where(hit, _part(stop, angle), np.inf))
    through = _through_along((a, b - a, m), (c, d - c, n), angle, expel, lateral, query)
    return np.where(through & (angle > 0), 0.0, best)


def _through_along(edge, still, angle, expel, lateral, query):
    """Do edges that are on one line at the start, but for a zone, turn into each other?

    By their distance at angles that grow, from where they have parted on, until it has changed by more than
    rounding.
    """
    (a, u, m), (c, w, n) = edge, still
    near, length = ALONG * lateral, np.linalg.norm(w, axis=-1)
    longer = np.maximum(np.abs(u).max(axis=-1), np.abs(w).max(axis=-1))
    reach = np.sqrt(np.sum(a * a, axis=-1) + np.sum(c * c, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        sine = ALONG * near * longer / (2 * np.hypot(u[..., 0], u[..., 1]) * length)
        open_ = (
            (np.linalg.norm(cross(u, w), axis=-1) <= near * longer)
            & (np.linalg.norm(cross(a - c, w), axis=-1) <= near * length)
            & (sine > 0)
            & (sine < 0.7)
        )
        turned = 2 * np.arcsin(np.where(open_, sine, 0.1))
    margin = np.maximum(query.doubt, ROUNDING * reach)
    through = np.zeros(open_.shape, bool)
    while open_.any():
        ahead = turned_by(u, turned)
        out = cross(ahead, w)
        square = np.sum(out * out, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            out = out / np.sqrt(square)[..., None]
            share = np.clip(dot(cross(w, turned_by(a, turned) - c), out) / np.sqrt(square), 0, 1)[..., None]
            start = dot(out, _beside(a + share * u - c, w))
            now = dot(out, _beside(turned_by(a + share * u, turned) - c, w))
        sign = np.where(now < start, 1.0, -1.0)
        sinks = open_ & (sign * now < np.minimum(sign * start, 0) - margin)
        for way in (1.0, -1.0):
            _, _, hit, both = crossing(way, a, u, m, c, w, n, turned, expel, lateral)
            begins = (way * start >= -np.maximum(query.behind, margin)) & (way * start <= near)
            through = through | (sinks & (sign == way) & begins & hit & ~both)
        open_ = open_ & ~sinks & (turned < angle) & (turned < 3.14)
        turned = 2 * np.arctan(4 * np.tan(turned / 2))
    return through


def _beside(x, w):
    """What of vectors is across w: the rounding of the normal of nearly parallel edges is along them."""
    return x - w * (dot(x, w) / dot(w, w))[..., None]


# ---- parts -----------------------------------------------------------------------------------------------


def _plane(polygon, normal=None):
    """Unit normals and outermost corners of polygons; zero normals without area."""
    first = polygon[..., :1, :]
    spokes = polygon - first
    if normal is None:
        area = np.sum(cross(spokes[..., 1:-1, :], spokes[..., 2:, :]), axis=-2)
        length = np.linalg.norm(area, axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            normal = np.where(length > 0, area / length, 0)
    highest = np.argmax(dot(normal[..., None, :], spokes), axis=-1)
    return normal, np.take_along_axis(polygon, highest[..., None, None], axis=-2)[..., 0, :]


def _edge(ends, normals):
    """First end, direction and normals of edges."""
    return ends[..., 0, :], ends[..., 1, :] - ends[..., 0, :], normals


def _about_z(turn):
    """Angles without sign, and a function that turns points until the axes are z through the origin."""
    angle, axis, origin = turn
    z = axis * np.where(angle < 0, -1.0, 1.0)[..., None]
    z = z / np.linalg.norm(z, axis=-1, keepdims=True)
    least = np.argmin(np.abs(z), axis=-1)
    x = cross(z, np.eye(3)[least])
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    frame = np.stack([x, cross(z, x), z], axis=-2)

    def turned(points, more=0, free=False):
        """Points with `more` axes before their last; `free`: vectors, which have no place."""
        vectors = (..., *(None,) * more, slice(None))
        matrices = (*vectors, slice(None))
        at = 0 if free else origin[vectors]
        return np.einsum("...ij,...j->...i", frame[matrices], points - at)

    return np.abs(angle), turned


def _swing_of_lines(p, q):
    """Constant part, sine and cosine of the side of p, as it turns about z, and q. 2.5 is clockwise."""
    still = q[..., 0] * p[..., 4] + q[..., 4] * p[..., 0]
    sine = q[..., 1] * p[..., 2] - q[..., 2] * p[..., 1] + q[..., 5] * p[..., 3] - q[..., 3] * p[..., 5]
    cosine = q[..., 1] * p[..., 5] + q[..., 2] * p[..., 3] + q[..., 5] * p[..., 1] + q[..., 3] * p[..., 2]
    return still, -sine, cosine


def _stop(still, sine, cosine, outer_still, outer_sine, outer_cosine, behind, near):
    """Angle at which a turn must stop (inf: never), and the one at which what stops it is met."""
    reach = np.hypot(sine, cosine)
    top = np.mod(np.arctan2(sine, cosine), FULL)
    start = still + cosine
    in_zone = outer_still + outer_cosine <= 0
    sinks = (sine < 0) | ((sine == 0) & (cosine > 0))
    falls, leaves = falls_at(still, sine, cosine), falls_at(outer_still, outer_sine, outer_cosine)
    met = np.where(np.isnan(falls), np.mod(top + np.pi, FULL), falls)
    is_met = ~np.isnan(falls) | (still - reach <= near)
    # out of the zone: to its surface; within: out of it and back, or as far out as it goes
    stays = np.isnan(leaves) | ((leaves > np.pi) & (falls <= np.pi))
    stop = np.where(in_zone & stays, top, leaves)
    never_through = in_zone & ((still + reach < 0) | ((start < 0) & np.isnan(falls)))
    stop, met = np.where(never_through, top, stop), np.where(never_through, top, met)
    is_met = np.where(never_through, start >= -behind, is_met)
    deeper = in_zone & sinks
    stop = np.where(deeper, 0.0, stop)
    met = np.where(
        deeper, np.where(start < 0, 0.0, np.where(np.isnan(falls), np.mod(top + np.pi, FULL), falls)), met
    )
    is_met = np.where(
        deeper, np.where(start < 0, start >= -behind, ~np.isnan(falls) | (still - reach <= near)), is_met
    )
    is_met = is_met & ~(in_zone & ~deeper & (sine == 0))
    with np.errstate(invalid="ignore"):
        good = is_met & (stop <= np.pi)
    return np.where(good, stop, np.inf), np.where(good, met, 0.0)


def _part(stop, angle):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(angle > 0, np.minimum(stop / angle, 1), np.inf)
