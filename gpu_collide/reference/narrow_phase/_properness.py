"""Properness of vertex-face and edge-edge meetings: how well the surfaces face each other at the contact.

Sources: Buss, section 5; docs/conventions.md for reflex edges and pits, where the paper's formulas fail.
"""

import numpy as np

from gpu_collide.bodies.quaternion import cross

# Properness of the two signs of an edge-edge normal within this is a tie: rounding of its sums, a few 1e-16,
# with room to spare. Between this and the kernels' wider tie the two may report opposite normals.
TIE = 1e-12
# The same for a vertex on either side of a sheet.
TIE_OF_SHEETS = 1e-9
# In units of the speed: slower than this nothing approaches.
FACING = 1e-9


def properness_bound(screw, face_side, vertex_side, faces, vertices):
    """Upper bound of the properness of vertex-face candidates over the whole step.

    The directions of the edges leaving the vertex turn by at most half of theta either way about y.
    """
    e, there = _leaving(vertex_side, vertices)
    n = face_side.normals[faces][:, None]
    across = e[..., 0] * n[..., 0] + e[..., 2] * n[..., 2]
    skew = e[..., 2] * n[..., 0] - e[..., 0] * n[..., 2]
    fixed, swing, half = e[..., 1] * n[..., 1], np.hypot(across, skew), 0.5 * screw.theta

    def most(sign):
        phase = np.abs(np.arctan2(skew, sign * across))
        value = sign * fixed + swing * np.cos(np.maximum(phase - half, 0.0))
        return np.where(there, value, np.inf).min(axis=1)

    bound = np.maximum(most(1.0), most(-1.0)) if face_side.tables.two_sided else most(1.0)
    return np.where(there.any(axis=1), bound, -1.0)


def vertex_properness(motion, face_side, vertex_side, vertices, n, s):
    """Least e . n over the edges leaving the vertices, negative where the solid is not behind the vertex.

    ``n`` (m, 3) are outward normals of the faces in the face's own frame, ``s`` (m,) the times.
    """
    # Work in the frame of the vertex: turn the normal instead of every edge.
    n = motion.carry_direction(n, s, -face_side.sign)
    e, there = _leaving(vertex_side, vertices)
    along = np.where(there, np.sum(e * n[:, None], axis=-1), np.inf)
    # not beyond -1 by rounding: a threshold of -1 reports all
    value = np.maximum(along.min(axis=1), -1.0)
    value = np.where(there.any(axis=1), value, -1.0)
    t = vertex_side.tables
    for i in np.nonzero((value > 0) & t.vertex_reflex[vertices])[0]:
        if _pit(vertex_side, vertices[i], n[i], e[i], along[i]):
            value[i] = -abs(value[i])
    return value


def met_from(motion, face_side, vertex_side, faces, vertices, at, s):
    """How vertices meet faces of the other body at the points ``at`` (m, 3) and times ``s`` (m,): the faces'
    normals (m, 3) in their own frame, the normal speeds, and the properness.

    A sheet has no outer side, so its normal is the one that opposes the approach. Where nothing approaches,
    that which makes the vertex more proper; both the same, that on the side of the vertex's body.
    """
    n = face_side.normals[faces]
    speed = np.sum(n * motion.field(at, s, face_side.sign), axis=1)
    value = vertex_properness(motion, face_side, vertex_side, vertices, n, s)
    if face_side.tables.two_sided:
        behind = vertex_properness(motion, face_side, vertex_side, vertices, -n, s)
        centre = motion.carry(np.broadcast_to(vertex_side.centre, at.shape), s, face_side.sign)
        beyond = np.sum(n * (centre - at), axis=1) < 0
        idle = np.abs(speed) <= FACING * motion.speed
        better = np.where(np.abs(behind - value) > TIE_OF_SHEETS, behind > value, beyond)
        turn = np.where(idle, better, face_side.sign * speed < 0)
        n, speed = np.where(turn[:, None], -n, n), np.where(turn, -speed, speed)
        value = np.where(turn, behind, value)
    return n, speed, value


def _pit(side, vertex, n, e, along):
    """Whether the solid at a vertex with a reflex edge lies on the near side, so that the vertex is a pit.

    Just beside the incident edge nearest to the face plane, towards the face, there is air at a peak and
    solid at a pit.
    """
    t = side.tables
    least = int(np.argmin(along))
    p = -n + (n @ e[least]) * e[least]
    edge = t.vertex_edges[vertex, least]
    faces = t.edge_faces[edge][t.edge_faces[edge] >= 0]
    behind = side.normals[faces] @ p < 0
    return bool(behind.any() if t.edge_reflex[edge] else behind.all())


def _leaving(side, vertices):
    """Unit directions (m, d, 3) of the edges leaving the vertices, and which places hold one."""
    t = side.tables
    edges = t.vertex_edges[vertices]
    return side.unit[edges] * t.vertex_signs[vertices][..., None], edges >= 0


def edge_properness(motion, a, b, edges_a, edges_b, s, n, x):
    """Formula (7) of Buss with one term per incident face, the sign of ``n`` chosen; negative at reflex
    edges.

    Returns properness, normal (A to B) and normal speed.
    """
    da, db = a.unit[edges_a], motion.turn(b.unit[edges_b], s)

    def terms(side, edges, d, turn):
        faces, sides = side.tables.edge_faces[edges], side.tables.edge_sides[edges]
        normal = side.normals[faces]
        if turn:
            normal = motion.turn(normal, s[:, None])
        value = np.sum(cross(n, d)[:, None] * normal, axis=-1)
        # + for the left face and - for the right one on A, the other way round on B.
        return np.where(sides == 0, 1.0, -1.0) * -side.sign * value, faces >= 0

    (term_a, there_a), (term_b, there_b) = terms(a, edges_a, da, False), terms(b, edges_b, db, True)
    term, there = np.concatenate([term_a, term_b], axis=1), np.concatenate([there_a, there_b], axis=1)
    plus = np.where(there, term, np.inf).min(axis=1)
    minus = np.where(there, -term, np.inf).min(axis=1)
    speed = np.sum(n * motion.field(x, s, a.sign), axis=1)
    against = np.where(speed > 0, -1.0, 1.0)
    sign = np.where(np.abs(plus - minus) <= TIE, against, np.where(plus > minus, 1.0, -1.0))
    if a.tables.two_sided or b.tables.two_sided:
        sign = np.where(np.abs(speed) > FACING * motion.speed, against, sign)
    value = np.maximum(np.where(sign > 0, plus, minus), -1.0)
    reflex = a.tables.edge_reflex[edges_a] | b.tables.edge_reflex[edges_b]
    value = np.where(reflex, -np.abs(value), value)
    return value, n * sign[:, None], speed * sign
