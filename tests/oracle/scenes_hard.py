"""Scene families that are not generic: exact coincidences, limits, rest, extreme sizes and speeds."""

import numpy as np

from tests.oracle.scenes_base import (
    IDENTITY,
    impact,
    mixed,
    moving_world,
    random_axis,
    random_quat,
    relative_scene,
    resting_world,
    turn_quat,
    unit4,
)
from tests.oracle.shapes import box, car, hull, star
from tests.oracle.solid import RawMesh, apply, norm, quat_mul, rotation_matrix, unit
from tests.support.seeds import generator


def exact_axis(seed, n):
    """Axis exactly through vertices, along edges and through face centres of unmoved boxes: nothing is
    generic."""
    rng = generator(seed, 5)
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
    rng = generator(seed, 180)
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
    rng = generator(seed, 200)
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
    rng = generator(seed, 12)
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
    rng = generator(seed, 6)
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
    rng = generator(seed, 9)
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
    rng = generator(seed, 10)
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
    rng = generator(seed, 11)
    meshes = [box(), box((2, 1, 0.5))]
    sa, sb = rng.integers(0, 2, (2, n))
    p0 = rng.integers(-6, 7, (n, 3)) / 2
    p1 = rng.integers(-3, 4, (n, 3)) / 2
    q = np.tile(IDENTITY, (n, 1))
    return relative_scene("lattice", meshes, sa, sb, p0, q, p1, q.copy(), resting_world(n))


def scales(seed, n):
    """Bodies from a thousandth to a thousand across, with their meshes away from their own origins."""
    rng = generator(seed, 13)
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
    rng = generator(seed, 14)
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
    """Scenes with answers by hand: scene and the expected first times (inf: none)."""
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
