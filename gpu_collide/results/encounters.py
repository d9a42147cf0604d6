"""`Encounters`: which bodies met along a recording, and when."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._validate import as_parts
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import encounter_faults
from gpu_collide.results.ids import BodyIds
from gpu_collide.results.part_names import PART_FIELDS, joined_names
from gpu_collide.results.result import Result, Status, joined_info
from gpu_collide.results.runs import Runs, begins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gpu_collide._types import Array

__all__ = ["Encounters", "encounters_of"]

_DEPTHS = ("depth", "depth_time")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Encounters(BodyIds, Result, rows="body_a"):
    """Consecutive steps in which two bodies are together, sorted by (first_time, body_a, body_b, first_step).

    Two bodies are together in a step in which they have a contact, or at whose start they overlap. Made by
    `TrajectoryContacts.encounters`. ``len()`` is the number of encounters.

    Attributes
    ----------
    body_a, body_b : (e,) int32
        The two bodies, ``body_a < body_b``.
    first_time, last_time : (e,) float64
        The first and the last time at which they are seen together, in seconds: times of contacts, the end of
        a sustained one, and the start of each step at which they overlap. Of `Recording.encounters` the last
        time is that from which on there is a gap between them, or the last frame at which they are together.
    first_step, last_step : (e,) int64
        The first and the last step in which they are together.
    contacts : (e,) int64
        Number of contacts: 0 if they overlap all the time, and neither surface passes through a further part
        of the other.
    in_touch : (e,) bool
        The two are already in touch when it begins: they overlap at the start of the first step, or only
        separate at the first time. Then the recording, or the part that was examined, does not show how they
        met.
    approach : (e,) float64
        Hardest approach along the normal, in length per second; negative if they only separate, ``-inf``
        without a contact.
    hardest : (e,) int64
        Row of that contact in the `TrajectoryContacts`; if they only separate, the slowest to do so; -1:
        none.
    hardest_step : (e,) int64
        Its step; -1: none.
    hardest_time : (e,) float64
        Its time, seconds; ``inf``: none.
    position, normal : (e, 3) float64
        Its place in the world, and its normal from A to B; zero without a contact.
    info : dict
        As in `TrajectoryContacts`.
    part_a, part_b : (e,) int32 or None
        Parts of its hardest contact, as in `Contacts`.
    depth : (e,) float64 or None
        Of `Recording.encounters`, else None: the deepest overlap at the frames, as `clearance` with ``at=``
        has it; 0 where they overlap at none.
    depth_time : (e,) float64 or None
        When: the time of that frame; not a number where they overlap at none.

    Notes
    -----
    An encounter that continues over the seam between two blocks of steps is in the encounters of both, up to
    the last step of one and from the first step of the other, also where neither step has a contact. So
    `concatenate` needs nothing else.
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=4,  # 2: names of parts; 3: encounters without a contact; 4: depths
        faults=encounter_faults,
        kind="Encounters",
    )

    body_a: NDArray[np.int32] = array_field(np.int32)
    body_b: NDArray[np.int32] = array_field(np.int32)
    first_time: NDArray[np.float64] = array_field(np.float64)
    last_time: NDArray[np.float64] = array_field(np.float64)
    first_step: NDArray[np.int64] = array_field(np.int64)
    last_step: NDArray[np.int64] = array_field(np.int64)
    contacts: NDArray[np.int64] = array_field(np.int64)
    in_touch: NDArray[np.bool_] = array_field(np.bool_)
    approach: NDArray[np.float64] = array_field(np.float64, finite=False)
    hardest: NDArray[np.int64] = array_field(np.int64)
    hardest_step: NDArray[np.int64] = array_field(np.int64)
    hardest_time: NDArray[np.float64] = array_field(np.float64, finite=False)
    position: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    part_a: NDArray[np.int32] | None = None
    part_b: NDArray[np.int32] | None = None
    depth: NDArray[np.float64] | None = array_field(np.float64, optional=True)
    depth_time: NDArray[np.float64] | None = array_field(np.float64, optional=True)

    def _told(self, rows: slice) -> dict[str, Array]:
        more = {} if self.depth is None else {name: getattr(self, name)[rows] for name in _DEPTHS}
        return super()._told(rows) | more

    @classmethod
    def concatenate(cls, parts: Iterable[Encounters]) -> Encounters:
        """One object of those of several blocks of steps that follow each other, to the bits of one piece.

        Parameters
        ----------
        parts : iterable of Encounters
            At least one, in the order of their steps, of blocks that share one frame: where a block ends with
            frame k, the next one begins with it. Numbers of bodies and of steps are those of the whole
            (`TrajectoryContacts.shifted`).

        Returns
        -------
        Encounters
            What ``TrajectoryContacts.concatenate(...).encounters()`` gives; `hardest` counts the contacts of
            all blocks in their order. Depths are there if all parts have them. Joins may be nested: blocks
            one by one, or halves.

        Raises
        ------
        TypeError
            Something else than Encounters.
        ValueError
            No parts, or one with a step that belongs to those before it.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> position = [[[0, 0, 3.0]], [[0, 0, 0.8]], [[0, 0, 0.7]]]  # a box sinks into another
        >>> poses = gc.Poses.from_quat_wxyz(position, [[[1, 0, 0, 0]]] * 3)
        >>> found = gc.collide_trajectories(gc.shapes.box(), None, poses, [0, 1, 2], static=gc.shapes.box())
        >>> blocks = [gc.collide_trajectories(gc.shapes.box(), None, poses[k : k + 2], [k, k + 1],
        ...                                   static=gc.shapes.box()).shifted(k) for k in (0, 1)]
        >>> met = gc.Encounters.concatenate(block.encounters() for block in blocks)
        >>> met.first_step.tolist(), met.last_step.tolist(), len(blocks[1])
        ([0], [1], 0)
        """
        parts = as_parts(parts, Encounters, "Encounters")
        return parts[0] if len(parts) == 1 else _joined(parts)

    def __repr__(self) -> str:
        pairs = len({(a, b) for a, b in zip(self.body_a.tolist(), self.body_b.tolist(), strict=True)})
        lines = ["Encounters", f"  encounters {len(self)} of {pairs} pairs of bodies"]
        lines.append(f"  contacts   {int(self.contacts.sum())}")
        if len(self):
            lines.append(f"  first      t = {self.first_time[0]:.6g}")
        if self.contacts.any():
            i = int(np.argmax(self.approach))
            lines.append(
                f"  hardest    {self.approach[i]:.6g} per second at t = {self.hardest_time[i]:.6g}, "
                f"bodies {self.id_a[i]} and {self.id_b[i]}"
            )
        if self.depth is not None and self.depth.any():
            i = int(np.argmax(self.depth))
            lines.append(
                f"  deepest    {self.depth[i]:.6g} at t = {self.depth_time[i]:.6g}, "  # type: ignore[index]
                f"bodies {self.id_a[i]} and {self.id_b[i]}"
            )
        if self.in_touch.any():
            lines.append(f"  in touch   {int(self.in_touch.sum())} when they begin")
        return "\n".join(lines)


def encounters_of(found: Any) -> Encounters:
    """`Encounters` of the contacts along trajectories."""
    pairs, counts = found.pairs, np.diff(found.contact_start)
    inside = pairs["status"] == Status.INITIAL_OVERLAP
    start = np.where(inside, found.step_start[pairs["step"] - found.first_step], np.nan)
    together = np.flatnonzero((counts > 0) | inside)
    order = together[np.lexsort([pairs[name][together] for name in ("step", "body_b", "body_a")])]
    a, b, step = (pairs[name][order] for name in ("body_a", "body_b", "step"))
    new = begins(a, b, step - 1, step)
    first = order[new]
    last = order[np.append(new[1:], True)[: len(order)]]
    run = np.full(len(pairs), -1)  # the encounter of each row of pairs
    run[order] = np.cumsum(new) - 1
    of = np.repeat(run, counts)  # and of each contact
    first_time, last_time = np.full(len(first), np.inf), start[last]
    np.fmin.at(first_time, run[order], np.fmin(start, pairs["toi"])[order])
    np.fmax.at(last_time, of, found.time_end)
    fields: dict[str, Array] = {
        "body_a": pairs["body_a"][first], "body_b": pairs["body_b"][first],
        "first_time": first_time, "last_time": last_time,
        "first_step": pairs["step"][first], "last_step": pairs["step"][last],
        "contacts": np.bincount(of, minlength=len(first)),
        "in_touch": inside[first] | ~_approaching(found, counts)[first],
        **_hardest(found, of, len(first)),
    }  # fmt: skip
    known = np.isfinite(first_time)  # files of earlier versions do not say when steps begin
    info = {name: value for name, value in found.info.items() if name != "gap_steps"}
    return _sorted({name: values[known] for name, values in fields.items()}, info)


def _approaching(found: Any, counts: Array) -> Array:
    """Whether a contact of each row of pairs approaches, or lasts, at the row's first time.

    The others of an encounter have no say, not even one of the next step at the time of the frame between:
    then those of a block are enough.
    """
    row = np.repeat(np.arange(len(counts)), counts)
    closes = (found.time == found.pairs["toi"][row]) & (found.normal_speed <= 0)
    return np.bincount(row[closes], minlength=len(counts)) > 0


def _hardest(found: Any, of: Array, count: int) -> dict[str, Array]:
    """What `count` encounters say of their hardest contact; `of`: the encounter of each contact."""
    rows = np.lexsort([found.normal_speed, of])  # of equal ones the first in the table
    have, at = np.unique(of[rows], return_index=True)
    taken: dict[str, tuple[Array, float]] = {  # values, and what stands where there is no contact
        "approach": (-found.normal_speed, -np.inf), "hardest": (np.arange(len(found)), -1),
        "hardest_step": (found.step, -1), "hardest_time": (found.time, np.inf),
        "position": (found.position, 0.0), "normal": (found.normal, 0.0),
    }  # fmt: skip
    if found.part_a is not None:
        taken |= {name: (getattr(found, name), -1) for name in PART_FIELDS}
    told = {}
    for name, (values, nothing) in taken.items():
        told[name] = np.full((count, *values.shape[1:]), nothing, values.dtype)
        told[name][have] = values[rows[at]]
    return told


def _joined(parts: Sequence[Encounters]) -> Encounters:
    """`Encounters` of blocks of steps that follow each other."""
    before = -1
    for k, part in enumerate(parts):
        if len(part) and part.first_step.min() <= before:
            raise ValueError(
                f"parts: expected parts in the order of their steps, got part {k} with one from step "
                f"{part.first_step.min()} on, behind step {before}"
            )
        before = max(before, int(part.last_step.max(initial=-1)))
    named, said = joined_names(parts)
    deep = all(part.depth is not None for part in parts)
    names = (*Encounters._rows, *_DEPTHS) if deep else tuple(Encounters._rows)
    rows = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names} | named
    earlier = np.cumsum([0] + [int(part.contacts.sum()) for part in parts[:-1]])  # each contact is in one
    rows["hardest"] += np.where(rows["hardest"] < 0, 0, np.repeat(earlier, [len(part) for part in parts]))
    runs = Runs(rows, rows["first_step"] - 1)
    hardest = runs.least(-runs.rows["approach"])
    fields = {name: values[hardest] for name, values in runs.rows.items()}
    for name in ("first_time", "first_step", "in_touch"):
        fields[name] = runs.rows[name][runs.first]
    if "depth" in rows:
        deepest = runs.least(-runs.rows["depth"])
        fields |= {name: runs.rows[name][deepest] for name in _DEPTHS}
    for name, join in (("last_time", np.maximum), ("last_step", np.maximum), ("contacts", np.add)):
        fields[name] = runs.joined(name, join)
    return _sorted(fields, {**joined_info(parts), **said})


def _sorted(fields: Mapping[str, Array], info: dict[str, Any]) -> Encounters:
    order = np.lexsort([fields[n] for n in ("first_step", "body_b", "body_a", "first_time")])
    return Encounters(**{name: values[order] for name, values in fields.items()}, info=info)
