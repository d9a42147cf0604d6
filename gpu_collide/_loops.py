"""Face loops as the caller gives them: parsing, cleaning, checking, cutting into triangles.

Lengths here are relative to the mesh: the points passed in are already divided by the size of the mesh (its
bounding radius) and measured from its centre.
"""

import itertools

import numpy as np

from . import _adjacency as adj
from ._validate import as_int_array, as_numpy, first_few

__all__ = [
    "parse_faces",
    "clean_loops",
    "drop_degenerate",
    "check_polygons",
    "triangulate_loops",
    "take_faces",
]

# Distance of a corner from the plane of its face, in sizes, above which the face is refused.
PLANAR_TOLERANCE = 1e-6
# How far a corner may lie inside the line of its neighbours, in sizes, before the polygon counts as
# non-convex: as much as a corner may leave the plane, because coordinates rounded to float32 do both.
CONVEX_TOLERANCE = 1e-6
# A corner that turns inward by more than this (sine) is non-convex however small the face.
CONVEX_SINE = 1e-2
# Width below which a face is a line: its normal would be rounding.
DEGENERATE_WIDTH = 1e-12

REMEDY = "pass triangulate=True to cut polygons into triangles"


def parse_faces(faces, n_vertices):
    """CSR loops ``(start, corners)`` (int64) of a (m, k) integer array or a sequence of loops of any length.

    Raises ``TypeError`` (not integers, not sequences) or ``ValueError`` (no faces, index out of range, wrong
    shape).
    """
    if isinstance(faces, (list, tuple)):
        return _parse_loop_list(faces, n_vertices)
    array = as_numpy(faces, "faces")
    if array.ndim != 2 or array.shape[1] < 3:
        raise ValueError(f"faces: expected shape (m, k) with k >= 3 or a list of loops, got {array.shape}")
    if array.shape[0] == 0:
        raise ValueError("faces: expected at least one face, got none")
    array = as_int_array(array, "faces", low=0, high=n_vertices)
    start = np.arange(array.shape[0] + 1, dtype=np.int64) * array.shape[1]
    return start, array.reshape(-1)


def _parse_loop_list(faces, n_vertices):
    if len(faces) == 0:
        raise ValueError("faces: expected at least one face, got none")
    try:
        counts = np.fromiter((len(loop) for loop in faces), np.int64, len(faces))
    except TypeError:
        raise TypeError(
            "faces: expected a sequence of loops of vertex indices, got an item that is no sequence"
        ) from None
    start = np.concatenate([[0], np.cumsum(counts)])
    if all(isinstance(loop, np.ndarray) for loop in faces):
        if any(loop.ndim != 1 for loop in faces):
            raise ValueError("faces: expected loops of shape (k,), got an array of another shape")
        corners = np.concatenate(faces)
    else:
        corners = np.array(list(itertools.chain.from_iterable(faces)) or np.zeros(0, np.int64))
    if corners.dtype.kind not in "iu":
        raise TypeError(f"faces: expected integers, got {corners.dtype}")
    if corners.ndim != 1 or len(corners) != start[-1]:
        raise ValueError("faces: expected loops of shape (k,), got nested loops")
    bad = (corners < 0) | (corners >= n_vertices)
    if bad.any():
        where = np.unique(adj.face_of_corner(start)[bad])
        raise ValueError(
            f"faces: expected indices from 0 to {n_vertices - 1}, got {int(corners[bad][0])} "
            f"({len(where)} faces out of range, first: {first_few(where)})"
        )
    return start, corners.astype(np.int64)


def take_faces(start, corners, chosen):
    """CSR loops of the faces with ``chosen[f]`` true."""
    counts = np.diff(start)
    keep = np.repeat(chosen, counts)
    return np.concatenate([[0], np.cumsum(counts[chosen])]), corners[keep]


def clean_loops(start, corners, points):
    """Drop corners that repeat the next one (same index or place), then faces of under three corners.

    Returns
    -------
    start, corners : the cleaned loops
    kept : (nf,) int64
        Index of each remaining face among the faces given.
    shortened : (k,) int64
        Faces given that lost a corner but remain.
    dropped : (k,) int64
        Faces given that were dropped.
    """
    n_faces = len(start) - 1
    following = corners[adj.next_corner(start)]
    repeated = (corners == following) | (points[corners] == points[following]).all(axis=1)
    owner = adj.face_of_corner(start)
    short = np.zeros(n_faces, bool)
    if repeated.any():
        short[owner[repeated]] = True
        corners, owner = corners[~repeated], owner[~repeated]
        start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_faces))])
    good = count_distinct(start, corners) >= 3
    dropped = np.flatnonzero(~good)
    start, corners = take_faces(start, corners, good)
    return start, corners, np.flatnonzero(good), np.flatnonzero(short & good), dropped


def count_distinct(start, corners):
    """Number of different vertices in each loop; (nf,) int64."""
    owner = adj.face_of_corner(start)
    order = np.lexsort((corners, owner))
    sorted_corners, sorted_owner = corners[order], owner[order]
    new = np.ones(len(corners), bool)
    new[1:] = (sorted_corners[1:] != sorted_corners[:-1]) | (sorted_owner[1:] != sorted_owner[:-1])
    return np.bincount(sorted_owner[new], minlength=len(start) - 1)


def drop_degenerate(start, corners, points):
    """Mask of faces that are wider than a line; (nf,) bool."""
    counts = np.diff(start)
    area = np.linalg.norm(adj.newell(points, start, corners), axis=1)
    side = np.linalg.norm(points[corners[adj.next_corner(start)]] - points[corners], axis=1)
    longest = np.maximum.reduceat(side, start[:-1]) if len(counts) else np.zeros(0)
    good = 2 * area > DEGENERATE_WIDTH * longest
    # A polygon of no area may also cross itself (a bow tie): that is refused later, not dropped here.
    for face in np.flatnonzero(~good & (counts > 3)):
        p = points[corners[start[face] : start[face + 1]]]
        p = p - p[0]
        far = p[np.argmax(np.einsum("ij,ij->i", p, p))]
        width = np.linalg.norm(np.cross(p, far), axis=1).max() / np.linalg.norm(far)
        good[face] = width > DEGENERATE_WIDTH
    return good


def _refuse(what, faces, source, detail):
    raise ValueError(
        f"faces: expected convex planar polygons, got {len(faces)} {what}, first: {first_few(source[faces])} "
        f"({detail}); {REMEDY}"
    )


def check_polygons(start, corners, points, normals, offsets, source):
    """Raise ``ValueError`` unless every face is planar, convex and walks round its border once.

    Parameters
    ----------
    normals, offsets : (nf, 3), (nf,) float64
        Planes ``n . x + d = 0`` in the frame of `points`; a zero normal means that the polygon has no area.
    source : (nf,) int64
        The caller's face numbers, for messages.
    """
    counts = np.diff(start)
    many = counts > 3
    if not many.any():
        return
    numbers = np.flatnonzero(many)
    start, corners = take_faces(start, corners, many)
    normals, offsets = normals[many], offsets[many]
    owner = adj.face_of_corner(start)
    p = points[corners]

    no_area = np.flatnonzero(~normals.any(axis=1))
    if no_area.size:
        _refuse("faces that cross themselves", numbers[no_area], source, "they enclose no area")
    off = np.maximum.reduceat(np.abs(np.einsum("ij,ij->i", p, normals[owner]) + offsets[owner]), start[:-1])
    bad = np.flatnonzero(off > PLANAR_TOLERANCE)
    if bad.size:
        detail = (
            f"corners up to {off.max():.3g} of the mesh's size off the plane, allowed {PLANAR_TOLERANCE:g}"
        )
        _refuse("non-planar faces", numbers[bad], source, detail)
    twice = np.flatnonzero(count_distinct(start, corners) < np.diff(start))
    if twice.size:
        _refuse("non-convex faces", numbers[twice], source, "the loop visits a vertex twice")

    before, after = p[adj.previous_corner(start)], p[adj.next_corner(start)]
    incoming, outgoing = p - before, after - p
    sine = np.einsum("ij,ij->i", np.cross(incoming, outgoing), normals[owner])  # times both lengths
    cosine = np.einsum("ij,ij->i", incoming, outgoing)
    chord = np.linalg.norm(after - before, axis=1)
    lengths = np.linalg.norm(incoming, axis=1) * np.linalg.norm(outgoing, axis=1)
    depth = np.where(sine < 0, -sine, 0) / np.maximum(chord, 1e-300)
    inward = (depth > CONVEX_TOLERANCE) | (
        (sine < -CONVEX_SINE * lengths) & (depth > 1e-3 * CONVEX_TOLERANCE)
    )
    turning = np.add.reduceat(np.arctan2(sine, cosine), start[:-1])
    inward = np.bincount(owner[inward], minlength=len(numbers)) > 0
    bad = np.flatnonzero(inward | (np.abs(turning - 2 * np.pi) > 1))
    if bad.size:
        _refuse(
            "non-convex faces", numbers[bad], source, "some corner turns inward, or the loop goes round twice"
        )


def triangulate_loops(start, corners, points, source):
    """Cut every polygon into triangles: quads along their better diagonal, others by clipping ears.

    Returns
    -------
    start, corners : triangle loops
    origin : (nt,) int64
        Face each triangle was cut from.
    """
    counts = np.diff(start)
    pieces, origins = [], []
    three = np.flatnonzero(counts == 3)
    pieces.append(corners[start[three][:, None] + np.arange(3)])
    origins.append(three)
    four = np.flatnonzero(counts == 4)
    if four.size:
        quads = corners[start[four][:, None] + np.arange(4)]
        triangles = _cut_quads(quads, points, source[four])
        pieces.append(triangles.reshape(-1, 3))
        origins.append(np.repeat(four, 2))
    for face in np.flatnonzero(counts > 4):
        loop = corners[start[face] : start[face + 1]]
        triangles = _clip_ears(loop, points, source[face])
        pieces.append(triangles)
        origins.append(np.full(len(triangles), face))
    triangles, origin = np.concatenate(pieces), np.concatenate(origins)
    order = np.argsort(origin, kind="stable")  # back into the caller's order
    return np.arange(len(triangles) + 1, dtype=np.int64) * 3, triangles[order].reshape(-1), origin[order]


def _crosses_itself(faces):
    raise ValueError(
        f"faces: face {first_few(faces)} crosses itself and cannot be cut into triangles; repair its loop"
    )


def _cut_quads(quads, points, source):
    """Two triangles (n, 2, 3) of each quad, along the diagonal that leaves the better worst triangle."""
    p = points[quads]
    whole = np.cross(p[:, 2] - p[:, 0], p[:, 3] - p[:, 1])
    norm = np.linalg.norm(whole, axis=1)
    if (norm == 0).any():
        _crosses_itself(source[norm == 0])
    whole /= norm[:, None]
    ways = np.array([[[0, 1, 2], [0, 2, 3]], [[1, 2, 3], [1, 3, 0]]])
    worst = np.empty((len(quads), 2))
    for way in range(2):
        a, b, c = (p[:, ways[way, :, k]] for k in range(3))
        area = np.einsum("ntk,nk->nt", np.cross(b - a, c - a), whole)
        diagonal = ((p[:, way] - p[:, way + 2]) ** 2).sum(axis=1)
        worst[:, way] = area.min(axis=1) / np.maximum(diagonal, 1e-300)
    best = np.argmax(worst, axis=1)  # ties (squares) take the first diagonal
    if (worst.max(axis=1) <= 0).any():
        _crosses_itself(source[worst.max(axis=1) <= 0])
    return quads[np.arange(len(quads))[:, None, None], ways[best]]


def _clip_ears(loop, points, source):
    """Triangles (k - 2, 3) of one polygon, seen along its Newell normal."""
    p = points[loop]
    p = p - p[0]
    normal = np.cross(p, np.roll(p, -1, axis=0)).sum(axis=0)
    if not normal.any():
        _crosses_itself(source)
    normal /= np.linalg.norm(normal)
    along = np.eye(3)[np.argmin(np.abs(normal))]
    x_axis = np.cross(along, normal)
    x_axis /= np.linalg.norm(x_axis)
    plane = np.stack([p @ x_axis, p @ np.cross(normal, x_axis)], axis=1)

    def double_area(a, b, c):
        ab, ac = plane[b] - plane[a], plane[c] - plane[a]
        return ab[..., 0] * ac[..., 1] - ab[..., 1] * ac[..., 0]

    left = list(range(len(loop)))
    triangles = []
    while len(left) > 3:
        best, ear = 0.0, None
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            area = double_area(a, b, c)
            if area <= 0:
                continue
            others = np.array([i for i in left if loop[i] not in (loop[a], loop[b], loop[c])], int)
            inside = (
                (double_area(a, b, others) >= 0)
                & (double_area(b, c, others) >= 0)
                & (double_area(c, a, others) >= 0)
            )
            if inside.any():
                continue
            longest = max(((plane[i] - plane[j]) ** 2).sum() for i, j in ((a, b), (b, c), (c, a)))
            if area / longest > best:  # the ear nearest to equilateral, so that slivers are not left for last
                best, ear = area / longest, k
        if ear is None:
            _crosses_itself(source)
        triangles.append((left[ear - 1], left[ear], left[(ear + 1) % len(left)]))
        del left[ear]
    triangles.append(tuple(left))
    return loop[np.array(triangles)]
