"""Stage 8: resolve coincidences into FV, VF and EE, order, and describe the contacts in the world.

Input: the `Meetings` of one pair. Output: rows of `gpu_collide.Contacts`. An edge-edge meeting at the end of
an edge is a vertex contact: it is dropped if that is there already, otherwise turned into the best of the
vertex contacts that the neighbouring faces allow. A vertex on a border of faces is reported once, for the
face of greatest properness; of a vertex meeting a vertex one contact stays. At least one contact always
remains: an edge meeting whose vertex contacts all fall below the threshold is kept as it is.

Sources: Buss, end of section 5; docs/decisions/0006.
"""

from dataclasses import replace

import numpy as np

from .s07_solve import EE, FACING, FV, TOUCH, VF, Meetings, concatenate, crossing, vertex_properness


def resolve(screw, a, b, meetings, min_properness):
    """Meetings with every coincidence reported once, all at or above ``min_properness``, ordered."""
    meetings = meetings.take(np.nonzero(meetings.properness >= min_properness)[0])
    # Features that pass each other at their ends while they stay in contact do not last.
    lasts = meetings.sustained & (meetings.s_end - meetings.s > 2 * screw.tau)
    meetings = replace(meetings, sustained=lasts, s_end=np.where(lasts, meetings.s_end, meetings.s))
    meetings = _edges_once(screw, meetings)
    meetings = _edge_ends(screw, a, b, meetings, min_properness)
    meetings = _vertex_once(screw, a, b, meetings)
    time = np.clip(meetings.s + 0.5, 0.0, 1.0)
    return meetings.take(np.lexsort((meetings.feature_b, meetings.feature_a, meetings.kind, time)))


def _edges_once(screw, m):
    """Drop edge meetings of the same two edges within 2 tau of each other: a touch found twice. What lasts
    stays, then what lies inside the step."""
    outside = np.maximum(np.abs(m.s) - 0.5, 0.0)
    order = np.lexsort((m.s, outside, ~m.sustained))
    keep, seen = np.ones(len(m), dtype=bool), {}
    for i in order[m.kind[order] == EE]:
        times = seen.setdefault((m.feature_a[i], m.feature_b[i]), [])
        keep[i] = m.sustained[i] or all(abs(m.s[i] - s) > 2 * screw.tau for s in times)
        times.append(m.s[i])
    return m.take(np.nonzero(keep)[0])


def _edge_ends(screw, a, b, m, min_properness):
    """Drop or convert edge meetings at the end of an edge."""
    near = TOUCH * screw.size
    keep = np.ones(len(m), dtype=bool)
    converted = []
    vertex_rows = np.nonzero(m.kind != EE)[0]
    for i in np.nonzero(m.kind == EE)[0]:
        ends = (_end(a, m.feature_a[i], m.along_a[i], near), _end(b, m.feature_b[i], m.along_b[i], near))
        if ends == (-1, -1) or (
            m.s_end[i] - m.s[i] > 2 * screw.tau and not _stays_at_end(screw, a, b, m, i, ends, near)
        ):
            continue
        vertex_a, vertex_b = ends
        # A vertex contact that lasts is there until its end.
        same = m.s[i] >= m.s[vertex_rows] - 2 * screw.tau
        same &= m.s[i] <= m.s_end[vertex_rows] + 2 * screw.tau
        of_a = (m.kind[vertex_rows] == VF) & (m.feature_a[vertex_rows] == vertex_a)
        of_b = (m.kind[vertex_rows] == FV) & (m.feature_b[vertex_rows] == vertex_b)
        if np.any(same & (of_a | of_b)):
            keep[i] = False
            continue
        options = _vertex_options(screw, a, b, m.take(np.array([i])), vertex_a, vertex_b)
        if len(options):
            best = options.take(
                np.lexsort((options.feature_a, options.feature_b, options.kind, -options.properness))[:1]
            )
            if best.properness[0] >= min_properness:
                keep[i] = False
                converted.append(best)
    return concatenate([m.take(np.nonzero(keep)[0])] + converted)


def _end(side, edge, along, near):
    """Vertex at whose place a point of an edge is, or -1."""
    low, high = along, side.tables.length[edge] - along
    if not min(low, high) <= near:
        return -1
    return int(side.tables.edges[edge, 0 if low <= high else 1])


def _stays_at_end(screw, a, b, m, i, ends, near):
    """Whether a sustained edge meeting, at ``ends`` when it begins, is at one of them all the time."""
    s = m.s[i] + np.array([1.0, 2.0, 3.0]) / 4.0 * (m.s_end[i] - m.s[i])
    edge_a, edge_b = np.full(3, m.feature_a[i]), np.full(3, m.feature_b[i])
    along_a, along_b = crossing(screw, a, b, edge_a, edge_b, s)
    later_a = {_end(a, m.feature_a[i], x, near) for x in along_a}
    later_b = {_end(b, m.feature_b[i], x, near) for x in along_b}
    return (ends[0] >= 0 and later_a == {ends[0]}) or (ends[1] >= 0 and later_b == {ends[1]})


def _vertex_options(screw, a, b, m, vertex_a, vertex_b):
    """Vertex contacts that can stand for one edge meeting ``m``: its end vertices on the other body's faces
    there."""
    parts = []
    for face_side, vertex_side, vertex, other in ((b, a, vertex_a, vertex_b), (a, b, vertex_b, vertex_a)):
        if vertex < 0:
            continue
        t = face_side.tables
        edge = m.feature_b[0] if face_side is b else m.feature_a[0]
        faces = t.vertex_faces[other] if other >= 0 else t.edge_faces[edge]
        faces = faces[faces >= 0]
        at = m.on_b if face_side is b else m.on_a
        faces = faces[face_side.facing(screw, faces, np.broadcast_to(at, (len(faces), 3)), FACING)]
        if len(faces) == 0:
            continue
        count = len(faces)
        s, s_end = np.repeat(m.s, count), np.repeat(m.s_end, count)
        n = face_side.normals[faces]
        speed = n @ screw.omega(at)[0]
        if t.two_sided:
            flip = np.where(face_side.sign * speed < 0, -1.0, 1.0)
            n, speed = n * flip[:, None], speed * flip
        value = vertex_properness(screw, face_side, vertex_side, np.full(count, vertex), n, s)
        of_a, vertices = face_side is a, np.full(count, vertex)
        nan = np.full(count, np.nan)
        parts.append(
            Meetings(
                np.full(count, FV if of_a else VF, dtype=np.uint8),
                faces if of_a else vertices,
                vertices if of_a else faces,
                s,
                s_end,
                np.repeat(m.sustained, count),
                value,
                n if of_a else -screw.turn(n, s),
                speed if of_a else -speed,
                np.repeat(m.on_a, count, axis=0),
                np.repeat(m.on_b, count, axis=0),
                nan,
                nan,
            )
        )
    return concatenate(parts) if parts else m.take(np.zeros(0, dtype=np.int64))


def _vertex_once(screw, a, b, m):
    """Of the vertex contacts of one coincidence keep the one of greatest properness (then the lower face)."""
    rows = np.nonzero(m.kind != EE)[0]
    if len(rows) < 2:
        return m
    near, slack = TOUCH * screw.size, 2 * screw.tau
    face = np.where(m.kind == FV, m.feature_a, m.feature_b)
    vertex = np.where(m.kind == FV, m.feature_b, m.feature_a)
    side = [a if kind == FV else b for kind in m.kind]
    corner = {i: _corner(side[i], face[i], (m.on_a if m.kind[i] == FV else m.on_b)[i], near) for i in rows}

    def meet_same_vertices(i, j):
        return corner[i] == vertex[j] and corner[j] == vertex[i]

    def same_at_end(i, j):
        if m.kind[i] == m.kind[j]:
            return True
        at = {k: screw.flow(side_of_vertex(k).points[vertex[k]], -side[k].sign * m.s_end[k]) for k in (i, j)}
        return (
            _corner(side[i], face[i], at[i], near) == vertex[j]
            and _corner(side[j], face[j], at[j], near) == vertex[i]
        )

    def side_of_vertex(k):
        return b if m.kind[k] == FV else a

    def covered(i, j):
        """Whether meeting i is the coincidence that j, of greater properness, already reports."""
        if abs(m.s[i] - m.s[j]) > slack:
            return False
        if m.kind[i] == m.kind[j]:
            same = vertex[i] == vertex[j] and _share_vertex(side[i].tables, face[i], face[j])
        else:
            same = meet_same_vertices(i, j)
        # What lasts is only covered by what lasts as long, and coincides to the end.
        brief = m.s_end[i] - m.s[i] <= slack
        return same and (brief or abs(m.s_end[i] - m.s_end[j]) <= slack and same_at_end(i, j))

    kept = []
    for i in sorted(rows, key=lambda i: (-m.properness[i], m.kind[i], face[i])):
        if not any(covered(i, j) for j in kept):
            kept.append(i)
    stay = np.ones(len(m), dtype=bool)
    stay[rows] = False
    stay[kept] = True
    return m.take(np.nonzero(stay)[0])


def _corner(side, face, x, near):
    """Corner of a face at the place ``x``, or -1."""
    loop = side.tables.loops[face]
    loop = loop[loop >= 0]
    distance = np.linalg.norm(side.points[loop] - x, axis=1)
    best = int(np.argmin(distance))
    return int(loop[best]) if distance[best] <= near else -1


def _share_vertex(t, f, g):
    return f == g or bool(np.intersect1d(t.loops[f][t.loops[f] >= 0], t.loops[g][t.loops[g] >= 0]).size)


def describe(screw, m):
    """Per-contact fields of `gpu_collide.Contacts` (a dict without ``pair``) for the meetings of one pair."""
    time = np.clip(m.s + 0.5, 0.0, 1.0)
    # A vertex is exactly itself in its own body; the other body's point is the vertex carried over.
    carried_a = screw.flow(m.on_b, m.s)
    carried_b = screw.flow(m.on_a, -m.s)
    on_a = np.where((m.kind == FV)[:, None], carried_a, m.on_a)
    on_b = np.where((m.kind == VF)[:, None], carried_b, m.on_b)
    local_a = screw.to_a(on_a)
    direction = m.normal @ screw.axes
    return dict(
        kind=m.kind,
        feature_a=m.feature_a,
        feature_b=m.feature_b,
        time=time,
        position=screw.world_of_a(local_a, time),
        normal=screw.world_direction_of_a(direction, time),
        properness=m.properness,
        local_a=local_a,
        local_b=screw.to_b(on_b),
        normal_speed=m.normal_speed,
        sustained=m.sustained,
        time_end=np.where(m.sustained, np.clip(m.s_end + 0.5, 0.0, 1.0), time),
    )
