"""Movers among bodies that move during the same step: both on their own motions, solved by `collide`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.bodies.bodies import Bodies, with_spins
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import conjugate, rotate
from gpu_collide.bodies.rules import EVERYWHERE
from gpu_collide.bodies.spins import SPIN, Spins
from gpu_collide.geometry.arrays.angles import angle_of
from gpu_collide.queries.pairs import find_pairs
from gpu_collide.queries.pluecker.gaps import Gaps
from gpu_collide.queries.pluecker.meetings import ask, part_of_step, stopping, way_of
from gpu_collide.results.enums import Touch

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.movers import Motion, Movers
    from gpu_collide.bodies.rules import Rules
    from gpu_collide.queries.obstacles import Obstacles
    from gpu_collide.queries.pluecker.gaps import Meetings

__all__ = ["World", "until_touch"]

OBSTACLES, MOVERS = 1, 2
#: `Touch` of a mover, by the `Kind` FV, VF or EE of its contact with an obstacle as body A.
TOUCH = np.array([Touch.VF, Touch.FV, Touch.EE], np.uint8)
COLUMNS = ("kind", "feature_a", "body", "feature_b", "point", "normal")


class World(NamedTuple):
    """Bodies that move, and which of those of the caller's they are.

    Attributes
    ----------
    bodies : Bodies
    number : (k,) int
    rules : Rules
        Of all of the caller's bodies.
    options : dict
        Precision, backend and limit of memory, as `collide` takes them.
    """

    bodies: Bodies
    number: Array
    rules: Rules
    options: dict[str, Any]

    @classmethod
    def split(cls, among: Obstacles) -> tuple[Bodies, World]:
        """Bodies that stand still, with the others not there; and those that move. The same ones in the next
        call, so that what has been prepared for them serves again."""
        bodies = among.bodies
        if "_split" not in bodies.__dict__:
            start, number = bodies.start, np.flatnonzero(among.moving & bodies.valid)
            there = Poses(start.position, start.quat_wxyz, start.valid & ~among.moving)
            bodies.__dict__["_split"] = bodies.moved(there, there), bodies.take(number), number
        stand, some, number = bodies.__dict__["_split"]
        precision = "mixed" if among.engine.precision == "reference" else among.engine.precision
        options = {"precision": precision, "backend": among.where.name, "max_bytes": among.max_bytes}
        return stand, cls(some, number, among.rules, options)

    def has(self, rows: Movers) -> Array:
        """Which rows are about one of these bodies alone, (n,) bool."""
        return np.isin(rows.body, self.number)

    def extent(self) -> float:
        """The greatest coordinate of their origins on their ways, or more."""
        bodies = self.bodies
        far = np.maximum(np.abs(bodies.start.position), np.abs(bodies.end.position)).max(axis=1, initial=0.0)
        return float((far + way_of(bodies)).max(initial=0.0))


def until_touch(rows: Movers, asked: Motion, world: World, found: dict[str, Array]) -> Movers:
    """Make of what stops movers among still bodies what stops them first, of bodies that move as well.

    Parameters
    ----------
    rows : Movers
    asked : Motion
        Its parts take equal times of the step.
    world : World
    found : dict
        As an engine tells it, of still bodies, with fractions of whole turns; changed in place.

    Returns
    -------
    Movers
        Of which those of whom this cannot be told do not move.
    """
    n_parts = (asked.way is not None) + bool(asked.turns)
    begun = found["turns"] > 0
    last = (n_parts - 1) * begun  # number of the part in which each is stopped
    done = np.where(found["kind"] > 0, last + found["fraction"], np.inf)
    unresolved = np.zeros(len(done), bool)
    for part in range(n_parts):
        live = np.flatnonzero(rows.moves & ~unresolved & (done > part))
        some = part_of_step(world.bodies, part / n_parts, (part + 1) / n_parts)
        turns = part > 0 or asked.way is None
        movers = _turning(rows, asked, live) if turns else _shifted(rows, asked, live)
        if turns:
            _put(found, live, movers.end, world.has(rows)[live])
        stops, lost = _first(rows, live, movers, world._replace(bodies=some))
        unresolved[live[lost]] = True
        if stops is None:
            continue
        k, time = live[stops["row"]], part + stops["time"]
        sooner = time < done[k]
        k, stops = k[sooner], {name: column[sooner] for name, column in stops.items()}
        done[k] = time[sooner]
        for name in COLUMNS:
            found[name][k] = stops[name]
        found["fraction"][k], found["turns"][k] = stops["time"], 0
        if turns:
            _put(found, k, movers.take(stops["row"]).poses_at(stops["time"]))
    for name in ("turns", *COLUMNS):
        found[name][unresolved] = -1 if name in ("body", "feature_a", "feature_b") else 0
    return replace(rows, moves=rows.moves & ~unresolved)


def _put(found: dict[str, Array], rows: Array, poses: Poses, some: Any = True) -> None:
    """Where movers come to on a turn, of `some` of these rows."""
    some = np.broadcast_to(some, rows.shape)
    found["position"][rows[some]], found["quat"][rows[some]] = poses.position[some], poses.unit_wxyz[some]
    found["turns"][rows[some]] = 1


def _shifted(rows: Movers, asked: Motion, live: Array) -> Bodies:
    """Movers on their ways."""
    zero = np.zeros((len(live), 3))
    return _spinning(rows, live, rows.position[live], asked.way[live], zero, zero)  # type: ignore[index]


def _turning(rows: Movers, asked: Motion, live: Array) -> Bodies:
    """Movers at their turns."""
    place = rows.position if asked.way is None else rows.position + asked.way
    turn = asked.turns[0]
    half = angle_of(np.abs(turn.half[live, 0]), np.abs(turn.half[live, 1]))
    angle = 2.0 * np.where(turn.half[live, 1] < 0.0, np.pi - half, half) * turn.turns[live]
    if asked.split is not None:
        angle = angle * np.where(asked.split[live], 2.0, 1.0)
    middle = np.zeros((len(live), 3))
    if turn.pivot is not None:
        middle = rotate(conjugate(rows.quat[live]), turn.pivot[live] - place[live])
    return _spinning(rows, live, place[live], 0.0 * middle, angle[:, None] * turn.axis[live], middle)


def _spinning(
    rows: Movers, live: Array, place: Array, displacement: Array, rotation: Array, middle: Array
) -> Bodies:
    spins = Spins(np.full(len(live), SPIN), displacement, rotation, middle)
    start = Poses.from_quat_wxyz(place, rows.quat[live])
    made = Bodies(list(rows.meshes or ()), rows.shape[live], start, spins.poses_at(start, np.ones(len(live))))
    return with_spins(made, spins)


def _first(rows: Movers, live: Array, movers: Bodies, world: World) -> tuple[dict[str, Array] | None, Array]:
    """What stops each of some movers first in one part of the step, `row` numbering them, if anything does;
    and of which of them that cannot be told."""
    both = Bodies.concatenate((world.bodies, movers))
    first, zone = len(world.bodies), rows.zone[live]
    pairs, lost, told = _pairs(rows, live, both, world), np.zeros(len(live), bool), []
    for contacts in ("first", "all"):
        if not len(pairs):
            break
        met, unknown = ask(both, pairs, contacts, world.options)
        lost[pairs[unknown, 1] - first] = True
        gaps = Gaps.of(both, pairs[met.pair], met)
        stops = stopping(gaps, met, world.options["precision"])
        told.append(_told(gaps.take(stops), pairs[met.pair[stops]], met.take(stops), zone, world))
        rest = np.zeros(len(pairs), bool)
        rest[met.pair] = True
        rest[met.pair[stops]] = False
        pairs = pairs[rest]  # what touches and parts hides what comes later
    if not told:
        return None, lost
    joined = {name: np.concatenate([part[name] for part in told]) for name in told[0]}
    order = np.lexsort([joined[name] for name in ("feature_b", "body", "feature_a", "kind", "time", "row")])
    rows_of = joined["row"][order]
    order = order[np.r_[True, rows_of[1:] != rows_of[:-1]][: len(order)]]
    return {name: column[order] for name, column in joined.items()}, lost


def _pairs(rows: Movers, live: Array, both: Bodies, world: World) -> Array:
    """Moving bodies, and after them movers, that may meet: (p, 2) numbers of `both`."""
    first, body = len(world.bodies), rows.body[live]
    if (body >= 0).any():  # one for each row
        number = np.full(world.rules.n, -1)
        number[world.number] = np.arange(first)
        asked = np.flatnonzero(number[body] >= 0)
        return np.column_stack((number[body[asked]], first + asked)).astype(np.int32)
    side = np.where(np.arange(len(both)) < first, OBSTACLES, MOVERS)
    numbers, rules = None, world.rules
    ranks, _ = rules.ranks()
    if ranks is not None:
        rank = np.concatenate((ranks[world.number], rows.rank[live]))
        numbers = np.where(rank > 0, rank, EVERYWHERE)
    pairs = find_pairs(both, world=numbers, group=side, mask=OBSTACLES + MOVERS - side, motion="body",
                       **world.options)  # fmt: skip
    k = live[pairs[:, 1] - first]
    meet = rules.meet(rows.rank[k], rows.group[k], rows.mask[k], rows.own[k], world.number[pairs[:, 0]])
    return pairs[meet]


def _told(gaps: Gaps, pair: Array, stops: Meetings, zone: Array, world: World) -> dict[str, Array]:
    """What stops movers, by the names of a `Trace`, when they come into their zones."""
    mover = pair[:, 1] - len(world.bodies)
    time = gaps.enter(zone[mover])
    _, normal, point = gaps.at(time)
    return {
        "row": mover, "time": time, "kind": TOUCH[stops.kind], "feature_a": stops.feature_b,
        "body": world.number[pair[:, 0]], "feature_b": stops.feature_a, "point": point, "normal": normal,
    }  # fmt: skip
