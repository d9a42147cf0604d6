"""`NearMisses`: how near bodies come that pass each other along a recording."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._validate import as_parts
from gpu_collide.results.enums import Kind, Status
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import near_miss_faults
from gpu_collide.results.ids import BodyIds
from gpu_collide.results.result import Result, counted, joined_info, made_by, whole_number
from gpu_collide.results.runs import Runs
from gpu_collide.results.trajectory_contacts import SKIP_DTYPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gpu_collide._types import Array

__all__ = ["NearMisses", "sorted_by_time"]

_UNKNOWN = -1  # frames of a file of the first version


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class NearMisses(BodyIds, Result, rows="body_a"):
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
    frames : (2,) int64
        The first and the last frame that were looked at; -1, both, in files of the first version.
    since : (r,) int64
        For `concatenate`: the last step before the pass in which one of the two moved or was away. From
        `first_step` on if they were not near at the frame with which it begins, so that it goes on with none.
    moved : (n,) int64
        For `concatenate`: the last step in which each moving body moved or was away; below ``frames[0]``:
        none of these steps.
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=2,  # 2: what parts are joined by
        faults=near_miss_faults,
        kind="NearMisses",
    )

    body_a: NDArray[np.int32] = array_field(np.int32)
    body_b: NDArray[np.int32] = array_field(np.int32)
    step: NDArray[np.int64] = array_field(np.int64)
    fraction: NDArray[np.float64] = array_field(np.float64, finite=False)
    time: NDArray[np.float64] = array_field(np.float64, finite=False)
    gap: NDArray[np.float64] = array_field(np.float64, finite=False)
    closing_speed: NDArray[np.float64] = array_field(np.float64, finite=False)
    first_step: NDArray[np.int64] = array_field(np.int64)
    last_step: NDArray[np.int64] = array_field(np.int64)
    status: NDArray[np.uint8] = array_field(np.uint8)
    lower_bound: NDArray[np.float64] = array_field(np.float64, finite=False)
    kind: NDArray[np.int8] = array_field(np.int8)
    feature_a: NDArray[np.int32] = array_field(np.int32)
    feature_b: NDArray[np.int32] = array_field(np.int32)
    point_a: NDArray[np.float64] = array_field(np.float64, 3)
    point_b: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    skipped: NDArray[np.void] = array_field(SKIP_DTYPE, like="skipped")
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    frames: NDArray[np.int64] | None = array_field(np.int64, like="frames", optional=True)
    since: NDArray[np.int64] | None = array_field(np.int64, optional=True)
    moved: NDArray[np.int64] | None = array_field(np.int64, like="moved", optional=True)

    def __post_init__(self) -> None:
        nothing = np.zeros(0, np.int64)
        told = {"frames": np.full(2, _UNKNOWN), "since": np.array(self.first_step), "moved": nothing}
        self.__dict__.update({name: value for name, value in told.items() if getattr(self, name) is None})
        super().__post_init__()

    @classmethod
    def concatenate(cls, parts: Iterable[NearMisses]) -> NearMisses:
        """Join consecutive parts: passes that go on over the seam between two are one.

        Parameters
        ----------
        parts : iterable of NearMisses
            At least one, in the order of their steps, as ``stream=True`` yields them; or of pieces of a
            recording that share one frame, with the numbers of the whole (`shifted`). Joins may be nested.

        Returns
        -------
        NearMisses
            The bits of all steps in one call.

        Raises
        ------
        TypeError
            Something else than NearMisses.
        ValueError
            No parts, one that begins before the one before it ends, or one that was read from a file of an
            earlier version, which does not say how passes go on.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> way = [[[0, 0, 0], [x, 1.5, 0]] for x in (-3, -1, 1, 3)]
        >>> passing = {"time": range(4), "position": way, "quat_wxyz": [[[1, 0, 0, 0]] * 2] * 4}
        >>> recording = gc.Recording.from_arrays(passing, meshes=gc.shapes.box())
        >>> parts = gc.clearance(recording, max_distance=2.0, stream=True, frames_per_batch=1)
        >>> found = gc.NearMisses.concatenate(parts)
        >>> found.first_step.tolist(), found.last_step.tolist(), found.step.tolist()
        ([0], [2], [1])
        """
        parts = as_parts(parts, NearMisses, "NearMisses")
        return parts[0] if len(parts) == 1 else _joined(parts)

    def shifted(self, steps: int) -> NearMisses:
        """The same with `steps` added to every number of a step or frame; times are unchanged."""
        steps = whole_number(steps, "steps")
        assert self.frames is not None and self.since is not None and self.moved is not None
        if self.frames[0] + steps < 0:
            raise ValueError(
                f"steps: expected {-self.frames[0]} or more, since the first frame has number "
                f"{self.frames[0]} and none goes below 0, got {steps}"
            )
        skipped = self.skipped.copy()
        skipped["step"] += steps
        return dataclasses.replace(
            self, step=self.step + steps, first_step=self.first_step + steps, since=self.since + steps,
            last_step=self.last_step + steps, moved=self.moved + steps, frames=self.frames + steps,
            skipped=skipped,
        )  # fmt: skip

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


def _joined(parts: Sequence[Any]) -> NearMisses:
    """Near misses of parts in the order of their steps."""
    since, moved, before = [], parts[0].moved, parts[0].frames[0]
    for k, part in enumerate(parts):
        begin, end = part.frames
        if begin == _UNKNOWN:
            raise ValueError(
                f"parts: expected near misses that say how passes go on, got part {k} from a file of an "
                "earlier version; ask again"
            )
        if begin < before:
            raise ValueError(
                f"parts: expected parts in the order of their steps, got part {k} that begins with frame "
                f"{begin}, after frame {before}"
            )
        if begin > before:  # from one race to the next
            moved = np.full(len(moved), begin - 1)
        told = part.since
        if k:  # what did not move in this part may have moved in one before
            earlier = [np.append(moved, -1)[np.minimum(of, len(moved))] for of in (part.body_a, part.body_b)]
            told = np.where(told < begin, np.maximum(*earlier), told)
        since.append(told)
        moved, before = np.where(part.moved < begin, moved, part.moved), end
    rows = {name: np.concatenate([getattr(part, name) for part in parts]) for name in parts[0]._columns}
    rows["since"] = np.concatenate(since)
    runs = Runs(rows, rows["since"])
    rows, first, run = runs.rows, runs.first, runs.run
    fields = {name: values[runs.least(rows["step"], rows["gap"])] for name, values in rows.items()}
    for name in ("first_step", "since"):
        fields[name] = rows[name][first]
    fields["last_step"] = runs.joined("last_step", np.maximum)
    fields["lower_bound"] = runs.joined("lower_bound", np.minimum)
    unknown = (rows["status"] == Status.UNRESOLVED) & (rows["lower_bound"] < fields["gap"][run])
    doubt = np.bincount(run[unknown], minlength=len(first)) > 0
    fields["status"][doubt & (fields["gap"] > 0.0)] = Status.UNRESOLVED
    return NearMisses(
        **sorted_by_time(fields), skipped=np.concatenate([part.skipped for part in parts]),
        frames=np.array([parts[0].frames[0], parts[-1].frames[1]]), moved=moved, info=joined_info(parts),
    )  # fmt: skip


def sorted_by_time(rows: dict[str, Array]) -> dict[str, Array]:
    """Columns of near misses in their order."""
    order = np.lexsort([rows[name] for name in ("step", "body_b", "body_a", "time")])
    return {name: values[order] for name, values in rows.items()}
