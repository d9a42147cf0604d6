"""`Hits`: what points, spheres, ellipsoids and clusters touch on their paths."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._validate import as_numpy
from gpu_collide.results.enums import Feature
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import hits_faults
from gpu_collide.results.result import Result, Status, counted, made_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Feature", "Hits"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Hits(Result, rows="query", starts=("offsets", "query")):
    """Touches along straight paths.

    With ``hits="first"`` or ``"any"`` there is a row for each query, with ``"all"`` a row for each touch,
    ordered by (query, time of touch, feature, body, number, sphere). With a buffer, `time` is earlier than
    the touch, and need not rise.

    All arrays are on the host, or all are on the device that computed them: the option ``results`` of the
    query decides (docs/devices.md).

    Attributes
    ----------
    status : (n,) uint8
        `Status` of each query: MISS, nothing is touched; HIT, something is; INVALID_INPUT, numbers that are
        not finite; UNRESOLVED, lengths that are too long for the precision, so that nothing is known.
    offsets : (n + 1,) int64
        Rows ``offsets[i]:offsets[i + 1]`` are those of query i.
    query : (r,) int32
        Query of each row.
    time : (r,) float64
        Fraction of the displacement at which to stop: at the touch, or earlier by the buffer; in [0, 1], and
        1 where nothing is touched.
    point : (r, 3) float64
        Point of the touch, in the world. Zero where nothing is touched, as `normal`.
    normal : (r, 3) float64
        Unit normal of the touch: from the point towards the centre; for an ellipsoid, normal to its surface.
    body : (r,) int32
        Body of the world; -1 where nothing is touched, as for the numbers below.
    face : (r,) int32
        Face of the body's `Mesh`; for an edge or a vertex, the first of its faces that has the centre in
        front.
    feature : (r,) uint8
        `Feature` that is touched. Of several touched at once, the least by feature, body, number and sphere.
    number : (r,) int32
        Number of the face, edge or vertex in the body's `Mesh`.
    sphere : (r,) int32
        Which sphere of a cluster; else 0.
    info : dict
        Backend, device, precision, timings; where bodies rotate, ``turning``: a bound on the error of the
        paths of all queries.
    """

    _format: ClassVar[FileFormat] = FileFormat(version=1, faults=hits_faults, kind="Hits")
    status: NDArray[np.uint8] = array_field(np.uint8, like="status")
    offsets: NDArray[np.int64] = array_field(np.int64, like="status", more=1)
    query: NDArray[np.int32] = array_field(np.int32)
    time: NDArray[np.float64] = array_field(np.float64)
    point: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    body: NDArray[np.int32] = array_field(np.int32)
    face: NDArray[np.int32] = array_field(np.int32)
    feature: NDArray[np.uint8] = array_field(np.uint8)
    number: NDArray[np.int32] = array_field(np.int32)
    sphere: NDArray[np.int32] = array_field(np.int32)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def hit(self) -> NDArray[np.bool_]:
        """(n,) bool: which queries touch something."""
        return self.status == Status.HIT

    def __repr__(self) -> str:
        lines = ["Hits", f"  queries   {len(self.status)}: {counted(self.status, Status) or 'none'}"]
        feature, time = as_numpy(self.feature, "feature"), as_numpy(self.time, "time")
        found = feature != Feature.NONE
        if found.any():
            lines.append(f"  touched   {counted(feature[found], Feature)}")
            lines.append(f"  time      {time[found].min():.6g} to {time[found].max():.6g}")
        return "\n".join(lines + made_by(self.info))
