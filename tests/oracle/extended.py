"""A judge of motion in fifty digits, by exponential and logarithm of matrices: no formula of any frame.

The relative motion of a pair is exp(t log(end inv(start))) of 4 x 4 matrices, by mpmath's general routines;
the velocity of a point is the logarithm applied to it. There is no axis, no angle, no radius. (Only at an
exact half turn, where the logarithm is ambiguous, the convention of docs/conventions.md fixes it.) It decides
what float64 leaves in doubt.
"""

from dataclasses import dataclass

import mpmath as mp
import numpy as np

from tests.oracle.roots import EE, FV, VF
from tests.oracle.solid import Solid

DIGITS = 50
# What rounding leaves in doubt of a length, in units of size + speed, and the most of a place that it may
# (GC_PLACE_ROUNDING, GC_PLACE_DOUBT).
ROUNDING, DOUBT = 4e-15, 1e-9
HALF_TURN = 1e-15  # GC_HALF_TURN: the real part of the quaternion below which a turn counts as a half turn


def vector(x):
    return mp.matrix([mp.mpf(float(y)) for y in x])


def cross(a, b):
    return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def dot(a, b):
    return mp.fsum(x * y for x, y in zip(a, b, strict=True))


def unit(a):
    return a / mp.sqrt(dot(a, a))


def hat(v):
    return mp.matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rigid(rotation, shift):
    out = mp.eye(4)
    out[:3, :3], out[:3, 3] = rotation, shift
    return out


def pose(position, quat):
    """The 4 x 4 matrix of a pose; the quaternion is made a unit one in full precision."""
    q = vector(quat)
    w, v = q[0], mp.matrix(q[1:4])
    square = dot(q, q)
    rotation = mp.eye(3) + 2 / square * (w * hat(v) + hat(v) * hat(v))
    return rigid(rotation, vector(position))


def inverse(m):
    back = m[:3, :3].T
    return rigid(back, -(back * m[:3, 3]))


@dataclass
class Margins:
    """How far a supposed contact is from the border of each decision; positive where it counts."""

    time: float
    gap: float  # between the features at that time, of the size: 0 is a meeting
    inside: float  # of the size
    facing_a: float  # of the speed, without the tolerance
    facing_b: float
    in_time: float
    sine: float
    doubt: float  # of the inside distance: what rounding may move the place by (decision 0016)

    def state(self, tau):
        """ "contact", "none", or "border" where the tolerances of docs/conventions.md decide."""
        touch, face = 3e-11 / max(self.sine, 1e-9), 3e-9
        facing = min(self.facing_a, self.facing_b)
        margin = touch + self.doubt
        if (
            self.gap > touch or self.inside < -margin or facing < -face or self.in_time < -3 * tau
            or self.sine < 1e-10
        ):  # fmt: skip
            return "none"
        if self.inside > margin and facing > face and self.in_time > 3 * tau and self.sine > 1e-8:
            return "contact"
        return "border"

    def closed(self):
        """Whether it is a contact by the closed tests, up to the rounding of the poses that were given."""
        return (
            self.gap <= 1e-12 / max(self.sine, 1e-3) and self.inside >= -1e-12 and self.in_time >= -1e-15
            and min(self.facing_a, self.facing_b) >= -1e-10 and self.sine > 1e-7
        )  # fmt: skip


class Extended:
    """One pair of a scene in fifty digits."""

    def __init__(self, scene, pair, flip=False):
        i, j = scene.pairs[pair]
        self.a, self.b = (Solid(scene.meshes[scene.shape[k]]) for k in (i, j))
        self.size = max(self.a.radius, self.b.radius)
        with mp.workdps(DIGITS):
            (xs, qs), (xe, qe) = scene.start, scene.end
            self.first = inverse(pose(xs[i], qs[i])) * pose(xs[j], qs[j])
            last = inverse(pose(xe[i], qe[i])) * pose(xe[j], qe[j])
            self.log = logarithm(last * inverse(self.first), flip)
            centre = self.first * mp.matrix([*vector(self.b.center), 1])
            self.velocity = self.log * centre
            turn = self.log[:3, :3]
            theta = mp.sqrt(dot(list(turn), list(turn)) / 2)
            self.speed = float(mp.sqrt(dot(self.velocity, self.velocity)) + theta * self.size)
            self.points_a = [vector(v) for v in self.a.v + self.a.center]
            self.points_b = [vector(v) for v in self.b.v + self.b.center]

    def at(self, t):
        """B's pose in A's frame at time t."""
        return mp.expm(mp.mpf(t) * self.log) * self.first

    def face(self, points, loop):
        """Corner and unit normal of a face."""
        x = [points[k] for k in loop]
        return x[0], unit(cross(x[1] - x[0], x[2] - x[0]))

    def margins(self, kind, feature_a, feature_b, time):
        """Margins of a contact near `time`, at the nearest meeting of its features."""
        with mp.workdps(DIGITS):

            def value(t):
                return self.meeting(kind, feature_a, feature_b, t)[0]

            t = mp.mpf(float(time))
            try:
                near = mp.findroot(value, (t, t + mp.mpf("1e-7")), tol=mp.mpf(10) ** -80, maxsteps=40)
                if mp.im(near) == 0 and abs(near - t) < mp.mpf("1e-6"):
                    t = near
            except (ValueError, ZeroDivisionError):
                pass
            f, place, inside, sine, moved = self.meeting(kind, feature_a, feature_b, t)
            flow = (self.log * mp.matrix([*place, 1]))[:3]
            best_a, best_b = self.facing(kind, feature_a, feature_b, flow, moved)
            return Margins(
                float(t), float(abs(f) / max(sine, mp.mpf("1e-12")) / self.size), float(inside / self.size),
                float(best_a), float(best_b), float(min(t, 1 - t)), float(sine),
                self.doubt(kind, feature_a, feature_b, t, f, sine, flow),
            )  # fmt: skip

    def doubt(self, kind, feature_a, feature_b, t, f, sine, flow):
        """How far rounding may move the place of a meeting, of the size (docs/conventions.md).

        The poses are given in float64: half a turn has w = 6e-17, not 0. The gap is good to their rounding,
        so the time only to that over the rate at which the gap closes, and the place to what the features
        move in that time. A box that turns past a rim of 1e-5 closes on it 3e5 times slower than it moves.
        """
        step = mp.mpf(10) ** -20
        rate = abs(float((self.meeting(kind, feature_a, feature_b, t + step)[0] - f) / step))
        unit, sine = self.size + self.speed, max(float(sine), 1e-9)
        length = ROUNDING * unit / sine
        tau = 1e-9 + 1e-10 * self.size / max(self.speed, 1e-300)
        late = min(length * sine / rate, tau) if rate > 0 else tau
        pace = float(mp.sqrt(dot(flow, flow)))
        return min(length + late * pace, DOUBT * unit) / self.size

    def meeting(self, kind, feature_a, feature_b, t):
        """Signed distance, place in A's mesh frame, inside distance, |sin|, B's pose."""
        moved = self.at(t)

        def carried(x):
            return (moved * mp.matrix([*x, 1]))[:3, 0]

        if kind in (FV, VF):
            solid, points = (self.a, self.points_a) if kind == FV else (self.b, self.points_b)
            loop = solid.loops[feature_a if kind == FV else feature_b]
            if kind == FV:
                place = x = carried(self.points_b[feature_b])
            else:
                place = self.points_a[feature_a]
                x = (inverse(moved) * mp.matrix([*place, 1]))[:3, 0]
            corner, n = self.face(points, loop)
            sides = [
                dot(unit(cross(n, points[q] - points[p])), x - points[p])
                for p, q in zip(loop, np.roll(loop, -1), strict=True)
            ]
            return dot(n, x - corner), place, min(sides), mp.mpf(1), moved
        a0, a1 = (self.points_a[k] for k in self.a.edges[feature_a])
        b0, b1 = (carried(self.points_b[k]) for k in self.b.edges[feature_b])
        da, db = unit(a1 - a0), unit(b1 - b0)
        n = cross(da, db)
        square = dot(n, n)
        if square == 0:
            return mp.mpf(1), a0, -mp.mpf(1), mp.mpf(0), moved
        along_a, along_b = dot(cross(b0 - a0, db), n) / square, dot(cross(b0 - a0, da), n) / square
        length_a, length_b = (mp.sqrt(dot(y - x, y - x)) for x, y in ((a0, a1), (b0, b1)))
        inside = min(along_a, length_a - along_a, along_b, length_b - along_b)
        return dot(n, b0 - a0), a0 + along_a * da, inside, mp.sqrt(square), moved

    def facing(self, kind, feature_a, feature_b, flow, moved):
        """-n.flow at the best face of A and n.flow at the best of B, of the speed; infinite for sheets."""
        faces_a = [feature_a] if kind == FV else around(self.a, kind == EE, feature_a)
        faces_b = [feature_b] if kind == VF else around(self.b, kind == EE, feature_b)
        speed = mp.mpf(self.speed) or mp.mpf(1)
        if self.speed <= 1e-13 * self.size:
            return mp.inf, mp.inf
        flow = mp.matrix(flow)
        turn = moved[:3, :3]
        best_a = max(-dot(self.face(self.points_a, self.a.loops[f])[1], flow) / speed for f in faces_a)
        best_b = max(dot(turn * self.face(self.points_b, self.b.loops[f])[1], flow) / speed for f in faces_b)
        return mp.inf if self.a.two_sided else best_a, mp.inf if self.b.two_sided else best_b


def around(solid, edge, feature):
    """Faces beside an edge or a vertex."""
    if edge:
        return solid.edge_face[feature][solid.edge_side[feature] != 0]
    return solid.vertex_face[feature][solid.vertex_face[feature] >= 0]


def logarithm(motion, flip=False):
    """Of a rigid motion; at a half turn the first component of its axis that is not zero is positive."""
    rotation, shift = motion[:3, :3], motion[:3, 3]
    # 4 w^2 = 1 + trace
    if 1 + rotation[0, 0] + rotation[1, 1] + rotation[2, 2] > 4 * mp.mpf(HALF_TURN) ** 2:
        if max(abs(x) for x in motion - mp.eye(4)) == 0:
            return mp.zeros(4)
        out = mp.logm(motion).apply(mp.re)
        # near a half turn mpmath's logarithm may lose pi (found at pi - 1e-6): it has to lead there
        if mp.mnorm(mp.expm(out) - motion) < mp.mpf(10) ** (10 - DIGITS) * (1 + mp.mnorm(shift)):
            return out
        return steep_logarithm(motion)
    symmetric = (rotation + mp.eye(3)) / 2  # v v^T
    k = max(range(3), key=lambda i: symmetric[i, i])
    v = unit(symmetric[:, k])
    lead = next(x for x in v if abs(x) > 1e-9)
    if (lead < 0) != bool(flip):
        v = -v
    rho = shift - mp.pi / 2 * cross(v, shift) + cross(v, cross(v, shift))
    out = mp.zeros(4)
    out[:3, :3], out[:3, 3] = mp.pi * hat(v), rho
    return out


def steep_logarithm(motion):
    """Of a motion that turns by nearly pi, by its axis and angle."""
    rotation, shift = motion[:3, :3], motion[:3, 3]
    skew = mp.matrix(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    theta = mp.atan2(mp.sqrt(dot(skew, skew)), rotation[0, 0] + rotation[1, 1] + rotation[2, 2] - 1)
    turn = theta * hat(unit(skew))
    share = (1 - mp.cos(theta)) / theta**2, (theta - mp.sin(theta)) / theta**3
    carried = (
        mp.eye(3) + share[0] * turn + share[1] * turn * turn
    )  # the integral of exp(t turn) over the step
    out = mp.zeros(4)
    out[:3, :3], out[:3, 3] = turn, mp.lu_solve(carried, shift)
    return out
