"""A judge of clearance that shares nothing with the library: poses by matrices, triangles by plain
quadratics, time by samples and golden section.

The distance of two meshes at a time is the least over all their vertices against all triangles and over all
pairs of edges, each by its own formula; meshes cross if an edge goes through a triangle. Between samples
the distance changes by no more than the speed of B's points as A sees them, so that the least of all
samples is no more than `Passage.slack` above the truth; the lowest samples are then refined.
"""

from dataclasses import dataclass

import numpy as np

GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


def skew(w):
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation(w):
    """Rodrigues."""
    angle = np.linalg.norm(w)
    if angle == 0.0:
        return np.eye(3)
    k = skew(np.asarray(w) / angle)
    return np.eye(3) + np.sin(angle) * k + 2.0 * np.sin(0.5 * angle) ** 2 * (k @ k)


def logarithm(r):
    """Axis times angle of a rotation by less than half a turn."""
    v = 0.5 * np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    sine, cosine = np.linalg.norm(v), 0.5 * (np.trace(r) - 1.0)
    return np.zeros(3) if sine == 0.0 else v * (np.arctan2(sine, cosine) / sine)


def matrix_of(q):
    w, x, y, z = np.asarray(q) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def along_screw(first, last, t):
    """The pose at t on the screw from one (r, p) to another."""
    (r0, p0), (r1, p1) = first, last
    turn = r1 @ r0.T
    w = logarithm(turn)
    angle = np.linalg.norm(w)
    shift = p1 - turn @ p0
    if angle == 0.0:
        return r0, p0 + t * shift
    # the velocity v with  integral of Rot(s w) v ds over [0, 1] = shift
    v = np.linalg.solve(_integral(w, 1.0), shift)
    r = rotation(t * w)
    return r @ r0, r @ p0 + _integral(w, t) @ v


def _integral(w, t):
    angle = np.linalg.norm(w)
    k = skew(w / angle)
    a = angle * t
    return t * np.eye(3) + (2 * np.sin(0.5 * a) ** 2 / angle) * k + (t - np.sin(a) / angle) * (k @ k)


def inverse(pose):
    r, p = pose
    return r.T, -r.T @ p


def times_pose(one, other):
    return one[0] @ other[0], one[0] @ other[1] + one[1]


@dataclass
class Passage:
    """Two meshes, and where B is as A sees it: ``pose(t)`` gives (r, p)."""

    a: object
    b: object
    pose: object

    @classmethod
    def of(cls, bodies, a, b, motion="relative"):
        def given(poses, k):
            return matrix_of(poses.quat_wxyz[k]), poses.position[k]

        ends = [(given(bodies.start, k), given(bodies.end, k)) for k in (a, b)]
        meshes = [bodies.meshes[bodies.shape[k]] for k in (a, b)]
        if motion == "relative":
            (a0, a1), (b0, b1) = ends
            seen = times_pose(inverse(a0), b0), times_pose(inverse(a1), b1)
            return cls(*meshes, lambda t: along_screw(*seen, t))

        def own(k, t):
            spins = bodies.spins
            if spins is None or not spins.spinning[(a, b)[k]]:
                return along_screw(*ends[k], t)
            body = (a, b)[k]
            r0, p0 = ends[k][0]
            centre = spins.center[body]
            r = rotation(t * spins.rotation[body]) @ r0
            return r, p0 + r0 @ centre + t * spins.displacement[body] - r @ centre

        return cls(*meshes, lambda t: times_pose(inverse(own(0, t)), own(1, t)))

    def distance(self, t):
        """At one time; 0 where the surfaces cross."""
        r, p = self.pose(t)
        return distance_of(self.a, self.b, r, p)

    def least(self, samples=256, refine=6):
        """The least distance over the step, from above, and its time."""
        t = np.linspace(0.0, 1.0, samples + 1)
        d = np.array([self.distance(x) for x in t])
        best, when = d.min(), t[d.argmin()]
        low = np.flatnonzero(np.r_[True, d[1:] <= d[:-1]] & np.r_[d[:-1] <= d[1:], True])
        for k in low[np.argsort(d[low])][:refine]:
            if best == 0.0:
                break
            value, at = self._golden(max(t[k] - 1 / samples, 0.0), min(t[k] + 1 / samples, 1.0))
            if value < best:
                best, when = value, at
        return best, when

    def _golden(self, a, b):
        c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        fc, fd = self.distance(c), self.distance(d)
        for _ in range(70):
            if fc <= fd:
                b, d, fd = d, c, fc
                c = b - GOLDEN * (b - a)
                fc = self.distance(c)
            else:
                a, c, fc = c, d, fd
                d = a + GOLDEN * (b - a)
                fd = self.distance(d)
        found = [(fc, c), (fd, d), (self.distance(a), a), (self.distance(b), b)]
        return min(found)


_kept = {}


def _features(mesh):
    """Vertices, edges (k, 2) and triangles (m, 3) of a mesh."""
    if id(mesh) not in _kept:
        fans = []
        for f in range(mesh.n_faces):
            loop = mesh.face_vertices[mesh.face_start[f] : mesh.face_start[f + 1]]
            fans += [(loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1)]
        used = np.unique(mesh.face_vertices)
        _kept[id(mesh)] = mesh, np.asarray(mesh.vertices), used, np.asarray(mesh.edges), np.array(fans)
    return _kept[id(mesh)][1:]


def distance_of(a, b, r, p):
    """The distance of two meshes, B turned by r and moved by p. Triangles stay in the frame of their mesh: of
    slivers that are moved rounding leaves no normal."""
    va, used_a, ea, ta = _features(a)
    vb, used_b, eb, tb = _features(b)
    moved, back = vb @ r.T + p, (va - p) @ r
    if _crossing(back[ea], vb[tb]) or _crossing(moved[eb], va[ta]):
        return 0.0
    least = min(
        _points_triangles(back[used_a], vb[tb]).min(),
        _points_triangles(moved[used_b], va[ta]).min(),
        _segments(va[ea], moved[eb]).min(),
    )
    return float(np.sqrt(max(least, 0.0)))


def _points_triangles(points, triangles):
    """Squares of the distances of the points from the triangles' insides; large where a foot is outside."""
    a, b, c = (triangles[None, :, k] for k in range(3))
    u, v, w = b - a, c - a, points[:, None] - a
    n = np.cross(u, v)
    area = np.sum(n * n, axis=-1)
    beta = np.sum(np.cross(w, v) * n, axis=-1) / area
    gamma = np.sum(np.cross(u, w) * n, axis=-1) / area
    inside = (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1)
    height = np.sum(w * n, axis=-1) ** 2 / area
    return np.where(inside, height, np.inf)


def _to_segment(x, p, d):
    """Squares of the distances of points from segments p + [0, 1] d."""
    t = np.clip(np.sum((x - p) * d, axis=-1) / np.sum(d * d, axis=-1), 0.0, 1.0)
    return np.sum((p + t[..., None] * d - x) ** 2, axis=-1)


def _segments(one, other):
    """Squares of the distances of all pairs of segments: at an end, or where the lines are nearest."""
    p, d = one[:, None, 0], (one[:, 1] - one[:, 0])[:, None]
    r, e = other[None, :, 0], (other[:, 1] - other[:, 0])[None]
    ends = np.minimum(
        np.minimum(_to_segment(p, r, e), _to_segment(p + d, r, e)),
        np.minimum(_to_segment(r, p, d), _to_segment(r + e, p, d)),
    )
    c = np.cross(d, e)
    square = np.sum(c * c, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.sum(np.cross(r - p, e) * c, axis=-1) / square
        t = np.sum(np.cross(r - p, d) * c, axis=-1) / square
        lines = np.sum((r - p) * c, axis=-1) ** 2 / square
    inside = (square > 0) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    return np.where(inside, np.minimum(lines, ends), ends)


def _crossing(edges, triangles):
    """Does an edge go through the inside of a triangle?"""
    p, q = edges[:, None, 0], edges[:, None, 1]
    a, b, c = (triangles[None, :, k] for k in range(3))
    n = np.cross(b - a, c - a)
    hp, hq = np.sum((p - a) * n, axis=-1), np.sum((q - a) * n, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = p + (hp / (hp - hq))[..., None] * (q - p)
        sides = [np.sum(np.cross(v - u, x - u) * n, axis=-1) for u, v in ((a, b), (b, c), (c, a))]
    return bool(((hp * hq < 0) & (np.min(sides, axis=0) >= 0)).any())
