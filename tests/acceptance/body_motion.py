"""`motion="body"` against the judge of motions of their own: python -m tests.acceptance.body_motion --pairs
10000

For each family: first contacts missed, invented and off in time, by distances that step so that nothing can
be missed; all contacts of
the first pairs by brute force; and what the judge leaves undecided. Then what one relative screw does on
the same pairs, and in how
many scenes of cubes some pair overlaps at the scene's first contact.
"""

import argparse
import sys
import time

import numpy as np

from tests.acceptance.body_motion_runs import answer, chord_off, run, same_bits, scene_of_cubes
from tests.oracle import body_motion as bm
from tests.oracle.body_motion_families import FAMILIES
from tests.oracle.body_motion_verdicts import Verdict, judge_all, judge_first
from tests.support import seeds

SAME = ("one_still", "translating", "common_axis")


def of_family(name, pairs, seed, backend, every, batch=2000, motion="body", seconds=np.inf):
    """Verdicts of first contacts of `pairs` pairs, of all contacts of `every` of them; no new batch after
    `seconds` of processor time."""
    first, all_ = Verdict(), Verdict()
    until = time.process_time() + seconds
    for begin in range(0, pairs, batch):
        if time.process_time() > until:
            break
        n = min(batch, pairs - begin)
        first.before = all_.before = begin
        scene = FAMILIES[name]([seed, begin], n)
        overlap, toi, told = answer(run(scene, motion=motion, contacts="first", backend=backend))
        judge_first(scene, overlap, toi, told, first)
        if begin < every:
            some = scene.take(np.arange(min(n, every - begin)))
            judge_all(some, answer(run(some, motion=motion, backend=backend))[2], all_)
    return first, all_


def tell(title, v):
    print(f"  {title}: {v.pairs} pairs")
    for name, n in sorted(v.counts.items()):
        rows = (
            f"   {sorted(set(v.rows[name]))[:8]}"
            if n and name.startswith(("missed", "invented", "late", "early", "status", "un", "wrong"))
            else ""
        )
        print(f"    {n:10d}  {name}{rows}")
    for name, x in v.worst.items():
        print(f"    {x:10.1e}  worst {name}")


def relative_table(names, pairs, seed, backend):
    print("One relative screw against the truth: first contacts")
    print(
        "  off by: speed of approach times difference of times; corners: of B, seen from A, most in the step"
    )
    print(
        "  family              touches  missed %  invented %    off, median / most    corners, median / most"
    )
    for name in names:
        scene = FAMILIES[name]([seed, 0], pairs)
        if scene.bodies["spin"].any():
            continue
        first = bm.first_touches(scene)
        toi = answer(run(scene, motion="relative", contacts="first", backend=backend, check_start=False))[1]
        touch, miss = first["status"] == bm.TOUCHES, first["status"] == bm.MISSES
        hit = np.isfinite(toi)
        both = touch & hit
        off = np.abs(toi[both] - first["time"][both]) * np.abs(first["approach"][both])
        if not both.any():
            continue
        corners = chord_off(scene, np.flatnonzero(touch))
        shares = (100 * x.sum() / touch.sum() for x in (touch & ~hit, miss & hit))
        print(f"  {name:18s} {touch.sum():8d}  {next(shares):8.2f}  {next(shares):10.2f}", end="")
        print(f"    {np.median(off):10.2e} / {off.max():8.2e}", end="")
        print(f"     {np.median(corners):10.2e} / {corners.max():8.2e}")


def overlapping_scenes(scene, group, toi, before):
    """Share of the scenes with a first contact in which a pair cuts the other, by python-fcl, `before` it."""
    import fcl

    first = np.full(group.max() + 1, np.inf)
    np.minimum.at(first, group, toi)
    live = np.flatnonzero(np.isfinite(first))
    when = np.maximum(first - before, 0)
    count = len(scene.bodies) // len(first)
    at = np.repeat(np.where(np.isfinite(when), when, 0), count)
    place, axes = bm.poses(scene.bodies, at)
    cubes = fcl.Box(1, 1, 1)
    objects = [fcl.CollisionObject(cubes, fcl.Transform(r, p)) for p, r in zip(place, axes, strict=True)]
    i, j = scene.pairs.T
    near = np.linalg.norm(place[i] - place[j], axis=1) < np.sqrt(3)
    request, worst, bad = fcl.CollisionRequest(), 0.0, set()
    for k in np.flatnonzero(near & np.isfinite(first)[group]):
        if group[k] not in bad and fcl.collide(objects[i[k]], objects[j[k]], request, fcl.CollisionResult()):
            bad.add(int(group[k]))
    rows = np.flatnonzero(near & np.isfinite(first)[group])
    depth = bm.cuts(scene.take(rows), when[group[rows]])
    worst = float(depth.max(initial=0))
    deep = np.zeros(len(first))
    np.maximum.at(deep, group[rows], depth)
    return len(live), len(bad), int((deep > 0).sum()), worst


def scenes_table(scenes, seed, backend):
    print("Scenes of eight cubes in which a pair overlaps at the scene's first contact, less 1e-9 of a step")
    print("  motion     turn   scenes   by python-fcl     by the judge's own cut, deepest")
    for turn in (0.1, 0.35, 0.8, 1.6, 3.1):
        scene, group = scene_of_cubes(seeds.generator(seed, int(10 * turn)), scenes, turn)
        apart = bm.first_touches(scene)["status"]
        clear = np.ones(group.max() + 1, bool)
        clear[group[(apart == bm.OVERLAPS) | (apart == bm.TOUCHES_AT_START)]] = False
        for motion in ("relative", "body"):
            toi = answer(run(scene, motion=motion, contacts="first", backend=backend))[1].copy()
            toi[~clear[group]] = np.inf
            live, bad, cut, worst = overlapping_scenes(scene, group, toi, 1e-9)
            share = 100 * bad / max(live, 1)
            print(
                f"  {motion:9s} {turn:5.2f} {live:8d} {bad:8d} {share:5.1f} % {cut:8d} {worst:10.1e}",
                flush=True,
            )


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pairs", type=int, default=10000)
    p.add_argument("--seconds", type=float, default=np.inf, help="processor time for a family, about")
    p.add_argument("--all", type=int, default=1000, help="pairs of which all contacts are judged")
    p.add_argument("--family", nargs="*", choices=sorted(FAMILIES), default=list(FAMILIES))
    p.add_argument("--backend", default="cpu")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--scenes", type=int, default=0, help="scenes of cubes")
    p.add_argument("--relative", type=int, default=0, help="pairs of which one relative screw is judged")
    a = p.parse_args()
    why = bm.missing()
    if why:
        sys.exit(f"the judge cannot run: {why}")
    faults = 0
    for name in a.family if a.pairs else ():
        began = time.process_time()
        first, all_ = of_family(name, a.pairs, a.seed, a.backend, a.all, seconds=a.seconds)
        print(f"{name}  ({time.process_time() - began:.0f} s)")
        tell("first contacts", first)
        tell("all contacts", all_)
        if name in SAME:
            some = FAMILIES[name]([a.seed, 0], min(a.pairs, 2000))
            print(f"    differs from relative motion in: {same_bits(some, backend=a.backend)}")
        faults += first.faults() + all_.faults()
        sys.stdout.flush()
    if a.relative:
        relative_table(a.family, a.relative, a.seed, a.backend)
    if a.scenes:
        scenes_table(a.scenes, a.seed, a.backend)
    print(f"{faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
