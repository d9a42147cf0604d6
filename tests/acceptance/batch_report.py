"""Batch runs measured: ``python -m tests.acceptance.batch_report``; prints one page.

Ten thousand recordings of `examples/many_recordings.py`, by processes, killed twice with all their workers and resumed, against an
undisturbed run of one process; items against a plain loop; what planning, resuming and the process that asks take.
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
from tests.batch.runs import ENVIRONMENT, tree

ROOT = Path(__file__).parents[2]
EXAMPLE = runpy.run_path(str(ROOT / "examples" / "many_recordings.py"))
GIVEN = {"meshes": gc.shapes.car(), "static": EXAMPLE["yard"]()}


def run(inputs, out, **options):
    return gc.batch.collide(inputs, out, **GIVEN, backend="cpu", **options)


def spent():
    """Processor time of this process and of its children that have ended, seconds."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def loop(paths):
    """What a program without batch runs does: each recording asked, all rows kept, tables written at the end."""
    import pyarrow
    import pyarrow.parquet as parquet

    rows = {name: [] for name in ("contacts", "pairs", "skipped", "encounters")}
    for path in paths:
        found = gc.load_recording(path, **GIVEN).collide(backend="cpu")
        for name in rows:
            rows[name].append((found.encounters() if name == "encounters" else found).to_arrow(name))
    for parts in rows.values():
        parquet.write_table(
            pyarrow.concat_tables(parts), pyarrow.BufferOutputStream(), write_page_checksum=True
        )


def items_and_loop(folder, count, turns=5):
    """Processor time of a run of one process and of a loop, by turns: median of each."""
    EXAMPLE["write_recordings"](folder / "in", count)
    paths = sorted((folder / "in").iterdir())
    loop(paths[:3])
    seconds = np.zeros((turns, 2))
    for k in range(turns):
        begun = time.process_time()
        loop(paths)
        between = time.process_time()
        run(folder / "in", folder / f"out{k}", poses_per_item=50_000)
        seconds[k] = between - begun, time.process_time() - between
    return np.median(seconds, axis=0), np.median(seconds[:, 1] / seconds[:, 0])


def asked(folder, count):
    """Of a process that asks: peak memory (MB), seconds to plan and to resume, its own seconds an item."""
    EXAMPLE["write_recordings"](folder / "in", count)
    program = (
        "import json, resource, sys, time\n"
        "from tests.acceptance import batch_report as report\n"
        "from gpu_collide.batch import run\n"
        "if __name__ == '__main__':\n"
        "    at, inner = {}, run._drive\n"
        "    def drive(*args):\n"
        "        at['drive'], at['own'] = time.process_time(), time.process_time()\n"
        "        inner(*args)\n"
        "        at['own'] = time.process_time() - at['own']\n"
        "    run._drive = drive\n"
        "    begun = time.process_time()\n"
        "    done = report.run(sys.argv[1] + '/in', sys.argv[1] + '/out', engine='processes', workers=2, poses_per_item=9600)\n"
        "    again = time.process_time()\n"
        "    report.run(sys.argv[1] + '/in', sys.argv[1] + '/out', resume=True)\n"
        "    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3\n"
        "    print(json.dumps([peak, at['drive'] - begun, time.process_time() - again, at['own'], done.items]))\n"
    ).replace("resume=True)", "resume=True, poses_per_item=9600)")
    (folder / "ask.py").write_text(program)
    said = subprocess.run(
        [sys.executable, folder / "ask.py", folder],
        env=ENVIRONMENT,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(said.stdout)


def speed(inputs, folder):
    """Wall and processor seconds with one worker and with two, each of one thread, by turns."""
    found = {}
    for turn in range(3):
        for workers in (1, 2):
            wall, used = time.perf_counter(), spent()
            run(
                inputs,
                folder / f"w{workers}-{turn}",
                engine="processes",
                workers=workers,
                threads_per_worker=1,
            )
            found.setdefault(workers, []).append((time.perf_counter() - wall, spent() - used))
    return {workers: np.median(times, axis=0) for workers, times in found.items()}


def killed(folder, count, times=2):
    """A run of the example that is killed so many times, with all its workers, and resumed; its marks at each kill."""
    command = [
        sys.executable,
        str(ROOT / "examples" / "many_recordings.py"),
        str(count),
        "--engine",
        "processes",
    ]
    done, marks = folder / "tables" / "done", []
    for k in range(times + 1):
        ask = subprocess.Popen(
            [*command, "--workers", "2", "--folder", str(folder)], env=ENVIRONMENT, stdout=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        items = None
        while k < times and ask.poll() is None:
            time.sleep(0.02)
            if items is None and (folder / "tables" / "plan.json").exists():
                items = len(json.loads((folder / "tables" / "plan.json").read_text())["items"])
            there = len(list(done.glob("*.json"))) if done.exists() else 0
            if items and there >= items * (k + 1) // (times + 1):
                os.killpg(ask.pid, signal.SIGKILL)
                marks.append(f"{there} of {items}")
        code = ask.wait()
        assert code == (0 if k == times else -signal.SIGKILL), code
    return marks


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/gpu-collide-batch"))
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it began; seconds\n",
        flush=True,
    )
    (looped, ran), ratio = items_and_loop(options.folder / "loop", 300)
    print(
        f"300 recordings: a loop {looped:.2f} of processor time, the items of one process {ran:.2f}: {ratio:.2f} times",
        flush=True,
    )
    print(
        "\n| recordings | items | planning | resuming | own time an item | peak memory, MB |\n|---:|---:|---:|---:|---:|---:|"
    )
    for count in (400, 4000):
        peak, planning, resuming, own, items = asked(options.folder / f"ask{count}", count)
        print(
            f"| {count:,} | {items} | {planning:.3f} | {resuming:.3f} | {own / items * 1e3:.2f} ms | {peak:.0f} |",
            flush=True,
        )
    times = speed(options.folder / "ask4000" / "in", options.folder)
    for workers, (wall, used) in times.items():
        print(f"\n4,000 recordings, {workers} workers: {wall:.1f} s, {used:.1f} of processor time", end="")
    print(f": {times[1][0] / times[2][0]:.2f} times as fast", flush=True)
    folder = options.folder / "large"
    begun = time.perf_counter()
    EXAMPLE["write_recordings"](folder / "drives", options.recordings)
    wrote, used = time.perf_counter(), spent()
    marks = killed(folder, options.recordings)
    ended, used = time.perf_counter(), spent() - used
    whole = run(folder / "drives", folder / "whole")
    print(
        f"\n{options.recordings:,} recordings written in {wrote - begun:.0f} s; two workers, killed at {' and '.join(marks)} marks: "
        f"{ended - wrote:.0f} s ({used:.0f} of processor time);\nundisturbed, one process: {whole.seconds:.0f} s. {whole}."
    )
    same = tree(folder / "tables") == tree(folder / "whole")
    size = sum(path.stat().st_size for path in (folder / "tables").rglob("*.parquet"))
    print(
        f"{whole.items} items, {size / 1e6:.1f} MB of tables. Every file the same: {same}; verify: {gc.batch.verify(folder / 'tables')}"
    )
    return not same


if __name__ == "__main__":
    sys.exit(main())
