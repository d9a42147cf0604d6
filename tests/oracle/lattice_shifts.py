"""All contacts of whole-number shapes on whole-number translations, in whole numbers: no rounding at all.

B, its corners turned by a whole matrix, starts at the whole vector p in A's frame and moves by the whole
vector d. Every vertex meets every plane, and every edge every edge, at a time that is a fraction; whether it
lies in the step, in the face, on a border, and which way faces look, are signs of whole numbers. What lies in
a plane of the other all the time has an interval, whose ends are fractions. Fractions become float64 by one
division, so equal ones stay equal and different ones, whose denominators are below a million, different.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracle.lattice_topology import PAD, Topology

FV, VF, EE = 0, 1, 2
BLOCK = 2_000_000  # feature pairs at a time


@dataclass
class Atoms:
    """Meetings of features that count: one row each, arrays of one length."""

    pair: np.ndarray
    kind: np.ndarray
    a: np.ndarray
    b: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    lasts: np.ndarray  # lies in the other's plane all the time, if only for a moment in the face
    margin: np.ndarray  # (rows, 3) on a border at begin, all the time between, at end
    place: np.ndarray  # (rows, 2, 3) of the meeting in A's frame, at begin and end
    properness: np.ndarray  # by the formula of plain surroundings
    sure: np.ndarray  # whether its sign is the formula's
    speed: np.ndarray  # normal . d
    normal: np.ndarray  # of face contacts from A to B; of edges one of two

    @staticmethod
    def join(parts):
        return Atoms(*(np.concatenate([getattr(p, k) for p in parts]) for k in Atoms.__dataclass_fields__))

    def take(self, rows):
        return Atoms(*(getattr(self, k)[rows] for k in Atoms.__dataclass_fields__))


def dot(a, b):
    return (a * b).sum(-1)


def in_plane(low, high, s0, s1):
    """Intervals of [0, 1] in which all of low <= s0 + s1 t <= high hold; (rows, k) each, high may be None.

    Returns begin, end (begin > end where there is none) and whether a bound holds exactly all the time."""
    begin, end = np.zeros(len(s0)), np.ones(len(s0))
    always = np.zeros(len(s0), bool)
    for bound, sense in ((low, 1), (high, -1)):
        if bound is None:
            continue
        room, slope = sense * (s0 - bound), sense * s1  # room + slope t >= 0
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(slope != 0, -room / slope, 0.0)
        begin = np.maximum(begin, np.where(slope > 0, at, -np.inf).max(1))
        end = np.minimum(end, np.where(slope < 0, at, np.inf).min(1))
        never = ((slope == 0) & (room < 0)).any(1)
        end = np.where(never, -1.0, end)
        always |= ((slope == 0) & (room == 0) & np.ones_like(s0, bool)).any(1)
    return begin, end, always


def on_bound(low, high, s0, s1, t):
    """Whether one of s0 + s1 t is at its bound at the times t (floats of fractions), by their spacing."""
    value = s0 + s1 * t[:, None]
    out = np.zeros(len(t), bool)
    for bound in (low, high):
        if bound is not None:
            out |= (np.abs(value - bound) < 1e-9 * (1 + np.abs(s0) + np.abs(s1))).any(1)
    return out


def vertices_on_faces(one, two, p, d):
    """Rows (pair, face of one, vertex of two, ...) of meetings; two starts at p and moves by d."""
    den = dot(one.normal[None], d[:, None])[:, :, None]  # (n, F, 1)
    reach = dot(one.normal, one.corner)  # (F,)
    gap = reach[:, None] - one.normal @ two.v.T  # (F, V)
    num = gap[None] - dot(one.normal[None], p[:, None])[:, :, None]  # (n, F, V)
    moving = den != 0
    meets = np.where(moving, (num * np.sign(den) >= 0) & (np.abs(num) <= np.abs(den)), num == 0)
    if not one.two_sided:
        meets &= den <= 0
    i, f, v = np.nonzero(meets)
    keep = two.facing(two.vertex_faces, v, d[i], 1) & two.has_spoke[v, 0]
    i, f, v = i[keep], f[keep], v[keep]
    num, den = num[i, f, v], den[i, f, 0]
    base = two.v[v] + p[i]
    s0 = (one.side[f] * base[:, None]).sum(-1) - one.side_at[f]
    s1 = (one.side[f] * d[i][:, None]).sum(-1)
    real = one.side[f].any(-1)
    lasts = den == 0
    sign = np.where(den < 0, -1, 1)
    g = np.where(real, sign[:, None] * (s0 * den[:, None] + s1 * num[:, None]), 1)
    inside = (g >= 0).all(1)
    t = np.where(lasts, 0.0, num / np.where(lasts, 1, den))
    begin, end, always = in_plane(np.where(real, 0, -1), None, np.where(real, s0, 0), np.where(real, s1, 0))
    always &= (real & (s0 == 0) & (s1 == 0)).any(1)
    margin_now = (g == 0).any(1)
    ends = [
        np.where(
            lasts,
            (real & (np.abs(s0 + s1 * x[:, None]) < 1e-9 * (1 + np.abs(s0) + np.abs(s1)))).any(1),
            margin_now,
        )
        for x in (begin, end)
    ]
    ok = np.where(lasts, begin <= end, inside)
    begin, end = np.where(lasts, begin, t), np.where(lasts, end, t)
    margin = np.stack((ends[0], np.where(lasts, always, margin_now), ends[1]), 1)
    normal = one.unit_normal[f]
    rise = (two.spokes[v] * normal[:, None]).sum(-1)
    if one.two_sided:  # the normal is against the approach, else the more proper one
        away = np.where(two.has_spoke[v], -rise, np.inf).min(1) > np.where(
            two.has_spoke[v], rise, np.inf
        ).min(1)
        sense = np.where(np.where(lasts, away, den > 0), -1, 1)
        normal, rise = normal * sense[:, None], rise * sense[:, None]
    spokes = np.where(two.has_spoke[v], rise, np.inf)
    where = np.stack([base + x[:, None] * d[i] for x in (begin, end)], 1)
    return tuple(
        x[ok] for x in (i, f, v, begin, end, lasts, margin, where, spokes.min(1), two.plain_vertex[v], normal)
    )


def edges_on_edges(a, b, p, d):
    """Rows (pair, edge of a, edge of b, ...) of meetings."""
    across = np.cross(a.along[:, None], b.along[None])  # (EA, EB, 3)
    square = dot(across, across)
    apart = dot(across, a.origin[:, None] - b.origin[None])
    den = np.einsum("abk,nk->nab", across, d)
    num = apart[None] - np.einsum("abk,nk->nab", across, p)
    meets = np.where(den != 0, (num * np.sign(den) >= 0) & (np.abs(num) <= np.abs(den)), num == 0)
    meets &= (square > 0)[None]
    i, x, y = np.nonzero(meets)
    keep = a.facing(a.edge_faces, x, d[i], -1) & b.facing(b.edge_faces, y, d[i], 1)
    i, x, y = i[keep], x[keep], y[keep]
    num, den, n, sq = num[i, x, y], den[i, x, y], across[x, y], square[x, y]
    base = b.origin[y] + p[i] - a.origin[x]
    s0 = np.stack((dot(np.cross(base, b.along[y]), n), dot(np.cross(base, a.along[x]), n)), 1)
    s1 = np.stack((dot(np.cross(d[i], b.along[y]), n), dot(np.cross(d[i], a.along[x]), n)), 1)
    lasts = den == 0
    sign = np.where(den < 0, -1, 1)
    g = sign[:, None] * (s0 * den[:, None] + s1 * num[:, None])
    top = (sq * np.abs(den))[:, None]
    inside = ((g >= 0) & (g <= top)).all(1)
    margin_now = ((g == 0) | (g == top)).any(1)
    full = np.repeat(sq[:, None], 2, 1)
    begin, end, always = in_plane(np.zeros_like(full), full, s0, s1)
    t = np.where(lasts, 0.0, num / np.where(lasts, 1, den))
    ends = [np.where(lasts, on_bound(0 * full, full, s0, s1, z), margin_now) for z in (begin, end)]
    ok = np.where(lasts, begin <= end, inside)
    begin, end = np.where(lasts, begin, t), np.where(lasts, end, t)
    margin = np.stack((ends[0], np.where(lasts, always, margin_now), ends[1]), 1)
    where = []
    for z in (begin, end):
        share = (s0[:, 0] + s1[:, 0] * z) / sq
        where.append(a.origin[x] + share[:, None] * a.along[x])
    normal = n / np.sqrt(sq)[:, None]
    value, normal = edge_properness(a, b, x, y, normal, dot(normal, d[i]))
    return tuple(
        z[ok]
        for z in (
            i,
            x,
            y,
            begin,
            end,
            lasts,
            margin,
            np.stack(where, 1),
            value,
            edge_sign(a, b, x, y),
            normal,
        )
    )


def edge_sign(a, b, x, y):
    """1 where the formula's sign holds, -1 where an edge is reflex, 0 where it is not looked at."""
    one, two = a.plain[x], b.plain[y]
    return np.where((one == 0) | (two == 0), 0, np.minimum(one, two))


def edge_properness(a, b, x, y, normal, speed, lean_b=None):
    """Formula (7) with the better sign of the normal, and that normal; of equals the approaching one."""
    lean_b = b.lean[y] if lean_b is None else lean_b
    has_a, has_b = a.edge_faces[x] != PAD, b.edge_faces[y] != PAD
    of_a = (a.lean[x] * normal[:, None]).sum(-1)
    of_b = (lean_b * normal[:, None]).sum(-1)

    def least(sense):
        return np.minimum(
            np.where(has_a, -sense * of_a, np.inf).min(1), np.where(has_b, sense * of_b, np.inf).min(1)
        )

    plus, minus = least(1), least(-1)
    tied = np.abs(plus - minus) < 1e-9
    if a.two_sided or b.two_sided:  # the normal is against the approach
        tied |= np.abs(speed) > 1e-9
    sense = np.where(np.where(tied, speed <= 0, plus > minus), 1, -1)
    return np.where(sense > 0, plus, minus), normal * sense[:, None]


def contacts(shape_a, shape_b, turn, p, d):
    """Atoms of n motions of shape_b, turned by a whole matrix, beside shape_a; p and d are (n, 3), whole."""
    a, b = Topology(shape_a), Topology(shape_b, turn)
    step = max(1, BLOCK // (len(a.edges) * len(b.edges) + 1))
    parts = []
    for first in range(0, len(p), step):
        q, e = p[first : first + step], d[first : first + step]
        for kind, rows in (
            (FV, vertices_on_faces(a, b, q, e)),
            (VF, vertices_on_faces(b, a, -q, -e)),
            (EE, edges_on_edges(a, b, q, e)),
        ):
            i, one, two, begin, end, lasts, margin, place, value, sure, normal = rows
            if kind == VF:
                one, two, normal = two, one, -normal
                place = place + q[i][:, None] + np.stack((begin, end), 1)[..., None] * e[i][:, None]
            kinds = np.full(len(i), kind)
            parts.append(
                Atoms(
                    first + i, kinds, one, two, begin, end, lasts, margin, place, value, sure.astype(int),
                    dot(normal, e[i]), normal,
                )
            )  # fmt: skip
    return Atoms.join(parts)
