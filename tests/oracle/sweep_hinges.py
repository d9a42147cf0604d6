"""What it hangs on whether a ball on its path touches a feature as such: the lengths whose signs decide.

All of them are computed with 60 digits from the whole numbers of a `Pass`. Where one is zero the touch is a
tie: the path is tangent, or goes exactly through a border, or begins or ends exactly at it. What float64 says
of a tie is up to its rounding; of all else the answer is a matter of fact.
"""

from mpmath import mp, mpf, sqrt

from tests.oracle.sweep import EDGE, FACE, VERTEX

DIGITS = 60
KINDS = {1: FACE, 2: EDGE, 3: VERTEX}  # as features are numbered


def hinges(p, kind, feature, face):
    """(name, length) of what decides about a face, an edge (a, b) or a vertex.

    Parameters
    ----------
    p : Pass
    kind : {"face", "edge", "vertex"}
    feature : tuple, int or None
    face : int
        The face, of one.
    """
    with mp.workdps(DIGITS):
        c, v = _of(p.c, p.scale), _of(p.v, p.scale)
        yield "way", _norm(v)
        if not any(v):
            return
        if kind == FACE:
            yield from _of_face(p, c, v, face)
            return
        ends = feature if kind == EDGE else (feature, feature)
        a, b = (_of(p.points[i], p.scale) for i in ends)
        m, e = _sub(c, a), _sub(b, a)
        if kind == EDGE:
            length = _norm(e)
            e = [x / length for x in e]
            across, way = _less(m, e), _less(v, e)
            yield "along the edge", _norm(way)
        else:
            across, way = m, v
        r = mpf(p.r) / p.scale
        times = [mpf(0)]
        if any(way):
            nearest = -_dot(across, way) / _dot(way, way)
            gap = _norm(_at(across, way, nearest)) - r
            yield "past it", gap
            yield "approach", nearest * _norm(way)
            if gap < 0:
                times.append(nearest - sqrt(-gap * (2 * r + gap)) / _norm(way))
        yield "at the start", _norm(across) - r
        for j, t in enumerate(times):
            yield "end", (1 - t) * _norm(v)
            if j:
                yield "beginning", t * _norm(v)
            if kind == EDGE:
                along = _dot(_at(m, v, t), e)
                yield "one end", along
                yield "other end", along - length
            for k in p.surface.at[feature]:
                yield from _of_plane(p, c, v, t, r, k)


def _of_plane(p, c, v, t, r, k):
    """What decides whether triangle k is in front, and nearer, at a time."""
    n, sides = _triangle(p, k)
    if n is None:
        return
    here = _at(c, v, t)
    ahead = _dot(n, _sub(here, sides[0][0]))
    yield "front", ahead
    yield "over the face", ahead - r
    for x, inward in sides:
        yield "side", _dot(inward, _sub(here, x))


def _of_face(p, c, v, face):
    r = mpf(p.r) / p.scale
    for k in p.surface.of_face[face]:
        n, sides = _triangle(p, k)
        if n is None:
            yield "flat", mpf(0)
            return
        d, pace = _dot(n, _sub(c, sides[0][0])), -_dot(n, v)
        yield "front", d
        yield "pace", pace
        times = [(mpf(0), None)]
        for side in (1, -1):
            yield "at the start", side * d - r
            if pace:
                times.append(((d - side * r) / pace, None))
        for i, (x, inward) in enumerate(sides):  # of what has sunk in: when the foot comes over a border
            rate = _dot(inward, v)
            if rate:
                times.append((-_dot(inward, _sub(c, x)) / rate, i))
        for j, (t, border) in enumerate(times):
            yield "end", (1 - t) * _norm(v)
            if j:
                yield "beginning", t * _norm(v)
            if border is not None:
                yield "onto", abs(d - t * pace) - r
                yield "in the plane", d - t * pace
            for i, (x, inward) in enumerate(sides):
                if i != border:
                    yield "side", _dot(inward, _sub(_at(c, v, t), x))


def _triangle(p, k):
    """The unit normal of triangle k, and of each of its sides that is one of its face a place and the unit
    direction inwards."""
    t = p.surface.triangles[k]
    n = p.normal(k)
    if not any(n):
        return None, []
    n = _of(n, _norm(n))
    corners = [_of(p.points[i], p.scale) for i in t]
    out = []
    for i in range(3):
        j = (i + 1) % 3
        inward = _cross(n, _sub(corners[j], corners[i]))
        size = _norm(inward)
        out.append((corners[i], [x / size for x in inward]))
    return n, out


def _of(x, scale):
    return [mpf(y) / scale for y in x]


def _sub(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def _norm(a):
    return sqrt(_dot([mpf(x) for x in a], [mpf(x) for x in a]))


def _less(a, e):
    along = _dot(a, e)
    return [x - along * y for x, y in zip(a, e, strict=True)]


def _at(a, v, t):
    return [x + t * y for x, y in zip(a, v, strict=True)]


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
