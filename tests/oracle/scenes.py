"""Seeded scene families for the matrix: each `FAMILIES[name](seed, n)` gives a SceneData of n pairs.

Shapes are made here, not by `gpu_collide.shapes`, so that the oracle can run without the library.
`SceneData.bodies()` turns a scene into `gpu_collide.Bodies`.
"""

import numpy as np

from tests.oracle.scenes_base import (
    SceneData,
    impact,
    mixed,
    moving_world,
    random_axis,
    random_quat,
    relative_scene,
    resting_world,
    turn_quat,
    unit4,
)  # fmt: skip
from tests.oracle.scenes_hard import (
    exact_axis,
    grazing,
    half_turn,
    known_answers,
    lattice,
    passing,
    planar_driving,
    resting,
    scales,
    tangent,
    tiny_angles,
)  # fmt: skip
from tests.oracle.scenes_whole import WHOLE
from tests.oracle.shapes import box, car, half_box, hull, l_block, sheet, star, torus
from tests.oracle.solid import apply, quat_mul, rotation_matrix
from tests.support.seeds import generator

__all__ = [
    "FAMILIES", "WHOLE", "SceneData",
    "known_answers", "quat_mul", "random_axis", "random_quat", "turn_quat", "unit4",
]  # fmt: skip


def _random(
    name, shapes, max_turn=np.pi / 4, min_turn=0.0, travel=3.0, spread=1.0, moving=True, far=0.0, turn=True
):
    def make(seed, n):
        rng = generator(seed, sum(map(ord, name)))
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


def open_meshes(rng):
    return [sheet(), half_box(), box(), l_block()]


def two_sided(rng):
    return [sheet(two_sided=True), half_box(two_sided=True), box()]


def axis_scene(name, which):
    """The screw axis goes through A's inside (which = "a"), B's ("b"), or both."""

    def make(seed, n):
        rng = generator(seed, 77, len(name))
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
} | WHOLE
