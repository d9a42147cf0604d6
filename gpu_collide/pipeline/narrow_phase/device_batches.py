"""The narrow phase on data that stay on a GPU: poses and pairs are used in place, all launches of a batch
are enqueued as one `Recorded`, and the host waits once, for the counts.

What the host does for each pair elsewhere (checks, items, heights of rows, lists of what is left) kernels do
here (``kernels/upload``). The bits are those of `gpu_collide.pipeline.narrow_phase.query`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_collide._validate import check_pairs
from gpu_collide.backends import sources
from gpu_collide.pipeline.launch.async_upload import Given, Inputs
from gpu_collide.pipeline.launch.launcher import MOST_INDEX, SPARE, SPARE_NEXT, TooLarge
from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.contacts import FIELDS
from gpu_collide.pipeline.narrow_phase.executor import Span
from gpu_collide.pipeline.narrow_phase.pieces import distances_of
from gpu_collide.pipeline.narrow_phase.plan import FILTERS
from gpu_collide.pipeline.narrow_phase.recorded import Recorded

if TYPE_CHECKING:
    from gpu_collide._types import Array, Buffer, Progress
    from gpu_collide.backends.base import Backend
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.pipeline.narrow_phase.assemble import Assembler
    from gpu_collide.pipeline.narrow_phase.contacts import Written
    from gpu_collide.pipeline.narrow_phase.context import Query
    from gpu_collide.pipeline.narrow_phase.plan import Plan

__all__ = ["Given", "block", "serves"]

#: Combinations of two meshes for which heights of rows are made.
MOST_HEIGHTS = 1 << 16
#: Pairs of a piece at most; and where they come from the host, so that there is a next piece to send.
MOST_PAIRS, MOST_SENT = 1 << 20, 1 << 18
#: Candidates, hits, and patches of a pair for which there is room where nothing is known; of how many patches
#: a joined mesh is, for the scratch of the screen; nodes of a set of b05.
FIRST = {"candidates": 12.0, "hits": 4.0, "patches": 16.0, "pieces": 2.0}
FIRST_PATCHES, FIRST_NODES = 8, 256
#: The least for which there is room, if it is there; else.
LEAST, LITTLE = 4096, 64
#: The share of the memory limit that the scratch of all groups may take: of the screen, and of others.
SCRATCH_SHARE, OTHER_SHARE = 4, 8
#: Bytes of all buffers for each pair (beside its screw), candidate, hit, and row of the list of patches; how
#: many more for a pair in single precision, and one that may look at near faces.
PAIR_BYTES, CANDIDATE_BYTES, HIT_BYTES, PATCH_BYTES = 200, 36, 220, 80
SINGLE_BYTES, NEAR_BYTES = 140, 440
#: Kinds of queries for which the guesses are kept on a backend.
MOST_KINDS = 64
#: What is guessed for each pair; the rest is for a group.
EACH = ("candidates", "hits", "patches", "pieces", *scratch.JOINED)


def serves(backend: Backend, bodies: Bodies, heights: bool) -> bool:
    """Can pairs of these bodies be answered so? `heights`: heights of rows may be asked for, of which there
    is a table."""
    few = len(bodies.meshes) ** 2 <= MOST_HEIGHTS
    return backend.kind == "cuda" and len(bodies) > 0 and (few or not heights)


def block(
    query: Query,
    bodies: Bodies,
    pairs: Any,
    found: Assembler,
    total: int,
    stay: bool,
    progress: Progress | None = None,
    distances: Array | None = None,
) -> None:
    """All stages for a block of pairs.

    Parameters
    ----------
    query : Query
        Is told how many pairs have a body without poses, of which nobody was warned.
    bodies : Bodies
    pairs : Given, or (p, 2) int32 array of pairs that need no check, on the host or on the device
    found : Assembler
    total : int
        Of pairs in all blocks, for `progress`.
    stay : bool
        What is found stays on the device.
    progress : callable, optional
    distances : (p,) float64 array, optional
        At which the bodies of each pair are in contact; default: that of the options.

    Raises
    ------
    ValueError
        A row of `pairs` is no pair.
    """
    begun, plan = time.perf_counter(), query.prepared.plan
    table, rows = _heights(query, bodies.meshes)
    inputs = Inputs(query, bodies, pairs)
    query.run.spent("prepare", begun)
    here, done = isinstance(pairs, np.ndarray), found.pairs
    common = _Block(query, inputs, table, rows, done, stay, distances)
    query.invalid = query.invalid or 0

    def take(plan: Plan, at: int, stop: int) -> None:
        written, wrong, invalid = _piece(common, plan, at, stop)
        if written is None:
            given: Any = inputs.given  # nobody else has looked at them
            check_pairs(query.run.backend.to_host(given.rows), len(bodies))  # raises, and names them
            raise AssertionError("a pair is wrong for the kernel and right for the host")
        query.invalid = (query.invalid or 0) + invalid
        found.add_piece(written)

    passed_on = None if progress is None else lambda stop: progress(done + stop, total)

    def refusal(at: int, need: int) -> str:
        return query.refusal(done + at, need, plan.any_near)

    try:
        some = query.with_alternatives(take)
        query.run.room.pieces(len(pairs), _size(common, here), some, None, refusal, passed_on)
    finally:
        inputs.end()
    found.add_block(pairs if here and not stay else inputs.pairs, None)


class _Block(NamedTuple):
    """What all pieces of a block have in common.

    Attributes
    ----------
    query : Query
    inputs : Inputs
    height : buffer
        Height of a row for each two meshes; one number if nobody asks.
    rows : bool
        Are heights of rows asked for?
    done : int
        Pairs of the blocks before.
    stay : bool
    distances : (p,) float64 array or None
        Those of its pairs.
    """

    query: Query
    inputs: Any
    height: Buffer
    rows: bool
    done: int
    stay: bool
    distances: Array | None


def _heights(query: Query, meshes: Any) -> tuple[Buffer, bool]:
    """The table of heights of rows on the device, kept with the tables of the meshes; are there any?"""
    run, prepared, plan, m = query.run, query.prepared, query.prepared.plan, len(meshes)
    if not plan.asks_heights:
        return run.backend.zeros(1, run.real), False
    every = np.stack(np.divmod(np.arange(m * m, dtype=np.int32), m), axis=1)
    made, key = prepared.tables.made, ("heights", plan.options.resolution, plan.options.pixel_size)
    if key not in made:
        made[key] = run.to_device(prepared.row_heights(meshes, every), run.real)
    return made[key], True


def _guess(block: _Block, plan: Plan) -> dict[str, float]:
    """How much pairs took in the calls before, by name; kept on the backend for queries of a kind."""
    o, run = plan.options, block.query.run
    kept = run.backend.kept.setdefault("guesses", {})
    key = (o.precision, o.motion, plan.pieces, o.candidates, o.filters, o.min_properness, o.refine,
           o.resolution, o.pixel_size,
           plan.near.tobytes(), plan.walked, plan.hulls, *plan.counts.max(axis=0).tolist())  # fmt: skip
    if key not in kept:
        while len(kept) >= MOST_KINDS:
            kept.pop(next(iter(kept)))
        kept[key] = _first(block, plan)
    return kept[key]


def _near(plan: Plan) -> bool:
    """May a pair look at near faces only? A wide mesh does so beside small ones alone."""
    return "near" in plan.classes.kinds


def _first(block: _Block, plan: Plan) -> dict[str, float]:
    """What is guessed where nothing is known."""
    tables = block.query.prepared.tables
    always = plan.near & int(sources.constants()["GC_LOOK_NEAR"]) > 0
    whole = plan.counts[~always]  # with some mesh they make a pair that looks at all of them
    largest = whole.max(axis=0) if len(whole) else np.zeros(3, np.int64)
    guess = dict(FIRST)
    if _near(plan):
        parts = tables.part_sizes[len(plan.counts) :]
        nv, ne, nf, corners, *around = parts.mean(axis=0)
        each = (nv, ne, nf, 4 * nv + 5 * ne + 3 * nf + 2 * corners + sum(around) + 4)
        guess |= {name: FIRST["patches"] * n for name, n in zip(scratch.JOINED, each, strict=True)}
        guess["nodes"] = FIRST_NODES
        patches = FIRST_PATCHES * parts[:, :3].max(axis=0)
        largest = np.maximum(largest, np.minimum(patches, plan.counts.max(axis=0)))
    else:
        del guess["patches"]
    if not plan.pieces:
        del guess["pieces"]
    guess["reals"], guess["ints"] = scratch.screen(plan.largest if plan.walked else largest, block.rows)
    return guess


def _size(block: _Block, here: bool) -> int:
    """Pairs a piece: what fits the memory limit."""
    run, plan = block.query.run, block.query.prepared.plan
    guess = _guess(block, plan)
    each = _pair_bytes(block, plan) + sum(n * guess[name] for name, n in _entry_bytes(run, plan).items())
    shares = 1 / SCRATCH_SHARE + len(_others(block, plan, guess, MOST_PAIRS)) / OTHER_SHARE
    held = int(run.room.max_bytes * shares)
    return max(1, min(MOST_SENT if here else MOST_PAIRS, int(run.room.fits(int(each) + 1, held=held))))


def _pair_bytes(block: _Block, plan: Plan) -> int:
    run = block.query.run
    nbytes = int(run.c["GC_SCREW_STRIDE"]) * run.real.itemsize + PAIR_BYTES
    return nbytes + SINGLE_BYTES * block.inputs.single + NEAR_BYTES * _near(plan)


def _entry_bytes(run: Any, plan: Plan) -> dict[str, int]:
    """Bytes of an entry of each list of which there is room for so many a pair."""
    found = {"candidates": CANDIDATE_BYTES, "hits": HIT_BYTES}
    if plan.pieces:
        found["pieces"] = scratch.PIECES.nbytes(run)
    if _near(plan):
        joined = {name: width * run.raster.itemsize or 4 for name, width in scratch.JOINED.items()}
        found |= {"patches": PATCH_BYTES} | joined
    return found


def _others(block: _Block, plan: Plan, guess: dict[str, float], n: int) -> dict[str, tuple[int, int]]:
    """Groups with scratch beside those of the screen, with what a group takes, as far as they are
    launched."""
    run = block.query.run
    sizes: dict[str, tuple[int, int]] = {}
    if "plane" in plan.options.filters:
        sizes["plane_groups"] = scratch.plane(run, plan)
    if _near(plan):
        sizes["node_groups"] = scratch.near(int(guess["nodes"]))
    if plan.walked:
        sizes["first_groups"] = scratch.walk(run, plan)[:2]
    if plan.hulls:
        sizes["hull_groups"] = scratch.hulls(run)
    found = {}
    for name, size in sizes.items():
        group = scratch.group_bytes(run, size)
        groups = min(run.backend.max_groups, n, run.room.fits(group, share=OTHER_SHARE))
        if name == "plane_groups":  # a test that may be left out
            groups = groups if size[0] <= MOST_INDEX else 0
        else:
            groups = max(1, groups)
        found[name] = groups, group
    return found


def _room(block: _Block, plan: Plan, guess: dict[str, float], n: int) -> dict[str, int]:
    """What there is room for, as a `Recorded` takes it."""
    run, each = block.query.run, _entry_bytes(block.query.run, plan)
    group = scratch.group_bytes(run, (int(guess["reals"]), int(guess["ints"])))
    groups = max(1, min(run.backend.max_groups, n, run.room.fits(group, share=SCRATCH_SHARE)))
    others = _others(block, plan, guess, n)
    held = groups * group + n * _pair_bytes(block, plan) + sum(k * size for k, size in others.values())
    for least in (LEAST, LITTLE):  # much for a few pairs, if there is room
        room = {name: max(least, int(n * guess[name])) for name in each}
        room |= {name: int(guess[name]) for name in guess if name not in each}
        need = held + sum(room[name] * size for name, size in each.items())
        if need <= run.room.max_bytes and 4 * max(room.values()) <= MOST_INDEX:
            return {"screen_groups": groups} | room | {name: k for name, (k, _) in others.items()}
    raise TooLarge(need)


def _piece(block: _Block, plan: Plan, at: int, stop: int) -> tuple[Written | None, int, int]:
    """All launches for the pairs from `at` to `stop`, and one look at the counts: what was written, rows that
    are no pair (then nothing), and pairs with a body without poses."""
    query, inputs, n, guess = block.query, block.inputs, stop - at, _guess(block, plan)
    run, prepared = query.run, query.prepared
    _room(block, plan, guess, n)  # before anything is made
    buffers, items, todo, poses = _taken_over(block, at, stop)
    while True:
        x = Recorded(run, plan, prepared.tables, Span(n, n), buffers, items, todo,
                     _room(block, plan, guess, n), first=block.done + at)  # fmt: skip
        x.sequence.run()
        inputs.ahead(stop, stop + n)
        counts = _counts(x, inputs, plan.options.report)
        seconds = x.sequence.seconds()
        for name, spent in seconds.items():
            run.timings[name] = run.timings.get(name, 0.0) + spent
        if counts["wrong"]:
            return None, counts["wrong"], 0
        lacks = x.lacking(counts)
        _learn(guess, lacks, counts, n)
        if not lacks:
            break
    _report(query, plan, counts, seconds, n)
    total, written = counts["contacts"], x.written
    out = {name: buffer[:total] for name, buffer in written.out.items()}
    if inputs.single and total:
        numbers = out["pair"] - np.int32(block.done + at)
        out["position"] = out["position"] + inputs.origins(poses, at, stop, numbers)
    return _taken(run.backend, written, total, out, block.stay), 0, counts["invalid"]


def _taken_over(block: _Block, at: int, stop: int) -> tuple[dict, Buffer, Buffer, dict]:
    """Buffers of the poses and of what is known of each pair, items, numbers of the pairs, and the poses as
    they came (in single precision each pair gets its own)."""
    query, inputs, n = block.query, block.inputs, stop - at
    run, be, plan = query.run, query.run.backend, query.prepared.plan
    poses, given = inputs.piece(at, stop)
    pairs = inputs.pairs[at:stop].reshape(-1)
    made = {
        "pairs_out": pairs, "items_out": be.empty(3 * n, np.int32), "todo_out": be.empty(n, np.int32),
        "row_height_out": be.empty(n, run.real), "wrong_out": inputs.wrong,
    }  # fmt: skip
    run.launch_ahead(
        "g02_pairs", n, poses, made, n_pairs=n, n_bodies=poses["valid_in"].size,
        n_meshes=len(plan.counts), rows=int(block.rows), given_in=given,
        height_in=block.height,
    )  # fmt: skip
    buffers = inputs.apart(poses, pairs) if inputs.single else poses | {"pairs_in": pairs}
    buffers = buffers | {"row_height_in": made["row_height_out"]}
    if plan.at_distance:
        buffers["distance_in"] = distances_of(run, plan.options, n, block.distances, at)
    return buffers, made["items_out"], made["todo_out"], poses


def _counts(x: Recorded, inputs: Any, report: bool) -> dict[str, int]:
    """All that the host wants to know of a run, by name; this is what it waits for."""
    w = x.written
    asked = {("contacts",): w.start[x.pairs.most :], ("wrong", "invalid"): inputs.wrong}
    if report:
        asked |= {(f"left by {name}",): left for name, left in x.left.items()}
        asked[("pairs hit",)] = (w.toi <= 1.5).sum().reshape(1)
    return x.counts(asked)


def _report(query: Query, plan: Plan, counts: dict[str, int], seconds: dict[str, float], n: int) -> None:
    """Add what each test settled, and what it took, if that is to be told."""
    if query.report is None:
        return
    left = n
    for name in plan.options.filters:
        if not left:
            break
        passed = counts.get(f"left by {name}", left)
        query.report.add(name, left, left - passed, seconds.get(FILTERS[name], 0.0))
        left = passed
    close = counts.get("left by near features", 0)
    if close:
        took = sum(spent for name, spent in seconds.items() if name.startswith(("b05", "b06", "g05")))
        query.report.add("near features", close, close - counts["pairs near"], took)
    query.narrow += left - close + counts.get("pairs near", 0)
    query.hits += counts["pairs hit"]


def _learn(guess: dict[str, float], lacks: dict[str, int], counts: dict[str, int], n: int) -> None:
    """Guess as much as was needed, and some to spare."""
    spare = SPARE if lacks else SPARE_NEXT
    for name in guess:
        if name in EACH and (name in lacks or not lacks):  # behind what was too short all counts are too low
            guess[name] = spare * lacks.get(name, counts[name]) / n + (64 / n if lacks else 0.0)
        elif name in lacks:
            guess[name] = int(SPARE * lacks[name]) + 64


def _taken(be: Any, w: Written, total: int, out: dict[str, Any], stay: bool) -> Written:
    """What was written, with contacts in buffers of their own size: on the device, to `stay`, or here."""
    if stay:
        return w._replace(total=total, out={name: buffer.copy() for name, buffer in out.items()})
    status, toi, start, *fields = be.to_hosts([w.status, w.toi, w.start, *out.values()])
    return type(w)(status, toi, start, total, dict(zip(FIELDS, fields, strict=True)))
