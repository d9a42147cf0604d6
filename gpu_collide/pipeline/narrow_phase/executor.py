"""The interface through which stages launch. An executor runs what it is told, at once or once all is
recorded; it never chooses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array, Buffer, ShapeLike
    from gpu_collide.pipeline.launch.launcher import Launcher, Scratch
    from gpu_collide.pipeline.mesh_tables.layout import MeshTables
    from gpu_collide.pipeline.narrow_phase.plan import Plan
    from gpu_collide.pipeline.narrow_phase.scratch import ListKind

__all__ = ["Entries", "Executor", "Seats", "Span", "WorkList"]


class Span(NamedTuple):
    """The items 0 to `n`.

    Attributes
    ----------
    n : int, Count or buffer (1,) int32
    most : int
        What their buffers have room for.
    """

    n: Any
    most: int

    @property
    def given(self) -> dict[str, Any]:
        """Arguments that it is for the kernels that work on it: none."""
        return {}


class WorkList(NamedTuple):
    """Numbers of pairs or of other items to be worked on, ascending.

    Attributes
    ----------
    numbers : buffer of int32
    n, most :
        As those of a `Span`.
    host : int32 array or None
        The same numbers, where an executor reads what launches found.
    """

    numbers: Buffer
    n: Any
    most: int
    host: Array | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Arguments that it is for the kernels that work on it."""
        return {"todo_in": self.numbers}

    @property
    def read(self) -> Array:
        """The numbers on the host, where they are there."""
        if self.host is None:
            raise ValueError("expected a list of an executor that reads, got one whose numbers stay unread")
        return self.host


@dataclass
class Entries:
    """A list that launches add to, of which `most` have a place.

    Attributes
    ----------
    kind : ListKind
    columns : dict of str to buffer
    count : buffer (1,) int32
        How many there are, with a place or without.
    most : int
    n : int, buffer or None
        How many there are; None while they are added and somebody is going to read it.
    per_pair : buffer (pairs,) int32 or None
        How many each pair has, if that is counted.
    """

    kind: ListKind
    columns: dict[str, Buffer]
    count: Buffer
    most: int
    n: Any = None
    per_pair: Buffer | None = None

    @property
    def given(self) -> dict[str, Any]:
        """Arguments that it is for kernels that read it."""
        return {f"{name}_in": buffer for name, buffer in self.columns.items()}

    @property
    def out(self) -> dict[str, Any]:
        """Arguments that it is for kernels that add to it."""
        made = {f"{name}_out": buffer for name, buffer in self.columns.items()}
        if self.kind.per_pair:
            made[self.kind.per_pair] = self.per_pair
        return made | {"capacity": self.most, self.kind.counted: self.count}


class Seats(NamedTuple):
    """Scratch for so many groups.

    Attributes
    ----------
    groups : int
    sizes : tuple of int
        Of a group, by the names under which it may grow; of what cannot grow raster numbers and ints.
    given : dict
        Arguments: ``scratch_reals``, ``scratch_ints``, and where it may grow ``need_out``, ``no_room_out``.
    """

    groups: int
    sizes: tuple[int, ...]
    given: dict[str, Any]


class Executor(ABC):
    """Launches for some pairs, bound to their buffers.

    An argument of a kernel is looked up by its name in what a launch names, in what it works on, in what a
    stage hands to it, in the buffers of the pairs, and in the tables of the meshes; the first argument of
    every kernel is how many items there are.

    Attributes
    ----------
    reads : bool
        Are counts read between launches, so that all that comes behind has its size?
    run : Launcher
    plan : Plan
    tables : MeshTables
    pairs : Span
    first : int
        Number of the first pair among all.
    buffers : dict
        Poses, shapes, pairs, and what stages make of each pair, by the names of kernel arguments.
    items : buffer (pairs, 3) int32
        Of each pair its number, and its two meshes.
    todo : WorkList
        All pairs.
    """

    reads: bool
    run: Launcher
    plan: Plan
    tables: MeshTables
    pairs: Span
    first: int
    buffers: dict[str, Any]
    items: Buffer
    todo: WorkList

    # -- buffers ---------------------------------------------------------------------------------------------
    @abstractmethod
    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        """A buffer."""

    @abstractmethod
    def zeros(self, size: int, dtype: DTypeLike = np.int32) -> Buffer:
        """A buffer that is 0 before the launches begin."""

    @abstractmethod
    def blank(self, size: int) -> Buffer:
        """An int32 buffer that is -1 before the launches begin."""

    def entries(self, kind: ListKind, most: int) -> Entries:
        """An empty list with room for so many entries."""
        columns: dict[str, Buffer] = {}
        for name, (width, of) in kind.columns.items():
            if columns or self.reads:
                columns[name] = self.empty(width * most, kind.dtype(self.run, of))
            else:
                columns[name] = self.blank(width * most)
        each = self.zeros(self.pairs.most) if kind.per_pair else None
        count = self.zeros(1)
        return Entries(kind, columns, count, most, None if self.reads else count, each)

    def make_screws(self) -> None:
        """Buffers for the screws of the pairs, and for their state."""
        screw = self.empty(self.pairs.most * int(self.run.c["GC_SCREW_STRIDE"]), self.run.real)
        state = self.empty(self.pairs.most, np.int32)
        self.buffers |= {"screw_in": screw, "screw_out": screw, "state_in": state, "state_out": state}

    # -- launches --------------------------------------------------------------------------------------------
    @abstractmethod
    def launch(
        self,
        name: str,
        over: Any,
        *more: Mapping[str, Any],
        seats: Seats | None = None,
        each: bool = False,
        size: int | None = None,
        **args: Any,
    ) -> None:
        """The kernel `name`, a work-item for each item of `over`; with `seats` in groups that have scratch,
        with `each` a group for each item, of `size` work-items if not the usual number."""

    @abstractmethod
    def launch_listed(self, name: str, over: Entries, *more: Mapping[str, Any], **args: Any) -> None:
        """A work-item for each entry of a list that may be empty in most of its room, or have been too short:
        then all comes again."""

    # -- what depends on what launches found -----------------------------------------------------------------
    @abstractmethod
    def scan(self, counts: Buffer) -> Buffer:
        """Sums before each of some int32 counts, and the total, int64."""

    @abstractmethod
    def select(self, over: WorkList, flags: Buffer) -> WorkList:
        """Those with a flag (uint8) that is not 0."""

    @abstractmethod
    def fill(
        self, name: str, kind: ListKind, n: int, emit: Callable[[Entries], None], least: int = 0
    ) -> Entries:
        """A list with all that the launches of `emit` add, which `n` things do; `name`: of the guess."""

    @abstractmethod
    def work_off(
        self,
        name: str,
        todo: WorkList,
        scratch: Sequence[Scratch],
        sizes: Callable[..., tuple[int, int]],
        emit: Callable[[WorkList, Seats], None],
        most: int = 0,
    ) -> None:
        """All of `todo`, of no more items than pairs, by launches of `emit`, in groups with scratch that
        grows until it is enough; ``sizes(*grown)`` tells the raster numbers and ints of a group. `most`:
        groups, if they may be more than fill the device."""

    @abstractmethod
    def seats(self, name: str, over: Any, sizes: tuple[int, int], optional: bool = False) -> Seats | None:
        """Groups with scratch of these sizes for `over`; None of a test that is `optional` if there is no
        room."""

    @abstractmethod
    def total(self, sums: Buffer, most: int) -> int:
        """The last of some sums, or what there is room for where nobody reads it."""

    @abstractmethod
    def joined_sizes(self, sums: Buffer, places: int) -> dict[str, int]:
        """How many joined meshes and features there are in the sums of ``g05_measure``, or for how many there
        is room: ``pairs`` and those of `scratch.JOINED`."""

    @abstractmethod
    def take_back(self, other: Any) -> None:
        """Count for what another one took that has worked on pieces of these pairs."""

    @abstractmethod
    def settled(self, name: str, before: WorkList, left: WorkList, begun: float) -> None:
        """A filter left these of those before."""

    @abstractmethod
    def settled_near(self, near: WorkList, given_up: int, items: int, begun: float) -> None:
        """Of pairs that look at near faces so many are looked at whole, and so many have any."""
