"""The filters before the narrow phase: what each settles, what it costs, and what the whole call gains."""

from __future__ import annotations

import time

import gpu_collide as gc
from bench.checks import contact_keys, hit_share
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure_in_turn
from gpu_collide import scenes

NAME = "filters"
HELP = "share settled and cost of swept spheres, swept boxes and the dividing plane, alone and in sequence"

#: What is tried; the first is what the others are compared with.
CHOICES = (
    (), ("spheres",), ("boxes",), ("plane",), ("spheres", "boxes"), ("spheres", "boxes", "plane"),
)  # fmt: skip
#: Shares of the pairs that touch: all aimed well, and the more beside the mark the less.
TOUCH = (0.47, 0.1, 0.02)
#: shape, generator, pairs
SHAPES = (
    ("cubes", lambda: gc.shapes.box(), 40000),
    ("cars", lambda: gc.shapes.car(), 20000),
    ("tori", lambda: gc.shapes.torus(), 600),
)


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    for shape, make, full in SHAPES:
        mesh = make()
        n = settings.size(full)
        for touch in TOUCH:
            bodies, pairs = scenes.random_impacts(mesh, mesh, n, seed=settings.seed, touch_share=touch)
            _rate(report, settings, shape, bodies, pairs)
    report.write()


def _rate(report, settings, shape, bodies, pairs):
    n = len(pairs)

    def call(filters):
        return gc.collide(
            bodies,
            pairs,
            tuning=gc.Tuning(filters=filters or "none"),
            report=True,  # stages are timed one by one then, in repeated calls too
            min_properness=settings.min_properness,
            precision=settings.precision,
            backend=settings.backend,
        ).to_numpy()

    results = [call(filters) for filters in CHOICES]
    report.set_device(results[0])
    for filters, one in zip(CHOICES, results, strict=True):
        same = one.time.tobytes() == results[0].time.tobytes()
        if not same or contact_keys(one).tobytes() != contact_keys(results[0]).tobytes():
            raise BenchError(f"filters={filters}: other contacts than without; not timed")
    spent = [[] for _ in CHOICES]

    def timed(filters, cpu):
        begun = time.process_time()
        found = call(filters)
        cpu.append(time.process_time() - begun)
        return found

    calls = [lambda f=f, cpu=cpu: timed(f, cpu) for f, cpu in zip(CHOICES, spent, strict=True)]
    timings = measure_in_turn(calls, settings.repeat)
    for filters, one, timing, cpu in zip(CHOICES, results, timings, spent, strict=True):
        rows = {row.name: row for row in one.report}
        report.add(
            hide=("pairs", "spread"),
            shape=shape,
            hit_share=hit_share(one),
            filters="+".join(filters) or "none",
            pairs=n,
            settled=1.0 - rows["narrow phase"].got / n,
            us_per_pair=1e6 * timing.best / n,
            time_ratio=timing.best / timings[0].best,
            cpu_ratio=min(cpu) / min(spent[0]),
            spread=timing.spread,
            **{f"{name}_share": rows[name].share if name in rows else "" for name in CHOICES[-1]},
            **{f"{name}_us": _cost(timing, rows, name) for name in CHOICES[-1]},
        )
    report.note(str(results[-1].report))
    report.reset_header()


def _cost(timing, rows, name):
    """Microseconds a test of the filter's launch in the fastest run, "" where it did not run."""
    stem = {"spheres": "f01_spheres", "boxes": "f02_boxes", "plane": "f03_plane"}[name]
    return 1e6 * timing.stages[stem] / rows[name].got if name in rows and rows[name].got else ""
