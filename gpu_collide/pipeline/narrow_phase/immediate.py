"""The immediate executor: each count is read at once, and a launch that had too little room is repeated
with more."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from gpu_collide.pipeline.launch.launcher import MOST_INDEX, TooLarge
from gpu_collide.pipeline.narrow_phase import scratch as sizes_of
from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, Seats, Span, WorkList

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import DTypeLike

    from gpu_collide._types import Array, Buffer, ShapeLike
    from gpu_collide.pipeline.launch.launcher import Launcher, Scratch
    from gpu_collide.pipeline.mesh_tables.layout import MeshTables
    from gpu_collide.pipeline.narrow_phase.plan import Plan
    from gpu_collide.pipeline.narrow_phase.scratch import ListKind
    from gpu_collide.results.report import FilterReport

__all__ = ["Immediate", "reads"]


class Immediate(Executor):
    """`Executor` of pairs whose meshes the host knows.

    Parameters
    ----------
    run : Launcher
    plan : Plan
    tables : MeshTables
    shapes : (n, 2) int32 array
        Meshes of the pairs.
    buffers : dict
        Poses and pairs, by the names of kernel arguments.
    first : int
        Number of the first pair among all.
    report : FilterReport, optional
        Gets a row for each test.

    Attributes
    ----------
    held : int
        Bytes that the pairs hold on the backend.
    narrow : int
        Pairs that came to the narrow phase.
    """

    reads = True

    def __init__(
        self,
        run: Launcher,
        plan: Plan,
        tables: MeshTables,
        shapes: Array,
        buffers: dict[str, Any],
        first: int = 0,
        report: FilterReport | None = None,
    ) -> None:
        n = len(shapes)
        self.run, self.plan, self.tables, self.shapes = run, plan, tables, shapes
        self.pairs, self.first, self.buffers, self.report = Span(n, n), first, dict(buffers), report
        self.held, self.narrow = n * sizes_of.pair_bytes(run), 0
        run.room.check(self.held)
        self.todo = self.listed(np.arange(n, dtype=np.int32))
        self.items = run.to_device(np.column_stack([self.todo.read, shapes]), np.int32)
        self.make_screws()

    def listed(self, numbers: Array) -> WorkList:
        """A list of these numbers, which nobody may write to."""
        numbers = np.ascontiguousarray(numbers, np.int32)
        n = len(numbers)
        return WorkList(self.run.backend.to_device(numbers, copy=False), n, n, numbers)

    # -- buffers ---------------------------------------------------------------------------------------------
    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        return self.run.backend.empty(shape, dtype)

    def zeros(self, size: int, dtype: DTypeLike = np.int32) -> Buffer:
        return self.run.backend.zeros(size, dtype)

    def blank(self, size: int) -> Buffer:
        return self.run.backend.fill(self.run.backend.empty(size, np.int32), -1)

    # -- launches --------------------------------------------------------------------------------------------
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
        run, n = self.run, over.n
        if not n:
            return
        args[run.kernel(name).args[0].name] = n
        bound = (over.given, *more, self.buffers, self.tables.buffers)
        if seats is not None:
            run.launch_groups(name, min(seats.groups, n), seats.given, *bound, group_size=size, **args)
        elif each:
            (run.launch_each if size is None else run.launch_small)(name, n, *bound, **args)
        else:
            run.launch(name, n, *bound, **args)

    def launch_listed(self, name: str, over: Entries, *more: Mapping[str, Any], **args: Any) -> None:
        n = int(self.run.backend.item(over.count, 0)) if over.n is None else over.n
        if 0 < n <= over.most:
            self.launch(name, Span(n, over.most), over.given, *more, **args)

    # -- what depends on what launches found -----------------------------------------------------------------
    def scan(self, counts: Buffer) -> Buffer:
        return self.run.backend.exclusive_scan(counts)

    def select(self, over: WorkList, flags: Buffer) -> WorkList:
        return self.listed(over.read[self.run.backend.to_host(flags) != 0])

    def fill(
        self, name: str, kind: ListKind, n: int, emit: Callable[[Entries], None], least: int = 0
    ) -> Entries:
        held, each = self.held, kind.nbytes(self.run)

        def once(capacity: int) -> tuple[int, Entries]:
            self.held = held + each * capacity
            entries = self.entries(kind, capacity)
            emit(entries)
            return int(self.run.backend.item(entries.count, 0)), entries

        first, at_least = sizes_of.FIRST[name]
        try:
            found, entries = self.run.room.filled(
                name, n, once, each=each, first=first, least=max(least, at_least), width=kind.width
            )
        finally:
            self.held = held
        entries.n = found
        self.held += each * found
        return entries

    def work_off(
        self,
        name: str,
        todo: WorkList,
        scratch: Sequence[Scratch],
        sizes: Callable[..., tuple[int, int]],
        emit: Callable[[WorkList, Seats], None],
        most: int = 0,
    ) -> None:
        def launch(left: Array, groups: int, grown: list[int]) -> tuple[list[int], Callable[[], Array]]:
            seats, to_host = self.grown_seats(groups, sizes(*grown), tuple(grown)), self.run.backend.to_host
            emit(todo if left is todo.host else self.listed(left), seats)
            need = to_host(seats.given["need_out"]).tolist()
            return need, lambda: np.flatnonzero(to_host(seats.given["no_room_out"])).astype(np.int32)

        groups = max(self.run.backend.max_groups, most)
        self.run.room.worked_off(todo.read, scratch, launch, held=self.held, groups=groups)

    def seats(self, name: str, over: Any, sizes: tuple[int, int], optional: bool = False) -> Seats | None:
        room, group = self.run.room, sizes_of.group_bytes(self.run, sizes)
        most = room.fits(group, share=4) if optional else room.fits(group, self.held)
        groups = min(self.run.backend.max_groups, over.n, most if sizes[0] <= MOST_INDEX else 0)
        if groups:
            return self._seats(groups, sizes, sizes, {})
        if optional:
            return None
        raise TooLarge(group + self.held)

    def _seats(
        self, groups: int, sizes: tuple[int, int], told: tuple[int, ...], more: dict[str, Any]
    ) -> Seats:
        reals, ints = sizes
        given = {
            "scratch_reals": self.empty(groups * reals, self.run.raster),
            "scratch_ints": self.empty(groups * ints, np.int32),
        }
        return Seats(groups, told, given | more)

    def total(self, sums: Buffer, most: int) -> int:
        return int(self.run.backend.item(sums, -1))

    def joined_sizes(self, sums: Buffer, places: int) -> dict[str, int]:
        n = self.pairs.most
        ends = self.run.backend.to_host(sums)[n :: 2 * n]
        found = dict(zip(("pairs", *sizes_of.JOINED), np.diff(ends, prepend=0).tolist(), strict=True))
        rasters = sum(width * found[name] for name, width in sizes_of.JOINED.items())
        need = 2 * (4 * found["topology"] + self.run.raster.itemsize * rasters + 40 * places)
        self.run.room.check(need)
        if found["topology"] > MOST_INDEX:
            raise TooLarge(need)
        self.held += need // 2
        return found

    def grown_seats(self, groups: int, sizes: tuple[int, int], told: tuple[int, ...]) -> Seats:
        """Scratch whose users say if it was too small."""
        more = {"need_out": self.zeros(len(told)), "no_room_out": self.zeros(self.pairs.most)}
        return self._seats(groups, sizes, told, more)

    def settled_near(self, near: WorkList, given_up: int, items: int, begun: float) -> None:
        if self.report is not None:
            seconds = time.perf_counter() - begun
            self.report.add("near features", near.n, near.n - given_up - items, seconds)

    def take_back(self, other: Immediate) -> None:
        self.held, self.narrow = other.held, other.narrow

    def settled(self, name: str, before: Any, left: Any, begun: float) -> None:
        if self.report is not None:
            self.report.add(name, before.n, before.n - left.n, time.perf_counter() - begun)


def reads(x: Executor) -> TypeGuard[Immediate]:
    """Does an executor read counts, and know the numbers in lists?"""
    return x.reads
