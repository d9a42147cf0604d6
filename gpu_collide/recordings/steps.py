"""What `events` asks of each step of a recording: who comes near, who touches, who would meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide.bodies.refusals import refuse_ends
from gpu_collide.geometry.preparation import prepared
from gpu_collide.queries.clearance_arguments import PROGRAMS
from gpu_collide.queries.near_misses import NearMissBatches
from gpu_collide.queries.near_rows import NearRows
from gpu_collide.queries.pairs import gathered, open_search
from gpu_collide.queries.trajectories import step_batches
from gpu_collide.queries.trajectory_batches import TrajectoryBatches
from gpu_collide.recordings.prediction import times_to_collision
from gpu_collide.recordings.reach import Ways, near_pairs
from gpu_collide.results.trajectory_contacts import TrajectoryContacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["Steps", "steps_of"]

_TOLERANCE = 1e-9  # of the size of a pair: the default of `clearance`


class Steps(NamedTuple):
    """All that was found in the steps of a recording.

    Attributes
    ----------
    near : dict of str to (k,) ndarray
        Pairs and steps within the limit: ``body_a``, ``body_b``, ``step``; ``upper``, a distance that each
        has at some time.
    passes : dict of str to (m,) int ndarray
        ``body_a``, ``body_b``, ``first_step``, ``last_step``: stretches of these.
    found : TrajectoryContacts
    ttc : dict of str to (q,) ndarray
        ``body_a``, ``body_b``, ``step``, ``seconds``, in the order of (body_a, body_b, step).
    nearest : callable
        Makes a `NearRows` of bodies and pairs.
    info : dict
    """

    near: dict[str, Array]
    passes: dict[str, Array]
    found: TrajectoryContacts
    ttc: dict[str, Array]
    nearest: Callable[[Bodies, Array], NearRows]
    info: dict[str, Any]


def steps_of(recording: Any, limit: float, horizon: float | None, machine: Any, options: Any) -> Steps:
    """All steps of a recording.

    Parameters
    ----------
    recording : Recording
    limit : float
        Length within which two are near.
    horizon : float or None
        Seconds for which each goes on as it moves; None: nothing is predicted.
    machine : dict
        ``precision``, ``backend`` and ``max_bytes`` of `collide`.
    options : dict
        Of `collide_trajectories`.
    """

    def ask(*given: Any, **asked: Any) -> Iterator[_Part]:
        sweep, windows = step_batches(_EventBatches, *given, programs=PROGRAMS, **asked)
        refuse_ends(sweep.crew.meshes, "recording", "events")
        sweep.engine.options.check_meshes(sweep.crew.meshes)
        sweep.tolerance, sweep.limit, sweep.horizon, sweep.machine = _TOLERANCE, limit, horizon, machine
        return (sweep.batch(first, window) for first, window in windows)

    parts = []
    for first, part in recording.swept(ask, None, options):
        for rows in (part.near, part.ttc):
            rows["step"] += first
        part.near["since"] += first
        found = part.found.shifted(first)
        parts.append(replace(part, found=replace(found, info={**found.info, **recording._ids_in_info})))
    near = _joined([part.near for part in parts])
    a, b, step = near["body_a"], near["body_b"], near["step"]
    begins = np.ones(len(a), bool)
    begins[1:] = (np.diff(a) != 0) | (np.diff(b) != 0) | (near.pop("since")[1:] > step[:-1])
    passes = {
        "body_a": a[begins], "body_b": b[begins], "first_step": step[begins],
        "last_step": step[np.append(begins[1:], True)[: len(step)]],
    }  # fmt: skip
    found = TrajectoryContacts.concatenate(part.found for part in parts)
    return Steps(near, passes, found, _joined([part.ttc for part in parts]), parts[0].nearest, parts[0].info)


def _joined(parts: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Rows of all parts, in the order of (body_a, body_b, step)."""
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort([rows[name] for name in ("step", "body_b", "body_a")])
    return {name: values[order] for name, values in rows.items()}


@dataclass
class _Part:
    """The same of some steps, with what begins a pass, ``since``, as `NearSteps` has it."""

    near: dict[str, Array]
    found: TrajectoryContacts
    ttc: dict[str, Array]
    nearest: Callable[[Bodies, Array], NearRows]
    info: dict[str, Any]


@dataclass
class _EventBatches(NearMissBatches, TrajectoryBatches):
    """A search for all of it; `batch` does the work, for one window of steps after the other."""

    horizon: float | None = None
    machine: Any = None

    @within_memory
    def batch(self, first: int, window: Any) -> _Part:  # type: ignore[override]
        """The steps from frame `first` on."""
        close, soon = np.zeros((3, 0), int), np.zeros((3, 0), int)
        own = self.engine.options.motion == "body"

        def only(known: Array) -> Array:
            nonlocal close, soon
            close, soon = self._candidates(first, window, known, own)
            used = known & _at_rest(window)  # for who is parked
            for step, *bodies in (close, soon):
                for body in bodies:
                    used[step[body < self.crew.n], body[body < self.crew.n]] = True
            return used if own else known

        batch = self.opened(first, window, only)
        row = np.full((len(batch.t0), self.crew.n + self.crew.n_static), -1)
        row[batch.step, batch.body] = np.arange(len(batch.step))
        row[:, self.crew.n :] = len(batch.step) + np.arange(self.crew.n_static)
        if own:
            pairs = np.stack([row[close[0], body] for body in close[1:]], axis=1).astype(np.int32)
        else:
            pairs = gathered(open_search(self.engine, batch.bodies, batch.rules, margin=self.limit))
        of_a, of_b, at, since, pairs, _, _, upper = self.near_steps(batch, pairs)
        found = self.contacts(batch, pairs[np.lexsort([pairs[:, 1], pairs[:, 0]])])
        step, a, b = soon
        ahead = np.stack([row[step, a], row[step, b]], axis=1)
        seconds = batch.t1[step] - batch.t0[step]
        which, when = times_to_collision(
            batch.bodies, ahead, seconds, self.horizon, self._measures, self.machine
        )
        self.finished(batch)
        info = {**self.engine.about(), "motion": self.engine.options.motion, "max_distance": self.limit}
        return _Part(
            {"body_a": of_a, "body_b": of_b, "step": first + at, "since": since, "upper": upper},
            found,
            {"body_a": a[which], "body_b": b[which], "step": first + step[which], "seconds": when},
            self._nearest, {**info, **self.told},
        )  # fmt: skip

    def _candidates(self, first: int, window: Any, known: Array, own: bool) -> tuple[Array, Array]:
        """Step, A and B (3, k) of what may come near in its step, and of what may meet within the horizon."""
        crew, (position, _, unit, *_) = self.crew, window
        seconds = np.diff(self.times[first : first + len(position)])
        one = np.ones(len(seconds))
        ahead = one if self.horizon is None else np.maximum(self.horizon / seconds, 1.0)
        ways = Ways(position, unit, known, *self._sizes)
        near, soon = [np.zeros((3, 0), int)], [np.zeros((3, 0), int)]
        rest = np.concatenate([_at_rest(window), np.ones((len(seconds), crew.n_static), bool)], axis=1)
        world = np.zeros(crew.n, int) if crew.rank is None else crew.rank[: crew.n]
        for step, a, b in near_pairs(ways.boxes(ahead), self.limit, world):
            some = crew.meet(a, b) & ~(rest[step, a] & rest[step, b])
            step, a, b = step[some], a[some], b[some]
            if own:
                some = ways.meet(one, step, a, b, self.limit)
                near.append(np.stack([step[some], a[some], b[some]]))
            if self.horizon is not None:
                some = ways.meet(ahead, step, a, b, 0.0)
                soon.append(np.stack([step[some], a[some], b[some]]))
        return np.concatenate(near, axis=1), np.concatenate(soon, axis=1)

    @cached_property
    def _measures(self) -> Array:
        return np.array([prepared.measures_of(mesh) for mesh in self.crew.meshes])

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        """Radii around the origins of moving bodies, (n,), and boxes of static ones, (2, m, 3)."""
        crew = self.crew
        measures = self._measures
        radius = (np.linalg.norm(measures[:, :3], axis=1) + measures[:, 3])[crew.movers.shape]
        if crew.static is None:
            return radius, np.zeros((2, 0, 3))
        of = measures[crew.static.shape + len(crew.movers.meshes)]
        place = crew.static.start.apply(of[:, :3])
        half = (np.abs(crew.static.start.to_matrix()[:, :3, :3]) * of[:, None, 5:8]).sum(axis=2)
        half = half * (1.0 + 1e-9) + 1e-14 * np.abs(place)
        return radius, np.stack([place - half, place + half])

    def _nearest(self, bodies: Bodies, pairs: Array) -> NearRows:
        return NearRows(self.engine, bodies, pairs, self.tolerance, self.limit)


def _at_rest(window: Any) -> Array:
    """(s, n) bool: both poses of a step are the same, as `still_bodies` has it."""
    position, _, unit, *_ = window
    same = np.ones((max(len(position) - 1, 0), position.shape[1]), bool)
    for axis in range(3):
        same &= position[1:, :, axis] == position[:-1, :, axis]
    at = np.nonzero(same)
    before, after = unit[at], unit[1:][at]
    same[at] = (after == before).all(axis=-1) | (after == -before).all(axis=-1)
    return same
