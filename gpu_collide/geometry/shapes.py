"""Generators of simple closed shapes, each a `Mesh` about the origin of its own frame.

x points forward, y to the left, z up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, check_distance, check_finite, check_positive
from gpu_collide.geometry.arrays.angles import sine_cosine
from gpu_collide.geometry.hull import hull_triangles
from gpu_collide.geometry.icosahedron import cut_icosahedron
from gpu_collide.geometry.mesh.mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike

__all__ = [
    "box", "capsule", "car", "cone", "convex_hull", "cylinder", "icosphere", "l_block", "rounded_box",
    "sphere", "star", "torus",
]  # fmt: skip

MOST_FACES = 1 << 24  # of a shape made here: what is asked for by mistake is refused, not waited for

#: Corners of a box of sides 1.
BOX_CORNERS = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
_BOX_FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def box(size: float | Sequence[float] | Array = (1.0, 1.0, 1.0)) -> Mesh:
    """Box with its centre at the origin.

    Parameters
    ----------
    size : float or (3,) array_like of float
        Full lengths along x, y and z.

    Returns
    -------
    Mesh
        8 vertices, 12 edges, 6 quads.
    """
    size = check_finite(as_float_array(size, "size"), "size")
    if size.shape not in ((), (3,)):
        raise ValueError(f"size: expected a number or shape (3,), got {size.shape}")
    if not (size > 0).all():
        raise ValueError(f"size: expected positive lengths, got {size.tolist()}")
    return Mesh(BOX_CORNERS * size, _BOX_FACES)


def sphere(radius: float = 1.0) -> Mesh:
    """Sphere about the origin: one vertex with a rounding radius.

    Returns
    -------
    Mesh
        Of contacts with it feature 0 is its vertex. docs/guide/round.md says which queries take it.
    """
    return Mesh([[0.0, 0.0, 0.0]], [], rounding=check_positive(radius, "radius"))


def capsule(radius: float = 0.5, length: float = 1.0) -> Mesh:
    """Capsule along z with its centre at the origin: two vertices and the edge between them, with a rounding
    radius.

    Parameters
    ----------
    radius : float
    length : float
        Between the centres of its round ends; it is ``length + 2 * radius`` long.

    Returns
    -------
    Mesh
        Of contacts with it vertices 0 and 1 are its lower and upper end, and edge 0 its side.
        docs/guide/round.md says which queries take it.
    """
    half = check_positive(length, "length") / 2
    return Mesh([[0.0, 0.0, -half], [0.0, 0.0, half]], [], rounding=check_positive(radius, "radius"))


def cylinder(radius: float = 0.5, length: float = 1.0) -> Mesh:
    """Cylinder along z with its centre at the origin, closed by flat ends: a can, a wheel.

    Parameters
    ----------
    radius, length : float

    Returns
    -------
    Mesh
        Of contacts with it vertices 0 and 1 are its lower and upper end, rim and disc, and edge 0 its side.
        `collide`, `Scene.collide` and recordings take it, with ``contacts="first"``, and `contacts_at`;
        `Mesh.to_polyhedron` makes a mesh for others.
    """
    half, radius = check_positive(length, "length") / 2, check_positive(radius, "radius")
    return Mesh([[0.0, 0.0, -half], [0.0, 0.0, half]], [], ends=(radius, radius))


def cone(radius: float = 0.5, length: float = 1.0, top: float = 0.0) -> Mesh:
    """Cone along z, its base at ``-length / 2`` and its apex at ``length / 2``.

    Parameters
    ----------
    radius, length : float
        Of its base, and from there to the apex.
    top : float, optional
        Radius of a flat upper end in place of the apex: a frustum, a conical probe with a blunt tip.

    Returns
    -------
    Mesh
        As of `cylinder`; vertex 1 is the apex.
    """
    half, radius = check_positive(length, "length") / 2, check_positive(radius, "radius")
    return Mesh([[0.0, 0.0, -half], [0.0, 0.0, half]], [], ends=(radius, check_distance(top, "top")))


def rounded_box(size: float | Sequence[float] | Array = (1.0, 1.0, 1.0), radius: float = 0.1) -> Mesh:
    """Box with round edges and corners, its centre at the origin.

    Parameters
    ----------
    size : float or (3,) array_like of float
        Full lengths along x, y and z, with the rounding.
    radius : float
        Of its edges and corners; less than half of the shortest length.

    Returns
    -------
    Mesh
        8 vertices, 12 edges, 6 quads, `radius` inside of its surface. docs/guide/round.md says which
        queries take it.
    """
    radius, whole = check_positive(radius, "radius"), np.ptp(box(size).vertices, axis=0)
    if not 2 * radius < whole.min():
        raise ValueError(
            f"radius: expected less than half of the shortest length, {whole.min() / 2:g}, got {radius:g}; "
            "sphere and capsule have no flat sides"
        )
    return Mesh(box(whole - 2 * radius).vertices, _BOX_FACES, rounding=radius)


def car() -> Mesh:
    """Simple car: a body with bumpers, hood and trunk, and a narrower cabin with slanted windows.

    Non-convex (the edges between hood and windscreen and between trunk and rear window are reflex), closed,
    all faces convex and planar. Dimensions 4 x 1.5 x 1.2, counts as in Figure 12 of the paper.

    Returns
    -------
    Mesh
        16 vertices, 26 edges, 12 faces.
    """
    half_width, half_roof = 0.75, 0.6
    # Outline of the side (x, z), clockwise seen from the left (+y), that is counter-clockwise from the right.
    outline = [
        (-2.0, -0.6),
        (2.0, -0.6),
        (2.0, -0.05),
        (0.9, 0.1),
        (0.35, 0.6),
        (-0.8, 0.6),
        (-1.35, 0.1),
        (-2.0, 0.05),
    ]
    y = np.array([half_width] * 4 + [half_roof] * 2 + [half_width] * 2)
    right = np.array([[x, -w, z] for (x, z), w in zip(outline, y, strict=True)])
    left = right * [1, -1, 1]
    across = [[k, k + 8, (k + 1) % 8 + 8, (k + 1) % 8] for k in range(8)]
    sides = [[0, 1, 2, 3, 6, 7], [3, 4, 5, 6]]
    mirrored = [[k + 8 for k in reversed(loop)] for loop in sides]
    return Mesh(np.concatenate([right, left]), across + sides + mirrored)


def torus(major: float = 1.0, minor: float = 0.4, n_major: int = 20, n_minor: int = 15) -> Mesh:
    """Torus about the z axis.

    Parameters
    ----------
    major, minor : float
        Radius of the ring and of the tube; ``minor < major``.
    n_major, n_minor : int
        Number of faces around the ring and around the tube, at least 3.

    Returns
    -------
    Mesh
        ``n_major * n_minor`` planar quads, 300 by default.
    """
    major, minor = check_positive(major, "major"), check_positive(minor, "minor")
    if minor >= major:
        raise ValueError(f"minor: expected less than major, {major}, got {minor}")
    for name, count in (("n_major", n_major), ("n_minor", n_minor)):
        if check_positive(count, name, integer=True) < 3:
            raise ValueError(f"{name}: expected at least 3, got {count}")
    n_major, n_minor = int(n_major), int(n_minor)
    if n_major * n_minor > MOST_FACES:
        raise ValueError(
            f"n_major, n_minor: expected at most {MOST_FACES} faces in all, got {n_major} times {n_minor}"
        )
    u = 2 * np.pi * np.arange(n_major) / n_major
    v = 2 * np.pi * np.arange(n_minor) / n_minor
    (sine_u, cosine_u), (sine_v, cosine_v) = sine_cosine(u), sine_cosine(v)
    ring = major + minor * cosine_v
    height = np.broadcast_to(minor * sine_v, (n_major, n_minor))
    vertices = np.stack([np.outer(cosine_u, ring), np.outer(sine_u, ring), height], axis=-1).reshape(-1, 3)
    i, j = (index.ravel() for index in np.meshgrid(np.arange(n_major), np.arange(n_minor), indexing="ij"))
    i2, j2 = (i + 1) % n_major, (j + 1) % n_minor
    faces = np.stack([i * n_minor + j, i2 * n_minor + j, i2 * n_minor + j2, i * n_minor + j2], axis=1)
    return Mesh(vertices, faces)


def icosphere(subdivisions: int = 2, radius: float = 1.0) -> Mesh:
    """Sphere of nearly equal triangles: an icosahedron, each triangle cut into four, `subdivisions` times.

    Returns
    -------
    Mesh
        ``20 * 4**subdivisions`` triangles, all vertices at `radius` from the origin.
    """
    radius = check_positive(radius, "radius")
    if isinstance(subdivisions, bool) or not isinstance(subdivisions, (int, np.integer)):
        raise TypeError(f"subdivisions: expected an integer, got {type(subdivisions).__name__}")
    if not 0 <= subdivisions <= 8:
        raise ValueError(f"subdivisions: expected 0 to 8, got {subdivisions}")
    points, faces = cut_icosahedron(int(subdivisions))
    return Mesh(points * (radius / np.linalg.norm(points, axis=1, keepdims=True)), faces)


def convex_hull(points: ArrayLike) -> Mesh:
    """Convex hull of a set of points; neighbouring coplanar triangles are merged into polygons.

    Parameters
    ----------
    points : (n, 3) array_like of float
        At least four, not all in one plane.

    Returns
    -------
    Mesh
        Its `source_vertex` gives the row of `points` behind each vertex.

    Raises
    ------
    TypeError, ValueError
        Wrong dtype or shape, NaN or infinity, or points that span no volume.
    """
    points = check_finite(as_float_array(points, "points", shape=(None, 3)), "points")
    return Mesh(points, hull_triangles(points), merge_coplanar=True)


def _prism(outline: Any, pieces: Any, height: float) -> Mesh:
    """Prism over a polygon (k, 2) counter-clockwise in x and y, its ends cut into the convex `pieces`."""
    outline = np.asarray(outline, float)
    k = len(outline)
    bottom = np.column_stack([outline, np.full(k, -height / 2)])
    walls = [[i, (i + 1) % k, (i + 1) % k + k, i + k] for i in range(k)]
    top = [[i + k for i in piece] for piece in pieces]
    floor = [list(reversed(piece)) for piece in pieces]
    return Mesh(np.concatenate([bottom, bottom + [0, 0, height]]), walls + top + floor)


def l_block(size: float = 1.0) -> Mesh:
    """L-shaped block: a cube of the given size with a quarter cut away, leaving one reflex edge along z.

    Not symmetric: its body origin is the middle of the uncut cube.

    Returns
    -------
    Mesh
        12 vertices, 10 faces (the two L-shaped ends are cut into two convex pieces each along the reflex
        corner).
    """
    half = check_positive(size, "size") / 2
    outline = np.array([[-1, -1], [1, -1], [1, 0], [0, 0], [0, 1], [-1, 1]]) * half
    return _prism(outline, [[0, 1, 2, 3], [0, 3, 4, 5]], 2 * half)


def star(points: int = 5, outer: float = 1.0, inner: float = 0.45, height: float = 0.5) -> Mesh:
    """Star-shaped double pyramid about the z axis: non-convex, reflex edges run from its two apexes.

    Every inner corner is a vertex in a hollow (some of its edges are reflex, some convex).

    Parameters
    ----------
    points : int
        Number of tips, at least 3.
    outer, inner : float
        Radius of the tips and of the corners between them; ``inner < outer * cos(pi / points)`` makes it
        non-convex.
    height : float
        From apex to apex.

    Returns
    -------
    Mesh
        ``2 * points + 2`` vertices, ``4 * points`` triangles.
    """
    if check_positive(points, "points", integer=True) < 3:
        raise ValueError(f"points: expected at least 3, got {points}")
    if 4 * int(points) > MOST_FACES:
        raise ValueError(f"points: expected at most {MOST_FACES // 4}, got {points}")
    outer, inner = check_positive(outer, "outer"), check_positive(inner, "inner")
    height = check_positive(height, "height")
    if inner >= outer * float(sine_cosine(np.pi / points)[1]):
        raise ValueError(f"inner: expected less than outer * cos(pi / points), got {inner}")
    n = 2 * points
    angle = 2 * np.pi * np.arange(n) / n
    radius = np.where(np.arange(n) % 2 == 0, outer, inner)
    sine, cosine = sine_cosine(angle)
    rim = np.column_stack([radius * cosine, radius * sine, np.zeros(n)])
    vertices = np.concatenate([rim, [[0, 0, height / 2], [0, 0, -height / 2]]])
    i = np.arange(n)
    j = (i + 1) % n
    upper = np.column_stack([i, j, np.full(n, n)])
    lower = np.column_stack([j, i, np.full(n, n + 1)])
    return Mesh(vertices, np.concatenate([upper, lower]))
