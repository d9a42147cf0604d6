"""Whether a pair whose bodies move on their own motions moves on one screw after all.

The relative motion is one screw exactly if both motions commute: one body stands still, both go straight
without a turn, they turn about one axis, they move together. Then the answer is that of the relative screw,
by its own code.

In numbers. About the place of A's centre at the start the twist of a body at the time t is its turn and the
velocity v(t) = w + p - turn x c0 - t turn x w (constant on a screw, where w is along the axis). With A, B for
both turns, the velocity of B's material relative to A's, at a place z and as A sees it, changes at the rate

    kappa = K0 + t K1 - X x z,    X = A x B
    K0 = A x wA - B x wB - A x vB(0) + B x vA(0)        K1 = A x (B x wB) - B x (A x wA)

all of which vanish where motions commute. The true motion and the screw agree at both ends of the step;
with bounds k of |kappa|, Y of the speed of B's points, dw and dv of how far the twists are apart half way
(wbar the screw's turn), the difference e of both has |e''| <= q0 + q1 |t - 1/2| but for a turn of the frame,
so that

    |e| <= q0/8 + q1/48      q0 = k + dw Y + wbar (dv + dw rho)      q1 = |X| Y + wbar (k + (dw + |X|/2) Y)

If that is within the rounding of the true functions, no function of the pair can tell both apart. A pair that
commutes in name may fail it in numbers, far apart, and only takes the longer way then. Two cases do not ask:
no turn of either body, and one body without any motion beside one on a screw by less than half a turn; of
half a turn two screws fit, and which the bodies are on is the bound's to say.
"""

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase import body_motion
from gpu_collide.reference.narrow_phase._quaternion import HALF_TURN
from gpu_collide.reference.narrow_phase.body_motion import back
from gpu_collide.reference.narrow_phase.s01_screw import length_of, times

# Cosine of half a turn up to which it counts as half a turn here: beyond all rounding.
NEAR_HALF_TURN = 1e6 * HALF_TURN
# How far ``w`` may be off the axis of a screw by the rounding of its projection: four roundings.
OFF_AXIS = 1e-15


def motions_of_pair(screw, bodies, ia, ib, motion):
    """The motion of a pair, and the one that A has in the world: the relative screw, or that of both bodies
    where it is another."""
    if motion == "relative":
        return screw, screw
    own = body_motion.motion_of_pair(
        *(bodies.meshes[bodies.shape[k]] for k in (ia, ib)),
        *(body_motion.body_of(bodies, k) for k in (ia, ib)),
    )
    spins = bodies.spins is not None and bodies.spins.spinning[ia]
    return (screw, own if spins else screw) if is_one_screw(own, screw) else (own, own)


def is_one_screw(motion, screw):
    """Whether the `BodyMotion` of a pair is that of its `Screw`, within rounding and over the whole step."""
    a, b = motion.path_a, motion.path_b
    if a.theta == 0.0 and b.theta == 0.0:
        return True
    if (_stands(a) and _is_screw(b)) or (_stands(b) and _is_screw(a)):
        return True
    return motion.in_range and bool(distance_bound(motion, screw) <= motion.rounding)


def _stands(path):
    return not (path.w.any() or path.p.any() or path.turn.any())


def _is_screw(path):
    """Whether a body moves along its axis and turns by less than half a turn."""
    with np.errstate(over="ignore", invalid="ignore"):
        off = length_of(cross(path.turn, path.w))
    less = path.theta < np.pi and np.cos(0.5 * path.theta) > NEAR_HALF_TURN
    return less and off <= OFF_AXIS * path.theta * length_of(path.w)


def distance_bound(motion, screw):
    """Bound of the distance between where a point of B is on its true motion and on the screw, as A sees
    both, at any time of the step."""
    a, b, rho, norm = motion.path_a, motion.path_b, motion.radius_b, np.linalg.norm
    A, B = a.turn, b.turn
    X, Y = cross(A, B), motion.fastest(np.array([rho, 0.0, 0.0]))
    va, vb = a.w + a.p, b.w + b.p - cross(B, motion.U)
    k0 = cross(A, a.w) - cross(B, b.w) - cross(A, vb) + cross(B, va)
    k1 = cross(A, cross(B, b.w)) - cross(B, cross(A, a.w))
    chi, reach = norm(X), norm(motion.U) + b.way + rho
    k = max(norm(k0), norm(k0 + k1)) + chi * reach
    # the screw's twist and the true one, half way
    at = motion.state(np.zeros(()), -1.0)
    spin = screw.theta * screw.axes[1]
    velocity = back(at.own_axes, at.P1 - cross(A, at.P))
    place = times(back(at.own_axes, at.P) - screw.origin, screw.axes.T)
    dv = norm(velocity - times(screw.omega(place), screw.axes))
    dw = norm(back(at.own_axes, B - A) - spin)
    wbar = norm(spin)
    q0 = k + dw * Y + wbar * (dv + dw * rho)
    q1 = chi * Y + wbar * (k + (dw + 0.5 * chi) * Y)
    return q0 / 8.0 + q1 / 48.0
