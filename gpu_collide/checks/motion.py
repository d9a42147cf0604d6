"""Motions for the brute force: B as A sees it, on one screw up to half a turn, or both bodies on their own.

Nothing here is shared with the kernels or with the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["Motion", "OwnMotions", "matrices"]

INSTANT = 1e-6  # of a step: half of what a velocity is the difference over
STRAIGHT = 1e-7  # radians: below, a body that turns leaves its chord by less than rounding


def matrices(quat: Array) -> Array:
    """Rotation matrices (n, 3, 3) of quaternions wxyz (n, 4) of any length."""
    w, x, y, z = (quat / np.linalg.norm(quat, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def _times(p: Array, q: Array) -> Array:
    w = p[:, 0] * q[:, 0] - (p[:, 1:] * q[:, 1:]).sum(1)
    v = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.column_stack((w, v))


@dataclass
class Motion:
    """n motions: about unit `axis` through `point` by `angle`, while `shift` is gone; in A's frame.

    `turn` (n, 3, 3) and `place` (n, 3) take B's mesh to where it is at the start.
    """

    axis: Array
    point: Array
    angle: Array
    shift: Array
    turn: Array
    place: Array

    @classmethod
    def between(cls, bodies: Bodies, pairs: Array) -> Motion:
        """Of the given pairs of bodies."""
        poses = [(np.asarray(p.position), np.asarray(p.quat_wxyz)) for p in (bodies.start, bodies.end)]
        ((a0, qa0), (b0, qb0)), ((a1, qa1), (b1, qb1)) = (
            [(x[i], q[i] / np.linalg.norm(q[i], axis=1, keepdims=True)) for i in pairs.T] for x, q in poses
        )
        conj = np.array([1.0, -1, -1, -1])
        before, behind = _times(qa0 * conj, qb0), _times(qa1 * conj, qb1)
        first = np.einsum("nji,nj->ni", matrices(qa0), b0 - a0)
        last = np.einsum("nji,nj->ni", matrices(qa1), b1 - a1)
        q = _times(behind, before * conj)
        q *= np.where(q[:, :1] < 0, -1.0, 1.0)
        sine = np.linalg.norm(q[:, 1:], axis=1)
        angle = 2 * np.arctan2(sine, q[:, 0])
        turns = (angle > STRAIGHT)[:, None]
        axis = np.where(sine[:, None] > 0, q[:, 1:], [0.0, 0, 1]) / np.where(sine > 0, sine, 1.0)[:, None]
        tau = last - np.einsum("nij,nj->ni", matrices(q), first)
        along = (tau * axis).sum(1, keepdims=True) * axis
        half = np.tan(np.where(turns[:, 0], angle, 1.0) / 2)[:, None]
        point = (tau - along) / 2 + np.cross(axis, tau) / (2 * half)
        # an axis far away has no digits: B turns about its own origin, which goes along its chord
        point, shift = np.where(turns, point, first), np.where(turns, along, last - first)
        return cls(axis, point, angle, shift, matrices(before), first)

    def __len__(self) -> int:
        return len(self.angle)

    def take(self, rows: Array) -> Motion:
        """Some of them, in any order and as often as named."""
        return Motion(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def begins(self, x: Array) -> Array:
        """Points of B's mesh (n, 3) where they are at the start."""
        return np.einsum("nij,nj->ni", self.turn, x) + self.place

    def heads(self, d: Array) -> Array:
        """Directions of B's mesh (n, 3) at the start."""
        return np.einsum("nij,nj->ni", self.turn, d)

    def rotated(self, d: Array, t: Array) -> Array:
        """Directions (n, 3) at the start, turned until the times t (n,)."""
        a = (self.angle * t)[:, None]
        k = self.axis
        return (
            d * np.cos(a) + np.cross(k, d) * np.sin(a) + k * (k * d).sum(1, keepdims=True) * (1 - np.cos(a))
        )

    def at(self, x: Array, t: Array) -> Array:
        """Points (n, 3) at the start, where they are at the times t (n,)."""
        return self.point + self.rotated(x - self.point, t) + self.shift * t[:, None]

    def flow(self, y: Array, t: Array) -> Array:
        """Velocity a step of B's point that is at y (n, 3), whenever that is."""
        return self.angle[:, None] * np.cross(self.axis, y - self.point) + self.shift

    def back(self, y: Array, t: Array) -> Array:
        """Points (n, 3) of A's frame at the times t, in B's mesh."""
        moved = y - self.point - self.shift * t[:, None]
        return np.einsum("nji,nj->ni", self.turn, self.rotated(moved, -t) + self.point - self.place)


@dataclass
class OwnMotions:
    """n pairs of bodies that each move by themselves in the world, with the methods of `Motion`."""

    a: Motion
    b: Motion

    @classmethod
    def between(cls, bodies: Bodies, pairs: Array) -> OwnMotions:
        """Of the given pairs of bodies."""
        return cls(*(_own(bodies, column) for column in pairs.T))

    def __len__(self) -> int:
        return len(self.a)

    def take(self, rows: Array) -> OwnMotions:
        """Some of them, in any order and as often as named."""
        return OwnMotions(self.a.take(rows), self.b.take(rows))

    def begins(self, x: Array) -> Array:
        """Points of B's mesh, which `at` takes as they are."""
        return x

    def heads(self, d: Array) -> Array:
        """Directions of B's mesh, which `rotated` takes as they are."""
        return d

    def rotated(self, d: Array, t: Array) -> Array:
        """Directions (n, 3) of B's mesh as A sees them at the times t (n,)."""
        seen = self.a.rotated(self.b.rotated(self.b.heads(d), t), -t)
        return np.einsum("nji,nj->ni", self.a.turn, seen)

    def at(self, x: Array, t: Array) -> Array:
        """Points (n, 3) of B's mesh as A sees them at the times t (n,)."""
        return self.a.back(self.b.at(self.b.begins(x), t), t)

    def back(self, y: Array, t: Array) -> Array:
        """Points (n, 3) of A's frame at the times t, in B's mesh."""
        return self.b.back(self.a.at(self.a.begins(y), t), t)

    def flow(self, y: Array, t: Array) -> Array:
        """Velocity a step, as A sees it, of B's point that is at y (n, 3) at the times t, by a difference."""
        x = self.back(y, t)
        return (self.at(x, t + INSTANT) - self.at(x, t - INSTANT)) / (2 * INSTANT)


def _own(bodies: Bodies, rows: Array) -> Motion:
    """Motions of some bodies in the world, which is A then and stands still."""
    moving, n = bodies.take(rows), len(rows)
    here = Poses.identity(1)
    world = Bodies(bodies.meshes[0], None, here, here)
    pairs = np.column_stack((np.full(n, n), np.arange(n)))
    motion = Motion.between(Bodies.concatenate([moving, world]), pairs)
    if moving.spins is None:
        return motion
    spins, straight = moving.spins, moving.spins.spinning
    angle = np.linalg.norm(spins.rotation, axis=1)
    turns = (angle > 0)[:, None]
    axis = np.where(turns, spins.rotation, [0.0, 0, 1]) / np.where(turns, angle[:, None], 1.0)
    spun = Motion(axis, motion.begins(spins.center), angle, spins.displacement, motion.turn, motion.place)
    fields = {
        name: np.where(straight.reshape(-1, *[1] * (column.ndim - 1)), getattr(spun, name), column)
        for name, column in vars(motion).items()
    }
    return Motion(**fields)
