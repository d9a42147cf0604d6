"""r01: chains and trees of joints: where their links are, and how far apart their parts can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import multiply, rotate
from gpu_collide.geometry.arrays.angles import sine_cosine

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["Chain", "Frames"]


class Frames(NamedTuple):
    """Poses of frames in the world: `position` (k, n, 3) and unit quaternions `quat` (k, n, 4), w first."""

    position: Array
    quat: Array


@dataclass(frozen=True)
class Chain:
    """Joints that move, each fixed to the frame of an earlier one, and links, each fixed to a joint's frame.

    Attributes
    ----------
    parent : (j,) int
        The joint whose frame carries this one, a lower number; -1: the base.
    offset, turn : (j, 3), (j, 4)
        Where the joint's frame is in that of its parent when its value is 0; unit quaternions.
    axis : (j, 3)
        Unit vectors in the joint's own frame.
    prismatic : (j,) bool
        The joint moves along its axis; else it turns about it, through the origin of its frame.
    carrier, place, rest : (n,) int, (n, 3), (n, 4)
        Of each link the joint that carries it (-1: the base), and where it is in that joint's frame.
    low, high : (n, 3)
        Box of each link's points, in its own frame.
    base : ((3,), (4,))
        Where the base is in the world.
    """

    parent: Array
    offset: Array
    turn: Array
    axis: Array
    prismatic: Array
    carrier: Array
    place: Array
    rest: Array
    low: Array
    high: Array
    base: tuple[Array, Array]

    def joints(self, values: Array) -> Frames:
        """Frames of the joints at their values (k, j): metres and radians."""
        k, n = values.shape
        position, quat = np.empty((n, k, 3)), np.empty((n, k, 4))
        sine, cosine = sine_cosine(0.5 * np.ascontiguousarray(values.T))
        for j in range(n):
            at, turned = self._carried(position, quat, self.parent[j])
            there = multiply(turned, self.turn[j])
            if self.prismatic[j]:
                way = self.offset[j] + rotate(self.turn[j], self.axis[j]) * values[:, j, None]
                quat[j] = there
            else:
                way = self.offset[j]
                own = np.concatenate([cosine[j][:, None], sine[j][:, None] * self.axis[j]], axis=1)
                quat[j] = multiply(there, own)
            position[j] = at + rotate(turned, np.broadcast_to(way, (k, 3)))
        return Frames(position.swapaxes(0, 1), quat.swapaxes(0, 1))

    def links(self, joints: Frames) -> Frames:
        """Frames of the links, given those of the joints."""
        at, turned = self.base
        k = len(joints.position)
        position = np.concatenate([np.broadcast_to(at, (k, 1, 3)), joints.position], axis=1)
        quat = np.concatenate([np.broadcast_to(turned, (k, 1, 4)), joints.quat], axis=1)
        carrier = quat[:, self.carrier + 1]
        return Frames(
            position[:, self.carrier + 1]
            + rotate(carrier, np.broadcast_to(self.place, (k, *self.place.shape))),
            multiply(carrier, self.rest),
        )

    def _carried(self, position: Array, quat: Array, joint: int) -> tuple[Array, Array]:
        if joint < 0:
            return np.broadcast_to(self.base[0], position.shape[1:]), np.broadcast_to(
                self.base[1], quat.shape[1:]
            )
        return position[joint], quat[joint]

    @cached_property
    def before(self) -> Array:
        """(j, j) float64: 1 where the first joint carries the second, directly or through others."""
        n = len(self.parent)
        carries = np.zeros((n, n))
        for j, p in enumerate(self.parent):
            if p >= 0:
                carries[:, j] = carries[:, p]
                carries[p, j] = 1.0
        return carries

    @cached_property
    def moves(self) -> Array:
        """(j, n) float64: 1 where the joint moves the link."""
        upto = np.concatenate(
            [self.before + np.eye(len(self.parent)), np.zeros((len(self.parent), 1))], axis=1
        )
        return upto[:, self.carrier]

    @cached_property
    def carries(self) -> Array:
        """(n, n) bool: the joint that carries the first link carries that of the second as well, and others
        move the second."""
        joints = np.concatenate([self.before, np.zeros((len(self.parent), 1))], axis=1)
        joints = np.concatenate([joints, np.ones((1, joints.shape[1]))]) > 0  # the base carries all joints
        joints[-1, -1] = False
        return joints[np.ix_(self.carrier, self.carrier)]

    @cached_property
    def reach(self) -> Array:
        """(n,): how far points of a link are from the origin of the frame that carries it, at most."""
        corners = np.stack(
            [np.where([x, y, z], self.low, self.high) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
        )
        at = self.place + rotate(np.broadcast_to(self.rest, (8, *self.rest.shape)), corners)
        return np.sqrt((at**2).sum(axis=-1)).max(axis=0)

    def distances(self, travel: Array) -> tuple[Array, Array]:
        """(k, j, j) and (k, j, n): how far the origin of a later joint's frame, and points of a link, are
        from the origin of a joint's frame, at most, while prismatic joints have values up to `travel` (k, j)
        either way; 0 where the joint does not carry the other. With k = 1 if no joint is prismatic."""
        step = np.sqrt((self.offset**2).sum(axis=1))[None]
        if self.prismatic.any():
            step = step + np.where(self.prismatic, travel, 0.0)
        n = len(self.parent)
        apart = np.zeros((len(step), n, n + 1))  # the last column: from the base, nothing
        for j, p in enumerate(self.parent):
            if p >= 0:
                apart[:, :, j] = (apart[:, :, p] + step[:, j, None]) * self.before[:, j]
        links = (apart[:, :, self.carrier] + self.reach) * self.moves
        return apart[:, :, :n], links
