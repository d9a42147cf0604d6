"""Steps of trajectories in batches: which bodies take part, and their contacts over time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._calls import within_memory
from gpu_collide._validate import as_numpy
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.rules import check_rules
from gpu_collide.geometry.arrays.angles import angle_of
from gpu_collide.pipeline.launch.launcher import MemoryBudget
from gpu_collide.queries.collide import answer
from gpu_collide.queries.exits import with_exits
from gpu_collide.queries.input_warnings import warn_of_recording
from gpu_collide.queries.pairs import open_search
from gpu_collide.queries.parked import parked_pairs
from gpu_collide.results.part_names import PART_FIELDS
from gpu_collide.results.trajectory_contacts import PAIR_DTYPE, SKIP_DTYPE, TrajectoryContacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array, Progress
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.results.contacts import Contacts

__all__ = [
    "Participants", "StepBatch", "StepBatches", "TrajectoryBatches", "absolute", "check_block", "once_each",
    "usual_batch", "windows",
]  # fmt: skip

#: Bodies in one call of `collide`: enough to keep a GPU busy, few enough that progress is seen.
_MOST_BODIES = 1 << 16
#: Bytes that a body of a batch takes: all copies of its poses, those that are read ahead, and its part of the
#: tree. Measured: 1,400 without what is read ahead, 1,700 with it.
_BYTES_PER_BODY = 2000

_REASONS = ("", "invalid", "teleport", "turn")
_ABSENT = 255  # beside the numbers of reasons: nobody is there, which is no reason to tell


def usual_batch(bodies: int, max_bytes: int, ignored: int = 0) -> int:
    """Steps of a batch that keep to the memory and to a size that pays."""
    bodies = max(1, bodies)
    room = MemoryBudget(max_bytes).fits(bodies * _BYTES_PER_BODY + ignored * 40, share=4)
    return max(1, min(room, _MOST_BODIES // bodies))


def check_block(block: Any, n: int | None) -> tuple[Poses, Array | None]:
    """A block of frames: poses, and which bodies are there, None for all."""
    poses, there = block if isinstance(block, tuple) and len(block) == 2 else (block, None)
    if not isinstance(poses, Poses):
        raise TypeError(f"poses: expected Poses in every block, got {type(poses).__name__}")
    if len(poses.shape) != 2 or poses.shape[1] != (n if n is not None else poses.shape[1]):
        wanted = "n" if n is None else n
        raise ValueError(f"poses: expected blocks of shape (k, {wanted}), got {poses.shape}")
    if there is None:
        return poses, None
    there = as_numpy(there, "there").copy()
    if there.dtype != bool:
        raise TypeError(f"there: expected bool, got {there.dtype}")
    if there.shape != poses.shape:
        raise ValueError(f"there: expected the shape of poses, {poses.shape}, got {there.shape}")
    return poses, there


def once_each(progress: Progress | None) -> Any:
    """`progress`, called only with more steps than the last time; None stays None."""
    if progress is None:
        return None
    last = -1

    def once(done: int, steps: int) -> None:
        nonlocal last
        if done > last:
            last = done
            progress(done, steps)

    return once


def windows(blocks: Iterable[Any], size: int, frames: Any, n: int) -> Iterator[tuple[int, Any]]:
    """Windows of at most `size` steps, (first step, Poses-like arrays); neighbours share one frame.

    Arrays are positions, quaternions as given and of length 1, which poses are valid, and who is there.

    There is always at least one, perhaps without any step, so that a sweep has a result to show.
    """
    held: list[Any] = []
    count, first, seen = 0, 0, 0
    for block in blocks:
        poses, there = check_block(block, n)
        seen += len(poses)
        if seen > frames:
            raise ValueError(f"poses: expected {frames} frames, as many as times, got more")
        there = np.ones(poses.shape, bool) if there is None else there
        held.append((poses.position, poses.quat_wxyz, poses.unit_wxyz, poses.valid, there))
        count += len(poses)
        if count <= size:
            continue
        arrays = _joined(held)
        while count > size:
            yield first, tuple(a[: size + 1] for a in arrays)
            arrays = tuple(a[size:] for a in arrays)
            first, count = first + size, count - size
        held = [arrays]
    if seen != frames:
        raise ValueError(f"poses: expected {frames} frames, as many as times, got {seen}")
    if count > 1 or first == 0:
        yield first, _joined(held)


def _joined(held: Any) -> Any:
    return held[0] if len(held) == 1 else tuple(np.concatenate(arrays) for arrays in zip(*held, strict=True))


@dataclass
class Participants:
    """Who takes part, moving and static bodies, and what was said about them, in the caller's numbers."""

    movers: Bodies
    static: Bodies | None
    world: Array | None
    group: Array | None
    mask: Array | None
    ignore: Array | None
    meshes: tuple[Mesh, ...] = field(
        init=False
    )  # one object for all batches: tables of meshes are kept by it
    rank: Array | None = field(init=False)  # worlds numbered from 0, of all bodies
    n_worlds: int = field(init=False)

    def __post_init__(self) -> None:
        self.n = len(self.movers)
        self.n_static = 0 if self.static is None else len(self.static)
        self.meshes = self.movers.meshes + (() if self.static is None else self.static.meshes)
        self.n_worlds, self.rank = 1, None
        if self.world is not None:
            names = np.unique(self.world[self.world >= 0])
            if len(names) > 1:
                self.n_worlds = len(names)
                self.rank = np.where(self.world < 0, -1, np.searchsorted(names, self.world))

    @property
    def alone(self) -> bool:
        """Each step needs a call of its own.

        Worlds stand for steps, so a body of a batch can be in one world of one step or in all worlds of all
        steps. A moving body in all worlds is neither, nor a static one in a single world.
        """
        if self.rank is None:
            return False
        return bool((self.rank[: self.n] < 0).any() or (self.rank[self.n :] >= 0).any())

    def meet(self, a: Array, b: Array) -> Array:
        """Which pairs of bodies the groups, masks and ignored pairs allow, (p,) bool."""
        kept = np.ones(len(a), bool)
        if self.group is not None or self.mask is not None:
            every = np.full(self.n + self.n_static, 0xFFFFFFFF)
            group, mask = (every if bits is None else bits & 0xFFFFFFFF for bits in (self.group, self.mask))
            kept &= ((group[a] & mask[b]) != 0) & ((group[b] & mask[a]) != 0)
        return kept if self.ignore is None else kept & ~self.ignored(np.stack([a, b], axis=1))

    def ignored(self, pairs: Array) -> Array:
        """Which pairs (p, 2) of bodies are ignored."""
        if self.ignore is None:
            return np.zeros(len(pairs), bool)
        total = self.n + self.n_static
        keys = [of.min(axis=1).astype(np.int64) * total + of.max(axis=1) for of in (pairs, self.ignore)]
        return np.isin(*keys)

    def usual_batch(self, max_bytes: int) -> int:
        return usual_batch(self.n, max_bytes, 0 if self.ignore is None else len(self.ignore))


@dataclass(frozen=True)
class StepBatch:
    """Steps that a query looks at together: bodies as worlds that do not meet, and what each of them is.

    Attributes
    ----------
    first : int
        Its first step.
    bodies : Bodies
        The moving ones of all steps, step by step, and then the static ones.
    rules : Rules
        Of their pairs.
    step, body : (m,) int ndarray
        Step of each moving one, counted from `first`, and its number in the caller's count.
    number : (m + static,) int ndarray
        That number, of all.
    t0, t1 : (s,) float64 ndarray
        When the steps begin and end.
    skipped : (k,) structured
        As `TrajectoryContacts` has it.
    """

    first: int
    bodies: Bodies
    rules: Any
    step: Array
    body: Array
    number: Array
    t0: Array
    t1: Array
    skipped: Array

    def of_pairs(self, pairs: Array) -> tuple[Array, Array]:
        """Of each pair (p, 2) of its bodies whether one moves along, and its step."""
        n = len(self.step)
        moving = pairs[:, 0] < n  # two static ones are a pair only with still_pairs
        return moving, self.step[np.where(moving, pairs[:, 0], 0)] if n else np.zeros(len(pairs), np.int64)


@dataclass
class StepBatches:
    """A query along trajectories, checked already."""

    crew: Participants
    times: NDArray[np.float64]
    max_speed: float | None
    max_turn: float | None
    progress: Progress | None
    size: int
    still_pairs: bool
    engine: Any  # kept from batch to batch

    def __post_init__(self) -> None:
        self.progress = once_each(self.progress)
        self.doubted = False

    def opened(self, first: int, window: Any, only: Any = None) -> StepBatch:
        """The bodies of the steps from frame `first` on; `only` of which bodies in which steps, if it is a
        function of which are known, (steps, n) bool, that returns such an array."""
        crew, steps = self.crew, len(window[0]) - 1 if len(window[0]) else 0
        if not self.doubted:
            self.doubted = True
            warn_of_recording(crew.movers, crew.static, (*window[:3], window[3] & window[4]), self.times)
        t0, t1 = self.times[first : first + steps], self.times[first + 1 : first + steps + 1]
        why = self._why_not(window, t1 - t0)
        step, body = np.nonzero(why == 0 if only is None else only(why == 0))
        bodies, rules = self._bodies(window, step, body, steps)
        number = np.concatenate([body, crew.n + np.arange(crew.n_static)])
        at, who = np.nonzero((why > 0) & (why < _ABSENT))
        skipped = np.empty(len(at), SKIP_DTYPE)
        skipped["step"], skipped["body"] = first + at, who
        skipped["reason"] = np.array(_REASONS, "U8")[why[at, who]]
        return StepBatch(first, bodies, rules, step, body, number, t0, t1, skipped)

    def finished(self, batch: StepBatch) -> None:
        """Say that a batch is done."""
        if self.progress is not None:
            self.progress(batch.first + len(batch.t0), max(len(self.times) - 1, 0))

    @property
    def told(self) -> dict[str, Any]:
        """What ``info`` says of the bodies and batches."""
        return {"n_bodies": self.crew.n, "n_static": self.crew.n_static, "frames_per_batch": self.size}

    def _why_not(self, window: Any, seconds: Array) -> Array:
        """Number of the reason why a body is not swept in a step, 0 if it is, `_ABSENT` if it is not there at
        one of its ends; (steps, n) uint8."""
        position, _, unit, valid, there = window
        start, end = slice(None, -1), slice(1, None)
        why = np.zeros((len(seconds), position.shape[1]), np.uint8)
        if self.max_turn is not None:
            p, q = unit[start], unit[end]
            flip = np.where((p * q).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
            apart, together = (np.linalg.norm(p - s * q, axis=-1) for s in (flip, -flip))
            why[4 * angle_of(apart, together) > self.max_turn] = _REASONS.index("turn")
        if self.max_speed is not None:
            with np.errstate(invalid="ignore", over="ignore"):
                moved = np.linalg.norm(position[end] - position[start], axis=-1)
            why[moved > self.max_speed * seconds[:, None]] = _REASONS.index("teleport")
        why[~(valid[start] & valid[end])] = _REASONS.index("invalid")
        why[~(there[start] & there[end])] = _ABSENT
        return why

    def _bodies(self, window: Any, step: Array, body: Array, steps: int) -> Any:
        """Bodies of a batch, moving ones step by step and then static ones, and the rules of their pairs."""
        crew, static = self.crew, self.crew.static
        position, quat = window[:2]
        ends: list[Any] = [(position[step + k, body], quat[step + k, body]) for k in (0, 1)]
        shape = crew.movers.shape[body]
        number = np.concatenate([body, crew.n + np.arange(crew.n_static)])
        if static is not None:
            still = (static.start.position, static.start.quat_wxyz)
            ends = [tuple(np.concatenate(both) for both in zip(end, still, strict=True)) for end in ends]
            shape = np.concatenate([shape, static.shape + len(crew.movers.meshes)])
        bodies = Bodies(crew.meshes, shape, *(Poses.from_quat_wxyz(*end) for end in ends))
        if crew.rank is not None and crew.alone:
            world = crew.rank[number]
        else:
            rank: Any = 0 if crew.rank is None else crew.rank[body]
            world = np.concatenate([step * crew.n_worlds + rank, np.full(crew.n_static, -1)])
        group, mask = (None if bits is None else bits[number] for bits in (crew.group, crew.mask))
        ignore = self._ignored(step, body, steps)
        return bodies, check_rules(len(bodies), world, group, mask, ignore, self.still_pairs)

    def _ignored(self, step: Array, body: Array, steps: int) -> Array | None:
        """The ignored pairs in the numbers of a batch."""
        crew = self.crew
        if crew.ignore is None:
            return None
        place = np.full((steps, crew.n + crew.n_static), -1)
        place[step, body] = np.arange(len(step))
        place[:, crew.n :] = len(step) + np.arange(crew.n_static)
        rows = place[:, crew.ignore].reshape(-1, 2)
        return rows[(rows >= 0).all(axis=1)]


@dataclass
class TrajectoryBatches(StepBatches):
    """A call of `collide_trajectories`; `batch` does the work."""

    exit: bool = False

    @within_memory
    def batch(self, first: int, window: Any) -> TrajectoryContacts:
        """`TrajectoryContacts` of the steps from frame `first` on."""
        batch = self.opened(first, window)
        margin = self.engine.options.target_distance
        pairs = open_search(self.engine, batch.bodies, batch.rules, margin=margin)
        progress = self._progress_within(first, len(batch.t0))
        result = self.contacts(batch, pairs, progress)
        self.finished(batch)
        return result

    def contacts(self, batch: StepBatch, pairs: Any, progress: Any = None) -> TrajectoryContacts:
        """Contacts of pairs of the bodies of a batch, (p, 2) int32 or a search, and parked ones."""
        first = batch.first
        found = answer(self.engine, batch.bodies, pairs, progress).to_numpy()
        if self.exit:
            found = with_exits(found, batch.bodies, self.engine.options)
        result = self._result(found, batch)
        if not self.still_pairs:
            parked = parked_pairs(self.engine, self.crew, batch.bodies, batch.step, batch.body)
            parked["step"] += first
            result |= _with_pairs(result, parked)
        info = {**found.info, **self.told}
        info.pop("invalid_bodies", None)  # none: they are in `skipped`
        return TrajectoryContacts(**result, skipped=batch.skipped, first_step=first, info=info)

    def _progress_within(self, first: int, steps: int) -> Any:
        if self.progress is None:
            return None
        total = max(len(self.times) - 1, 0)
        progress = self.progress
        return lambda done, pairs: progress(first + steps * done // max(pairs, 1), total)

    def _result(self, found: Contacts, batch: StepBatch) -> dict[str, Any]:
        """Fields of `TrajectoryContacts` from those of `Contacts` of a batch."""
        asked: Any = found.pairs
        a, b = asked[:, 0], asked[:, 1]
        first, number, t0, t1 = batch.first, batch.number, batch.t0, batch.t1
        moving, at = batch.of_pairs(asked)
        rows = np.flatnonzero(moving & (found.status != 0))
        pairs = np.empty(len(rows), PAIR_DTYPE)
        pairs["step"], pairs["status"] = first + at[rows], found.status[rows]
        pairs["body_a"], pairs["body_b"] = number[a[rows]], number[b[rows]]
        pairs["toi"] = absolute(found.toi[rows], t0[at[rows]], t1[at[rows]])
        kept = np.flatnonzero(moving[found.pair])
        of = found.pair[kept]
        start, end = t0[at[of]], t1[at[of]]
        fields = {
            name: getattr(found, name)[kept]
            for name in ("kind", "feature_a", "feature_b", "position", "normal", "properness", "local_a",
                         "local_b", "sustained", *(PART_FIELDS if found.part_a is not None else ()))
        }  # fmt: skip
        counts = np.diff(found.contact_start)[rows]
        fraction = found.time[kept]
        if found.exit is not None:
            fields["exit"] = absolute(found.exit[rows], t0[at[rows]], t1[at[rows]])
        return {
            **fields,
            "step": first + at[of],
            "body_a": number[a[of]],
            "body_b": number[b[of]],
            "fraction": fraction,
            "time": absolute(fraction, start, end),
            "time_end": absolute(found.time_end[kept], start, end),
            "normal_speed": found.normal_speed[kept] / (end - start),
            "pairs": pairs,
            "contact_start": np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
            "step_pairs": np.bincount(at[moving], minlength=len(t0)),
            "step_start": t0,
        }


def _with_pairs(result: dict[str, Array], more: Array) -> dict[str, Array]:
    """Pairs of a result, and more pairs that have no contacts and stay together."""
    both = np.concatenate([result["pairs"], more])
    counts = np.concatenate([np.diff(result["contact_start"]), np.zeros(len(more), np.int64)])
    order = np.lexsort([both[name] for name in ("body_b", "body_a", "step")])
    fields = {
        "pairs": both[order],
        "contact_start": np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[order])]),
    }
    if "exit" in result:
        fields["exit"] = np.concatenate([result["exit"], np.full(len(more), np.inf)])[order]
    return fields


def absolute(fraction: Array, start: Array, end: Array) -> Array:
    """Times of fractions of steps: never past the step's end by rounding, `inf` where the fraction is."""
    time = start + fraction * (end - start)
    return np.where(fraction <= 1.0, np.minimum(time, end), time)
