"""First contacts of cylinders and cones, proved: ``python -m tests.acceptance.frusta --pairs 100000``.

Every two kinds of shapes of tests/support/frustum_scenes.py by both motions, so many pairs of each, of all
families; with the relative motion half of the pairs move as a whole as well. The judge
(tests/oracle/convex_first.py) proves by planes between both bodies, not by samples. A pair is wrong if

- it is MISS, or HIT, and the judge cannot prove that no gap before `toi` is below -`BEFORE` of the size,
- it is HIT, and the gap at `toi` is not 0 by `GAP`, or no points of both are as near as `POINTS`,
- it is INITIAL_OVERLAP, and both are apart at the start by more than `POINTS`, or
- it is UNRESOLVED or INVALID_INPUT.

Exit 1 if any is wrong.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc
from tests.support.frustum_scenes import FAMILIES, KINDS, passes

BLOCK = 5000
#: Of the size: how deep bodies may have been in each other before a first contact; the gap there by planes,
#: and by points, of which 8e-12 were seen
BEFORE, GAP, POINTS = 1e-10, 1e-11, 1e-10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000, help="of each two kinds and motion")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--kinds", nargs="+", choices=["-".join(k) for k in KINDS])
    parser.add_argument("--motions", nargs="+", choices=["relative", "body"], default=["relative", "body"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="auto")
    given = parser.parse_args()
    chosen = [kinds for kinds in KINDS if not given.kinds or "-".join(kinds) in given.kinds]
    return sum(_kinds(kinds, motion, given) for kinds in chosen for motion in given.motions) > 0


def _kinds(kinds, motion, given):
    """How many pairs of a combination are wrong; prints a line."""
    each, told, wrong = -(-given.pairs // len(given.families)), {}, 0
    seconds, worst = np.zeros(2), np.zeros(3)
    for family in given.families:
        for begin in range(0, each, BLOCK):
            n, seed = min(BLOCK, each - begin), (given.seed, begin, FAMILIES.index(family))
            bodies, pairs, judge, scale = passes(kinds, n, seed, motion, family)
            clock = [time.process_time()]
            found = gc.collide(bodies, pairs, motion=motion, contacts="first", backend=given.backend)
            clock.append(time.process_time())
            bad, seen = faults(found, judge)
            seconds += np.diff([*clock, time.process_time()])
            worst, wrong = np.maximum(worst, seen), wrong + len(bad)
            for k, why in bad[:3]:
                status = gc.Status(int(found.status[k])).name
                place = f"{kinds}, {motion}, {family}, {seed}, pair {k}"
                print(f"  wrong: {place}: {status} {found.toi[k]}: {why}")
            for status in gc.Status:
                told[status.name] = told.get(status.name, 0) + int((found.status == status).sum())
    names = ", ".join(f"{n} {name}" for name, n in told.items() if n)
    cost = 1e6 * seconds / (each * len(given.families))
    print(
        f"{'-'.join(kinds)}, {motion}: {names}; {wrong} wrong; gap at most {worst[0]:.1e} and {worst[1]:.1e} "
        f"through, {worst[2]:.0f} planes; {cost[0]:.0f} us a pair, judged in {cost[1]:.0f}",
        flush=True,
    )
    return wrong


def faults(found, judge):
    """Rows of pairs that are told wrongly, and why; the worst gap at a time told, the deepest there, and most
    planes that a proof took."""
    status = found.status
    overlap, hit = status == gc.Status.INITIAL_OVERLAP, status == gc.Status.HIT
    free = hit | (status == gc.Status.MISS)
    until = np.where(hit, found.toi, np.where(free, 1.0, 0.0))
    reached, planes, low, high = judge.until(until, BEFORE)
    reasons = {
        "no result": ~(free | overlap),
        "not proved free": free & ~(reached >= until),
        "deep at toi": hit & ~(low >= -GAP),
        "apart at toi": hit & ~((low <= GAP) & (high <= POINTS)),
        "apart at the start": overlap & ~(high <= POINTS),
    }
    bad = [
        (k, f"{why}; proved to {reached[k]}, gap at {until[k]}: {low[k]:.1e} to {high[k]:.1e}")
        for why, rows in reasons.items()
        for k in np.flatnonzero(rows).tolist()
    ]
    worst = (
        np.where(hit, high, 0.0).max(initial=0.0),
        np.where(hit, -low, 0.0).max(initial=0.0),
        np.where(free, planes, 0.0).max(initial=0.0),
    )
    return bad, worst


if __name__ == "__main__":
    sys.exit(main())
