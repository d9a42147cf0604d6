"""Events of a turn: which features may meet, by float64, and their moments in whole numbers."""

from __future__ import annotations

import numpy as np

from tests.oracle.exact import cross, dot, sub, times
from tests.oracle.exact_events import ZERO, Event
from tests.oracle.exact_pose import SLACK

ROUGH = (
    3e-4  # of the size, and radians: what a root found in float64 may be wrong by where it is a double one
)
FLAT = 1e-4  # a smaller swing than this part of the size is left to whole numbers


def norm1(a):
    return abs(a[0]) + abs(a[1]) + abs(a[2])


def below(value, magnitude):
    """Whether a whole value is negative by more than what counts as zero."""
    return value < 0 and (-value << ZERO) > magnitude


def turning_events(motion):
    c, found = motion.couple, []
    for kind, one, two, way in (
        (1, (c.ta.vertices, c.fa, c.a.points), (c.tb.triangles, c.fb, c.b.points), 1),
        (2, (c.tb.vertices, c.fb, c.b.points), (c.ta.triangles, c.fa, c.a.points), -1),
    ):
        for i, j in _corner_candidates(motion, one, two, way):
            t = [two[2][k] for k in two[0][j]]
            for s in _corner(motion, one[2][one[0][i]], t, way):
                found.append(Event(s, kind, int(one[0][i]), int(j)))
    for i, j in _edge_candidates(motion):
        p, q = (c.a.points[k] for k in c.ta.edges[i])
        a, b = (c.b.points[k] for k in c.tb.edges[j])
        for s in _edges(motion, p, q, a, b):
            found.append(Event(s, 3, int(i), int(j)))
    return sorted(found, key=lambda e: e.time)


def _corner(motion, x, t, way):
    """Moments at which the corner meets the closed triangle; way -1: it is the triangle that turns."""
    n = cross(sub(t[1], t[0]), sub(t[2], t[0]))
    y = sub(x, motion.o)
    coefficients = motion.quadratic([(n, y)], dot(n, sub(motion.o, t[0])), way)
    if any(coefficients):
        moments = motion.roots(coefficients)
        return [s for s in moments if _within(motion, x, s * way, t, n, range(3))]
    found = []  # the corner stays in the triangle's plane: it comes in over a side
    for k in range(3):
        m = cross(n, sub(t[(k + 1) % 3], t[k]))
        coefficients = motion.quadratic([(m, y)], dot(m, sub(motion.o, t[k])), way)
        if any(coefficients):
            others = [i for i in range(3) if i != k]
            found += [s for s in motion.roots(coefficients) if _within(motion, x, s * way, t, n, others)]
    return found


def _within(motion, x, s, t, n, sides):
    place, w = motion.place(x, s)
    for k in sides:
        along, to = sub(t[(k + 1) % 3], t[k]), sub(place, times(w, t[k]))
        if below(dot(n, cross(along, to)), norm1(n) * norm1(along) * (norm1(place) + w * norm1(t[k]))):
            return False
    return True


def _edges(motion, p, q, a, b):
    """Moments at which the turning segment p q meets the still a b, not parallel to it then."""
    o = motion.o
    w, u = sub(q, p), sub(b, a)
    own, other = cross(sub(p, o), w), cross(sub(a, o), u)
    coefficients = motion.quadratic([(u, own), (other, w)], 0)
    if not any(coefficients):
        return []
    found = []
    for s in motion.roots(coefficients):
        (p1, scale), (q1, _) = motion.place(p, s), motion.place(q, s)
        w1 = sub(q1, p1)
        n = cross(w1, u)
        square = dot(n, n)
        if square << ZERO <= (norm1(w1) * norm1(u)) ** 2:
            continue  # parallel: an end meets first
        r = sub(times(scale, a), p1)
        along, across = dot(cross(r, u), n), dot(cross(r, w1), n)  # of square; of square * scale
        most = norm1(n) * (norm1(p1) + scale * norm1(a)) * norm1(u)
        if below(along, most) or below(square - along, most):
            continue
        most = norm1(n) * (norm1(p1) + scale * norm1(a)) * norm1(w1)
        if below(across, most) or below(square * scale - across, most):
            continue
        found.append(s)
    return found


def _swings(v0, v1, v2, err, motion):
    """Angles of both roots of v0 + v1 sin + v2 cos, (2, m), NaN where there is none; and where float64 cannot
    say."""
    amp = np.hypot(v1, v2)
    unsure = (amp < FLAT * motion.size) & (np.abs(v0) <= amp + FLAT * motion.size)
    unsure |= (err > 1e-8 * motion.size) & (np.abs(v0) <= amp + err)
    with np.errstate(all="ignore"):
        half = np.arccos(np.clip(-v0 / amp, -1, 1))
        half[np.abs(v0) > amp + err] = np.nan
        base = np.arctan2(v1, v2)
        angles = np.stack([base - half, base + half])
        angles = (angles + ROUGH) % (2 * np.pi) - ROUGH  # in [-ROUGH, 2 pi - ROUGH)
        angles[angles > float(motion.angle) + ROUGH] = np.nan
    return angles, unsure


def _turned(y, u, angle):
    """Rows of y turned about the unit axis u."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return y * c + np.cross(u, y) * s + np.outer(y @ u, u) * (1 - c)


def _corner_candidates(motion, one, two, way):
    if len(one[0]) == 0 or len(two[0]) == 0:
        return []
    u, size = motion.fu * way, motion.size
    y, t = one[1][one[0]] - motion.fo, two[1][two[0]] - motion.fo
    of_one, of_two = _near_rings(y[:, None], t, u, size)
    y, t = y[of_one], t[of_two]
    if len(y) == 0 or len(t) == 0:
        return []
    n = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
    length = np.sqrt((n * n).sum(1))
    err = (10 * SLACK + SLACK * size**2 / np.maximum(length, 1e-300)) * size
    n = n / np.maximum(length, 1e-300)[:, None]
    rows, columns = (x.ravel() for x in np.indices((len(y), len(t))))
    along = np.outer(y @ u, n @ u)
    v0 = along - (n * t[:, 0]).sum(1)
    v1 = np.cross(u, y) @ n.T
    v2 = y @ n.T - along
    v0, v1, v2, err = v0.ravel(), v1.ravel(), v2.ravel(), err[columns]
    angles, unsure = _swings(v0, v1, v2, err, motion)
    maybe = unsure.copy()
    for angle in angles:
        ok = np.flatnonzero(~np.isnan(angle) & ~maybe)
        x = _turned(y[rows[ok]], u, angle[ok])
        within = np.ones(len(ok), bool)
        for k in range(3):
            start = t[columns[ok], k]
            side = t[columns[ok], (k + 1) % 3] - start
            inward = np.cross(n[columns[ok]], side)
            with np.errstate(all="ignore"):
                inward /= np.sqrt((inward * inward).sum(1))[:, None]
                within &= ~(((x - start) * inward).sum(1) < -3 * ROUGH * size)
        maybe[ok[within]] = True
    return zip(of_one[rows[maybe]], of_two[columns[maybe]], strict=True)


def _near_rings(one, two, u, size):
    """Rows of the features (m, corners, 3) of both that come as near to the axis u, and as high along it, as
    some of the other do: no others can meet."""

    def rings(x):
        middle = x.mean(1)
        spread = np.sqrt(((x - middle[:, None]) ** 2).sum(-1).max(1)) + ROUGH * size
        height = middle @ u
        away = np.sqrt(((middle - np.outer(height, u)) ** 2).sum(1))
        return np.stack((height - spread, away - spread)), np.stack((height + spread, away + spread))

    def near(these, those):
        low, high = those[0].min(1)[:, None], those[1].max(1)[:, None]
        return np.flatnonzero(((these[0] <= high) & (these[1] >= low)).all(0))

    ring_one, ring_two = rings(one), rings(two)
    of_two = near(ring_two, ring_one)
    if len(of_two) == 0:
        return of_two, of_two
    return near(ring_one, [x[:, of_two] for x in ring_two]), of_two


def _edge_candidates(motion):
    c, u, size = motion.couple, motion.fu, motion.size
    if len(c.ta.edges) == 0 or len(c.tb.edges) == 0:
        return []
    p, a = c.fa[c.ta.edges] - motion.fo, c.fb[c.tb.edges] - motion.fo
    of_one, of_two = _near_rings(p, a, u, size)
    p, a = p[of_one], a[of_two]
    if len(p) == 0 or len(a) == 0:
        return []
    rows, columns = (x.ravel() for x in np.indices((len(p), len(a))))
    p0, a0 = p[rows, 0], a[columns, 0]
    w, d = p[rows, 1] - p0, a[columns, 1] - a0
    w_len, d_len = np.sqrt((w * w).sum(1)), np.sqrt((d * d).sum(1))
    wu, du = w / w_len[:, None], d / d_len[:, None]
    v0 = v1 = v2 = 0.0
    for q, m in ((du, np.cross(p0, wu)), (np.cross(a0, du), wu)):
        along = (q @ u) * (m @ u)
        v0, v1, v2 = v0 + along, v1 + (q * np.cross(u, m)).sum(1), v2 + (q * m).sum(1) - along
    err = (10 * SLACK + SLACK * size / w_len + SLACK * size / d_len) * size
    angles, unsure = _swings(v0, v1, v2, err, motion)
    maybe = unsure.copy()
    for angle in angles:
        ok = np.flatnonzero(~np.isnan(angle) & ~maybe)
        start, way = _turned(p0[ok], u, angle[ok]), _turned(wu[ok], u, angle[ok])
        n = np.cross(way, du[ok])
        square = (n * n).sum(1)
        r = a0[ok] - start
        with np.errstate(all="ignore"):
            along = (np.cross(r, du[ok]) * n).sum(1) / square
            across = (np.cross(r, way) * n).sum(1) / square
        edge = 3 * ROUGH * size / np.maximum(np.sqrt(square), 1e-300)
        out = (along < -edge) | (along > w_len[ok] + edge) | (across < -edge) | (across > d_len[ok] + edge)
        maybe[ok[~(out & (square > 1e-6))]] = True
    return zip(of_one[rows[maybe]], of_two[columns[maybe]], strict=True)
