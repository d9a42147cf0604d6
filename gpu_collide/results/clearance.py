"""`Clearance`: how near the bodies of each pair come, when, and where."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide.results.enums import Kind, Status
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import clearance_faults
from gpu_collide.results.result import Result, counted, made_by, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Self

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.results.manifolds import Manifolds

__all__ = ["CLEARANCE_ROWS", "Clearance"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Clearance(Result, rows="pair"):
    """How near the bodies of each pair come to each other.

    A row for each pair, in their order: the moment of the step at which they are nearest. With times asked
    for (``at``) a row for each pair and time, the times of a pair one behind the other:
    ``clearance.distance.reshape(len(clearance.pairs), -1)`` has a column for each. With ``regions`` a pair
    that overlaps has several rows for a time, one for each region, the deepest first.

    Attributes
    ----------
    pairs : (p, 2) int32
        Bodies A and B of each pair.
    pair : (r,) int32
        Row of `pairs`.
    status : (r,) uint8
        `Status`. MISS: they stay apart, or are at the time asked. HIT: they meet, within 1e-11 of the size.
        INITIAL_OVERLAP: the solids overlap at the start, or at the time asked, as `collide` understands it;
        of meshes with a rounding radius by more than 1e-11 of the size.
        INVALID_INPUT: a pose that is not rigid or not finite. UNRESOLVED: a cap of the search was
        reached, and `lower_bound` is farther below `distance` than was asked for; or the motion is too long
        for the precision, and nothing is known.
    time : (r,) float64
        Fraction of the step in [0, 1] at which they are nearest, one of several such times; for HIT the first
        at which they meet; for INITIAL_OVERLAP that at which the solids were looked at. inf where
        `distance` is.
    distance : (r,) float64
        Length between both points: the least distance, from above. 0 for HIT and INITIAL_OVERLAP. inf for
        pairs that stay farther apart than ``max_distance``, and where nothing is known. With times asked for
        negative for solids that overlap: B has to move by so much along `normal`, so that they only touch. 0
        if one is open or two-sided, and has no inside; then `kind` is NONE, and `normal` zero. Rounding radii
        count: distances are less by both.
    lower_bound : (r,) float64
        Proved: the bodies are never nearer. It is below `distance` by the tolerance at most; of pairs
        that stay farther apart than ``max_distance`` it is that, or below it by the tolerance at most. 0
        where nothing is known. A negative distance itself, or of rounded bodies below it by the tolerance
        at most.
    kind : (r,) int8
        `Kind` of the features that hold the points; NONE, -1: no place is told, or with a negative distance
        a region of overlap of which no features tell the depth (see `clearance`).
    feature_a, feature_b : (r,) int32
        Number of the face, edge or vertex in A's and in B's `Mesh`; -1: none.
    point_a, point_b : (r, 3) float64
        The nearest points of both, in the world at that time; zero: none. Of an overlap the points that touch
        when B has moved; without features the outermost ones of both along the normal.
    normal : (r, 3) float64
        Unit vector from A to B, in the world; zero: none. Where they meet, that of the surfaces there.
    info : dict
        Backend, device, precision, timings, and what was asked.
    """

    _format: ClassVar[FileFormat] = FileFormat(version=1, faults=clearance_faults, kind="Clearance")
    #: Of contacts at a pose the bodies that stand there, until they are saved.
    _bodies: ClassVar[Bodies | None] = None
    #: Of bodies with compounds the contacts of their rows, which ones these are, `Expansion`, and of each
    #: pair of rows the pair here.
    _rows_of: ClassVar[tuple[Clearance, Array, Any, Array] | None] = None
    #: What makes manifolds; `gpu_collide.queries.manifolds` puts it here.
    _reduce: ClassVar[Callable[[Clearance, Bodies, int], Manifolds]]

    pairs: NDArray[np.int32] = array_field(np.int32, 2, like="pairs")
    pair: NDArray[np.int32] = array_field(np.int32)
    status: NDArray[np.uint8] = array_field(np.uint8)
    time: NDArray[np.float64] = array_field(np.float64, finite=False)
    distance: NDArray[np.float64] = array_field(np.float64, finite=False)
    lower_bound: NDArray[np.float64] = array_field(np.float64, finite=False)
    kind: NDArray[np.int8] = array_field(np.int8)
    feature_a: NDArray[np.int32] = array_field(np.int32)
    feature_b: NDArray[np.int32] = array_field(np.int32)
    point_a: NDArray[np.float64] = array_field(np.float64, 3)
    point_b: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)

    def manifolds(self, max_points: int = 4, *, bodies: Bodies | None = None) -> Manifolds:
        """The few points of each region of contact that a solver takes; of the result of `contacts_at`.

        Parameters
        ----------
        max_points : int, optional
            Of a region, from 1 to 4: the deepest, the farthest from it, and those that span the largest area.
        bodies : Bodies, optional
            The bodies of the query, at its pose or moving. Default: they are known, but for contacts that
            were loaded from a file.

        Returns
        -------
        Manifolds
            Regions of all pairs. Of pairs that are open or two-sided and overlap nothing is told.

        Raises
        ------
        TypeError, ValueError
            No whole number of points from 1 to 4; contacts that are not of a pose; or whose bodies are not
            known.

        Notes
        -----
        A region is what touches along about one normal, that of its deepest or nearest place. Around all of
        its contacts those faces of A and of B that lie across the normal (within 15 degrees) are cut with
        each other as they are seen along it: the corners of what they have in common, as far as they are
        within the largest margin of the query, are what points are chosen from. So a box that has sunk into
        another, of which the contacts tell one place, has its four corners. Where no face lies across the
        normal an edge does, or the contact is the only point. Contacts outside of such faces are points
        themselves.

        Faces in one plane count as one, and all of them are looked at: large flat floors should be few faces
        (``Mesh(merge_coplanar=True)``).

        Points are chosen with a tolerance of 1e-6 of the size: of equal ones that of the least key. Four
        points of a patch of more corners cannot span all of it: of a regular octagon they have 0.71 of the
        area.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [0.5, 0, 0.999]], [[1, 0, 0, 0]] * 2)
        >>> found = gc.contacts_at(gc.Bodies(gc.shapes.box(), None, poses, poses)).manifolds()
        >>> sorted(found.point_a.round(3).tolist())
        [[0.0, -0.5, 0.5], [0.0, 0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, 0.5]]
        >>> found.distance.round(3).tolist()
        [-0.001, -0.001, -0.001, -0.001]
        """
        most = whole_number(max_points, "max_points")
        if not 1 <= most <= 4:
            raise ValueError(f"max_points: expected 1 to 4, got {most}")
        if "margin" not in self.info:
            raise ValueError("manifolds: expected contacts of contacts_at, got a clearance over a step")
        bodies = self._bodies if bodies is None else bodies
        if bodies is None:
            raise ValueError(
                "bodies: expected the bodies of the query, since files do not hold them, got None"
            )
        return type(self)._reduce(self, bodies, most)

    def _selected(self, rows: Array) -> Self:
        made = self._rows_of
        if made is not None:
            made = made[0], made[1][rows], *made[2:]
        return super()._selected(rows)._of(self._bodies, made)

    def _of(self, bodies: Bodies | None, rows_of: Any = None) -> Self:
        """This result, which remembers its bodies from now on, and of which rows of theirs it was made."""
        self.__dict__.update(_bodies=bodies, _rows_of=rows_of)
        return self

    def __repr__(self) -> str:
        lines = ["Clearance", f"  rows      {len(self)}: {counted(self.status, Status) or 'none'}"]
        told = np.flatnonzero(self.kind != Kind.NONE)
        if len(told):
            least = told[np.argmin(self.distance[told])]
            a, b = self.pairs[self.pair[least]]
            lines.append(f"  nearest   {counted(self.kind, Kind)}")
            lines.append(
                f"  least     {self.distance[least]:.6g} at t = {self.time[least]:.6g}, bodies {a} and {b}"
            )
        return "\n".join(lines + made_by(self.info))


#: What a query finds of each row, beside its pair.
CLEARANCE_ROWS = {name: field for name, field in Clearance._rows.items() if name != "pair"}
