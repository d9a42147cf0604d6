"""`Encounters`: who met whom along a recording, and when."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide.results.faults import encounter_faults
from gpu_collide.results.parts import PART_FIELDS
from gpu_collide.results.result import Field, FileFormat, Result, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpu_collide._types import Array

__all__ = ["Encounters", "encounters_of"]

_FIELDS: dict[str, Field] = {
    "body_a": (np.int32, ()),
    "body_b": (np.int32, ()),
    "first_time": (np.float64, ()),
    "last_time": (np.float64, ()),
    "first_step": (np.int64, ()),
    "last_step": (np.int64, ()),
    "contacts": (np.int64, ()),
    "in_touch": (np.bool_, ()),
    "approach": (np.float64, ()),
    "hardest": (np.int64, ()),
    "hardest_step": (np.int64, ()),
    "hardest_time": (np.float64, ()),
    "position": (np.float64, (3,)),
    "normal": (np.float64, (3,)),
}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Encounters(Result):
    """Contacts of two bodies in consecutive steps as one, sorted by (first_time, body_a, body_b, first_step).

    Made by `TrajectoryContacts.encounters`. ``len()`` is the number of encounters.

    Attributes
    ----------
    body_a, body_b : (e,) int32
        The two bodies, ``body_a < body_b``.
    first_time, last_time : (e,) float64
        Times of the first and of the last contact, seconds; of a lasting contact its end.
    first_step, last_step : (e,) int64
        Steps of the first and of the last contact.
    contacts : (e,) int64
        How many contacts it has.
    in_touch : (e,) bool
        The two were in touch already when it begins: they overlap at the start of the step, or all that
        happens at the first time is that they separate. Then the recording, or what was looked at of it, does
        not show how they met.
    approach : (e,) float64
        Hardest approach along the normal, length per second; negative if they only separate.
    hardest : (e,) int64
        Row of that contact in the `TrajectoryContacts`; of two that only separate, the slowest to do so.
    hardest_step : (e,) int64
        Its step.
    hardest_time : (e,) float64
        Its time, seconds.
    position, normal : (e, 3) float64
        Its place in the world, and its normal from A to B.
    info : dict
        As in `TrajectoryContacts`.
    part_a, part_b : (e,) int32 or None
        Parts of its hardest contact, as in `Contacts`.
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=2,  # 2: names of parts
        unnamed=1,
        first_with_checksums=1,
        fields={name: (dtype, (None, *tail)) for name, (dtype, tail) in (_FIELDS | PART_FIELDS).items()},
        faults=encounter_faults,
        optional=tuple(PART_FIELDS),
        kind="Encounters",
    )
    _rows: ClassVar[dict[str, Field]] = _FIELDS

    body_a: NDArray[np.int32]
    body_b: NDArray[np.int32]
    first_time: NDArray[np.float64]
    last_time: NDArray[np.float64]
    first_step: NDArray[np.int64]
    last_step: NDArray[np.int64]
    contacts: NDArray[np.int64]
    in_touch: NDArray[np.bool_]
    approach: NDArray[np.float64]
    hardest: NDArray[np.int64]
    hardest_step: NDArray[np.int64]
    hardest_time: NDArray[np.float64]
    position: NDArray[np.float64]
    normal: NDArray[np.float64]
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    part_a: NDArray[np.int32] | None = None
    part_b: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        self._freeze_parts()
        self._freeze(_FIELDS, len(self.body_a))
        object.__setattr__(self, "info", dict(self.info))

    def __len__(self) -> int:
        return len(self.body_a)

    def __repr__(self) -> str:
        pairs = len({(a, b) for a, b in zip(self.body_a.tolist(), self.body_b.tolist(), strict=True)})
        lines = ["Encounters", f"  encounters {len(self)} of {pairs} pairs of bodies"]
        lines.append(f"  contacts   {int(self.contacts.sum())}")
        if len(self):
            i = int(np.argmax(self.approach))
            lines.append(f"  first      t = {self.first_time[0]:.6g}")
            lines.append(
                f"  hardest    {self.approach[i]:.6g} per second at t = {self.hardest_time[i]:.6g}, "
                f"bodies {self.body_a[i]} and {self.body_b[i]}"
            )
        if self.in_touch.any():
            lines.append(f"  in touch   {int(self.in_touch.sum())} when they begin")
        return "\n".join(lines)


def encounters_of(found: Any) -> Encounters:
    """`Encounters` of the contacts along trajectories."""
    pairs, counts = found.pairs, np.diff(found.contact_start)
    # Rows in which the two are together: with a contact, or in each other when the step begins.
    inside = pairs["status"] == Status.INITIAL_OVERLAP
    together = np.flatnonzero((counts > 0) | inside)
    order = together[np.lexsort([pairs[name][together] for name in ("step", "body_b", "body_a")])]
    step, a, b = (pairs[name][order] for name in ("step", "body_a", "body_b"))
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(step) != 1) | (np.diff(a) != 0) | (np.diff(b) != 0)
    run = np.cumsum(begins) - 1  # of each row in `order`
    run_of_pair = np.full(len(pairs), -1)
    run_of_pair[order] = run
    began_inside = inside[order[begins]]
    # Contacts in order of (encounter, time); runs that only overlap have none and are no encounter.
    number = np.repeat(run_of_pair, counts)
    rows = np.lexsort([np.arange(len(found)), found.time, number])
    with_contacts, encounter = np.unique(number[rows], return_inverse=True)
    return _made(found, rows, encounter, began_inside[with_contacts])


def _made(found: Any, rows: Array, encounter: Array, inside: Array) -> Encounters:
    """Encounters of contacts `rows`, in order of `encounter` and time; `inside`: overlapping at the start."""
    count = len(inside)
    first = np.searchsorted(encounter, np.arange(count))
    stop = np.searchsorted(encounter, np.arange(count), side="right")
    closing = -found.normal_speed[rows]
    hardest_first = np.lexsort([np.arange(len(rows)), -closing, encounter])[first]
    hardest = rows[hardest_first]
    begin = rows[first]
    # All that happens at the first time is that they separate.
    at_first = found.time[rows] == found.time[begin][encounter]
    approaching = np.zeros(count, bool)
    np.logical_or.at(approaching, encounter[at_first], closing[at_first] >= 0)
    last_time = np.full(count, -np.inf)
    np.maximum.at(last_time, encounter, found.time_end[rows])
    fields: dict[str, Array] = {
        "body_a": found.body_a[begin], "body_b": found.body_b[begin],
        "first_time": found.time[begin], "last_time": last_time,
        "first_step": found.step[begin], "last_step": found.step[rows[stop - 1]],
        "contacts": stop - first, "in_touch": inside | ~approaching,
        "approach": -found.normal_speed[hardest], "hardest": hardest,
        "hardest_step": found.step[hardest],
        "hardest_time": found.time[hardest], "position": found.position[hardest],
        "normal": found.normal[hardest],
    }  # fmt: skip
    if found.part_a is not None:
        fields |= {name: getattr(found, name)[hardest] for name in PART_FIELDS}
    order = np.lexsort([fields[n] for n in ("first_step", "body_b", "body_a", "first_time")])
    return Encounters(**{name: values[order] for name, values in fields.items()}, info=found.info)
