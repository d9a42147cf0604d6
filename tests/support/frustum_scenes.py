"""Cylinders, cones and frusta in flight past convex bodies: scenes by kinds, motion and family, and their
judge."""

import numpy as np

import gpu_collide as gc
from tests.oracle.convex_first import Convex, Passages, least_turn, screw, spin
from tests.oracle.round_shapes import back, product, turn
from tests.support.seeds import generator

FRUSTA = ("cylinder", "cone", "frustum")
OTHERS = ("box", "hull", "sheet", "sphere", "capsule", "rounded")
KINDS = [(a, b) for a in FRUSTA for b in OTHERS] + [
    (a, b) for k, a in enumerate(FRUSTA) for b in FRUSTA[k:]
]  # fmt: skip
FAMILIES = (
    "random", "whole", "aligned", "flat", "coaxial", "needle", "disc", "speck", "concentric", "tiny", "huge",
    "rest", "touch", "graze", "spin",
)  # fmt: skip
SCALE = {"tiny": 1e-9, "huge": 1e9}
ONE = np.array([1.0, 0.0, 0.0, 0.0])
QUARTERS = np.array([ONE, [0.5**0.5, 0.5**0.5, 0, 0], [0.5**0.5, 0, 0.5**0.5, 0], [0.0, 1, 0, 0]])
SQUARE = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
#: Of the length unit: what is between bodies that touch or graze.
CLOSE = (0.0, 0.0, 1e-14, -1e-14, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3)


def unit(rng, n, k):
    x = rng.normal(size=(n, k))
    return x / np.linalg.norm(x, axis=1)[:, None]


def solids(rng, kind, family, count):
    """Shapes of a kind, as the judge knows them and as meshes."""
    whole, size = family == "whole", SCALE.get(family, 1.0)
    made = []
    for k in range(count):
        half, radius = rng.uniform(0.1, 0.7, 3), rng.uniform(0.1, 0.6)
        if whole:
            half, radius = rng.integers(1, 3, 3) / 2, rng.integers(1, 3) / 2
        if family == "speck" and kind not in FRUSTA:
            half, radius = half * 1e-4, radius * 1e-4
        made.append(_solid(rng, kind, family, whole, half * size, radius * size, k))
    return tuple(zip(*made, strict=True))


def _solid(rng, kind, family, whole, half, radius, k):
    up = np.array([[0, 0, -half[2]], [0, 0, half[2]]])
    if kind in FRUSTA:
        share = {"cylinder": 1.0, "cone": 0.0}.get(kind, 0.5 if whole else rng.uniform(0.2, 1.5))
        ends = radius * (1e-2 if family == "needle" else 1.0) * np.array([1.0, share])
        up = up * (1e-2 if family == "disc" else 1.0)
        if family in ("random", "spin") and k % 3 == 2:  # an axis anywhere in the body
            up = rng.normal(size=3) * half + unit(rng, 1, 3) * half[2] * [[-1], [1]]
        return Convex(up, 0.0, tuple(ends)), gc.Mesh(up, [], ends=ends)
    if kind == "sphere":
        return Convex(np.zeros((1, 3)), radius), gc.shapes.sphere(radius)
    if kind == "capsule":
        return Convex(up, radius), gc.shapes.capsule(radius, 2 * half[2])
    if kind == "sheet":
        points = half * SQUARE if k % 2 else (half * SQUARE)[:3]
        return Convex(points), gc.Mesh(points, [list(range(len(points)))], two_sided=True)
    if kind == "hull":
        points = half * (rng.integers(-1, 2, (14, 3)) if whole else unit(rng, 14, 3))
        points = np.unique(np.concatenate([points, half * np.eye(3), -half * np.eye(3)]), axis=0)
        return Convex(points), gc.shapes.convex_hull(points)
    corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    box = gc.shapes.box(2 * half)
    return (Convex(corners, radius), box.rounded(radius)) if kind == "rounded" else (Convex(corners), box)


def turned(angle, axis):
    half = np.asarray(angle)[:, None] / 2
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=1)


def _paths(rng, n, motion, family, tops, axis):
    """Positions in parts of the scale and rotations, (n, 3) and (n, 4): of both at the start and the end."""
    way = unit(rng, n, 3) * rng.uniform(0.5, 3.5, n)[:, None]
    end = -way * rng.uniform(0, 1, n)[:, None] + 0.9 * rng.normal(size=(n, 3))
    angle, about = rng.choice([0.0, 0.3, 0.8, 2.0], n), unit(rng, n, 3)
    qa, qb, pa = unit(rng, n, 4), unit(rng, n, 4), rng.normal(size=(n, 3))
    go_a = rng.normal(size=(n, 3)) if motion == "body" else np.zeros((n, 3))
    if family in ("whole", "aligned", "flat", "coaxial"):
        qa, qb = QUARTERS[rng.integers(0, 4, (2, n))]
        about = np.eye(3)[rng.integers(0, 3, n)]
    if family in ("whole", "flat", "coaxial", "graze"):
        angle = 0 * angle
    if family == "whole":
        pa, go_a = np.zeros((n, 3)), np.rint(go_a)
        way, end = rng.integers(-3, 4, (2, n, 3)).astype(float)
    if family == "coaxial":
        qb = qa
        way, end = (np.eye(3)[2] * rng.uniform(-3, 3, (n, 1)) for _ in range(2))
        way, end = turn(qa, way), turn(qa, end)
    if family == "concentric":
        way = 1e-3 * way
    if family in ("touch", "graze"):  # the highest places along a direction at one place, but for a little
        sharp = rng.random(n) < 0.5
        qa[sharp], qb[sharp] = QUARTERS[rng.integers(0, 4, (2, sharp.sum()))]
        normal = unit(rng, n, 3)
        normal[sharp] = np.eye(3)[rng.integers(0, 3, sharp.sum())]
        far = rng.choice(CLOSE, n)[:, None] * normal
        way = turn(qa, tops[0](turn(back(qa), normal))) - turn(qb, tops[1](turn(back(qb), -normal))) + far
        end = way + rng.normal(size=(n, 3))
        if family == "graze":
            tangent = np.cross(normal, unit(rng, n, 3))
            way, end = way - 2 * tangent, way + 2 * tangent
    qa1 = product(turned(-0.7 * angle, about), qa) if motion == "body" else qa
    qb1 = product(turned(angle, about), qb)
    if family == "spin":  # nearly about its own axis
        own = axis + rng.choice([0.0, 1e-9, 0.2], n)[:, None] * unit(rng, n, 3)
        qb1 = product(qb, turned(rng.uniform(-3, 3, n), own / np.linalg.norm(own, axis=1)[:, None]))
    pb, pa1, pb1 = pa + way, pa + go_a, pa + go_a + end
    if family == "rest":
        pa1, pb1, qa1, qb1 = pa, pb, qa, qb
    elif motion == "relative" and family != "whole":  # half of them carried by one motion of both
        r = np.where((np.arange(n) % 2 > 0)[:, None], unit(rng, n, 4), ONE)
        pa1, pb1, qa1, qb1 = turn(r, pa1), turn(r, pb1), product(r, qa1), product(r, qb1)
    return (pa, qa, pa1, qa1), (pb, qb, pb1, qb1)


def passes(kinds, n, seed, motion, family, variants=9):
    """Bodies two by two, pairs of them in both orders, and their judge in parts of `scale`."""
    rng, scale = generator(seed, n), SCALE.get(family, 1.0)
    (shapes, meshes), (more, others) = (solids(rng, kind, family, variants) for kind in kinds)
    pick = rng.integers(0, variants, (2, n))
    shapes, meshes, shape = shapes + more, list(meshes + others), (pick.T + [0, variants])

    def top_of(side):
        def top(direction):
            out = np.zeros((n, 3))
            for k in np.unique(shape[:, side]):
                rows = shape[:, side] == k
                out[rows] = shapes[k].top(direction[rows])
            return out / scale

        return top

    axis = np.array([s.axis for s in shapes])[shape[:, 0]]
    # the frustum is B, which turns more
    other, first = _paths(rng, n, motion, family, (top_of(1), top_of(0)), axis)
    ends = [(scale * p, q, scale * r, s) for p, q, r, s in (first, other)]
    start, end = (
        gc.Poses.from_quat_wxyz(
            *(np.stack([e[i] for e in ends], axis=1).reshape(2 * n, -1) for i in (k, k + 1))
        )
        for k in (0, 2)
    )
    if family == "spin" and motion == "body":
        bodies, motions = _spinning(rng, meshes, shape, start, end, ends, axis)
    else:
        bodies = gc.Bodies(meshes, shape.reshape(-1), start, end)
        motions = _screws(shapes, shape, ends, motion)
    pairs = np.arange(2 * n).reshape(n, 2)
    pairs[1::2] = pairs[1::2, ::-1]
    return bodies, pairs, Passages(shapes, shape, motions, scale), scale


def _screws(shapes, shape, ends, motion):
    ends = [(p, q, *least_turn(shapes, shape[:, k], q, r, s)) for k, (p, q, r, s) in enumerate(ends)]
    if motion == "relative":
        (p, q, r, s), (x, y, u, v) = ends
        still, ones = np.zeros_like(p), np.tile(ONE, (len(p), 1))
        seen = turn(back(q), x - p), product(back(q), y), turn(back(s), u - r), product(back(s), v)
        ends = (still, ones, still, ones), seen
    return [screw(*each) for each in ends]


def _spinning(rng, meshes, shape, start, end, ends, axis):
    """Bodies from velocities: the frustum nearly about its own axis, by up to some turns."""
    n, span = len(axis), np.abs(end.position - start.position).max()
    own = turn(ends[0][1], axis) + rng.choice([0.0, 0.0, 0.2], n)[:, None] * unit(rng, n, 3)
    rotation = np.stack(
        [own * rng.uniform(-12, 12, (n, 1)), unit(rng, n, 3) * rng.choice([0.0, 1.0], (n, 1))], axis=1
    )
    center = 0.3 * span / 4 * rng.normal(size=(2 * n, 3)) * (np.arange(2 * n) % 4 > 1)[:, None]
    velocity = end.position - start.position
    rotation = rotation.reshape(2 * n, 3)
    bodies = gc.Bodies.from_velocities(meshes, shape.reshape(-1), start, velocity, rotation, center=center)
    motions = [
        spin(p, q, velocity[k::2], rotation[k::2], center[k::2]) for k, (p, q, _, _) in enumerate(ends)
    ]
    return bodies, motions
