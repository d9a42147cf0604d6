"""Solids at rest for the overlap test: unions of cells and of parts of cells, and an exact judge of pairs.

A cell, four wide, falls into 48 tetrahedra by its planes of symmetry. A solid is a union of such: whole
cells, halves cut along a diagonal, pyramids, slabs, single tetrahedra. Two solids share volume if two of
their convex parts do, that is, if no plane divides these: normals of faces and products of edges, all in
whole numbers.
"""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

import gpu_collide as gc
from tests.acceptance.lattice_scenes import QUATS, STAY, TURNS, of_two
from tests.oracle import lattice_shapes as shapes
from tests.oracle.solid import quat_mul
from tests.support.seeds import generator

WIDE = 4


def _chambers():
    """The 48 tetrahedra of a cell (48, 4, 3): its middle, that of a face, that of an edge, a corner."""
    out = []
    for order, signs in product(permutations(range(3)), product((-1, 1), repeat=3)):
        x, corners = np.full(3, WIDE // 2), [np.full(3, WIDE // 2)]
        for axis, sign in zip(order, signs, strict=True):
            x = x.copy()
            x[axis] += sign * WIDE // 2
            corners.append(x)
        a, b, c, d = corners
        out.append((a, b, c, d) if np.linalg.det([b - a, c - a, d - a]) > 0 else (a, c, b, d))
    return np.array(out)


def _axes():
    """Whole vectors (k, 3) of which one divides any two convex parts that do not overlap, in all turns."""
    ways = [np.array(x) for x in product((-1, 0, 1), repeat=3) if any(x)]
    crosses = {tuple(np.cross(a, b)) for a in ways for b in ways} | {tuple(x) for x in ways}
    whole = {tuple(np.array(x) // np.gcd.reduce(x)) for x in crosses if any(x)}
    return np.array(sorted(x for x in whole if x > tuple(-np.array(x))))


CHAMBERS, AXES = _chambers(), _axes()
_OFF = CHAMBERS.sum(1) - WIDE * WIDE // 2  # four times from the middle of the cell to that of the chamber
PLANES = [np.array(x) for x in product((-1, 0, 1), repeat=3) if 0 < np.abs(x).sum() < 3]


@dataclass(frozen=True, eq=False)
class Whole:
    """Convex parts (m, k, 3) of a solid, and it as a shape and a mesh."""

    parts: np.ndarray
    shape: shapes.Shape
    mesh: gc.Mesh


def _part_of_cell(rng):
    """Which chambers of a cell are filled."""
    kind = rng.integers(0, 8)
    if kind < 2:
        return np.ones(48, bool)
    if kind < 4:  # on one side of a plane of symmetry
        return _OFF @ PLANES[rng.integers(len(PLANES))] > 0
    if kind == 4:  # between two of them
        a, b = (PLANES[k] for k in rng.integers(0, len(PLANES), 2))
        return (_OFF @ a > 0) & (_OFF @ b > 0)
    if kind == 5:  # a pyramid over a face
        axis, sign = rng.integers(3), rng.choice([-1, 1])
        return sign * _OFF[:, axis] == np.abs(_OFF).max(1)
    if kind == 6:  # on the same side or not of two planes: parts that meet in an edge
        a, b = (PLANES[k] for k in rng.integers(0, len(PLANES), 2))
        return (_OFF @ a > 0) == (_OFF @ b > 0)
    return rng.uniform(size=48) < rng.choice([0.1, 0.5, 0.9])


def _outside(parts):
    """The triangles of some chambers that belong to one of them only."""
    kept = {}
    for a, b, c, d in parts.tolist():
        for loop in ((a, c, b), (a, b, d), (b, c, d), (a, d, c)):
            key = frozenset(map(tuple, loop))
            if key in kept:
                del kept[key]
            else:
                kept[key] = loop
    return kept.values()


def solid(rng):
    """A random solid, cut, doubled, reversed or merged, each now and then."""
    wide = 2 if rng.uniform() < 0.4 else 1
    cells, share, own = list(np.ndindex(wide, wide, wide)), rng.uniform(0.2, 0.9), rng.uniform() < 0.5
    filled = []
    while not filled:
        some = _part_of_cell(rng)
        for cell in cells:
            if rng.uniform() < share:
                some = _part_of_cell(rng) if own else some
                filled += list(CHAMBERS[some] + WIDE * np.array(cell))
    parts = np.array(filled)
    s = shapes.quads("solid", _outside(parts))
    return finished(rng, s, parts)


def cells(rng):
    """A union of whole cells, of squares: corners in the middle of edges move in planes of the grid."""
    wide, share = int(rng.integers(1, 4)), rng.uniform(0.2, 0.9)
    some = [c for c in np.ndindex(wide, wide, wide) if rng.uniform() < share] or [(0, 0, 0)]
    s = shapes.quads("cells", shapes.cell_squares(some))
    corners = np.array(list(product((0, WIDE), repeat=3)))
    s = shapes.Shape(s.name, s.vertices * (WIDE // 2), s.loops)
    return finished(rng, s, corners + WIDE * np.array(some)[:, None], 0.3)


def finished(rng, s, parts, merged=0.7):
    merged = rng.uniform() < merged or len(s.loops) > 150
    s = shapes.cut(s, rng) if rng.uniform() < 0.3 else s
    s = shapes.reversed_(s) if rng.uniform() < 0.05 else s
    s = shapes.doubled(s) if rng.uniform() < 0.05 else s
    s = shapes.sided(s) if rng.uniform() < 0.05 else s
    mesh = gc.Mesh(s.vertices, [list(x) for x in s.loops], two_sided=s.two_sided, merge_coplanar=merged)
    return Whole(parts, s, mesh)


def touches_itself(mesh):
    """Does a vertex lie in a face that it is no corner of? Merging could take away what others need."""
    for f in range(mesh.n_faces):
        loop = mesh.face_vertices[mesh.face_start[f] : mesh.face_start[f + 1]]
        corners, normal = mesh.vertices[loop], mesh.face_planes[f, :3]
        off = mesh.vertices[:, None] - corners
        within = np.cross(np.roll(corners, -1, 0) - corners, off) @ normal > -1e-9
        within = within.all(1) & (np.abs(off[:, 0] @ normal) < 1e-9)
        if within.sum() > len(loop):
            return True
    return False


def share_volume(a, b):
    """Do two sets of convex parts (m, k, 3) have any in common but borders?"""
    one, other = a @ AXES.T, b @ AXES.T
    low, high = one.min(1)[:, None], one.max(1)[:, None]
    return bool(((low < other.max(1)) & (high > other.min(1))).all(-1).any())


def solids_at_rest(seed, n, kinds=24):
    """Pairs of solids at rest, on the grid or all turned and moved off it, and which share volume."""
    rng = generator(seed, 79)
    made = [(cells if rng.uniform() < 0.35 else solid)(rng) for _ in range(kinds)]
    shape = rng.integers(0, kinds, (n, 2))
    same = rng.uniform(size=n) < 0.1
    shape[same, 1] = shape[same, 0]
    turn = np.where(rng.uniform(size=n) < 0.4, STAY, rng.integers(0, 24, n))
    step = rng.choice([1, 2, 4, 4], (n, 1))
    deep, place = np.zeros(n, bool), np.zeros((n, 3), int)
    for k, (i, j) in enumerate(shape):
        one, other = made[i].parts, made[j].parts @ TURNS[turn[k]].T
        low = one.min((0, 1)) - other.max((0, 1))
        high = one.max((0, 1)) - other.min((0, 1))
        some = rng.integers(low // step[k], high // step[k] + 1, (rng.integers(1, 4), 3))
        place[k] = step[k] * (some.sum(0) // len(some))
        place[k] = np.where(rng.uniform(size=3) < 0.15, rng.choice([low, high]), place[k])
        deep[k] = share_volume(one, other + place[k])
    rest, scale = np.zeros((n, 3)), rng.choice([1.0, 0.1, 2.0**-30])
    meshes = [m.mesh.scaled(scale) for m in made]
    still = np.tile(QUATS[STAY], (n, 1))
    a, b = (rest, still), (place * scale, QUATS[turn])
    if rng.uniform() < 0.3:  # a world that is turned: nothing is where it should be but by rounding
        world = rng.normal(size=4)
        world /= np.linalg.norm(world)
        w, v = world[0], world[1:]
        off = place * scale
        off = off + 2 * np.cross(v, np.cross(v, off) + w * off)
        a, b = (rest, np.tile(world, (n, 1))), (off, quat_mul(np.tile(world, (n, 1)), QUATS[turn]))
    pose = gc.Poses.from_quat_wxyz(of_two(a[0], b[0]), of_two(a[1], b[1]))
    return gc.Bodies(meshes, shape.reshape(-1), pose, pose), np.arange(2 * n).reshape(n, 2), deep
