"""The backend `cuda` on translated PTX: `python -m tests.ptx`, or a sample of it with --sample.

For each group size the stored results are computed anew and compared bit by bit; then the tests that run on
every backend run on `cuda`. Races, divergent barriers, reads of what was never written and writes outside a
buffer fail the test in which they happen. It ends with a page of what was run, and with 1 if anything failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from gpu_collide.backends import declarations, sources
from tests.ptx import install
from tests.ptx.device import ALLOWED

ROOT = Path(__file__).resolve().parents[2]
SIZES = (32, 64, 256)
SAMPLE = {  # by group size: tests that run with it; each stage is in one of them
    32: ["tests/screw/test_s04_sort.py", "tests/bvh/test_b02_keys.py", "tests/bvh/test_b03_tree.py"],
    64: [
        "tests/backends/test_verbs.py",
        "tests/screw/test_s01_screw.py",
        "tests/filters/test_f01_spheres.py",
    ],
    256: [
        "tests/bvh/test_b06_gather.py",
        "tests/dialect/test_every_macro.py",
        "tests/filters/test_f02_boxes.py",
    ],
}


def environment(size, totals):
    """Environment of a process whose backend `cuda` is the stand-in, with so many work-items a group."""
    return {
        **os.environ,
        install.VARIABLE: f"ptx:{size}",
        install.REPORT: str(totals),
        "GPU_COLLIDE_TEST_BACKENDS": "cuda",
        "GPU_COLLIDE_REQUIRE_BACKENDS": "cuda",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(p for p in sys.path if p)]),
    }


def runs(options):
    """Yield group size, what it is, command and further environment."""
    for size in options.size or SIZES:
        bits = [sys.executable, "-m", "tests.ptx.stored_bits"]
        yield size, "stored bits", bits, {"GPU_COLLIDE_CHECK": "0"}
        which = SAMPLE.get(size, []) if options.sample else ["tests"]
        if options.tests is not None:
            which = options.tests
        if which:
            pytest = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "--tb=line",
                "-k",
                "cuda",
            ]
            yield size, "tests", [*pytest, *options.workers, *which], {}


def play(command, environment):
    """Run a command; its exit code, its processor seconds and the lines that matter."""
    before = os.times()
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    after = os.times()
    lines = done.stdout.strip().splitlines()
    if done.returncode:
        print("\n".join(lines[-60:]) + done.stderr[-4000:], flush=True)
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return done.returncode, seconds, lines[-1] if lines else done.stderr.strip()[-100:]


def page(totals, results):
    """What was run, as text."""
    kernels = sorted({kernel for kernel, _ in totals})
    columns = ("launches", "work-items", "barriers", "reads", "writes", "allowed")
    lines = ["", f"{'kernel':<16}" + "".join(f"{c:>16}" for c in columns)]
    for kernel in kernels:
        lines.append(f"{kernel:<16}" + "".join(f"{totals[kernel, c]:>16,}" for c in columns))
    lines.append(f"{'all':<16}" + "".join(f"{sum(totals[k, c] for k in kernels):>16,}" for c in columns))
    silent = sorted(set(declarations.parse(sources.source())) - set(kernels))
    lines += ["", f"never launched: {', '.join(silent) or 'none'}"]
    lines += ["", "group  what              ended          processor  result"]
    for size, what, code, seconds, last in results:
        lines.append(
            f"{size:>5}  {what:<16}  {'well' if not code else f'with {code}':<12}  {seconds:>8.0f} s  {last}"
        )
    lines += ["", "allowed: " + "; ".join(f"{kind}s in {file}: {why}" for kind, file, _, why in ALLOWED)]
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.ptx", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sample", action="store_true", help="what CI runs: five minutes of one core at most"
    )
    parser.add_argument("--size", type=int, action="append", help="group size; default 32, 64 and 256")
    parser.add_argument(
        "--tests", nargs="*", help="tests to run instead, as pytest takes them; none: stored bits only"
    )
    parser.add_argument("--workers", default="", help="processes for the tests")
    options = parser.parse_args(argv)
    options.workers = ["-n", options.workers] if options.workers else []
    begun, results, totals = time.perf_counter(), [], Counter()
    with tempfile.TemporaryDirectory() as folder:
        for size, what, command, more in runs(options):
            code, seconds, last = play(command, environment(size, folder) | more)
            results.append((size, what, code, seconds, last))
            print(f"{size}: {what}: {last}", flush=True)
        for path in Path(folder).glob("*.json"):
            totals.update({(kernel, what): n for kernel, what, n in json.loads(path.read_text())})
    print(page(totals, results))
    bad = [r for r in results if r[2]] or not totals
    print(f"\n{'FAILED' if bad else 'clean'}, {sum(r[3] for r in results):.0f} s of processor time, "
          f"{time.perf_counter() - begun:.0f} s in all")  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
