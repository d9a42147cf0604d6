"""First contacts of large meshes, searched for down both trees, and the fallback for abandoned searches
(docs/decisions/0061, 0075)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.candidates import search
from gpu_collide.pipeline.narrow_phase.immediate import reads
from gpu_collide.pipeline.narrow_phase.near_faces import lots_of, whole_lot

if TYPE_CHECKING:
    from gpu_collide._types import Array, Buffer
    from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, WorkList
    from gpu_collide.pipeline.narrow_phase.immediate import Immediate

__all__ = ["FirstContacts"]


class FirstContacts:
    """Pairs of which the first contact alone is looked for, down both trees.

    A walk that costs more than the screen is given up, and the pair comes to the screen after it. What both
    find is one hit (s08). Nobody walks in vain twice, however often hits need more room.

    Attributes
    ----------
    found : list of Entries
        Candidates that the screen found.
    """

    def __init__(self, x: Executor, todo: WorkList) -> None:
        self.found: list[Entries] = []
        self._x, self._todo = x, todo
        self._screened: Array = np.zeros(0, np.int32)

    def search(self, hits: Entries) -> None:
        """Hits of all pairs, but for those of the pairs in `found`."""
        x = self._x
        if not reads(x):
            worn = x.select(self._todo, _walk(x, self._todo, hits))
            self.found = [search(x, [whole_lot(x, worn)], 0)]
            return
        given_up = _given_up(x, np.setdiff1d(self._todo.read, self._screened), hits)
        if not len(given_up):
            return
        self._screened = np.append(self._screened, given_up)
        largest = x.plan.counts.max(axis=0)
        lots = lots_of(x, x.listed(given_up), x.plan.late_classes)
        lots = [lot if lot.near else lot._replace(largest=largest) for lot in lots]
        if lots:
            self.found.append(search(x, lots, 0))


def _given_up(x: Immediate, numbers: Array, hits: Entries) -> Array:
    """Pairs whose walks were given up, as they cost more than the screen."""
    todo = x.listed(numbers[x.plan.walked_pairs(x.shapes[numbers])])
    return todo.read[x.run.backend.to_host(_walk(x, todo, hits)) > 0] if todo.n else todo.read


def _walk(x: Executor, todo: WorkList, hits: Entries) -> Buffer:
    """screen_first: hits of those of the pairs that are walked down; which were given up."""
    *sizes, nodes = scratch.walk(x.run, x.plan)
    keep, seats = x.empty(todo.most, np.uint8), x.seats("first", todo, (sizes[0], sizes[1]))
    x.launch(
        "screen_first", todo, hits.out, seats=seats, room=nodes, walked=x.plan.walk_limit,
        given_up=x.plan.given_up(x.reads), min_properness=x.plan.options.min_properness,
        shut_out=x.zeros(x.pairs.most), keep_out=keep,
    )  # fmt: skip
    return keep
