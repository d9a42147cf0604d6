"""The whole matrix: `python -m tests.acceptance.matrix_report` runs it and writes docs/validation.md.

The oracle's answers are computed once (all cores, about half an hour on two) and kept in
$GPU_COLLIDE_ORACLE_CACHE; the runs of the library use the library's own threads.
"""

import argparse
import multiprocessing
import platform
import sys
import time
from pathlib import Path

from tests.acceptance import matrix
from tests.oracle import scenes

ROOT = Path(__file__).resolve().parents[2]


def _answer(job):
    family, n = job
    begin = time.perf_counter()
    answer = matrix.expected(family, n)
    return family, len(answer.atoms), time.perf_counter() - begin


def answers(sizes, jobs):
    """Fill the oracle's cache, the slowest families first."""
    cost = {"random_tori": 100, "random_small_tori": 6, "planar_driving": 5}
    todo = sorted(sizes.items(), key=lambda item: -item[1] * cost.get(item[0], 1))
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for family, atoms, seconds in pool.imap_unordered(_answer, todo):
            print(f"oracle {family}: {atoms} atoms, {seconds:.0f} s", flush=True)


def table(rows):
    head = "family pairs required groups found missed invented wrong time_error runs same_bits".split()
    lines = [
        "| " + " | ".join(h.replace("_", " ") for h in head) + " |",
        "|" + "---|" + "---:|" * (len(head) - 1),
    ]
    for name, r, runs, differing in rows:
        cells = (
            name, r.pairs, r.required, r.groups, r.found, len(r.missed) + len(r.missed_groups),
            len(r.invented),
            len(r.wrong) + len(r.structure), f"{r.worst.get('time', 0.0):.1e}", runs, runs - len(differing),
        )  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


TEXT = """# Validation

Written by `python -m tests.acceptance.matrix_report`: contacts of `gpu_collide.collide` in exact mode,
compared with a brute force over all feature pairs that shares no code with the library (`tests/oracle`).

- *required*: contacts that are clear of every border of decision by more than rounding; each has to be found
  with its kind, features, time, place, normal and properness.
- *groups*: coincidences (vertex on edge, parallel edges, touching at the ends of the step) of which at least
  one contact has to be there.
- *invented*: found contacts that the oracle does not know even within its tolerance band.
- *time error*: the largest |dt| x |normal speed| / size of a required contact (sliding ones: times the
speed).
- *same bits*: runs (backend x precision x resolution, the path without rows, near faces only, without filters
  and with the dividing plane) whose every field equals the first's.
"""


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.acceptance.matrix_report", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--family", action="append", choices=sorted(scenes.FAMILIES), help="only these (may be repeated)")
    add("--scale", type=float, default=1.0, help="share of the pairs of the whole matrix")
    add("--sample", action="store_true", help="the sizes of the everyday suite")
    add("--backend", action="append", help="default: cpu and opencl")
    add("--reference", type=int, default=0, metavar="N", help="also run N pairs a family on reference")
    add("--resolution", action="append", type=int, help="default: 1 2 3 6 12 24")
    add("--jobs", type=int, default=multiprocessing.cpu_count(), help="processes for the oracle")
    add("--oracle-only", action="store_true", help="fill the cache and stop")
    add("-o", "--output", type=Path, default=ROOT / "docs" / "validation.md")
    options = parser.parse_args(argv)

    sizes = dict(matrix.SAMPLE if options.sample else matrix.FULL)
    sizes = {k: max(1, round(n * options.scale)) for k, n in sizes.items() if k in (options.family or sizes)}
    answers(sizes, options.jobs)
    if options.oracle_only:
        return 0

    backends = options.backend or ["cpu", "opencl"]
    resolutions = options.resolution or matrix.RESOLUTIONS
    rows, bad, notes = [], 0, []
    begin = time.perf_counter()
    for name, n in sizes.items():
        report, runs, differing = matrix.run_family(name, n, backends, resolutions=resolutions)
        rows.append((name, report, runs, differing))
        if options.reference:
            slow = matrix.run_family(name, min(n, options.reference), ["reference"], ["double"], [2])
            rows.append((f"{name} (reference)", *slow))
        for label, r, _, differ in rows[-2 if options.reference else -1 :]:
            bad += (not r.ok) + len(differ)
            if not r.ok or differ:
                notes += [f"## {label}", "", "```", str(r), *(f"{s}: {f}" for s, f in differ[:8]), "```", ""]
            print(f"{label}: {r}\n  {len(differ)} runs with other bits", flush=True)

    import gpu_collide as gc

    lines = [TEXT, *table(rows), ""]
    pairs, found = sum(r.pairs for _, r, _, _ in rows), sum(r.found for _, r, _, _ in rows)
    took = time.perf_counter() - begin
    lines.append(
        f"{pairs} pairs, {found} contacts, {sum(x[2] for x in rows)} runs in {took:.0f} s; "
        f"backends {', '.join(backends)}; resolutions {', '.join(map(str, resolutions))}; Python "
        f"{platform.python_version()} on {platform.machine()}. Devices:"
    )
    lines += ["", "```", str(gc.devices()), "```", "", *notes]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("\n".join(lines).rstrip() + "\n")
    print("\n".join(table(rows)), f"\nwritten: {options.output}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
