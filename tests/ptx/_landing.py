"""Casts and steps of characters given on the host or on the simulated device, and how results compare."""

import dataclasses

import numpy as np

import gpu_collide as gc
from gpu_collide.bodies.quaternion import multiply

__all__ = ["FORMS", "asked", "cast", "lies", "same", "slid", "steps", "turning_world", "world_of"]

CAR = gc.sweep.Cluster([[-0.4, 0, 0], [0.4, 0, 0.1], [0, 0.2, 0]], [0.2, 0.3, 0.25])
BALL = gc.sweep.Cluster([[0, 0, 0.1]], 0.2)
FORMS = ("rays", "spheres", "ellipsoids", "clusters")


def world_of(seed=3, moving=True):
    """Boxes and balls here and there, of which some move."""
    rng = np.random.default_rng(seed)
    meshes = [gc.shapes.box((1.5, 1.0, 1.2)), gc.shapes.icosphere(1), gc.shapes.box((9, 9, 1))]
    place = np.vstack((rng.uniform(-3, 3, (10, 3)), [[0, 0, -4.0]]))
    quat = rng.normal(size=(11, 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    quat[10] = 1, 0, 0, 0
    end = place + rng.normal(size=(11, 3)) * 0.2 * (np.arange(11) % 3 == 0)[:, None] * moving
    poses = (gc.Poses.from_quat_wxyz(p, quat) for p in (place, end))
    return gc.Bodies(meshes, np.array([0, 1] * 5 + [2]), *poses)


def turning_world(moving=True):
    """`world_of`, in which three bodies turn, one of them about its place."""
    world = world_of(moving=moving)
    turned = world.end.quat_wxyz.copy()
    for body, angle in ((0, 0.3), (4, 0.1), (10, 0.05)):
        q, turn = turned[body], np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        turned[body] = multiply(turn, q)
    ends = gc.Poses.from_quat_wxyz(world.end.position, turned)
    return gc.Bodies(world.meshes, world.shape, world.start, ends)


def asked(form, n=60, seed=4, hostile=True):
    """Arguments of a cast by name, with rows among them that are none."""
    rng = np.random.default_rng(seed)
    given = {"start": rng.uniform(-4, 4, (n, 3)), "displacement": rng.normal(size=(n, 3)) * 3}
    if form == "spheres":
        given["radius"] = rng.uniform(0, 0.4, n)
    if form == "ellipsoids":
        given["radii"] = rng.uniform(0.1, 0.4, (n, 3))
    if form in ("ellipsoids", "clusters"):
        quat = rng.normal(size=(n, 4))
        given["orientation"] = quat / np.linalg.norm(quat, axis=1)[:, None]
    if form == "clusters":
        given["clusters"] = rng.integers(0, 2, n)
    if hostile and n > 30:
        given["start"][3, 1], given["displacement"][5, 0], given["start"][7] = np.nan, np.inf, 1e300
        given["displacement"][8] = -0.0
        for name, wrong in (("radius", np.nan), ("radii", np.inf), ("orientation", 2.0)):
            if name in given:
                given[name][11] = wrong
    return given


def cast(form, given, world, put=np.asarray, **options):
    given = {name: put(array) for name, array in given.items()}
    if form == "clusters":
        given["clusters"] = [BALL, CAR], given["clusters"]
    return getattr(gc.sweep, form)(obstacles=world, **given, **options)


def steps(n=40, seed=5, hostile=True):
    """Arguments of `slide` by name."""
    rng = np.random.default_rng(seed)
    given = {
        "position": rng.uniform(-4, 4, (n, 3)), "velocity": rng.normal(size=(n, 3)) * [1, 1, 0.1],
        "radii": rng.uniform(0.2, 0.4, (n, 3)), "gravity": np.tile([0, 0, -0.7], (n, 1)),
        "riding": rng.integers(-1, 11, n),
    }  # fmt: skip
    if hostile:
        given["position"][3] = np.nan, 1.5, -np.inf
        given["velocity"][5, 0], given["gravity"][7, 1], given["position"][9] = np.inf, np.nan, 1e300
        given["radii"][11, 2] = np.nan
        given["riding"][[3, 5, 7]] = 10
    return given


def slid(given, world, put=np.asarray, **options):
    given = {name: put(array) for name, array in given.items()}
    return gc.sweep.slide(world, **given, **options)


def lies(found, kind):
    """Are all arrays of a result of this class?"""
    names = [f.name for f in dataclasses.fields(found) if f.name != "info"]
    return {type(getattr(found, name)) for name in names} == {kind}


def same(found, wanted):
    found, wanted = found.to_numpy(), wanted.to_numpy()
    for field in dataclasses.fields(wanted):
        if field.name != "info":
            a, b = getattr(found, field.name), getattr(wanted, field.name)
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), field.name
