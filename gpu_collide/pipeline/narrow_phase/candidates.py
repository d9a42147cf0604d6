"""Candidates, that is, features that may meet: found between hulls, or on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.pipeline.launch.launcher import Scratch
from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.executor import Span
from gpu_collide.pipeline.narrow_phase.immediate import reads
from gpu_collide.pipeline.narrow_phase.plan import CANDIDATES, REFINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, Seats, WorkList
    from gpu_collide.pipeline.narrow_phase.immediate import Immediate
    from gpu_collide.pipeline.narrow_phase.near_faces import Lot

__all__ = ["between_hulls", "not_apart", "search"]

#: Shares of a heavy item for each thread, and in all; in place of a number of them: the lists are made.
_SHARES, _MOST_SHARES, _LISTS = 4, 256, -1


def between_hulls(x: Executor, todo: WorkList) -> tuple[WorkList, Entries]:
    """screen_hulls: candidates of those of the pairs whose first contact is found beside a plane between
    their hulls; the pairs that are left, and the candidates."""
    keep = x.empty(todo.most, np.uint8)

    def emit(found: Entries) -> None:
        seats = x.seats("hull", todo, scratch.hulls(x.run)) if not reads(x) or todo.n else None
        if seats is not None:
            x.launch(
                "screen_hulls", todo, found.out, x.plan.hull_limits, seats=seats,
                columns_in=x.tables.screen["vertices_in"], keep_out=keep,
                min_properness=x.plan.options.min_properness,
            )  # fmt: skip

    found = x.fill("hulls", scratch.CANDIDATES, todo.most, emit)
    return x.select(todo, keep), found


def not_apart(x: Executor, todo: WorkList) -> WorkList:
    """hulls_apart: those of the pairs whose hulls are not seen to stay apart, the same ones on any device."""
    keep = x.empty(todo.most, np.uint8)
    if seats := x.seats("apart", todo, scratch.apart(x.run)) if not reads(x) or todo.n else None:
        limits = x.plan.limits
        x.launch(
            "hulls_apart", todo, seats=seats, columns_in=x.tables.screen["vertices_in"], keep_out=keep,
            least_product=limits.hulls_alone, most_vertices=limits.hull_vertices,
        )  # fmt: skip
    return x.select(todo, keep)


def search(x: Executor, lots: Sequence[Lot], walk_limit: int) -> Entries:
    """s02 to s06: candidates of all items; `walk_limit`: which pairs are passed over, as they are looked at
    down their trees."""
    # large parts may have as many as they have faces: asking once more is as dear as the search itself
    n, least = sum(lot.todo.most for lot in lots), 0
    if reads(x):
        many = min(sum(lot.todo.n * int(lot.largest[2]) for lot in lots), scratch.MANY)
        least = min(many, x.run.room.fits(4 * scratch.CANDIDATES.nbytes(x.run), x.held))

    def emit(found: Entries) -> None:
        for lot in lots:
            _screen(x, lot, found, walk_limit)

    return x.fill("candidates", scratch.CANDIDATES, n, emit, least)


def _screen(x: Executor, lot: Lot, found: Entries, walk_limit: int) -> None:
    """The screen of a lot of items, of heavy ones by shares."""
    rest, grows = lot.todo, _scratch(x, lot)
    if reads(x):
        heavy = x.plan.heavy(lot.faces)
        if heavy.any():
            shared = x.listed(rest.read[heavy])
            large = [s._replace(name=f"shared {s.name}") for s in grows]
            x.work_off("screen", shared, large, _as_they_are, _by_shares(x, lot, found, walk_limit), shared.n)
            rest = x.listed(rest.read[~heavy])

    def emit(todo: WorkList, seats: Seats) -> None:
        _launch(x, lot, todo, seats, found, walk_limit)

    x.work_off("screen", rest, grows, _as_they_are, emit)


def _scratch(x: Executor, lot: Lot) -> list[Scratch]:
    """What a group of the screen takes; parts are known where counts are read."""
    reals, ints = scratch.screen(lot.largest, x.plan.rows) if reads(x) else (0, 0)
    return [Scratch("reals", reals, x.run.raster.itemsize), Scratch("ints", ints, 4)]


def _as_they_are(reals: int, ints: int) -> tuple[int, int]:
    return reals, ints


def _by_shares(x: Immediate, lot: Lot, found: Entries, walk_limit: int) -> Any:
    """Launches that make the lists of some items, and others that search them, many shares of each."""
    shares = min(_SHARES * x.plan.threads, _MOST_SHARES)

    def emit(todo: WorkList, seats: Seats) -> None:
        numbers = todo.read
        for some in np.split(numbers, range(seats.groups, len(numbers), seats.groups)):
            _launch(x, lot, x.listed(some), seats, found, walk_limit, _LISTS)
            no_room = x.run.backend.to_host(seats.given["no_room_out"])[some] > 0
            left = x.listed(np.where(no_room, -1, some))
            _launch(x, lot, left, seats._replace(groups=shares * len(some)), found, walk_limit, shares)

    return emit


def _launch(
    x: Executor, lot: Lot, todo: WorkList, seats: Seats, found: Entries, walk_limit: int, shares: int = 0
) -> None:
    """The launch of the screen."""
    options, (reals, ints) = x.plan.options, seats.sizes
    size = x.plan.small_size if lot.small else x.plan.group_size
    given = {
        "items_in": lot.items, "reals_per_group": reals, "ints_per_group": ints,
        "min_properness": x.plan.least_properness, "refine": REFINE[options.refine],
    }  # fmt: skip
    if lot.small:
        x.launch("screen_small", todo, given, lot.tables, found.out, seats=seats, size=size)
        return
    over = Span(todo.n * shares, todo.most * shares) if shares > 1 else todo
    x.launch(
        "screen", over, todo.given, given, lot.tables, found.out, seats=seats, walked=walk_limit,
        shares=shares, size=None if lot.near else size, candidates=CANDIDATES[options.candidates],
    )  # fmt: skip
