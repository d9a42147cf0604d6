"""Whether a sphere that touches a feature is over an adjacent face or edge, and so nearer to that."""

from __future__ import annotations

import numpy as np

from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.sweep._touch import ALONG, ROUNDING, approaches

__all__ = ["over_side", "rests_on_edge", "rests_on_face"]

#: In units of `ROUNDING`: what has sunk in by no more lies there, whether it approaches it or not; how far
#: beside a border one is over the face.
SUNK, BESIDE = 64, 4
#: Smaller radii, in the same units, are points, which lie on nothing.
POINT = 256


def over_side(centre, a, e, normal):
    """Centres over the inner side of a border from a along e; all (n, 3)."""
    inward = cross(normal, e)
    return dot(inward / np.linalg.norm(inward, axis=1)[:, None], centre - a) > BESIDE * _nothing(a)


def _over_sides(centre, corners, sides, normal):
    """Centres over a face, by more than rounding: who comes onto it just then is not over it yet."""
    inside = np.ones(len(centre), bool)
    for a, e in zip(corners, sides, strict=True):
        inside &= over_side(centre, a, e, normal)
    return inside


def rests_on_face(centre, corners, sides, normal, v, radius):
    """Of those over one side, or over both at a corner: who lies on the face; who has sunk in deeper
    and does not approach it, or is over what is beyond it."""
    ahead = dot(normal, centre - corners[0])
    facing = normal * np.where(ahead < 0, -1.0, 1.0)[:, None]
    lies = _at_radius(np.abs(ahead), radius, corners[0])
    deep = ~approaches(facing, v) | ~_over_sides(centre, corners, sides, normal)
    return lies, ~lies & deep & (radius > POINT * _nothing(corners[0]))


def rests_on_edge(centre, a, e, v, radius):
    """Centres beside end a of an edge along e and over the edge: who lies on it; who has sunk in deeper and
    does not approach it."""
    along = e / np.linalg.norm(e, axis=1)[:, None]
    share = dot(along, centre - a)
    aside = centre - a - share[:, None] * along
    away = np.linalg.norm(aside, axis=1)
    over = share > BESIDE * _nothing(a)
    lies = over & _at_radius(away, radius, a)
    across = v - dot(v, along)[:, None] * along
    nearer = -dot(aside, across) > ALONG * away * np.linalg.norm(across, axis=1)
    nearer &= away > _nothing(a)  # on it nothing comes nearer
    return lies, over & ~lies & ~nearer & (radius > POINT * _nothing(a))


def _at_radius(distance, radius, a):
    nothing = _nothing(a)
    return (distance >= radius - SUNK * nothing) & (radius > POINT * nothing)


def _nothing(a):
    """Lengths up to this are nothing."""
    return ROUNDING * (1.0 + np.abs(a).max(axis=1))
