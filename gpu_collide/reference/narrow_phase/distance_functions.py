"""Gaps of all pairs of features of two bodies at a distance, as functions of time, from their formulas.

P leads from A's feature to B's, e is along an edge, n a face's outward normal, c the cross product of both
edges. A pair of features is as far apart as

    FV, VF   n . P          EE   |P . c| / |c|          EV, VE   |P x e|          VV   |P|

if its closest points lie inside both, which `Gaps.at` says with it, as it says whether the direction U
between these is in the closed normal cones of both: e . U >= 0 over the edges that leave a vertex of B
(e . U <= 0 for A), m . U >= 0 over the faces at an edge, m into the face across the edge. No bodies have
their closest points at a reflex edge. Source: docs/decisions/0113.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase._intervals import PARALLEL
from gpu_collide.results.enums import Kind

__all__ = ["Gaps", "all_gaps"]

# A direction is in a closed cone if no number that says so is below 0 by more (rounding: 1e-15).
CONE = 1e-9
KINDS = (Kind.FV, Kind.VF, Kind.EE, Kind.EV, Kind.VE, Kind.VV)
# Who sees: the motion's names for the bodies.
A, B = -1.0, 1.0


@dataclass
class Gaps:
    """Pairs of features of one kind.

    ``sign`` (n,) tells the two directions apart of edges, and of vertices over sheets. What it gives is in
    the frame in which A is seen, in user units.
    """

    motion: Any
    a: Any
    b: Any
    kind: Kind
    fa: np.ndarray
    fb: np.ndarray
    sign: np.ndarray

    def take(self, index):
        """The same of some."""
        return Gaps(self.motion, self.a, self.b, self.kind, self.fa[index], self.fb[index], self.sign[index])

    def points(self, s):
        """Closest points of the carriers on A and on B, as A sees them at the times ``s`` (n,); the
        direction U; and the signed gap along it."""
        kind, m = self.kind, self.motion
        if kind in (Kind.EE, Kind.EV):
            xa, ea, _ = self._edge(self.a, self.fa)
        if kind in (Kind.EE, Kind.VE):
            xb, eb, _ = self._edge(self.b, self.fb)
            xb, eb = m.carry(xb, s, A), m.carry_direction(eb, s, A)
        if kind in (Kind.VF, Kind.VE, Kind.VV):
            xa = self.a.points[self.fa]
        if kind in (Kind.FV, Kind.EV, Kind.VV):
            xb = m.carry(self.b.points[self.fb], s, A)
        if kind == Kind.FV:
            n = self.a.normals[self.fa]
            h = dot(n, xb - self._corner(self.a, self.fa))
            return xb - h[:, None] * n, xb, n * self.sign[:, None], h * self.sign
        if kind == Kind.VF:
            n = m.carry_direction(self.b.normals[self.fb], s, A)
            h = dot(n, xa - m.carry(self._corner(self.b, self.fb), s, A))
            return xa, xa - h[:, None] * n, -n * self.sign[:, None], h * self.sign
        if kind == Kind.EE:
            c = cross(ea, eb)
            square = np.maximum(dot(c, c), 1e-300)
            u = c / np.sqrt(square)[:, None] * self.sign[:, None]
            p = xb - xa
            alpha, beta = dot(cross(p, eb), c) / square, dot(cross(p, ea), c) / square
            return xa + alpha[:, None] * ea, xb + beta[:, None] * eb, u, dot(p, u)
        if kind == Kind.EV:
            xa = xa + dot(xb - xa, ea)[:, None] * ea
        if kind == Kind.VE:
            xb = xb + dot(xa - xb, eb)[:, None] * eb
        p = xb - xa
        gap = np.sqrt(dot(p, p))
        return xa, xb, p / np.maximum(gap, 1e-300)[:, None], gap

    def gap(self, s):
        """The signed gap at the times ``s`` (n,)."""
        return self.points(s)[3]

    def over(self, times):
        """The signed gaps (k, n) of all at each of the times (k,)."""
        each = np.arange(len(self.fa))
        every = self.take(np.tile(each, len(times)))
        return every.gap(np.repeat(times, len(each))).reshape(len(times), -1)

    def judged(self, s):
        """Closest points, U, how far inside both features they are (n,), the least number of both cones (n,),
        and U . w (n,), by which the gap grows."""
        on_a, on_b, u, _ = self.points(s)
        m, kind = self.motion, self.kind
        back = m.carry(on_b, s, B)
        inside = np.minimum(self._within(self.a, self.fa, 0, on_a), self._within(self.b, self.fb, 1, back))
        of_a = self._cone(self.a, self.fa, 0, u)
        of_b = self._cone(self.b, self.fb, 1, -m.carry_direction(u, s, B))
        speed = dot(u, m.field(on_b, s, A))
        if kind == Kind.EE:
            ea, eb = self.a.unit[self.fa], m.carry_direction(self.b.unit[self.fb], s, A)
            inside = np.where(np.linalg.norm(cross(ea, eb), axis=1) < PARALLEL, -np.inf, inside)
        return on_a, back, u, inside, np.minimum(of_a, of_b), speed

    def _sort(self, which):
        """What body `which` has: "F", "E" or "V"."""
        return self.kind.name[which]

    @staticmethod
    def _edge(side, edges):
        return side.points[side.tables.edges[edges, 0]], side.unit[edges], side.tables.length[edges]

    @staticmethod
    def _corner(side, faces):
        return side.points[side.tables.loops[faces, 0]]

    def _within(self, side, feature, which, x):
        sort = self._sort(which)
        if sort == "V":
            return np.full(len(x), np.inf)
        if sort == "E":
            low, e, length = self._edge(side, feature)
            along = dot(x - low, e)
            return np.minimum(along, length - along)
        corner = side.points[side.tables.loops[feature]]
        inward = side.inward[feature]
        out = np.sum((x[:, None] - corner) * inward, axis=-1)
        return np.where(side.tables.loops[feature] >= 0, out, np.inf).min(axis=1)

    def _cone(self, side, feature, which, u):
        """How far directions ``u`` (n, 3), out of the body and in its axes, are inside the cones."""
        sort, t = self._sort(which), side.tables
        if sort == "F":
            return np.ones(len(u))
        if sort == "V":
            edges = t.vertex_edges[feature]
            there = (edges >= 0) & (t.length[edges] > 0.0)
            e = side.unit[edges] * t.vertex_signs[feature][..., None]
            value = np.where(there, -np.sum(e * u[:, None], axis=-1), 1.0).min(axis=1)
            border = (there & ((t.edge_faces[edges] >= 0).sum(axis=-1) != 2)).any(axis=1)
            faces = t.vertex_faces[feature]
            for i in np.flatnonzero((value > 0) & t.vertex_reflex[feature]):
                value[i] *= -1.0 if _pit(side, feature[i], -u[i]) else 1.0
        else:
            faces, sides = t.edge_faces[feature], t.edge_sides[feature]
            there = (faces >= 0) & side.normals[faces].any(axis=-1)
            # m = n x e is across a left face, into it; -n x e into a right one
            into = cross(side.normals[faces], np.broadcast_to(side.unit[feature][:, None], (*faces.shape, 3)))
            into = into * np.where(sides == 0, 1.0, -1.0)[..., None]
            value = np.where(there, -np.sum(into * u[:, None], axis=-1), 1.0).min(axis=1)
            value = np.where(t.edge_reflex[feature], -1.0, value)
            border = there.sum(axis=1) != 2
        # out of the solid: some face looks that way; a border has no inside, nor has a sheet
        looks = (np.sum(side.normals[faces] * u[:, None], axis=-1) >= -CONE) & (faces >= 0)
        return np.where(t.two_sided | border | looks.any(axis=1), value, -1.0)


def _pit(side, vertex, n):
    """Does the solid at a vertex lie on the near side, towards -n, though all its edges leave along n?"""
    t = side.tables
    edges = t.vertex_edges[vertex][t.vertex_edges[vertex] >= 0]
    signs = t.vertex_signs[vertex][: len(edges)]
    e = side.unit[edges] * signs[:, None]
    least = int(np.argmin(e @ n))
    p = -n + (n @ e[least]) * e[least]
    faces = t.edge_faces[edges[least]]
    behind = side.normals[faces[faces >= 0]] @ p < 0
    return bool(behind.any() if t.edge_reflex[edges[least]] else behind.all())


def all_gaps(motion, a, b):
    """`Gaps` of every pair of features, one for each kind and sign."""
    numbers = {
        # what stands for the face of a line, or for the edge of a point, is none
        "F": lambda x: np.flatnonzero(x.normals.any(axis=1)),
        "E": lambda x: np.flatnonzero(x.tables.length > 0.0),
        "V": _used,
    }
    for kind in KINDS:
        fa, fb = numbers[kind.name[0]](a), numbers[kind.name[1]](b)
        fa, fb = np.repeat(fa, len(fb)), np.tile(fb, len(fa))
        sheet = (kind == Kind.FV and a.tables.two_sided) or (kind == Kind.VF and b.tables.two_sided)
        for sign in (1.0, -1.0) if sheet or kind == Kind.EE else (1.0,):
            yield Gaps(motion, a, b, kind, fa, fb, np.full(len(fa), sign))


def _used(side):
    return np.flatnonzero((side.tables.vertex_faces >= 0).any(axis=1))


def dot(x, y):
    """Dot products of rows."""
    return np.sum(x * y, axis=-1)
