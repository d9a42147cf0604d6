"""What each body's own motion costs beside one relative screw, over how far bodies turn in a step.

Two bodies of a shape start apart and go towards each other, each turning about a random axis, or all about
the vertical like cars; the turn is the largest one of either body, evenly distributed below it. Both motions
are asked by turns, and processor time is told, the least of the rounds.
"""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench import figures
from bench.report import Report
from bench.settings import Settings

NAME = "motions"
HELP = "motion='body' beside motion='relative', over the turn of a step"

SHAPES = {"cubes": (gc.shapes.box, 2000), "cars": (gc.shapes.car, 2000), "tori": (gc.shapes.torus, 100)}
TURNS = (0, 5, 10, 20, 45, 90)
ROUNDS = 7


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    for name, (make, most) in SHAPES.items():
        mesh = make()
        for planar in (False, True):
            for degrees in TURNS:
                n = most // 10 if settings.quick else most
                bodies = scene(mesh, n, np.radians(degrees), planar, settings.seed)
                rounds = 2 if settings.quick else ROUNDS
                least, share = measured(bodies, n, rounds, settings, report)
                report.add(
                    shape=name, axes="vertical" if planar else "any", turn=degrees, pairs=n, hit_share=share,
                    relative_us=least["relative"], body_us=least["body"],
                    ratio=least["body"] / least["relative"],
                )  # fmt: skip
    written = report.write()
    if settings.figure is not None or written:
        figures.ratio_over_turn(report.rows, settings.figure or written[0].with_suffix(".png"))


def scene(mesh: gc.Mesh, n: int, turn: float, planar: bool, seed: int) -> gc.Bodies:
    """Pairs (0, 1), (2, 3), ... of bodies that start 2.2 radii apart and come 1.5 radii nearer."""
    rng, size = np.random.default_rng(seed), mesh.radius
    before = turned(rng, 2 * n, 3.0, planar)
    after = turned(rng, 2 * n, turn, planar, before)
    way, drift = rng.normal(size=(n, 3)), 0.1 * size * rng.normal(size=(2 * n, 3))
    if planar:
        way[:, 2] *= 0.02
        drift[:, 2] = 0.0
    way /= np.linalg.norm(way, axis=1)[:, None]
    start = np.repeat(0.5 * rng.normal(size=(n, 3)), 2, axis=0)
    start[1::2] += 2.2 * size * way
    end = start + drift
    end[1::2] -= 1.5 * size * way
    poses = (gc.Poses.from_quat_wxyz(*each) for each in ((start, before), (end, after)))
    return gc.Bodies(mesh, np.zeros(2 * n, int), *poses)


def turned(rng, n: int, most: float, planar: bool, before=None) -> np.ndarray:
    """Quaternions of turns up to `most`, of either sign, after those `before`."""
    axis = np.tile([0.0, 0.0, 1.0], (n, 1)) if planar else rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    half = 0.5 * rng.uniform(-most, most, n)
    w, v = np.cos(half), np.sin(half)[:, None] * axis
    if before is None:
        return np.column_stack([w, v])
    w0, v0 = before[:, 0], before[:, 1:]
    vector = w[:, None] * v0 + w0[:, None] * v + np.cross(v, v0)
    return np.column_stack([w * w0 - (v * v0).sum(axis=1), vector])


def measured(bodies: gc.Bodies, n: int, rounds: int, settings: Settings, report: Report):
    """Least microseconds of processor time a pair of either motion, and how many of the pairs hit."""
    pairs = np.arange(2 * n).reshape(-1, 2)
    least = {"relative": np.inf, "body": np.inf}
    for k in range(rounds + 1):  # the first round builds, and finds out how much room all takes
        for motion in least:
            begun = time.process_time()
            found = gc.collide(
                bodies, pairs, motion=motion, backend=settings.backend, precision=settings.precision
            )
            took = 1e6 * (time.process_time() - begun) / n
            least[motion] = min(least[motion], took) if k else np.inf
    report.set_device(found)
    return least, float(np.mean(found.to_numpy().status == gc.Status.HIT))
