"""Overlaps along recordings: how deep bodies are in each other at the frames of an encounter, and when they
part."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_collide.queries.clearance import clearance
from gpu_collide.queries.collide import collide
from gpu_collide.recordings.tracks import Tracks
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.results.clearance import Clearance
    from gpu_collide.results.encounters import Encounters
    from gpu_collide.results.trajectory_contacts import TrajectoryContacts

__all__ = ["FramesTogether", "frames_together", "with_depths"]


class FramesTogether(NamedTuple):
    """Frames of encounters at which the two bodies may overlap, in the order of (encounter, frame).

    Attributes
    ----------
    of, frame : (k,) int ndarray
        Encounter and frame: the start of each step at which the two overlap, and the end of the last one.
    row : (k,) int ndarray
        Row of `pairs` and of `told`, which frames share between which neither body moves.
    inside : (k,) bool ndarray
        They do overlap.
    bodies, pairs : Bodies, (r, 2) int ndarray
        The bodies of each row by themselves.
    told : Clearance
    """

    of: Array
    frame: Array
    row: Array
    inside: Array
    bodies: Bodies
    pairs: Array
    told: Clearance


def frames_together(
    tracks: Tracks, met: Encounters, found: TrajectoryContacts, machine: dict[str, Any]
) -> FramesTogether:
    """Depths of the encounters `met` of `found` at their frames."""
    owner, step = _starts_inside(tracks, met, found)
    of, frame = np.concatenate([owner, np.arange(len(met))]), np.concatenate([step, met.last_step + 1])
    order = np.lexsort([frame, of])
    of, frame = of[order], frame[order]
    a, b = met.body_a[of], met.body_b[of]
    again = np.zeros(len(of), bool)  # nothing has moved since the frame before
    again[1:] = (of[1:] == of[:-1]) & (frame[1:] == frame[:-1] + 1)
    for body in (a, b):
        here, before = tracks.at(body, frame), tracks.at(body, np.maximum(frame - 1, 0))
        again &= (here.position == before.position).all(axis=1)
        again &= (here.quat_wxyz == before.quat_wxyz).all(axis=1)
    asked = np.flatnonzero(~again)
    bodies, pairs = tracks.pairs_of(a[asked], b[asked], frame[asked])
    told = clearance(bodies, pairs, at=0.0, **machine)
    row = np.cumsum(~again) - 1
    inside = (told.status == Status.INITIAL_OVERLAP)[row]
    return FramesTogether(of, frame, row, inside, bodies, pairs, told)


def _starts_inside(tracks: Tracks, met: Encounters, found: TrajectoryContacts) -> tuple[Array, Array]:
    """Encounter and step of each step of `found` at whose start two bodies overlap."""
    rows = found.pairs[found.pairs["status"] == Status.INITIAL_OVERLAP]
    span, count = len(tracks.times) + 2, tracks.n + tracks.n_static
    begins = (met.body_a.astype(np.int64) * count + met.body_b) * span + met.first_step
    asked = (rows["body_a"].astype(np.int64) * count + rows["body_b"]) * span + rows["step"]
    by_pair = np.argsort(begins)
    return by_pair[np.searchsorted(begins[by_pair], asked, "right") - 1], rows["step"]


def with_depths(
    recording: Any, found: TrajectoryContacts, motion: Any, machine: dict[str, Any]
) -> Encounters:
    """The encounters of `found`, with depths, and until the motion takes the bodies apart."""
    met = found.encounters()
    tracks = Tracks(recording, found.skipped)
    at = frames_together(tracks, met, found, machine)
    depth = np.where(at.inside, 0.0 - at.told.distance[at.row], -1.0)
    deepest = np.lexsort([at.frame, -depth, at.of])
    deepest = deepest[np.searchsorted(at.of[deepest], np.arange(len(met)))]
    last = met.last_time.copy()
    np.maximum.at(last, at.of[at.inside], tracks.times[at.frame[at.inside]])
    bodies, pairs = tracks.pairs_of(met.body_a, met.body_b, met.last_step, met.last_step + 1)
    exits = collide(bodies, pairs, exit=True, motion=motion, contacts="first", **machine).exit
    assert exits is not None
    begin, end = tracks.times[met.last_step], tracks.times[met.last_step + 1]
    parted = np.where(exits < 1.0, begin + exits * (end - begin), end)
    last = np.fmax(last, np.where(np.isnan(exits), np.nan, parted))
    return dataclasses.replace(
        met,
        last_time=last,
        depth=np.maximum(depth[deepest], 0.0),
        depth_time=np.where(at.inside[deepest], tracks.times[at.frame[deepest]], np.nan),
    )
