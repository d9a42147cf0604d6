"""Distances of many features at once, each from the plain formula: points from triangles, edges from edges,
and edges that go through triangles."""

from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import cross

# Sine below which edges count as parallel: their ends are looked at then, which is as near.
PARALLEL = 1e-9


class Near(NamedTuple):
    """Of k feature pairs: distance (k,), nearest points (k, 3), unit direction from the first to the
    second (k, 3), and where the nearest point of either is: 0 within; of an edge 1, 2 at its ends; of a
    triangle 1, 2, 3 on the side from its corner 0, 1, 2 and -1, -2, -3 at that corner."""

    distance: np.ndarray
    first: np.ndarray
    second: np.ndarray
    normal: np.ndarray
    at_first: np.ndarray
    at_second: np.ndarray


def dot(x, y):
    return np.sum(x * y, axis=-1)


def unit(x, fallback):
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.where(length > 0, x / np.where(length > 0, length, 1.0), fallback)


def on_segment(x, p, d):
    """Nearest points to x (k, 3) on the segments from p, d long: the points, and 0 within, 1, 2 at an end."""
    square = dot(d, d)
    t = dot(x - p, d) / np.where(square > 0, square, 1.0)
    at = np.where(t <= 0, 1, np.where(t >= 1, 2, 0))
    return p + np.clip(t, 0.0, 1.0)[..., None] * d, at


def point_triangle(triangle, x):
    """Triangles (k, 3, 3) and points (k, 3)."""
    a, b, c = triangle[:, 0], triangle[:, 1], triangle[:, 2]
    n = unit(cross(b - a, c - a), 0.0)
    height = dot(n, x - a)
    foot = x - height[:, None] * n
    inside = np.ones(len(x), bool)
    best, place, at = np.full(len(x), np.inf), foot.copy(), np.zeros(len(x), int)
    for k in range(3):
        p, q = triangle[:, k], triangle[:, (k + 1) % 3]
        inside &= dot(cross(q - p, x - p), n) >= 0
        y, end = on_segment(x, p, q - p)
        far = np.linalg.norm(x - y, axis=-1)
        nearer = far < best
        corner = np.where(end == 1, -1 - k, -1 - (k + 1) % 3)
        best = np.where(nearer, far, best)
        place = np.where(nearer[:, None], y, place)
        at = np.where(nearer, np.where(end == 0, 1 + k, corner), at)
    place = np.where(inside[:, None], foot, place)
    distance = np.where(inside, np.abs(height), best)
    side = np.where(height < 0, -1.0, 1.0)[:, None] * n
    normal = np.where(inside[:, None], side, unit(x - place, side))
    return Near(distance, place, x, normal, np.where(inside, 0, at), np.zeros(len(x), int))


def edge_edge(p, d, r, e):
    """Edges from p, d long, and from r, e long, (k, 3) each."""
    c = cross(d, e)
    square = dot(c, c)
    crossed = square > (PARALLEL**2) * dot(d, d) * dot(e, e)
    safe = np.where(crossed, square, 1.0)
    s, t = dot(cross(r - p, e), c) / safe, dot(cross(r - p, d), c) / safe
    crossed &= (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    choices = []
    for end, x in ((1, r), (2, r + e)):
        y, at = on_segment(x, p, d)
        choices.append((y, x, at, np.full(len(x), end)))
    for end, x in ((1, p), (2, p + d)):
        y, at = on_segment(x, r, e)
        choices.append((x, y, np.full(len(x), end), at))
    first, second, at_first, at_second = (np.array(column) for column in zip(*choices, strict=True))
    which = np.linalg.norm(second - first, axis=-1).argmin(axis=0)
    rows = np.arange(len(p))
    first, second = first[which, rows], second[which, rows]
    at_first, at_second = at_first[which, rows], at_second[which, rows]
    n = unit(c, np.array([1.0, 0.0, 0.0]))
    along = dot(r - p, n)
    normal = unit(second - first, np.where(along < 0, -1.0, 1.0)[:, None] * n)
    normal = _without(normal, d, at_first == 0)
    normal = _without(normal, e, at_second == 0)
    first = np.where(crossed[:, None], p + s[:, None] * d, first)
    second = np.where(crossed[:, None], r + t[:, None] * e, second)
    normal = np.where(crossed[:, None], np.where(along < 0, -1.0, 1.0)[:, None] * n, normal)
    distance = np.where(crossed, np.abs(along), np.linalg.norm(second - first, axis=-1))
    return Near(
        distance, first, second, normal, np.where(crossed, 0, at_first), np.where(crossed, 0, at_second)
    )


def _without(n, e, rows):
    """Directions n, in some rows without what is along e."""
    square = dot(e, e)
    off = n - (dot(n, e) / np.where(square > 0, square, 1.0))[:, None] * e
    return np.where(rows[:, None], unit(off, n), n)


def pierces(p, q, triangle):
    """Which edges from p to q go through which triangles (k, 3, 3); ends on a plane do not."""
    a, b, c = triangle[:, 0], triangle[:, 1], triangle[:, 2]
    n = cross(b - a, c - a)
    hp, hq = dot(n, p - a), dot(n, q - a)
    through = hp * hq < 0
    t = np.where(through, hp / np.where(through, hp - hq, 1.0), 0.0)
    x = p + t[:, None] * (q - p)
    for u, v in ((a, b), (b, c), (c, a)):
        through &= dot(cross(v - u, x - u), n) >= 0
    return through
