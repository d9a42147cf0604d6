"""`events`: meetings and near misses of vehicles along a recording, as a table."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide._calls import warn_caller, within_memory
from gpu_collide._validate import as_int_array, check_positive, how_many
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.quaternion import rotate
from gpu_collide.geometry.boxes import boxes, size_of_box
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.clearance import clearance
from gpu_collide.queries.trajectories import check_ignore, check_numbers
from gpu_collide.recordings.encroachment import post_encroachment_times
from gpu_collide.recordings.overlaps import FramesTogether, frames_together
from gpu_collide.recordings.recording import Recording
from gpu_collide.recordings.steps import Steps, steps_of
from gpu_collide.recordings.tracks import Tracks, merged
from gpu_collide.results.enums import EventKind, Side, Status
from gpu_collide.results.events import TrafficEvents

if TYPE_CHECKING:
    from gpu_collide._types import Array, ArrayLike, BackendName, MotionName, Precision
    from gpu_collide.results.trajectory_contacts import TrajectoryContacts

__all__ = ["events"]

_TOGETHER = 1e-9  # of a step: contacts so near to the first one are first contacts too
_TALL = np.array([1.0, 1.0, 100.0])  # so that what takes two vehicles apart is level
_LEVEL = 1e-9  # of the z component of directions
_SIDES = ((Side.FRONT, Side.REAR), (Side.LEFT, Side.RIGHT), (Side.TOP, Side.BOTTOM))


@within_memory
def events(
    recording: Recording,
    *,
    max_distance: float = 1.0,
    max_ttc: float | None = 1.5,
    max_pet: float | None = 5.0,
    world: ArrayLike | None = None,
    group: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    ignore: ArrayLike | None = None,
    motion: MotionName = "body",
    max_speed: float | None = None,
    max_turn: float | None = None,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
) -> TrafficEvents:
    """Meetings and near misses of vehicles along a recording: a row for each, with what an analyst asks.

    Parameters
    ----------
    recording : Recording
        Of vehicles whose x axis is ahead and whose z axis is up, as `Recording.from_table` makes them.
    max_distance : float, optional
        Vehicles that come so near are a near miss. Unit of the poses.
    max_ttc : float or None, optional
        Seconds: vehicles that would meet so soon if each kept its speed and yaw rate are a near miss as well.
        None: times to collision are not computed.
    max_pet : float or None, optional
        Seconds up to which post-encroachment times are looked for, of near misses. None: not at all.
    world : (n,) array_like of int, optional
        Scene that each vehicle belongs to, 0 and up; vehicles of different ones do not meet.
    group, mask : (n,) or (n + static,) array_like of int, optional
        32 bits each: two vehicles have events if ``group[a] & mask[b]`` and ``group[b] & mask[a]``, as in
        `collide`. Default: all ones.
    ignore : (k, 2) array_like of int, optional
        Pairs without events, such as a truck and its trailer, by places in `Recording.ids`; what stands still
        is counted on behind the vehicles.
    motion : {"body", "relative"}, optional
        How vehicles move between their rows, as in `collide`. By default each on its own arc, as velocities,
        times to collision and post-encroachment times have it in either case.
    max_speed, max_turn
        As in `collide_trajectories`: who has jumped.
    precision, backend, max_bytes
        As in `collide`.

    Returns
    -------
    TrafficEvents
        Tables by ``to_pandas()``, ``to_arrow()`` and ``save("events.parquet")``.

    Raises
    ------
    TypeError, ValueError
        Wrong arguments, before anything is computed.

    Notes
    -----
    A row is an encounter of `TrajectoryContacts.encounters`; or a run of steps without one, in each of which
    two bodies come within `max_distance` (`NearMisses`), or would have met within `max_ttc`, as they moved in
    it or in a step up to so long before. Time to collision
    after J. C. Hayward, "Near-miss determination through use of a scale of danger", Highway Research Record
    384, 1972, here of whole shapes on arcs (constant turn rate and velocity): the first contact that
    `collide` finds along the screw of the step, continued. Post-encroachment time after B. L. Allen, B. T.
    Shin and P. J. Cooper, Transportation Research Record 667, 1978, of whole shapes and all places: the least
    d so that one vehicle at t touches the other at t + d, to a millionth of the interval of frames. The
    default thresholds of both are those of D. Gettman et al., "Surrogate Safety Assessment Model and
    Validation", FHWA-HRT-08-051, 2008.

    All poses of the recording are held in memory, below 200 bytes for each vehicle and frame, and some 300
    bytes for each contact, predicted meeting and step within `max_distance`. All that is asked of them is
    asked in batches, whose working memory `max_bytes` limits.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> cars = {"id": ["ego", "ego", "van", "van"], "time": [0, 0.2, 0, 0.2], "x": [0, 5, 6, 6],
    ...         "y": [0, 0, 0, 0], "yaw": [0, 0, 90, 90], "length": [4, 4, 6, 6], "width": [2, 2, 2, 2]}
    >>> found = gc.events(gc.Recording.from_table(cars, degrees=True))
    >>> found.id_a.tolist(), found.time.round(9).tolist(), found.closing_speed.round(9).tolist()
    (['ego'], [0.12], [25.0])
    >>> found.to_pandas()[["kind", "side_a", "side_b", "clock_a"]].values.tolist()
    [['COLLISION', 'FRONT', 'LEFT', 12]]
    """
    if not isinstance(recording, Recording):
        raise TypeError(
            f"recording: expected a Recording, got {type(recording).__name__}; Recording.from_table makes "
            "one of a table"
        )
    max_ttc = check_positive(max_ttc, "max_ttc", none_ok=True)
    max_pet = check_positive(max_pet, "max_pet", none_ok=True)
    if world is not None:
        world = as_int_array(world, "world", shape=(recording.n_bodies,), low=0)
    count = recording.n_bodies + (0 if recording.static is None else len(recording.static))
    group, mask = (
        check_numbers(bits, name, recording.n_bodies, count, 0xFFFFFFFF)
        for bits, name in ((group, "group"), (mask, "mask"))
    )
    ignore = check_ignore(ignore, count)
    rules = {"world": world, "group": group, "mask": mask, "ignore": ignore}
    machine: dict[str, Any] = {"precision": precision, "backend": backend, "max_bytes": max_bytes}
    along = {"motion": motion, "max_speed": max_speed, "max_turn": max_turn, **rules, **machine}
    asked = steps_of(recording, check_positive(max_distance, "max_distance"), max_ttc, machine, along)
    tracks = Tracks(recording, asked.found.skipped)
    if len(tracks.lost):
        warn_caller(
            f"{how_many(len(tracks.lost), 'vehicle')} of {recording.n_bodies} in no step, and so in no "
            "event: seen at single times only, or without a place or heading; first: "
            f"{recording.ids[tracks.lost[0]]}"
        )
    rows = _Rows(tracks, asked, max_ttc or 0.0)
    told = {**_meetings(rows, asked.found, machine), "pet": np.zeros(len(rows.met))}
    missed = _near_misses(rows)
    a, b = missed["body_a"], missed["body_b"]
    missed["pet"] = np.full(len(a), np.inf)
    if max_pet is not None and len(a):
        steps = missed["first_step"], missed["last_step"]
        missed["pet"] = post_encroachment_times(tracks, a, b, *steps, max_pet, machine)
    fields = {name: np.concatenate([told[name], missed[name]]) for name in missed}
    fields |= _seen_from_both(tracks, fields)
    order = np.lexsort([fields[name] for name in ("step", "body_b", "body_a", "time")])
    info = {name: value for name, value in asked.info.items() if name != "frames_per_batch"}
    info |= {"max_ttc": max_ttc, "max_pet": max_pet}
    shown = {name: fields[name][order] for name in TrafficEvents._rows}
    return TrafficEvents(**shown, info=info)


class _Rows:
    """Which steps of two bodies belong together: encounters, passes and predicted meetings, in runs.

    Attributes
    ----------
    met : Encounters
    near, ttc : dict
        As `Steps` has them.
    run_met, run_near, run_ttc : ndarray of int
        The run of each.
    runs : int
        How many.
    first, last : (runs,) ndarray of int
    pair : (runs, 2) ndarray of int
    """

    def __init__(self, tracks: Tracks, asked: Steps, horizon: float) -> None:
        self.tracks, self.near, self.ttc, self.nearest = tracks, asked.near, asked.ttc, asked.nearest
        met, passes, near, ttc = asked.found.encounters(), asked.passes, asked.near, asked.ttc
        self.met = met
        a, b = (
            np.concatenate([getattr(met, name), passes[name], ttc[name], near[name]]).astype(np.int64)
            for name in ("body_a", "body_b")
        )
        times, step = tracks.times, ttc["step"]  # what is predicted is waited for
        until = np.searchsorted(times, times[step] + horizon) - 1
        until = np.clip(until, step, tracks.last[step])
        first = np.concatenate([met.first_step, passes["first_step"], step, near["step"]])
        last = np.concatenate([met.last_step, passes["last_step"], until, near["step"]])
        key = np.unique(a * (tracks.n + tracks.n_static) + b, return_inverse=True)[1].reshape(-1)
        run = merged(key, first, last, len(times))
        counts = [len(met), len(passes["body_a"]), len(step)]
        self.run_met, _, self.run_ttc, self.run_near = np.split(run, np.cumsum(counts))
        self.runs = int(run.max(initial=-1)) + 1
        self.span = len(times) + 2
        self.first, self.last = np.full(self.runs, self.span), np.full(self.runs, -1)
        np.minimum.at(self.first, run, first)
        np.maximum.at(self.last, run, last)
        self.pair = np.zeros((self.runs, 2), np.int32)
        self.pair[run] = np.stack([a, b], axis=1)

    def least_ttc(self, of: Array, count: int) -> dict[str, Array]:
        """Least time to collision of `count` events; `of`: the event of each prediction, -1: none."""
        step, seconds = self.ttc["step"], self.ttc["seconds"]
        least, when = np.full(count, np.inf), np.full(count, np.inf)
        rows = np.flatnonzero(of >= 0)
        rows = rows[np.lexsort([step[rows], seconds[rows], of[rows]])]
        have, at = np.unique(of[rows], return_index=True)
        least[have], when[have] = seconds[rows[at]], self.tracks.times[step[rows[at]]]
        return {"ttc": least, "ttc_time": when}


def _meetings(rows: _Rows, found: TrajectoryContacts, machine: dict[str, Any]) -> dict[str, Array]:
    """Fields of the rows that are encounters."""
    met, tracks = rows.met, rows.tracks
    a, b = met.body_a.astype(np.int64), met.body_b.astype(np.int64)
    order = np.lexsort([met.first_step, rows.run_met])
    key = (rows.run_met * rows.span + met.first_step)[order]
    pairs, inside = found.pairs, found.pairs["status"] == Status.INITIAL_OVERLAP
    count = tracks.n + tracks.n_static
    code = (a * count + b) * rows.span
    of_row = (pairs["body_a"].astype(np.int64) * count + pairs["body_b"]) * rows.span + pairs["step"]
    row_order = np.argsort(of_row)
    begins = (
        row_order[np.searchsorted(of_row[row_order], code + met.first_step)] if len(met) else np.zeros(0, int)
    )
    place, normal, fraction, time = _first_contacts(found, begins)
    overlap = _overlaps(frames_together(tracks, met, found, machine), len(met), machine)
    starts = inside[begins]  # they are in each other when the first step begins
    for values, other in ((place, overlap["position"]), (normal, overlap["normal"])):
        values[starts] = other[starts]
    fraction[starts] = 0.0
    time[starts] = tracks.times[met.first_step[starts]]
    ahead = np.searchsorted(key, rows.run_ttc * rows.span + rows.ttc["step"])
    fits = ahead < len(key)
    fits[fits] = key[ahead[fits]] // rows.span == rows.run_ttc[fits]
    of = np.full(len(fits), -1)
    of[fits] = order[ahead[fits]]
    return {
        "body_a": a, "body_b": b, "kind": np.where(met.in_touch, EventKind.IN_TOUCH, EventKind.COLLISION),
        "time": time, "step": met.first_step, "fraction": fraction,
        "first_time": met.first_time, "last_time": met.last_time,
        "first_step": met.first_step, "last_step": met.last_step, "point_a": place, "point_b": place,
        "normal": normal, "gap": np.zeros(len(met)), "depth": overlap["depth"],
        "overlap_frames": overlap["frames"], **rows.least_ttc(of, len(met)),
    }  # fmt: skip


def _first_contacts(found: TrajectoryContacts, begins: Array) -> tuple[Array, ...]:
    """Of rows of pairs the middle of their first contacts, the normal of the hardest of them, the fraction of
    the step and the time; zeros without contacts."""
    start, counts = found.contact_start[begins], np.diff(found.contact_start)[begins]
    of = np.repeat(np.arange(len(begins)), counts)
    contact = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts - start, counts)
    least = np.full(len(begins), np.inf)
    np.minimum.at(least, of, found.fraction[contact])
    first = found.fraction[contact] <= least[of] + _TOGETHER
    of, contact = of[first], contact[first]
    number = np.bincount(of, minlength=len(begins))
    place, normal = np.zeros((len(begins), 3)), np.zeros((len(begins), 3))
    np.add.at(place, of, found.position[contact])
    place /= np.maximum(number, 1)[:, None]
    rows = np.lexsort([found.normal_speed[contact], of])
    have, at = np.unique(of[rows], return_index=True)
    normal[have] = found.normal[contact[rows[at]]]
    time = np.where(number > 0, found.pairs["toi"][begins], 0.0)
    return place, normal, np.where(number > 0, least, 0.0), time


def _overlaps(at: FramesTogether, count: int, machine: dict[str, Any]) -> dict[str, Array]:
    """Deepest level overlap of `count` encounters at their frames, how many of these overlap, and where at
    the first one."""
    bodies, pairs, told = at.bodies, at.pairs, at.told
    normal, position, distance = told.normal.copy(), 0.5 * (told.point_a + told.point_b), told.distance.copy()
    steep = np.flatnonzero(np.abs(normal[:, 2]) > _LEVEL)  # ask for the least level depth
    if len(steep):
        tall = _tall(bodies, pairs[steep])
        with warnings.catch_warnings():  # that they are very large
            warnings.simplefilter("ignore", RuntimeWarning)
            flat = clearance(tall, np.arange(2 * len(steep)).reshape(-1, 2), at=0.0, **machine)
        normal[steep], distance[steep] = flat.normal, flat.distance
        position[steep] = 0.5 * (flat.point_a + flat.point_b)
        position[steep, 2] = bodies.start.position[pairs[steep]][..., 2].mean(axis=1)
    of = at.of[at.inside]
    depth = np.zeros(count)
    np.maximum.at(depth, of, -distance[at.row[at.inside]])
    first = at.row[np.searchsorted(at.of, np.arange(count))]
    blank = ~normal.any(axis=1)
    position[blank] = bodies.start.position[pairs[blank]].mean(axis=1)
    return {
        "depth": depth,
        "frames": np.bincount(of, minlength=count),
        "position": position[first],
        "normal": normal[first],
    }


def _tall(bodies: Bodies, pairs: Array) -> Bodies:
    """The bodies of pairs, one behind the other, stretched along their z axes."""
    used, shape = np.unique(bodies.shape[pairs.ravel()], return_inverse=True)
    meshes = [bodies.meshes[k] for k in used]
    sizes = [size_of_box(mesh) for mesh in meshes]
    if all(size is not None for size in sizes):
        tall = boxes(np.array(sizes) * _TALL)
    else:
        tall = [_stretched(mesh) for mesh in meshes]
    here = bodies.start[pairs.ravel()]
    return Bodies(tall, shape.reshape(-1), here, here)


def _stretched(mesh: Mesh) -> Mesh:
    """A mesh stretched along its z axis; a sphere becomes a capsule."""
    points = mesh.vertices * _TALL
    if mesh.thin:
        if len(points) == 1:
            points = points + np.array([[-1.0], [1.0]]) * (0.0, 0.0, _TALL[2] * mesh.rounding)
        return Mesh(points, [], rounding=mesh.rounding)
    return Mesh(points, mesh.faces, two_sided=mesh.two_sided, rounding=mesh.rounding)


def _near_misses(rows: _Rows) -> dict[str, Array]:
    """Fields of the rows that are no encounters."""
    tracks, number = rows.tracks, np.zeros(rows.runs, int)
    number[rows.run_met] = -1
    runs = np.flatnonzero(number == 0)
    number[runs] = np.arange(len(runs))
    a, b = rows.pair[runs].T.astype(np.int64)
    told = _gaps(rows, number, runs)
    times, step = tracks.times, told["step"]
    return {
        "body_a": a, "body_b": b, "kind": np.full(len(runs), EventKind.NEAR_MISS),
        "time": times[step] + told["fraction"] * (times[step + 1] - times[step]), **told,
        "first_time": times[rows.first[runs]], "last_time": times[rows.last[runs] + 1],
        "first_step": rows.first[runs], "last_step": rows.last[runs],
        "depth": np.zeros(len(runs)), "overlap_frames": np.zeros(len(runs), int),
        **rows.least_ttc(number[rows.run_ttc], len(runs)),
    }  # fmt: skip


def _gaps(rows: _Rows, number: Array, runs: Array) -> dict[str, Array]:
    """Least gaps of runs, of those steps that come near; of all of them if none does."""
    tracks, of = rows.tracks, number[rows.run_near]
    mine = of >= 0
    of, step, upper = of[mine], rows.near["step"][mine], rows.near["upper"][mine]
    other = np.setdiff1d(np.arange(len(runs)), of)
    counts = rows.last[runs[other]] + 1 - rows.first[runs[other]]
    more = np.repeat(other, counts)
    more_step = np.arange(len(more)) - np.repeat(np.cumsum(counts) - counts, counts)
    more_step += np.repeat(rows.first[runs[other]], counts)
    pair = rows.pair[runs[more]]
    known = tracks.both_known(pair[:, 0], pair[:, 1], more_step)
    more, more_step = more[known], more_step[known]
    of, step = np.concatenate([of, more]), np.concatenate([step, more_step])
    a, b = rows.pair[runs[of]].T
    away = np.linalg.norm(tracks.at(a, step).position - tracks.at(b, step).position, axis=1)
    upper = np.concatenate([upper, away[len(upper) :]])  # it only says which to ask first
    order = np.lexsort([step, of])
    a, b, of, step, upper = (values[order] for values in (a, b, of, step, upper))
    search = rows.nearest(*tracks.pairs_of(a, b, step, step + 1))
    search.limit[np.isin(of, other)] = np.inf
    told, which = search.nearest(np.arange(len(of)), upper, of)
    return {
        "step": step[which], "fraction": told["time"], "gap": told["distance"], "point_a": told["point_a"],
        "point_b": told["point_b"], "normal": told["normal"],
    }  # fmt: skip


def _seen_from_both(tracks: Tracks, told: dict[str, Array]) -> dict[str, Array]:
    """What follows from where the bodies are, and how they move, at the time of each row."""
    step, normal = told["step"], told["normal"]
    ahead, fields, velocity = {}, {}, {}
    for side, sign in (("a", 1.0), ("b", -1.0)):
        body, place = told[f"body_{side}"], told[f"point_{side}"]
        now = tracks.at(body, step).toward(tracks.at(body, step + 1), told["fraction"])
        back = now.inverse()
        out = rotate(back.unit_wxyz, sign * normal)
        fields[f"normal_in_{side}"] = out
        fields[f"side_{side}"] = _side(out)
        fields[f"clock_{side}"] = _clock(back.apply(place))
        fields[f"speed_{side}"] = np.linalg.norm(tracks.velocity(body, step, now.position), axis=1)
        velocity[side] = tracks.velocity(body, step, place)
        ahead[side] = rotate(now.unit_wxyz, np.broadcast_to([1.0, 0.0, 0.0], place.shape))
    relative = velocity["b"] - velocity["a"]
    x, y = ahead["a"], ahead["b"]
    turned = np.arctan2(x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0], x[:, 0] * y[:, 0] + x[:, 1] * y[:, 1])
    return {
        **fields, "position": 0.5 * (told["point_a"] + told["point_b"]), "relative_velocity": relative,
        "closing_speed": 0.0 - (relative * normal).sum(axis=1), "heading_difference": turned,
    }  # fmt: skip


def _side(out: Array) -> Array:
    """`Side` out of which directions (k, 3) in a vehicle's axes point."""
    axis = np.argmax(np.abs(out), axis=1)
    back = out[np.arange(len(out)), axis] < 0
    return np.where(out.any(axis=1), np.array(_SIDES)[axis, back.astype(int)], Side.NONE)


def _clock(place: Array) -> Array:
    """Hours 1 to 12 of places (k, 3) in a vehicle's axes, 12 ahead, clockwise; 0 on its z axis."""
    hour = np.rint(np.arctan2(-place[:, 1], place[:, 0]) * (6.0 / np.pi)).astype(int) % 12
    return np.where(place[:, :2].any(axis=1), np.where(hour == 0, 12, hour), 0)
