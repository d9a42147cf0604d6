"""Collisions of cars on arcs beside judges that share nothing with the library:
``python -m tests.acceptance.arcs [--arcs N] [--seed S] [--roots]``.

Pairs of boxes on arcs during one step, aimed so that about half of them meet (tests/oracle/arcs.py has the
judges; with ``--roots`` both turn at yaw rates that are whole multiples of one, or one stands, and
tests/oracle/arc_roots.py has the judge). Exit 1 if a collision is missed, one is told that is none, or a time
of contact is wrong. Pairs that overlap at the start by less than 1e-7 of their size are neither clear nor an
overlap, and not judged.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc
from tests.oracle import arc_roots, arcs
from tests.support.seeds import generator

SIZES = np.array(
    [[4.5, 1.8], [4.0, 1.75], [5.9, 2.0], [12.0, 2.5], [1.8, 0.6], [0.5, 0.5], [18.0, 2.55], [4.0, 4.0]]
)
SPEEDS = {"town": (5.0, 15.0), "road": (15.0, 30.0), "fast": (40.0, 80.0)}  # m/s
SECONDS = 0.1
BLOCK, ROOT_BLOCK = 50_000, 5_000
TOLERANCE = 1e-9  # metres: what touches by less is not judged
DEPTH, HEIGHT = 1e-7, 1.5  # sizes by which an overlap at the start has to be deep to be one; metres
ROOTS, ROOT_TIME = "worst time beside roots (s)", 1e-9
TIME = 1e-7  # metres of separation at the time of contact that is told; worst of two million 1e-13


def pairs_on_arcs(rng, n, speeds):
    """Ways and sizes of n pairs: as rows of `tests.oracle.arcs`."""
    ways = np.zeros((2, n, 5))
    ways[..., 2] = rng.uniform(-np.pi, np.pi, (2, n))
    ways[..., 3] = rng.uniform(*speeds, (2, n)) * rng.choice([0.0, 1.0, 1.0, 1.0, -1.0], (2, n))
    ways[..., 4] = rng.normal(0, 1.0, (2, n)) * rng.choice([0.0, 0.3, 1.0], (2, n))
    straight = rng.random(n) < 0.2
    ways[:, straight, 4] = 0.0
    ways[1, : n // 20, 2] = ways[0, : n // 20, 2]  # parallel
    sizes = SIZES[rng.integers(0, len(SIZES), (2, n))]
    when = rng.uniform(0, SECONDS, n)
    at = [arcs.on_arc(way, when)[0] for way in ways]
    radius = 0.5 * np.linalg.norm(sizes, axis=2).sum(axis=0)
    angle = rng.uniform(-np.pi, np.pi, n)
    off = rng.uniform(0.4, 1.2, n) * radius
    ways[1, :, :2] = at[0] - at[1] + off[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return ways, sizes


#: Yaw rates of both, in multiples of one.
MULTIPLES = ((1, 1), (1, -1), (0, 1), (1, 0), (1, 2), (2, 1), (1, 3), (2, -1), (-1, 3))


def pairs_on_multiples(rng, n, speeds, numbers):
    """Ways and sizes of n pairs, and the yaw rate of which theirs are multiples."""
    ways, sizes = pairs_on_arcs(rng, n, speeds)
    when = rng.uniform(0, SECONDS, n)
    rate = rng.choice([-1.0, 1.0], n) * np.exp(rng.uniform(np.log(0.05), np.log(3.0), n))
    for way, number in zip(ways, numbers, strict=True):
        before = arcs.on_arc(way, when)[0]
        way[:, 4] = number * rate
        way[:, 3] *= number != 0
        way[:, :2] += before - arcs.on_arc(way, when)[0]  # as near to each other as they were
    return ways, sizes, rate


def judged_by_roots(ways, sizes, numbers, rate, status, toi):
    """Counts of a block, by name, beside roots of polynomials."""
    given = *ways, *sizes
    met = np.isin(status, (gc.Status.HIT, gc.Status.INITIAL_OVERLAP))
    clear = arcs.separation(*given, np.zeros(len(met))) > TOLERANCE
    first, doubtful = arc_roots.first_touch(ways, sizes, numbers, rate, SECONDS, TOLERANCE)
    sure = clear & ~doubtful
    both = sure & met & np.isfinite(first)
    off = np.abs(toi[both] - first[both])
    return {
        "met": int(met.sum()),
        "clear at the start": int(clear.sum()),
        "doubtful roots": int((clear & doubtful).sum()),
        "missed beside roots": int((sure & np.isfinite(first) & ~met).sum()),
        "invented beside roots": int((sure & np.isinf(first) & met).sum()),
        ROOTS: float(off.max(initial=0.0)),
    }  # fmt: skip


def asked(ways, sizes, backend):
    """Status and time of contact, in seconds, as the library has them."""
    n = ways.shape[1]
    kinds, shape = np.unique(sizes.reshape(-1, 2), axis=0, return_inverse=True)
    meshes = [gc.shapes.box((*size, HEIGHT)) for size in kinds]
    ends = []
    for t in (0.0, SECONDS):
        place, yaw = arcs.on_arc(ways.reshape(-1, 5), np.full(2 * n, t))
        ends.append(gc.Poses.from_yaw(np.column_stack([place, np.zeros(2 * n)]), yaw))
    bodies = gc.Bodies(meshes, shape.reshape(-1), *ends)
    found = gc.collide(
        bodies, np.arange(2 * n).reshape(2, n).T, contacts="first", motion="body", backend=backend
    )
    return found.status, np.where(found.status == gc.Status.INITIAL_OVERLAP, 0.0, found.toi * SECONDS)


def judged(ways, sizes, status, toi):
    """Counts of a block, by name."""
    given = *ways, *sizes
    met = np.isin(status, (gc.Status.HIT, gc.Status.INITIAL_OVERLAP))
    start = arcs.separation(*given, np.zeros(len(met)))
    inside = start < -TOLERANCE
    size = 0.5 * np.sqrt((sizes**2).sum(axis=2) + HEIGHT**2).max(axis=0)
    touching = (start <= TOLERANCE) & (start >= -1.01 * DEPTH * size)  # neither an overlap nor clear
    first = arcs.advanced(*given, SECONDS, TOLERANCE)
    near = np.isfinite(first)
    later = [np.minimum(first + dt, SECONDS) for dt in (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)]
    into = np.zeros(len(met), bool)
    for t in later:
        into[near] |= arcs.separation(*(x[near] for x in given), t[near]) < -TOLERANCE
    grazing = near & ~into
    sampled = arcs.meets_at_samples(*given, SECONDS)
    at = np.abs(arcs.separation(*given, np.where(np.isfinite(toi), toi, 0.0)))
    hit = met & ~inside & (status == gc.Status.HIT)
    off = np.where(hit, at, 0.0)
    both = hit & near
    early = np.abs(toi[both] - first[both])
    straight = ~(ways[..., 4].any(axis=0))
    closed = np.zeros(len(met))
    closed[straight] = arcs.straight_meeting(*(x[straight] for x in given), SECONDS)
    differs = straight & ~grazing & ~touching & (np.isfinite(closed) != met)
    both = straight & hit & np.isfinite(closed)
    late = np.abs(toi[both] - closed[both])
    return {
        "met": int(met.sum()), "inside from the start": int(inside.sum()), "grazing": int(grazing.sum()),
        "met at 10,000 Hz": int(sampled.sum()),
        "missed beside 10,000 Hz": int((sampled & ~met & ~touching).sum()),
        "missed beside advancing": int((into & ~met & ~touching).sum()),
        "invented": int((met & np.isinf(first)).sum()), "undecided by advancing": int(np.isnan(first).sum()),
        "straight": int(straight.sum()), "straight, differs from closed form": int(differs.sum()),
        "of no answer": int((~met & (status != gc.Status.MISS)).sum()),
        "touching at the start": int(touching.sum()),
        "worst separation at the time told (m)": float(off.max(initial=0.0)),
        "worst time beside closed form (s)": float(late.max(initial=0.0)),
        "worst time beside advancing (s)": float(early.max(initial=0.0)),
    }  # fmt: skip


def run_roots(n, seed, backend):
    """As `run`, of pairs whose touches are roots of polynomials."""
    total, seconds = {}, 0.0
    for name, speeds in SPEEDS.items():
        for which, numbers in enumerate(MULTIPLES):
            count = max(n // len(MULTIPLES), 1)
            for block, begin in enumerate(range(0, count, ROOT_BLOCK)):
                rng = generator(seed, block, list(SPEEDS).index(name), which)
                some = min(ROOT_BLOCK, count - begin)
                ways, sizes, rate = pairs_on_multiples(rng, some, speeds, numbers)
                clock = time.process_time()
                status, toi = asked(ways, sizes, backend)
                seconds += time.process_time() - clock
                added(total, judged_by_roots(ways, sizes, numbers, rate, status, toi))
    return total, seconds


def added(total, told):
    """Counts added to those before; of what is worst the worst."""
    for key, value in told.items():
        total[key] = max(total.get(key, 0), value) if "worst" in key else total.get(key, 0) + value


def run(n, seed, backend):
    """Counts of n pairs at each of the speeds, and processor time of the library."""
    total, seconds, begun = {}, 0.0, time.process_time()
    for name, speeds in SPEEDS.items():
        for block, begin in enumerate(range(0, n, BLOCK)):
            rng = generator(seed, block, list(SPEEDS).index(name))
            ways, sizes = pairs_on_arcs(rng, min(BLOCK, n - begin), speeds)
            clock = time.process_time()
            status, toi = asked(ways, sizes, backend)
            seconds += time.process_time() - clock
            told = judged(ways, sizes, status, toi)
            added(total, told)
            if block % 5 == 4:
                print(
                    f"{name}: {begin + BLOCK:,} pairs, {time.process_time() - begun:.0f} s, {total}",
                    flush=True,
                )
    return total, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arcs", type=int, default=30_000, help="pairs of arcs in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--roots", action="store_true", help="beside roots of polynomials")
    given = parser.parse_args()
    n = max(given.arcs // len(SPEEDS), 1)
    begin = time.process_time()
    total, seconds = (run_roots if given.roots else run)(n, given.seed, given.backend)
    print(f"{n * len(SPEEDS):,} pairs, {1e6 * seconds / (n * len(SPEEDS)):.1f} us of processor time each; "
          f"with the judges {time.process_time() - begin:.0f} s")  # fmt: skip
    for key, value in total.items():
        print(f"  {key:40} {value:,}" if isinstance(value, int) else f"  {key:40} {value:.1e}")
    return wrong(total)


def wrong(total):
    names = (
        "missed beside 10,000 Hz",
        "missed beside advancing",
        "invented",
        "straight, differs from closed form",
        "missed beside roots",
        "invented beside roots",
    )
    worst = total.get("worst separation at the time told (m)", 0.0)
    return any(total.get(name) for name in names) or worst > TIME or total.get(ROOTS, 0.0) > ROOT_TIME


if __name__ == "__main__":
    sys.exit(main())
