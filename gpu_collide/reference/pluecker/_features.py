"""All features of a mesh in some frame: vertices, edges with their faces, polygons by number of corners.

Which may touch is told from the mesh itself, in another way than `gpu_collide.geometry.wedges` does it: by
the angle between the faces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import rotate
from gpu_collide.geometry.adjacency import EDGE_FLAT, EDGE_REFLEX

__all__ = ["Features", "features_of"]


class Features(NamedTuple):
    """Features that may touch.

    Attributes
    ----------
    vertices : (m,) int
        Numbers, whose places are ``places[vertices]``.
    places : (nv, 3) float64
    edges : dict of int to tuple
        By how many faces count: numbers (k,), ends (k, 2, 3), normals (k, faces, 3).
    polygons : dict of int to tuple
        By the number of corners: numbers (k,), corners (k, n, 3), normals of the faces across each border, as
        seen from the front and from the back, (k, 2, n, 3): NaN where the two do not bend outwards.
    two_sided : bool
    borders : tuple
        Where faces end: their numbers (k,), ends (k, 2, 3), normals (k, 3).
    """

    vertices: np.ndarray
    places: np.ndarray
    edges: dict
    polygons: dict
    two_sided: bool
    borders: tuple


def features_of(mesh, position, quat):
    """`Features` of a mesh at a pose; of a point, if `mesh` is None."""
    if mesh is None:
        return Features(np.zeros(1, int), position[None], {}, {}, False, _borders([]))
    places = rotate(quat, mesh.vertices) + position
    planes = rotate(quat, mesh.face_planes[:, :3])
    inner = np.zeros(mesh.n_edges, bool)
    edges: dict = {}
    borders, across = [], {}  # by face, edge and side: the normal of the face across
    for e in range(mesh.n_edges):
        faces = mesh.edge_faces[mesh.edge_face_start[e] : mesh.edge_face_start[e + 1]]
        low, high = mesh.edges[e]
        flags = mesh.edge_flags[e]
        left, right = faces[faces & 1 == 0] >> 1, faces[faces & 1 == 1] >> 1
        if len(left) == len(right) == 1:
            ends, normals = (low, high), planes[[left[0], right[0]]]
            inner[e] = bool(flags & EDGE_FLAT) or (bool(flags & EDGE_REFLEX) and not mesh.two_sided)
            along = places[high] - places[low]
            back = bool(flags & EDGE_REFLEX)
            if not flags & EDGE_FLAT and (mesh.two_sided or not back):
                for mine, other in ((left[0], right[0]), (right[0], left[0])):
                    across[mine, e, int(back)] = -planes[other] if back else planes[other]
            if mesh.two_sided and np.cross(normals[0], normals[1]) @ along < 0:
                ends, normals = (high, low), -normals
        elif len(faces) == 1:
            ends, normals = ((low, high), planes[left]) if len(left) else ((high, low), planes[right])
            borders.append((int(faces[0] >> 1), places[list(ends)], normals[0]))
        else:
            ends, normals = (low, high), planes[:0]
        if not inner[e]:
            edges.setdefault(len(normals), []).append((e, places[list(ends)], normals))
    vertices = np.unique(mesh.edges[~inner])
    polygons: dict = {}
    for f, loop in enumerate(mesh.faces):
        begin, none = mesh.face_start[f], np.full(3, np.nan)
        beyond = [
            [across.get((f, e, back), none) for e in mesh.face_edges[begin : begin + len(loop)]]
            for back in (0, 1)
        ]
        polygons.setdefault(len(loop), []).append((f, places[loop], np.array(beyond)))
    stacked = {k: tuple(map(np.array, zip(*some, strict=True))) for k, some in edges.items()}
    return Features(
        vertices, places, stacked,
        {k: tuple(map(np.array, zip(*some, strict=True))) for k, some in polygons.items()}, mesh.two_sided,
        _borders(borders),
    )  # fmt: skip


def _borders(some):
    numbers, ends, normals = zip(*some, strict=True) if some else ([], [], [])
    return (
        np.array(numbers, int),
        np.array(ends, float).reshape(-1, 2, 3),
        np.array(normals, float).reshape(-1, 3),
    )
