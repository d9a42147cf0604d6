"""Contacts of movers with bodies that move, as `collide` tells them, and which of them stop a mover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.bodies.bodies import with_spins
from gpu_collide.bodies.quaternion import turn_vector
from gpu_collide.bodies.spins import Spins
from gpu_collide.geometry.preparation import prepared
from gpu_collide.queries.collide import collide
from gpu_collide.queries.pluecker.gaps import Meetings
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array, ContactsWanted
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.queries.pluecker.gaps import Gaps

__all__ = ["ask", "part_of_step", "stopping", "way_of"]

#: Pairs of which `collide` gives up a step are asked in halves of it, down to this share.
SHORTEST = 1.0 / 8.0
#: Features that part by less than this share of the pair's speed may still be on their way in.
PARTS = 1e-8
#: Where they neither part nor approach at the start, so much of a step later tells, divided by the turns.
SOON = 2.0**-10


def part_of_step(bodies: Bodies, begin: float, end: float) -> Bodies:
    """The bodies over a part of their step."""
    if (begin, end) == (0.0, 1.0):
        return bodies
    start = bodies.start if begin == 0.0 else bodies.poses_at(begin)
    made = bodies.moved(start, bodies.end if end == 1.0 else bodies.poses_at(end))
    if bodies.spins is None:
        return made
    spins, share = bodies.spins, end - begin
    return with_spins(made, Spins(spins.kind, share * spins.displacement, share * spins.rotation,
                                  spins.center))  # fmt: skip


def ask(
    bodies: Bodies,
    pairs: Array,
    contacts: ContactsWanted,
    options: dict[str, Any],
    begin: float = 0.0,
    end: float = 1.0,
) -> tuple[Meetings, Array]:
    """Contacts of pairs of bodies, and of which pairs they are not known, (p,) bool. Where the first ones are
    wanted, there may be later ones among them."""
    found = collide(part_of_step(bodies, begin, end), pairs, motion="body", contacts=contacts,
                    check_start=False, results="host", **options)  # fmt: skip
    met, lost = Meetings.of(found, begin, end), found.status == Status.UNRESOLVED
    if not lost.any() or end - begin <= SHORTEST:
        return met, lost
    again, middle = np.flatnonzero(lost), 0.5 * (begin + end)
    parts = [met.take(~lost[met.pair])]
    for half in ((begin, middle), (middle, end)):
        met, unknown = ask(bodies, pairs[again], contacts, options, *half)
        lost[again] = unknown if half[0] == begin else lost[again] | unknown
        parts.append(met._replace(pair=again[met.pair].astype(met.pair.dtype)))
    return Meetings(*(np.concatenate(columns) for columns in zip(*parts, strict=True))), lost


def stopping(gaps: Gaps, met: Meetings, precision: str) -> Array:
    """Numbers of the contacts that stop a mover: whose features do not part, nor slide on each other."""
    (reach, speed), (reach_b, speed_b) = _reach_and_speed(gaps.a), _reach_and_speed(gaps.b)
    touch = float(sources.constants(precision)["GC_TOL_TOUCH"]) * np.maximum(reach, reach_b)
    speed = PARTS * (speed + speed_b)
    stops = (met.normal_speed <= speed) & ~met.sustained
    doubtful = np.flatnonzero(stops & (met.time == 0.0) & (met.normal_speed >= -speed))
    if doubtful.size:  # at the start, neither: what leaves does so to the second order
        soon = SOON / (1.0 + _angles(gaps.a)[doubtful] + _angles(gaps.b)[doubtful])
        some = gaps.take(doubtful)
        stops[doubtful] = some.at(soon)[0] - some.at(0.0 * soon)[0] <= 4.0 * touch[doubtful]
    lasting = np.flatnonzero(met.sustained)
    if lasting.size:  # what slides, and sinks in by what counts as touch, does not go on
        some = gaps.take(lasting)
        begins, ends = some.at(met.time[lasting])[0], some.at(met.time_end[lasting])[0]
        stops[lasting] = (ends < begins) & (ends < -0.5 * touch[lasting])
    return np.flatnonzero(stops)


def _angles(bodies: Bodies) -> Array:
    """How far bodies turn, (n,)."""
    turn = turn_vector(bodies.start.unit_wxyz, bodies.end.unit_wxyz)
    if bodies.spins is not None:
        turn = np.where(bodies.spins.spinning[:, None], bodies.spins.rotation, turn)
    return np.asarray(np.linalg.norm(turn, axis=1))


def _reach_and_speed(bodies: Bodies) -> tuple[Array, Array]:
    """How far from their origins bodies reach, and a bound of what any point of each goes and turns, (n,)."""
    measures = np.array([prepared.measures_of(mesh) for mesh in bodies.meshes])[bodies.shape]
    reach = np.linalg.norm(measures[:, :3], axis=1) + measures[:, 3]
    angle = _angles(bodies)
    return reach, way_of(bodies) * (1.0 + angle) + angle * (1.0 + angle) * reach


def way_of(bodies: Bodies) -> Array:
    """How far the origins of bodies go at most, (n,), turns of an arm left out."""
    way = np.linalg.norm(bodies.end.position - bodies.start.position, axis=1)
    if bodies.spins is None:
        return np.asarray(way)
    spins = bodies.spins
    return np.asarray(way + np.linalg.norm(spins.displacement, axis=1)
                      + 2.0 * np.linalg.norm(spins.center, axis=1))  # fmt: skip
