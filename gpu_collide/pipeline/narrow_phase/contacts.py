"""Hits of candidates (s07), and the contacts made of them (s08)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.first_contact import FirstContacts
from gpu_collide.pipeline.narrow_phase.plan import REFINE

if TYPE_CHECKING:
    from gpu_collide._types import Buffer
    from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, WorkList

__all__ = ["FIELDS", "Written", "solve", "write"]

#: Contact fields in the order of the result: dtype (None = the solver's type) and width.
FIELDS = {
    "pair": ("i4", 1), "kind": ("u1", 1), "feature_a": ("i4", 1), "feature_b": ("i4", 1), "time": (None, 1),
    "position": (None, 3), "normal": (None, 3), "properness": (None, 1), "local_a": (None, 3),
    "local_b": (None, 3), "normal_speed": (None, 1), "sustained": ("u1", 1), "time_end": (None, 1),
}  # fmt: skip


class Written(NamedTuple):
    """What s08 wrote: status and time of each pair, where its contacts begin, how many there are or have a
    place, and their fields."""

    status: Buffer
    toi: Buffer
    start: Buffer
    total: int
    out: dict[str, Any]


def solve(x: Executor, todo: WorkList, lists: list[Entries]) -> Entries:
    """s07: hits of all candidates of some lists; and those of the pairs `todo` that have none because only
    their first contacts are looked for (screen_first)."""
    walks = FirstContacts(x, todo) if x.plan.walked else None
    n = 8 * todo.most if walks else 0
    n += sum(found.n for found in lists) if x.reads else 0
    n += x.pairs.most if x.plan.spheres else 0

    def emit(hits: Entries) -> None:
        if x.plan.spheres:
            _of_spheres(x, hits)
        if walks:
            walks.search(hits)
        every = [*lists, *(walks.found if walks else ())]
        for candidates in {id(found): found for found in every}.values():
            _times(x, candidates, hits)

    return x.fill("hits", scratch.HITS, n, emit)


def _of_spheres(x: Executor, hits: Entries) -> None:
    """Hits of the pairs both of whose bodies are spheres."""
    options = x.plan.options
    x.launch(
        "s07_spheres", x.pairs, hits.out, first_only=int(options.first_only),
        check_start=int(options.check_start), min_properness=options.min_properness,
    )  # fmt: skip


def _times(x: Executor, candidates: Entries, hits: Entries) -> None:
    """Times of contact of the candidates of a list; among many work-items in three launches."""
    options = x.plan.options
    given = hits.out | {"min_properness": options.min_properness, "refine": REFINE[options.refine]}
    if options.refine != "exact":
        x.launch("s07_answer", candidates, given)
    elif x.plan.serial or x.plan.pieces:
        # what is later than the first hit of its pair is not asked for then
        first = options.first_only
        shut = x.zeros(x.pairs.most) if first else x.buffers["state_out"]
        x.launch(x.plan.solver("s07_solve"), candidates, given, first_only=int(first), shut_out=shut)
    else:
        lasting = x.entries(scratch.LASTING, candidates.most)
        more = (
            given
            | candidates.given
            | lasting.given
            | {name: made for name, made in lasting.out.items() if name != "capacity"}
        )
        x.launch("s07_find", candidates, more)
        x.launch_listed("s07_test", hits, more)
        x.launch_listed("s07_last", lasting, more)


def write(x: Executor, hits: Entries) -> Written:
    """s08: of coinciding hits one is kept; contacts are ordered and written. Each is a hit."""
    n, options, solver = x.pairs.most, x.plan.options, x.plan.solver
    hit_start = x.scan(hits.per_pair)
    order, cursor = x.empty(max(hits.most, 1), np.int32), x.zeros(n)
    x.launch_listed(solver("s08_place"), hits, hit_start_in=hit_start, cursor=cursor, order_out=order)
    kept, status, toi = x.empty(n, np.int32), x.empty(n, np.uint8), x.empty(n, x.run.real)
    x.launch(
        solver("s08_resolve"), x.pairs, hits.given, hits.out, hit_start_in=hit_start,
        refine=REFINE[options.refine],
        first_only=int(options.first_only), order_out=order, kept_out=kept, status_out=status, toi_out=toi,
    )  # fmt: skip
    start = x.scan(kept)
    total = x.total(start, hits.most)
    out = {
        name: x.empty((max(total, 1), width) if width > 1 else max(total, 1), np.dtype(dtype or x.run.real))
        for name, (dtype, width) in FIELDS.items()
    }
    # without a motion of their own bodies do not spin: what is not read is something that is there
    unread = {"spins_in": x.buffers["valid_in"], "spin_in": x.buffers["start_position_in"]}
    spins = {} if x.plan.pieces else unread
    if total:
        x.launch(
            solver("s08_contacts"), x.pairs, hits.given, spins, hit_start_in=hit_start,
            contact_start_in=start,
            order_in=order, first_pair=x.first, **{f"{name}_out": buffer for name, buffer in out.items()},
        )  # fmt: skip
    return Written(status, toi, start, total, out)
