"""Engines: who runs the items of a batch. Each takes items and says what came of them, no more."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gpu_collide.batch.item import Came, Job
    from gpu_collide.batch.plan import Item, Source

__all__ = ["ENGINES", "Engine", "WorkerDied", "open_engine"]

ENGINES = ("serial", "processes", "ray")


class WorkerDied(RuntimeError):
    """The process that worked on an item ended before it came back."""


class Engine(Protocol):
    """What `gpu_collide.batch` asks of an engine.

    Attributes
    ----------
    slots : int
        How many items it takes at a time.
    """

    slots: int

    def submit(self, item: Item, sources: list[Source]) -> None:
        """Begin an item."""

    def wait(self) -> list[tuple[Item, Came]]:
        """Items that have ended since the last call, at least one, and what came of each, or `WorkerDied`."""

    def stop(self) -> None:
        """Leave items that have begun at once; what they have written has no mark."""

    def close(self) -> None:
        """Let items that have begun end, and give back all that is held."""


def open_engine(name: str, job: Job, workers: int | None, threads: int | None, backend: str) -> Engine:
    """The engine of that name, ready for items of `job`."""
    module = importlib.import_module(f"gpu_collide.batch.engines.{name}")
    return module.open(job, workers, threads, backend)
