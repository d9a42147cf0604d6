"""Meetings of a pair at a distance: stages 7 and 8 for ``target_distance`` above 0.

Every pair of features is a candidate, and each gap is looked at at so many times that no fall is overlooked
that lasts; between two of them, and below each least one, the root is found by halving. What falls through
the distance is a meeting if the closest points are those of the bodies (`distance_functions`).
"""

import numpy as np

from gpu_collide.reference.narrow_phase import s08_contacts
from gpu_collide.reference.narrow_phase._properness import FACING
from gpu_collide.reference.narrow_phase.distance_functions import CONE, Gaps, all_gaps, dot
from gpu_collide.reference.narrow_phase.s07_solve import (
    PLACE_DOUBT,
    PLACE_ROUNDING,
    TOUCH,
    Meetings,
    concatenate,
    in_steps,
)
from gpu_collide.results.enums import Kind

__all__ = ["at_distance", "meetings_at", "nearer_at"]

# Times at which gaps are looked at, and pairs of features at a time; halvings of what lies between.
TIMES, AT_A_TIME, HALVINGS = 129, 500, 80
# Roots are farther off the distance, in touch tolerances, where the direction of edges jumps that are
# parallel for a moment.
OFF = 100


def at_distance(motion, distance):
    """Is a distance one for this pair? If it is not above what is touch, contacts are those of touch."""
    return distance > TOUCH * motion.size


def meetings_at(motion, a, b, distance, min_properness):
    """`Meetings` of a pair, resolved and in their order, at a distance in user units."""
    found = [_met(gaps, distance) for gaps in _shares(motion, a, b)]
    met = concatenate(found)
    met = met.take(np.flatnonzero(met.properness >= min_properness))
    return s08_contacts.resolve(motion, a, b, met, min_properness, _Points)


def nearer_at(motion, a, b, distance, s):
    """Are two features nearer to each other than the distance at a time?"""
    for gaps in _shares(motion, a, b):
        when = np.full(len(gaps.fa), s)
        inside = gaps.judged(when)[3]
        if (np.abs(gaps.gap(when))[inside >= 0] < distance - TOUCH * motion.size).any():
            return True
    return False


def _shares(motion, a, b):
    """`all_gaps` in shares."""
    for gaps in all_gaps(motion, a, b):
        for first in range(0, len(gaps.fa), AT_A_TIME):
            yield gaps.take(slice(first, first + AT_A_TIME))


def _met(gaps, d):
    m, n = gaps.motion, len(gaps.fa)
    touch = TOUCH * m.size
    window = 0.5 + m.tau
    times = np.linspace(-window, window, TIMES)
    f = gaps.over(times) - d
    lasting = (np.abs(f) <= touch).all(axis=0)
    moving = ~lasting if m.moves else np.zeros(n, bool)
    k, i = np.nonzero((f[:-1] > 0) & (f[1:] <= 0) & moving)
    falls = [(i, _halved(gaps.take(i), d, times[k], times[k + 1]))]
    k, i = np.nonzero((f[1:-1] > 0) & (f[1:-1] <= f[:-2]) & (f[1:-1] <= f[2:]) & moving)
    some = gaps.take(i)
    least = _least(some, times[k], times[k + 2])
    low = some.gap(least) - d
    for rows, root in (
        (low <= -touch, lambda rows: _halved(some.take(rows), d, times[k[rows]], least[rows])),
        (np.abs(low) < touch, lambda rows: least[rows]),
    ):
        rows = np.flatnonzero(rows)
        falls.append((i[rows], root(rows)))
    # what is there at the start already, and comes nearer too slowly to have a root beside it
    start = np.full(n, -0.5)
    there = np.flatnonzero((np.abs(gaps.gap(start) - d) <= touch) & moving)
    falls.append((there, start[there]))
    i, s = (np.concatenate(x) for x in zip(*falls, strict=True))
    s = np.clip(s, -0.5, 0.5)
    parts = [_described(gaps.take(i), s, s, d)]
    for one in np.flatnonzero(lasting):
        for begin, end in _spans(gaps.take([one]), d):
            parts.append(_described(gaps.take([one]), np.array([begin]), np.array([end]), d, True))
    return concatenate(parts)


def _halved(gaps, d, low, high):
    """Where gaps fall through ``d`` between two times (n,)."""
    low, high = low.copy(), high.copy()
    for _ in range(HALVINGS):
        mid = 0.5 * (low + high)
        if ((mid == low) | (mid == high)).all():  # no number lies between
            break
        above = gaps.gap(mid) > d
        low, high = np.where(above, mid, low), np.where(above, high, mid)
    return high


def _least(gaps, low, high):
    """Where gaps are least between two times (n,), by thirds."""
    low, high = low.copy(), high.copy()
    twice = gaps.take(np.tile(np.arange(len(low)), 2))
    for _ in range(2 * HALVINGS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        if ((one == low) & (two == high)).all():
            break
        left = np.less_equal(*np.split(twice.gap(np.concatenate([one, two])), 2))
        low, high = np.where(left, low, one), np.where(left, two, high)
    return 0.5 * (low + high)


def _tolerances(gaps, s, d, judged):
    """How far outside its features and its cones a meeting may be found: the slower the approach, the less
    its place is worth."""
    m = gaps.motion
    on_a, back, u, inside, cone, speed = judged
    w = m.field(m.carry(back, s, -1.0), s, -1.0)
    rounding, rate = PLACE_ROUNDING * (m.size + m.speed), np.abs(speed)
    late = np.where(rate * m.tau > rounding, rounding / np.maximum(rate, 1e-300), m.tau)
    doubt = np.minimum(rounding + late * np.sqrt(dot(w, w)), PLACE_DOUBT * (m.size + m.speed))
    tol = TOUCH * m.size + doubt
    return tol, CONE + tol / d


def _contacts(gaps, s, d):
    """Which are contacts at their times (n,), and `Gaps.judged`."""
    judged = gaps.judged(s)
    on_a, back, u, inside, cone, speed = judged
    near, slack = _tolerances(gaps, s, d, judged)
    good = np.abs(gaps.gap(s) - d) <= OFF * TOUCH * gaps.motion.size
    good &= (inside >= -near) & (cone >= -slack) & (speed <= FACING * gaps.motion.speed)
    return good, judged


def _spans(gaps, d):
    """Intervals of the step in which a gap that stays what it is lies between the bodies' closest points."""
    times = np.linspace(-0.5, 0.5, TIMES)

    def there(s):
        return bool(_contacts(gaps, np.array([s]), d)[0][0])

    def border(inside, outside):
        for _ in range(HALVINGS):
            mid = 0.5 * (inside + outside)
            if mid in (inside, outside):
                break
            inside, outside = (mid, outside) if there(mid) else (inside, mid)
        return inside

    state = _contacts(gaps.take(np.zeros(TIMES, int)), times, d)[0]
    begun = None
    for k, s in enumerate(times):
        if state[k] and begun is None:
            begun = border(s, times[k - 1]) if k else s
        if begun is not None and not state[k]:
            yield begun, border(times[k - 1], s)
            begun = None
    if begun is not None:
        yield begun, 0.5


def _described(gaps, s, end, d, lasts=False):
    good, (on_a, back, u, inside, cone, speed) = _contacts(gaps, s, d)
    n = len(s)
    m = Meetings(
        kind=np.full(n, int(gaps.kind), np.uint8), feature_a=gaps.fa, feature_b=gaps.fb, s=s, s_end=end,
        sustained=np.full(n, lasts), properness=in_steps(np.clip(cone, 0.0, 1.0)), normal=u,
        normal_speed=speed, on_a=on_a, on_b=back, along_a=np.full(n, np.nan), along_b=np.full(n, np.nan),
    )  # fmt: skip
    return m.take(np.flatnonzero(good))


class _Points:
    """Closest points of meetings, which are one if they share both, all the while that the lesser lasts."""

    def __init__(self, motion, a, b, m):
        self.motion, self.m, self.sides, self.seen = motion, m, (a, b), {}

    def coincide(self, i, j):
        """Is meeting j at the points of meeting i for as long as that lasts?"""
        m = self.m
        shares = s08_contacts.SHARES if m.sustained[i] else (0.0,)
        for share in shares:
            s = m.s[i] + share * (m.s_end[i] - m.s[i])
            mine, other = self._at(i, s), self._at(j, min(max(s, m.s[j]), m.s_end[j]))
            if max(np.abs(mine[k] - other[k]).max() for k in (0, 1)) > mine[2] + other[2]:
                return False
        return True

    def _at(self, i, s):
        """Both closest points of a meeting, and how near others are the same."""
        if (i, s) not in self.seen:
            m, one, when = self.m, slice(i, i + 1), np.array([s])
            kind = Kind(int(m.kind[i]))
            gaps = Gaps(self.motion, *self.sides, kind, m.feature_a[one], m.feature_b[one], np.ones(1))
            judged = gaps.judged(when)
            near = _tolerances(gaps, when, 1.0, judged)[0]
            self.seen[i, s] = judged[0][0], judged[1][0], 4.0 * float(near[0])
        return self.seen[i, s]
