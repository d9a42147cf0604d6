"""Moves that begin in touch, by seed: `TOUCHING[name](seed, n)` gives n `Passages`.

Convex bodies of whole sizes stand feature on feature, and go or turn by whole numbers. What touches is a
corner, a place on an edge or a place of a face of each, most often edge on edge; places are exact, but for
quarter turns, and turns go about whole axes through whole and half points, among them the place of touch.
All that can vanish does: distances, their slopes, sines between edges. Nothing may be missed. Some are held
that need not be: a corner that stays where it is sinks by rounding (docs/pluecker.md).
"""

from itertools import combinations

import numpy as np

from tests.oracle.passage_shapes import generator
from tests.oracle.passages import Passages, box, convex
from tests.oracle.scenes_base import IDENTITY, turn_quat
from tests.oracle.scenes_whole import BOXES, half_numbers, twelfths, whole_axis
from tests.oracle.shapes import hull_of, prism
from tests.oracle.solid import apply, rotation_matrix

DEEP = 1e-9  # bodies that stand in each other by more are drawn again
ROOF = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]])


def solids():
    return [*(box(size) for size in BOXES), convex(prism(ROOF, [(0, 1, 2)], 2))]


def whole_hull(rng, n):
    """A hull of n whole points, all of them corners, no four in a plane."""
    while True:
        points = rng.integers(-2, 3, (n, 3)).astype(float)
        a, b, c, d = (points[np.array(k)] for k in zip(*combinations(range(n), 4), strict=True))
        if (np.cross(b - a, c - a) * (d - a)).sum(1).all():
            mesh = hull_of(points)
            if len(np.unique(mesh.face_vertices)) == n:
                return convex(mesh)


def whole_solids(rng):
    """Tetrahedra, hulls and boxes of whole numbers."""
    return [whole_hull(rng, n) for n in (4, 4, 4, 4, 5, 6, 7)] + [box(size) for size in BOXES[:2]]


def loops(mesh):
    return [mesh.face_vertices[i:j] for i, j in zip(mesh.face_start, mesh.face_start[1:], strict=False)]


def place_on(rng, mesh, kinds=(0.25, 0.6, 0.15)):
    """A corner, a place on an edge or of a face of the mesh, in quarters; of these kinds so often."""
    faces = loops(mesh)
    loop = faces[rng.integers(len(faces))]
    k = rng.integers(len(loop))
    a, b, c = mesh.vertices[[loop[k], loop[(k + 1) % len(loop)], loop[k - 1]]]
    along, over = rng.choice([0.25, 0.5, 0.75], 2)
    kind = rng.choice(3, p=kinds)
    if len(loop) == 3:
        over = min(over, 1 - along)
    return a + (0 if kind == 0 else along) * (b - a) + (over if kind == 2 else 0) * (c - a)


def depth(one, two):
    """How deep two convex meshes, given as (vertices, loops), stand in each other; below zero: apart."""
    normals, edges = [], []
    for v, faces in (one, two):
        normals += [np.cross(v[f[1]] - v[f[0]], v[f[2]] - v[f[0]]) for f in faces]
        edges.append([v[f[k]] - v[f[k - 1]] for f in faces for k in range(len(f))])
    crossed = np.cross(np.array(edges[0])[:, None], np.array(edges[1])[None]).reshape(-1, 3)
    n = np.concatenate((normals, crossed))
    length = np.linalg.norm(n, axis=1)
    n = n[length > 1e-6] / length[length > 1e-6, None]
    p, q = one[0] @ n.T, two[0] @ n.T
    return np.minimum(p.max(0) - q.min(0), q.max(0) - p.min(0)).min()


def exact_quat(rng):
    """Turns that most often are exact: none, half turns about the coordinate axes; and quarters."""
    kind, axis = rng.uniform(), np.eye(3)[rng.integers(3)]
    if kind < 0.5:
        return IDENTITY
    return np.array([0.0, *axis]) if kind < 0.75 else turn_quat(axis, np.array(np.pi / 2))


def exact_turns(rng, n):
    return np.array([exact_quat(rng) for _ in range(n)])


def placed(rng, meshes, turned=exact_quat, kinds=(0.25, 0.6, 0.15)):
    """Shapes and places of two bodies that touch, and where they do."""
    while True:
        one, two = rng.integers(0, len(meshes), 2)
        q, still = turned(rng), turned(rng)
        matrix, other = rotation_matrix(q), rotation_matrix(still)
        mine, theirs = (m @ place_on(rng, meshes[k], kinds) for m, k in ((matrix, one), (other, two)))
        corner = half_numbers(rng, 1, 2)[0]  # of the still body
        touch = corner + theirs
        position = touch - mine
        bodies = (
            (meshes[k].vertices @ m.T + p, loops(meshes[k]))
            for k, m, p in ((one, matrix, position), (two, other, corner))
        )
        if depth(*bodies) < DEEP:
            return one, position, q, two, corner, still, touch


def touching(seed, n, turns=False):
    """Bodies that touch go whole ways: away, along, and into each other."""
    rng = generator("touching", seed)
    meshes = solids()
    drawn = [placed(rng, meshes) for _ in range(n)]
    one, position, q, two, corner, still, touch = (np.array(x) for x in zip(*drawn, strict=True))
    mover, other = (one, position, q), (two, corner, still)
    axis, length = whole_axis(rng, n, 2)
    if not turns:
        size = np.where(rng.uniform(size=n) < 0.5, 1.0, 1 / length)
        return Passages("touching", meshes, mover, other, vector=axis * size[:, None], start="any")
    # about the place of touch, a place beside it, or one further off
    beside = half_numbers(rng, n, 1)
    where = rng.integers(0, 3, n)[:, None]
    origin = np.where(where == 0, touch, np.where(where == 1, touch + beside, position + 2 * beside))
    return Passages(
        "touching_turn", meshes, mover, other, angle=twelfths(rng, n) * rng.choice([-1, 1], n), axis=axis,
        origin=origin, start="any",
    )  # fmt: skip


def touching_turn(seed, n):
    """The same for turns by whole axes."""
    return touching(seed, n, True)


def solids_touching(seed, n, turns=False):
    """Tetrahedra, hulls and boxes, most often corner on corner, all of whole numbers; they leave, slide along
    edges and faces, and enter."""
    rng = generator("solids_touching", seed)
    meshes = whole_solids(rng)
    drawn = [placed(rng, meshes, lambda _: IDENTITY, (0.6, 0.3, 0.1)) for _ in range(n)]
    one, position, q, two, corner, still, touch = (np.array(x) for x in zip(*drawn, strict=True))
    mover, other = (one, position, q), (two, corner, still)
    way = whole_axis(rng, n, 2)[0]
    for i in np.flatnonzero(rng.uniform(size=n) < 0.5):  # along what the two have
        a, b = (meshes[k[i]].vertices for k in (one, two))
        along = [v[rng.permutation(len(v))[:3]] for v in ((a, a), (b, b), (a, b))[rng.integers(3)]]
        x, y = (v[1] - v[0] for v in along)
        way[i] = rng.integers(-2, 3) * x + rng.integers(-2, 3) * y
    way[~way.any(1)] = [0, 1, 1]
    if not turns:
        return Passages("solids_touching", meshes, mover, other, vector=way, start="any")
    origin = np.where(rng.uniform(size=(n, 1)) < 0.4, touch, touch + half_numbers(rng, n, 2))
    return Passages(
        "solids_touching_turn", meshes, mover, other, angle=twelfths(rng, n) * rng.choice([-1, 1], n),
        axis=way, origin=origin, start="any",
    )  # fmt: skip


def solids_touching_turn(seed, n):
    """The same for turns about whole axes, through the place of touch or beside it."""
    return solids_touching(seed, n, True)


def edge_along_edge_turn(seed, n):
    """Boxes edge along edge, at no distance, that turn about whole axes near the edge."""
    rng = generator("edge_along_edge_turn", seed)
    sizes = np.array(BOXES, float)
    one, two = rng.integers(0, len(BOXES), (2, n))
    side = rng.choice([-1.0, 1.0], (n, 3))
    half = (sizes[one] + sizes[two]) / 2
    along = rng.integers(0, 3, n)
    place = side * half
    rows = np.arange(n)
    place[rows, along] = rng.integers(-1, 2, n) * 0.5 * (half[rows, along] - 0.5)  # they share a stretch
    edge = np.array(side * sizes[two] / 2)
    edge[rows, along] = place[rows, along] / 2
    axis, _ = whole_axis(rng, n)
    origin = edge + half_numbers(rng, n, 1) * rng.choice([0.0, 0.25, 1.0], (n, 1))
    turn = exact_turns(rng, n)
    still = two, np.zeros((n, 3)), turn
    matrix = rotation_matrix(turn)
    return Passages(
        "edge_along_edge_turn", [box(s) for s in BOXES], (one, apply(matrix, place), turn), still,
        angle=twelfths(rng, n) * rng.choice([-1, 1], n), axis=apply(matrix, axis),
        origin=apply(matrix, origin), start="any",
    )  # fmt: skip


TOUCHING = {
    f.__name__: f
    for f in (touching, touching_turn, edge_along_edge_turn, solids_touching, solids_touching_turn)
}
