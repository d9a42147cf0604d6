"""Items in processes of this machine; where there are GPUs, each process has one.

Every process is a pool of its own, so that it is known which item a process took with it when it ended.
"""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import importlib.util
import multiprocessing
import os
import signal
import threading
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from gpu_collide.backends.host import thread_count
from gpu_collide.backends.nvidia import gpus
from gpu_collide.batch.engines import WorkerDied
from gpu_collide.batch.item import Share, worked

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from gpu_collide.batch.item import Came, Job
    from gpu_collide.batch.plan import Item, Source

__all__ = ["open", "visible_gpus"]

_told: tuple[Job, Share]  # a worker, once


def _begin(job: Job, share: Share, line: Connection) -> None:
    global _told
    _told = job, share
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asked
    threading.Thread(target=_leave_at_end_of, args=(line,), daemon=True).start()


def _leave_at_end_of(line: Connection) -> None:
    """End this process when the other end of the line is closed, or its process is gone."""
    with contextlib.suppress(EOFError, OSError):
        line.recv()
    os._exit(1)


def _run(item: Item, sources: list[Source]) -> Came:
    job, share = _told
    return worked(job, item, sources, share)


def visible_gpus() -> list[str]:
    """GPUs that this process may use, as ``CUDA_VISIBLE_DEVICES`` names them."""
    told = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [str(k) for k in range(gpus())] if told is None else [g for g in told.split(",") if g.strip()]


def open(job: Job, workers: int | None, threads: int | None, backend: str) -> Processes:
    computes = backend == "cuda" or (backend == "auto" and importlib.util.find_spec("cupy") is not None)
    cards = visible_gpus() if computes else []
    cores = thread_count()
    workers = workers or (len(cards) or max(1, cores // (threads or 1)))
    return Processes(job, workers, threads or max(1, cores // workers), cards)


class Processes:
    """The engine ``processes``."""

    def __init__(self, job: Job, workers: int, threads: int, cards: list[str]) -> None:
        self.slots = workers
        self._job, self._threads, self._cards = job, threads, cards
        self._pools: dict[int, tuple[futures.ProcessPoolExecutor, Connection]] = {}
        self._running: dict[futures.Future[Came], tuple[int, Item]] = {}

    def _pool(self, k: int) -> futures.ProcessPoolExecutor:
        if k not in self._pools:
            card = self._cards[k % len(self._cards)] if self._cards else None
            context = multiprocessing.get_context("spawn")
            theirs, ours = context.Pipe(duplex=False)
            share = Share(self._threads, -(-self.slots // max(len(self._cards), 1)), card)
            told = self._job, share, theirs
            self._pools[k] = futures.ProcessPoolExecutor(1, context, _begin, told), ours
        return self._pools[k][0]

    def submit(self, item: Item, sources: list[Source]) -> None:
        k = min(set(range(self.slots)) - {k for k, _ in self._running.values()})
        self._running[self._pool(k).submit(_run, item, sources)] = k, item

    def wait(self) -> list[tuple[Item, Came]]:
        done, _ = futures.wait(self._running, return_when=futures.FIRST_COMPLETED)
        ended: list[tuple[Item, Came]] = []
        for future in done:
            k, item = self._running.pop(future)
            try:
                ended.append((item, future.result()))
            except BrokenProcessPool:
                self._pools.pop(k)[0].shutdown()
                ended.append((item, WorkerDied("its process ended")))
        return ended

    def stop(self) -> None:
        for _, line in self._pools.values():
            line.close()

    def close(self) -> None:
        for pool, _ in self._pools.values():
            pool.shutdown(cancel_futures=True)
