"""Stage p02: the first touch during a translation, over all pairs of features."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.quaternion import cross, dot
from gpu_collide.reference.pluecker._features import parted
from gpu_collide.reference.pluecker._touching import Start
from gpu_collide.reference.pluecker.p01_primitives import (
    Query,
    edge_edge_translation,
    vertex_polygon_translation,
)

__all__ = ["LATERAL", "corners_let_go", "first_on_the_way", "least", "next_on_edge", "polygons_seen"]

#: Share of the zone by which a touch may lie beside a border.
LATERAL = float(sources.constants()["GC_ZONE_LATERAL"])
VF, FV, EE = 1, 2, 3


def first_on_the_way(mover, obstacle, way, expel, doubt):
    """Touches of a mover that goes `way` and still obstacles, the least of each kind and obstacle.

    Parameters
    ----------
    mover, obstacle : Features
        In one frame, at the start.
    way : (3,) float64
    expel : float
    doubt : float
        How far off rounding may put a place.

    Yields
    ------
    fraction, kind, feature of the mover, feature of the obstacle, point, normal
    """
    lateral = LATERAL * expel
    start = Start(mover, obstacle, expel, doubt, lambda _: way, False)
    for kind, points, faces, vector in ((VF, mover, obstacle, way), (FV, obstacle, mover, -way)):
        x = points.places
        for numbers, seen, normals, across in polygons_seen(x, faces, lateral):
            query = Query(lateral, doubt, across, normals)
            when = vertex_polygon_translation(x[:, None], vector, seen, expel, lateral, query)
            when = corners_let_go(start, when, kind, points, (numbers, seen, normals))
            for f, v, k in least(when, *((1, numbers) if kind == VF else (0, points.vertices))):
                normal = normals[v, k] if kind == VF else -normals[v, k]
                point = x[v] + f * way if kind == VF else x[v]
                vertex, face = int(points.vertices[v]), int(numbers[k])
                yield f, kind, *((vertex, face) if kind == VF else (face, vertex)), point, normal
    for mine, ends, normals in mover.edges.values():
        for theirs, still, others in obstacle.edges.values():
            when = edge_edge_translation(
                (ends[:, None], normals[:, None]), way, (still[None], others[None]), expel, lateral,
                Query(lateral, doubt),
            )  # fmt: skip
            when = start.edges(when, ends, still, theirs)
            for f, a, b in least(when, 1, theirs):
                yield f, EE, int(mine[a]), int(theirs[b]), *next_on_edge(ends[a] + f * way, still[b], -way)


def corners_let_go(start, when, kind, points, polygons):
    """Times of corners and polygons without stops at the start of what touches, but leaves (`Start`)."""
    x, (numbers, seen, normals) = points.places, polygons
    return start.let_go(
        when, dot(normals, x[:, None] - seen[:, :, 0]), lambda v, _: x[v],
        lambda v, k: parted(numbers[k] if kind == VF else points.vertices[v])[0],
    )  # fmt: skip


def least(when, axis, numbers):
    """The least of a table and its place for each obstacle, if there is one; of equal ones the first.

    Parameters
    ----------
    when : (n, m) float64
    axis : int
        Along which the obstacles' features lie.
    numbers : (n,) or (m,) int
        Of these, obstacle by obstacle.
    """
    if not np.isfinite(when).any():
        return
    body = parted(numbers)[0]
    begins = np.flatnonzero(np.diff(body, prepend=-1))
    for begin, part in zip(begins, np.split(when, begins[1:], axis=axis), strict=True):
        place = np.unravel_index(np.argmin(part), part.shape)
        if np.isfinite(part[place]):
            yield float(part[place]), place[0] + begin * (axis == 0), place[1] + begin * (axis == 1)


def polygons_seen(x, faces, height):
    """Numbers, corners (v, k, n, 3), normals (v, k, 3) and normals across borders (v, k, n, 3) of polygons as
    each vertex sees them; and of strips across borders, so high to both sides, which stop what comes within
    the plane of a face."""
    for numbers, corners, across in faces.polygons.values():
        yield numbers, *_from_the_front(x, corners, across, faces.two_sided)
    numbers, ends, normals = faces.borders
    if len(numbers):
        up, along = height * normals[:, None], ends[:, 1] - ends[:, 0]
        strip = np.concatenate([ends - up, ends[:, ::-1] + up], axis=1)
        out = cross(along, normals)
        out = out / np.linalg.norm(out, axis=1, keepdims=True)
        every = (len(x), *strip.shape)
        yield (
            numbers, np.broadcast_to(strip, every), np.broadcast_to(out, (len(x), *out.shape)),
            np.full(every, np.nan),
        )  # fmt: skip


def _from_the_front(x, corners, across, two_sided):
    """Polygons (v, k, n, 3) as each vertex sees them, and their normals (v, k, 3); normals across borders."""
    first = corners[:, :1]
    area = cross(corners[:, 1:-1] - first, corners[:, 2:] - first).sum(axis=1)
    normal = area / np.linalg.norm(area, axis=1, keepdims=True)
    back = two_sided & (np.einsum("vkj,kj->vk", x[:, None] - first[None, :, 0], normal) < 0)
    turned = back[..., None, None]
    seen = np.where(turned, corners[None, :, ::-1], corners[None])
    behind = np.where(turned, np.roll(across[None, :, 1, ::-1], -1, axis=2), across[None, :, 0])
    return seen, np.where(back[..., None], -normal, normal), behind


def next_on_edge(ends, still, towards):
    """The place on a still edge next to another one, and the normal of both on the side of `towards`."""
    u, w = ends[1] - ends[0], still[1] - still[0]
    normal = cross(u, w)
    normal = normal / np.linalg.norm(normal)
    across = cross(u, normal)
    k = np.clip(across @ (ends[0] - still[0]) / (across @ w), 0, 1)
    return still[0] + k * w, normal if normal @ towards >= 0 else -normal
