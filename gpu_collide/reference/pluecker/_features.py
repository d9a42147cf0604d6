"""All features of meshes in some frame: vertices, edges with their faces, polygons by number of corners.

Which may touch is told from the mesh itself, in another way than
`gpu_collide.geometry.preparation.collidable_features` does it: by
the angle between the faces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import cross, rotate
from gpu_collide.geometry.arrays.adjacency import EDGE_FLAT, EDGE_REFLEX
from gpu_collide.geometry.preparation.prepared import kept_with

__all__ = ["Features", "features_of", "joined", "parted"]

#: Features of several bodies are numbered by body and number.
_BODY = 32


class Features(NamedTuple):
    """Features that may touch.

    Attributes
    ----------
    vertices : (m,) int
    places : (m, 3) float64
        Of these vertices.
    edges : dict of int to tuple
        By how many faces count: numbers (k,), ends (k, 2, 3), normals (k, faces, 3).
    polygons : dict of int to tuple
        By the number of corners: numbers (k,), corners (k, n, 3), normals of the faces across each border, as
        seen from the front and from the back, (k, 2, n, 3): NaN where the two do not bend outwards.
    two_sided : bool
    borders : tuple
        Where faces end: their numbers (k,), ends (k, 2, 3), normals (k, 3).
    fans : (m, k, 3) float64
        Of the vertices: where the edges from each lead to, all edges; the rest is NaN.
    """

    vertices: np.ndarray
    places: np.ndarray
    edges: dict
    polygons: dict
    two_sided: bool
    borders: tuple
    fans: np.ndarray


class _Numbers(NamedTuple):
    """What `Features` take from a mesh alone, as numbers of its vertices and faces.

    Attributes
    ----------
    vertices : (m,) int
    edges : dict of int to tuple
        By how many faces count: numbers (k,), ends (k, 2), faces (k, count).
    polygons : dict of int to tuple
        By the number of corners: numbers (k,), corners (k, n), faces across each border as seen from the
        front and from the back (k, 2, n), -1 for none, and with which sign their normals count.
    borders : tuple
        Numbers (k,), which are also the faces whose normals they have, ends (k, 2).
    fans : (m, k) int
        Vertices to which edges lead; -1: no more.
    """

    vertices: np.ndarray
    edges: dict
    polygons: dict
    borders: tuple
    fans: np.ndarray


def features_of(mesh, position, quat):
    """`Features` of a mesh at a pose; of a point, if `mesh` is None."""
    none = np.zeros(0, int), np.zeros((0, 2, 3)), np.zeros((0, 3))
    if mesh is None:
        return Features(np.zeros(1, int), position[None], {}, {}, False, none, np.zeros((1, 0, 3)))
    numbers = kept_with(mesh, "features of the reference", lambda: _numbers_of(mesh))
    places = rotate(quat, mesh.vertices) + position
    if mesh.n_vertices == 1:
        return Features(np.zeros(1, int), places, {}, {}, mesh.two_sided, none, np.zeros((1, 0, 3)))
    planes = rotate(quat, mesh.face_planes[:, :3])
    edges: dict = {}
    polygons: dict = {}
    for count, (which, ends, faces) in numbers.edges.items():
        normals = planes[faces]
        if mesh.two_sided and count == 2:  # seen from where the two bend outwards
            along = places[ends[:, 1]] - places[ends[:, 0]]
            back = np.sum(cross(normals[:, 0], normals[:, 1]) * along, axis=1) < 0
            ends = np.where(back[:, None], ends[:, ::-1], ends)
            normals = np.where(back[:, None, None], -normals, normals)
        edges[count] = which, places[ends], normals
    for n, (which, corners, beyond, sign) in () if mesh.thin else numbers.polygons.items():
        across = np.where((beyond >= 0)[..., None], sign[..., None] * planes[beyond], np.nan)
        polygons[n] = which, places[corners], across
    which, ends = numbers.borders
    borders = none if mesh.thin else (which, places[ends], planes[which])
    fans = np.where((numbers.fans >= 0)[..., None], places[numbers.fans], np.nan)
    return Features(
        numbers.vertices, places[numbers.vertices], edges, polygons, mesh.two_sided, borders, fans
    )


def joined(bodies):
    """`Features` of several bodies, of which all or none are two-sided, as of one.

    Parameters
    ----------
    bodies : list of (int, Features)
    """

    wide = max(one.fans.shape[1] for _, one in bodies)
    fans = [np.pad(one.fans, ((0, 0), (0, wide - one.fans.shape[1]), (0, 0)), constant_values=np.nan)
            for _, one in bodies]  # fmt: skip
    vertices, places = _one([(body, (one.vertices, one.places)) for body, one in bodies])
    edges, polygons = (
        {
            k: _one([(body, kinds[k]) for body, kinds in some if k in kinds])
            for k in {k for _, kinds in some for k in kinds}
        }
        for some in (
            [(body, one.edges) for body, one in bodies],
            [(body, one.polygons) for body, one in bodies],
        )
    )
    borders = _one([(body, one.borders) for body, one in bodies])
    two_sided = bodies[0][1].two_sided
    return Features(vertices, places, edges, polygons, two_sided, borders, np.concatenate(fans))


def _one(parts):
    """Columns of several bodies as one, the numbers in the first with their bodies."""
    numbered = [((body << _BODY) + numbers.astype(np.int64), *rest) for body, (numbers, *rest) in parts]
    return tuple(map(np.concatenate, zip(*numbered, strict=True)))


def parted(number):
    """Bodies and numbers of features of several bodies."""
    return number >> _BODY, number & ((1 << _BODY) - 1)


def _numbers_of(mesh):
    """`_Numbers` of a mesh."""
    inner = np.zeros(mesh.n_edges, bool)
    edges: dict = {}
    borders, across = [], {}  # by face, edge and side: the face across and its sign
    for e in range(mesh.n_edges):
        faces = mesh.edge_faces[mesh.edge_face_start[e] : mesh.edge_face_start[e + 1]]
        low, high = mesh.edges[e]
        flags = mesh.edge_flags[e]
        left, right = faces[faces & 1 == 0] >> 1, faces[faces & 1 == 1] >> 1
        ends, both = (low, high), []
        if len(left) == len(right) == 1:
            both = [left[0], right[0]]
            back = bool(flags & EDGE_REFLEX)
            inner[e] = bool(flags & EDGE_FLAT) or (back and not mesh.two_sided)
            if not flags & EDGE_FLAT and (mesh.two_sided or not back):
                for mine, other in (both, both[::-1]):
                    across[mine, e, int(back)] = other, -1.0 if back else 1.0
        elif len(faces) == 1:
            ends, both = ((low, high), left) if len(left) else ((high, low), right)
            borders.append((both[0], ends))
        if not inner[e]:
            edges.setdefault(len(both), []).append((e, ends, both))
    polygons: dict = {}
    for f, loop in enumerate(mesh.faces):
        begin = mesh.face_start[f]
        sides = mesh.face_edges[begin : begin + len(loop)]
        beyond = np.array([[across.get((f, e, back), (-1, 1.0)) for e in sides] for back in (0, 1)])
        polygons.setdefault(len(loop), []).append((f, loop, beyond[..., 0].astype(int), beyond[..., 1]))
    vertices = np.unique(mesh.edges[~inner])
    others: dict = {}
    for low, high in mesh.edges.tolist():
        others.setdefault(low, []).append(high)
        others.setdefault(high, []).append(low)
    wide = max((len(others[v]) for v in vertices), default=0)
    fans = [others[v] + [-1] * (wide - len(others[v])) for v in vertices]
    return _Numbers(
        vertices,
        {k: _columns(rows, int, (2,), (k,)) for k, rows in edges.items()},
        {k: tuple(map(np.array, zip(*rows, strict=True))) for k, rows in polygons.items()},
        _columns(borders, int, (2,)),
        np.array(fans, int).reshape(len(vertices), wide),
    )


def _columns(rows, dtype, *shapes):
    """Columns of rows of a number and of tuples, of these shapes."""
    parts = zip(*rows, strict=True) if rows else [[]] * (1 + len(shapes))
    made = [np.array(part, dtype) for part in parts]
    shaped = (part.reshape(len(rows), *shape) for part, shape in zip(made[1:], shapes, strict=True))
    return made[0], *shaped
