"""How far apart two meshes are at one time, and from which time on they are nearer than a distance.

Shares nothing with the library but the poses and the vertices: distances of vertices to triangles and of
edges to edges, at times so dense that no approach is overlooked, as no point is faster than a bound.
"""

import numpy as np

__all__ = ["Passage", "distance", "triangles_of"]


def triangles_of(mesh):
    """(t, 3) corners of a mesh's faces as fans."""
    fans = []
    for first, end in zip(mesh.face_start[:-1], mesh.face_start[1:], strict=True):
        loop = mesh.face_vertices[first:end]
        fans += [(loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1)]
    return np.array(fans, np.int64)


def distance(xa, ta, ea, xb, tb, eb):
    """Least distance of two surfaces: vertices (n, 3), triangles (t, 3) and edges (e, 2) of each. 0 where one
    goes through the other."""
    if _pierced(xa[ea], xb[tb]) or _pierced(xb[eb], xa[ta]):
        return 0.0
    return min(
        _points_triangles(xa[np.unique(ta)], xb[tb]),
        _points_triangles(xb[np.unique(tb)], xa[ta]),
        _edges(xa[ea], xb[eb]),
    )


def _pierced(edges, tri):
    """Does an edge (n, 2, 3) go through a triangle (t, 3, 3)?"""
    p, q = edges[:, 0, None], edges[:, 1, None]
    a, b, c = tri[:, 0], tri[:, 1], tri[:, 2]

    def volume(x, y, z, w):
        return (np.cross(y - x, z - x) * (w - x)).sum(axis=-1)

    sides = volume(a, b, c, p) * volume(a, b, c, q) < 0
    around = np.stack([volume(p, q, x, y) for x, y in ((a, b), (b, c), (c, a))])
    return bool((sides & ((around > 0).all(axis=0) | (around < 0).all(axis=0))).any())


def _points_triangles(p, tri):
    """Of those points that lie over a triangle; what is nearest at a border is left to the edges."""
    a, n = tri[:, 0], np.cross(tri[:, 1] - tri[:, 0], tri[:, 2] - tri[:, 0])
    n = n / np.sqrt((n**2).sum(axis=1))[:, None]
    d = p[:, None] - a
    height = np.abs((d * n).sum(axis=-1))
    over = np.ones(height.shape, bool)
    for k in range(3):
        low, high = tri[:, k], tri[:, (k + 1) % 3]
        over &= (np.cross(n, high - low) * (p[:, None] - low)).sum(axis=-1) >= 0
    return height[over].min(initial=np.inf)


def _edges(a, b):
    """Of segments (n, 2, 3) and (m, 2, 3)."""
    p, d = a[:, None, 0], (a[:, 1] - a[:, 0])[:, None]
    q, e = b[None, :, 0], (b[:, 1] - b[:, 0])[None]
    least = min(
        _point_edge(p, q, e).min(), _point_edge(p + d, q, e).min(),
        _point_edge(q, p, d).min(), _point_edge(q + e, p, d).min(),
    )  # fmt: skip
    n, r = np.cross(d, e), q - p
    square = (n * n).sum(axis=-1)
    u, v = (np.cross(r, e) * n).sum(axis=-1), (np.cross(r, d) * n).sum(axis=-1)
    inside = (square > 0) & (u >= 0) & (u <= square) & (v >= 0) & (v <= square)
    across = np.abs((r * n).sum(axis=-1))[inside] / np.sqrt(square[inside])
    return min(least, across.min(initial=np.inf))


def _point_edge(x, p, d):
    u = np.clip(((x - p) * d).sum(axis=-1) / (d * d).sum(axis=-1), 0, 1)
    return np.sqrt(((p + u[..., None] * d - x) ** 2).sum(axis=-1))


class Passage:
    """B moving past A on the screw between two relative poses, or as ``places(t)`` says: rotation and place.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
    places : callable
        ``t -> (3, 3), (3,)`` of B's mesh coordinates in A's.
    fastest : float
        No point of B is faster, as A sees it.
    """

    def __init__(self, mesh_a, mesh_b, places, fastest):
        self.a, self.b = (
            (np.array(m.vertices), triangles_of(m), np.array(m.edges)) for m in (mesh_a, mesh_b)
        )
        self.places, self.fastest = places, fastest

    def at(self, t):
        """The distance at a time."""
        turn, shift = self.places(t)
        return distance(*self.a, self.b[0] @ turn.T + shift, *self.b[1:])

    def nearer_from(self, d, narrow=1e-6):
        """The first time from which on they are nearer than ``d``; inf if they never are. What is nearer for
        less than `narrow` of the step may be overlooked."""
        begin = self.at(0.0)
        if begin < d:
            return 0.0
        spans = [(0.0, begin, 1.0, self.at(1.0))]
        while spans:
            t0, d0, t1, d1 = spans.pop()
            if d0 < d:
                return t0
            if 0.5 * (d0 + d1 - self.fastest * (t1 - t0)) > d:
                continue
            if t1 - t0 < narrow:
                if d1 < d:
                    return self._between(d, t0, t1)
                continue
            mid = 0.5 * (t0 + t1)
            dm = self.at(mid)
            if d1 < d and 0.5 * (dm + d1 - self.fastest * (t1 - mid)) > d:
                raise AssertionError("faster than said")
            spans += [(mid, dm, t1, d1), (t0, d0, mid, dm)]
        return np.inf

    def _between(self, d, t0, t1):
        for _ in range(60):
            mid = 0.5 * (t0 + t1)
            if self.at(mid) < d:
                t1 = mid
            else:
                t0 = mid
        return t1
