"""All launches of the screw method, from s01 to s08, as one sequence over buffers that have room to spare.

Nothing is looked at before the end: what a stage leaves to the next stays where it is. Whoever runs it asks
then whether there was room for all, and runs it again with more if there was not.
"""

from __future__ import annotations

import numpy as np

from gpu_collide.backends.sequence import Blank, Scan, Zero
from gpu_collide.pipeline.gather import FIELDS
from gpu_collide.pipeline.joining import Joining
from gpu_collide.pipeline.screen import REFINE

__all__ = ["Chain"]


class Chain(Joining):
    """The launches for `n` pairs, bound to their buffers. Not for two threads at once.

    Parameters
    ----------
    run : Run
    options : Options
    tables : MeshTables
    n : int
    buffers : dict
        Poses, shapes, ``pairs_in``, ``row_height_in``, by the names of kernel arguments; gets what the stages
        make of each pair.
    items, todo : buffers
        Items of the screen, that of a pair with the pair's number, and the numbers of all pairs.
    room : dict of str to int
        What there is room for: ``candidates``, ``hits`` (entries); ``reals``, ``ints`` (scratch of a group of
        the screen), ``groups`` of it; ``planes``: groups of the filter ``plane``, 0: it is left out. Where
        pairs may look at near faces as well ``patches`` and those of `JOINED` (entries), ``nodes`` (scratch
        of a group of b05), ``node_groups``.
    lots : gpu_collide.pipeline.lots.Lots
    first : int
        Number of the first pair among all.
    walked : bool
        Are first contacts of some pairs looked for down their trees? Then `room` has ``first_groups``.
    hulls : bool
        Or between their hulls? Then it has ``hull_groups``.

    Attributes
    ----------
    sequence : Sequence
    nbytes : int
        Of the buffers that it made.
    status, toi, start, out : buffers, and a dict of them
        What s08 wrote: of each pair, where its contacts begin, and they.
    """

    def __init__(
        self, run, options, tables, n, buffers, items, todo, room, lots, first=0, walked=False, hulls=False
    ):  # fmt: skip
        self.run, self.options, self.tables, self.room = run, options, tables, room
        self.n, self.most, self.first, self.buffers, self.lots = n, n, first, buffers, lots
        self.walked, self.hulls, self.nbytes, self.zeros, self.blanks = walked, hulls, 0, [], []
        buffers["screw_in"] = buffers["screw_out"] = self._empty(n * int(run.c["GC_SCREW_STRIDE"]), run.real)
        buffers["state_in"] = buffers["state_out"] = self._empty(n, np.int32)
        self.steps, self.left = [], {}
        self._screws(n, n)
        todo, n_todo = self._filter(todo, room["planes"])
        left, n_left = self._hulls(todo, n_todo)
        self._screen(room["groups"], *self._lots(left, n_left, items))
        if options.check_start:
            self._overlap(todo, n_todo)
        self._solve()
        self._write()
        self._zero(self.need, self.no_room, self.n_candidates, self.n_hits, self.pair_hits, self.cursor)
        if walked:
            self._zero(self.shut)
        self._blank(self.candidates, self.hit)
        if self.lasting is not None:
            self._zero(self.n_lasting)
            self._blank(self.lasting)
        steps = [*map(Zero, self.zeros), *map(Blank, self.blanks), *self.steps]
        self.sequence = run.backend.sequence(steps, looking=False)

    def counted(self):
        """What a run has to be asked for at its end: buffers of numbers by the names of these, as `told`
        takes them."""
        found = {("reals", "ints"): self.need, ("candidates",): self.n_candidates, ("hits",): self.n_hits}
        return found | self._told() if self.lots.near else found

    def lacking(self, counts):
        """What the last run had too little room for, by name, with how much it takes, from what it `told`."""
        found = {name: (n, self.room[name]) for name, n in counts.items() if name in self.room}
        # a count below 0 went past what an int holds
        return {name: n if n > 0 else 4 * room for name, (n, room) in found.items() if not 0 <= n <= room}

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
        self._launch_listed("s08_place", self.n_hits, most, hit_in=self.hit, hit_start_in=hit_start,
                            cursor=self.cursor, order_out=order)  # fmt: skip
        self._launch("s08_resolve", n, n, hit_start_in=hit_start, value_in=self.value,
                     refine=REFINE[self.options.refine], first_only=int(self.options.first_only),
                     hit_out=self.hit, order_out=order, kept_out=kept, status_out=self.status,
                     toi_out=self.toi)  # fmt: skip
        self.steps.append(Scan(kept, self.start))
        self._launch("s08_contacts", n, n, hit_start_in=hit_start, contact_start_in=self.start,
                     hit_in=self.hit, value_in=self.value, order_in=order, first_pair=self.first,
                     **{f"{name}_out": buffer for name, buffer in self.out.items()})  # fmt: skip
