"""Few pairs, asked about again and again: all launches of the screw method as one sequence.

A pair of boxes is worked on for some ten microseconds, a hundredth of what its launches and buffers cost. So
all buffers are kept, with room to spare, and nothing is looked at before the end. What does not fit goes the
way of every other query (`gpu_collide.pipeline.screw.collide`), whose bits these are.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpu_collide._validate import all_true, owned
from gpu_collide.backends.sequence import Count, Scan, Zero
from gpu_collide.pipeline import first, hulls
from gpu_collide.pipeline.gather import FIELDS
from gpu_collide.pipeline.poses import NAMES
from gpu_collide.pipeline.rows import row_heights, takes_rows
from gpu_collide.pipeline.run import MOST_INDEX, SPARE
from gpu_collide.pipeline.screen import REFINE, scratch_guess
from gpu_collide.pipeline.stages import Stages

__all__ = ["MOST_PAIRS", "FewPairs"]

#: More are worth the general way, which cuts them into pieces and tells how far it is.
MOST_PAIRS = 1 << 14
#: Candidates and hits for which there is room at first: for each pair, and in all.
FIRST_EACH, FIRST_LEAST = 4, 1024
#: So many more pairs may be found in the next step, besides a share of them.
SPARE_PAIRS = 8
#: Times that Python looks at faster than NumPy.
FEW = 8
#: The share of the memory limit that all buffers may take, and of it that of the scratch of all groups.
KEPT_SHARE, SCRATCH_SHARE = 4, 2


class FewPairs:
    """Pairs of bodies of unchanging shapes, whose poses change. Not for two threads at once.

    Their fields are those of `screw.collide`, bit for bit.

    Parameters
    ----------
    run : Run
    prepared : gpu_collide.pipeline.screw.Prepared
        With ``placed`` it is those poses that are asked about, and pairs may be any. Without, the pairs are
        those given here, and the poses of their bodies are bound in each call.
    options : Options
        Some for which `serves` says yes.
    shape : (n,) int32 ndarray
        Mesh of each body.
    pairs : (p, 2) int32 ndarray, optional
        Rows (A, B) of body numbers, checked.
    room : dict, optional
        What there is room for at first, by name: ``pairs``, ``candidates``, ``hits`` (entries), ``reals``,
        ``ints`` (scratch of a group). More is taken when it is needed.
    left : callable, optional
        Gives the bytes that are left for all that is worked on. Default: the room of `run`.

    Attributes
    ----------
    repeats, refusals : int
        Calls that were repeated with more room, and those that were refused.
    """

    def __init__(self, run, prepared, options, shape, pairs=None, room=None, left=None):
        if not self.serves(prepared, options):
            raise ValueError("options: expected those for which FewPairs.serves is true, got others")
        if (pairs is None) != (prepared.placed is not None):
            raise ValueError("pairs: expected them where no poses are placed, and only there")
        self.run, self.prepared, self.options = run, prepared, options
        self.shape = np.array(shape, np.int32)
        # so that all results can hold them
        self.pairs = None if pairs is None else owned(np.asarray(pairs, np.int32).reshape(-1, 2))
        self.repeats = self.refusals = 0
        self._left = left or (lambda: run.room.max_bytes)
        self._first, self._kept = room or {}, None
        self._room: Any = None
        if pairs is not None:
            self._fitting(self.pairs)

    @staticmethod
    def serves(prepared, options):
        """Can pairs be asked about so? Whole meshes, exact times, float64, and no report."""
        return (
            options.refine == "exact"
            and options.precision != "single"
            and not options.report
            and not prepared.late.any()
        )

    @property
    def nbytes(self):
        """Bytes of all buffers that are kept."""
        return 0 if self._kept is None else self._kept.nbytes

    def let_go(self):
        """Keep nothing until the next call, which takes as little as the first one."""
        self._kept = self._room = None

    def collide(self, bodies, pairs=None):
        """The contacts of the pairs with these poses.

        Parameters
        ----------
        bodies : Bodies
        pairs : (p, 2) int32 ndarray, optional
            Of an array that nobody can write to, if they may be the same in the next call. Default: those
            given at first.

        Returns
        -------
        dict or None
            Fields of `Contacts`, of its dtypes and shapes, which nobody else holds. None if all that would
            have to be kept is more than a share of the memory limit: then it is for the general way.
        """
        pairs = self.pairs if pairs is None else pairs
        kept = self._fitting(pairs)
        begun = time.perf_counter()
        while kept is not None:
            kept.take(pairs, bodies)
            if kept.sequence.run() and kept.fits():
                fields = kept.fields()
                fields["pairs"] = pairs
                self.run.spent("sequence", begun)
                return fields
            kept = self._grown(kept.lacks())
        self.refusals += 1
        return None

    def _fitting(self, pairs):
        """Buffers with room for so many pairs, if there is as much."""
        n = len(pairs)
        if self._kept is not None and n <= self._kept.most:
            return self._kept
        room = self._room
        if room is None:
            shapes = self.shape[pairs]
            rows = takes_rows(self.options, self.prepared, shapes)
            reals, ints = scratch_guess(self.prepared.largest, rows)
            most = max(FIRST_LEAST, FIRST_EACH * n)
            room = {"candidates": most, "hits": most, "reals": reals, "ints": ints, "pairs": max(n, 1)}
            room |= self._first
        if pairs.flags.writeable:  # found, and others in the next step
            n = int(SPARE * n) + SPARE_PAIRS
        room = {**room, "pairs": max(n, room["pairs"])}
        self._kept = self._made(room)
        if self._kept is not None:
            self._room = room
        return self._kept

    def _grown(self, lacks):
        """Buffers with room for what the last run lacked; None if that is too much, or not known."""
        room = self._room | {name: int(SPARE * n) + 64 for name, n in lacks.items()}
        kept = self._made(room) if lacks else None
        if kept is not None:
            self._room, self._kept = room, kept
            self.repeats += 1
        return kept

    def _made(self, room):
        """Buffers with so much room, or None if they pass the memory limit, an int that indexes them, or what
        the machine has."""
        run, n, most = self.run, room["pairs"], self._left() // KEPT_SHARE
        group = room["reals"] * run.raster.itemsize + room["ints"] * 4
        groups = max(1, min(run.backend.max_groups, n, most // SCRATCH_SHARE // group))
        room = {**room, "first_groups": 0, "hull_groups": 0}
        if self.prepared.walked:
            walk = first.group_bytes(run)
            room["first_groups"] = max(1, min(run.backend.max_groups, n, most // SCRATCH_SHARE // 2 // walk))
            most -= room["first_groups"] * walk
        if self.prepared.hulls:
            room["hull_groups"] = min(run.backend.max_groups, n)
            most -= room["hull_groups"] * hulls.group_bytes(run)
        each = int(run.c["GC_SCREW_STRIDE"]) * run.real.itemsize + 120
        bodies = 0 if self.pairs is None else 120 * min(2 * n, len(self.shape))
        need = groups * group + 28 * room["candidates"] + 180 * room["hits"] + each * n + bodies
        if need > most or 4 * max(room.values()) > MOST_INDEX:
            return None
        try:
            return _Kept(self, room, groups)
        except MemoryError:
            return None


class _Kept(Stages):
    """All buffers of a `FewPairs`, and the launches bound to them.

    Attributes
    ----------
    sequence : Sequence
        All launches from s01 to s08.
    most : int
        Pairs for which there is room.
    nbytes : int
    """

    def __init__(self, few, room, groups):
        self.run, self.options, self.room = few.run, few.options, room
        self.prepared, self.shape, self.tables = few.prepared, few.shape, few.prepared.tables
        self.walked, self.hulls = few.prepared.walked, few.prepared.hulls
        self.nbytes, self.most, self.n = 0, room["pairs"], Count()
        most, real, be = self.most, self.run.real, self.run.backend
        b = self.buffers = {
            "pairs_in": self._empty((most, 2), np.int32),
            "row_height_in": be.fill(self._empty(most, real), 0),
            "screw_in": self._empty(most * int(self.run.c["GC_SCREW_STRIDE"]), real),
            "state_in": self._empty(most, np.int32),
        }
        b |= {"screw_out": b["screw_in"], "state_out": b["state_in"]}
        self.rows = None if few.pairs is None else self._own_poses(np.unique(few.pairs))
        b |= self.prepared.placed or {}
        self.items = self._empty((most, 3), np.int32)
        # the same on the host: number of the pair, its two meshes; its two bodies
        self._items, self._numbers = np.zeros((most, 3), np.int32), np.zeros((most, 2), np.int32)
        self._items[:, 0] = np.arange(most)
        self.nbytes += self._items.nbytes + self._numbers.nbytes
        self._pairs, self._heights = None, False
        self.steps, self.left = [], {}
        self._screws(self.n, most)
        todo, n_todo = self._filter(self._given(np.arange(self.most), np.int32))
        size = self._group_size(self.tables.counts)
        left, n_left = self._hulls(todo, n_todo)
        self._screen(groups, (left, n_left, self.items, self.tables.screen, size))
        if self.options.check_start:
            self._overlap(todo, n_todo)
        self._solve()
        self._write()
        zeros = (
            self.need, self.no_room, self.n_candidates, self.n_hits, self.pair_hits, self.cursor, self.counts,
        )  # fmt: skip
        zeros += (self.shut,) if self.walked else ()
        zeros += () if self.lasting is None else (self.n_lasting,)
        self.sequence = be.sequence([*map(Zero, zeros), *self.steps])

    def _own_poses(self, used):
        """Buffers for the poses of those bodies that are used; their numbers."""
        b, real, be = self.buffers, self.run.real, self.run.backend
        for name, width in zip(NAMES, (3, 3, 4, 4), strict=True):
            b[name] = self._empty((len(used), width), real)
        b["shape_in"] = self._given(self.shape[used], np.int32)
        b["valid_in"] = be.fill(self._empty(len(used), np.uint8), 1)
        self.all_valid = True
        return used

    # -- what the sequence is made of ------------------------------------------------------------------------
    def _given(self, array, dtype):
        buffer = self.run.backend.to_device(np.ascontiguousarray(array, dtype))
        self.nbytes += buffer.nbytes
        return buffer

    def _write(self):
        """Stage s08. A contact is a hit, so there is room for as many."""
        run, n, pairs, most = self.run, self.n, self.most, self.room["hits"]
        hit_start, order = self._empty(pairs + 1, np.int64), self._empty(most, np.int32)
        self.cursor, self.counts = self._empty(pairs, np.int32), self._empty(pairs, np.int32)
        self.status, self.toi = self._empty(pairs, np.uint8), self._empty(pairs, run.real)
        self.start = self._empty(pairs + 1, np.int64)
        self.out = {
            name: self._empty((most, width) if width > 1 else most, np.dtype(dtype) if dtype else run.real)
            for name, (dtype, width) in FIELDS.items()
        }
        # cut and copied where they are
        self.direct = run.backend.kind == "cuda" or isinstance(self.status, np.ndarray)
        self.cut: Any = (-1, {})  # how many contacts there were last time, and the views of them
        self.steps.append(Scan(self.pair_hits, hit_start))
        self._launch("s08_place", self.n_hits, most, hit_in=self.hit, hit_start_in=hit_start,
                     cursor=self.cursor, order_out=order)  # fmt: skip
        self._launch("s08_resolve", n, pairs, hit_start_in=hit_start, value_in=self.value,
                     refine=REFINE[self.options.refine], first_only=int(self.options.first_only),
                     hit_out=self.hit, order_out=order, kept_out=self.counts, status_out=self.status,
                     toi_out=self.toi)  # fmt: skip
        self.steps.append(Scan(self.counts, self.start))
        self._launch("s08_contacts", n, pairs, hit_start_in=hit_start, contact_start_in=self.start,
                     hit_in=self.hit, value_in=self.value, order_in=order, first_pair=0,
                     **{f"{name}_out": buffer for name, buffer in self.out.items()})  # fmt: skip

    # -- a call ----------------------------------------------------------------------------------------------
    def take(self, pairs, bodies):
        """Put the pairs into their buffers, unless they are there, and the poses that are not placed."""
        if pairs is not self._pairs:
            self._pairs = None  # what is interrupted is done anew
            self._take_pairs(pairs)
            self._pairs = None if pairs.flags.writeable else pairs
        if self.rows is not None:
            self._take_poses(bodies)

    def _take_pairs(self, pairs):
        prepared, n, write = self.prepared, len(pairs), self.run.backend.write
        shapes = self.shape[pairs]
        self._items[:n, 1:] = shapes
        self._numbers[:n] = pairs if self.rows is None else np.searchsorted(self.rows, pairs)
        write(self.items, self._items)
        write(self.buffers["pairs_in"], self._numbers)
        rows = takes_rows(self.options, prepared, shapes)
        heights = row_heights(self.options, prepared, shapes, rows)
        if heights is not None or self._heights:
            self._heights = True
            most = np.zeros(self.most, self.run.real)
            most[:n] = 0 if heights is None else heights
            write(self.buffers["row_height_in"], most)
        self.n.value = n

    def _take_poses(self, bodies):
        """Zeros where there is none."""
        rows, write, buffers = self.rows, self.run.backend.write, self.buffers
        start, end, valid = bodies.start, bodies.end, bodies.valid[rows]
        arrays = [start.position[rows], end.position[rows], start.unit_wxyz[rows], end.unit_wxyz[rows]]
        all_valid = all_true(valid)
        if not all_valid:
            arrays[:2] = [np.where(valid[:, None], p, 0.0) for p in arrays[:2]]
        for name, array in zip(NAMES, arrays, strict=True):
            write(buffers[name], array)
        if not (all_valid and self.all_valid):
            self.all_valid = False  # until the buffer is known to say so
            write(buffers["valid_in"], valid.astype(np.uint8))
            self.all_valid = all_valid

    def fits(self):
        """Did the last run, which came to its end, have room for all of its hits and scratch?"""
        be = self.run.backend
        return not any(be.to_host(self.need).tolist()) and be.item(self.n_hits, 0) <= self.room["hits"]

    def lacks(self):
        """What the last run had too little room for, by name, with how much it takes."""
        be = self.run.backend
        reals, ints = be.to_host(self.need).tolist()
        found = {"candidates": int(be.item(self.n_candidates, 0)), "hits": int(be.item(self.n_hits, 0)),
                 "reals": reals, "ints": ints}  # fmt: skip
        return {name: n for name, n in found.items() if n > self.room[name]}

    def fields(self):
        """What the last run found, copied out of the buffers; on a GPU the contacts stay there."""
        be, n = self.run.backend, self.n.value
        start = be.to_host(self.start)[: n + 1].copy()
        total = start.item(n)
        toi = be.to_host(self.toi)[:n].copy()
        if n > FEW or not max(toi.tolist(), default=0.0) <= 1.5:
            toi[toi > 1.5] = np.inf
        fields = {"status": be.to_host(self.status)[:n].copy(), "toi": toi, "contact_start": start}
        if self.direct:
            if total != self.cut[0]:
                self.cut = total, {name: buffer[:total] for name, buffer in self.out.items()}
            fields |= {name: part.copy() for name, part in self.cut[1].items()}
        elif total:
            fields |= {name: be.to_host(buffer)[:total].copy() for name, buffer in self.out.items()}
        else:  # nothing to wait for
            fields |= {name: np.empty((0, *b.shape[1:]), b.dtype) for name, b in self.out.items()}
        if be.kind != "cuda":
            fields["sustained"] = fields["sustained"].view(np.bool_)
        return fields
