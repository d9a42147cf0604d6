"""Where the bodies of a recording are in each of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.motion import screw_velocity
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.preparation import prepared

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["Tracks", "merged"]


class Tracks:
    """Poses of moving and static bodies by frame, held in memory.

    Attributes
    ----------
    meshes : tuple of Mesh
    shape : (n + static,) ndarray of int
    last : (t - 1,) ndarray of int
        Of each step the last one of its race.
    bodies : Bodies
        All of them; where they are means nothing.
    measures : (m, 10) float64 ndarray
        Of the meshes, as `measures_of` has them.
    known : (t - 1, n) bool
        Steps of which each moving body has both poses, and was not skipped.
    lost : (k,) int ndarray
        Moving bodies that are there at some time, and known in no step.
    """

    def __init__(self, recording: Any, skipped: Array) -> None:
        frames, self.n, still = len(recording.times), recording.n_bodies, recording.static
        self.times, self.meshes = recording.times, recording.meshes
        self.shape = np.zeros(self.n, int) if recording.shape is None else recording.shape
        poses, there = recording._source.poses(0, frames)
        position, quat = poses.position.reshape(-1, 3), poses.unit_wxyz.reshape(-1, 4)
        self.n_static = 0 if still is None else len(still)
        if still is not None:
            position = np.concatenate([position, still.start.position])
            quat = np.concatenate([quat, still.start.unit_wxyz])
            self.shape = np.concatenate([self.shape, still.shape + len(self.meshes)])
            self.meshes += still.meshes
        none = Poses.identity(len(self.shape))
        self.bodies = Bodies(self.meshes, self.shape, none, none)
        self.shape = self.bodies.shape
        self.measures = np.array([prepared.measures_of(mesh) for mesh in self.meshes])
        self._position, self._quat, self._static = position, quat, frames * self.n
        valid = poses.valid.reshape(frames, self.n)
        self.known = valid[:-1] & valid[1:] & (np.diff(self.times) > 0)[:, None]
        self.last = np.arange(len(self.known))
        for first, stop in recording.races:
            self.known[first - 1 : first] = False
            self.last[first : stop - 1] = stop - 2
        self.known[skipped["step"], skipped["body"]] = False
        seen = poses.valid if there is None else there
        self.lost = np.flatnonzero(seen.reshape(frames, self.n).any(axis=0) & ~self.known.any(axis=0))

    def at(self, body: Array, frame: Array) -> Poses:
        """Poses of bodies at frames, both (k,)."""
        row = np.where(body < self.n, frame * self.n + body, self._static + body - self.n)
        return Poses.from_quat_wxyz(self._position[row], self._quat[row])

    def place(self, body: int, frame: Array) -> Array:
        """Positions (k, 3) of a body at frames."""
        row = frame * self.n + body if body < self.n else np.full(len(frame), self._static + body - self.n)
        return self._position[row]

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
        return self.bodies.again(self.shape[body], start, end), np.arange(2 * len(a)).reshape(2, -1).T

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
