"""Convex hull of points in space: the incremental method with conflict lists (quickhull)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["hull_triangles"]

# Height over a hull plane, in sizes, below which a point counts as on it: the points of one flat face differ
# by rounding.
ON_PLANE = 1e-12


def hull_triangles(points: Array) -> Array:
    """Triangles of the convex hull.

    Parameters
    ----------
    points : (n, 3) float64, finite

    Returns
    -------
    (m, 3) int64
        Rows of `points`, counter-clockwise from outside, closed. Points within about 1e-12 sizes of the
        hull's surface may be left out.

    Raises
    ------
    ValueError
        Fewer than four points, or all in one plane.
    """
    flat = "points: expected at least four points that are not all in one plane"
    if len(points) < 4:
        raise ValueError(f"{flat}, got {len(points)}")
    middle = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
    extent = np.abs(points - middle).max()
    if not extent > 0:
        raise ValueError(f"{flat}, got {len(points)} in one place")
    p = (points - middle) / extent
    hull = _Hull(p, _first_tetrahedron(p, flat))
    while hull.pending:
        hull.add_farthest()
    return np.array([hull.corners[f] for f in sorted(hull.corners)], dtype=np.int64)


def _first_tetrahedron(p: Array, flat: str) -> Any:
    """Four points far apart: ends of the longest side of the box, then farthest from line and plane."""
    axis = np.argmax(np.ptp(p, axis=0))
    a, b = int(np.argmin(p[:, axis])), int(np.argmax(p[:, axis]))
    along = (p[b] - p[a]) / np.linalg.norm(p[b] - p[a])
    off = np.cross(p - p[a], along)
    distance = np.linalg.norm(off, axis=1)
    c = int(np.argmax(distance))
    if distance[c] <= 1e-10:
        raise ValueError(f"{flat}, got points on one line")
    normal = np.cross(p[b] - p[a], p[c] - p[a])
    normal /= np.linalg.norm(normal)
    height = (p - p[a]) @ normal
    d = int(np.argmax(np.abs(height)))
    if abs(height[d]) <= 1e-10:
        raise ValueError(f"{flat}, got points in one plane")
    return (a, b, c, d) if height[d] < 0 else (a, c, b, d)  # d below the first triangle


class _Hull:
    """Growing hull: triangles, their planes, the one across every side, the points outside each."""

    def __init__(self, p: Array, tetrahedron: Any) -> None:
        self.p = p
        self.corners: dict[int, tuple[int, int, int]] = {}
        self.normal: dict[int, Array] = {}
        self.offset: dict[int, float] = {}
        self.across: dict[tuple[int, int], int] = {}
        self.outside: dict[int, Array] = {}
        self.pending: list[int] = []
        self.count = 0
        a, b, c, d = tetrahedron
        faces = [self._new_face(*corners) for corners in ((a, b, c), (a, d, b), (b, d, c), (c, d, a))]
        rest = np.setdiff1d(np.arange(len(p)), tetrahedron)
        self._assign(rest, faces)

    def _new_face(self, a: int, b: int, c: int) -> Any:
        face, self.count = self.count, self.count + 1
        p = self.p
        normal = np.cross(p[b] - p[a], p[c] - p[a])
        length = np.linalg.norm(normal)
        # A sliver's own normal is rounding; it sees no points, and its neighbours see them instead.
        self.normal[face] = normal / length if length > 1e-15 else np.zeros(3)
        self.offset[face] = -float(self.normal[face] @ (p[a] + p[b] + p[c])) / 3
        self.corners[face] = (a, b, c)
        for side in ((a, b), (b, c), (c, a)):
            self.across[side] = face
        return face

    def _assign(self, indices: Array, faces: Any) -> None:
        """Give each point that lies outside to the new face it is highest above."""
        if not len(indices):
            return
        normals = np.array([self.normal[f] for f in faces])
        heights = self.p[indices] @ normals.T + np.array([self.offset[f] for f in faces])
        best = np.argmax(heights, axis=1)
        outside = heights[np.arange(len(indices)), best] > ON_PLANE
        for k, face in enumerate(faces):
            mine = indices[outside & (best == k)]
            if len(mine):
                self.outside[face] = mine
                self.pending.append(face)

    def _sees(self, face: Any, apex: Any) -> bool:
        return float(self.normal[face] @ self.p[apex]) + self.offset[face] > ON_PLANE

    def add_farthest(self) -> None:
        """Extend the hull by the farthest point outside one of its faces."""
        face = self.pending.pop()
        points = self.outside.get(face)
        if points is None:
            return  # the face was swallowed in the meantime
        apex = int(points[np.argmax(self.p[points] @ self.normal[face])])
        visible, horizon = self._horizon(face, apex)
        orphans = np.concatenate([self.outside.pop(f, np.zeros(0, np.int64)) for f in visible])
        for f in visible:
            corners = self.corners.pop(f)
            for k in range(3):
                del self.across[corners[k], corners[(k + 1) % 3]]
            del self.normal[f], self.offset[f]
        faces = [self._new_face(a, b, apex) for a, b in horizon]
        self._assign(orphans[orphans != apex], faces)

    def _horizon(self, face: Any, apex: Any) -> Any:
        """Faces that `apex` sees, connected with `face`, and the sides around them."""
        visible, stack = {face}, [face]
        while stack:
            a, b, c = self.corners[stack.pop()]
            for x, y in ((a, b), (b, c), (c, a)):
                other = self.across[y, x]
                if other not in visible and self._sees(other, apex):
                    visible.add(other)
                    stack.append(other)
        horizon = []
        for f in sorted(visible):
            a, b, c = self.corners[f]
            horizon += [(x, y) for x, y in ((a, b), (b, c), (c, a)) if self.across[y, x] not in visible]
        return sorted(visible), horizon
