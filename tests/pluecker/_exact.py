"""Judges of the primitives that share no formula with them: fractions for ways, fifty digits for turns."""

from fractions import Fraction

import mpmath as mp
import numpy as np

DIGITS = 50


def exact(rows):
    """Nested lists of exact fractions."""
    if np.ndim(rows) == 0:
        return Fraction(float(rows))
    return [exact(row) for row in rows]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def sub(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def along(a, v, f):
    return [x + y * f for x, y in zip(a, v, strict=True)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def vertex_polygon(vertex, vector, polygon):
    """The fraction at which a vertex meets the front of a closed convex polygon, or None."""
    x, v, corners = exact(vertex), exact(vector), exact(polygon)
    normal = [0, 0, 0]
    for b, c in zip(corners[1:], corners[2:], strict=False):
        normal = along(normal, cross(sub(b, corners[0]), sub(c, corners[0])), 1)
    approach, distance = -dot(normal, v), dot(normal, sub(x, corners[0]))
    if not (approach > 0 and 0 <= distance <= approach):
        return None
    f = distance / approach
    at = along(x, v, f)
    for c, d in zip(corners, corners[1:] + corners[:1], strict=True):
        if dot(cross(sub(d, c), sub(at, c)), normal) < 0:
            return None
    return f


def edge_edge(edge, vector, still, edge_normals=(), still_normals=()):
    """The fraction at which two edges meet so that neither goes into the other's faces, or None."""
    (a, b), v, (c, d) = exact(edge), exact(vector), exact(still)
    u, w = sub(b, a), sub(d, c)
    out = cross(u, w)
    if not any(out) or not dot(out, v):
        return None
    f = dot(sub(c, a), out) / dot(v, out)
    square = dot(out, out)
    between = sub(c, along(a, v, f))
    s, t = dot(cross(between, w), out) / square, dot(cross(between, u), out) / square
    if not (0 <= f <= 1 and 0 <= s <= 1 and 0 <= t <= 1):
        return None
    if dot(out, v) > 0:  # outwards is against the motion
        out = sub([0, 0, 0], out)
    # within its face, and away from the edge, no wedge reaches beyond the plane of contact
    for along_edge, normals, way in ((w, still_normals, 1), (u, edge_normals, -1)):
        for k, n in enumerate(exact(normals)):
            into = cross(n, along_edge) if k == 0 else cross(along_edge, n)
            if dot(into, out) * way > 0:
                return None
    return f


def number(rows):
    """Nested lists of mpmath's numbers."""
    if np.ndim(rows) == 0:
        return mp.mpf(float(rows))
    return [number(row) for row in rows]


def length(a):
    return mp.sqrt(dot(a, a))


def turned(x, axis, origin, angle):
    """A point after a right-handed turn, by Rodrigues."""
    k, p = [t / length(axis) for t in axis], sub(x, origin)
    ahead, still = cross(k, p), dot(k, p)
    c, s = mp.cos(angle), mp.sin(angle)
    return [o + q * c + t * s + z * still * (1 - c) for o, q, t, z in zip(origin, p, ahead, k, strict=True)]


class Swing:
    """v0 + v1 sin + v2 cos through the values of a function at 0, a quarter and half a turn."""

    def __init__(self, f):
        first, quarter, last = f(mp.mpf(0)), f(mp.pi / 2), f(mp.pi)
        self.still, self.cosine = (first + last) / 2, (first - last) / 2
        self.sine = quarter - self.still
        self.reach = mp.hypot(self.sine, self.cosine)

    def falls(self, sign=1):
        """The angle in [0, 2 pi) at which sign times it goes from above zero to below, or None."""
        if self.reach == 0 or abs(self.still) > self.reach:
            return None
        top = mp.atan2(sign * self.sine, sign * self.cosine)
        return (top + mp.acos(-sign * self.still / self.reach)) % (2 * mp.pi)


class VertexTurn:
    """A vertex that turns, and a polygon."""

    def __init__(self, vertex, angle, axis, origin, polygon):
        x, axis, self.origin = number(vertex), number(axis), number(origin)
        self.angle, self.polygon = abs(number(angle)), number(polygon)
        self.axis = [-t for t in axis] if angle < 0 else axis
        self.at = lambda angle: turned(x, self.axis, self.origin, angle)
        first = self.polygon[0]
        normal = cross(sub(self.polygon[1], first), sub(self.polygon[2], first))
        size = length(normal)
        self.normal = [t / size for t in normal] if size else normal
        self.swing = Swing(self.distance)

    def distance(self, angle):
        return dot(self.normal, sub(self.at(angle), self.polygon[0]))

    def inside(self, angle):
        """How far inside the polygon's borders it is, in its plane."""
        x, sides = self.at(angle), []
        for c, d in zip(self.polygon, self.polygon[1:] + self.polygon[:1], strict=True):
            w = sub(d, c)
            sides.append(dot(cross(self.normal, w), sub(x, c)) / length(w) if any(w) else mp.mpf(0))
        return min(sides)


class EdgeTurn:
    """An edge that turns, and a still one."""

    def __init__(self, edge, angle, axis, origin, still):
        (a, b), (self.c, self.d) = number(edge), number(still)
        axis, origin = number(axis), number(origin)
        self.angle = abs(number(angle))
        axis = [-t for t in axis] if angle < 0 else axis
        self.w = sub(self.d, self.c)
        self.at = lambda angle: (turned(a, axis, origin, angle), turned(b, axis, origin, angle))
        self.swing = Swing(self.side)

    def side(self, angle):
        a, b = self.at(angle)
        return dot(sub(self.c, a), cross(sub(b, a), self.w))

    def look(self, angle):
        """Distance of the lines, with its sign, and how far inside both edges that is, as a share."""
        a, b = self.at(angle)
        u = sub(b, a)
        out = cross(u, self.w)
        square, between = dot(out, out), sub(self.c, a)
        if not square:
            return mp.inf, -mp.inf
        s, t = dot(cross(between, self.w), out) / square, dot(cross(between, u), out) / square
        return dot(between, out) / mp.sqrt(square), min(s, 1 - s, t, 1 - t)
