"""What one warm call costs in Python: files, calls, hops between files and folders, and processor time.

One pair of boxes, one mover, one character, one ray, each in a world of one box. A hop is a call or a return
from one file of the package to another (or from one folder to another); what NumPy does inside is not
counted. Calls are timed by turns, by the processor time of this process, and the median of the rounds is
told.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gpu_collide as gc
from bench.report import Report
from bench.settings import Settings

NAME = "calls"
HELP = "one warm call of each query: files, Python calls, hops between files, microseconds"

PACKAGE = str(Path(gc.__file__).parent) + "/"
WARM, ROUNDS, EACH = 20, 30, 40


def run(settings: Settings) -> None:
    report = Report(NAME, settings)
    calls = queries(settings.backend, settings.precision)
    report.set_device(calls["collide, pairs"]())
    for call in calls.values():
        for _ in range(WARM):
            call()
    counts = {name: counted(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(3 if settings.quick else ROUNDS):
        for name, call in calls.items():
            begun = time.process_time()
            for _ in range(EACH):
                call()
            times[name].append(1e6 * (time.process_time() - begun) / EACH)
    for name in calls:
        report.add(**counts[name], us=statistics.median(times[name]), us_least=min(times[name]), call=name)
    report.write()


def queries(backend: str, precision: str) -> dict[str, Callable[[], object]]:
    """The calls, by name."""
    box, still = gc.shapes.box(), [[1.0, 0.0, 0.0, 0.0]] * 2
    asked = {"backend": backend, "precision": precision}
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], still)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0.1, 0.2]], still)
    bodies, pairs = gc.Bodies(box, None, start, end), np.array([[0, 1]])
    moving = gc.Scene(box, [0, 0], start, end, **asked)
    world = gc.Scene(box, None, gc.Poses.from_quat_wxyz([[0, 0, 0]], still[:1]), **asked)
    alone = gc.Poses.from_quat_wxyz([[-3, 0.1, 0.2]], still[:1])
    mover = gc.Bodies(box, None, alone, alone)
    to, radii, place = np.array([[3.0, 0.0, 0.0]]), np.array([[0.3, 0.3, 0.3]]), np.array([[-3.0, 0.1, 0.2]])

    def step(*given: np.ndarray) -> gc.Contacts:
        moving.update(start, end)
        return moving.collide(*given)

    return {
        "collide, pairs": lambda: gc.collide(bodies, pairs, **asked),
        "collide": lambda: gc.collide(bodies, **asked),
        "find_pairs": lambda: gc.find_pairs(bodies, **asked),
        "Scene update, pairs": lambda: step(pairs),
        "Scene update, all": step,
        "pluecker.translate": lambda: gc.pluecker.translate(mover, world, to),
        "sweep.slide": lambda: gc.sweep.slide(world, place, radii, to),
        "sweep.rays": lambda: gc.sweep.rays(place, to, world),
    }


def counted(call: Callable[[], object]) -> dict[str, int]:
    """Files of the package that a call visits, Python calls in it, hops between its files and folders."""
    files: set[str] = set()
    n = {"calls": 0, "hops": 0, "folder_hops": 0}

    def profile(frame, event, _):
        if event not in ("call", "return"):
            return
        here = frame.f_code.co_filename
        if not here.startswith(PACKAGE):
            return
        files.add(here)
        n["calls"] += event == "call"
        before = frame.f_back and frame.f_back.f_code.co_filename
        if before and before.startswith(PACKAGE) and before != here:
            n["hops"] += 1
            n["folder_hops"] += before.rpartition("/")[0] != here.rpartition("/")[0]

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {"files": len(files), **n}
