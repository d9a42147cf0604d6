"""Meshes and motions as the oracle sees them: own adjacency, own screw, nothing shared with the library.

A mesh is anything with `vertices`, `face_start`, `face_vertices` and `two_sided` (a `gpu_collide.Mesh`, or
the `RawMesh` below). Motion is that of docs/conventions.md, derived here from the exponential map of rigid
motions: B's centre starts at p0 in A's frame, the twist is (theta v, rho), and a material point x0 (measured
from B's centre, in A's axes at t = 0) is at p0 + V(t) rho + Rot(v, theta t) x0. The velocity field is
w(x) = theta v x (x - p0) + rho.
"""

from dataclasses import dataclass

import numpy as np

FLAT_SIN = 1e-9  # edges count as flat within 1e-9


def cross(a, b):
    """Cross product over the last axis (np.cross is several times slower on small arrays)."""
    return np.stack(
        (
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ),
        axis=-1,
    )


def dot(a, b):
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def norm(a):
    return np.sqrt(dot(a, a))


def unit(a):
    return a / norm(a)[..., None]


class RawMesh:
    """Vertices and face loops with the attributes of `gpu_collide.Mesh` that the oracle reads."""

    def __init__(self, vertices, faces, two_sided=False):
        self.vertices = np.asarray(vertices, float)
        self.face_start = np.concatenate(([0], np.cumsum([len(f) for f in faces]))).astype(np.int32)
        self.face_vertices = np.concatenate([np.asarray(f, np.int32) for f in faces])
        self.two_sided = bool(two_sided)


class Solid:
    """A mesh with centred vertices and all the adjacency the oracle needs, padded to rectangles."""

    def __init__(self, mesh):
        vertices = np.asarray(mesh.vertices, float)
        self.center = (vertices.min(0) + vertices.max(0)) / 2
        self.v = vertices - self.center
        self.radius = float(norm(self.v).max())
        self.two_sided = bool(mesh.two_sided)
        start, flat = np.asarray(mesh.face_start), np.asarray(mesh.face_vertices)
        self.loops = [flat[start[i] : start[i + 1]] for i in range(len(start) - 1)]
        self._faces()
        self._edges()
        self._vertices()
        theirs = getattr(mesh, "edges", None)
        if theirs is not None and not np.array_equal(np.asarray(theirs), self.edges):
            raise AssertionError("mesh.edges is not the sorted list of (smaller, larger) vertex pairs")

    def _faces(self):
        nf, k = len(self.loops), max(map(len, self.loops))
        self.normal = np.zeros((nf, 3))
        self.face_center = np.zeros((nf, 3))
        self.face_radius = np.zeros(nf)
        self.side = np.zeros((nf, k, 3))  # inward unit normal of each side, in the face's plane
        self.side_offset = np.full((nf, k), np.inf)
        self.face_corners = np.zeros((nf, k), int)
        for f, loop in enumerate(self.loops):
            x = self.v[loop]
            c = x.mean(0)
            nxt = np.roll(x, -1, 0)
            n = unit(cross(x - c, nxt - c).sum(0))
            inward = unit(cross(np.broadcast_to(n, x.shape), nxt - x))
            self.normal[f], self.face_center[f] = n, c
            self.face_radius[f] = norm(x - c).max()
            self.side[f, : len(loop)] = inward
            self.side_offset[f, : len(loop)] = -dot(inward, x)
            self.face_corners[f] = np.concatenate((loop, np.repeat(loop[:1], k - len(loop))))

    def _edges(self):
        walk = {}
        for f, loop in enumerate(self.loops):
            for i, j in zip(loop, np.roll(loop, -1), strict=True):
                i, j = int(i), int(j)
                key, side = ((i, j), 1.0) if i < j else ((j, i), -1.0)
                walk.setdefault(key, []).append((f, side))
        keys = sorted(walk)
        self.edges = np.array(keys, int)
        ne, k = len(keys), max(map(len, walk.values()))
        self.edge_face = np.zeros((ne, k), int)
        self.edge_side = np.zeros((ne, k))  # +1 face on the left of low -> high, -1 right, 0 none
        self.reflex = np.zeros(ne, bool)
        a, b = self.v[self.edges[:, 0]], self.v[self.edges[:, 1]]
        self.edge_dir = unit(b - a)
        self.edge_mid = (a + b) / 2
        self.edge_half = norm(b - a) / 2
        for e, key in enumerate(keys):
            for i, (f, side) in enumerate(walk[key]):
                self.edge_face[e, i], self.edge_side[e, i] = f, side
            if len(walk[key]) == 2 and self.edge_side[e, :2].sum() == 0:
                left, right = sorted(walk[key], key=lambda fs: -fs[1])
                turn = dot(cross(self.normal[left[0]], self.normal[right[0]]), self.edge_dir[e])
                self.reflex[e] = turn < -FLAT_SIN and not self.two_sided

    def _vertices(self):
        nv = len(self.v)
        faces, corners, spokes = ([[] for _ in range(nv)] for _ in range(3))
        for f, loop in enumerate(self.loops):
            for before, i, after in zip(np.roll(loop, 1), loop, np.roll(loop, -1), strict=True):
                faces[i].append(f)
                corners[i].append((self.v[after] - self.v[i], self.v[before] - self.v[i]))
        for e, (i, j) in enumerate(self.edges):
            spokes[i].append((e, 1.0))
            spokes[j].append((e, -1.0))
        kf, ks = max(1, max(map(len, faces))), max(1, max(map(len, spokes)))
        self.vertex_face = np.full((nv, kf), -1)
        self.vertex_spoke = np.full((nv, ks), -1)
        self.vertex_spoke_dir = np.zeros((nv, ks, 3))
        for i in range(nv):
            self.vertex_face[i, : len(faces[i])] = faces[i]
            for s, (e, sign) in enumerate(spokes[i]):
                self.vertex_spoke[i, s] = e
                self.vertex_spoke_dir[i, s] = sign * self.edge_dir[e]
        self.corners = corners
        self.vertex_reflex = np.array([any(self.reflex[e] for e, _ in s) for s in spokes])
        sides = self.edge_side
        closed_edge = (np.count_nonzero(sides, axis=1) == 2) & (sides.sum(1) == 0)
        self.vertex_closed = np.array([all(closed_edge[e] for e, _ in s) for s in spokes])

    def inside(self, face, x):
        """Distance (n,) of points x (n, 3), centred frame, to the nearest side of their face; positive
        inside."""
        d = np.einsum("nki,ni->nk", self.side[face], x) + self.side_offset[face]
        return d.min(1)

    def is_pit(self, vertex, n):
        """Whether the solid at `vertex` lies on the side of -n, all edges there leaving towards +n.

        The edges cross the plane x.n = 1 in a polygon; its signed area shows on which side of it the solid
        is.
        Around an open vertex there is no such polygon: there the wedge at the edge nearest to the plane
        decides.
        """
        if not self.vertex_reflex[vertex]:
            return False
        if self.vertex_closed[vertex]:
            area = 0.0
            for after, before in self.corners[vertex]:
                area += dot(n, cross(after / dot(after, n), before / dot(before, n)))
            return area > 0
        spokes = self.vertex_spoke[vertex]
        spokes = spokes[spokes >= 0]
        along = self.vertex_spoke_dir[vertex, : len(spokes)] @ n
        m = int(np.argmin(along))
        e = self.vertex_spoke_dir[vertex, m]
        p = -n + along[m] * e
        used = self.edge_side[spokes[m]] != 0
        behind = self.normal[self.edge_face[spokes[m]][used]] @ p < 0
        return bool(behind.any() if self.reflex[spokes[m]] else behind.all())


def quat_mul(p, q):
    pw, pv, qw, qv = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    return np.concatenate((pw * qw - dot(pv, qv)[..., None], pw * qv + qw * pv + cross(pv, qv)), -1)


def quat_conj(q):
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotation_matrix(q):
    """Matrices (..., 3, 3) of unit quaternions w, x, y, z."""
    w, x, y, z = (q[..., i] for i in range(4))
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(r, -1) for r in rows], -2)


def apply(matrix, x):
    """matrix (..., 3, 3) times x (..., 3)."""
    return np.einsum("...ij,...j->...i", matrix, x)


@dataclass
class Twist:
    """Screws of p motions: unit axis v, angle theta, velocity rho of the point p0, real part w of the
    turn."""

    v: np.ndarray
    theta: np.ndarray
    rho: np.ndarray
    p0: np.ndarray
    w: np.ndarray

    @classmethod
    def between(cls, q0, p0, q1, p1, flip=None):
        """From poses (quaternion, position) at t = 0 and 1. `flip` takes the other screw of a half-turn."""
        dq = quat_mul(q1, quat_conj(q0))
        w, vec = dq[:, 0], dq[:, 1:]
        sign = np.where(w < 0, -1.0, 1.0)
        big = np.abs(vec) > 1e-9
        first = np.argmax(big, axis=1)
        lead = np.take_along_axis(vec, first[:, None], 1)[:, 0]
        half = np.abs(w) <= 1e-15
        sign = np.where(half, np.where(lead < 0, -1.0, 1.0), sign)
        if flip is not None:
            sign = np.where(flip, -sign, sign)
        vec, w = vec * sign[:, None], w * sign
        length = norm(vec)
        still = length < 1e-15
        theta = np.where(still, 0.0, 2 * np.arctan2(length, w))
        v = np.where(still[:, None], np.array([0.0, 0.0, 1.0]), vec / np.where(still, 1.0, length)[:, None])
        chord = p1 - p0
        # rho = V(1)^-1 chord; half * cot(half) falls from 1 at theta = 0 to 0 at theta = pi
        half = theta / 2
        safe = np.where(half > 1e-8, half, 1.0)
        cot = np.where(half > 1e-8, safe * np.cos(safe) / np.sin(safe), 1.0)
        vc = cross(v, chord)
        rho = chord - half[:, None] * vc + (1 - cot)[:, None] * cross(v, vc)
        return cls(v, theta, rho, p0, w)

    def turn(self, i, t):
        """sin(theta t) and 1 - cos(theta t) of motions i."""
        angle = self.theta[i] * t
        return np.sin(angle), 2 * np.sin(angle / 2) ** 2

    def centre(self, i, t):
        """Position of the reference point of motions i at times t."""
        theta, v, rho = self.theta[i], self.v[i], self.rho[i]
        angle = theta * t
        small = np.abs(angle) < 1e-2
        safe = np.where(theta > 1e-200, theta, 1.0)
        a2 = angle * angle
        c1 = np.where(small, t * angle / 2 * (1 - a2 / 12 * (1 - a2 / 30)), 2 * np.sin(angle / 2) ** 2 / safe)
        c2 = np.where(small, t * a2 / 6 * (1 - a2 / 20 * (1 - a2 / 42)), (angle - np.sin(angle)) / safe)
        vr = cross(v, rho)
        return self.p0[i] + t[:, None] * rho + c1[:, None] * vr + c2[:, None] * cross(v, vr)

    def rotate(self, i, t, x):
        s, vers = self.turn(i, t)
        v = self.v[i]
        vx = cross(v, x)
        return x + s[:, None] * vx + vers[:, None] * cross(v, vx)

    def flow(self, i, x):
        """Velocity of the field of motions i at places x."""
        return self.theta[i][:, None] * cross(self.v[i], x - self.p0[i]) + self.rho[i]


def relative(solid_a, solid_b, start_a, end_a, start_b, end_b, flip=None):
    """Motion of B in A's centred frame, and B's axes there at t = 0.

    Poses are pairs (position (p, 3), unit quaternion (p, 4)). Returns Twist, matrices (p, 3, 3).
    """
    placed = []
    for (pa, qa), (pb, qb) in ((start_a, start_b), (end_a, end_b)):
        q = quat_mul(quat_conj(qa), qb)
        p = apply(np.swapaxes(rotation_matrix(qa), -1, -2), pb - pa)
        placed.append((q, p + apply(rotation_matrix(q), solid_b.center) - solid_a.center))
    (q0, p0), (q1, p1) = placed
    return Twist.between(q0, p0, q1, p1, flip), rotation_matrix(q0)
