"""`MotionChecks`: which motions are proved free of collisions."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import motion_checks_faults
from gpu_collide.results.result import Result, Status, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MotionChecks"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MotionChecks(Result, rows="status"):
    """What `check_motions` proved, a row for each motion.

    Attributes
    ----------
    status : (n,) uint8
        `Status`. MISS: proved free, all the way. HIT: a pose collides; INITIAL_OVERLAP: the first one does.
        UNRESOLVED: neither, at the shortest pieces allowed. INVALID_INPUT: a pose that is not rigid or not
        finite.
    free_fraction : (n,) float64
        Up to this time the motion is proved free; 1 for MISS.
    time : (n,) float64
        Of HIT and INITIAL_OVERLAP the earliest pose looked at in which bodies are within the margin. The
        first collision lies between `free_fraction` and this. inf: none.
    link : (n,) int32
        The link that collides, or for which the proof fails first; -1: none.
    other : (n,) int32
        The obstacle, or the other link, of that; -1: none.
    other_is_link : (n,) bool
        `other` is a link.
    point : (n, 3) float64
        With ``places``, of HIT and INITIAL_OVERLAP the place in the world at `time`: the middle between the
        nearest points of both bodies, or, where they overlap, the deepest. Zero: none, not asked for, or an
        overlap of which no depth is known.
    pieces : (n,) int64
        How many pieces of the motion were looked at.
    gap, gap_bound : (n,) float64
        With ``clearance``, of MISS: a distance that is reached, and one below which nothing ever comes, which
        is less than it by a hundredth of the largest link's radius at most, unless `pieces` would be too
        short. inf: nothing comes nearer than `gap_bound`, or it was not asked for.
    gap_time : (n,) float64
        When the gap is reached; inf: none is told.
    gap_link, gap_other, gap_other_is_link : (n,) int32, int32, bool
        Between what, as `link`, `other` and `other_is_link`; -1: none is told.
    info : dict
        Backend, device, precision, and what was asked.
    """

    _format: ClassVar[FileFormat] = FileFormat(version=1, faults=motion_checks_faults, kind="MotionChecks")

    status: NDArray[np.uint8] = array_field(np.uint8)
    free_fraction: NDArray[np.float64] = array_field(np.float64, finite=False)
    time: NDArray[np.float64] = array_field(np.float64, finite=False)
    link: NDArray[np.int32] = array_field(np.int32)
    other: NDArray[np.int32] = array_field(np.int32)
    other_is_link: NDArray[np.bool_] = array_field(np.bool_)
    point: NDArray[np.float64] = array_field(np.float64, 3)
    pieces: NDArray[np.int64] = array_field(np.int64)
    gap: NDArray[np.float64] = array_field(np.float64, finite=False)
    gap_bound: NDArray[np.float64] = array_field(np.float64, finite=False)
    gap_time: NDArray[np.float64] = array_field(np.float64, finite=False)
    gap_link: NDArray[np.int32] = array_field(np.int32)
    gap_other: NDArray[np.int32] = array_field(np.int32)
    gap_other_is_link: NDArray[np.bool_] = array_field(np.bool_)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        lines = ["MotionChecks", f"  motions   {len(self)}: {counted(self.status, Status) or 'none'}"]
        if len(self):
            lines.append(f"  pieces    {self.pieces.mean():.3g} a motion, {self.pieces.max()} at most")
        return "\n".join(lines)
