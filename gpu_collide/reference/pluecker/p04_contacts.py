"""Stage p04: places where bodies at rest are near each other, of all pairs of features, by feet and gaps."""

from __future__ import annotations

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.pluecker.p02_translate import EE, FV, LATERAL, VF, next_on_edge, polygons_seen

__all__ = ["near_points"]


def near_points(mover, obstacle, distance, expel):
    """Where a mover and obstacles are within `distance` of the zone of each other.

    Yields
    ------
    kind, feature of the mover, feature of the obstacle, point, normal, distance along it
    """
    for kind, points, faces in ((VF, mover, obstacle), (FV, obstacle, mover)):
        x = points.places
        for numbers, seen, normals, _ in polygons_seen(x, faces, LATERAL * expel):
            gap = np.einsum("vknj,vkj->vkn", x[:, None, None] - seen, normals).min(axis=-1)
            along = np.roll(seen, -1, axis=2) - seen
            inward = cross(normals[:, :, None], along)
            inward = inward / np.linalg.norm(inward, axis=-1, keepdims=True)
            beside = np.einsum("vknj,vknj->vkn", x[:, None, None] - seen, inward).min(axis=-1)
            near = (gap >= -expel) & (gap <= distance + expel) & (beside >= -LATERAL * expel)
            for v, k in np.argwhere(near):
                pair = int(points.vertices[v]), int(numbers[k])
                if kind == VF:
                    yield VF, *pair, x[v], normals[v, k], float(gap[v, k])
                else:
                    yield FV, *pair[::-1], x[v], -normals[v, k], float(gap[v, k])
    for mine, ends, normals in mover.edges.values():
        for theirs, still, others in obstacle.edges.values():
            for a, b, normal, gap in _edges(ends[:, None], normals, still[None], others, distance, expel):
                point = next_on_edge(ends[a], still[b], normal)[0]
                yield EE, int(mine[a]), int(theirs[b]), point, normal, gap


def _edges(ends, normals, still, others, distance, expel):
    """Edges that are near each other, of all of one body and all of the other: numbers, normal, distance."""
    u, w = ends[..., 1, :] - ends[..., 0, :], still[..., 1, :] - still[..., 0, :]
    out = cross(u, w)
    length = np.linalg.norm(out, axis=-1)
    crossing = length > expel / 8 * np.maximum(np.abs(u).max(axis=-1), np.abs(w).max(axis=-1))
    from_ = ends[..., 0, :] - still[..., 0, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = out / length[..., None]
        # from_ + s u = t w + gap out, as areas over the one that u and w span
        s, t = _dot(cross(w, from_), out) / length, _dot(cross(u, from_), out) / length
        over_s, over_t = (LATERAL * expel * np.linalg.norm(x, axis=-1) / length for x in (w, u))
        within = crossing & (s >= -over_s) & (s <= 1 + over_s) & (t >= -over_t) & (t <= 1 + over_t)
        taken = np.zeros(within.shape, bool)
        for sign in (1.0, -1.0):
            gap = sign * _dot(out, from_)
            near = within & (gap >= -expel) & (gap <= distance + expel) & ~taken
            near &= _leads(sign, u, others[None]) & _leads(sign, w, normals[:, None])
            taken |= near
            for a, b in np.argwhere(near):
                yield a, b, sign * out[a, b], float(gap[a, b])


def _dot(a, b):
    return np.sum(a * b, axis=-1)


def _leads(sign, other, normals):
    """Does `sign` times the normal of two edges lead away from the faces of one, which `other` crosses?"""
    slack, good = 1e-9 * np.abs(other).max(axis=-1), True
    for k in range(normals.shape[-2]):
        along = sign * _dot(other, normals[..., k, :])
        good = good & (along <= slack if k == 0 else along >= -slack)
    return good
