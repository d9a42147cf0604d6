"""Judge of cylinders and cones against each other, round shapes and boxes.

Signed distances of convex bodies at dense times, on the motions of `round_shapes`. The distance of a point is
that of a polygon in the half-plane through the axis. It is convex, so along a segment it is least where
thirds end up; a box is nearest at one of its edges, or the frustum at the point that it is farthest along a
face's normal. Two frusta: the greatest gap between parallel planes, along directions between projections onto
one and the other by turns. Nothing here is a root of anybody's equations.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracle.round_shapes import Passing, back, point_box, segment_box, turn

COARSE, FINE = 24, 90


@dataclass
class Frustum:
    """n frusta along z about their own origins: half lengths (n,), radii (n, 2) of lower and upper ends."""

    half: np.ndarray
    radii: np.ndarray

    kind = "frustum"

    @property
    def radius(self):
        return np.zeros(len(self.half))


def spread(x, like):
    """(n, ...) parameters beside places (n, ..., 3)."""
    return x.reshape(len(x), *(1,) * (like.ndim - 2), *x.shape[1:])


def point_frustum(x, f):
    """Signed distance, below 0 inside, of x (n, ..., 3)."""
    half, radii = spread(f.half, x), spread(f.radii, x)
    at = np.stack([np.hypot(x[..., 0], x[..., 1]), x[..., 2]], axis=-1)
    r0, r1, zero = radii[..., 0] + 0 * half, radii[..., 1] + 0 * half, 0.0 * half
    corners = [np.stack(c, axis=-1) for c in ((zero, -half), (r0, -half), (r1, half), (zero, half))]
    best, inside = np.full(at.shape[:-1], np.inf), np.ones(at.shape[:-1], bool)
    for a, b in zip(corners[:3], corners[1:], strict=True):
        way, off = b - a, at - a
        square = np.maximum((way * way).sum(-1), 1e-300)
        u = np.clip((off * way).sum(-1) / square, 0.0, 1.0)
        gap = off - u[..., None] * way
        best = np.minimum(best, np.hypot(gap[..., 0], gap[..., 1]))
        inside &= way[..., 0] * off[..., 1] - way[..., 1] * off[..., 0] >= 0
    return np.where(inside, -best, best)


def least_along(f, a, b, thirds):
    """Of the segments from a to b."""
    low, high = np.zeros(a.shape[:-1]), np.ones(a.shape[:-1])
    for _ in range(thirds):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        d1, d2 = (point_frustum(a + u[..., None] * (b - a), f) for u in (one, two))
        left = d1 <= d2
        low, high = np.where(left, low, one), np.where(left, two, high)
    ends = np.minimum(point_frustum(a, f), point_frustum(b, f))
    return np.minimum(ends, point_frustum(a + (0.5 * (low + high))[..., None] * (b - a), f))


def height(f, n):
    """How far each reaches along the directions n (n, ..., 3), in its own axes."""
    half, radii = spread(f.half, n), spread(f.radii, n)
    across = np.hypot(n[..., 0], n[..., 1])
    return np.maximum(n[..., 2] * half + radii[..., 1] * across, -n[..., 2] * half + radii[..., 0] * across)


def frustum_box(f, pf, qf, half, pb, qb, thirds):
    """Gap of frusta and boxes (n, 3) at poses (n, ..., 3) and (n, ..., 4); negative inside, no depth."""
    place, q = pf - pb, back(qb)
    centre = turn(q, place)
    sides = spread(half, centre)
    best = np.full(centre.shape[:-1], np.inf)

    def seen(x):  # of the box, as the frustum sees it
        return turn(back(qf), turn(qb, x) - place)

    for k in range(3):
        i, j = [m for m in range(3) if m != k]
        for si in (-1, 1):
            for sj in (-1, 1):
                a = np.zeros_like(centre)
                a[..., i], a[..., j], a[..., k] = si * sides[..., i], sj * sides[..., j], -sides[..., k]
                b = a.copy()
                b[..., k] = sides[..., k]
                best = np.minimum(best, least_along(f, seen(a), seen(b), thirds))
        for sign in (-1, 1):
            n = np.zeros_like(centre)
            n[..., k] = sign
            down = turn(back(qf), turn(qb, -n))  # in the frustum's axes
            across = np.hypot(down[..., 0], down[..., 1])
            flat = across < 1e-12
            share = np.where(flat, 0.0, 1 / np.where(flat, 1.0, across))
            for end in (0, 1):
                r = spread(f.radii, centre)[..., end]
                x = np.stack(
                    [
                        r * down[..., 0] * share,
                        r * down[..., 1] * share,
                        (2 * end - 1) * spread(f.half, centre) + 0 * across,
                    ],
                    axis=-1,
                )
                best = np.minimum(best, point_box(turn(q, turn(qf, x) + place), sides))
    up = np.zeros_like(centre)
    up[..., 2] = spread(f.half, centre)
    axis = turn(q, turn(qf, up))
    return np.where(segment_box(centre - axis, centre + axis, sides) < 0, -1.0, best)


def projected(x, f):
    """The points of frusta that are nearest to x (n, ..., 3), in their own axes."""
    half, radii = spread(f.half, x), spread(f.radii, x)
    rho = np.hypot(x[..., 0], x[..., 1])
    at = np.stack([rho, x[..., 2]], axis=-1)
    r0, r1, zero = radii[..., 0] + 0 * rho, radii[..., 1] + 0 * rho, 0.0 * rho
    half = half + 0 * rho
    corners = [np.stack(c, axis=-1) for c in ((zero, -half), (r0, -half), (r1, half), (zero, half))]
    best, place, inside = np.full(rho.shape, np.inf), at, np.ones(rho.shape, bool)
    for a, b in zip(corners[:3], corners[1:], strict=True):
        way, off = b - a, at - a
        u = np.clip((off * way).sum(-1) / np.maximum((way * way).sum(-1), 1e-300), 0.0, 1.0)
        foot = a + u[..., None] * way
        d = np.hypot(*np.moveaxis(at - foot, -1, 0))
        place, best = np.where((d < best)[..., None], foot, place), np.minimum(best, d)
        inside &= way[..., 0] * off[..., 1] - way[..., 1] * off[..., 0] >= 0
    place = np.where(inside[..., None], at, place)
    share = np.where(rho > 0, place[..., 0] / np.where(rho > 0, rho, 1.0), 0.0)
    return np.stack([share * x[..., 0], share * x[..., 1], place[..., 1]], axis=-1)


def frustum_frustum(a, pa, qa, b, pb, qb, steps):
    """Greatest gap seen between parallel planes, which the true one is not below: along the way between
    projections onto one and the other by turns, and along the axes."""
    place, unit = pb - pa, max(a.half.max(), a.radii.max())

    def gap(n):
        return (n * place).sum(-1) - height(a, turn(back(qa), n)) - height(b, turn(back(qb), -n))

    up = np.zeros_like(pa)
    up[..., 2] = 1.0
    value = np.full(pa.shape[:-1], -np.inf)
    for axis in (turn(qa, up), turn(qb, up)):
        for sign in (1.0, -1.0):
            value = np.maximum(value, gap(sign * axis))
    x = place.copy()  # counted from A
    for _ in range(steps):
        p = turn(qa, projected(turn(back(qa), x), a))
        x = place + turn(qb, projected(turn(back(qb), p - place), b))
        way = x - p
        length = np.linalg.norm(way, axis=-1, keepdims=True)
        n = np.where(length > 1e-12 * unit, way / np.maximum(length, 1e-300), 0.0)
        value = np.maximum(value, np.where(length[..., 0] > 1e-12 * unit, gap(n), -np.inf))
    # no plane parts them, but they were not seen to overlap either: nobody knows
    return np.where((value < 0) & (length[..., 0] > 1e-9 * unit), 0.0, value)


def touching(a, pa, qa, b, pb, qb, x, n):
    """What proves that two frusta touch: the larger distance of the place x from either, and how far they go
    through the plane there across n, which leads from A to B."""
    off = np.maximum(
        *(np.abs(point_frustum(turn(back(q), x - p), f)) for f, p, q in ((a, pa, qa), (b, pb, qb)))
    )
    through = (n * (pb - pa)).sum(-1) - height(a, turn(back(qa), n)) - height(b, turn(back(qb), -n))
    return off, np.abs(through)


@dataclass
class FrustumPassing(Passing):
    """The same with a frustum as B, or of two as A as well. ``fine``: steps of searches."""

    fine: int = COARSE

    def gap(self, t):
        pa, qa = self.motion_a.at(t)
        pb, qb = self.motion_b.at(t)
        if self.a.kind == "frustum":
            return frustum_frustum(self.a, pa, qa, self.b, pb, qb, 4 * self.fine)
        if self.a.kind == "box":
            core = frustum_box(self.b, pb, qb, self.a.half, pa, qa, self.fine)
        else:
            ends = (pa, pa) if self.a.kind == "sphere" else self.a.ends(pa, qa)
            core = least_along(self.b, *(turn(back(qb), x - pb) for x in ends), self.fine)
        return core - self.a.radius.reshape(len(self.a.radius), *(1,) * (t.ndim - 1))


# ---- every contact -----------------------------------------------------------------------------------------


def of_rows(passing, rows):
    """Both shapes and motions of some pairs."""
    return [
        type(x)(**{name: v if isinstance(v, str) else v[rows] for name, v in vars(x).items()})
        for x in (passing.a, passing.b, passing.motion_a, passing.motion_b)
    ]


def sides_of(a):
    """Half sides (n, 3) of the box around each core: of a capsule its segment along z."""
    if a.kind == "capsule":
        return np.stack([0 * a.half, 0 * a.half, a.half], axis=1)
    return a.half if a.kind == "box" else np.zeros((len(a.radius), 3))


@dataclass
class Features:
    """The features of A, a box, a capsule or a sphere, beside the frustum B: signs of vertices (nv, 3) by
    which half sides are multiplied, edges (ne, 2) and normals of faces (nf, 3)."""

    passing: FrustumPassing
    signs: np.ndarray
    edges: np.ndarray
    normals: np.ndarray

    def gaps(self, sort, rows, numbers, t, thirds=COARSE):
        """Signed distances (n, ...) of features of ``sort`` "V" or "E" from the frustum, or heights of an end
        above faces "F", numbers two by two, less the radius; and nearest points on A's core as B sees."""
        a, b, ma, mb = of_rows(self.passing, rows)
        pa, qa = ma.at(t)
        pb, qb = mb.at(t)
        half = sides_of(a)

        def seen(x):
            return turn(back(qb), turn(qa, spread(x, pa) + 0 * pa) + pa - pb)

        if sort == "V":
            x = seen(self.signs[numbers] * half)
        elif sort == "E":
            ends = [seen(self.signs[self.edges[numbers, k]] * half) for k in (0, 1)]
            x = ends[0] + along_of(b, *ends, thirds)[..., None] * (ends[1] - ends[0])
        else:
            n = turn(back(qb), turn(qa, spread(self.normals[numbers // 2], pa) + 0 * pa))
            end, across = numbers % 2, np.hypot(n[..., 0], n[..., 1])
            r, z = spread(b.radii[np.arange(len(rows)), end], n), spread((2 * end - 1) * b.half, n)
            down = -r / np.maximum(across, 1e-300)
            x = np.stack([down * n[..., 0], down * n[..., 1], z + 0 * across], axis=-1)
            top = (
                turn(back(qb), pa - pb)
                + n * spread((np.abs(self.normals[numbers // 2]) * half).sum(-1), n)[..., None]
            )
            return ((x - top) * n).sum(-1) - spread(a.radius, x), x
        return point_frustum(x, b) - spread(a.radius, x), x

    def falls(self, times, halvings=50):
        """All falls of every feature to contact that `times` (T,) show: pairs, sorts, numbers, times, and how
        well each is a contact by its borders and cones, which is below 0 where it is none."""
        n, found = len(self.passing.b.half), []
        counts = {"V": len(self.signs), "E": len(self.edges), "F": 2 * len(self.normals)}
        for sort, count in counts.items():
            for number in range(count):
                numbers = np.full(n, number)
                at = np.broadcast_to(times, (n, len(times)))
                g = self.gaps(sort, np.arange(n), numbers, at)[0]
                row, k = np.nonzero((g[:, :-1] > 0) & (g[:, 1:] <= 0))
                if not len(row):
                    continue
                low, high = times[k], times[k + 1]
                for _ in range(halvings):
                    mid = 0.5 * (low + high)
                    above = self.gaps(sort, row, numbers[row], mid[:, None], FINE)[0][:, 0] > 0
                    low, high = np.where(above, mid, low), np.where(above, high, mid)
                good = self.good(sort, row, numbers[row], low)
                found.append((row, np.full(len(row), sort), numbers[row], low, good))
        empty = (np.zeros(0, int), np.zeros(0, "<U1"), np.zeros(0, int), np.zeros(0), np.zeros(0))
        return [np.concatenate(x) for x in zip(empty, *found, strict=True)]

    def good(self, sort, rows, numbers, t):
        """By the direction that it has a little earlier: at touch there is none beside a rim."""
        a, b, ma, mb = of_rows(self.passing, rows)
        t = np.maximum(t - 1e-5, 0.0) if sort != "F" else t
        (pa, qa), (pb, qb) = ma.at(t[:, None]), mb.at(t[:, None])
        _, x = self.gaps(sort, rows, numbers, t[:, None], FINE)
        half = sides_of(a)
        place = turn(back(qa), turn(qb, x) + pb - pa)[:, 0]
        if sort == "F":
            other = self.gaps(sort, rows, numbers ^ 1, t[:, None])[0][:, 0]
            inside = half - np.abs(place)
            inside[self.normals[numbers // 2] != 0] = np.inf
            return np.minimum(inside.min(axis=1), other)
        # the frustum's direction out, seen from A, by small steps
        step = 1e-9 * (b.half + b.radii.max(axis=1))[:, None]
        e = np.eye(3)
        slope = [
            point_frustum(x + spread(step * e[k], x), b) - point_frustum(x - spread(step * e[k], x), b)
            for k in range(3)
        ]
        n = -turn(back(qa), turn(qb, np.stack(slope, axis=-1) / (2 * step[:, None])))[:, 0]
        if sort == "V":
            leaving = np.array(
                [
                    [
                        self.edges[i].tolist().index(v) if v in self.edges[i] else -1
                        for i in range(len(self.edges))
                    ]
                    for v in range(len(self.signs))
                ]
            )
            best = np.full(len(rows), np.inf)
            for i in range(len(self.edges)):
                way = (self.signs[self.edges[i, 1]] - self.signs[self.edges[i, 0]]) * half
                end = leaving[numbers, i]
                way = np.where((end == 1)[:, None], way, -way)
                value = (way * n).sum(-1) / np.linalg.norm(way, axis=1)
                best = np.where(end >= 0, np.minimum(best, value), best)
            return best
        first, last = (self.signs[self.edges[numbers, k]] * half for k in (0, 1))
        way = last - first
        u = ((place - first) * way).sum(-1) / (way * way).sum(-1)
        across = first + last if a.kind == "box" else np.zeros_like(first)
        cone = np.where(across != 0, np.sign(across) * n, np.inf).min(axis=1)
        return np.minimum(cone, np.minimum(u, 1 - u))


def along_of(f, a, b, thirds):
    """Where segments from a to b are nearest, as a share."""
    low, high = np.zeros(a.shape[:-1]), np.ones(a.shape[:-1])
    for _ in range(thirds):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        d1, d2 = (point_frustum(a + u[..., None] * (b - a), f) for u in (one, two))
        left = d1 <= d2
        low, high = np.where(left, low, one), np.where(left, two, high)
    return 0.5 * (low + high)
