"""A part of a recording, some of its steps or bodies, whose results have the bits of the whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.results.near_misses import NearMisses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from gpu_collide._types import Array
    from gpu_collide.bodies.poses import Poses
    from gpu_collide.recordings.recording import Recording

    Block: TypeAlias = tuple[Poses, Array | None]

__all__ = ["numbered", "some_bodies", "some_steps"]


@dataclass
class _Window:
    """Frames of another source, counted from `begin`."""

    source: Any
    begin: int
    frames: Array
    ids: Array
    n_bodies: int
    named: bool

    def poses(self, first: int, stop: int) -> Block:
        return self.source.poses(self.begin + first, self.begin + stop)

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[Block]:
        return self.source.blocks(self.begin + first, self.begin + stop, frames)


@dataclass
class _Rows:
    """Some bodies of another source."""

    source: Any
    rows: Array
    frames: Array
    ids: Array
    n_bodies: int
    named: bool

    def poses(self, first: int, stop: int) -> Block:
        return self._some(self.source.poses(first, stop))

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[Block]:
        return map(self._some, self.source.blocks(first, stop, frames))

    def _some(self, block: Block) -> Block:
        poses, there = block
        return poses[:, self.rows], None if there is None else there[:, self.rows]


def some_steps(recording: Recording, first: int, stop: int) -> Recording:
    """Steps `first` up to `stop`: their frames, and the one behind, which the next piece has as well.

    Its steps are numbered from 0: ``found.shifted(first)`` has the numbers of the whole.
    """
    frames = slice(first, min(stop + 1, len(recording.times)))
    ends = np.clip(np.cumsum(recording.race_lengths), frames.start, frames.stop)
    lengths = np.diff(ends, prepend=frames.start)
    named = recording._source.named
    source = _Window(
        recording._source, first, recording.frames[frames], recording.ids, recording.n_bodies, named
    )
    return replace(
        recording, times=recording.times[frames], race_lengths=lengths[lengths > 0], _source=source
    )


def some_bodies(recording: Recording, rows: Array) -> Recording:
    """The moving bodies `rows`, which increase, and all that stands still; `numbered` gives numbers back."""
    shape = None if recording.shape is None else recording.shape[rows]
    source = _Rows(
        recording._source, rows, recording.frames, recording.ids[rows], len(rows), recording._source.named
    )
    return replace(recording, shape=shape, _source=source)


def numbered(found: Any, rows: Array, whole: Recording) -> Any:
    """What `some_bodies` found, contacts or near misses, with the numbers that the bodies have in the whole
    recording."""
    n_bodies = whole.n_bodies
    n_static = found.info["n_static"]
    number = np.concatenate([rows, n_bodies + np.arange(n_static)]).astype(np.int32)
    skipped = found.skipped.copy()
    skipped["body"] = number[skipped["body"]]
    changed: dict[str, Any] = {}
    if isinstance(found, NearMisses):
        assert found.frames is not None
        changed["moved"] = np.full(n_bodies, found.frames[1] - 1)  # of the others nothing is known
        changed["moved"][rows] = found.moved
    else:
        changed["pairs"] = found.pairs.copy()
        for name in ("body_a", "body_b"):
            changed["pairs"][name] = number[found.pairs[name]]
    return replace(
        found,
        body_a=number[found.body_a],
        body_b=number[found.body_b],
        skipped=skipped,
        info={**found.info, "n_bodies": n_bodies, **whole._ids_in_info},
        **changed,
    )
