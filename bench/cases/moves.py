"""Whole moves of boxes and cars over a track of triangles beside python-fcl, and rays beside Embree.

The track is a hilly square of two triangles a cell, as wide as it takes for cells of one metre; a move is a
way of half a metre to six metres and a turn of up to 20 degrees. Each peer has the same work, checked first:
who is stopped, and where.
"""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench import figures, peer_fcl
from bench.peer_moves import EmbreeTrack, FclTrack
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure, measure_in_turn

NAME = "moves"
HELP = "boxes, cars and rays over a track of 1e3 to 1e6 triangles, beside python-fcl and Embree"

MOVERS = (
    ("boxes", lambda: gc.shapes.box((1.0, 1.6, 0.6)), peer_fcl.prisms_of_box),
    ("cars", lambda: gc.shapes.car(), peer_fcl.prisms_of_mirrored),
)
TRACKS = (20_000, 120_000)
TARGET = 20.0  # times python-fcl's conservative advancement
SIZES = (1_000, 10_000, 100_000, 1_000_000)
SAMPLES = 1000  # poses that python-fcl looks at on each leg, when it samples


def run(settings: Settings) -> None:
    try:
        import fcl  # noqa: F401
        from embreex import rtcore_scene  # noqa: F401
    except ImportError as error:
        raise BenchError("case 'moves' needs python -m pip install python-fcl embreex") from error
    report = Report(NAME, settings)
    tracks = TRACKS[: 1 if settings.quick else None]
    for count in tracks:
        for name, make, split in MOVERS:
            _bodies(report, settings, name, make(), split, count)
    report.reset_header()
    for count in tracks:
        _rays(report, settings, count)
    report.reset_header()
    for count in SIZES[: 2 if settings.quick else None]:
        _growth(report, settings, count)
    written = report.write()
    if settings.figure is not None or written:
        rows = [row for row in report.rows if "growth" in row]
        columns = {"us_per_move": "boxes, a way and a turn", "us_per_ray": "rays"}
        figures.cost_over_triangles(
            rows, columns, f"gc.pluecker, {report.device}", settings.figure or written[0].with_suffix(".png")
        )


def track(triangles: int, rng):
    """(vertices, faces, half of its width) of a hilly square."""
    n = max(round((triangles / 2) ** 0.5), 4)
    line = np.linspace(-n / 2, n / 2, n + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    z = 1.5 * np.sin(x / 4) * np.cos(y / 5) + rng.uniform(-0.1, 0.1, x.shape)
    k = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = k[:-1, :-1].ravel(), k[1:, :-1].ravel(), k[1:, 1:].ravel(), k[:-1, 1:].ravel()
    faces = np.concatenate((np.column_stack((a, b, c)), np.column_stack((a, c, d))))
    return np.stack((x, y, z), -1).reshape(-1, 3), faces, n / 2


def ways(rng, n, half):
    """Starts above the track, ways that mostly go down, and turns."""
    start = np.column_stack((rng.uniform(-half, half, (n, 2)) * 0.9, rng.uniform(2.7, 4, n)))
    way = rng.normal(size=(n, 3))
    way[:, 2] = -np.abs(way[:, 2])
    way *= (rng.uniform(0.5, 6, n) / np.linalg.norm(way, axis=1))[:, None]
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    half_angle = rng.uniform(0, np.radians(20), n) / 2
    quat = np.column_stack((np.cos(half_angle), np.sin(half_angle)[:, None] * axis))
    return start, way, quat


def _scene(settings, vertices, faces, two_sided=False):
    how = {"precision": settings.precision, "backend": settings.backend}
    return gc.Scene(gc.Mesh(vertices, faces, two_sided=two_sided), None, gc.Poses.identity(1), **how)


def _bodies(report, settings, name, mesh, split, count):
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(count, rng)
    n = settings.size(20_000)
    few = min(n, 200)  # of them for python-fcl
    start, way, quat = ways(rng, n, half)
    peer = FclTrack(vertices, faces, split(mesh))
    still = np.tile([1.0, 0, 0, 0], (n, 1))
    with _scene(settings, vertices, faces) as scene:

        def ours():
            begin, end = gc.Poses.from_quat_wxyz(start, still), gc.Poses.from_quat_wxyz(start + way, quat)
            return gc.pluecker.move(gc.Bodies(mesh, None, begin, end), scene)

        part = start[:few], way[:few], quat[:few]
        found = ours()
        report.set_device(found)
        off = _agreement(name, found, peer.first_contacts(*part))
        sampled = peer.sampled(*part, SAMPLES)
        calls = [ours, lambda: peer.first_contacts(*part), lambda: peer.sampled(*part, SAMPLES)]
        timings = measure_in_turn(calls, settings.repeat)
    rates = [n / timings[0].best, few / timings[1].best, few / timings[2].best]
    stopped = (found.kind != 0)[:few]
    report.add(
        hide=("ours_spread", "fcl_spread"),
        movers=name, triangles=len(faces), moves=n, stopped=float((found.kind != 0).mean()),
        ours_per_s=rates[0], fcl_per_s=rates[1], ratio=rates[0] / rates[1], target=TARGET,
        reached="yes" if rates[0] / rates[1] >= TARGET else "no", apart=off,
        sampled_per_s=rates[2], ratio_sampled=rates[0] / rates[2],
        sampled_missed=int((stopped & (sampled.min(1) >= 1)).sum()),
        ours_spread=timings[0].spread, fcl_spread=timings[1].spread,
    )  # fmt: skip


def _agreement(name, found, theirs):
    """By how much of a leg the stops differ, the median."""
    few = len(theirs)
    leg, kind, share = found.part[:few].astype(int), found.kind[:few] != 0, found.fraction[:few]
    their_leg = np.where(theirs[:, 0] < 1, 0, 1)
    hit = theirs.min(1) < 1
    differ = (hit != kind) | (hit & kind & (leg != their_leg))
    if differ.sum() > max(2, 0.02 * few):
        raise BenchError(
            f"{name}: {int(differ.sum())} of {few} moves end differently by python-fcl; not timed"
        )
    both = hit & kind & ~differ
    return float(np.median(np.abs(share - theirs[np.arange(few), their_leg])[both])) if both.any() else 0.0


def _rays(report, settings, count):
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(count, rng)
    n = settings.size(1_000_000)
    start, way, _ = ways(rng, n, half)
    embree = EmbreeTrack(vertices, faces)
    with _scene(settings, vertices, faces, two_sided=True) as scene:

        def ours():
            return gc.pluecker.translate(start, scene, way)

        found, theirs = ours(), embree.first_hits(start, way)
        differ = (found.kind != 0) != (theirs < 1)
        off = np.abs(found.fraction - theirs) * np.linalg.norm(way, axis=1)
        if differ.mean() > 1e-4 or np.quantile(off[~differ], 0.999) > 1e-3:
            raise BenchError(f"rays: {int(differ.sum())} of {n} differ from Embree; not timed")
        one, two = measure_in_turn([ours, lambda: embree.first_hits(start, way)], settings.repeat)
    report.add(
        rays=n, triangles=len(faces), stopped=float((found.kind != 0).mean()), ours_per_s=n / one.best,
        embree_per_s=n / two.best, ratio=two.best / one.best, differ=int(differ.sum()),
        ours_spread=one.spread, embree_spread=two.spread,
    )  # fmt: skip


def _growth(report, settings, count):
    rng = np.random.default_rng(settings.seed)
    vertices, faces, half = track(count, rng)
    n = settings.size(20_000)
    start, way, quat = ways(rng, n, half)
    still = np.tile([1.0, 0, 0, 0], (n, 1))
    with _scene(settings, vertices, faces) as scene:
        begin, end = gc.Poses.from_quat_wxyz(start, still), gc.Poses.from_quat_wxyz(start + way, quat)
        movers = gc.Bodies(MOVERS[0][1](), None, begin, end)
        moves = measure(lambda: gc.pluecker.move(movers, scene), settings.repeat)
        rays = measure(lambda: gc.pluecker.translate(start, scene, way), settings.repeat)
    report.add(
        growth="boxes and rays", triangles=len(faces), us_per_move=1e6 * moves.best / n,
        us_per_ray=1e6 * rays.best / n, move_spread=moves.spread, ray_spread=rays.spread,
    )  # fmt: skip
