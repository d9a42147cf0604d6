"""`Contacts`: the frozen result of a query."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gpu_collide._validate import as_int_array, as_numpy, how_many
from gpu_collide.results.file_format import FileFormat, array_field
from gpu_collide.results.file_validation import contact_faults
from gpu_collide.results.indexing import has_bodies
from gpu_collide.results.part_names import PART_FIELDS, NamedLater, parts_of_contacts
from gpu_collide.results.result import (
    Kind,
    Result,
    Status,
    counted,
    made_by,
    overlap_words,
    whole_number,
)
from gpu_collide.results.tables import world_of_bodies

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpu_collide._types import Array, ArrayLike
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.results.indexing import Rows

__all__ = ["Contacts", "Kind", "Status", "CONTACT_DTYPE"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Contacts(Result, rows="pair", starts=("contact_start", "pair")):
    """Every contact of every pair: arrays ordered by (pair, time, kind, feature_a, feature_b).

    All arrays are on the host, or all are on the device that computed them: the option ``results`` of the
    query decides (docs/devices.md). ``len()`` is the number of contacts.

    Attributes
    ----------
    status : (p,) uint8
        `Status` of each pair.
    toi : (p,) float64
        Earliest reported time of each pair as a fraction of the step, ``inf`` if there is none.
    contact_start : (p + 1,) int64
        Contacts ``contact_start[i]:contact_start[i + 1]`` belong to pair i.
    pair : (c,) int32
        Row of `pairs`.
    kind : (c,) uint8
        `Kind`: FV 0, VF 1, EE 2; at a distance also EV 3, VE 4, VV 5.
    feature_a, feature_b : (c,) int32
        Numbers of the face, vertex or edge in A's and B's `Mesh`.
    time : (c,) float64
        In [0, 1], 0 the start and 1 the end of the step.
    position : (c, 3) float64
        World position at that time, with A moving by its own screw.
    normal : (c, 3) float64
        Unit, world frame at that time, from A to B.
    properness : (c,) float64
        In [-1, 1]: positive where a corner or an edge leads, 0 where an edge or a face lies flat against the
        other body, negative where solids that touch there would already be inside each other.
    local_a, local_b : (c, 3) float64
        The same point in the coordinates of A's and B's mesh. At a distance each body's own closest point;
        `position` is A's, and B's is ``position + target_distance * normal``. Of meshes with a rounding
        radius all points are on the rounded surfaces.
    normal_speed : (c,) float64
        Relative speed along the normal, length per step: negative approaches, zero slides, positive
        separates.
    sustained : (c,) bool
        True if the contact lasts; then it is reported once, at its beginning.
    time_end : (c,) float64
        End of a sustained contact, else equal to `time`.
    pairs : (p, 2) int32 or None
        Body numbers A, B of each pair: those asked for, or those that the broad phase found. None in results
        read from files of the first version.
    exit : (p,) float64 or None
        When the motion takes the pair apart, as a fraction of the step; None unless asked for. It is the
        first time behind which there is a gap between the two, no earlier than `toi`, or than the start if
        they overlap there. ``inf``: overlap or touch lasts until the step ends. Not a number: they never
        meet, or it is not known (UNRESOLVED).
    info : dict
        How the result was made: backend, device, precision, refine, candidates, resolution, tolerances,
        timings, notes.
    part_a, part_b : (c,) int32 or None
        Index into `parts` of the name of A's and of B's part that meets, -1 for none; None where no mesh has
        names. On a device they are made on first access: 14 bytes per contact are copied to the host and 8
        back. `part_names` has the names.
    """

    _format: ClassVar[FileFormat] = FileFormat(
        version=4,  # 2: pairs; 3: checksums; 4: names of parts
        faults=contact_faults,
        unnamed=3,
        first_with_checksums=3,
    )
    status: NDArray[np.uint8] = array_field(np.uint8, like="status")
    toi: NDArray[np.float64] = array_field(np.float64, like="status", finite=False)
    contact_start: NDArray[np.int64] = array_field(np.int64, like="status", more=1)
    pair: NDArray[np.int32] = array_field(np.int32)
    kind: NDArray[np.uint8] = array_field(np.uint8)
    feature_a: NDArray[np.int32] = array_field(np.int32)
    feature_b: NDArray[np.int32] = array_field(np.int32)
    time: NDArray[np.float64] = array_field(np.float64)
    position: NDArray[np.float64] = array_field(np.float64, 3)
    normal: NDArray[np.float64] = array_field(np.float64, 3)
    properness: NDArray[np.float64] = array_field(np.float64)
    local_a: NDArray[np.float64] = array_field(np.float64, 3)
    local_b: NDArray[np.float64] = array_field(np.float64, 3)
    normal_speed: NDArray[np.float64] = array_field(np.float64)
    sustained: NDArray[np.bool_] = array_field(np.bool_)
    time_end: NDArray[np.float64] = array_field(np.float64)
    pairs: NDArray[np.int32] | None = array_field(np.int32, 2, like="status", optional=True)
    info: dict[str, Any] = dataclasses.field(default_factory=dict)
    part_a: NDArray[np.int32] | None = NamedLater("part_a")  # type: ignore[assignment]
    part_b: NDArray[np.int32] | None = NamedLater("part_b")  # type: ignore[assignment]
    exit: NDArray[np.float64] | None = array_field(np.float64, like="status", optional=True)

    @property
    def n_pairs(self) -> int:
        """Number of pairs asked about."""
        return len(self.status)

    def with_parts(self, bodies: Bodies) -> Contacts:
        """The same result with the names of the parts that meet; queries add them by themselves.

        Parameters
        ----------
        bodies : Bodies
            Those of the query.

        Returns
        -------
        Contacts
            With `part_a` and `part_b` if any mesh of `bodies` has names of parts.
        """
        if not bodies.named:
            return self
        pairs = self._known_pairs()
        if not isinstance(self.pair, np.ndarray):
            later = object.__new__(Contacts)
            told = {name: value for name, value in self.__dict__.items() if name not in PART_FIELDS}
            later.__dict__.update(told, info=dict(self.info), _named_by=(bodies.meshes, bodies.shape))
            return later
        fields, names = parts_of_contacts(
            bodies.meshes, bodies.shape, pairs[self.pair], self.kind, (self.feature_a, self.feature_b)
        )
        for array in fields.values():
            array.setflags(write=False)
        return dataclasses.replace(self, **fields, info={**self.info, "parts": names})

    def _known_pairs(self) -> Any:
        if self.pairs is None:
            raise ValueError(
                "pairs: expected the bodies of each pair, which this result of an old file lacks"
            )
        return self.pairs

    def of_pair(self, index: int) -> Rows:
        """Contacts of one pair.

        Parameters
        ----------
        index : int
            Row of `pairs`; negative counts from the end.

        Returns
        -------
        (k,) structured ndarray
            One record per contact with the per-contact fields, ``CONTACT_DTYPE``;
            ``contacts.of_pair(3)["time"]``. A copy, which prints as a table.

        Raises
        ------
        IndexError
            There is no such pair.
        TypeError
            `index` is no integer.
        """
        index = whole_number(
            index,
            "index",
            expected="an integer, the row of one pair",
            hint="; for the bodies a pair is of, see Contacts.pairs",
        )
        if not -self.n_pairs <= index < self.n_pairs:
            verb = "is" if self.n_pairs == 1 else "are"
            raise IndexError(f"pair {index} is out of range: there {verb} {how_many(self.n_pairs, 'pair')}")
        index %= self.n_pairs
        first, last = (int(v) for v in as_numpy(self.contact_start[index : index + 2], "contact_start"))
        return self._records(slice(first, last))

    def of_bodies(self, a: int, b: int | None = None) -> Contacts:
        """Contacts of a body with any other, or of two bodies in whichever order, as `Contacts`.

        Raises
        ------
        ValueError
            `pairs` is None, in a result of an old file.
        """
        pairs = as_numpy(self._known_pairs(), "pairs")
        mine = has_bodies(pairs[:, 0], pairs[:, 1], a, b)
        return self[mine[as_numpy(self.pair, "pair")]]

    def by_world(self, world: ArrayLike | None = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The time of the first contact and the number of contacts of each world.

        Parameters
        ----------
        world : (n,) array_like of int, optional
            World of each body, as passed to the query. If one body of a pair is in all worlds (-1), the world
            of the other counts. Not needed where the poses of the bodies had the shape ``(worlds, n)``.

        Returns
        -------
        first_time : (w,) float64
            Time of the first contact as a fraction of the step, ``inf`` where there is none; of worlds 0 to
            the largest number in `world`.
        contacts : (w,) int64
            How many there are.

        Raises
        ------
        ValueError
            Fewer numbers than there are bodies in pairs, none where they are needed, or `pairs` is None, in a
            result of an old file.
        """
        pairs = as_numpy(self._known_pairs(), "pairs")
        if world is None:
            world = world_of_bodies(self.info)
        world = as_int_array(world, "world", shape=(None,), low=-1)
        if len(pairs) and pairs.max() >= len(world):
            least = int(pairs.max()) + 1
            raise ValueError(f"world: expected a number for each body, {least} or more, got {len(world)}")
        of_a, of_b = world[pairs[:, 0]], world[pairs[:, 1]]
        of_pair = np.where(of_a >= 0, of_a, of_b)
        first = np.full(int(world.max(initial=-1)) + 1, np.inf)
        inside = of_pair >= 0
        np.minimum.at(first, of_pair[inside], as_numpy(self.toi, "toi")[inside])
        counts = np.diff(as_numpy(self.contact_start, "contact_start"))[inside]
        return first, np.bincount(of_pair[inside], counts, len(first)).astype(np.int64)

    def _selected(self, rows: Array) -> Contacts:
        if self.to_numpy() is not self:
            return self.to_numpy()._selected(rows)
        found = super()._selected(rows)
        toi = np.full(self.n_pairs, np.inf)
        np.minimum.at(toi, found.pair, found.time)
        return dataclasses.replace(found, toi=toi)

    def __repr__(self) -> str:
        status = as_numpy(self.status, "status")
        kind = as_numpy(self.kind, "kind")
        lines = [
            "Contacts",
            f"  pairs     {self.n_pairs}: {counted(status, Status) or 'none'}",
            f"  contacts  {len(self)}: {counted(kind, Kind) or 'none'}",
        ]
        overlapping = int((status == Status.INITIAL_OVERLAP).sum())
        if overlapping:
            lines.insert(2, f"  overlap   {overlap_words(overlapping)}")
        if len(self):
            toi = as_numpy(self.toi, "toi")
            first = int(np.argmin(toi))
            lines.append(f"  earliest  t = {toi[first]:.9g} in pair {first}")
            lasting = int(as_numpy(self.sustained, "sustained").sum())
            if lasting:
                lines.append(f"  sustained {lasting}")
        return "\n".join(lines + made_by(self.info, "refine"))


CONTACT_DTYPE = np.dtype([(name, *field) for name, field in Contacts._rows.items()], align=True)
