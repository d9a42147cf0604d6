"""First contacts of round shapes that fly into each other and turn, pair by pair of kinds: microseconds of
processor time of a pair and a core, with both motions, beside boxes without rounding."""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench.cases.motions import turned
from bench.report import Report
from bench.settings import Settings

NAME = "round"
HELP = "first contacts of spheres, capsules and rounded boxes, beside plain boxes"

MAKE = {
    "sphere": lambda: gc.shapes.sphere(0.5),
    "capsule": lambda: gc.shapes.capsule(0.25, 0.75),
    "box": lambda: gc.shapes.box(),
    "rounded box": lambda: gc.shapes.rounded_box(1.0, 0.1),
}
KINDS = (
    ("sphere", "sphere"), ("sphere", "box"), ("sphere", "capsule"), ("capsule", "capsule"),
    ("capsule", "box"), ("rounded box", "rounded box"), ("box", "box"),
)  # fmt: skip
PAIRS, ROUNDS, TURN = 20_000, 5, 0.5


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    n = settings.size(PAIRS)
    for kinds in KINDS:
        bodies, pairs = scene([MAKE[kind]() for kind in kinds], n, settings.seed)
        for motion in ("relative", "body"):
            least, found = np.inf, None
            for k in range(1 + (2 if settings.quick else ROUNDS)):  # the first builds
                begun = time.process_time()
                found = gc.collide(
                    bodies, pairs, motion=motion, contacts="first", backend=settings.backend,
                    precision=settings.precision,
                )  # fmt: skip
                least = min(least, time.process_time() - begun) if k else least
            assert found is not None
            report.set_device(found)
            hits = float(np.mean(found.to_numpy().status == gc.Status.HIT))
            report.add(
                a=kinds[0], b=kinds[1], motion=motion, pairs=n, hit_share=hits, us=1e6 * least / n,
                per_second=n / least,
            )  # fmt: skip
    report.write()


def scene(meshes: list[gc.Mesh], n: int, seed: int) -> tuple[gc.Bodies, np.ndarray]:
    """Pairs (0, 1), (2, 3), ... of which the second flies past or into the first one, and both turn."""
    rng = np.random.default_rng(seed)
    way, aside = rng.normal(size=(2, n, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    aside -= (aside * way).sum(axis=1)[:, None] * way
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    reach = meshes[0].radius + meshes[1].radius
    start = np.repeat(0.5 * rng.normal(size=(n, 3)), 2, axis=0)
    start[1::2] += reach * (1.1 * way + rng.uniform(0, 1, n)[:, None] * aside)
    end = start + 0.1 * rng.normal(size=(2 * n, 3))
    end[1::2] -= 1.2 * reach * way
    before = turned(rng, 2 * n, 3.0, False)
    after = turned(rng, 2 * n, TURN, False, before)
    poses = (gc.Poses.from_quat_wxyz(*each) for each in ((start, before), (end, after)))
    return gc.Bodies(meshes, np.arange(2 * n) % 2, *poses), np.arange(2 * n).reshape(-1, 2)
