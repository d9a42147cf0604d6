"""Stage w02: all touches along the path of each query, as if nothing stopped it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.bodies.casts import CLUSTERS, ELLIPSOIDS, turning
from gpu_collide.bodies.quaternion import conjugate, dot, multiply, rotate
from gpu_collide.reference.sweep._meets import meets
from gpu_collide.reference.sweep._rest import over_side, rests_on_edge, rests_on_face
from gpu_collide.reference.sweep._touch import ROUNDING, edge_times, face_times, vertex_times
from gpu_collide.reference.sweep._turning import SeenTurning

__all__ = ["FIELDS", "all_touches", "touches"]

FACE, EDGE, VERTEX = 1, 2, 3
AT_ONCE = 1 << 20  # places of vertices and faces as queries see them, of which each takes 24 bytes
FIELDS = {
    "query": np.int32, "feature": np.uint8, "body": np.int32, "face": np.int32, "number": np.int32,
    "sphere": np.int32, "time": np.float64, "touch": np.float64, "point": np.float64, "normal": np.float64,
}  # fmt: skip


def all_touches(bodies, casts, two_sided, buffer, exact=False, rules=None):
    """Rows of all touches, ordered by query, time of touch, feature, body, number and sphere."""
    rows = touches(bodies, casts, two_sided, buffer, exact, rules)
    keys = [rows[name] for name in ("query", "touch", "feature", "body", "number", "sphere")]
    order = np.lexsort(keys[::-1])
    return {name: array[order] for name, array in rows.items() if name != "touch"}


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # of lengths without digits and of no ways
def touches(bodies, casts, two_sided, buffer, exact=False, rules=None):
    """Rows of all touches, in no order; ``touch`` is the time without the buffer. `exact`: bodies that turn
    are seen on their own motions; `rules`: of the bodies, if they have any."""
    found = {name: [np.zeros((0, 3) if name in ("point", "normal") else 0, t)] for name, t in FIELDS.items()}
    valid = bodies.start.valid & bodies.end.valid
    turns = turning(bodies) & exact
    if exact and bodies.spins is not None:
        turns |= bodies.spins.spinning & (bodies.spins.rotation != 0.0).any(axis=1)
    for begin, which, start, radius, quat in _balls(casts):
        for body in np.flatnonzero(valid):
            mesh = bodies.meshes[bodies.shape[body]]
            most = max(1, AT_ONCE // (mesh.n_vertices + mesh.n_faces))
            there = np.flatnonzero(meets(casts, rules, body)[which])
            for some in (there[k : k + most] for k in range(0, len(there), most)):
                query, turned = which[some], None if quat is None else quat[some]
                given = bodies, body, start[some], casts.path[query], radius[some]
                seen = (
                    SeenTurning(*given, _Moment)
                    if turns[body]
                    else _Seen(*given, turned, casts.form == ELLIPSOIDS)
                )
                for row in seen.touches(two_sided or mesh.two_sided, buffer):
                    n = len(row["query"])
                    row |= {
                        "query": query[row["query"]],
                        "body": np.full(n, body),
                        "sphere": np.full(n, begin),
                    }
                    for name, values in row.items():
                        found[name].append(values)
    return {name: np.concatenate(parts).astype(FIELDS[name]) for name, parts in found.items()}


def _balls(casts):
    """(number of the ball, rows that have one, their centres, radii, orientations), ball by ball."""
    rows = np.arange(len(casts))
    if casts.form != CLUSTERS:
        quat = casts.quat if casts.form == ELLIPSOIDS else None
        yield 0, rows, casts.start, casts.radius, quat
        return
    count = np.diff(casts.begin)[casts.cluster]
    for k in range(int(count.max(initial=0))):
        which = rows[count > k]
        ball = casts.begin[casts.cluster[which]] + k
        centre = casts.start[which] + rotate(casts.quat[which], casts.balls[ball])
        yield k, which, centre, casts.radius[ball], None


class _Seen:
    """Queries as a body sees them: in its own frame, and for ellipsoids in units of their radii."""

    def __init__(self, bodies, body, start, path, radius, quat, ellipsoid):
        n = len(start)
        self.mesh = bodies.meshes[bodies.shape[body]]
        self.place = bodies.start.position[body], bodies.end.position[body]
        first = np.broadcast_to(bodies.start.unit_wxyz[body], (n, 4))
        last = np.broadcast_to(bodies.end.unit_wxyz[body], (n, 4)) if turning(bodies)[body] else first
        self.turns = first, last
        self.c = rotate(conjugate(first), start - self.place[0])
        if turning(bodies)[body]:
            self.v = rotate(conjugate(last), start + path - self.place[1]) - self.c
        else:
            self.v = rotate(conjugate(first), path - (self.place[1] - self.place[0]))
        self.radius = radius
        self.sides: dict = {}  # by the numbers of their vertices
        self.axes: Any = None
        self.radii: Any = None
        self.origin = np.zeros((n, 3))  # where centres were when the step began
        if ellipsoid:
            self.axes, self.radii, self.radius = multiply(conjugate(first), quat), radius, np.ones(n)

    def unit(self, x):
        """Points, (.., n, 3) from the centre, in units of the radii."""
        return x if self.axes is None else rotate(conjugate(self.axes), x) / self.radii

    def unit_normal(self, x):
        """The same of normals."""
        if self.axes is None:
            return x
        y = rotate(conjugate(self.axes), x) * self.radii
        return y / np.sqrt(dot(y, y))[..., None]

    def touches(self, two_sided, buffer):
        """Rows of each feature: all that is touched as such, then what is come onto by who has sunk in."""
        n, v = len(self.c), self.unit(self.v)
        self.vertices = self.unit(self.mesh.vertices[:, None] - self.c)
        normals = self.mesh.face_planes[:, None, :3]
        self.planes = self.unit_normal(np.broadcast_to(normals, (len(normals), n, 3)))
        self.sunk = np.full(n, np.inf)  # since when a feature did not count for who has sunk in beside it
        yield from filter(None, self._features(v, two_sided, buffer, False))
        if np.isfinite(self.sunk).any():
            since, self.sunk = self.sunk, self.sunk.copy()
            for row in filter(None, self._features(v, two_sided, buffer, True)):
                late = row["touch"] >= since[row["query"]]
                yield {name: values[late] for name, values in row.items()}

    def _features(self, v, two_sided, buffer, late):
        mesh, n, planes = self.mesh, len(self.c), self.planes
        zero = np.zeros((n, 3))
        for f, normal in enumerate(planes):
            corners, sides = self._corners(f)
            time = face_times(corners, sides, normal, zero, v, self.radius, two_sided, late)
            row = FACE, f, np.full(n, f), time, corners[0], sides[0]
            yield self._rows(*row, normal, v, buffer, two_sided)
        if not (self.radius > 0).any():
            return
        for e, ends in enumerate(mesh.edges):
            a, side = self.vertices[ends[0]], self._side(*ends.tolist())
            time = np.where(self.radius > 0, edge_times(a, side, zero, v, self.radius, late), np.inf)
            faces = np.sort(mesh.edge_faces[mesh.edge_face_start[e] : mesh.edge_face_start[e + 1]] >> 1)
            front = self._counts(ends, v, time, faces, planes, two_sided)
            yield self._rows(EDGE, e, front, time, a, side, None, v, buffer, two_sided)
        for k in range(0 if late else len(mesh.vertices)):
            faces = np.sort(mesh.vertex_faces[mesh.vertex_face_start[k] : mesh.vertex_face_start[k + 1]])
            a = self.vertices[k]
            time = np.where(self.radius > 0, vertex_times(a, zero, v, self.radius), np.inf)
            front = self._counts((k, k), v, time, faces, planes, two_sided)
            yield self._rows(VERTEX, k, front, time, a, zero, None, v, buffer, two_sided)

    def _loop(self, face):
        start = self.mesh.face_start
        return self.mesh.face_vertices[start[face] : start[face + 1]].tolist()

    def _corners(self, face):
        """Corners, and the sides that begin at each."""
        loop = self._loop(face)
        sides = [self._side(i, k) for i, k in zip(loop, loop[1:] + loop[:1], strict=True)]
        return self.vertices[loop], np.array(sides)

    def _side(self, first, last):
        """The way between two vertices, (n, 3), with all the digits that the mesh has of it."""
        if (first, last) not in self.sides:
            way = self.mesh.vertices[last] - self.mesh.vertices[first]
            self.sides[first, last] = self.unit(np.broadcast_to(way, self.c.shape))
        return self.sides[first, last]

    def _counts(self, ends, v, time, faces, planes, two_sided):
        """The first of some faces that the centre is in front of; -1: none, or something is nearer."""
        if not np.isfinite(time).any():
            return np.full(len(time), -1)
        front = self._front(self.vertices[ends[0]], v, time, faces, planes, two_sided)
        lies, sunk = self._rests(ends, v, time, faces, planes, two_sided)
        sunk &= (front >= 0) & np.isfinite(time)
        self.sunk = np.where(sunk, np.minimum(self.sunk, time), self.sunk)
        return np.where(lies | sunk, -1, front)

    def _front(self, a, v, time, faces, planes, two_sided):
        """The first of some faces that the centre is in front of; -1: of none."""
        here = np.where(np.isfinite(time), time, 0.0)[:, None] * v - a
        size = 1.0 + np.abs(a).max(axis=1)
        front = np.full(len(time), -1)
        for f in faces[::-1]:
            front[two_sided | (dot(planes[f], here) >= -ROUNDING * size)] = f
        return front

    def _rests(self, ends, v, time, faces, planes, two_sided):
        """Who lies on one of the faces around an edge or a vertex, or on an edge of them that ends there,
        sunk in by rounding; and who by more, without coming nearer."""
        lies, sunk = np.zeros((2, len(time)), bool)
        centre = np.where(np.isfinite(time), time, 0.0)[:, None] * v
        tip = ends[0] == ends[1]
        for f in faces:
            loop, normal = self._loop(f), planes[f]
            x, sides = self._corners(f)
            nothing = ROUNDING * (1.0 + np.abs(x[0]).max(axis=1))
            ahead, start = dot(normal, centre - x[0]), dot(normal, self.origin - x[0])
            front = two_sided | (ahead >= -nothing)
            same = np.where(two_sided & (ahead < 0), -start, start) >= -nothing
            over = front.copy()
            for j, i in enumerate(loop):  # the side from corner i to the next
                k = (j + 1) % len(loop)
                if {int(end) for end in ends} <= {i, loop[k]}:
                    over &= over_side(centre, x[j], sides[j], normal)
                if tip and i == ends[0]:
                    for side in (sides[j], -sides[j - 1]):
                        along = rests_on_edge(centre, x[j], side, v, self.radius)
                        lies |= front & along[0]
                        sunk |= front & same & along[1]
            flat, deep = rests_on_face(centre, x, sides, normal, v, self.radius)
            lies |= over & flat & (not tip)
            sunk |= over & same & deep
        return lies, sunk & ~lies

    def _rows(self, feature, number, face, time, a, e, normal, v, buffer, two_sided):
        """Those that touch a feature that begins at `a`, an edge along `e`, in the world; None if there are
        none."""
        q = np.flatnonzero(np.isfinite(time) & (face >= 0))
        if not len(q):
            return None
        t, n = time[q][:, None], len(q)
        centre, a, e = t * v[q], a[q], e[q]
        if feature == FACE:
            out = normal[q]
            if two_sided:
                out = np.where((dot(out, -a) < 0)[:, None], -out, out)
            point = centre - dot(out, centre - a)[:, None] * out
        else:
            with np.errstate(invalid="ignore"):
                share = np.where(dot(e, e) > 0, dot(centre - a, e) / dot(e, e), 0.0)
            point = a + np.clip(share, 0.0, 1.0)[:, None] * e
            out = centre - point
            out = np.where((dot(out, v[q]) < 0)[:, None], out, -v[q])  # as it is approached
            out = out / np.sqrt(dot(out, out))[:, None]
        if self.axes is not None:
            point = rotate(self.axes[q], point * self.radii[q])
            out = rotate(self.axes[q], out / self.radii[q])
            out = out / np.sqrt(dot(out, out))[:, None]
        speed = -dot(out, self.v[q])
        first, last = (quat[q] for quat in self.turns)
        last = np.where(dot(first, last)[:, None] < 0, -last, last)
        turned = (1.0 - t) * first + t * last
        turned = turned / np.sqrt(dot(turned, turned))[:, None]
        place = self.place[0] + t * (self.place[1] - self.place[0])
        return {
            "query": q, "feature": np.full(n, feature), "face": face[q], "number": np.full(n, number),
            "touch": time[q], "time": np.maximum(time[q] - (buffer / speed if buffer else 0.0), 0.0),
            "point": rotate(turned, point + self.c[q]) + place, "normal": rotate(turned, out),
        }  # fmt: skip


class _Moment(_Seen):
    """Spheres at c in a mesh's frame that go on by v, and began the step at `origin` from there."""

    def __init__(self, mesh, c, v, radius, origin):
        self.mesh, self.c, self.v, self.radius, self.origin = mesh, c, v, radius, origin
        self.sides, self.axes, self.radii = {}, None, None
        self.vertices = mesh.vertices[:, None] - c
        normals = mesh.face_planes[:, None, :3]
        self.planes = np.broadcast_to(normals, (len(normals), len(c), 3))
        self.sunk = np.full(len(c), np.inf)

    def counts(self, ends, faces, two_sided):
        """The face in front of which an edge or a vertex is touched now; -1: it does not count."""
        return self._counts(ends, self.v, np.zeros(len(self.c)), faces, self.planes, two_sided)
