"""Repeated queries about few pairs: all launches of the narrow phase as one sequence, which is kept.

A pair of boxes is worked on for some ten microseconds, a hundredth of what its launches and buffers cost. So
all buffers are kept, with room to spare, and nothing is looked at before the end. What does not fit goes the
way of every other query (`gpu_collide.pipeline.narrow_phase.query`), whose bits these are.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends.sequence import Count
from gpu_collide.bodies.bodies import all_valid
from gpu_collide.pipeline.launch.launcher import MOST_INDEX, SPARE
from gpu_collide.pipeline.launch.poses import NAMES
from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.executor import Span
from gpu_collide.pipeline.narrow_phase.pieces import distances_of
from gpu_collide.pipeline.narrow_phase.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_collide._types import Array, Buffer
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.pipeline.launch.launcher import Launcher
    from gpu_collide.pipeline.narrow_phase.context import Prepared

__all__ = ["MOST_PAIRS", "RecordedBatch"]

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
#: Bytes of all buffers for each pair beside its screw, for each of its own bodies, candidate and hit.
PAIR_BYTES, BODY_BYTES, CANDIDATE_BYTES, HIT_BYTES = 120, 120, 28, 180


class RecordedBatch:
    """Pairs of bodies of unchanging shapes, whose poses change. Not for two threads at once.

    Their fields are those of `query.collide`, bit for bit.

    Parameters
    ----------
    run : Launcher
    prepared : Prepared
        With a plan that may be recorded. With ``placed`` it is those poses that are asked about. Without, the
        poses of the bodies of each pair are copied in each call.
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

    def __init__(
        self,
        run: Launcher,
        prepared: Prepared,
        room: dict[str, int] | None = None,
        left: Callable[[], int] | None = None,
    ) -> None:
        if not prepared.plan.may_record:
            raise ValueError("prepared: expected a plan that may be recorded, got another")
        self.run, self.prepared = run, prepared
        self.repeats = self.refusals = 0
        self._left = left or (lambda: run.room.max_bytes)
        self._first, self._kept = room or {}, None
        self._room: dict[str, int] | None = None

    _kept: _Kept | None

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers that are kept."""
        return 0 if self._kept is None else self._kept.nbytes

    def let_go(self) -> None:
        """Keep nothing until the next call, which takes as little as the first one."""
        self._kept = self._room = None

    def collide(self, bodies: Bodies, pairs: Array, distances: Array | None = None) -> dict[str, Any] | None:
        """The contacts of the pairs with these poses.

        Parameters
        ----------
        bodies : Bodies
            Of the meshes that were prepared.
        pairs : (p, 2) int32 ndarray
            Checked; an array that nobody can write to may be asked about again, with the same shapes.
        distances : (p,) float64 ndarray, optional
            At which the bodies of each are in contact; default: that of the options.

        Returns
        -------
        dict or None
            Fields of `Contacts`, of its dtypes and shapes, which nobody else holds. None if all that would
            have to be kept is more than a share of the memory limit: then it is for the general way.
        """
        kept = None if bodies.spins is not None else self._fitting(bodies, pairs)
        begun = time.perf_counter()
        while kept is not None:
            kept.take(pairs, bodies, distances)
            if kept.recorded.sequence.run() and kept.recorded.fits():
                fields = kept.fields()
                fields["pairs"] = pairs
                self.run.spent("sequence", begun)
                return fields
            kept = self._grown(kept.recorded.lacking(kept.recorded.counts()))
        self.refusals += 1
        return None

    def _fitting(self, bodies: Bodies, pairs: Array) -> _Kept | None:
        """Buffers with room for so many pairs, if there is as much."""
        n = len(pairs)
        if self._kept is not None and n <= self._kept.most:
            return self._kept
        room = self._room
        if room is None:
            plan = self.prepared.plan
            reals, ints = scratch.screen(plan.largest, plan.rows)
            most = max(FIRST_LEAST, FIRST_EACH * n)
            room = {"candidates": most, "hits": most, "reals": reals, "ints": ints, "pairs": max(n, 1)}
            if plan.pieces:
                room["pieces"] = most
            room |= self._first
        if pairs.flags.writeable:  # found, and others in the next step
            n = int(SPARE * n) + SPARE_PAIRS
        room = {**room, "pairs": max(n, room["pairs"])}
        self._kept = self._made(room)
        if self._kept is not None:
            self._room = room
        return self._kept

    def _grown(self, lacks: dict[str, int]) -> _Kept | None:
        """Buffers with room for what the last run lacked; None if that is too much, or not known."""
        assert self._room is not None
        room = self._room | {name: int(SPARE * n) + 64 for name, n in lacks.items()}
        kept = self._made(room) if lacks else None
        if kept is not None:
            self._room, self._kept = room, kept
            self.repeats += 1
        return kept

    def _made(self, room: dict[str, int]) -> _Kept | None:
        """Buffers with so much room, or None if they pass the memory limit, an int that indexes them, or what
        the machine has."""
        run, plan, n, most = self.run, self.prepared.plan, room["pairs"], self._left() // KEPT_SHARE
        group, groups = (
            scratch.group_bytes(run, (room["reals"], room["ints"])),
            min(run.backend.max_groups, n),
        )
        room = room | {"screen_groups": max(1, min(groups, most // SCRATCH_SHARE // group))}
        if plan.walked:
            walk = scratch.group_bytes(run, scratch.walk(run, plan)[:2])
            room["first_groups"] = max(1, min(groups, most // SCRATCH_SHARE // 2 // walk))
            most -= room["first_groups"] * walk
        if plan.hulls:
            room["hull_groups"] = groups
            most -= groups * scratch.group_bytes(run, scratch.hulls(run))
        each = int(run.c["GC_SCREW_STRIDE"]) * run.real.itemsize + PAIR_BYTES
        need = 2 * BODY_BYTES * n if self.prepared.placed is None else 0
        need += room["screen_groups"] * group + each * n
        need += CANDIDATE_BYTES * room["candidates"] + HIT_BYTES * room["hits"]
        need += scratch.PIECES.nbytes(run) * room.get("pieces", 0)
        if need > most or 4 * max(room.values()) > MOST_INDEX:
            return None
        try:
            return _Kept(self, room)
        except MemoryError:
            return None


class _Kept:
    """The buffers of a `RecordedBatch`, and the launches bound to them.

    Attributes
    ----------
    recorded : Recorded
    most, pairs : int
        Pairs for which there is room, and how many there are.
    nbytes : int
    """

    def __init__(self, batch: RecordedBatch, room: dict[str, int]) -> None:
        run, prepared = batch.run, batch.prepared
        self.run, self.prepared = run, prepared
        self.nbytes, self.most, self.pairs, self.n = 0, room["pairs"], 0, Count()
        most, real, be = self.most, run.real, run.backend
        self.items, numbers = self._empty((most, 3), np.int32), self._empty((most, 2), np.int32)
        heights = be.fill(self._empty(most, real), 0)
        b = {"pairs_in": numbers, "row_height_in": heights} | (prepared.placed or self._own_poses())
        if prepared.plan.at_distance:
            self._distances = np.zeros(most, real)
            b["distance_in"] = distances_of(run, prepared.plan.options, most)
        # the same on the host: number of the pair, its two meshes; its two bodies
        self._items, self._numbers = np.zeros((most, 3), np.int32), np.zeros((most, 2), np.int32)
        self._items[:, 0] = np.arange(most)
        if prepared.placed is None:
            be.write(numbers, np.arange(2 * most, dtype=np.int32).reshape(most, 2))
        self._pairs: Array | None = None
        todo = be.to_device(np.arange(most, dtype=np.int32))
        self.recorded = Recorded(
            run, prepared.plan, prepared.tables, Span(self.n, most), b, self.items, todo, room, looking=True
        )
        self.written, self.buffers = self.recorded.written, self.recorded.buffers
        # cut and copied where they are
        self.here = isinstance(self.written.status, np.ndarray)
        self.direct = be.kind == "cuda" or self.here
        self.cut: tuple[int, dict[str, Any]] = (-1, {})  # contacts there were last time, and views of them
        self.nbytes += self.recorded.nbytes + self._items.nbytes + self._numbers.nbytes

    def _empty(self, shape: Any, dtype: Any) -> Buffer:
        buffer = self.run.backend.empty(shape, dtype)
        self.nbytes += buffer.nbytes
        return buffer

    def _own_poses(self) -> dict[str, Buffer]:
        """Buffers for the poses of the bodies of each pair, and for which meshes they have; and the same on
        the host."""
        n = 2 * self.most
        shapes: dict[str, Any] = {
            name: ((n, width), self.run.real) for name, width in zip(NAMES, (3, 3, 4, 4), strict=True)
        }
        shapes |= {"shape_in": ((n,), np.dtype(np.int32)), "valid_in": ((n,), np.dtype(np.uint8))}
        self._poses = {name: np.zeros(*shape) for name, shape in shapes.items()}
        return {name: self._empty(*shape) for name, shape in shapes.items()}

    # -- a call ----------------------------------------------------------------------------------------------
    def take(self, pairs: Array, bodies: Bodies, distances: Array | None) -> None:
        """Put the pairs into their buffers, unless they are there, and the poses that are not placed."""
        if pairs is not self._pairs:
            self._pairs = None  # what is interrupted is done anew
            self._take_pairs(pairs, bodies)
            self._pairs = None if pairs.flags.writeable else pairs
        if self.prepared.placed is None:
            self._take_poses(pairs.reshape(-1), bodies)
        if distances is not None:
            self._distances[: len(pairs)] = distances
            self.run.backend.write_all([(self.buffers["distance_in"], self._distances)])

    def _take_pairs(self, pairs: Array, bodies: Bodies) -> None:
        n, shapes = len(pairs), bodies.shape[pairs]
        self._items[:n, 1:] = shapes
        writes = [(self.items, self._items)]
        if self.prepared.placed is not None:
            self._numbers[:n] = pairs
            writes.append((self.buffers["pairs_in"], self._numbers))
        if self.prepared.plan.asks_heights:
            heights = self.prepared.row_heights(bodies.meshes, shapes)
            most = np.zeros(self.most, self.run.real)
            most[:n] = 0 if heights is None else heights
            writes.append((self.buffers["row_height_in"], most))
        self.run.backend.write_all(writes)
        self.n.value = self.pairs = n

    def _take_poses(self, rows: Array, bodies: Bodies) -> None:
        """Zeros where there is none."""
        start, end, valid = bodies.start, bodies.end, bodies.valid[rows]
        arrays = [start.position[rows], end.position[rows], start.unit_wxyz[rows], end.unit_wxyz[rows]]
        if not all_valid(bodies):
            arrays[:2] = [np.where(valid[:, None], p, 0.0) for p in arrays[:2]]
        n, writes = len(rows), []
        for (name, host), array in zip(
            self._poses.items(), [*arrays, bodies.shape[rows], valid], strict=True
        ):
            host[:n] = array
            writes.append((self.buffers[name], host))
        self.run.backend.write_all(writes)

    def fields(self) -> dict[str, Any]:
        """What the last run found, copied out of the buffers; on a GPU the contacts stay there."""
        be, n, w = self.run.backend, self.pairs, self.written
        status, toi, start = w[:3] if self.here else be.to_hosts(w[:3])
        start, toi = start[: n + 1].copy(), toi[:n].copy()
        total = start.item(n)
        if n > FEW or not max(toi.tolist(), default=0.0) <= 1.5:
            toi[toi > 1.5] = np.inf
        fields = {"status": status[:n].copy(), "toi": toi, "contact_start": start}
        if self.direct:
            if total != self.cut[0]:
                self.cut = total, {name: buffer[:total] for name, buffer in w.out.items()}
            fields |= {name: part.copy() for name, part in self.cut[1].items()}
        elif total:
            fields |= {name: be.to_host(buffer)[:total].copy() for name, buffer in w.out.items()}
        else:  # nothing to wait for
            fields |= {name: np.empty((0, *b.shape[1:]), b.dtype) for name, b in w.out.items()}
        if be.kind != "cuda":
            fields["sustained"] = fields["sustained"].view(np.bool_)
        return fields
