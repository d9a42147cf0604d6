"""Pairs whose bodies move each on its own, cut into pieces for all that culls.

A piece has its own screw, padded by how far B may be off it; filters, near faces and the screen work on
pieces as on pairs (docs/decisions/0108). What they propose is solved for the motions themselves.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide._options import Distances
from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.executor import Span, WorkList
from gpu_collide.pipeline.narrow_phase.immediate import reads

if TYPE_CHECKING:
    from gpu_collide._options import Options
    from gpu_collide._types import Array, Buffer
    from gpu_collide.pipeline.launch.launcher import Launcher
    from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor
    from gpu_collide.pipeline.narrow_phase.plan import Plan

__all__ = ["cut", "distances_of", "propose_for_pairs", "settle_pairs", "with_plan"]


def distances_of(
    run: Launcher, options: Options, n: int, of_pairs: Array | None = None, at: int = 0
) -> Buffer:
    """What s01_bodies reads of `n` pairs: from which distance on each is in contact, those `of_pairs` from
    number `at` on, or that of the options; 0 if each has its own, and they are not given."""
    if of_pairs is not None:
        return run.to_device(of_pairs[at : at + n], run.real)
    told = options.target_distance
    return run.backend.fill(run.backend.empty(n, run.real), 0.0 if told is Distances.EACH else told)


def cut(x: Executor, beyond: bool = False) -> Executor:
    """s01_bodies: the motions of every pair, its state, and its pieces; an executor with those for pairs.
    `beyond`: contact is touch, and the distances are those beyond which nobody asks."""
    options = x.plan.options
    given = {
        "motion_out": x.buffers["screw_out"], "settled_out": x.buffers["state_out"],
        "relative": int(options.motion == "relative"), "closed": int(x.plan.closed),
        "apart": int(x.plan.some_touch), "beyond": int(beyond),
    }  # fmt: skip
    if "distance_in" not in x.buffers:  # they touch
        x.buffers["distance_in"] = x.zeros(x.pairs.most, x.run.real)
    x.buffers["when_out"] = x.empty(x.pairs.most, x.run.real)
    x.buffers["touching_out"] = x.empty(x.pairs.most if x.plan.some_touch else 1, np.uint8)
    if "spins_in" not in x.buffers:  # nobody spins
        n = x.buffers["valid_in"].size
        x.buffers |= {"spins_in": x.zeros(n, np.uint8), "spin_in": x.zeros(9, x.run.real)}

    def emit(found: Entries) -> None:
        x.launch("s01_bodies", x.pairs, found.out, given)

    return _executor_of(x, x.fill("pieces", scratch.PIECES, x.pairs.most, emit))


def with_plan(x: Executor, plan: Plan) -> Executor:
    """One that shares all with `x` but the plan."""
    y: Any = copy.copy(x)
    y.plan = plan
    return y


def _executor_of(x: Executor, pieces: Entries) -> Executor:
    """One that shares all with `x` but what it works on."""
    y: Any = with_plan(x, x.plan.of_pieces)
    columns, most = pieces.columns, pieces.most
    y.pairs = Span(pieces.n, most)
    y.buffers = x.buffers | pieces.given
    y.buffers |= {f"{name}_out": columns[name] for name in ("screw", "state")}
    y.items = columns["items"]
    y.todo = WorkList(columns["todo"], pieces.n, most)
    if reads(y):
        y.pairs = Span(pieces.n, pieces.n)
        y.shapes = y.shapes[x.run.backend.to_host(columns["piece"])[: pieces.n]]
        y.todo = y.listed(np.arange(pieces.n, dtype=np.int32))
    return y


def settle_pairs(x: Executor, y: Executor) -> None:
    """s01_gather: that a piece overlaps, or is not resolved, goes to its pair."""
    x.launch("s01_gather", y.todo, y.buffers, settled_out=x.buffers["state_out"])
    x.take_back(y)


def propose_for_pairs(x: Executor, y: Executor, lists: list[Entries]) -> None:
    """s01_candidates: candidates of pieces become candidates of their pairs."""
    for found in lists:
        x.launch_listed("s01_candidates", found, found.out, y.buffers)
