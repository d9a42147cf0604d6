"""Motions and shapes for the check of invariants: quaternions and chords of arcs, without a screw frame.

Of a body that turns by theta about v, the way from the start to time t is the whole way's part along v
times t, plus the part across v, shortened by sin(theta t / 2) / sin(theta / 2) and turned back by
theta (1 - t) / 2: the chord of an arc. There is no axis point and no radius in it, and nothing but v is made
a unit vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.quaternion import conjugate, cross, multiply, rotate
from gpu_collide.results.contacts import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.results.contacts import Contacts


def _dot(a: Array, b: Array) -> Array:
    return (a * b).sum(axis=-1)


def _turn(v: Array, angle: Array, x: Array) -> Array:
    """x (n, 3) turned about unit v (n, 3) by angle (n,)."""
    angle = np.asarray(angle)[:, None]
    across = cross(v, x)
    return x + np.sin(angle) * across + 2 * np.sin(angle / 2) ** 2 * cross(v, across)


class _Arc:
    """Motions from (p0, q0) to (p1, q1)."""

    def __init__(self, p0: Array, q0: Array, p1: Array, q1: Array) -> None:
        self.p0, self.chord, self.q0 = p0, p1 - p0, q0
        turn = multiply(q1, conjugate(q0))
        turn = np.where(turn[:, :1] < 0, -turn, turn)
        self.real = turn[:, 0]  # 0: a half turn, which two screws fit
        length = np.sqrt(_dot(turn[:, 1:], turn[:, 1:]))
        self.theta = np.where(length < 1e-15, 0.0, 2 * np.arctan2(length, turn[:, 0]))
        safe = np.where(length < 1e-15, 1.0, length)[:, None]
        self.v = np.where(length[:, None] < 1e-15, [0.0, 0.0, 1.0], turn[:, 1:] / safe)

    def origin(self, t: Array) -> Array:
        """Where p0 is at times t."""
        along = _dot(self.v, self.chord)[:, None] * self.v
        half = self.theta / 2
        whole = np.sin(half)
        share = np.where(whole > 0, np.sin(half * t) / np.where(whole > 0, whole, 1), t)
        across = _turn(self.v, half * (t - 1), self.chord - along)
        return self.p0 + along * t[:, None] + share[:, None] * across

    def axes(self, t: Array, x: Array) -> Array:
        """Directions x of the body at times t."""
        return _turn(self.v, self.theta * t, rotate(self.q0, x))


class _Own:
    """Own motions of bodies `k`, from where each is at the start: along arcs, or straight on and spinning."""

    def __init__(self, bodies: Bodies, k: Array) -> None:
        start, end, spins = bodies.start, bodies.end, bodies.spins
        self.q0, none = start.unit_wxyz[k], np.zeros((len(k), 3))
        self.arc = _Arc(none, self.q0, end.position[k] - start.position[k], end.unit_wxyz[k])
        self.spins = np.zeros(len(k), bool) if spins is None else spins.spinning[k]
        self.way, self.turn, self.center = (
            (none, none, none)
            if spins is None
            else (spins.displacement[k], spins.rotation[k], spins.center[k])
        )
        angle = np.sqrt(_dot(self.turn, self.turn))
        self.angle = np.where(self.spins, angle, self.arc.theta)
        self.axis = self.turn / np.where(angle > 0, angle, 1.0)[:, None]
        self.real = np.where(self.spins, 1.0, self.arc.real)
        self.length = np.where(
            self.spins, np.sqrt(_dot(self.way, self.way)), np.sqrt(_dot(self.arc.chord, self.arc.chord))
        )

    def axes(self, t: Array, x: Array) -> Array:
        """Directions x of the bodies in the world at times t."""
        spun = _turn(self.axis, self.angle * t, rotate(self.q0, x))
        return np.where(self.spins[:, None], spun, self.arc.axes(t, x))

    def origin(self, t: Array) -> Array:
        """How far the origins have come by the times t."""
        spun = t[:, None] * self.way + (rotate(self.q0, self.center) - self.axes(t, self.center))
        return np.where(self.spins[:, None], spun, self.arc.origin(t))


@dataclass
class Motion:
    """Motions of B's centre and axes as seen from A, one for each contact."""

    arc: _Arc
    bodies: Bodies
    a: np.ndarray
    b: np.ndarray
    center_a: np.ndarray
    center_b: np.ndarray
    size: np.ndarray
    way: np.ndarray
    speed: np.ndarray

    @property
    def real(self) -> Array:
        """Cosine of half the turn; 0 for a half turn, which two screws fit."""
        return self.arc.real

    @classmethod
    def of_pairs(cls, bodies: Bodies, table: Tables, a: Array, b: Array) -> Motion:
        center_a, center_b = table.center[bodies.shape[a]], table.center[bodies.shape[b]]
        size = np.maximum(table.radius[bodies.shape[a]], table.radius[bodies.shape[b]])
        placed: list[Array] = []
        spread = np.zeros(len(a))
        for poses in (bodies.start, bodies.end):
            back = conjugate(poses.unit_wxyz[a])
            between = poses.position[b] - poses.position[a]
            q = multiply(back, poses.unit_wxyz[b])
            placed += [rotate(back, between) + rotate(q, center_b) - center_a, q]
            spread = np.maximum(spread, np.abs(between).max(axis=1))
        arc = _Arc(*placed)
        own = np.abs(center_a).max(axis=1) + np.abs(center_b).max(axis=1)  # offsets of the meshes themselves
        speed = np.sqrt(_dot(arc.chord, arc.chord)) * np.pi / 2 + arc.theta * 2 * size
        return cls(arc, bodies, a, b, center_a, center_b, size, size + spread + own, speed)

    def b_in_a(self, t: Array, local_b: Array) -> Array:
        """Points of B's mesh at times t, in A's mesh coordinates."""
        return self.arc.origin(t) + self.arc.axes(t, local_b - self.center_b) + self.center_a

    def turned(self, t: Array, x: Array) -> Array:
        """Directions x of B at times t, in A's axes."""
        return self.arc.axes(t, x)

    def sine(self, table: Tables, found: Contacts) -> Array:
        """|sin| between the edges of edge-edge contacts at their times, 1 for the others."""
        out = np.ones(len(found))
        k = np.flatnonzero(found.kind == Kind.EE)
        a = table.edge_direction(self.bodies.shape[self.a[k]], found.feature_a[k])
        b = np.zeros((len(found), 3))
        b[k] = table.edge_direction(self.bodies.shape[self.b[k]], found.feature_b[k])
        across = cross(a, self.turned(found.time, b)[k])
        out[k] = np.sqrt(_dot(across, across))
        return out

    def face_normal(self, table: Tables, found: Contacts) -> Array:
        """Normals of the faces of FV and VF in A's axes at the start; zero for EE."""
        out = np.zeros((len(found), 3))
        k = found.kind == Kind.FV
        out[k] = table.normal(self.bodies.shape[self.a[k]], found.feature_a[k])
        k = found.kind == Kind.VF
        out[k] = table.normal(self.bodies.shape[self.b[k]], found.feature_b[k])
        out[k] = self.turned(found.time, out)[k]
        return out


@dataclass
class BodyMotions(Motion):
    """The same where each body moves on its own motion."""

    own_a: _Own
    own_b: _Own

    @classmethod
    def of_pairs(cls, bodies: Bodies, table: Tables, a: Array, b: Array) -> BodyMotions:
        one = Motion.of_pairs(bodies, table, a, b)
        own_a, own_b = _Own(bodies, a), _Own(bodies, b)
        length, turn = own_a.length + own_b.length, own_a.angle + own_b.angle
        one.way = one.way + length + turn * one.size
        one.speed = length * np.pi / 2 + turn * 2 * one.size
        return cls(**vars(one), own_a=own_a, own_b=own_b)

    @property
    def real(self) -> Array:
        return np.minimum(self.own_a.real, self.own_b.real)

    def turned(self, t: Array, x: Array) -> Array:
        return self._seen(t, self.own_b.axes(t, x))

    def b_in_a(self, t: Array, local_b: Array) -> Array:
        start = self.bodies.start.position
        apart = (start[self.b] - start[self.a]) + (self.own_b.origin(t) - self.own_a.origin(t))
        return self._seen(t, self.own_b.axes(t, local_b) + apart)

    def _seen(self, t: Array, world: Array) -> Array:
        """Directions of the world at times t, in A's axes."""
        unit = np.broadcast_to(np.eye(3)[:, None], (3, len(world), 3))
        return np.stack([_dot(self.own_a.axes(t, e), world) for e in unit], axis=1)


def carry(
    bodies: Bodies, a: Array, t: Array, local: Array, direction: Array
) -> tuple[Array, Array, Array, Array]:
    """Points and directions of bodies a in the world at times t, each body on its own motion.

    Returns
    -------
    position, direction : (n, 3)
    far : (n,)
        Largest coordinate of the poses, whose rounding the result has.
    real : (n,)
        Cosine of half of a body's turn; 0 for a half turn, which two screws fit.
    """
    start, end = bodies.start, bodies.end
    own = _Own(bodies, a)
    far = np.maximum(np.abs(start.position[a]).max(axis=1), np.abs(end.position[a]).max(axis=1))
    far = far + np.abs(local).max(axis=1)
    place = start.position[a] + own.origin(t) + own.axes(t, local)
    return place, own.axes(t, direction), far, own.real


class Tables:
    """Features of all meshes in one numbering, looked up by (mesh, feature)."""

    def __init__(self, meshes: Sequence[Mesh]) -> None:
        self.center = np.array([m.center for m in meshes])
        self.radius = np.array([m.radius for m in meshes])
        self.rounding = np.array([m.rounding for m in meshes])
        self.ends = np.array([(-1.0, -1.0) if m.ends is None else m.ends for m in meshes])

        def joined(arrays: Any, raise_by: Any = None) -> tuple[Array, Array]:
            first = np.cumsum([0, *(len(x) for x in arrays)])
            if raise_by is not None:
                arrays = [x + offset for x, offset in zip(arrays, raise_by, strict=True)]
            return np.concatenate(arrays), first[:-1]

        self.points, self.first_point = joined([m.vertices - m.center for m in meshes])
        self.planes, self.first_face = joined([m.face_planes for m in meshes])
        self.edges, self.first_edge = joined([m.edges for m in meshes], self.first_point)
        self.corners, corner = joined([m.face_vertices for m in meshes], self.first_point)
        counts = np.concatenate([np.diff(m.face_start) for m in meshes])
        begins = [m.face_start[:-1] + c for m, c in zip(meshes, corner, strict=True)]
        self.face_begin, self.face_count = np.concatenate(begins).astype(int), counts.astype(int)

    def normal(self, mesh: Array, face: Array) -> Array:
        return self.planes[self.first_face[mesh] + face, :3]

    def edge_direction(self, mesh: Array, edge: Array) -> Array:
        ends = self.points[self.edges[self.first_edge[mesh] + edge]]
        along = ends[:, 1] - ends[:, 0]
        return along / np.sqrt(_dot(along, along))[:, None]

    def off_feature(self, mesh: Array, sort: Array, feature: Array, local: Array) -> Array:
        """How far points of mesh coordinates are off the vertex, edge or face (`sort`: V, E, F) that their
        contact names, or off its surface, outside of it by the rounding."""
        x = local - self.center[mesh]
        off = np.zeros(len(x))
        k = np.flatnonzero(sort == "F")
        off[k] = self._off_face(self.first_face[mesh[k]] + feature[k], x[k])
        k = np.flatnonzero(sort == "V")
        apart = x[k] - self.points[self.first_point[mesh[k]] + feature[k]]
        off[k] = np.sqrt(_dot(apart, apart))
        k = np.flatnonzero(sort == "E")
        ends = self.points[self.edges[self.first_edge[mesh[k]] + feature[k]]]
        along, from_low = ends[:, 1] - ends[:, 0], x[k] - ends[:, 0]
        share = np.clip(_dot(from_low, along) / _dot(along, along), 0, 1)
        gap = from_low - share[:, None] * along
        off[k] = np.sqrt(_dot(gap, gap))
        off = np.abs(off - self.rounding[mesh])
        k = np.flatnonzero(self.ends[mesh, 0] >= 0)
        off[k] = self._off_frustum(mesh[k], x[k])
        return off

    def _off_frustum(self, mesh: Array, x: Array) -> Array:
        """Off the surface of cylinders and cones."""
        low, high = (self.points[self.first_point[mesh] + end] for end in (0, 1))
        way = high - low
        length = np.sqrt(_dot(way, way))
        z = _dot(x - low, way) / length
        out = x - low - (z / length)[:, None] * way
        at = np.stack([np.sqrt(_dot(out, out)), z], axis=1)
        zero, (r0, r1) = 0.0 * length, self.ends[mesh].T
        corners = [np.stack(c, axis=1) for c in ((zero, zero), (r0, zero), (r1, length), (zero, length))]
        off = np.full(len(x), np.inf)
        for a, b in zip(corners[:3], corners[1:], strict=True):
            side = b - a
            share = np.clip(_dot(at - a, side) / np.maximum(_dot(side, side), 1e-300), 0, 1)
            gap = at - a - share[:, None] * side
            off = np.minimum(off, np.sqrt(_dot(gap, gap)))
        return off

    def _off_face(self, face: Array, x: Array) -> Array:
        """Off the plane, or outside a side in it, whichever is more."""
        n, d = self.planes[face, :3], self.planes[face, 3]
        off = np.abs(_dot(n, x) + d)
        count = self.face_count[face]
        owner = np.repeat(np.arange(len(face)), count)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        begin = self.face_begin[face][owner]
        low = self.points[self.corners[begin + within]]
        high = self.points[self.corners[begin + (within + 1) % count[owner]]]
        side = high - low
        inward = cross(n[owner], side)
        outside = -_dot(inward, x[owner] - low) / np.sqrt(_dot(inward, inward))
        np.maximum.at(off, owner, outside)
        return off
