"""The screw method on a GPU, where data stay: poses and pairs are taken from where they are, all stages of a
piece are enqueued as one `Chain`, and the host waits once, for the counts.

What the host does for each pair elsewhere (checks, items, heights of rows, lists of what is left) kernels do
here (``kernels/given``). The bits are those of `gpu_collide.pipeline.screw`.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gpu_collide._validate import check_pairs
from gpu_collide.backends import sources
from gpu_collide.pipeline import first, hulls, otherways
from gpu_collide.pipeline.arriving import Given, Inputs
from gpu_collide.pipeline.chain import Chain
from gpu_collide.pipeline.filters import FILTERS, plane_groups, plane_reals
from gpu_collide.pipeline.gather import FIELDS
from gpu_collide.pipeline.joining import JOINED, node_bytes
from gpu_collide.pipeline.lots import lots_for
from gpu_collide.pipeline.run import MOST_INDEX, SPARE, SPARE_NEXT, TooLarge
from gpu_collide.pipeline.screen import scratch_guess

__all__ = ["Given", "block", "serves"]

#: Combinations of two meshes for which heights of rows are made.
MOST_HEIGHTS = 1 << 16
#: Pairs of a piece at most; and where they come from the host, so that there is a next piece to send.
MOST_PAIRS, MOST_SENT = 1 << 20, 1 << 18
#: Candidates, hits, and patches of a pair for which there is room where nothing is known; of how many patches
#: a joined mesh is, for the scratch of the screen; nodes of a set of b05.
FIRST = {"candidates": 12.0, "hits": 4.0, "patches": 16.0}
FIRST_PATCHES, FIRST_NODES = 8, 256
#: The least for which there is room, if it is there; else.
LEAST, LITTLE = 4096, 64
#: The share of the memory limit that the scratch of all groups may take: of the screen, and of f03 and b05.
SCRATCH_SHARE, OTHER_SHARE = 4, 8
#: Bytes of all buffers for each pair (beside its screw), candidate, hit, and row of the list of patches; how
#: many more for a pair in single precision, and one that may look at near faces.
PAIR_BYTES, CANDIDATE_BYTES, HIT_BYTES, PATCH_BYTES = 200, 36, 220, 80
SINGLE_BYTES, NEAR_BYTES = 140, 440
#: Kinds of queries for which the guesses are kept on a backend.
MOST_KINDS = 64
#: What is guessed for each pair; the rest is for a group.
EACH = ("candidates", "hits", "patches", *JOINED)


def serves(backend, bodies, heights):
    """Can pairs of these bodies be answered so? `heights`: heights of rows may be asked for, of which there
    is a table."""
    few = len(bodies.meshes) ** 2 <= MOST_HEIGHTS
    return backend.kind == "cuda" and len(bodies) > 0 and (few or not heights)


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
    begun = time.perf_counter()
    table = _heights(work, heights)
    inputs = Inputs(work, bodies, pairs)
    work.run.spent("prepare", begun)
    here, done, invalid = isinstance(pairs, np.ndarray), found.pairs, 0
    common = _Block(work, inputs, table, heights is not None, _guess(work, heights is not None), done, stay)

    def take(common, at, stop):
        nonlocal invalid
        piece, wrong, invalid = _piece(common, at, stop)
        if wrong:
            given: Any = inputs.given  # nobody else has looked at them
            check_pairs(work.run.backend.to_host(given.rows), len(bodies))  # raises, and names them
            raise AssertionError("a pair is wrong for the kernel and right for the host")
        found.add_piece(*piece)

    def otherwise(at, stop):
        take(common._replace(guess=_guess(work, common.rows)), at, stop)

    some = otherways.tried(work, partial(take, common), otherwise)
    passed_on = None if progress is None else lambda stop: progress(done + stop, total)
    refused = lambda at, need: refusal(done + at, need)  # noqa: E731
    try:
        work.run.room.pieces(len(pairs), _size(common, here), some, None, refused, passed_on)
    finally:
        inputs.end()
    found.add_block(pairs if here and not stay else inputs.pairs, None)
    return invalid


class _Block(NamedTuple):
    """What all pieces of a block have in common.

    Attributes
    ----------
    work : Work
    inputs : Inputs
    height : buffer
        Height of a row for each two meshes; one number if nobody asks.
    rows : bool
        Are heights of rows asked for?
    guess : dict of str to float
    done : int
        Pairs of the blocks before.
    stay : bool
    """

    work: Any
    inputs: Any
    height: Any
    rows: bool
    guess: dict
    done: int
    stay: bool


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
    o, tables, prepared = work.options, work.prepared.tables, work.prepared
    kept = work.run.backend.kept.setdefault("guesses", {})
    key = (o.precision, o.candidates, o.filters, o.min_properness, o.refine, o.resolution, o.pixel_size,
           prepared.near.tobytes(), prepared.walked, prepared.hulls, *tables.largest.tolist())  # fmt: skip
    if key not in kept:
        while len(kept) >= MOST_KINDS:
            kept.pop(next(iter(kept)))
        kept[key] = _first(tables, prepared, rows, _near(work))
    return kept[key]


def _near(work):
    """May a pair look at near faces only? As the chain asks: a wide mesh does so beside small ones alone."""
    return lots_for(work.run, work.prepared, work.options).near


def _first(tables, prepared, rows, near):
    """What is guessed where nothing is known."""
    always = prepared.near & int(sources.constants()["GC_LOOK_NEAR"]) > 0
    whole = tables.counts[~always]  # with some mesh they make a pair that looks at all of them
    largest = whole.max(axis=0) if len(whole) else np.zeros(3, np.int64)
    guess = dict(FIRST)
    if near:
        nv, ne, nf, corners, *around = tables.part_sizes[len(tables.counts) :].mean(axis=0)
        each = (nv, ne, nf, 4 * nv + 5 * ne + 3 * nf + 2 * corners + sum(around) + 4)
        guess |= {name: FIRST["patches"] * n for name, n in zip(JOINED, each, strict=True)}
        guess["nodes"] = FIRST_NODES
        patches = FIRST_PATCHES * tables.part_sizes[len(tables.counts) :, :3].max(axis=0)
        largest = np.maximum(largest, np.minimum(patches, tables.largest))
    else:
        del guess["patches"]
    if prepared.walked:
        largest = prepared.largest
    guess["reals"], guess["ints"] = scratch_guess(largest, rows)
    return guess


def _size(block, here):
    """Pairs a piece: what fits the memory limit."""
    run, guess = block.work.run, block.guess
    each = _pair_bytes(block) + sum(n * guess[name] for name, n in _entry_bytes(block).items())
    shares = 1 / SCRATCH_SHARE + len(_others(block, MOST_PAIRS)) / OTHER_SHARE
    held = int(run.room.max_bytes * shares)
    return max(1, min(MOST_SENT if here else MOST_PAIRS, int(run.room.fits(int(each) + 1, held=held))))


def _pair_bytes(block):
    run = block.work.run
    nbytes = int(run.c["GC_SCREW_STRIDE"]) * run.real.itemsize + PAIR_BYTES
    return nbytes + SINGLE_BYTES * block.inputs.single + NEAR_BYTES * _near(block.work)


def _entry_bytes(block):
    """Bytes of an entry of each list of which there is room for so many a pair."""
    found = {"candidates": CANDIDATE_BYTES, "hits": HIT_BYTES}
    if _near(block.work):
        raster = block.work.run.raster.itemsize
        found |= {"patches": PATCH_BYTES} | {name: width * raster or 4 for name, width in JOINED.items()}
    return found


def _others(block, n):
    """Groups of f03 and of b05, with what a group takes, as far as they are launched."""
    run, found = block.work.run, {}
    if "plane" in block.work.options.filters:
        tables, size = block.work.prepared.tables, run.backend.group_size
        groups = plane_groups(run, tables, n, OTHER_SHARE)
        found["planes"] = groups, plane_reals(run, tables) * run.raster.itemsize + 8 * size
    if _near(block.work):
        group = node_bytes(run, block.guess["nodes"])
        most = run.room.fits(group, share=OTHER_SHARE)
        found["node_groups"] = max(1, min(run.backend.max_groups, n, most)), group
    if block.work.prepared.walked:
        group = first.group_bytes(run)
        most = run.room.fits(group, share=OTHER_SHARE)
        found["first_groups"] = max(1, min(run.backend.max_groups, n, most)), group
    if block.work.prepared.hulls:
        group = hulls.group_bytes(run)
        most = run.room.fits(group, share=OTHER_SHARE)
        found["hull_groups"] = max(1, min(run.backend.max_groups, n, most)), group
    return found


def _room(block, n):
    """What there is room for, as a `Chain` takes it."""
    run, guess, each = block.work.run, block.guess, _entry_bytes(block)
    group = guess["reals"] * run.raster.itemsize + guess["ints"] * 4
    groups = max(1, min(run.backend.max_groups, n, run.room.fits(group, share=SCRATCH_SHARE)))
    others = _others(block, n)
    held = groups * group + n * _pair_bytes(block) + sum(k * size for k, size in others.values())
    for least in (LEAST, LITTLE):  # much for a few pairs, if there is room
        room = {name: max(least, int(n * guess[name])) for name in each}
        room |= {name: guess[name] for name in guess if name not in each}
        need = held + sum(room[name] * size for name, size in each.items())
        if need <= run.room.max_bytes and 4 * max(room.values()) <= MOST_INDEX:
            others = {name: k for name, (k, _) in others.items()}
            return {"planes": 0, "groups": groups} | room | others
    raise TooLarge(need)


def _piece(block, at, stop):
    """All launches for the pairs from `at` to `stop`, and one look at the counts."""
    (work, inputs, *_), n = block, stop - at
    run, be, options = work.run, work.run.backend, work.options
    _room(block, n)  # before anything is made
    buffers, items, todo, poses = _taken_over(block, at, stop)
    while True:
        chain = Chain(run, options, work.prepared.tables, n, dict(buffers), items, todo, _room(block, n),
                      lots_for(run, work.prepared, options), first=block.done + at,
                      walked=work.prepared.walked, hulls=work.prepared.hulls)  # fmt: skip
        chain.sequence.run()
        inputs.ahead(stop, stop + n)
        counts = _counts(be, chain, inputs, n, options.report)
        for name, seconds in chain.sequence.seconds().items():
            run.timings[name] = run.timings.get(name, 0.0) + seconds
        if counts["wrong"]:
            return None, counts["wrong"], 0
        lacks = chain.lacking(counts)
        _learn(block.guess, lacks, counts, n)
        if not lacks:
            break
    _report(work, chain, counts, n)
    total = counts["contacts"]
    out = {name: buffer[:total] for name, buffer in chain.out.items()}
    if inputs.single and total:
        numbers = out["pair"] - np.int32(block.done + at)
        out["position"] = out["position"] + inputs.origins(poses, at, stop, numbers)
    return _taken(be, chain, total, out, block.stay), 0, counts["invalid"]


def _taken_over(block, at, stop):
    """Buffers of the poses and of what is known of each pair, items, numbers of the pairs, and the poses as
    they came (in single precision each pair gets its own)."""
    (work, inputs, height, rows, *_), n = block, stop - at
    run, be = work.run, work.run.backend
    poses, given = inputs.piece(at, stop)
    pairs = inputs.pairs[at:stop].reshape(-1)
    made = {
        "pairs_out": pairs, "items_out": be.empty(3 * n, np.int32), "todo_out": be.empty(n, np.int32),
        "row_height_out": be.empty(n, run.real), "wrong_out": inputs.wrong,
    }  # fmt: skip
    run.launch_ahead(
        "g02_pairs", n, poses, made, n_pairs=n, n_bodies=poses["valid_in"].size,
        n_meshes=len(work.prepared.meshes), rows=int(rows), given_in=given, height_in=height,
    )  # fmt: skip
    buffers = inputs.apart(poses, pairs) if inputs.single else poses | {"pairs_in": pairs}
    buffers = buffers | {"row_height_in": made["row_height_out"]}
    return buffers, made["items_out"], made["todo_out"], poses


def _counts(be, chain, inputs, n, report):
    """All that the host wants to know of a run, by name; this is what it waits for."""
    asked = chain.counted() | {("contacts",): chain.start[n:], ("wrong", "invalid"): inputs.wrong}
    if report:
        asked |= {(f"left by {name}",): left for name, left in chain.left.items()}
        asked[("pairs hit",)] = (chain.toi <= 1.5).sum().reshape(1)
        if chain.lots.near:
            asked[("pairs close",)] = chain.n_near
    names = [name for names in asked for name in names]
    numbers = [n for numbers in be.numbers(*asked.values()) for n in numbers]
    return chain.told(dict(zip(names, numbers, strict=True)))


def _report(work, chain, counts, n):
    """Add what each test settled, and what it took, if that is to be told."""
    if work.report is None:
        return
    seconds, left = chain.sequence.seconds(), n
    for name in work.options.filters:
        if not left:
            break
        passed = counts.get(f"left by {name}", left)
        work.report.add(name, left, left - passed, seconds.get(FILTERS[name], 0.0))
        left = passed
    close = counts.get("pairs close", 0)
    if close:
        took = sum(spent for name, spent in seconds.items() if name.startswith(("b05", "b06", "g05")))
        work.report.add("near features", close, close - counts["pairs near"], took)
    work.narrow += left - close + counts.get("pairs near", 0)
    work.hits += counts["pairs hit"]


def _learn(guess, lacks, counts, n):
    """Guess as much as was needed, and some to spare."""
    spare = SPARE if lacks else SPARE_NEXT
    for name in guess:
        if name in EACH and (name in lacks or not lacks):  # behind what was too short all counts are too low
            guess[name] = spare * lacks.get(name, counts[name]) / n + (64 / n if lacks else 0.0)
        elif name in lacks:
            guess[name] = int(SPARE * lacks[name]) + 64


def _taken(be, chain, total, out, stay):
    """Status and time of the pairs, where their contacts begin, how many there are, and their fields."""
    out = {name: buffer.reshape(-1) for name, buffer in out.items()}
    if stay:  # in buffers of their own size: those of the chain have room to spare
        return chain.status, chain.toi, chain.start, total, {k: v.copy() for k, v in out.items()}
    status, toi, start, *fields = be.to_hosts([chain.status, chain.toi, chain.start, *out.values()])
    return status, toi, start, total, dict(zip(FIELDS, fields, strict=True))
