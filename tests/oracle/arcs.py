"""Rectangles on arcs in the plane, and whether they meet, with nothing of the library: by separating axes at
many times, by advancing as far as nothing can have met, and, of straight ways, in closed form.

Ways are rows (x, y, yaw, speed, yaw rate); sizes are rows (length, width).
"""

import numpy as np

__all__ = ["advanced", "meets_at_samples", "on_arc", "separation", "straight_meeting"]

RATE = 10_000  # samples a second
FIRST = 16  # of these apart: the first look


def on_arc(ways, t):
    """Places (k, 2) and headings (k,) at times (k,)."""
    x, y, yaw, speed, turn = ways.T
    chord = np.sinc(turn * t / (2 * np.pi)) * speed * t
    half = yaw + 0.5 * turn * t
    return np.stack([x + chord * np.cos(half), y + chord * np.sin(half)], axis=1), yaw + turn * t


def separation(a, b, size_a, size_b, t):
    """The greatest gap along the axes of both at times t, below 0 where they overlap; (k,)."""
    (at, yaw_a), (to, yaw_b) = on_arc(a, t), on_arc(b, t)
    off = to - at
    cosine, sine = np.abs(np.cos(yaw_b - yaw_a)), np.abs(np.sin(yaw_b - yaw_a))
    best = np.full(len(t), -np.inf)
    for yaw, own, other in ((yaw_a, size_a, size_b), (yaw_b, size_b, size_a)):
        c, s = np.cos(yaw), np.sin(yaw)
        along, across = off[:, 0] * c + off[:, 1] * s, off[:, 1] * c - off[:, 0] * s
        reach = 0.5 * (own[:, 0] + other[:, 0] * cosine + other[:, 1] * sine)
        best = np.maximum(best, np.abs(along) - reach)
        reach = 0.5 * (own[:, 1] + other[:, 0] * sine + other[:, 1] * cosine)
        best = np.maximum(best, np.abs(across) - reach)
    return best


def _fastest(a, b, size_a, size_b, seconds):
    """How fast the separation can change (k,): of points of one in the frame of the other."""
    speed = np.abs(a[:, 3]) + np.abs(b[:, 3])
    apart = np.linalg.norm(b[:, :2] - a[:, :2], axis=1) + speed * seconds
    radius = [0.5 * np.linalg.norm(size, axis=1) for size in (size_a, size_b)]
    turns = np.abs(a[:, 4]), np.abs(b[:, 4])
    one = speed + turns[0] * (apart + radius[1]) + turns[1] * radius[1]
    other = speed + turns[1] * (apart + radius[0]) + turns[0] * radius[0]
    return np.maximum(one, other)


def meets_at_samples(a, b, size_a, size_b, seconds):
    """Whether they overlap at any of the times k / 10,000 s up to `seconds`, (k,) bool.

    Every sixteenth is looked at first, then those between where the separation is so small that it may be
    below 0 there.
    """
    last = round(seconds * RATE)
    fastest, found = _fastest(a, b, size_a, size_b, seconds) / RATE, np.zeros(len(a), bool)
    for k in range(0, last + 1, FIRST):
        # what may be below 0 at a sample up to half of sixteen away
        gap = separation(a, b, size_a, size_b, np.full(len(a), k / RATE))
        found |= gap < 0
        some = np.flatnonzero((gap < fastest * (FIRST // 2)) & ~found)
        for off in range(-(FIRST // 2), FIRST // 2 + 1):
            if not (off and 0 <= k + off <= last) or not len(some):
                continue
            fine = separation(
                a[some], b[some], size_a[some], size_b[some], np.full(len(some), (k + off) / RATE)
            )
            found[some[fine < 0]] = True
            some = some[fine >= 0]
    return found


def advanced(a, b, size_a, size_b, seconds, tolerance=1e-9, most=20_000):
    """The first time (k,) at which the separation is at most the tolerance, inf if it never is, not a number
    where that is not found in so many steps, as of sides that slide along each other a hair apart.

    From a time at which it is g nothing happens for g over the speed at which it can change.
    """
    fastest = _fastest(a, b, size_a, size_b, seconds)
    time, todo = np.zeros(len(a)), np.arange(len(a))
    for _ in range(most):
        if not len(todo):
            return time
        gap = separation(a[todo], b[todo], size_a[todo], size_b[todo], time[todo])
        apart = gap > tolerance
        todo, gap = todo[apart], gap[apart]
        with np.errstate(divide="ignore"):
            time[todo] += gap / fastest[todo]
        late = time[todo] > seconds
        time[todo[late]] = np.inf
        todo = todo[~late]
    time[todo] = np.nan
    return time


def straight_meeting(a, b, size_a, size_b, seconds):
    """First time of overlap (k,) of ways without a yaw rate, inf if there is none: along each of four fixed
    axes the gap is linear on both sides, so each is closed from one time to another."""
    assert not a[:, 4].any() and not b[:, 4].any()
    begin, end = np.zeros(len(a)), np.full(len(a), seconds)
    headings = [np.stack([np.cos(way[:, 2]), np.sin(way[:, 2])], axis=1) for way in (a, b)]
    speed = headings[1] * b[:, 3:4] - headings[0] * a[:, 3:4]
    off = b[:, :2] - a[:, :2]
    cosine = np.abs((headings[0] * headings[1]).sum(axis=1))
    sine = np.abs(headings[0][:, 0] * headings[1][:, 1] - headings[0][:, 1] * headings[1][:, 0])
    for ahead, own, other in ((headings[0], size_a, size_b), (headings[1], size_b, size_a)):
        aside = np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)
        reaches = (
            0.5 * (own[:, 0] + other[:, 0] * cosine + other[:, 1] * sine),
            0.5 * (own[:, 1] + other[:, 0] * sine + other[:, 1] * cosine),
        )
        for axis, reach in zip((ahead, aside), reaches, strict=True):
            at, rate = (off * axis).sum(axis=1), (speed * axis).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                first, last = np.sort([(-reach - at) / rate, (reach - at) / rate], axis=0)
            still = rate == 0.0
            inside = np.abs(at) <= reach
            begin = np.maximum(begin, np.where(still, np.where(inside, 0.0, np.inf), first))
            end = np.minimum(end, np.where(still, np.where(inside, np.inf, -np.inf), last))
    return np.where(begin <= end, begin, np.inf)
