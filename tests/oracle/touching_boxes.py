"""Contacts of two boxes that spin and slide in exact touch, by 50 digits: which are told, of which moments.

A judge that shares nothing with kernels or reference. Bodies move as docs/guide/turning.md has it, in the
world; all feature pairs are looked at; what is told follows docs/conventions.md (facing, properness, contacts
that last, coincidences) without any tolerance: what is zero is zero to 25 digits. Sines and cosines are
mpmath's, the rest is decimal.
"""

import decimal
from dataclasses import dataclass
from decimal import Decimal

import mpmath
import numpy as np

import gpu_collide as gc

DIGITS = 50
decimal.getcontext().prec = DIGITS
ZERO = Decimal("1e-25")
# At so many times a function is looked at before its roots are refined; at so many it has to vanish to
# vanish at all.
SAMPLES, NODES = 64, 41
# Least time that is told from another, and distance of two places: of whole numbers these are zero or large.
SAME_TIME, SAME_PLACE = Decimal("1e-8"), Decimal("1e-7")
FV, VF, EE = 0, 1, 2


@dataclass(frozen=True)
class Scene:
    """Boxes of ``sizes`` centred on their origins, B's at ``place``; velocities ``ways``; ``spins`` (x, y,
    z), of which one is not zero at most, in quarter turns or radians a step, about points
    ``pivots`` of the bodies."""

    sizes: tuple
    place: tuple
    ways: tuple
    spins: tuple
    pivots: tuple
    quarters: bool = True

    def bodies(self):
        unit = np.pi / 2 if self.quarters else 1.0
        poses = gc.Poses.from_quat_wxyz([(0, 0, 0), self.place], [(1, 0, 0, 0)] * 2)
        meshes = [gc.shapes.box(size) for size in self.sizes]
        return gc.Bodies.from_velocities(
            meshes, [0, 1], poses, self.ways, np.array(self.spins) * unit, center=list(self.pivots)
        )


@dataclass(frozen=True)
class Contact:
    kind: int
    a: int
    b: int
    start: Decimal
    end: Decimal
    lasts: bool
    properness: float = 0.0


def vec(x):
    return np.array([Decimal(float(v)) for v in x], dtype=object)


def cross(a, b):
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object
    )


def length(x):
    return (x @ x).sqrt()


class Body:
    """A box in the world: places, directions and velocities at a time."""

    def __init__(self, mesh, place, way, spin, pivot, quarters):
        self.mesh = mesh
        self.place, self.way, self.pivot = vec(place), vec(way), vec(pivot)
        with mpmath.workdps(DIGITS + 5):
            unit = Decimal(mpmath.nstr(mpmath.pi / 2 if quarters else mpmath.mpf(1), DIGITS + 5))
        self.rate = vec(spin) * unit
        self.points = [vec(x) for x in mesh.vertices]
        self.loops = [list(map(int, f)) for f in mesh.faces]
        self.edges = [tuple(map(int, e)) for e in mesh.edges]
        self.normals = [vec(n[:3]) for n in np.round(mesh.face_planes)]
        self.edge_faces = [
            [f for f, loop in enumerate(self.loops) if set(e) <= set(loop)] for e in self.edges
        ]
        self.vertex_faces = [[f for f, loop in enumerate(self.loops) if v in loop] for v in range(8)]
        self.vertex_edges = [[e for e in self.edges if v in e] for v in range(8)]
        self._turns, self._seen = {}, {}

    def turned(self, x, t):
        k = next((i for i in range(3) if self.rate[i] != 0), None)
        if k is None:
            return x
        if t not in self._turns:
            with mpmath.workdps(DIGITS + 5):
                angle = mpmath.mpf(str(self.rate[k] * t))
                self._turns[t] = [
                    Decimal(mpmath.nstr(f(angle), DIGITS + 5)) for f in (mpmath.cos, mpmath.sin)
                ]
        c, s = self._turns[t]
        i, j = (k + 1) % 3, (k + 2) % 3
        out = np.array(x, dtype=object)
        out[i], out[j] = c * x[i] - s * x[j], s * x[i] + c * x[j]
        return out

    def at(self, x, t):
        return self.place + self.way * t + self.pivot + self.turned(x - self.pivot, t)

    def vertex(self, v, t):
        """A vertex and its velocity."""
        if (v, t) not in self._seen:
            x = self.at(self.points[v], t)
            self._seen[v, t] = x, self.velocity(x, t)
        return self._seen[v, t]

    def back(self, x, t):
        """The point of the body that is at x."""
        return self.turned(x - self.place - self.way * t - self.pivot, -t) + self.pivot

    def velocity(self, x, t):
        """Of the body's material at the place x of the world."""
        return self.way + cross(self.rate, x - self.place - self.way * t - self.pivot)

    def turning(self, d):
        return cross(self.rate, d)

    def inward(self, face, k):
        """The first corner (its number) of the k-th side of a face, and the direction into the face."""
        loop = self.loops[face]
        u, v = self.points[loop[k]], self.points[loop[(k + 1) % len(loop)]]
        side = cross(self.normals[face], v - u)
        return loop[k], side / length(side)


# -- roots --------------------------------------------------------------------------------------------
def bracketed(g, a, b, fa, fb):
    """The root of g between times at which its signs differ."""
    side = 0
    for step in range(400):
        m = (a + b) / 2 if step % 3 == 2 else (a * fb - b * fa) / (fb - fa)
        fm = g(m)
        if fm == 0 or b - a < Decimal("1e-40"):
            return m
        if (fm > 0) == (fb > 0):
            b, fb = m, fm
            fa = fa / 2 if side == 1 else fa
            side = 1
        else:
            a, fa = m, fm
            fb = fb / 2 if side == -1 else fb
            side = -1
    return (a + b) / 2


def vanishes(f):
    return all(abs(f(Decimal(i) / (NODES - 1))[0]) < ZERO for i in range(NODES))


def roots(f):
    """Times in [0, 1] at which f, that gives value and slope, is zero; a touch is one of them."""
    times = [Decimal(i) / SAMPLES for i in range(SAMPLES + 1)]
    values = [f(t) for t in times]
    found = [t for t, (v, _) in zip(times, values, strict=True) if abs(v) < ZERO]
    for i in range(SAMPLES):
        (fa, da), (fb, db) = values[i], values[i + 1]
        a, b = times[i], times[i + 1]
        if min(abs(fa), abs(fb)) >= ZERO and (fa > 0) != (fb > 0):
            found.append(bracketed(lambda t: f(t)[0], a, b, fa, fb))
        elif (da > 0) != (db > 0) and da != 0 and db != 0:
            # an extremum: a touch, or two roots beside it
            m = bracketed(lambda t: f(t)[1], a, b, da, db)
            fm = f(m)[0]
            if abs(fm) < ZERO:
                found.append(m)
            else:
                for x, fx in ((a, fa), (b, fb)):
                    if abs(fx) >= ZERO and (fx > 0) != (fm > 0):
                        found.append(
                            bracketed(lambda t: f(t)[0], *((x, m, fx, fm) if x < m else (m, x, fm, fx)))
                        )
    out = []
    for t in sorted(found):
        if not out or t - out[-1] > Decimal("1e-9"):
            out.append(t)
        elif t in times:  # many roots in one place are known less well than a whole one
            out[-1] = t
    return out


def spans(cuts, inside):
    """Closed intervals between cuts, and lone cuts, where all is `inside`, joined."""
    found, near = [], Decimal("1e-12")
    cuts = sorted(t for t in cuts if near < t < 1 - near)
    cuts = [Decimal(0), *(t for i, t in enumerate(cuts) if i == 0 or t - cuts[i - 1] > near), Decimal(1)]
    for i, t in enumerate(cuts):
        before = i > 0 and inside((cuts[i - 1] + t) / 2)
        after = i + 1 < len(cuts) and inside((t + cuts[i + 1]) / 2)
        if before:
            found[-1][1] = t
        elif after or inside(t):
            found.append([t, t])
    return [tuple(x) for x in found]


# -- meetings -----------------------------------------------------------------------------------------
class Pair:
    def __init__(self, scene, turned_round=False):
        meshes = scene.bodies().meshes
        both = [
            Body(meshes[k], place, scene.ways[k], scene.spins[k], scene.pivots[k], scene.quarters)
            for k, place in enumerate(((0, 0, 0), scene.place))
        ]
        self.a, self.b = both[::-1] if turned_round else both
        times = [Decimal(i) / SAMPLES for i in range(SAMPLES + 1)]
        self.paths = [
            np.array([[body.vertex(v, t)[0] for t in times] for v in range(8)], dtype=np.float64)
            for body in (self.a, self.b)
        ]

    def apart(self, corners_a, corners_b):
        """Do features stay apart, by balls about them? In float64, with room for what is between samples."""
        a, b = self.paths[0][corners_a], self.paths[1][corners_b]
        centres = [x.mean(axis=0) for x in (a, b)]
        reach = sum(np.linalg.norm(x - c, axis=-1).max() for x, c in zip((a, b), centres, strict=True))
        way = np.linalg.norm(centres[1] - centres[0], axis=-1)
        return way.min() > reach + np.abs(np.diff(way)).max() + 0.01

    def plane(self, body, other, corner, normal, vertex):
        """Distance of a vertex of `other` from the plane through a corner of `body`, and its slope."""

        def f(t):
            (x, vx), (c, vc), n = other.vertex(vertex, t), body.vertex(corner, t), body.turned(normal, t)
            return n @ (x - c), body.turning(n) @ (x - c) + n @ (vx - vc)

        return f

    def lines(self, ea, eb, t):
        """Beginnings, directions (whole edges) and velocities of both edges."""
        out = []
        for body, e in ((self.a, ea), (self.b, eb)):
            (x, vx), (y, vy) = (body.vertex(i, t) for i in body.edges[e])
            out.append((x, y - x, vx, vy - vx))
        return out

    def volume(self, ea, eb):
        def f(t):
            (p, d, vp, vd), (q, e, vq, ve) = self.lines(ea, eb, t)
            n = cross(d, e)
            return (q - p) @ n, (vq - vp) @ n + (q - p) @ (cross(vd, e) + cross(d, ve))

        return f

    def shares(self, ea, eb, t):
        """Where edges cross, as shares of their lengths, or None where they are parallel."""
        (p, d, _, _), (q, e, _, _) = self.lines(ea, eb, t)
        n = cross(d, e)
        square = n @ n
        if square < ZERO * ZERO:
            return None
        return cross(q - p, e) @ n / square, cross(q - p, d) @ n / square

    def edge_borders(self, ea, eb):
        """Functions at whose roots edges that stay on each other may pass their ends, or be parallel."""

        def value(which, t):
            (p, d, vp, vd), (q, e, vq, ve) = self.lines(ea, eb, t)
            n, n1 = cross(d, e), cross(vd, e) + cross(d, ve)
            if plane is not None:
                n0, n01 = self.a.turned(plane, t), self.a.turning(self.a.turned(plane, t))
            else:
                n0, n01 = n, n1
            sine, sine1 = n @ n0, n1 @ n0 + n @ n01
            if which == 4:
                return sine, sine1
            f, f1 = (e, ve) if which < 2 else (d, vd)
            c = cross(q - p, f)
            at, at1 = c @ n0, (cross(vq - vp, f) + cross(q - p, f1)) @ n0 + c @ n01
            return (at, at1) if which % 2 == 0 else (sine - at, sine1 - at1)

        plane = self.fixed_plane(ea, eb)
        return [lambda t, w=w: value(w, t) for w in range(5)]

    def fixed_plane(self, ea, eb):
        """The normal of both edges in A's axes, if it does not turn there."""
        seen = []
        for i in range(12):
            t = Decimal(i) / 11
            (_, d, _, _), (_, e, _, _) = self.lines(ea, eb, t)
            seen.append(self.a.turned(cross(d, e), -t))
        longest = max(seen, key=length)
        return longest if all(length(cross(x, longest)) < ZERO for x in seen) else None

    # -- a contact at a time
    def flow(self, x, t):
        return self.b.velocity(x, t) - self.a.velocity(x, t)

    def faces(self, body, faces, x, t):
        """Does one of the faces go into the other body at x?"""
        way = 1 if body is self.b else -1
        return any(way * (body.turned(body.normals[f], t) @ self.flow(x, t)) >= -ZERO for f in faces)

    def vertex_contact(self, kind, fa, fb, t):
        """Properness of a vertex on a face, or None if they do not face each other."""
        body, other, face, v = self.roles(kind, fa, fb)
        x, n = other.at(other.points[v], t), body.turned(body.normals[face], t)
        if not self.faces(body, [face], x, t) or not self.faces(other, other.vertex_faces[v], x, t):
            return None
        return min(self.leaving(other, v, e, t) @ n for e in other.vertex_edges[v])

    def leaving(self, body, v, e, t):
        d = body.points[e[0] if e[1] == v else e[1]] - body.points[v]
        return body.turned(d / length(d), t)

    def edge_contact(self, ea, eb, t):
        (p, d, _, _), (_, e, _, _) = self.lines(ea, eb, t)
        n, x = cross(d, e), p + self.shares(ea, eb, t)[0] * d
        n = n / length(n)
        if not self.faces(self.a, self.a.edge_faces[ea], x, t) or not self.faces(
            self.b, self.b.edge_faces[eb], x, t
        ):
            return None
        best = []
        for sign in (1, -1):
            terms = []
            for body, edge, way in ((self.a, ea, -sign), (self.b, eb, sign)):
                for f in body.edge_faces[edge]:
                    u, v = (body.points[i] for i in body.edges[edge])
                    q = cross(body.normals[f], v - u) / length(v - u)
                    centre = sum(body.points[i] for i in body.loops[f]) / len(body.loops[f])
                    q = q if q @ (centre - u) > 0 else -q
                    terms.append(way * (body.turned(q, t) @ n))
            best.append(min(terms))
        return max(best)

    def roles(self, kind, fa, fb):
        return (self.a, self.b, fa, fb) if kind == FV else (self.b, self.a, fb, fa)

    def inside_face(self, kind, fa, fb, t):
        body, other, face, v = self.roles(kind, fa, fb)
        x = body.back(other.at(other.points[v], t), t)
        return min(d @ (x - body.points[u]) for u, d in (body.inward(face, k) for k in range(4)))

    def inside_edges(self, ea, eb, t):
        at = self.shares(ea, eb, t)
        return Decimal(-1) if at is None else min(at[0], 1 - at[0], at[1], 1 - at[1])

    def place(self, c, t):
        """Of a contact at the margin of one of its features the points of A and B; None of another."""
        if c.kind == EE:
            at = self.shares(c.a, c.b, t)
            near = SAME_PLACE if t != c.start else ZERO
            if at is None or min(abs(x) for s in at for x in (s, 1 - s)) > near:
                return None
            (p, d, _, _), _ = self.lines(c.a, c.b, t)
            x = p + at[0] * d
        else:
            if self.inside_face(c.kind, c.a, c.b, t) > ZERO:
                return None
            _, other, _, v = self.roles(c.kind, c.a, c.b)
            x = other.at(other.points[v], t)
        return self.a.back(x, t), self.b.back(x, t)


def meetings(pair):
    """Every contact that is proper, coincidences among them."""
    for kind in (FV, VF):
        body, other = (pair.a, pair.b) if kind == FV else (pair.b, pair.a)
        for face in range(6):
            for v in range(8):
                fa, fb = (face, v) if kind == FV else (v, face)
                if pair.apart(*((body.loops[face], [v]) if kind == FV else ([v], body.loops[face]))):
                    continue
                f = pair.plane(body, other, body.loops[face][0], body.normals[face], v)
                contact = lambda t, k=kind, a=fa, b=fb: pair.vertex_contact(k, a, b, t)  # noqa: E731
                inside = lambda t, k=kind, a=fa, b=fb: pair.inside_face(k, a, b, t) >= -ZERO  # noqa: E731
                borders = []
                for k in range(4):
                    u, d = body.inward(face, k)
                    borders.append(pair.plane(body, other, u, d, v))
                yield from _of(kind, fa, fb, f, borders, inside, contact)
    for ea in range(12):
        for eb in range(12):
            if pair.apart(list(pair.a.edges[ea]), list(pair.b.edges[eb])):
                continue
            inside = lambda t, a=ea, b=eb: pair.inside_edges(a, b, t) >= -ZERO  # noqa: E731
            contact = lambda t, a=ea, b=eb: pair.edge_contact(a, b, t)  # noqa: E731
            yield from _of(EE, ea, eb, pair.volume(ea, eb), None, inside, contact, pair)


def _of(kind, fa, fb, f, borders, inside, contact, pair=None):
    if not vanishes(f):
        found = [(t, t) for t in roots(f) if inside(t)]
    else:
        if kind == EE:
            borders = pair.edge_borders(fa, fb)
            if vanishes(borders[4]):
                return
        cuts = [t for g in borders if not vanishes(g) for t in roots(g)]
        found = spans(cuts, inside)
    for start, end in found:
        begun = start
        if kind == EE and pair is not None and pair.shares(fa, fb, start) is None:
            if start == end:
                continue
            begun = start + (end - start) * Decimal("1e-9")
        value = contact(begun)
        if value is None:
            continue
        value = float(np.floor(float(value) * 2.0**40 + 0.5) / 2.0**40)
        if value >= -0.1:
            yield Contact(kind, fa, fb, start, end, end > start, value)


# -- coincidences -------------------------------------------------------------------------------------
def told(scene, turned_round=False):
    """The contacts of a pair, coincidences resolved, by kind, features and time."""
    pair = Pair(scene, turned_round)
    found = list(meetings(pair))
    key = lambda c: (-c.properness, not c.lasts, c.kind, c.a, c.b, c.start)  # noqa: E731
    found.sort(key=key)
    kept = [
        c
        for i, c in enumerate(found)
        if not any(covers(pair, found[j], c) for j in range(i))
    ]  # fmt: skip
    return sorted(kept, key=lambda c: (c.kind, c.a, c.b, c.start))


def covers(pair, one, other):
    """Is `other` at the places of `one`, that stands above it, as long as it lasts?"""
    if one.end < other.end - SAME_TIME or one.start > other.start + SAME_TIME:
        return False
    if not one.lasts and one.start < other.start - SAME_TIME:
        return False
    if (one.kind, one.a, one.b) == (other.kind, other.a, other.b):
        return True
    for share in ("0.29", "0.61", "0.83") if other.lasts else ("0",):
        t = other.start + Decimal(share) * (other.end - other.start)
        s = min(max(t, one.start), one.end)
        mine, theirs = pair.place(other, t), pair.place(one, _not_parallel(pair, one, s))
        if mine is None or theirs is None:
            return False
        if max(length(x - y) for x, y in zip(mine, theirs, strict=True)) > SAME_PLACE:
            return False
    return True


def _not_parallel(pair, c, t):
    """The time, or one beside it where edges that are parallel then do cross: their place is the limit."""
    if c.kind != EE or not c.lasts or pair.shares(c.a, c.b, t) is not None:
        return t
    return t + (Decimal("1e-9") if t - c.start < c.end - t else Decimal("-1e-9")) * (c.end - c.start)
