"""Ours beside Warp at poses sampled along the same screws, 16 to 256 a step: rates, what is missed, how late.

Ours: exact mode, all contacts and first contacts, from pose arrays to result arrays. Theirs: the time of the
first pose at which the surfaces cross (`bench.peer_warp`), from the same arrays, and the launch alone with
its arrays in place. On a processor Warp takes one core, ours all. Answers are compared before anything is
timed: no pose may show a crossing before the time of our first contact, or of bodies that we have apart.
"""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench.checks import ExactCheck, hit_share
from bench.peer_warp import WarpPoses, device_for
from bench.relative import relative_poses
from bench.report import Report, usable_cpus
from bench.settings import BenchError, Settings
from bench.timing import measure_in_turn
from gpu_collide import scenes

NAME = "sampled"
HELP = "exact contacts beside Warp at 16, 64 and 256 poses of each step: rates, and what poses miss"

#: shape, pairs, pairs checked by the reference.
SHAPES = (
    ("cubes", gc.shapes.box, 40000, 50),
    ("cars", gc.shapes.car, 20000, 50),
    ("tori", gc.shapes.torus, 1000, 2),
)
SAMPLES = (16, 64, 256)  # poses of a step
EARLY = 1e-4  # of a step that single precision may have a pose before the contact
FALSE = 0.001  # share of pairs that it may have cross though they only graze


def run(settings: Settings) -> None:
    try:
        import warp  # noqa: F401
    except ImportError as error:
        raise BenchError("case 'sampled' needs Warp: python -m pip install warp-lang") from error
    report = Report(NAME, settings)
    for name, make, full, by_reference in SHAPES:
        _compare(report, settings, name, make(), settings.size(full), by_reference)
    report.write()


def _compare(report, settings, name, mesh, n, by_reference):
    bodies, pairs = scenes.random_impacts(mesh, mesh, n, seed=settings.seed)
    options = {
        "min_properness": settings.min_properness,
        "precision": settings.precision,
        "backend": settings.backend,
    }

    def ours(contacts="all"):
        return gc.collide(bodies, pairs, refine="exact", contacts=contacts, **options).to_numpy()

    result = ours()
    report.set_device(result)
    ExactCheck(bodies, pairs, settings, sample=2000, by_reference=by_reference)(result)
    peer = WarpPoses(mesh, mesh, device_for(result.info["backend"]))
    placed = peer.put(*relative_poses(bodies, pairs))
    calls = [ours, lambda: ours("first")]
    for samples in SAMPLES:
        calls.append(lambda samples=samples: peer.first_contacts(*relative_poses(bodies, pairs), samples))
        calls.append(lambda samples=samples: peer.launch(placed, samples))
    compared = [agreement(name, result, calls[2 + 2 * k](), s) for k, s in enumerate(SAMPLES)]
    timings = measure_in_turn(calls, settings.repeat)
    rates = [n / timing.best for timing in timings]
    for k, samples in enumerate(SAMPLES):
        report.add(
            hide=("spread", "warp_spread", "cores", "warp_device"),
            shape=name,
            pairs=n,
            hit_share=hit_share(result),
            samples=samples,
            ours_per_s=rates[0],
            first_per_s=rates[1],
            warp_per_s=rates[2 + 2 * k],
            warp_launch_per_s=rates[3 + 2 * k],
            ratio=rates[0] / rates[2 + 2 * k],
            **compared[k],
            spread=timings[0].spread,
            warp_spread=timings[2 + 2 * k].spread,
            cores=usable_cpus(),
            warp_device=peer.device,
        )
    report.reset_header()


def agreement(name, result, times, samples):
    """What so many poses miss, and by how much of a step they are late. BenchError if they are early."""
    hit = np.asarray(result.status) == int(gc.Status.HIT)
    seen = np.isfinite(times)
    false = float((seen & ~hit).mean())
    if false > FALSE:
        raise BenchError(
            f"{name}: Warp has {false:.2%} of the pairs cross at one of {samples} poses, we have them apart"
        )
    both = hit & seen
    late = times[both] - np.asarray(result.toi)[both]
    if len(late) and late.min() < -EARLY:
        raise BenchError(
            f"{name}: one of {samples} poses is {-late.min():.3g} of a step before the first contact"
        )
    least, middle, most = (late.min(), np.median(late), late.max()) if len(late) else (np.nan,) * 3
    missed = float((hit & ~seen).sum() / max(hit.sum(), 1))
    return {"missed": missed, "late": middle, "late_least": least, "late_most": most, "false": false}
