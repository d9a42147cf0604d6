"""The launch of stages s02 to s06, in buffers that grow until they hold everything."""

from __future__ import annotations

import numpy as np

__all__ = ["CANDIDATES", "REFINE", "TooLarge", "scratch_guess", "search"]

REFINE = {"exact": 0, "segments": 1, "pixels": 2}
CANDIDATES = {"auto": 0, "raster": 1, "pairs": 2}


class TooLarge(Exception):
    """A piece does not fit the memory limit; `need` bytes would have been needed at least."""

    def __init__(self, need):
        super().__init__(need)
        self.need = int(need)


def scratch_guess(largest, rows):
    """Raster numbers and ints of scratch for an item of the largest parts; items that need more run again."""
    nv, ne, nf = (int(x) + 16 for x in largest)
    lists = nv + ne + nf
    copies = 5 if lists < 4000 else 1
    reals = 2 * (5 * nv + 6 * nf + ne) + 10 * lists * (3 + copies) + 256
    ints = 2 * lists * (3 + copies) + 6 * 16 * 4 + 256
    if rows:
        reals, ints = reals + 8 * 12 * (ne + nf), ints + 8 * 6 * (ne + nf) + 4096
    return reals, ints


def search(state, common, lots, rows, row_height, pair_state, held):
    """Candidates of all items.

    Parameters
    ----------
    state : the run
    common : dict
        Buffers of the pairs.
    lots : sequence of gpu_collide.pipeline.near.Items
    rows : bool
        Does any pair take rows? Then scratch has to hold their records.
    row_height, pair_state : buffers
    held : int
        Bytes that the piece holds already.

    Returns
    -------
    int, buffer, buffer
        Number of candidates, candidates (n, 4), brackets (n, 2).
    """
    be, q = state.backend, state.options
    n = sum(items.n for items in lots)
    capacity = max(4096, int(n * state.guess.get("candidates", 12.0)))
    while True:
        need_bytes = capacity * (16 + 2 * state.raster.itemsize)
        if need_bytes > q.max_bytes or 4 * capacity >= 2**31:  # the kernels count in int
            raise TooLarge(need_bytes)
        cand, brackets = be.empty(capacity * 4, np.int32), be.empty(capacity * 2, state.raster)
        count = be.zeros(1, np.int32)
        fixed = {
            "row_height_in": row_height, "state_in": pair_state, "screw_in": common["screw_in"],
            "capacity": capacity, "n_candidates_out": count, "candidates_out": cand, "brackets_out": brackets,
        }  # fmt: skip
        for items in lots:
            reals, ints = scratch_guess(items.largest, rows)
            scratch = [max(reals, state.guess.get("reals", 0)), max(ints, state.guess.get("ints", 0))]
            todo = np.arange(items.n, dtype=np.int32)
            while len(todo):
                todo = _launch(state, items, todo, scratch, need_bytes + held, fixed)
        found = int(be.item(count, 0))
        if 0 <= found <= capacity:
            state.guess["candidates"] = max(state.guess.get("candidates", 0.0), 1.1 * found / max(n, 1))
            return found, cand, brackets
        capacity = int((found if found > 0 else capacity * 4) * 1.2)


def _launch(state, items, todo, scratch, need_bytes, fixed):
    """One launch; returns the items whose scratch was too small, with `scratch` raised for the next."""
    be, q = state.backend, state.options
    reals, ints = scratch
    group_bytes = reals * state.raster.itemsize + ints * 4
    groups = min(be.max_groups, len(todo), max(1, (q.max_bytes - need_bytes) // group_bytes))
    if group_bytes > q.max_bytes or max(reals, ints) >= 2**31:
        raise TooLarge(group_bytes + need_bytes)
    need, no_room = be.zeros(2, np.int32), be.zeros(items.n, np.int32)
    state.launch_groups(
        "screen", groups, n_todo=len(todo), todo_in=be.to_device(todo), items_in=items.buffer,
        min_properness=q.min_properness, refine=REFINE[q.refine],
        candidates=CANDIDATES[q.candidates],
        scratch_reals=be.empty(groups * reals, state.raster), scratch_ints=be.empty(groups * ints, np.int32),
        reals_per_group=reals, ints_per_group=ints, no_room_out=no_room, need_out=need, **items.tables,
        **fixed,
    )  # fmt: skip
    more = be.to_host(need)
    if not more.any():
        return todo[:0]
    # the need is known stage by stage; a second stage may find it needs more again
    scratch[:] = max(reals, int(more[0] * 1.2) + 64), max(ints, int(more[1] * 1.2) + 64)
    state.guess["reals"], state.guess["ints"] = scratch
    return np.flatnonzero(be.to_host(no_room)).astype(np.int32)
