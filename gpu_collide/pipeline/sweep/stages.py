"""Launches of casts and characters (stages w01 to w05), each stated once: what it writes, how that is read.

`gpu_collide.pipeline.sweep.casts` and `characters` launch at once, from arrays of the host; `device_queries`
from arrays on a GPU, and waits once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.launch.launcher import TooLarge
from gpu_collide.pipeline.launch.world_query import REAL, Stage

__all__ = [
    "ALL",
    "FIRST",
    "NEAR",
    "SLIDE",
    "ListStage",
    "first_rows",
    "in_lists",
    "looking",
    "ruled",
    "slide_rows",
    "touching",
]

CATCH, CATCH_REAL, NEARBY, NEARBY_REAL, CHARACTER, CHARACTER_REAL = (
    sources.record(name)
    for name in (
        "cast_hit",
        "cast_hit_real",
        "nearby",
        "nearby_real",
        "character_result",
        "character_result_real",
    )
)
#: Queries that are worked off at a time; on a processor as many as its caches hold with their results.
PIECE, PIECE_IN_CACHES = 1 << 20, 1 << 18
#: What `w01_first` tells of each: of all that is told of a touch the time by which they are in order is last.
TOLD = CATCH_REAL["touch"]
CAUGHT = ("body", "face", "number", "sphere")
#: Planes that a character has room for (``GC_CHARACTER_PLANES``: those near it and what it met, each twice),
#: times what is kept of each.
PLANES = 2 * (16 + 1) * 4
#: What `w05_slide` tells in reals, and in ints.
_CHARACTER_REALS = {
    name: CHARACTER_REAL[name] for name in ("position", "velocity", "fall_velocity", "ground_normal")
}
_CHARACTER_INTS = {name: CHARACTER[name] for name in ("status", "ground", "casts")}

FIRST = Stage("w01_first", {
    "feature_out": (1, np.uint8), "caught_out": (len(CAUGHT), np.int32), "told_out": (TOLD, REAL),
})  # fmt: skip
SLIDE = Stage("w05_slide", {
    "told_out": (CHARACTER_REAL.stride, REAL), "walked_out": (CHARACTER.stride, np.int32),
    "planes_scratch": (PLANES, REAL),
})  # fmt: skip


class ListStage(NamedTuple):
    """A launch that counts what each query has, and a second one that fills a list with it.

    Attributes
    ----------
    kernel : str
    out : str
        The argument that takes the ints; the reals go to ``told_out``.
    ints, reals : Record
    names : dict
        Results and the columns of the ints that they are.
    columns : tuple of str
        Results that are columns of the reals.
    order : tuple of str
        Results by which they are in order; of those that are in no result, the last is left out.
    inputs : int
        Reals of a query that come in.
    what : str
        What has no room, of query ``{at}``.
    """

    kernel: str
    out: str
    ints: Any
    reals: Any
    names: dict[str, str]
    columns: tuple[str, ...]
    order: tuple[str, ...]
    inputs: int
    what: str

    def rows(self, xp, ints, reals, n, at, shift):
        """`n` results, ordered, as arrays of `xp`, from flat ones; query 0 is number `at`, places count from
        `shift`."""
        ints, reals = ints.reshape(-1, self.ints.stride)[:n], reals.reshape(-1, self.reals.stride)[:n]
        rows = {name: ints[:, self.ints[column]] for name, column in self.names.items()}
        rows["query"] = rows["query"] + np.int32(at)
        rows |= {name: reals[:, self.reals[name]].astype(np.float64, copy=False) for name in self.columns}
        if len(ints):
            keys = [rows[name] for name in reversed(self.order)]
            order = xp.lexsort(keys if xp is np else xp.stack([key.astype(np.float64) for key in keys]))
            rows = {name: array[order] for name, array in rows.items()}
        rows["point"] = rows["point"] + shift
        rows["feature"] = rows["feature"].astype(np.uint8)
        rows.pop("touch", None)
        return {name: xp.ascontiguousarray(array) for name, array in rows.items()}


ALL = ListStage(
    "w02_all", "caught_out", CATCH, CATCH_REAL,
    {"query": "query", "feature": "kind", "body": "body", "face": "face", "number": "number",
     "sphere": "ball"},
    ("time", "point", "normal", "touch"), ("query", "touch", "feature", "body", "number", "sphere"), 13,
    "all that query {at} touches",
)  # fmt: skip
NEAR = ListStage(
    "w03_planes", "near_out", NEARBY, NEARBY_REAL,
    {"query": "query", "feature": "kind", "body": "body", "face": "face", "number": "number"},
    ("normal", "gap", "point", "body_displacement"), ("query", "gap", "feature", "body", "number"), 10,
    "all that ellipsoid {at} is near",
)  # fmt: skip


def looking(two_sided, rules):
    """Numbers of w01, w02 and w03: what counts. `rules`: of the queries, or None."""
    return {"two_sided": int(two_sided), "ruled": int(rules is not None)}


def touching(two_sided, buffer, rules):
    """Numbers of w01 and w02: how something is touched."""
    return {"buffer": buffer, **looking(two_sided, rules)}


def ruled(casts, part):
    """Rules of some queries, flat, as kernels read them, if they have any."""
    return {} if casts.rules is None else {"rules_in": np.ascontiguousarray(casts.rules[part]).reshape(-1)}


def first_rows(n, feature, caught, told):
    """What `FIRST` wrote of `n` queries, by the names of results; views of the flat arrays."""
    rows = dict(zip(CAUGHT, caught.reshape(len(CAUGHT), n), strict=True))
    told = told.astype(np.float64, copy=False)
    point, normal = told[n:].reshape(2, n, 3)
    return {**rows, "feature": feature, "time": told[:n], "point": point, "normal": normal}


def slide_rows(told, walked):
    """What `SLIDE` wrote, by name."""
    reals, ints = told.reshape(-1, CHARACTER_REAL.stride), walked.reshape(-1, CHARACTER.stride)
    rows = {name: reals[:, columns].astype(np.float64) for name, columns in _CHARACTER_REALS.items()}
    return rows | {name: ints[:, column].copy() for name, column in _CHARACTER_INTS.items()}


def in_lists(x, world, stage, n, queries, numbers, beside=0):
    """All that each of `n` queries has, counted, then filled.

    Parameters
    ----------
    x : CastQuery or DeviceQueries
        Launches, and knows how many there are.
    world : CastWorld
    stage : ListStage
    queries : callable
        ``queries(at, stop)``: arguments of some queries, and the state of each (0: it is swept) or None.
    numbers : dict
    beside : int
        Bytes of a query that `x` takes besides.

    Returns
    -------
    list of (dict, buffer, buffer, buffer or None)
        Of each piece: results, how many each query has, their sums, states.
    """
    run, be, found = x.run, x.run.backend, []
    real = run.real
    each = stage.inputs * real.itemsize + 20 + beside
    row = (1 + bool(beside)) * (stage.ints.stride * 4 + stage.reals.stride * real.itemsize)

    def some(at, stop):
        k = stop - at
        bound, state = queries(at, stop)

        def launch(fill, begin, size):
            count, ints = be.empty(k, np.int32), be.empty(max(size, 1) * stage.ints.stride, np.int32)
            reals = be.empty(max(size, 1) * stage.reals.stride, real)
            if size or not fill:
                x.launch(fill, stage.kernel + world.variant, k, bound, world.buffers, numbers, n=k, fill=fill,
                         begin_in=begin, count_out=count, told_out=reals, **{stage.out: ints})  # fmt: skip
            return count, ints, reals

        count, *_ = launch(0, be.zeros(k + 1, np.int64), 0)
        if state is not None:
            count = count * (state == 0)  # nothing is said of the others
        begin = be.exclusive_scan(count)
        total = x.total(begin)
        if total * max(stage.ints.stride, stage.reals.stride) >= 2**31 or total * row > run.room.fits(
            1, held=k * each
        ):
            raise TooLarge(k * each + total * row)
        _, ints, reals = launch(1, begin, total)
        found.append((x.listed(stage, world, ints, reals, total, at), count, begin, state))

    def refusal(at, need):
        return (
            f"max_bytes: expected room for {stage.what.format(at=at)}, {need} bytes, got "
            f"{run.room.max_bytes} beside the world; pass a larger max_bytes"
        )

    run.room.pieces(n, min(max(1, run.room.fits(2 * each)), PIECE), some, refusal=refusal)
    return found
