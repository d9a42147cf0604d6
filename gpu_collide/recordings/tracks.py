"""Where the bodies of a recording are in each of its steps, and where they would come to as they move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.motion import screw_velocity
from gpu_collide.bodies.poses import Poses
from gpu_collide.queries.collide import collide
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["Tracks", "least_ttc_of_steps", "merged"]

_MOST_BODIES = 1 << 16  # in one call
_MOST_TURN = 2.0  # radians of a piece of a predicted motion: less than half a turn, so that it has one screw


class Tracks:
    """Poses of moving and static bodies by frame, held in memory.

    Attributes
    ----------
    meshes : tuple of Mesh
    shape : (n + static,) ndarray of int
    last : (t - 1,) ndarray of int
        Of each step the last one of its race.
    known : (t - 1, n) bool
        Steps of which each moving body has both poses, and was not skipped.
    """

    def __init__(self, recording: Any, skipped: Array) -> None:
        frames, self.n, still = len(recording.times), recording.n_bodies, recording.static
        self.times, self.meshes = recording.times, recording.meshes
        self.shape = np.zeros(self.n, int) if recording.shape is None else recording.shape
        poses = recording.poses()
        position, quat = poses.position.reshape(-1, 3), poses.unit_wxyz.reshape(-1, 4)
        self.n_static = 0 if still is None else len(still)
        if still is not None:
            position = np.concatenate([position, still.start.position])
            quat = np.concatenate([quat, still.start.unit_wxyz])
            self.shape = np.concatenate([self.shape, still.shape + len(self.meshes)])
            self.meshes += still.meshes
        self._position, self._quat, self._static = position, quat, frames * self.n
        valid = poses.valid.reshape(frames, self.n)
        self.known = valid[:-1] & valid[1:] & (np.diff(self.times) > 0)[:, None]
        self.last = np.arange(len(self.known))
        for first, stop in recording.races:
            self.known[first - 1 : first] = False
            self.last[first : stop - 1] = stop - 2
        self.known[skipped["step"], skipped["body"]] = False

    def at(self, body: Array, frame: Array) -> Poses:
        """Poses of bodies at frames, both (k,)."""
        row = np.where(body < self.n, frame * self.n + body, self._static + body - self.n)
        return Poses.from_quat_wxyz(self._position[row], self._quat[row])

    def both_known(self, a: Array, b: Array, step: Array) -> Array:
        """(k,) bool: whether both bodies are known in a step, which may be none."""
        there = (step >= 0) & (step < len(self.known))
        for body in (a, b):
            moving = there & (body < self.n)
            there[moving] = self.known[step[moving], body[moving]]
        return there

    def pairs_of(self, a: Array, b: Array, first: Array, last: Array | None = None) -> tuple[Bodies, Array]:
        """Bodies of each of some pairs by themselves, from frame `first` to frame `last` (default: at rest),
        and their numbers (k, 2)."""
        body, frame = np.concatenate([a, b]), np.concatenate([first, first])
        start = self.at(body, frame)
        end = start if last is None else self.at(body, np.concatenate([last, last]))
        bodies = Bodies(self.meshes, self.shape[body], start, end)
        return bodies, np.arange(2 * len(a)).reshape(2, -1).T

    def velocity(self, body: Array, step: Array, place: Array) -> Array:
        """(k, 3) velocity in the world of what is at a place, length per second, on the body's own screw."""
        seconds = self.times[step + 1] - self.times[step]
        moved = screw_velocity(self.at(body, step), self.at(body, step + 1), place)
        return moved / seconds[:, None]


def merged(key: Array, first: Array, last: Array, steps: int) -> Array:
    """(k,) int: numbers from 0 of the runs that intervals of steps make, those of one `key` that follow each
    other without a gap."""
    order = np.lexsort([first, key])
    span = steps + 2
    begin, end = (key * span + first)[order], np.maximum.accumulate((key * span + last)[order])
    run = np.empty(len(key), int)
    run[order] = np.cumsum(np.append(False, begin[1:] > end[:-1] + 1)[: len(key)])
    return run


def least_ttc_of_steps(
    tracks: Tracks, horizon: float, rules: dict[str, Any], options: dict[str, Any]
) -> tuple[Array, Array, Array, Array]:
    """Time to collision at the start of each step, of all pairs that would meet within `horizon` seconds.

    Each body goes on along the screw of the step, that is with constant speed and yaw rate, and `collide`
    finds the first contacts. Pairs that overlap at the start of the step have none.

    Parameters
    ----------
    tracks : Tracks
    horizon : float
    rules : dict
        ``world``, (n,), ``group`` and ``mask``, (n + static,), and ``ignore``, (k, 2), int ndarrays or None.
    options : dict
        Of `collide`.

    Returns
    -------
    body_a, body_b, step : (k,) int ndarray
        In the order of (body_a, body_b, step).
    seconds : (k,) float64 ndarray
    """
    step, body = np.nonzero(tracks.known)
    seconds = np.diff(tracks.times)
    share = horizon / seconds[step]
    start, end = tracks.at(body, step), tracks.at(body, step + 1)
    cosine = np.abs((start.unit_wxyz * end.unit_wxyz).sum(axis=-1))
    turn = float((2.0 * np.arccos(np.minimum(cosine, 1.0)) * share).max(initial=0.0))
    pieces = max(1, int(np.ceil(turn / _MOST_TURN)))
    room = max(1, _MOST_BODIES // (pieces * max(tracks.n, 1)))  # steps of a call
    found = []
    for first in range(0, len(tracks.known), room):
        rows = np.arange(*np.searchsorted(step, [first, first + room]))
        found.append(_predicted(tracks, step[rows], body[rows], share[rows], pieces, horizon, rules, options))
    if not found:
        return (*(np.zeros(0, int),) * 3, np.zeros(0))
    a, b, at, when = (np.concatenate(values) for values in zip(*found, strict=True))
    order = np.lexsort([when, at, b, a])
    a, b, at, when = (values[order] for values in (a, b, at, when))
    begins = np.append(True, (np.diff(a) != 0) | (np.diff(b) != 0) | (np.diff(at) != 0))[: len(a)]
    earliest = begins & (when > 0.0)  # 0: they overlap at the start of the step
    return a[earliest], b[earliest], at[earliest], when[earliest]


def _predicted(
    tracks: Tracks, step: Array, body: Array, share: Array, pieces: int, horizon: float, rules: Any,
    options: Any,
) -> tuple[Array, ...]:  # fmt: skip
    """Pairs of some steps that meet in a piece of the horizon: bodies, step, seconds; 0 where they overlap at
    its start."""
    start, end = tracks.at(body, step), tracks.at(body, step + 1)
    cuts = [start.toward(end, share * (k / pieces)) for k in range(pieces + 1)]
    still = np.arange(tracks.n, tracks.n + tracks.n_static)
    static = tracks.at(still, np.zeros(len(still), int))
    of = np.concatenate([np.tile(body, pieces), still])
    bodies = Bodies(
        tracks.meshes, tracks.shape[of],
        Poses.concatenate([*cuts[:-1], static]), Poses.concatenate([*cuts[1:], static]),
    )  # fmt: skip
    piece = np.repeat(np.arange(pieces), len(step))
    scene = np.tile(step, pieces) * pieces + piece  # bodies of a step and piece are a world
    bits: dict[str, Any] = {
        name: None if rules[name] is None else rules[name][of] for name in ("group", "mask")
    }
    ignore = None if rules["ignore"] is None else _ignored(rules["ignore"], scene, of, still)
    if (world := rules["world"]) is not None:
        scene = scene * (int(world.max(initial=0)) + 1) + world[np.tile(body, pieces)]
    scene = np.concatenate([scene, np.full(len(still), -1)])
    met = collide(bodies, world=scene, ignore=ignore, contacts="first", motion="body", **bits, **options)
    closes = np.bincount(met.pair[met.normal_speed < 0], minlength=len(met.status)) > 0
    inside = met.status == Status.INITIAL_OVERLAP
    rows = np.flatnonzero(inside | ((met.status == Status.HIT) & closes))
    assert met.pairs is not None
    a, b = met.pairs[rows].T
    first = np.minimum(a, b)  # one of the two moves
    seconds = (piece[first] + np.where(inside[rows], 0.0, met.toi[rows])) * (horizon / pieces)
    low, high = np.minimum(of[a], of[b]), np.maximum(of[a], of[b])
    return low, high, np.tile(step, pieces)[first], seconds


def _ignored(pairs: Array, scene: Array, of: Array, still: Array) -> Array:
    """Rows (k, 2) of bodies that are ignored pairs in one scene: bodies `of` of moving ones, scene by scene,
    and then the ones that stand still."""
    scenes, where = np.unique(scene, return_inverse=True)
    place = np.full((len(scenes), int(max(of.max(initial=0), pairs.max(initial=0))) + 1), -1)
    place[where.reshape(-1), of[: len(scene)]] = np.arange(len(scene))
    place[:, still] = len(scene) + np.arange(len(still))
    rows = place[:, pairs].reshape(-1, 2)
    rows = rows[(rows >= 0).all(axis=1)]
    return rows[(rows < len(scene)).any(axis=1)]
