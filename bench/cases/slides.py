"""Characters: steps of `gc.sweep.slide` a second, in a room with boxes, at rest and walking.

Before anything is timed, some are compared with the reference, which tests every feature.
"""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure

NAME = "slides"
HELP = "characters that walk, slide and fall: steps a second"

PEOPLE = (1_000, 100_000)
RADII = (0.3, 0.3, 0.9)
SIDE, BLOCKS = 60.0, 400  # metres of ground, boxes on it
FALL = (0.0, 0.0, -0.05)
SAMPLE = 6


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    _check(settings)
    world = _world(np.random.default_rng(settings.seed), SIDE, BLOCKS)
    for people in PEOPLE[: 1 if settings.quick else None]:
        n = settings.size(people)
        place, way = _crowd(np.random.default_rng(settings.seed), n)
        with _scene(settings, world) as scene:
            for _ in range(60):
                place = gc.sweep.slide(scene, place, RADII, 0 * way, gravity=FALL).position
            for what, speed in (("walk", 1.0), ("stand", 0.0)):

                def step(scene=scene, place=place, way=speed * way):
                    return gc.sweep.slide(scene, place, RADII, way, gravity=FALL, step_height=0.3)

                found = step()
                report.set_device(found)
                timing = measure(step, settings.repeat)
                report.add(
                    hide=("spread",), characters=n, they=what, casts_each=float(found.casts.mean()),
                    grounded=float(found.grounded.mean()), slides_per_s=n / timing.best, spread=timing.spread,
                )  # fmt: skip
    report.write()


def _world(rng, side, blocks):
    """A square of ground, and boxes on it, some of them steps."""
    half = side / 2
    ground = gc.Mesh(
        [[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]], [[0, 1, 2], [0, 2, 3]]
    )
    meshes = [ground, gc.shapes.box((1, 1, 2)), gc.shapes.box((3, 3, 0.4))]
    place = np.zeros((blocks + 1, 3))
    place[1:, :2] = rng.uniform(-half, half, (blocks, 2))
    return meshes, np.r_[0, 1 + np.arange(blocks) % 2], place


def _scene(settings, world, **how):
    meshes, shape, place = world
    poses = gc.Poses.from_quat_wxyz(place, np.tile([1.0, 0, 0, 0], (len(place), 1)))
    how = {"precision": settings.precision, "backend": settings.backend} | how
    return gc.Scene(meshes, shape, poses, **how)


def _crowd(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    place = np.c_[rng.uniform(-0.45, 0.45, (n, 2)) * SIDE, np.full(n, 2.5)]
    return place, 0.1 * np.c_[np.cos(angle), np.sin(angle), np.zeros(n)]


def _check(settings):
    world = _world(np.random.default_rng(settings.seed), SIDE, 4)
    place, way = _crowd(np.random.default_rng(settings.seed), SAMPLE)
    options = {"gravity": FALL, "step_height": 0.3}
    with _scene(settings, world, backend="reference") as scene:
        truth = gc.sweep.slide(scene, place, RADII, way, **options)
    with _scene(settings, world, precision="mixed") as scene:
        found = gc.sweep.slide(scene, place, RADII, way, **options)
    off = np.abs(found.position - truth.position).max()
    if off > 1e-9 or (found.status != truth.status).any():
        raise BenchError(f"slides: expected places of the reference within 1e-9, got {off:.3g} off")
