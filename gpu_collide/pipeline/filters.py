"""The filters between broad phase and narrow phase: each gets the pairs that those before it left.

A filter settles a pair if it shows that nothing can touch during the step. It is as careful as the culling
that follows, so the contacts are the same bits with any of them on or off (docs/decisions/0010).
"""

from __future__ import annotations

import time

import numpy as np

from gpu_collide import _options
from gpu_collide.pipeline.run import MOST_INDEX

__all__ = ["FILTERS", "apply", "narrow_phase", "plane_groups", "plane_reals"]

#: Name of each filter and its kernel.
FILTERS = {name: f"f{k:02d}_{name}" for k, name in enumerate(_options.FILTERS, start=1)}


def apply(work, piece):
    """Run the filters that the options name, in that order, on the pairs of a piece.

    Parameters
    ----------
    work : Work
        Its ``report``, if there is one, gets a row per filter.
    piece : Piece
        Pairs that have any ``GC_PAIR_*`` bit stay.

    Returns
    -------
    (k,) int32 array
        Pairs of the piece that remain, ascending.
    """
    be = work.run.backend
    todo = np.arange(piece.n, dtype=np.int32)
    for name in work.options.filters:
        if not len(todo):
            break
        begun = time.perf_counter()
        keep = be.empty(len(todo), np.uint8)
        args = {"n_todo": len(todo), "todo_in": be.to_device(todo, copy=False), "keep_out": keep}
        if name == "plane":
            _plane(work, piece, args)
        else:
            work.run.launch(FILTERS[name], len(todo), piece.buffers, work.prepared.tables.buffers, **args)
        left = todo[be.to_host(keep).view(bool)]
        if work.report is not None:
            work.report.add(name, len(todo), len(todo) - len(left), time.perf_counter() - begun)
        todo = left
    return todo


def _plane(work, piece, args):
    """Launch f03, which has scratch for each group."""
    run, be, t = work.run, work.run.backend, work.prepared.tables
    reals, groups = plane_reals(run, t), plane_groups(run, t, args["n_todo"])
    if not groups:  # a test that may be left out
        be.fill(args["keep_out"], 1)
        return
    run.launch_groups(FILTERS["plane"], groups, piece.buffers, t.screen, t.buffers, reals_per_group=reals,
                      scratch_reals=be.empty(groups * reals, run.raster),
                      scratch_ints=be.empty(groups * 2 * be.group_size, np.int32), **args)  # fmt: skip


def plane_reals(run, tables):
    """Raster numbers of scratch that a group of f03 takes."""
    return 8 * int(tables.counts[:, 0].max()) + 2 * run.backend.group_size


def plane_groups(run, tables, n, share=4):
    """Groups of f03 for `n` pairs, whose scratch takes a share of the room at most; 0: there is none."""
    reals, size = plane_reals(run, tables), run.backend.group_size
    most = run.room.fits(reals * run.raster.itemsize + 8 * size, share=share)
    return 0 if reals > MOST_INDEX else min(run.backend.max_groups, n, most)


_NARROW = (
    "screen_hulls", "screen", "screen_small", "s07_solve", "s07_find", "s07_test", "s07_last", "s08_place",
    "s08_contacts", "s09_near", "s09_overlap",
)  # fmt: skip


def narrow_phase(work, hits):
    """Add the last row to the report: the pairs that the tests before left, all settled by the launches
    of the screw method. What is done for every pair, its screw and its place in the result, is not in it."""
    launches = sum(v for k, v in work.run.timings.items() if k in _NARROW)
    work.report.add("narrow phase", work.narrow, work.narrow, launches, hits)
