"""C text of drivers: the function that a thread calls to run the groups of a launch."""

from __future__ import annotations

from gpu_collide.backends.declarations import Signature

__all__ = ["c_entry_points", "passed_arguments"]

_DRIVER_HEAD = """#line 1 "gc_entry_points"
#include <time.h>
static gc_long gc_now_(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (gc_long)t.tv_sec * 1000000000 + t.tv_nsec;
}
"""
_DRIVER = """
GC_KERNEL int gc_run_NAME(void *const *args, int *job, int *mine)
{
    const int n = job[2], shares = job[3];
    const int seat = mine || n == 1 ? 0 : 1 + __atomic_fetch_add(&job[5], 1, __ATOMIC_RELAXED);
    const gc_long turn = mine ? (gc_long)mine[2] * 1000 : 0, begun = mine ? gc_now_() : 0;
    gc_long last = begun;
    int g = mine ? mine[0] : -1, k = mine ? mine[1] : 0, ran = 0, rest = 2, stride = 1;
    for (;;) {
        if (g < 0) {
            g = __atomic_fetch_add(&job[0], 1, __ATOMIC_RELAXED);
            k = 0;
            if (g >= n) {
                break;
            }
        }
        for (; k < shares; ++k) {
            if (__atomic_load_n(&job[4], __ATOMIC_RELAXED)) {
                return 0;
            }
            if (mine && --rest == 0) {
                const gc_long now = gc_now_();
                if (now - begun > turn) {
                    mine[0] = g;
                    mine[1] = k;
                    __atomic_add_fetch(&job[1], ran, __ATOMIC_ACQ_REL);
                    return 2;
                }
                stride = now - last > 1000000 ? 1 : stride < 8 ? 2 * stride : 8;
                rest = stride;
                last = now;
            }
            gc_set_group(g, n, k, shares, seat);
            NAME(PASSED);
        }
        g = -1;
        ++ran;
    }
    return ran > 0 && __atomic_add_fetch(&job[1], ran, __ATOMIC_ACQ_REL) == n;
}
"""


def passed_arguments(sig: Signature) -> str:
    """C text of the arguments that a driver passes on, out of ``args``, where each has 8 bytes."""
    return ", ".join(
        f"({a.ctype} *)args[{i}]" if a.pointer else f"*({a.ctype} const *)(args + {i})"
        for i, a in enumerate(sig.args)
    )


def c_entry_points(signatures: dict[str, Signature]) -> str:
    """C text of one driver per kernel: ``int gc_run_NAME(void *const *args, int *job, int *mine)``.

    A driver takes groups off ``job = {next, done, n_groups, shares, stop, helpers}`` until none is left, so a
    thread enters C once per launch however many groups there are. It plays a group in so many shares, and
    leaves between two of them once ``stop`` is set. It returns 1 to the thread that finished the last group,
    else 0.

    A thread that gives ``mine = {group, share, turn}``, at first ``{-1, 0, turn}``, gets 2 after ``turn``
    microseconds if there is more to do; it calls again with the same ``mine``, and goes on there. Each call
    plays a share at least. Only one thread at a time gives `mine`; it has seat 0, each other one of its own.
    """
    return _DRIVER_HEAD + "".join(
        _DRIVER.replace("NAME", sig.name).replace("PASSED", passed_arguments(sig))
        for sig in signatures.values()
    )
