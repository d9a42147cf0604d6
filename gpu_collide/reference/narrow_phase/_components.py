"""The components of a mesh for the overlap test: what is connected, what is closed, and which way is
out."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

# A direction counts as leading out through a face if its cosine with the normal is at least this.
BLUNT = 0.1
# ... and if the best one has less than this, there is none that leads inwards for all faces.
STUCK = 1e-9


@dataclass(frozen=True)
class Components:
    """Components of a mesh, and its features relative to its centre in its own frame.

    of_vertex (nv,), -1 without faces; of_face (nf,); closed (c,); thickness (c,); outward (nv, 3) unit
    vectors against which vertices move inwards, or 0, where there is no such way; faces_out (nf,) 1, or -1
    where a face's normal leads into the solid.
    """

    of_vertex: np.ndarray
    of_face: np.ndarray
    closed: np.ndarray
    thickness: np.ndarray
    outward: np.ndarray
    faces_out: np.ndarray


def components_of(tables):
    """`Components` of `Tables`."""
    if len(tables.vertices) < 3:  # a point or a line, and nothing in it
        of_vertex, outward = np.zeros(len(tables.vertices), int), np.zeros((len(tables.vertices), 3))
        return Components(
            of_vertex, np.zeros(1, int), np.zeros(1, bool), np.zeros(1), outward, np.ones(1, int)
        )
    loops = [loop[loop >= 0] for loop in tables.loops]
    of_vertex = _flood(tables, loops)
    of_face = np.array([of_vertex[loop[0]] for loop in loops])
    count = int(of_vertex.max()) + 1
    there = tables.edge_sides >= 0
    balanced = 2 * (tables.edge_sides * there).sum(axis=1) == there.sum(axis=1)
    closed = np.array([balanced[of_vertex[tables.edges[:, 0]] == c].all() for c in range(count)])
    points = tables.vertices - tables.centre
    thickness = np.empty(count)
    for c in range(count):
        mine = points[of_vertex == c]
        if not closed[c]:
            thickness[c] = 0.5 * np.linalg.norm(mine.max(axis=0) - mine.min(axis=0))
            continue
        length = np.abs(mine - mine[0]).max()
        fans = [_fan((points[loops[f]] - mine[0]) / length) for f in np.flatnonzero(of_face == c)]
        volume = sum(np.linalg.det(fan).sum() / 6.0 for fan in fans)
        surface = sum(0.5 * np.linalg.norm(_doubled_areas(fan), axis=1).sum() for fan in fans)
        thickness[c] = 3.0 * abs(volume) / surface * length if surface > 0 else 0.0
    faces_out = _faces_out(points, loops, of_face, closed, tables.normals, thickness)
    outward = _outward(tables, points, loops, closed, of_vertex, balanced)
    turned = np.zeros(count, bool)
    turned[of_face[faces_out < 0]] = True
    outward[turned[of_vertex] & (of_vertex >= 0)] *= -1.0
    return Components(of_vertex, of_face, closed, thickness, outward, faces_out)


def _flood(tables, loops):
    """Component of every vertex, by walking along edges from one vertex after the other."""
    of_vertex = np.full(len(tables.vertices), -1)
    neighbours: list[list[int]] = [[] for _ in of_vertex]
    for a, b in tables.edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    count = 0
    for first in np.unique(np.concatenate(loops)):
        if of_vertex[first] >= 0:
            continue
        reached = [first]
        of_vertex[first] = count
        while reached:
            for v in neighbours[reached.pop()]:
                if of_vertex[v] < 0:
                    of_vertex[v] = count
                    reached.append(v)
        count += 1
    return of_vertex


def _fan(corners):
    """Triangles (k, 3, 3) of a polygon."""
    first = np.broadcast_to(corners[0], (len(corners) - 2, 3))
    return np.stack([first, corners[1:-1], corners[2:]], axis=1)


def _doubled_areas(fan):
    return np.cross(fan[:, 1] - fan[:, 0], fan[:, 2] - fan[:, 0])


def _faces_out(points, loops, of_face, closed, normals, thickness):
    """Which way the normals of the closed components lead: the solid is where the winding number is not 0, on
    one side of a component's largest face or on both."""
    out = np.ones(len(loops))
    solid = np.flatnonzero(closed[of_face])
    if not len(solid):
        return out
    fans = [_fan(points[loops[f]]) for f in solid]
    triangles = np.concatenate(fans)
    for c in np.flatnonzero(closed):
        faces = np.flatnonzero(of_face == c)
        largest = max(faces, key=lambda f: np.linalg.norm(_doubled_areas(_fan(points[loops[f]])).sum(axis=0)))
        middle = _fan(points[loops[largest]])[0].mean(axis=0)
        step = 1e-3 * thickness[c] * normals[largest]
        outside, within = np.abs(np.round(windings(triangles, np.array([middle + step, middle - step]))))
        if outside and not within:
            out[faces] = -1.0
    return out


def _outward(tables, points, loops, closed, of_vertex, balanced):
    """Directions (nv, 3) that lead out through all faces around a vertex: the sum of their normals, and where
    that leads in through one of them, at a sharp tip, the best there is. On the rim of an open component also
    away from the middles of the faces; if it is two-sided, only that."""
    total = np.zeros((len(points), 3))
    rim = np.zeros(len(points), bool)
    rim[tables.edges[~balanced].ravel()] = True
    middles = np.array([points[loop].mean(axis=0) for loop in loops])
    for v in np.flatnonzero(of_vertex >= 0):
        faces = tables.vertex_faces[v][tables.vertex_faces[v] >= 0]
        around = tables.normals[faces]
        sided = closed[of_vertex[v]] or not tables.two_sided
        if sided:
            total[v] = _unit(around.sum(axis=0))
        if rim[v]:
            total[v] = _unit(total[v] - _unit(_unit(middles[faces] - points[v]).sum(axis=0)))
        if sided and (around @ total[v]).min() < BLUNT:
            ways = [total[v], *_corners(around)]
            total[v] = ways[np.argmax([(around @ way).min() for way in ways])]
        if closed[of_vertex[v]] and (around @ total[v]).min() < STUCK:
            total[v] = 0.0
    return total


def _corners(normals):
    """Unit vectors as far from one, from two or from three of the normals; of many, of the first."""
    normals = normals[:8]
    ways = [*normals, *(a + b for a, b in combinations(normals, 2))]
    for three in combinations(normals, 3):
        rows = np.array(three)
        if abs(np.linalg.det(rows)) > 1e-14:
            ways.append(np.linalg.solve(rows, np.ones(3)))
    return [_unit(way) for way in ways]


def _unit(x):
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.where(length > 1e-14, x / np.where(length > 1e-14, length, 1.0), 0.0)


def windings(triangles, points, chunk=200_000):
    """Winding numbers (n,) of triangles (m, 3, 3) around ``points`` (n, 3), by solid angles."""
    total = np.empty(len(points))
    step = max(1, chunk // max(len(triangles), 1))
    for start in range(0, len(points), step):
        a, b, c = (triangles[None, :, j] - points[start : start + step, None] for j in range(3))
        la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
        volume = np.sum(a * np.cross(b, c), axis=-1)
        dots = (
            la * lb * lc
            + np.sum(a * b, axis=-1) * lc
            + np.sum(b * c, axis=-1) * la
            + np.sum(c * a, axis=-1) * lb
        )
        total[start : start + step] = np.arctan2(volume, dots).sum(axis=1) / (2.0 * np.pi)
    return total
