"""When spheres touch one face, one edge or one vertex: all queries at once, infinity for never.

Centres are at `c` at time 0 and move by `v`, both (n, 3); radii (n,). Nothing is tuned: these are the
conditions of DESIGN, "distance to a feature falls to the radius". A vertex is a disc, as seen along the path,
an edge one as seen along the edge: so a radius of 1e-9 has its digits beside coordinates of 1. Sides come as
vectors of the mesh: the difference of two places has no digits of a mesh of 1e-16 that is seen from 1 away.

`late`: times at which the foot of who has sunk in comes onto a face, or onto an edge, at whatever depth; of
those that do not touch it otherwise.
"""

from __future__ import annotations

import numpy as np

from gpu_collide.bodies.quaternion import cross, dot

__all__ = ["approaches", "edge_times", "face_times", "vertex_times"]

#: Lengths up to this share of the coordinates are nothing.
ROUNDING = 16 * 2.0**-52
#: What approaches by less than this share of its path goes along.
ALONG = ROUNDING / 4


def approaches(normal, v):
    """Whether paths come nearer to what has this normal on their side."""
    return -dot(normal, v) > ALONG * np.sqrt(dot(v, v))


def face_times(corners, sides, normal, c, v, radius, two_sided, late=False):
    """A convex polygon, counter-clockwise about `normal`; corners and the sides that begin at each (k, n, 3),
    normal (n, 3).

    The plane comes as near as the radius, and the foot of the perpendicular is inside then.
    """
    distance = dot(normal, c - corners[0])
    sign = np.where(distance < 0, -1.0, 1.0) if two_sided else np.ones(len(c))
    distance, facing = distance * sign, normal * sign[:, None]
    nothing = ROUNDING * (1.0 + np.abs(c - corners[0]).max(axis=1))
    good = approaches(facing, v) & (distance >= -nothing)
    approach = np.where(good, -dot(facing, v), 1.0)
    time = np.maximum((distance - radius) / approach, 0.0)
    first, last = np.zeros(len(c)), np.minimum(np.maximum(distance, 0.0) / approach, 1.0)
    point = radius <= nothing  # to faces
    inside, on = np.ones(len(c), bool), distance <= nothing  # where it starts on it its border is within
    at = c + np.where(good, time, 0.0)[:, None] * v
    for a, side in zip(corners, sides, strict=True):
        inward = cross(normal, side)
        gap, rate = dot(inward, at - a), dot(inward, v)
        start, length = dot(inward, c - a), np.sqrt(dot(inward, inward))
        # points have no edges to stop them, so that rounding leaves no seam open; measured from the side, not
        # from its line: at a corner of 1e-2 rad two lines meet a hundred times as far off
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip(dot(side, at - a) / dot(side, side), 0.0, 1.0)
        beside = at - a - share[:, None] * side
        seam_of = point & (np.sqrt(dot(beside, beside)) <= nothing)
        inside &= (gap >= 0) | seam_of | (on & (np.abs(start) <= nothing * length))
        with np.errstate(divide="ignore", invalid="ignore"):
            meets = np.where(rate != 0, -start / rate, 0.0)
        first = np.where(rate > 0, np.maximum(first, meets), first)
        last = np.where(rate < 0, np.minimum(last, meets), last)
        last = np.where((rate == 0) & (start < 0), -1.0, last)
    # along a face a point is level with it at a time that has lost digits: then when it is over the face, so
    # that of two halves of a polygon one has it
    over = np.clip(time, first, np.maximum(first, last))
    seam = point & ~inside & (first <= last) & (np.abs(over - time) <= nothing / approach)
    inside, time = inside | seam, np.where(seam, over, time)
    if late:
        good &= ~(inside & (time <= 1.0)) & (first <= last) & (first >= time)
        return np.where(good, first, np.inf)
    return np.where(good & inside & (time <= 1.0), time, np.inf)


def _nearing(m, v, radius, nothing):
    """When |m + t v| falls to the radius, in any number of dimensions; 0 if it is less and falls; when it is
    least. What is no further away than `nothing` comes no nearer."""
    speed = np.abs(v).max(axis=1)  # ways of 1e-160 have squares, too
    moves = speed > 0
    v = v / np.where(moves, speed, 1.0)[:, None]
    vv, mv = dot(v, v), dot(m, v)
    middle = np.where(moves, -mv / np.where(moves, vv, 1.0), 0.0)
    aside = m + middle[:, None] * v
    aside = aside - (dot(aside, v) / np.where(moves, vv, 1.0))[:, None] * v
    away = np.sqrt(dot(aside, aside))
    half = np.sqrt(np.maximum((radius - away) * (radius + away), 0.0) / np.where(moves, vv, 1.0))
    within = dot(m, m) <= radius * radius
    good = moves & (-mv > ALONG * np.sqrt(dot(m, m) * vv)) & ((away < radius) | within)
    good &= dot(m, m) > nothing * nothing
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        time = np.where(within, 0.0, np.maximum(middle - half, 0.0) / speed)
        return np.where(good, time, np.inf), np.where(moves, middle / speed, 0.0)


def _across(e, x):
    """The parts of x across e."""
    return x - (dot(x, e) / dot(e, e))[:, None] * e


def edge_times(a, e, c, v, radius, late=False):
    """A segment from a along e, (n, 3)."""
    m = c - a
    ee, ev, me = dot(e, e), dot(e, v), dot(m, e)
    across = _across(e, v)
    across[np.abs(across).max(axis=1) <= 1e-14 * np.abs(v).max(axis=1)] = 0.0
    size = 1.0 + np.maximum(np.abs(a), np.abs(a + e)).max(axis=1)
    time, nearest = _nearing(_across(e, m), across, radius, ROUNDING * size)
    with np.errstate(invalid="ignore"):
        share = (me + np.where(np.isfinite(time), time, 0.0) * ev) / ee
    on = (share >= 0.0) & (share <= 1.0) & (time <= 1.0)
    if late:
        with np.errstate(divide="ignore", invalid="ignore"):
            onto = np.where(share < 0, -me / ev, (ee - me) / ev)
            nothing = 4 * ROUNDING * (1.0 + np.abs(m).max(axis=1))
            nearer = (nearest - onto) * np.sqrt(dot(across, across)) > nothing
        good = np.isfinite(time) & ~on & (onto > time) & nearer & (onto <= 1.0)
        return np.where(good, onto, np.inf)
    return np.where(on, time, np.inf)


def vertex_times(a, c, v, radius):
    """A point a, (n, 3)."""
    time, _ = _nearing(c - a, v, radius, ROUNDING * (1.0 + np.abs(a).max(axis=1)))
    return np.where(time <= 1.0, time, np.inf)
