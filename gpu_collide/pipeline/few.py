"""The same few pairs asked about again and again: all launches of the screw method as one sequence.

A pair of boxes is worked on for some ten microseconds, a hundredth of what its launches and buffers cost. So
all buffers are kept, with room to spare, and nothing is looked at before the end. What does not fit goes the
way of every other query (`gpu_collide.pipeline.screw.collide`), whose bits these are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.backends.sequence import Launch, Scan, Select, Zero
from gpu_collide.pipeline import screw
from gpu_collide.pipeline.filters import FILTERS
from gpu_collide.pipeline.gather import FIELDS
from gpu_collide.pipeline.run import MOST_INDEX, SPARE
from gpu_collide.pipeline.screen import CANDIDATES, REFINE, scratch_guess

__all__ = ["MOST_PAIRS", "FewPairs"]

#: More are worth the general way, which cuts them into pieces and tells how far it is.
MOST_PAIRS = 4096
#: Candidates and hits for which there is room at first: for each pair, and in all.
FIRST_EACH, FIRST_LEAST = 12, 1024
#: The share of the memory limit that the scratch of all groups may take.
SCRATCH_SHARE = 8


class _Bodies(NamedTuple):
    """What the general way reads of `gpu_collide.Bodies`."""

    meshes: tuple
    shape: np.ndarray
    start: object
    end: object


class FewPairs:
    """Fixed pairs of fixed bodies, for poses that change. Not for two threads at once.

    Parameters
    ----------
    run : Run
    prepared : gpu_collide.pipeline.screw.Prepared
    options : Options
        Some for which `serves` says yes.
    shape : (n,) int32 ndarray
        Mesh of each body.
    pairs : (p, 2) int32 ndarray
        Rows (A, B) of body numbers, checked.
    room : dict, optional
        What there is room for at first, by name: ``candidates``, ``hits`` (entries), ``reals``, ``ints``
        (scratch of a group). More is taken when it is needed.

    Attributes
    ----------
    repeats, refusals : int
        Calls that were repeated with more room, and those that went the general way.
    """

    def __init__(self, run, prepared, options, shape, pairs, room=None):
        if not self.serves(prepared, options, pairs):
            raise ValueError("options, pairs: expected those for which FewPairs.serves is true, got others")
        self.run, self.prepared, self.options = run, prepared, options
        self.shape = np.array(shape, np.int32)
        # of bytes, so that all results can hold it
        self.pairs = np.frombuffer(np.asarray(pairs, np.int32).tobytes(), np.int32).reshape(-1, 2)
        self.repeats = self.refusals = 0
        shapes = self.shape[self.pairs]
        rows = screw.takes_rows(options, prepared, shapes)
        reals, ints = scratch_guess(prepared.tables.largest, rows)
        most = max(FIRST_LEAST, FIRST_EACH * len(pairs))
        self._room = {"candidates": most, "hits": most, "reals": reals, "ints": ints} | (room or {})
        heights = screw.row_heights(options, prepared, shapes, rows)
        self._heights = np.zeros(len(shapes)) if heights is None else heights
        self._kept = self._made(self._room) if len(pairs) else None

    @classmethod
    def serves(cls, prepared, options, pairs):
        """Can these pairs be asked about so? Whole meshes, exact times, float64, and no report."""
        return (
            len(pairs) <= MOST_PAIRS
            and options.refine == "exact"
            and options.precision != "single"
            and not options.report
            and not bool(prepared.near.any())
        )

    @property
    def nbytes(self):
        """Bytes of all buffers that are kept."""
        return 0 if self._kept is None else self._kept.nbytes

    def collide(self, start, end):
        """The contacts of the pairs with these poses.

        Parameters
        ----------
        start, end : Poses of shape (n,)
            Or what else has their ``position``, ``unit_wxyz`` and ``valid``.

        Returns
        -------
        dict
            Fields of `Contacts`, of its dtypes and shapes, which nobody else holds.
        """
        kept = self._kept
        while kept is not None:
            kept.take_poses(start, end)
            if kept.sequence.run() and kept.fits():
                return {**kept.fields(), "pairs": self.pairs}
            kept = self._grown(kept.lacks())
        self.refusals += 1
        bodies = _Bodies(self.prepared.meshes, self.shape, start, end)
        fields, _ = screw.collide(self.run, self.options, self.prepared, bodies, self.pairs)
        return fields

    def _grown(self, lacks):
        """Buffers with room for what the last run lacked; None if that is too much, or not known."""
        room = self._room | {name: int(SPARE * n) + 64 for name, n in lacks.items()}
        kept = self._made(room) if lacks else None
        if kept is not None:
            self._room, self._kept = room, kept
            self.repeats += 1
        return kept

    def _made(self, room):
        """Buffers with so much room, or None if they pass the memory limit, or an int that indexes them."""
        run, n = self.run, len(self.pairs)
        group = room["reals"] * run.raster.itemsize + room["ints"] * 4
        groups = max(1, min(run.backend.max_groups, n, run.room.fits(group, share=SCRATCH_SHARE)))
        need = (
            groups * group + 32 * room["candidates"] + 200 * room["hits"] + 1000 * n + 100 * len(self.shape)
        )
        if need > run.room.max_bytes or 4 * max(room.values()) > MOST_INDEX:
            return None
        return _Kept(self, room, groups)


class _Kept:
    """All buffers of a `FewPairs`, and the launches bound to them.

    Attributes
    ----------
    sequence : Sequence
        All launches from s01 to s08.
    nbytes : int
    """

    def __init__(self, few, room, groups):
        self.run, self.options, self.room = few.run, few.options, room
        self.tables = few.prepared.tables
        self.nbytes = 0
        used, inner = np.unique(few.pairs, return_inverse=True)
        self.rows = None if len(used) == len(few.shape) else used
        self.n, bodies = len(few.pairs), len(used)
        n, real, be = self.n, self.run.real, self.run.backend
        b = self.buffers = {
            "pairs_in": self._given(inner.reshape(-1), np.int32),
            "shape_in": self._given(few.shape[used], np.int32),
            "row_height_in": self._given(few._heights, real),
            "start_position_in": self._empty((bodies, 3), real),
            "end_position_in": self._empty((bodies, 3), real),
            "start_quat_in": self._empty((bodies, 4), real),
            "end_quat_in": self._empty((bodies, 4), real),
            "valid_in": be.fill(self._empty(bodies, np.uint8), 1),
            "screw_in": self._empty(n * int(self.run.c["GC_SCREW_STRIDE"]), real),
            "state_in": self._empty(n, np.int32),
        }
        b |= {"screw_out": b["screw_in"], "state_out": b["state_in"]}
        self.all_valid = True
        shapes = few.shape[few.pairs]
        self.items = self._given(np.column_stack([np.arange(n), shapes]).reshape(-1), np.int32)
        self.steps: list[Any] = []
        self._launch("s01_screw", n, n)
        todo, n_todo = self._filter()
        self._screen(todo, n_todo, groups)
        if self.options.check_start:
            self._overlap(todo, n_todo)
        self._solve()
        self._write()
        zeros = (self.need, self.no_room, self.n_candidates, self.n_hits, self.pair_hits, self.cursor)
        self.sequence = be.sequence([*map(Zero, zeros), *self.steps])

    # -- what the sequence is made of ------------------------------------------------------------------------
    def _empty(self, shape, dtype):
        buffer = self.run.backend.empty(shape, dtype)
        self.nbytes += buffer.nbytes
        return buffer

    def _given(self, array, dtype):
        buffer = self.run.backend.to_device(np.ascontiguousarray(array, dtype))
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
        out, n_out = self._empty(self.n, np.int32), self._empty(1, np.int32)
        self.steps.append(Select(numbers, flags, n, out, n_out))
        return out, n_out

    def _filter(self):
        """Filters f01 and f02, if they are asked for. f03 is left out, as each may be: it settles little, and
        each pair needs scratch for it."""
        todo, n_todo = self._given(np.arange(self.n), np.int32), self.n
        for name in self.options.filters:
            if name != "plane":
                keep = self._empty(self.n, np.uint8)
                self._launch(FILTERS[name], n_todo, self.n, todo_in=todo, keep_out=keep)
                todo, n_todo = self._select(todo, keep, n_todo)
        return todo, n_todo

    def _screen(self, todo, n_todo, groups):
        """Stages s02 to s06. The item of a pair has the pair's number."""
        run, room, options = self.run, self.room, self.options
        most = room["candidates"]
        self.need, self.no_room = self._empty(2, np.int32), self._empty(self.n, np.int32)
        self.n_candidates = self._empty(1, np.int32)
        self.candidates = self._empty(4 * most, np.int32)
        self.brackets = self._empty(2 * most, run.raster)
        self._launch(
            "screen", n_todo, self.n, groups, **self.tables.screen, todo_in=todo, items_in=self.items,
            scratch_reals=self._empty(groups * room["reals"], run.raster),
            scratch_ints=self._empty(groups * room["ints"], np.int32),
            reals_per_group=room["reals"], ints_per_group=room["ints"], no_room_out=self.no_room,
            need_out=self.need, min_properness=options.min_properness, refine=REFINE[options.refine],
            candidates=CANDIDATES[options.candidates], capacity=most, n_candidates_out=self.n_candidates,
            candidates_out=self.candidates, brackets_out=self.brackets,
        )  # fmt: skip

    def _overlap(self, todo, n_todo):
        """Stage s09 at the start."""
        near, when = self._empty(self.n, np.uint8), self._empty(self.n, self.run.real)
        self.run.backend.fill(when, -0.5)
        self._launch("s09_near", n_todo, self.n, todo_in=todo, when_in=when, near_out=near)
        left, n_left = self._select(todo, near, n_todo)
        groups = min(self.run.backend.max_groups, self.n)
        self._launch("s09_overlap", n_left, self.n, groups, todo_in=left, when_in=when)

    def _solve(self):
        """Stage s07."""
        most = self.room["hits"]
        self.hit, self.value = self._empty(4 * most, np.int32), self._empty(3 * most, self.run.real)
        self.pair_hits, self.n_hits = self._empty(self.n, np.int32), self._empty(1, np.int32)
        self._launch(
            "s07_solve", self.n_candidates, self.room["candidates"], candidates_in=self.candidates,
            brackets_in=self.brackets, min_properness=self.options.min_properness, capacity=most,
            pair_hits_out=self.pair_hits, n_hits_out=self.n_hits, hit_out=self.hit, value_out=self.value,
        )  # fmt: skip

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
                     hit_in=self.hit, value_in=self.value, order_in=order, first_pair=0,
                     **{f"{name}_out": buffer for name, buffer in self.out.items()})  # fmt: skip

    # -- a call ----------------------------------------------------------------------------------------------
    def take_poses(self, start, end):
        """Put the poses into their buffers, zeros where there is none."""
        valid = start.valid & end.valid
        arrays = [start.position, end.position, start.unit_wxyz, end.unit_wxyz]
        if self.rows is not None:
            valid = valid[self.rows]
            arrays = [array[self.rows] for array in arrays]
        all_valid = bool(valid.all())
        if not all_valid:
            arrays[:2] = [np.where(valid[:, None], p, 0.0) for p in arrays[:2]]
        names = ("start_position_in", "end_position_in", "start_quat_in", "end_quat_in")
        write, buffers = self.run.backend.write, self.buffers
        for name, array in zip(names, arrays, strict=True):
            write(buffers[name], array)
        if not (all_valid and self.all_valid):
            self.all_valid = False  # until the buffer is known to say so
            write(buffers["valid_in"], valid.astype(np.uint8))
            self.all_valid = all_valid

    def fits(self):
        """Did the last run, which came to its end, have room for all of its hits and scratch?"""
        be = self.run.backend
        return not be.to_host(self.need).any() and be.item(self.n_hits, 0) <= self.room["hits"]

    def lacks(self):
        """What the last run had too little room for, by name, with how much it takes."""
        be = self.run.backend
        reals, ints = be.to_host(self.need).tolist()
        found = {"candidates": int(be.item(self.n_candidates, 0)), "hits": int(be.item(self.n_hits, 0)),
                 "reals": reals, "ints": ints}  # fmt: skip
        return {name: n for name, n in found.items() if n > self.room[name]}

    def fields(self):
        """What the last run found, copied out of the buffers; on a GPU the contacts stay there."""
        be = self.run.backend
        stay = be.kind == "cuda"
        total = int(be.item(self.start, -1))
        toi = be.to_host(self.toi).copy()
        toi[toi > 1.5] = np.inf
        fields = {
            "status": be.to_host(self.status).copy(), "toi": toi,
            "contact_start": be.to_host(self.start).copy(),
        }  # fmt: skip
        for name, buffer in self.out.items():
            if stay or isinstance(buffer, np.ndarray):
                fields[name] = buffer[:total].copy()
            elif total:
                fields[name] = be.to_host(buffer)[:total].copy()
            else:  # nothing to wait for
                fields[name] = np.empty((0, *buffer.shape[1:]), buffer.dtype)
        if not stay:
            fields["sustained"] = fields["sustained"].view(np.bool_)
        return fields
