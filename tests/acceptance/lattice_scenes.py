"""Scenes of whole-number shapes: shifts and screws of pairs, dense meshes, and worlds of many bodies."""

from dataclasses import dataclass

import numpy as np

import gpu_collide as gc
from tests.oracle import lattice_shapes as shapes
from tests.oracle.scenes_base import IDENTITY, SceneData, turn_quat, unit4
from tests.oracle.solid import RawMesh, apply, quat_mul, rotation_matrix
from tests.support.seeds import generator

TURNS = shapes.rotations()
QUATS = np.array([shapes.quaternion(m) for m in TURNS])
STAY = next(k for k, m in enumerate(TURNS) if np.array_equal(m, np.eye(3)))
ANGLES = np.array([
    np.pi / 2, np.pi / 2, np.pi / 2, np.pi, 2 * np.pi / 3, np.pi / 3, np.pi / 4, 2 * np.arctan(0.5),
    np.arctan2(3, 4), 1e-3, 1e-6, np.pi - 1e-6, np.pi - 1e-12,
])  # fmt: skip


@dataclass
class Shifts:
    """n motions of one shape beside another: B, turned by a whole matrix, goes from p to p + d as A sees
    it."""

    a: shapes.Shape
    b: shapes.Shape
    turn: np.ndarray
    p: np.ndarray
    d: np.ndarray
    bodies: gc.Bodies
    pairs: np.ndarray


def of_two(a, b):
    """Poses of bodies 2i and 2i + 1 from those of all A and all B."""
    return np.stack((a, b), 1).reshape(2 * len(a), -1)


def reach(a, b_corners):
    """The whole vectors between which B's box meets A's."""
    return a.vertices.min(0) - b_corners.max(0), a.vertices.max(0) - b_corners.min(0)


def along_axes(rng, way, share=0.5):
    """Some ways along one axis of the grid, or in one of its planes."""
    n = len(way)
    one = np.eye(3, dtype=int)[rng.integers(0, 3, n)]
    kind = rng.uniform(size=(n, 1))
    return np.where(kind < share / 2, way * one, np.where(kind < share, way * (1 - one), way))


def any_shape(rng, most):
    """One that has a name, or a random union of cells, of at most so many corners."""
    while True:
        if rng.uniform() < 0.6:
            s = shapes.named()[rng.integers(len(shapes.named()))]
        else:
            s = shapes.cells(rng, int(rng.integers(2, 4)), rng.uniform(0.2, 0.9))
        if len(s.vertices) <= most:
            return s


def shifts(seed, n, most=90):
    """A pair of shapes on n whole-number translations, in a world in which A is turned and moves too."""
    rng = generator(seed, 71)
    a, b = any_shape(rng, most), any_shape(rng, most)
    turn, own = (TURNS[STAY if rng.uniform() < 0.5 else rng.integers(24)] for _ in range(2))
    low, high = reach(a, b.vertices @ turn.T)
    p = rng.integers(low - 3, high + 4, (n, 3))
    d = along_axes(rng, rng.integers(low - 1, high + 2, (n, 3)) - p)
    d[rng.uniform(size=n) < 0.02] = 0
    x0 = rng.integers(-5, 6, (n, 3))
    x1 = x0 + rng.integers(-5, 6, (n, 3)) * (rng.uniform(size=(n, 1)) < 0.5)
    quat = np.tile((shapes.quaternion(own), shapes.quaternion(own @ turn)), (n, 1))
    start, end = (of_two(x, x + y @ own.T).astype(float) for x, y in ((x0, p), (x1, p + d)))
    poses = (gc.Poses.from_quat_wxyz(x, quat) for x in (start, end))
    bodies = gc.Bodies([a.mesh(), b.mesh()], np.tile([0, 1], n), *poses)
    return Shifts(a, b, turn, p, d, bodies, np.arange(2 * n).reshape(n, 2))


def turned(rng, n, share):
    """Quaternions of whole turns, `share` of them not the identity."""
    return np.where(rng.uniform(size=(n, 1)) < share, QUATS[rng.integers(0, 24, n)], IDENTITY)


def halved(x):
    """Halves where there is but rounding off them."""
    return np.where(np.abs(2 * x - np.round(2 * x)) < 1e-12, np.round(2 * x) / 2, x)


def lattice_screws(seed, n):
    """Small shapes on screws about axes through points of the grid; A is turned, and may move itself."""
    rng = generator(seed, 72)
    few = [any_shape(rng, 26) for _ in range(8)]
    meshes = [RawMesh(s.vertices, [list(loop) for loop in s.loops], s.two_sided) for s in few]
    sa, sb = rng.integers(0, len(meshes), (2, n))
    wide = np.array([np.abs(s.vertices).max() for s in few])
    far = (wide[sa] + wide[sb])[:, None]
    p, c = (rng.integers(-far - k, far + k + 1, (n, 3)).astype(float) for k in (1, 0))
    c = np.where(rng.uniform(size=(n, 1)) < 0.2, p, c)
    main = np.eye(3)[rng.integers(0, 3, n)] * rng.choice([-1, 1], (n, 1))
    axis = rng.integers(-2, 3, (n, 3)).astype(float)
    axis = np.where((rng.uniform(size=(n, 1)) < 0.6) | ~axis.any(1)[:, None], main, axis)
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    dq = turn_quat(axis, rng.choice(ANGLES, n))
    pitch = rng.choice([0.0, 0.0, 0.0, 1.0, -1.0, 2.0, -2.0, 3.0], (n, 1))
    q = turned(rng, n, 0.5)
    last = halved(c + apply(rotation_matrix(dq), p - c) + pitch * axis)
    own0, own1 = turned(rng, n, 0.5), turned(rng, n, 0.3)
    own1 = np.where(rng.uniform(size=(n, 1)) < 0.5, own0, own1)
    x0, x1 = rng.integers(-5, 6, (2, n, 3)).astype(float)
    x1 = np.where(rng.uniform(size=(n, 1)) < 0.5, x0, x1)
    start, end = (
        (of_two(x, x + halved(apply(rotation_matrix(o), y))), of_two(o, unit4(quat_mul(o, z))))
        for x, o, y, z in ((x0, own0, p, q), (x1, own1, last, quat_mul(dq, q)))
    )
    shape = of_two(sa, sb)[:, 0].astype(np.int32)
    return SceneData("lattice_screws", meshes, shape, start, end, np.arange(2 * n).reshape(n, 2))


def cells_at_rest(seed, n, kinds=40):
    """Pairs of bodies at rest, unions of cells two wide on the grid; and whether they share a part of one."""
    rng = generator(seed, 77)
    cells, meshes = [], []
    for _ in range(kinds):
        wide, share = int(rng.integers(1, 4)), rng.uniform(0.2, 0.9)
        some = [c for c in np.ndindex(wide, wide, wide) if rng.uniform() < share] or [(0, 0, 0)]
        s = shapes.quads("cells", shapes.cell_squares(some))
        meshes.append((shapes.cut(s, rng) if rng.uniform() < 0.3 else s).mesh())
        cells.append(2 * np.array(some))
    shape, turn = rng.integers(0, kinds, (n, 2)), rng.integers(0, 24, n)
    place = rng.integers(-5, 6, (n, 3))
    deep = np.zeros(n, bool)
    for k, ((i, j), m) in enumerate(zip(shape, TURNS[turn], strict=True)):
        corners = np.stack((cells[j] @ m.T, (cells[j] + 2) @ m.T)) + place[k]
        apart = np.abs(corners.min(0)[:, None] - cells[i][None])
        deep[k] = (apart < 2).all(-1).any()
    rest, still = np.zeros((n, 3)), np.tile(IDENTITY, (n, 1))
    pose = gc.Poses.from_quat_wxyz(of_two(rest, place).astype(float), of_two(still, QUATS[turn]))
    return gc.Bodies(meshes, shape.reshape(-1), pose, pose), np.arange(2 * n).reshape(n, 2), deep


def dense_shape(rng, m):
    """Blocks, slabs, towns and combs of many squares, m cells wide; some cut, inside out or two-sided."""
    kind = rng.integers(0, 6)
    if kind == 0:
        s = shapes.of_cells("block", np.ndindex(m, m, m))
    elif kind == 1:
        s = shapes.of_cells("slab", np.ndindex(3 * m, 3 * m, 1))
    elif kind == 2:
        high = rng.integers(1, 4, (2 * m, 2 * m))
        s = shapes.of_cells("town", [(*x, z) for x in np.ndindex(2 * m, 2 * m) for z in range(high[x])])
    elif kind == 3:
        s = shapes.of_cells("comb", [x for x in np.ndindex(4 * m, m, 3) if x[2] == 0 or x[0] % 2])
    elif kind == 4:
        s = shapes.grid(3 * m)
    else:
        s = shapes.cells(rng, m, 0.7)
    for change, share in ((lambda x: shapes.cut(x, rng), 0.4), (shapes.sided, 0.1), (shapes.reversed_, 0.1)):
        s = change(s) if rng.uniform() < share else s
    return s


def dense(seed, n, m):
    """Two dense shapes, as `a`, `b`, and n motions of B: (p0, q0), (p1, q1), most of them along the grid."""
    rng = generator(seed, 73)
    a = dense_shape(rng, m)
    b = dense_shape(rng, m) if rng.uniform() < 0.6 else any_shape(rng, 40)
    a, b = (b, a) if rng.uniform() < 0.5 else (a, b)
    low, high = reach(a, b.vertices)
    p = rng.integers(low - 2, high + 3, (n, 3)).astype(float)
    way = rng.integers(low - 1, high + 2, (n, 3)) - p
    way = np.where(rng.uniform(size=(n, 1)) < 0.5, np.sign(way) * rng.integers(0, 4, (n, 3)), way)
    way = along_axes(rng, way, 0.6)
    q = turned(rng, n, 0.4)
    dq = turn_quat(np.eye(3)[rng.integers(0, 3, n)], rng.choice([np.pi / 2, np.pi / 2, np.pi, 1e-3, 0.3], n))
    c = rng.integers(low, high + 1, (n, 3))
    turns = rng.uniform(size=(n, 1)) < 0.4
    last = np.where(turns, halved(c + apply(rotation_matrix(dq), p - c)), p + way)
    return a, b, (p, q), (last, np.where(turns, quat_mul(dq, q), q))


def beside(a, b, start, end):
    """Bodies 2i, shape a at rest at the origin, and 2i + 1, shape b; and the pairs."""
    n = len(start[0])
    rest = np.zeros((n, 3)), np.tile(IDENTITY, (n, 1))
    poses = (
        gc.Poses.from_quat_wxyz(*(of_two(x, y) for x, y in zip(rest, z, strict=True))) for z in (start, end)
    )
    return gc.Bodies([a, b], np.tile([0, 1], n), *poses), np.arange(2 * n).reshape(n, 2)


def crowd(seed, n, frames, mixed):
    """Meshes, shapes and frames (t, n, 3), (t, n, 4) of bodies on the grid; `mixed`: sizes 2^-30 to 2^30."""
    rng = generator(seed, 74)
    few = [any_shape(rng, 60) for _ in range(7)]
    scale = 2.0 ** rng.choice([0, 0, -10, -30, 10, 30], 7) if mixed else np.ones(7)
    meshes = [s.mesh(k) for s, k in zip(few, scale, strict=True)]
    position, quat = [rng.integers(-8, 9, (n, 3)).astype(float)], [turned(rng, n, 0.5)]
    for _ in range(frames - 1):
        way = along_axes(rng, rng.integers(-8, 9, (n, 3)) * (rng.uniform(size=(n, 1)) < 0.7))
        dq = turn_quat(np.eye(3)[rng.integers(0, 3, n)], rng.choice([np.pi / 2, np.pi, 0.5], n))
        turns = rng.uniform(size=(n, 1)) < 0.3
        position.append(position[-1] + way)
        quat.append(np.where(turns, quat_mul(dq, quat[-1]), quat[-1]))
    return meshes, rng.integers(0, 7, n).astype(np.int32), np.array(position), np.array(quat)
