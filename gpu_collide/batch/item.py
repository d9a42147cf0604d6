"""One item: read its recordings, ask, write its part of each table, and mark it as done."""

from __future__ import annotations

import errno
import json
import os
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_collide.backends import get_backend
from gpu_collide.batch import files, tables
from gpu_collide.batch.shares import share_of
from gpu_collide.errors import BackendUnavailableError, DeviceError, KernelCompileError
from gpu_collide.queries.clearance import clearance
from gpu_collide.recordings.files import load_recording
from gpu_collide.recordings.pieces import some_steps
from gpu_collide.recordings.recording import Recording

if TYPE_CHECKING:
    from typing import TypeAlias

    from gpu_collide.batch.plan import Item, Source

__all__ = [
    "Came", "Job", "Share", "asked_of", "is_of_machine", "is_of_recording", "run_item", "worked",
    "write_item",
]  # fmt: skip

FATAL = (BackendUnavailableError, DeviceError, ImportError, KernelCompileError)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)


_ALSO_NEAR = (
    "world", "group", "mask", "ignore", "motion", "precision", "backend", "max_bytes", "max_speed",
    "max_turn", "frames_per_batch",
)  # fmt: skip

LEAST_BYTES = 1 << 26  # of memory that a worker uses, however little is free

Came: TypeAlias = "dict[str, Any] | Exception"
"""What came of an item: its mark, or what was raised."""


@dataclass(frozen=True)
class Job:
    """What is the same for all items; it travels to each process once.

    Attributes
    ----------
    out : Path
    given : dict
        Keywords of `load_recording`: meshes, shape, static, two_sided.
    options : dict
        Keywords of `Recording.collide`.
    tables : tuple of str
    about : dict
        What the metadata of each table say.
    record : bool
        Whether trouble of a recording becomes a row of the errors.
    max_distance : float or None
        Of near misses.
    """

    out: Path
    given: dict[str, Any]
    options: dict[str, Any]
    tables: tuple[str, ...]
    about: dict[str, Any]
    record: bool
    max_distance: float | None = None

    def run(self, item: Item, sources: list[Source]) -> dict[str, Any]:
        """Do an item; `sources` are its recordings. Its mark is written last, and returned."""
        return run_item(self, item, sources)


@dataclass(frozen=True)
class Share:
    """What a worker may use of its machine.

    Attributes
    ----------
    threads : int
        Of the backend ``cpu``.
    workers : int
        How many share the memory that it computes in.
    gpu : str or None
        The one that it sees, as ``CUDA_VISIBLE_DEVICES`` names it; None: as it is.
    """

    threads: int
    workers: int
    gpu: str | None = None


_begun: tuple[Job, Job] | None = None  # of a worker: the job as it was given, and as it is done here


def worked(job: Job, item: Item, sources: list[Source], share: Share | None = None) -> Came:
    """`run_item` in a worker: the mark, or what was raised, in a form that can travel."""
    global _begun
    try:
        if _begun is None or _begun[0] is not job:
            _begun = job, job if share is None else _begin(job, share)
        return _begun[1].run(item, sources)
    except Exception as error:
        try:
            return pickle.loads(pickle.dumps(error))
        except Exception:
            return RuntimeError(f"{type(error).__name__}: {error}")


def _begin(job: Job, share: Share) -> Job:
    """Obey `share`, before anything is computed in this process. Where ``max_bytes`` is not given it is half
    of what is free, divided among the workers; no result depends on it."""
    os.environ["GPU_COLLIDE_THREADS"] = str(share.threads)
    if share.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = share.gpu
    if job.options.get("max_bytes") is not None:
        return job
    room = get_backend(job.options.get("backend", "auto")).memory_free() // (2 * share.workers)
    return replace(job, options={**job.options, "max_bytes": max(room, LEAST_BYTES)})


def run_item(job: Job, item: Item, sources: list[Source]) -> dict[str, Any]:
    """Do an item; `sources` are its recordings. Its mark is written last, and returned."""
    later = [name for name in job.tables if tables.TABLES[name].seams]
    if item.joins:
        return write_item(job, item, {name: _joined(job, item, sources[0], name) for name in later}, [], {})
    if not item.steps and not item.cut:
        later = []
    rows: dict[str, list[Any]] = {name: [] for name in job.tables}
    errors: list[tuple[str, str, int, str, str]] = []
    seams: dict[str, tuple[int, Any]] = {}
    step = item.steps[0] if item.steps else 0
    given_up = {number: (kind, text) for number, kind, text in item.given_up}
    with files.crumbs(job.out, item.number) as at:
        for number, source in zip(item.recordings, sources, strict=True):
            at(number)
            if number in given_up:
                errors.append((source.name, source.path, step, *given_up[number]))
                continue
            try:
                found = {ask: _found(job, item, source, ask) for ask in asked_of(job.tables)}
                answers = {name: found[tables.TABLES[name].asks] for name in job.tables}
                made = {n: tables.table(answers[n], n, source.name) for n in job.tables if n not in later}
                seams |= {_folder(n): (len(answers[n]), tables.seam_bytes(answers[n], n)) for n in later}
            except Exception as error:
                if not (job.record and is_of_recording(error)):
                    raise
                errors.append((source.name, source.path, step, type(error).__name__, str(error)))
            else:
                for name, table in made.items():
                    rows[name].append(table)
    return write_item(job, item, rows, errors, seams)


def write_item(
    job: Job, item: Item, rows: Any, errors: Any, seams: dict[str, tuple[int, Any]]
) -> dict[str, Any]:
    written = dict(seams)
    pa = tables.arrow()
    for name, parts in {**rows, tables.ERRORS: [tables.errors_table(errors)]}.items():
        if parts:
            whole = pa.concat_tables(parts, promote_options="default")  # some recordings have ids, some not
            written[name] = (whole.num_rows, tables.parquet_bytes(whole, job.about))
    files.write(job.out, {files.part(table, item.number): data for table, (_, data) in written.items()})
    mark = files.mark_of(item.number, written, len(errors))
    files.write(job.out, {files.part(files.DONE, item.number): json.dumps(mark, indent=1).encode() + b"\n"})
    return mark


def is_of_machine(error: Exception) -> bool:
    """Whether every recording would meet it: that ends the run, and is no row."""
    return isinstance(error, FATAL) or (isinstance(error, OSError) and error.errno in NO_ROOM)


def is_of_recording(error: Exception) -> bool:
    """Whether a recording is at fault, and always will be: the others go on."""
    if is_of_machine(error) or isinstance(error.__cause__, MemoryError):
        return False
    return isinstance(error, (ValueError, TypeError, FileNotFoundError, PermissionError, NotADirectoryError))


def asked_of(names: Any) -> list[str]:
    """The questions whose answers tables are of, each once."""
    return sorted({tables.TABLES[name].asks for name in names})


def _folder(name: str) -> str:
    folder = tables.TABLES[name].seams
    assert folder is not None
    return folder


def near_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those options of `Recording.collide` that `clearance` has as well."""
    return {name: value for name, value in options.items() if name in _ALSO_NEAR}


def _found(job: Job, item: Item, source: Source, ask: str) -> Any:
    recording = _opened(job, source)

    def answer(piece: Recording, options: dict[str, Any]) -> Any:
        if ask == tables.CONTACTS:
            return piece.collide(**options)
        assert job.max_distance is not None
        return clearance(piece, max_distance=job.max_distance, **near_options(options))

    if item.cut is not None:
        reach = 0.0 if ask == tables.CONTACTS else job.max_distance
        found = share_of(recording, item.steps, item.cut, job.options, answer, reach)
    else:
        piece = recording if item.steps is None else some_steps(recording, *item.steps)
        found = answer(piece, job.options)
    return found if item.steps is None else found.shifted(item.steps[0])


_last: tuple[Job, Source, Recording] | None = None  # of a recording in many items what was opened is kept


def _opened(job: Job, source: Source) -> Recording:
    global _last
    if _last is None or _last[0] is not job or _last[1] != source:
        _last = None
        if source.at(source.path, source.name) != source:
            raise ValueError(f"path: {source.path!r} was changed or removed since the run was planned")
        _last = job, source, load_recording(source.path, **job.given)
    return _last[2]


def _joined(job: Job, item: Item, source: Source, name: str) -> list[Any]:
    """A table of a recording, made of what its stretches and shares say, if there are any."""
    shares: dict[int, list[Any]] = {}
    for number, share in item.joins:
        path = job.out / files.part(_folder(name), number)
        if path.exists():  # else the stretch is among the errors
            shares.setdefault(share, []).append(tables.seam(name).load(path))
    return [tables.joined(name, list(shares.values()), source.name)] if shares else []
