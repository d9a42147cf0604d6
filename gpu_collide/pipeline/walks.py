"""Walks for the first contact, and what becomes of pairs whose walks are given up (docs/decisions/0075)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_collide.pipeline import first
from gpu_collide.pipeline.near import find_few, find_items
from gpu_collide.pipeline.screen import search

__all__ = ["Walk"]


class Walk:
    """Pairs of which the first contact alone is looked for, down both trees.

    A walk that costs more than the screen is given up, and the pair comes to the screen after it. So does a
    large pair without a hit after some time, if few faces are near; if many are, it walks again, to the end.
    What both find is one hit (s08). Nobody walks in vain twice, however often hits need more room.

    Attributes
    ----------
    found : list
        What the screen found, as `gpu_collide.pipeline.screen.search` returns it.
    """

    def __init__(self, todo):
        self.found = []
        self._todo = todo
        self._screened = self._again = todo[:0]

    def down(self, work, piece, held, out):
        """Hits of all pairs, in what `out` has for them, but for those of the pairs in `found`."""
        large = bool(work.prepared.late.any())
        going = np.setdiff1d(self._todo, np.append(self._screened, self._again))
        worn, barren = first.launch(work, piece, going, held, first.BARREN if large else 0, **out)
        if len(barren):
            few, many = find_few(work, piece, barren, first.FACES, first.NODES)
            self._again = np.append(self._again, many)
            self._screen(work, piece, np.setdiff1d(barren, many), [few], held)
        again = np.setdiff1d(self._again, self._screened)
        worn = np.append(worn, first.launch(work, piece, again, held, 0, **out)[0])
        if len(worn):
            largest = work.prepared.tables.largest
            lots = find_items(work, piece, worn, work.prepared.late)
            lots = [x if x.patches else replace(x, largest=largest) for x in lots]
            self._screen(work, piece, worn, lots, held)

    def _screen(self, work, piece, pairs, lots, held):
        self._screened = np.append(self._screened, pairs)
        lots = [x for x in lots if x.n]
        if lots:
            self.found.append(search(work, piece, lots, held, walked=0))
