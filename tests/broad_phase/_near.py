"""Meshes of many faces and motions of pairs of them, for the tests of near faces."""

from functools import lru_cache

import numpy as np

import gpu_collide as gc
from tests.oracle.scenes_base import (
    IDENTITY,
    SceneData,
    impact,
    moving_world,
    random_axis,
    random_quat,
    relative_scene,
    resting_world,
    turn_quat,
    unit4,
)
from tests.oracle.solid import apply, quat_mul, rotation_matrix
from tests.support.seeds import generator

UP = np.array([0.0, 0, 1])


def grid(n, m):
    """Quads of a grid of (n, m) cells, counter-clockwise from above; vertex (i, j) is i (m + 1) + j."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    at = i * (m + 1) + j
    return np.stack([at, at + m + 1, at + m + 2, at + 1], axis=1)


def block(k, size=(1.0, 1.0, 1.0)):
    """A box whose sides are k x k quads each."""
    u = np.linspace(-0.5, 0.5, k + 1)
    a, b = np.meshgrid(u, u, indexing="ij")
    points, faces = [], []
    for axis in range(3):
        for side in (-0.5, 0.5):
            p = np.empty((a.size, 3))
            p[:, axis], p[:, (axis + 1) % 3], p[:, (axis + 2) % 3] = side, a.ravel(), b.ravel()
            loops = grid(k, k) + sum(map(len, points))
            points.append(p)
            faces.append(loops if side > 0 else loops[:, ::-1])
    return gc.Mesh(np.concatenate(points) * size, np.concatenate(faces), merge_vertices=True)


def terrain(n, two_sided=False, seed=0, steep=1.0):
    """An open height field of 2 n^2 triangles, 4 units wide, with steep walls."""
    rng = generator(n, seed)
    u = np.linspace(-2, 2, n + 1)
    x, y = np.meshgrid(u, u, indexing="ij")
    z = 0.2 * np.sin(2 * x) * np.cos(1.5 * y) + steep * np.where(np.abs(x + 0.3 * y) > 1.2, 0.6, 0.0)
    z = z + 0.02 * rng.normal(size=z.shape)
    quads = grid(n, n)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return gc.Mesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), faces, two_sided=two_sided)


def ribbon(n):
    """A bent strip of n quads (triangles, so that they are plane): exactly n faces."""
    k = n // 2 + 2
    angle = np.linspace(0.0, 4.0, k)
    points = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    points = np.stack([points - [0, 0.3, 0], points + [0, 0.3, 0]], axis=1).reshape(-1, 3)
    faces = [(t, t + 2, t + 1) if t % 2 else (t, t + 1, t + 2) for t in range(n)]
    return gc.Mesh(points[: n + 2], faces, two_sided=True)


def rubble(n, seed=0):
    """n small boxes, apart, turned anyhow: many parts."""
    rng = generator(n, seed)
    one = gc.shapes.box()
    points = [
        0.15 * one.vertices @ rotation_matrix(random_quat(rng, 1)[0]).T + rng.uniform(-0.6, 0.6, 3)
        for _ in range(n)
    ]
    faces = [(f + 8 * k).tolist() for k in range(n) for f in one.faces]
    return gc.Mesh(np.concatenate(points), faces)


def huge_among_tiny(n=8):
    """One face 6 units wide with tiny spikes on it."""
    points = [[-3, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]]
    faces = [(0, 1, 2, 3)]
    for k in range(n * n):
        x, y = (k % n - n / 2) * 0.2, (k // n - n / 2) * 0.2
        at = len(points)
        points += [[x, y, 0.01], [x + 0.08, y, 0.01], [x, y + 0.08, 0.01], [x, y, 0.2]]
        faces += [(at, at + 2, at + 1), (at, at + 1, at + 3), (at + 1, at + 2, at + 3), (at + 2, at, at + 3)]
    return gc.Mesh(np.array(points, float), faces)


def book(pages=7, k=6):
    """Pages that share one spine: edges of many faces, open, hit from both sides."""
    points, faces = [], []
    for p in range(pages):
        angle = 2 * np.pi * p / pages
        r, z = np.meshgrid(np.linspace(0, 0.8, k + 1), np.linspace(-0.5, 0.5, k + 1), indexing="ij")
        points.append(np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=-1).reshape(-1, 3))
        faces.append(grid(k, k) + p * (k + 1) ** 2)
    return gc.Mesh(np.concatenate(points), np.concatenate(faces), two_sided=True, merge_vertices=True)


def drum(sides=24, rings=6):
    """A cylinder: two polygons of many corners, and quads between."""
    angle = 2 * np.pi * np.arange(sides) / sides
    z = np.linspace(-0.5, 0.5, rings + 1)
    points = np.array([(0.6 * np.cos(a), 0.6 * np.sin(a), h) for h in z for a in angle])
    faces = [
        (r * sides + i, r * sides + (i + 1) % sides, (r + 1) * sides + (i + 1) % sides, (r + 1) * sides + i)
        for r in range(rings)
        for i in range(sides)
    ]
    faces += [tuple(range(sides))[::-1], tuple(range(rings * sides, (rings + 1) * sides))]
    return gc.Mesh(points, faces)


def plates(k=6):
    """Two sheets of k x k quads back to back: the normals of a run of faces can cancel."""
    u = np.linspace(-1, 1, k + 1)
    x, y = np.meshgrid(u, u, indexing="ij")
    sheet = np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3)
    quads = grid(k, k)
    return gc.Mesh(
        np.concatenate([sheet + 0.01 * UP, sheet - 0.01 * UP]),
        np.concatenate([quads, quads[:, ::-1] + len(sheet)]),
    )


MESHES = {
    "block": lambda: block(7),
    "bar": lambda: block(5, (3.0, 0.2, 0.2)),
    "ball": lambda: gc.shapes.icosphere(2),
    "torus": lambda: gc.shapes.torus(n_major=24, n_minor=12),
    "terrain": lambda: terrain(12),
    "terrain2": lambda: terrain(9, two_sided=True, seed=1, steep=3.0),
    "rubble": lambda: rubble(20),
    "huge": huge_among_tiny,
    "book": book,
    "drum": drum,
    "plates": plates,
    "one": lambda: ribbon(1),
    "ribbon31": lambda: ribbon(31),
    "ribbon32": lambda: ribbon(32),
    "ribbon33": lambda: ribbon(33),
    "ribbon64": lambda: ribbon(64),
    "ribbon65": lambda: ribbon(65),
    "box": gc.shapes.box,
    "car": gc.shapes.car,
    "block3": lambda: block(3),
    "ring": lambda: gc.shapes.torus(n_major=10, n_minor=5),
    "hills": lambda: terrain(6),
    "spikes": lambda: huge_among_tiny(4),
    "flyer": lambda: book(4, 3),
    "can": lambda: drum(10, 3),
    "sheets": lambda: plates(4),
}
#: Few faces, for tests that look at all pairs of faces.
SMALL = ("one", "ribbon33", "box", "car", "block3", "ring", "hills", "spikes", "flyer", "can", "sheets")


@lru_cache(maxsize=64)
def mesh(name, scale=1.0):
    made = MESHES[name]()
    if scale == 1.0:
        return made
    return gc.Mesh(made.vertices * scale, [f.tolist() for f in made.faces], two_sided=made.two_sided)


def _swing(rng, n, turn, out, pitch, near=0.0):
    """B turns about any axis that passes within `out` of A's middle, B itself within `out` of the axis."""
    axis, angle = random_axis(rng, n), rng.uniform(*turn, n)
    point = random_axis(rng, n) * rng.uniform(near, out, (n, 1))
    p0 = point + random_axis(rng, n) * rng.uniform(near, out, (n, 1))
    climb = rng.uniform(-pitch, pitch, (n, 1))
    q0, dq = random_quat(rng, n), turn_quat(axis, angle)
    p1 = point + apply(rotation_matrix(dq), p0 - point) + climb * axis
    return p0, q0, p1, unit4(quat_mul(dq, q0))


def _half_way(rng, n, reach, way, angle):
    """Poses half a step before and behind a random place near A."""
    middle, q = random_axis(rng, n) * rng.uniform(0, reach, (n, 1)), random_quat(rng, n)
    step = random_axis(rng, n) * np.reshape(way, (-1, 1))
    return middle - step / 2, q, middle + step / 2, unit4(quat_mul(turn_quat(random_axis(rng, n), angle), q))


def motion(name, rng, n, meshes, sa, sb):
    """Relative poses (p0, q0, p1, q1) of n pairs."""
    radius = np.array([m.radius for m in meshes])
    r = float((radius[sa] + radius[sb]).mean())
    if name == "impact":
        return impact(rng, meshes, sa, sb, np.pi / 4)
    if name == "turns":
        return impact(rng, meshes, sa, sb, np.pi, travel=1.5)
    if name == "translation":
        p0, q0, p1, _ = impact(rng, meshes, sa, sb, 1.0)
        return p0, q0, p1, q0
    if name == "axis":  # through both bodies, often with a pitch
        return _swing(rng, n, (0.05, np.pi), 0.3 * r, r)
    if name == "copies":  # large turns near the axis, so that whole turns come in
        return _swing(rng, n, (2.2, np.pi), 1.2 * r, 4 * r * rng.integers(0, 2), near=0.2 * r)
    if name == "still":
        return _half_way(rng, n, 0.8 * r, np.zeros(n), np.zeros(n))
    if name == "passing":
        return _half_way(rng, n, 0.4 * r, r * rng.uniform(50, 300, n), rng.uniform(0, 0.7, n))
    if name == "tiny":
        return _half_way(rng, n, 0.8 * r, 0.2 * rng.integers(0, 2, n), 10.0 ** rng.uniform(-13, -3, n))
    if name == "half_turn":
        p0, q0, p1, q1 = _half_way(
            rng, n, 0.6 * r, r * rng.uniform(0, 1, n), np.pi - 10.0 ** rng.uniform(-12, -2, n)
        )
        return p0, q0, p1, q1
    if name == "drill":  # along the axis, with many sizes of way
        p0, q0, p1, q1 = _swing(rng, n, (0.5, np.pi), 0.2 * r, 0.0)
        axis = random_axis(rng, n)
        angle = rng.uniform(0.5, np.pi, n)
        away = r * rng.uniform(1, 30, (n, 1))
        return p0 - away * axis, q0, p0 + away * axis, unit4(quat_mul(turn_quat(axis, angle), q0))
    raise KeyError(name)


MOTIONS = (
    "impact",
    "turns",
    "translation",
    "axis",
    "copies",
    "still",
    "passing",
    "tiny",
    "half_turn",
    "drill",
)


def scene_of(name, meshes, sa, sb, poses, world):
    made = relative_scene(name, meshes, np.asarray(sa), np.asarray(sb), *poses, world)
    return SceneData(name, meshes, made.shape, made.start, made.end, made.pairs, list(meshes))


def scene(kind, n, seed=0, names=tuple(MESHES), scale=1.0):
    """n pairs of meshes in motion; B is `scale` times as large."""
    rng = generator(seed, sum(map(ord, kind)))
    meshes = [mesh(k) for k in names] + [mesh(k, scale) for k in names]
    sa = rng.integers(0, len(names), n)
    sb = rng.integers(0, len(names), n) + len(names)
    poses = motion(kind, rng, n, meshes, sa, sb)
    world = moving_world(rng, n) if seed % 2 else resting_world(n)
    return scene_of(kind, meshes, sa, sb, poses, world)


def slides(n, seed=0):
    """Bodies that stand or slide on flat ground of many faces, at rest, along its grid, or turning."""
    rng = generator(seed, 3)
    ground = plates_floor()
    meshes = [ground, mesh("block"), mesh("box"), mesh("drum"), mesh("car")]
    sb = rng.integers(1, len(meshes), n)
    bottom = np.array([m.vertices[:, 2].min() for m in meshes])[sb]
    p0 = np.stack([rng.choice([-0.5, 0.0, 0.25, 0.31], n), rng.choice([-0.5, 0.0, 0.17], n), -bottom], 1)
    way = rng.choice([0.0, 0.0, 1.0, 0.37], (n, 2)) * rng.choice([-1, 1], (n, 2))
    p1 = p0 + np.column_stack([way, np.zeros(n)])
    angle = rng.choice([0.0, 0.0, 0.3, np.pi / 2, 1e-9], n)
    q1 = turn_quat(np.tile(UP, (n, 1)), angle)
    return scene_of(
        "slides", meshes, np.zeros(n, int), sb, (p0, np.tile(IDENTITY, (n, 1)), p1, q1), resting_world(n)
    )


@lru_cache(maxsize=16)
def wheel(n, seed):
    """n blocks of many faces somewhere on a circle of radius 1 about the z axis."""
    rng = generator(n, seed)
    one, angle = block(3), rng.uniform(-np.pi, np.pi, n)
    at = np.stack([np.cos(angle), np.sin(angle), rng.uniform(-0.1, 0.1, n)], axis=1)
    at *= rng.uniform(0.9, 1.1, (n, 1))
    points = [0.15 * one.vertices @ rotation_matrix(random_quat(rng, 1)[0]).T + x for x in at]
    return gc.Mesh(
        np.concatenate(points), [(f + len(one.vertices) * k).tolist() for k in range(n) for f in one.faces]
    )


def wheels(n, seed=0):
    """Wheels with few blocks that turn about nearly the same axis, side by side or climbing through each
    other: what meets what is often a whole turn away on the screen."""
    rng = generator(seed, 4)
    meshes = [wheel(k, seed + k) for k in (3, 4, 4, 5)]
    axis = UP + 0.02 * rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    turn = rng.uniform(1.5, np.pi, n) * np.where(np.arange(n) % 3, 1.0, 0.01)
    q0 = turn_quat(np.tile(UP, (n, 1)), rng.uniform(-np.pi, np.pi, n))
    q1 = unit4(quat_mul(turn_quat(axis, turn), q0))
    height = rng.choice([0.0, 0.1, 0.5], n)[:, None] * UP
    off = 0.03 * rng.normal(size=(n, 3))
    which = rng.integers(0, len(meshes), (2, n))
    poses = off - height, q0, off + height, q1
    return scene_of("wheels", meshes, *which, poses, resting_world(n))


def slope(ratio, seed):
    """A small box, a cell of its own mesh on far larger faces, turns on the spot about their normal; the
    ground is tilted in its own coordinates, so that nothing about the normal is round."""
    rng = generator(seed, 19)
    tilt = random_quat(rng, 1)
    turned = rotation_matrix(tilt)[0]
    k = 12
    x, y = np.meshgrid(np.linspace(-1, 1, k + 1), np.linspace(-1, 1, k + 1), indexing="ij")
    ground = gc.Mesh(np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3) @ turned.T, grid(k, k))
    small = gc.Mesh(block(2).vertices * ratio, [f.tolist() for f in block(2).faces])
    n = 6
    at = np.column_stack([rng.uniform(-0.5, 0.5, (n, 2)), np.full(n, 0.5 * ratio)]) @ turned.T
    up, angle = turned[:, 2], rng.choice([0.3, 1.0, 3.0], n)
    q0 = np.repeat(tilt, n, axis=0)
    q1 = unit4(quat_mul(turn_quat(np.tile(up, (n, 1)), angle), q0))
    return scene_of("slope", [ground, small], [0] * n, [1] * n, (at, q0, at, q1), resting_world(n))


@lru_cache(maxsize=1)
def plates_floor(k=12):
    """Flat ground of k x k quads, 6 units wide, its top at z = 0, with a wall of the same grid at its end."""
    u = np.linspace(-3, 3, k + 1)
    x, y = np.meshgrid(u, u, indexing="ij")
    flat = np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3)
    wall = np.stack([0 * x + 3, y, x + 3], axis=-1).reshape(-1, 3)
    quads = grid(k, k)
    return gc.Mesh(
        np.concatenate([flat, wall]), np.concatenate([quads, quads[:, ::-1] + len(flat)]), merge_vertices=True
    )
