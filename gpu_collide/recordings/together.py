"""`events_of`: events of many recordings, several of which are asked about at once."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_positive
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.recordings.events import events
from gpu_collide.recordings.recording import Recording
from gpu_collide.results.events import TrafficEvents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["events_of"]

_OF_ONE = ("world", "group", "mask", "ignore")  # options that have numbers of the vehicles of one recording


def events_of(
    recordings: Iterable[Recording], *, at_once: int = 16, **options: Any
) -> Iterator[TrafficEvents]:
    """Events of many recordings, one after the other, each with the bits that `events` has for it alone.

    Recordings whose frames have the same times are asked about together, which saves most of what a call
    costs: half of the time of scenarios of a hundred vehicles.

    Parameters
    ----------
    recordings : iterable of Recording
        Such as a generator: no more than `at_once` of them are held.
    at_once : int, optional
        How many are looked at together, at most. Those with bodies that stand still (``static``) are asked
        about by themselves.
    **options
        Of `events`, but for `world`, `group`, `mask` and `ignore`, which are about the vehicles of one.

    Yields
    ------
    TrafficEvents
        In the order of the recordings.

    Raises
    ------
    TypeError, ValueError
        Wrong options, at the call; something that is no recording, when it is reached.

    Examples
    --------
    >>> import gpu_collide as gc
    >>> cars = {"id": ["ego", "ego", "van", "van"], "time": [0, 0.2, 0, 0.2], "x": [0, 5, 6, 6],
    ...         "y": [0, 0, 0, 0], "yaw": [0, 0, 90, 90], "length": [4, 4, 6, 6], "width": [2, 2, 2, 2]}
    >>> many = (gc.Recording.from_table(cars | {"x": [0, 5, x, x]}, degrees=True) for x in (5, 6, 60))
    >>> [found.time.round(9).tolist() for found in gc.events_of(many)]
    [[0.08], [0.12], []]
    """
    at_once = check_positive(at_once, "at_once", integer=True)
    if not isinstance(recordings, Iterable):
        kind = type(recordings).__name__
        raise TypeError(f"recordings: expected several Recordings, got {kind}; pass a list, or call events")
    given = [name for name in _OF_ONE if options.get(name) is not None]
    if given:
        raise TypeError(
            f"{given[0]}: expected no such option, which is about the vehicles of one recording; call events "
            "for each"
        )
    for name in options:
        if name not in inspect.signature(events).parameters:
            raise TypeError(f"{name}: events has no such option")
    for name in ("max_distance", "max_ttc", "max_pet"):
        if name in options:
            check_positive(options[name], name, none_ok=name != "max_distance")
    return _answers(iter(recordings), at_once, options)


def _answers(recordings: Iterator[Recording], at_once: int, options: Any) -> Iterator[TrafficEvents]:
    while some := list(islice(recordings, at_once)):
        groups: dict[Any, list[int]] = {}
        for k, recording in enumerate(some):
            if not isinstance(recording, Recording):
                kind = type(recording).__name__
                raise TypeError(
                    f"recordings: expected Recordings, got {kind}; Recording.from_table makes one"
                )
            alone = recording.static is not None or recording.n_bodies == 0
            clock = recording.times.tobytes(), recording.race_lengths.tobytes()
            groups.setdefault(k if alone else clock, []).append(k)
        found: dict[int, TrafficEvents] = {}
        for group in groups.values():
            found |= zip(group, _together([some[k] for k in group], options), strict=True)
        yield from (found[k] for k in range(len(some)))


def _together(recordings: Sequence[Recording], options: Any) -> list[TrafficEvents]:
    """Events of recordings on one clock: each is a world of its own."""
    if len(recordings) == 1:
        return [events(recordings[0], **options)]
    first, meshes, shapes = recordings[0], list[Mesh](), []
    for recording in recordings:
        own = np.zeros(recording.n_bodies, np.int32) if recording.shape is None else recording.shape
        shapes.append(own + np.int32(len(meshes)))
        meshes += recording.meshes
    counts = np.array([recording.n_bodies for recording in recordings])
    source: Any = _Beside(recordings, first.frames, int(counts.sum()))
    whole = replace(first, meshes=tuple(meshes), shape=np.concatenate(shapes), _source=source)
    found = events(whole, world=np.repeat(np.arange(len(recordings)), counts), **options)
    begin = np.cumsum(counts) - counts
    of = np.searchsorted(begin, found.body_a, "right") - 1
    told = []
    for k, recording in enumerate(recordings):
        rows = np.flatnonzero(of == k)
        fields = {name: getattr(found, name)[rows] for name in TrafficEvents._rows}
        for name in ("body_a", "body_b"):
            fields[name] = fields[name] - begin[k].astype(np.int32)
        info = {**found.info, "n_bodies": recording.n_bodies, **recording._ids_in_info}
        told.append(TrafficEvents(**fields, info=info))
    return told


@dataclass
class _Beside:
    """Bodies of several recordings on one clock, one recording after the other."""

    recordings: Sequence[Recording]
    frames: Array
    n_bodies: int
    named: bool = False

    @property
    def ids(self) -> Array:
        """What bodies are called in warnings."""
        parts = [part.ids.tolist() for part in self.recordings]
        return np.array([f"{one} of recording {k}" for k, ids in enumerate(parts) for one in ids], object)

    def poses(self, first: int, stop: int) -> tuple[Poses, Array]:
        return _beside([recording._source.poses(first, stop) for recording in self.recordings])

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[tuple[Poses, Array]]:
        parts = (recording._source.blocks(first, stop, frames) for recording in self.recordings)
        return map(_beside, zip(*parts, strict=True))


def _beside(blocks: Sequence[tuple[Poses, Array | None]]) -> tuple[Poses, Array]:
    position, quat, valid = (
        np.concatenate([getattr(poses, name) for poses, _ in blocks], axis=1)
        for name in ("position", "quat_wxyz", "valid")
    )
    there = [np.ones(poses.shape, bool) if here is None else here for poses, here in blocks]
    return Poses(position, quat, valid), np.concatenate(there, axis=1)
