"""The recorded executor: launches form one sequence over buffers with room to spare, and nothing is read
before its end.

Whoever runs it asks then whether there was room for all (`Recorded.lacking`), and records it anew with more
if there was not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends.sequence import Blank, Launch, Scan, Select, Zero
from gpu_collide.pipeline.narrow_phase import scratch as sizes_of
from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, Seats, WorkList
from gpu_collide.pipeline.narrow_phase.stages import narrow_phase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import DTypeLike

    from gpu_collide._types import Buffer, ShapeLike
    from gpu_collide.pipeline.launch.launcher import Launcher, Scratch
    from gpu_collide.pipeline.mesh_tables.layout import MeshTables
    from gpu_collide.pipeline.narrow_phase.executor import Span
    from gpu_collide.pipeline.narrow_phase.plan import Plan
    from gpu_collide.pipeline.narrow_phase.scratch import ListKind

__all__ = ["Recorded"]


class Recorded(Executor):
    """The launches for some pairs, bound to their buffers. Not for two threads at once.

    Parameters
    ----------
    run, plan, tables, pairs, first
        As of every `Executor`.
    buffers : dict
        Poses, shapes, ``pairs_in``, ``row_height_in``, by the names of kernel arguments.
    items : buffer
    todo : buffer
        Numbers of all pairs.
    room : dict of str to int
        What there is room for: ``candidates``, ``hits``, ``pieces`` (entries); ``reals``, ``ints`` (scratch
        of a group of
        the screen), ``screen_groups``; ``plane_groups``, 0: the filter is left out; ``first_groups`` and
        ``hull_groups`` where first contacts are looked for so; ``patches``, ``nodes``, ``node_groups`` and
        those of `scratch.JOINED` where pairs may look at near faces.
    looking : bool
        `Backend.sequence`.

    Attributes
    ----------
    sequence : Sequence
    nbytes : int
        Of the buffers that were made.
    left : dict of str to buffer
        How many pairs each filter left, in their order.
    written : Written
        What the last stage wrote.
    """

    reads = False

    def __init__(
        self,
        run: Launcher,
        plan: Plan,
        tables: MeshTables,
        pairs: Span,
        buffers: dict[str, Any],
        items: Buffer,
        todo: Buffer,
        room: dict[str, int],
        first: int = 0,
        looking: bool = False,
    ) -> None:
        self.run, self.plan, self.tables, self.pairs, self.first = run, plan, tables, pairs, first
        self.buffers, self.items, self.room, self._looking = dict(buffers), items, room, looking
        self.todo = WorkList(todo, *pairs)
        self.nbytes, self.left, self._told = 0, {}, {}
        self._steps: list[Any] = []
        self._zeros: list[Buffer] = []
        self._blanks: list[Buffer] = []
        self._lists: dict[str, Entries] = {}
        self._seats: dict[Any, Seats] = {}
        self.make_screws()
        self.written = narrow_phase(self)
        steps = [*map(Zero, self._zeros), *map(Blank, self._blanks), *self._steps]
        self.sequence = run.backend.sequence(steps, looking=looking)
        self._needs = [seats.given["need_out"] for seats in self._seats.values()]

    left: dict[str, Buffer]
    _told: dict[tuple[str, ...], Buffer]

    # -- buffers ---------------------------------------------------------------------------------------------
    def empty(self, shape: ShapeLike, dtype: DTypeLike) -> Buffer:
        buffer = self.run.backend.empty(shape, dtype)
        self.nbytes += buffer.nbytes
        return buffer

    def zeros(self, size: int, dtype: DTypeLike = np.int32) -> Buffer:
        self._zeros.append(self.empty(size, dtype))
        return self._zeros[-1]

    def blank(self, size: int) -> Buffer:
        self._blanks.append(self.empty(size, np.int32))
        return self._blanks[-1]

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
        groups = min(self.run.backend.max_groups, max(over.most, 1)) if each else None
        if seats is not None:
            groups, more = seats.groups, (seats.given, *more)
        self._add(name, over, groups, size, more, args)

    def launch_listed(self, name: str, over: Entries, *more: Mapping[str, Any], **args: Any) -> None:
        """Of more than a quarter of the entries a work-item does several, until it comes to one that is
        none."""
        size = None if self._looking else self.run.backend.item_group_size
        self._add(name, over, size and -(-over.most // (4 * size)), size, more, args)

    def _add(
        self, name: str, over: Any, groups: int | None, size: int | None, more: tuple[Any, ...], args: dict
    ) -> None:
        kernel = self.run.kernel(name)
        args[kernel.args[0].name] = 0
        given = (over.given, *more, self.buffers, self.tables.buffers)
        for key, *_ in kernel.args:
            if key not in args:
                args[key] = next(found[key] for found in given if key in found)
        self._steps.append(Launch(self.run.backend.bind(kernel, **args), over.n, over.most, groups, size))

    # -- what depends on what launches found -----------------------------------------------------------------
    def scan(self, counts: Buffer) -> Buffer:
        sums = self.empty(counts.size + 1, np.int64)
        self._steps.append(Scan(counts, sums))
        return sums

    def select(self, over: WorkList, flags: Buffer) -> WorkList:
        numbers, n = self.empty(over.most, np.int32), self.empty(1, np.int32)
        self._steps.append(Select(over.numbers, flags, over.n, numbers, n))
        return WorkList(numbers, n, over.most)

    def fill(
        self, name: str, kind: ListKind, n: int, emit: Callable[[Entries], None], least: int = 0
    ) -> Entries:
        """All that add to lists of a kind share one."""
        if kind.name not in self._lists:
            self._lists[kind.name] = self.entries(kind, self.room[kind.name])
            self._told[(kind.name,)] = self._lists[kind.name].count
        emit(self._lists[kind.name])
        return self._lists[kind.name]

    def work_off(
        self,
        name: str,
        todo: WorkList,
        scratch: Sequence[Scratch],
        sizes: Callable[..., tuple[int, int]],
        emit: Callable[[WorkList, Seats], None],
        most: int = 0,
    ) -> None:
        """All that have scratch of a name share it."""
        if name not in self._seats:
            grown = tuple(self.room[s.name] for s in scratch)
            items = max(self.pairs.most, self.room.get("pieces", 0))  # of pieces and of pairs
            told = {"need_out": self.zeros(len(scratch)), "no_room_out": self.zeros(items)}
            self._told[tuple(s.name for s in scratch)] = told["need_out"]
            self._seats[name] = self._made(self.room[f"{name}_groups"], sizes(*grown), grown, told)
        emit(todo, self._seats[name])

    def seats(self, name: str, over: Any, sizes: tuple[int, int], optional: bool = False) -> Seats | None:
        groups = self.room.get(f"{name}_groups", 0)
        return self._made(groups, sizes, sizes, {}) if groups or not optional else None

    def _made(
        self, groups: int, sizes: tuple[int, int], told: tuple[int, ...], more: dict[str, Any]
    ) -> Seats:
        given = {
            "scratch_reals": self.empty(groups * sizes[0], self.run.raster),
            "scratch_ints": self.empty(groups * sizes[1], np.int32),
        }
        return Seats(groups, told, given | more)

    def total(self, sums: Buffer, most: int) -> int:
        return most

    def joined_sizes(self, sums: Buffer, places: int) -> dict[str, int]:
        n, names = self.pairs.most, ("pairs near", *sizes_of.JOINED)
        self._told[names] = sums[n :: 2 * n]
        return {name: self.room[name] for name in sizes_of.JOINED} | {"pairs": n}

    def take_back(self, other: Recorded) -> None:
        self.nbytes = other.nbytes

    def settled(self, name: str, before: WorkList, left: WorkList, begun: float) -> None:
        if left is not before:
            self.left[name] = left.n

    def settled_near(self, near: WorkList, given_up: int, items: int, begun: float) -> None:
        self.left["near features"] = near.n

    # -- behind a run ----------------------------------------------------------------------------------------
    def counts(self, more: dict[tuple[str, ...], Buffer] | None = None) -> dict[str, int]:
        """What the last run found, by name, and what is in the buffers `more`; this waits for it."""
        asked = self._told | (more or {})
        here = {names[0]: n for names, n in asked.items() if isinstance(n, int)}
        asked = {names: buffer for names, buffer in asked.items() if not isinstance(buffer, int)}
        names = [name for group in asked for name in group]
        numbers = self.run.backend.numbers(*asked.values())
        found = here | dict(zip(names, (n for row in numbers for n in row), strict=True))
        before = 0
        for name in ("pairs near", *sizes_of.JOINED) if "pairs near" in found else ():
            found[name], before = found[name] - before, found[name]  # sums of all before
        return found

    def lacking(self, counts: dict[str, int]) -> dict[str, int]:
        """What the last run had too little room for, by name, with how much it takes."""
        found = {name: (n, self.room[name]) for name, n in counts.items() if name in self.room}
        # a count below 0 went past what an int holds
        return {name: n if n > 0 else 4 * room for name, (n, room) in found.items() if not 0 <= n <= room}

    def fits(self) -> bool:
        """Was there scratch for all in a run that looked, and came to its end? Lists were long enough then.
        This waits for it."""
        return not any(any(need) for need in self.run.backend.numbers(*self._needs))
