"""Whether two solids overlap at one time of the step, deeper than a small depth; touching is not overlap.

Each solid in turn is shrunk: its vertices move inwards along their normals, its face centres along the face
normals. The solids overlap if a shrunk edge goes strictly through a face of the other, or if a shrunk vertex
or face centre is inside the other. Inside is asked of closed meshes only, by the winding number.
"""

import numpy as np

# In units of the size.
DEPTH = 1e-7
# Rounds in search of a direction at a sharp tip.
MAX_TIP = 32
# Edge-face or point-triangle pairs worked on at a time.
CHUNK = 200_000


class Solid:
    """A body at the time ``s`` in the screw frame: points (nv, 3), normals (nf, 3), its shrunk features."""

    def __init__(self, screw, side, closed, s):
        t = side.tables
        self.tables, self.closed = t, closed
        moves = side.sign > 0
        self.points = screw.flow(side.points, s) if moves else side.points
        self.normals = screw.turn(side.normals, s) if moves else side.normals
        self.inward = screw.turn(side.inward, s) if moves else side.inward
        depth = DEPTH * screw.size
        there = t.vertex_faces >= 0
        self.used = there.any(axis=1)
        self.shrunk = self.points - depth * _outward(self.normals[t.vertex_faces], there)
        corners = t.loops >= 0
        centre = (
            np.where(corners[:, :, None], self.points[t.loops], 0.0).sum(axis=1)
            / corners.sum(axis=1)[:, None]
        )
        self.shrunk_centres = centre - depth * self.normals


def _outward(normals, there):
    """Directions (nv, 3) that lead out through all faces around a vertex: the sum of their normals, and where
    that leads in through one of them, at a sharp tip, that one once more, until none is left.

    Parameters
    ----------
    normals : (nv, k, 3)
    there : (nv, k) bool
        Which of the k places hold a face.
    """
    total = np.where(there[:, :, None], normals, 0.0).sum(axis=1)
    for v in np.flatnonzero((there & (np.einsum("vki,vi->vk", normals, total) <= 0)).any(axis=1)):
        around = normals[v][there[v]]
        for _ in range(MAX_TIP):
            if (around @ total[v] > 0).all():
                break
            for n in around:
                total[v] += n if n @ total[v] <= 0 else 0.0
    return _unit(total)


def _unit(x):
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.where(length > 0, length, 1.0)


def overlap_at(screw, a, b, closed_a, closed_b, s):
    """True if the solids ``a`` and ``b`` (`Side`) overlap at the time ``s`` in [-1/2, 1/2] deeper than
    `DEPTH` times the size."""
    centre = screw.flow(b.centre, s)
    radius_a, radius_b = (np.linalg.norm(x.points - x.centre, axis=1).max() for x in (a, b))
    if np.linalg.norm(centre - a.centre) > radius_a + radius_b:
        return False
    one, other = Solid(screw, a, closed_a, s), Solid(screw, b, closed_b, s)
    return _enters(one, other) or _enters(other, one)


def _enters(shrunk, whole):
    if whole.closed:
        points = np.concatenate([shrunk.shrunk[shrunk.used], shrunk.shrunk_centres])
        low, high = whole.points.min(axis=0), whole.points.max(axis=0)
        points = points[((points > low) & (points < high)).all(axis=1)]
        if len(points) and (np.abs(winding_number(whole, points)) > 0.5).any():
            return True
    return _pierces(shrunk, whole)


def winding_number(solid, points):
    """Winding numbers (n,) of the surface of ``solid`` around ``points`` (n, 3), by solid angles of a fan of
    triangles."""
    t = solid.tables
    face, corner = np.nonzero(t.loops[:, 2:] >= 0)
    triangles = [solid.points[t.loops[face, j]] for j in (np.zeros_like(corner), corner + 1, corner + 2)]
    total = np.empty(len(points))
    step = max(1, CHUNK // max(len(face), 1))
    for start in range(0, len(points), step):
        a, b, c = (x[None] - points[start : start + step, None] for x in triangles)
        la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
        volume = np.sum(a * np.cross(b, c), axis=-1)
        dots = (
            la * lb * lc
            + np.sum(a * b, axis=-1) * lc
            + np.sum(b * c, axis=-1) * la
            + np.sum(c * a, axis=-1) * lb
        )
        total[start : start + step] = np.arctan2(volume, dots).sum(axis=1) / (2.0 * np.pi)
    return total


def _pierces(shrunk, whole):
    """Whether a shrunk edge of one solid goes strictly through a face of the other."""
    t = whole.tables
    p, q = (shrunk.shrunk[shrunk.tables.edges[:, j]] for j in (0, 1))
    corners = t.loops >= 0
    at = whole.points[t.loops]
    low = np.where(corners[:, :, None], at, np.inf).min(axis=1)
    high = np.where(corners[:, :, None], at, -np.inf).max(axis=1)
    near = (np.maximum(p, q) >= whole.points.min(axis=0)) & (np.minimum(p, q) <= whole.points.max(axis=0))
    p, q = p[near.all(axis=1)], q[near.all(axis=1)]
    for start in range(0, len(p), step := max(1, CHUNK // len(low))):
        e, f = p[start : start + step], q[start : start + step]
        meet = np.all((np.minimum(e, f)[:, None] <= high) & (np.maximum(e, f)[:, None] >= low), axis=-1)
        i, face = np.nonzero(meet)
        n, origin = whole.normals[face], at[face, 0]
        d0, d1 = np.sum(n * (e[i] - origin), axis=1), np.sum(n * (f[i] - origin), axis=1)
        through = d0 * d1 < 0
        i, face, d0, d1 = i[through], face[through], d0[through], d1[through]
        x = e[i] + (d0 / (d0 - d1))[:, None] * (f[i] - e[i])
        margin = np.sum(whole.inward[face] * (x[:, None] - at[face]), axis=-1)
        if (np.where(corners[face], margin, np.inf).min(axis=1) > 0).any():
            return True
    return False
