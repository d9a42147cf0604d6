"""`TrafficEvents`: meetings and near misses of vehicles along a recording, a row each."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide.results.enums import EventKind
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import event_faults
from gpu_collide.results.ids import BodyIds
from gpu_collide.results.result import Result, counted, made_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TrafficEvents"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TrafficEvents(BodyIds, Result, rows="body_a"):
    """Meetings and near misses of two vehicles each, sorted by (time, body_a, body_b, step).

    Made by `gpu_collide.events`. ``len()`` is the number of rows. Vehicles have their x axis ahead and their
    z axis up, as those of `Recording.from_table`.

    Attributes
    ----------
    body_a, body_b : (e,) int32
        The two bodies, ``body_a < body_b``: first the moving ones, then the static ones.
    kind : (e,) uint8
        `EventKind`.
    time : (e,) float64
        Seconds, on the clock of the recording: of the first contact, of the frame at which they are first
        seen in each other, or of the least gap. What follows is told at this time.
    step : (e,) int64
        The step that has this time.
    first_time, last_time : (e,) float64
        When they touch, or overlap at a frame, first and last, as in `Encounters`. Of a near miss the begin
        of its first step and the end of its last.
    first_step, last_step : (e,) int64
        The steps of these.
    position : (e, 3) float64
        Place in the world: the middle of the first contacts; of vehicles in each other that of the points
        between which they are deepest; of a near miss half way between the nearest points.
    normal : (e, 3) float64
        Unit vector from A to B in the world; zero where none is known.
    normal_in_a, normal_in_b : (e, 3) float64
        The direction out of A, in A's own axes, and that out of B, in B's.
    clock_a, clock_b : (e,) uint8
        Where on the vehicle the place is, seen from its origin: 12 ahead, 3 to the right, 6 behind, 9 to the
        left. 0: not known.
    side_a, side_b : (e,) uint8
        `Side` that `normal_in_a` and `normal_in_b` point out of.
    closing_speed : (e,) float64
        How fast the two approach each other along the normal there, length per second; negative where they
        separate.
    relative_velocity : (e, 3) float64
        Velocity of B's place less that of A's, in the world, length per second.
    speed_a, speed_b : (e,) float64
        Of their origins, length per second.
    heading_difference : (e,) float64
        Heading of B less that of A in the plane, radians in [-pi, pi]: 0 is the same way, pi head-on, pi / 2
        B crosses from A's right to its left.
    gap : (e,) float64
        Least distance of their surfaces; 0 of those that touch.
    depth : (e,) float64
        Deepest overlap at the frames, that is how far B has to move across its z axis so that the two only
        touch: `clearance` with ``at=`` of bodies that are made tall. 0 where they overlap at none.
    overlap_frames : (e,) int64
        Frames of the recording at which they overlap. 0: a test of each frame does not see this event.
    ttc : (e,) float64
        Least time to collision: seconds from the start of a step until the two meet if each keeps the speed
        and yaw rate that it has in this step. Over the steps before they touch, or of the whole near miss.
        inf: in no step within ``max_ttc``.
    ttc_time : (e,) float64
        When: the start of that step, seconds; inf: none.
    pet : (e,) float64
        Post-encroachment time, seconds: from when one leaves a place until the other arrives there, the least
        over all places of the plane. 0 of those that touch; inf: not within ``max_pet``.
    info : dict
        As in `TrajectoryContacts`, and what was asked.
    """

    _format: ClassVar[FileFormat] = FileFormat(version=1, faults=event_faults, kind="TrafficEvents")

    body_a: NDArray[np.int32] = array_field(np.int32)
    body_b: NDArray[np.int32] = array_field(np.int32)
    kind: NDArray[np.uint8] = array_field(np.uint8)
    time: NDArray[np.float64] = array_field(np.float64)
    step: NDArray[np.int64] = array_field(np.int64)
    first_time: NDArray[np.float64] = array_field(np.float64)
    last_time: NDArray[np.float64] = array_field(np.float64)
    first_step: NDArray[np.int64] = array_field(np.int64)
    last_step: NDArray[np.int64] = array_field(np.int64)
    position: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    normal_in_a: NDArray[np.float64] = array_field(np.float64, 3)
    normal_in_b: NDArray[np.float64] = array_field(np.float64, 3)
    clock_a: NDArray[np.uint8] = array_field(np.uint8)
    clock_b: NDArray[np.uint8] = array_field(np.uint8)
    side_a: NDArray[np.uint8] = array_field(np.uint8)
    side_b: NDArray[np.uint8] = array_field(np.uint8)
    closing_speed: NDArray[np.float64] = array_field(np.float64)
    relative_velocity: NDArray[np.float64] = array_field(np.float64, 3)
    speed_a: NDArray[np.float64] = array_field(np.float64)
    speed_b: NDArray[np.float64] = array_field(np.float64)
    heading_difference: NDArray[np.float64] = array_field(np.float64)
    gap: NDArray[np.float64] = array_field(np.float64)
    depth: NDArray[np.float64] = array_field(np.float64)
    overlap_frames: NDArray[np.int64] = array_field(np.int64)
    ttc: NDArray[np.float64] = array_field(np.float64, finite=False)
    ttc_time: NDArray[np.float64] = array_field(np.float64, finite=False)
    pet: NDArray[np.float64] = array_field(np.float64, finite=False)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def met(self) -> NDArray[np.bool_]:
        """(e,) bool: which rows are no near misses."""
        return np.not_equal(self.kind, EventKind.NEAR_MISS)

    @property
    def missed_by_frames(self) -> NDArray[np.bool_]:
        """(e,) bool: meetings that a test of each frame does not see, since the two overlap at none."""
        return self.met & (self.overlap_frames == 0)

    def __repr__(self) -> str:
        lines = ["TrafficEvents", f"  events    {len(self)}: {counted(self.kind, EventKind) or 'none'}"]
        if self.met.any():
            lines.append(f"  missed    {self.missed_by_frames.sum()} by a test of the frames alone")
            hard = np.flatnonzero(self.met)
            i = int(hard[np.argmax(self.closing_speed[hard])])
            lines.append(
                f"  hardest   {self.closing_speed[i]:.6g} per second at t = {self.time[i]:.6g}, "
                f"bodies {self.id_a[i]} and {self.id_b[i]}"
            )
        near = np.flatnonzero(~self.met)
        if len(near):
            i = int(near[np.argmin(self.gap[near])])
            lines.append(
                f"  nearest   {self.gap[i]:.6g} at t = {self.time[i]:.6g}, "
                f"bodies {self.id_a[i]} and {self.id_b[i]}"
            )
        return "\n".join(lines + made_by(self.info))
