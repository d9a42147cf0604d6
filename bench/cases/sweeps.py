"""Rays and swept spheres over a track of triangles, rays beside Embree; how time grows with the track.

The track and the paths are those of the case ``moves``. Rays are checked against Embree, spheres against the
reference, which tests every feature, before anything is timed.
"""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench.cases.moves import track, ways
from bench.peer_moves import EmbreeTrack
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure, measure_in_turn

NAME = "sweeps"
HELP = "rays and swept spheres over a track of 1e3 to 1e6 triangles, rays beside Embree"

TRACKS = (20_000, 120_000)
SIZES = (1_000, 10_000, 100_000, 1_000_000)
RADII = (0.01, 0.1, 0.5)  # metres, with cells of one
TARGET = 0.5  # of Embree's rate through arrays, in single precision
SAMPLE = 200  # spheres that are checked, on a small track


def run(settings: Settings) -> None:
    try:
        from embreex import rtcore_scene  # noqa: F401
    except ImportError as error:
        raise BenchError("case 'sweeps' needs python -m pip install embreex") from error
    report = Report(NAME, settings)
    _check(settings)
    for count in TRACKS[: 1 if settings.quick else None]:
        for precision in (settings.precision, "single"):
            _rays(report, settings, count, precision)
    report.reset_header()
    for count in SIZES[: 2 if settings.quick else None]:
        _growth(report, settings, count)
    report.write()


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


def _rays(report, settings, count, precision):
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(count, rng)
    n = settings.size(1_000_000)
    start, way, _ = ways(rng, n, half)
    embree = EmbreeTrack(vertices, faces)
    with _scene(settings, vertices, faces, two_sided=True, precision=precision) as scene:

        def ours():
            return gc.sweep.rays(start, way, scene)

        found, theirs = ours(), embree.first_hits(start, way)
        report.set_device(found)
        differ = found.hit != (theirs < 1)
        off = np.abs(found.time - theirs) * np.linalg.norm(way, axis=1)
        if differ.mean() > 1e-4 or np.quantile(off[~differ], 0.999) > 1e-3:
            raise BenchError(f"rays: {int(differ.sum())} of {n} differ from Embree; not timed")
        one, two = measure_in_turn([ours, lambda: embree.first_hits(start, way)], settings.repeat)
    report.add(
        hide=("ours_spread", "embree_spread"),
        rays=n, triangles=len(faces), numbers=precision, stopped=float(found.hit.mean()),
        ours_per_s=n / one.best, embree_per_s=n / two.best, ratio=two.best / one.best, target=TARGET,
        reached="yes" if two.best / one.best >= TARGET else "no", differ=int(differ.sum()),
        ours_spread=one.spread, embree_spread=two.spread,
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
