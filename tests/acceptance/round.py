"""First contacts of round shapes against closed forms: ``python -m tests.acceptance.round --pairs 100000``.

Every two kinds of shapes of tests/support/round_scenes.py by both motions, so many pairs of each, of all
families; with the relative motion also pairs both of whose bodies move. The judge
(tests/oracle/round_many.py) looks at distances at dense times. A pair is wrong if

- it overlaps at the start, by more than 1e-9 of the size, and is not told so, or the reverse,
- it surely touches and is no HIT, or surely does not and is no MISS,
- its first time is later than the judge's by more than what a graze is worth, or
- the gap at the time told is not 0, or
- it is UNRESOLVED or INVALID_INPUT.

Exit 1 if any is wrong.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc
from tests.oracle.round_many import Many
from tests.support.round_scenes import FAMILIES, KINDS, passes

BLOCK = 5000
#: Of the size: what is not judged beside touch; the gap at the time told (worst seen: see decision 0143).
SURE, GAP = 1e-9, 1e-11


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000, help="of each two kinds and motion")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--kinds", nargs="+", choices=["-".join(k) for k in KINDS])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="auto")
    given = parser.parse_args()
    chosen = [kinds for kinds in KINDS if not given.kinds or "-".join(kinds) in given.kinds]
    return sum(_kinds(kinds, motion, given) for kinds in chosen for motion in ("relative", "body")) > 0


def _kinds(kinds, motion, given):
    """How many pairs of a combination are wrong; prints a line."""
    each, wrong, told, seconds, worst, late = -(-given.pairs // len(given.families)), 0, {}, 0.0, 0.0, 0.0
    for family in given.families:
        for begin in range(0, each, BLOCK):
            n, seed = min(BLOCK, each - begin), (given.seed, begin, FAMILIES.index(family))
            bodies, pairs, judge, scale = passes(kinds, n, seed, motion, family)
            clock = time.process_time()
            found = gc.collide(bodies, pairs, motion=motion, contacts="first", backend=given.backend)
            seconds += time.process_time() - clock
            bad, gap, after = faults(found, Many(judge), scale)
            worst, late = max(worst, gap), max(late, after)
            for k in bad[:3].tolist():
                status = gc.Status(int(found.status[k])).name
                print(f"  wrong: {kinds}, {motion}, {family}, {seed}, pair {k}: {status} {found.toi[k]!r}")
            wrong += len(bad)
            for status in gc.Status:
                told[status.name] = told.get(status.name, 0) + int((found.status == status).sum())
    names = ", ".join(f"{n} {name}" for name, n in told.items() if n)
    print(
        f"{kinds[0]}, {kinds[1]}, {motion}: {names}; {wrong} wrong; gaps {worst:.1e} of the size, "
        f"{late:.1e} late at most; {1e6 * seconds / (each * len(given.families)):.1f} us a pair",
        flush=True,
    )
    return wrong


def faults(found, judge, scale):
    """Rows of pairs that are told wrongly; the worst gap at a time told, of the size; the latest."""
    toi, least, start = judge.first()
    tol = SURE * scale
    sure, inside = np.abs(start) > tol, start < 0
    overlap = found.status == gc.Status.INITIAL_OVERLAP
    good = ~(sure & (inside != overlap)) & (found.status < gc.Status.UNRESOLVED)
    hit, miss = sure & ~inside & (least < -tol), sure & ~inside & (least > tol)
    good &= ~hit | (found.status == gc.Status.HIT)
    good &= ~miss | (found.status == gc.Status.MISS)
    told = hit & np.isfinite(found.toi)
    gap = np.where(told, np.abs(judge.gap(np.where(told, found.toi, 0.0))) / scale, 0.0)
    with np.errstate(invalid="ignore"):
        late = np.where(told, found.toi - toi, 0.0)
    good &= (gap < GAP) & (late < 1e-6)
    return np.flatnonzero(~good), gap.max(), late.max()


if __name__ == "__main__":
    sys.exit(main())
