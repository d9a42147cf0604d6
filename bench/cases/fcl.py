"""Ours beside python-fcl on the same pairs in the same run; see `bench.peer_fcl` for what fcl is given.

Ours: exact mode, every contact from properness -0.1 up, from pose arrays to result arrays, all cores. Theirs:
time of first contact, from the same pose arrays, one process. Both are timed in turn on the whole batch.
Before that their answers are compared: who touches, and when.
"""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench import peer_fcl
from bench.checks import ExactCheck, hit_share
from bench.relative import relative_poses
from bench.report import Report, usable_cpus
from bench.settings import BenchError, Settings
from bench.timing import measure_in_turn
from gpu_collide import scenes

NAME = "fcl"
HELP = "all contacts by us beside the first contact by python-fcl, same pairs, ratio printed"

#: shape, its convex parts, pairs, the ratio to reach on two cores, pairs checked by the reference.
SHAPES = (
    ("cubes", lambda: gc.shapes.box(), peer_fcl.prisms_of_box, 40000, 4.5, 50),
    ("cars", lambda: gc.shapes.car(), peer_fcl.prisms_of_mirrored, 20000, 6.0, 50),
    ("tori", lambda: gc.shapes.torus(), peer_fcl.prisms_of_ring, 1000, 16.0, 2),
)

#: The two may disagree about a graze: fcl calls it a contact when bodies come within its tolerance.
_DISAGREE_AT_MOST = 0.003


def run(settings: Settings) -> None:
    try:
        import fcl  # noqa: F401
    except ImportError as error:
        raise BenchError("case 'fcl' needs python-fcl: python -m pip install python-fcl") from error
    report = Report(NAME, settings)
    for shape, make, split, full, target, by_reference in SHAPES:
        _compare(report, settings, shape, make(), split, settings.size(full), target, by_reference)
    report.write()


def _compare(report, settings, shape, mesh, split, n, target, by_reference):
    bodies, pairs = scenes.random_impacts(mesh, mesh, n, seed=settings.seed)
    arrays = [np.array(x) for poses in (bodies.start, bodies.end) for x in (poses.position, poses.quat_wxyz)]
    parts = split(mesh)
    plain, culled = (peer_fcl.FclPeer(parts, parts, cull=cull) for cull in (False, True))

    def ours():
        start = gc.Poses.from_quat_wxyz(arrays[0], arrays[1])
        end = gc.Poses.from_quat_wxyz(arrays[2], arrays[3])
        moved = gc.Bodies(bodies.meshes, bodies.shape, start, end)
        return gc.collide(
            moved,
            pairs,
            refine="exact",
            contacts="all",
            min_properness=settings.min_properness,
            precision=settings.precision,
            backend=settings.backend,
        ).to_numpy()

    def theirs(peer):
        return peer.first_contacts(*relative_poses(bodies, pairs))

    result = ours()
    report.set_device(result)
    ExactCheck(bodies, pairs, settings, sample=2000, by_reference=by_reference)(result)
    toi = theirs(culled)
    touching, early = _agreement(shape, result, toi)
    timings = measure_in_turn([ours, lambda: theirs(plain), lambda: theirs(culled)], settings.repeat)
    rates = [n / timing.best for timing in timings]
    ratio = rates[0] / rates[1]
    report.add(
        hide=("fcl_share", "fcl_culled_per_s", "ours_spread", "fcl_spread", "cores", "fcl_version"),
        shape=shape,
        pairs=n,
        hit_share=hit_share(result),
        fcl_share=touching,
        contacts=len(result),
        ours_per_s=rates[0],
        fcl_per_s=rates[1],
        ratio=ratio,
        target=target,
        reached="yes" if ratio >= target else "no",
        fcl_culled_per_s=rates[2],
        ratio_culled=rates[0] / rates[2],
        fcl_early=early,
        ours_spread=timings[0].spread,
        fcl_spread=timings[1].spread,
        cores=usable_cpus(),
        fcl_version=plain.version,
    )
    report.add_stages(f"{shape} ours", timings[0], n)
    report.reset_header()


def _agreement(shape, result, toi):
    """Share of pairs that touch by fcl, and by how much of a step its times are early (median)."""
    hit_ours = np.asarray(result.status) == int(gc.Status.HIT)
    hit_theirs = np.isfinite(toi)
    only_ours, only_theirs = int((hit_ours & ~hit_theirs).sum()), int((~hit_ours & hit_theirs).sum())
    if only_ours + only_theirs > max(2, _DISAGREE_AT_MOST * len(toi)):
        raise BenchError(
            f"{shape}: of {len(toi)} pairs {only_ours} touch by ours alone, {only_theirs} by fcl alone"
        )
    both = hit_ours & hit_theirs
    early = np.asarray(result.toi)[both] - toi[both]
    return float(hit_theirs.mean()), float(np.median(early)) if both.any() else float("nan")
