"""Motions near the borders of faces: when they pass over a face, and faces behind a border over which they
leave."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.pluecker._swings import falls_at, swing_of_point, turned_by, value_at

__all__ = [
    "BESIDE", "clear_by", "comes_across", "comes_over", "edge_parts", "edge_stays", "ends_beside",
    "stays_before", "stop_over", "stretch",
]  # fmt: skip

#: Zones beside a polygon, in its plane, at which a path that is flat against the plane is stopped.
BESIDE = float(sources.constants()["GC_ZONE_BESIDE"])


def stretch(inward, start, vector, expel, lateral):
    """Fractions of a path in a plane: from where on it is near a border (or on its inner side), from where on
    it is over it but for the tolerance, and until when."""
    out, rate = -dot(inward, start), dot(inward, vector)
    length = np.linalg.norm(inward, axis=-1)
    far, beside = out - BESIDE * expel * length, out - lateral * length
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        near = np.where((far > 0) & (rate > 0), far / rate, 0)
        over = np.where(beside > 0, np.where(rate > 0, beside / rate, np.inf), 0)
        leaves = np.where((beside <= 0) & (rate < 0), beside / rate, np.inf)
    some = np.broadcast_to(expel > 0, near.shape)
    return np.where(some, near, 0), np.where(some, over, 0), np.where(some, leaves, np.inf)


def stop_over(fraction, stretch):
    """Where a path stops, of stretches along the first axis, and whether it comes over what they hold."""
    near, over, leaves = stretch
    fraction = np.maximum(fraction, near.max(axis=0))
    over, leaves = over.max(axis=0), leaves.min(axis=0)
    return fraction, (over <= leaves) & np.isfinite(over) & (fraction <= leaves)


def clear_by(distance, lateral, doubt):
    """How far before a plane something must stand that keeps as clear of a feature as it is."""
    return np.minimum(np.maximum(distance, 0), lateral) - doubt


def edge_parts(normals, c, a, b, vector, least):
    """Does a face of an edge through c stand between it and the edge from a to b, which goes over it?"""
    good = False
    for k in range(normals.shape[-2]):
        n = normals[..., k, :]
        rise, first, second = dot(n, vector), dot(n, a - c), dot(n, b - c)
        good = good | ((rise >= 0) & (first >= least) & (second >= least))
        if normals.shape[-2] == 1:
            good = good | ((rise <= 0) & (first <= -least) & (second <= -least))
    return good


def rises(swing, angle, more):
    """The angle, no less than `angle` and up to half a turn, from which on the swing and `more` is above
    zero; infinite: never."""
    back = falls_at(-swing[0] - more, -swing[1], -swing[2])
    with np.errstate(invalid="ignore"):
        return np.where((back > angle) & (back <= np.pi), back, np.inf)


def comes_over(borders, angle, beside, lateral):
    """The angle from which on a turning point is beside none of the borders by more than `beside`."""
    for _ in range(len(borders) + 1):
        before = angle
        for swing in borders:
            with np.errstate(invalid="ignore"):
                outside = np.isfinite(angle) & (value_at(swing, angle) + beside < -0.5 * lateral)
            if outside.any():
                angle = np.where(outside, rises(swing, angle, beside), angle)
        if angle is before:  # beside none of them
            break
    return angle


def ends_beside(sign, a, b, c, d, normal, met):
    """How far each end is on its side of the other edge, in the plane of contact as they meet."""
    back = turned_by(normal, -np.asarray(met))
    u, w = b - a, d - c
    swings: list = []
    for x, along, n, corner, way in (
        (a, w, normal, c, 1),
        (b, w, normal, c, -1),
        (c, u, back, a, -1),
        (d, u, back, a, 1),
    ):
        inward = way * sign * cross(n, along)
        with np.errstate(divide="ignore", invalid="ignore"):
            inward = inward / np.linalg.norm(inward, axis=-1, keepdims=True)
        still, sine, cosine = swing_of_point(x, inward, corner)
        swings.append((still, sine if len(swings) < 2 else -sine, cosine))  # a still end turns back
    return swings


def comes_across(ends, angle, beside, lateral):
    """The angle from which on two edges are not beside each other by more than `beside`, as long as the one
    lies on one side of the other until then."""
    for _ in range(len(ends) + 1):
        before = angle
        for k, swing in enumerate(ends):
            with np.errstate(invalid="ignore"):
                outside = np.isfinite(angle) & (value_at(swing, angle) + beside < -0.5 * lateral)
                if not outside.any():
                    continue
                later = rises(swing, angle, beside)
                alone = (value_at(ends[k ^ 1], angle) >= 0) & (
                    np.isinf(later) | (value_at(ends[k ^ 1], np.where(np.isinf(later), 0, later)) >= 0)
                )
            if (outside & alone).any():
                angle = np.where(outside & alone, later, angle)
        if angle is before:  # nothing more to wait for
            break
    return angle


def stays_before(swing, met, least, enough=np.inf):
    """Is it at least so much at the start and as it is met, and not falling at first, or `enough`?"""
    still, sine, cosine = swing
    start = still + cosine
    sinks = (sine < 0) | ((sine == 0) & (cosine > 0))
    with np.errstate(invalid="ignore"):
        return (start >= least) & (value_at(swing, met) >= least) & (~sinks | (start >= enough))


def edge_stays(normals, c, ends, met, least, expel, way):
    """Whether an edge separates, in a rotation of its ends, or with `way` -1 of the edge through c."""
    good = False
    sides = [normals[..., k, :] for k in range(normals.shape[-2])]
    if len(sides) == 1:
        sides.append(-sides[0])
    for n in sides:
        both = True
        for x in ends:
            still, sine, cosine = swing_of_point(x, n, c)
            both = both & stays_before((still, way * sine, cosine), met, least, expel)
        good = good | both
    return good
