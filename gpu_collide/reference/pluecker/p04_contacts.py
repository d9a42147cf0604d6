"""Stage p04: places where bodies at rest are near each other, of all pairs of features, by feet and gaps."""

from __future__ import annotations

import numpy as np

from gpu_collide.reference.pluecker.p02_translate import EE, FV, LATERAL, VF, from_the_front, next_on_edge

__all__ = ["near_points"]


def near_points(mover, obstacle, distance, expel):
    """Where two bodies are within `distance` of the zone of each other.

    Yields
    ------
    kind, feature of the mover, feature of the obstacle, point, normal, distance along it
    """
    for kind, points, faces in ((VF, mover, obstacle), (FV, obstacle, mover)):
        x = points.places[points.vertices]
        for numbers, corners in faces.polygons.values():
            seen, normals = from_the_front(x, corners, faces.two_sided)
            gap = np.einsum("vknj,vkj->vkn", x[:, None, None] - seen, normals).min(axis=-1)
            along = np.roll(seen, -1, axis=2) - seen
            inward = np.cross(normals[:, :, None], along)
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
            for a in range(len(mine)):
                for b in range(len(theirs)):
                    yield from _edges(
                        int(mine[a]), ends[a], normals[a], int(theirs[b]), still[b], others[b], distance, expel
                    )


def _edges(a, ends, normals, b, still, others, distance, expel):
    """One edge and another."""
    u, w = ends[1] - ends[0], still[1] - still[0]
    out = np.cross(u, w)
    length = np.linalg.norm(out)
    if not length > expel / 8 * max(np.abs(u).max(), np.abs(w).max()):
        return
    out = out / length
    from_ = ends[0] - still[0]
    # from_ + s u = t w + gap out
    t, s = np.cross(u, out) @ from_ / (np.cross(u, out) @ w), -(np.cross(w, out) @ from_) / (np.cross(w, out) @ u)
    over = LATERAL * expel / length * np.linalg.norm(w), LATERAL * expel / length * np.linalg.norm(u)
    if not (-over[0] <= s <= 1 + over[0] and -over[1] <= t <= 1 + over[1]):
        return
    for sign in (1.0, -1.0):
        gap = sign * (out @ from_)
        if -expel <= gap <= distance + expel and _leads(sign, u, others) and _leads(sign, w, normals):
            yield EE, a, b, next_on_edge(ends, still, sign * out)[0], sign * out, float(gap)
            return


def _leads(sign, other, normals):
    """Does `sign` times the normal of two edges lead away from the faces of one, which `other` crosses?"""
    slack = 1e-9 * np.abs(other).max()
    return all(sign * (other @ n) * (1 if k == 0 else -1) <= slack for k, n in enumerate(normals))
