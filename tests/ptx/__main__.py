"""The backend `cuda` on translated PTX: `python -m tests.ptx`, or a sample of it with --sample.

For each group size the stored results are computed anew and compared bit by bit; then the tests that run on
every backend run on `cuda`, a file in a process. Races, divergent barriers, reads of what was never written
and writes outside a buffer fail the test in which they happen. What a file did is kept: a run that was broken
off goes on where it was, --report only prints. It ends with a page of what was run, and with 1 if anything
failed or has not been run.
"""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from gpu_collide.backends import declarations, sources
from gpu_collide.backends.cache import cache_dir
from tests.ptx.device import ALLOWED, KINDS
from tests.ptx.parts import BITS, PROBE, Part, files_of_tests, kept, play

SIZES = (64, 32, 256)
HEAD = """\
The backend `cuda` without a GPU: NVRTC's PTX translated to C and run on a processor, every access looked up.
Written by `python -m tests.ptx --page FILE`. Parts that never ran are missing; parts that ran before the
last change of what they depend on are of older sources."""
MOST_LONG = 15  # tests that the page names as the longest
SAMPLE = {  # by group size: tests that run with it; each stage is in one of them or in the stored bits
    32: [
        f"{BITS} 0/4",
        "tests/narrow_phase/test_s04_sort.py",
        "tests/broad_phase/test_b02_keys.py",
        "tests/broad_phase/test_b03_tree.py",
        "tests/upload/test_g01_poses.py",
        "tests/upload/test_g09_least_turn.py",
    ],
    64: [
        BITS,
        "tests/backends/test_verbs.py",
        "tests/narrow_phase/test_s01_screw.py",
        "tests/filters/test_f01_spheres.py",
        "tests/upload/test_g02_pairs.py",
        "tests/upload/test_g04_apart.py",
        "tests/narrow_phase/test_screen_first.py::test_first_of_all_in_whole_numbers",
    ],
    256: [
        f"{BITS} 2/4",
        "tests/narrow_phase/test_b06_gather.py",
        "tests/dialect/test_every_macro.py",
        "tests/filters/test_f02_boxes.py",
        "tests/upload/test_g03_select.py",
        "tests/upload/test_g05_join.py",
    ],
}


def parts(options):
    """What is to be run, in its order."""
    whole = [] if options.sample or options.tests is not None else files_of_tests(options.mark)
    found = []
    for size in options.size or SIZES:
        what = SAMPLE.get(size, []) if options.sample else whole
        what = what if options.tests is None else options.tests
        bits = [] if options.mark or options.sample else [BITS]
        found += [Part(size, name, "" if name == BITS else options.mark) for name in bits + list(what)]
    return found


def line(outcome):
    """One part on one line."""
    counts = ", ".join(f"{n:,} {how}" for how, n in sorted(outcome.counts.items())) or "nothing"
    end = "" if outcome.good else f"; ended with {outcome.code}"
    end += "" if outcome.fresh else "; of older sources"
    return f"{outcome.size:>5}  {outcome.seconds:>6,.0f} s  {outcome.what}: {counts}{end}"


def tables(outcomes, missing):
    """What was run, as lines: kernels, group sizes, opcodes."""
    totals = Counter()
    for outcome in outcomes:
        totals.update({(kernel, what): n for kernel, what, n in outcome.totals})
    kernels = sorted({kernel for kernel, _ in totals} - {""})
    columns = ("launches", "work-items", "barriers", "reads", "writes", "allowed")
    lines = ["", f"{'kernel':<16}" + "".join(f"{c:>18}" for c in columns)]
    lines += [f"{k:<16}" + "".join(f"{totals[k, c]:>18,}" for c in columns) for k in kernels]
    lines.append(f"{'all':<16}" + "".join(f"{sum(totals[k, c] for k in kernels):>18,}" for c in columns))
    silent = sorted(set(declarations.parse(sources.source())) - set(kernels))
    opcodes = {what for kernel, what in totals if kernel == ""}
    lines += ["", f"never launched: {', '.join(silent) or 'none'}"]
    lines += [f"opcodes: {len(opcodes)} different ones in what was launched"]
    for kind in KINDS[1:]:
        if n := sum(totals[k, kind] for k in kernels):
            lines.append(f"launches that failed by {kind}: {n}")
    lines += ["", "group  parts  tests                                      processor  missing"]
    for size in sorted({o.size for o in outcomes} | {p.size for p in missing}):
        of_size = [o for o in outcomes if o.size == size]
        counts = sum((Counter(o.counts) for o in of_size), Counter())
        tests = ", ".join(f"{n:,} {how}" for how, n in sorted(counts.items()))
        lines.append(
            f"{size:>5}  {len(of_size):>5}  {tests:<40}  {sum(o.seconds for o in of_size):>8,.0f} s"
            f"  {sum(p.size == size for p in missing)}"
        )
    return lines


def page(outcomes, missing):
    """The report as text."""
    lines = tables(outcomes, missing)
    reasons = Counter(reason for o in outcomes for _, reason in o.skipped)
    lines += ["", *(f"skipped: {n} because {reason}" for reason, n in sorted(reasons.items()))]
    slowest = sorted((-seconds, o.size, test) for o in outcomes for test, seconds in o.long)[:MOST_LONG]
    lines += [f"took {-seconds:,.0f} s at {size}: {test}" for seconds, size, test in slowest]
    idle = [o for o in outcomes if not o.what.startswith(BITS) and not o.launched - {PROBE}]
    if idle:
        lines += [f"launched nothing: {', '.join(sorted({o.what for o in idle}))}"]
    for outcome in outcomes:
        for test, text in outcome.failures:
            first = text.strip().splitlines()[0][:200] if text.strip() else ""
            lines.append(f"FAILED at {outcome.size}: {test}: {first}")
    old = [o for o in outcomes if not o.fresh]
    if old:
        lines += [f"of older sources: {len(old)} parts, the oldest ended {min(o.ended for o in old)}"]
    allowed = "; ".join(f"{kind}s in {file}: {why}" for kind, file, _, why in ALLOWED)
    return "\n".join([*lines, f"allowed: {allowed or 'nothing'}"])


def arguments(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.ptx", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "--sample",
        action="store_true",
        help="what CI runs: five minutes of one core at most; nothing is kept",
    )
    add("--size", type=int, action="append", help="group size; default 32, 64 and 256")
    add("--tests", nargs="*", help="tests to run instead, as pytest takes them; none: stored bits only")
    add(
        "--mark", default="", help="an expression for pytest's -m, such as slow; without the stored bits then"
    )
    add("--keep", type=Path, help="folder for what was done; default: 'ptx' in the folder of built kernels")
    add("--anew", action="store_true", help="run again what is kept")
    add("--report", action="store_true", help="run nothing, print the page of what is kept")
    add("--page", type=Path, help="a file that the page is written to, too, such as bench/results/ptx.txt")
    add("--jobs", type=int, default=1, help="parts that run side by side; default 1")
    add("--limit", type=float, default=3600.0, help="seconds that a part may take; default an hour")
    return parser.parse_args(argv)


def gathered(options, folder):
    """Outcomes of what was run or was kept, and the parts of which there is none."""
    listed = parts(options)
    found = {part: kept(folder, part) if folder and not options.anew else None for part in listed}
    # what never ran comes first, then what failed, then what ran on older sources
    again = [part for part in listed if _rank(found[part]) < 3]
    waiting = [] if options.report else sorted(again, key=lambda part: _rank(found[part]))
    for part, outcome in played(waiting, options, folder):
        found[part] = outcome
        print(line(outcome), flush=True)
        for _, text in outcome.failures:
            print(text, flush=True)
    return [o for o in found.values() if o], [part for part, o in found.items() if o is None]


def played(waiting, options, folder):
    """Yield parts with what they did, as they end."""
    if options.jobs == 1:
        yield from ((part, play(part, options.limit, folder)) for part in waiting)
        return
    with ProcessPoolExecutor(options.jobs) as pool:  # processes, each of which can tell its children's time
        running = {pool.submit(play, part, options.limit, folder): part for part in waiting}
        for done in as_completed(running):
            yield running[done], done.result()


def _rank(outcome):
    return 0 if outcome is None else 1 if not outcome.good else 2 if not outcome.fresh else 3


def main(argv=None):
    options = arguments(argv)
    begun = time.perf_counter()
    folder = None if options.sample else options.keep or cache_dir() / "ptx"
    outcomes, missing = gathered(options, folder)
    bad = missing or not outcomes or not all(o.good and o.fresh for o in outcomes)
    silent = not any(o.totals for o in outcomes)  # then the backend was not the stand-in
    wrong = silent or not all(o.good for o in outcomes)
    end = (
        "FAILED" if wrong else "clean so far: not all of it has been run on these sources" if bad else "clean"
    )
    seconds = sum(o.seconds for o in outcomes)
    text = page(outcomes, missing)
    print(f"{text}\n\n{end}, {seconds:,.0f} s of processor time, {time.perf_counter() - begun:,.0f} s now")
    if options.page:
        state = f"{time.strftime('%Y-%m-%d %H:%M')}: {end}, {seconds:,.0f} s of processor time."
        options.page.write_text(f"{HEAD}\n\n{state}\n{text}\n", encoding="utf-8")
    return 1 if bad or silent else 0


if __name__ == "__main__":
    sys.exit(main())
