"""Scenes for clearance: (bodies, pairs) by seed, of what makes distances hard: faces and edges that stay
parallel, gaps down to nothing, what lies within, is thin, huge, tiny, open, or does not move."""

import numpy as np

import gpu_collide as gc
from gpu_collide.bodies import quaternion

BOX, BLOCK, TRIANGLE = (
    gc.shapes.box(),
    gc.shapes.l_block(),
    gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]),
)
STAR = gc.shapes.star()
NEEDLE = gc.shapes.box((1.0, 1e-3, 1e-3))
PLATE = gc.shapes.box((1.0, 1.0, 1e-6))
TRAY = gc.Mesh(BOX.vertices, BOX.faces[:-1])
ONE = np.array([1.0, 0.0, 0.0, 0.0])


def quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def turns(rng, n, angles):
    axis = rng.normal(size=(n, 3))
    return about(axis / np.linalg.norm(axis, axis=1, keepdims=True), rng.choice(angles, n))


def about(axis, angle):
    half = 0.5 * np.asarray(angle)
    return np.column_stack([np.cos(half), np.sin(half)[:, None] * axis])


def scene(meshes, shape, p0, q0, p1, q1):
    n = len(shape) // 2
    bodies = gc.Bodies(meshes, shape, gc.Poses.from_quat_wxyz(p0, q0), gc.Poses.from_quat_wxyz(p1, q1))
    return bodies, np.arange(2 * n).reshape(-1, 2)


def random(rng, n, meshes=None, scale=1.0, offset=0.0, angles=(0.0, 0.35, 0.8, 2.5)):
    """Any shapes, both on the move."""
    meshes = meshes or [BOX, BLOCK, TRIANGLE, gc.shapes.convex_hull(rng.normal(size=(9, 3)))]
    p0 = scale * rng.normal(size=(2 * n, 3)) * 1.8 + offset
    p1 = p0 + scale * rng.normal(size=(2 * n, 3)) * 1.5
    q0 = quaternions(rng, 2 * n)
    q1 = quaternion.multiply(turns(rng, 2 * n, angles), q0)
    if scale != 1.0:
        meshes = [mesh.scaled(scale) for mesh in meshes]
    return scene(meshes, rng.integers(0, len(meshes), 2 * n), p0, q0, p1, q1)


def meeting(rng, n):
    """Solids that go towards each other, and mostly meet."""
    bodies, pairs = random(rng, n, [BOX, BLOCK, STAR])
    p0, p1 = bodies.start.position.copy(), bodies.end.position.copy()
    p0[1::2] += 2.5 * np.sign(p0[1::2])
    p1[1::2] = p1[::2] + rng.normal(size=(n, 3)) * 0.7
    return scene(bodies.meshes, bodies.shape, p0, bodies.start.quat_wxyz, p1, bodies.end.quat_wxyz)


def whole(rng, n):
    """Boxes and blocks on a grid that go by whole numbers and turn by quarters: everything is parallel."""
    p0 = rng.integers(-3, 4, (2 * n, 3)).astype(float)
    p1 = p0 + rng.integers(-3, 4, (2 * n, 3))
    axes = np.eye(3)[rng.integers(0, 3, 2 * n)]
    q0 = about(axes, rng.integers(0, 4, 2 * n) * 0.5 * np.pi)
    q1 = q0.copy()  # one turns at most: half a turn of one beside the other may go either way
    quarter = about(np.eye(3)[rng.integers(0, 3, n)], rng.integers(0, 2, n) * 0.5 * np.pi)
    q1[1::2] = quaternion.multiply(quarter, q0[1::2])
    return scene([BOX, BLOCK], rng.integers(0, 2, 2 * n), p0, q0, p1, q1)


def planar(rng, n):
    """Boxes that drive on a floor: edges stay upright, faces level."""
    p0 = np.column_stack([rng.normal(size=(2 * n, 2)) * 1.5, np.zeros(2 * n)])
    p1 = p0 + np.column_stack([rng.normal(size=(2 * n, 2)), np.zeros(2 * n)])
    up = np.tile([0.0, 0.0, 1.0], (2 * n, 1))
    q0 = about(up, rng.uniform(0, 6, 2 * n))
    q1 = quaternion.multiply(about(up, rng.uniform(-1, 1, 2 * n)), q0)
    return scene([BOX, gc.shapes.box((2.0, 0.8, 1.0))], rng.integers(0, 2, 2 * n), p0, q0, p1, q1)


def grazing(rng, n):
    """A box that goes over another, or turns above it, at a gap down to nothing."""
    gap = rng.choice([1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 0.0], n)
    p0, p1 = np.zeros((2 * n, 3)), np.zeros((2 * n, 3))
    p0[1::2] = np.column_stack([rng.uniform(-3, -1.5, n), rng.uniform(-1, 1, n), 1.0 + gap])
    p1[1::2] = p0[1::2] * [-1, 1, 1]
    q0, q1 = np.tile(ONE, (2 * n, 1)), np.tile(ONE, (2 * n, 1))
    up = np.tile([0.0, 0.0, 1.0], (n, 1))
    q0[1::2] = about(up, rng.choice([0.0, 0.3], n))
    q1[1::2] = quaternion.multiply(about(up, rng.choice([0.0, 0.7], n)), q0[1::2])
    return scene([BOX], np.zeros(2 * n, int), p0, q0, p1, q1)


def resting(rng, n):
    """Boxes that stand on one another or beside one, at gaps that stay, and do not move, or together."""
    gap = rng.choice([1e-3, 1e-7, 1e-9, 1e-10, 1e-12, 0.0], n)
    p0 = np.zeros((2 * n, 3))
    p0[1::2] = np.column_stack([rng.uniform(-0.9, 0.9, n), rng.uniform(-0.9, 0.9, n), 1.0 + gap])
    q = np.tile(ONE, (2 * n, 1))
    way = np.repeat(rng.choice([0.0, 1.0], n)[:, None] * rng.normal(size=(n, 3)), 2, axis=0)
    slide = np.zeros((2 * n, 3))
    slide[1::2, 0] = rng.choice([0.0, 0.5], n)
    return scene([BOX], np.zeros(2 * n, int), p0, q, p0 + way + slide, q)


def nested(rng, n):
    """Small bodies within large ones: in a tray, in the hole of a ring, in a solid."""
    small, ring = gc.shapes.box((0.2, 0.2, 0.2)), gc.shapes.torus(1.0, 0.3, 8, 6)
    shape = np.column_stack([rng.integers(0, 3, n), np.full(n, 3)]).reshape(-1)
    p0 = np.zeros((2 * n, 3))
    p0[1::2] = rng.uniform(-0.25, 0.25, (n, 3))
    p1 = p0.copy()
    p1[1::2] += rng.uniform(-0.2, 0.2, (n, 3))
    q0 = np.tile(ONE, (2 * n, 1))
    q1 = q0.copy()
    q1[1::2] = turns(rng, n, [0.0, 0.5, 2.0])
    return scene([TRAY, ring, BOX, small], shape, p0, q0, p1, q1)


def thin(rng, n):
    """Needles and plates."""
    return random(rng, n, [NEEDLE, PLATE, BOX])


def huge(rng, n):
    """Kilometres, far from the origin."""
    return random(rng, n, scale=1e5, offset=1e7)


def tiny(rng, n):
    return random(rng, n, scale=1e-6)


def speck(rng, n):
    """A body beside one that is a hundred thousand times as large."""
    bodies, pairs = random(rng, n, [BOX.scaled(1e-5), BOX])
    return bodies, pairs


def sheets(rng, n):
    """Open meshes, many of which cross."""
    meshes = [TRIANGLE, gc.Mesh(TRIANGLE.vertices, [[0, 1, 2]], two_sided=True), TRAY]
    return random(rng, n, meshes)


def alike(rng, n):
    """One stands, or both move together."""
    bodies, pairs = random(rng, n)
    p0, q0 = bodies.start.position, bodies.start.quat_wxyz
    p1, q1 = bodies.end.position.copy(), bodies.end.quat_wxyz.copy()
    still = rng.integers(0, 3, n)
    for k in range(n):
        if still[k] == 2:  # together, by one motion of the world
            turn = turns(rng, 1, [0.8])[0]
            shift = rng.normal(size=3)
            for body in pairs[k]:
                p1[body] = quaternion.rotate(turn, p0[body]) + shift
                q1[body] = quaternion.multiply(turn, q0[body])
        else:
            body = pairs[k, still[k]]
            p1[body], q1[body] = p0[body], q0[body]
    return scene(bodies.meshes, bodies.shape, p0, q0, p1, q1)


def cars(rng, n):
    """Cars on a road, of which some leave the ground."""
    bodies, pairs = planar(rng, n)
    p0, p1 = 2.5 * bodies.start.position, 2.5 * bodies.end.position
    q1 = bodies.end.quat_wxyz.copy()
    rise = rng.integers(0, 2, n).astype(bool)
    p1[1::2, 2] += np.where(rise, rng.normal(size=n), 0.0)
    q1[1::2] = np.where(rise[:, None], quaternion.multiply(turns(rng, n, [0.3]), q1[1::2]), q1[1::2])
    return scene([gc.shapes.car()], np.zeros(2 * n, int), p0, bodies.start.quat_wxyz, p1, q1)


def spins(rng, n):
    """Bodies that go straight on and spin."""
    bodies, pairs = random(rng, n)
    made = gc.Bodies.from_velocities(
        bodies.meshes,
        bodies.shape,
        bodies.start,
        rng.normal(size=(2 * n, 3)),
        rng.normal(size=(2 * n, 3)) * 1.5,
    )
    return made, pairs


FAMILIES = {
    f.__name__: f
    for f in (
        random,
        meeting,
        whole,
        planar,
        grazing,
        resting,
        nested,
        thin,
        huge,
        tiny,
        speck,
        sheets,
        alike,
        cars,
    )
}


def posed(meshes, shape, p, q):
    """Bodies that stand still, in pairs."""
    poses = gc.Poses.from_quat_wxyz(p, q)
    return gc.Bodies(meshes, shape, poses, poses), np.arange(len(p)).reshape(-1, 2)


def two(a, b, at, turn=ONE, **asked):
    """Mesh b at a place, seen from mesh a."""
    poses = gc.Poses.from_quat_wxyz(np.array([[0.0, 0, 0], at]), np.array([ONE, turn]))
    return gc.clearance(gc.Bodies([a, b], [0, 1], poses, poses), [[0, 1]], at=0.0, **asked)


def legs(length, second=None):
    """Two legs under a top, one perhaps of another length, as one body of four boxes less what they share."""
    low = [-length, -(length if second is None else second)]
    outline = [
        (-1.0, low[0]),
        (-0.8, low[0]),
        (-0.8, 0),
        (0.8, 0),
        (0.8, low[1]),
        (1.0, low[1]),
        (1.0, 0.2),
        (-1.0, 0.2),
    ]
    front = [(x, -0.1, z) for x, z in outline]
    back = [(x, 0.1, z) for x, z in outline]
    n = len(outline)
    pieces = [(0, 1, 2, 7), (2, 3, 6, 7), (3, 4, 5, 6)]
    faces = [list(p) for p in pieces] + [[n + i for i in reversed(p)] for p in pieces]
    faces += [[(i + 1) % n, i, n + i, n + (i + 1) % n] for i in range(n)]
    return gc.Mesh(front + back, faces)
