"""How far apart two features of moving bodies are, along the normal at which they meet: when they come into a
zone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import conjugate, cross, dot, rotate
from gpu_collide.results.result import Kind

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.results.contacts import Contacts

__all__ = ["Gaps", "Meetings"]

#: The first step back is longer by this than the zone at the speed of approach is, so that rounding of either
#: does not make a second one necessary.
MORE = 1.0 / 64.0
#: Halvings of the time between two steps back: to rounding.
HALVINGS = 53


class Meetings(NamedTuple):
    """Columns of `Contacts`, times being shares of the whole step, and speeds lengths a step."""

    pair: Array
    kind: Array
    feature_a: Array
    feature_b: Array
    time: Array
    normal: Array
    local_a: Array
    local_b: Array
    normal_speed: Array
    sustained: Array
    time_end: Array

    @classmethod
    def of(cls, found: Contacts, begin: float, end: float) -> Meetings:
        """Contacts in a part of the step."""
        made = cls(*(getattr(found, name) for name in cls._fields))
        time, until = (begin + (end - begin) * x for x in (made.time, made.time_end))
        return made._replace(time=time, time_end=until, normal_speed=made.normal_speed / (end - begin))

    def take(self, rows: Array) -> Meetings:
        """Some of them."""
        return Meetings(*(column[rows] for column in self))


class Gaps(NamedTuple):
    """Pairs of features, a row for each, of bodies A and B.

    Attributes
    ----------
    a, b : Bodies
        A body for each row.
    kind : (n,) uint8
    time : (n,) float64
        When they meet, as a share of the motion of `a` and `b`.
    speed : (n,) float64
        How fast the gap grows then.
    at_a, at_b : (n, 3) float64
        Where they meet, in the coordinates of either body.
    along_a, along_b : (n, 3) float64
        Of a face the normal, from A to B, and of an edge its direction, in its body's coordinates; else zero.
        That of B's edge is such that the cross product of both leads from A to B.
    """

    a: Bodies
    b: Bodies
    kind: Array
    time: Array
    speed: Array
    at_a: Array
    at_b: Array
    along_a: Array
    along_b: Array

    @classmethod
    def of(cls, bodies: Bodies, pair: Array, met: Meetings) -> Gaps:
        """Those of some contacts, with the numbers of their bodies, (n, 2)."""
        a, b = bodies.take(pair[:, 0]), bodies.take(pair[:, 1])
        kind, time, normal = met.kind, met.time, met.normal
        quat_a, quat_b = a.poses_at(time).unit_wxyz, b.poses_at(time).unit_wxyz
        edges = kind == Kind.EE
        along_a = np.where((kind == Kind.FV)[:, None], rotate(conjugate(quat_a), normal), 0.0)
        along_b = np.where((kind == Kind.VF)[:, None], rotate(conjugate(quat_b), normal), 0.0)
        along_a[edges] = _directions(bodies, pair[edges, 0], met.feature_a[edges])
        along_b[edges] = _directions(bodies, pair[edges, 1], met.feature_b[edges])
        across = cross(rotate(quat_a, along_a), rotate(quat_b, along_b))
        along_b[edges & (dot(across, normal) < 0.0)] *= -1.0
        return cls(a, b, kind, time, met.normal_speed, met.local_a, met.local_b, along_a, along_b)

    def take(self, rows: Any) -> Gaps:
        """Some of them."""
        return Gaps(self.a.take(rows), self.b.take(rows), *(field[rows] for field in self[2:]))

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """Gap (n,), normal from A to B (n, 3) and place (n, 3) at some times (n,): the place is the vertex,
        or of two edges the point of A's that is nearest to B's."""
        one, two = self.a.poses_at(time), self.b.poses_at(time)
        place_a = one.position + rotate(one.unit_wxyz, self.at_a)
        place_b = two.position + rotate(two.unit_wxyz, self.at_b)
        along_a, along_b = rotate(one.unit_wxyz, self.along_a), rotate(two.unit_wxyz, self.along_b)
        way = place_b - place_a
        normal, edges = np.where((self.kind == Kind.FV)[:, None], along_a, along_b), self.kind == Kind.EE
        place = np.where((self.kind == Kind.FV)[:, None], place_b, place_a)
        if edges.any():
            u, v, w = along_a[edges], along_b[edges], way[edges]
            across = cross(u, v)
            square = np.maximum(dot(across, across), np.finfo(float).tiny)[:, None]
            normal[edges] = across / np.sqrt(square)
            place[edges] += u * (dot(cross(w, v), across)[:, None] / square)
        return dot(normal, way), normal, place

    def enter(self, zone: Array) -> Array:
        """When each comes as near as its zone, (n,), before it meets: the gap is that wide then, and less
        from there on, as far as steps back tell that grow fourfold; 0 if it is nearer all the time."""
        with np.errstate(divide="ignore"):
            step = np.where(self.speed < 0.0, (1.0 + MORE) * zone / -self.speed, np.inf)
        step = np.where(step < 1.0, step, 0.0) + np.finfo(float).eps
        late, early = self.time.copy(), np.maximum(self.time - step, 0.0)
        rows = np.arange(len(late))
        while rows.size:
            near = self.take(rows).at(early[rows])[0] < zone[rows]
            rows = rows[near]
            late[rows] = early[rows]
            rows = rows[early[rows] > 0.0]
            step[rows] *= 4.0
            early[rows] = np.maximum(self.time[rows] - step[rows], 0.0)
        rows = np.flatnonzero((early < late) & (late < self.time))
        for _ in range(HALVINGS if rows.size else 0):
            middle = 0.5 * (early[rows] + late[rows])
            near = self.take(rows).at(middle)[0] < zone[rows]
            early[rows], late[rows] = np.where(near, early[rows], middle), np.where(near, middle, late[rows])
        return early


def _directions(bodies: Bodies, body: Array, edge: Array) -> Array:
    """Unit directions of edges of some bodies, in the coordinates of these."""
    found = np.zeros((len(body), 3))
    shape = bodies.shape[body]
    for k in np.unique(shape):
        mesh, rows = bodies.meshes[k], shape == k
        ends = mesh.vertices[mesh.edges[edge[rows]]]
        found[rows] = ends[:, 1] - ends[:, 0]
    return found / np.maximum(np.sqrt(dot(found, found)), np.finfo(float).tiny)[:, None]
