"""Scenes of movers and still worlds that several tests share."""

import numpy as np

import gpu_collide as gc
from tests.support.traces import FIELDS

POINT_FIELDS = ("status", "point_start", "mover", "kind", "body", "feature_a", "feature_b", "point", "normal")
POINT_FIELDS += ("distance",)

BOX, CAR = gc.shapes.box(), gc.shapes.car()
#: Closed, not convex, with internal edges, and more faces than a piece of a mover has.
TORUS = gc.shapes.torus()


def same_bits(a, b, fields=FIELDS):
    """Names of the fields in which two results differ."""
    return [name for name in fields if not np.array_equal(getattr(a, name), getattr(b, name))]


def quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def at(positions, quats=None):
    """Poses of positions."""
    positions = np.atleast_2d(np.asarray(positions, float))
    quats = np.tile([1.0, 0, 0, 0], (len(positions), 1)) if quats is None else quats
    return gc.Poses.from_quat_wxyz(positions, quats)


def still(meshes, positions, quats=None, shape=None):
    """Bodies at rest."""
    poses = at(positions, quats)
    return gc.Bodies(meshes, shape, poses, poses)


def crowd(seed, n=60, movers=(CAR, BOX), obstacles=(BOX, CAR), bodies=6, spread=4.0):
    """Movers about a world of a few bodies, ways towards these, turns, and ends; some start inside."""
    rng = np.random.default_rng(seed)
    world = still(
        list(obstacles), rng.uniform(-spread, spread, (bodies, 3)), quaternions(rng, bodies),
        np.arange(bodies) % len(obstacles),
    )  # fmt: skip
    position = rng.uniform(-1.5 * spread, 1.5 * spread, (n, 3))
    start = at(position, quaternions(rng, n))
    way = world.start.position[rng.integers(0, bodies, n)] - position + rng.normal(0, 0.5, (n, 3))
    end = at(position + way, quaternions(rng, n))
    some = gc.Bodies(list(movers), np.arange(n) % len(movers), start, end)
    turn = rng.uniform(-np.pi, np.pi, n), rng.normal(size=(n, 3)), position + rng.normal(0, 2, (n, 3))
    return some, world, way, turn
