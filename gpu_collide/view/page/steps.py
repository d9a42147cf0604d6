"""Scenes of pairs, of worlds, and of recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_int_array, how_many
from gpu_collide.bodies.refusals import check_motion
from gpu_collide.view.page.scene import Cast, Events, PageScene, fields_of, poses_of, stands_still

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.recordings.recording import Recording
    from gpu_collide.results.contacts import Contacts
    from gpu_collide.results.events import TrafficEvents
    from gpu_collide.results.trajectory_contacts import TrajectoryContacts

__all__ = ["scene_of_events", "scene_of_pairs", "scene_of_recording", "scene_of_worlds"]

ON_SCREW = "Bodies move along their screw motions."
ON_OWN = "Each body moves by its own motion."


def _shown(wanted: Array, most: int, what: str) -> tuple[Array, str]:
    """The first of what there is to show, and a sentence if that is not all."""
    if len(wanted) <= most:
        return wanted, ""
    return wanted[:most], f" The first {most:,} of {len(wanted):,} {what} with contacts are here."


def scene_of_pairs(contacts: Contacts, bodies: Bodies, most: int) -> PageScene:
    """Each pair a group of its own, in which B moves as A sees it."""
    if contacts.pairs is None:
        raise ValueError("result: expected contacts that know the bodies of their pairs; ask anew")
    own = _own(contacts, bodies)
    _check_bodies(contacts.pairs, len(bodies))
    counts = np.diff(contacts.contact_start)
    with_contacts = np.flatnonzero(counts) if counts.any() else np.arange(len(counts))
    chosen, left_out = _shown(with_contacts, most, "pairs")
    pairs = contacts.pairs[chosen]
    who = pairs.reshape(-1)
    poses = np.stack([poses_of(when)[who] for when in (bodies.start, bodies.end)])
    names = {k: "AB"[k % 2] for k in range(len(who))}
    cast = Cast(bodies.meshes, bodies.shape[who], poses, who, names=names, spins=_spins(bodies, who))
    position = np.full(len(counts), -1)
    position[chosen] = np.arange(len(chosen))
    group = position[contacts.pair]
    rows = np.flatnonzero(group >= 0)
    group = group[rows]
    events = Events.single(
        group, -contacts.normal_speed[rows], a=2 * group, b=2 * group + 1, time=contacts.time[rows],
        place=contacts.position[rows], normal=contacts.normal[rows], fields=fields_of(contacts, rows),
    )  # fmt: skip
    titles = [
        f"pair {i}: bodies {a} and {b}, {how_many(n, 'contact')}"
        for i, (a, b), n in zip(chosen.tolist(), pairs.tolist(), counts[chosen].tolist(), strict=True)
    ]
    return PageScene(
        f"{_many(contacts.n_pairs, 'pair')}, {_many(len(contacts), 'contact')}",
        (ON_OWN if own else "A moves along its screw motion, B along the one relative to A.") + left_out,
        cast, events, np.array([0.0, 1.0]), titles or ["nothing"],
        [np.array([2 * k, 2 * k + 1]) for k in range(len(chosen))] or [np.zeros(0, int)],
        np.tile([0, 1], (max(len(chosen), 1), 1)), pairs=True, own=own,
    )  # fmt: skip


def scene_of_worlds(contacts: Contacts, bodies: Bodies, world: Any, most: int) -> PageScene:
    """Each world a group of its own, with the bodies that are in all of them."""
    world = as_int_array(world, "world", shape=(len(bodies),), low=-1)
    if contacts.pairs is None:
        raise ValueError("result: expected contacts that know the bodies of their pairs; ask anew")
    own = _own(contacts, bodies)
    _check_bodies(contacts.pairs, len(bodies))
    of_pair = world[contacts.pairs]
    of_contact = np.where(of_pair[:, 0] >= 0, of_pair[:, 0], of_pair[:, 1])[contacts.pair]
    there = np.unique(of_contact) if len(of_contact) else np.unique(world[world >= 0])
    chosen, left_out = _shown(there, most, "worlds")
    still = stands_still(bodies)
    kept = np.isin(world, chosen) | (world < 0)
    movers, others = np.flatnonzero(kept & ~still), np.flatnonzero(kept & still)
    order = np.concatenate([movers, others])
    position = np.full(len(bodies), -1)
    position[order] = np.arange(len(order))
    poses = np.stack([poses_of(when)[movers] for when in (bodies.start, bodies.end)])
    cast = Cast(
        bodies.meshes,
        bodies.shape[movers],
        poses,
        order,
        bodies.shape[others],
        poses_of(bodies.start)[others],
        spins=_spins(bodies, movers),
    )
    rows = np.flatnonzero(np.isin(of_contact, chosen))
    a, b = position[contacts.pairs[contacts.pair[rows]]].T
    events = Events.single(
        np.searchsorted(chosen, of_contact[rows]), -contacts.normal_speed[rows], a=a, b=b,
        time=contacts.time[rows], place=contacts.position[rows], normal=contacts.normal[rows],
        fields=fields_of(contacts, rows),
    )  # fmt: skip
    numbers = np.bincount(events.group, minlength=len(chosen)).tolist()
    titles = [f"world {w}: {how_many(n, 'contact')}" for w, n in zip(chosen.tolist(), numbers, strict=True)]
    inside = [position[order[(world[order] == w) | (world[order] < 0)]] for w in chosen]
    return PageScene(
        f"{_many(len(there), 'world')}, {_many(len(contacts), 'contact')}",
        (ON_OWN if own else f"{ON_SCREW} At a contact that is chosen, B is where A sees it.") + left_out,
        cast, events, np.array([0.0, 1.0]), titles or ["nothing"], inside or [np.arange(len(order))],
        np.tile([0, 1], (max(len(chosen), 1), 1)), own=own,
    )  # fmt: skip


def _cast_of(recording: Recording, skipped: Array | None = None) -> Cast:
    """The bodies of a recording, by their ids where they have any."""
    moving, static, frames = recording.n_bodies, recording.static, len(recording.times)
    meshes, shape = recording.meshes, recording.shape
    hold = np.zeros((max(frames - 1, 0), moving), bool)
    if skipped is not None:
        skipped = skipped[skipped["step"] < len(hold)]
        hold[skipped["step"], skipped["body"]] = True
    still: dict[str, Any] = {}
    if static is not None:
        still = {"still_mesh": static.shape + len(meshes), "still_pose": poses_of(static.start)}
        meshes = meshes + static.meshes
    total = moving + (0 if static is None else len(static))
    shape = np.zeros(moving, int) if shape is None else shape
    cast = Cast(meshes, shape, poses_of(recording.poses()), np.arange(total), hold=hold, **still)
    cast.names |= {k: str(name) for k, name in enumerate(recording._ids_in_info.get("ids", []))}
    if static is not None and len(static) == 1:
        cast.names[moving] = "track"
    return cast


def scene_of_events(found: TrafficEvents, recording: Recording) -> PageScene:
    """Each race a group of its own; meetings and near misses are listed."""
    cast, races = _cast_of(recording), recording.races
    _check_bodies(np.stack([found.body_a, found.body_b], axis=1), len(cast.number))
    race = np.searchsorted([first for first, _ in races], found.step, side="right") - 1
    near = int((~found.met).sum())
    fields = fields_of(found, np.arange(len(found)))
    for about in fields:  # the list has a narrow column for what is called kind
        about["name"] = "event" if about["name"] == "kind" else about["name"]
    events = Events.single(
        race, found.closing_speed, np.where(found.met, -1, 0), a=found.body_a, b=found.body_b,
        time=found.time, place=found.position, normal=found.normal,
        fields=fields, labels=["near miss"],
    )  # fmt: skip
    return PageScene(
        f"{_many(recording.n_bodies, 'vehicle')}, {_many(len(found) - near, 'meeting')}, "
        f"{_many(near, 'near miss', 'near misses')}",
        f"{ON_OWN} Meetings show their closing speed, length per second.",
        cast, events, recording.times, [f"race {k}" for k in range(len(races))],
        [np.arange(len(cast.number))] * len(races),
        np.array([[first, max(stop - 1, first)] for first, stop in races]), unit="s", what="events",
        speed=("closing speed", "along the normal, length per second"), own=True,
    )  # fmt: skip


def scene_of_recording(found: TrajectoryContacts, recording: Recording) -> PageScene:
    """Each race a group of its own; events are encounters."""
    frames = len(recording.times)
    if len(found) and found.step.max() >= frames - 1:
        raise ValueError(
            f"scene: expected the recording that the contacts are of, got one of {frames} frames for "
            f"contacts up to step {found.step.max()}"
        )
    cast = _cast_of(recording, found.skipped)
    moving, total = recording.n_bodies, len(cast.number)
    _check_bodies(np.stack([found.body_a, found.body_b], axis=1), total)
    met = found.encounters()
    touched = met.contacts > 0
    inside = "" if touched.all() else (
        f" {_many(int((~touched).sum()), 'pair is', 'pairs are')} in each other without a contact: no event."
    )  # fmt: skip
    met = met[touched]
    owner = _encounter_of(found, met)
    order = np.lexsort([found.time, owner])
    start = np.concatenate([[0], np.cumsum(met.contacts)])
    row = np.empty(len(order), int)
    row[order] = np.arange(len(order))
    races = recording.races
    race = np.searchsorted([first for first, _ in races], met.first_step, side="right") - 1
    events = Events(
        start, race, row[met.hardest], met.approach, np.full(len(met), -1), found.time[order],
        found.position[order], found.normal[order], found.body_a[order], found.body_b[order],
        fields_of(found, order),
    )  # fmt: skip
    titles = [f"race {k}: {how_many(stop - first, 'frame')}" for k, (first, stop) in enumerate(races)]
    return PageScene(
        f"{_many(moving, 'body', 'bodies')}, {_many(len(met), 'encounter')}, {_many(len(found), 'contact')}",
        f"{ON_SCREW} Contacts of two bodies in consecutive steps are one encounter.{inside}",
        cast, events, recording.times, titles, [np.arange(total)] * len(races),
        np.array([[first, max(stop - 1, first)] for first, stop in races]), unit="s", what="encounters",
        speed=("hardest", "hardest approach along the normal, length per second"),
        own=found.info.get("motion") == "body",
    )  # fmt: skip


def _own(contacts: Contacts, bodies: Bodies) -> bool:
    """Does each body of the result move by its own motion? Complains of bodies that cannot be its."""
    motion = contacts.info.get("motion", "relative")
    check_motion(bodies, motion)
    return motion == "body"


def _spins(bodies: Bodies, rows: Array) -> Any:
    """`Spins` of some bodies, None if none of them spins."""
    return None if bodies.spins is None else bodies.spins.of(rows)


def _many(count: int, one: str, several: str | None = None) -> str:
    """A number of things, with its thousands apart."""
    return f"{count:,} " + (one if count == 1 else several or one + "s")


def _encounter_of(found: TrajectoryContacts, met: Any) -> Array:
    """The encounter of each contact."""
    both = np.concatenate([np.stack([r.body_a, r.body_b], axis=1) for r in (found, met)])
    pair = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    span = int(found.step.max()) + 1 if len(found) else 1
    begins = pair[len(found) :] * span + met.first_step
    order = np.argsort(begins)
    at = np.searchsorted(begins[order], pair[: len(found)] * span + found.step, side="right") - 1
    return order[at]


def _check_bodies(pairs: Array, count: int) -> None:
    if len(pairs) and pairs.max() >= count:
        raise ValueError(
            f"scene: expected the bodies that the result is of, got {count} of them for contacts of body "
            f"{pairs.max()}"
        )
