"""Near misses along a recording: how near bodies come that pass each other, over all of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide.bodies.motion import screw_velocity
from gpu_collide.bodies.quaternion import conjugate, rotate
from gpu_collide.bodies.refusals import refuse_ends
from gpu_collide.bodies.rules import still_bodies
from gpu_collide.queries.clearance_arguments import PROGRAMS
from gpu_collide.queries.near_rows import NearRows
from gpu_collide.queries.pairs import gathered, open_search
from gpu_collide.queries.trajectories import step_batches
from gpu_collide.queries.trajectory_batches import StepBatches, absolute
from gpu_collide.results.near_misses import NearMisses, sorted_by_time
from gpu_collide.results.runs import begins

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.queries.trajectory_batches import StepBatch

__all__ = ["NearMissBatches", "Recorded", "near_misses"]


@runtime_checkable
class Recorded(Protocol):
    """What `Recording` is to queries, which do not know of files: the steps of its races."""

    def swept(self, ask: Any, progress: Any, options: Any) -> Iterator[tuple[int, Any]]:
        """What `ask`, which takes the arguments of `collide_trajectories`, yields of every race, with the
        first frame of that race."""


def near_misses(
    recording: Recorded, tolerance: float, limit: float, progress: Any, options: Any
) -> Iterator[NearMisses]:
    """`NearMisses` of a recording, batch after batch of its steps.

    Parameters
    ----------
    recording : Recording
    tolerance, limit : float
        Checked.
    progress : callable or None
    options : dict
        Of `collide_trajectories`.
    """

    def ask(*given: Any, **asked: Any) -> Iterator[NearMisses]:
        sweep, windows = step_batches(NearMissBatches, *given, programs=PROGRAMS, **asked)
        refuse_ends(sweep.crew.meshes, "recording", "clearance")
        sweep.tolerance, sweep.limit = tolerance, limit
        return (sweep.batch(first, window) for first, window in windows)

    parts = recording.swept(ask, progress, options)  # options are looked at before the first part
    return (part.shifted(first) for first, part in parts)


@dataclass
class NearMissBatches(StepBatches):
    """A search for near misses; `batch` does the work, for one window of steps after the other."""

    tolerance: float = 1e-9
    limit: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.moved: Any = None  # of each body the last step so far in which it moved, or was away

    @within_memory
    def batch(self, first: int, window: Any) -> NearMisses:
        """Near misses of the steps from frame `first` on."""
        batch, engine = self.opened(first, window), self.engine
        pairs = gathered(open_search(engine, batch.bodies, batch.rules, margin=self.limit))
        a, b, at, since, pairs, search, near, upper = self.near_steps(batch, pairs)
        new = begins(a, b, since, first + at)
        told, which = search.nearest(near, upper, np.cumsum(new) - 1)
        step, fraction = at[which], told.pop("time")
        start, end = batch.t0[step], batch.t1[step]
        rows = {
            "body_a": a[which], "body_b": b[which], "step": first + step, "fraction": fraction,
            "time": absolute(fraction, start, end), "gap": told.pop("distance"), **told,
            "closing_speed": _closing(engine, batch.bodies, pairs[which], fraction, told) / (end - start),
            "first_step": first + at[new], "since": since[new],
            "last_step": first + at[np.append(new[1:], True)[: len(at)]],
        }  # fmt: skip
        self.finished(batch)
        info = {
            **engine.about(), "motion": engine.options.motion, "tolerance": self.tolerance,
            "max_distance": self.limit, "timings": search.timings, **self.told,
        }  # fmt: skip
        return NearMisses(
            **sorted_by_time(rows), skipped=batch.skipped, moved=self.moved, info=info,
            frames=np.array([first, first + len(batch.t0)]),
        )  # fmt: skip

    def near_steps(self, batch: StepBatch, pairs: Array) -> tuple[Any, ...]:
        """Pairs and steps that come within the limit, of the pairs (p, 2) of bodies of a batch.

        Returns
        -------
        a, b, at : (k,) int ndarray
            Bodies, and the step, counted in the batch; in the order of (a, b, at).
        since : (k,) int64 ndarray
            What ends before this step is a pass of its own.
        pairs : (k, 2) int ndarray
            The two in the bodies of the batch.
        search : NearRows
        near, upper : (k,) ndarray
            As `NearRows.near` has them.
        """
        first, since = batch.first, self._since(batch)
        moving, at = batch.of_pairs(pairs)
        pairs, at = pairs[moving], at[moving]
        a, b = batch.number[pairs].T
        order = np.lexsort([at, b, a])
        search = NearRows(self.engine, batch.bodies, pairs[order], self.tolerance, self.limit)
        near, upper, starts = search.near()
        a, b, at, pairs = (values[order[near]] for values in (a, b, at, pairs))
        since = np.maximum(since[at, a], since[at, b])
        starts[~starts] = search.near_at_start(near[~starts])
        since[~starts] = first + at[~starts]  # begins a pass
        return a, b, at, since, pairs, search, near, upper

    def _since(self, batch: StepBatch) -> Array:
        """(s, n + static) int64: the last step before each in which the body moved, or was away; -1: none."""
        n, steps = self.crew.n, len(batch.t0)
        before = np.full(n, -1) if self.moved is None else self.moved
        moved = np.repeat(np.arange(batch.first, batch.first + steps)[:, None], n, axis=1)
        still = still_bodies(batch.bodies)[: len(batch.step)]
        moved[batch.step[still], batch.body[still]] = -1
        last = np.maximum.accumulate(np.concatenate([before[None], moved]), axis=0)
        self.moved = last[-1]
        return np.concatenate([last[:-1], np.full((steps, self.crew.n_static), -1)], axis=1)


def _closing(engine: Any, bodies: Bodies, pairs: Array, fraction: Array, told: dict[str, Array]) -> Array:
    """Speed per step at which the nearest points approach each other along the normal, (r,); NaN: no
    place."""
    there = np.flatnonzero(told["normal"].any(axis=1))
    a, b = pairs[there].T
    place, normal = told["point_b"][there], told["normal"][there]
    start_a, end_a, start_b, end_b = bodies.start[a], bodies.end[a], bodies.start[b], bodies.end[b]
    if engine.options.motion == "body":
        speed = screw_velocity(start_b, end_b, place) - screw_velocity(start_a, end_a, place)
    else:  # as A sees it
        now = start_a.toward(end_a, fraction[there])
        place = now.inverse().apply(place)
        normal = rotate(conjugate(now.unit_wxyz), normal)
        speed = screw_velocity(start_a.inverse() @ start_b, end_a.inverse() @ end_b, place)
    closing = np.full(len(pairs), np.nan)
    closing[there] = 0.0 - (speed * normal).sum(axis=1)
    return closing
