"""Face loops as the caller gives them: parsing, cleaning, checking.

Lengths here are relative to the mesh: the points passed in are already divided by the size of the mesh (its
bounding radius) and measured from its centre.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_int_array, as_numpy, first_few, how_many
from gpu_collide.geometry.arrays import adjacency as adj

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from gpu_collide._types import Array

__all__ = [
    "parse_faces",
    "clean_loops",
    "drop_degenerate",
    "check_polygons",
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


def parse_faces(faces: Any, n_vertices: int) -> tuple[Array, Array]:
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
    if _from_one(array, n_vertices):
        raise ValueError(_FROM_ONE.format(n_vertices))
    array = as_int_array(array, "faces", low=0, high=n_vertices)
    start = np.arange(array.shape[0] + 1, dtype=np.int64) * array.shape[1]
    return start, array.reshape(-1)


_FROM_ONE = (
    "faces: expected indices from 0 up to below the number of vertices, {0}, got some from 1 to {0}: they "
    "look counted from 1, as in OBJ files; pass faces - 1, or read the file by load_mesh"
)


def _from_one(corners: Array, n_vertices: int) -> bool:
    """Whether vertices are numbered from 1: none is called 0, one as the number of vertices."""
    return bool(
        corners.size and corners.dtype.kind in "iu" and corners.max() == n_vertices and corners.min() >= 1
    )


def _parse_loop_list(faces: Any, n_vertices: int) -> tuple[Array, Array]:
    if len(faces) == 0:
        raise ValueError("faces: expected at least one face, got none")
    try:
        counts = np.fromiter((len(loop) for loop in faces), np.int64, len(faces))
    except TypeError:
        raise TypeError(
            "faces: expected a sequence of loops of vertex indices, got an item that is no sequence"
        ) from None
    start = np.concatenate([[0], np.cumsum(counts)])
    if any(isinstance(loop, (set, frozenset, dict)) for loop in faces):
        raise TypeError("faces: expected loops whose vertices have an order, got a set; pass lists")
    if all(isinstance(loop, np.ndarray) for loop in faces):
        if any(loop.ndim != 1 for loop in faces):
            raise ValueError("faces: expected loops of shape (k,), got an array of another shape")
        corners = np.concatenate(faces)
    else:
        corners = np.array(list(itertools.chain.from_iterable(faces)) or np.zeros(0, np.int64))
    if corners.dtype.kind not in "iu":
        raise TypeError(
            f"faces: expected integers, got {corners.dtype}; pass numpy.asarray(faces, dtype=int)"
        )
    if corners.ndim != 1 or len(corners) != start[-1]:
        raise ValueError("faces: expected loops of shape (k,), got nested loops")
    if _from_one(corners, n_vertices):
        raise ValueError(_FROM_ONE.format(n_vertices))
    bad = (corners < 0) | (corners >= n_vertices)
    if bad.any():
        where = np.unique(adj.face_of_corner(start)[bad])
        raise ValueError(
            f"faces: expected indices from 0 to {n_vertices - 1}, got {int(corners[bad][0])} "
            f"({how_many(len(where), 'face')} out of range, first: {first_few(where)})"
        )
    return start, corners.astype(np.int64)


def take_faces(start: Array, corners: Array, chosen: Array) -> tuple[Array, Array]:
    """CSR loops of the faces with ``chosen[f]`` true."""
    counts = np.diff(start)
    keep = np.repeat(chosen, counts)
    return np.concatenate([[0], np.cumsum(counts[chosen])]), corners[keep]


def clean_loops(start: Array, corners: Array, points: Array) -> Any:
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


def count_distinct(start: Array, corners: Array) -> Array:
    """Number of different vertices in each loop; (nf,) int64."""
    owner = adj.face_of_corner(start)
    order = np.lexsort((corners, owner))
    sorted_corners, sorted_owner = corners[order], owner[order]
    new = np.ones(len(corners), bool)
    new[1:] = (sorted_corners[1:] != sorted_corners[:-1]) | (sorted_owner[1:] != sorted_owner[:-1])
    return np.bincount(sorted_owner[new], minlength=len(start) - 1)


def drop_degenerate(start: Array, corners: Array, points: Array) -> Array:
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


def _refuse(what: str, faces: Array, source: Array, detail: str) -> NoReturn:
    raise ValueError(
        f"faces: expected convex planar polygons, got {len(faces)} {what}, first: {first_few(source[faces])} "
        f"({detail}); {REMEDY}"
    )


def check_polygons(
    start: Array,
    corners: Array,
    points: Array,
    normals: Array,
    offsets: Array,
    source: Array,
) -> None:
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
