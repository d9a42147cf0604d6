"""Stage 1: the relative screw motion of a pair, and the coordinates of the collision screen.

Inputs are the poses of both bodies at the start and at the end of the step. B moves relative to A by one
screw: a turn by ``theta`` about an axis with direction ``v`` and a shift ``g`` along it. Everything after
this stage works in the *screw frame* of the pair: x along the path of B's centre half way through the
step, y along the axis, z away from the axis; the axis is the line x = 0, z = -R0 = -1/kappa. A pure
translation is kappa = 0 in the same formulas. Time runs as s = t - 1/2 from -1/2 to 1/2, and B is kept at
its half-way pose (s = 0).

Sources: Buss, "Collision detection with relative screw motion", sections 4.1, 4.2 and 7; docs/decisions/0002.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase import _quaternion as quat

# In units of the size: a relative motion this small over the whole step is the rounding of poses that move
# together.
REST = 1e-13
# In units of the size: beyond this a pair is UNRESOLVED.
LONGEST_WAY = 1e12
# A chord nearer to the axis' direction than this, eight roundings, has no direction across it: what is left
# of it is rounding, so a drill's radial and tangential directions are free to choose.
AXIAL = 8.0 * np.finfo(np.float64).eps
# Roots are looked for this far outside the step: a part of the step, and of the time that a size takes.
TAU_TIME = 1e-9
TAU_LENGTH = 1e-10
# In units of size + speed: what the arithmetic of a function may leave of an exact zero.
ROUNDING = 4e-16


class ScrewMotion(NamedTuple):
    """Relative screw motions of n pairs, in A's local frame at the start.

    axis : (n, 3) f8, unit direction. point : (n, 3) f8, the point of the axis nearest to A's origin.
    angle : (n,) f8, radians in [0, pi]. translation : (n,) f8, shift along the axis over the whole step.
    pitch : (n,) f8, the same number as ``translation`` (the ``pitch`` of ``Poses.from_screw``).
    """

    axis: np.ndarray
    point: np.ndarray
    angle: np.ndarray
    translation: np.ndarray
    pitch: np.ndarray


def screw_motion(start_a, end_a, start_b, end_b):
    """Screw motion of B relative to A for a batch of pose pairs.

    Parameters
    ----------
    start_a, end_a, start_b, end_b : Poses
        Equal lengths n. Positions in world units, rotations as unit quaternions.

    Returns
    -------
    ScrewMotion
        In A's local frame at the start. Without a turn ``axis`` is the direction of the translation,
        ``point`` is A's origin, ``angle`` is 0; without any motion ``axis`` is (0, 0, 1). Rows of invalid
        poses are NaN.

    Raises
    ------
    TypeError, ValueError
        If an argument is not `Poses`, or the lengths differ.
    """
    given = dict(start_a=start_a, end_a=end_a, start_b=start_b, end_b=end_b)
    for name, poses in given.items():
        if not isinstance(poses, Poses):
            raise TypeError(f"{name}: expected gpu_collide.Poses, got {type(poses).__name__}")
    lengths = [len(p) for p in given.values()]
    if len(set(lengths)) != 1:
        raise ValueError(f"start_a, end_a, start_b, end_b: expected equal lengths, got {lengths}")
    pa0, qa0, ok_a0 = pose_arrays(start_a)
    pa1, qa1, ok_a1 = pose_arrays(end_a)
    pb0, qb0, ok_b0 = pose_arrays(start_b)
    pb1, qb1, ok_b1 = pose_arrays(end_b)
    inv_a0, inv_a1 = quat.conjugate(qa0), quat.conjugate(qa1)
    at_start = quat.multiply(inv_a0, qb0)
    at_end = quat.multiply(inv_a1, qb1)
    turn = quat.multiply(at_end, quat.conjugate(at_start))
    # Omega = inv(Mf) Nf inv(Ni) Mi carries A's origin to tau.
    tau = quat.rotate(inv_a1, pb1 - pa1) - quat.rotate(turn, quat.rotate(inv_a0, pb0 - pa0))
    axis, angle = quat.axis_angle(turn)
    length = length_of(tau)
    turning = angle > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        along = np.where((length > 0)[:, None], tau / length[:, None], np.array([0.0, 0.0, 1.0]))
        axis = np.where(turning[:, None], axis, along)
        g = np.sum(tau * axis, axis=-1)
        across = tau - g[:, None] * axis
        u = 0.5 * across + cross(axis, tau) / (2.0 * np.tan(0.5 * angle))[:, None]
    u = np.where(turning[:, None], u, 0.0)
    bad = ~(ok_a0 & ok_a1 & ok_b0 & ok_b1)
    for array in (axis, u, angle, g):
        array[bad] = np.nan
    return ScrewMotion(axis, u, angle, g, g.copy())


def pose_arrays(poses):
    """Position (n, 3), unit quaternion (n, 4) and validity (n,) of ``poses``."""
    valid = np.asarray(poses.valid, dtype=bool)
    return np.where(valid[:, None], poses.position, 0.0), np.asarray(poses.unit_wxyz), valid


def times(rows, matrix):
    """``rows @ matrix`` of (..., 3) rows, each by itself: BLAS rounds a row differently among more rows."""
    return rows[..., :1] * matrix[0] + rows[..., 1:2] * matrix[1] + rows[..., 2:] * matrix[2]


@dataclass(frozen=True)
class Screw:
    """The screw frame of one pair.

    theta : turn in radians. g : shift along the axis. W : arc length at the reference radius R0 = 1/kappa.
    speed : hypot(W, g). size : larger bounding radius. axes : (3, 3), rows are the x, y, z axes of the screw
    frame in the A-frame (A's axes at the start, origin at A's centre). origin : (3,) in the A-frame.
    half : (3, 3) rotation of B half way. centre_a, centre_b : mesh centres, mesh coordinates.
    centre_half : (3,) B's centre half way, A-frame. qa0, qa1, pa0, pa1 : A's own poses. way : length of the
    straight line that B's centre covers relative to A.
    """

    theta: float
    g: float
    W: float
    kappa: float
    speed: float
    size: float
    axes: np.ndarray
    origin: np.ndarray
    half: np.ndarray
    centre_a: np.ndarray
    centre_b: np.ndarray
    centre_half: np.ndarray
    qa0: np.ndarray
    qa1: np.ndarray
    pa0: np.ndarray
    pa1: np.ndarray
    way: float

    @property
    def in_range(self):
        """False if the way is so long that float64 has no digits left for the tolerances."""
        return self.way <= LONGEST_WAY * self.size

    @property
    def period(self):
        """One full turn measured in psi (inf for a translation)."""
        return 2.0 * np.pi / self.kappa if self.kappa > 0 else np.inf

    @property
    def moves(self):
        """False if the bodies keep their relative pose."""
        return self.speed > 0

    @property
    def tau(self):
        """Tolerance of the time window: roots in [-tau, 1 + tau] count."""
        return TAU_TIME + (TAU_LENGTH * self.size / self.speed if self.moves else 0.0)

    @property
    def unit(self):
        """Length of which places lose units in the last place."""
        return self.size + self.speed

    @property
    def rounding(self):
        """What the arithmetic of a function may leave of an exact zero."""
        return ROUNDING * self.unit

    @property
    def turning(self):
        """Radians that set how fast functions can change."""
        return self.theta

    @property
    def level(self):
        """Unit vector in A's axes at right angles to which edges stay once they are."""
        return np.array([0.0, 1.0, 0.0])

    def from_a(self, x):
        """Points (..., 3) of A's mesh in the screw frame."""
        return times(x - self.centre_a - self.origin, self.axes.T)

    def to_a(self, x):
        """Screw frame points (..., 3) in A's mesh coordinates."""
        return times(x, self.axes) + self.origin + self.centre_a

    def from_b(self, x):
        """Points (..., 3) of B's mesh at its half-way pose, in the screw frame."""
        return times(times(x - self.centre_b, self.half.T) + self.centre_half - self.origin, self.axes.T)

    def to_b(self, x):
        """Half-way screw frame points (..., 3) in B's mesh coordinates."""
        return times(times(x, self.axes) + self.origin - self.centre_half, self.half) + self.centre_b

    def direction_to_a(self, n):
        """Directions (..., 3) of the screw frame in A's axes."""
        return times(n, self.axes)

    def direction_from_a(self, n):
        return times(n, self.axes.T)

    def direction_from_b(self, n):
        return times(times(n, self.half.T), self.axes.T)

    def basis(self, s):
        """sigma = sin(theta s)/theta and nu = (1 - cos(theta s))/theta^2, exact down to theta = 0."""
        sigma = s * np.sinc(self.theta * s / np.pi)
        half = s * np.sinc(0.5 * self.theta * s / np.pi)
        return sigma, 0.5 * half * half

    def flow(self, x, s):
        """Points (..., 3) carried by the motion for the time ``s`` (...)."""
        sigma, nu = self.basis(s)
        th, u = self.theta, self.W + self.theta * x[..., 2]
        return np.stack(
            [
                x[..., 0] + u * sigma - th * th * x[..., 0] * nu,
                x[..., 1] + self.g * s,
                x[..., 2] - th * x[..., 0] * sigma - th * u * nu,
            ],
            axis=-1,
        )

    def turn(self, d, s):
        """Directions (..., 3) turned by the motion for the time ``s`` (...)."""
        sigma, nu = self.basis(s)
        th = self.theta
        return np.stack(
            [
                d[..., 0] + th * d[..., 2] * sigma - th * th * d[..., 0] * nu,
                d[..., 1] + 0.0 * s,
                d[..., 2] - th * d[..., 0] * sigma - th * th * d[..., 2] * nu,
            ],
            axis=-1,
        )

    def carry(self, x, s, side):
        """Points (..., 3) of the other body as the body `side` sees them at the times ``s``: -1 is A, 1 is
        B."""
        return self.flow(x, -side * s)

    def carry_direction(self, d, s, side):
        """The same of directions."""
        return self.turn(d, -side * s)

    def field(self, x, s, side):
        """Velocity (..., 3) of B's material relative to A's where the body `side` sees the points ``x``: on a
        screw the same at all times and from both."""
        del s, side
        return self.omega(x)

    def fastest(self, x):
        """Greatest speed of points (..., 3) of B."""
        return float(np.linalg.norm(self.omega(x), axis=-1).max())

    def omega(self, x):
        """Velocity (..., 3) of B's material at screw frame points, per step."""
        return np.stack(
            [
                self.W + self.theta * x[..., 2],
                np.full(x.shape[:-1], self.g),
                -self.theta * x[..., 0],
            ],
            axis=-1,
        )

    def cylinder(self, x):
        """Radius rho = r - R0 and arc psi = R0 phi of points (..., 3); psi is in (-pi R0, pi R0]."""
        k = self.kappa
        q = k * (x[..., 0] ** 2 + x[..., 2] ** 2) + 2.0 * x[..., 2]
        rho = q / (1.0 + np.sqrt(np.maximum(1.0 + k * q, 0.0)))
        return rho, self.arc(x[..., 0], 1.0 + k * x[..., 2])

    def arc(self, x, c):
        """atan2(kappa x, c)/kappa; the ratio form keeps the digits when kappa is small."""
        k = self.kappa
        y = k * x
        angle = np.arctan2(y, c)
        small = np.abs(y) < 1e-4 * c
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(small, x / c, 0.0)
            z2 = (k * ratio) ** 2
            series = ratio * (1.0 - z2 * (1.0 / 3.0 - z2 * (0.2 - z2 / 7.0)))
            return np.where(small, series, angle / k if k > 0 else 0.0)

    def world_of_a(self, x, t):
        """World position of points ``x`` (..., 3) of A's mesh, A moving by its own screw to time ``t``
        (...)."""
        q, shift = self._own_motion(t)
        return quat.rotate(self.qa0, quat.rotate(q, x) + shift) + self.pa0

    def world_direction_of_a(self, n, t):
        """World direction of ``n`` (..., 3) given in A's body axes at time ``t`` (...)."""
        q, _ = self._own_motion(t)
        return quat.rotate(self.qa0, quat.rotate(q, n))

    def _own_motion(self, t):
        t = np.asarray(t, dtype=np.float64)
        inverse = quat.conjugate(self.qa0)
        chord = quat.rotate(inverse, self.pa1 - self.pa0)
        axis, angle = quat.axis_angle(quat.multiply(inverse, self.qa1))
        if angle == 0.0:
            q = np.zeros(t.shape + (4,))
            q[..., 0] = 1.0
            return q, t[..., None] * chord
        along = (chord @ axis) * axis
        # The chord of the part of the arc up to t: shorter by the ratio of sines, turned back by half of what
        # is missing.
        ratio = np.sin(0.5 * angle * t) / np.sin(0.5 * angle)
        half_back = quat.from_axis_angle(axis, 0.5 * angle * (t - 1.0))
        shift = t[..., None] * along + ratio[..., None] * quat.rotate(half_back, chord - along)
        return quat.from_axis_angle(axis, angle * t), shift


def length_of(x):
    """Lengths of vectors (..., 3) of any size: their squares may be beyond float64."""
    return np.hypot(np.hypot(x[..., 0], x[..., 1]), x[..., 2])


def any_across(v):
    """A unit vector at right angles to the unit vector ``v`` (3,)."""
    e = np.zeros(3)
    e[np.argmin(np.abs(v))] = 1.0
    t = cross(v, e)
    return t / np.linalg.norm(t)


def screw_of_pair(mesh_a, mesh_b, pose_a0, pose_a1, pose_b0, pose_b1):
    """The `Screw` of one pair.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
    pose_a0, pose_a1, pose_b0, pose_b1 : tuple of (3,) position and (4,) unit quaternion wxyz
    """
    (pa0, qa0), (pa1, qa1), (pb0, qb0), (pb1, qb1) = pose_a0, pose_a1, pose_b0, pose_b1
    c_a, c_b = np.asarray(mesh_a.center, float), np.asarray(mesh_b.center, float)
    size = float(max(mesh_a.radius, mesh_b.radius))

    def relative(pa, qa, pb, qb):
        q = quat.multiply(quat.conjugate(qa), qb)
        return quat.rotate(quat.conjugate(qa), pb - pa) + quat.rotate(q, c_b) - c_a, q

    p0, q0 = relative(pa0, qa0, pb0, qb0)
    p1, q1 = relative(pa1, qa1, pb1, qb1)
    v, theta = quat.axis_angle(quat.multiply(q1, quat.conjugate(q0)))
    theta, chord = float(theta), p1 - p0
    length = float(length_of(chord))
    if theta > 0:
        g = float(chord @ v)
        perp = chord - g * v
        perp_length = float(length_of(perp))
        if perp_length <= AXIAL * length or not np.isfinite(perp_length):
            perp_length, T = 0.0, any_across(v)
        else:
            T = perp / perp_length
            T = T - (T @ v) * v
            T /= np.linalg.norm(T)
        W_c = perp_length / float(np.sinc(0.5 * theta / np.pi))
        W = max(W_c, theta * size)
        kappa = theta / W
        # (1 - cos(theta/2))/theta without cancellation
        rise = 0.25 * theta * 0.5 * float(np.sinc(0.25 * theta / np.pi)) ** 2
        outward = (W - W_c) / theta
    else:
        g, W_c, W, kappa, rise, outward = 0.0, length, length, 0.0, 0.0, 0.0
        T = chord / length if length > 0 else np.array([1.0, 0.0, 0.0])
        v = any_across(T)
    N = cross(T, v)
    centre_half = 0.5 * (p0 + p1) + W_c * rise * N
    half = quat.multiply(quat.from_axis_angle(v, 0.5 * theta), q0) if theta > 0 else q0
    if np.hypot(W, g) <= REST * size:
        theta, g, W, kappa, outward, centre_half, half = 0.0, 0.0, 0.0, 0.0, 0.0, p0, q0
    return Screw(
        theta=theta,
        g=g,
        W=W,
        kappa=kappa,
        speed=float(np.hypot(W, g)),
        size=size,
        axes=np.stack([T, v, N]),
        origin=centre_half + outward * N,
        half=quat.to_matrix(half),
        centre_a=c_a,
        centre_b=c_b,
        centre_half=centre_half,
        qa0=qa0,
        qa1=qa1,
        pa0=pa0,
        pa1=pa1,
        way=length,
    )
