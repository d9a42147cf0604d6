"""Stage w03: the contact planes of an ellipsoid at rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.casts import turning
from gpu_collide.bodies.quaternion import between, conjugate, cross, rotate, turn_vector
from gpu_collide.reference.sweep._meets import meets

__all__ = ["Plane", "planes_near"]

FACE, EDGE, VERTEX = 1, 2, 3
ROUNDING = 16 * 2.0**-52


class Plane(NamedTuple):
    """A row of `gpu_collide.sweep.Planes`."""

    feature: int
    body: int
    face: int
    number: int
    normal: np.ndarray
    gap: float
    point: np.ndarray
    body_displacement: np.ndarray


def planes_near(bodies, casts, i, centre, two_sided, reach, since, rules):
    """Planes of all bodies that ellipsoid i of some meets, in any order, with its centre there; the bodies at
    the moment `since`."""
    radii, quat = casts.radius[i], casts.quat[i]
    found = []
    turns = turning(bodies)
    valid = bodies.start.valid & bodies.end.valid
    for body in np.flatnonzero(valid):
        if not meets(casts, rules, body)[i]:
            continue
        mesh = bodies.meshes[bodies.shape[body]]
        way = bodies.end.position[body] - bodies.start.position[body]
        place = bodies.start.position[body] + since * way
        ends = bodies.start.unit_wxyz[body], bodies.end.unit_wxyz[body]
        now, spin = ends[0], np.zeros(3)
        if turns[body]:
            now, spin = between(*ends, since), turn_vector(*ends)
        corners = rotate(np.broadcast_to(now, (len(mesh.vertices), 4)), mesh.vertices)
        corners = corners + place - centre
        # so that the ellipsoid becomes the unit ball about 0
        inside = rotate(np.broadcast_to(conjugate(quat), (len(corners), 4)), corners) / radii
        for feature, number, face, y, normal in _nearest(mesh, inside, two_sided or mesh.two_sided):
            away = np.linalg.norm(y)
            if not away and feature != FACE:
                continue
            m = -y / away if away else normal  # who has the centre on a face is in front of it
            n = rotate(quat, m / radii)
            length = np.linalg.norm(n)
            gap = (away - 1.0) / length
            if gap <= reach:
                point = rotate(quat, y * radii) + centre
                motion = way + np.cross(spin, point - place)
                found.append(Plane(feature, int(body), face, number, n / length, gap, point, motion))
    return found


def _nearest(mesh, v, two_sided):
    """(feature, number, face, place, the face's normal) of the places on faces nearest to 0, once for what
    faces share."""
    at, front, normals = {}, [], []
    for f in range(len(mesh.face_start) - 1):
        loop = mesh.face_vertices[mesh.face_start[f] : mesh.face_start[f + 1]]
        a, b, c = v[loop[0]], v[loop[1]], v[loop[2]]
        normal = cross(b - a, c - a)
        for k in range(3, len(loop)):  # of a polygon whose first corners lie on a line
            other = cross(v[loop[k - 1]] - a, v[loop[k]] - a)
            normal = other if other @ other > normal @ normal else normal
        normal = normal / np.linalg.norm(normal)
        ahead = -(normal @ a)
        normals.append(normal)
        front.append(two_sided or ahead >= -ROUNDING * (1.0 + np.abs(v).max()))
        at[f] = _on_polygon(v, loop, normal, ahead)
    yield from ((FACE, f, f, place, normals[f]) for f, (key, place) in at.items() if key == () and front[f])
    for number, ends in enumerate(mesh.edges):
        faces = np.sort(mesh.edge_faces[mesh.edge_face_start[number] : mesh.edge_face_start[number + 1]] >> 1)
        yield from _shared(EDGE, number, tuple(sorted(int(k) for k in ends)), faces, at, front)
    for number in range(len(mesh.vertices)):
        faces = np.sort(
            mesh.vertex_faces[mesh.vertex_face_start[number] : mesh.vertex_face_start[number + 1]]
        )
        yield from _shared(VERTEX, number, (number,), faces, at, front)


def _shared(feature, number, key, faces, at, front):
    seen = [f for f in faces if front[f]]
    if seen and all(at[f][0] == key for f in seen):
        yield feature, number, int(seen[0]), at[seen[0]][1], np.zeros(3)


def _on_polygon(v, loop, normal, ahead):
    """Which part of a polygon is nearest to 0 (nothing for its inside, else its vertices), and where."""
    sides = list(zip(loop, np.roll(loop, -1), strict=True))
    if all(cross(normal, v[j] - v[i]) @ v[i] <= 0 for i, j in sides):
        return (), -ahead * normal
    best = None
    for i, j in sides:
        e = v[j] - v[i]
        share = -(v[i] @ e) / (e @ e)
        if share <= 0:
            found: tuple[tuple[int, ...], np.ndarray] = (int(i),), v[i]
        elif share >= 1:
            found = (int(j),), v[j]
        else:
            found = tuple(sorted((int(i), int(j)))), v[i] + share * e
        if best is None or found[1] @ found[1] < best[1] @ best[1]:
            best = found
    return best
