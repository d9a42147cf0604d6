"""Meetings of a pair whose bodies move on their own motions: stage 7 for `BodyMotion`.

Every vertex with every face and every edge with every edge is a candidate, unless they stay apart. How
meetings are tested, described and told apart is that of the relative screw (stages 7 and 8), with the true
velocity at the place and time of the meeting: whether surfaces face each other changes along the motion.
"""

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase import _intervals
from gpu_collide.reference.narrow_phase._body_functions import edge_edge_functions, vertex_face_functions
from gpu_collide.reference.narrow_phase._properness import FACING
from gpu_collide.reference.narrow_phase._roots import find_roots
from gpu_collide.reference.narrow_phase.s07_solve import (
    TOUCH,
    concatenate,
    describe_vertices,
    edge_edge_meetings,
    meets_face,
    stays,
)

# Pairs of features looked at together.
AT_A_TIME = 100_000


def meetings_of(motion, a, b):
    """All `Meetings` of a pair, unresolved, from its `BodyMotion` and both `Side`."""
    found = []
    for face_side, vertex_side in ((a, b), (b, a)):
        for faces, vertices in _pairs(len(face_side.normals), _used_vertices(vertex_side)):
            found.append(_vertex_face(motion, face_side, vertex_side, faces, vertices))
    for edges_a, edges_b in _pairs(len(a.unit), np.arange(len(b.unit))):
        found.append(_edge_edge(motion, a, b, edges_a, edges_b))
    return concatenate(found)


def _used_vertices(side):
    return np.flatnonzero((side.tables.vertex_faces >= 0).any(axis=1))


def _pairs(count, others):
    """All pairs of a number below ``count`` and one of ``others``, (k,) each, some at a time."""
    step = max(1, AT_A_TIME // max(len(others), 1))
    for first in range(0, count, step):
        some = np.arange(first, min(first + step, count))
        yield np.repeat(some, len(others)), np.tile(others, len(some))


def _vertex_face(motion, face_side, vertex_side, faces, vertices):
    functions = vertex_face_functions(motion, face_side, vertex_side, faces, vertices)
    window, touch = 0.5 + motion.tau, TOUCH * motion.size
    lasting = stays(functions, np.full(len(faces), touch), motion)
    index = np.flatnonzero(~lasting)
    item, s, _ = find_roots(functions.take(index), -window, window, np.full(len(index), touch))
    s, item = np.clip(s, -0.5, 0.5), index[item]
    inside = meets_face(motion, face_side, vertex_side, faces[item], vertices[item], s)
    met = [faces[item[inside]], vertices[item[inside]], s[inside]]
    parts = [_faced(motion, face_side, vertex_side, *met)]
    for i in np.flatnonzero(lasting):
        spans = _intervals.vertex_face(motion, face_side, vertex_side, faces[i], vertices[i], touch)
        repeat = np.ones(len(spans), dtype=np.int64)
        met = [faces[i] * repeat, vertices[i] * repeat, spans[:, 0], spans[:, 1]]
        parts.append(_faced(motion, face_side, vertex_side, *met))
    return concatenate(parts)


def _faced(motion, face_side, vertex_side, faces, vertices, s, s_end=None):
    """Meetings of vertices one of whose own faces faces the other body at the time."""
    around, x = vertex_side.tables.vertex_faces[vertices], vertex_side.points[vertices][:, None]
    keep = vertex_side.facing(motion, around, x, s[:, None], FACING).any(axis=1)
    rows = [faces[keep], vertices[keep], s[keep], None if s_end is None else s_end[keep]]
    return describe_vertices(motion, face_side, vertex_side, *rows)


def _edge_edge(motion, a, b, edges_a, edges_b):
    functions = edge_edge_functions(motion, a, b, edges_a, edges_b)
    window, touch = 0.5 + motion.tau, TOUCH * motion.size

    def sine(index, s):
        return np.linalg.norm(cross(a.unit[edges_a[index]], motion.turn(b.unit[edges_b[index]], s)), axis=1)

    lasting = stays(functions, np.full(len(edges_a), touch), motion, sine)
    index = np.flatnonzero(~lasting)
    item, s, touching = find_roots(functions.take(index), -window, window, np.full(len(index), touch))
    item = index[item]
    good = ~touching | (np.abs(functions.take(item)(s)[0]) <= touch * sine(item, s))
    item, s = item[good], np.clip(s[good], -0.5, 0.5)
    parts = [edge_edge_meetings(motion, a, b, edges_a[item], edges_b[item], s, touch)]
    for i in np.flatnonzero(lasting):
        spans = _intervals.edge_edge(motion, a, b, edges_a[i], edges_b[i], touch)
        repeat = np.ones(len(spans), dtype=np.int64)
        edges = edges_a[i] * repeat, edges_b[i] * repeat
        parts.append(edge_edge_meetings(motion, a, b, *edges, spans[:, 0], touch, spans[:, 1]))
    return concatenate(parts)
