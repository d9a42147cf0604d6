"""The launch of stages s02 to s06."""

from __future__ import annotations

import numpy as np

from gpu_collide import _options
from gpu_collide.backends import sources
from gpu_collide.pipeline import first
from gpu_collide.pipeline.run import Scratch

__all__ = ["CANDIDATES", "REFINE", "scratch_guess", "search"]

#: What the kernels call the options (GC_REFINE_*, GC_CANDIDATES_* in gc_constants.h).
REFINE = {name: k for k, name in enumerate(_options.REFINE)}
CANDIDATES = {name: k for k, name in enumerate(_options.CANDIDATES)}
#: Candidates that there is room for at first where few pairs have large parts.
MANY = 1 << 18
#: Cells of the screen that long lists are sorted into.
CELLS = 1 << int(sources.constants()["GC_TILE_SPLITS"])
#: Lists longer than this have chords of edges (gc_chords.h), of so many numbers.
TILED, CHORD = int(sources.constants()["GC_TILED"]), sources.record("chord").stride


def scratch_guess(largest, rows):
    """Raster numbers and ints of scratch for an item of the largest parts; items that need more run again."""
    # beside the lists: hulls, what a group of many work-items notes, and bits of boxes (gc_met.h)
    nv, ne, nf = (int(x) + 16 for x in largest)
    lists = nv + ne + nf
    copies = 5 if lists < 4000 else 1
    reals = 2 * (5 * nv + 8 * nf + ne) + 12 * lists * (3 + copies) + 640
    ints = 2 * lists * (3 + copies) + 6 * 16 * 4 + 256 + 4112
    if max(ne, nf * copies) > TILED:  # long lists are sorted in it (gc_tiles.h)
        ints += 3 * CELLS + 16 + 2 * max(ne, nf * copies)
    ints += 6 * 32 * min(-(-max(ne, nf * copies) // 128) * 4, 32)
    if ne > TILED:
        reals += CHORD * ne * (1 + copies)
    if rows:
        reals, ints = reals + 8 * 12 * (ne + nf), ints + 8 * 6 * (ne + nf) + 4096
    return -(-reals // 16) * 16, -(-ints // 16) * 16


def search(work, piece, lots, held, walked=None):
    """Candidates of all items.

    Parameters
    ----------
    work : Work
    piece : Piece
    lots : sequence of gpu_collide.pipeline.near.Items
    held : int
        Bytes that the piece holds already.
    walked : int, optional
        Which pairs are left to ``screen_first`` (`first.limit`). Default: those of the query.

    Returns
    -------
    int, buffer, buffer
        Number of candidates, candidates (n, 4), brackets (n, 2).
    """
    run, options, be = work.run, work.options, work.run.backend
    each = 16 + 2 * run.raster.itemsize
    walked = first.limit(work.prepared.walked) if walked is None else walked
    asked = {
        "min_properness": options.min_properness, "refine": REFINE[options.refine],
        "candidates": CANDIDATES[options.candidates], "walked": walked,
    }  # fmt: skip

    def fill(capacity):
        made = be.empty(capacity * 4, np.int32), be.empty(capacity * 2, run.raster)
        count = be.zeros(1, np.int32)
        out = {"capacity": capacity, "n_candidates_out": count, "candidates_out": made[0],
               "brackets_out": made[1]}  # fmt: skip
        for items in lots:
            _launch(run, piece, items, held + capacity * each, asked | out)
        return int(be.item(count, 0)), made

    n = sum(items.n for items in lots)
    # large parts may have as many as they have faces: asking once more is as dear as the search itself
    many = min(sum(items.n * int(items.largest[2]) for items in lots), MANY)
    least = max(4096, many if run.room.fits(4 * each, held) >= many else 0)
    found, made = run.room.filled("candidates", n, fill, each=each, first=12.0, least=least, width=4)
    return found, *made


def _launch(run, piece, items, held, args):
    """The screen of a lot of items; those whose scratch was too small are launched again."""
    be = run.backend
    reals, ints = scratch_guess(items.largest, piece.rows)
    scratch = Scratch("reals", reals, run.raster.itemsize), Scratch("ints", ints, 4)

    def launch(todo, groups, sizes):
        need, no_room = be.zeros(2, np.int32), be.zeros(items.n, np.int32)
        run.launch_groups(
            "screen", groups, items.tables, piece.buffers, n_todo=len(todo), todo_in=be.to_device(todo),
            items_in=items.buffer, scratch_reals=be.empty(groups * sizes[0], run.raster),
            scratch_ints=be.empty(groups * sizes[1], np.int32), reals_per_group=sizes[0],
            ints_per_group=sizes[1], no_room_out=no_room, need_out=need, **args,
        )  # fmt: skip
        return be.to_host(need).tolist(), lambda: np.flatnonzero(be.to_host(no_room)).astype(np.int32)

    todo = np.arange(items.n, dtype=np.int32)
    run.room.worked_off(todo, scratch, launch, held=held, groups=be.max_groups)
