"""What a run consists of, from inputs and options alone: recordings, and items of bounded size."""

from __future__ import annotations

import collections
import json
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_collide.recordings.files import RECORDING_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gpu_collide._types import StrPath
    from gpu_collide.recordings.recording import Recording

__all__ = ["Item", "Plan", "Source", "items_of", "sources_of"]

BYTES_PER_POSE = 32  # of a recording in single precision: files are bundled by their size, unopened


@dataclass(frozen=True)
class Source:
    """A recording on disk: its name in the tables, where it is, how large, and when it was written."""

    name: str
    path: str
    size: int
    mtime_ns: int

    @property
    def told(self) -> list[Any]:
        return [self.name, self.path, self.size, self.mtime_ns]

    @classmethod
    def at(cls, path: str, name: str = "") -> Source:
        """Of a folder (Zarr) all files together; what is not there has size -1."""
        try:
            files = [entry.stat() for entry in _files(path)]
        except OSError:
            return cls(name, path, -1, 0)
        return cls(name, path, sum(f.st_size for f in files), max((f.st_mtime_ns for f in files), default=0))


def _files(path: str) -> Iterator[Any]:
    if not os.path.isdir(path):
        yield Path(path)
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path)
            else:
                yield entry


@dataclass(frozen=True)
class Item:
    """What a worker does in one go, and writes as one part of each table.

    Attributes
    ----------
    number : int
    recordings : tuple of int
        Small recordings bundled, or a single one.
    steps : (first, stop) or None
        Of a recording cut in time: its steps, by the number of the frame that each begins at.
    cut : (kind, k, parts) or None
        Of a recording cut by "worlds" or in "space": which share of its bodies.
    joins : tuple of (item, share)
        Items whose encounters it joins, in the order of steps, and the share of the bodies that each has.
    given_up : tuple of (recording, kind, text)
        Recordings that are not looked at any more, with their rows of errors.
    """

    number: int
    recordings: tuple[int, ...]
    steps: tuple[int, int] | None = None
    cut: tuple[str, int, int] | None = None
    joins: tuple[tuple[int, int], ...] = ()
    given_up: tuple[tuple[int, str, str], ...] = ()

    def without(self, recording: int, kind: str, text: str) -> Item:
        return replace(self, given_up=(*self.given_up, (recording, kind, text)))

    def to_dict(self) -> dict[str, Any]:
        """What is said in ``plan.json``: what is not empty."""
        named = {"recordings": self.recordings, "steps": self.steps, "cut": self.cut, "joins": self.joins}
        return {name: list(value) for name, value in named.items() if value}

    @classmethod
    def from_dict(cls, number: int, said: dict[str, Any]) -> Item:
        steps, cut = (tuple(said[name]) if name in said else None for name in ("steps", "cut"))
        joins = tuple((item, share) for item, share in said.get("joins", ()))
        return cls(number, tuple(said["recordings"]), steps, cut, joins)


@dataclass(frozen=True)
class Plan:
    """A run: what is asked, of which recordings, cut into which items."""

    question: dict[str, Any]
    sources: list[Source]
    items: list[Item]

    def text(self) -> str:
        """``plan.json``: the same inputs and options give the same bytes."""
        lines = [
            json.dumps({"format": 1, "question": self.question}, sort_keys=True)[:-1],
            '"recordings": [\n' + ",\n".join(json.dumps(s.told) for s in self.sources) + "]",
            '"items": [\n' + ",\n".join(json.dumps(item.to_dict()) for item in self.items) + "]}\n",
        ]
        return ",\n".join(lines)

    @classmethod
    def resumed(cls, text: str, question: dict[str, Any], sources: list[Source]) -> Plan:
        """The plan that was begun with, if it is of the same; raises if not, and says in what it differs."""
        try:
            was = json.loads(text)
            old_question, recordings = was["question"], was["recordings"]
            items = [Item.from_dict(k, said) for k, said in enumerate(was["items"])]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"resume: plan.json of the run is damaged ({error}); begin another run"
            ) from error
        advice = "finish the run with what it was begun with, or write to another folder"
        question = json.loads(json.dumps(question))
        for name in sorted(old_question | question):
            old, new = old_question.get(name), question.get(name)
            if old != new:
                told = f"{_brief(old, new)}, now {_brief(new, old)}"
                raise ValueError(f"resume: {name} is not what the run was begun with: {told}; {advice}")
        if len(recordings) != len(sources):
            raise ValueError(
                f"resume: the run was begun with {len(recordings)} recordings, now there are "
                f"{len(sources)}; {advice}"
            )
        for old, source in zip(recordings, sources, strict=True):
            if old[:2] != [source.name, source.path]:
                raise ValueError(f"resume: inputs had {old[1]!r} where now is {source.path!r}; {advice}")
            if old != source.told:
                raise ValueError(
                    f"resume: recording {old[1]!r} was changed since (its size or its time differs); {advice}"
                )
        return cls(question, sources, items)


def _brief(value: Any, other: Any) -> str:
    """Of two dictionaries the entries that differ; of anything else what it is, if that is short."""
    if isinstance(value, dict) and isinstance(other, dict):
        value = {k: v for k, v in value.items() if other.get(k, value) != v}
    text = json.dumps(value)
    return text if len(text) <= 100 else text[:97] + "..."


def sources_of(
    inputs: StrPath | Any, out: str, suffixes: tuple[str, ...] = RECORDING_SUFFIXES
) -> list[Source]:
    """Recordings that are named: files, folders with all that is in them but `out`, or several of both.
    `suffixes` are those of recordings in folders."""
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    paths: list[str] = []
    for given in inputs:
        if not isinstance(given, (str, os.PathLike)):
            raise TypeError(f"inputs: expected names of recordings or folders, got {type(given).__name__}")
        path = os.path.abspath(os.fspath(given))
        if not os.path.exists(path):
            raise FileNotFoundError(f"inputs: there is no recording or folder {path!r}")
        inside = (
            sorted(_recordings_in(path, out, suffixes))
            if os.path.isdir(path) and not path.lower().endswith(suffixes)
            else [path]
        )
        if not inside:
            raise ValueError(f"inputs: no recording ({', '.join(suffixes)}) is in folder {path!r}")
        paths += inside
    if not paths:
        raise ValueError("inputs: expected at least one recording, got none")
    twice = [path for path, count in collections.Counter(paths).items() if count > 1]
    if twice:
        raise ValueError(
            f"inputs: expected each recording once, got {len(twice)} more than once, first: {twice[0]!r}"
        )
    folder = os.path.commonpath([os.path.dirname(path) for path in paths])
    return [Source.at(path, os.path.relpath(path, folder).replace(os.sep, "/")) for path in paths]


def _recordings_in(folder: str, out: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.lower().endswith(suffixes):
                yield entry.path
            elif entry.is_dir() and entry.path != out:
                yield from _recordings_in(entry.path, out, suffixes)


def items_of(
    sources: list[Source],
    poses_per_item: int,
    cut: tuple[str, int] | None,
    joins: bool,
    load: Callable[[Source], Recording],
) -> list[Item]:
    """Items, none of much more than so many poses.

    Parameters
    ----------
    cut : (kind, parts) or None
        How every recording is cut beside time.
    joins : bool
        Encounters are wanted: of a recording that is cut, an item of its own joins them.
    load : callable
        Opens a recording; only those whose files are large are opened.
    """
    items: list[Item] = []
    bundle: list[int] = []
    room = limit = poses_per_item * BYTES_PER_POSE
    for number, source in enumerate(sources):
        if source.size <= limit and cut is None:
            if source.size > room:
                items.append(Item(len(items), tuple(bundle)))
                bundle, room = [], limit
            bundle.append(number)
            room -= max(source.size, 0)
            continue
        pieces = [
            Item(len(items) + k, (number,), steps, share)
            for k, (steps, share) in enumerate(_pieces(source, poses_per_item, cut, load))
        ]
        items += pieces
        if joins and len(pieces) > 1:
            joined = tuple((piece.number, piece.cut[1] if piece.cut else 0) for piece in pieces)
            items.append(Item(len(items), (number,), joins=joined))
    if bundle:
        items.append(Item(len(items), tuple(bundle)))
    return items


def _pieces(source: Source, poses_per_item: int, cut: Any, load: Any) -> list[tuple[Any, Any]]:
    """Stretches of steps of a recording, and of each its shares in space or of worlds."""
    try:
        recording = load(source)
    except (ValueError, TypeError, OSError):
        return [(None, None)]  # its item will say what is wrong with it
    shares = [None] if cut is None else [(cut[0], k, cut[1]) for k in range(cut[1])]
    steps = max(len(recording.times) - 1, 0)
    poses = len(recording.times) * max(recording.n_bodies, 1) // len(shares)
    stretches = max(1, min(math.ceil(poses / poses_per_item), steps))
    if stretches == 1:
        return [(None, share) for share in shares]
    at = [steps * k // stretches for k in range(stretches + 1)]
    return [(pair, share) for pair in zip(at[:-1], at[1:], strict=True) for share in shares]
