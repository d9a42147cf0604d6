"""Sequences on `cuda` that are enqueued at once: no step is waited for, and no count is read in between.

A launch for as many items as a step before found is made for all that there is room for. What is no entry of
a list is -1 there, by `Blank` or behind a `Select`, and the kernels pass over it. A list that was too short
keeps nothing behind from running: what had no place in it is counted and nothing else, and who runs the
sequence reads that at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.backends.sequence import Blank, Launch, Scan, Select, Sequence, Zero

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AsyncSequence"]


class AsyncSequence(Sequence):
    """A `Sequence` that looks at nothing.

    Attributes
    ----------
    marks : list
        Name of each kernel that the last run launched, and an event before and behind it; `seconds` reads
        them once all has ended.
    """

    def __init__(self, backend: Any, steps: Any) -> None:
        super().__init__(backend, steps)
        self.marks: list[tuple[str, Any, Any]] = []
        self._select_kernel = None
        if any(isinstance(step, Select) for step in self.steps):
            module = backend.compile(sources.joined("upload/g03_select.c"), "mixed")
            self._select_kernel = module["g03_select"]
        self._calls = [self._call(step) for step in self.steps]

    def _taken(self, steps: tuple) -> tuple:
        return steps

    def run(self) -> bool:
        """Enqueue all steps; True, whatever there is room for."""
        self.marks = []
        for call in self._calls:
            call()
        return True

    def seconds(self) -> dict[str, float]:
        """What the launches of the last run took, by kernel; waits for them."""
        found: dict[str, float] = {}
        for name, before, behind in self.marks:
            found[name] = found.get(name, 0.0) + self.backend.seconds_between(before, behind)
        return found

    def _call(self, step: Any) -> Callable[[], object]:
        be = self.backend
        if isinstance(step, Zero):
            return lambda: be.fill(step.buffer, 0)
        if isinstance(step, Blank):
            return lambda: be.fill(step.buffer, -1)
        if isinstance(step, Scan):
            return lambda: be.exclusive_scan(step.counts, out=step.out)
        if isinstance(step, Select):
            return self._selecting(step)
        return lambda: self._launch(step)

    def _launch(self, step: Launch) -> None:
        n, bound = step.n if isinstance(step.n, int) else step.most, step.bound
        if not n:
            return
        count = {bound.kernel.args[0].name: n}
        before = self.backend.mark()
        if step.groups is None:
            bound.launch_items(n, **count)
        else:
            bound.launch(min(step.groups, n), step.size, **count)
        self.marks.append((bound.kernel.name, before, self.backend.mark()))

    def _selecting(self, step: Select) -> Callable[[], object]:
        be, n = self.backend, step.out.size
        starts = be.empty(n + 1, np.int64)
        bound = be.bind(
            self._select_kernel, n=n, numbers_in=step.numbers, flags_in=step.flags, starts_in=starts,
            out=step.out, n_out=step.n_out,
        )  # fmt: skip

        def select() -> None:
            be.exclusive_scan(step.flags, out=starts)
            bound.launch_items(n)

        return select
