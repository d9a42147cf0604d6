"""`python -m tests.fuzz --minutes 60 --seed 1`: seeds one after the other in a process of their own.

`python -m tests.fuzz --only 4711` runs one seed again, in this process. Ends with 1 if there was a finding.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter

WALL = 120.0  # seconds without a word from the worker, however busy the machine is
WARM = "building the kernels"
PATIENCE = 40.0  # times as long may the compilers take, which come first
PROCESSOR = 20.0  # seconds of the processor since its last word: two threads, 10 s each


def worker(first, opencl):
    """Run seeds from `first` on until killed; prints each call before it begins, and its outcome."""
    from tests.fuzz.calls import run_seed, warm_up

    print(json.dumps({"seed": first, "call": WARM}), flush=True)
    warm_up(opencl)
    seed = first
    while True:

        def announce(what, seed=seed):
            print(json.dumps({"seed": seed, "call": what}), flush=True)

        findings, contacts = run_seed(seed, announce, opencl)
        print(json.dumps({"seed": seed, "findings": findings, "contacts": contacts}), flush=True)
        seed += 1


def processor_time(pid):
    """Seconds that a process has computed; None where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


class Watch:
    """A worker and what it says."""

    def __init__(self, first, opencl):
        command = [sys.executable, "-m", "tests.fuzz", "--worker", "--seed", str(first)]
        command += ["--opencl"] * opencl
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.errors = queue.Queue(), []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next(self, patience=1.0):
        """The next message; None if the process ended, "hang" if it says nothing for too long."""
        begin, computed = time.monotonic(), processor_time(self.process.pid)
        while True:
            try:
                line = self.lines.get(timeout=0.5)
            except queue.Empty:
                now = processor_time(self.process.pid)
                busy = now is not None and computed is not None and now - computed > PROCESSOR * patience
                if busy or time.monotonic() - begin > WALL * patience:
                    return "hang"
                continue
            if line is None:
                return None
            try:
                return json.loads(line)
            except ValueError:  # something else printed
                continue

    def stop(self):
        self.process.kill()
        self.process.wait()


def fuzz(first, seconds, count, opencl, show):
    """Run seeds for so many seconds, or so many of them. Returns counts and findings."""
    begin, counts, findings = time.monotonic(), Counter(), []
    seed, watch = first, None

    def print_finding(seed, what):
        findings.append((seed, what))
        show(f"seed {seed}: {what}")

    while time.monotonic() - begin < seconds and counts["seeds"] < count:
        if watch is None:
            watch, call = Watch(seed, opencl), WARM
        message = watch.next(PATIENCE if call == WARM else 1.0)
        if isinstance(message, dict):
            seed = message["seed"]
            if "call" in message:
                call = message["call"]
                counts["calls"] += call not in (WARM, "making the scene")
                continue
            for what in message["findings"]:
                print_finding(seed, what)
            counts["seeds"] += 1
            counts["contacts"] += message["contacts"]
            counts["with contacts"] += message["contacts"] > 0
            seed += 1
            continue
        if message == "hang":
            print_finding(seed, f"HANG in call {call!r}")
        else:
            code = watch.process.wait()
            print_finding(seed, f"CRASH in call {call!r}, exit status {code}: {''.join(watch.errors)[-300:]}")
        watch.stop()
        watch, seed = None, seed + 1
        counts["seeds"] += 1
    if watch is not None:
        watch.stop()
    return counts, findings


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--minutes", type=float, default=60.0)
    add("--seed", type=int, default=1, help="the first; the others follow one by one")
    add("--count", type=int, default=sys.maxsize, help="at most so many seeds")
    add("--only", type=int, help="run this seed alone, in this process, and show what it finds")
    add("--opencl", action="store_true", help="compare with the opencl backend too")
    add("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.worker:
        worker(options.seed, options.opencl)
    if options.only is not None:
        from tests.fuzz.calls import run_seed

        findings, contacts = run_seed(
            options.only, lambda what: print("  " + what, flush=True), options.opencl
        )
        print("\n".join(findings) or "nothing found", f"\n{contacts} contacts")
        return 1 if findings else 0
    counts, findings = fuzz(
        options.seed,
        60 * options.minutes,
        options.count,
        options.opencl,
        lambda text: print(text, flush=True),
    )
    last = options.seed + counts["seeds"] - 1
    print(f"seeds {options.seed} to {last}: {dict(counts)}, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
