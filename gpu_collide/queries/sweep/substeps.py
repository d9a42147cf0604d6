"""Steps of characters, each divided into as many parts as the rotating bodies within its reach require."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.queries.sweep.cutting import Cuts, Walkers, distance, room_of
from gpu_collide.queries.sweep.turning import (
    carried_along,
    extent_of,
    extent_there,
    leaning_of,
    parts_of,
    those_near,
    turning_bodies,
    turns_of,
)
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.bodies.casts import Casts
    from gpu_collide.queries.obstacles import Obstacles
    from gpu_collide.queries.sweep.turning import Extent

__all__ = ["substeps", "substeps_device"]

#: Of a larger share of all characters the rows are not picked out.
MOST = 0.75


def substeps(
    among: Obstacles,
    casts: Casts,
    on: Array,
    fall: Array,
    rules: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The step of characters on the host, and what is told of how it was cut. `on`: what each rides, -1:
    nothing."""
    rides = bool((on >= 0).any())
    bodies = among.bodies
    ridden = on if rides else None
    walkers = Walkers(
        np,
        casts.start,
        casts.path,
        fall,
        casts.radius,
        ridden,
        casts.moves,
        _meets(among, casts.rules, ridden),
    )

    extent = extent_of(casts, bodies, turning_bodies(bodies)[:0], rides)

    def extent_for(which: Array) -> Extent:
        assert extent is not None  # there are some
        return extent._replace(leaning=leaning_of(casts, bodies, which))

    def go(
        pieces: int, absent: Array, slack: float | None, which: Array | None, found: dict[str, Any]
    ) -> dict[str, Any]:
        if which is not None and not found and which.mean() > MOST:
            which = None  # the others follow, and what becomes of them here counts for nothing
        part = (casts, on, fall) if which is None else (casts.take(which), on[which], fall[which])
        rows = _in_pieces(among, *part, rules, pieces, absent, slack)
        if which is None:
            return rows
        for name, array in rows.items():
            found.setdefault(name, np.zeros((len(casts), *array.shape[1:]), array.dtype))[which] = array
        return found

    return _by_pieces(bodies, walkers, extent_for, rules, go)


def _meets(among: Obstacles, rules: Any, on: Any) -> Callable[[Any, Any], Any] | None:
    """Who of some may meet a body, or rides it, by the rules (n, 4) of each; None: everybody."""
    if rules is None:
        return None
    ranks = among.rules.ranks()[0] if among.parted and among.rules is not None else None
    ranks = np.zeros(len(among.bodies), np.int32) if ranks is None else ranks

    def meets(body: Any, some: Any) -> Any:
        group, mask, own = -1, -1, rules[some]
        found = np.ones(len(own), bool)
        if among.rules is not None:
            bits = among.rules.bits[body]
            group, mask = bits.T if bits.ndim > 1 else bits.tolist()
            place = ranks[body]
            found = (own[:, 3] == 0) | (place == 0) | (own[:, 3] == place)
        found &= (own[:, 0] & mask != 0) & (own[:, 1] & group != 0) & (own[:, 2] != body)
        return found if on is None else found | (on[some] == body)

    return meets


def _by_pieces(
    bodies: Bodies,
    walkers: Walkers,
    extent_for: Callable[[Array], Extent],
    rules: dict[str, Any],
    go: Callable[..., dict[str, Any]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The step of all, by `go` for those whose step is cut alike; once more for those whom pushes took so far
    that they may have come to a body which asks for more pieces."""
    which = turning_bodies(bodies)
    if not which.size or not len(walkers.swept):
        return go(1, which[:0], None, None, {}), {}
    room, where = room_of(walkers, bodies, rules["step"]), walkers.arrays.where
    pieces: Any = None
    found: dict[str, Any] = {}
    used, error = 1, 0.0
    while True:
        cuts = Cuts(bodies, which, walkers, room, extent_for, rules["skin"])
        before, pieces = pieces, cuts.of_each()
        todo = None if before is None else pieces > before
        for number, rows in cuts.groups(pieces, todo):
            found = go(number, cuts.absent(number), cuts.slack, rows, found)
            used, error = max(used, number), max(error, cuts.error(number))
        away = distance(where(walkers.swept[:, None], found["position"], walkers.start), walkers.start)
        pushed = away > room
        if not bool(pushed.any()):
            return found, {"turning": error, "pieces": used}
        room = where(pushed, 2.0 * away, room)


def _in_pieces(
    among: Obstacles,
    casts: Casts,
    on: Array,
    fall: Array,
    rules: dict[str, Any],
    pieces: int,
    absent: Array,
    slack: float | None,
) -> dict[str, Any]:
    """The step of some in so many equal pieces, of which the last has the fall, without some bodies. `slack`:
    no chord is off by more."""
    none, status, count, found = np.zeros_like(fall), 0, 0, {}
    left, place = casts.path / pieces, casts.start
    bodies = those_near(among.bodies, absent)
    world = among.world(bodies=bodies, slack=slack)
    for k, part in enumerate(parts_of(bodies, pieces)):
        way = left + carried_along(part, on, place)
        through = world if pieces == 1 else among.engine.part(world, part)
        found = among.engine.slide(
            through, replace(casts, start=place, path=way), left,
            fall if k == pieces - 1 else none, rules,
        )  # fmt: skip
        left, place = found["velocity"], found["position"]
        status, count = np.maximum(found["status"], status), found["casts"] + count
    if pieces > 1:
        found |= {"velocity": left * pieces, "status": status, "casts": count}
        lost = ~casts.moves
        found["velocity"][lost] = found["fall_velocity"][lost] = 0.0
        found["casts"][lost] = 0
    return found


def substeps_device(
    among: Obstacles,
    landing: Any,
    on: Any,
    fall: Any,
    rules: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`stepped` on a device, of `DeviceQueries`; the same bits, with what is in `Slides` beside it."""
    bodies, cp = among.bodies, landing.be.arrays
    every, extent = turning_bodies(bodies), extent_there(landing, bodies, fall, on)
    start, path, falls, radius, rides = landing.walkers(fall, on)
    meets = _meets(among, landing.rules(), rides)
    walkers = Walkers(cp, start, path, falls, radius, rides, landing.swept, meets)

    def extent_for(which: Array) -> Extent:
        return extent._replace(leaning=extent.leaning[np.isin(every, which)])

    def go(
        pieces: int, absent: Array, slack: float | None, which: Any, found: dict[str, Any]
    ) -> dict[str, Any]:
        if slack is None:
            return landing.slide(fall, on, among.engine.motions(bodies), rules, _arcs(bodies))
        rows = _in_pieces_there(among, landing, on, fall, rules, pieces, absent, slack, which)
        for name, array in rows.items() if found else ():
            rows[name] = cp.where(which.reshape(-1, *[1] * (array.ndim - 1)), array, found[name])
        return rows

    return _by_pieces(bodies, walkers, extent_for, rules, go)


def _in_pieces_there(
    among: Obstacles,
    landing: Any,
    on: Any,
    fall: Any,
    rules: dict[str, Any],
    pieces: int,
    absent: Array,
    slack: float | None,
    which: Any,
) -> dict[str, Any]:
    """`_in_pieces` on a device: of those `which`, None: all; what is told of the others is not theirs."""
    cp, swept, lost = landing.be.arrays, landing.swept, ~landing.swept
    path = landing.paths(pieces)
    path = path if which is None else cp.where(which[:, None], path, np.nan)
    given, status = replace(landing.given, path=path), None
    none, count, rows = np.zeros(3), 0, {}
    bodies = those_near(among.bodies, absent)
    world = among.world(bodies=bodies, slack=slack)
    for k, part in enumerate(parts_of(bodies, pieces)):
        through = world if pieces == 1 else among.engine.part(world, part)
        piece = type(landing)(among.engine, through, given, np.inf, landing.refuse)
        rows = piece.slide(
            fall if k == pieces - 1 else none, on, among.engine.motions(part), rules, _arcs(part)
        )
        way = cp.where(swept[:, None], rows["velocity"], np.nan)
        way = way if which is None else cp.where(which[:, None], way, np.nan)
        given = replace(given, start=rows["position"], path=way)
        status = rows["status"] if k == 0 else cp.where(rows["status"] > status, rows["status"], status)
        count = rows["casts"] + count
    if pieces > 1:
        rows["velocity"] = cp.where(swept[:, None], rows["velocity"] * float(pieces), 0.0)
        rows["fall_velocity"] = cp.where(swept[:, None], rows["fall_velocity"], 0.0)
        rows["casts"] = cp.where(swept, count, np.int32(0))
    rows["status"] = cp.where(lost, np.uint8(Status.INVALID_INPUT), status)
    return rows


def _arcs(bodies: Bodies) -> tuple[Array, Array, Array] | None:
    """What `DeviceQueries.slide` needs of bodies that carry along an arc; None: there are none."""
    turns, quat = turns_of(bodies)
    return (turns.astype(np.int32), quat, bodies.start.position) if turns.any() else None
