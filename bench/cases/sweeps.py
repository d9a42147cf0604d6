"""Rays beside Embree and swept spheres beside Warp and Bullet, over a track; how time grows with it.

The track and the paths are those of the case ``moves``. Spheres are checked against the reference, which
tests every feature, before anything is timed. What each gets wrong is counted against the answers in double
precision, which `python -m tests.acceptance.sweep_report` holds against an exact judge.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

import gpu_collide as gc
from bench import figures
from bench.cases.moves import track, ways
from bench.peer_bullet import BulletTrack
from bench.peer_moves import EmbreeTrack
from bench.peer_warp import WarpTrack, device_for
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure, measure_in_turn

NAME = "sweeps"
HELP = "rays and swept spheres over a track of 1e3 to 1e6 triangles, beside Embree, Warp and Bullet"

TRACKS = (20_000, 120_000)  # for spheres beside peers
SIZES = (1_000, 10_000, 100_000, 1_000_000)
RADII = (0.01, 0.1, 0.5)  # metres, with cells of one
TARGET = 0.5  # of Embree's rate through arrays, in single precision
TARGET_SPHERES = 5.0  # times the rate of the fastest peer that is right
WRONG = 1e-3  # metres by which a first touch is off
RIGHT = 1e-3  # share of wrong ones that a peer that is right may have: grazes, in single precision
SAMPLE = 200  # spheres that are checked, on a small track


def run(settings: Settings) -> None:
    try:
        from embreex import rtcore_scene  # noqa: F401
    except ImportError as error:
        raise BenchError("case 'sweeps' needs python -m pip install embreex") from error
    report = Report(NAME, settings)
    _check(settings)
    sizes = SIZES[: 2 if settings.quick else None]
    for count in sizes:
        for precision in (settings.precision, "single"):
            _rays(report, settings, count, precision)
    report.reset_header()
    for count in TRACKS[: 1 if settings.quick else None]:
        for radius in RADII:
            _spheres(report, settings, count, radius)
    report.reset_header()
    for count in sizes:
        _growth(report, settings, count)
    written = report.write()
    if settings.figure is not None or written:
        rows = [row for row in report.rows if "growth" in row]
        columns = {"us_per_ray": "rays"} | {f"us_radius_{r}": f"spheres, radius {r} of a cell" for r in RADII}
        figures.cost_over_triangles(
            rows, columns, f"gc.sweep, {report.device}", settings.figure or written[0].with_suffix(".png")
        )


def _scene(settings, vertices, faces, two_sided=False, precision=None):
    how = {"precision": precision or settings.precision, "backend": settings.backend}
    return gc.Scene(gc.Mesh(vertices, faces, two_sided=two_sided), None, gc.Poses.identity(1), **how)


def _check(settings):
    """Spheres on a small track are where the reference has them."""
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(200, rng)
    start, way, _ = ways(rng, SAMPLE, half)
    here = gc.Poses.identity(1)
    world = gc.Bodies(gc.Mesh(vertices, faces), None, here, here)
    for radius in RADII:
        truth = gc.sweep.spheres(start, way, radius, world, backend="reference")
        with _scene(settings, vertices, faces, precision="mixed") as scene:
            found = gc.sweep.spheres(start, way, radius, scene)
        off = np.abs(found.time - truth.time).max()
        if (found.hit != truth.hit).any() or off > 1e-9:
            raise BenchError(
                f"spheres of {radius}: {off:.3g} of the path apart from the reference; not timed"
            )


def _wrong(share, truth, way):
    """Share of the free parts of ways that are not the exact ones; of what is free altogether it is 1."""
    n = len(share)
    off = np.abs(share - truth.time[:n]) * np.linalg.norm(way[:n], axis=1)
    return float((off > WRONG).mean())


def _truth(settings, vertices, faces, start, way, radius):
    with _scene(settings, vertices, faces, two_sided=True, precision="double") as scene:
        return gc.sweep.spheres(start, way, radius, scene)


def _rays(report, settings, count, precision):
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(count, rng)
    n = settings.size(1_000_000)
    start, way, _ = ways(rng, n, half)
    truth = _truth(settings, vertices, faces, start, way, 0.0)
    embree = EmbreeTrack(vertices, faces)
    with _scene(settings, vertices, faces, two_sided=True, precision=precision) as scene:

        def ours():
            return gc.sweep.rays(start, way, scene)

        found = ours()
        report.set_device(found)
        wrong = _wrong(found.time, truth, way)
        if wrong > RIGHT:
            raise BenchError(f"rays: {wrong:.3g} of them differ from double precision; not timed")
        calls = [ours, lambda: embree.first_hits(start, way)]
        if find_spec("warp"):
            warp = WarpTrack(vertices, faces, device_for(found.info["backend"]))
            calls.append(lambda: warp.first_hits(start, way, 0.0))
        theirs = [_wrong(call(), truth, way) for call in calls[1:]] + [float("nan")]
        one, two, *more = measure_in_turn(calls, settings.repeat)
    report.add(
        hide=("ours_spread", "embree_spread"),
        rays=n, triangles=len(faces), numbers=precision, stopped=float(found.hit.mean()),
        ours_per_s=n / one.best, embree_per_s=n / two.best, ratio=two.best / one.best, target=TARGET,
        reached="yes" if two.best / one.best >= TARGET else "no", wrong=wrong, embree_wrong=theirs[0],
        warp_rays_per_s=n / more[0].best if more else float("nan"), warp_wrong=theirs[1],
        ours_spread=one.spread, embree_spread=two.spread,
    )  # fmt: skip


def _spheres(report, settings, count, radius):
    """Beside Warp and Bullet, as far as they are installed; the ratio is to the fastest that is right."""
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(count, rng)
    n = settings.size(200_000)
    start, way, _ = ways(rng, n, half)
    truth = _truth(settings, vertices, faces, start, way, radius)
    row, rates = {}, []
    with _scene(settings, vertices, faces, two_sided=True, precision="single") as scene:
        timing = measure(lambda: gc.sweep.spheres(start, way, radius, scene), settings.repeat)
        found = gc.sweep.spheres(start, way, radius, scene)
        wrong = _wrong(found.time, truth, way)
    there = {"device": device_for(found.info["backend"])} if find_spec("warp") else {}
    for name, make, part, more in (("warp", WarpTrack, 10, there), ("bullet", BulletTrack, 40, {})):
        k = max(n // part, 1)
        try:
            peer = make(vertices, faces, **more)
        except ImportError:
            row |= {f"{name}_per_s": float("nan"), f"{name}_wrong": float("nan")}
            continue
        theirs = measure(lambda peer=peer, k=k: peer.first_hits(start[:k], way[:k], radius), settings.repeat)
        share = peer.first_hits(start[:k], way[:k], radius)
        row |= {f"{name}_per_s": k / theirs.best, f"{name}_wrong": _wrong(share, truth, way)}
        if row[f"{name}_wrong"] <= RIGHT:
            rates.append(k / theirs.best)
    ratio = n / timing.best / max(rates) if rates else float("nan")
    report.add(
        spheres=n, triangles=len(faces), radius=radius, stopped=float(truth.hit.mean()),
        ours_per_s=n / timing.best, wrong=wrong, **row, ratio=ratio, target=TARGET_SPHERES,
        reached="yes" if ratio >= TARGET_SPHERES else "no",
    )  # fmt: skip


def _growth(report, settings, count):
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(count, rng)
    n = settings.size(100_000)
    start, way, _ = ways(rng, n, half)
    with _scene(settings, vertices, faces) as scene:
        spent = {"us_per_ray": measure(lambda: gc.sweep.rays(start, way, scene), settings.repeat)}
        for radius in RADII:
            spent[f"us_radius_{radius}"] = measure(
                lambda radius=radius: gc.sweep.spheres(start, way, radius, scene), settings.repeat
            )
    each = {name: 1e6 * timing.best / n for name, timing in spent.items()}
    report.add(growth="rays and spheres", triangles=len(faces), **each)
