"""The screw method on a GPU, where data stay: poses and pairs are taken from where they are, all stages of a
piece are enqueued as one `Chain`, and the host waits once, for the counts.

What the host does for each pair elsewhere (checks, items, heights of rows, lists of what is left) kernels do
here (``kernels/given``). The bits are those of `gpu_collide.pipeline.screw`.
"""

from __future__ import annotations

import time
import weakref
from typing import Any, NamedTuple

import numpy as np

from gpu_collide._validate import check_pairs
from gpu_collide.pipeline.chain import Chain
from gpu_collide.pipeline.gather import FIELDS
from gpu_collide.pipeline.poses import bind_poses, take_given
from gpu_collide.pipeline.run import MOST_INDEX, SPARE, SPARE_NEXT, TooLarge
from gpu_collide.pipeline.screen import scratch_guess

__all__ = ["Given", "block", "serves"]

#: Combinations of two meshes for which heights of rows are made.
MOST_HEIGHTS = 1 << 16
#: Pairs of a piece at most.
MOST_PAIRS = 1 << 20
#: Candidates and hits of a pair for which there is room where nothing is known, and for how many in all.
FIRST = {"candidates": 12.0, "hits": 4.0}
LEAST = 4096
#: The share of the memory limit that the scratch of all groups may take.
SCRATCH_SHARE = 4
#: Bytes of all buffers for each pair (beside its screw), candidate and hit.
PAIR_BYTES, CANDIDATE_BYTES, HIT_BYTES = 200, 32, 220
#: Kinds of queries for which the guesses are kept on a backend.
MOST_KINDS = 64


class Given(NamedTuple):
    """Pairs that lie on the device, and that nobody has looked at.

    Attributes
    ----------
    rows : (p, 2) int64 device array
        Of the library's own.
    """

    rows: Any

    def __len__(self):
        return self.rows.shape[0]


class _Inputs(NamedTuple):
    """What all pieces of a block read.

    Attributes
    ----------
    poses : dict
        Buffers of poses, shapes and validity, by the names of kernel arguments.
    given : (p, 2) int64 device array
    height : buffer
        Height of a row for each two meshes; one number if nobody asks.
    rows : bool
        Does any pair look for its candidates in rows?
    pairs : (p, 2) int32 device array
        Filled piece by piece.
    wrong : (2,) int32 buffer
        Rows that are no pair, and pairs with a body without poses.
    n_meshes : int
    """

    poses: dict
    given: Any
    height: Any
    rows: bool
    pairs: Any
    wrong: Any
    n_meshes: int


def serves(backend, options, bodies, any_near):
    """Can these options be answered so? Exact times of whole meshes in float64, without a report and without
    the filter that has scratch for each group."""
    return (
        backend.kind == "cuda"
        and options.refine == "exact"
        and options.precision != "single"
        and not options.report
        and "plane" not in options.filters
        and not any_near
        and len(bodies) > 0
        and len(bodies.meshes) ** 2 <= MOST_HEIGHTS
    )


def block(work, bodies, pairs, found, total, stay, heights, refusal, progress=None):
    """All stages for a block of pairs.

    Parameters
    ----------
    work : Work
    bodies : Bodies
    pairs : Given, or (p, 2) int32 array of pairs that need no check, on the host or on the device
    found : Gathered
    total : int
        Of pairs in all blocks, for `progress`.
    stay : bool
        What is found stays on the device.
    heights : callable or None
        Heights of rows of each two meshes, if any pair may ask for them.
    refusal : callable
        ``refusal(pair, need)``: the text of the error if a pair alone is too large.
    progress : callable, optional

    Returns
    -------
    int
        Pairs with a body without poses, of which nobody was warned.

    Raises
    ------
    ValueError
        A row of `pairs` is no pair.
    """
    run, be = work.run, work.run.backend
    here, given = isinstance(pairs, np.ndarray), pairs.rows if isinstance(pairs, Given) else None
    rows = (be.to_device(pairs) if here else pairs).astype(np.int64) if given is None else given
    begun = time.perf_counter()
    inputs = _inputs(work, bodies, rows, heights)
    run.spent("prepare", begun)
    guess, done, invalid = _guess(work, inputs.rows), found.pairs, 0

    def some(at, stop):
        nonlocal invalid
        piece, wrong, invalid = _piece(work, inputs, guess, (at, stop, done), stay)
        if wrong:
            check_pairs(be.to_host(given), len(bodies))  # raises, and names them
            raise AssertionError("a pair is wrong for the kernel and right for the host")
        found.add_piece(*piece)

    passed_on = None if progress is None else lambda stop: progress(done + stop, total)
    refused = lambda at, need: refusal(done + at, need)  # noqa: E731
    run.room.pieces(len(rows), _size(work, guess), some, None, refused, passed_on)
    found.add_block(pairs if here and not stay else inputs.pairs, None)
    return invalid


def _inputs(work, bodies, rows, heights):
    run, be, prepared = work.run, work.run.backend, work.prepared
    n = len(bodies.meshes)
    return _Inputs(
        _poses(run, bodies) if prepared.placed is None else prepared.placed, rows, _heights(work, heights),
        heights is not None, be.empty(rows.shape, np.int32), be.zeros(2, np.int32), n,
    )  # fmt: skip


def _poses(run, bodies):
    """Poses as the kernels read them, from where they are."""
    poses = take_given(run, bodies)
    if poses is None:
        return bind_poses(run, bodies, None).buffers
    return poses | {"shape_in": _shapes(run, bodies)}


def _shapes(run, bodies):
    """Which mesh each body has, kept for the array that says so: bodies that move keep theirs."""
    be, shape = run.backend, bodies.shape
    if len(bodies.meshes) == 1:
        return be.zeros(len(shape), np.int32)
    kept = be.kept.setdefault("shapes", {})
    known, buffer = kept.get(id(shape), (None, None))
    if known is None or known() is not shape:
        key, buffer = id(shape), run.to_device(shape, np.int32)
        kept[key] = weakref.ref(shape, lambda _: kept.pop(key, None)), buffer
    return buffer


def _heights(work, heights):
    """The table of heights of rows on the device, kept with the tables of the meshes."""
    run = work.run
    if heights is None:
        return run.backend.zeros(1, run.real)
    made, key = work.prepared.tables.made, ("heights", work.options.resolution, work.options.pixel_size)
    if key not in made:
        made[key] = run.to_device(heights(), run.real)
    return made[key]


def _guess(work, rows):
    """How much pairs took in the calls before, by name; kept on the backend for queries of a kind."""
    o, tables = work.options, work.prepared.tables
    kept = work.run.backend.kept.setdefault("guesses", {})
    key = (o.precision, o.candidates, o.filters, o.min_properness, *tables.largest.tolist())
    if key not in kept:
        while len(kept) >= MOST_KINDS:
            kept.pop(next(iter(kept)))
        reals, ints = scratch_guess(tables.largest, rows)
        kept[key] = {**FIRST, "reals": reals, "ints": ints}
    return kept[key]


def _size(work, guess):
    """Pairs a piece: what fits the memory limit."""
    each = _pair_bytes(work.run) + CANDIDATE_BYTES * guess["candidates"] + HIT_BYTES * guess["hits"]
    room = work.run.room
    return max(1, min(MOST_PAIRS, int(room.fits(int(each) + 1, held=room.max_bytes // SCRATCH_SHARE))))


def _pair_bytes(run):
    return int(run.c["GC_SCREW_STRIDE"]) * run.real.itemsize + PAIR_BYTES


def _room(work, guess, n):
    """What there is room for, by name, and groups of the screen."""
    run = work.run
    group = guess["reals"] * run.raster.itemsize + guess["ints"] * 4
    groups = max(1, min(run.backend.max_groups, n, run.room.fits(group, share=SCRATCH_SHARE)))
    for least in (LEAST, 64):  # much for a few pairs, if there is room
        room = {name: max(least, int(n * guess[name])) for name in ("candidates", "hits")}
        room |= {name: guess[name] for name in ("reals", "ints")}
        need = groups * group + CANDIDATE_BYTES * room["candidates"] + HIT_BYTES * room["hits"]
        need += n * _pair_bytes(run)
        if need <= run.room.max_bytes and 4 * max(room.values()) <= MOST_INDEX:
            return room, groups
    raise TooLarge(need)


def _piece(work, inputs, guess, place, stay):
    """All launches for the pairs from `at` to `stop`, and one look at the counts."""
    run, be = work.run, work.run.backend
    at, stop, done = place
    n, poses = stop - at, inputs.poses
    _room(work, guess, n)  # before anything is made
    made = {
        "pairs_out": inputs.pairs[at:stop].reshape(-1), "items_out": be.empty(3 * n, np.int32),
        "todo_out": be.empty(n, np.int32), "row_height_out": be.empty(n, run.real), "wrong_out": inputs.wrong,
    }  # fmt: skip
    run.launch_ahead(
        "g02_pairs", n, poses, made, n_pairs=n, n_bodies=poses["valid_in"].size, n_meshes=inputs.n_meshes,
        rows=int(inputs.rows), given_in=inputs.given[at:stop].reshape(-1), height_in=inputs.height,
    )  # fmt: skip
    while True:
        room, groups = _room(work, guess, n)
        buffers = poses | {"pairs_in": made["pairs_out"], "row_height_in": made["row_height_out"]}
        chain = Chain(run, work.options, work.prepared.tables, n, buffers, made["items_out"],
                      made["todo_out"], room, groups, first=done + at)  # fmt: skip
        chain.sequence.run()
        *counted, (total,), (wrong, invalid) = be.numbers(*chain.counted(), chain.start[n:], inputs.wrong)
        for name, seconds in chain.sequence.seconds().items():
            run.timings[name] = run.timings.get(name, 0.0) + seconds
        if wrong:
            return None, wrong, invalid
        lacks = chain.lacking(counted)
        _learn(guess, lacks, counted, n)
        if not lacks:
            return _taken(be, chain, total, stay), wrong, invalid


def _learn(guess, lacks, counted, n):
    """Guess as much as was needed, and some to spare."""
    guess.update({name: int(SPARE * lacks[name]) + 64 for name in ("reals", "ints") if name in lacks})
    (_, (candidates,), (hits,)), spare = counted, SPARE if lacks else SPARE_NEXT
    for name, count in (("candidates", candidates), ("hits", hits)):
        found = lacks.get(name, count)
        if name in lacks or not lacks:  # behind what was too short all counts are too low
            guess[name] = spare * found / n + (64 / n if lacks else 0.0)


def _taken(be, chain, total, stay):
    """Status and time of the pairs, where their contacts begin, how many there are, and their fields."""
    out = {name: buffer[:total].reshape(-1) for name, buffer in chain.out.items()}
    if stay:  # in buffers of their own size: those of the chain have room to spare
        return chain.status, chain.toi, chain.start, total, {k: v.copy() for k, v in out.items()}
    status, toi, start, *fields = be.to_hosts([chain.status, chain.toi, chain.start, *out.values()])
    return status, toi, start, total, dict(zip(FIELDS, fields, strict=True))
