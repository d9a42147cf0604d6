"""Is a cast's answer right? Decided by whole numbers (tests/oracle/sweep.py), whatever gave the answer.

A tolerance is a distance. What is asked for: a hit is at the face that it names, at its time, coming nearer,
from the front, with the point, normal and feature that belong to it; and no face is entered deeper than the
tolerance before the time given. So grazing counts either way within the tolerance, and nothing else does.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tests.acceptance.sweep_places import lies, margin_of, matrix, pierced, unit
from tests.oracle.exact import sub, times

TINY = 2.0**-52
SMALL = 2.0**-23
LEVEL = 1e-9, 1e-4  # double, single
LEAST = 1e-12, 1e-5
LARGE = 1000  # a radius of fewer tolerances has touches that depend on them
GONE = -1


@dataclass
class Answer:
    """One row a cast ("first", "any"), or `query` says of which each row is ("all"). Feature: 0 none, 1 face,
    2 edge, 3 vertex."""

    hit: np.ndarray
    time: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    body: np.ndarray
    face: np.ndarray
    feature: np.ndarray
    query: np.ndarray | None = None

    def rows(self, i):
        if self.query is None:
            return [i] if self.hit[i] else []
        return np.flatnonzero((self.query == i) & self.hit).tolist()


@dataclass
class Verdict:
    """What was wrong with one cast; lengths in tolerances."""

    due: bool = False  # a touch that must be told
    time: float = math.inf  # by when
    hit: bool = False
    missed: bool = False
    late: float = 0.0  # how far beyond the touch, as a length
    passed: bool = False  # its centre went through a face before the time given
    invented: str = ""  # no touch of that face then: apart, inside, leaves, behind, seam
    held: bool = False  # touches at the start and goes along: neither nearer nor away, exactly
    alone: bool = False  # a side or corner of a face that was met before, in vain, with nothing nearer there
    wrong: list = field(default_factory=list)  # other things: point, normal, feature, ...
    gap: float = 0.0  # largest distance between surface and ball at a claim

    @property
    def ok(self):
        return not (self.missed or self.late or self.passed or self.invented or self.held or self.wrong)


@dataclass
class Due:
    """A face (None: any) must be told of by a time."""

    ball: int
    body: int
    face: int | None
    time: Fraction
    since: Fraction = Fraction(0)


class Judge:
    """Of one family's answers. `digits` is "double" or "single"."""

    def __init__(self, casts, digits="double"):
        self.casts, self.single = casts, digits == "single"
        self._due = {}  # of casts, whatever the answer
        self.level = LEVEL[self.single]  # how far from level a path along a face may be told to be
        self.least = LEAST[self.single]  # of directions and lengths
        shape, position, _ = casts.bodies
        self.middle = np.zeros(3)
        if len(shape) == 0:
            self.extent = 0.0
            return
        far = np.array([np.abs(m.vertices).max() * math.sqrt(3) for m in casts.meshes])[np.asarray(shape)]
        if self.single:  # places count from the middle of the world, however far away that is
            ends = position if casts.carried is None else np.concatenate((position, position + casts.carried))
            pad = np.resize(far, len(ends))[:, None]
            self.middle = ((ends - pad).min(axis=0) + (ends + pad).max(axis=0)) / 2
        self.extent = (far + np.abs(position - self.middle).max(axis=1)).max()

    def tolerance(self, i):
        c = self.casts
        coordinates = self.extent + np.abs(c.start[i] - self.middle).max() + np.abs(c.path[i]).max()
        if c.carried is not None and len(c.carried):
            coordinates += np.abs(c.carried).max()
        radius = max(np.max(r) for _, r, _ in c.balls(i))
        path = float(np.linalg.norm(c.path[i]))
        if self.single:
            return 1e-5 * path + 32 * SMALL * (coordinates + radius)
        return 1e-12 * path + 32 * TINY * (coordinates + radius)

    def verdict(self, i, answer, hits="first"):
        out, tol = Verdict(), self.tolerance(i)
        passes = list(self.casts.passes(i))
        rows = answer.rows(i)
        out.hit = bool(rows)
        claims = [self._claim(out, k, i, answer, passes, tol) for k in rows]
        if "not finite" in out.wrong:
            return out
        if i not in self._due:
            self._due[i] = [d for b, body, p in passes for d in self._surely_due(p, b, body, tol)]
        dues = self._due[i]
        out.due = bool(dues)
        out.time = float(min((d.time for d in dues), default=math.inf))
        times = [Fraction(float(answer.time[k])) for k in rows]
        if hits != "all":
            last = times[0] if times else None
            for d in dues:
                if hits == "first":
                    self._compare(out, d, last, passes, tol)
                elif last is None:
                    out.missed = True
            return out
        if times != sorted(times):
            out.wrong.append("order")
        for d in dues:
            seen = [t for near, t in zip(claims, times, strict=True) if self._tells(d, near, t)]
            self._compare(out, d, min(seen) if seen else None, passes, tol)
        return out

    def _compare(self, out, due, last, passes, tol):
        """Was the due touch told of by its time?"""
        if last is None:
            out.missed = True
        elif last > due.time:
            out.late = max(out.late, float(last - due.time) * passes[0][2].speed)
        else:
            return
        end = Fraction(1) if last is None else last
        out.passed |= any(by < end for _, _, p in passes for _, by in pierced(p, margin_of(p, tol)))

    def _tells(self, due, near, time):
        """Does a claim that is at some faces of a body tell of a due touch?"""
        ball, body, faces = near
        return (
            time >= due.since
            and (ball, body) == (due.ball, due.body)
            and (due.face is None or due.face in faces)
        )

    # ---- what must be told ----

    def _surely_due(self, p, ball, body, tol):
        """What is due for a ball that is smaller by the tolerance, and for the ball itself.

        Among the faces of a corner the smaller ball may be nearest to another one: where the tolerance is a
        part of the radius, as for needles in float32, it has touches that the ball has not.
        """
        dues = list(self._dues(p, ball, body, tol))
        if dues and margin_of(p, tol) * LARGE > p.r:
            truly = {(d.ball, d.body, d.face) for d in self._dues(p, ball, body, 0.0)}
            dues = [d for d in dues if (d.ball, d.body, d.face) in truly]
        return dues

    def _dues(self, p, ball, body, tol):
        m = margin_of(p, tol)
        if p.speed == 0:
            return
        if p.r <= 4 * m:
            for since, by in pierced(p, m):
                if since > 0 or not p.two_sided:  # one that begins on a face of two sides may be leaving it
                    yield Due(ball, body, None, by, since)
            return
        at_start, clear = {}, []
        for f in p.faces_near(0.0):
            if not p.surface.flat[f]:
                near = p.near(f, p.c, 1)
                if near.square <= p.r * p.r:
                    at_start[f] = near
                else:
                    clear.append(f)
        for f, near in at_start.items():
            nearer = -(near.toward @ p.way) / near.away if near.away else 0.0
            in_front = p.two_sided or p.front(near.feature, f, p.c, 1) > m / p.scale
            if nearer > self.level and in_front and near.away > 4 * m / p.scale:
                if lies(p, near.feature, p.c, 1, m):
                    continue
                by = Fraction(4 * m, p.scale) / Fraction(nearer * p.speed)
                if by <= 1:
                    yield Due(ball, body, f, by)
        for f in (*at_start, *clear):
            by = self._onto(p, f, m)
            if by is not None and by <= 1:
                yield Due(ball, body, None, by)
        for f in clear:
            touch = p.first(f, p.r - m)
            if touch is None or touch.time > 1:
                continue
            if not p.two_sided and min(touch.front, p.first(f).front) <= 4 * m / p.scale:
                continue  # from behind, or on the border of it
            # sunk into a neighbour at the start: what the distance from both falls to is not this face
            there = () if touch.feature is None else p.surface.at[touch.feature]
            if not any(p.surface.face_of[t] in at_start for t in there) and not lies(
                p, touch.feature, *p.place(touch.time), m
            ):
                yield Due(ball, body, f, touch.time)

    def _onto(self, p, face, m):
        """By when a ball that comes onto a face sunk in must have touched something; None if it does not so.

        There is no nearer way to the face than through it, so that whatever it has sunk into before, it sinks
        deeper from then on.
        """
        found = p.onto(face)
        if found is None or found[0] == 0:
            return None
        time, until, ahead, pace, rate = found
        if (
            not 4 * m < abs(Fraction(ahead)) * p.scale < p.r - 4 * m
            or pace <= self.level
            or rate <= self.level
        ):
            return None
        if ahead < 0 and not p.two_sided:
            return None
        by = time + 16 * Fraction(m, p.scale) * Fraction(1 / pace + 1 / rate) / Fraction(p.speed)
        return by if by < until else None

    # ---- what was told ----

    def _claim(self, out, k, i, answer, passes, tol):
        """Judges row k; returns (ball, body, faces it is at)."""
        nothing = GONE, GONE, ()
        values = [answer.time[k], *answer.point[k], *answer.normal[k]]
        if not np.isfinite(values).all() or not 0 <= answer.time[k] <= 1:
            out.wrong.append("not finite")
            return nothing
        body, face = int(answer.body[k]), int(answer.face[k])
        mine = [(b, p) for b, at, p in passes if at == body]
        if not mine or not 0 <= face < len(mine[0][1].surface.loops):
            out.wrong.append("index")
            return nothing
        found = []
        for b, p in mine:  # of a group any ball may be it
            v = Verdict()
            self._at_face(v, k, i, answer, b, p, tol)
            found.append((v, b, p))
        v, b, p = min(found, key=lambda x: (bool(x[0].invented), x[0].held, len(x[0].wrong), x[0].gap))
        out.invented, out.held, out.gap = out.invented or v.invented, out.held or v.held, max(v.gap, out.gap)
        out.wrong += v.wrong
        out.alone |= v.alone
        place, den = p.place(Fraction(float(answer.time[k])))
        margin = margin_of(p, tol) / p.scale
        reach = p.r / p.scale + margin
        return b, body, [f for f in p.faces_near(margin) if p.near(f, place, den).away <= reach]

    def _at_face(self, out, k, i, answer, b, p, tol):
        face, time = int(answer.face[k]), Fraction(float(answer.time[k]))
        place, den = p.place(time)
        near, margin = p.near(face, place, den), margin_of(p, tol) / p.scale
        out.gap = max(near.away - p.r / p.scale, 0.0) / margin
        out.invented = self._fault(near, time, p, face, place, den, margin)
        if not out.invented:
            out.held = time == 0 and near.nearer == 0 and near.away > 4 * margin
            if near.away < p.r / p.scale - margin and p.surface.flat[face]:
                return  # come onto, sunk in: where its plane is, and so the foot, is up to rounding
            self._rest(out, k, i, answer, b, p, near, margin, place, den)
        if not (out.invented or out.held or out.wrong) or answer.feature[k] not in (2, 3):
            return
        # What faces share is told of any. And a side or corner counts by itself where the face was met in
        # vain: it was sunk into at the start, or was met from behind.
        others = [(p.near(f, place, den), f, False) for f in p.surface.beside(face)]
        others += [(side, face, True) for side in p.near_sides(face, place, den)]
        for other, f, alone in others:
            trial = Verdict(invented=self._fault(other, time, p, f, place, den, margin))
            if not trial.invented and not (time == 0 and other.nearer == 0 and other.away > 4 * margin):
                self._rest(trial, k, i, answer, b, p, other, margin, place, den)
                if not trial.wrong:
                    out.invented, out.held, out.wrong, out.alone = "", False, [], alone
                    return

    def _fault(self, near, time, p, face, place, den, margin):
        """Why a place that is `near` a feature is no touch of it, or ""."""
        gap = near.away - p.r / p.scale
        if gap > margin:
            return "apart"
        if gap < -margin and time > 0:
            if not self._comes(time, p, face, margin) and not self._over_end(p, face, place, den, margin):
                return "inside"
        if p.speed == 0:
            return "leaves"
        vague = margin < p.r / p.scale <= 16 * margin  # a tolerance that is a good part of the radius
        if near.away > 4 * margin:  # which way it is off is not known to better than the tolerance there
            if not vague and -(near.toward @ p.way) / near.away < -max(self.level, margin / near.away):
                return "leaves"
        elif not (p.two_sided or vague) and self._against(p, near, face) < -self.level:
            return "leaves"
        if not p.two_sided and p.front(near.feature, face, place, den) < -margin:
            return "behind"
        return ""

    def _comes(self, time, p, face, margin):
        """Does a ball that has sunk in come onto a face then?"""
        if p.surface.flat[face]:
            return True  # where its foot is, is up to the rounding of the corners
        found = p.onto(face)
        if found is None or found[3] <= 0 or found[4] <= 0:
            return False
        return abs(float(time - found[0])) * p.speed * found[4] <= 16 * margin

    def _over_end(self, p, face, place, den, margin):
        """Does it come onto a side of a face then, over the side's end?"""
        loop = p.surface.loops[face]
        for i, j in zip(loop, loop[1:] + loop[:1], strict=True):
            for a, b in ((i, j), (j, i)):
                e = np.array([x / p.scale for x in sub(p.points[b], p.points[a])])
                to = np.array([x / (den * p.scale) for x in sub(place, times(den, p.points[a]))])
                if abs(to @ e) <= 64 * margin * np.linalg.norm(e) and np.linalg.norm(to) < p.r / p.scale:
                    return True
        return False

    def _against(self, p, near, face):
        """How directly the path goes against the foremost of the faces at a place: 1 straight, -1 away."""
        there = p.surface.of_face[face] if near.feature is None else p.surface.at[near.feature]
        normals = [unit(p.normal(t)) for t in there if any(p.normal(t))]
        return max((-(n @ p.way) for n in normals), default=1.0)

    def _rest(self, out, k, i, answer, b, p, near, margin, place, den):
        """Point, normal and feature of a claim; `margin` is the tolerance in the space of the pass."""
        start, radius, turned = self.casts.balls(i)[b]
        radii = np.full(3, 1.0) if np.ndim(radius) == 0 else np.asarray(radius, float)
        axes = np.eye(3) if turned is None else matrix(turned)
        ratio = p.most / p.least
        time, path = Fraction(float(answer.time[k])), self.casts.path[i]
        told = np.array(
            [
                float(Fraction(float(x)) - Fraction(float(a)) - time * Fraction(float(c)))
                for x, a, c in zip(answer.point[k], start, path, strict=True)
            ]
        )
        off = np.linalg.norm(told @ axes / radii + near.toward)
        if off > 8 * margin * ratio + self.least * near.away:
            out.wrong.append(f"point by {off / margin:.2g} margins")
        normal = np.asarray(answer.normal[k], float)
        if abs(np.linalg.norm(normal) - 1) > self.least:
            out.wrong.append("normal not unit")
        face, kind = int(answer.face[k]), int(answer.feature[k])
        loose = self.least * ratio
        if near.away > 16 * margin:
            loose += 16 * margin / near.away * ratio
            off = np.linalg.norm(normal - unit(axes @ (near.toward / near.away / radii)))
            if off > loose:
                out.wrong.append(f"normal by {off:.2g}")
        else:
            way = path if self.casts.carried is None else path - self.casts.carried[int(answer.body[k])]
            if normal @ way > self.level * np.linalg.norm(way):
                out.wrong.append("normal along the path")
        if kind == 1:
            across = [unit(p.normal(t)) for t in p.surface.of_face[face] if any(p.normal(t))]
            across = [unit(axes @ (n / radii)) for n in across]
            off = min((np.linalg.norm(normal - s * n) for n in across for s in (1, -1)), default=0.0)
            if off > loose + self.least * ratio:
                out.wrong.append("feature: no face")
        elif kind not in (2, 3):
            out.wrong.append("feature: none")
        elif (
            near.feature is not None
            and lies(p, near.feature, place, den, int(Fraction(margin) * p.scale), True)
            and not (near.away < p.r / p.scale - margin and self._over_end(p, face, place, den, margin))
        ):
            out.wrong.append("seam")
        elif self._off(p, near, face, kind) > 8 * margin * ratio:
            out.wrong.append("feature: nowhere near")

    def _off(self, p, near, face, kind):
        """How far the point is from the nearest side or corner of its face."""
        loop = p.surface.loops[face]
        here = near.den * p.scale
        q = [sub(times(near.den, p.points[j]), near.point) for j in loop]
        q = np.array([[c / here for c in y] for y in q])
        if kind == 3:
            return float(np.linalg.norm(q, axis=1).min())
        e = np.roll(q, -1, 0) - q
        s = np.clip(-(q * e).sum(1) / np.maximum((e * e).sum(1), 1e-300), 0, 1)
        return float(np.linalg.norm(q + s[:, None] * e, axis=1).min())
