"""Stage 1: where a moving body may be, in world coordinates.

A body alone moves by its own screw: its centre along an arc about the axis and a way along it, its corners
along such paths as well. The box of such a path is that of points on it, as far apart as to leave the chord
between neighbours by little, grown by how far an arc leaves its chord: ``radius (1 - cos(half the angle
between the points))``.

A body that spins while its reference point goes straight on from r0 to r1 stays within a ball about that
point, of radius R = arm + radius, arm the distance of its centre from there. And of its points, y from the
reference point, x(t) = r0 + t d + Rot(theta t) y leaves the straight line between its ends by at most theta^2
|y| / 8 (the acceleration of what turns is theta^2 |y|), and never by more than 2 |y|. So with
e = min(theta^2/8, 2), c0 and c1 the centre and h0 and h1 half the sides of the turned box at both ends, the
body is within each of the three

    r0, r1 +- R        c0, c1 +- (radius + e arm)        c0 +- h0, c1 +- h1, grown by e (arm + |half|)

where the box of two boxes is meant, and so within what they share.
"""

from dataclasses import dataclass

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.rules import still_bodies
from gpu_collide.reference.narrow_phase import _quaternion as quat

C = sources.constants("double", "tree/gc_bvh.h")
PIECES = int(C["GC_BVH_PIECES"])


@dataclass
class Bounds:
    """Of n bodies; rows of invalid ones mean nothing.

    Attributes
    ----------
    start, end : (n, 3)
        Places of the meshes' centres.
    radius : (n,)
        Of the ball about the centre, with pads.
    angle : (n,)
        Of the turn between its poses, in [0, pi].
    turn : (n, 4)
        That turn as a unit quaternion.
    low, high : (n, 3)
        Box of all that the body sweeps on its own motion.
    valid, still, wild : (n,) bool
        Wild bodies are too far out for any bound, and may meet all.
    """

    start: np.ndarray
    end: np.ndarray
    radius: np.ndarray
    angle: np.ndarray
    turn: np.ndarray
    low: np.ndarray
    high: np.ndarray
    valid: np.ndarray
    still: np.ndarray
    wild: np.ndarray


def bounds_of(bodies, padded=True, margin=0.0):
    """`Bounds` of all bodies, larger by half a `margin`, one or one a body. Without pads, whatever may meet
    also may meet with them; wild then is only what overflows."""
    valid = bodies.valid
    p0, p1 = (np.where(valid[:, None], poses.position, 0.0) for poses in (bodies.start, bodies.end))
    q0, q1 = bodies.start.unit_wxyz, bodies.end.unit_wxyz
    centre = np.array([m.center for m in bodies.meshes])[bodies.shape]
    radius = np.array([m.radius for m in bodies.meshes])[bodies.shape] + 0.5 * margin
    half = np.array([np.ptp(m.vertices, axis=0) / 2 + m.rounding for m in bodies.meshes])[bodies.shape]
    half += 0.5 * np.reshape(margin, (-1, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        c0, c1 = p0 + quat.rotate(q0, centre), p1 + quat.rotate(q1, centre)
        way = np.linalg.norm(c1 - c0, axis=1)
        if bodies.spins is not None:
            arm = np.linalg.norm(centre - bodies.spins.center, axis=1)
            spun = np.linalg.norm(bodies.spins.displacement, axis=1) + arm
            way = np.where(bodies.spins.spinning, spun, way)
        far = np.maximum(np.abs(p0).max(axis=1), np.abs(p1).max(axis=1)) + np.abs(centre).max(axis=1)
        limit = C["GC_BVH_WILD"] if padded else 1e150
        wild = ~((far <= limit) & (way <= limit)) & valid
        pad = (C["GC_BVH_PAD"] * (radius + way) + C["GC_BVH_ROUNDING"] * far) * padded
    calm = ~wild[:, None]
    c0, c1, pad = np.where(calm, c0, 0.0), np.where(calm, c1, 0.0), np.where(wild, 0.0, pad)
    turn = quat.normalised(quat.multiply(q1, quat.conjugate(q0)))
    axis, angle = quat.axis_angle(turn)
    low, high = _swept(c0, c1, q0, q1, turn, np.nan_to_num(axis), angle, radius, half)
    if bodies.spins is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            spun_low, spun_high = _spun(bodies.spins, c0, c1, q0, q1, centre, radius, half)
        spins = bodies.spins.spinning[:, None]
        low, high = np.where(spins, spun_low, low), np.where(spins, spun_high, high)
    low, high = np.where(calm, low - pad[:, None], -np.inf), np.where(calm, high + pad[:, None], np.inf)
    return Bounds(c0, c1, radius + pad, angle, turn, low, high, valid, still_bodies(bodies), wild)


def _swept(c0, c1, q0, q1, turn, axis, angle, radius, half):
    """Least and greatest corners (n, 3) of the boxes, without pads."""
    straight = angle <= C["GC_BVH_STRAIGHT"]
    pieces = np.minimum(1 + (2.5 * angle).astype(int), PIECES)
    chord = c1 - c0
    along = np.sum(chord * axis, axis=1, keepdims=True) * axis
    across = chord - along
    sine = np.sin(0.5 * angle)
    arc = np.where(straight, 0.0, 0.5 * np.linalg.norm(across, axis=1) / np.where(straight, 1.0, sine))
    strays = np.where(straight, 0.0, 2 * np.sin(0.25 * angle / pieces) ** 2)
    places, sizes = [c0, c1], [_turned(q0, half), _turned(q1, half)]
    for k in range(1, PIECES):
        t = np.minimum(k / pieces, 1.0)
        inside = (~straight & (k < pieces))[:, None]
        share = np.sin(0.5 * angle * t) / np.where(straight, 1.0, sine)
        back = quat.from_axis_angle(axis, 0.5 * angle * (t - 1.0))
        place = c0 + t[:, None] * along + share[:, None] * quat.rotate(back, across)
        places.append(np.where(inside, place, c0))
        sizes.append(
            np.where(
                inside, _turned(quat.multiply(quat.from_axis_angle(axis, angle * t), q0), half), sizes[0]
            )
        )
    centres, halves = np.array(places), np.array(sizes)
    ball = radius + strays * arc
    corner = strays * (arc + np.linalg.norm(half, axis=1))
    low = np.maximum(centres.min(axis=0) - ball[:, None], (centres - halves).min(axis=0) - corner[:, None])
    high = np.minimum(centres.max(axis=0) + ball[:, None], (centres + halves).max(axis=0) + corner[:, None])
    # Near half a turn the motion may go round either side, within the ball over the way.
    either = np.abs(turn[:, 0]) <= C["GC_BVH_HALF_TURN"]
    ball = radius + 0.5 * np.linalg.norm(chord, axis=1) * (1 + 4 * C["GC_BVH_HALF_TURN"])
    middle = 0.5 * (c0 + c1)
    low = np.where(either[:, None], middle - ball[:, None], low)
    return low, np.where(either[:, None], middle + ball[:, None], high)


def _spun(spins, c0, c1, q0, q1, centre, radius, half):
    """The same of bodies that spin."""
    theta = np.linalg.norm(spins.rotation, axis=1)
    bend = np.minimum(theta**2 / 8.0, 2.0)
    arms = centre - spins.center
    arm = np.linalg.norm(arms, axis=1)
    r0 = c0 - quat.rotate(q0, arms)
    h0, h1 = _turned(q0, half), _turned(q1, half)
    zero, corner = np.zeros_like(half), np.linalg.norm(half, axis=1)
    lows, highs = [], []
    for first, last, s0, s1, grown in (
        (r0, r0 + spins.displacement, zero, zero, arm + radius),
        (c0, c1, zero, zero, radius + bend * arm),
        (c0, c1, h0, h1, bend * (arm + corner)),
    ):
        lows.append(np.minimum(first - s0, last - s1) - grown[:, None])
        highs.append(np.maximum(first + s0, last + s1) + grown[:, None])
    return np.max(lows, axis=0), np.min(highs, axis=0)


def _turned(q, half):
    """Half the sides (n, 3) of the world boxes of boxes of half sides (n, 3)."""
    return np.einsum("nij,nj->ni", np.abs(quat.to_matrix(q)), half)
