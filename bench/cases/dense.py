"""Dense shapes: cost of a pair against the faces of its bodies, that run into each other, touch, or miss."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gpu_collide as gc
from bench import figures
from bench.dense_shapes import PAIRS, STEPS, pairs_of, steps_of
from bench.relative import relative_poses
from bench.report import Report
from bench.settings import BenchError, Settings
from gpu_collide.errors import MemoryLimitError

NAME = "dense"
HELP = (
    "balls, tori, bolt in nut, scans of 80 to 81,920 faces (--faces for more): all, first, beside python-fcl"
)

SIZES = (80, 320, 1280, 5120, 20480, 81920, 327_680, 1_310_720)
#: With fewer faces the bolt does not fit into its nut.
LEAST = {"bolt in nut": 1280}
LIMIT = 0.25  # seconds a pair from which on a way is left out of larger sizes
ENOUGH = 0.5  # seconds of a way after which it is not run a third time, nor python-fcl asked of more pairs
LONG = 5.0  # seconds of a call after which it is not run again, though it may have made what is kept
FACES = 40_000  # of all bodies that move: so many pairs a call, but
MOST_PAIRS = 128
LEAST_PAIRS = 8  # a call has a millisecond of its own that is no pair's;
HUGE = 200_000  # faces of a body from which on two do, and fit

#: The ways to a result, and what they are called with.
WAYS = {
    "auto": {},
    "near": {"tuning": gc.Tuning(features="near")},
    "whole": {"tuning": gc.Tuning(features="all", candidates="pairs")},
    "rows": {"tuning": gc.Tuning(features="all", candidates="raster")},
    "first": {"contacts": "first"},
}
LABELS = {name: name for name in WAYS} | {"fcl": "python-fcl, first"}
_FIELDS = ("pair", "kind", "feature_a", "feature_b", "time")


def run(settings: Settings) -> None:
    report, written = Report(NAME, settings), []
    sizes = [n for n in SIZES if n <= (320 if settings.quick else settings.faces)]
    for name in PAIRS:
        _shape(report, settings, name, [n for n in sizes if n >= LEAST.get(name, 0)] or [LEAST[name]])
        written = report.write()  # shape by shape: it takes long
    if settings.figure is not None or written:
        path = settings.figure or written[0].with_suffix(".png")
        draw(report.rows, path, f"gc.collide, {report.device}")


def draw(rows: list[dict], path: Path, title: str, before: list[dict] | None = None) -> None:
    """The figure of the rows, with `auto` of other rows, of an earlier state of the code, beside them."""
    place = ("shape", "step", "faces")
    costs = {tuple(str(row[k]) for k in place): row["auto"] for row in before or ()}
    labels = LABELS | ({"before": "auto, before"} if before else {})
    rows = [row | {"before": costs.get(tuple(str(row[k]) for k in place), float("nan"))} for row in rows]
    figures.cost_over_faces(rows, labels, title, path)


def _shape(report, settings, name, sizes):
    """Rows of one shape: all sizes of a step after each other, until `auto` takes longer than `LIMIT`."""
    made, prepared, out = {}, {}, {step: set() for step in STEPS}
    for size in sizes:
        begun = time.process_time()
        made[size] = PAIRS[name](size)
        for mesh in set(made[size]):
            mesh.prepare(precision=settings.precision, near=True)
        prepared[size] = 1e3 * (time.process_time() - begun)
    for step in STEPS:
        before = None
        for size in sizes:
            if "auto" in out[step]:  # all others are compared with it
                break
            row = _row(settings, name, made[size], step, out[step], report)
            faces = max(len(mesh.face_planes) for mesh in made[size])
            exponent = float("nan")
            if before is not None:
                exponent = float(np.log(row["auto"] / before[1]) / np.log(faces / before[0]))
            before = faces, row["auto"]
            report.add(
                hide=("prepare_ms", "fcl_pairs", "fcl_found", "fcl_off"),
                shape=name, step=step, faces=faces, exponent=exponent, **row, prepare_ms=prepared[size],
            )  # fmt: skip
        report.reset_header()


def _row(settings, name, meshes, step, out, report):
    """Times of all ways that are not in `out`, to which those that are too slow by now are added."""
    most = settings.pairs or (8 if settings.quick else MOST_PAIRS)
    faces = len(meshes[1].face_planes)
    n = min(max(FACES // faces, LEAST_PAIRS if faces < HUGE else 2), most)
    bodies = steps_of(name, meshes, step, n, settings.seed)
    calls = {way: _ours(settings, bodies, how) for way, how in WAYS.items() if way not in out}
    results, times = {}, {}
    for way, call in calls.items():
        try:
            results[way], times[way] = _timed(call, settings.repeat, n)
        except MemoryLimitError:  # all pairs of features at once, of a million faces
            if way == "auto":
                raise
            out.add(way)
    peer, theirs = None if "fcl" in out else Peer.of(meshes, bodies), np.zeros(0)
    if peer is not None:
        theirs, times["fcl"] = peer.first_contacts(ENOUGH)
    report.set_device(results["auto"])
    _check(name, step, results)
    out.update(way for way, cost in times.items() if cost > LIMIT)
    first = results["auto"].toi[: len(theirs)]
    found = np.isfinite(first) & np.isfinite(theirs)
    return {
        "pairs": n,
        "contacts": len(results["auto"]) / n,
        **{way: 1e6 * times.get(way, float("nan")) for way in LABELS},
        "fcl_pairs": len(theirs),
        "fcl_found": float(np.isfinite(theirs).mean()) if len(theirs) else float("nan"),
        "fcl_off": float(np.abs(theirs - first)[found].max()) if found.any() else float("nan"),
    }


def _ours(settings, bodies, how):
    asked = {"min_properness": settings.min_properness, "precision": settings.precision} | how

    def call():
        pairs = pairs_of(len(bodies) - 1)
        return gc.collide(bodies, pairs, backend=settings.backend, check_start=False, **asked).to_numpy()

    return call


def _check(name, step, results):
    """All ways have the same contacts, and a step touches or not, as it should."""
    one = results["auto"]
    for way, other in results.items():
        if way == "first":
            same = np.array_equal(one.toi, other.toi)
        else:
            same = all(np.array_equal(getattr(one, field), getattr(other, field)) for field in _FIELDS)
        if not same:
            raise BenchError(f"{name}, {step}: {way!r} has other contacts than 'auto'; not timed")
    touched = np.isfinite(one.toi)
    if (touched != (step != "near miss")).any():
        wanted = "stay clear" if step == "near miss" else "touch"
        raise BenchError(f"{name}, {step}: expected every pair to {wanted}; not timed")


def _timed(call: Callable[[], Any], repeat: int, n: int) -> tuple[Any, float]:
    """What a call gives, and its least processor time for each of `n` pairs. The first call, which makes what
    is kept, counts only where it takes so long that there is no other."""
    result, runs = None, []
    for _ in range(1 + repeat):
        begun = time.process_time()
        result = call()
        runs.append(time.process_time() - begun)
        if runs[0] > LONG or (len(runs) > 1 and sum(runs) > ENOUGH):
            break
    return result, min(runs[1:] or runs) / n


class Peer:
    """python-fcl's first contacts, B moving in A's frame by its screw."""

    @classmethod
    def of(cls, meshes, bodies):
        """None if python-fcl is not installed."""
        try:
            import fcl
        except ImportError:
            return None
        return cls(fcl, meshes, bodies)

    def __init__(self, fcl, meshes, bodies):
        made = {mesh: self._geometry(fcl, mesh) for mesh in set(meshes)}
        poses = relative_poses(bodies, pairs_of(len(bodies) - 1))
        self._start, self._end = (
            [fcl.Transform(q, p) for q, p in zip(poses[k + 1], poses[k], strict=True)] for k in (0, 2)
        )
        self._at, self._fcl = fcl.Transform(), fcl
        self._a, self._b = (fcl.CollisionObject(made[mesh], self._at) for mesh in meshes)
        self._request = fcl.ContinuousCollisionRequest(
            ccd_motion_type=fcl.CCDMotionType.CCDM_SCREW,
            gjk_solver_type=fcl.GJKSolverType.GST_INDEP,
            ccd_solver_type=fcl.CCDSolverType.CCDC_CONSERVATIVE_ADVANCEMENT,
        )

    @staticmethod
    def _geometry(fcl, mesh):
        corners = mesh.face_vertices.reshape(-1, 3)
        some = slice(None, None, max(len(corners) // 64, 1))
        normals, on = mesh.face_planes[some, :3], mesh.vertices[corners[some, 0]]
        height = normals @ mesh.vertices.T - (normals * on).sum(axis=1)[:, None]
        if height.max() < 1e-9 * mesh.radius:
            flat = np.column_stack([np.full(len(corners), 3), corners]).astype(np.int32).ravel()
            return fcl.Convex(mesh.vertices.copy(), len(corners), flat)
        model = fcl.BVHModel()
        model.beginModel(len(mesh.vertices), len(corners))
        model.addSubModel(mesh.vertices, corners)
        model.endModel()
        return model

    def first_contacts(self, enough: float) -> tuple[np.ndarray, float]:
        """Their times of as many pairs as it answers in so many seconds, inf where it sees none; and what a
        pair takes."""
        found, begun = [], time.process_time()
        for start, end in zip(self._start, self._end, strict=True):
            result = self._fcl.ContinuousCollisionResult()
            self._b.setTransform(start)
            self._fcl.continuousCollide(self._a, self._at, self._b, end, self._request, result)
            found.append(result.time_of_contact if result.is_collide else np.inf)
            if time.process_time() - begun > enough:
                break
        return np.array(found), (time.process_time() - begun) / len(found)
