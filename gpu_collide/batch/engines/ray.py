"""Items on a Ray cluster: tasks on processors, and where there are GPUs an actor on each.

Meshes and options are put into the object store once, travel to each node once, and are read once by each
process: a task has only the reference, in a list, since Ray would unpickle a plain one for every task.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gpu_collide.batch.engines import WorkerDied
from gpu_collide.batch.item import Share, worked
from gpu_collide.errors import MissingExtraError

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide.batch.item import Came, Job
    from gpu_collide.batch.plan import Item, Source

__all__ = ["open"]

_kept: tuple[str, Job, Share] | None = None  # of a worker: the job that it has read, by its reference


def _run(boxed: list[Any], threads: int, item: Item, sources: list[Source]) -> Came:
    global _kept
    if _kept is None or _kept[0] != boxed[0].hex():
        import ray

        workers = 1 if ray.get_gpu_ids() else -(-(os.cpu_count() or 1) // threads)
        _kept = boxed[0].hex(), ray.get(boxed[0]), Share(threads, workers)
    return worked(_kept[1], item, sources, _kept[2])


class _OnGpu:
    """An actor: it keeps its GPU, and what is built there, from item to item."""

    def run(self, *task: Any) -> Came:
        return _run(*task)


def open(job: Job, workers: int | None, threads: int | None, backend: str) -> OnRay:
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("engine='ray'", "ray", "ray") from error
    ours = not ray.is_initialized()
    if ours:
        ray.init(log_to_driver=False, include_dashboard=False)
    return OnRay(ray, job, workers, threads or 1, backend, ours)


class OnRay:
    """The engine ``ray``."""

    def __init__(
        self, ray: Any, job: Job, workers: int | None, threads: int, backend: str, ours: bool
    ) -> None:
        there = ray.cluster_resources()
        gpus = int(there.get("GPU", 0)) if backend in ("auto", "cuda") else 0
        self.slots = workers or gpus or max(1, int(there.get("CPU", 1)) // threads)
        self._ray, self._ours, self._threads = ray, ours, threads
        self._boxed = [ray.put(job)]
        needs = {"num_cpus": threads, "max_retries": 0}
        self._task = ray.remote(**needs)(_run)
        self._actor = ray.remote(num_gpus=1, num_cpus=threads)(_OnGpu) if gpus else None
        self._idle: list[Any] = []
        self._running: dict[Any, tuple[Any, Item]] = {}

    def submit(self, item: Item, sources: list[Source]) -> None:
        task = self._boxed, self._threads, item, sources
        actor = None
        if self._actor is not None:
            actor = self._idle.pop() if self._idle else self._actor.remote()
        begin = self._task.remote if actor is None else actor.run.remote
        self._running[begin(*task)] = actor, item

    def wait(self) -> list[tuple[Item, Came]]:
        ready, _ = self._ray.wait(list(self._running))
        ended: list[tuple[Item, Came]] = []
        for reference in ready:
            actor, item = self._running.pop(reference)
            try:
                ended.append((item, self._ray.get(reference)))
            except self._ray.exceptions.RayTaskError:
                raise
            except self._ray.exceptions.RayError as error:  # its process, its node or its memory are gone
                ended.append((item, WorkerDied(type(error).__name__)))
                continue
            if actor is not None:
                self._idle.append(actor)
        return ended

    def stop(self) -> None:
        for reference, (actor, _) in self._running.items():
            if actor is None:
                self._ray.cancel(reference, force=True)
            else:
                self._ray.kill(actor)

    def close(self) -> None:
        if self._running:
            self._ray.wait(list(self._running), num_returns=len(self._running))
        self._boxed.clear()
        if self._ours:
            self._ray.shutdown()
