"""A recorded race: the kart's body against the triangles of the track near it, every step of the race."""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench.checks import ExactCheck, hit_share
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure
from examples.race import build_scene, load_race

NAME = "race"
HELP = "a recorded race on its track: python -m bench race RACE.npz"


def run(settings: Settings) -> None:
    if not settings.paths:
        raise BenchError(
            "case 'race' needs a recording: python -m bench race RACE.npz (see examples/race.py)"
        )
    report = Report(NAME, settings)
    for path in settings.paths:
        try:
            race = load_race(path)
        except (FileNotFoundError, ValueError) as error:
            raise BenchError(str(error)) from error
        _one_race(report, settings, path.stem, race)
    report.write()


def _one_race(report, settings, name, race):
    begin = time.perf_counter()
    scene = build_scene(race)
    build = time.perf_counter() - begin
    pairs = scene.pairs[: settings.size(len(scene.pairs))]

    def call():
        return gc.collide(
            scene.bodies,
            pairs,
            min_properness=settings.min_properness,
            precision=settings.precision,
            backend=settings.backend,
        ).to_numpy()

    result = call()
    report.set_device(result)
    ExactCheck(scene.bodies, pairs, settings, sample=len(pairs), by_reference=2)(result)
    timing = measure(call, settings.repeat)
    sizes = np.array([len(found) for found in scene.triangles])
    report.add(
        hide=("triangles_mean", "spread", "transfer_s", "kernel_s"),
        race=name,
        steps=len(race.time),
        pairs=len(pairs),
        patches=len(sizes),
        triangles_mean=float(sizes[scene.patch[: len(pairs)]].mean()),
        hit_share=hit_share(result),
        contacts=len(result),
        patches_s=build,
        collide_s=timing.best,
        spread=timing.spread,
        us_per_step=1e6 * timing.best / len(pairs),
        startup_s=timing.startup,
        transfer_s=timing.part("transfer"),
        kernel_s=timing.part("kernel"),
        faster_than_driven=float(race.duration.sum() * len(pairs) / len(scene.pairs) / timing.best),
    )
    report.add_stages(name, timing, len(pairs))
    report.reset_header()
