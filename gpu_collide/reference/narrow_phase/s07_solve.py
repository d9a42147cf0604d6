"""Stage 7: a bound on properness, then exact times of vertex-face and edge-edge meetings.

Input: candidate feature pairs. Output: `Meetings`, every time in the step at which the features touch with
the surfaces facing each other, with properness. A function that stays within the touch tolerance over the
whole step gives the intervals in which the features overlap, as sustained meetings.

Vertex against face is solved in the frame of the face; for a face of B that is B's half-way frame with time
running backwards. Edge against edge uses the volume spanned by the unit directions and the gap, divided by
the sine.

Sources: Buss, section 5 (properness); docs/decisions/0002 to 0005.
"""

from dataclasses import dataclass, fields

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase import _intervals
from gpu_collide.reference.narrow_phase._intervals import PARALLEL
from gpu_collide.reference.narrow_phase._properness import FACING, edge_properness, met_from, properness_bound
from gpu_collide.reference.narrow_phase._roots import ScrewFunctions, find_roots

FV, VF, EE = 0, 1, 2
# In units of the size: surfaces this close touch, points this far outside are inside.
TOUCH = 1e-11
# What rounding leaves in doubt of a length, in units of size + speed; and the most of a place that it may.
PLACE_ROUNDING = 4e-15
PLACE_DOUBT = 1e-9
# Properness is given in steps of one over this, so that rounding leaves ties what they are.
PROPERNESS_STEPS = 2.0**40
# Slack of the bound by which candidates are dropped before they are solved: the bound is in float64 here.
PROPERNESS_PAD = 1e-9


@dataclass(frozen=True)
class Meetings:
    """Structure of arrays (m,), one entry per meeting.

    kind u1; feature_a, feature_b; s, s_end time - 1/2; sustained; properness; normal (m, 3) A to B in the
    screw frame at the time; normal_speed; on_a (m, 3) point of A, on_b (m, 3) point of B at its half-way
    pose, screw frame; along_a, along_b the distances of an edge meeting from the low ends (NaN for
    vertex-face; with pixels 0 where the vertex is in a pixel of the face's border).
    """

    kind: np.ndarray
    feature_a: np.ndarray
    feature_b: np.ndarray
    s: np.ndarray
    s_end: np.ndarray
    sustained: np.ndarray
    properness: np.ndarray
    normal: np.ndarray
    normal_speed: np.ndarray
    on_a: np.ndarray
    on_b: np.ndarray
    along_a: np.ndarray
    along_b: np.ndarray

    def take(self, index):
        return Meetings(*(getattr(self, f.name)[index] for f in fields(self)))

    def __len__(self):
        return len(self.kind)


def in_steps(properness):
    """Properness as it is compared and reported."""
    return np.floor(properness * PROPERNESS_STEPS + 0.5) / PROPERNESS_STEPS


def place_doubt(motion, x, rate, s, side, sine=1.0):
    """How far from its true place a meeting at ``x`` may be found, as the body `side` sees it.

    The equation is good to a rounding. Divided by the ``rate`` at which the features come together that is a
    doubt of time, and divided by the ``sine`` of two edges' angle a doubt along them.
    """
    length = PLACE_ROUNDING * motion.unit / np.maximum(sine, PARALLEL)
    with np.errstate(divide="ignore", invalid="ignore"):
        late = np.fmin(length / np.abs(rate), motion.tau)
    speed = np.linalg.norm(motion.field(x, s, side), axis=-1)
    return np.minimum(length + late * speed, PLACE_DOUBT * motion.unit)


def concatenate(parts):
    """One `Meetings` from several."""
    return Meetings(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Meetings)))


def vertex_face_functions(screw, face_side, vertex_side, faces, vertices):
    """Distance of the vertices from the planes of the faces as `ScrewFunctions`."""
    n, x = face_side.normals[faces], vertex_side.points[vertices]
    th, u = screw.theta, screw.W + screw.theta * x[:, 2]
    p = np.stack(
        [
            np.sum(n * (x - face_side.centre), axis=1) + face_side.tables.offsets[faces],
            n[:, 0] * u - n[:, 2] * th * x[:, 0],
            -th * th * n[:, 0] * x[:, 0] - n[:, 2] * th * u,
            n[:, 1] * screw.g,
        ],
        axis=1,
    )
    # Seen from B, A's vertices move backwards.
    return ScrewFunctions(screw.theta, p * ([1, 1, 1, 1] if face_side.sign < 0 else [1, -1, 1, -1]))


def edge_edge_functions(screw, a, b, edges_a, edges_b):
    """Volume of (gap, unit direction of A's edge, unit direction of B's edge) as `ScrewFunctions`.

    With the moments m = point x direction the volume is -(dA . mB + mA . dB); B's direction and moment turn,
    and its points are carried by (W sigma, g s, -theta W nu), which adds the terms in W and g.
    """
    pa, da = a.points[a.tables.edges[edges_a, 0]], a.unit[edges_a]
    pb, db = b.points[b.tables.edges[edges_b, 0]], b.unit[edges_b]
    ma, mb = cross(pa, da), cross(pb, db)
    th, w, g = screw.theta, screw.W, screw.g
    (ax, ay, az), (bx, by, bz) = da.T, db.T
    flat = ax * bx + az * bz
    skew = ax * bz - az * bx
    p = np.stack(
        [
            np.sum((pb - pa) * cross(da, db), axis=1),
            -th * (ax * mb[:, 2] - az * mb[:, 0] + ma[:, 0] * bz - ma[:, 2] * bx) - w * (by * az - ay * bz),
            th * th * (ax * mb[:, 0] + az * mb[:, 2] + ma[:, 0] * bx + ma[:, 2] * bz)
            - w * th * (by * ax + ay * bx),
            -g * skew,
        ],
        axis=1,
    )
    q = np.stack([g * th * flat, g * th * th * skew], axis=1)
    return ScrewFunctions(th, p, q)


def solve_vertex_face(screw, face_side, vertex_side, faces, vertices, min_properness=-np.inf):
    """Exact meetings of the vertices of one body with the faces of the other (candidate arrays (m,))."""
    keep = properness_bound(screw, face_side, vertex_side, faces, vertices) >= min_properness - PROPERNESS_PAD
    keep &= vertex_side.facing(
        screw, vertex_side.tables.vertex_faces[vertices], vertex_side.points[vertices][:, None], 0.0, FACING
    ).any(axis=1)
    faces, vertices = faces[keep], vertices[keep]
    functions = vertex_face_functions(screw, face_side, vertex_side, faces, vertices)
    touch = TOUCH * screw.size
    lasting = lasting_vertices(screw, face_side, vertex_side, faces, vertices)
    index = np.nonzero(~lasting)[0]
    window = 0.5 + screw.tau
    item, s, _ = find_roots(functions.take(index), -window, window, np.full(len(index), touch))
    s = np.clip(s, -0.5, 0.5)
    faces_at, vertices_at = faces[index[item]], vertices[index[item]]
    good = meets_face(screw, face_side, vertex_side, faces_at, vertices_at, s)
    parts = [describe_vertices(screw, face_side, vertex_side, faces_at[good], vertices_at[good], s[good])]
    for i in np.nonzero(lasting)[0]:
        spans = _intervals.vertex_face(screw, face_side, vertex_side, faces[i], vertices[i], touch)
        if len(spans):
            repeat = np.ones(len(spans), dtype=np.int64)
            parts.append(
                describe_vertices(
                    screw,
                    face_side,
                    vertex_side,
                    faces[i] * repeat,
                    vertices[i] * repeat,
                    spans[:, 0],
                    spans[:, 1],
                )
            )
    return concatenate(parts)


def meets_face(motion, face_side, vertex_side, faces, vertices, s):
    """Which vertices are within the borders of the faces at the times ``s``, closed."""
    at = motion.carry(vertex_side.points[vertices], s, face_side.sign)
    rate = np.sum(face_side.normals[faces] * motion.field(at, s, face_side.sign), axis=1)
    slack = TOUCH * motion.size + place_doubt(motion, at, rate, s, face_side.sign)
    return inside(face_side, faces, at) >= -slack


def lasting_vertices(screw, face_side, vertex_side, faces, vertices):
    """Which vertices stay in the planes of the faces over the whole step."""
    functions = vertex_face_functions(screw, face_side, vertex_side, faces, vertices)
    return stays(functions, np.full(len(faces), TOUCH * screw.size), screw)


def describe_vertices(motion, face_side, vertex_side, faces, vertices, s, s_end=None):
    """Meetings of vertices with faces at given times: facing, normal, properness; what does not face is left
    out."""
    x = vertex_side.points[vertices]
    at = motion.carry(x, s, face_side.sign)
    good = face_side.facing(motion, faces, at, s, FACING)
    faces, vertices, s, x, at = faces[good], vertices[good], s[good], x[good], at[good]
    sustained = np.full(len(s), s_end is not None)
    s_end = s if s_end is None else s_end[good]
    n, speed, value = met_from(motion, face_side, vertex_side, faces, vertices, at, s)
    value = in_steps(value)
    on_face_of_a = face_side.sign < 0
    nan = np.full(len(s), np.nan)
    return Meetings(
        np.full(len(s), FV if on_face_of_a else VF, dtype=np.uint8),
        faces if on_face_of_a else vertices,
        vertices if on_face_of_a else faces,
        s,
        s_end,
        sustained,
        value,
        n if on_face_of_a else -motion.turn(n, s),
        speed if on_face_of_a else -speed,
        at if on_face_of_a else x,
        x if on_face_of_a else at,
        nan,
        nan,
    )


def inside(face_side, faces, x):
    """Least distance of points ``x`` (m, 3) of the face planes from the sides of the faces, positive
    inside."""
    t = face_side.tables
    corners = face_side.points[t.loops[faces]]
    distance = np.sum(face_side.inward[faces] * (x[:, None] - corners), axis=-1)
    return np.where(t.loops[faces] >= 0, distance, np.inf).min(axis=1)


def stays(functions, limit, motion, weight=None):
    """Whether |f| <= limit (times ``weight(s)``) over the whole step, from 33 Chebyshev points
    and more where bodies spin."""
    stays = np.ones(len(limit), dtype=bool)
    count = max(32, 12 + int(4 * motion.turning))
    points = 0.5 * np.cos(np.pi * np.arange(count + 1) / count) if motion.moves else np.zeros(1)
    for s in points:
        index = np.nonzero(stays)[0]
        if len(index) == 0:
            break
        at = np.full(len(index), s)
        bound = limit[index] * (1.0 if weight is None else weight(index, at)) + motion.rounding
        stays[index] = np.abs(functions.take(index)(at)[0]) <= bound
    return stays


def solve_edge_edge(screw, a, b, edges_a, edges_b):
    """Exact meetings of edges of A with edges of B (candidate arrays (m,))."""
    functions = edge_edge_functions(screw, a, b, edges_a, edges_b)
    touch = TOUCH * screw.size

    def sine(index, s):
        return np.linalg.norm(cross(a.unit[edges_a[index]], screw.turn(b.unit[edges_b[index]], s)), axis=1)

    lasting = stays(functions, np.full(len(edges_a), touch), screw, sine)
    index = np.nonzero(~lasting)[0]
    window = 0.5 + screw.tau
    item, s, touching = find_roots(functions.take(index), -window, window, np.full(len(index), touch))
    item = index[item]
    value = np.abs(functions.take(item)(s)[0])
    good = ~touching | (value <= touch * sine(item, s))
    item, s = item[good], np.clip(s[good], -0.5, 0.5)
    parts = [edge_edge_meetings(screw, a, b, edges_a[item], edges_b[item], s, touch)]
    for i in np.nonzero(lasting)[0]:
        spans = _intervals.edge_edge(screw, a, b, edges_a[i], edges_b[i], touch)
        if len(spans):
            repeat = np.ones(len(spans), dtype=np.int64)
            parts.append(
                edge_edge_meetings(
                    screw, a, b, edges_a[i] * repeat, edges_b[i] * repeat, spans[:, 0], touch, spans[:, 1]
                )
            )
    return concatenate(parts)


def crossing(motion, a, b, edges_a, edges_b, s):
    """Where the lines of two edges are nearest at the times ``s``: distances along A's and B's edge from
    their low ends (NaN for parallel edges)."""
    pa, da = a.points[a.tables.edges[edges_a, 0]], a.unit[edges_a]
    pb = motion.flow(b.points[b.tables.edges[edges_b, 0]], s)
    db = motion.turn(b.unit[edges_b], s)
    n = cross(da, db)
    square = np.sum(n * n, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        along_a = np.sum(cross(pb - pa, db) * n, axis=1) / square
        along_b = np.sum(cross(pb - pa, da) * n, axis=1) / square
    return along_a, along_b


def edge_doubt(motion, a, b, edges_a, edges_b, s, along_a):
    """`place_doubt` of edge meetings at the times ``s``, so far along A's edges."""
    x = a.points[a.tables.edges[edges_a, 0]] + along_a[:, None] * a.unit[edges_a]
    n = cross(a.unit[edges_a], motion.turn(b.unit[edges_b], s))
    sine = np.linalg.norm(n, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return place_doubt(motion, x, np.sum(n * motion.field(x, s, a.sign), axis=1) / sine, s, a.sign, sine)


def edge_edge_meetings(motion, a, b, edges_a, edges_b, s, slack, s_end=None):
    """Inside tests (closed within ``slack``), facing and properness of edge pairs whose lines meet at times
    ``s``.

    With ``s_end`` the meetings are sustained, and inside by the construction of their intervals.
    """
    along_a, along_b = crossing(motion, a, b, edges_a, edges_b, s)
    length_a, length_b = a.tables.length[edges_a], b.tables.length[edges_b]
    slack = slack + edge_doubt(motion, a, b, edges_a, edges_b, s, along_a) if s_end is None else np.inf
    good = (
        (along_a >= -slack)
        & (along_a <= length_a + slack)
        & (along_b >= -slack)
        & (along_b <= length_b + slack)
    )
    index = np.nonzero(good)[0]
    return describe_edges(
        motion,
        a,
        b,
        edges_a[index],
        edges_b[index],
        s[index],
        np.clip(along_a[index], 0.0, length_a[index]),
        np.clip(along_b[index], 0.0, length_b[index]),
        None if s_end is None else s_end[index],
    )


def describe_edges(motion, a, b, edges_a, edges_b, s, along_a, along_b, s_end=None):
    """Meetings of edge pairs at given times and distances along the edges: facing, normal, properness.

    Pairs that are parallel or do not face each other there are left out.
    """
    on_a = a.points[a.tables.edges[edges_a, 0]] + along_a[:, None] * a.unit[edges_a]
    on_b = b.points[b.tables.edges[edges_b, 0]] + along_b[:, None] * b.unit[edges_b]
    n = cross(a.unit[edges_a], motion.turn(b.unit[edges_b], s))
    sine = np.linalg.norm(n, axis=1)
    # A lasting meeting may begin exactly where the edges stop being parallel.
    keep = sine >= (PARALLEL if s_end is None else 0.5 * PARALLEL)
    keep &= a.facing(motion, a.tables.edge_faces[edges_a], on_a[:, None], s[:, None], FACING).any(axis=1)
    keep &= b.facing(motion, b.tables.edge_faces[edges_b], on_b[:, None], s[:, None], FACING).any(axis=1)
    edges_a, edges_b, s, n, on_a, on_b = (x[keep] for x in (edges_a, edges_b, s, n, on_a, on_b))
    n = n / sine[keep][:, None]
    value, n, speed = edge_properness(motion, a, b, edges_a, edges_b, s, n, on_a)
    return Meetings(
        np.full(len(s), EE, dtype=np.uint8),
        edges_a,
        edges_b,
        s,
        s if s_end is None else s_end[keep],
        np.full(len(s), s_end is not None),
        in_steps(value),
        n,
        speed,
        on_a,
        on_b,
        along_a[keep],
        along_b[keep],
    )
