"""Launches of the screw method up to its hits, as steps of a sequence (`gpu_collide.backends.sequence`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_collide.backends.sequence import Launch, Select
from gpu_collide.pipeline import first, hulls
from gpu_collide.pipeline.filters import FILTERS, plane_reals
from gpu_collide.pipeline.lots import small_meshes, takes_small
from gpu_collide.pipeline.screen import CANDIDATES, REFINE

__all__ = ["Stages"]


class Stages:
    """The launches s01 to s07 as steps of a sequence: what `Chain` and the kept pairs of ``few.py`` share.

    Attributes
    ----------
    n, most : int or Count, int
        How many pairs there are, as a launch takes it, and how many there may be.
    left : dict of str to buffer
        How many pairs each filter left, in their order.
    walked : bool
        Are the first contacts of some pairs looked for down their trees?
    shut : buffer
        Of these pairs, if there are any; 0 before a run.
    hulls : bool
        Are the first contacts of some pairs looked for between their hulls?
    lasting : buffer or None
        Candidates that last, if s07 is done in three launches.
    """

    run: Any
    options: Any
    tables: Any
    room: Any
    buffers: dict
    steps: list
    nbytes: int
    n: Any
    most: int
    left: dict
    walked: bool
    shut: Any
    hulls: bool
    lasting: Any

    def _empty(self, shape, dtype):
        buffer = self.run.backend.empty(shape, dtype)
        self.nbytes += buffer.nbytes
        return buffer

    def _group_size(self, counts):
        """Work-items for a pair of meshes of at most these (meshes, 3) features; None: the usual number.

        Small ones have fewer, and a screen of their own: counted, a pair of cars takes half of the
        instructions there.
        """
        return self.run.backend.small_group_size if small_meshes(self.run, counts).all() else None

    def _launch(self, name, n, most, groups=None, more=None, size=None, **args):
        """Add a launch; arguments that are not in `args` are looked up by name, first in `more`."""
        kernel = self.run.kernel(name)
        args[kernel.args[0].name] = 0
        for key, *_ in kernel.args:
            if key not in args:
                some = (more or {}, self.buffers, self.tables.buffers)
                args[key] = next(found[key] for found in some if key in found)
        self.steps.append(Launch(self.run.backend.bind(kernel, **args), n, most, groups, size))

    def _launch_listed(self, name, n, most, more=None, **args):
        """Add a launch for a list of which the most part may be empty: of more than a quarter of its entries
        a work-item does several, until it comes to one that is none."""
        size = self.run.backend.item_group_size
        self._launch(name, n, most, -(-most // (4 * size)), more, size, **args)

    def _select(self, numbers, flags, n):
        """Add the choice of those numbers that have a flag; they, and how many they are."""
        out, n_out = self._empty(self.most, np.int32), self._empty(1, np.int32)
        self.steps.append(Select(numbers, flags, n, out, n_out))
        return out, n_out

    def _screws(self, n, most):
        """Stage s01."""
        self._launch("s01_screw", n, most)
        if not self.run.backend.serial_groups:
            self._launch("s01_long", n, most)

    def _filter(self, todo, planes=0):
        """Those filters that are asked for; the plane with so many groups, 0: it is left out, as each may
        be."""
        n_todo: Any = self.n
        for name in self.options.filters:
            if name == "plane" and not planes:
                continue
            keep, more, groups = self._empty(self.most, np.uint8), {}, None
            if name == "plane":
                groups, size, reals = planes, self.run.backend.group_size, plane_reals(self.run, self.tables)
                more = self.tables.screen | {
                    "reals_per_group": reals, "scratch_reals": self._empty(groups * reals, self.run.raster),
                    "scratch_ints": self._empty(groups * 2 * size, np.int32),
                }  # fmt: skip
            self._launch(FILTERS[name], n_todo, self.most, groups, more, todo_in=todo, keep_out=keep)
            todo, n_todo = self._select(todo, keep, n_todo)
            self.left[name] = n_todo
        return todo, n_todo

    def _hulls(self, todo, n_todo):
        """The list of candidates, and in it those of the pairs that are settled between their hulls; the
        others, and how many they are."""
        run, most = self.run, self.room["candidates"]
        self.n_candidates = self._empty(1, np.int32)
        self.candidates = self._empty(4 * most, np.int32)
        self.brackets = self._empty(2 * most, run.raster)
        if not self.hulls:
            return todo, n_todo
        groups, keep = self.room["hull_groups"], self._empty(self.most, np.uint8)
        reals, ints = hulls.sizes(run.backend)
        self._launch(
            "screen_hulls", n_todo, self.most, groups, todo_in=todo, keep_out=keep, capacity=most,
            min_properness=self.options.min_properness, columns_in=self.tables.screen["vertices_in"],
            scratch_reals=self._empty(groups * reals, run.raster),
            scratch_ints=self._empty(groups * ints, np.int32), n_candidates_out=self.n_candidates,
            candidates_out=self.candidates, brackets_out=self.brackets, **hulls.limits(run.backend),
        )  # fmt: skip
        return self._select(todo, keep, n_todo)

    def _screen(self, groups, *lots):
        """Stages s02 to s06 of one or two lots: items to do, their number, items, tables of their parts, and
        work-items of a group, if not the usual number. All share scratch and the list of candidates. Pairs
        that are walked down are in the last one; those of small meshes, if they are apart, come before."""
        run, room, options = self.run, self.room, self.options
        most = room["candidates"]
        self.need, self.no_room = self._empty(2, np.int32), self._empty(self.most, np.int32)
        reals = self._empty(groups * room["reals"], run.raster)
        ints = self._empty(groups * room["ints"], np.int32)
        self._hits()
        every = [(*lot, first.limit(self.walked)) for lot in lots]
        if self.walked:  # pairs that are walked down in vain are for the screen, whole
            todo, n_todo, *rest = lots[-1]
            every.append((*self._first(todo, n_todo, room["hits"]), *rest, 0))
        for todo, n_todo, items, tables, size, walked in every:
            own = {"candidates": CANDIDATES[options.candidates], "walked": walked, "shares": 0}
            small = size is not None and takes_small(options)
            self._launch(
                "screen_small" if small else "screen", n_todo, self.most, groups, tables, size, todo_in=todo,
                items_in=items, scratch_reals=reals, scratch_ints=ints, reals_per_group=room["reals"],
                ints_per_group=room["ints"], no_room_out=self.no_room, need_out=self.need,
                min_properness=options.min_properness, refine=REFINE[options.refine], capacity=most,
                n_candidates_out=self.n_candidates, candidates_out=self.candidates,
                brackets_out=self.brackets, **({} if small else own),
            )  # fmt: skip

    def _overlap(self, todo, n_todo):
        """Stage s09 at the start."""
        near, when = self._empty(self.most, np.uint8), self._empty(self.most, self.run.real)
        self.run.backend.fill(when, -0.5)
        self._launch("s09_near", n_todo, self.most, todo_in=todo, when_in=when, near_out=near)
        left, n_left = self._select(todo, near, n_todo)
        groups, size = min(self.run.backend.max_groups, self.most), self._group_size(self.tables.counts)
        self._launch("s09_overlap", n_left, self.most, groups, None, size, todo_in=left, when_in=when)

    def _solve(self):
        """Stage s07."""
        most, room = self.room["hits"], self.room["candidates"]
        exact, plain = self.options.refine == "exact", self.run.backend.serial_groups
        more = {} if exact else {"refine": REFINE[self.options.refine]}
        more |= dict(
            candidates_in=self.candidates, brackets_in=self.brackets,
            min_properness=self.options.min_properness, capacity=most, pair_hits_out=self.pair_hits,
            n_hits_out=self.n_hits, hit_out=self.hit, value_out=self.value,
        )  # fmt: skip
        self.lasting = None
        if plain or not exact:
            self._launch("s07_solve" if exact else "s07_answer", self.n_candidates, room, None, more)
            return
        self.lasting, self.n_lasting = self._empty(room, np.int32), self._empty(1, np.int32)
        more |= {"lasting_out": self.lasting, "n_lasting_out": self.n_lasting, "lasting_in": self.lasting}
        self._launch("s07_find", self.n_candidates, room, None, more)
        self._launch_listed("s07_test", self.n_hits, most, more)
        self._launch_listed("s07_last", self.n_lasting, room, more)

    def _hits(self):
        """Room for what ``screen_first`` and s07 find."""
        most = self.room["hits"]
        self.hit, self.value = self._empty(4 * most, np.int32), self._empty(3 * most, self.run.real)
        self.pair_hits, self.n_hits = self._empty(self.most, np.int32), self._empty(1, np.int32)

    def _first(self, todo, n_todo, most):
        """Hits of those of the pairs `todo` of which the first contact alone is looked for; which of them are
        left to the screen, and how many."""
        run, groups = self.run, self.room["first_groups"]
        reals, ints, nodes = first.sizes(run.backend)
        self.shut, keep = self._empty(self.most, np.int32), self._empty(self.most, np.uint8)
        self._launch(
            "screen_first", n_todo, self.most, groups, todo_in=todo, room=nodes, walked=first.limit(True),
            given_up=first.given_up(False), barren=0,
            min_properness=self.options.min_properness, capacity=most, shut_out=self.shut, keep_out=keep,
            scratch_reals=self._empty(groups * reals, run.raster),
            scratch_ints=self._empty(groups * ints, np.int32), pair_hits_out=self.pair_hits,
            n_hits_out=self.n_hits, hit_out=self.hit, value_out=self.value,
        )  # fmt: skip
        return self._select(todo, keep, n_todo)
