"""`Manifolds`: the few points of each contact region that a solver takes, and which it had before."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gpu_collide._validate import check_distance
from gpu_collide.results.enums import Kind
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import manifold_faults
from gpu_collide.results.point_identity import matched
from gpu_collide.results.result import Result, counted, made_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpu_collide._types import Array

__all__ = ["Manifolds", "PointMatch", "tangents_of"]


class PointMatch(NamedTuple):
    """Which points of manifolds were there before.

    Attributes
    ----------
    before : (m,) int64
        Of each point its row among the previous ones; -1: it is new.
    new, kept : (n,), (k,) int64
        Rows of points that are new, and that were there.
    broken : (b,) int64
        Rows of the previous points that are there no more.
    """

    before: NDArray[np.int64]
    new: NDArray[np.int64]
    kept: NDArray[np.int64]
    broken: NDArray[np.int64]

    def carry(self, values: Array) -> Array:
        """Values of the previous points, (b, ...), as those of these points: 0 for new ones."""
        values = np.asarray(values)
        carried = np.zeros((len(self.before), *values.shape[1:]), values.dtype)
        carried[self.kept] = values[self.before[self.kept]]
        return carried


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Manifolds(Result, rows="pair"):
    """Contact points for a solver: of each region in which two bodies touch a few, at most four by default.

    A row for each point, ordered by pair and region; in a region the deepest first. A region is what touches
    along about one normal (within 15 degrees).

    Attributes
    ----------
    pairs : (p, 2) int32
        Bodies A and B of each pair; those of the contacts, also without points.
    pair : (m,) int32
        Row of `pairs`.
    region : (m,) int32
        Regions in their order, from 0; those of a pair are one behind the other.
    key : (m,) uint64
        Identity of the point: of its two bodies, their shapes and its features, whichever body is A. Points
        of one result have different keys.
    distance : (m,) float64
        Between both points along the normal; below 0: how deep.
    kind : (m,) int8
        `Kind` of the features; NONE: a region of overlap of which no features tell the depth.
    feature_a, feature_b : (m,) int32
        Number of the face, edge or vertex in A's and in B's `Mesh`.
    point_a, point_b : (m, 3) float64
        On the surface of A and of B, in the world.
    normal : (m, 3) float64
        Unit vector from A to B, in the world: ``point_b - point_a`` is ``distance * normal``.
    local_a, local_b : (m, 3) float64
        The points in the frames of their bodies.
    info : dict
        That of the contacts, and how many points a region may have.
    """

    _format: ClassVar[FileFormat] = FileFormat(version=1, faults=manifold_faults, kind="Manifolds")

    pairs: NDArray[np.int32] = array_field(np.int32, 2, like="pairs")
    pair: NDArray[np.int32] = array_field(np.int32)
    region: NDArray[np.int32] = array_field(np.int32)
    key: NDArray[np.uint64] = array_field(np.uint64)
    distance: NDArray[np.float64] = array_field(np.float64)
    kind: NDArray[np.int8] = array_field(np.int8)
    feature_a: NDArray[np.int32] = array_field(np.int32)
    feature_b: NDArray[np.int32] = array_field(np.int32)
    point_a: NDArray[np.float64] = array_field(np.float64, 3)
    point_b: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    local_a: NDArray[np.float64] = array_field(np.float64, 3)
    local_b: NDArray[np.float64] = array_field(np.float64, 3)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def bodies(self) -> NDArray[np.int32]:
        """(m, 2) int32: bodies A and B of each point."""
        return self.pairs[self.pair]

    @property
    def tangents(self) -> NDArray[np.float64]:
        """(m, 2, 3) float64: two unit vectors across each normal, for friction; (t1, t2, normal) is
        right-handed.

        They depend on the normal alone, and continuously, except near two opposite directions which are far
        from the axes and their diagonals, since no frame is continuous everywhere. The opposite normal has
        the opposite t1 and the same t2.
        """
        return np.stack(tangents_of(self.normal), axis=1)

    def match(self, previous: Manifolds, *, tolerance: float | None = None) -> PointMatch:
        """Which points were there before, such as in the step before, to carry impulses.

        Parameters
        ----------
        previous : Manifolds
            Of bodies with the same numbers and shapes.
        tolerance : float, optional
            Points that have no other of their key are those of the same two bodies that were within this
            distance on both bodies, in the coordinates of each: the nearest first. Default: the margin of
            the contacts; 0: by keys alone.

        Returns
        -------
        PointMatch
            Each point is matched once at most.

        Raises
        ------
        TypeError, ValueError
            Something else than `Manifolds`; a tolerance below 0.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> def at(z):
        ...     poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.2, 0.1, z]], [[1, 0, 0, 0]] * 2)
        ...     return gc.contacts_at(gc.Bodies(gc.shapes.box(), None, poses, poses), margin=0.01).manifolds()
        >>> at(0.999).match(at(1.001)).before.tolist()
        [0, 1, 2, 3]
        """
        if not isinstance(previous, Manifolds):
            raise TypeError(f"previous: expected Manifolds, got {type(previous).__name__}")
        if tolerance is None:
            tolerance = self.info.get("margin", 0.0)
        before = matched(self, previous, check_distance(tolerance, "tolerance"))
        broken = np.ones(len(previous), bool)
        broken[before[before >= 0]] = False
        return PointMatch(
            before, np.flatnonzero(before < 0), np.flatnonzero(before >= 0), np.flatnonzero(broken)
        )

    def __repr__(self) -> str:
        regions = len(np.unique(self.region))
        lines = [
            "Manifolds",
            f"  points    {len(self)} of {regions} regions: {counted(self.kind, Kind) or 'none'}",
        ]
        if len(self):
            least = np.argmin(self.distance)
            a, b = self.bodies[least]
            lines.append(f"  least     {self.distance[least]:.6g}, bodies {a} and {b}")
        return "\n".join(lines + made_by(self.info))


def tangents_of(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors across each normal, so that (t1, t2, normal) is right-handed.

    They depend on the normal alone, and continuously, but for two directions that are far from the axes,
    from their diagonals, and from what is common. The opposite normal has the opposite t1 and the same t2.
    """
    x, y, z = normal.T
    t1 = np.stack([y * 0.5657 - z * 0.3111, z * 0.7637 - x * 0.5657, x * 0.3111 - y * 0.7637], axis=-1)
    length = np.sqrt((t1 * t1).sum(axis=-1, keepdims=True))
    safe = np.maximum(length, 1e-12)
    t1 = np.where(length > 1e-12, t1 / safe, [0.37739, -0.92605, 0.0])
    return t1, np.stack([
        y * t1[..., 2] - z * t1[..., 1], z * t1[..., 0] - x * t1[..., 2], x * t1[..., 1] - y * t1[..., 0]
    ], axis=-1)  # fmt: skip
