"""Each body on its own motion: where both bodies of a pair are at any time of the step.

A body's centre and axes move, in axes that stand still (those of A at the start), by

    c(t) = c0 + t w + sigma p + nu (turn x p)        axes(t) = Rot(turn, theta t) axes(0)

with theta = |turn|, sigma = sin(theta t)/theta and nu = (1 - cos(theta t))/theta^2: a way ``w`` that does not
turn, and one, ``p``, across the axis, that turns with the body. This one form is the screw between two poses
(``w`` along the axis) and a straight reference point with a constant spin (any ``w``); no point of the axis
is in it, which runs away as the turn vanishes.

In A's own axes B then moves by no screw, but by two at once. The places of either body are relative to its
mesh's centre, in its own axes; times are s = t - 1/2, as in `s01_screw`, and `BodyMotion` answers the
questions that `Screw` answers.

Sources: Buss, section 10 (the second difficulty with robustness).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase import _quaternion as quat
from gpu_collide.reference.narrow_phase.s01_screw import LONGEST_WAY, TAU_LENGTH, TAU_TIME, length_of

# Of the functions of a pair in units of size + way: worst seen 30 (turns up to 3.1, ways up to 1e6 sizes).
ROUNDING = 32 * np.finfo(np.float64).eps
# Radians of one body in a step, about 160 revolutions: beyond, a pair that may meet is UNRESOLVED.
MOST_TURN = 1000.0
# What both bodies move by, in sizes: beyond, rounding is larger than what their features are apart; and that
# times the larger turn: how far arcs bend.
LONGEST_OWN, MOST_BEND = 1e8, 3e7
# Edges at right angles to the common axis of both turns stay so; sine of the angle of the axes.
SAME_AXIS = 1e-14


@dataclass(frozen=True)
class Path:
    """Own motion of one body in A's axes at the start, of the whole step: ``w``, ``p`` and ``turn`` (3,)."""

    w: np.ndarray
    p: np.ndarray
    turn: np.ndarray

    @cached_property
    def theta(self):
        return float(length_of(self.turn))

    @property
    def way(self):
        """Bound of the length of the centre's path."""
        return float(length_of(self.w) + length_of(self.p))

    @cached_property
    def q(self):
        """turn x p."""
        return cross(self.turn, self.p)

    def basis(self, t):
        """cos(theta t), sigma and nu at the times ``t`` (...), as (..., 1)."""
        angle = self.theta * t
        sigma, half = t * np.sinc(angle / np.pi), t * np.sinc(0.5 * angle / np.pi)
        return np.cos(angle)[..., None], sigma[..., None], (0.5 * half * half)[..., None]

    def at(self, t):
        """Place, velocity and acceleration (..., 3) that the turning part adds to the centre's, and rotation
        matrices (..., 3, 3) up to the times ``t``."""
        c, sigma, nu = self.basis(t)
        p, q = self.p, self.q
        orbit = sigma * p + nu * q, c * p + sigma * q, c * q - self.theta**2 * sigma * p
        skewed, outer = self._matrices
        return orbit, c[..., None] * np.eye(3) + sigma[..., None] * skewed + nu[..., None] * outer

    def orbit(self, t):
        return self.at(t)[0]

    def axes(self, t):
        return self.at(t)[1]

    @cached_property
    def _matrices(self):
        return skew(self.turn), np.outer(self.turn, self.turn)


def skew(v):
    """The matrix (3, 3) that takes x to v x x."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def screw_path(q0, q1, way, centre, frame):
    """`Path` of the screw from one pose to another.

    Parameters
    ----------
    q0, q1 : (4,)
        Unit quaternions at start and end.
    way : (3,)
        From the first position to the second.
    centre : (3,)
        The mesh's centre in the body's coordinates.
    frame : (4,)
        A's orientation at the start.
    """
    into = quat.multiply(quat.conjugate(frame), q0)
    # Of a half turn, which two screws fit, the one whose axis has its first component positive in the body's
    # own axes: the same in every pair.
    axis, theta = quat.axis_angle(quat.multiply(quat.conjugate(q0), q1))
    way = quat.rotate(quat.conjugate(frame), way)
    if theta == 0.0:
        return Path(way, np.zeros(3), np.zeros(3))
    k, arm = quat.rotate(into, axis), quat.rotate(into, centre)
    swing = cross(k, arm)
    chord = way + np.sin(theta) * swing + 2.0 * np.sin(0.5 * theta) ** 2 * cross(k, swing)
    w = (chord @ k) * k
    e = chord - w
    e = e - (e @ k) * k  # digits that the first projection left
    p = (e * np.cos(0.5 * theta) - cross(k, e) * np.sin(0.5 * theta)) / np.sinc(0.5 * theta / np.pi)
    return Path(w, p, theta * k)


def spin_path(q0, displacement, rotation, arm, frame):
    """`Path` of a body whose reference point goes straight on while it spins; ``arm`` (3,) leads from that
    point to the mesh's centre, in the body's axes."""
    back = quat.conjugate(frame)
    turn = quat.rotate(back, rotation)
    return Path(
        quat.rotate(back, displacement),
        cross(turn, quat.rotate(quat.multiply(back, q0), arm)),
        turn,
    )


class State(NamedTuple):
    """Both bodies at given times as one of them, the owner, has them: place, velocity, acceleration of the
    other centre relative to the owner's (..., 3), in axes that stand still; axes of both (..., 3, 3); turns
    of the step (3,)."""

    P: np.ndarray
    P1: np.ndarray
    P2: np.ndarray
    own_axes: np.ndarray
    other_axes: np.ndarray
    own_turn: np.ndarray
    other_turn: np.ndarray


def turned(axes, x):
    """Vectors ``x`` (..., 3) by matrices (..., 3, 3)."""
    return np.einsum("...ij,...j->...i", axes, x)


def back(axes, x):
    """The same by the inverse matrices."""
    return np.einsum("...ji,...j->...i", axes, x)


@dataclass(frozen=True)
class BodyMotion:
    """Motion of one pair.

    path_a, path_b : `Path`. U : (3,) B's centre from A's at the start. between : (3, 3) B's axes in A's
    there. centre_a, centre_b : mesh centres. radius_a, radius_b : bounding radii. qa0 : A's orientation at
    the start, in the world; pa0 : (3,) its centre's place there.
    """

    path_a: Path
    path_b: Path
    U: np.ndarray
    between: np.ndarray
    centre_a: np.ndarray
    centre_b: np.ndarray
    radius_a: float
    radius_b: float
    qa0: np.ndarray
    pa0: np.ndarray

    moves = True

    # -- sizes ---------------------------------------------------------------------------------------------
    @property
    def size(self):
        return max(self.radius_a, self.radius_b)

    @property
    def W(self):
        return self.path_b.w - self.path_a.w

    @property
    def turning(self):
        """Radians that both bodies turn by together: how fast functions can change."""
        return self.path_a.theta + self.path_b.theta

    @property
    def unit(self):
        """Length of which places lose units in the last place: of the size, and of what each body moves."""
        return self.size * (1.0 + self.turning) + self.path_a.way + self.path_b.way

    @property
    def rounding(self):
        return ROUNDING * self.unit

    @property
    def in_range(self):
        """False if ways or distance are too long for float64, or the turns for the search."""
        turn = max(self.path_a.theta, self.path_b.theta)
        own = length_of(self.W) + length_of(self.path_a.p) + length_of(self.path_b.p)
        near = self.unit + length_of(self.U) <= LONGEST_WAY * self.size
        short = own <= LONGEST_OWN * self.size and own * turn <= MOST_BEND * self.size
        return bool(near and short and turn <= MOST_TURN)

    @cached_property
    def speed(self):
        """Bound of the relative speed of both materials where they can meet."""
        a, b = self.path_a, self.path_b
        at = self.state(np.zeros(()), -1.0)
        bend = a.theta**2 * np.linalg.norm(a.p) + b.theta**2 * np.linalg.norm(b.p)
        near = np.linalg.norm(at.P1) + 0.5 * np.linalg.norm(at.P2) + bend / 8.0
        far = np.linalg.norm(self.W) + np.linalg.norm(a.p) + np.linalg.norm(b.p)
        return float(min(near, far) + self.turning * self.size)

    @property
    def tau(self):
        return TAU_TIME + TAU_LENGTH * self.size / self.speed

    @cached_property
    def level(self):
        """The common axis of both turns in A's axes, if they have one: edges across it stay so."""
        a, b = self.path_a, self.path_b
        if np.linalg.norm(cross(a.turn, b.turn)) > SAME_AXIS * a.theta * b.theta:
            return None
        turn, theta = (a.turn, a.theta) if a.theta > b.theta else (b.turn, b.theta)
        return turn / theta if theta > 0 else None

    # -- the state at a time -------------------------------------------------------------------------------
    def state(self, s, side):
        """`State` at the times ``s`` (...) as the body `side` has it: -1 is A, 1 is B."""
        t = np.asarray(s, dtype=np.float64) + 0.5
        a, b = self.path_a, self.path_b
        (orbit_a, axes_a), (orbit_b, axes_b) = a.at(t), b.at(t)
        P = self.U + t[..., None] * self.W + (orbit_b[0] - orbit_a[0])
        P1 = self.W + (orbit_b[1] - orbit_a[1])
        P2 = orbit_b[2] - orbit_a[2]
        axes_b = axes_b @ self.between
        if side < 0:
            return State(P, P1, P2, axes_a, axes_b, a.turn, b.turn)
        return State(-P, -P1, -P2, axes_b, axes_a, b.turn, a.turn)

    def carry(self, x, s, side):
        """Points (..., 3) of the other body as the body `side` sees them at the times ``s``."""
        at = self.state(s, side)
        return back(at.own_axes, at.P + turned(at.other_axes, x))

    def carry_direction(self, d, s, side):
        at = self.state(s, side)
        return back(at.own_axes, turned(at.other_axes, d))

    def flow(self, x, s):
        return self.carry(x, s, -1.0)

    def turn(self, d, s):
        return self.carry_direction(d, s, -1.0)

    def field(self, x, s, side):
        """Velocity (..., 3) of B's material relative to A's, per step, where the body `side` sees the points
        ``x`` at the times ``s``, in its axes."""
        at = self.state(s, side)
        y = turned(at.own_axes, x)
        return -side * back(at.own_axes, at.P1 + cross(at.other_turn, y - at.P) - cross(at.own_turn, y))

    def fastest(self, x):
        """Bound of the speed of points (..., 3) of B as A sees them, a little longer than the step."""
        a, b = self.path_a, self.path_b
        straight = np.linalg.norm(self.W) + np.linalg.norm(a.p) + np.linalg.norm(b.p)
        farthest = np.linalg.norm(self.state(np.zeros(()), -1.0).P) + (0.5 + self.tau) * straight
        turn = np.linalg.norm(b.turn - a.turn)
        return float(straight + a.theta * farthest + turn * np.linalg.norm(x, axis=-1).max())

    # -- frames --------------------------------------------------------------------------------------------
    def from_a(self, x):
        return x - self.centre_a

    def to_a(self, x):
        return x + self.centre_a

    def from_b(self, x):
        return x - self.centre_b

    def to_b(self, x):
        return x + self.centre_b

    def direction_from_a(self, n):
        return n

    def direction_from_b(self, n):
        return n

    def direction_to_a(self, n):
        return n

    def world_of_a(self, x, t):
        """World position of points ``x`` (..., 3) of A's mesh, A on its own motion."""
        a = self.path_a
        there = t[..., None] * a.w + a.orbit(t)[0] + turned(a.axes(t), x - self.centre_a)
        return quat.rotate(self.qa0, there) + self.pa0

    def world_direction_of_a(self, n, t):
        return quat.rotate(self.qa0, turned(self.path_a.axes(t), n))


class Body(NamedTuple):
    """One body of a pair as the caller gave it: positions and unit quaternions at the start and at the end;
    `spin` is None, or the displacement and rotation of the step and the reference point (3,) each, in the
    world, in the world and in body coordinates."""

    p0: np.ndarray
    q0: np.ndarray
    p1: np.ndarray
    q1: np.ndarray
    spin: tuple | None


def body_of(bodies, k):
    """Body number ``k`` of `gpu_collide.Bodies`."""
    p0, p1 = (when.position[k] for when in (bodies.start, bodies.end))
    q0, q1 = (when.unit_wxyz[k] for when in (bodies.start, bodies.end))
    spins = bodies.spins
    spin = None
    if spins is not None and spins.spinning[k]:
        spin = spins.displacement[k], spins.rotation[k], spins.center[k]
    return Body(p0, q0, p1, q1, spin)


def motion_of_pair(mesh_a, mesh_b, body_a, body_b):
    """The `BodyMotion` of a pair of `Mesh` and `Body`."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is out of range
        return _motion(mesh_a, mesh_b, body_a, body_b)


def _motion(mesh_a, mesh_b, body_a, body_b):
    c_a, c_b = np.asarray(mesh_a.center, float), np.asarray(mesh_b.center, float)
    frame = body_a.q0
    inverse = quat.conjugate(frame)

    def path(body, centre):
        if body.spin is None:
            return screw_path(body.q0, body.q1, body.p1 - body.p0, centre, frame)
        displacement, rotation, point = body.spin
        return spin_path(body.q0, displacement, rotation, centre - point, frame)

    between = quat.multiply(inverse, body_b.q0)
    return BodyMotion(
        path_a=path(body_a, c_a),
        path_b=path(body_b, c_b),
        U=quat.rotate(inverse, body_b.p0 - body_a.p0) + (quat.rotate(between, c_b) - c_a),
        between=quat.to_matrix(between),
        centre_a=c_a,
        centre_b=c_b,
        radius_a=float(mesh_a.radius),
        radius_b=float(mesh_b.radius),
        qa0=frame,
        pa0=body_a.p0 + quat.rotate(frame, c_a),
    )
