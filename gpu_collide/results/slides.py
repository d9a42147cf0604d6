"""Results about characters: `Slides`, the `Planes` near them, and `ClippedVelocities`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import clipped_faults, planes_faults, slides_faults
from gpu_collide.results.hits import Feature
from gpu_collide.results.result import Result, Status, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ClippedVelocities", "Planes", "Slides"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Slides(Result, rows="status"):
    """Where each character ends after a step.

    All arrays are on the host, or all are on the device that computed them: the option ``results`` of the
    query decides (docs/devices.md).

    Attributes
    ----------
    status : (n,) uint8
        `Status`: MISS, nothing was in its way; HIT, something was; UNRESOLVED, `max_slides` was used up, or
        bodies close in on it, and it stays at the last safe place; INVALID_INPUT, numbers that are not
        finite, and it stays where it is.
    position : (n, 3) float64
        Centre, in the world.
    velocity : (n, 3) float64
        What is left of the velocity, without the part that leads into obstacles. Never faster in a world at
        rest.
    fall_velocity : (n, 3) float64
        What is left of `gravity`; add to it for the next step. Zero on ground.
    ground_body : (n,) int32
        Body that it stands on after its fall, or -1. Pass it to the next step as `riding`.
    ground_normal : (n, 3) float64
        Unit normal of the ground; zero where there is none.
    casts : (n,) int32
        Number of casts it took.
    info : dict
        Backend, device, precision, timings, and the ``skin``.
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=2,  # fall_velocity, before fall
        faults=slides_faults,
        kind="Slides",
        renamed={"fall": "fall_velocity"},
    )

    status: NDArray[np.uint8] = array_field(np.uint8)
    position: NDArray[np.float64] = array_field(np.float64, 3)
    velocity: NDArray[np.float64] = array_field(np.float64, 3)
    fall_velocity: NDArray[np.float64] = array_field(np.float64, 3)
    ground_body: NDArray[np.int32] = array_field(np.int32)
    ground_normal: NDArray[np.float64] = array_field(np.float64, 3)
    casts: NDArray[np.int32] = array_field(np.int32)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def grounded(self) -> NDArray[np.bool_]:
        """(n,) bool: which stand on something."""
        return self.ground_body >= 0

    def __repr__(self) -> str:
        lines = ["Slides", f"  characters {len(self)}: {counted(self.status, Status) or 'none'}"]
        ground = as_numpy(self.ground_body, "ground_body")
        return "\n".join([*lines, f"  grounded   {int((ground >= 0).sum())}"])


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Planes(Result, rows="query", starts=("offsets", "query")):
    """Contact planes of ellipsoids at rest.

    Ordered by (query, gap, feature, body, number); on the host or on a device, as in `Slides`.

    Attributes
    ----------
    status : (n,) uint8
        `Status` of each ellipsoid: MISS, it is near nothing; HIT, it is; INVALID_INPUT.
    offsets : (n + 1,) int64
        Rows ``offsets[i]:offsets[i + 1]`` are those of ellipsoid i.
    query : (r,) int32
    normal : (r, 3) float64
        Unit normal of the ellipsoid's surface, in the world, towards its centre.
    gap : (r,) float64
        Distance along the normal between the obstacle and the ellipsoid; negative where it is inside.
    point : (r, 3) float64
        Point of the obstacle that is nearest in the ellipsoid's measure.
    body_displacement : (r, 3) float64
        Displacement of the body at that point, over its whole step.
    body, face : (r,) int32
    feature : (r,) uint8
        `Feature` that has the point.
    number : (r,) int32
        Number of the face, edge or vertex in the body's `Mesh`.
    info : dict
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=2,  # body_displacement, before motion
        faults=planes_faults,
        kind="Planes",
        renamed={"motion": "body_displacement"},
    )
    status: NDArray[np.uint8] = array_field(np.uint8, like="status")
    offsets: NDArray[np.int64] = array_field(np.int64, like="status", more=1)
    query: NDArray[np.int32] = array_field(np.int32)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    gap: NDArray[np.float64] = array_field(np.float64)
    point: NDArray[np.float64] = array_field(np.float64, 3)
    body_displacement: NDArray[np.float64] = array_field(np.float64, 3)
    body: NDArray[np.int32] = array_field(np.int32)
    face: NDArray[np.int32] = array_field(np.int32)
    feature: NDArray[np.uint8] = array_field(np.uint8)
    number: NDArray[np.int32] = array_field(np.int32)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        near = counted(self.feature, Feature) or "none"
        return f"Planes\n  ellipsoids {len(self.status)}\n  planes     {len(self)}: {near}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ClippedVelocities(Result, rows="status"):
    """Velocities clipped by planes.

    Attributes
    ----------
    status : (n,) uint8
        `Status`: MISS, no plane is in the way; HIT, the velocity was clipped; UNRESOLVED, the planes close
        in and leave none, so that it is only as near to all of them as was found; INVALID_INPUT, numbers that
        are not finite, and it is zero.
    velocity : (n, 3) float64
        The allowed velocity nearest to the given one.
    active_planes : (n,) int32
        In how many of its planes the velocity lies: 0 to 3; -1 if it is UNRESOLVED.
    info : dict
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=2,  # active_planes, before bent; the class was Clipped
        faults=clipped_faults,
        kind="ClippedVelocities",
        old_kind="Clipped",
        renamed={"bent": "active_planes"},
    )

    status: NDArray[np.uint8] = array_field(np.uint8)
    velocity: NDArray[np.float64] = array_field(np.float64, 3)
    active_planes: NDArray[np.int32] = array_field(np.int32)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ClippedVelocities\n  velocities {len(self)}: {counted(self.status, Status) or 'none'}"
