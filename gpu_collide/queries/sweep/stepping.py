"""Steps of characters, cut in pieces while bodies turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.queries.sweep.turning import (
    carried_along,
    extent_of,
    extent_there,
    part_of,
    pieces_for,
    turns_of,
)
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.casts import Casts

__all__ = ["stepped", "stepped_there"]


def stepped(
    engine: Any,
    bodies: Bodies,
    resident: Any,
    casts: Casts,
    on: Array,
    fall: Array,
    rules: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The step of characters on the host, in so many equal pieces as bodies that turn take, of which the last
    has the fall; and what is told of that. `on`: what each rides, -1: nothing."""
    extent = extent_of(casts, bodies, bool((on >= 0).any()))
    pieces, error = pieces_for(extent, bodies, rules["skin"])
    none, status, count, found = np.zeros_like(fall), 0, 0, {}
    left, place = casts.path / pieces, casts.start
    for k in range(pieces):
        part = part_of(bodies, k, pieces)
        way = left + carried_along(part, on, place)
        found = engine.slide(
            engine.world(part, resident), replace(casts, start=place, path=way), left,
            fall if k == pieces - 1 else none, rules,
        )  # fmt: skip
        left, place = found["velocity"], found["position"]
        status, count = np.maximum(found["status"], status), found["casts"] + count
    if pieces > 1:
        found |= {"velocity": left * pieces, "status": status, "casts": count}
        lost = ~casts.moves
        found["velocity"][lost] = found["fall"][lost] = 0.0
        found["casts"][lost] = 0
    return found, _told(pieces, error)


def stepped_there(
    engine: Any,
    bodies: Bodies,
    resident: Any,
    landing: Any,
    on: Any,
    fall: Any,
    rules: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`stepped` on a device, of what a `Landing` has; the same bits, with what is in `Slides` beside it."""
    pieces, error = pieces_for(extent_there(landing, bodies, fall, on), bodies, rules["skin"])
    if pieces == 1:
        return landing.slide(fall, on, engine.motions(bodies), rules, _arcs(bodies)), _told(pieces, error)
    cp, swept, lost = landing.be.arrays, landing.swept, ~landing.swept
    given, status = replace(landing.given, path=landing.paths(pieces)), None
    none, count, rows = np.zeros(3), 0, {}
    for k in range(pieces):
        part = part_of(bodies, k, pieces)
        piece = type(landing)(engine, engine.world(part, resident), given, np.inf, landing.refuse)
        rows = piece.slide(fall if k == pieces - 1 else none, on, engine.motions(part), rules, _arcs(part))
        way = cp.where(swept[:, None], rows["velocity"], np.nan)
        given = replace(given, start=rows["position"], path=way)
        status = rows["status"] if k == 0 else cp.where(rows["status"] > status, rows["status"], status)
        count = rows["casts"] + count
    rows |= {"velocity": cp.where(swept[:, None], rows["velocity"] * float(pieces), 0.0), "status": status}
    rows["fall"] = cp.where(swept[:, None], rows["fall"], 0.0)
    rows["casts"] = cp.where(swept, count, np.int32(0))
    rows["status"] = cp.where(lost, np.uint8(Status.INVALID_INPUT), rows["status"])
    return rows, _told(pieces, error)


def _arcs(bodies: Bodies) -> tuple[Array, Array, Array] | None:
    """What `Landing.slide` needs of bodies that carry along an arc; None: there are none."""
    turns, quat = turns_of(bodies)
    return (turns.astype(np.int32), quat, bodies.start.position) if turns.any() else None


def _told(pieces: int, error: float) -> dict[str, Any]:
    return {"turning": error, "pieces": pieces} if error > 0 else {}
