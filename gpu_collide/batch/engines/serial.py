"""Items one after the other, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_collide.batch.item import worked

if TYPE_CHECKING:
    from gpu_collide.batch.item import Came, Job
    from gpu_collide.batch.plan import Item, Source

__all__ = ["open"]


def open(job: Job, workers: int | None, threads: int | None, backend: str) -> Serial:
    return Serial(job)


class Serial:
    """The engine ``serial``."""

    slots = 1

    def __init__(self, job: Job) -> None:
        self._job = job
        self._ended: list[tuple[Item, Came]] = []

    def submit(self, item: Item, sources: list[Source]) -> None:
        self._ended.append((item, worked(self._job, item, sources)))

    def wait(self) -> list[tuple[Item, Came]]:
        ended, self._ended = self._ended, []
        return ended

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass
