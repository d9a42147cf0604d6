"""Who makes `Manifolds` of contacts: kernels where the contacts were found, or the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import get_backend
from gpu_collide.bodies.compound import refuse_compounds
from gpu_collide.pipeline.manifolds import Reducer
from gpu_collide.queries.engine_cache import borrowed
from gpu_collide.results.clearance import Clearance
from gpu_collide.results.manifolds import Manifolds
from gpu_collide.results.of_bodies import manifolds_of_bodies
from gpu_collide.results.point_identity import numbered_apart

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["manifolds_of"]


def manifolds_of(contacts: Clearance, bodies: Bodies, most: int) -> Manifolds:
    """`Manifolds` of contacts at a pose of bodies that are there at its time of the step."""
    if contacts._rows_of is not None:  # compounds
        found, rows, to, owner = contacts._rows_of
        made = manifolds_of(found[np.sort(rows)], bodies.rows, most)
        return manifolds_of_bodies(made, to, contacts.pairs, owner)
    refuse_compounds(bodies, "bodies", "the reading of contacts from a file")
    columns = _columns(contacts, bodies, most)
    columns["key"] = numbered_apart(columns["key"])
    return Manifolds(pairs=contacts.pairs, **columns, info={**contacts.info, "max_points": most})


def _columns(contacts: Clearance, bodies: Bodies, most: int) -> dict[str, Array]:
    where: Any = None
    if contacts.info.get("precision") != "single":  # which has too few digits for corners
        where = get_backend(contacts.info.get("backend", "auto"), "mixed", ("manifolds",))
    if where is None or where.kind == "reference":
        from gpu_collide.reference.clearance.c03_manifolds import manifolds_reference

        return manifolds_reference(contacts, bodies, most)
    with borrowed(where, Reducer) as reducer:
        return reducer.columns(contacts, bodies, most)


Clearance._reduce = staticmethod(manifolds_of)
