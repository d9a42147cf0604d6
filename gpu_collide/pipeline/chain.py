"""All launches of the screw method, from s01 to s08, as one sequence over buffers that have room to spare.

Nothing is looked at before the end: what a stage leaves to the next stays where it is. Whoever runs it asks
then whether there was room for all, and runs it again with more if there was not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.backends.sequence import Blank, Launch, Scan, Select, Zero
from gpu_collide.pipeline.filters import FILTERS
from gpu_collide.pipeline.gather import FIELDS
from gpu_collide.pipeline.screen import CANDIDATES, REFINE

__all__ = ["Chain", "Stages"]


class Stages:
    """The launches s01 to s07 as steps of a sequence: what `Chain` and the kept pairs of ``few.py`` share.

    Attributes
    ----------
    n, most : int or Count, int
        How many pairs there are, as a launch takes it, and how many there may be.
    """

    run: Any
    options: Any
    tables: Any
    room: Any
    buffers: dict
    items: Any
    steps: list
    nbytes: int
    n: Any
    most: int

    def _empty(self, shape, dtype):
        buffer = self.run.backend.empty(shape, dtype)
        self.nbytes += buffer.nbytes
        return buffer

    def _launch(self, name, n, most, groups=None, **args):
        """Add a launch; arguments that are not in `args` are looked up by name."""
        kernel = self.run.kernel(name)
        args[kernel.args[0].name] = 0
        for key, *_ in kernel.args:
            if key not in args:
                args[key] = self.buffers[key] if key in self.buffers else self.tables.buffers[key]
        self.steps.append(Launch(self.run.backend.bind(kernel, **args), n, most, groups))

    def _select(self, numbers, flags, n):
        """Add the choice of those numbers that have a flag; they, and how many they are."""
        out, n_out = self._empty(self.most, np.int32), self._empty(1, np.int32)
        self.steps.append(Select(numbers, flags, n, out, n_out))
        return out, n_out

    def _filter(self, todo):
        """Filters f01 and f02, if they are asked for."""
        n_todo: Any = self.n
        for name in self.options.filters:
            if name != "plane":
                keep = self._empty(self.most, np.uint8)
                self._launch(FILTERS[name], n_todo, self.most, todo_in=todo, keep_out=keep)
                todo, n_todo = self._select(todo, keep, n_todo)
        return todo, n_todo

    def _screen(self, todo, n_todo, groups):
        """Stages s02 to s06. The item of a pair has the pair's number."""
        run, room, options = self.run, self.room, self.options
        most = room["candidates"]
        self.need, self.no_room = self._empty(2, np.int32), self._empty(self.most, np.int32)
        self.n_candidates = self._empty(1, np.int32)
        self.candidates = self._empty(4 * most, np.int32)
        self.brackets = self._empty(2 * most, run.raster)
        self._launch(
            "screen", n_todo, self.most, groups, **self.tables.screen, todo_in=todo, items_in=self.items,
            scratch_reals=self._empty(groups * room["reals"], run.raster),
            scratch_ints=self._empty(groups * room["ints"], np.int32),
            reals_per_group=room["reals"], ints_per_group=room["ints"], no_room_out=self.no_room,
            need_out=self.need, min_properness=options.min_properness, refine=REFINE[options.refine],
            candidates=CANDIDATES[options.candidates], capacity=most, n_candidates_out=self.n_candidates,
            candidates_out=self.candidates, brackets_out=self.brackets,
        )  # fmt: skip

    def _overlap(self, todo, n_todo):
        """Stage s09 at the start."""
        near, when = self._empty(self.most, np.uint8), self._empty(self.most, self.run.real)
        self.run.backend.fill(when, -0.5)
        self._launch("s09_near", n_todo, self.most, todo_in=todo, when_in=when, near_out=near)
        left, n_left = self._select(todo, near, n_todo)
        groups = min(self.run.backend.max_groups, self.most)
        self._launch("s09_overlap", n_left, self.most, groups, todo_in=left, when_in=when)

    def _solve(self):
        """Stage s07."""
        most = self.room["hits"]
        self.hit, self.value = self._empty(4 * most, np.int32), self._empty(3 * most, self.run.real)
        self.pair_hits, self.n_hits = self._empty(self.most, np.int32), self._empty(1, np.int32)
        self._launch(
            "s07_solve", self.n_candidates, self.room["candidates"], candidates_in=self.candidates,
            brackets_in=self.brackets, min_properness=self.options.min_properness, capacity=most,
            pair_hits_out=self.pair_hits, n_hits_out=self.n_hits, hit_out=self.hit, value_out=self.value,
        )  # fmt: skip


class Chain(Stages):
    """The launches for `n` pairs, bound to their buffers. Not for two threads at once.

    Parameters
    ----------
    run : Run
    options : Options
        With ``refine="exact"``; the filter ``plane`` is left out, as each may be: it settles little, and each
        pair needs scratch for it.
    tables : MeshTables
    n : int
    buffers : dict
        Poses, shapes, ``pairs_in``, ``row_height_in``, by the names of kernel arguments; gets what the stages
        make of each pair.
    items, todo : buffers
        Items of the screen, that of a pair with the pair's number, and the numbers of all pairs.
    room : dict
        What there is room for, by name: ``candidates``, ``hits`` (entries), ``reals``, ``ints`` (scratch of a
        group).
    groups : int
        Of the screen.
    first : int
        Number of the first pair among all.

    Attributes
    ----------
    sequence : Sequence
    nbytes : int
        Of the buffers that it made.
    need, n_candidates, n_hits : buffers
        Scratch that would have been needed, and how many candidates and hits there are.
    status, toi, start, out : buffers, and a dict of them
        What s08 wrote: of each pair, where its contacts begin, and they.
    """

    def __init__(self, run, options, tables, n, buffers, items, todo, room, groups, first=0):
        self.run, self.options, self.tables, self.room = run, options, tables, room
        self.n, self.most, self.first, self.buffers, self.items = n, n, first, buffers, items
        self.nbytes = 0
        buffers["screw_in"] = buffers["screw_out"] = self._empty(n * int(run.c["GC_SCREW_STRIDE"]), run.real)
        buffers["state_in"] = buffers["state_out"] = self._empty(n, np.int32)
        self.steps = []
        self._launch("s01_screw", n, n)
        todo, n_todo = self._filter(todo)
        self._screen(todo, n_todo, groups)
        if options.check_start:
            self._overlap(todo, n_todo)
        self._solve()
        self._write()
        zeros = (self.need, self.no_room, self.n_candidates, self.n_hits, self.pair_hits, self.cursor)
        blanks = (self.candidates, self.hit)
        steps = [*map(Zero, zeros), *map(Blank, blanks), *self.steps]
        self.sequence = run.backend.sequence(steps, looking=False)

    def counted(self):
        """The buffers that `lacking` wants to know."""
        return self.need, self.n_candidates, self.n_hits

    def lacking(self, numbers):
        """What the last run had too little room for, by name, with how much it takes, from the contents of
        `counted` as lists."""
        (reals, ints), (candidates,), (hits,) = numbers
        found = {"candidates": candidates, "hits": hits, "reals": reals, "ints": ints}
        room = self.room  # a count below 0 went past what an int holds
        return {name: n if n > 0 else 4 * room[name] for name, n in found.items() if not 0 <= n <= room[name]}

    def _write(self):
        """Stage s08. A contact is a hit, so there is room for as many."""
        run, n, most = self.run, self.n, self.room["hits"]
        hit_start, order = self._empty(n + 1, np.int64), self._empty(most, np.int32)
        self.cursor, kept = self._empty(n, np.int32), self._empty(n, np.int32)
        self.status, self.toi = self._empty(n, np.uint8), self._empty(n, run.real)
        self.start = self._empty(n + 1, np.int64)
        self.out = {
            name: self._empty((most, width) if width > 1 else most, np.dtype(dtype) if dtype else run.real)
            for name, (dtype, width) in FIELDS.items()
        }
        self.steps.append(Scan(self.pair_hits, hit_start))
        self._launch("s08_place", self.n_hits, most, hit_in=self.hit, hit_start_in=hit_start,
                     cursor=self.cursor, order_out=order)  # fmt: skip
        self._launch("s08_resolve", n, n, hit_start_in=hit_start, value_in=self.value,
                     refine=REFINE[self.options.refine], first_only=int(self.options.first_only),
                     hit_out=self.hit, order_out=order, kept_out=kept, status_out=self.status,
                     toi_out=self.toi)  # fmt: skip
        self.steps.append(Scan(kept, self.start))
        self._launch("s08_contacts", n, n, hit_start_in=hit_start, contact_start_in=self.start,
                     hit_in=self.hit, value_in=self.value, order_in=order, first_pair=self.first,
                     **{f"{name}_out": buffer for name, buffer in self.out.items()})  # fmt: skip
