"""Whole-number motion against three judges: `python -m tests.acceptance.whole_numbers --family drill`.

Every pair is compared with the brute force over all features (tests/oracle, float64). Whatever it calls
missed or invented is looked at again in fifty digits by a motion that shares no formula with it
(tests/oracle/extended.py); what stands on the border of a decision there is counted apart, as `border`, and
what the brute force got wrong as `oracle`. Convex pairs that start apart are also judged by separating axes
(tests/oracle/separation.py), which know no features at all. Ends with 1 if anything is missed, invented, late
or has a bad normal.
"""

import argparse
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from tests import oracle
from tests.oracle.extended import Extended
from tests.oracle.roots import EE, FV, VF
from tests.oracle.scenes_whole import WHOLE
from tests.oracle.separation import first_overlap

SEED = 20261122
CONVEX = (
    "whole_translation",
    "whole_motion",
    "drill",
    "hinge",
    "exact_half_turn",
    "thin_and_tiny",
    "same_place",
)
KIND = {"FV": FV, "VF": VF, "EE": EE}
LATE = 1e-8  # of the size: how far bodies may have gone into each other, or be apart, at the first time


@dataclass
class Tally:
    """What came of a family."""

    pairs: int = 0
    hits: int = 0
    contacts: int = 0
    missed: int = 0
    invented: int = 0
    wrong_time: int = 0
    bad_normals: int = 0
    wrong_other: int = 0  # another field of a matched contact
    border: int = 0
    oracle: int = 0
    statuses: int = 0  # convex pairs whose status or first time separating axes contradict
    judged: int = 0  # convex pairs that they could decide
    notes: list = field(default_factory=list)

    @property
    def bad(self):
        return (
            self.missed
            + self.invented
            + self.wrong_time
            + self.bad_normals
            + self.wrong_other
            + self.statuses
        )

    def add(self, other):
        for name, value in vars(other).items():
            if name != "notes":
                setattr(self, name, getattr(self, name) + value)
        self.notes = (self.notes + other.notes)[:20]

    def __str__(self):
        names = (
            "pairs", "hits", "contacts", "missed", "invented", "wrong_time", "bad_normals", "wrong_other",
            "statuses", "judged", "border", "oracle",
        )  # fmt: skip
        return ", ".join(f"{name.replace('_', ' ')} {getattr(self, name)}" for name in names)


def note(tally, seed, what, row):
    """Keep the first few findings, each with what reproduces it."""
    if len(tally.notes) < 20:
        text = row if isinstance(row, str) else ", ".join(f"{k}={v}" for k, v in row.items() if k != "near")
        tally.notes.append(f"  {what}, seed {seed}: {text}")


def run_block(family, seed, n, backend, tally, digits=200, **options):
    """One scene of n pairs; the first `digits` doubtful rows are settled in fifty digits."""
    import gpu_collide as gc

    scene = WHOLE[family](seed, n)
    found = gc.collide(scene.bodies(), scene.pairs, backend=backend, **options).to_numpy()
    expected = oracle.expect(scene)
    report = oracle.check(found, scene, expected=expected, structure=False)
    tally.pairs += n
    tally.hits += int((found.toi < np.inf).sum())
    tally.contacts += len(found)
    off = np.abs(np.sqrt((found.normal**2).sum(1)) - 1) > 1e-12
    off |= ~np.isfinite(found.normal).all(1)
    tally.bad_normals += int(off.sum())
    for k in np.flatnonzero(off)[:3]:
        note(tally, seed, "normal", f"pair={found.pair[k]}, |n|={np.linalg.norm(found.normal[k])}")
    bent = set(found.pair[off].tolist())
    for row in report.wrong:
        if row["pair"] in bent and row["field"] in ("normal", "position"):
            continue
        if row["sine"] < 1e-7:  # when edges that are nearly parallel begin to meet is the tolerance's choice
            tally.border += 1
            continue
        late, turned = row["field"] in ("time", "time_end"), row["field"] == "normal"
        tally.wrong_time += late
        tally.bad_normals += turned
        tally.wrong_other += not (late or turned)
        note(tally, seed, "wrong " + row["field"], row)
    judges, doubtful = {}, []  # doubtful: what was found and stands on a border of fifty digits
    for rows, missing in ((report.invented, False), (report.missed, True), (report.missed_groups, True)):
        for row in rows:
            verdict = settle(scene, row, missing, found, expected, judges) if digits > 0 else "yes"
            digits -= 1
            if not missing and verdict == "border":
                doubtful.append(row)
            if verdict == "yes" and "members" in row and told_by(row, doubtful, found, expected):
                verdict = "border"
            if verdict == "yes":
                tally.missed += missing
                tally.invented += not missing
                note(tally, seed, "missed" if missing else "invented", row)
            elif verdict == "border":
                tally.border += 1
            else:
                tally.oracle += 1
                note(tally, seed, "oracle wrong", row)
    if family in CONVEX:
        by_axes(scene, seed, found, expected, tally)
    return tally


def settle(scene, row, missing, found, expected, judges):
    """ "yes" if fifty digits confirm that the row is missed (or invented), "border", or "no"."""
    if not missing and told_twice(row, found):
        return "yes"
    pair = row["pair"]
    flip = 0 < expected.w[pair] < 1e-14  # either screw may be followed: both would have to say so
    answers = []
    for side in (False, True)[: 1 + flip]:
        if (pair, side) not in judges:
            judges[pair, side] = Extended(scene, pair, side)
        margins = judges[pair, side].margins(KIND[row["kind"]], row["a"], row["b"], row["time"])
        state = margins.state(float(expected.tau[pair]))
        if missing and "members" in row:  # of a group: it stands on a border by its nature
            answers.append("yes" if margins.closed() else "border")
        else:
            wanted = "contact" if missing else "none"
            answers.append("border" if state == "border" else "yes" if state == wanted else "no")
    return next((x for x in ("no", "border") if x in answers), "yes")


def told_by(group, doubtful, found, expected):
    """Whether one of the doubtful contacts is at the place and time of a coincident group.

    The brute force has not found it among the group's members, as it stands on a border; but it is the
    properest of them if it counts, and of a coincidence the properest is reported (edges that slide past each
    other's ends in one plane, where a corner meets a corner).
    """
    slack = 4 * float(expected.tau[group["pair"]]) + 2e-10
    for row in doubtful:
        if row["pair"] != group["pair"] or abs(row["time"] - group["time"]) > slack:
            continue
        same = (found.pair == row["pair"]) & (found.time == row["time"])
        same &= (found.kind == KIND[row["kind"]]) & (found.feature_a == row["a"])
        same &= found.feature_b == row["b"]
        off = np.abs(found.local_a[same] - group["near"]).max(initial=0.0)
        if off <= 1e-8 * expected.size[row["pair"]] and row["properness"] >= group["properness"]:
            return True
    return False


def told_twice(row, found):
    """Whether the same features are reported by another contact that begins before and goes on until then."""
    same = (found.pair == row["pair"]) & (found.kind == KIND[row["kind"]])
    same &= (found.feature_a == row["a"]) & (found.feature_b == row["b"])
    same &= (found.time <= row["time"] + 1e-9) & (found.time_end >= row["time"] - 1e-9)
    return int(same.sum()) > 1


def by_axes(scene, seed, found, expected, tally):
    """First contacts of convex pairs that start apart, against separating axes."""
    first = first_overlap(scene)
    # a turn that two screws fit may go either way, and a contact at the very end counts within tau
    sure = first.sure & ~((expected.w > 0) & (expected.w < 1e-14))
    speed = np.maximum(expected.speed, 1e-300)
    with np.errstate(invalid="ignore"):
        away = np.abs(found.toi - first.time)
        late = (away * speed > 1e-6 * expected.size) & (away > 1e-9)
    late = np.where(np.isinf(first.time), found.toi < np.inf, late | np.isinf(found.toi))
    tally.judged += int(sure.sum())
    for k in np.flatnonzero(sure & late):
        tally.statuses += 1
        note(
            tally, seed, "by axes", f"pair={k}, toi {found.toi[k]:.17g}, separating axes {first.time[k]:.17g}"
        )


def one_block(job):
    """The tally of one block; blocks are independent of each other, each has a seed of its own."""
    family, seed, n, backend, options = job
    return run_block(family, seed, n, backend, Tally(), **options)


def run(family, pairs, backend="cpu", seed=SEED, block=2000, pool=None, progress=None, **options):
    """Tally of a family over blocks of pairs, in this process or in those of a pool."""
    sizes = [min(block, pairs - first) for first in range(0, pairs, block)]
    jobs = [(family, [seed, k] if k else seed, n, backend, options) for k, n in enumerate(sizes)]
    tally, begin = Tally(), time.perf_counter()
    for part in pool.imap(one_block, jobs) if pool else map(one_block, jobs):
        tally.add(part)
        if progress is not None:
            progress(f"{family}: {tally} ({time.perf_counter() - begin:.0f} s)")
    return tally


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.whole_numbers", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--family", action="append", choices=sorted(WHOLE), help="only these (may be repeated)")
    add("--pairs", type=int, default=100_000, help="pairs of each family")
    add("--block", type=int, default=2000, help="pairs at a time; each block has a seed of its own")
    add("--backend", default="cpu")
    add("--seed", type=int, default=SEED)
    add("--jobs", type=int, default=1, help="processes; the brute force takes 4 ms of one for each pair")
    add("--quiet", action="store_true", help="only one line a family")
    options = parser.parse_args(argv)
    os.environ["GPU_COLLIDE_CHECK"] = "0"  # a bad normal is to be counted, not to end the run
    bad = 0
    progress = None if options.quiet else lambda text: print("  " + text, flush=True)
    pool = multiprocessing.get_context("spawn").Pool(options.jobs) if options.jobs > 1 else None
    for family in options.family or WHOLE:
        begin = time.perf_counter()
        tally = run(
            family, options.pairs, options.backend, options.seed, options.block, pool, progress, digits=200
        )
        print(f"{family}: {tally} ({time.perf_counter() - begin:.0f} s)", flush=True)
        if tally.notes:
            print("\n".join(tally.notes), flush=True)
        bad += tally.bad
    if pool:
        pool.terminate()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
