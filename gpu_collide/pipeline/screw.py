"""Launch order of the screw method, from s01 to s08, for pairs in pieces that fit the memory.

What is made of meshes (`prepare`), of poses (`bind_poses`) and of pairs (`collide`) stands apart, so that
each is done as often as it changes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from gpu_collide.pipeline import filters, first, hulls, otherways, overlap, staying
from gpu_collide.pipeline.gather import FIELDS, Gathered
from gpu_collide.pipeline.near import find_items, near_pairs, takes_near
from gpu_collide.pipeline.parts import MeshTables
from gpu_collide.pipeline.poses import bind_poses
from gpu_collide.pipeline.rows import asks_heights, row_heights, takes_rows
from gpu_collide.pipeline.screen import REFINE, scratch_guess, search
from gpu_collide.pipeline.tables import short_edges, tables_for
from gpu_collide.pipeline.walks import Walk
from gpu_collide.results.report import FilterReport

__all__ = ["Piece", "Prepared", "Work", "collide", "looks", "prepare", "programs"]

#: Pairs taken from the broad phase at a time, and the bytes that one takes there.
BLOCK, BLOCK_BYTES = 1 << 20, 64
#: Room for the near faces of a pair, by which pieces are cut; where they take more, the piece is cut again.
NEAR_BYTES = 1 << 20
#: Combinations of two meshes whose short edges are kept.
MOST_SHORT = 1 << 16


@dataclass(frozen=True)
class Prepared:
    """What is made of meshes before any pose is known.

    Attributes
    ----------
    meshes : sequence of Mesh
    tables : MeshTables
    near, late : (meshes,) uint8
        From `takes_near`: of all pairs, and of those whose walks are given up.
    placed : dict or None
        Buffers that hold the poses of all bodies, where somebody keeps them.
    walked : bool
        May a pair of these meshes be left to ``screen_first`` (`first.walks`)?
    hulls : bool
        May one be looked at between hulls (`hulls.looks`)?
    """

    meshes: tuple
    tables: MeshTables
    near: np.ndarray
    late: np.ndarray
    placed: dict | None = None
    walked: bool = False
    hulls: bool = False

    @cached_property
    def any_near(self):
        """May a pair of these meshes look at near faces only?"""
        return bool(self.near.any())

    @cached_property
    def largest(self):
        """Most vertices, edges and faces (3,) of a mesh that the screen looks at whole."""
        return first.screened(self.tables.counts) if self.walked else self.tables.largest

    def walked_pairs(self, shapes):
        """Which pairs of meshes `shapes` (n, 2) are left to ``screen_first``, (n,) bool."""
        return first.walked_pairs(self.tables.counts, shapes) & self.walked

    @cached_property
    def edges(self):
        """Edges of each mesh, (meshes,) int64."""
        return np.array([len(m.edges) for m in self.meshes], dtype=np.int64)

    @cached_property
    def radii(self):
        """Radius of each mesh, (meshes,) float64."""
        return np.array([m.radius for m in self.meshes])

    @cached_property
    def _short(self):
        """Short edge of each two meshes, NaN where nobody has asked."""
        return np.full(len(self.meshes) ** 2, np.nan)

    def short_edges(self, shapes):
        """`short_edges` of pairs of the meshes `shapes`, (p, 2), each combination looked at once."""
        key = shapes[:, 0].astype(np.int64) * len(self.meshes) + shapes[:, 1]
        if len(self.meshes) ** 2 > max(MOST_SHORT, len(key)):
            return short_edges(self.meshes, *shapes.T)
        short = self._short
        new = np.unique(key[np.isnan(short[key])])
        if len(new):
            short[new] = short_edges(self.meshes, new // len(self.meshes), new % len(self.meshes))
        return short[key]


@dataclass
class Work:
    """A query at work: what it launches with, what it was asked, what was prepared for it, and what the tests
    before the narrow phase settled, if that is to be reported."""

    run: object
    options: object
    prepared: Prepared
    report: FilterReport | None = None
    narrow: int = 0  # pairs that came to the narrow phase
    hits: int = 0  # pairs with a contact, where they were counted for the report
    invalid: int | None = None  # pairs with a body without poses, where somebody counted them
    gives_up: bool = True  # may a search for near faces be given up that costs more than it saves?


@dataclass
class Piece:
    """So many pairs as are worked on at a time.

    Attributes
    ----------
    n : int
    first : int
        Number of the first among all pairs.
    shapes : (n, 2) int32
        Meshes.
    rows : bool
        Does any look for its candidates in rows?
    buffers : dict
        Poses, pairs and what the stages so far made of them, by the names of kernel arguments.
    """

    n: int
    first: int
    shapes: np.ndarray
    rows: bool
    buffers: dict

    @property
    def nbytes(self):
        """Bytes of what the stages make for each pair."""
        return self.buffers["screw_in"].nbytes + 64 * self.n


def looks(meshes, options, backend):
    """What `takes_near` says of the meshes for pairs that are not walked down and for those whose walks are
    given up, whether `first.walks`, whether `hulls.looks`, and whether trees of faces are wanted."""
    near = late = takes_near(meshes, options, backend.kind != "cuda")
    walked = first.walks(meshes, options, near)
    if walked:
        near = np.zeros(len(meshes), np.uint8)
    trees = walked or near.any() or (options.check_start and overlap.takes_trees(meshes))
    return near, late, walked, hulls.looks(meshes, options, backend), bool(trees)


def prepare(run, meshes, options):
    """The kernels that the options ask for, and tables of the meshes on the run's backend, with trees if the
    options ask for them."""
    near, late, walked, planes, trees = looks(meshes, options, run.backend)
    run.build(*programs(options, run.backend.serial_groups, late.any(), walked, planes))
    begun = time.perf_counter()
    tables = tables_for(meshes, run.backend, run.precision, trees)
    prepared = Prepared(meshes, tables, near, late, walked=walked, hulls=planes)
    run.spent("prepare", begun)
    return prepared


def programs(options, serial, near, walked=False, hulls=False):
    """What a query with these options launches; `serial` where a group is one work-item, `near` if pairs look
    at near faces, `walked` if first contacts of some are looked for down their trees, `hulls` if between
    their hulls."""
    names = ["screw", "screen", "solve"]
    if options.refine != "exact":
        names.append("answer")
    elif not serial:
        names.append("find")
    if options.check_start:
        names.append("overlap")
    if near:
        names.append("near")
    if walked:
        names.append("first")
    if hulls:
        names.append("hulls")
    return names


def collide(run, options, prepared, bodies, pairs, progress=None, stay=False):
    """The whole query.

    Parameters
    ----------
    run : Run
    options : Options
    prepared : Prepared
        Of the meshes of `bodies`.
    bodies : Bodies
    pairs : (p, 2) int32 ndarray, or a Search of the broad phase, whose blocks are taken one after the other,
        or a Given, if `gpu_collide.pipeline.staying.serves` says yes
    progress : callable, optional
    stay : bool
        All fields stay where they were computed, as arrays of `Backend.arrays`; else all are on the host.

    Returns
    -------
    dict
        Fields of `Contacts`.
    Work
    """
    work = Work(run, options, prepared, FilterReport() if options.report else None)
    found, total = Gathered(), len(pairs)
    blocks, stays = [pairs], run.backend.kind == "cuda"
    stays = stays and staying.serves(run.backend, bodies, asks_heights(options, prepared))
    if not isinstance(pairs, (np.ndarray, staying.Given)):
        limit = max(1, min(BLOCK, run.room.fits(BLOCK_BYTES)))
        blocks = pairs.blocks(limit, True) if stays else pairs.blocks(limit)
    for block in blocks:
        if stays:
            _staying(work, bodies, block, found, total, stay, progress)
        else:
            _block(work, bodies, block, found, total, progress)
    begun = time.perf_counter()
    fields = found.fields(run, stay)
    run.spent("assemble", begun)
    if work.report is not None:
        filters.narrow_phase(work, work.hits if stays else int((fields["toi"] < np.inf).sum()))
    return fields, work


def _staying(work, bodies, pairs, found, total, stay, progress):
    """`gpu_collide.pipeline.staying.block`."""
    options, prepared, m = work.options, work.prepared, len(bodies.meshes)
    heights: Any = None
    if asks_heights(options, prepared):
        every = np.stack(np.divmod(np.arange(m * m, dtype=np.int32), m), axis=1)
        rows = takes_rows(options, prepared, every)
        heights = partial(row_heights, options, prepared, every, rows)
        heights = heights if rows or options.refine != "exact" else None

    def refusal(pair, need):
        return _refusal(work, pair, need, prepared.any_near)

    invalid = staying.block(work, bodies, pairs, found, total, stay, heights, refusal, progress)
    work.invalid = (work.invalid or 0) + invalid


def _refusal(work, pair, need, looks_near):
    room = work.run.room
    return (
        f"max_bytes: expected room for pair {pair}, which needs at least {room.told(need)} bytes, got "
        f"{room.asked}; {_remedy(work.options, looks_near)}"
    )


def _block(work, bodies, pairs, found, total, progress):
    """All stages for a block of pairs, in pieces that fit the memory limit."""
    run, options, prepared = work.run, work.options, work.prepared
    bound = bind_poses(run, bodies, pairs, prepared.placed)
    done = found.add_block(pairs, bound.origin)
    shapes = bodies.shape[pairs]
    rows = takes_rows(options, prepared, shapes)
    heights = row_heights(options, prepared, shapes, rows)
    near: Any = np.cumsum(near_pairs(prepared.near, shapes)) if prepared.any_near else None
    most_near = max(1, run.room.fits(NEAR_BYTES))

    def take(at, stop, rows, heights):
        buffers = dict(bound.buffers)
        buffers["pairs_in"] = run.to_device(bound.pairs[at:stop])
        height = np.zeros(stop - at, run.real) if heights is None else heights
        buffers["row_height_in"] = run.to_device(height, run.real)
        piece = Piece(stop - at, done + at, shapes[at:stop], rows, buffers)
        before = None if work.report is None else work.report + FilterReport()
        try:
            found.add_piece(*_stages(work, piece))
        except BaseException:
            work.report = before  # what comes again is counted again
            raise

    def some(at, stop):
        take(at, stop, rows, None if heights is None else heights[at:stop])

    def otherwise(at, stop):
        rows = takes_rows(options, work.prepared, shapes[at:stop])
        take(at, stop, rows, row_heights(options, work.prepared, shapes[at:stop], rows))

    def cut(at):
        """Where so many pairs look at near faces as there is room for."""
        return np.searchsorted(near, (near[at - 1] if at else 0) + most_near, "right")

    def refusal(at, need):
        looks_near = near is not None and near[at] > (near[at - 1] if at else 0)
        return _refusal(work, done + at, need, looks_near)

    passed_on = None if progress is None else lambda stop: progress(done + stop, total)
    size = _piece_size(work, len(pairs), rows)
    some = otherways.tried(work, some, otherwise)
    run.room.pieces(len(pairs), size, some, None if near is None else cut, refusal, passed_on)


def _remedy(options, near):
    """What helps a pair that is too large; `near` if it looks at near faces already."""
    if near or options.candidates == "raster":
        return "pass a larger max_bytes"
    return "pass a larger max_bytes, or features='near'"


def _piece_size(work, n, rows):
    """Pairs a piece: what fits the memory limit, and not more than keeps progress visible."""
    run = work.run
    reals, ints = scratch_guess(work.prepared.largest, rows)
    scratch = run.backend.max_groups * (reals * run.raster.itemsize + ints * 4)
    per_pair = run.real.itemsize * int(run.c["GC_SCREW_STRIDE"]) + 16 * 40 + 200
    most = max(run.room.fits(per_pair, held=scratch), run.room.fits(per_pair, share=2))
    limit = 1 << (20 if run.backend.kind == "cuda" else 16)
    return max(1, min(n, limit, most))


def _stages(work, piece):
    """All stages for a piece of the pairs, in order; what s08 wrote of them."""
    _screws(work, piece)  # s01
    todo = filters.apply(work, piece)  # f01 to f03
    left, ready = todo, []
    if work.prepared.hulls and len(todo):
        left, found = hulls.search(work, piece, todo)
        ready.append(found)
    lots = find_items(work, piece, left)  # b05, b06
    held = piece.nbytes + sum(items.nbytes for items in lots) + 24 * sum(found[0] for found in ready)
    ready.append(search(work, piece, lots, held))  # s02 to s06
    if work.options.check_start:
        # the filters settle only what a gap divides all the time: their pairs do not overlap at the start
        run = work.run
        start = run.backend.fill(run.backend.empty(piece.n, run.real), -0.5)
        overlap.mark(run, (piece.buffers, work.prepared.tables.buffers), todo, start)  # s09
    hits = _solve(work, piece, left, held, ready)  # s07, or screen_first
    written = _write(work, piece, *hits)  # s08
    work.narrow += sum(items.n for items in lots) + len(todo) - len(left)
    return written


def launch_screws(run, n, *bound, **args):
    """Stage s01 of `n` pairs; among many work-items two launches."""
    run.launch("s01_screw", n, *bound, **args)
    if not run.backend.serial_groups:
        run.launch("s01_long", n, *bound, n_pairs=n)


def _screws(work, piece):
    """Stage s01: the relative motion of every pair, and its state."""
    run, be, n = work.run, work.run.backend, piece.n
    stride = int(run.c["GC_SCREW_STRIDE"])
    run.room.check(n * (stride * run.real.itemsize + 64))
    screw, state = be.empty(n * stride, run.real), be.empty(n, np.int32)
    piece.buffers |= {"screw_in": screw, "state_in": state, "state_out": state}
    tables = work.prepared.tables.buffers
    launch_screws(run, n, piece.buffers, tables, n_pairs=n, screw_out=screw)


def _solve(work, piece, todo, held, found):
    """Stage s07: hits of all candidates, of which `found` is a list or more, each as `search` returns it; and
    those of the pairs `todo` that have none because only their first contacts are looked for (`Walk`)."""
    run, options, be = work.run, work.options, work.run.backend
    bound = piece.buffers, work.prepared.tables.buffers
    rough = {} if options.refine == "exact" else {"refine": REFINE[options.refine]}
    name = "s07_answer" if rough else "s07_solve" if be.serial_groups else "s07_find"

    def fill(capacity):
        hit, value = be.empty(capacity * 4, np.int32), be.empty(capacity * 3, run.real)
        count, pair_hits = be.zeros(1, np.int32), be.zeros(piece.n, np.int32)
        out = {"capacity": capacity, "n_hits_out": count, "pair_hits_out": pair_hits, "hit_out": hit,
               "value_out": value}  # fmt: skip
        if work.prepared.walked:
            walk.down(work, piece, held + each * capacity, out)
        for n, candidates, brackets in [*found, *walk.found]:
            if n:
                given = out | {"candidates_in": candidates, "brackets_in": brackets} | rough
                given["min_properness"] = options.min_properness
                if name == "s07_find":
                    _find(run, n, *bound, given)
                else:
                    run.launch(name, n, *bound, given, n_candidates=n)
        return int(be.item(count, 0)), (hit, value, pair_hits)

    each = 16 + 3 * run.real.itemsize
    walk = Walk(todo)
    n_hits, made = run.room.filled(
        "hits", sum(n for n, *_ in found) + 8 * len(todo) * work.prepared.walked, fill, each=each, first=1.0,
        least=1024, width=4,
    )  # fmt: skip
    return n_hits, *made


def _find(run, n, *bound):
    """Stage s07 among many work-items, of `n` candidates."""
    be, given = run.backend, bound[-1]
    lasting, n_lasting = be.empty(n, np.int32), be.zeros(1, np.int32)
    more = {"lasting_in": lasting, "lasting_out": lasting, "n_lasting_out": n_lasting}
    run.launch("s07_find", n, *bound, more, n_candidates=n)
    n_hits, last = int(be.item(given["n_hits_out"], 0)), int(be.item(n_lasting, 0))
    if not 0 <= n_hits <= given["capacity"]:
        return  # all comes again, with more room
    if n_hits:
        run.launch("s07_test", n_hits, *bound, more, n_hits=n_hits)
    if last:
        run.launch("s07_last", last, *bound, more, n_lasting=last)


def _write(work, piece, n_hits, hit, value, pair_hits):
    """Stage s08: status and time of each pair, where its contacts begin, how many there are, and they."""
    run, options, be, n = work.run, work.options, work.run.backend, piece.n
    bound = piece.buffers, work.prepared.tables.buffers
    hit_start = be.exclusive_scan(pair_hits)
    order, cursor = be.empty(max(n_hits, 1), np.int32), be.zeros(n, np.int32)
    if n_hits:
        run.launch("s08_place", n_hits, n_hits=n_hits, hit_in=hit, hit_start_in=hit_start, cursor=cursor,
                   order_out=order)  # fmt: skip
    kept, status, toi = be.empty(n, np.int32), be.empty(n, np.uint8), be.empty(n, run.real)
    run.launch("s08_resolve", n, *bound, n_pairs=n, hit_start_in=hit_start, value_in=value,
               refine=REFINE[options.refine], first_only=int(options.first_only), hit_out=hit,
               order_out=order, kept_out=kept, status_out=status, toi_out=toi)  # fmt: skip
    start = be.exclusive_scan(kept)
    total = int(be.item(start, -1))
    out = {
        name: be.empty(max(total, 1) * w, np.dtype(d) if d else run.real) for name, (d, w) in FIELDS.items()
    }
    if total:
        run.launch("s08_contacts", n, *bound, n_pairs=n, hit_start_in=hit_start, contact_start_in=start,
                   hit_in=hit, value_in=value, order_in=order, first_pair=piece.first,
                   **{f"{name}_out": buffer for name, buffer in out.items()})  # fmt: skip
    return status, toi, start, total, out
