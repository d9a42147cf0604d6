"""The resources of the machine: threads and memory."""

from __future__ import annotations

import os
import re
import time
from functools import lru_cache

__all__ = ["host_memory_free", "host_memory_lately", "process_memory_free", "thread_count"]


def thread_count() -> int:
    """Threads to use on the host: ``GPU_COLLIDE_THREADS``, else the cores this process may run on."""
    text = os.environ.get("GPU_COLLIDE_THREADS", "").strip()
    if text:
        if not re.fullmatch(r"[1-9]\d{0,3}", text):
            raise ValueError(f"GPU_COLLIDE_THREADS must be a number from 1 to 9999, got {text!r}")
        return int(text)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def process_memory_free() -> int:
    """Bytes that this process may still map, by ``ulimit -v``; very many if that sets no limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return 1 << 62
        with open("/proc/self/statm", encoding="ascii") as f:
            return max(limit - int(f.read().split()[0]) * resource.getpagesize(), 0)
    except (ImportError, OSError, ValueError):
        return 1 << 62


@lru_cache(maxsize=1)
def _free_in(second: int) -> int:
    return host_memory_free()


def host_memory_lately() -> int:
    """`host_memory_free` of the last second or so: to look takes half a millisecond."""
    return _free_in(int(time.monotonic()))


def host_memory_free() -> int:
    """Bytes the host can give without swapping: what the system calls available, within the control group."""
    free = 2 << 30
    try:
        with open("/proc/meminfo", encoding="ascii") as f:
            available = re.search(r"MemAvailable:\s+(\d+) kB", f.read())
            free = int(available.group(1)) << 10  # type: ignore[union-attr]  # caught below
    except (OSError, AttributeError):
        try:
            free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, ValueError, OSError):
            pass
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            with open(limit, encoding="ascii") as f, open(used, encoding="ascii") as g:
                free = min(free, max(int(f.read()) - int(g.read()), 0))
        except (OSError, ValueError):
            continue
    return free
