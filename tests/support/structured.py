"""Scenes in which whatever can coincide does: whole-number shapes that start together, slide, drop and turn.

`scene(seed, n)` is a `SceneData`: shapes with corners on a grid of halves (boxes, their faces cut 2 x 2,
tips, bolts, sheets, twins, slivers), turned by quarters and eighths, moving by halves.
"""

import numpy as np

from tests.oracle.scenes_base import IDENTITY, relative_scene, resting_world, turn_quat, unit4
from tests.oracle.shapes import box, l_block, sheet
from tests.oracle.solid import RawMesh, apply, quat_mul, rotation_matrix
from tests.support.seeds import generator


def loops(mesh):
    ends = zip(mesh.face_start, mesh.face_start[1:], strict=False)
    return [mesh.face_vertices[i:j].tolist() for i, j in ends]


def joined(*parts):
    """One mesh of several, with vertices of their own."""
    corners, faces, base = [], [], 0
    for part, shift in parts:
        corners.append(part.vertices + shift)
        faces += [[base + v for v in loop] for loop in loops(part)]
        base += len(part.vertices)
    return RawMesh(np.concatenate(corners), faces)


def cut_box(size=(2, 2, 1), cuts=2):
    """A box with every face cut into cuts x cuts, coplanar neighbours sharing corners."""
    known, faces = {}, []

    def corner(x):
        return known.setdefault(tuple(np.round(x, 9).tolist()), len(known))

    for axis in range(3):
        for side in (-1, 1):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for i in range(cuts):
                for j in range(cuts):
                    loop = []
                    for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        x = np.zeros(3)
                        x[axis], x[u], x[v] = side, 2 * (i + du) / cuts - 1, 2 * (j + dv) / cuts - 1
                        loop.append(corner(x * np.asarray(size) / 2))
                    faces.append(loop if side > 0 else loop[::-1])
    return RawMesh(np.array(list(known)), faces)


def octahedron():
    v = np.concatenate((np.eye(3), -np.eye(3)))
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    return RawMesh(v, faces)


def tent():
    """A ridge of a right angle over a square."""
    v = [[-1, -1, -0.5], [1, -1, -0.5], [1, 1, -0.5], [-1, 1, -0.5], [-1, 0, 0.5], [1, 0, 0.5]]
    return RawMesh(v, [(3, 2, 1, 0), (0, 1, 5, 4), (2, 3, 4, 5), (1, 2, 5), (3, 0, 4)])


def tip():
    """A steep pyramid that stands on its apex."""
    v = [[0, 0, -1], [0.5, 0, 0.5], [0, 0.5, 0.5], [-0.5, 0, 0.5], [0, -0.5, 0.5]]
    return RawMesh(v, [(1, 2, 3, 4), (0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4)])


def bolt():
    """An eight-sided shank under an eight-sided head: a ring of reflex edges."""
    k = np.arange(8)
    ring = np.stack((np.cos(k * np.pi / 4), np.sin(k * np.pi / 4)), 1)
    levels = [(0.5, -1.0), (0.5, 0.0), (1.0, 0.0), (1.0, 0.5)]
    v = np.concatenate([np.column_stack((ring * r, np.full(8, z))) for r, z in levels])
    faces = [k[::-1].tolist(), (k + 24).tolist()]
    for lower in (0, 8, 16):
        faces += [[lower + i, lower + (i + 1) % 8, lower + 8 + (i + 1) % 8, lower + 8 + i] for i in range(8)]
    return RawMesh(v, faces)


def shapes():
    return [
        box(), box((2, 2, 1)), cut_box(), cut_box((1, 1, 1)), octahedron(), tent(), tip(), bolt(), l_block(),
        sheet(), sheet(two_sided=True), RawMesh([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]],
        [(0, 1, 2, 3)], two_sided=True), joined((box(), [0, 0, 0]), (box(), [1, 0, 0])),
        joined((box(), [0, 0, 0]), (box(), [0, 0, 0])), box((1, 1, 1e-5)), box((1e-5, 2, 1)),
    ]  # fmt: skip


def scene(seed, n, kinds=(0, 1, 2, 3, 4)):
    """n pairs of structured shapes. Kinds: 0 moves by halves, 1 slides on a common plane, 2 turns about a
    whole-number axis, 3 starts at the same place, of the same shape, 4 drops corner first."""
    rng = generator(seed, 4)
    meshes = shapes()
    sa, sb = rng.integers(0, len(meshes), (2, n))
    kind = rng.choice(kinds, n)
    sb = np.where((kind == 3) & (rng.uniform(size=n) < 0.7), sa, sb)
    low, high = (np.array([f(m.vertices, axis=0) for m in meshes]) for f in (np.min, np.max))
    p0, p1 = rng.integers(-6, 7, (n, 3)) / 2, rng.integers(-3, 4, (n, 3)) / 2
    grid = np.array(
        [[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)]
    )
    axis = grid[rng.integers(0, len(grid), n)] / 1.0
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    up = np.tile([0.0, 0, 1], (n, 1))
    turned = turn_quat(axis, rng.choice([0, 0, np.pi / 4, np.pi / 2], n))
    yaw = turn_quat(up, rng.choice([0, 0, np.pi / 4, np.pi / 2, 0.3], n))
    dq = turn_quat(axis, rng.choice([np.pi / 4, np.pi / 2, np.pi, 1.0], n))
    about_up = turn_quat(up, rng.choice([0, 0, 0, np.pi / 2, 0.5], n))
    still = np.tile(IDENTITY, (n, 1))
    pick = [kind == k for k in range(5)]
    q0 = np.select([x[:, None] for x in pick], [turned, yaw, turned, still, turned])
    step = np.select(
        [x[:, None] for x in pick], [still, about_up, dq, np.where(sa[:, None] % 2, dq, still), still]
    )
    q1 = unit4(quat_mul(step, q0))
    # slides: B's bottom on A's top
    top = high[sa, 2] - low[sb, 2]
    p0[pick[1], 2] = p1[pick[1], 2] = top[pick[1]]
    p0[pick[1], :2] = np.round(p0[pick[1], :2] / 2 * 2) / 2
    p0[pick[3]] = 0.0
    for i in np.nonzero(pick[4])[0]:
        # a corner of B comes down on a corner, or on the middle of an edge, of A
        a, b = meshes[sa[i]], meshes[sb[i]]
        ends = loops(a)[rng.integers(len(loops(a)))][:2]
        target = a.vertices[ends].mean(0) if rng.integers(2) else a.vertices[ends[0]]
        corner = apply(rotation_matrix(q0[i : i + 1]), b.vertices[rng.integers(len(b.vertices))][None])[0]
        way = grid[rng.integers(len(grid))] / 1.0
        p0[i], p1[i] = target - corner - way, target - corner + way
    return relative_scene("structured", meshes, sa, sb, p0, q0, p1, q1, resting_world(n))
