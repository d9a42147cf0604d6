"""A step of many worlds of cars at once: 1,000 worlds of 32 cars of `gpu_collide.scenes.worlds`.

Beside it, on a tenth of the cars, in as many worlds less and in a single one: all pairs of a world without a
broad phase, and pairs found by a few lines of NumPy, which compare the boxes of all bodies of a world.
"""

from __future__ import annotations

import numpy as np

import gpu_collide as gc
from bench.checks import hit_share
from bench.report import Report
from bench.settings import BenchError, Settings
from bench.timing import measure, measure_in_turn
from gpu_collide.scenes import worlds

NAME = "worlds"
HELP = (
    "a step of 1,000 worlds of 32 cars on shared ground: broad phase, filters, narrow phase, steps a second"
)

CARS = 32
FEWER = 10  # times fewer cars for the comparison
#: Worlds that are checked one by one, all pairs of whole meshes.
SAMPLE = 8
#: Metres beyond the boxes of start and end: what bodies that turn in the step may leave those by.
_BEND = 0.15

_FIELDS = ("kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a", "local_b",
           "normal_speed", "sustained")  # fmt: skip
_HIDDEN = ("possible", "spread", "startup_s")


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    n = settings.size(1000)
    bodies, world = worlds(n, CARS, settings.seed)
    options = {
        "min_properness": settings.min_properness,
        "precision": settings.precision,
        "backend": settings.backend,
    }

    def call(**more):
        return gc.collide(bodies, world=world, **options, **more).to_numpy()

    found = call(report=True)
    report.set_device(found)
    check_worlds(bodies, world, found, options, settings.seed)
    timing = measure(call, settings.repeat)
    found = call(report=True)  # with all that the first runs warmed
    _row(report, n, n * CARS, "hierarchy", found, timing, 1.0)
    for line in str(found.report).splitlines():
        report.note("    " + line)
    report.add_stages(f"{n} worlds", timing, found.n_pairs)
    for size in ((max(n // FEWER, 2), CARS), (1, max(n // FEWER, 2) * CARS)):
        report.reset_header()
        _beside(report, settings, size, options)
    report.write()


def _beside(report, settings, size, options):
    """The same with all pairs, and with pairs from NumPy, in turn on so many worlds of so many cars."""
    bodies, world = worlds(*size, settings.seed)

    def hierarchy(**more):
        return gc.collide(bodies, world=world, **options, **more).to_numpy()

    def off(**more):
        return gc.collide(
            bodies, world=world, tuning=gc.Tuning(broad_phase="off"), **options, **more
        ).to_numpy()

    def by_numpy(**more):
        return gc.collide(bodies, numpy_pairs(bodies, world), **options, **more).to_numpy()

    ways = {"hierarchy": hierarchy, "off": off, "numpy": by_numpy}
    results = {name: way() for name, way in ways.items()}
    for name in ("off", "numpy"):
        same_contacts(results["hierarchy"], results[name], name)
    timings = measure_in_turn(list(ways.values()), settings.repeat)
    for (name, way), timing in zip(ways.items(), timings, strict=True):
        found = way(report=True)
        _row(report, size[0], size[0] * size[1], name, found, timing, timing.best / timings[0].best)


def _row(report, n, cars, name, found, timing, ratio):
    seconds = {row.name: row.seconds for row in found.report}
    broad = seconds.get("hierarchy", seconds.get("rules", 0.0))
    narrow = seconds["narrow phase"]
    filters = sum(seconds.get(name, 0.0) for name in ("spheres", "boxes", "plane"))
    report.add(
        hide=_HIDDEN,
        worlds=n,
        cars=cars,
        pairs_by=name,
        possible=found.report.rows[0].got,
        pairs=found.n_pairs,
        hit_share=hit_share(found),
        contacts=len(found),
        seconds=timing.best,
        broad_s=broad,
        filters_s=filters,
        near_s=seconds.get("near features", 0.0),
        narrow_s=narrow,
        world_steps_per_s=n / timing.best,
        car_steps_per_s=cars / timing.best,
        times_slower=ratio,
        spread=timing.spread,
        startup_s=timing.startup,
    )


def check_worlds(bodies, world, result, options, seed) -> int:
    """Compare a sample of worlds with all pairs and all features, each world by itself; returns how many.

    Raises
    ------
    BenchError
        With the first world whose contacts differ in any bit.
    """
    chosen = np.random.default_rng(seed).permutation(world.max() + 1)[:SAMPLE]
    of = world[result.pairs[result.pair]].max(axis=1)
    for k in sorted(chosen.tolist()):
        mine = np.flatnonzero((world == k) | (world == -1))
        part = gc.Bodies(bodies.meshes, bodies.shape[mine], bodies.start[mine], bodies.end[mine])
        alone = gc.collide(
            part, tuning=gc.Tuning(broad_phase="off", filters="none", features="all"), **options
        ).to_numpy()
        _same(f"world {k}", result, np.flatnonzero(of == k), alone, slice(None), mine)
    return len(chosen)


def same_contacts(one, other, name):
    """Raise BenchError unless two results have the same contacts, bit for bit, by the bodies' numbers."""
    order = np.lexsort(other.pairs[other.pair].T[::-1])  # pairs found by hand have any order
    _same(f"pairs by {name}", one, slice(None), other, order, None)


def _same(what, one, rows, other, others, number):
    pairs = other.pairs[other.pair][others]
    if not np.array_equal(one.pairs[one.pair][rows], pairs if number is None else number[pairs]):
        raise BenchError(f"{what}: other pairs have contacts; not timed")
    for name in _FIELDS:
        if not np.array_equal(getattr(one, name)[rows], getattr(other, name)[others]):
            raise BenchError(f"{what}: {name} differs; not timed")


def numpy_pairs(bodies, world) -> np.ndarray:
    """Pairs whose swept boxes meet, by comparing all bodies of a world: what one would write by oneself.

    The boxes hold a body at its start and at its end, and 0.15 m more, which is enough for this scene, where
    cars turn by a few degrees in a step, and not in general.
    """
    low, high = _boxes(bodies)
    moves = (bodies.start.position != bodies.end.position).any(axis=1)
    shared = np.flatnonzero(world == -1)
    order = np.argsort(world, kind="stable")[len(shared) :]
    members = order.reshape(world.max() + 1, -1)  # this scene has as many bodies in each world
    members = np.concatenate([members, np.tile(shared, (len(members), 1))], axis=1)
    meets = moves[members][:, :, None] | moves[members][:, None, :]
    for k in range(3):
        below, above = low[members, k], high[members, k]
        meets &= (below[:, :, None] <= above[:, None, :]) & (below[:, None, :] <= above[:, :, None])
    meets &= np.triu(np.ones(meets.shape[1:], bool), 1)
    of, a, b = np.nonzero(meets)
    pairs = np.stack([members[of, a], members[of, b]], axis=1)
    return np.sort(pairs, axis=1)


def _boxes(bodies):
    low, high = np.full((2, len(bodies), 3), np.nan)
    for k, mesh in enumerate(bodies.meshes):
        mine = np.flatnonzero(bodies.shape == k)
        places = np.concatenate(
            [poses[mine][:, None].apply(mesh.vertices[None]) for poses in (bodies.start, bodies.end)], axis=1
        )
        low[mine], high[mine] = places.min(axis=1) - _BEND, places.max(axis=1) + _BEND
    return low, high
