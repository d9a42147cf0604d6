"""Meetings of a pair with a cylinder or a cone: stages 7 and 8 for these.

The gap of each feature is looked at at many times, and halved where it falls to the distance.
"""

from dataclasses import fields, replace

import numpy as np

from gpu_collide.reference.narrow_phase._properness import FACING
from gpu_collide.reference.narrow_phase.distance_functions import Gaps, dot
from gpu_collide.reference.narrow_phase.s07_solve import TOUCH, Meetings, in_steps
from gpu_collide.results.enums import Kind

__all__ = ["nearer_at", "revolved_meetings"]

TIMES, HALVINGS = 65, 60
# Times at which contact that lasts is looked at.
LASTING = 64
# Between two times a least gap is looked for by thirds.
THIRDS = 40


def nearer_at(pair, s):
    """Are both nearer to each other than the distance at a time?"""
    return pair.gap(s) < -TOUCH * pair.motion.size


def revolved_meetings(pair, min_properness):
    """`Meetings` wherever the gap of a feature falls to the distance, in the order of times, kinds and
    features."""
    met = [_described(pair, -0.5, min_properness).take(np.zeros(0, int))]
    columns, times = pair.columns(), np.linspace(-0.5, 0.5, TIMES)
    gaps = np.array([pair.levels(columns, s) for s in times[: TIMES if pair.motion.moves else 1]])
    for column, own in zip(columns, gaps.T, strict=True):
        for s in _falls(pair, column, times, own):
            met.append(_of_column(pair, column, _described(pair, s, min_properness)))
    every = Meetings(*(np.concatenate([getattr(x, f.name) for x in met]) for f in fields(Meetings)))
    return every.take(np.lexsort([every.feature_b, every.feature_a, every.kind, every.s]))


def _of_column(pair, column, met):
    """Those of the meetings at a time that are one feature's, and how long each lasts."""
    sort, number, end, side = column
    if sort != "both":
        names = [Kind(int(kind)).name for kind in met.kind]
        mine, own = (met.feature_a, met.feature_b) if pair.of_b else (met.feature_b, met.feature_a)
        letter = np.array([name[0 if pair.of_b else 1] for name in names], "<U1")
        some = (letter == sort) & (mine == number)
        if sort == "F":
            some &= (own == end) & (len(met) > 0 and not pair.lower(number, end, side, met.s[0]))
        met = met.take(some)
    if not len(met):
        return met
    s_end = _until(pair, column, met.s[0])
    lasts = s_end - met.s[0] > min(2 * pair.motion.tau, 0.5)
    return replace(
        met, s_end=np.full(len(met), s_end) if lasts else met.s, sustained=np.full(len(met), lasts)
    )


def _there(pair, column, s):
    """Is a feature in touch at a time, itself and not its border?"""
    sort, number, end, side = column
    if abs(pair.level(column, s)) > TOUCH * pair.motion.size:
        return False
    if sort == "both":
        return True
    touch = pair.touch(s)
    some = (touch.sort == sort) & (touch.number == number) & (np.abs(touch.gap) <= TOUCH * pair.motion.size)
    if sort == "F":
        return bool((some & (touch.part == end)).any()) and not pair.lower(number, end, side, s)
    return bool(some.any())


def _last(holds, low, high):
    """The last time at which something holds that does at `low` and not at `high`."""
    for _ in range(HALVINGS):
        mid = 0.5 * (low + high)
        low, high = (mid, high) if holds(mid) else (low, mid)
    return low


def _until(pair, column, s):
    """Until when a feature stays in touch, by times close to each other."""

    def holds(when):
        return _there(pair, column, when)

    if not holds(min(s + 4 * pair.motion.tau, 0.5)):
        return s
    low = s
    for k in range(1, LASTING + 1):
        high = s + (0.5 - s) * k / LASTING
        if not holds(high):
            return _last(holds, low, high)
        low = high
    return 0.5


def _falls(pair, column, times, gaps):
    """Times at which the gap of a feature, known at some, falls to the distance, or is in touch when the step
    begins."""
    size, touch = pair.motion.size, TOUCH * pair.motion.size

    def level(s):
        return pair.level(column, s)

    found = [-0.5] if abs(gaps[0]) <= touch else []
    if len(gaps) < TIMES:
        return found
    for k in range(1, TIMES):
        low, high, last = times[k - 1], times[k], gaps[k]
        if gaps[k - 1] <= touch:
            # what slides in touch comes over a face, or to another feature
            if abs(gaps[k - 1]) <= touch and abs(last) <= touch and _there(pair, column, high):
                if not _there(pair, column, low):
                    found.append(-_last(lambda s: _there(pair, column, -s), -high, -low))
            continue
        if last > touch:
            # between neighbours of a least one it may be lower
            if (
                k == TIMES - 1
                or last > min(gaps[k - 1], gaps[k + 1])
                or last > touch + pair.motion.speed / TIMES
            ):
                continue
            high = times[k + 1]
            for _ in range(THIRDS):
                one, two = low + (high - low) / 3, high - (high - low) / 3
                low, high = (low, two) if level(one) <= level(two) else (one, high)
            low, high = times[k - 1], 0.5 * (low + high)
            last = level(high)
            if last > touch:
                continue
        if last <= 0 or high == times[k]:  # else it touches where it is least
            limit = max(last + 1e-15 * size, 0.0)
            for _ in range(HALVINGS):
                mid = 0.5 * (low + high)
                low, high = (mid, high) if level(mid) > limit else (low, mid)
        found.append(high)
    return found


def _described(pair, s, min_properness):
    """What is in touch at a time, and comes nearer."""
    m = pair.motion
    touch, before = pair.touch(s), pair.touch(max(s - 1e-6, -0.5))
    # two points in one place have no direction: the one they had a millionth of the step earlier
    names = [list(zip(x.sort, x.number, x.part, strict=True)) for x in (touch, before)]
    one_place = np.linalg.norm(touch.on_k - touch.on_m, axis=1) <= 1e-6 * m.size
    for i, name in enumerate(names[0]):
        if one_place[i] and name in names[1]:
            touch.normal[i] = before.normal[names[1].index(name)]
    touch = touch.take(np.abs(touch.gap) <= TOUCH * m.size)
    n, when = len(touch.gap), np.full(len(touch.gap), s)
    speed = dot(touch.normal, m.field(touch.on_k if pair.of_b else touch.on_m, when, -1.0))
    mesh = pair.a if pair.of_b else pair.b
    u = touch.normal if pair.of_b else -m.carry_direction(touch.normal, when, 1.0)
    cone = np.ones(n)
    for i in range(n):
        kind = {"F": Kind.FV, "E": Kind.EV, "V": Kind.VV}[str(touch.sort[i])]
        one = np.array([touch.number[i]])
        if not pair.both:
            cone[i] = Gaps(m, mesh, mesh, kind, one, one, np.ones(1))._cone(mesh, one, 0, u[i : i + 1])[0]
    letters = [("V", "V", "E")[part] for part in touch.part]
    kinds = [
        int(Kind[sort + own if pair.of_b else own + sort])
        for sort, own in zip(touch.sort, letters, strict=True)
    ]
    number, own = touch.number, np.where(touch.part == 2, 0, touch.part)
    on_a, on_b = (touch.on_m, touch.on_k) if pair.of_b else (touch.on_k, touch.on_m)
    met = Meetings(
        kind=np.array(kinds, np.uint8), feature_a=number if pair.of_b else own,
        feature_b=own if pair.of_b else number, s=when, s_end=when, sustained=np.zeros(n, bool),
        properness=in_steps(np.clip(cone, 0.0, 1.0)), normal=touch.normal, normal_speed=speed, on_a=on_a,
        on_b=m.carry(on_b, when, 1.0), along_a=np.full(n, np.nan), along_b=np.full(n, np.nan),
    )  # fmt: skip
    good = (speed <= FACING * m.speed) & (cone >= -1e-6) & (met.properness >= min_properness)
    # rim beside rim is found around either
    rows = np.stack([met.kind, met.feature_a, met.feature_b], axis=1)[good]
    return met.take(np.flatnonzero(good)[np.unique(rows, axis=0, return_index=True)[1]])
