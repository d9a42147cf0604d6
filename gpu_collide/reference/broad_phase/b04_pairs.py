"""Stage 4: which pairs may meet, each pair on its own.

Each body on its own motion (``motion="body"``): their swept boxes meet if they do. The rest is for the motion
of pairs on one screw each.

One of them still: the motion of the pair is the other's own screw, so their swept boxes meet if they do.

Both moving. The motion of the pair is that of B seen from A, one screw, and not made up of their own; so
swept boxes say nothing. With d(t) = (1 - t) d0 + t d1 the way from A's centre to B's if both went straight, e
= d1 - d0, alpha the angle of A's own turn and theta that of the relative one:

In A's half-way orientation B's centre goes from H d0 to H' d1, H a turn by alpha/2 and H' its inverse. The
chord between them is, at time t, ((1 - t) H + t H') d(t) + t (1 - t) (H' - H) e. Its first part is at least
cos(alpha/2) |d(t)| long, its second at most sin(alpha/2) |e| / 2. The true path is an arc over the chord,
turning by theta; it leaves the chord most in the middle, by tan(theta/4) / 2 of the chord's length, which is
at most 2 sin(alpha/2) |d(t)| + |e|. A contact at time t needs a way of at most size = radius_A + radius_B, so
that

    |d(t)| (cos(alpha/2) - tan(theta/4) sin(alpha/2)) <= size + (sin(alpha/2) + tan(theta/4)) |e| / 2.

With x = alpha/2 + theta/4 the bracket is cos(x) / cos(theta/4); multiplied by cos(theta/4) and with sines
above by their angles: |d(t)| cos(x) <= size + x |e| / 2. From B's side the same holds with B's turn, so the
lesser of both turns may be taken. From x = pi/2 on there is no bound.
"""

import time

import numpy as np

from gpu_collide.reference.broad_phase.b01_bounds import C, bounds_of
from gpu_collide.results.report import PairReport

BLOCK = 1 << 21  # pairs looked at together


def reach(size, way, angle, turn):
    """How near d(t) must come to nothing for a meeting; infinite if any distance will do."""
    x = 0.5 * angle + 0.25 * turn + C["GC_BVH_ANGLE_PAD"]
    with np.errstate(divide="ignore"):
        return np.where(np.cos(x) > 1e-4, (size + 0.5 * x * way) / np.maximum(np.cos(x), 1e-4), np.inf)


def nearest(start, end):
    """Least length of vectors (..., 3) that go evenly from `start` to `end`."""
    way = end - start
    square = np.sum(way * way, axis=-1)
    t = np.clip(-np.sum(start * way, axis=-1) / np.where(square > 0, square, 1.0), 0.0, 1.0)
    return np.linalg.norm(start + t[..., None] * way, axis=-1)


def may_meet(bounds, a, b, motion="relative"):
    """Of the pairs of bodies a, b (k,): may they meet during the step? (k,) bool."""
    boxes = ((bounds.low[a] <= bounds.high[b]) & (bounds.low[b] <= bounds.high[a])).all(axis=1)
    if motion == "body":
        return boxes | bounds.wild[a] | bounds.wild[b]
    angle_a, angle_b = bounds.angle[a], bounds.angle[b]
    cosine = np.abs(np.sum(bounds.turn[a] * bounds.turn[b], axis=1))
    turn = 2 * np.arccos(np.minimum(cosine, 1.0)) + 4 * C["GC_BVH_SINE_PAD"]
    e = (bounds.end[b] - bounds.end[a]) - (bounds.start[b] - bounds.start[a])
    near = nearest(bounds.start[b] - bounds.start[a], bounds.end[b] - bounds.end[a])
    limit = reach(
        bounds.radius[a] + bounds.radius[b], np.linalg.norm(e, axis=1), np.minimum(angle_a, angle_b), turn
    )
    straight = np.maximum(angle_a, angle_b) <= C["GC_BVH_STRAIGHT"]
    moving = (near <= limit) & (boxes | ~straight)
    one_still = bounds.still[a] | bounds.still[b]
    return np.where(one_still, boxes, moving) | bounds.wild[a] | bounds.wild[b]


def allowed(rules, bounds, a, b):
    """Of the pairs a < b (k,): do the rules allow them? (k,) bool."""
    good = bounds.valid[a] & bounds.valid[b]
    if rules.world is not None:
        wa, wb = rules.world[a], rules.world[b]
        good &= (wa == wb) | (wa == -1) | (wb == -1)
    if rules.group is not None or rules.mask is not None:
        ones = np.full(rules.n, 0xFFFFFFFF, np.uint32)
        group = ones if rules.group is None else rules.group
        mask = ones if rules.mask is None else rules.mask
        good &= ((group[a] & mask[b]) != 0) & ((group[b] & mask[a]) != 0)
    if not rules.still_pairs:
        good &= ~(bounds.still[a] & bounds.still[b])
    return good & ~np.isin(a.astype(np.int64) * rules.n + b, rules.ignore)


class ReferenceSearch:
    """What `gpu_collide.pipeline.broad_phase.pairs.search` answers on the backend ``reference``: the same
    names.

    Attributes
    ----------
    starts : (n + 1,) int64
    report : PairReport
    """

    tree, complete = None, True

    def __init__(self, bodies, rules, broad_phase, motion="relative", margin=0.0):
        begun = time.perf_counter()
        self.rules, self.everything, self.motion = rules, broad_phase == "off", motion
        self.bounds = bounds_of(bodies, margin=margin)
        valid, still = self.bounds.valid, self.bounds.still
        self.report = PairReport(
            broad_phase, rules.n, np.flatnonzero(~valid), rules.possible(valid, still), tests=0
        )
        built = time.perf_counter()
        counts = np.zeros(rules.n, np.int64)
        for pairs in self._found():
            counts += np.bincount(pairs[:, 0], minlength=rules.n)
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.report.pairs = self.total
        self.report.tests = rules.n * (rules.n - 1) // 2
        self.report.seconds_build, self.report.seconds_search = built - begun, time.perf_counter() - built

    @property
    def total(self):
        """Number of pairs."""
        return int(self.starts[-1])

    def __len__(self):
        return self.total

    def _found(self):
        """Pairs that pass, (k, 2) int32 at a time, in lexicographic order."""
        n = self.rules.n
        for a in range(n):
            for first in range(a + 1, n, BLOCK):
                yield self._of_row(a, np.arange(first, min(first + BLOCK, n)))

    def _of_row(self, a, b):
        a = np.full(len(b), a)
        good = allowed(self.rules, self.bounds, a, b)
        a, b = a[good], b[good]
        if not self.everything:
            good = may_meet(self.bounds, a, b, self.motion)
            a, b = a[good], b[good]
        return np.stack([a, b], axis=1).astype(np.int32)

    def blocks(self, limit):
        """Yield the pairs in lexicographic order, as (p, 2) int32 arrays of at most `limit` rows."""
        held, count = [], 0
        for pairs in self._found():
            held.append(pairs)
            count += len(pairs)
            if count >= limit:
                joined = np.concatenate(held)
                whole = count - count % limit
                for k in range(0, whole, limit):
                    yield joined[k : k + limit]
                held, count = [joined[whole:]], count - whole
        if count:
            yield np.concatenate(held)
