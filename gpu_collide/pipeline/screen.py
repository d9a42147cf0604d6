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
#: Candidates that there is room for at first where pairs have large parts.
MANY = 1 << 21
#: Cells of the screen that long lists are sorted into.
CELLS = 1 << int(sources.constants()["GC_TILE_SPLITS"])
#: Lists longer than this have chords of edges (gc_chords.h), of so many numbers.
TILED, CHORD = int(sources.constants()["GC_TILED"]), sources.record("chord").stride
#: An item of more faces than this, and than half a thread's part of all, is shared among threads: so many
#: shares for each, but not more in all.
HEAVY, SHARES, MOST_SHARES = 4096, 4, 256
#: In place of a number of shares: the lists are made.
LISTS = -1


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
    least = max(4096, min(many, run.room.fits(4 * each, held)))
    found, made = run.room.filled("candidates", n, fill, each=each, first=12.0, least=least, width=4)
    return found, *made


def _launch(run, piece, items, held, args):
    """The screen of a lot of items, of heavy ones by shares; those whose scratch was too small are launched
    again."""
    be = run.backend
    reals, ints = scratch_guess(items.largest, piece.rows)
    scratch = Scratch("reals", reals, run.raster.itemsize), Scratch("ints", ints, 4)

    def once(todo, sizes, *, groups, seats, shares=0):
        need, no_room = be.zeros(2, np.int32), be.zeros(items.n, np.int32)
        run.launch_groups(
            "screen", groups, items.tables, piece.buffers, n_todo=len(todo) * max(shares, 1),
            todo_in=be.to_device(todo), items_in=items.buffer, shares=shares, reals_per_group=sizes[0],
            ints_per_group=sizes[1], scratch_reals=seats[0], scratch_ints=seats[1], no_room_out=no_room,
            need_out=need, **args,
        )  # fmt: skip
        return be.to_host(need).tolist(), be.to_host(no_room) > 0

    def seats_for(n, sizes):
        return be.empty(n * sizes[0], run.raster), be.empty(n * sizes[1], np.int32)

    def launch(todo, groups, sizes):
        need, no_room = once(todo, sizes, groups=groups, seats=seats_for(groups, sizes))
        return need, lambda: np.flatnonzero(no_room).astype(np.int32)

    def launch_shared(todo, groups, sizes):
        shares, needs, again = min(SHARES * be.threads, MOST_SHARES), [], []
        for some in np.split(todo, range(groups, len(todo), groups)):
            seats = seats_for(len(some), sizes)
            need, no_room = once(some, sizes, groups=len(some), seats=seats, shares=LISTS)
            needs.append(need)
            again.append(some[no_room[some]])
            some = np.where(no_room[some], -1, some).astype(np.int32)
            once(some, sizes, groups=shares * len(some), seats=seats, shares=shares)
            del seats  # before there are others
        return np.max(needs, axis=0).tolist(), lambda: np.concatenate(again)

    heavy = _heavy(run, items, args["candidates"])
    if len(heavy):
        large = [s._replace(name=f"shared {s.name}") for s in scratch]
        run.room.worked_off(heavy, large, launch_shared, held=held, groups=len(heavy))
    todo = np.setdiff1d(np.arange(items.n, dtype=np.int32), heavy)
    run.room.worked_off(todo, scratch, launch, held=held, groups=be.max_groups)


def _heavy(run, items, candidates):
    """Items that would keep one thread at work while others wait: theirs is shared (docs/decisions/0083)."""
    threads = getattr(run.backend, "threads", 1)
    if threads < 2 or not run.backend.serial_groups or not items.n:
        return np.zeros(0, np.int32)
    limit = run.c["GC_AUTO_EDGE_PRODUCT"]
    no_rows = items.patches > 0 or candidates == CANDIDATES["pairs"] or items.edges <= limit
    no_rows &= candidates != CANDIDATES["raster"]
    large = items.faces > max(HEAVY, items.faces.sum() / (2 * threads))
    return np.flatnonzero(large & no_rows).astype(np.int32)
