"""Batch runs measured: ``python -m tests.acceptance.batch_report``; prints one page.

Ten thousand recordings of `examples/many_recordings.py`, by two processes, killed twice with all workers and
resumed, against an undisturbed run of one process; items against a plain loop; what planning, resuming and
the process that asks take; one worker against two.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import gpu_collide as gc
from gpu_collide.batch import run as batch_run
from tests.batch.runs import ENVIRONMENT, tree

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "many_recordings.py"
MADE = runpy.run_path(str(EXAMPLE))
GIVEN = {"meshes": gc.shapes.car(), "static": MADE["yard"]()}
TABLES = ("contacts", "pairs", "skipped", "encounters")


def run(inputs, out, **options):
    return gc.batch.collide(inputs, out, **GIVEN, backend="cpu", **options)


def spent():
    """Processor time of this process and of its children that have ended, seconds."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def peak_memory():
    """Most memory that this process has had, MB (of ru_maxrss a new process has its parent's)."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM"))


def loop(paths):
    """What a program without batch runs does: ask one after the other, and make the tables at the end."""
    import pyarrow
    import pyarrow.parquet as parquet

    rows = {name: [] for name in TABLES}
    for path in paths:
        found = gc.load_recording(path, **GIVEN).collide(backend="cpu")
        for name in rows:
            rows[name].append((found.encounters() if name == "encounters" else found).to_arrow(name))
    for parts in rows.values():
        sink = pyarrow.BufferOutputStream()
        parquet.write_table(pyarrow.concat_tables(parts), sink, write_page_checksum=True)


def items_and_loop(folder, count=300, turns=7):
    """Processor time of a loop and of the items of one process, by turns; and the ratio, median of each."""
    MADE["write_recordings"](folder / "in", count)
    paths = sorted((folder / "in").iterdir())
    loop(paths[:3])
    seconds = np.zeros((turns, 2))
    for k in range(turns):
        begun = time.process_time()
        loop(paths)
        between = time.process_time()
        run(folder / "in", folder / f"out{k}")
        seconds[k] = between - begun, time.process_time() - between
    return *np.median(seconds, axis=0), np.median(seconds[:, 1] / seconds[:, 0])


def asked(folder, count):
    """`ask` in a process of its own."""
    MADE["write_recordings"](folder / "in", count)
    command = [sys.executable, "-m", "tests.acceptance.batch_report", "--ask", str(folder)]
    said = subprocess.run(command, env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def ask(folder):
    """Print what a process takes that asks two workers: to plan, to resume, beside the items; its memory."""
    spans, drive, plan = {}, batch_run._drive, batch_run._plan

    def timed(name, call):
        def called(*args):
            begun = time.process_time()
            try:
                return call(*args)
            finally:
                spans[name] = time.process_time() - begun

        return called

    batch_run._drive, batch_run._plan = timed("own", drive), timed("planning", plan)
    options = {"poses_per_item": 9600}  # twenty recordings an item
    done = run(folder / "in", folder / "out", engine="processes", workers=2, **options)
    begun = time.process_time()
    run(folder / "in", folder / "out", resume=True, **options)
    spans["resuming"] = time.process_time() - begun
    print(json.dumps({**spans, "items": done.items, "peak": peak_memory()}))


def one_and_two(drives, folder, count=1600, turns=3):
    """Wall and processor seconds with one worker and with two, of a thread each, by turns; medians."""
    found, inputs = {1: [], 2: []}, sorted(drives.iterdir())[:count]
    for turn in range(turns):
        for workers, times in found.items():
            wall, used = time.perf_counter(), spent()
            out = folder / f"w{workers}-{turn}"
            run(inputs, out, engine="processes", workers=workers, threads_per_worker=1, poses_per_item=50_000)
            times.append((time.perf_counter() - wall, spent() - used))
    return {workers: np.median(times, axis=0) for workers, times in found.items()}


def killed(folder, count, times=2):
    """The example, killed so many times with all its workers, and resumed; how far it was at each kill."""
    command = [sys.executable, EXAMPLE, str(count), "--engine", "processes", "--workers", "2"]
    plan, marks, said = folder / "tables" / "plan.json", folder / "tables" / "done", []
    for k in range(times + 1):
        process = subprocess.Popen(
            [*command, "--folder", folder], env=ENVIRONMENT, stdout=subprocess.DEVNULL, start_new_session=True
        )
        while k < times and process.poll() is None:
            time.sleep(0.05)
            items = len(json.loads(plan.read_text())["items"]) if plan.exists() else count
            done = len(list(marks.glob("*.json"))) if marks.exists() else 0
            if done >= items * (k + 1) // (times + 1):
                os.killpg(process.pid, signal.SIGKILL)
                said.append(f"{done} of {items}")
                break
        code = process.wait()
        assert code == (0 if k == times else -signal.SIGKILL), code
    return said


def large(folder, count):
    """Say how so many recordings went that were killed, and whether all files are those of a quiet run."""
    MADE["write_recordings"](folder / "drives", count)
    begun = time.perf_counter()
    marks = killed(folder, count)
    seconds = time.perf_counter() - begun
    whole = run(folder / "drives", folder / "whole")
    same = tree(folder / "tables") == tree(folder / "whole")
    size = sum(path.stat().st_size for path in (folder / "tables").rglob("*.parquet"))
    print(f"\n{whole}; {whole.items} items, {size / 1e6:.1f} MB of tables.")
    print(f"Two processes, killed when {' and '.join(marks)} items were done, then resumed: {seconds:.0f} s.")
    print(f"One process, undisturbed: {whole.seconds:.0f} s.")
    print(f"Every file the same: {same}; verify: {gc.batch.verify(folder / 'tables')}", flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=10_000, help="of the large run (default: 10,000)")
    parser.add_argument("--folder", type=Path, default=Path("build/batch"), help="for all files")
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        return ask(options.ask)
    folder = options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it began\n")
    same = large(folder / "large", options.recordings)
    looped, ran, ratio = items_and_loop(folder / "loop")
    print("\n300 recordings, processor time: ", end="")
    print(f"a loop {looped:.2f} s, one process {ran:.2f} s, {ratio:.2f} times\n")
    print("| recordings | items | planning, s | resuming, s | own time an item, ms | peak memory, MB |")
    print("|---:|---:|---:|---:|---:|---:|", flush=True)
    for count in (400, 4000):
        said = asked(folder / f"ask{count}", count)
        own = said["own"] / said["items"] * 1e3
        numbers = f"{said['planning']:.3f} | {said['resuming']:.3f} | {own:.2f} | {said['peak']:.0f}"
        print(f"| {count:,} | {said['items']} | {numbers} |", flush=True)
    times = one_and_two(folder / "large" / "drives", folder)
    print(f"\n1,600 recordings, load {os.getloadavg()[0]:.1f}:")
    for workers, (wall, used) in times.items():
        print(f"{workers} workers: {wall:.1f} s, {used:.1f} of processor time")
    print(f"{times[1][0] / times[2][0]:.2f} times as fast")
    return not same


if __name__ == "__main__":
    sys.exit(main())
