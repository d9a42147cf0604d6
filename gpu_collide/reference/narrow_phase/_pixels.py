"""Coincidences of ``refine="pixels"``: what shares the pixel of a vertex (Buss, end of section 5).

A vertex that shares its pixel with an edge is on it: all edges of the vertex meet that edge there, and the
vertex meets the faces beside it (VE, EV). Of two vertices in one pixel all edges and faces meet (VV). Of the
contacts of one coincidence the one of greatest properness stays, which may be of edges: a vertex
near the crossing of two edges is no better a contact than the crossing itself.

Input: `Meetings` whose ``along_a`` and ``along_b`` say what shares a pixel: for edges 0 or the whole length
where the pixel is that of an end, for a vertex and a face 0 (else NaN) where it is that of a side.
"""

import numpy as np

from gpu_collide.reference.narrow_phase.s07_solve import EE, FV


def resolve(screw, a, b, m, min_properness, pixel):
    """Meetings at or above ``min_properness``, one of each coincidence, in the order of the result."""
    m = m.take(np.nonzero(m.properness >= min_properness)[0])
    same_time = max(2.0 * screw.tau, 2.0 * pixel / screw.speed)
    places = [_place(a, b, m, i) for i in range(len(m))]
    best_first = np.lexsort((m.s, m.feature_b, m.feature_a, m.kind, -m.properness))
    kept: list[int] = []
    for i in best_first:
        near = [j for j in kept if abs(m.s[i] - m.s[j]) <= same_time]
        if not any(_twice(m, i, j) or _one_coincidence(places[i], places[j]) for j in near):
            kept.append(i)
    m = m.take(np.array(kept, dtype=np.int64))
    time = np.clip(m.s + 0.5, 0.0, 1.0)
    return m.take(np.lexsort((m.feature_b, m.feature_a, m.kind, time)))


def _twice(m, i, j):
    return (m.kind[i], m.feature_a[i], m.feature_b[i]) == (m.kind[j], m.feature_a[j], m.feature_b[j])


class _Place:
    """Where a meeting is on both bodies: the vertex if it is at one, the features of the body that are met
    there, as frozen sets of edges and faces, and whether the meeting can be a coincidence."""

    def __init__(self, side, vertex=-1, edge=-1, face=-1):
        t = side.tables
        self.vertex = vertex
        self.edge, self.face = edge, face
        self.corners = _corners(t, face) if face >= 0 else frozenset()
        self.sides = frozenset(t.loop_edges[face][t.loops[face] >= 0].tolist()) if face >= 0 else frozenset()


def _place(a, b, m, i):
    """`_Place` of meeting i on A and on B, or None if it shares no pixel of a vertex."""
    fa, fb = int(m.feature_a[i]), int(m.feature_b[i])
    if m.kind[i] == EE:
        ends = tuple(
            _end(side, edge, along) for side, edge, along in ((a, fa, m.along_a[i]), (b, fb, m.along_b[i]))
        )
        if ends == (-1, -1):
            return None
        return _Place(a, vertex=ends[0], edge=fa), _Place(b, vertex=ends[1], edge=fb)
    if np.isnan(m.along_a[i]):
        return None
    if m.kind[i] == FV:
        return _Place(a, face=fa), _Place(b, vertex=fb)
    return _Place(a, vertex=fa), _Place(b, face=fb)


def _end(side, edge, along):
    ends = side.tables.edges[edge]
    return int(ends[0]) if along == 0.0 else int(ends[1]) if along == side.tables.length[edge] else -1


def _one_coincidence(x, y):
    if x is None or y is None:
        return False
    (xa, xb), (ya, yb) = x, y
    return (
        (_same_vertex(xa, ya) and _beside(xb, yb))
        or (_same_vertex(xb, yb) and _beside(xa, ya))
        or (
            # a vertex of A on a face of B, and that face's corner on a face of A
            _crosswise(xa, xb, ya, yb) or _crosswise(ya, yb, xa, xb)
        )
    )


def _same_vertex(x, y):
    return x.vertex >= 0 and x.vertex == y.vertex


def _beside(x, y):
    """Do two features of a body meet: one edge, one vertex, an edge and a face beside it, two faces with a
    corner in common."""
    if x.face >= 0 and y.face >= 0:
        return bool(x.corners & y.corners)
    if x.face >= 0 or y.face >= 0:
        face, edge = (x, y) if x.face >= 0 else (y, x)
        return edge.edge in face.sides or edge.vertex in face.corners
    return (x.edge >= 0 and x.edge == y.edge) or _same_vertex(x, y)


def _crosswise(xa, xb, ya, yb):
    return xb.face >= 0 and ya.face >= 0 and xa.vertex in ya.corners and yb.vertex in xb.corners


def _corners(t, face):
    loop = t.loops[face]
    return frozenset(loop[loop >= 0].tolist())
