"""Intervals of time in which features that stay in contact overlap (sustained contacts).

The overlap is described by a few smooth margins, positive inside. They are entire functions of the time with
a small frequency, so their Chebyshev interpolants of degree 40 (more where bodies spin fast) are exact to
rounding, and the real zeros of those cut the step into spans on which no margin changes sign.
"""

import numpy as np
from numpy.polynomial import chebyshev

from gpu_collide.bodies.quaternion import cross

DEGREE = 40
# Sine below which edges are parallel and make no contact.
PARALLEL = 1e-9
# Sine below which the place of a crossing is known worse than the inside tests ask for: rounding over touch
# tolerance.
UNSURE = 1e-5
# A span that the slack makes of a touch: by its square root, and no longer, of the step.
LONGEST_TOUCH = 1e-4


def _interpolation(degree):
    """Nodes, and the matrix that takes values there to coefficients (discrete orthogonality of the Chebyshev
    polynomials)."""
    nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
    to_series = chebyshev.chebvander(nodes, degree).T * (2.0 / (degree + 1))
    to_series[0] *= 0.5
    return nodes, to_series


def vertex_face(motion, face_side, vertex_side, face, vertex, slack):
    """Maximal intervals (k, 2) of s in which the vertex is inside the face, closed within ``slack``."""
    t = face_side.tables
    sides = np.nonzero(t.loops[face] >= 0)[0]
    corners, inward = face_side.points[t.loops[face, sides]], face_side.inward[face, sides]

    def margins(s, slack):
        x = motion.carry(vertex_side.points[vertex], s, face_side.sign)
        return np.sum(inward[:, None] * (x[None] - corners[:, None]), axis=-1) + slack

    return _spans(margins, margins, slack, motion)


def edge_edge(motion, a, b, edge_a, edge_b, slack):
    """Maximal intervals (k, 2) of s in which two coplanar edges cross, ends closed within ``slack``."""
    pa, da, la = a.points[a.tables.edges[edge_a, 0]], a.unit[edge_a], a.tables.length[edge_a]
    pb, db, lb = b.points[b.tables.edges[edge_b, 0]], b.unit[edge_b], b.tables.length[edge_b]

    # Edges that stay across one axis keep their plane: the signed sine has simple zeros, where its square
    # would have double.
    axis = motion.level
    level = axis is not None and max(abs(da @ axis), abs(motion.turn(db, 0.0) @ axis)) <= PARALLEL

    def smooth(s, slack):
        gap, d = motion.flow(pb, s) - pa, motion.turn(db, s)
        n = cross(da, d)
        sine = np.sum(n * (axis if level else n), axis=-1)
        across = axis if level else n
        along_a = np.sum(cross(gap, d) * across, axis=-1)
        along_b = np.sum(cross(gap, da) * across, axis=-1)
        # Distances along the edges from all four ends, times the sine (level edges) or its square.
        least = PARALLEL if level else PARALLEL**2
        return np.stack(
            [
                along_a + slack * sine,
                (la + slack) * sine - along_a,
                along_b + slack * sine,
                (lb + slack) * sine - along_b,
                sine - least,
                sine + least,
            ]
        )

    def margins(s, slack):
        values = smooth(s, slack)
        sine = 0.5 * (values[4] + values[5])
        # Parallel edges have no crossing; beyond, all distances change sign with the sine.
        return np.concatenate(
            [values[:4] * np.where(sine < 0, -1.0, 1.0), np.abs(sine)[None] - values[5:] + sine]
        )

    def sine(s):
        return np.linalg.norm(cross(da, motion.turn(db, s)), axis=-1)

    return _spans(smooth, margins, slack, motion, sine)


def _spans(smooth, margins, slack, motion, sine=None):
    """Intervals of s on which all rows of ``margins(s, slack)`` are non-negative; they can change sign only
    where a row of the smooth functions does. Where the ``sine`` of the edges is so small that rounding
    decides, nothing changes."""
    if not motion.moves:
        inside = bool(np.all(margins(np.zeros(1), slack) >= 0.0))
        return np.array([[-0.5, 0.5]]) if inside else np.zeros((0, 2))
    borders = [-0.5, 0.5]
    nodes, to_series = _interpolation(DEGREE + 4 * int(max(motion.turning - 2 * np.pi, 0.0)))
    for series in smooth(0.5 * nodes, slack) @ to_series.T:
        size = np.abs(series)
        if size[0] > size[1:].sum():
            continue
        # Rounding would give the companion matrix roots of its own.
        series = series[: np.nonzero(size >= 1e-15 * size.max())[0][-1] + 1]
        if len(series) > 1:
            roots = chebyshev.chebroots(series)
            # A double zero may leave the real line by the square root of the rounding.
            real = roots.real[(np.abs(roots.imag) < 1e-6) & (np.abs(roots.real) <= 1.0 + 1e-12)]
            borders.extend(_polish(series, real) * 0.5)
    cuts = np.unique(np.clip(borders, -0.5, 0.5))
    # Rounding finds one border more than once.
    cuts = cuts[np.concatenate([[True], np.diff(cuts) > 1e-13])]
    cuts[-1] = 0.5
    sure = np.ones(len(cuts), dtype=bool)
    if sine is not None:
        at = sine(cuts)
        sure = at >= UNSURE
        if at.min() < 2 * PARALLEL:
            # Where the edges turn out of one line, a border that they only touch has two roots or none, by
            # rounding. The border of being parallel itself stays. (Edges that slide at a small angle which
            # does not vanish have borders as good as any.)
            keep = sure | (np.abs(at - PARALLEL) < 0.5 * PARALLEL) | (np.abs(cuts) == 0.5)
            cuts, sure = cuts[keep], sure[keep]
    inside_at = sure & np.all(margins(cuts, slack) >= -1e-15, axis=0)
    # Where two borders are touched at once their slack ends at two times: the later one is no contact.
    edge_of_slack = margins(cuts, 0.0).min(axis=0) <= -0.99 * slack
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    inside_after = np.all(margins(middle, slack) >= 0.0, axis=0)
    if sine is not None:
        # Being parallel for a moment does not end a contact that goes on afterwards.
        gap = np.nonzero(sine(middle[1:-1]) < PARALLEL)[0] + 1
        inside_after[gap] |= inside_after[gap - 1] & inside_after[gap + 1]
    found = []
    for j in range(len(cuts)):
        before = j > 0 and inside_after[j - 1]
        after = j < len(inside_after) and inside_after[j]
        if after and not before:
            found.append([cuts[j], cuts[j]])
        elif inside_at[j] and not before and not edge_of_slack[j]:
            found.append([cuts[j], cuts[j]])
        if before and not after:
            found[-1][1] = max(cuts[j], found[-1][0])
    spans = np.array(found).reshape(-1, 2)
    for span in spans:
        if span[1] > span[0]:
            touched = _touched(margins, slack, *span)
            begin, end = (_without_slack(margins, slack, x) if touched is None else touched for x in span)
            span[:] = min(begin, end), max(begin, end)
    return spans


def _without_slack(margins, slack, s):
    """The end ``s`` of a span moved to where the margin itself vanishes, if it crosses zero there at some
    speed."""
    if abs(s) == 0.5:
        return s
    which = int(np.argmin(margins(np.array([s]), slack)[:, 0]))
    step = 1e-4
    low, high = margins(np.array([s - step, s + step]), 0.0)[which]
    slope = (high - low) / (2 * step)
    moved = s
    for _ in range(2):
        value = margins(np.array([moved]), 0.0)[which, 0]
        if abs(value) >= 1e-6 * abs(slope):
            return s
        moved -= value / slope
    return min(max(moved, -0.5), 0.5)


def _touched(margins, slack, begin, end):
    """The moment of a touch, where a span is only made by the slack: between its ends, which are beyond a
    border or those of the step, nothing is inside by more than rounding. None of another span."""
    ends, middle = np.array([begin, end]), np.linspace(begin, end, 9)[1:-1]
    if end - begin > LONGEST_TOUCH or margins(middle, 0.0).min(axis=0).max() > 1e-3 * slack:
        return None
    beyond = margins(ends, 0.0).min(axis=0) <= -0.5 * slack
    if beyond.all():
        return 0.5 * (begin + end)
    if np.all(beyond | (np.abs(ends) == 0.5)) and beyond.any():
        return float(ends[~beyond][0])
    return None


def _polish(series, x):
    slope = chebyshev.chebder(series)
    for _ in range(2):
        d = chebyshev.chebval(x, slope)
        step = np.where(np.abs(d) > 1e-9, chebyshev.chebval(x, series) / np.where(d == 0, 1.0, d), 0.0)
        x = x - np.where(np.abs(step) < 1e-3, step, 0.0)
    return x
