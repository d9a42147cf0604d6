"""A judge of spheres cast among bodies that turn: where these are at dense times, by rotation matrices of its
own, and how far the centre is from their triangles then. It shares nothing with the library."""

import numpy as np

__all__ = ["first_touch", "gap_at", "seen"]


def _matrix(q):
    w, x, y, z = q / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _rodrigues(turn, t):
    """Rotations (m, 3, 3) by t times a turn."""
    angle = np.linalg.norm(turn)
    k = turn / angle if angle > 0 else turn
    cross = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    a = (angle * t)[:, None, None]
    return np.eye(3) + np.sin(a) * cross + (1 - np.cos(a)) * (cross @ cross)


def _poses(bodies, k, t):
    """Positions (m, 3) and rotations (m, 3, 3) of a body at some times."""
    p0, p1 = bodies.start.position[k], bodies.end.position[k]
    r0 = _matrix(bodies.start.unit_wxyz[k])
    spins = bodies.spins
    if spins is not None and spins.spinning[k]:
        turned = _rodrigues(spins.rotation[k], t) @ r0
        pivot = p0 + r0 @ spins.center[k] + t[:, None] * spins.displacement[k]
        return pivot - turned @ spins.center[k], turned
    between = _matrix(bodies.end.unit_wxyz[k]) @ r0.T
    values, vectors = np.linalg.eig(between)
    axis = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    axis /= np.linalg.norm(axis)
    odd = np.array(
        [between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]]
    )
    angle = np.arctan2(odd @ axis / 2, (np.trace(between) - 1) / 2)
    if abs(abs(angle) - np.pi) < 1e-9:  # of a half turn the axis that is positive in the body's own axes
        own = r0.T @ axis
        angle = np.pi * np.sign(own[np.abs(own) > 1e-9][0])
    along = axis * ((p1 - p0) @ axis)
    # the point of the axis: p1 - along = between (p0 - c) + c
    c = np.linalg.lstsq(np.eye(3) - between, p1 - along - between @ p0, rcond=1e-9)[0]
    turn = _rodrigues(axis * angle, t)
    return turn @ (p0 - c) + c + t[:, None] * along, turn @ r0


def seen(bodies, k, start, path, t):
    """Centres as body `k` sees them at some times, (m, 3)."""
    place, turn = _poses(bodies, k, t)
    return np.einsum("mji,mj->mi", turn, start + t[:, None] * path - place)


def _distance(q, mesh):
    """Distances of places (m, 3) from the triangles of a mesh."""
    best = np.full(len(q), np.inf)
    for f in range(mesh.n_faces):
        loop = mesh.vertices[mesh.face_vertices[mesh.face_start[f] : mesh.face_start[f + 1]]]
        for a, b, c in ((loop[0], loop[i], loop[i + 1]) for i in range(1, len(loop) - 1)):
            n = np.cross(b - a, c - a)
            inside = np.ones(len(q), bool)
            for x, y in ((a, b), (b, c), (c, a)):
                e = y - x
                s = np.clip((q - x) @ e / (e @ e), 0, 1)
                best = np.minimum(best, np.linalg.norm(q - x - s[:, None] * e, axis=1))
                inside &= (q - x) @ np.cross(n, e) >= 0
            flat = np.abs((q - a) @ n) / np.linalg.norm(n)
            best = np.where(inside, np.minimum(best, flat), best)
    return best


def gap_at(bodies, start, path, radius, t):
    """Distance from the nearest body less the radius, (m,)."""
    t = np.atleast_1d(t)
    each = [
        _distance(seen(bodies, k, start, path, t), bodies.meshes[bodies.shape[k]]) for k in range(len(bodies))
    ]
    return np.min(each, axis=0) - radius


def first_touch(bodies, start, path, radius, n=2001):
    """When the gap first falls to zero; 2 if it does not. The start is to be open. What is closed only
    between two times is looked for about the least gaps."""
    t = np.linspace(0, 1, n)
    gap = gap_at(bodies, start, path, radius, t)
    low = np.flatnonzero((gap[1:-1] <= gap[:-2]) & (gap[1:-1] <= gap[2:])) + 1
    for k in low[gap[low] > 0]:  # may come to zero between two times
        near = np.linspace(t[k - 1], t[k + 1], 201)
        some = gap_at(bodies, start, path, radius, near)
        t, gap = np.concatenate((t, near)), np.concatenate((gap, some))
    order = np.argsort(t)
    t, gap = t[order], gap[order]
    hit = np.flatnonzero(gap <= 0)
    if not len(hit):
        return 2.0
    a, b = t[hit[0] - 1], t[hit[0]]
    for _ in range(12):
        near = np.linspace(a, b, 33)
        k = np.flatnonzero(gap_at(bodies, start, path, radius, near) <= 0)[0]
        a, b = near[max(k - 1, 0)], near[k]
    return b
