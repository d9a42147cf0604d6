"""Hostile casts against the exact judge: `python -m tests.acceptance.sweep_report`, one page.

Each family is asked on each backend and in each precision, and every answer is judged by whole numbers
(tests/oracle/sweep.py). Same bits on several backends are judged once.
"""

import argparse
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from tests.acceptance.sweep import Judge
from tests.acceptance.sweep_runs import run
from tests.oracle.sweep_families import FAMILIES

SEED = 20261122
FLAGS = ("missed", "late", "passed", "invented", "held")


@dataclass
class Tally:
    """What the verdicts of a family come to."""

    casts: int = 0
    due: int = 0  # of touches that no answer may leave out
    hits: int = 0
    missed: int = 0
    late: int = 0
    passed: int = 0
    invented: int = 0
    held: int = 0
    other: int = 0  # point, normal, feature, order
    fields: int = 0  # a row without a hit that says something, or a status that does not fit
    alone: int = 0  # not wrong: a side of a face that was met before in vain, from behind or at the start
    gap: float = 0.0  # between ball and surface at a hit, in tolerances
    rows: list = field(default_factory=list)

    @property
    def wrong(self):
        return sum(getattr(self, name) for name in FLAGS) + self.other + self.fields

    def count(self, i, verdict):
        self.casts += 1
        self.due += verdict.due
        self.hits += verdict.hit
        for name in FLAGS:
            setattr(self, name, getattr(self, name) + bool(getattr(verdict, name)))
        self.alone += verdict.alone
        self.other += bool(verdict.wrong)
        self.gap = max(self.gap, verdict.gap)
        if not verdict.ok:
            self.rows.append((i, verdict))

    def merge(self, other, block):
        for name in ("casts", "due", "hits", *FLAGS, "other", "fields", "alone"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.gap = max(self.gap, other.gap)
        self.rows += [(block, i, v) for i, v in other.rows]

    def cells(self):
        names = ("casts", "due", "hits", *FLAGS, "other", "fields", "alone")
        return (*(getattr(self, name) for name in names), f"{self.gap:.2g}")


HEAD = ("family", "backend", "precision", "casts", "due", "hits", *FLAGS, "other", "fields", "alone", "gap")


def judged(casts, answer, precision="double", hits="first"):
    """`Tally` of all casts. In `mixed` only culling is in single precision."""
    judge, tally = Judge(casts, "single" if precision == "single" else "double"), Tally()
    for i in range(len(casts)):
        tally.count(i, judge.verdict(i, answer, hits))
    return tally


def odd_fields(found, every=False):
    """Rows whose fields do not say what they must where nothing was hit, or whose status does not fit."""
    from gpu_collide import Status, sweep

    miss = np.zeros(len(found.time), bool) if every else ~np.asarray(found.hit)
    none = (found.time != 1) | (found.body != -1) | (found.face != -1)
    none |= np.asarray(found.feature) != int(sweep.Feature.NONE)
    odd = miss & none
    for name in ("point", "normal", "time"):
        values = np.asarray(getattr(found, name))
        odd |= ~np.isfinite(values.reshape(len(values), int(np.prod(values.shape[1:])))).all(1)
    if not every:
        status = np.asarray(found.status)
        odd |= status != np.where(miss, int(Status.MISS), int(Status.HIT))
    return np.flatnonzero(odd)


def one_block(job):
    """Family, seed, casts, backends, precisions: [((backend, precision), Tally)]; same bits share one."""
    family, seed, n, backends, precisions, options = job
    casts = FAMILIES[family](seed, n)
    out, seen = [], {}
    for precision in precisions:
        for backend in backends:
            answer, found = run(casts, backend=backend, precision=precision, **options)
            fields = ("time", "point", "normal", "body", "face", "feature", "hit")
            bits = precision, *(np.ascontiguousarray(getattr(found, x)).tobytes() for x in fields)
            if bits not in seen:
                seen[bits] = judged(casts, answer, precision, options.get("hits", "first"))
                odd = odd_fields(found, options.get("hits") == "all")
                seen[bits].fields = len(odd)
                seen[bits].rows += [(int(i), "fields") for i in odd]
            out.append(((backend, precision), seen[bits]))
    return seed, out


def run_family(family, casts, backends, precisions=("mixed",), seed=SEED, block=50, pool=None, **options):
    """{(backend, precision): Tally} of a family."""
    sizes = [min(block, casts - first) for first in range(0, casts, block)]
    jobs = [(family, [seed, k], n, backends, precisions, options) for k, n in enumerate(sizes)]
    tallies = {}
    for (_, k), out in pool.imap(one_block, jobs) if pool else map(one_block, jobs):
        for key, tally in out:
            tallies.setdefault(key, Tally()).merge(tally, k)
    return tallies


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.sweep_report", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--family", action="append", choices=sorted(FAMILIES), help="only these (may be repeated)")
    add("--casts", type=int, default=200, help="casts of each family")
    add("--block", type=int, default=50, help="casts through one world")
    add("--backend", action="append", help="default: cpu, opencl and reference")
    add("--precision", action="append", choices=("mixed", "single", "double"), help="default: mixed, single")
    add("--hits", choices=("first", "any", "all"), default="first")
    add("--seed", type=int, default=SEED)
    add("--jobs", type=int, default=1)
    add("--show", type=int, default=3, help="wrong casts to print of each family")
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"  # what is wrong is to be counted, not to end the run
    backends = options.backend or ["cpu", "opencl", "reference"]
    precisions = options.precision or ["mixed", "single"]
    pool = multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else None
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    wrong, notes, begin = 0, [], time.perf_counter()
    for family in options.family or FAMILIES:
        tallies = run_family(
            family, options.casts, backends, precisions, options.seed, options.block, pool, hits=options.hits
        )
        for (backend, precision), tally in tallies.items():
            print(
                "| " + " | ".join(map(str, (family, backend, precision, *tally.cells()))) + " |", flush=True
            )
            wrong += tally.wrong
            notes += [f"{family} {backend} {precision} {row}" for row in tally.rows[: options.show]]
    print(f"\n{wrong} wrong; {time.perf_counter() - begin:.0f} s", *notes, sep="\n")
    if pool:
        pool.terminate()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
