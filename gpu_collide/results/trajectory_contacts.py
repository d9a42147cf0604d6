"""`TrajectoryContacts`: the frozen result of a query along trajectories."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._validate import as_parts
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import trajectory_faults
from gpu_collide.results.ids import BodyIds
from gpu_collide.results.indexing import has_bodies
from gpu_collide.results.part_names import joined_names
from gpu_collide.results.result import (
    Kind,
    Result,
    Status,
    counted,
    joined_info,
    overlap_words,
    whole_number,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpu_collide._types import Array
    from gpu_collide.results.encounters import Encounters

__all__ = ["PAIR_DTYPE", "SKIP_DTYPE", "TrajectoryContacts"]

PAIR_DTYPE = np.dtype([("step", "i8"), ("body_a", "i4"), ("body_b", "i4"), ("status", "u1"), ("toi", "f8")])
SKIP_DTYPE = np.dtype([("step", "i8"), ("body", "i4"), ("reason", "U8")])


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TrajectoryContacts(BodyIds, Result, rows="step"):
    """Every contact along trajectories, ordered by (step, body_a, body_b, fraction, kind, features).

    Step k leads from frame k to frame k + 1.  Bodies 0 to n - 1 are the moving ones, n and up the static
    ones. All arrays are on the host and read-only. ``len()`` is the number of contacts.

    Attributes
    ----------
    step : (c,) int64
        Step of each contact.
    body_a, body_b : (c,) int32
        The two bodies, ``body_a < body_b``.
    time, time_end : (c,) float64
        Absolute, in the unit of the frames' times (seconds); ``time_end`` is the end of a sustained contact
        within its step, else equal to `time`.
    fraction : (c,) float64
        The same time as a fraction of its step, in [0, 1].
    kind, feature_a, feature_b, position, normal, properness, local_a, local_b, sustained
        As in `Contacts`.
    normal_speed : (c,) float64
        Relative speed along the normal, length per second: negative approaches.
    pairs : (k,) structured
        Pairs other than a plain MISS, with the fields ``step``, ``body_a``, ``body_b``, ``status``
        (`Status`) and ``toi``, the absolute time of the earliest contact (``inf``: none).
    contact_start : (k + 1,) int64
        Contacts ``contact_start[i]:contact_start[i + 1]`` belong to row i of `pairs`.
    skipped : (m,) structured
        Bodies that were not swept in a step, with the fields ``step``, ``body`` and ``reason``: "invalid",
        "teleport" or "turn".
    step_pairs : (s,) int64
        Number of pairs that were tested in each step, from `first_step` on; 0 for numbers that are not steps,
        between two races and between joined parts.
    step_start : (s,) float64
        Time at which each step begins; NaN for numbers that are not steps, and in files of earlier versions.
    first_step : int
        The first step covered: 0, unless the object is one batch of a stream.
    info : dict
        As in `Contacts`; ``timings`` are summed over the batches. ``gap_steps``, if present: how many of the
        numbers in `step_pairs` are not steps. ``ids``, if present: what the recording calls each moving body.
    part_a, part_b : (c,) int32 or None
        As in `Contacts`.
    exit : (k,) float64 or None
        When the motion of its step takes each row of `pairs` apart, in the unit of `time`; None unless asked
        for. As in `Contacts`: ``inf`` if they are together until the step ends, not a number if it is not
        known.
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=5,  # 2: checksums; 3: names of parts; 4: step_start; 5: fraction, before share
        faults=trajectory_faults,
        kind="TrajectoryContacts",
        first_with_checksums=2,
        numbers={"first_step": np.int64},
        renamed={"share": "fraction"},
    )

    step: NDArray[np.int64] = array_field(np.int64)
    body_a: NDArray[np.int32] = array_field(np.int32)
    body_b: NDArray[np.int32] = array_field(np.int32)
    fraction: NDArray[np.float64] = array_field(np.float64)
    kind: NDArray[np.uint8] = array_field(np.uint8)
    feature_a: NDArray[np.int32] = array_field(np.int32)
    feature_b: NDArray[np.int32] = array_field(np.int32)
    time: NDArray[np.float64] = array_field(np.float64)
    position: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    properness: NDArray[np.float64] = array_field(np.float64)
    local_a: NDArray[np.float64] = array_field(np.float64, 3)
    local_b: NDArray[np.float64] = array_field(np.float64, 3)
    normal_speed: NDArray[np.float64] = array_field(np.float64)
    sustained: NDArray[np.bool_] = array_field(np.bool_)
    time_end: NDArray[np.float64] = array_field(np.float64)
    pairs: NDArray[np.void] = array_field(PAIR_DTYPE, like="pairs")
    contact_start: NDArray[np.int64] = array_field(np.int64, like="pairs", more=1)
    skipped: NDArray[np.void] = array_field(SKIP_DTYPE, like="skipped")
    step_pairs: NDArray[np.int64] = array_field(np.int64, like="step_pairs")
    first_step: int = 0
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    part_a: NDArray[np.int32] | None = None
    part_b: NDArray[np.int32] | None = None
    step_start: NDArray[np.float64] | None = array_field(np.float64, like="step_pairs", optional=True)
    exit: NDArray[np.float64] | None = array_field(np.float64, like="pairs", optional=True)

    def __post_init__(self) -> None:
        if self.step_start is None:
            object.__setattr__(self, "step_start", np.full(len(self.step_pairs), np.nan))
        object.__setattr__(self, "first_step", int(self.first_step))
        super().__post_init__()

    @property
    def n_steps(self) -> int:
        """Number of steps that were examined.

        Step numbers go up to ``first_step + len(step_pairs) - 1``; those between two races are not counted.
        """
        return len(self.step_pairs) - self.info.get("gap_steps", 0)

    def of_step(self, step: int) -> slice:
        """Contacts of one step.

        Parameters
        ----------
        step : int
            Its number, from `first_step` on.

        Returns
        -------
        slice
            Rows of the per-contact arrays: ``found.time[found.of_step(7)]``.

        Raises
        ------
        IndexError
            There is no such step.
        """
        step, stop = whole_number(step, "step"), self.first_step + len(self.step_pairs)
        if not self.first_step <= step < stop:
            there = f"steps are {self.first_step} to {stop - 1}" if len(self.step_pairs) else "there are none"
            raise IndexError(f"step {step} is out of range: {there}")
        return slice(*np.searchsorted(self.step, [step, step + 1]).tolist())

    def of_bodies(self, a: int, b: int | None = None) -> TrajectoryContacts:
        """Contacts of a body with any other, or of two bodies in whichever order."""
        return self[has_bodies(self.body_a, self.body_b, a, b)]

    def encounters(self) -> Encounters:
        """Which bodies met, and when: consecutive steps in which two bodies are together, as one encounter.

        Two bodies are together in a step in which they have a contact, or at whose start they overlap. Bodies
        that overlap without a contact are encounters as well.

        Returns
        -------
        Encounters
            Sorted by time. `Encounters.concatenate` joins those of consecutive blocks of steps. Those of
            `Recording.encounters` know how deep the bodies are in each other as well.
        """
        from gpu_collide.results.encounters import encounters_of

        return encounters_of(self)

    def _selected(self, rows: Array) -> TrajectoryContacts:
        changed: dict[str, Any] = {name: getattr(self, name)[rows] for name in self._columns}
        owner = np.repeat(np.arange(len(self.pairs)), np.diff(self.contact_start))[rows]
        pairs, counts = self.pairs.copy(), np.bincount(owner, minlength=len(self.pairs))
        pairs["toi"] = np.inf
        np.minimum.at(pairs["toi"], owner, changed["time"])
        kept = (counts > 0) | (pairs["status"] != Status.HIT)
        starts = np.concatenate([[0], np.cumsum(counts[kept])])
        if self.exit is not None:
            changed["exit"] = self.exit[kept]
        return dataclasses.replace(self, **changed, pairs=pairs[kept], contact_start=starts)

    @classmethod
    def concatenate(cls, parts: Iterable[TrajectoryContacts]) -> TrajectoryContacts:
        """Join consecutive parts, as ``stream=True`` yields them.

        Parameters
        ----------
        parts : iterable of TrajectoryContacts
            At least one, in the order of their steps. Of parts without exits, beside others, these are not
            known.

        Raises
        ------
        TypeError
            Something else than a TrajectoryContacts.
        ValueError
            No parts, or one that begins before the one before it ends.
        """
        parts = as_parts(parts, TrajectoryContacts, "TrajectoryContacts")
        if len(parts) == 1:
            return parts[0]
        gaps = _gaps(parts)
        arrays = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in (*cls._rows, "pairs", "skipped")
        }
        before = np.cumsum([0] + [len(part) for part in parts])
        starts = [part.contact_start[1:] + n for part, n in zip(parts, before, strict=False)]
        arrays["contact_start"] = np.concatenate([np.zeros(1, np.int64), *starts])
        for name, nothing in (("step_pairs", 0), ("step_start", np.nan)):
            columns = [getattr(part, name) for part in parts]
            between = [np.full(gap, nothing, column.dtype) for gap, column in zip(gaps, columns, strict=True)]
            arrays[name] = np.concatenate([a for both in zip(between, columns, strict=True) for a in both])
        if any(part.exit is not None for part in parts):
            arrays["exit"] = np.concatenate(
                [np.full(len(part.pairs), np.nan) if part.exit is None else part.exit for part in parts]
            )
        named, said = joined_names(parts)
        info = {**joined_info(parts), **said}
        gap_steps = sum(gaps) + sum(part.info.get("gap_steps", 0) for part in parts)
        if gap_steps:
            info["gap_steps"] = gap_steps
        return cls(**arrays, **named, first_step=parts[0].first_step, info=info)

    def shifted(self, steps: int) -> TrajectoryContacts:
        """The same with `steps` added to every step number; times are unchanged.

        Parameters
        ----------
        steps : int
            Negative lowers the numbers; the first one cannot go below 0.
        """
        steps = whole_number(steps, "steps")
        if self.first_step + steps < 0:
            raise ValueError(
                f"steps: expected {-self.first_step} or more, since the first step has number "
                f"{self.first_step} and none goes below 0, got {steps}"
            )
        pairs, skipped = self.pairs.copy(), self.skipped.copy()
        pairs["step"] += steps
        skipped["step"] += steps
        return dataclasses.replace(
            self,
            step=self.step + steps,
            pairs=pairs,
            skipped=skipped,
            first_step=self.first_step + steps,
        )

    def __repr__(self) -> str:
        stop = self.first_step + len(self.step_pairs)
        status, kind = self.pairs["status"], self.kind
        lines = [
            "TrajectoryContacts",
            f"  steps     {self.first_step} to {stop - 1}" if self.n_steps else "  steps     none",
            f"  pairs     {self.step_pairs.sum()}: {counted(status, Status) or 'no contact'}",
            f"  contacts  {len(self)}: {counted(kind, Kind) or 'none'}",
        ]
        overlapping = int((status == Status.INITIAL_OVERLAP).sum())
        if overlapping:
            lines.insert(3, f"  overlap   {overlap_words(overlapping)}")
        if len(self):
            i = int(np.argmin(self.time))
            lines.append(
                f"  earliest  t = {self.time[i]:.9g} in step {self.step[i]}, "
                f"bodies {self.id_a[i]} and {self.id_b[i]}"
            )
        if len(self.skipped):
            reason = self.skipped["reason"]
            counts = ", ".join(f"{(reason == r).sum()} {r}" for r in np.unique(reason))
            lines.append(f"  skipped   {len(self.skipped)}: {counts}")
        return "\n".join(lines)


def _gaps(parts: Sequence[TrajectoryContacts]) -> list[int]:
    """Steps that no part looked at, before each part (from one race of a file to the next there is one)."""
    gaps, stop = [], parts[0].first_step
    for k, part in enumerate(parts):
        if part.first_step < stop:
            raise ValueError(
                f"parts: expected parts in the order of their steps, got part {k} that begins with step "
                f"{part.first_step}, after step {stop - 1}"
            )
        gaps.append(part.first_step - stop)
        stop = part.first_step + len(part.step_pairs)
    return gaps
