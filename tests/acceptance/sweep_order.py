"""The first of all touches is that of ``hits="first"``: `python -m tests.acceptance.sweep_order`.

The families of the exact judge (tests/oracle/sweep_families.py), which holds what they touch without a buffer
to be right. With one the same is touched, in the same order; each time is earlier by what the buffer takes
along its normal, worked out in extended precision.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass

import numpy as np

from tests.acceptance.sweep_runs import run
from tests.oracle.sweep_families import FAMILIES

SEED = 20261124
BUFFERS = (0.0, 1e-12, 1e-3, 0.05, 1.0, 1e6)
SAME = ("point", "normal", "body", "face", "feature", "number", "sphere")
BLOCK = 2500
# Of a path, of times less the buffer: double, single; the worst that was seen are 3e-15 and 8e-7.
NOTHING = {"mixed": 1e-12, "double": 1e-12, "single": 1e-4}


@dataclass
class Tally:
    casts: int = 0
    rows: int = 0
    other: int = 0  # queries whose first touch is not the first row of all, or that touch other things
    early: int = 0  # rows whose time is not what the buffer leaves
    worst: float = 0.0
    example: str = ""

    @property
    def wrong(self):
        return self.other + self.early


def less_buffer(time, normal, way, buffer):
    """Touch times (n,) less what the buffer takes, in extended precision."""
    speed = -(normal.astype(np.longdouble) * way).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.where(speed > 0, buffer / speed, np.inf)
    return np.maximum(time - off, 0) if buffer else time.astype(np.longdouble)


def compare(casts, tally, buffer, precision, **options):
    """Adds what one buffer does to a family's casts to a tally."""
    options |= {"precision": precision}
    first, every, plain = (
        run(casts, hits=hits, buffer=b, **options)[1]
        for hits, b in (("first", buffer), ("all", buffer), ("all", 0.0))
    )
    tally.casts, tally.rows = tally.casts + len(casts), tally.rows + len(every)
    bad = np.zeros(len(casts), bool)
    bad[first.status != every.status] = True
    if not np.array_equal(every.offsets, plain.offsets):
        tally.other += int((np.diff(every.offsets) != np.diff(plain.offsets)).sum())
        return
    for name in SAME:
        differ = getattr(every, name) != getattr(plain, name)
        bad[every.query[differ.reshape(len(every), -1).any(axis=1)]] = True
    keys = [getattr(plain, name) for name in ("query", "time", "feature", "body", "number", "sphere")]
    bad[plain.query[np.lexsort(keys[::-1]) != np.arange(len(plain))]] = True
    at = every.offsets[:-1][first.hit]
    for name in (*SAME, "time"):
        differ = getattr(every, name)[at] != getattr(first, name)[first.hit]
        bad[np.flatnonzero(first.hit)[differ.reshape(len(at), -1).any(axis=1)]] = True
    way = casts.path[every.query]
    if casts.carried is not None:
        way = way - casts.carried[every.body]
    due = less_buffer(plain.time, plain.normal, way.astype(np.longdouble), buffer)
    # what the rounding of the speed does to a time is up to how slowly it comes
    speed = -(plain.normal * way).sum(axis=1) / np.maximum(np.linalg.norm(way, axis=1), 1e-300)
    off = np.abs(every.time - due).astype(float) * np.clip(speed, 0, 1)
    tally.worst = max(tally.worst, float(off.max(initial=0.0)))
    early = off > NOTHING[precision] * np.maximum(1, buffer)
    tally.other, tally.early = tally.other + int(bad.sum()), tally.early + int(early.sum())
    if bad.any() or early.any():
        i = np.flatnonzero(bad)[0] if bad.any() else every.query[np.flatnonzero(early)[0]]
        tally.example = (
            tally.example or f"buffer {buffer}: {casts.start[i].tolist()}, {casts.path[i].tolist()}"
        )


def run_family(family, casts, seed=SEED, precision="mixed", **options):
    """`Tally` of a family, a buffer a block in turn."""
    tally, k = Tally(), 0
    while tally.casts < casts:
        block = FAMILIES[family]([seed, k], min(BLOCK, casts - tally.casts))
        compare(block, tally, BUFFERS[k % len(BUFFERS)], precision, **options)
        k += 1
    return tally


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.sweep_order", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--casts", type=int, default=100_000, help="of each family")
    add("--family", action="append", choices=sorted(FAMILIES))
    add("--backend", action="append", help="default: cpu, opencl")
    add("--precision", action="append", choices=tuple(NOTHING), help="default: mixed, single")
    add("--seed", type=int, default=SEED)
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"
    wrong, begin = 0, time.perf_counter()
    print("| family | backend | precision | casts | rows | other | early | worst |\n|" + "---|" * 8)
    for family in options.family or FAMILIES:
        for backend in options.backend or ("cpu", "opencl"):
            for precision in options.precision or ("mixed", "single"):
                t = run_family(family, options.casts, options.seed, backend=backend, precision=precision)
                cells = family, backend, precision, t.casts, t.rows, t.other, t.early, f"{t.worst:.2g}"
                print("| " + " | ".join(map(str, cells)) + " |", flush=True)
                if t.example:
                    print(t.example)
                wrong += t.wrong
    print(f"\n{wrong} wrong; {time.perf_counter() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
