"""The state of a query: what was prepared of its meshes, and which pairs its tests settled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.pipeline.launch.launcher import TooLarge
from gpu_collide.pipeline.mesh_tables.tables import short_edges

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpu_collide._types import Array
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.pipeline.launch.launcher import Launcher
    from gpu_collide.pipeline.mesh_tables.layout import MeshTables
    from gpu_collide.pipeline.narrow_phase.plan import Plan
    from gpu_collide.results.report import FilterReport

__all__ = ["Prepared", "Query"]

#: Combinations of two meshes whose short edges are kept.
MOST_SHORT = 1 << 16


@dataclass(frozen=True)
class Prepared:
    """What is made of meshes before any pose is known.

    Attributes
    ----------
    plan : Plan
    tables : MeshTables
    placed : dict or None
        Buffers that hold the poses of all bodies, where somebody keeps them.
    """

    plan: Plan
    tables: MeshTables
    placed: dict[str, Any] | None = None

    def row_heights(self, meshes: Sequence[Mesh], shapes: Array) -> Array | None:
        """`Plan.row_heights` of pairs of `meshes`."""
        return self.plan.row_heights(shapes, partial(self._short_edges, meshes))

    def _short_edges(self, meshes: Sequence[Mesh], shapes: Array) -> Array:
        """Short edges of pairs, each combination of two meshes looked at once."""
        n, key = len(meshes), shapes[:, 0].astype(np.int64) * len(meshes) + shapes[:, 1]
        if n**2 > max(MOST_SHORT, len(key)):
            return short_edges(meshes, *shapes.T)
        short = self.tables.made.setdefault("short edges", np.full(n**2, np.nan))
        new = np.unique(key[np.isnan(short[key])])
        if len(new):
            short[new] = short_edges(meshes, new // n, new % n)
        return short[key]


@dataclass
class Query:
    """A query at work.

    Attributes
    ----------
    run : Launcher
    prepared : Prepared
    report : FilterReport or None
        What the tests before the narrow phase settled, if that is to be told.
    narrow : int
        Pairs that came to the narrow phase.
    hits : int
        Pairs with a contact, where they are counted for the report.
    invalid : int or None
        Pairs with a body without poses, where somebody counted them.
    """

    run: Launcher
    prepared: Prepared
    report: FilterReport | None = None
    narrow: int = 0
    hits: int = 0
    invalid: int | None = None

    def with_alternatives(self, take: Callable[[Plan, int, int], None]) -> Callable[[int, int], None]:
        """``take(plan, at, stop)``, all stages for so many pairs, as a function of the last two, which tries
        other plans with a pair alone for which there is no room.

        It raises `TooLarge` with the least that any plan takes.
        """
        plan = self.prepared.plan

        def some(at: int, stop: int) -> None:
            needs = []
            for one in chain((plan,), plan.alternatives() if stop - at == 1 else ()):
                try:
                    return take(one, at, stop)
                except TooLarge as error:
                    needs.append(error.need)
            raise TooLarge(min(needs))

        return some

    def refusal(self, pair: int, need: int, looks_near: bool) -> str:
        """The text of the error if a pair alone is too large; `looks_near`: at near faces already."""
        room = self.run.room
        larger = looks_near or self.prepared.plan.options.candidates == "raster"
        remedy = "pass a larger max_bytes" + ("" if larger else ", or tuning=gc.Tuning(features='near')")
        return (
            f"max_bytes: expected room for pair {pair}, which needs at least {room.told(need)} bytes, got "
            f"{room.asked}; {remedy}"
        )
