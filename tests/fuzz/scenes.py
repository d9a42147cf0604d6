"""A scene of a seed: bodies, pairs or the rules that make them, and the options of the first call."""

from dataclasses import dataclass

import numpy as np

import gpu_collide as gc
from tests.fuzz.meshes import hostile
from tests.oracle.scenes import FAMILIES
from tests.oracle.scenes_base import random_axis, random_quat, turn_quat, unit4
from tests.oracle.scenes_whole import half_numbers, whole_turn
from tests.oracle.solid import quat_mul
from tests.support.seeds import generator

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 5e-324, 1e-310, 1e-200, 1e-162, 1e-18, 1e18, 1e100, 1e154, 1e300,
     np.inf, -np.inf, np.nan]
)  # fmt: skip
HEAVY = ("random_tori", "random_small_tori")


@dataclass
class Scene:
    """What a call is given. `pairs` is None where the broad phase makes them, by `rules`."""

    name: str
    bodies: gc.Bodies
    pairs: np.ndarray | None
    rules: dict
    options: dict


def structured(rng, seed):
    """A family of the matrix or of whole numbers; some of its quaternions negated or off by up to 1e-3."""
    families = {k: f for k, f in FAMILIES.items() if k not in HEAVY}
    name = sorted(families)[rng.integers(0, len(families))]
    data = families[name](seed, int(rng.integers(1, 24)))
    for pose in (data.start[1], data.end[1]):
        pose[rng.random(len(pose)) < 0.1] *= -1
        if rng.random() < 0.3:
            pose *= 1 + rng.uniform(-9e-4, 9e-4, (len(pose), 1))
    return name, data.bodies(), data.pairs


def positions(rng, n, unit, kind):
    """Start and end positions of n bodies, in units of their pair's size."""
    size = (n, 3)
    if kind == "random":
        return rng.normal(size=size) * unit * 2, rng.normal(size=size) * unit * 2
    if kind == "whole":
        return half_numbers(rng, n) * unit, half_numbers(rng, n) * unit
    if kind == "tiny":  # ways of 1e-18 sizes to 100
        first = rng.normal(size=size) * unit
        return first, first + 10.0 ** rng.uniform(-18, 2, (n, 1)) * unit * rng.normal(size=size)
    if kind == "long":
        return tuple(rng.normal(size=size) * unit * 10.0 ** rng.uniform(-3, 13, (n, 1)) for _ in range(2))
    if kind == "far":  # both bodies of a pair far away together
        base = np.repeat(rng.normal(size=(n // 2, 3)) * 10.0 ** rng.uniform(-12, 12, (n // 2, 1)), 2, axis=0)
        return tuple(base * unit + rng.normal(size=size) * unit for _ in range(2))
    first = np.repeat(rng.normal(size=(n // 2, 3)), 2, axis=0) * unit * (rng.random() < 0.5)
    if kind == "same":  # in one place, one of the two moving away
        step = rng.normal(size=size) * unit * 10.0 ** rng.uniform(0, 5, (n, 1))
        return first, first + step * (np.arange(n)[:, None] % 2)
    return first, first.copy()  # "still"


def turns(rng, n):
    """Start and end quaternions: any, whole ones, half turns, equal ones, tiny turns of 1e-12 to 1e-4."""
    q0 = np.where(rng.random((n, 1)) < 0.5, random_quat(rng, n), whole_turn(rng, n))
    tiny = quat_mul(turn_quat(random_axis(rng, n), 10.0 ** rng.uniform(-12, -4, n)), q0)
    half = quat_mul(np.concatenate([np.zeros((n, 1)), random_axis(rng, n)], 1), q0)
    others = (random_quat(rng, n), whole_turn(rng, n), half, q0.copy(), tiny, tiny)
    kind = rng.integers(0, len(others), n) if rng.random() < 0.5 else np.full(n, rng.integers(0, len(others)))
    q1 = unit4(np.choose(kind[:, None], others))
    q1[rng.random(n) < 0.1] *= -1
    q0[rng.random(n) < 0.1] *= 1 + 9e-4
    return q0, q1


def wild(rng, p0, p1, q0, q1):
    """Now and then values that nobody sane passes."""
    for array in (p0, p1):
        hit = rng.random(array.shape) < 0.01
        array[hit] = rng.choice(SPECIAL, hit.sum())
    for array in (q0, q1):
        hit = rng.random(array.shape) < 0.005
        array[hit] = rng.choice(SPECIAL, hit.sum())
        hit = rng.random(len(array)) < 0.01
        array[hit] *= rng.choice([0, 2, 1e-200, 1e200, 0.5], hit.sum())[:, None]


def hard(rng):
    """Hostile meshes on hostile motions."""
    meshes = [hostile(rng) for _ in range(rng.integers(1, 5))]
    n = 2 * int(rng.integers(1, 16))
    shape = rng.integers(0, len(meshes), n)
    radius = np.array([m.radius for m in meshes])[shape]
    centre = np.array([m.center for m in meshes])[shape]
    unit = np.repeat(np.maximum(radius[::2], radius[1::2]), 2)[:, None]
    kind = str(rng.choice(["random", "whole", "tiny", "long", "far", "same", "still"]))
    p0, p1 = positions(rng, n, unit, kind)
    p0, p1 = p0 - centre * (rng.random() < 0.8), p1 - centre * (rng.random() < 0.8)
    q0, q1 = turns(rng, n)
    if rng.random() < 0.5:
        wild(rng, p0, p1, q0, q1)
    with np.errstate(all="ignore"):
        poses = (gc.Poses.from_quat_wxyz(p, q) for p, q in ((p0, q0), (p1, q1)))
        bodies = gc.Bodies(meshes, shape, *poses)
    pairs = np.arange(n).reshape(-1, 2)
    return f"hard {kind}", bodies, np.concatenate([pairs, pairs[:2], pairs[:1, ::-1]])


def rules_of(rng, n):
    """Options of the broad phase, in place of pairs."""
    rules = {"still_pairs": bool(rng.random() < 0.5)}
    if rng.random() < 0.6:
        rules["world"] = rng.integers(-1, 3, n)
    if rng.random() < 0.4:
        rules["group"], rules["mask"] = rng.integers(1, 16, (2, n))
    if rng.random() < 0.4:
        rules["ignore"] = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    return rules


def options_of(rng):
    options = {"min_properness": float(rng.choice([-1, -0.1, -0.1, 0, 0.5, 1]))}
    if rng.random() < 0.3:
        options["check_start"] = True
    if rng.random() < 0.2:
        options["contacts"] = "first"
    if rng.random() < 0.25:
        options["precision"] = str(rng.choice(["double", "single"]))
    chance = rng.random()
    if chance < 0.15:
        options |= {
            "refine": str(rng.choice(["segments", "pixels"])),
            "resolution": float(rng.integers(1, 8)),
        }
    elif chance < 0.3:
        options |= {"candidates": "raster", "resolution": float(10.0 ** rng.uniform(-2, 1.5))}
    elif chance < 0.4:
        options |= {"features": "near"}
    return options


def make(seed):
    """The scene of a seed."""
    rng = generator(seed, 20261122)
    name, bodies, pairs = structured(rng, seed) if rng.random() < 0.4 else hard(rng)
    rules = {}
    if rng.random() < 0.2 and len(bodies) <= 32:
        pairs, rules = None, rules_of(rng, len(bodies))
    options = options_of(rng)
    if rules:  # hundreds of pairs: rows of slivers take a tenth of a second for each, which is no hang
        options = {k: v for k, v in options.items() if k not in ("refine", "candidates", "resolution")}
    return on_their_own(seed, Scene(name, bodies, pairs, rules, options))


def on_their_own(seed, scene):
    """Of some seeds, drawn apart so that scenes of the others stay: bodies on motions of their own."""
    rng = generator(seed, 36)
    if rng.random() > 0.2:
        return scene
    bodies, n = scene.bodies, len(scene.bodies)
    name, options = f"{scene.name} own", {**scene.options, "motion": "body"}
    if options.get("candidates") == "raster" or "refine" in options:
        options = {k: v for k, v in options.items() if k not in ("refine", "candidates", "resolution")}
    if rng.random() < 0.4 and bodies.worlds is None:
        with np.errstate(all="ignore"):
            way = bodies.end.position - bodies.start.position
            turn = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-9, 1.5, (n, 1)) * rng.integers(0, 2, (n, 1))
            bodies, name = bodies.spinning(bodies.start, way, turn), f"{scene.name} spinning"
    return Scene(name, bodies, scene.pairs, scene.rules, options)
