"""Stage 5: which faces of two meshes come near each other during the step.

Every face of A against every face of B, cut into triangles, by steps in time as long as the distance between
the two takes at the greatest speed of the triangle that moves. No tree, no screen, no patches. What it calls
near has been seen within the slack of the other, so it is what a search may not lose; a search may well find
more.
"""

import numpy as np

__all__ = ["near_faces", "patch_masks", "triangle_distance"]

STEPS = 400  # of one pair of triangles; grazing pairs take the most, and may then be left open
LEAST = 1e-3  # of the size: no step is shorter, for what meets cuts through a moment later


def near_faces(mesh_a, mesh_b, screw, slack=0.0, least=LEAST):
    """Faces that come within `slack` of a face of the other mesh.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
    screw : Screw
        Their motion (stage s01 of the screw method).
    slack : float
        A length in the meshes' unit.
    least : float
        Steps in time are no shorter than it takes to go so far, in sizes; with 0 nothing is jumped over.

    Returns
    -------
    near_a, near_b : (faces,) bool
        Those that were seen so near.
    """
    corners_a, face_a = _triangles(mesh_a)
    corners_b, face_b = _triangles(mesh_b)
    fixed, moving = screw.from_a(corners_a), screw.from_b(corners_b)
    near_a, near_b = np.zeros(len(face_a), bool), np.zeros(len(face_b), bool)
    for k in range(0, len(fixed), 64):  # so many at a time that the pairs fit the memory
        some = fixed[k : k + 64]
        i, j = (x.ravel() for x in np.indices((len(some), len(moving))))
        meet = _meet(some, moving, screw, slack, least * screw.size, i, j)
        near_a[k + i[meet]] = True
        near_b[j[meet]] = True
    return (
        np.bincount(face_a[near_a], minlength=mesh_a.n_faces) > 0,
        np.bincount(face_b[near_b], minlength=mesh_b.n_faces) > 0,
    )


def _triangles(mesh):
    """Corners (t, 3, 3) of the faces cut into fans, and the face of each."""
    rows, owner = [], []
    for k, loop in enumerate(mesh.faces):
        rows += [(loop[0], loop[i], loop[i + 1]) for i in range(1, len(loop) - 1)]
        owner += [k] * (len(loop) - 2)
    return mesh.vertices[np.array(rows)], np.array(owner)


def _meet(fixed, moving, screw, slack, least, i, j):
    """Do the triangles fixed[i] and moving[j] come within the slack? Steps in time, all pairs at once."""
    centre_a, centre_b = fixed.mean(axis=1), moving.mean(axis=1)
    radius_a, radius_b = (
        np.linalg.norm(t - c[:, None], axis=2).max(axis=1) for t, c in ((fixed, centre_a), (moving, centre_b))
    )
    speed = np.linalg.norm(screw.omega(moving), axis=2).max(axis=1)  # of a point; greatest at a corner
    s = np.full(len(i), -0.5)
    found = np.zeros(len(i), bool)
    todo = np.arange(len(i))
    for _ in range(STEPS):
        a, b, at = i[todo], j[todo], s[todo]
        gap = np.linalg.norm(centre_a[a] - screw.flow(centre_b[b], at), axis=1) - radius_a[a] - radius_b[b]
        close = np.flatnonzero(gap <= 0.2 * (radius_a[a] + radius_b[b]) + slack)
        if len(close):
            there = screw.flow(moving[b[close]], at[close, None])
            gap[close] = triangle_distance(fixed[a[close]], there)
        found[todo[gap <= slack]] = True
        with np.errstate(divide="ignore"):
            s[todo] = at + np.maximum(gap, max(least, 1e-300)) / speed[b]
        todo = todo[(gap > slack) & (s[todo] <= 0.5)]
        if not len(todo):
            break
    return found


def triangle_distance(one, two):
    """Distance between triangles one[k] and two[k], (n, 3, 3) each; 0 where they cut each other."""
    best = np.full(len(one), np.inf)
    for a in range(3):
        for b in range(3):
            best = np.minimum(best, _segments(one[:, a], one[:, (a + 1) % 3], two[:, b], two[:, (b + 1) % 3]))
    for t, o in ((one, two), (two, one)):
        normal = np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0])
        length = np.linalg.norm(normal, axis=1)
        real = length > 0
        normal = normal / np.where(real, length, 1.0)[:, None]
        height = np.einsum("nkj,nj->nk", o - t[:, :1], normal)
        for k in range(3):
            h0, h1 = height[:, k], height[:, (k + 1) % 3]
            inside = real & _inside(t, normal, o[:, k] - h0[:, None] * normal)
            best = np.where(inside, np.minimum(best, np.abs(h0)), best)
            across = real & (h0 * h1 < 0)
            u = h0 / np.where(across, h0 - h1, 1.0)
            cut = o[:, k] + u[:, None] * (o[:, (k + 1) % 3] - o[:, k])
            best = np.where(across & _inside(t, normal, cut), 0.0, best)
    return best


def _inside(t, normal, x):
    """Is x, a point of the plane of t, inside t?"""
    inside = np.ones(len(t), bool)
    for k in range(3):
        edge = t[:, (k + 1) % 3] - t[:, k]
        inside &= np.einsum("ij,ij->i", np.cross(edge, x - t[:, k]), normal) >= 0
    return inside


def _segments(p0, p1, q0, q1):
    """Distance between segments: the best of the ends, and of the lines' nearest points if inside."""
    best = np.minimum.reduce(
        [_point_segment(p0, q0, q1), _point_segment(p1, q0, q1), _point_segment(q0, p0, p1),
         _point_segment(q1, p0, p1)]
    )  # fmt: skip
    d, e, r = p1 - p0, q1 - q0, q0 - p0
    dd, ee, de = (np.einsum("ij,ij->i", x, y) for x, y in ((d, d), (e, e), (d, e)))
    dr, er = (np.einsum("ij,ij->i", x, r) for x in (d, e))
    det = dd * ee - de * de
    real = det > 1e-14 * dd * ee
    det = np.where(real, det, 1.0)
    u, v = (dr * ee - er * de) / det, (dr * de - er * dd) / det
    inner = real & (u > 0) & (u < 1) & (v > 0) & (v < 1)
    apart = np.linalg.norm(r + v[:, None] * e - u[:, None] * d, axis=1)
    return np.where(inner, np.minimum(best, apart), best)


def _point_segment(x, q0, q1):
    e = q1 - q0
    ee = np.einsum("ij,ij->i", e, e)
    u = np.clip(np.einsum("ij,ij->i", x - q0, e) / np.where(ee > 0, ee, 1.0), 0.0, 1.0)
    return np.linalg.norm(x - q0 - u[:, None] * e, axis=1)


def patch_masks(order, near, size=32):
    """Faces as bits of patches, which are runs of `size` faces in the given order.

    Parameters
    ----------
    order : (faces,) int
        Face of each leaf.
    near : (faces,) bool

    Returns
    -------
    dict of int to int
        Patch number to bits, for patches that have any.
    """
    masks: dict[int, int] = {}
    for place, face in enumerate(order):
        if near[face]:
            patch = place // size
            masks[patch] = masks.get(patch, 0) | 1 << (place % size)
    return masks
