"""Bodies in whole numbers: what float64 coordinates, poses and motions mean exactly, without any rounding.

A float64 number is a whole number over a power of two, and the matrix of an unnormalised quaternion over its
squared length is rational. So the corners of a body at a pose are points with whole coordinates over one
common whole number, the scale; sides, crossings and distances of them are decided by whole numbers alone.
Nothing here is shared with the library, and nothing uses a line's six coordinates.
"""

import math
from fractions import Fraction

import numpy as np


def whole(values):
    """Whole numbers and a shift: each float64 of `values` is its number / 2**shift exactly."""
    ratios = [float(x).as_integer_ratio() for x in np.ravel(np.asarray(values, float))]
    shift = max((d.bit_length() for _, d in ratios), default=1) - 1
    return [n << (shift - d.bit_length() + 1) for n, d in ratios], shift


def triples(numbers):
    return [tuple(numbers[i : i + 3]) for i in range(0, len(numbers), 3)]


def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def times(k, a):
    return k * a[0], k * a[1], k * a[2]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def sign(x):
    return (x > 0) - (x < 0)


def turn(quat, points):
    """Points turned by the whole quaternion w, x, y, z, times its squared length."""
    w, u = quat[0], tuple(quat[1:])
    straight = w * w - dot(u, u)
    out = []
    for p in points:
        along, across = 2 * dot(u, p), cross(u, p)
        out.append(tuple(straight * p[i] + along * u[i] + 2 * w * across[i] for i in range(3)))
    return out


class Topology:
    """Faces of a mesh cut into triangles, and its edges: what the judge reads of a mesh, made once.

    Polygons are cut into fans. If a polygon's corners do not lie exactly in one plane, the cuts are
    edges like any other: the surface that is judged is the one of the triangles.
    """

    def __init__(self, mesh):
        pieces = [m for m in getattr(mesh, "pieces", None) or () if m is not mesh]
        numbers, self.shift = whole(np.concatenate([np.asarray(m.vertices, float) for m in (mesh, *pieces)]))
        self.points = triples(numbers)  # of the mesh, then of its pieces
        self.two_sided = bool(getattr(mesh, "two_sided", False))
        triangles, edges = [], {}
        start = np.asarray(mesh.face_start).tolist()
        flat = np.asarray(mesh.face_vertices).tolist()
        for i, j in zip(start, start[1:], strict=False):
            loop = flat[i:j]
            if len(loop) < 3:
                continue  # a point
            fan = [(loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1)]
            # a polygon may have corners within a straight side: of three such no triangle is made
            triangles += [t for t in fan if any(_normal(self.points, t))]
            for a, b in zip(loop, loop[1:] + loop[:1], strict=True):
                key = (min(a, b), max(a, b))
                edges.setdefault(key, []).append(a < b)
            if not self._planar(loop):
                for k in range(2, len(loop) - 1):
                    edges[min(loop[0], loop[k]), max(loop[0], loop[k])] = [True, False]
        self.triangles = np.array(triangles, int).reshape(-1, 3)
        self.edges = np.array(sorted(edges), int).reshape(-1, 2)
        self.closed = bool(triangles) and all(2 * sum(walk) == len(walk) for walk in edges.values())
        six = sum(dot(self.points[a], cross(self.points[b], self.points[c])) for a, b, c in triangles)
        self.solid = self.closed and six > 0  # a closed one with its winding reversed is a room
        used = sorted({i for t in triangles for i in t})
        self.vertices = np.array(used or range(len(mesh.vertices)), int)  # of a point: the point itself
        self.pieces = None
        if getattr(mesh, "pieces", None):
            first, self.pieces = len(mesh.vertices), []
            for piece in mesh.pieces:
                own = piece is mesh
                self.pieces.append(Piece(piece, 0 if own else first, self.points))
                first += 0 if own else len(piece.vertices)

    def _planar(self, loop):
        p = [self.points[i] for i in loop]
        if len(p) == 3:
            return True
        normal = next(
            (n for k in range(2, len(p)) if any(n := cross(sub(p[1], p[0]), sub(p[k], p[0])))), None
        )
        return normal is None or all(dot(normal, sub(x, p[0])) == 0 for x in p[3:])


class Piece:
    """A convex part of a solid: its corners, and the triangles and edges that give all different
    directions."""

    def __init__(self, mesh, first, points):
        start, flat = np.asarray(mesh.face_start).tolist(), np.asarray(mesh.face_vertices).tolist()
        loops = [[first + k for k in flat[i:j]] for i, j in zip(start, start[1:], strict=False)]
        self.corners = sorted({k for loop in loops for k in loop})
        edges = {(min(e), max(e)) for x in loops for e in zip(x, x[1:] + x[:1], strict=True)}
        triangles = [tuple(loop[:3]) for loop in loops]
        self.triangles = _different(triangles, lambda t: _normal(points, t))
        self.edges = _different(sorted(edges), lambda e: sub(points[e[1]], points[e[0]]))


def _normal(points, triangle):
    a, b, c = (points[i] for i in triangle)
    return cross(sub(b, a), sub(c, a))


def _different(things, direction):
    kept = []
    for thing in things:
        d = direction(thing)
        if any(d) and all(any(cross(d, other)) for _, other in kept):
            kept.append((thing, d))
    return [thing for thing, _ in kept]


class Placed:
    """A body at a pose: `points[i] / scale` is its corner i in the world, exactly."""

    def __init__(self, topology, points, scale):
        self.topology, self.points, self.scale = topology, points, scale

    @classmethod
    def at(cls, topology, position, quat=(1.0, 0.0, 0.0, 0.0)):
        q, _ = whole(quat)
        common = math.gcd(*q)
        q = [x // common for x in q]
        p, shift = whole(position)
        square = sum(x * x for x in q)
        if square == 0:
            raise ValueError("quat: all zero")
        top = max(shift, topology.shift)
        offset = times(square << (top - shift), p)
        turned = turn(q, topology.points)
        points = [add(times(1 << (top - topology.shift), x), offset) for x in turned]
        return cls(topology, points, square << top)

    def scaled(self, scale):
        """The same with another scale, a multiple of this one's."""
        k = scale // self.scale
        return self if k == 1 else Placed(self.topology, [times(k, x) for x in self.points], scale)

    def moved(self, vector, share):
        """Carried by `share` (a fraction) of `vector` (a whole triple over this scale)."""
        share = Fraction(share)
        n, d = share.numerator, share.denominator
        step = times(n, vector)
        return Placed(self.topology, [add(times(d, x), step) for x in self.points], self.scale * d)

    def turned(self, axis, origin, s):
        """Turned about the line through `origin` (whole, over this scale) along `axis` (whole): by the angle
        whose half has the tangent s |axis|, s a fraction."""
        s = Fraction(s)
        n, d = s.numerator, s.denominator
        quat = (d, *times(n, axis))
        square = dot(quat[1:], quat[1:]) + d * d
        turned = turn(quat, [sub(x, origin) for x in self.points])
        moved = times(square, origin)
        return Placed(self.topology, [add(x, moved) for x in turned], self.scale * square)


def together(*placed, also=1):
    """The bodies over one common scale, a multiple of `also`."""
    scale = math.lcm(also, *(p.scale for p in placed))
    return [p.scaled(scale) for p in placed]


def floats(points, scale, origin):
    """(n, 3) float64 of points less `origin`, each correctly rounded."""
    return np.array([[(x - o) / scale for x, o in zip(p, origin, strict=True)] for p in points]).reshape(
        -1, 3
    )
