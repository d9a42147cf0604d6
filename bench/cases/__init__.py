"""One case, one file: each has ``NAME``, ``HELP`` and ``run(settings)``."""

from __future__ import annotations

import importlib

#: In the order of ``python -m bench all``.
NAMES = (
    "cubes", "cars", "tori", "fcl", "sampled", "filters", "worlds", "rows", "race", "primitives", "moves",
    "batches", "sweeps", "slides", "dense", "calls", "motions", "casts", "clearance", "arms", "traffic",
    "round", "counted",
)  # fmt: skip


def load(name: str):
    """The module of a case; imported when asked for, since some need extras."""
    return importlib.import_module(f"bench.cases.{name}")
