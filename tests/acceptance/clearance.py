"""Clearance over a step against dense times: ``python -m tests.acceptance.clearance --pairs 100000``.

Families of tests/clearance/_families.py, each by both motions where it has both; the judge
(tests/oracle/nearest.py) samples the step and refines its lowest samples, so what it says is never below the
truth. A pair is wrong if

- the distance told is more than the tolerance above the judge's,
- the bound told is above the judge's, or farther below the distance than the tolerance,
- the distance at the time told is another one, or
- it is UNRESOLVED or INVALID_INPUT.

Then each pair is asked with a `max_distance` that is a millionth of its size to ten sizes below the judge's
distance, or above it. It is wrong if it is told as farther and the judge has it nearer, if it is told as
nearer and is farther, or if what is told of it is wrong as above.

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
    wrong, far, told, seconds, worst = 0, 0, np.zeros(5, int), 0.0, 0.0
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
            wrong += _print_wrong(name, motion, seeds, bad, found, np.full(len(pairs), np.inf))
            continue
        judge = Passages(bodies, pairs, motion)
        least = judge.least(given.samples, given.refine)
        limit = _limits(generator(*seeds, 1), sizes(bodies, pairs), least)
        asked = gc.clearance(bodies, pairs, motion=motion, backend=given.backend, max_distance=limit)
        far += int((~np.isfinite(asked.distance)).sum())
        for answer, most in ((found, np.full(len(pairs), np.inf)), (asked, limit)):
            bad = faults(bodies, pairs, answer, judge, least, most)
            wrong += _print_wrong(name, motion, seeds, bad, answer, most)
    names = ", ".join(f"{told[s]} {s.name}" for s in gc.Status if told[s])
    more = f"off by {worst:.1e} of the size at most" if given.exact else f"{far} beyond their max_distance"
    cost = f"{1e6 * seconds / given.pairs:.0f} us a pair"
    print(f"{name}, {motion}: {names}; {wrong} wrong; {cost}; {more}", flush=True)
    return wrong


def _limits(rng, size, least):
    """For each pair a `max_distance` below or above its distance."""
    sign = np.where(rng.random(len(size)) < 0.3, -1, 1)
    return np.maximum(least - sign * size * 10.0 ** rng.uniform(-6.0, 1.0, len(size)), 0.0)


def _print_wrong(name, motion, seeds, bad, found, most):
    """Prints the first of the rows `bad`; returns how many there are."""
    for k in bad[:3].tolist():
        print(
            f"  wrong: {name}, {motion}, seeds {seeds}, pair {k}, max_distance {most[k]!r}: "
            f"{found.distance[k]!r}, {found.lower_bound[k]!r}",
            flush=True,
        )
    return len(bad)


def sizes(bodies, pairs):
    return np.array([mesh.radius for mesh in bodies.meshes])[bodies.shape[pairs]].max(axis=1)


def faults(bodies, pairs, found, judge, least, limit):
    """Rows of pairs that are told wrongly, (k,) int; `least`: what the judge says."""
    size = sizes(bodies, pairs)
    way = np.linalg.norm(bodies.end.position - bodies.start.position, axis=1).max()
    margin, rounding = (np.maximum(share * size, OF_WAY * way) for share in (TOLERANCE, ROUNDING))
    beyond = np.isinf(found.distance)
    there = judge.distance(np.where(found.kind < 0, 0.0, found.time))
    good = found.distance - found.lower_bound <= margin
    good &= found.distance <= np.minimum(least, limit) + margin
    good &= np.abs(there - found.distance) <= margin
    good |= beyond & (found.lower_bound >= limit - margin) & (found.lower_bound <= limit)
    good &= found.lower_bound <= least + rounding
    good &= np.isin(found.status, [gc.Status.MISS, gc.Status.HIT])
    return np.flatnonzero(~good & (found.status != gc.Status.INITIAL_OVERLAP))


if __name__ == "__main__":
    sys.exit(main())
