"""Cylinders and cones at a pose: who finds their places, and the rows of `Clearance` that these make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import get_backend
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.geometry.preparation.prepared import kept_with
from gpu_collide.pipeline.cans import CanPlaces
from gpu_collide.queries.pluecker.movers import MOST
from gpu_collide.results.enums import Kind, Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["fields_of_cans", "has_cans", "with_capsules"]


def has_cans(bodies: Bodies, pairs: Array) -> Array | None:
    """Which pairs have a cylinder or a cone, (p,) bool; None: no mesh is one."""
    ends = np.array([mesh.ends is not None for mesh in bodies.meshes], bool)
    return ends[bodies.shape[pairs]].any(axis=1) if ends.any() else None


def with_capsules(bodies: Bodies) -> Bodies:
    """The bodies with capsules in place of cylinders and cones, for who looks at others alone."""
    meshes = [
        mesh if mesh.ends is None else kept_with(mesh, "capsule", lambda mesh=mesh: _capsule(mesh))
        for mesh in bodies.meshes
    ]
    return Bodies(meshes, bodies.shape, bodies.start, bodies.end)


def _capsule(mesh: Mesh) -> Mesh:
    return Mesh(mesh.vertices, [], rounding=mesh.rounding)


def fields_of_cans(
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
    valid = bodies.start.valid[pairs].all(axis=1)
    most = MOST[how.get("precision", "mixed")]
    apart = np.abs(np.diff(bodies.start.position[pairs], axis=1)[:, 0]).max(axis=1, initial=0.0)
    large = ~(np.maximum(margin, apart) <= most)
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
    order = np.lexsort([fields[x] for x in ("feature_b", "feature_a", "kind", "distance", "pair")])
    return {name: column[order] for name, column in fields.items()}


def _once(told: dict[str, Array]) -> dict[str, Array]:
    """Of places of the same features the nearest."""
    order = np.lexsort([told[x] for x in ("distance", "feature_b", "feature_a", "kind", "pair")])
    keys = np.stack([told[x][order] for x in ("pair", "kind", "feature_a", "feature_b")])
    first = np.ones(len(order), bool)
    first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return {name: column[order[first]] for name, column in told.items()}


def _places(bodies: Bodies, pairs: Array, margin: Array, how: dict[str, Any]) -> dict[str, Array]:
    """Their places, by kernels in float64, or the reference."""
    where: Any = get_backend(how.get("backend", "auto"), "mixed", ("cans",))
    if where.kind == "reference":
        from gpu_collide.reference.clearance.c04_cans import can_places_reference

        return can_places_reference(bodies, pairs, margin)
    kept = where.kept.setdefault("cans", [])
    try:
        places = kept.pop()  # that no other call has
    except IndexError:
        places = CanPlaces(where)
    with where.current():
        found = places.places(bodies, pairs, margin)
    kept.append(places)
    return found
