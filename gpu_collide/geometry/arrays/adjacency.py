"""Edges and neighbourhoods of a polygon mesh, all with array operations.

Loops are in CSR form: corners ``face_start[f] .. face_start[f + 1]`` of `face_vertices` belong to face f, and
run counter-clockwise seen from outside. The side of corner j goes from corner j to the next corner of the
same loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.arrays.soa import columns, cross

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = [
    "EDGE_REFLEX",
    "EDGE_MANY",
    "EDGE_BORDER",
    "EDGE_FLAT",
    "VERTEX_REFLEX",
    "next_corner",
    "previous_corner",
]
__all__ += [
    "face_of_corner",
    "newell",
    "newell_columns",
    "build_edges",
    "group_by",
    "gathered",
    "edge_flags",
    "edge_vectors",
]

# Bits of edge_flags and vertex_flags; the kernels test the same bits.
EDGE_REFLEX = 1  # two faces, the solid fills more than half of the space around the edge
EDGE_MANY = 2  # more than two faces
EDGE_BORDER = 4  # one face
EDGE_FLAT = 8  # two faces in one plane
VERTEX_REFLEX = 1  # some edge of the vertex is reflex

FLAT_SINE = 1e-9  # sine of the angle between two normals below which an edge is flat, not reflex


def next_corner(start: Array) -> Array:
    """Index of the next corner of the same loop, for every corner; (L,) int64."""
    count = int(start[-1])
    following = np.arange(1, count + 1, dtype=np.int64)
    filled = np.diff(start) > 0
    following[start[1:][filled] - 1] = start[:-1][filled]
    return following


def previous_corner(start: Array) -> Array:
    """Index of the previous corner of the same loop, for every corner; (L,) int64."""
    count = int(start[-1])
    before = np.arange(-1, count - 1, dtype=np.int64)
    filled = np.diff(start) > 0
    before[start[:-1][filled]] = start[1:][filled] - 1
    return before


def face_of_corner(start: Array) -> Array:
    """Face of every corner; (L,) int64."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))


def newell(points: Array, start: Array, corners: Array) -> Array:
    """Vector areas of the loops (Newell: half the sum of cross products of successive corners).

    Taken about each loop's first corner, so that a small face far from the origin keeps its digits.

    Parameters
    ----------
    points : (nv, 3) float64
    start, corners : CSR loops

    Returns
    -------
    (nf, 3) float64
        Along the outward normal, as long as the area.
    """
    if len(start) == 1:
        return np.zeros((0, 3))
    return np.stack(newell_columns([x[corners] for x in columns(points)], start), axis=1)


def newell_columns(corners: Any, start: Array) -> Any:
    """`newell` of the loops whose corners lie at the places given as three arrays; so is the result."""
    sizes, following = np.diff(start), next_corner(start)
    p = [x - np.repeat(x[start[:-1]], sizes) for x in corners]
    return [0.5 * np.add.reduceat(x, start[:-1]) for x in cross(p, [x[following] for x in p])]


def build_edges(start: Array, corners: Array, n_vertices: int) -> tuple[Array, Array, Array, Array]:
    """Edges of the loops and the faces around them.

    Returns
    -------
    edges : (ne, 2) int32
        (low, high) vertex, in lexicographic order.
    face_edges : (L,) int32
        Edge of every loop side.
    edge_face_start : (ne + 1,) int32
    edge_faces : (L,) int32
        ``2 * face + side``; side 0 if the face's loop walks the edge from its low to its high vertex (the
        face lies to the left of the edge, seen from outside), 1 if the other way. By ascending face within
        an edge.
    """
    tail = corners.astype(np.int64)
    head = tail[next_corner(start)]
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    keys = low * n_vertices + high
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    face_edges = np.empty(len(keys), np.int32)
    face_edges[order] = np.repeat(np.arange(len(first), dtype=np.int32), np.diff(first, append=len(keys)))
    edges = np.stack([keys[first] // n_vertices, keys[first] % n_vertices], axis=1)
    coded = 2 * face_of_corner(start) + (tail > head)
    edge_face_start = np.append(first, len(keys)).astype(np.int32)
    return edges.astype(np.int32), face_edges, edge_face_start, coded[order].astype(np.int32)


def group_by(group: Array, value: Array, n_groups: int) -> tuple[Array, Array]:
    """CSR lists of `value` by `group`, stable within a group; (n_groups + 1,) and (len,) int32."""
    counts = np.bincount(group, minlength=n_groups)
    start = np.zeros(n_groups + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    order = np.argsort(group, kind="stable")
    return start.astype(np.int32), np.asarray(value)[order].astype(np.int32)


def gathered(start: Array, values: Array, rows: Array) -> tuple[Array, Array]:
    """What a CSR has of some rows, and to which of them (by position) each belongs."""
    first, count = start[rows].astype(np.int64), (start[1:] - start[:-1])[rows]
    owner = np.repeat(np.arange(len(rows)), count)
    step = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    return owner, values[np.repeat(first, count) + step]


def edge_vectors(points: Array, edges: Array) -> Array:
    """Vector from the low to the high end of each edge; (ne, 3) float64."""
    return points[edges[:, 1]] - points[edges[:, 0]]


def edge_flags(
    points: Array,
    edges: Array,
    edge_face_start: Array,
    edge_faces: Array,
    normals: Array,
    two_sided: bool = False,
) -> Array:
    """Flags of edges; see the EDGE_ constants.

    Only an edge with exactly one left and one right face can be flat or reflex: with two faces on the same
    side (mixed winding) there is no inside to speak of. A two-sided mesh is a sheet: it has none anywhere.

    Returns
    -------
    (ne,) int32
    """
    counts = np.diff(edge_face_start)
    flags = np.zeros(len(edges), np.int32)
    flags[counts > 2] |= EDGE_MANY
    flags[counts == 1] |= EDGE_BORDER
    pair = np.flatnonzero(counts == 2)
    first, second = edge_faces[edge_face_start[pair]], edge_faces[edge_face_start[pair] + 1]
    opposed = (first & 1) != (second & 1)
    pair, first, second = pair[opposed], first[opposed], second[opposed]
    left = np.where(first & 1, second, first) >> 1
    right = np.where(first & 1, first, second) >> 1
    n_left, n_right = normals[left], normals[right]
    along = edge_vectors(points, edges[pair])
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    sine = np.einsum("ij,ij->i", np.cross(n_left, n_right), along)
    same_way = np.einsum("ij,ij->i", n_left, n_right) > 0
    if not two_sided:
        flags[pair[sine < -FLAT_SINE]] |= EDGE_REFLEX
    flags[pair[(np.abs(sine) <= FLAT_SINE) & same_way]] |= EDGE_FLAT
    return flags


def flat_sheets(n: int, one: Array, two: Array) -> Array:
    """Of each face the lowest of those to which flat edges lead from it, through others too."""
    sheet = np.arange(n)
    while True:
        low = np.minimum(sheet[one], sheet[two])
        before = sheet.copy()
        for side in (one, two):
            np.minimum.at(sheet, before[side], low)
        sheet = sheet[sheet]
        if np.array_equal(sheet, before):
            return sheet
