"""Places in a pass, as the judge of casts sees them: tolerances, what lies on what, what a path pierces."""

from fractions import Fraction

import numpy as np

from tests.oracle.exact import turn, whole


def lies(p, feature, place, den, m, along=False):
    """Is a place beside a side or a corner nearer to a face there that it was in front of at the start?
    Then that is what is touched, or not (`along`: only if it is not approached)."""
    if feature is None or p.r <= 100 * m:
        return False
    margin = m / p.scale
    for t in p.surface.at[feature]:
        face = p.surface.face_of[t]
        if p.surface.flat[face] or not any(p.normal(t)):
            continue
        sides = p.ahead(t, place, den), p.ahead(t, p.c, 1)
        least = 4 * margin if along else -margin  # on the border of what is in front either may be told
        if p.two_sided:  # on neither side, exactly within it, is in front as well
            beyond = sides[0] * sides[1] < 0 or (along and sides[0] * sides[1] == 0)
        else:
            beyond = min(sides) < least
        if beyond:
            continue
        near = p.near(face, place, den)
        reach = p.r - (4 * m if along else m)
        if near.feature != feature and near.square < reach * reach and not (along and near.nearer > 0):
            return True
    return False


def margin_of(p, tol):
    """A tolerance in the space of a pass, in whole numbers over its scale."""
    return max(1, int(Fraction(tol) / Fraction(p.least) * p.scale))


def unit(x):
    top = max(abs(c) for c in x)
    x = np.array([float(Fraction(c) / Fraction(top)) for c in x])
    return x / np.linalg.norm(x)


def matrix(quat):
    q, _ = whole(quat)
    square = sum(x * x for x in q)
    columns = turn(q, [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
    return np.array([[x / square for x in c] for c in columns]).T


def pierced(p, m):
    """(not before, by when) for each time that the path of the centre surely goes through a front: so do
    eight paths beside it. Through a border that two fronts share it goes too, along a border it need not."""
    if p.speed == 0:
        return []
    faces = p.faces_near(16 * m / p.scale)
    times = sorted({t.time for f in faces if (t := p.first(f, 0)) and t.time <= 1})
    if not times:
        return []
    slack = Fraction(64 * m, p.scale) / Fraction(p.speed)
    across = unit(np.cross(p.way, np.eye(3)[np.argmin(np.abs(p.way))]))
    other = unit(np.cross(p.way, across))
    beside = []
    for angle in np.arange(8) * np.pi / 4 + 0.1:
        o = np.cos(angle) * across + np.sin(angle) * other
        c = tuple(x + int(Fraction(4 * m) * Fraction(float(y))) for x, y in zip(p.c, o, strict=True))
        beside.append([t.time for f in faces if (t := p.first(f, 0, c, times[0] - slack))])
    return [
        (time - 2 * slack, time + 2 * slack)
        for time in times
        if time + 2 * slack <= 1 and all(any(abs(x - time) <= slack for x in way) for way in beside)
    ]
