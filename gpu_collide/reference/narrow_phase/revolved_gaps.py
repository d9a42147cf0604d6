"""The gaps of a pair with a cylinder or a cone, feature by feature, at one time.

The signed distance of a point is that of a polygon in the half-plane through the axis. Beside a mesh the gap
is the least over its vertices, its edges (convex along each) and its faces (below an end's lowest
point); of two frusta the least around either's rims, or between lines on both sides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase._intervals import PARALLEL
from gpu_collide.reference.narrow_phase.distance_functions import dot
from gpu_collide.reference.narrow_phase.s07_solve import TOUCH

__all__ = ["Frustum", "Revolved", "Touch"]

ZOOMS, AROUND = 13, 90


@dataclass
class Frustum:
    """Middles of both ends (..., 3), and their radii (2,)."""

    low: np.ndarray
    high: np.ndarray
    radii: Any

    @property
    def axis(self):
        way = self.high - self.low
        return way / np.linalg.norm(way)

    @property
    def length(self):
        return float(np.linalg.norm(self.high - self.low))

    def of(self, x):
        """Signed distances of points (n, 3), their nearest points, and the parts: 0 and 1 ends, 2 the
        side."""
        z = dot(x - self.low, self.axis)
        out = x - self.low - z[:, None] * self.axis
        rho = np.linalg.norm(out, axis=1)
        e = out / np.maximum(rho, 1e-300)[:, None]
        e[rho == 0] = _across(self.axis)
        (r0, r1), length = self.radii, self.length
        corners = np.array([[0.0, 0.0], [r0, 0.0], [r1, length], [0.0, length]])
        at, parts = np.stack([rho, z], axis=1), (0, 2, 1)
        feet, far, inside = [], [], np.ones(len(x), bool)
        for a, b in zip(corners[:3], corners[1:], strict=True):
            way = b - a
            u = np.clip((at - a) @ way / max(way @ way, 1e-300), 0.0, 1.0)
            feet.append(a + u[:, None] * way)
            far.append(np.linalg.norm(at - feet[-1], axis=1))
            inside &= way[0] * (at[:, 1] - a[1]) - way[1] * (at[:, 0] - a[0]) >= 0
        best = np.argmin(far, axis=0)
        foot, d = np.array(feet)[best, np.arange(len(x))], np.array(far)[best, np.arange(len(x))]
        part = np.array(parts)[best]
        # a foot on a rim is the end's
        for end, corner in ((0, corners[1]), (1, corners[2])):
            part[(np.abs(foot - corner).max(axis=1) <= 1e-12 * (length + r0 + r1)) & (part == 2)] = end
        place = self.low + foot[:, :1] * e + foot[:, 1:] * self.axis
        return np.where(inside, -d, d), place, part

    def lowest(self, n):
        """Lowest points along n of both ends, (2, 3): of a level end its middle."""
        out = n - (n @ self.axis) * self.axis
        sine = np.linalg.norm(out)
        m = out / sine if sine > PARALLEL else 0.0 * out
        return np.stack([self.low - self.radii[0] * m, self.high - self.radii[1] * m])


def _across(u):
    e = np.eye(3)[np.argmin(np.abs(u))]
    return cross(u, e) / np.linalg.norm(cross(u, e))


@dataclass
class Touch:
    """Nearest features of the other body and of the frusta, n of them: signed gap, its direction from A to B,
    points of both in A's frame; sorts "FEV", numbers, and parts of the frustum."""

    gap: np.ndarray
    on_m: np.ndarray
    on_k: np.ndarray
    sort: np.ndarray
    number: np.ndarray
    part: np.ndarray
    normal: np.ndarray

    def take(self, index):
        return Touch(**{name: value[index] for name, value in vars(self).items()})


def _joined(parts):
    return Touch(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in vars(parts[0])})


@dataclass
class Revolved:
    """A pair of which B, or else A, is a frustum, of radii `ends_a`, `ends_b` or None; ``distance`` is that
    of their surfaces."""

    motion: Any
    a: Any
    b: Any
    ends_a: Any
    ends_b: Any
    distance: float

    @property
    def of_b(self):
        return self.ends_b is not None

    def seen(self, side, s):
        """Points of a body at the time ``s`` as A is seen, and its edges and normals."""
        if side is self.a:
            return side.points, side.unit, side.normals
        when = np.full(len(side.points), s)
        carry, turn = self.motion.carry, self.motion.carry_direction
        unit, normals = (turn(x, np.full(len(x), s), -1.0) for x in (side.unit, side.normals))
        return carry(side.points, when, -1.0), unit, normals

    def frustum(self, side, s):
        points = self.seen(side, s)[0]
        return Frustum(points[0], points[1], self.ends_b if side is self.b else self.ends_a)

    def touch(self, s):
        """`Touch` of all features at the time ``s``, their gaps less the distance."""
        k, m = (self.b, self.a) if self.of_b else (self.a, self.b)
        f = self.frustum(k, s)
        if self.both:
            found = _two(self.frustum(m, s), f)
        else:
            points, unit, normals = self.seen(m, s)
            found = _beside(f, points, unit, normals, m)
        if not self.of_b:
            found.normal = -found.normal
        found.gap = found.gap - self.distance
        return found

    def gap(self, s):
        gap = float(self.touch(s).gap.min())
        return min(gap, self.pierced(s)) if self.both else gap

    @property
    def both(self):
        return self.ends_a is not None and self.ends_b is not None

    def pierced(self, s):
        """Of two frusta: how deep the axis of one is in the other, which no rim need be; inf, it is not."""
        e, f = self.frustum(self.a, s), self.frustum(self.b, s)
        least = np.inf
        for mine, other in ((e, f), (f, e)):
            low, way = mine.low, mine.high - mine.low
            u = _zoomed(
                lambda u, i, o=other, a=low, w=way: o.of(a + u[:, None] * w)[0], np.zeros(1), np.ones(1)
            )
            least = min(least, float(other.of(low + u[:, None] * way)[0][0]))
        return least if least < 0.0 else np.inf

    def columns(self):
        """What can be in touch: sort, number, and of a face the end of the frustum and its side."""
        if self.both:
            return [("both", 0, 0, 1.0)]
        m = self.a if self.of_b else self.b
        t = m.tables
        found = [("V", int(v), -1, 1.0) for v in np.flatnonzero((t.vertex_faces >= 0).any(axis=1))]
        found += [("E", int(e), -1, 1.0) for e in np.flatnonzero(t.length > 0.0)]
        sides = (1.0, -1.0) if m.tables.two_sided else (1.0,)
        for face in np.flatnonzero(m.normals.any(axis=1)):
            found += [("F", int(face), end, side) for end in (0, 1) for side in sides]
        return found

    def levels(self, columns, s):
        """The gaps of some at a time, less the distance; of faces the heights of ends above their planes."""
        if self.both:
            return np.array([self.gap(s)])
        k, m = (self.b, self.a) if self.of_b else (self.a, self.b)
        f = self.frustum(k, s)
        points, _, normals = self.seen(m, s)
        gaps = np.zeros(len(columns))
        pick = {sort: [i for i, column in enumerate(columns) if column[0] == sort] for sort in "VEF"}
        if pick["V"]:
            gaps[pick["V"]] = f.of(points[[columns[i][1] for i in pick["V"]]])[0]
        if pick["E"]:
            low, high = np.moveaxis(points[m.tables.edges[[columns[i][1] for i in pick["E"]]]], 1, 0)
            zeros = np.zeros(len(low))
            u = _zoomed(lambda u, i: f.of(low[i] + u[:, None] * (high - low)[i])[0], zeros, zeros + 1.0)
            gaps[pick["E"]] = np.min(
                [f.of(x)[0] for x in (low, high, low + u[:, None] * (high - low))], axis=0
            )
        for i in pick["F"]:
            _, number, end, side = columns[i]
            n = side * normals[number]
            gaps[i] = (f.lowest(n)[end] - points[m.tables.loops[number][0]]) @ n
        return gaps - self.distance

    def level(self, column, s):
        return float(self.levels([column], s)[0])

    def lower(self, number, end, side, s):
        """Is the other end lower above a face?"""
        return self.level(("F", number, 1 - end, side), s) < -TOUCH * self.motion.size


def _beside(f, points, unit, normals, m):
    """A frustum and all features of a mesh."""
    t = m.tables
    used = np.flatnonzero((t.vertex_faces >= 0).any(axis=1))
    parts = [_made(f, points[used], "V", used)]
    edges = np.flatnonzero(t.length > 0.0)
    low, high = points[t.edges[edges, 0]], points[t.edges[edges, 1]]
    zeros = np.zeros(len(edges))
    u = _zoomed(lambda u, i: f.of(low[i] + u[:, None] * (high - low)[i])[0], zeros, zeros + 1.0)
    inner = (u > 1e-9) & (u < 1 - 1e-9)
    along = _made(f, low + u[:, None] * (high - low), "E", edges)
    # the direction across the edge: what is left of it along it is noise
    n = along.normal - dot(along.normal, unit[edges])[:, None] * unit[edges]
    along.normal = n / np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None]
    # one that is as near all along is in contact at its ends
    ends = np.minimum(f.of(low)[0], f.of(high)[0])
    parts.append(along.take(inner & (along.gap < ends - 1e-14 * f.length)))
    middle = 0.5 * (f.low + f.high)
    for face in np.flatnonzero(normals.any(axis=1)):
        loop = points[t.loops[face][t.loops[face] >= 0]]
        n = normals[face]
        n = n if n @ (middle - loop[0]) >= 0 else -n
        ends = f.lowest(n)
        high = (ends - loop[0]) @ n
        for end in (0, 1):
            at = ends[end]
            if high[end] < 0:  # where the way from the middle goes through the plane
                share = (middle - loop[0]) @ n
                at = middle + share / (share - high[end]) * (at - middle)
            sides = np.roll(loop, -1, axis=0) - loop
            over = dot(cross(np.broadcast_to(normals[face], sides.shape), sides), at - loop)
            if (over >= -TOUCH * np.linalg.norm(sides, axis=1)).all():
                place = ends[end][None]
                numbers = np.array(["F"]), np.array([face]), np.array([end])
                parts.append(Touch(high[end : end + 1], place - high[end] * n, place, *numbers, n[None]))
    return _joined(parts)


def _zoomed(value, low, high):
    """Where convex functions ``value(u, i)``, i their numbers, are least between two arguments (n,)."""
    n, share = len(low), np.linspace(0.0, 1.0, 17)
    rows, i = np.arange(n), np.repeat(np.arange(n), 17)
    for _ in range(ZOOMS):
        u = low[:, None] + share * (high - low)[:, None]
        k = np.argmin(value(u.reshape(-1), i).reshape(n, 17), axis=1) if n else rows
        low, high = u[rows, np.maximum(k - 1, 0)], u[rows, np.minimum(k + 1, 16)]
    return 0.5 * (low + high)


def _made(f, x, sort, number):
    d, place, part = f.of(x)
    way = np.where((d < 0)[:, None], x - place, place - x)
    n = way / np.maximum(np.linalg.norm(way, axis=1), 1e-300)[:, None]
    return Touch(d, x, place, np.full(len(x), sort), number, part, n)


def _two(e, f):
    """Two frusta: places around the rims of each that are nearest to the other, and between their sides."""
    parts = []
    for mine, other, turned in ((e, f, False), (f, e, True)):
        u = _across(mine.axis)
        v = cross(mine.axis, u)
        for end in (0, 1):
            middle, r = (mine.low, mine.high)[end], mine.radii[end]

            def rim(angle, middle=middle, r=r, u=u, v=v):
                return middle + r * (np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v)

            angle = np.arange(AROUND) * (2 * np.pi / AROUND)
            d = other.of(rim(angle))[0]
            k = np.flatnonzero((d <= np.roll(d, 1)) & (d <= np.roll(d, -1)))
            low, high = angle[k] - 2 * np.pi / AROUND, angle[k] + 2 * np.pi / AROUND

            def far(angle, i, other=other, rim=rim):
                return other.of(rim(angle))[0]

            found = _made(other, rim(_zoomed(far, low, high)), "V", np.full(len(k), end))
            best = found.take([np.argmin(found.gap)])
            if turned:
                sort = np.where(best.part == 2, "E", "V")
                best = Touch(best.gap, best.on_k, best.on_m, sort, np.where(best.part == 2, 0, best.part),
                             np.full(1, end), -best.normal)  # fmt: skip
            parts.append(best)
    for n in _beside_both(e, f):
        p, q = e.lowest(-n), f.lowest(n)
        g, h, w = p[1] - p[0], q[1] - q[0], q[0] - p[0]
        c = cross(g, h)
        square = c @ c
        if square <= 1e-18 * (g @ g) * (h @ h):
            continue
        a, b = cross(w, h) @ c / square, cross(w, g) @ c / square
        if 0 <= a <= 1 and 0 <= b <= 1 and n @ (f.low + f.high - e.low - e.high) >= 0:
            x, y = p[0] + a * g, q[0] + b * h
            parts.append(Touch(np.array([(y - x) @ n]), x[None], y[None], np.array(["E"]), np.zeros(1, int),
                               np.full(1, 2), n[None]))  # fmt: skip
    return _joined(parts)


def _beside_both(e, f):
    """Directions that are across lines on both sides, out of the one and into the other."""
    level = [(x.radii[0] - x.radii[1]) / np.hypot(x.length, x.radii[0] - x.radii[1]) for x in (e, f)]
    c, k = e.axis @ f.axis, cross(e.axis, f.axis)
    if k @ k <= PARALLEL**2:
        return
    a, b = np.linalg.solve([[1, c], [c, 1]], [level[0], -level[1]])
    n = a * e.axis + b * f.axis
    rest = (1 - n @ n) / (k @ k)
    if rest >= 0:
        yield n + np.sqrt(rest) * k
        yield n - np.sqrt(rest) * k
