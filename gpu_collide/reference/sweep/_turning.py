"""Spheres among bodies that turn on their own motions: when the distance to a feature falls to the radius.

A body's frame sees a centre x(t) on its straight path as q(t) = R(t)^T (x(t) - c(t)), with `Path` of
`reference.narrow_phase.body_motion` for c and R. The *gap* of a face is the distance of q from its plane less
the radius, that of an edge or a vertex (distance^2 - radius^2)/(2 radius). All times at which a gap falls
through zero are isolated by bounds of its third derivative, in halves of halves of the step, all queries at
once. At such a time, or where a gap that never opened begins to fall, the tests of straight paths say from
the tangent on whether it is a touch.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.narrow_phase import _quaternion as quat
from gpu_collide.reference.narrow_phase.body_motion import back, body_of, screw_path, spin_path, turned
from gpu_collide.reference.sweep._touch import ROUNDING, edge_times, face_times, vertex_times

__all__ = ["SeenTurning"]

FACE, EDGE, VERTEX = 1, 2, 3
#: Units of rounding of what approaches so slowly that it goes along; parts of the step that are not cut.
ALONG, LEAST = 2 * ROUNDING, 1e-14
#: Steps of Newton's method, or halvings, in a bracket.
STEPS = 64


class SeenTurning:
    """Spheres as a body that turns sees them; the counterpart of `w02_all._Seen`.

    Parameters
    ----------
    bodies : Bodies
    body : int
    start, path : (n, 3)
    radius : (n,)
    moment : callable
        ``moment(mesh, c, v, radius, origin)``: `_Seen` of centres at c that go by v and began at `origin`.
    """

    def __init__(self, bodies, body, start, path, radius, moment):
        self.mesh, self.radius, self.moment = bodies.meshes[bodies.shape[body]], radius, moment
        given, centre = body_of(bodies, body), np.asarray(self.mesh.center, float)
        self.start, self.path, self.centre, frame = start, path, centre, given.q0
        if given.spin is None:
            way = screw_path(given.q0, given.q1, given.p1 - given.p0, centre, frame)
        else:
            displacement, rotation, pivot = given.spin
            way = spin_path(given.q0, displacement, rotation, centre - pivot, frame)
        self.frame, self.way = frame, way
        inverse = np.broadcast_to(quat.conjugate(frame), (len(start), 4))
        self.apart = quat.rotate(inverse, start - given.p0) - centre
        self.goes = quat.rotate(inverse, path) - way.w
        # bounds for the whole step: of places, velocities and accelerations in axes that do not turn
        theta, swing, lengths = way.theta, np.linalg.norm(way.p), partial(np.linalg.norm, axis=1)
        self.far = lengths(self.apart) + lengths(self.goes) + swing
        self.speed, self.bend = lengths(self.goes) + swing, theta * swing
        self.fast = self.speed + theta * self.far
        self.bent = self.bend + 2.0 * theta * self.speed + theta**2 * self.far
        self.jerk = theta * self.bend + 3 * theta * (self.bend + theta * self.speed) + theta**3 * self.far
        self.unit = (1.0 + self.mesh.radius + self.speed) * (1.0 + theta)
        self.nothing = ROUNDING * (1.0 + self.unit)
        self.first = self.at(np.arange(len(start)), np.zeros(len(start)))

    def at(self, rows, t):
        """Place, velocity and acceleration in the mesh's frame, (m, 3) each."""
        way, turn = self.way, self.way.turn
        axes, (c0, c1, c2) = way.axes(t), way.orbit(t)
        p = self.apart[rows] + t[:, None] * self.goes[rows] - c0
        p1, p2 = self.goes[rows] - c1, -c2
        velocity, spun = p1 - cross(turn, p), cross(turn, p1)
        acceleration = p2 - 2.0 * spun + cross(turn, cross(turn, p))
        return back(axes, p) + self.centre, back(axes, velocity), back(axes, acceleration)

    def world(self, rows, t, x):
        """Vectors of the mesh's frame in the world."""
        return quat.rotate(np.broadcast_to(self.frame, (len(rows), 4)), turned(self.way.axes(t), x))

    # -- gaps: functions of (rows, times), each with its value, two derivatives, and a bound of the third
    def plane(self, normal, x, far):
        """From the plane through x."""
        axis = self.way.turn / self.way.theta
        across = np.linalg.norm(cross(normal, axis))
        theta = self.way.theta

        def gap(rows, t):
            q, v, a = self.at(rows, t)
            third = theta**3 * self.far[rows] + 4 * theta**2 * self.speed[rows] + 4 * theta * self.bend
            n = np.broadcast_to(normal, q.shape)
            return dot(n, q - x) - far[rows], dot(n, v), dot(n, a), across * third

        return gap

    def round(self, x, along):
        """From the point x, or from the line through it."""

        def gap(rows, t):
            q, v, a = self.at(rows, t)
            r, e = self.radius[rows], np.broadcast_to(along, q.shape)
            p, w = (u - dot(e, u)[:, None] * e for u in (q - x, v))
            far = self.far[rows] + np.linalg.norm(x - self.centre)
            third = 3 * self.fast[rows] * self.bent[rows] + far * self.jerk[rows]
            return (dot(p, p) - r * r) / (2 * r), dot(p, w) / r, (dot(w, w) + dot(p, a)) / r, third / r

        return gap

    def slope(self, gap):
        """The derivative of a gap, and what goes along on top of it, in its place."""

        def falling(rows, t):
            _, df, ddf, third = gap(rows, t)
            return df + 2 * ALONG * self.unit[rows], ddf, third, np.zeros(len(rows))

        return falling

    def falls(self, gap, rows, until=1.0):
        """(rows, times) at which gaps fall through zero."""
        lo, h = np.zeros(len(rows)), np.broadcast_to(until, rows.shape)
        brackets = []
        while len(rows):
            arm = 0.5 * h
            f, df, ddf, third = gap(rows, lo + arm)
            reach = arm * (np.abs(df) + arm * (0.5 * np.abs(ddf) + arm * third / 6))
            bend = arm * (np.abs(ddf) + arm * third)
            flat = self.nothing[rows] / 4
            may = np.abs(f) <= reach + flat
            sure = np.abs(df) > bend + ALONG * self.unit[rows]
            done = may & (sure | (reach <= flat) | (h <= LEAST))
            brackets.append((rows[done], lo[done], (lo + h)[done]))
            cut = may & ~done
            rows, arm = np.tile(rows[cut], 2), np.tile(arm[cut], 2)
            lo = np.concatenate((lo[cut], lo[cut] + arm[: cut.sum()]))
            h = arm
        rows, lo, hi = (
            (np.concatenate(part) for part in zip(*brackets, strict=True)) if brackets else 3 * [rows]
        )
        falls = (gap(rows, lo)[0] >= 0) & (gap(rows, hi)[0] < 0)
        rows, lo, hi = rows[falls], lo[falls], hi[falls]
        lo0 = lo
        x = 0.5 * (lo + hi)
        for _ in range(STEPS if len(rows) else 0):
            f, df, *_ = gap(rows, x)
            lo, hi = np.where(f < 0, lo, x), np.where(f < 0, x, hi)
            with np.errstate(divide="ignore", invalid="ignore"):
                there = x - f / df
            there = np.where((there > lo) & (there < hi), there, 0.5 * (lo + hi))
            settled = (np.abs(there - x) <= 2e-16) | (hi - lo <= 2e-16)
            x = np.where(settled, x, there)
            if settled.all():
                break
        # on the side where it is open, or rounding has a point behind a face
        slope = np.minimum(gap(rows, x)[1], -1e-300)
        return rows, np.maximum(x + self.nothing[rows] / 16 / slope, lo0)

    def opened(self, gap, rows, t):
        """Which gaps were open, by more than rounding, at some time from the start until t."""
        nothing = self.nothing

        def rising(some, s):
            f, df, ddf, third = gap(rows[some], s)
            return nothing[rows[some]] - f, -df, -ddf, third

        was = gap(rows, np.zeros(len(rows)))[0] > nothing[rows]
        view: Any = SimpleNamespace(nothing=nothing[rows], unit=self.unit[rows])
        was[SeenTurning.falls(view, rising, np.arange(len(rows)), t)[0]] = True
        return was

    def moments(self, gap, late):
        """(rows, times) at which something may be touched. `late`: those at which what was open once begins
        to fall."""
        every = np.arange(len(self.radius))
        near = gap(every, np.zeros(len(every)))[0] <= self.nothing
        rows, t = self.falls(self.slope(gap), every if late else every[near])
        within = gap(rows, t)[0] <= self.nothing[rows]
        rows, t = rows[within], t[within]
        right = self.opened(gap, rows, t) == late
        rows, t = rows[right], t[right]
        if late:
            return rows, t
        falls, when = self.falls(gap, every)
        known = near[falls]
        known[known] = ~self.opened(gap, falls[known], when[known])
        parts = (every[near], rows, falls[~known]), (np.zeros(near.sum()), t, when[~known])
        return tuple(np.concatenate(part) for part in parts)

    # -- touches -------------------------------------------------------------------------------------------
    def touches(self, two_sided, buffer):
        """Rows of each feature: all that is touched as such, then what is come onto by who has sunk in."""
        self.two_sided, self.buffer = two_sided, buffer
        self.sunk = np.full(len(self.radius), np.inf)
        for late in (False, True):
            since = self.sunk.copy()
            if late and not np.isfinite(since).any():
                return
            for row in filter(None, self._features(late)):
                if late:
                    after = row["touch"] >= since[row["query"]]
                    row = {name: values[after] for name, values in row.items()}
                yield row

    def _features(self, late):
        mesh, radius = self.mesh, self.radius
        vertices, planes = mesh.vertices, mesh.face_planes[:, :3]
        for f, normal in enumerate(planes):
            corners = vertices[mesh.face_vertices[mesh.face_start[f] : mesh.face_start[f + 1]]]
            for side in (1.0, -1.0) if self.two_sided else (1.0,):
                loop = corners if side > 0 else corners[::-1]
                ways = np.roll(loop, -1, axis=0) - loop
                gaps = [(self.plane(side * normal, loop[0], radius), False)]
                for x, way in zip(loop, ways, strict=True) if late else ():
                    out = cross(way, side * normal)
                    gaps.append((self.plane(out / np.linalg.norm(out), x, 0.0 * radius), True))
                yield from self._face(f, side * normal, loop, ways, gaps, late)
        if not (radius > 0).any():
            return
        for e, ends in enumerate(mesh.edges):
            a, b = vertices[ends]
            along = (b - a) / np.linalg.norm(b - a)
            gaps = [(self.round(a, along), False)]
            if late:
                none = 0.0 * radius
                gaps += [(self.plane(-along, a, none), True), (self.plane(along, b, none), True)]
            faces = np.sort(mesh.edge_faces[mesh.edge_face_start[e] : mesh.edge_face_start[e + 1]] >> 1)
            yield from self._rim(EDGE, e, ends, faces, gaps, late)
        for k in range(0 if late else len(vertices)):
            faces = np.sort(mesh.vertex_faces[mesh.vertex_face_start[k] : mesh.vertex_face_start[k + 1]])
            yield from self._rim(
                VERTEX, k, np.array([k, k]), faces, [(self.round(vertices[k], np.zeros(3)), False)], late
            )

    def _events(self, gap, onto, late):
        """Rows, times, the tangents then, and radii."""
        rows, t = self.falls(gap, np.arange(len(self.radius))) if onto else self.moments(gap, late)
        q, v, _ = self.at(rows, t)
        return rows, t, q, v, self.radius[rows]

    @staticmethod
    def _entered(time, late):
        """Also what the foot comes onto now."""
        return np.where(late <= 1e-9, 0.0, time)

    def _now(self, gap, rows, t, time):
        """Is it approached, and what the tangent says that is touched after `time` touched now?"""
        slope = gap(rows, t)[1]
        with np.errstate(invalid="ignore"):
            return (slope < -ALONG * self.unit[rows]) & (-slope * time <= 4 * self.nothing[rows])

    def _face(self, f, normal, loop, ways, gaps, late):
        for gap, onto in gaps:
            rows, t, q, v, radius = self._events(gap, onto, late)
            n = np.broadcast_to(normal, q.shape)
            corners = loop[:, None] - q
            sides = np.broadcast_to(ways[:, None], corners.shape)
            zero, ahead = np.zeros_like(q), dot(n, q - loop[0])
            time = face_times(corners, sides, n, zero, v, radius, False)
            if late:
                time = self._entered(time, face_times(corners, sides, n, zero, v, radius, False, True))
                time[ahead >= self.radius[rows] - 5 * 16 * ROUNDING] = np.inf
            good = self._now(gaps[0][0], rows, t, time)
            if self.two_sided:  # where the centre is; a point is on both
                good &= (ahead > 0) | (self.radius[rows] <= self.nothing[rows])
            yield self._rows(FACE, f, rows[good], t[good], q[good], n[good], np.full(good.sum(), f))

    def _rim(self, feature, number, ends, faces, gaps, late):
        a, b = self.mesh.vertices[ends]
        for gap, onto in gaps:
            rows, t, q, v, radius = self._events(gap, onto, late)
            keep = self.radius[rows] > 0
            rows, t, q, v, radius = (x[keep] for x in (rows, t, q, v, radius))
            zero = np.zeros_like(q)
            if feature == EDGE:
                e = np.broadcast_to(b - a, q.shape)
                time = edge_times(a - q, e, zero, v, radius)
                if late:
                    time = self._entered(time, edge_times(a - q, e, zero, v, radius, True))
                    time[gap(rows, t)[0] >= -5 * 16 * ROUNDING if not onto else np.zeros(len(rows), bool)] = (
                        np.inf
                    )
            else:
                time = vertex_times(a - q, zero, v, radius)
            good = self._now(gaps[0][0], rows, t, time)
            rows, t, q, v, radius = (x[good] for x in (rows, t, q, v, radius))
            if not len(rows):
                continue
            seen = self.moment(self.mesh, q, v, radius, self.first[0][rows] - q)
            front = seen.counts(ends, faces, self.two_sided)
            np.minimum.at(self.sunk, rows[np.isfinite(seen.sunk)], t[np.isfinite(seen.sunk)])
            good = front >= 0
            rows, t, q, v, front = (x[good] for x in (rows, t, q, v, front))
            along = b - a
            share = np.clip((q - a) @ along / max(along @ along, 1e-300), 0.0, 1.0)
            out = q - a - share[:, None] * along
            out = np.where((dot(out, v) < 0)[:, None], out, -v)
            yield self._rows(feature, number, rows, t, q, out / np.sqrt(dot(out, out))[:, None], front)

    def _rows(self, feature, number, rows, t, q, out, face):
        """Touches in the world."""
        if not len(rows):
            return None
        n = len(rows)
        if feature == FACE:
            x = self.mesh.vertices[self.mesh.face_vertices[self.mesh.face_start[number]]]
            point = -dot(out, q - x)[:, None] * out
        else:
            point = -np.abs(self._distance(feature, number, q))[:, None] * out
        normal, place = self.world(rows, t, out), self.world(rows, t, point)
        return {
            "query": rows, "feature": np.full(n, feature), "face": face, "number": np.full(n, number),
            "touch": t, "time": self._kept(rows, t, q, out),
            "point": self.start[rows] + t[:, None] * self.path[rows] + place, "normal": normal,
        }  # fmt: skip

    def _distance(self, feature, number, q):
        if feature == VERTEX:
            return np.linalg.norm(q - self.mesh.vertices[number], axis=1)
        a, b = self.mesh.vertices[self.mesh.edges[number]]
        share = np.clip((q - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        return np.linalg.norm(q - a - share[:, None] * (b - a), axis=1)

    def _kept(self, rows, t, q, out):
        """The last times before touches at which centres were the buffer away from the planes of contact."""
        if not self.buffer:
            return t
        times = np.zeros(len(t))
        for k in np.flatnonzero(t > 0):
            gap = self.plane(out[k], q[k] + self.buffer * out[k], 0.0 * self.radius)
            times[k] = self.falls(gap, rows[k : k + 1], t[k])[1].max(initial=0.0)
        return times
