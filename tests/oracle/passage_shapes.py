"""Random moves of random shapes: what most families of moves are made of."""

import itertools

import numpy as np

from tests.oracle.passages import Passages, box, hull, l_block, scaled, star, tip, wedge
from tests.oracle.scenes_base import random_axis, random_quat, turn_quat
from tests.oracle.shapes import half_box, pit, sheet, torus
from tests.oracle.solid import RawMesh, apply, rotation_matrix
from tests.support import seeds


def generator(name, seed):
    return seeds.generator(seed, *map(ord, name))


def radii(meshes, shape):
    return np.array([np.linalg.norm(m.vertices, axis=1).max() for m in meshes])[shape]


def aimed(rng, reach, aim=0.7):
    """Start and vector of n moves from outside of spheres of radius `reach`, through or past their middle."""
    n = len(reach)
    way = random_axis(rng, n)
    target = rng.normal(size=(n, 3)) * (aim * reach / 2)[:, None]
    start = target - way * (reach * rng.uniform(1.5, 3, n) + np.linalg.norm(target, axis=1))[:, None]
    return start, (target - start) * rng.uniform(0.5, 2.0, (n, 1))


def lever(rng, reach):
    """A start outside of spheres of radius `reach`, and a turn that carries it through their middle or by."""
    n = len(reach)
    axis = random_axis(rng, n)
    side = np.cross(axis, random_axis(rng, n))
    side /= np.linalg.norm(side, axis=1)[:, None]
    arm = reach * rng.uniform(0.8, 3, n)
    target = rng.normal(size=(n, 3)) * (reach / 4)[:, None]
    origin = target + side * arm[:, None] + axis * (reach * rng.normal(size=n))[:, None]
    away = np.minimum(2 * np.arcsin(np.minimum(reach * 1.2 / (2 * arm), 1)), 2.6)  # clear of the sphere
    back = turn_quat(axis, -away - rng.uniform(0, 0.3, n))
    start = origin + apply(rotation_matrix(back), target - origin)
    return start, np.minimum(away * rng.uniform(0.5, 1.6, n), np.pi), axis, origin


def shaped(name, shapes, turns, size=1.0, far=0.0, mover=None, whole_world_turned=True):
    """A family of random shapes that go at each other."""

    def make(seed, n):
        rng = generator(name, seed)
        meshes = [scaled(m, size) if size != 1.0 else m for m in shapes(rng)]
        one = rng.integers(0, len(meshes), n)
        two = rng.integers(0, len(meshes), n) if mover is None else rng.choice(mover[1], n)
        one = one if mover is None else rng.choice(mover[0], n)
        reach = radii(meshes, one) + radii(meshes, two)
        place = random_axis(rng, n) * far
        still = (two, place, random_quat(rng, n))
        quat = random_quat(rng, n)
        if turns:
            start, angle, axis, origin = lever(rng, reach)
            angle *= rng.choice([-1, 1], n)
            axis *= np.sign(angle)[:, None] * rng.uniform(0.1, 5, (n, 1))  # the axis has any length
            return Passages(
                name, meshes, (one, place + start, quat), still, angle=angle, axis=axis, origin=place + origin
            )
        start, vector = aimed(rng, reach)
        return Passages(name, meshes, (one, place + start, quat), still, vector=vector)

    make.__name__ = name
    return make


def common(rng):
    return [
        box(),
        box((2, 1, 0.5)),
        hull(rng, 6),
        hull(rng, 9),
        l_block(),
        star(rng),
        star(rng, 3),
        tip(1, 1),
    ]


def thin(rng):
    return [box((1, 1, 1e-6)), box((1e-6, 1, 2)), box((1, 1e-5, 1e-5)), hull(rng, 6)]


def sharp(rng):
    return [wedge(d) for d in (1, 2, 3, 5, 7, 10)]


def open_ones(rng):
    return [
        box(),
        hull(rng, 7),
        tip(1, 1),
        sheet(two_sided=True),
        half_box(two_sided=True),
        sheet(),
        half_box(),
    ]


def plates(rng):
    """Single polygons, one-sided and two-sided, and solids."""
    square = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
    angle = np.arange(5) * 2 * np.pi / 5
    five = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
    sides = [(0, 1, 2, 3)], [(0, 1, 2, 3, 4)], [(0, 1, 2)]
    outlines, both = (square, five, five[:3]), (False, True, True)
    flat = [RawMesh(*x) for x in zip(outlines, sides, both, strict=True)]
    return [*flat, box(), hull(rng, 7), sheet(two_sided=True)]


def terrain(rng, n=14):
    """A closed block under a height field of 2 n^2 triangles."""
    k = n + 1
    grid = np.array([[x, y] for x in np.linspace(-2, 2, k) for y in np.linspace(-2, 2, k)])
    high = 0.4 * np.sin(2 * grid[:, 0]) * np.cos(3 * grid[:, 1]) + rng.uniform(-0.1, 0.1, len(grid))
    v = np.concatenate((np.column_stack((grid, high)), np.column_stack((grid, np.full(len(grid), -1.0)))))
    faces = []
    for x in range(n):
        for y in range(n):
            a, b, c, d = x * k + y, (x + 1) * k + y, (x + 1) * k + y + 1, x * k + y + 1
            faces += [(a, b, c), (a, c, d)] if (x + y) % 2 else [(a, b, d), (b, c, d)]
    low, border = k * k, [x * k for x in range(k)] + [n * k + y for y in range(1, k)]
    border += [x * k + n for x in reversed(range(n))] + list(reversed(range(1, n)))
    faces += [(low + a, low + b, b, a) for a, b in itertools.pairwise([*border, 0])]
    faces.append([low + a for a in reversed(border)])
    used = sorted({i for face in faces for i in face})
    return RawMesh(v[used], [[used.index(i) for i in face] for face in faces])


def rough(rng):
    small = scaled(torus(n_major=9, n_minor=6), 0.4), scaled(star(rng), 0.4)
    return [terrain(rng), box((0.3, 0.3, 0.3)), tip(0.3, 0.5), *small, torus(n_major=14, n_minor=9)]


def odd(rng):
    """Meshes far off their own origin, edges of four faces, a pit, boxes joined at an edge."""
    off = box()
    off.vertices = off.vertices + [1000, -500, 250]
    first, second = box(), box()
    faces = [first.face_vertices[4 * i : 4 * i + 4] for i in range(6)]
    weld = {0: 3, 4: 7}  # the second box has the first one's edge from corner 3 to 7 for its own
    corners = np.concatenate((first.vertices, second.vertices + [0, 1, 1]))
    faces += [[weld[k] if k in weld else k + 8 for k in face] for face in faces]
    used = sorted({k for face in faces for k in face})
    joined = RawMesh(corners[used], [[used.index(k) for k in face] for face in faces])
    return [joined, pit(), torus(n_major=7, n_minor=5), box(), hull(rng, 7), off]


def off_origin(name, turns):
    """`odd` meshes; those that are off their origin are put back into the scene by their poses."""
    make_plain = shaped(name, odd, turns)

    def make(seed, n):
        move = make_plain(seed, n)
        for shape, position, quat in (move.mover, move.still):
            rows = shape == 5
            position[rows] -= apply(rotation_matrix(quat[rows]), np.array([1000.0, -500, 250]))
        return move

    make.__name__ = name
    return make
