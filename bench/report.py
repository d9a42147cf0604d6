"""Lines on the screen and small CSV files per device."""

from __future__ import annotations

import csv
import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

import numpy as np

import gpu_collide as gc
from bench.settings import Settings

ROOT = Path(__file__).resolve().parent.parent


class Report:
    """Collects the rows of one case, prints each when it is ready, and writes them at the end.

    Files: ``results/<device>/<case>.csv`` and, where stages were timed, ``<case>_stages.csv``. Lines that
    begin with ``#`` say what the numbers belong to: device, versions, commit, settings.
    """

    def __init__(self, case: str, settings: Settings):
        self.case, self.settings = case, settings
        self.device = None
        self.rows: list[dict] = []
        self.stage_rows: list[dict] = []
        self._columns: list[str] = []
        print(f"\n== {case} ==")

    def set_device(self, contacts) -> None:
        """Take backend and device from a result."""
        if self.device is None:
            self.device = describe_device(contacts.info)
            print(f"device: {self.device}   commit: {commit()}   seed: {self.settings.seed}")

    def add(self, hide: tuple[str, ...] = (), **row) -> None:
        """Keep one row and print it; columns named in `hide` go to the file alone.

        A new header line appears when the columns change.
        """
        shown = [name for name in row if name not in hide]
        if shown != self._columns:
            self._columns = shown
            print("  ".join(f"{name:<{_width(name)}}" for name in shown))
        self.rows.append(row)
        print("  ".join(_cell(name, row[name]) for name in shown), flush=True)

    def add_stages(self, label: str, timing, n_pairs: int) -> None:
        """Print where the time of the fastest run went, stage by stage."""
        total = timing.best
        named = {k: v for k, v in timing.stages.items() if k != "total"}
        named["host, between stages"] = max(total - sum(named.values()), 0.0)
        for stage, seconds in named.items():
            self.stage_rows.append(
                {
                    "run": label,
                    "stage": stage,
                    "us_per_pair": 1e6 * seconds / n_pairs,
                    "share": seconds / total,
                }
            )
            print(f"    {stage:<28}{1e6 * seconds / n_pairs:10.3f} us a pair  {100 * seconds / total:5.1f} %")

    def reset_header(self) -> None:
        """Print the header line again before the next row."""
        self._columns = []

    def note(self, text: str) -> None:
        print(text, flush=True)

    def write(self) -> list[Path]:
        """Write the CSV files, if results are kept."""
        if self.settings.results is None:
            return []
        folder = self.settings.results / slug(self.device or "unknown")
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name, rows in ((self.case, self.rows), (f"{self.case}_stages", self.stage_rows)):
            if rows:
                written.append(folder / f"{name}.csv")
                self._write(written[-1], rows)
        print("written: " + ", ".join(str(path) for path in written))
        return written

    def _write(self, path, rows):
        columns = list(dict.fromkeys(name for row in rows for name in row))
        with open(path, "w", newline="", encoding="utf-8") as file:
            for key, value in self._about().items():
                file.write(f"# {key}: {value}\n")
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows({k: _plain(v) for k, v in row.items()} for row in rows)

    def _about(self):
        s = self.settings
        return {
            "device": self.device,
            "cpus": usable_cpus(),
            "commit": commit(),
            "gpu_collide": getattr(gc, "__version__", "unknown"),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "date": datetime.date.today().isoformat(),
            "seed": s.seed,
            "precision": s.precision,
            "min_properness": s.min_properness,
            "repeat": s.repeat,
        }


def describe_device(info: dict) -> str:
    """One line: backend, device, and the processor's own name where the device is the processor."""
    backend, device = str(info.get("backend", "?")), str(info.get("device", "?"))
    name = device if backend in ("cuda", "opencl") else f"{_cpu_name()} ({usable_cpus()} cores)"
    return f"{backend}: {name}"


def usable_cpus() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str:
    """Short hash of the checked out commit, with ``+`` if tracked files differ from it."""
    try:
        run = ["git", "-C", str(ROOT)]
        found = subprocess.run([*run, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
        changed = subprocess.run([*run, "diff", "--quiet", "HEAD"], capture_output=True)
    except OSError:
        return "unknown"
    return found.stdout.strip() + ("+" if changed.returncode else "") if found.returncode == 0 else "unknown"


def slug(text: str) -> str:
    """A folder name from a device's description."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _plain(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def _width(name):
    return max(len(name), 9)


def _cell(name, value):
    width = _width(name)
    if isinstance(value, float):
        return f"{value:<{width}.4g}" if abs(value) < 1e4 else f"{value:<{width}.0f}"
    return f"{value:<{width}}"
