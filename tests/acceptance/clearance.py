"""Clearance over a step against dense times: ``python -m tests.acceptance.clearance --pairs 100000``.

Families of tests/clearance/_families.py, each by both motions where it has both; the judge
(tests/oracle/nearest.py) samples the step and refines its lowest samples, so what it says is never below the
truth. A pair is wrong if

- the distance told is more than the tolerance above the judge's,
- the bound told is above the judge's, or farther below the distance than the tolerance,
- the distance at the time told is another one, or
- it is UNRESOLVED or INVALID_INPUT.

Pairs that overlap at the start are told so by another test, and only counted. Exit 1 if any is wrong.

With ``--exact`` the judge is the least of all critical points (tests/oracle/critical_points.py), which takes
0.2 s a pair: distances may then be off neither way.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc
from tests.clearance._families import FAMILIES, spins
from tests.oracle.nearest import Passages
from tests.support.critical import off
from tests.support.seeds import generator

EVERY = {**FAMILIES, "spins": spins}
BLOCK = 2000
#: In sizes: what bounds may lie below distances, and rounding of both. In ways: what rounding makes of bodies
#: that move far beyond their size (worst seen: 1.2e-13, `speck`).
TOLERANCE, ROUNDING, OF_WAY = 1e-9, 1e-12, 4e-13


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000, help="of each family and motion")
    parser.add_argument("--families", nargs="+", choices=EVERY, default=list(EVERY))
    parser.add_argument("--exact", action="store_true", help="against critical points; without spins")
    parser.add_argument("--samples", type=int, default=48)
    parser.add_argument("--refine", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="auto")
    given = parser.parse_args()
    families = [name for name in given.families if not (given.exact and name == "spins")]
    motions = {name: ("body",) if name == "spins" else ("relative", "body") for name in families}
    return sum(_family(name, motion, given) for name in motions for motion in motions[name]) > 0


def _family(name, motion, given):
    """How many pairs of a family are wrong; prints a line."""
    wrong, told, seconds, worst = 0, np.zeros(5, int), 0.0, 0.0
    for begin in range(0, given.pairs, BLOCK):
        seeds = given.seed, list(EVERY).index(name), begin
        bodies, pairs = EVERY[name](generator(*seeds), min(BLOCK, given.pairs - begin))
        clock = time.process_time()
        found = gc.clearance(bodies, pairs, motion=motion, backend=given.backend)
        seconds += time.process_time() - clock
        told += np.bincount(found.status, minlength=5)
        if given.exact:
            bad, error = off(bodies, pairs, found, motion)
            worst = max(worst, np.abs(error).max())
        else:
            bad = faults(bodies, pairs, found, motion, given.samples, given.refine)
        for k in bad[:3].tolist():
            print(f"  wrong: {name}, {motion}, seeds {seeds}, pair {k}: {found.distance[k]!r}", flush=True)
        wrong += len(bad)
    names = ", ".join(f"{told[s]} {s.name}" for s in gc.Status if told[s])
    line = f"{name}, {motion}: {names}; {wrong} wrong; {1e6 * seconds / given.pairs:.0f} us a pair"
    print(f"{line}, off by {worst:.1e} of the size at most" if given.exact else line, flush=True)
    return wrong


def faults(bodies, pairs, found, motion, samples, refine):
    """Rows of pairs that are told wrongly, (k,) int."""
    size = np.array([mesh.radius for mesh in bodies.meshes])[bodies.shape[pairs]].max(axis=1)
    way = np.linalg.norm(bodies.end.position - bodies.start.position, axis=1).max()
    margin = np.maximum(TOLERANCE * size, OF_WAY * way)
    judge = Passages(bodies, pairs, motion)
    least, there = judge.least(samples, refine), judge.distance(np.where(found.kind < 0, 0.0, found.time))
    good = found.distance - found.lower_bound <= margin
    good &= found.distance <= least + margin
    good &= found.lower_bound <= least + np.maximum(ROUNDING * size, OF_WAY * way)
    good &= np.abs(there - found.distance) <= margin
    good &= np.isin(found.status, [gc.Status.MISS, gc.Status.HIT])
    return np.flatnonzero(~good & (found.status != gc.Status.INITIAL_OVERLAP))


if __name__ == "__main__":
    sys.exit(main())
