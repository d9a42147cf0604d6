"""The true first moment of contact of a body that is carried or turned past a still one, by whole numbers.

Events are a corner in a triangle's plane and two edges in one plane, both ways; those that are within the
features (borders belong to them) are the moments at which the surfaces can begin or end to touch. `first`
takes the earliest; `first_through` goes on, from event to event, to where one body goes into the other.

A translation's moments are fractions. A turn is written in s = tan(angle/2)/|axis|, in which places are
rational and events roots of quadratics with whole coefficients: their roots are kept to 400 binary places,
and what is zero to 200 of them counts as zero.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np

from tests.oracle import exact
from tests.oracle.exact import add, cross, dot, sub, times
from tests.oracle.exact_events import PLACES, ZERO, Event
from tests.oracle.exact_pose import SLACK, Couple, penetrating, point_in_triangle, touching
from tests.oracle.exact_turning import turning_events

mpmath.mp.dps = 60


TOGETHER = Fraction(1, 1 << ZERO)  # events that are nearer are at one moment


class Motion:
    """What both kinds of motion have; `couple` holds the bodies at the start."""

    def place_of(self, event):
        """Place and unit normal of an event, float64, in the axes of the world; the place about that of the
        still body's first corner."""
        a, b = self.at(event.time)
        couple = Couple(a, b)
        if event.kind == 3:
            p, q = couple.fa[couple.ta.edges[event.one]]
            c, d = couple.fb[couple.tb.edges[event.two]]
            u, v = q - p, d - c
            n = np.cross(u, v)
            x = p + np.cross(c - p, v) @ n / (n @ n) * u
        else:
            own, other, t = (couple.fa, couple.fb, couple.tb)
            if event.kind == 2:
                own, other, t = (couple.fb, couple.fa, couple.ta)
            x = own[event.one]
            c = other[t.triangles[event.two]]
            n = np.cross(c[1] - c[0], c[2] - c[0])
        return x, n / np.linalg.norm(n)

    def local(self, place):
        """A place of the world, about the still body's first corner."""
        corner = self.couple.b.points[self.couple.tb.vertices[0]]
        return np.asarray(place, float) - [x / self.couple.scale for x in corner]

    def pace(self, event):
        """How fast the bodies come together at an event, along its normal, for each whole motion."""
        if event.kind == 0:
            return 0.0
        place, normal = self.place_of(event)
        return abs(float(normal @ self.velocity(place)))


class Translation(Motion):
    """`mover` carried by `vector` (float64) past `still`; time is the share of the vector, 0 to 1."""

    end = Fraction(1)

    def __init__(self, mover, still, vector):
        numbers, shift = exact.whole(vector)
        self.couple = Couple(mover, still, also=1 << shift)
        self.v = times(self.couple.scale >> shift, tuple(numbers))
        self.fv = np.asarray(vector, float)
        self.size = self.couple.size + np.abs(self.fv).max()
        self.length = float(np.linalg.norm(self.fv))

    def at(self, time):
        """The mover and the still body at a moment."""
        return self.couple.a.moved(self.v, time), self.couple.b

    def fraction(self, time):
        return time

    def time(self, share):
        return Fraction(share)

    def velocity(self, _):
        """Of the mover at a place, for each whole motion."""
        return self.fv

    def events(self):
        c, found = self.couple, []
        for kind, one, two, v in (
            (1, (c.ta.vertices, c.fa, c.a.points), (c.tb.triangles, c.fb, c.b.points), 1),
            (2, (c.tb.vertices, c.fb, c.b.points), (c.ta.triangles, c.fa, c.a.points), -1),
        ):
            whole_v = times(v, self.v)
            for i, j in self._corners(one, two, v * self.fv):
                t = [two[2][k] for k in two[0][j]]
                for time in corner_in_triangle(one[2][one[0][i]], whole_v, t):
                    found.append(Event(time, kind, int(one[0][i]), int(j)))
        for i, j in self._edges():
            p, q = (c.a.points[k] for k in c.ta.edges[i])
            a, b = (c.b.points[k] for k in c.tb.edges[j])
            for time in edges_cross(p, q, self.v, a, b):
                found.append(Event(time, 3, int(i), int(j)))
        return sorted(found, key=lambda e: e.time)

    def _corners(self, one, two, v):
        """Corners and triangles that may meet: signs of volumes, where those are sure."""
        if len(one[0]) == 0 or len(two[0]) == 0:
            return []
        x, t = one[1][one[0]], two[1][two[0]]
        pad = 10 * SLACK * self.size
        low, high = np.minimum(x, x + v), np.maximum(x, x + v)
        near = (low[:, None] <= t.max(1)[None] + pad).all(2) & (high[:, None] >= t.min(1)[None] - pad).all(2)
        rows, columns = np.nonzero(near)
        x, t = x[rows], t[columns]
        n = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
        d = (n * (x - t[:, 0])).sum(1)
        e = d + n @ v
        err = 1000 * SLACK * self.size**3
        maybe = ~((np.minimum(d, e) > err) | (np.maximum(d, e) < -err))
        sides = np.stack([((np.cross(t[:, (k + 1) % 3] - t[:, k], x - t[:, k])) @ v) for k in range(3)])
        maybe &= (sides >= -err).all(0) | (sides <= err).all(0)
        return zip(rows[maybe], columns[maybe], strict=True)

    def _edges(self):
        c = self.couple
        if len(c.ta.edges) == 0 or len(c.tb.edges) == 0:
            return []
        p, a = c.fa[c.ta.edges], c.fb[c.tb.edges]
        v = self.fv
        pad = 10 * SLACK * self.size
        low, high = np.minimum(p, p + v).min(1), np.maximum(p, p + v).max(1)
        near = (low[:, None] <= a.max(1)[None] + pad).all(2) & (high[:, None] >= a.min(1)[None] - pad).all(2)
        rows, columns = np.nonzero(near)
        p, a = p[rows], a[columns]
        w, q = p[:, 1] - p[:, 0], a[:, 1] - a[:, 0]
        n = np.cross(w, q)
        d = (n * (p[:, 0] - a[:, 0])).sum(1)
        e = d + n @ v
        err = 1000 * SLACK * self.size**3
        maybe = ~((np.minimum(d, e) > err) | (np.maximum(d, e) < -err))
        across = [np.cross(q, p[:, k] - a[:, 0]) @ v for k in range(2)]
        maybe &= ~((np.minimum(*across) > err) | (np.maximum(*across) < -err))
        across = [np.cross(w, a[:, k] - p[:, 0]) @ v for k in range(2)]
        maybe &= ~((np.minimum(*across) > err) | (np.maximum(*across) < -err))
        return zip(rows[maybe], columns[maybe], strict=True)


def corner_in_triangle(x, v, t):
    """Moments in [0, 1] at which x + time v begins or ends to be in the closed triangle."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    d, k = dot(n, sub(x, t[0])), -dot(n, v)
    if k == 0:
        return _along_plane(x, v, t, n) if d == 0 else []
    if k < 0:
        d, k = -d, -k
    if not 0 <= d <= k:
        return []
    place = add(times(k, x), times(d, v))
    return [Fraction(d, k)] if point_in_triangle(place, k, t, n) else []


def _along_plane(x, v, t, n):
    """The part of [0, 1] in which a point that moves in the triangle's plane is in it: none, or both ends."""
    low, high = Fraction(0), Fraction(1)
    for i in range(3):
        m = cross(n, sub(t[(i + 1) % 3], t[i]))  # inwards
        d, k = dot(m, sub(x, t[i])), dot(m, v)
        if k == 0:
            if d < 0:
                return []
        elif k > 0:
            low = max(low, Fraction(-d, k))
        else:
            high = min(high, Fraction(-d, k))
    return [low, high] if low <= high else []


def edges_cross(p, q, v, a, b):
    """The moment in [0, 1] at which the segment p q, moved by v, meets the still a b.

    Parallel segments, and those that stay in one plane, first meet with an end: no event of theirs.
    """
    w, u = sub(q, p), sub(b, a)
    n = cross(w, u)
    d, k = dot(n, sub(p, a)), -dot(n, v)
    if k == 0:
        return []
    if k < 0:
        d, k = -d, -k
    if not 0 <= d <= k:
        return []
    square = k * dot(n, n)
    r = sub(times(k, a), add(times(k, p), times(d, v)))  # from the moved p to a, times k
    along, other = dot(cross(r, u), n), dot(cross(r, w), n)
    return [Fraction(d, k)] if 0 <= along <= square and 0 <= other <= square else []


def first(motion):
    """The first event, None if the surfaces never touch; a motion that starts touching has it at 0.

    Of several at once it is one that is met most squarely.
    """
    a, b = motion.at(Fraction(0))
    if touching(a, b):
        return Event(Fraction(0), 0, None, None)
    events = motion.events()
    together = [e for e in events if e.time - events[0].time <= TOGETHER]
    return max(together, key=motion.pace) if len(together) > 1 else (events or [None])[0]


def first_through(motion, events=None):
    """The moment from which the bodies are in each other by more than touching; None if there is none.

    Between two events nothing changes, so one look in the middle decides.
    """
    events = motion.events() if events is None else events
    moments = [Fraction(0), *(e.time for e in events), motion.end]
    moments = [a for a, b in zip(moments, [None, *moments], strict=False) if b is None or a > b]
    if penetrating(*motion.at(Fraction(0))):
        return Fraction(0)
    for a, b in zip(moments, moments[1:], strict=False):
        if penetrating(*motion.at(_between(a, b))):
            return a
    return None


def _between(a, b):
    """A fraction of few digits between two."""
    places = max(0, (b - a).denominator.bit_length() - (b - a).numerator.bit_length()) + 3
    return Fraction(int((a + b) / 2 * (1 << places)), 1 << places)


class Rotation(Motion):
    """`mover` turned by `angle` (float64, in -pi to pi, right-handed) about the line through `origin` along
    `axis`, past `still`; time is s = tan(angle / 2) / |axis|."""

    def __init__(self, mover, still, angle, axis, origin):
        self.asked = angle, axis, origin
        if angle < 0:
            angle, axis = -angle, [-x for x in axis]
        self.angle = mpmath.mpf(float(angle))
        numbers, _ = exact.whole(axis)
        g = math.gcd(*numbers)
        self.u = tuple(x // g for x in numbers)
        self.square = dot(self.u, self.u)
        self.norm = mpmath.sqrt(mpmath.mpf(self.square))
        place, shift = exact.whole(origin)
        self.couple = Couple(mover, still, also=1 << shift)
        self.o = times(self.couple.scale >> shift, tuple(place))
        self.end = self.time(1)
        self.fu = np.array([float(x / self.norm) for x in self.u])
        c = self.couple
        centre = c.b.points[c.tb.vertices[0]]
        self.fo = exact.floats([self.o], c.scale, centre)[0]
        self.size = c.size + np.abs(c.fa - self.fo).max()
        self.length = abs(angle) * float(np.linalg.norm(c.fa - self.fo, axis=1).max())

    def velocity(self, place):
        return float(self.angle) * np.cross(self.fu, place - self.fo)

    def time(self, share):
        """s of a share of the angle, to 400 binary places."""
        share = mpmath.mpf(share.numerator) / share.denominator if isinstance(share, Fraction) else share
        s = mpmath.tan(self.angle * share / 2) / self.norm
        return Fraction(int(mpmath.floor(mpmath.ldexp(s, PLACES))), 1 << PLACES)

    def fraction(self, time):
        """The share of the angle at s, an mpf."""
        if not self.angle:
            return mpmath.mpf(0)
        s = mpmath.mpf(time.numerator) / time.denominator
        return 2 * mpmath.atan(s * self.norm) / self.angle

    def at(self, time):
        return self.couple.a.turned(self.u, self.o, time), self.couple.b

    def place(self, x, s):
        """Where the whole point is at s = S / 2**PLACES: a whole point over a whole number."""
        n, d = s.numerator * ((1 << PLACES) // s.denominator), 1 << PLACES
        quat = (d, *times(n, self.u))
        square = d * d + n * n * self.square
        (y,) = exact.turn(quat, [sub(x, self.o)])
        return add(y, times(square, self.o)), square

    def quadratic(self, pairs, still, way=1):
        """Coefficients c0, c1, c2 of sum q . R(s) m over pairs (q, m), plus `still`, times 1 + s^2 |u|^2."""
        u, c0, c1, c2 = self.u, still, 0, self.square * still
        for q, m in pairs:
            straight = dot(q, m)
            c0 += straight
            c1 += 2 * way * dot(q, cross(u, m))
            c2 += 2 * dot(q, u) * dot(u, m) - self.square * straight
        return c0, c1, c2

    def roots(self, coefficients):
        """Roots in [0, end], to 400 binary places."""
        c0, c1, c2 = coefficients
        if c2 == 0:
            found = [] if c1 == 0 else [Fraction(-c0, c1)]
        else:
            disc = c1 * c1 - 4 * c2 * c0
            if disc < 0:
                return []
            # the shift keeps the root's relative error below 2**-PLACES
            wide = 2 * PLACES + c2.bit_length()
            root = math.isqrt(disc << (2 * wide))
            q = -(c1 << wide) - root if c1 >= 0 else -(c1 << wide) + root
            found = [Fraction(q, c2 << (wide + 1))]
            if q:
                found.append(Fraction(c0 << (wide + 1), q))
        found = [Fraction((x.numerator << PLACES) // x.denominator, 1 << PLACES) for x in found]
        edge = Fraction(1, 1 << ZERO)
        return [max(Fraction(0), min(x, self.end)) for x in found if -edge <= x <= self.end * (1 + edge)]

    def events(self):
        return turning_events(self)
