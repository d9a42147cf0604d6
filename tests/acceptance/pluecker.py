"""How a family of moves is run and judged: what the library says against what holds exactly.

A run gives an `Answer`; `judge` looks at each move of it. The judgement is about two things that have no
tolerance of the library's in them: the exact first touch of the path, and the exact distance of the bodies
where the library stops the mover (by the fraction, and again by the pose it returns).
"""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tests.oracle.exact_motion import first, first_through
from tests.oracle.exact_nudge import in_by_at_most, overlap_at_most
from tests.oracle.exact_pose import (
    Couple,
    distance2,
    feature_distance2,
    features_within,
    penetrating,
    touching,
)

# Distance of a stopped mover from what it touches, in zones: what is farther is invented.
FARTHEST = 3.0
# What passes a feature within so many zones is stopped (docs/pluecker.md: what is not stays as far away).
BORDER = 0.25
SLACK = 4.0  # that are looked at as they pass: what is farther comes down to it only from further off
CLOSER = 12  # times at which the way on is cut in two
REFUSED = (3, 4)  # gpu_collide.Status.INVALID_INPUT, UNRESOLVED


@dataclass
class Answer:
    """What a library says of n moves; `pose` is (positions, quaternions) or None."""

    fraction: np.ndarray
    hit: np.ndarray  # bool: something was met
    expel: np.ndarray
    pose: tuple | None = None
    normal: np.ndarray | None = None
    point: np.ndarray | None = None
    status: np.ndarray | None = None
    rounding: float = 2.0**-52
    kind: np.ndarray | None = None  # 3: two edges


@dataclass
class Verdict:
    """Of one move. Lengths in the scene's unit, `gap` the exact distance at the stop."""

    touch: float | None = None  # share of the motion at the first touch
    late: float = 0.0  # how deep the mover is in the other body at its stop, along the normal of contact
    missed: bool = False
    invented: bool = False
    inside: bool = False  # it began in a body: nothing more is said
    early: float | None = None  # what was still free along the normal of contact
    ahead: float | None = None  # distance of the nearest place ahead, where nothing is ever touched
    stuck: bool = False  # stopped, although nothing near comes nearer
    began: bool = False  # it began in touch, but for rounding
    grazed: bool = False  # began in touch, and went in by no more than the rounding of where it stood
    overlap: bool = False  # the returned pose touches, or goes into, a body
    gap: float | None = None
    gap_pose: float | None = None
    bad: list = field(default_factory=list)

    @property
    def ok(self):
        wrong = self.late > 0 or self.missed or self.invented or self.stuck or self.overlap or self.bad
        return not wrong


def doubt_of(passages, i, answer):
    """How far off rounding may put what begins in touch: a 16th of the zone that rounding asks for, which is
    256 roundings of the largest coordinate (`docs/pluecker.md`), or of the zone that is kept if thinner."""
    sizes = [np.abs(np.asarray(m.vertices)).max() for m in passages.meshes]
    rows = [i] if passages.each else slice(None)
    far = np.abs(passages.mover[1][i]).max() + np.abs(passages.still[1][rows]).max()
    far += sizes[passages.mover[0][i]] + max(sizes[k] for k in passages.still[0][rows])
    if passages.turns:
        far += np.abs(passages.origin[i]).max()
    return min(float(answer.expel[i]), 256 * answer.rounding * float(far)) / 16


def required(passages, i, k, motion, event):
    """Whether an event has to be found: of one-sided open meshes, only corners that come at a front."""
    mover, still = (passages.topology(passages.mover[0][i]), passages.topology(passages.still[0][k]))
    if all(t.closed or t.two_sided or len(t.triangles) == 0 for t in (mover, still)):
        return True
    face = {1: still, 2: mover}.get(event.kind)
    if face is None:
        return False
    place, normal = motion.place_of(event)
    against = float(normal @ motion.velocity(place)) * (-1 if event.kind == 1 else 1)
    return face.two_sided or against > 0


def true_touch(passages, i, through=False):
    """(time, motion, event, body) of the first touch, or of the first going in, of move i; None without.

    The second value says whether it can be judged at all.
    """
    best, sure = None, True
    for k, motion in passages.motions(i):
        if through:
            time = first_through(motion)
            event = None
        else:
            event = first(motion)
            time = None if event is None else event.time
        if time is None:
            continue
        if event is not None and event.kind and not required(passages, i, k, motion, event):
            sure = False
            continue
        if best is None or time < best[0]:
            best = (time, motion, event, k)
    return best, sure


def judge(passages, i, answer, farthest=FARTHEST):
    """The `Verdict` on move i."""
    out = Verdict()
    share, expel = float(answer.fraction[i]), float(answer.expel[i])
    if not (np.isfinite(share) and 0 <= share <= 1 and np.isfinite(expel)):
        out.bad.append(f"fraction {share}, expel {expel}")
        return out
    if answer.status is not None and answer.status[i] in REFUSED:
        out.inside = True  # said to be more than its numbers can do: nothing to judge
        return out
    couples = [(k, motion) for k, motion in passages.motions(i)]
    starts = [motion.at(Fraction(0)) for _, motion in couples]
    out.inside = any(penetrating(a, b) for a, b in starts)
    if out.inside:
        return out
    # nearer than a thousandth of the zone is touching, but for the rounding of the scene
    began = any(touching(a, b) for a, b in starts) or min(_gap(a, b) for a, b in starts) < 1e-3 * expel
    out.began = began
    best, sure = true_touch(passages, i, through=began)
    open_mover = passages.topology(passages.mover[0][i])
    open_mover = len(open_mover.triangles) > 0 and not open_mover.solid
    if began and (open_mover or not all(passages.topology(passages.still[0][k]).solid for k, _ in couples)):
        return out  # what stands in an open surface is on both sides of it
    doubt = doubt_of(passages, i, answer)
    if best is not None:
        out.touch = float(best[1].fraction(best[0]))
        _late(out, answer, i, best)
        if out.late and began:
            share_now = share_of(answer, i)
            out.grazed = all(in_by_at_most(motion, share_now, doubt) for _, motion in couples)
            if out.grazed:
                out.late, out.missed = 0.0, False
                _pose(out, passages, i, answer, couples, began, doubt)
                return out
    if share < 1 and not answer.hit[i]:
        out.bad.append("stops without a contact")
    share = share_of(answer, i)
    gaps = [0.0 if out.late else _gap(*motion.at(motion.time(share))) for _, motion in couples]
    out.gap = min(gaps)
    if answer.hit[i] and not out.late:
        _early(out, answer, i, best, couples, farthest * expel)
        # what begins in touch and goes in right where it is held is held rightly, by however little it sinks
        sinks = began and best is not None and best[0] == best[1].time(share)
        reach = max(farthest * expel, 1.01 * out.gap)
        out.stuck = not (out.invented or sinks) and not any(
            approaches(motion, share, reach) or passes(motion, share, BORDER * expel) for _, motion in couples
        )
    _pose(out, passages, i, answer, couples, began, doubt)
    if not sure:  # nobody says what an open one-sided mesh stops
        out.late, out.missed, out.overlap, out.stuck, out.invented = 0.0, False, False, False, False
    return out


def _early(out, answer, i, best, couples, most):
    """How far the mover would still have gone along the normal of its contact, and whether there is one."""
    share = float(answer.fraction[i])
    normal, place = answer.normal, answer.point
    if normal is None or (best is None and out.gap <= most):
        out.early, out.invented = out.gap, out.gap > most
        return
    if best is None:
        when, out.ahead = min((nearest_ahead(motion, share) for _, motion in couples), key=lambda x: x[1])
        motion = couples[0][1]
    else:
        when, out.ahead, motion = out.touch, 0.0, best[1]
    speed = motion.velocity(motion.local(place[i])) @ normal[i]
    out.early = min(out.gap, abs(when - share) * abs(speed))
    # nearly along a face the zone is entered long before the face is met: a stop that is beside it by more
    # than that is none
    far = 10 * (float(answer.expel[i]) * motion.size) ** 0.5
    out.invented = out.ahead > most or out.early > most or out.gap > far


def nearest_ahead(motion, share):
    """(share, distance) where the bodies are nearest from a share on: by sampling, then cutting in three."""
    left = 1.0 - share
    samples = np.unique([share, *(share + left * 0.5**k for k in range(50)), *np.linspace(share, 1, 33)])

    def gap(x):
        return _gap(*motion.at(motion.time(Fraction(float(x)))))

    found = [gap(x) for x in samples]
    k = int(np.argmin(found))
    low, high = samples[max(k - 1, 0)], samples[min(k + 1, len(samples) - 1)]
    best = samples[k], found[k]
    for _ in range(50):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        at_a, at_b = gap(a), gap(b)
        best = min(best, (a, at_a), (b, at_b), key=lambda x: x[1])
        low, high = (low, b) if at_a <= at_b else (a, high)
        if not low < high:
            break
    return best


def _late(out, answer, i, best):
    time, motion, event, _ = best
    over = motion.time(share_of(answer, i)) - time
    if over < 0 or (over == 0 and event is None):  # one that began in touch may go on until it goes in
        return
    when = float(answer.fraction[i]) - float(motion.fraction(time))
    speed = motion.pace(event) if event is not None and event.kind else motion.length
    out.late = max(when * speed, 1e-300)
    out.missed = not answer.hit[i]


def share_of(answer, i):
    return Fraction(float(answer.fraction[i]))


def _gap(a, b):
    return float(distance2(Couple(a, b), None)) ** 0.5


def approaches(motion, share, reach):
    """Whether something within `reach` of the mover at its stop comes nearer as the motion goes on."""
    here = Couple(*motion.at(motion.time(share)))
    step = Fraction(0.1 * reach / max(motion.length, 1e-300))
    on = share + step <= 1
    there = Couple(*motion.at(motion.time(share + step if on else max(Fraction(0), share - step))))
    for x in features_within(here, reach):
        change = feature_distance2(there, x) - feature_distance2(here, x)
        if (change < 0) if on else (change > 0):
            return True
    return on and penetrating(there, None)


def passes(motion, share, near):
    """Whether something comes nearer than it is at the stop, and within `near` of it, before it leaves again.

    By exact distances at ever shorter ways: that to a feature falls at first, and rises from its least on.
    """
    here = Couple(*motion.at(motion.time(share)))
    features = features_within(here, near * SLACK)
    at = [feature_distance2(here, x) for x in features]
    most, step = Fraction(near) ** 2, Fraction(near / max(motion.length, 1e-300))
    for _ in range(CLOSER if features else 0):
        if share + step <= 1:
            there = Couple(*motion.at(motion.time(share + step)))
            now = [feature_distance2(there, x) for x in features]
            if any(b < a and b <= most for a, b in zip(at, now, strict=True)):
                return True
        step /= 2
    return False


def _pose(out, passages, i, answer, couples, began, doubt):
    """The pose that is returned: clear of every body, if the start was; and where the fraction says it is."""
    if answer.pose is None:
        return
    pose = answer.pose[0][i], answer.pose[1][i]
    if not all(np.isfinite(x).all() for x in pose):
        out.bad.append("pose is not finite")
        return
    mover = passages.placed("mover", i, pose)
    gaps = []
    for k, _ in couples:
        still = passages.placed("still", k)
        couple = Couple(mover, still)
        if began:
            out.overlap |= penetrating(couple, None) and not overlap_at_most(mover, still, doubt)
        else:
            gaps.append(float(distance2(couple, None)) ** 0.5)
    if gaps:
        out.gap_pose = min(gaps)
        out.overlap |= out.gap_pose == 0
