"""Casts among bodies with rounding radii."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.queries.sweep.turning import those_near

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.casts import Casts
    from gpu_collide.queries.obstacles import Obstacles

__all__ = ["among_rounded", "rounding_of", "thicker"]

#: Who answers casts through a prepared world.
Answered = Callable[[Any, "Casts"], dict[str, Any]]


def rounding_of(bodies: Bodies) -> Array:
    """The rounding radii of bodies, each once, rising; 0 of none."""
    used = np.unique(bodies.shape)
    return np.unique([bodies.meshes[k].rounding for k in used] or [0.0])


def thicker(casts: Casts, by: float) -> Casts:
    """Casts with larger radii."""
    return replace(casts, radius=casts.radius + by, reach=math.inf) if by else casts


def among_rounded(
    among: Obstacles, radii: Array, exact: bool, casts: Casts, hits: Any, answered: Answered
) -> dict[str, Any]:
    """The fields of `Hits` among bodies with rounding radii, by `answered`, which knows meshes: what a cast
    touches of such a body, one that is thicker by the radius touches of its mesh. The bodies of each radius
    are asked alone."""
    if len(radii) == 1:
        return _on_surfaces(answered(among.world(exact), thicker(casts, radii[0])), radii[0])
    of = np.array([mesh.rounding for mesh in among.bodies.meshes])[among.bodies.shape]
    parts = []
    for radius in radii:
        some = those_near(among.bodies, np.flatnonzero(of != radius))
        part = answered(among.world(exact, some), thicker(casts, radius))
        parts.append(_on_surfaces(part, radius))
    n, rows = len(casts), {}
    hit = np.any([part["status"] != 0 for part in parts], axis=0)
    for name in parts[0]:
        if name not in ("status", "offsets"):
            rows[name] = np.concatenate([part[name] for part in parts])
    last = rows["feature"] == 0  # who touches nothing
    keys = [rows[name] for name in ("sphere", "number", "body", "feature", "time")]
    order = np.lexsort([*keys, last, rows["query"]])
    rows = {name: column[order] for name, column in rows.items()}
    if hits != "all":
        first = np.searchsorted(rows["query"], np.arange(n))
        rows = {name: column[first] for name, column in rows.items()}
    offsets = np.searchsorted(rows["query"], np.arange(n + 1))
    return rows | {"status": hit.astype(np.uint8), "offsets": offsets}


def _on_surfaces(found: dict[str, Any], radius: float) -> dict[str, Any]:
    if radius:
        found["point"] = found["point"] + radius * found["normal"]
    return found
