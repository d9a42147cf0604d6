"""The narrow phase in its order: motion, filters, hulls, near faces, candidates, overlap, hits, contacts.

Each launch is stated once, here and in the modules that this one calls; an `Executor` runs it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.candidates import between_hulls, not_apart, search
from gpu_collide.pipeline.narrow_phase.contacts import solve, write
from gpu_collide.pipeline.narrow_phase.immediate import reads
from gpu_collide.pipeline.narrow_phase.near_faces import lots_of
from gpu_collide.pipeline.narrow_phase.pieces import cut, propose_for_pairs, settle_pairs, with_plan
from gpu_collide.pipeline.narrow_phase.plan import FILTERS

if TYPE_CHECKING:
    from gpu_collide._types import Array, Buffer
    from gpu_collide.pipeline.narrow_phase.contacts import Written
    from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, WorkList
    from gpu_collide.pipeline.narrow_phase.immediate import Immediate

__all__ = ["filter_pairs", "find_motion", "find_near", "mark_overlaps", "narrow_phase"]


def narrow_phase(x: Executor) -> Written:
    """All stages for the pairs of an executor."""
    if x.plan.pieces:
        return _of_pieces(x)
    find_motion(x)  # s01
    left, lists = _propose(x, x.todo)
    return write(x, solve(x, left, lists))  # screen_first, s07, s08


def _propose(x: Executor, pairs: WorkList) -> tuple[WorkList, list[Entries]]:
    """Candidates of pairs each on one screw, and which overlap at the start; those of them that are left for
    a search down both trees."""
    plan, lists = x.plan, []
    todo = left = filter_pairs(x, pairs)  # f01 to f03
    if plan.hulls:
        left, found = between_hulls(x, todo)  # screen_hulls
        lists.append(found)
    lots = lots_of(x, left, plan.classes)  # b05, b06
    lists.append(search(x, lots, plan.walk_limit))  # s02 to s06
    if plan.options.check_start:
        # the filters settle only what a gap divides all the time: their pairs do not overlap at the start
        start = x.empty(x.pairs.most, x.run.real)
        mark_overlaps(x, todo, x.run.backend.fill(start, -0.5))  # s09
    if reads(x):
        x.narrow += sum(lot.todo.n for lot in lots) + todo.n - left.n
    return left, lists


def _of_pieces(x: Executor) -> Written:
    """The same where each body has its own motion: pieces are culled, pairs are solved."""
    y, left = cut(x), x.todo  # s01_bodies
    todo = filter_pairs(y, y.todo)
    lots = lots_of(y, todo, y.plan.classes)
    lists = [search(y, lots, 0)]
    if reads(y):
        y.narrow += sum(lot.todo.n for lot in lots)
    settle_pairs(x, y)
    if x.plan.options.check_start:
        mark_overlaps(x, x.todo, x.buffers["when_out"])
    propose_for_pairs(x, y, lists)
    if x.plan.at_distance and x.plan.options.check_start:
        for found in lists:
            x.launch(x.plan.solver("s07_start"), found)
    if x.plan.some_touch:
        z = with_plan(x, x.plan.of_touching)
        left, more = _propose(z, z.select(z.todo, z.buffers["touching_out"]))
        x.take_back(z)
        lists += more
    return write(x, solve(x, left, lists))


def find_motion(x: Executor, beyond: bool = False) -> Executor:
    """s01: the relative motion of every pair, and its state; an executor of what culls: them, or their
    pieces. `beyond`: with pads that are wider by the distances beyond which nobody asks."""
    if x.plan.pieces:
        return cut(x, beyond)
    x.launch("s01_screw", x.pairs)
    if not x.plan.serial:
        x.launch("s01_long", x.pairs)
    if beyond:
        x.launch("s01_widen", x.pairs)
    return x


def find_near(x: Immediate) -> Array:
    """s01, f01 to f03, hulls_apart: which of the pairs may come within ``distance_in`` during the step, (n,)
    bool."""
    y = find_motion(x, True)
    left = not_apart(y, filter_pairs(y, y.todo)).read
    near = np.zeros(x.pairs.n, bool)
    if x.plan.pieces and len(left):
        left = x.run.backend.to_host(y.buffers["piece_in"])[left]
    near[left] = True
    return near


def filter_pairs(x: Executor, todo: WorkList) -> WorkList:
    """f01 to f03: each of the filters asked for gets the pairs that those before it left.

    A filter settles a pair if it shows that nothing can touch during the step. It is as careful as the
    culling that follows, so the contacts are the same bits with any of them on or off (docs/decisions/0010).
    Pairs that have any ``GC_PAIR_*`` bit stay.
    """
    for name in x.plan.options.filters:
        if reads(x) and not todo.n:
            break
        begun, left = time.perf_counter(), todo
        keep = x.empty(todo.most, np.uint8)
        if name != "plane":
            x.launch(FILTERS[name], todo, keep_out=keep)
            left = x.select(todo, keep)
        elif seats := x.seats("plane", todo, scratch.plane(x.run, x.plan), optional=True):
            given = {"reals_per_group": seats.sizes[0], **x.tables.screen}
            x.launch(FILTERS[name], todo, given, seats=seats, keep_out=keep)
            left = x.select(todo, keep)
        x.settled(name, todo, left, begun)
        todo = left
    return todo


def mark_overlaps(x: Executor, todo: WorkList, when: Buffer) -> None:
    """s09: ``GC_PAIR_OVERLAP`` for those of the pairs that overlap at their time, in [-1/2, 1/2]; above: not
    asked. Pairs that have any ``GC_PAIR_*`` bits are not asked either."""
    near, variant = x.empty(todo.most, np.uint8), "_body" if x.plan.pieces else ""
    x.launch(f"s09_near{variant}", todo, when_in=when, near_out=near)
    left = x.select(todo, near)
    x.launch(f"s09_overlap{variant}", left, each=True, size=x.plan.group_size, when_in=when)
