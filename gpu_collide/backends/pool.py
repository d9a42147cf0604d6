"""The threads that run a launch on `cpu`: the launching one, and helpers that it may call.

The launching thread takes part, and is back in Python every `TURN` microseconds, where signals are
heeded. On Ctrl-C it leaves at once: the helpers stop before their next share, a few items later. What they
write until then belongs to the launch that was dropped; another one that touches the same buffers waits.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import threading
import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Job", "crew", "run", "settle"]

TURN = 50_000  # microseconds, after which a thread that may pause comes back from C
ALONE = 30  # microseconds that a launch which is likely to be short has before helpers are woken
LONG = TURN * 1e-6 + 0.2  # seconds, after which a share has taken long
FINISHED, PAUSED = 1, 2

_Counters = ctypes.c_int * 6
_Mine = ctypes.c_int * 3


class Job:
    """One launch, shared by the threads that run it; keeps all memory it needs alive until they have left it.

    Attributes
    ----------
    counters : array of six int
        Next group, groups done, groups, shares a group, stop, helpers that came in.
    inside : list
        Grows by one while a helper is in it.
    keep : tuple or None
        Kernel and arguments by name. None once it has ended: a helper that comes too late only looks at the
        counters, and may come very late.
    """

    __slots__ = ("args", "counters", "done", "function", "inside", "keep")

    def __init__(self, function: Any, args: bytes, groups: int, shares: int, keep: tuple) -> None:
        self.function = function
        self.args = args
        self.counters = _Counters(0, 0, groups, shares, 0, 0)
        self.done = threading.Lock()
        self.inside: list = []
        self.keep: tuple | None = keep
        self.done.acquire()

    def lead(self, helpers: int, alone: bool) -> None:
        """Take part, with so many helpers, and return when all groups have run.

        `alone`: the launch is likely to be short, and they are woken only if it is not.
        """
        mine = _Mine(-1, 0, ALONE if alone else TURN)
        try:
            if helpers and not alone:
                crew.offer(self, helpers)
            code = PAUSED
            while code == PAUSED:
                begun = time.perf_counter()
                code = self.function(self.args, self.counters, mine)
                if code != PAUSED:
                    break
                mine[2] = TURN
                if time.perf_counter() - begun > LONG:
                    # A share took long, and others may: waiting can be interrupted, computing can not.
                    crew.offer(self, 1, mine)
                    break
                if alone:
                    alone = False
                    crew.offer(self, helpers)
            if code != FINISHED:
                self.done.acquire()
        except BaseException:
            self.counters[4] = 1  # who comes in from now on touches nothing
            if self.inside:
                crew.dropped.append(self)
            raise
        self.keep = None

    def help(self, mine: Any = None) -> None:
        """Take part in it, from the group and share `mine` on if another thread began them."""
        self.inside.append(None)
        try:
            code = PAUSED
            while code == PAUSED:
                code = self.function(self.args, self.counters, mine)
        finally:
            self.inside.pop()
        if code == FINISHED:
            self.done.release()

    def touches(self, kernel: Any, args: dict) -> bool:
        """Does a launch of `kernel` with `args` write what this one uses, or use what this one writes?"""
        used, own = _arrays(kernel, args), _arrays(*self.keep)  # type: ignore[misc]
        return any(
            (written or writes) and np.may_share_memory(array, other)
            for array, written in used
            for other, writes in own
        )


def _arrays(kernel: Any, args: dict) -> list:
    """The buffers among `args`, and which of them the kernel writes; without a kernel all are written."""
    if kernel is None:
        return [(array, True) for array in args.values()]
    return [(args[arg.name], not arg.const) for arg in kernel.args if arg.pointer]


class _Pool:
    """Helper threads.

    A launch is offered to as many as it has groups for. The launching thread waits only for groups that some
    helper has begun; a helper that comes too late finds no group left.
    """

    def __init__(self) -> None:
        self.dropped: list[Job] = []  # launches left by Ctrl-C, in which there may be helpers
        self._jobs: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0

    def _work(self) -> None:
        get = self._jobs.get
        while True:
            job, mine = get()
            job.help(mine)
            del job, mine  # not kept alive until the next one comes

    def offer(self, job: Job, helpers: int, mine: Any = None) -> None:
        """Have so many threads take part in a job."""
        if self._threads < helpers:
            with self._lock:
                while self._threads < helpers:
                    threading.Thread(target=self._work, name="gpu_collide", daemon=True).start()
                    self._threads += 1
        for _ in range(helpers):
            self._jobs.put((job, mine))


crew = _Pool()


def _new_pool() -> None:
    global crew
    crew = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_pool)  # threads do not survive a fork


def settle(kernel: Any, args: dict) -> None:
    """Wait until no launch that was dropped touches what `kernel` is about to (None: all is written)."""
    jobs = crew.dropped
    for job in list(jobs):
        while job.inside and job.touches(kernel, args):
            time.sleep(0.0005)
        if not job.inside:
            with contextlib.suppress(ValueError):  # another thread was faster
                jobs.remove(job)


_ONE = (0, 0, 1, 1, 0, 0)


def run(handle: Any, packed: bytes, groups: int, parts: int, threads: int, keep: tuple) -> None:
    """Run ``handle.function(packed, ...)`` in so many groups, which together have so many parts to do.

    ``handle.pace`` is kept: the seconds that a part took last time. What is likely to take less than `ALONE`
    is begun without helpers: to wake one takes as long.
    """
    if crew.dropped:
        settle(*keep)
    shares = min(parts, 1 << 30) // groups
    if groups == 1 and shares <= 1:
        handle.function(packed, _Counters(*_ONE), None)
        return
    job = Job(handle.function, packed, groups, shares if shares > 1 else 1, keep)
    helpers = min(threads, groups) - 1
    begun = time.perf_counter()
    job.lead(helpers, helpers > 0 and handle.pace * parts < ALONE * 1e-6)
    handle.pace = (time.perf_counter() - begun) / max(parts, 1)
