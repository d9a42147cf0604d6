"""Rates by the size of a batch, with everything on the host and with everything on the device.

On the device means: poses and pairs are arrays there, and results stay there; on `cpu` and `opencl` that is
the same as on the host, and is left out. The largest batch is what the case was asked for.
"""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench.checks import hit_share
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure
from gpu_collide import scenes
from gpu_collide.backends import get_backend

NAME = "batches"
HELP = "cubes, cars and tori in batches of 1,000 pairs to a million, arrays on the host and on the device"

SHAPES = (("cubes", gc.shapes.box, 1.0), ("cars", gc.shapes.car, 1.0), ("tori", gc.shapes.torus, 0.1))
FULL = 1_000_000  # pairs, times the shape's share above
FEWEST = 1_000
SEVERAL = 10  # times larger each batch is than the one before


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    backend = get_backend(settings.backend)
    report.device = f"{backend.name}: {backend.device}"
    for name, make, share in SHAPES:
        most = max(round(settings.size(FULL) * share), 1)
        mesh = make()
        bodies, pairs = scenes.random_impacts(mesh, mesh, most, seed=settings.seed)
        for n in sizes(most):
            _rates(report, settings, backend, name, part(bodies, n, most), pairs_of(n))
    report.write()


def sizes(most: int) -> list[int]:
    """Batches up to the largest."""
    found = [most]
    while found[-1] // SEVERAL >= FEWEST:
        found.append(found[-1] // SEVERAL)
    return found[::-1]


def pairs_of(n: int) -> np.ndarray:
    """(n, 2) int32: body k with body n + k, as scenes of impacts have them."""
    return np.column_stack((np.arange(n), np.arange(n) + n)).astype(np.int32)


def part(bodies, n: int, of: int):
    """The bodies of the first `n` pairs of `of`."""
    rows = np.concatenate((np.arange(n), of + np.arange(n)))
    return gc.Bodies(bodies.meshes, bodies.shape[rows], bodies.start[rows], bodies.end[rows])


def _rates(report, settings, backend, name, bodies, pairs) -> None:
    options = {"precision": settings.precision, "min_properness": settings.min_properness}
    options |= {"backend": backend.kind}
    n = len(pairs)

    def on_host():
        return gc.collide(bodies, pairs, results="host", **options)

    calls = {"host": on_host}
    if backend.kind == "cuda":
        calls["device"] = _on_device(backend, bodies, pairs, options)
    found = calls["host"]()
    for where, call in calls.items():
        same_results(call(), found, f"{n} {name}, arrays on the {where}")
        timing = measure(call, settings.repeat)
        report.add(
            hide=("transfer_s", "kernel_s"),
            shape=name,
            arrays=where,
            pairs=n,
            hit_share=hit_share(found),
            contacts=len(found),
            pairs_per_s=n / timing.best,
            us_per_pair=1e6 * timing.best / n,
            spread=timing.spread,
            startup_s=timing.startup,
            transfer_s=timing.part("transfer"),
            kernel_s=timing.part("kernel"),
        )


def _on_device(backend, bodies, pairs, options):
    """A call about arrays that lie on the device, which returns when its results are there."""
    start, end = (
        gc.Poses.from_quat_wxyz(*map(backend.to_device, (poses.position, poses.quat_wxyz)))
        for poses in (bodies.start, bodies.end)
    )
    there, rows = gc.Bodies(bodies.meshes, bodies.shape, start, end), backend.to_device(pairs)

    def call():
        found = gc.collide(there, rows, results="device", **options)
        backend.synchronize()
        return found

    return call


def same_results(one, other, what: str) -> None:
    """Raise BenchError unless two results have the same bits."""
    one, other = one.to_numpy(), other.to_numpy()
    for name, array in vars(other).items():
        if isinstance(array, np.ndarray) and getattr(one, name).tobytes() != array.tobytes():
            raise BenchError(f"{what}: {name} differs; not timed")
