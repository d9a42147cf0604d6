"""Intervals of time in which features that stay in contact overlap (sustained contacts).

The overlap is described by a few smooth margins, positive inside. They are entire functions of the time with a
small frequency, so their Chebyshev interpolants of degree 40 are exact to rounding, and the real zeros of those
cut the step into spans on which no margin changes sign.
"""

import numpy as np
from numpy.polynomial import chebyshev

DEGREE = 40


def vertex_face(screw, face_side, vertex_side, face, vertex, slack):
    """Maximal intervals (k, 2) of s in which the vertex is inside the face, closed within ``slack``."""
    t = face_side.tables
    sides = np.nonzero(t.loops[face] >= 0)[0]
    corners, inward = face_side.points[t.loops[face, sides]], face_side.inward[face, sides]

    def margins(s):
        x = screw.flow(vertex_side.points[vertex], -face_side.sign * s)
        return np.sum(inward[:, None] * (x[None] - corners[:, None]), axis=-1) + slack

    return _spans(margins, screw.moves)


def edge_edge(screw, a, b, edge_a, edge_b, slack):
    """Maximal intervals (k, 2) of s in which two coplanar edges cross, ends closed within ``slack``."""
    pa, da, la = a.points[a.tables.edges[edge_a, 0]], a.unit[edge_a], a.tables.length[edge_a]
    pb, db, lb = b.points[b.tables.edges[edge_b, 0]], b.unit[edge_b], b.tables.length[edge_b]

    def margins(s):
        gap, d = screw.flow(pb, s) - pa, screw.turn(db, s)
        n = np.cross(da, d)
        square = np.sum(n * n, axis=-1)
        along_a = np.sum(np.cross(gap, d) * n, axis=-1)
        along_b = np.sum(np.cross(gap, da) * n, axis=-1)
        # Distances along the edges times the squared sine; the last margin keeps parallel edges out.
        return np.stack([along_a + slack * square, (la + slack) * square - along_a, along_b + slack * square,
                         (lb + slack) * square - along_b, square - 1e-18])

    return _spans(margins, screw.moves)


def _spans(margins, moves):
    if not moves:
        inside = bool(np.all(margins(np.zeros(1)) >= 0.0))
        return np.array([[-0.5, 0.5]]) if inside else np.zeros((0, 2))
    cuts = [-0.5, 0.5]
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    for values in margins(0.5 * nodes):
        series = chebyshev.chebfit(nodes, values, DEGREE)
        # Rounding would give the companion matrix roots of its own.
        significant = np.nonzero(np.abs(series) > 1e-15 * np.abs(series).max())[0]
        series = series[: significant[-1] + 1] if len(significant) else series[:1]
        if len(series) > 1:
            roots = chebyshev.chebroots(series)
            # A double zero may leave the real line by the square root of the rounding.
            real = roots.real[(np.abs(roots.imag) < 1e-6) & (np.abs(roots.real) <= 1.0 + 1e-12)]
            cuts.extend(_polish(series, real) * 0.5)
    cuts = np.unique(np.clip(cuts, -0.5, 0.5))
    inside_at = np.all(margins(cuts) >= -1e-15, axis=0)
    inside_after = np.all(margins(0.5 * (cuts[1:] + cuts[:-1])) >= 0.0, axis=0)
    spans = []
    for j in range(len(cuts)):
        before = j > 0 and inside_after[j - 1]
        after = j < len(inside_after) and inside_after[j]
        if after and not before:
            spans.append([cuts[j], cuts[j]])
        elif inside_at[j] and not before:
            spans.append([cuts[j], cuts[j]])
        if before and not after:
            spans[-1][1] = cuts[j]
    return np.array(spans).reshape(-1, 2)


def _polish(series, x):
    slope = chebyshev.chebder(series)
    for _ in range(2):
        d = chebyshev.chebval(x, slope)
        step = np.where(np.abs(d) > 1e-9, chebyshev.chebval(x, series) / np.where(d == 0, 1.0, d), 0.0)
        x = x - np.where(np.abs(step) < 1e-3, step, 0.0)
    return x
