"""Worlds and sweeps that several tests of swept spheres share."""

import numpy as np

import gpu_collide as gc

BOX, BLOCK = gc.shapes.box(), gc.shapes.box((2, 2, 2))
FIELDS = (
    "status",
    "offsets",
    "query",
    "feature",
    "body",
    "face",
    "number",
    "sphere",
    "time",
    "point",
    "normal",
)


def quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def still(mesh, position, quat=None):
    """Bodies of one mesh at rest."""
    position = np.atleast_2d(np.asarray(position, float))
    quat = np.tile([1.0, 0, 0, 0], (len(position), 1)) if quat is None else quat
    poses = gc.Poses.from_quat_wxyz(position, quat)
    return gc.Bodies(mesh, None, poses, poses)


def moving(mesh, start, end, quat=None, turned=None):
    """Bodies of one mesh that move, and turn if `turned` is given."""
    start, end = (np.atleast_2d(np.asarray(p, float)) for p in (start, end))
    quat = np.tile([1.0, 0, 0, 0], (len(start), 1)) if quat is None else quat
    poses = (
        gc.Poses.from_quat_wxyz(start, quat),
        gc.Poses.from_quat_wxyz(end, quat if turned is None else turned),
    )
    return gc.Bodies(mesh, None, *poses)


def crowd(seed, n=150, bodies=3, meshes=None):
    """A world of turned bodies that move, some of them, and paths through it."""
    rng = np.random.default_rng(seed)
    meshes = [BOX, gc.shapes.torus(1.0, 0.4, 5, 4)] if meshes is None else meshes
    start = gc.Poses.from_quat_wxyz(rng.normal(size=(bodies, 3)) * 2, quaternions(rng, bodies))
    drift = rng.normal(size=(bodies, 3)) * (rng.random((bodies, 1)) < 0.7)
    end = gc.Poses.from_quat_wxyz(start.position + drift, start.quat_wxyz)
    world = gc.Bodies(meshes, rng.integers(0, len(meshes), bodies), start, end)
    begin = rng.normal(size=(n, 3)) * 4
    path = -begin * rng.uniform(0.5, 2, (n, 1)) + rng.normal(size=(n, 3)) * 0.5
    return world, begin, path, rng


def sweeps(seed, n=150, **crowd_options):
    """(function, its arguments) of all forms in one world."""
    world, start, path, rng = crowd(seed, n, **crowd_options)
    pair = [gc.sweep.Cluster(rng.normal(size=(k, 3)), rng.uniform(0.1, 1, k)) for k in (1, 3)]
    return [
        (gc.sweep.rays, (start, path, world), {}),
        (gc.sweep.spheres, (start, path, rng.uniform(0, 1, n), world), {}),
        (gc.sweep.ellipsoids, (start, path, rng.uniform(0.2, 1, (n, 3)), world),
         {"orientation": quaternions(rng, n)}),
        (gc.sweep.clusters, ((pair, rng.integers(0, 2, n)), start, path, world),
         {"orientation": quaternions(rng, n)}),
    ]  # fmt: skip


def same_bits(one, other):
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in FIELDS)


def closed(name):
    """A closed mesh that is not convex, or one that is."""
    if name == "box":
        return BLOCK
    return gc.shapes.torus()
