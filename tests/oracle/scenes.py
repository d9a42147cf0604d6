"""Seeded scene families for the matrix: each `FAMILIES[name](seed, n)` gives a SceneData of n pairs.

Shapes are made here, not by `gpu_collide.shapes`, so that the oracle can run without the library.
`SceneData.bodies()` turns a scene into `gpu_collide.Bodies`.
"""

from dataclasses import dataclass, field

import numpy as np

from .shapes import box, car, half_box, hull, l_block, sheet, star, torus
from .solid import RawMesh, apply, norm, quat_mul, rotation_matrix, unit


@dataclass
class SceneData:
    name: str
    meshes: list
    shape: np.ndarray
    start: tuple  # position (n, 3), quaternion w, x, y, z (n, 4)
    end: tuple
    pairs: np.ndarray
    _library: list = field(default=None, repr=False)

    def bodies(self):
        """The same bodies as `gpu_collide.Bodies`."""
        import gpu_collide as gc

        if self._library is None:
            self._library = [
                gc.Mesh(
                    m.vertices,
                    [
                        m.face_vertices[i:j].tolist()
                        for i, j in zip(m.face_start, m.face_start[1:], strict=False)
                    ],
                    two_sided=m.two_sided,
                )
                for m in self.meshes
            ]
        poses = [gc.Poses.from_quat_wxyz(*x) for x in (self.start, self.end)]
        return gc.Bodies(self._library, self.shape, *poses)

    def moved(self, position, quat):
        """The whole scene carried by one rigid motion."""
        matrix = rotation_matrix(quat)

        def carry(pose):
            return apply(matrix, pose[0]) + position, quat_mul(np.broadcast_to(quat, pose[1].shape), pose[1])

        return SceneData(self.name, self.meshes, self.shape, carry(self.start), carry(self.end), self.pairs)

    def take(self, rows):
        return SceneData(
            self.name, self.meshes, self.shape, self.start, self.end, self.pairs[rows], self._library
        )


def random_quat(rng, n):
    return unit4(rng.normal(size=(n, 4)))


def unit4(q):
    return q / np.sqrt((q * q).sum(1))[:, None]


def turn_quat(axis, angle):
    half = np.asarray(angle, float)[..., None] / 2
    return np.concatenate((np.cos(half), np.sin(half) * axis), -1)


def random_axis(rng, n):
    return unit(rng.normal(size=(n, 3)))


IDENTITY = np.array([1.0, 0, 0, 0])


def relative_scene(name, meshes, sa, sb, p0, q0, p1, q1, world):
    """n pairs (2i, 2i + 1) whose B starts and ends at (p0, q0), (p1, q1) in A's body frame; `world` = poses
    of A."""
    (pa0, qa0), (pa1, qa1) = world
    n = len(p0)
    position, quat = [], []
    for (pa, qa), p, q in (((pa0, qa0), p0, q0), ((pa1, qa1), p1, q1)):
        both = np.stack((pa, pa + apply(rotation_matrix(qa), p)), 1).reshape(2 * n, 3)
        position.append(both)
        quat.append(unit4(np.stack((qa, quat_mul(qa, q)), 1).reshape(2 * n, 4)))
    shape = np.stack((np.broadcast_to(sa, n), np.broadcast_to(sb, n)), 1).reshape(2 * n).astype(np.int32)
    pairs = np.arange(2 * n).reshape(n, 2)
    return SceneData(name, meshes, shape, (position[0], quat[0]), (position[1], quat[1]), pairs)


def resting_world(n):
    zero = (np.zeros((n, 3)), np.tile(IDENTITY, (n, 1)))
    return zero, zero


def moving_world(rng, n, reach=2.0, turn=np.pi / 4, far=0.0):
    start = rng.uniform(-1, 1, (n, 3)) * reach + far * random_axis(rng, n)
    q = random_quat(rng, n)
    step = quat_mul(turn_quat(random_axis(rng, n), rng.uniform(0, turn, n)), q)
    return (start, q), (start + rng.normal(size=(n, 3)) * reach, step)


def impact(rng, meshes, sa, sb, max_turn, travel=3.0, min_turn=0.0, spread=1.0):
    """Relative poses of random impacts: at a random moment the bounding spheres overlap deeply."""
    n = len(sa)
    radius = np.array([np.linalg.norm(m.vertices, axis=1).max() for m in meshes])
    r = radius[sa] + radius[sb]
    axis, angle = random_axis(rng, n), rng.uniform(min_turn, max_turn, n)
    q0, dq = random_quat(rng, n), turn_quat(axis, angle)
    q1 = unit4(quat_mul(dq, q0))
    meet = random_axis(rng, n) * (rng.uniform(0.0, spread, n) * r)[:, None]
    way = random_axis(rng, n) * (rng.uniform(0.2, travel, n) * r)[:, None]
    share = rng.uniform(0, 1, n)[:, None]
    return meet - share * way, q0, meet + (1 - share) * way, q1


def _random(
    name, shapes, max_turn=np.pi / 4, min_turn=0.0, travel=3.0, spread=1.0, moving=True, far=0.0, turn=True
):
    def make(seed, n):
        rng = np.random.default_rng([seed, sum(map(ord, name))])
        meshes = shapes(rng)
        sa, sb = rng.integers(0, len(meshes), (2, n))
        p0, q0, p1, q1 = impact(rng, meshes, sa, sb, max_turn, travel, min_turn, spread)
        if not turn:
            q1 = q0.copy()
        world = moving_world(rng, n, far=far) if moving else resting_world(n)
        if not turn and moving:  # translation: A may move, not turn, or the rounding of q would turn B
            world = world[0], (world[1][0], world[0][1].copy())
        return relative_scene(name, meshes, sa, sb, p0, q0, p1, q1, world)

    make.__name__ = name
    return make


def boxes(rng):
    return [box(), box((2, 1, 0.5)), box((0.3, 0.3, 2.5)), box((1.7, 1.1, 0.05))]


def cars(rng):
    return [car()]


def hulls(rng):
    return [hull(rng, k) for k in (5, 6, 8, 10, 12)]


def nonconvex(rng):
    return [l_block(), star(rng), star(rng, 3), box()]


def tori(rng):
    return [torus()]


def small_tori(rng):
    return [torus(n_major=9, n_minor=6), torus(1.0, 0.25, 12, 5)]


def mixed(rng):
    return [box(), car(), hull(rng, 9), l_block(), star(rng), torus(n_major=8, n_minor=5)]


def open_meshes(rng):
    return [sheet(), half_box(), box(), l_block()]


def two_sided(rng):
    return [sheet(two_sided=True), half_box(two_sided=True), box()]


def axis_scene(name, which):
    """The screw axis goes through A's inside (which = "a"), B's ("b"), or both."""

    def make(seed, n):
        rng = np.random.default_rng([seed, 77, len(name)])
        meshes = mixed(rng)
        sa, sb = rng.integers(0, len(meshes), (2, n))
        axis, angle = random_axis(rng, n), rng.uniform(0.05, np.pi, n)
        near, far = rng.normal(size=(n, 3)) * 0.15, rng.uniform(0.5, 1.6, n)[:, None] * random_axis(rng, n)
        q0 = random_quat(rng, n)
        if which == "a":  # the axis passes A's middle, B stands off it
            point, p0 = near, far
        elif which == "b":
            point = far
            p0 = point + near
        else:
            point = near
            away = rng.uniform(-3, 3, n)[:, None]
            p0 = near + axis * away + rng.normal(size=(n, 3)) * 0.05
        pitch = rng.uniform(-2, 2, n)[:, None] * rng.integers(0, 2, n)[:, None]
        if which == "both":  # mostly a drill: towards A along the axis
            pitch = np.where(rng.uniform(size=(n, 1)) < 0.8, -away * rng.uniform(0.3, 2, (n, 1)), pitch)
        dq = turn_quat(axis, angle)
        q1 = unit4(quat_mul(dq, q0))
        p1 = point + apply(rotation_matrix(dq), p0 - point) + pitch * axis
        return relative_scene(name, meshes, sa, sb, p0, q0, p1, q1, moving_world(rng, n))

    make.__name__ = name
    return make


def exact_axis(seed, n):
    """Axis exactly through vertices, along edges and through face centres of unmoved boxes: nothing is
    generic."""
    rng = np.random.default_rng([seed, 5])
    meshes = [box(), box((2, 1, 0.5))]
    sa, sb = rng.integers(0, 2, (2, n))
    axis = np.eye(3)[rng.integers(0, 3, n)]
    angle = rng.choice([np.pi / 4, np.pi / 2, np.pi / 3, 3.0, 1.0], n)
    point = rng.choice([-0.5, 0.0, 0.5], (n, 3))
    p0 = point + rng.choice([-0.5, 0.0, 0.5, 0.25], (n, 3))
    q0 = np.where(rng.integers(0, 2, n)[:, None] == 0, IDENTITY, turn_quat(axis, np.full(n, 0.3)))
    pitch = rng.choice([0.0, 0.0, 1.0], n)[:, None]
    dq = turn_quat(axis, angle)
    p1 = point + apply(rotation_matrix(dq), p0 - point) + pitch * axis
    return relative_scene("exact_axis", meshes, sa, sb, p0, q0, p1, quat_mul(dq, q0), resting_world(n))


def half_turn(seed, n):
    """Rotations close to 180 degrees, from 1e-2 short of it to 1e-12; a few exact."""
    rng = np.random.default_rng([seed, 180])
    meshes = mixed(rng)[:5]
    sa, sb = rng.integers(0, len(meshes), (2, n))
    p0, q0, p1, _ = impact(rng, meshes, sa, sb, 1.0, travel=1.5)
    short = 10.0 ** rng.uniform(-12, -2, n)
    dq = turn_quat(random_axis(rng, n), np.pi - short)
    exact = rng.uniform(size=n) < 0.2
    dq[exact, 0] = 0.0
    q0[exact] = IDENTITY
    world = [(x.copy(), np.where(exact[:, None], IDENTITY, q)) for x, q in moving_world(rng, n)]
    return relative_scene("half_turn", meshes, sa, sb, p0, q0, p1, unit4(quat_mul(dq, q0)), world)


def passing(seed, n):
    """B flies past or through A at up to 200 body lengths a step, with a turn of up to 45 degrees."""
    rng = np.random.default_rng([seed, 200])
    meshes = mixed(rng)
    sa, sb = rng.integers(0, len(meshes), (2, n))
    p0, q0, p1, q1 = impact(rng, meshes, sa, sb, np.pi / 4, spread=0.7)
    way = unit(p1 - p0) * rng.uniform(50, 200, n)[:, None]
    middle = (p0 + p1) / 2
    turn = rng.uniform(size=n) < 0.5
    q1[~turn] = q0[~turn]
    return relative_scene(
        "passing", meshes, sa, sb, middle - way / 2, q0, middle + way / 2, q1, resting_world(n)
    )


def tiny_angles(seed, n):
    """Angles from 1e-12 to 1e-3, with the travel of an impact or with nothing else."""
    rng = np.random.default_rng([seed, 12])
    meshes = mixed(rng)
    sa, sb = rng.integers(0, len(meshes), (2, n))
    p0, q0, p1, _ = impact(rng, meshes, sa, sb, 0.1)
    angle = 10.0 ** rng.uniform(-12, -3, n)
    only = rng.uniform(size=n) < 0.2
    p1 = np.where(only[:, None], p0 + random_axis(rng, n) * angle[:, None], p1)
    dq = turn_quat(random_axis(rng, n), angle)
    world = resting_world(n)
    return relative_scene("tiny_angles", meshes, sa, sb, p0, q0, p1, unit4(quat_mul(dq, q0)), world)


def grazing(seed, n):
    """A box slides past a box, tilted or not, or turns past it, with a gap or an overlap of 1e-6."""
    rng = np.random.default_rng([seed, 6])
    meshes = [box(), hull(rng, 9)]
    gap = rng.choice([-1e-6, 1e-6], n)
    tilt = rng.uniform(size=n) < 0.5
    q0 = np.where(tilt[:, None], random_quat(rng, n), IDENTITY)
    sb = np.where(tilt, rng.integers(0, 2, n), 0)
    high = np.array(
        [(apply(rotation_matrix(q), meshes[s].vertices)).min(0)[1] for q, s in zip(q0, sb, strict=True)]
    )  # the lowest point of B as it is turned
    across = rng.uniform(-0.8, 0.8, n)
    p0 = np.stack((np.full(n, -3.0), 0.5 - high + gap, across), 1)
    p1 = p0 * [-1.0, 1, 1]
    spin = rng.uniform(size=n) < 0.4
    axis = np.tile([0.0, 1, 0], (n, 1))
    dq = np.where(spin[:, None], turn_quat(axis, rng.uniform(-0.7, 0.7, n)), IDENTITY)
    return relative_scene(
        "grazing", meshes, np.zeros(n, int), sb, p0, q0, p1, quat_mul(dq, q0), resting_world(n)
    )


def resting(seed, n):
    """Boxes and cars standing on a floor: at rest, sliding, turning about the vertical, carried along with
    the floor."""
    rng = np.random.default_rng([seed, 9])
    meshes = [box((8, 8, 1)), box(), box((2, 1, 0.5)), car()]
    sb = rng.integers(1, 4, n)
    bottom = np.array([m.vertices[:, 2].min() for m in meshes])[sb]
    p0 = np.stack((rng.uniform(-2, 2, n), rng.uniform(-2, 2, n), 0.5 - bottom), 1)
    yaw = rng.uniform(-np.pi, np.pi, n)
    up = np.tile([0.0, 0, 1], (n, 1))
    kind = rng.integers(0, 4, n)  # 0 still, 1 slide, 2 slide and turn, 3 slide over the border of the floor
    step = np.where((kind > 0)[:, None], rng.uniform(-1, 1, (n, 3)) * [1, 1, 0], 0.0)
    step[kind == 3] = [6.0, 0.5, 0.0]
    angle = np.where(kind == 2, rng.uniform(-0.8, 0.8, n), 0.0)
    q0, q1 = turn_quat(up, yaw), turn_quat(up, yaw + angle)
    q1[angle == 0] = q0[angle == 0]
    world = resting_world(n)
    carried = rng.uniform(size=n) < 0.25
    tilt = moving_world(rng, n)
    still = carried & (kind == 0)
    world = [
        (np.where(still[:, None], x, x0), np.where(still[:, None], q, q0_))
        for (x, q), (x0, q0_) in zip(tilt, world, strict=True)
    ]
    return relative_scene("resting", meshes, np.zeros(n, int), sb, p0, q0, p0 + step, q1, world)


def planar_driving(seed, n):
    """Cars on one plane: all heights are equal, vertical edges parallel, many functions vanish
    identically."""
    rng = np.random.default_rng([seed, 10])
    meshes = [car(), box((4, 2, 1.2))]
    sa, sb = rng.integers(0, 2, (2, n))
    floor = np.array([m.vertices[:, 2].min() for m in meshes])
    p0 = np.concatenate((rng.uniform(-6, 6, (n, 2)), (floor[sa] - floor[sb])[:, None]), 1)
    p1 = p0 + np.concatenate((-p0[:, :2] * rng.uniform(0.3, 1.5, (n, 1)), np.zeros((n, 1))), 1)
    up = np.tile([0.0, 0, 1], (n, 1))
    yaw = rng.uniform(-np.pi, np.pi, n)
    turn = np.where(rng.uniform(size=n) < 0.7, rng.uniform(-0.7, 0.7, n), 0.0)
    return relative_scene(
        "planar_driving",
        meshes,
        sa,
        sb,
        p0,
        turn_quat(up, yaw),
        p1,
        turn_quat(up, yaw + turn),
        resting_world(n),
    )


def lattice(seed, n):
    """Unturned unit boxes moving between points of a half-unit grid: vertices, edges and faces coincide
    exactly."""
    rng = np.random.default_rng([seed, 11])
    meshes = [box(), box((2, 1, 0.5))]
    sa, sb = rng.integers(0, 2, (2, n))
    p0 = rng.integers(-6, 7, (n, 3)) / 2
    p1 = rng.integers(-3, 4, (n, 3)) / 2
    q = np.tile(IDENTITY, (n, 1))
    return relative_scene("lattice", meshes, sa, sb, p0, q, p1, q.copy(), resting_world(n))


def scales(seed, n):
    """Bodies from a thousandth to a thousand across, with their meshes away from their own origins."""
    rng = np.random.default_rng([seed, 13])
    meshes = []
    for shape in (box(), car(), hull(rng, 9), star(rng)):
        for size, offset in ((1e-3, 0.0), (1.0, 30.0), (1e3, 500.0)):
            v = shape.vertices * size + random_axis(rng, 1) * offset
            faces = [
                shape.face_vertices[i:j] for i, j in zip(shape.face_start, shape.face_start[1:], strict=False)
            ]
            meshes.append(RawMesh(v, faces))
    sa, sb = rng.integers(0, len(meshes), (2, n))
    centre = np.array([(m.vertices.min(0) + m.vertices.max(0)) / 2 for m in meshes])
    radius = np.array([norm(m.vertices - c).max() for m, c in zip(meshes, centre, strict=True)])
    big, small = np.maximum(radius[sa], radius[sb]), np.minimum(radius[sa], radius[sb])
    q0 = random_quat(rng, n)
    q1 = unit4(quat_mul(turn_quat(random_axis(rng, n), rng.uniform(0, 0.8, n)), q0))
    # the small body crosses the surface of the big one somewhere
    meet = random_axis(rng, n) * (rng.uniform(0.2, 0.9, n) * big)[:, None]
    way = random_axis(rng, n) * (rng.uniform(0.2, 1.5, n) * np.sqrt(big * small) * 3)[:, None]
    share = rng.uniform(0, 1, n)[:, None]
    ca, cb = centre[sa], centre[sb]
    p0 = ca + meet - share * way - apply(rotation_matrix(q0), cb)
    p1 = ca + meet + (1 - share) * way - apply(rotation_matrix(q1), cb)
    return relative_scene("scales", meshes, sa, sb, p0, q0, p1, q1, resting_world(n))


def tangent(seed, n):
    """A box turns in place about z; a corner's circle touches a wall within 0 to 1e-5: double and nearly
    double roots."""
    rng = np.random.default_rng([seed, 14])
    meshes = [box((1, 6, 3)), box((2, 1, 0.5))]
    reach = np.hypot(1.0, 0.5)
    gap = rng.choice([0.0, 1e-13, 1e-12, 3e-11, 1e-9, 1e-7, 1e-5], n) * rng.choice([-1, 1], n)
    p0 = np.stack((-0.5 - reach - gap, rng.uniform(-1, 1, n), rng.uniform(-0.5, 0.5, n)), 1)
    corner = np.arctan2(0.5, 1.0)
    when, angle = rng.uniform(0, 1, n), rng.uniform(0.3, 1.2, n)
    up = np.tile([0.0, 0, 1], (n, 1))
    first = -corner - when * angle
    q0, q1 = turn_quat(up, first), turn_quat(up, first + angle)
    return relative_scene(
        "tangent", meshes, np.zeros(n, int), np.ones(n, int), p0, q0, p0, q1, resting_world(n)
    )


def known_answers():
    """The table of FINDINGS section 2: scene and the expected first times (inf: none)."""
    q = np.tile(IDENTITY, (9, 1))
    x, z = np.array([1.0, 0, 0]), np.array([0.0, 0, 1])
    eighth = np.pi / 4
    p0 = np.array(
        [[-3, 0, 0], [-3, 0.1, 0.2], [-3, 0, 0], [-1.15, 0, 0], [-100, 0.1, 0], [-3, 1.001, 0], [-3, 0.999,
        0],
         [7.654, 1.522, 0], [7.071, 2.929, 0]]
    )  # fmt: skip
    p1 = np.array(
        [[0, 0, 0], [0, 0.1, 0.2], [0, 0, 0], [-1.15, 0, 0], [100, 0.1, 0], [3, 1.001, 0], [3, 0.999, 0]]
    )
    q1 = q.copy()
    q1[2], q1[3], q1[4] = turn_quat(x, eighth), turn_quat(z, eighth), turn_quat(x, eighth)
    q1[7] = q1[8] = turn_quat(z, eighth)
    axes = np.array([[7.654, -18.478, 0], [7.071, -17.071, 0]])
    arc = axes + apply(rotation_matrix(q1[7:]), p0[7:] - axes)
    spin = (np.arcsin(1.3 / np.sqrt(2)) - eighth) / eighth
    first = np.array([2 / 3, 2 / 3, 2 / 3, spin, 99 / 200, np.inf, 1 / 3, 0.4276, np.inf])
    scene = relative_scene("known", [box()], 0, 0, p0, q, np.concatenate((p1, arc)), q1, resting_world(9))
    return scene, first


FAMILIES = {
    f.__name__: f
    for f in (
        _random("random_boxes", boxes),
        _random("random_cars", cars),
        _random("random_hulls", hulls),
        _random("random_nonconvex", nonconvex),
        _random("random_small_tori", small_tori),
        _random("random_tori", tori),
        _random("translations", mixed, turn=False),
        _random("to_180", mixed, max_turn=np.pi, travel=1.5),
        _random("far_away", mixed, far=1e6),
        _random("open_meshes", open_meshes),
        _random("two_sided", two_sided),
        axis_scene("axis_through_a", "a"),
        axis_scene("axis_through_b", "b"),
        axis_scene("axis_through_both", "both"),
        exact_axis,
        half_turn,
        passing,
        tiny_angles,
        grazing,
        resting,
        planar_driving,
        lattice,
        scales,
        tangent,
    )
}
