"""Shapes for the scenes, as RawMesh. Faces counter-clockwise from outside, convex and planar."""

from itertools import combinations

import numpy as np

from tests.oracle.solid import RawMesh, cross, norm, unit


def _corners(size):
    return (
        np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(size, float) / 2
    )


def box(size=(1, 1, 1)):
    # corner index = 4 x + 2 y + z
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return RawMesh(_corners(size), faces)


def half_box(two_sided=False):
    """A box without its top and one side: open borders."""
    mesh = box((1.2, 1, 0.8))
    faces = [mesh.face_vertices[4 * i : 4 * i + 4] for i in (0, 2, 3, 4)]
    return RawMesh(mesh.vertices, faces, two_sided)


def sheet(two_sided=False):
    """A folded sheet of two quads and a triangle."""
    v = [[-1, -0.6, 0], [0, -0.6, 0.3], [1, -0.6, 0], [1, 0.6, 0], [0, 0.6, 0.3], [-1, 0.6, 0], [0, 1.2, 0.1]]
    return RawMesh(v, [(0, 1, 4, 5), (1, 2, 3, 4), (4, 3, 6)], two_sided)


def prism(outline, convex_parts, height):
    """A solid over a planar outline (counter-clockwise), its two ends cut into convex parts."""
    n = len(outline)
    low = np.column_stack((outline, np.full(n, -height / 2)))
    high = np.column_stack((outline, np.full(n, height / 2)))
    faces = [tuple(n + i for i in part) for part in convex_parts] + [
        tuple(reversed(part)) for part in convex_parts
    ]
    faces += [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)]
    return RawMesh(np.concatenate((low, high)), faces)


def l_block():
    """An L with one reflex edge (the two ends are cut into two quads each along a flat edge)."""
    outline = np.array([[0, 0], [2, 0], [2, 0.8], [0.8, 0.8], [0.8, 2], [0, 2]]) - 0.8
    return prism(outline, [(0, 1, 2, 3), (0, 3, 4, 5)], 0.9)


def car():
    """A body with a cabin narrower than it: 16 vertices, faces planar, 4 x 1.6 x 1.2."""
    body_low = [[a, b, -0.5] for a, b in ((-2, -0.8), (2, -0.8), (2, 0.8), (-2, 0.8))]
    body_high = [[a, b, 0.15] for a, b in ((-2, -0.8), (2, -0.8), (2, 0.8), (-2, 0.8))]
    cabin_low = [[a, b, 0.15] for a, b in ((-1.5, -0.7), (1.0, -0.7), (1.0, 0.7), (-1.5, 0.7))]
    cabin_high = [[a, b, 0.7] for a, b in ((-1.2, -0.55), (0.3, -0.55), (0.3, 0.55), (-1.2, 0.55))]
    faces = [(3, 2, 1, 0)] + [(i, (i + 1) % 4, 4 + (i + 1) % 4, 4 + i) for i in range(4)]
    faces += [(4 + i, 4 + (i + 1) % 4, 8 + (i + 1) % 4, 8 + i) for i in range(4)]  # the deck around the cabin
    faces += [(8 + i, 8 + (i + 1) % 4, 12 + (i + 1) % 4, 12 + i) for i in range(4)] + [(12, 13, 14, 15)]
    return RawMesh(np.array(body_low + body_high + cabin_low + cabin_high), faces)


def torus(major=1.0, minor=0.4, n_major=20, n_minor=15):
    """Planar quads: rings of a regular polygon turned about z."""
    u = 2 * np.pi * np.arange(n_major)[:, None] / n_major
    w = 2 * np.pi * np.arange(n_minor)[None] / n_minor
    r = major + minor * np.cos(w)
    v = np.stack((r * np.cos(u), r * np.sin(u), minor * np.sin(w) + 0 * u), -1).reshape(-1, 3)

    def at(i, j):
        return (i % n_major) * n_minor + j % n_minor

    faces = [
        (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1))
        for i in range(n_major)
        for j in range(n_minor)
    ]
    return RawMesh(v, faces)


def hull(rng, n):
    """Convex hull of n random points on a stretched sphere, triangles only."""
    return hull_of(unit(rng.normal(size=(n, 3))) * rng.uniform(0.4, 1.1, 3))


def hull_of(points):
    """Convex hull of points of which no four lie in a plane that bounds it, triangles only."""
    faces = []
    for i, j, k in combinations(range(len(points)), 3):
        normal = cross(points[j] - points[i], points[k] - points[i])
        d = (points - points[i]) @ normal
        d[[i, j, k]] = 0
        if (d <= 0).all():
            faces.append((i, j, k))
        elif (d >= 0).all():
            faces.append((i, k, j))
    return RawMesh(points, faces)


def star(rng, spikes=4):
    """A ring of spikes with dents between: reflex edges and pit vertices (the two poles may be dents too)."""
    n = 2 * spikes
    angle = 2 * np.pi * np.arange(n) / n
    radius = np.where(np.arange(n) % 2 == 0, 1.0, 0.35)
    ring = np.stack((radius * np.cos(angle), radius * np.sin(angle), 0.08 * rng.normal(size=n)), 1)
    poles = [[0, 0, rng.uniform(0.05, 0.6)], [0, 0, -rng.uniform(0.3, 0.6)]]
    faces = [(i, (i + 1) % n, n) for i in range(n)] + [((i + 1) % n, i, n + 1) for i in range(n)]
    return RawMesh(np.concatenate((ring, poles)), faces)


def pit():
    """A block with a pyramid dent in its top: the tip of the dent is a pit vertex."""
    v = np.concatenate((_corners((2, 2, 1)), [[0, 0, 0.0]]))
    # the top's corners are 1, 5, 7, 3; the tip, index 8, lies half way down
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4)]
    faces += [(1, 5, 8), (5, 7, 8), (7, 3, 8), (3, 1, 8)]
    return RawMesh(v, faces)


def volume(mesh):
    """Signed volume; positive when the faces are counter-clockwise from outside."""
    total = 0.0
    for i, j in zip(mesh.face_start, mesh.face_start[1:], strict=False):
        x = mesh.vertices[mesh.face_vertices[i:j]]
        for k in range(1, len(x) - 1):
            total += x[0] @ cross(x[k], x[k + 1])
    return total / 6


def flatness(mesh):
    """Worst distance of a face's corner from its plane."""
    worst = 0.0
    for i, j in zip(mesh.face_start, mesh.face_start[1:], strict=False):
        x = mesh.vertices[mesh.face_vertices[i:j]]
        c = x.mean(0)
        n = cross(x - c, np.roll(x, -1, 0) - c).sum(0)
        worst = max(worst, np.abs((x - c) @ (n / norm(n))).max())
    return worst
