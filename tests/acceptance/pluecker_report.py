"""Hostile moves against the exact judge: `python -m tests.acceptance.pluecker_report`, one page.

Each family is asked on each backend, and every answer is judged by whole numbers (tests/oracle/exact*.py).
Same bits on every backend are judged once. Of moves that begin in touch some are held that need not be: these
are told (`held`), but not counted as wrong.
"""

import argparse
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from tests.acceptance.pluecker import judge
from tests.acceptance.pluecker_runs import run
from tests.oracle.passage_families import FAMILIES
from tests.oracle.passage_touching import TOUCHING

SEED = 20261122
ALL = FAMILIES | TOUCHING
EDGES = 3  # gpu_collide.pluecker.Touch.EE


@dataclass
class Tally:
    """What the verdicts of a family come to; lengths in zones where it says so."""

    moves: int = 0
    touch: int = 0  # true touches
    hits: int = 0  # of the library
    missed: int = 0
    late: int = 0
    deepest: float = 0.0  # of the late ones, in the scene's unit over its size
    overlap: int = 0
    invented: int = 0
    widest: float = 0.0  # gap at a stop, in zones
    narrowest: float = np.inf  # gap at a stop that began clear of the zone, in zones
    inside: int = 0  # begun in a body, or refused by status: not judged
    early: float = 0.0  # along the normal of contact, in zones, of faces
    early_edges: float = 0.0  # the same, of two edges
    stuck: int = 0
    held: int = (
        0  # of these: began in touch, where corners may be held (docs/pluecker.md, What it does not do)
    )
    bad: int = 0
    grazed: int = 0  # began in touch, and went in by no more than the rounding of where they stood
    rows: list = field(default_factory=list)  # what was wrong: (move, what, verdict)

    WRONG = ("missed", "late", "overlap", "invented", "stuck", "bad")

    @property
    def wrong(self):
        return sum(getattr(self, name) for name in self.WRONG)

    def count(self, i, verdict, answer, size):
        self.moves += 1
        self.touch += verdict.touch is not None
        self.hits += bool(answer.hit[i])
        self.inside += verdict.inside
        self.grazed += verdict.grazed
        self.held += verdict.stuck and verdict.began
        what = [name for name in self.WRONG if getattr(verdict, name)]
        for name in what:
            setattr(self, name, getattr(self, name) + 1)
        self.deepest = max(self.deepest, verdict.late / size)
        if answer.hit[i] and verdict.gap is not None and not what:
            zones = verdict.gap / float(answer.expel[i]) if answer.expel[i] > 0 else np.nan
            self.widest = max(self.widest, zones)
            if verdict.early is not None:
                which = "early_edges" if answer.kind is not None and answer.kind[i] == EDGES else "early"
                setattr(self, which, max(getattr(self, which), verdict.early / float(answer.expel[i])))
            if answer.fraction[i] > 0:
                self.narrowest = min(self.narrowest, zones)
        if what:
            self.rows.append((i, what, verdict))

    def merge(self, other, shift=0):
        for name in ("moves", "touch", "hits", "inside", "grazed", "held", *self.WRONG):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("deepest", "widest", "early", "early_edges"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        self.narrowest = min(self.narrowest, other.narrowest)
        self.rows += [(i + shift, what, v) for i, what, v in other.rows]

    def cells(self):
        near = "" if np.isinf(self.narrowest) else f"{self.narrowest:.3g}"
        deep = f"{self.deepest:.1e}" if self.late else ""
        return (
            self.moves, self.inside, self.touch, self.hits, self.missed, self.late, deep, self.overlap,
            self.invented, f"{self.early:.3g}", f"{self.early_edges:.3g}", f"{self.widest:.3g}", near,
            self.stuck, self.held, self.bad, self.grazed,
        )  # fmt: skip


HEAD = (
    "family", "backend", "moves", "inside", "touch", "hits", "missed", "late", "deepest / size", "overlap",
    "invented", "early / e", "of edges", "gap / e", "least", "stuck", "bad", "grazed",
)  # fmt: skip


def size_of(passages, i):
    mesh = passages.meshes[passages.mover[0][i]]
    return max(float(np.abs(mesh.vertices).max()), 1e-300)


def judged(passages, answer):
    """`Tally` of all moves."""
    tally = Tally()
    for i in range(len(passages)):
        tally.count(i, judge(passages, i, answer), answer, size_of(passages, i))
    return tally


def one_block(job):
    """Family, seed, moves, backends: [(backend, Tally)], backends of the same bits share one."""
    family, seed, n, backends, options = job
    passages = ALL[family](seed, n)
    out, seen = [], {}
    for backend in backends:
        answer, trace = run(passages, backend=backend, **options)
        fields = (trace.fraction, trace.kind, trace.body, trace.feature_a, trace.feature_b, trace.expel)
        bits = b"".join(np.ascontiguousarray(x).tobytes() for x in fields)
        if bits not in seen:
            seen[bits] = judged(passages, answer)
        out.append((backend, seen[bits]))
    return family, seed, out


def run_family(family, moves, backends, seed=SEED, block=500, pool=None, **options):
    """{backend: Tally} of a family."""
    sizes = [min(block, moves - first) for first in range(0, moves, block)]
    jobs = [(family, [seed, k], n, backends, options) for k, n in enumerate(sizes)]
    tallies = {name: Tally() for name in backends}
    for _, (_, k), out in pool.imap(one_block, jobs) if pool else map(one_block, jobs):
        for name, tally in out:
            tallies[name].merge(tally, k * block)
    return tallies


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.pluecker_report", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--family", action="append", choices=sorted(ALL), help="only these (may be repeated)")
    add("--moves", type=int, default=500, help="moves of each family")
    add("--backend", action="append", help="default: cpu, opencl and reference")
    add("--precision", choices=("mixed", "single", "double"), default="mixed")
    add("--expel", type=float, help="default: that of the family, mostly the library's own")
    add("--seed", type=int, default=SEED)
    add("--jobs", type=int, default=1)
    add("--show", type=int, default=3, help="wrong moves to print of each family")
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"  # what is wrong is to be counted, not to end the run
    backends = options.backend or ["cpu", "opencl", "reference"]
    pool = multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else None
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    wrong, notes, begin = 0, [], time.perf_counter()
    for family in options.family or ALL:
        how = {"precision": options.precision}
        if options.expel is not None:
            how["expel"] = options.expel
        tallies = run_family(family, options.moves, backends, options.seed, pool=pool, **how)
        for name, tally in tallies.items():
            print("| " + " | ".join(map(str, (family, name, *tally.cells()))) + " |", flush=True)
            wrong += tally.wrong - (tally.stuck if family in TOUCHING else tally.held)
            notes += [f"{family} {name} {row}" for row in tally.rows[: options.show]]
    print(f"\n{wrong} wrong; {time.perf_counter() - begin:.0f} s", *notes, sep="\n")
    if pool:
        pool.terminate()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
