"""Cylinders and cones at a pose: who finds their places, and the rows of `Clearance` that these make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.geometry.arrays.order import order_of, taken
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.pipeline.frusta import FrustumPlaces
from gpu_collide.queries.engine_cache import borrowed
from gpu_collide.results.enums import Kind, Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["fields_of_frusta", "has_frusta", "with_points"]

#: What is farther is told nothing of; kernels take 1e30 for deeper than anything.
FARTHEST = 1e25
#: Stands for what is not looked at.
_POINT = Mesh([[0.0, 0.0, 0.0]], [], rounding=1.0)


def has_frusta(bodies: Bodies, pairs: Array) -> Array | None:
    """Which pairs have a cylinder or a cone, (p,) bool; None: no mesh is one."""
    ends = np.array([mesh.ends is not None for mesh in bodies.meshes], bool)
    if not ends.any():
        return None
    return np.asarray(ends[bodies.shape[pairs]].any(axis=1))


def with_points(bodies: Bodies, pairs: Array) -> Bodies:
    """The bodies with a point in place of each mesh that none of `pairs` has: of cylinders, cones, and what
    meets them alone."""
    used = np.zeros(len(bodies.meshes), bool)
    used[bodies.shape[pairs]] = True
    meshes = [mesh if told else _POINT for mesh, told in zip(bodies.meshes, used, strict=True)]
    return Bodies(meshes, bodies.shape, bodies.start, bodies.end)


def fields_of_frusta(
    bodies: Bodies, pairs: Array, margin: Array, touch: Array, time: float, how: dict[str, Any]
) -> dict[str, Array]:
    """The rows of `Clearance` of pairs that have one each, of bodies that stand.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) int32
    margin, touch : (p,) float64
        How near is told, and how near is in touch.
    time : float
    how : dict
        ``precision`` and ``backend``, where they are given.
    """
    valid = np.asarray(bodies.start.valid[pairs].all(axis=1))
    apart = np.abs(np.diff(bodies.start.position[pairs], axis=1)[:, 0]).max(axis=1, initial=0.0)
    large = ~(np.maximum(margin, apart) <= FARTHEST)
    asked = np.flatnonzero(valid & ~large)
    told = _places(bodies, pairs[asked], margin[asked], how)
    told["pair"] = asked[told["pair"]]
    hidden = np.zeros(len(pairs), bool)
    hidden[asked] = told.pop("hidden")
    told = _once(told)
    least = np.full(len(pairs), np.inf)
    np.minimum.at(least, told["pair"], told["distance"])
    status = np.where(least <= touch, Status.HIT, Status.MISS).astype(np.uint8)
    status[(least < -touch) | hidden] = Status.INITIAL_OVERLAP
    status[large] = Status.UNRESOLVED
    status[~valid] = Status.INVALID_INPUT
    none = np.flatnonzero(np.isinf(least))
    m, zero = len(none), np.zeros((len(none), 3))
    known = valid[none] & ~large[none]
    away = np.where(hidden[none], 0.0, np.inf)
    fields = {
        "time": np.concatenate([np.full(len(told["pair"]), time), np.where(hidden[none], time, np.inf)]),
        "lower_bound": np.concatenate([
            np.where(told["distance"] < 0.0, told["distance"], np.maximum(least, 0.0)[told["pair"]]),
            np.where(known & ~hidden[none], margin[none], 0.0),
        ]),
        "distance": np.concatenate([told["distance"], away]),
        "kind": np.concatenate([told["kind"], np.full(m, Kind.NONE, np.int8)]),
        "pair": np.concatenate([told["pair"], none]),
        **{
            name: np.concatenate([told[name], np.full(m, -1, np.int32)])
            for name in ("feature_a", "feature_b")
        },
        **{name: np.concatenate([told[name], zero]) for name in ("point_a", "point_b", "normal")},
    }  # fmt: skip
    fields["status"] = status[fields["pair"]]
    return taken(
        fields, order_of(*(fields[x] for x in ("pair", "distance", "kind", "feature_a", "feature_b")))
    )


def _once(told: dict[str, Array]) -> dict[str, Array]:
    """Of places of the same features the nearest."""
    order = np.lexsort([told[x] for x in ("distance", "feature_b", "feature_a", "kind", "pair")])
    keys = np.stack([told[x][order] for x in ("pair", "kind", "feature_a", "feature_b")])
    first = np.ones(len(order), bool)
    first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return {name: column[order[first]] for name, column in told.items()}


def _places(bodies: Bodies, pairs: Array, margin: Array, how: dict[str, Any]) -> dict[str, Array]:
    """Their places, by kernels in float64, or the reference."""
    where: Any = get_backend(how.get("backend", "auto"), "mixed", ("frusta",))
    if where.kind == "reference":
        from gpu_collide.reference.clearance.c04_frusta import frustum_places_reference

        return frustum_places_reference(bodies, pairs, margin)
    with borrowed(where, FrustumPlaces) as places:
        return places.places(bodies, pairs, margin)
