"""Whether a pair whose bodies move on their own motions moves on one screw after all.

The relative motion is one screw exactly if both motions commute: one body stands still, both go straight
without a turn, they turn about one axis, they move together. Then the answer is that of the relative screw,
by its own code. In numbers: both agree at the start and at the end of the step, and between them they are
apart by at most q0/8 + q1/48, where q0 and q1 bound, for any point of B, how the difference of the
velocities changes (its Green's function has the integrals 1/8 and, with |s|, 1/48). If that is within the
rounding of the true functions, no function of the pair can tell them apart.

A pair that commutes in name may fail the bound in numbers (far apart, where rounding of places is large), and
only costs the longer way then. Two cases do not ask it: two bodies without a turn, and one body without any
motion beside one on a screw; but half turns, which two screws fit, have to pass the bound.
"""

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase import _quaternion as quat
from gpu_collide.reference.narrow_phase.body_motion import back
from gpu_collide.reference.narrow_phase.s01_screw import times

# Cosine of half a turn, below which a turn counts as half a turn here: far beyond rounding.
NEAR_HALF_TURN = 1e6 * quat.HALF_TURN


def is_one_screw(motion, screw):
    """Whether the `BodyMotion` of a pair is that of its `Screw`, within rounding and over the whole step."""
    a, b = motion.path_a, motion.path_b
    if a.theta == 0.0 and b.theta == 0.0:
        return True
    if (_stands(a) and _on_a_screw(b)) or (_stands(b) and _on_a_screw(a)):
        return True
    return bool(distance_bound(motion, screw) <= motion.rounding)


def _stands(path):
    return not (path.w.any() or path.p.any() or path.turn.any())


def _on_a_screw(path):
    """Whether a body moves along one axis, by less than half a turn: `w` is along it to the rounding of the
    projection that made it."""
    across = np.linalg.norm(cross(path.turn, path.w))
    along = abs(path.turn @ path.w)
    return np.cos(0.5 * path.theta) > NEAR_HALF_TURN and path.theta < np.pi and across <= 1e-15 * along


def distance_bound(motion, screw):
    """Bound of the distance between where a point of B is on its true motion and on the screw, as A sees
    both, at any time of the step."""
    a, b, rho = motion.path_a, motion.path_b, motion.radius_b
    A, B, norm = a.turn, b.turn, np.linalg.norm
    at = motion.state(np.zeros(()), -1.0)
    pa, pb = norm(a.p), norm(b.p)
    th_a, th_b = a.theta, b.theta
    X, D = cross(A, B), B - A
    chi, th_r, arm = norm(X), norm(D), 0.5
    half = np.asarray(0.5)
    P3 = cross(B, b.orbit(half)[2]) - cross(A, a.orbit(half)[2])
    # the twist of the screw, and how far it is from the true one half way
    spin = screw.theta * screw.axes[1]
    place = back(at.own_axes, at.P)
    velocity = back(at.own_axes, at.P1 - cross(A, at.P))
    along_screw = times(screw.omega(times(place - screw.origin, screw.axes.T)), screw.axes)
    dw = norm(back(at.own_axes, D) - spin)
    dv = norm(velocity - along_screw)
    # how the true twist changes
    kc = at.P2 - cross(A + B, at.P1) + cross(B, cross(A, at.P))
    along = kc @ X / chi if chi > 0 else 0.0
    ball = np.hypot(along, norm(kc - along * X / chi if chi > 0 else kc) + chi * rho)
    k2 = th_b**3 * pb + th_a**3 * pa + (th_a + th_b) * (th_b**2 * pb + th_a**2 * pa)
    k2 += th_a * th_b * (th_b * pb + th_a * pa)
    k1 = norm(P3 - cross(A + B, at.P2) + cross(B, cross(A, at.P1))) + arm * k2
    # the most that B's centre moves
    z2 = th_a * (norm(cross(A, motion.W)) + th_r * pb) + (chi + th_r**2) * pb
    bend = norm(at.P2 - 2 * cross(A, at.P1) + cross(A, cross(A, at.P)))
    growth = np.expm1(th_a * arm) / th_a if th_a > 0 else arm
    V = norm(velocity) + (bend + arm * z2) * growth
    wbar = norm(spin)
    q0 = ball + dw * (V + th_r * rho) + wbar * (dv + dw * rho)
    q1 = k1 + chi * (V + th_r * rho)
    q1 += wbar * (norm(kc) + arm * k1 + chi * rho + (dw + chi * arm) * V)
    return q0 / 8.0 + q1 / 48.0
