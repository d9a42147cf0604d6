"""`Trace`: how far movers may go, and what stops them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.results.enums import Touch
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import touch_faults, trace_faults
from gpu_collide.results.result import Result, Status, counted, made_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Touch", "TouchPoints", "Trace"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Trace(Result, rows="status"):
    """How far each mover may move and what stops it: a row for each mover, or for each given pair.

    Attributes
    ----------
    status : (n,) uint8
        `Status`: MISS, nothing is in the way; HIT, something is; INITIAL_OVERLAP, it begins inside something
        (with ``check_start``), and ``kind`` says whether anything is in the way; INVALID_INPUT, a pose or a
        motion that is not finite, or too long for the precision, and the mover stays where it is; UNRESOLVED,
        too large or too small for the precision, or among bodies that move such that it cannot be told: it
        stays, too.
    fraction : (n,) float64
        Fraction of the motion that is free, in [0, 1]; after `gpu_collide.pluecker.move`, of the part in
        which it ended. Among bodies that move it is a time: where these are then, their ``poses_at`` tells.
    part : (n,) uint8
        0 if the motion ended in a translation, 1 if in a rotation.
    kind : (n,) uint8
        `Touch`: which features touch first. Of several at once, the least by kind, feature of the mover, body
        and feature of the obstacle.
    body : (n,) int32
        Body of the world that is touched; -1 for none, as for the features.
    feature_a, feature_b : (n,) int32
        Numbers of the face, vertex or edge in the mover's and in the obstacle's `Mesh`.
    point : (n, 3) float64
        Point of the touch, in the world: the vertex, or the point of the obstacle's edge nearest to the
        mover's. Zero where nothing is touched, as `normal`.
    normal : (n, 3) float64
        Unit, from the obstacle to the mover; as the point, when the mover stops.
    position : (n, 3) float64
        Where the mover's origin ends, in the world.
    quat_wxyz : (n, 4) float64
    expel : (n,) float64
        Thickness of the zone around obstacles that no mover enters.
    info : dict
        Backend, device, precision, timings.
    """

    _format: ClassVar[FileFormat] = FileFormat(version=1, faults=trace_faults, kind="Trace")

    status: NDArray[np.uint8] = array_field(np.uint8)
    fraction: NDArray[np.float64] = array_field(np.float64, finite=False)
    part: NDArray[np.uint8] = array_field(np.uint8)
    kind: NDArray[np.uint8] = array_field(np.uint8)
    body: NDArray[np.int32] = array_field(np.int32)
    feature_a: NDArray[np.int32] = array_field(np.int32)
    feature_b: NDArray[np.int32] = array_field(np.int32)
    point: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    position: NDArray[np.float64] = array_field(np.float64, 3, finite=False)
    quat_wxyz: NDArray[np.float64] = array_field(np.float64, 4, finite=False)
    expel: NDArray[np.float64] = array_field(np.float64)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def poses(self) -> Poses:
        """Poses in which the movers end, of shape (n,); the next motion can start from them."""
        return Poses.from_quat_wxyz(self.position, self.quat_wxyz)

    def __repr__(self) -> str:
        lines = [
            "Trace",
            f"  movers    {len(self)}: {counted(self.status, Status) or 'none'}",
        ]
        stopped = self.kind > 0
        if stopped.any():
            lines.append(f"  touched   {counted(self.kind[stopped], Touch)}")
            lines.append(
                f"  fraction  {self.fraction[stopped].min():.6g} to {self.fraction[stopped].max():.6g}"
            )
        return "\n".join(lines + made_by(self.info))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class TouchPoints(Result, rows="mover", starts=("point_start", "mover")):
    """Places where movers at rest are near obstacles.

    Ordered by (mover, kind, feature_a, body, feature_b).

    Attributes
    ----------
    status : (n,) uint8
        `Status` of each mover: MISS, nothing is near; HIT, something is; INITIAL_OVERLAP, it overlaps
        something by more than its zone, and rows with a negative distance, or of the kind OVERLAP, name it;
        INVALID_INPUT; UNRESOLVED, too large or too small for the precision.
    point_start : (n + 1,) int64
        Points ``point_start[i]:point_start[i + 1]`` are those of mover i.
    mover : (c,) int32
    kind : (c,) uint8
        `Touch`: which features are nearest there.
    body, feature_a, feature_b
        As in `Trace`; features of OVERLAP are -1.
    point : (c, 3) float64
        The vertex (of two, the mover's), or the point on the obstacle's edge nearest to the mover's. Of
        OVERLAP the obstacle's outermost point along the normal; zero without a depth, as `normal`.
    normal : (c, 3) float64
        Unit, from the obstacle to the mover.
    distance : (c,) float64
        Distance along the normal; negative behind a surface, or how deep a region of overlap is. 0 of
        OVERLAP without a depth.
    info : dict
    """

    _format: ClassVar[FileFormat] = FileFormat(version=1, faults=touch_faults, kind="TouchPoints")
    status: NDArray[np.uint8] = array_field(np.uint8, like="status")
    point_start: NDArray[np.int64] = array_field(np.int64, like="status", more=1)
    mover: NDArray[np.int32] = array_field(np.int32)
    kind: NDArray[np.uint8] = array_field(np.uint8)
    body: NDArray[np.int32] = array_field(np.int32)
    feature_a: NDArray[np.int32] = array_field(np.int32)
    feature_b: NDArray[np.int32] = array_field(np.int32)
    point: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    distance: NDArray[np.float64] = array_field(np.float64)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        lines = [
            "TouchPoints",
            f"  movers    {len(self.status)}: {counted(self.status, Status) or 'none'}",
            f"  points    {len(self)}: {counted(self.kind, Touch) or 'none'}",
        ]
        return "\n".join(lines + made_by(self.info))
