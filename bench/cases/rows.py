"""Sorted rows: time over the features in one row of the screen, and its exponent."""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import Settings
from bench.timing import measure

NAME = "rows"
HELP = "combs of 100 to 100,000 features in one row of the screen: time a pair and its exponent"

#: Features in the row: vertices and edges of as many teeth.
COUNTS = (100, 316, 1000, 3162, 10000, 31623, 100000)


def comb(n: int) -> gc.Mesh:
    """`n // 4` tetrahedra beside each other, all in one row; each meets the one of its number in another comb
    that comes along x."""
    teeth = max(n // 4, 1)
    tooth = np.array([[-0.2, -0.2, -0.2], [0.2, 0.2, -0.2], [0.2, -0.2, 0.2], [-0.2, 0.2, 0.2]])
    faces = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    at = np.zeros((teeth, 1, 3))
    at[:, 0, 2] = np.arange(teeth)
    vertices = (tooth + at).reshape(-1, 3)
    vertices = vertices / teeth
    return gc.Mesh(vertices, (faces + 4 * np.arange(teeth)[:, None, None]).reshape(-1, 3))


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    before = None
    for n in COUNTS[:4] if settings.quick else COUNTS:
        mesh = comb(n)
        length = 1.0 / max(n // 4, 1)
        start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-2 * length, 0.1 * length, 0]], [[1, 0, 0, 0]] * 2)
        end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.1 * length, 0.1 * length, 0]], [[1, 0, 0, 0]] * 2)
        bodies = gc.Bodies(mesh, None, start, end)

        def call(bodies=bodies):
            return gc.collide(
                bodies, [[0, 1]], tuning=gc.Tuning(candidates="raster", features="all", filters="none"),
                pixel_size=10.0,
                precision=settings.precision, backend=settings.backend, max_bytes=1 << 33,
            ).to_numpy()  # fmt: skip

        result = call()
        report.set_device(result)
        timing = measure(call, settings.repeat)
        exponent = float("nan")
        if before is not None:
            exponent = np.log(timing.best / before[1]) / np.log(n / before[0])
        before = n, timing.best
        report.add(features=n, contacts=len(result), ms=1e3 * timing.best, spread=timing.spread,
                   exponent=exponent)  # fmt: skip
    report.write()
