"""Stage p03: the first touch during a rotation, over all pairs of features."""

from __future__ import annotations

import numpy as np

from gpu_collide.bodies.quaternion import cross, rotate
from gpu_collide.reference.pluecker._touching import Start
from gpu_collide.reference.pluecker.p01_primitives import Query, edge_edge_rotation, vertex_polygon_rotation
from gpu_collide.reference.pluecker.p02_translate import (
    EE,
    FV,
    LATERAL,
    VF,
    corners_let_go,
    least,
    next_on_edge,
    polygons_seen,
)

__all__ = ["first_in_the_turn"]


def first_in_the_turn(mover, obstacle, turn, expel, doubt):
    """Touches of a mover that turns and still obstacles, the least of each kind and obstacle; as
    `first_on_the_way`.

    Parameters
    ----------
    mover, obstacle : Features
    turn : (angle in [0, pi], axis, origin)
    expel, doubt : float
    """
    angle, axis, origin = turn
    lateral, back = LATERAL * expel, (-angle, axis, origin)
    start = Start(mover, obstacle, expel, doubt, lambda place: cross(axis, place - origin), True, angle)
    for kind, points, faces, way in ((VF, mover, obstacle, turn), (FV, obstacle, mover, back)):
        x = points.places
        turns = tuple(np.broadcast_to(part, (len(x), 1, *np.shape(part))) for part in way)
        for numbers, seen, normals, across in polygons_seen(x, faces, lateral):
            gap = np.abs(np.einsum("vkj,vkj->vk", x[:, None] - seen[:, :, 0], normals))
            for side in (1, -1) if faces.two_sided else (1,):
                # from where a vertex is not: what stands in the zone must first come through
                through = None if side > 0 else gap <= expel
                query = Query(lateral, doubt, across if side > 0 else None, side * normals, through)
                when = vertex_polygon_rotation(x[:, None], turns, seen[:, :, ::side], expel, lateral, query)
                when = corners_let_go(start, when, kind, points, (numbers, seen, normals))
                for f, v, k in least(when, *((1, numbers) if kind == VF else (0, points.vertices))):
                    vertex, face = int(points.vertices[v]), int(numbers[k])
                    normal = side * normals[v, k]
                    if kind == VF:
                        yield f, VF, vertex, face, _turned(x[v], turn, f), normal
                    else:
                        yield f, FV, face, vertex, x[v], -_turned(normal, (angle, axis, 0.0), f)
    for mine, ends, normals in mover.edges.values():
        for theirs, still, others in obstacle.edges.values():
            turns = tuple(np.broadcast_to(part, (len(mine), len(theirs), *np.shape(part))) for part in turn)
            when = edge_edge_rotation(
                (ends[:, None], normals[:, None]), turns, (still[None], others[None]), expel, lateral,
                Query(lateral, doubt),
            )  # fmt: skip
            when = start.edges(when, ends, still, theirs)
            for f, a, b in least(when, 1, theirs):
                there = _turned(ends[a], turn, f)
                middle = there.mean(axis=0) - still[b].mean(axis=0)
                motion = cross(axis, there - origin).mean(axis=0)
                point, normal = next_on_edge(there, still[b], -motion if np.any(motion) else middle)
                motion = cross(axis, point - origin)  # where they meet
                yield f, EE, int(mine[a]), int(theirs[b]), point, normal if normal @ motion <= 0 else -normal


def _turned(x, turn, share):
    """Points after a share of a turn."""
    angle, axis, origin = turn
    half = 0.5 * angle * share
    q = np.array([np.cos(half), *(np.sin(half) * axis)])
    return rotate(np.broadcast_to(q, (*np.shape(x)[:-1], 4)), x - origin) + origin
