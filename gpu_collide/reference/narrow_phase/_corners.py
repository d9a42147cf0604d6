"""What two solids share at a place where faces of both meet, as far as the planes there decide."""

from itertools import combinations, product

import numpy as np

from gpu_collide.reference.narrow_phase._components import windings

# Planes whose normals have less than this for a sine count as one, and a line in a plane if its sine is less.
PARALLEL = 1e-4
# Cells in which no direction is steeper to all planes than this sine are left out: slivers.
ROOM = 0.02


def shared_at(one, other, x, far, depth):
    """Whether a point near ``x``, where planes are up to ``far`` off, is inside both by the depth.

    The planes of all faces there cut what is around into cells, each wholly inside a solid or outside. A cell
    has an edge, in which two planes meet: beside it, towards the middle of its angle, is a point of the cell.
    """
    normals: list[np.ndarray] = []
    for n in np.concatenate([_faces_at(one, x, far), _faces_at(other, x, far)]):
        if all(np.linalg.norm(np.cross(n, m)) >= PARALLEL for m in normals):
            normals.append(n)
    ways = [way for pair in combinations(normals, 2) for way in _beside(*pair, normals)]
    if not ways:
        return False
    to = np.array(ways)
    least = np.abs(to @ np.array(normals).T).min(axis=1)
    to, least = to[least >= ROOM], least[least >= ROOM]
    points = x + to * ((far + 2 * depth) / least)[:, None]
    around = depth * np.concatenate([np.eye(3), -np.eye(3)])
    points = points[_inside(one, points) & _inside(other, points)]
    return any(_inside(one, p + around).all() and _inside(other, p + around).all() for p in points)


def _beside(n, m, normals):
    """Directions beside the line in which two planes meet, both ways along it, in each of its angles."""
    line = np.cross(n, m)
    line /= np.linalg.norm(line)
    along = np.abs(np.array(normals) @ line)
    room = 0.5 * min(1.0, along[along > PARALLEL].min(initial=1.0))
    for i, j, k in product((-1, 1), repeat=3):
        side = i * np.cross(n, line) + j * np.cross(m, line)
        yield k * line + room * side / np.linalg.norm(side)


def _faces_at(solid, x, far):
    """Normals of the faces within ``far`` of a place."""
    loops, inward = solid.tables.loops, solid.inward
    corners = solid.points[loops]
    off = np.abs(np.sum(solid.normals * (x - corners[:, 0]), axis=1))
    margin = np.where(loops >= 0, np.sum(inward * (x - corners), axis=-1), np.inf).min(axis=1)
    return solid.normals[(off <= far) & (margin >= -far)]


def _inside(solid, points):
    return np.abs(windings(solid.triangles(), points)) > 0.5 if len(points) else np.zeros(0, bool)
