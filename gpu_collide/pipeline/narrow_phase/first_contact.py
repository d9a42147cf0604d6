"""First contacts of large meshes, searched for down both trees, and the fallback for abandoned searches
(docs/decisions/0061, 0075)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.candidates import search
from gpu_collide.pipeline.narrow_phase.immediate import reads
from gpu_collide.pipeline.narrow_phase.near_faces import few_near, lots_of, whole_lot

if TYPE_CHECKING:
    from gpu_collide._types import Array, Buffer
    from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, WorkList
    from gpu_collide.pipeline.narrow_phase.immediate import Immediate
    from gpu_collide.pipeline.narrow_phase.near_faces import Lot

__all__ = ["FirstContacts"]


class FirstContacts:
    """Pairs of which the first contact alone is looked for, down both trees.

    A walk that costs more than the screen is given up, and the pair comes to the screen after it. Where
    counts are read, so does a large pair without a hit after some time, if few faces are near; if many are,
    it walks again, to the end. What both find is one hit (s08). Nobody walks in vain twice, however often
    hits need more room.

    Attributes
    ----------
    found : list of Entries
        Candidates that the screen found.
    """

    def __init__(self, x: Executor, todo: WorkList) -> None:
        self.found: list[Entries] = []
        self._x, self._todo = x, todo
        self._screened: Array = np.zeros(0, np.int32)
        self._again: Array = np.zeros(0, np.int32)

    def search(self, hits: Entries) -> None:
        """Hits of all pairs, but for those of the pairs in `found`."""
        x = self._x
        if reads(x):
            self._search_and_look(x, hits)
        else:
            worn = x.select(self._todo, _walk(x, self._todo, hits, 0))
            self.found = [search(x, [whole_lot(x, worn)], 0)]

    def _search_and_look(self, x: Immediate, hits: Entries) -> None:
        going = np.setdiff1d(self._todo.read, np.append(self._screened, self._again))
        worn, barren = _given_up(x, going, hits, x.plan.barren)
        if len(barren):
            limits = x.plan.limits
            lots, many = few_near(x, x.listed(barren), limits.barren_faces, limits.barren_nodes)
            self._again = np.append(self._again, many)
            self._screen(x, np.setdiff1d(barren, many), lots)
        again = np.setdiff1d(self._again, self._screened)
        worn = np.append(worn, _given_up(x, again, hits, 0)[0])
        if len(worn):
            lots = lots_of(x, x.listed(np.sort(worn)), x.plan.late_classes)
            largest = x.plan.counts.max(axis=0)
            self._screen(x, worn, [lot if lot.near else lot._replace(largest=largest) for lot in lots])

    def _screen(self, x: Immediate, pairs: Array, lots: list[Lot]) -> None:
        self._screened = np.append(self._screened, pairs)
        if lots:
            self.found.append(search(x, lots, 0))


def _given_up(x: Immediate, numbers: Array, hits: Entries, barren: int) -> tuple[Array, Array]:
    """Pairs whose walks were given up: those that cost more than the screen, and large ones that had no hit
    after `barren` pairs of nodes, if that is not 0."""
    todo = x.listed(numbers[x.plan.walked_pairs(x.shapes[numbers])])
    if not todo.n:
        return todo.read, todo.read
    keep = x.run.backend.to_host(_walk(x, todo, hits, barren))
    return todo.read[keep == 1], todo.read[keep == 2]


def _walk(x: Executor, todo: WorkList, hits: Entries, barren: int) -> Buffer:
    """screen_first: hits of those of the pairs that are walked down; which were given up, and why."""
    *sizes, nodes = scratch.walk(x.run, x.plan)
    keep, seats = x.empty(todo.most, np.uint8), x.seats("first", todo, (sizes[0], sizes[1]))
    assert seats is not None
    x.launch(
        "screen_first", todo, hits.out, seats=seats, room=nodes, walked=x.plan.walk_limit,
        given_up=x.plan.given_up(x.reads), barren=barren, min_properness=x.plan.options.min_properness,
        shut_out=x.zeros(x.pairs.most), keep_out=keep,
    )  # fmt: skip
    return keep
