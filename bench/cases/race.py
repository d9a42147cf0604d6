"""Recorded races: a kart on its track, every step, on the whole track as one mesh, and on copies of it."""

from __future__ import annotations

import time

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure
from gpu_collide.scenes import tiled

NAME = "race"
HELP = "a recorded race on its track: python -m bench race RACE.npz"

#: Copies of the track side by side in one mesh: what is not touched should cost nothing.
TILES = (1, 4, 16)
#: Steps that are checked, half of them with contacts if there are as many.
SAMPLE = 24

_FIELDS = ("body_a", "body_b", "kind", "feature_a", "feature_b", "fraction", "position", "normal",
           "properness", "local_a", "local_b", "normal_speed", "sustained")  # fmt: skip


def run(settings: Settings) -> None:
    if not settings.paths:
        raise BenchError(
            "case 'race' needs a recording: python -m bench race RACE.npz (see gpu-collide race --help)"
        )
    report = Report(NAME, settings)
    for path in settings.paths:
        try:
            recording = gc.load_recording(path)
        except (OSError, TypeError, ValueError) as error:
            raise BenchError(str(error)) from error
        if recording.static is None or len(recording.static) != 1:
            raise BenchError(f"{path}: expected a recording with one track")
        for tiles in TILES:
            _one_race(report, settings, path.stem, recording, tiles)
        report.reset_header()
    report.write()


def _one_race(report, settings, name, recording, tiles):
    begin = time.perf_counter()
    track = tiled(recording.static.meshes[0], tiles)
    mesh_s = time.perf_counter() - begin
    recording = recording.with_static(track)
    first, stop = recording.races[0]
    stop = min(stop, first + 1 + settings.size(max(stop - first - 1, 0)))
    poses, times = recording.poses(first, stop), recording.times[first:stop]
    options = {
        "static": recording.static,
        "min_properness": settings.min_properness,
        "precision": settings.precision,
        "backend": settings.backend,
    }

    def call():
        return gc.collide_trajectories(recording.meshes, recording.shape, poses, times, **options)

    result = call()
    report.set_device(result)
    if tiles == TILES[0]:
        check_steps(recording, poses, times, result, options, settings.seed)
    timing = measure(call, settings.repeat)
    steps, driven = result.n_steps, float(times[-1] - times[0])
    report.add(
        hide=("mesh_s", "spread", "startup_s", "transfer_s", "kernel_s"),
        race=name,
        tiles=tiles,
        track_faces=track.n_faces,
        steps=steps,
        driven_s=driven,
        hit_share=len(np.unique(result.step)) / steps,
        contacts=len(result),
        seconds=timing.best,
        us_per_step=1e6 * timing.best / steps,
        faster_than_driven=driven / timing.best,
        mesh_s=mesh_s,
        spread=timing.spread,
        startup_s=timing.startup,
        transfer_s=timing.part("transfer"),
        kernel_s=timing.part("kernel"),
    )
    report.add_stages(f"{name} x{tiles}", timing, steps)
    report.reset_header()


def check_steps(recording, poses, times, result, options, seed) -> int:
    """Compare a sample of steps with all features of both meshes, step by step; returns how many.

    Raises
    ------
    BenchError
        With the first step whose contacts differ in any bit.
    """
    rng = np.random.default_rng(seed)
    hit = np.unique(result.step)
    chosen = set(rng.permutation(hit)[: SAMPLE // 2].tolist())
    chosen |= set(rng.permutation(result.n_steps)[: SAMPLE - len(chosen)].tolist())
    for step in sorted(chosen):
        alone = gc.collide_trajectories(
            recording.meshes, recording.shape, poses[step : step + 2], times[step : step + 2],
            tuning=gc.Tuning(features="all", filters="none"), **options,
        )  # fmt: skip
        mine = result.of_step(step)
        for name in _FIELDS:
            found, expected = getattr(result, name)[mine], getattr(alone, name)
            if not np.array_equal(found, expected):
                raise BenchError(f"step {step}: {name} differs from that of all features; not timed")
    return len(chosen)
