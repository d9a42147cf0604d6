"""`NearMisses`: how near bodies come that pass each other along a recording."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide.results.clearance import CLEARANCE_ROWS
from gpu_collide.results.enums import Kind, Status
from gpu_collide.results.file_format import Field, FileFormat, Group
from gpu_collide.results.file_validation import near_miss_faults
from gpu_collide.results.ids import BodyIds
from gpu_collide.results.result import Result, counted, made_by
from gpu_collide.results.trajectory_contacts import SKIP_DTYPE

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NearMisses"]

_ROWS: dict[str, Field] = {
    "body_a": (np.int32, ()),
    "body_b": (np.int32, ()),
    "step": (np.int64, ()),
    "fraction": (np.float64, ()),
    "time": (np.float64, ()),
    "gap": (np.float64, ()),
    "closing_speed": (np.float64, ()),
    "first_step": (np.int64, ()),
    "last_step": (np.int64, ()),
    **{name: field for name, field in CLEARANCE_ROWS.items() if name not in ("time", "distance")},
}
_SKIPPED: dict[str, Field] = {"skipped": (SKIP_DTYPE, ())}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class NearMisses(BodyIds, Result):
    """Passes of two bodies that come within ``max_distance`` along a recording, sorted by (time, body_a,
    body_b, step).

    A pass is a run of steps in each of which the two come within the distance, and between which, at the
    frames, they are within it. Steps in which neither moves interrupt none. Of each pass a row tells when
    they are nearest: of steps that are as near the first, and one of such times in it. ``len()`` is the
    number of passes.

    Attributes
    ----------
    body_a, body_b : (r,) int32
        The two bodies, ``body_a < body_b``: first the moving ones, then the static ones.
    step : (r,) int64
        Step in which they are nearest.
    fraction : (r,) float64
        When, as a fraction of that step, in [0, 1]; inf where `gap` is.
    time : (r,) float64
        The same time in seconds, on the clock of the recording.
    gap : (r,) float64
        Least distance of their surfaces over the pass. 0 where they meet or overlap: `time` is the first such
        time. inf where nothing is known (UNRESOLVED).
    closing_speed : (r,) float64
        How fast the gap falls then, in length per second: 0 where it is least within a step, more where they
        meet, or where it is least at a frame from which a body goes another way or is away. Below 0 where the
        pass begins with its least gap. NaN where there is no place.
    first_step, last_step : (r,) int64
        The first and the last step of the pass.
    status : (r,) uint8
        `Status`. MISS: they stay apart. HIT: they meet, within 1e-11 of the size. INITIAL_OVERLAP: they
        overlap when the step begins. UNRESOLVED: `lower_bound` is farther below `gap` than was asked for.
    lower_bound : (r,) float64
        Proved: they are never nearer during the pass.
    kind, feature_a, feature_b, point_a, point_b, normal
        As in `Clearance`: which features hold the nearest points, these points in the world, and the unit
        vector from A to B.
    skipped : (m,) structured
        As in `TrajectoryContacts`: bodies that a step leaves out, and why.
    info : dict
        As in `TrajectoryContacts`, with what was asked.
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=1,
        groups=(Group(_ROWS, "body_a"), Group(_SKIPPED, "skipped")),
        faults=near_miss_faults,
        kind="NearMisses",
    )
    _rows: ClassVar[dict[str, Field]] = _ROWS

    body_a: NDArray[np.int32]
    body_b: NDArray[np.int32]
    step: NDArray[np.int64]
    fraction: NDArray[np.float64]
    time: NDArray[np.float64]
    gap: NDArray[np.float64]
    closing_speed: NDArray[np.float64]
    first_step: NDArray[np.int64]
    last_step: NDArray[np.int64]
    status: NDArray[np.uint8]
    lower_bound: NDArray[np.float64]
    kind: NDArray[np.int8]
    feature_a: NDArray[np.int32]
    feature_b: NDArray[np.int32]
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    normal: NDArray[np.float64]
    skipped: NDArray[np.void]
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        lines = ["NearMisses", f"  passes    {len(self)}: {counted(self.status, Status) or 'none'}"]
        told = np.flatnonzero(self.kind != Kind.NONE)
        if len(told):
            least = told[np.argmin(self.gap[told])]
            lines.append(
                f"  least     {self.gap[least]:.6g} at t = {self.time[least]:.9g}, "
                f"bodies {self.id_a[least]} and {self.id_b[least]}"
            )
        if len(self.skipped):
            lines.append(f"  skipped   {len(self.skipped)}")
        return "\n".join(lines + made_by(self.info))
