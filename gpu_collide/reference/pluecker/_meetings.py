"""Where features that rotate about z meet: how points move, how far beside a border counts, how edges
cross."""

from __future__ import annotations

import numpy as np

from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.pluecker._swings import falls_at, swing_of_point, turned_by, value_at

__all__ = ["crossing", "crossing_by", "leads_out", "moving", "slack_beside"]

# an edge may go with either side of a face's plane within this sine, which the rounding of normals is below;
# after a turn within four times it
FACING = 2e-15


def leads_out(sign, other, normals, turns=1):
    """Does `sign` times u x w lead away from the faces of an edge that `other` crosses?"""
    slack = turns * FACING * np.abs(other).max(axis=-1)
    good = True
    for k in range(normals.shape[-2]):
        along = sign * dot(other, normals[..., k, :])
        good = good & (along <= slack if k == 0 else along >= -slack)
    return good


def moving(point):
    """How points move per radian about z."""
    return np.stack([-point[..., 1], point[..., 0], 0 * point[..., 2]], axis=-1)


def slack_beside(motion, inward, approach, lateral):
    """How far beside a border still counts, in the plane of contact and times the border's length."""
    with np.errstate(divide="ignore", invalid="ignore"):
        over = np.where(approach > 0, dot(motion, inward) / approach, 0)
    return lateral * np.sqrt(over * over + dot(inward, inward))


def crossing(sign, a, u, m, c, w, n, met, expel, lateral):
    """Sine (times both lengths), outward normal, whether both edges take part, as they meet, and whether the
    opposite normal would do as well."""
    a, u = turned_by(a, met), turned_by(u, met)
    m = turned_by(m, np.asarray(met)[..., None])
    out = cross(u, w)
    length = np.linalg.norm(out, axis=-1)
    longer = np.maximum(np.abs(u).max(axis=-1), np.abs(w).max(axis=-1))
    hit = (length > expel / 8 * longer) & leads_out(sign, u, n, 4) & leads_out(sign, w, m, 4)
    both = leads_out(-sign, u, n, 4) & leads_out(-sign, w, m, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(length[..., None] > 0, out / length[..., None], 0)
        s, t = dot(cross(c - a, w), out), dot(cross(c - a, u), out)
        point = a + u * np.clip(np.where(length > 0, s / length, 0), 0, 1)[..., None]
    motion = moving(point)
    approach = np.maximum(np.abs(dot(motion, out)), np.sqrt(lateral * np.linalg.norm(motion, axis=-1)))
    over_s = slack_beside(motion, cross(out, w), approach, lateral)
    over_t = slack_beside(motion, cross(out, u), approach, lateral)
    hit = hit & (s >= -over_s) & (s <= length + over_s) & (t >= -over_t) & (t <= length + over_t)
    return length, sign * out, hit, both


def crossing_by(edges, real, met, expel, lateral):
    """When edges meet, and `crossing` then: at `met`, or before, as a face of the one comes flat onto the
    other, which `real`, their distance times the sine, says is already within the tolerance."""
    length, arrival, hit, both = crossing(*(*edges, met, expel, lateral))
    flat = flat_at(*(*edges, met))
    before = ~hit & (flat < met)
    if before.any():
        early_length, early_arrival, early, early_both = crossing(
            *(*edges, np.where(before, flat, met), expel, lateral)
        )
        near = lateral * early_length
        before = before & early & (value_at(real, 0.0) > near) & (value_at(real, flat) <= near)
        met, length = np.where(before, flat, met), np.where(before, early_length, length)
        arrival = np.where(before[..., None], early_arrival, arrival)
        hit, both = hit | before, np.where(before, early_both, both)
    return met, length, arrival, hit, both


def flat_at(sign, _, u, m, __, w, n, met):
    """The first angle at which a face of an edge, which does not let the normal lead out at `met`, comes flat
    onto the other edge from where it does; `met`, if there is none."""
    flat = met
    for normals, other, way in ((n, u, 1), (m, w, -1)):
        for k in range(normals.shape[-2]):
            normal = normals[..., k, :]
            still, sine, cosine = swing_of_point(other, normal, np.zeros(3))
            swing = tuple((1 if k else -1) * sign * x for x in (still, way * sine, cosine))
            until = falls_at(*swing)
            fails = value_at(swing, met) < -4 * FACING * np.abs(other).max(axis=-1)
            with np.errstate(invalid="ignore"):
                flat = np.where(fails & (until < flat), until, flat)
    return flat
