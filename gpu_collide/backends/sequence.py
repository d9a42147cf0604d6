"""Sequences of launches that run without reading results in between (`Backend.sequence`).

How much a step has to do may be a number that a step before wrote to a buffer. On ``cpu`` all steps are one
call of C; elsewhere they are taken one by one, and such numbers are read where they are needed. On ``cuda``
they may also stay unread (`gpu_collide.backends.async_sequence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_collide.backends.kernel import Bound

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["C_TEXT", "Blank", "Count", "Launch", "Scan", "Select", "Sequence", "Zero"]


class Count:
    """A number of items that the host says before a run, and that stays until it says another.

    Attributes
    ----------
    array : (1,) int32 ndarray
        Where C reads it.
    """

    __slots__ = ("array",)

    def __init__(self) -> None:
        self.array = np.zeros(1, np.int32)

    @property
    def value(self) -> int:
        """The number."""
        return self.array.item()

    @value.setter
    def value(self, n: int) -> None:
        self.array[0] = n


class Launch(NamedTuple):
    """A bound launch for `n` items.

    Attributes
    ----------
    bound : Bound
        Of a kernel whose first argument is the number of items; that argument becomes `n`.
    n : int, Count or buffer (1,) int32
    most : int
        What its buffers have room for: if `n` is more, the sequence ends before this step.
    groups : int or None
        At most so many groups, each with scratch of its own; None: a work-item for each item.
    size : int, optional
        Work-items of such a group, if it is not the backend's number.
    """

    bound: Bound
    n: Any
    most: int
    groups: int | None = None
    size: int | None = None


class Zero(NamedTuple):
    """Fill a buffer with zeros."""

    buffer: Any


class Blank(NamedTuple):
    """Fill an int32 buffer with -1: what is no entry of the list in it, where nobody reads how long it is."""

    buffer: Any


class Scan(NamedTuple):
    """Sums before each of the int32 `counts`, and the total, into the int64 buffer `out`, one longer."""

    counts: Any
    out: Any


class Select(NamedTuple):
    """Of the first `n` int32 `numbers` those with a flag (uint8) that is not 0: their values in order into
    `out`, how many into `n_out`."""

    numbers: Any
    flags: Any
    n: Any
    out: Any
    n_out: Any


class Sequence:
    """Steps bound to their buffers, to be run many times. Not for two threads at once.

    Parameters
    ----------
    backend : Backend
    steps : sequence of Launch, Zero, Scan, Select, Blank
        The last are left out where counts are read.

    Raises
    ------
    TypeError, ValueError
        A buffer of a wrong dtype or size, or a kernel that does not take the number of items first.
    """

    def __init__(self, backend: Any, steps: Any) -> None:
        self.backend = backend
        steps = tuple(steps)
        for step in steps:
            _CHECKS.get(type(step), _unknown)(step)
        self.steps = self._taken(steps)

    def _taken(self, steps: tuple) -> tuple:
        """Those of the steps that are run."""
        return tuple(step for step in steps if not isinstance(step, Blank))

    def run(self) -> bool:
        """Run all steps in order. False if one had more to do than its buffers have room for: it did not run,
        nor did those behind it."""
        be = self.backend
        for step in self.steps:
            if isinstance(step, Zero):
                be.fill(step.buffer, 0)
            elif isinstance(step, Scan):
                be.exclusive_scan(step.counts, out=step.out)
            else:
                n = self._number(step.n)
                if not 0 <= n <= (step.most if isinstance(step, Launch) else step.out.size):
                    return False
                if isinstance(step, Select):
                    self._select(step, n)
                elif n:
                    _launch(step, n)
        return True

    def _number(self, n: Any) -> int:
        if isinstance(n, int):
            return n
        return n.value if isinstance(n, Count) else int(self.backend.item(n, 0))

    def _select(self, step: Any, n: Any) -> None:
        be = self.backend
        numbers, flags = be.to_host(step.numbers)[:n], be.to_host(step.flags)[:n]
        left = numbers[flags != 0]
        out = np.zeros(step.out.shape, np.int32)
        out[: len(left)] = left
        be.write(step.out, out)
        be.write(step.n_out, np.array([len(left)], np.int32))


def _launch(step: Any, n: Any) -> None:
    bound = step.bound
    count = {bound.kernel.args[0].name: n}
    if step.groups is None:
        bound.launch_items(n, **count)
    else:
        bound.launch(min(step.groups, n), step.size, **count)


def _unknown(step: Any) -> NoReturn:
    raise TypeError(f"steps: expected Launch, Zero, Scan, Select or Blank, got {type(step).__name__}")


def _check_launch(step: Any) -> None:
    _check_number(step, step.n)
    kernel = step.bound.kernel
    if not kernel.counts or kernel.args[0].dtype != np.int32:
        raise TypeError(f"steps: expected a kernel that takes the number of items first, got {kernel.name}")
    if step.groups is not None and step.groups < 1:
        raise ValueError(f"steps: expected groups from 1 up for {kernel.name}, got {step.groups}")


def _check_number(step: Any, n: Any) -> None:
    if isinstance(n, int):
        if n < 0:
            raise ValueError(f"steps: expected n from 0 up in {type(step).__name__}, got {n}")
    elif not isinstance(n, Count):
        _check_buffer(step, "n", n, np.int32, 1)


def _check_scan(step: Any) -> None:
    _check_buffer(step, "counts", step.counts, np.int32, 0)
    _check_buffer(step, "out", step.out, np.int64, step.counts.size + 1)
    if step.out.size != step.counts.size + 1:
        raise ValueError(
            f"steps: expected {step.counts.size + 1} entries in out of Scan, got {step.out.size}"
        )


def _check_select(step: Any) -> None:
    _check_number(step, step.n)
    least = step.n if isinstance(step.n, int) else 0
    _check_buffer(step, "numbers", step.numbers, np.int32, least)
    _check_buffer(step, "flags", step.flags, np.uint8, least)
    _check_buffer(step, "out", step.out, np.int32, least)
    _check_buffer(step, "n_out", step.n_out, np.int32, 1)
    sizes = step.numbers.size, step.flags.size, step.out.size
    if len(set(sizes)) > 1:
        raise ValueError(f"steps: expected numbers, flags and out of one size in Select, got {sizes}")


def _check_buffer(step: Any, name: str, buffer: Any, dtype: Any, least: int) -> None:
    """Raise unless it is a buffer of so many entries at least."""
    got = getattr(buffer, "dtype", None)
    if got != dtype or buffer.size < least:
        got = type(buffer).__name__ if got is None else f"{buffer.size} of {got}"
        raise TypeError(
            f"steps: expected a buffer of {np.dtype(dtype)} with {least} entries or more as {name} of "
            f"{type(step).__name__}, got {got}"
        )


def _check_blank(step: Any) -> None:
    _check_buffer(step, "buffer", step.buffer, np.int32, 0)


_CHECKS = {
    Launch: _check_launch, Zero: lambda step: None, Scan: _check_scan, Select: _check_select,
    Blank: _check_blank,
}  # fmt: skip


# state: step, then `job` and `mine` of its driver (drivers.c_entry_points). A run begins with all of it 0 but
# the last: the microseconds after which a call comes back, to go on in the next one.
C_TEXT = """#line 1 "gc_sequence"
typedef struct {
    gc_long what; /* 0 launch, 1 zero, 2 scan, 3 select */
    void *a, *b, *c, *d;
    int *count; /* where n stands, or 0 */
    gc_long n, most, each;
} gc_step;
typedef int gc_driver(void *const *args, int *job, int *mine);

/* 1: all done; 2: call again with the same state; 0: a step had more to do than there is room for */
GC_KERNEL int gc_run_sequence(const gc_step *steps, int n_steps, int *state)
{
    int *job = state + 1, *mine = state + 6;
    for (; state[0] < n_steps; ++state[0]) {
        const gc_step *s = steps + state[0];
        gc_long n = s->count ? *s->count : s->n, i, sum = 0;
        if (s->what == 0) {
            if (job[2] == 0) {
                if (n < 0 || n > s->most) return 0;
                if (n == 0) continue;
                *(int *)s->b = (int)n;
                job[0] = 0;
                job[1] = 0;
                job[2] = 1;
                job[3] = (int)((n + s->each - 1) / s->each);
                mine[0] = -1;
                mine[1] = 0;
            }
            if (((gc_driver *)s->a)((void *const *)s->b, job, mine) == 2) return 2;
            job[2] = 0;
        } else if (s->what == 1) {
            unsigned char *to = s->a;
            for (i = 0; i < n; ++i) to[i] = 0;
        } else if (s->what == 2) {
            const int *from = s->a;
            gc_long *to = s->b;
            for (i = 0; i < n; ++i) {
                to[i] = sum;
                sum += from[i];
            }
            to[n] = sum;
        } else {
            const int *from = s->a;
            const unsigned char *flags = s->b;
            int *to = s->c;
            if (n < 0 || n > s->most) return 0;
            for (i = 0; i < n; ++i)
                if (flags[i]) to[sum++] = from[i];
            *(int *)s->d = (int)sum;
        }
    }
    return 1;
}
"""
