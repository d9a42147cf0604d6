"""The rules that the seeds print, as they print them: what tests show to fail, and ours to pass.

Schroeder, "Collision Detection Using Ray Casting" (2001), and Fauerby, "Collision detection & Response"
(2000, with its own warning of 2002 about low steps).
"""

import numpy as np


def printed_edge_time(start, path, radius, a, b):
    """Schroeder's quadratic for an edge, with (Vd.Ve)(Vd.Vs) where (Vd.Ve) must be squared."""
    d, e = a - start, b - a
    qa = (e @ path) ** 2 - (e @ e) * (path @ path)
    qb = 2 * ((d @ e) * (e @ path) - (d @ path) * (e @ e))
    qc = (d @ e) * (d @ path) + radius**2 * (e @ e) - (d @ d) * (e @ e)
    disc = qb * qb - 4 * qa * qc
    if disc < 0 or qa == 0:
        return None
    roots = (-qb + np.array([1, -1]) * np.sqrt(disc)) / (2 * qa)
    return float(roots.min())


def printed_inside(point, a, b, c):
    """Schroeder's test of a point in a triangle by two of three axes: the sign of alpha is turned round."""
    u, v, w = b - a, c - a, point - a
    n = np.cross(u, v)
    j, k = (i for i in range(3) if i != np.argmax(np.abs(n)))
    alpha = (v[k] * w[j] - v[j] * w[k]) / (u[k] * v[j] - u[j] * v[k])
    beta = (u[j] * w[k] - u[k] * w[j]) / (u[j] * v[k] - u[k] * v[j])
    return bool(alpha >= 0 and beta >= 0 and alpha + beta <= 1)


def printed_clip_share(p, q, limit, axis):
    """How far along p q a plane of a box is crossed, as printed: over the wrong difference."""
    return (q[axis] - p[axis]) / (limit - p[axis])


def printed_buffer(path, normal_of_plane, time, buffer):
    """The time less a buffer's distance along the normal of the plane, whatever was touched."""
    pace = -(path @ normal_of_plane)
    with np.errstate(divide="ignore"):
        return float((np.float64(pace) * time - buffer) / np.float64(pace))


def start_of_the_plane_rule(start, path, radius, normal, point):
    """Schroeder's time for a plane: none if the nearest point of the ball is already behind it."""
    away = (start - radius * normal - point) @ normal
    pace = -(path @ normal)
    if away < 0 or pace < away:
        return None
    return away / pace


def nearest_point_time(start, path, radius, corners):
    """Fauerby's rule: where the plane is met outside of the triangle, the nearest point of its border is
    taken for the place of contact, and thrown back at the ball."""
    a, b, c = corners
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    length = np.linalg.norm(path)
    way = path / length
    lowest = start - radius * normal
    if (lowest - a) @ normal < 0:  # the plane cuts the ball
        place, far = lowest - ((lowest - a) @ normal) * normal, 0.0
    else:
        pace = normal @ way
        if pace == 0:
            return None
        far = -((lowest - a) @ normal) / pace
        place = lowest + far * way
    sides = [(a, b), (b, c), (c, a)]
    if all(np.cross(q - p, place - p) @ normal >= 0 for p, q in sides):
        return far / length if 0 <= far <= length else None
    found = []
    for p, q in sides:
        share = np.clip((place - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
        found.append(p + share * (q - p))
    nearest = min(found, key=lambda x: np.linalg.norm(place - x))
    to = start - nearest
    along = to @ -way
    square = radius**2 - (to @ to - along**2)
    if square < 0:
        return None
    far = along - np.sqrt(square)
    return far / length if 0 < far <= length else None


def angle_sum_inside(point, corners):
    """Fauerby's test of a point in a triangle by the sum of angles, without the normalisation it needs."""
    a, b, c = (point - x for x in corners)
    with np.errstate(invalid="ignore"):
        total = np.arccos(a @ b) + np.arccos(b @ c) + np.arccos(c @ a)
    return bool(abs(total - 2 * np.pi) <= 0.005)


def nearest_on_line(a, b, p):
    """Fauerby's nearest point of a segment, whose direction is meant to be a unit vector and is not."""
    v = b - a
    d, t = np.linalg.norm(v), v @ (p - a)
    if t < 0:
        return a
    return b if t > d else a + t * v


def slid_in_ellipsoid_space(velocity, normal, radii):
    """What is left of a velocity along the tangent plane of the unit ball, then stretched back: may grow.

    `normal` is that of the world's plane; the ball's is `normal * radii`.
    """
    v, n = velocity / radii, normal * radii
    n = n / np.linalg.norm(n)
    return (v - (v @ n) * n) * radii
