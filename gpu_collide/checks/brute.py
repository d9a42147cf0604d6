"""Contacts by brute force: every feature against every feature, at many times, without any culling.

It finds what is beyond doubt: a signed distance that changes its sign between two samples of time, well
inside both features, on sides that face each other well. What grazes, coincides or lasts it leaves alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.checks.motion import Motion, OwnMotions
from gpu_collide.results.enums import CONTACT_KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_collide._types import Array
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["Shape", "Sure", "features_at", "sure_contacts"]

SAMPLES = 65
HALVINGS = 52
MARGIN = 1e-6  # of the size, of the speed, of the step: what is nearer to a decision is left alone
ROWS = 200_000  # pairs of features at once


class Shape:
    """Vertices, faces and edges of a mesh as the brute force reads them."""

    def __init__(self, mesh: Mesh) -> None:
        self.v = np.asarray(mesh.vertices, float)
        self.size = float(np.linalg.norm(self.v - self.v.mean(0), axis=1).max())
        start, corner = np.asarray(mesh.face_start), np.asarray(mesh.face_vertices)
        self.loops = [corner[i:j] for i, j in zip(start, start[1:], strict=False)]
        self.two_sided = bool(mesh.two_sided)
        self.normal = np.array([_normal(self.v[loop]) for loop in self.loops])
        longest = max(map(len, self.loops))
        # each face's corners, the last one again and again: borders of no length bound nothing
        self.corners = np.array(
            [np.r_[loop, np.repeat(loop[-1], longest - len(loop))] for loop in self.loops]
        )
        self.edges = np.asarray(mesh.edges)
        number = {tuple(edge): k for k, edge in enumerate(self.edges.tolist())}
        of_vertex: list[list[int]] = [[] for _ in self.v]
        of_edge: list[list[int]] = [[] for _ in self.edges]
        for face, loop in enumerate(self.loops):
            for i, j in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True):
                of_vertex[i].append(face)
                of_edge[number[min(i, j), max(i, j)]].append(face)
        self.vertex_faces, self.edge_faces = _table(of_vertex), _table(of_edge)

    def faces_of(self, which: str, feature: Array) -> Array:
        """Faces (n, k) that a feature belongs to, -1 for none."""
        if which == "face":
            return feature[:, None]
        return (self.vertex_faces if which == "vertex" else self.edge_faces)[feature]

    def inside(self, face: Array, x: Array) -> Array:
        """How far points (n, 3) are inside the borders of faces (n,), in the plane of each."""
        corner = self.v[self.corners[face]]
        side = np.roll(corner, -1, axis=1) - corner
        length = np.linalg.norm(side, axis=2)
        inward = np.cross(self.normal[face][:, None], side) / np.where(length > 0, length, 1.0)[..., None]
        return np.where(length > 0, ((x[:, None] - corner) * inward).sum(2), np.inf).min(1)


def _normal(x: Array) -> Array:
    n = np.cross(x - x[0], np.roll(x, -1, axis=0) - x[0]).sum(0)
    return n / np.linalg.norm(n)


def _table(lists: list[list[int]]) -> Array:
    table = np.full((len(lists), max(map(len, lists), default=0) or 1), -1)
    for k, row in enumerate(lists):
        table[k, : len(row)] = row
    return table


FEATURES = {Kind.FV: ("face", "vertex"), Kind.VF: ("vertex", "face"), Kind.EE: ("edge", "edge")}


@dataclass
class Sure:
    """Contacts beyond doubt: rows of (row of the motions, kind, features, time)."""

    row: Array
    kind: Array
    feature_a: Array
    feature_b: Array
    time: Array


def sure_contacts(
    a: Shape, b: Shape, motion: Motion | OwnMotions, kinds: tuple[Kind, ...] = CONTACT_KINDS
) -> Sure:
    """All sure contacts of n motions of the same two shapes, B moving."""
    parts: list[tuple] = []
    count_a, count_b = ({"face": len(s.loops), "vertex": len(s.v), "edge": len(s.edges)} for s in (a, b))
    for kind in kinds:
        one, two = FEATURES[kind]
        na, nb = count_a[one], count_b[two]
        each = max(1, ROWS // (na * nb))
        for begin in range(0, len(motion), each):
            rows = np.arange(begin, min(begin + each, len(motion)))
            row, fa, fb = (g.ravel() for g in np.meshgrid(rows, np.arange(na), np.arange(nb), indexing="ij"))
            parts.append(_of_kind(a, b, motion, kind, row, fa, fb))
    if not parts:
        none = np.zeros(0, np.int64)
        return Sure(none, none, none, none, np.zeros(0))
    found = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.lexsort((found[4], found[0]))
    return Sure(*(column[order] for column in found))


def _of_kind(
    a: Shape, b: Shape, motion: Motion | OwnMotions, kind: Kind, row: Array, fa: Array, fb: Array
) -> tuple:
    lows, times = [], np.linspace(0.0, 1.0, SAMPLES)
    before = signed(a, b, motion.take(row), kind, fa, fb, np.zeros(len(row)))
    for k, t in enumerate(times[1:]):
        now = signed(a, b, motion.take(row), kind, fa, fb, np.full(len(row), t))
        changed = np.flatnonzero((before > 0) != (now > 0))
        lows.append((changed, np.full(len(changed), times[k]), before[changed] > 0))
        before = now
    which, lo, above = (np.concatenate(column) for column in zip(*lows, strict=True))
    row, fa, fb, hi = row[which], fa[which], fb[which], lo + times[1]
    m = motion.take(row)
    for _ in range(HALVINGS):
        mid = (lo + hi) / 2
        low = (signed(a, b, m, kind, fa, fb, mid) > 0) == above
        lo, hi = np.where(low, mid, lo), np.where(low, hi, mid)
    place, gap, inside, sine = features_at(a, b, m, kind, fa, fb, lo)
    size = max(a.size, b.size)
    flow = m.flow(place, lo)
    speed = np.maximum(np.linalg.norm(flow, axis=1), 1e-300)[:, None]
    keep = (
        (inside > MARGIN * size) & (gap < MARGIN * size) & (sine > 1e-3) & (lo > MARGIN) & (lo < 1 - MARGIN)
    )
    keep &= _faces_well(a, a.faces_of(FEATURES[kind][0], fa), lambda n: n, -flow / speed)
    keep &= _faces_well(
        b, b.faces_of(FEATURES[kind][1], fb), lambda n: m.rotated(m.heads(n), lo), flow / speed
    )
    return row[keep], np.full(keep.sum(), int(kind)), fa[keep], fb[keep], lo[keep]


def _faces_well(shape: Shape, faces: Array, turned: Callable[[Array], Array], towards: Array) -> Array:
    """Whether a feature's best face clearly faces where it is hit from; of two-sided ones every face does."""
    if shape.two_sided:
        return np.ones(len(faces), bool)
    best = np.full(len(faces), -1.0)
    for face in faces.T:
        value = (turned(shape.normal[face]) * towards).sum(1)
        best = np.where(face >= 0, np.maximum(best, value), best)
    return best > MARGIN


def signed(a: Shape, b: Shape, m: Motion | OwnMotions, kind: Kind, fa: Array, fb: Array, t: Array) -> Array:
    """What changes its sign when the planes, or the lines, of two features meet."""
    if kind == Kind.FV:
        x = m.at(m.begins(b.v[fb]), t)
        return ((x - a.v[a.corners[fa, 0]]) * a.normal[fa]).sum(1)
    if kind == Kind.VF:
        x = m.back(a.v[fa], t)
        return ((x - b.v[b.corners[fb, 0]]) * b.normal[fb]).sum(1)
    p, u, q, w = _lines(a, b, m, fa, fb, t)
    return ((q - p) * np.cross(u, w)).sum(1)


def _lines(a: Shape, b: Shape, m: Motion | OwnMotions, fa: Array, fb: Array, t: Array) -> tuple:
    (i, j), (k, l) = a.edges[fa].T, b.edges[fb].T
    q, r = (m.at(m.begins(b.v[n]), t) for n in (k, l))
    return a.v[i], a.v[j] - a.v[i], q, r - q


def features_at(
    a: Shape, b: Shape, m: Motion | OwnMotions, kind: Kind, fa: Array, fb: Array, t: Array
) -> tuple:
    """Two features at a time: place in A's frame, distance of planes or lines, how far inside both, sine."""
    one = np.ones(len(t))
    if kind == Kind.FV:
        x = m.at(m.begins(b.v[fb]), t)
        return x, np.abs(signed(a, b, m, kind, fa, fb, t)), a.inside(fa, x), one
    if kind == Kind.VF:
        x = a.v[fa]
        return x, np.abs(signed(a, b, m, kind, fa, fb, t)), b.inside(fb, m.back(x, t)), one
    p, u, q, w = _lines(a, b, m, fa, fb, t)
    n, lu, lw = np.cross(u, w), np.linalg.norm(u, axis=1), np.linalg.norm(w, axis=1)
    square = np.maximum((n * n).sum(1), 1e-300)
    s = (np.cross(q - p, w) * n).sum(1) / square
    r = (np.cross(q - p, u) * n).sum(1) / square
    inside = np.minimum(np.minimum(s, 1 - s) * lu, np.minimum(r, 1 - r) * lw)
    place = p + s[:, None] * u
    gap = np.linalg.norm(q + r[:, None] * w - place, axis=1)
    return place, gap, inside, np.sqrt(square) / (lu * lw)
