"""Who lies on a face or an edge, sunk in by no more than rounding, when something beside it is touched."""

from __future__ import annotations

import numpy as np

from gpu_collide.reference.sweep._touch import ROUNDING, dot

__all__ = ["lies_on_edge", "lies_on_face"]

#: In units of `ROUNDING`: how far one may have sunk in, and how far beside a border one is over the face.
SUNK, BESIDE = 64, 4
#: Smaller radii, in the same units, are points, which lie on nothing.
POINT = 256


def lies_on_face(centre, a, b, normal, radius):
    """Centres over the inner side of a border from a to b, at the radius before the plane; all (n, 3)."""
    inward = np.cross(normal, b - a)
    beside = dot(inward / np.linalg.norm(inward, axis=1)[:, None], centre - a)
    return (beside > BESIDE * _nothing(a)) & _at_radius(np.abs(dot(normal, centre - a)), radius, a)


def lies_on_edge(centre, a, b, radius):
    """Centres beside end a of an edge to b, over the edge, at the radius from its line."""
    along = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
    share = dot(along, centre - a)
    away = np.linalg.norm(centre - a - share[:, None] * along, axis=1)
    return (share > BESIDE * _nothing(a)) & _at_radius(away, radius, a)


def _at_radius(distance, radius, a):
    nothing = _nothing(a)
    return (distance >= radius - SUNK * nothing) & (radius > POINT * nothing)


def _nothing(a):
    """Lengths up to this are nothing."""
    return ROUNDING * (1.0 + np.abs(a).max(axis=1))
