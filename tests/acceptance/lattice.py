"""Whole-number shapes of every kind: `python -m tests.acceptance.lattice --family shifts --pairs 100000`.

- *shifts*: translations. Every contact against all meetings of features in whole numbers
  (tests/oracle/lattice_shifts.py), at a threshold of -1.
- *screws*: turns about axes through points of the grid, against the brute force and fifty digits
  (tests/acceptance/whole_numbers.py).
- *dense*: hundreds to thousands of coplanar faces: the same bits by near faces, pairs, rows and in double,
  the first contacts, another power of two.
- *overlaps*: unions of cells and of parts of cells at the start of a step: those that share volume overlap,
  those that only touch do not (docs/decisions/0077-edges-that-end-in-planes.md).
- *crowds*: many bodies: broad phase, filters, rules, scenes, recordings and places far off give the same.

Ends with 1 if anything differs.
"""

import argparse
import os
import sys
import time
from functools import lru_cache

import numpy as np

import gpu_collide as gc
from tests.acceptance import lattice_scenes as scenes
from tests.acceptance.lattice_solids import solids_at_rest
from tests.acceptance.matrix import same_bits
from tests.acceptance.whole_numbers import Tally, run_block
from tests.oracle import lattice_compare, lattice_shifts
from tests.oracle.matching import FIELDS
from tests.oracle.scenes_whole import WHOLE
from tests.support.seeds import generator

LOCAL = (
    "kind", "feature_a", "feature_b", "time", "time_end", "properness", "local_a", "local_b", "normal",
    "sustained", "normal_speed",
)  # fmt: skip


@lru_cache(maxsize=8)  # asked of several backends, with several options
def _shifts(seed, n):
    s = scenes.shifts(seed, n)
    return s, lattice_shifts.contacts(s.a, s.b, s.turn, s.p, s.d)


def judged_shifts(seed, n, backend="cpu", **options):
    """Contacts of a block of translations, and sentences about each that is not what whole numbers say."""
    s, atoms = _shifts(seed, n)
    found = gc.collide(s.bodies, s.pairs, min_properness=-1.0, backend=backend, **options).to_numpy()
    bad = lattice_compare.differences(found, atoms)
    bad += [(int(k), "unresolved") for k in np.flatnonzero(found.status == gc.Status.UNRESOLVED)]
    about = f"seed {seed}: {s.a.name} and {s.b.name}, turned {s.turn.tolist()}"
    return len(found), [f"{about}, from {s.p[k].tolist()} by {s.d[k].tolist()}: {text}" for k, text in bad]


def judged_screws(seed, n, backend="cpu", **options):
    """The same of a block of screws, by the brute force and fifty digits."""
    WHOLE.setdefault("lattice_screws", scenes.lattice_screws)
    tally = run_block("lattice_screws", seed, n, backend, Tally(), digits=60, **options)
    return tally.contacts, tally.notes if tally.bad else []


def judged_dense(seed, n, backend="cpu", width=None):
    """Dense shapes: whatever looks for the same contacts in another way has the same bits."""
    rng = generator(seed, 75)
    a, b, start, end = scenes.dense(seed, n, int(rng.integers(3, 10)) if width is None else width)
    bodies, pairs = scenes.beside(a.mesh(), b.mesh(), start, end)
    common = {"min_properness": float(rng.choice([-1.0, -0.1, 0.0])), "backend": backend}
    common["check_start"] = bool(rng.integers(2))

    def ask(**options):
        return gc.collide(bodies, pairs, **{**common, **options}).to_numpy()

    base, bad = ask(tuning=gc.Tuning(features="all", filters="none")), []
    ways = [
        {},
        {"tuning": gc.Tuning(features="near")},
        {"precision": "double"},
        {"tuning": gc.Tuning(features="near"), "precision": "double"},
    ]
    ways += [{"tuning": gc.Tuning(candidates="raster")}] + [{"tuning": gc.Tuning(candidates="pairs")}] * (
        len(a.loops) * len(b.loops) < 200_000
    )
    bad += [f"{way}: {same_bits(base, ask(**way))}" for way in ways if same_bits(base, ask(**way))]
    keep = base.time == base.toi[base.pair]
    for way in ({}, {"tuning": gc.Tuning(features="near")}, {"tuning": gc.Tuning(features="all")}):
        first = ask(contacts="first", **way)
        same = all(getattr(first, k).tobytes() == getattr(base, k)[keep].tobytes() for k in FIELDS)
        if (
            not same
            or not np.array_equal(first.toi, base.toi)
            or not np.array_equal(first.status, base.status)
        ):
            bad.append(f"first {way}")
    scale = 2.0 ** int(rng.integers(-20, 21))
    (p0, q0), (p1, q1) = start, end
    bodies, pairs = scenes.beside(a.mesh(scale), b.mesh(scale), (p0 * scale, q0), (p1 * scale, q1))
    other = ask()
    names = ("pair", "kind", "feature_a", "feature_b", "time", "time_end", "properness", "status")
    bad += [f"scale {scale}: {k}" for k in names if getattr(other, k).tobytes() != getattr(base, k).tobytes()]
    if (base.status == gc.Status.UNRESOLVED).any():
        bad.append("unresolved")
    return len(base), [f"seed {seed}: {a.name} {len(a.loops)} and {b.name} {len(b.loops)}, {x}" for x in bad]


@lru_cache(maxsize=8)
def _at_rest(seed, n):
    return (scenes.cells_at_rest if seed % 4 == 0 else solids_at_rest)(seed, n)


def judged_overlaps(seed, n, backend="cpu", **options):
    """What is told to overlap at the start, of unions of cells, and of parts of cells, and one of these the
    other way round; the number of those that overlap, and what is wrong."""
    bodies, pairs, deep = _at_rest(seed, n)
    pairs = pairs[:, ::-1] if seed % 8 > 5 else pairs
    found = gc.collide(bodies, pairs, backend=backend, **options).to_numpy()
    found = found.status == gc.Status.INITIAL_OVERLAP
    bad = [f"seed {seed}: pair {k} touches and is told to overlap" for k in np.flatnonzero(found & ~deep)]
    bad += [f"seed {seed}: the overlap of pair {k} is missed" for k in np.flatnonzero(deep & ~found)]
    return int(deep.sum()), bad


def by_pair(found):
    """Status, first time and bytes of the contacts of every pair that is no MISS."""
    found = found.to_numpy()
    ends = found.contact_start
    return {
        tuple(pair): (int(found.status[k]), float(found.toi[k]))
        + tuple(getattr(found, name)[ends[k] : ends[k + 1]].tobytes() for name in LOCAL)
        for k, pair in enumerate(found.pairs.tolist())
        if found.status[k] != gc.Status.MISS
    }


def judged_crowd(seed, n, backend="cpu"):
    """A crowd: every way to ask gives what one call without a broad phase and filters gives."""
    rng = generator(seed, 76)
    meshes, shape, position, quat = scenes.crowd(seed, n, 5, bool(seed % 2))

    def poses(k, away=0.0):
        return gc.Poses.from_quat_wxyz(position[k] + away, quat[k])

    def bodies(k=0, away=0.0):
        return gc.Bodies(meshes, shape, poses(k, away), poses(k + 1, away))

    def ask(one=None, **options):
        return by_pair(gc.collide(one or bodies(), min_properness=-1.0, backend=backend, **options))

    known, bad = ask(tuning=gc.Tuning(broad_phase="off", filters="none")), []

    def check(name, answer, expected=known):
        wrong = [k for k in {*answer, *expected} if answer.get(k) != expected.get(k)]
        bad.extend(f"{name}: pairs {sorted(wrong)[:3]}" for _ in wrong[:1])

    ways = [
        {},
        {"tuning": gc.Tuning(features="near")},
        {"tuning": gc.Tuning(candidates="raster")},
        {"precision": "double"},
        {"max_bytes": 1 << 24},
    ]
    ways += [
        {"tuning": gc.Tuning(filters=x)}
        for x in (("spheres",), ("boxes",), ("plane",), ("plane", "boxes", "spheres"))
    ]
    for way in ways:
        check(way, ask(**way))
    for far in (2.0**20, 2.0**30):
        check(f"{far} away", ask(bodies(away=far * np.array([1, -1, 0.5]))))
    pairs = rng.permutation(np.array(sorted(known)).reshape(-1, 2))
    check("pairs", by_pair(gc.collide(bodies(), pairs, min_properness=-1.0, backend=backend)))
    group, mask = rng.integers(0, 8, (2, n))
    world = rng.integers(-1, 3, n)
    ignore = [x for x in rng.integers(0, n, (20, 2)).tolist() if x[0] != x[1]]
    never = {tuple(sorted(x)) for x in ignore}
    meet = (group[:, None] & mask[None] != 0) & (group[None] & mask[:, None] != 0)
    meet &= (world[:, None] == world) | (world[:, None] == -1) | (world == -1)
    left = {k: v for k, v in known.items() if meet[k] and k not in never}
    check("rules", ask(group=group, mask=mask, world=world, ignore=ignore), left)
    with gc.Scene(meshes, shape, poses(0), backend=backend) as scene:
        for k in (1, 2):
            scene.step(poses(k))
            check(f"scene, step {k}", by_pair(scene.collide(min_properness=-1.0)), ask(bodies(k - 1)))
    bad += recorded(meshes, shape, position, quat, bodies, backend)
    return sum(len(v[2]) for v in known.values()), [f"seed {seed}: {x}" for x in bad]


def recorded(meshes, shape, position, quat, bodies, backend):
    """What a recording of the frames says otherwise in halves, in batches, or step by step."""
    last, bad = len(position), []

    def record(low, high, **options):
        frames = gc.Poses.from_quat_wxyz(position[low:high], quat[low:high])
        times = np.arange(low, high, dtype=float)
        return gc.collide_trajectories(meshes, shape, frames, times, backend=backend, **options).to_numpy()

    whole, one, two = record(0, last), record(0, 3), record(2, last)
    names = [k for k in vars(whole) if isinstance(getattr(whole, k), np.ndarray)]
    names = [k for k in names if getattr(whole, k).shape[:1] == whole.step.shape and k != "pair"]
    for frames in (1, 3):
        other = record(0, last, frames_per_batch=frames)
        bad += [
            f"batches of {frames}: {k}"
            for k in names
            if getattr(other, k).tobytes() != getattr(whole, k).tobytes()
        ]
    for k in names:
        halves = np.concatenate((getattr(one, k), getattr(two, k) + (2 if k == "step" else 0)))
        mine = getattr(whole, k)
        if len(halves) != len(mine) or not np.allclose(halves, mine, rtol=0, atol=1e-11):
            bad.append(f"halves: {k}")
    for k in range(last - 1):
        alone, mine = gc.collide(bodies(k), backend=backend).to_numpy(), whole.step == k
        for name in ("kind", "feature_a", "feature_b", "local_a", "local_b"):
            if getattr(alone, name).tobytes() != getattr(whole, name)[mine].tobytes():
                bad.append(f"step {k}: {name}")
    return bad


FAMILIES = {
    "shifts": (judged_shifts, 100), "screws": (judged_screws, 100), "dense": (judged_dense, 20),
    "overlaps": (judged_overlaps, 300), "crowds": (judged_crowd, 30),
}  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.lattice", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--family", action="append", choices=sorted(FAMILIES), help="only these (may be repeated)")
    add("--pairs", type=int, default=10_000, help="pairs (of crowds: bodies) of each family")
    add("--seed", type=int, default=0, help="of the first block")
    add("--backend", default="cpu")
    add("--precision", choices=("mixed", "double", "single"), default="mixed", help="of overlaps alone")
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"  # the judges say more, and go on
    wrong = 0
    for family in options.family or FAMILIES:
        judge, n = FAMILIES[family]
        begin, contacts, notes = time.process_time(), 0, 0
        for seed in range(options.seed, options.seed + max(1, options.pairs // n)):
            more = {"precision": options.precision} if family == "overlaps" else {}
            some, bad = judge(seed, n, backend=options.backend, **more)
            contacts, notes = contacts + some, notes + len(bad)
            for text in bad[:3]:
                print("  " + text, flush=True)
        print(
            f"{family}: {options.pairs} pairs, {contacts} contacts, {notes} differences "
            f"({time.process_time() - begin:.0f} s)", flush=True,
        )  # fmt: skip
        wrong += notes
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
