"""When unit or other spheres touch one face, one edge or one vertex: all queries at once, infinity for never.

Centres are at `c` at time 0 and move by `v`, both (n, 3); radii (n,). Nothing is tuned: these are the
conditions of DESIGN, "distance to a feature falls to the radius", solved as quadratics.
"""

from __future__ import annotations

import numpy as np

__all__ = ["edge_times", "face_times", "vertex_times"]

#: Lengths up to this share of the coordinates are nothing.
ROUNDING = 16 * 2.0**-52


def dot(a, b):
    """Products of rows."""
    return np.sum(a * b, axis=-1)


def face_times(corners, normal, c, v, radius, two_sided):
    """A convex polygon, counter-clockwise about `normal`; corners (k, n, 3), normal (n, 3).

    The plane comes as near as the radius, and the foot of the perpendicular is inside then.
    """
    distance = dot(normal, c - corners[0])
    approach = -dot(normal, v)
    if two_sided:
        side = np.where(distance < 0, -1.0, 1.0)
        distance, approach = distance * side, approach * side
    size = 1.0 + np.abs(c - corners[0]).max(axis=1)
    good = (approach > ROUNDING / 4 * np.sqrt(dot(v, v))) & (distance >= -ROUNDING * size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        time = np.where(good, np.maximum((distance - radius) / approach, 0.0), np.inf)
    good &= time <= 1.0
    at = c + np.where(good, time, 0.0)[:, None] * v
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        good &= dot(np.cross(normal, b - a), at - a) >= 0.0
    return np.where(good, time, np.inf)


def _smaller_root(a, b, c):
    """Of a t^2 + b t + c, where it falls to zero; 0 if it is below already and falls, infinity for never."""
    disc = b * b - 4.0 * a * c
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = (-b - np.sqrt(np.maximum(disc, 0.0))) / (2.0 * a)
    root = np.where(c <= 0.0, 0.0, root)
    falls = (b < 0.0) & (a > 0.0) & ((disc > 0.0) | (c <= 0.0))
    return np.where(falls, np.maximum(root, 0.0), np.inf)


def edge_times(a, b, c, v, radius):
    """A segment from a to b, (n, 3)."""
    e, m = b - a, c - a
    ee, vv, ev, me, mv = dot(e, e), dot(v, v), dot(e, v), dot(m, e), dot(m, v)
    qa = ee * vv - ev * ev
    qb = 2.0 * (ee * mv - me * ev)
    qc = ee * (dot(m, m) - radius * radius) - me * me
    time = _smaller_root(np.where(qa > 1e-14 * ee * vv, qa, 0.0), qb, qc)
    with np.errstate(invalid="ignore"):
        share = (me + np.where(np.isfinite(time), time, 0.0) * ev) / ee
    return np.where((share >= 0.0) & (share <= 1.0) & (time <= 1.0), time, np.inf)


def vertex_times(a, c, v, radius):
    """A point a, (n, 3)."""
    m = c - a
    time = _smaller_root(dot(v, v), 2.0 * dot(m, v), dot(m, m) - radius * radius)
    return np.where(time <= 1.0, time, np.inf)
