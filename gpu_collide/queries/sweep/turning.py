"""Bodies that turn while something is swept through them: how far chords are off, and steps cut in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import first_few
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.casts import ELLIPSOIDS, turning
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import between, rotate, turn_vector
from gpu_collide.geometry import prepared

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.casts import Casts

__all__ = ["MOST_PIECES", "carried_along", "chord_error", "part_of", "pieces_for", "turning_bodies"]

#: A step is cut into so many pieces at most.
MOST_PIECES = 64


def turning_bodies(bodies: Bodies) -> Array:
    """Numbers of the bodies that turn between their poses."""
    return np.flatnonzero(turning(bodies) & bodies.start.valid & bodies.end.valid)


def chord_error(casts: Casts, bodies: Bodies, pieces: int = 1, ridden: bool = False) -> float:
    """How far from its path a centre, and for ellipsoids a surface, may be taken to be in any of some equal
    pieces of a step; `ridden`: bodies carry some along.

    The chord of a curve is off it by an eighth of its second derivative at most: for a place at `far` from
    the body's origin that goes by `speed` while the body turns by `angle`,
    ``(angle^2 far + 2 angle speed) / 8``. Who is farther off than the body reaches touches it neither way.
    """
    which = turning_bodies(bodies)
    if not which.size or not len(casts):
        return 0.0
    spin = turn_vector(bodies.start.unit_wxyz[which], bodies.end.unit_wxyz[which]) / pieces
    angle = np.linalg.norm(spin, axis=1)
    origin, way = bodies.start.position[which], (bodies.end.position - bodies.start.position)[which]
    ends = casts.start, casts.start + casts.path
    low = np.minimum(*(e.min(axis=0) for e in ends))
    high = np.maximum(*(e.max(axis=0) for e in ends))
    own = float(np.linalg.norm(casts.balls, axis=1).max(initial=0.0))
    apart = [np.linalg.norm(np.maximum(high - o, o - low), axis=1) for o in (origin, origin + way)]
    speed = np.linalg.norm(casts.path, axis=1).max() + np.linalg.norm(way, axis=1)
    measures = np.array([prepared.measures_of(mesh) for mesh in bodies.meshes])[bodies.shape[which]]
    reach = np.linalg.norm(measures[:, :3], axis=1) + np.linalg.norm(measures[:, 5:8], axis=1)
    near = 2.0 * (reach + own + float(casts.radius.max(initial=0.0)) + speed)
    far = np.minimum(own + np.maximum(*apart), np.where(angle < 1.5, near, np.inf))
    speed = speed + ridden * (np.linalg.norm(way, axis=1) + pieces * angle * far)
    bound = (angle * angle * far + 2.0 * angle * speed / pieces) / 8.0
    if casts.form == ELLIPSOIDS:
        bound = bound + np.array([_leaning(casts, s) for s in spin])
    return float(bound.max())


def _leaning(casts: Casts, spin: Array) -> float:
    """How far the surface of an ellipsoid that does not turn is from one that turns by so much."""
    if np.ptp(casts.radius, axis=1).max() == 0:
        return 0.0
    # |D R n| - |D n| for all n is no more than the norm of D R - R D, that of D S - S D with S = spin x
    axes = np.stack([rotate(casts.quat, np.broadcast_to(e, (len(casts), 3))) for e in np.eye(3)], axis=2)
    d = np.einsum("nik,nk,njk->nij", axes, casts.radius, axes)
    s = np.cross(np.eye(3), spin).T
    apart = np.einsum("nij,jk->nik", d, s) - np.einsum("ij,njk->nik", s, d)
    return float(np.sqrt((apart * apart).sum(axis=(1, 2))).max()) * (1.0 + np.linalg.norm(spin))


def pieces_for(casts: Casts, bodies: Bodies, skin: float, ridden: bool) -> tuple[int, float]:
    """Into how many pieces a step is to be cut so that no chord in it is off by more than half the skin; and
    by how much it is."""
    pieces = 1
    while (error := chord_error(casts, bodies, pieces, ridden)) > 0.5 * skin:
        # between a quarter (of curves) and a half (of ellipsoids that lean) is left of twice as many
        pieces = max(pieces + 1, int(pieces * np.sqrt(2.0 * error / skin)))
        if pieces > MOST_PIECES:
            error = chord_error(casts, bodies, MOST_PIECES, ridden)
            raise ValueError(
                f"skin: expected more than {2 * error:.3g}, twice what paths are off by as bodies that "
                f"turn see them (first: {first_few(turning_bodies(bodies))}) if the step is cut into "
                f"{MOST_PIECES} pieces, got {skin:.3g}; pass a larger skin, or make shorter steps"
            )
    return pieces, error


def part_of(bodies: Bodies, first: int, pieces: int) -> Bodies:
    """The bodies over piece `first` of some equal pieces of their step."""
    if pieces == 1:
        return bodies
    poses = []
    for share in (first / pieces, (first + 1) / pieces):
        place = bodies.start.position + share * (bodies.end.position - bodies.start.position)
        place = bodies.end.position if share == 1 else place
        quat = between(bodies.start.unit_wxyz, bodies.end.unit_wxyz, share)
        poses.append(Poses.from_quat_wxyz(place, quat))
    return Bodies(bodies.meshes, bodies.shape, *poses)


def carried_along(bodies: Bodies, which: Array, place: Array) -> Array:
    """How far bodies carry places that stand on them; -1: nothing does."""
    if (which < 0).all():  # of none there may be none
        return np.zeros((len(which), 3))
    there = bodies.start.valid & bodies.end.valid
    motion = np.where(there[:, None], bodies.end.position - bodies.start.position, 0.0)
    carried = motion[which]
    turns = turning(bodies)[which] & there[which]
    if turns.any():
        on = which[turns]
        arm = place[turns] - bodies.start.position[on]
        turn = turn_vector(bodies.start.unit_wxyz[on], bodies.end.unit_wxyz[on])
        still = np.broadcast_to([1.0, 0, 0, 0], (len(on), 4))
        angle = np.linalg.norm(turn, axis=1, keepdims=True)
        quat = np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * turn], axis=1)
        carried[turns] += rotate(np.where(angle > 0, quat, still), arm) - arm
    return np.where((which >= 0)[:, None], carried, 0.0)
