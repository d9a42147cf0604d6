"""Triangulation of polygons: quads, and convex polygons of few corners, in bulk; others one by one, by
`ears`.

Lengths are relative to the mesh's size (its bounding radius).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.ears import clip_ears, crosses_itself

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["triangulate_loops"]

# Sine of the angle by which every corner of a polygon has to turn to be cut without looking at the others.
SURELY_CONVEX = 1e-6
# Convex polygons of up to so many corners are cut side by side, by work that grows as the square.
FEW_CORNERS = 512


def triangulate_loops(start: Array, corners: Array, points: Array, source: Any) -> tuple[Array, Array, Array]:
    """Cut every polygon into triangles: quads along their better diagonal, others by clipping ears.

    Parameters
    ----------
    start, corners : CSR loops
    points : (nv, 3) float64
    source : (nf,) int64
        The caller's face numbers, for messages.

    Returns
    -------
    start, corners : triangle loops
    origin : (nt,) int64
        Face each triangle was cut from.

    Raises
    ------
    ValueError
        A polygon crosses itself, seen along its normal.
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
    for count in np.unique(counts[counts > 4]):
        faces = np.flatnonzero(counts == count)
        loops = corners[start[faces][:, None] + np.arange(count)]
        plane = _flatten(points[loops], source[faces])
        convex = _surely_convex(plane)
        triangles = np.empty((len(faces), count - 2, 3), np.int64)
        at_once = convex & (count <= FEW_CORNERS)
        if at_once.any():
            triangles[at_once] = _cut_convex(loops[at_once], plane[at_once])
        for k in np.flatnonzero(~at_once):
            triangles[k] = loops[k][clip_ears(plane[k], bool(convex[k]), source[faces[k]])]
        pieces.append(triangles.reshape(-1, 3))
        origins.append(np.repeat(faces, count - 2))
    triangles, origin = np.concatenate(pieces), np.concatenate(origins)
    order = np.argsort(origin, kind="stable")  # back into the caller's order
    return np.arange(len(triangles) + 1, dtype=np.int64) * 3, triangles[order].reshape(-1), origin[order]


def _cut_quads(quads: Array, points: Array, source: Any) -> Array:
    """Two triangles (n, 2, 3) of each quad, along the diagonal that leaves the better worst triangle."""
    p = points[quads]
    whole = np.cross(p[:, 2] - p[:, 0], p[:, 3] - p[:, 1])
    norm = np.linalg.norm(whole, axis=1)
    if (norm == 0).any():
        crosses_itself(source[norm == 0])
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
        crosses_itself(source[worst.max(axis=1) <= 0])
    return quads[np.arange(len(quads))[:, None, None], ways[best]]


def _flatten(p: Array, source: Any) -> Array:
    """Polygons (k, n, 3) seen along their Newell normals, in sizes of their own: (k, n, 2)."""
    p = p - p[:, :1]
    size = np.linalg.norm(p, axis=2).max(axis=1)
    p = p / np.maximum(size, 1e-300)[:, None, None]
    normal = np.cross(p, np.roll(p, -1, axis=1)).sum(axis=1)
    norm = np.linalg.norm(normal, axis=1)
    if (norm == 0).any():
        crosses_itself(source[norm == 0])
    normal /= norm[:, None]
    along = np.eye(3)[np.argmin(np.abs(normal), axis=1)]
    x_axis = np.cross(along, normal)
    x_axis /= np.linalg.norm(x_axis, axis=1)[:, None]
    y_axis = np.cross(normal, x_axis)
    return np.stack([np.einsum("knj,kj->kn", p, axis) for axis in (x_axis, y_axis)], axis=2)


def _cross(u: Array, v: Array) -> Array:
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]


def _surely_convex(plane: Array) -> Array:
    """Which polygons (k, n, 2) turn to the left at every corner, and once round in all."""
    side = np.roll(plane, -1, axis=1) - plane
    before = np.roll(side, 1, axis=1)
    sine, cosine = _cross(before, side), (before * side).sum(axis=2)
    turning = np.arctan2(sine, cosine)
    return (turning > SURELY_CONVEX).all(axis=1) & (np.abs(turning.sum(axis=1) - 2 * np.pi) < 1)


def _cut_convex(loops: Array, plane: Array) -> Array:
    """Triangles (k, n - 2, 3) of convex polygons (k, n): the ear nearest to equilateral, again and again."""
    many, count = loops.shape
    triangles = np.empty((many, count - 2, 3), np.int64)
    left = np.tile(np.arange(count), (many, 1))
    row = np.arange(many)[:, None]
    for step in range(count - 2):
        ears = np.stack([np.roll(left, 1, axis=1), left, np.roll(left, -1, axis=1)], axis=2)
        best = np.argmax(_quality(plane[row[:, :, None], ears]), axis=1) if step < count - 3 else 1
        triangles[:, step] = loops[row, ears[row[:, 0], best]]
        keep = np.ones(left.shape, bool)
        keep[row[:, 0], best] = False
        left = left[keep].reshape(many, count - step - 1)
    return triangles


def _quality(corners: Array) -> Array:
    """Twice the area of triangles (..., 3, 2) over the square of their longest side."""
    a, b, c = (corners[..., k, :] for k in range(3))
    longest = np.maximum.reduce([((u - v) ** 2).sum(axis=-1) for u, v in ((a, b), (b, c), (c, a))])
    return _cross(b - a, c - a) / np.maximum(longest, 1e-300)
