"""The families of scenes of `verify`: each is made from a seed, with about `n` pairs, movers or casts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import gpu_collide as gc
from gpu_collide import scenes
from gpu_collide.checks.casts import Sweeps
from gpu_collide.checks.movers import Moves
from gpu_collide.checks.screw import Pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_collide._types import Array

__all__ = ["FAMILIES", "Family"]


@dataclass(frozen=True)
class Family:
    """A name, what it is, which share of the pairs it gets, and what makes it: ``make(seed, n)``."""

    name: str
    method: str
    what: str
    share: float
    make: Callable[[int, int], Any]


def _impacts(
    make_a: Callable, make_b: Callable | None = None, scene: Callable = scenes.random_impacts, **words: Any
) -> Callable:
    def make(seed: int, n: int) -> Pairs:
        a = make_a()
        bodies, pairs = scene(a, make_b() if make_b else a, n, seed=seed, **words)
        return Pairs(bodies, {"pairs": pairs})

    return make


def _own_ways(seed: int, n: int) -> Pairs:
    """Both bodies turn, each along the screw between its poses."""
    rng = np.random.default_rng([seed, 4])
    bodies, pairs = scenes.random_impacts(gc.shapes.box(), gc.shapes.car(), n, seed=seed)
    end = bodies.end.moved(np.zeros((2 * n, 3)), 0.5 * rng.normal(size=(2 * n, 3)))
    return Pairs(
        gc.Bodies(bodies.meshes, bodies.shape, bodies.start, end), {"pairs": pairs, "motion": "body"}
    )


def _spinning(seed: int, n: int) -> Pairs:
    """Velocities instead of end poses, by up to some revolutions."""
    rng = np.random.default_rng([seed, 5])
    bodies, pairs = scenes.random_impacts(gc.shapes.box(), gc.shapes.star(), n, seed=seed)
    way = bodies.end.position - bodies.start.position
    spin = rng.normal(size=(2 * n, 3)) * rng.choice([0.3, 3.0], (2 * n, 1))
    spun = bodies.spinning(bodies.start, way, spin, center=[0.2, -0.1, 0.0])
    return Pairs(spun, {"pairs": pairs, "motion": "body"})


def _sheet(two_sided: bool) -> gc.Mesh:
    """Four quads side by side, slightly bent so that no two are in one plane; open."""
    x, y = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 3), indexing="ij")
    z = 0.3 * (np.abs(x) + 0.7 * np.abs(y))
    vertices = np.column_stack((x.ravel(), y.ravel(), z.ravel()))
    corner = np.arange(9).reshape(3, 3)
    quads = [
        (corner[i, j], corner[i + 1, j], corner[i + 1, j + 1], corner[i, j + 1])
        for i in (0, 1)
        for j in (0, 1)
    ]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return gc.Mesh(vertices, faces, two_sided=two_sided, merge_coplanar=False)


def _far(seed: int, n: int) -> Pairs:
    """A million units from the world's origin, where positions have ten digits left."""
    bodies, pairs = scenes.random_impacts(gc.shapes.box(), gc.shapes.car(), n, seed=seed)
    away = np.array([1e6, -7e5, 3e5])
    start, end = (
        gc.Poses.from_quat_wxyz(np.asarray(p.position) + away, np.asarray(p.quat_wxyz))
        for p in (bodies.start, bodies.end)
    )
    return Pairs(gc.Bodies(bodies.meshes, bodies.shape, start, end), {"pairs": pairs})


def _resting(seed: int, n: int) -> Pairs:
    """Boxes that stand, slide and turn on a floor: contacts that last, many in one place."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(-3, 3, (n, 2))
    angle = rng.choice([0.0, np.pi / 4, 0.3], n)
    slide = rng.uniform(-1, 1, (n, 2)) * rng.choice([0, 1], (n, 1))
    turn = rng.uniform(-0.5, 0.5, n) * rng.choice([0, 1], n)
    floor = (np.zeros((n, 3)), np.tile([1.0, 0, 0, 0], (n, 1)))

    def poses(xy: Array, heading: Array) -> gc.Poses:
        quat = np.column_stack((np.cos(heading / 2), 0 * heading, 0 * heading, np.sin(heading / 2)))
        position = np.column_stack((xy, np.ones(n)))
        return gc.Poses.from_quat_wxyz(np.concatenate((floor[0], position)), np.concatenate((floor[1], quat)))

    meshes = [gc.shapes.box((12, 12, 1)), gc.shapes.box()]
    bodies = gc.Bodies(meshes, np.repeat([0, 1], n), poses(place, angle), poses(place + slide, angle + turn))
    return Pairs(bodies, {"pairs": np.column_stack((np.arange(n), n + np.arange(n)))}, plain=False)


def _worlds(seed: int, n: int) -> Pairs:
    """Pairs found by the broad phase: cars on ground that all worlds share."""
    bodies, world = scenes.worlds(max(1, n // 12), 12, seed=seed)
    return Pairs(bodies, {"world": world}, plain=False)


def _ball(subdivisions: int) -> Callable[[], gc.Mesh]:
    return lambda: gc.shapes.icosphere(subdivisions, 0.8)


def _quats(rng: np.random.Generator, n: int) -> Array:
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _still(rng: np.random.Generator, n: int, drift: float = 0.0) -> gc.Bodies:
    """Bodies that stand around the origin, turned anyhow, or that drift without turning."""
    meshes = [gc.shapes.box((2, 1, 1)), gc.shapes.torus(1.0, 0.4, 6, 5), gc.shapes.l_block()]
    position, quat = rng.uniform(-2, 2, (n, 3)), _quats(rng, n)
    start = gc.Poses.from_quat_wxyz(position, quat)
    end = gc.Poses.from_quat_wxyz(position + drift * rng.normal(size=(n, 3)), quat) if drift else start
    return gc.Bodies(meshes, rng.integers(0, 3, n), start, end)


def _movers(rng: np.random.Generator, n: int) -> tuple[gc.Bodies, Array]:
    """From a shell around the world, which no body reaches."""
    out = rng.normal(size=(n, 3))
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    poses = gc.Poses.from_quat_wxyz(8 * out, _quats(rng, n))
    return gc.Bodies(
        [gc.shapes.box((1, 0.7, 0.4)), gc.shapes.star()], rng.integers(0, 2, n), poses, poses
    ), out


def _translate(seed: int, n: int) -> Moves:
    rng = np.random.default_rng([seed, 1])
    world = _still(rng, 5)
    movers, out = _movers(rng, n)
    return Moves(movers, world, way=rng.uniform(-2.5, 2.5, (n, 3)) - 16 * out)


def _rotate(seed: int, n: int) -> Moves:
    """About an axis some way off, so that they swing through the world."""
    rng = np.random.default_rng([seed, 2])
    world = _still(rng, 5)
    movers, out = _movers(rng, n)
    axis = rng.normal(size=(n, 3))
    axis -= (axis * out).sum(1, keepdims=True) * out
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    origin = 4 * out + 0.4 * rng.normal(size=(n, 3))
    return Moves(movers, world, turn=(rng.uniform(2.4, 3.1, n) * rng.choice([-1, 1], n), axis, origin))


def _sweep(form: str) -> Callable[[int, int], Sweeps]:
    def make(seed: int, n: int) -> Sweeps:
        rng = np.random.default_rng([seed, 3, len(form)])
        world = _still(rng, 4, drift=0.0 if form == "everything" else 0.7)
        out = rng.normal(size=(n, 3))
        start = 9 * out / np.linalg.norm(out, axis=1, keepdims=True)
        path = -2 * start + rng.uniform(-3, 3, (n, 3))
        radii = np.tile(rng.uniform(0.1, 0.9, (n, 1)), (1, 3))
        if form == "rays":
            return Sweeps(world, start, path)
        if form == "ellipsoids":
            return Sweeps(world, start, path, rng.uniform(0.2, 0.9, (n, 3)), _quats(rng, n))
        if form == "clusters":
            cluster = gc.sweep.Cluster(rng.uniform(-0.5, 0.5, (3, 3)), rng.uniform(0.1, 0.5, 3))
            return Sweeps(world, start, path, turned=_quats(rng, n), cluster=cluster)
        return Sweeps(world, start, path, radii, hits="all" if form == "everything" else "first")

    return make


def _small_torus() -> gc.Mesh:
    return gc.shapes.torus(1.0, 0.4, 9, 6)


def _half_turns(*args: Any, **words: Any) -> Any:
    return scenes.spins(*args, max_turn=3.1, **words)


FAMILIES = (
    Family("boxes", "collide", "boxes of two forms", 1.0,
           _impacts(gc.shapes.box, lambda: gc.shapes.box((2, 1, 0.5)))),
    Family("cars", "collide", "cars of 12 faces", 0.5, _impacts(gc.shapes.car)),
    Family("hollow", "collide", "stars and L-blocks, not convex", 0.5,
           _impacts(gc.shapes.star, gc.shapes.l_block)),
    Family("tori", "collide", "tori of 54 faces", 0.05, _impacts(_small_torus)),
    Family("sheets", "collide", "open sheets and boxes", 0.5, _impacts(lambda: _sheet(False), gc.shapes.box)),
    Family("two-sided", "collide", "sheets with two sides and boxes", 0.5,
           _impacts(lambda: _sheet(True), gc.shapes.box)),
    Family("straight", "collide", "no turn at all", 0.5,
           _impacts(gc.shapes.box, gc.shapes.car, scenes.translations)),
    Family("fast", "collide", "through each other in a two-hundredth of the step", 0.5,
           _impacts(gc.shapes.box, gc.shapes.car, scenes.fast_pass)),
    Family("turning", "collide", "turns in place, up to nearly half a revolution", 0.5,
           _impacts(gc.shapes.box, gc.shapes.car, _half_turns)),
    Family("far", "collide", "a million units away", 0.5, _far),
    Family("resting", "collide", "boxes that stand and slide on a floor", 0.5, _resting),
    Family("worlds", "collide", "the broad phase over worlds of cars", 0.24, _worlds),
    Family("balls", "collide", "320 faces, of which only near ones are looked at", 0.08,
           _impacts(_ball(2), gc.shapes.box)),
    Family("own", "collide", "each body along its own screw", 0.3, _own_ways),
    Family("spinning", "collide", "bodies that go straight on and spin", 0.2, _spinning),
    Family("translate", "pluecker", "movers on straight ways", 0.4, _translate),
    Family("rotate", "pluecker", "movers that swing about an axis", 0.4, _rotate),
    Family("rays", "sweep", "points", 1.0, _sweep("rays")),
    Family("spheres", "sweep", "spheres among drifting bodies", 1.0, _sweep("spheres")),
    Family("ellipsoids", "sweep", "ellipsoids, turned", 1.0, _sweep("ellipsoids")),
    Family("clusters", "sweep", "three spheres at once", 1.0, _sweep("clusters")),
    Family("everything", "sweep", "all that spheres would touch", 0.5, _sweep("everything")),
)  # fmt: skip
