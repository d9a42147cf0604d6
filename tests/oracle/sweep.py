"""A ball on its straight path past polygons, in whole numbers: when does it first touch each of them?

A polygon counts as one set of points. Along a straight path the distance from such a set is a convex function
of time: it falls, then rises. So a ball that starts clear of a polygon touches it once, at the first time at
which the distance is R, and one that starts within R of it either comes nearer, and is at it at once, or
never will.

Coordinates are whole numbers over one scale, an ellipsoid's divided by its radii besides, so that it is a
ball of radius 1. Times are roots of quadratics: they are whole numbers over 2**PLACES, and what is below
2**-ZERO of its own terms counts as zero. Nothing here is shared with the library.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.oracle import exact
from tests.oracle.exact import Placed, add, cross, dot, sub, times, turn, whole

PLACES = 400
THIN = 10**10
ZERO = 200
FINE = 100  # so many binary places more than the coordinates need: tolerances are whole numbers too
FACE, EDGE, VERTEX = "face", "edge", "vertex"


class Surface:
    """What is read of a mesh: its polygons, cut into triangles, and what meets at each edge and vertex."""

    def __init__(self, mesh):
        numbers, self.shift = whole(mesh.vertices)
        self.points = exact.triples(numbers)
        self.two_sided = bool(getattr(mesh, "two_sided", False))
        start, flat = np.asarray(mesh.face_start).tolist(), np.asarray(mesh.face_vertices).tolist()
        self.loops = [flat[i:j] for i, j in zip(start, start[1:], strict=False)]
        self.triangles, self.of_face, self.flat = [], [], []
        for loop in self.loops:
            fan = [(loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1)]
            kept = [t for t in fan if any(self._normal(t))]
            self.flat.append(all(self._is_thin(t) for t in fan))  # a line, or a point
            first = len(self.triangles)
            self.triangles += kept or fan
            self.of_face.append(range(first, len(self.triangles)))
        self.sides = [{(min(e), max(e)) for e in zip(x, x[1:] + x[:1], strict=True)} for x in self.loops]
        self.face_of = [f for f, ts in enumerate(self.of_face) for _ in ts]
        self.at = {}  # edge (a < b) or vertex -> triangles there
        for k, t in enumerate(self.triangles):
            for a, b in zip(t, t[1:] + t[:1], strict=True):
                self.at.setdefault((min(a, b), max(a, b)), []).append(k)
                self.at.setdefault(a, []).append(k)

    def _normal(self, t):
        a, b, c = (self.points[i] for i in t)
        return cross(sub(b, a), sub(c, a))

    def _is_thin(self, t):
        """Is a triangle so thin that rounding of its corners decides which way it faces?"""
        a, b, c = (self.points[i] for i in t)
        n = cross(sub(b, a), sub(c, a))
        long = max(dot(e, e) for e in (sub(b, a), sub(c, b), sub(a, c)))
        return dot(n, n) * THIN**2 <= long * long

    def beside(self, face):
        """Faces that share a corner with one."""
        there = {self.face_of[k] for i in self.loops[face] for k in self.at[i]}
        return sorted(there - {face})


@dataclass
class Touch:
    """`time` (a fraction) of the first touch of a face; `front` is how far the centre is then in front of
    the foremost face there (behind all: below 0)."""

    time: Fraction
    face: int
    kind: str
    feature: object
    front: float


@dataclass
class Near:
    """Nearest point of a face to a place; float64 but for `point`, whole numbers over `den` and the scale."""

    point: tuple
    den: int
    square: Fraction  # of the distance over the scale, exactly
    away: float
    toward: np.ndarray  # from the point to the place
    nearer: int  # sign of how the distance falls along the path, exactly
    kind: str
    feature: object


class Pass:
    """One ball past one body. `points`, `c`, `v` and `r` are whole numbers over `scale`."""

    def __init__(self, surface, points, scale, c, v, r, two_sided=False):
        self.surface, self.points, self.scale = surface, points, scale
        self.c, self.v, self.r = c, v, r
        self.two_sided = two_sided or surface.two_sided
        self.normals = {}
        self.least = self.most = 1.0  # radii that an ellipsoid's lengths are over
        self.speed = _root_of(dot(v, v), scale * scale)
        top = max(map(abs, v)) or 1
        way = np.array([x / top for x in v])
        self.way = way / (np.linalg.norm(way) or 1.0)  # unit, or no way

    @classmethod
    def of(cls, surface, pose, carried, start, path, radius, turned=None, two_sided=False):
        """A ball, or (three radii) an ellipsoid whose axes are turned by the quaternion `turned`, past a
        body that is carried along meanwhile. All float64."""
        placed = Placed.at(surface, *pose)
        ball = np.ndim(radius) == 0
        numbers, shift = whole([*start, *path, *carried, *np.ravel(radius)])
        scale = math.lcm(placed.scale, 1 << shift) << FINE
        placed, up = placed.scaled(scale), scale >> shift
        c, v, u, r = (tuple(up * x for x in numbers[i : i + 3]) for i in (0, 3, 6, 9))
        v = sub(v, u)
        if ball:
            return cls(surface, placed.points, scale, c, v, r[0], two_sided)
        q, _ = whole((1, 0, 0, 0) if turned is None else turned)
        q = [x // math.gcd(*q) for x in q]
        back = (q[0], -q[1], -q[2], -q[3])
        product = r[0] * r[1] * r[2]
        square = sum(x * x for x in q)
        # x in the ellipsoid's axes, over its radii: over `square * product` where scale cancels
        out = [
            tuple(a * (product // b) for a, b in zip(x, r, strict=True))
            for x in turn(back, [c, v, *placed.points])
        ]
        one = square * product
        made = cls(surface, out[2:], one, out[0], out[1], one, two_sided)
        made.least, made.most = float(min(radius)), float(max(radius))
        return made

    # ---- places ----

    def place(self, time):
        """The centre at a time: whole numbers over `den` and the scale."""
        time = Fraction(time)
        return add(times(time.denominator, self.c), times(time.numerator, self.v)), time.denominator

    def normal(self, k):
        if k not in self.normals:
            a, b, c = (self.points[i] for i in self.surface.triangles[k])
            self.normals[k] = cross(sub(b, a), sub(c, a))
        return self.normals[k]

    def ahead(self, k, place, den):
        """How far a place is in front of triangle k."""
        n = self.normal(k)
        if not any(n):
            return -math.inf
        d = dot(n, sub(place, times(den, self.points[self.surface.triangles[k][0]])))
        return (1 if d > 0 else -1) * _root_of(d * d, dot(n, n) * (den * self.scale) ** 2)

    def front(self, feature, face, place, den):
        """The same, of the foremost face at a feature."""
        there = self.surface.at[feature] if feature is not None else self.surface.of_face[face]
        return max(self.ahead(k, place, den) for k in there)

    def near(self, face, place, den):
        """The `Near` of a face to a place."""
        best = None
        for k in self.surface.of_face[face]:
            t = self.surface.triangles[k]
            a, b, c = (times(den, self.points[i]) for i in t)
            if any(self.normal(k)):
                found = _in_triangle(place, (a, b, c), t)
            else:
                pairs = ((a, b, t[0], t[1]), (b, c, t[1], t[2]), (c, a, t[2], t[0]))
                found = min((_on_segment(place, *p) for p in pairs), key=lambda x: _square(place, x))
            square = _square(place, found)
            if best is None or square < best[0]:
                best = square, found
        (x, d, kind, feature) = best[1]
        if kind == EDGE and feature not in self.surface.sides[face]:
            kind, feature = FACE, None  # where a polygon is cut into triangles is no edge
        return self._near((x, d, kind, feature), place, den)

    def near_sides(self, face, place, den):
        """The `Near` of each side and each corner of a face to a place."""
        for i, j in self.surface.sides[face]:
            ends = times(den, self.points[i]), times(den, self.points[j])
            yield self._near(_on_segment(place, *ends, i, j), place, den)
        for i in self.surface.loops[face]:
            yield self._near((times(den, self.points[i]), 1, VERTEX, i), place, den)

    def _near(self, found, place, den):
        x, d, kind, feature = found
        toward = sub(times(d, place), x)
        over = d * den * self.scale
        square = Fraction(dot(toward, toward), (d * den) ** 2)
        apart = np.array([y / over for y in toward])
        falls = exact.sign(-dot(toward, self.v))
        away = _root_of(square.numerator, square.denominator * self.scale**2)
        return Near(x, d * den, square, away, apart, falls, kind, feature)

    def faces_near(self, margin):
        """Faces that the ball may come within `margin` of, by float64: a few too many."""
        s = self.scale
        relative = [sub(x, self.c) for x in self.points]
        p = np.array([[x / s for x in y] for y in relative])
        reach = self.r / s + margin
        out = []
        for f, loop in enumerate(self.surface.loops):
            q = p[loop]
            middle = (q.min(0) + q.max(0)) / 2
            radius = np.linalg.norm(q - middle, axis=1).max()
            along = min(max(middle @ self.way, 0.0), self.speed)
            away = np.linalg.norm(middle - along * self.way) - radius
            if away <= reach + 1e-6 * (reach + radius + np.linalg.norm(middle)):
                out.append(f)
        return out

    # ---- times ----

    def onto(self, face):
        """When the foot of the centre first is on a face: (since when, until when, how far ahead of its plane
        the centre is then, how directly it approaches that, how fast the foot comes over the border); the
        last three float64, shares of the way. None: never."""
        t = next((k for k in self.surface.of_face[face] if any(self.normal(k))), None)
        if t is None or not any(self.v):
            return None
        n, loop = self.normal(t), self.surface.loops[face]
        toward = dot(n, self.v)
        since, until, rate = Fraction(0), Fraction(1), 0.0
        for i, j in zip(loop, loop[1:] + loop[:1], strict=True):
            side = cross(n, sub(self.points[j], self.points[i]))
            at, inward = dot(side, sub(self.c, self.points[i])), dot(side, self.v)
            if inward == 0:
                if at < 0:
                    return None
                continue
            when = Fraction(-at, inward)
            if inward > 0 and when > since:
                since, rate = when, _root_of(inward * inward, dot(side, side) * dot(self.v, self.v))
            if inward < 0:
                until = min(until, when)
        if since > until:
            return None
        place, den = self.place(since)
        ahead = self.ahead(t, place, den)
        pace = _root_of(toward * toward, dot(n, n) * dot(self.v, self.v)) * exact.sign(toward)
        return since, until, ahead, pace if ahead < 0 else -pace, rate

    def first(self, face, r=None, c=None, since=0):
        """The first `Touch` of a face, from either side, by a ball that is clear of it at the start, or None.

        A point (r = 0) pierces a face, from its front if it has one only. From another start `c`; not before
        `since`.
        """
        r, c = self.r if r is None else r, self.c if c is None else c
        since = int(since * (1 << PLACES))
        v, found = self.v, []
        sq = dot(v, v)
        if sq == 0:
            return None
        seen = set()
        for k in self.surface.of_face[face]:
            t = self.surface.triangles[k]
            corners = [self.points[i] for i in t]
            n = self.normal(k)
            pace = -dot(n, v)
            if pace > 0 or (pace and (r or self.two_sided)):
                length = math.isqrt(dot(n, n) << (2 * PLACES))
                way = 1 if pace > 0 else -1
                d = way * dot(n, sub(c, corners[0]))
                time = ((d << PLACES) - r * length) // (way * pace)
                if time >= since and self._within(c, time, n, corners):
                    found.append((time, FACE, None, k))
            if r == 0:
                continue  # of a point the faces are enough
            for i in range(3):
                a, b = t[i], t[(i + 1) % 3]
                key = (min(a, b), max(a, b))
                if key not in seen:
                    seen.add(key)
                    time = _edge_time(c, v, sq, r, self.points[key[0]], self.points[key[1]])
                    if time is not None and time >= since:
                        found.append((time, EDGE, key, k))
                if a not in seen:
                    seen.add(a)
                    m = sub(c, corners[i])
                    time = _root(sq, dot(m, v), dot(m, m) - r * r)
                    if time is not None and time >= since:
                        found.append((time, VERTEX, a, k))
        if not found:
            return None
        time, kind, feature, k = min(found, key=lambda x: (x[0], x[1] != FACE))
        time = Fraction(time, 1 << PLACES)
        place, den = add(times(time.denominator, c), times(time.numerator, v)), time.denominator
        if kind == FACE:
            ahead = self.ahead(k, place, den)
        else:
            ahead = self.front(feature, face, place, den)
        return Touch(time, face, kind, feature, ahead)

    def _within(self, c, time, n, corners):
        x = add(tuple(y << PLACES for y in c), times(time, self.v))
        for i in range(3):
            a, e = corners[i], sub(corners[(i + 1) % 3], corners[i])
            to = sub(x, tuple(y << PLACES for y in a))
            side = dot(n, cross(e, to))
            if side < 0 and -side << ZERO > _norm1(n) * _norm1(e) * _norm1(to):
                return False
        return True


def _root_of(n, d):
    """The square root of a fraction, float64, whatever the size of its terms."""
    if n == 0:
        return 0.0
    shift = max(0, 256 - n.bit_length() + d.bit_length()) // 2
    return math.isqrt((n << (2 * shift)) // d) / (1 << shift)


def _norm1(a):
    return abs(a[0]) + abs(a[1]) + abs(a[2])


def _root(a, b, c):
    """The smaller root of a t^2 + 2 b t + c over 2**PLACES, or None; a > 0."""
    disc = b * b - a * c
    if disc < 0:
        return None
    return ((-b << PLACES) - math.isqrt(disc << (2 * PLACES))) // a


def _edge_time(c, v, sq, r, p, q):
    e, m = sub(q, p), sub(c, p)
    ee, ev, me, mv = dot(e, e), dot(e, v), dot(m, e), dot(m, v)
    a = ee * sq - ev * ev
    if a == 0:
        return None  # along the edge, or no edge: its vertices are met first
    time = _root(a, ee * mv - me * ev, ee * (dot(m, m) - r * r) - me * me)
    if time is None:
        return None
    along = (me << PLACES) + time * ev
    return time if 0 <= along <= ee << PLACES else None


def _square(p, found):
    x, d = found[0], found[1]
    to = sub(times(d, p), x)
    return Fraction(dot(to, to), d * d)


def _on_segment(p, a, b, i, j):
    e = sub(b, a)
    s, ee = dot(sub(p, a), e), dot(e, e)
    if s <= 0:
        return a, 1, VERTEX, i
    if s >= ee:
        return b, 1, VERTEX, j
    return add(times(ee, a), times(s, e)), ee, EDGE, (min(i, j), max(i, j))


def _in_triangle(p, corners, names):
    """Nearest point of a triangle with area: (whole numbers, over, kind, feature)."""
    a, b, c = corners
    n = cross(sub(b, a), sub(c, a))
    out = []
    for k in range(3):
        x, y = corners[k], corners[(k + 1) % 3]
        if dot(n, cross(sub(y, x), sub(p, x))) < 0:
            out.append(k)
    if not out:
        nn = dot(n, n)
        foot = sub(times(nn, p), times(dot(n, sub(p, a)), n))
        # a place over a side or a corner belongs to it
        for k in range(3):
            x, y = corners[k], corners[(k + 1) % 3]
            if dot(n, cross(sub(y, x), sub(p, x))) == 0:
                found = _on_segment(p, x, y, names[k], names[(k + 1) % 3])
                if _same(found, foot, nn):
                    return found
        return foot, nn, FACE, None
    # beyond more than one side any of the three may be nearest
    found = [
        _on_segment(p, corners[k], corners[(k + 1) % 3], names[k], names[(k + 1) % 3])
        for k in (out if len(out) == 1 else range(3))
    ]
    return min(found, key=lambda x: _square(p, x))


def _same(found, x, d):
    return times(d, found[0]) == times(found[1], x)
