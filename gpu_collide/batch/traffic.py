"""`gpu_collide.batch.events`: meetings and near misses of many recordings, as one table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_collide._calls import within_memory
from gpu_collide._validate import check_bool, check_positive
from gpu_collide._version import __version__
from gpu_collide.batch import files, tables
from gpu_collide.batch.item import Job, is_of_recording, write_item
from gpu_collide.batch.plan import Item, sources_of
from gpu_collide.batch.run import carried_out, check_run, fingerprint
from gpu_collide.queries.trajectories import check_step_options
from gpu_collide.recordings.files import TRAFFIC_SUFFIXES, load_recording
from gpu_collide.recordings.together import events_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal

    from gpu_collide._types import BackendName, MotionName, Precision, StrPath
    from gpu_collide.batch.plan import Source
    from gpu_collide.batch.run import BatchSummary, EngineName
    from gpu_collide.recordings.recording import Recording

__all__ = ["events", "recordings_in"]

_ITEM_BYTES = 1 << 25  # of files that are bundled in an item
_ITEM_RECORDINGS = 64  # so many at most: what a run that is killed does again
_AT_ONCE = 16


@within_memory
def events(
    inputs: StrPath | Sequence[StrPath],
    out: StrPath,
    *,
    columns: Mapping[str, Any] | None = None,
    max_distance: float = 1.0,
    max_ttc: float | None = 1.5,
    max_pet: float | None = 5.0,
    motion: MotionName = "body",
    max_speed: float | None = None,
    max_turn: float | None = None,
    precision: Precision = "mixed",
    backend: BackendName = "auto",
    max_bytes: int | None = None,
    engine: EngineName = "serial",
    workers: int | None = None,
    threads_per_worker: int | None = None,
    resume: bool = False,
    retries: int = 2,
    on_error: Literal["record", "raise"] = "record",
    progress: Callable[[BatchSummary], object] | None = None,
) -> BatchSummary:
    """Events of traffic along many recordings, as one table in a folder; resumable, and always the same
    bytes.

    Parameters
    ----------
    inputs : path or sequence of paths
        Tables of vehicles and traffic as others write it, as `load_recording` reads them, and folders: then
        all ``.csv``, ``.parquet``, ``.xml``, ``.mcap`` and ``.osi`` files in them, but for the meta files of
        drone recordings.
    out : path
        Folder for the results; made if it is not there.
    columns : mapping, optional
        As for `load_recording`, the same for all.
    max_distance, max_ttc, max_pet, motion, max_speed, max_turn, precision, backend, max_bytes
        As in `gpu_collide.events`.
    engine, workers, threads_per_worker, resume, retries, on_error, progress
        As in `gpu_collide.batch.collide`.

    Returns
    -------
    BatchSummary

    Raises
    ------
    TypeError, ValueError, FileExistsError, RuntimeError, OSError
        As in `gpu_collide.batch.collide`.

    Notes
    -----
    ``out/events`` is a folder of Parquet files that is read as one table, by ``pandas.read_parquet`` for
    instance: the rows of all recordings, with its name in the first column, and those of each with the bits
    that `gpu_collide.events` has for it alone. ``out/errors`` has the recordings that could not be read.
    Recordings on one clock are asked about together (`events_of`).
    """
    retries = check_run(engine, workers, threads_per_worker, retries, on_error, progress)
    resume = check_bool(resume, "resume")
    for name, value in (("max_distance", max_distance), ("max_ttc", max_ttc), ("max_pet", max_pet)):
        check_positive(value, name, none_ok=name != "max_distance")
    steps: dict[str, Any] = {
        "motion": motion,
        "max_speed": max_speed,
        "max_turn": max_turn,
        "precision": precision,
    }
    machine: dict[str, Any] = {"backend": backend, "max_bytes": max_bytes}
    check_step_options(**steps, **machine)
    asked = {"max_distance": max_distance, "max_ttc": max_ttc, "max_pet": max_pet, **steps}
    told = {name: fingerprint(value) for name, value in asked.items()}
    given = {"columns": None if columns is None else dict(columns)}
    question = {
        "versions": {"gpu_collide": __version__, "pyarrow": tables.arrow().__version__},
        "tables": ["events"], "options": told, "columns": given["columns"],
    }  # fmt: skip
    about = {"version": __version__, "precision": precision, "options": told}
    folder = Path(os.path.abspath(os.fspath(out)))
    job = _EventsJob(folder, given, {**asked, **machine}, ("events",), about, on_error == "record")
    sources = recordings_in(inputs, folder)
    working: dict[str, Any] = {"engine": engine, "workers": workers, "threads_per_worker": threads_per_worker}
    return carried_out(
        job, question, sources, lambda: _bundles(sources), resume, retries, progress, **working
    )


def recordings_in(inputs: StrPath | Sequence[StrPath], out: StrPath) -> list[Source]:
    """Files that are named, and those in folders but `out`; none that only tells about another."""
    sources = sources_of(inputs, os.path.abspath(os.fspath(out)), TRAFFIC_SUFFIXES)
    return [s for s in sources if not s.path.lower().endswith(("_tracksmeta.csv", "_recordingmeta.csv"))]


def _bundles(sources: list[Source]) -> list[Item]:
    """Items of some recordings each, by the sizes of their files."""
    bundles: list[list[int]] = []
    room = 0
    for number, source in enumerate(sources):
        if not bundles or source.size > room or len(bundles[-1]) == _ITEM_RECORDINGS:
            bundles.append([])
            room = _ITEM_BYTES
        bundles[-1].append(number)
        room -= max(source.size, 0)
    return [Item(k, tuple(bundle)) for k, bundle in enumerate(bundles)]


@dataclass(frozen=True)
class _EventsJob(Job):
    """Events of recordings; keywords are those of `gpu_collide.events`."""

    def run(self, item: Item, sources: list[Source]) -> dict[str, Any]:
        rows: list[Any] = []
        errors: list[tuple[str, str, int, str, str]] = []
        given_up = {number: (kind, text) for number, kind, text in item.given_up}
        numbered = list(zip(item.recordings, sources, strict=True))
        with files.crumbs(self.out, item.number) as at, files.tried(self.out, item.number) as again:
            some = 1 if again or given_up else _AT_ONCE  # to see which one ends the process
            for first in range(0, len(numbered), some):
                group: list[tuple[Source, Recording]] = []
                for number, source in numbered[first : first + some]:
                    at(number)
                    try:
                        if number in given_up:
                            errors.append((source.name, source.path, 0, *given_up[number]))
                        else:
                            group.append((source, self._read(source)))
                    except Exception as error:
                        errors.append(self._noted(source, error))
                rows += self._tables(group, errors)
        return write_item(self, item, {"events": rows}, errors, {})

    def _read(self, source: Source) -> Recording:
        if source.at(source.path, source.name) != source:
            raise ValueError(f"path: {source.path!r} was changed or removed since the run was planned")
        return load_recording(source.path, **self.given)

    def _noted(self, source: Source, error: Exception) -> tuple[str, str, int, str, str]:
        """The row of errors of a recording, or the error is raised."""
        if not (self.record and is_of_recording(error)):
            raise error
        return source.name, source.path, 0, type(error).__name__, str(error)

    def _tables(self, group: list[tuple[Source, Recording]], errors: list[Any]) -> list[Any]:
        """Tables of recordings; those that cannot be asked about become errors."""
        try:
            found = list(events_of((recording for _, recording in group), **self.options))
        except Exception as error:
            if len(group) == 1:
                errors.append(self._noted(group[0][0], error))
                return []
            return [table for one in group for table in self._tables([one], errors)]
        return [
            tables.events_table(told, source.name) for told, (source, _) in zip(found, group, strict=True)
        ]
