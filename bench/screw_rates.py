"""Rates on random impacts of one shape, in all modes: the cases cubes, cars and tori."""

from __future__ import annotations

import gpu_collide as gc
from bench.checks import ExactCheck, compare_with_exact, hit_share
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure
from gpu_collide import scenes
from gpu_collide.study.accuracy import pixel_side

#: Rows per typical short edge: the paper's low, medium and high resolution.
PAPER_RESOLUTIONS = (6.0, 12.0, 24.0)

#: An approximate mode that misses more than this share of the sample (and more than two) is not just coarse.
_MISSED_AT_MOST = 0.05


def rate_shape(name: str, mesh, settings: Settings, *, full: int, sample: int, by_reference: int) -> None:
    """Check and time every mode on `full` pairs (fewer if asked for) and write the case's CSV."""
    n = settings.size(full)
    bodies, pairs = scenes.random_impacts(mesh, mesh, n, seed=settings.seed)
    report = Report(name, settings)
    report.note(f"{n} random impacts of {name}: {len(mesh.vertices)} vertices, {len(mesh.edges)} edges")

    def call(refine, candidates, resolution, count=n, threshold=settings.min_properness):
        return gc.collide(
            bodies,
            pairs[:count],
            refine=refine,
            tuning=gc.Tuning(candidates=candidates),
            resolution=resolution,
            min_properness=threshold,
            precision=settings.precision,
            backend=settings.backend,
        ).to_numpy()

    sample = min(sample, n)
    exact_sample = call("exact", "auto", None, sample)
    exact_all = call("exact", "auto", None, sample, -1.0)
    report.set_device(exact_sample)
    check = None
    if "exact" in settings.refines:
        check = ExactCheck(bodies, pairs, settings, sample=sample, by_reference=by_reference)
    for refine, candidates, resolution in _runs(settings):
        result = call(refine, candidates, resolution)
        errors = {"false": 0.0, "missed": 0.0, "time_error": 0.0}
        if refine == "exact":
            check(result)
        else:
            some = call(refine, candidates, resolution, sample)
            every = call(refine, candidates, resolution, sample, -1.0)
            pixel = pixel_side(bodies, pairs, resolution) if refine == "pixels" else None
            found = compare_with_exact(some, (every, exact_all), exact_sample, pixel=pixel)
            errors = {k: found[k] for k in ("false", "missed")} | {"time_error": found["time_median"]}
            missed = found["missed"] * len(exact_sample)
            if missed > max(2, _MISSED_AT_MOST * len(exact_sample)):
                raise BenchError(f"{refine} at {resolution}: {100 * found['missed']:.1f} % missed; not timed")

        def timed(refine=refine, candidates=candidates, resolution=resolution):
            return call(refine, candidates, resolution)

        timing = measure(timed, settings.repeat)
        report.add(
            hide=("pairs", "transfer_s", "kernel_s"),
            refine=refine,
            candidates=candidates,
            resolution="-" if resolution is None else f"{resolution:g}",
            pairs=n,
            hit_share=hit_share(result),
            contacts=len(result),
            pairs_per_s=n / timing.best,
            us_per_pair=1e6 * timing.best / n,
            spread=timing.spread,
            startup_s=timing.startup,
            transfer_s=timing.part("transfer"),
            kernel_s=timing.part("kernel"),
            **errors,
        )
        if refine == "exact" and candidates == "auto":
            report.add_stages("exact auto", timing, n)
            report.reset_header()
    report.write()


def _runs(settings):
    resolutions = settings.resolutions or PAPER_RESOLUTIONS
    if "exact" in settings.refines:
        yield "exact", "auto", None
        yield "exact", "pairs", None
        yield "exact", "raster", None
        for resolution in resolutions:
            yield "exact", "raster", resolution
    for refine in ("segments", "pixels"):
        if refine in settings.refines:
            for resolution in resolutions:
                yield refine, "auto", resolution
