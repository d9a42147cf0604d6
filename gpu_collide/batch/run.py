"""`gpu_collide.batch.collide`: plan, run what is not done, and say what came of it."""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from gpu_collide._calls import renamed
from gpu_collide._options import OLD_TUNING, Options
from gpu_collide._validate import as_numpy, check_bool, check_callable, check_choice, check_positive
from gpu_collide._version import __version__
from gpu_collide.batch import files
from gpu_collide.batch.engines import ENGINES, WorkerDied, open_engine
from gpu_collide.batch.item import Job, asked_of, is_of_machine, is_of_recording
from gpu_collide.batch.plan import Plan, items_of, sources_of
from gpu_collide.batch.shares import check_cut
from gpu_collide.batch.tables import CONTACTS, ERRORS, NEAR_MISSES, TABLES, arrow
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.trajectories import as_static, check_step_options
from gpu_collide.recordings.files import load_recording
from gpu_collide.results.result import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from gpu_collide._options import StepOptions
    from gpu_collide._types import ArrayLike, StrPath
    from gpu_collide.batch.engines import Engine
    from gpu_collide.batch.plan import Item, Source
    from gpu_collide.recordings.recording import Recording

__all__ = ["BatchSummary", "EngineName", "carried_out", "check_run", "collide", "fingerprint"]

EngineName = Literal["serial", "processes", "ray"]

#: Options that never change a result: a run may be resumed with others.
_FREE = ("backend", "broad_phase", "candidates", "features", "filters", "max_bytes", "report", "results")


@dataclass(frozen=True)
class BatchSummary:
    """What a run has done, so far or in all.

    Attributes
    ----------
    out : Path
        Folder of the run.
    items, items_done : int
        Items in all, and those that are done, by this call or by one before it.
    items_found : int
        Items that were done already when this call began.
    recordings, recordings_done : int
        Recordings in all, and those whose items are all done.
    failed : int
        Rows of the table of errors.
    rows : dict
        Rows of each table.
    seconds : float
        Since this call began to work.
    """

    out: Path
    items: int
    items_done: int
    items_found: int
    recordings: int
    recordings_done: int
    failed: int
    rows: dict[str, int]
    seconds: float

    @property
    def seconds_left(self) -> float:
        """An estimate from the items of this call; not a number before the first one is done."""
        ran = self.items_done - self.items_found
        return self.seconds * (self.items - self.items_done) / ran if ran else float("nan")

    def __str__(self) -> str:
        failed = f", {self.failed:,} failed" if self.failed else ""
        rows = ", ".join(f"{count:,} {name}" for name, count in self.rows.items() if name != ERRORS)
        return f"{self.recordings_done:,} of {self.recordings:,} recordings{failed}: {rows or 'nothing yet'}"


@renamed(**OLD_TUNING)
def collide(
    inputs: StrPath | Sequence[StrPath],
    out: StrPath,
    *,
    meshes: Mesh | Sequence[Mesh] | None = None,
    shape: ArrayLike | None = None,
    static: Bodies | Mesh | None = None,
    two_sided: bool = False,
    engine: EngineName = "serial",
    workers: int | None = None,
    threads_per_worker: int | None = None,
    tables: Sequence[str] | None = None,
    max_distance: float | None = None,
    poses_per_item: int = 1 << 18,
    cut: Literal["worlds", "space"] | None = None,
    parts: int = 8,
    resume: bool = False,
    retries: int = 2,
    on_error: Literal["record", "raise"] = "record",
    progress: Callable[[BatchSummary], object] | None = None,
    **options: Unpack[StepOptions],
) -> BatchSummary:
    """Every contact, and every near miss, along many recordings, as tables in a folder; resumable, and always
    the same bytes.

    Parameters
    ----------
    inputs : path or sequence of paths
        Recordings as `load_recording` reads them, and folders: then all recordings in them.
    out : path
        Folder for the results; made if it is not there.
    meshes, shape, static, two_sided
        As for `load_recording`; the same for all recordings. Default: the meshes in each file.
    engine : {"serial", "processes", "ray"}, optional
        Who works: this process, processes of this machine (one for each GPU, if there are any and `backend`
        allows), or a Ray cluster. `inputs` and `out` have to be on a file system that all of them see.
    workers : int, optional
        Items at a time. Default: the GPUs, else as many as the cores allow.
    threads_per_worker : int, optional
        Of the backend ``cpu``. Default: what is left of the cores of this machine; with Ray 1.
    tables : sequence of str, optional
        Which tables: "contacts", "pairs", "skipped", "encounters" (these are the default), and with
        `max_distance` also "near_misses".
    max_distance : float, optional
        Near misses as well: passes of two bodies within this distance, as `clearance` has them of a
        recording. Of the options it takes those that `clearance` has.
    poses_per_item : int, optional
        Recordings are bundled and cut to items of about so many poses (a file counts 32 bytes a pose).
    cut : {"worlds", "space"}, optional
        Cut the bodies of each recording as well, in `parts`: by their `world`, or in space by where they
        begin, each share with those of its neighbours that come near. For recordings with so many
        bodies that one step is too much for a machine.
    parts : int, optional
        Shares of `cut`.
    resume : bool, optional
        Go on with the run in `out`. Inputs, options that change a result, tables and versions have to be
        those that it was begun with; engine, workers, backend and memory may be others.
    retries : int, optional
        How often an item is begun again whose process ended, or whose machine failed. A recording that is at
        fault each time is given up as a row of errors, and the others go on.
    on_error : {"record", "raise"}, optional
        What becomes of a recording that cannot be read or asked about: a row of the table "errors", or an
        exception that ends the run.
    progress : callable, optional
        Called with a `BatchSummary` after each item.
    **options
        Handed to `Recording.collide`.

    Returns
    -------
    BatchSummary

    Raises
    ------
    TypeError, ValueError
        Arguments of the wrong kind, before anything is computed; with ``resume=True`` a run that was begun
        with others, and the message says in what they differ.
    FileExistsError
        There is a run in `out` already, and `resume` is False.
    RuntimeError
        Another run writes to `out`, or a worker ended again and again for no reason of its recordings.
    OSError
        Files cannot be written. What is done stays, and ``resume=True`` goes on.

    Notes
    -----
    ``out/TABLE/part-N.parquet`` has what item N found, ``done/part-N.json`` its rows and digests. Only what
    has a mark counts, and it is written last, so that a run may be killed at any time. The finished folder
    has the same bytes whatever the engine, the number of workers, and what happened on the way.
    """
    retries = check_run(engine, workers, threads_per_worker, retries, on_error, progress)
    for name, value in (("poses_per_item", poses_per_item), ("parts", parts)):
        check_positive(value, name, integer=True)
    resume = check_bool(resume, "resume")
    tables, max_distance = _check_tables(tables, max_distance)
    shares = check_cut(cut, parts, dict(options))
    given = _given(meshes, shape, static, two_sided)
    asked = _asked(options)
    question = {
        "versions": {"gpu_collide": __version__, "pyarrow": arrow().__version__},
        "tables": list(tables), "options": asked, "poses_per_item": poses_per_item, "cut": shares,
        **{name: fingerprint(value) for name, value in given.items()},
    }  # fmt: skip
    if max_distance is not None:
        question["max_distance"] = max_distance
    about = {"version": __version__, "precision": asked["precision"], "options": asked}
    folder = Path(os.path.abspath(os.fspath(out)))
    job = Job(folder, given, dict(options), tables, about, on_error == "record", max_distance)
    sources = sources_of(inputs, str(folder))
    joins, load = bool(_seams(tables)), functools.partial(_load, job)
    cut_up = functools.partial(items_of, sources, poses_per_item, shares, joins, load)
    working: dict[str, Any] = {"engine": engine, "workers": workers, "threads_per_worker": threads_per_worker}
    return carried_out(job, question, sources, cut_up, resume, retries, progress, **working)


def check_run(
    engine: Any, workers: Any, threads_per_worker: Any, retries: Any, on_error: Any, progress: Any
) -> int:
    """Raise if anything of how a run is made is wrong; returns the retries."""
    check_choice(engine, "engine", ENGINES)
    check_choice(on_error, "on_error", ("record", "raise"))
    check_callable(progress, "progress")
    for name, value in (("workers", workers), ("threads_per_worker", threads_per_worker)):
        check_positive(value, name, none_ok=True, integer=True)
    return max(whole_number(retries, "retries"), 0)


def carried_out(
    job: Job,
    question: Any,
    sources: list[Source],
    cut_up: Callable[[], list[Item]],
    resume: bool,
    retries: int,
    progress: Callable[[BatchSummary], object] | None,
    *,
    engine: EngineName,
    workers: int | None,
    threads_per_worker: int | None,
) -> BatchSummary:
    """Plan a run, or read the plan of one that is resumed, and have an engine do what is left of it.

    `question` is what the plan says was asked, `cut_up` makes the items of a new one.
    """
    begun = time.perf_counter()
    with files.locked(job.out, (*job.tables, ERRORS, *_seams(job.tables))):
        plan = _plan(job, question, sources, resume, cut_up)
        count = Count(plan, job.out, files.done(job.out), begun)
        if count.left:
            backend = job.options.get("backend", "auto")
            working = open_engine(engine, job, workers, threads_per_worker, backend)
            try:
                _drive(working, job, plan, count, retries, progress)
            except KeyboardInterrupt:
                working.stop()
                raise
            finally:
                working.close()
    return count.summary()


def _given(meshes: Any, shape: Any, static: Any, two_sided: Any) -> dict[str, Any]:
    """Keywords of `load_recording`, checked: else each recording would be a row of errors."""
    if meshes is not None:
        still = Poses.identity(1 if shape is None else len(shape))
        meshes = Bodies(meshes, shape, still, still).meshes
    as_static(static)
    two_sided = check_bool(two_sided, "two_sided")
    return {"meshes": meshes, "shape": shape, "static": static, "two_sided": two_sided}


def _plan(
    job: Job, question: Any, sources: list[Source], resume: bool, cut_up: Callable[[], list[Item]]
) -> Plan:
    """The plan of the run in its folder, or one that is made there."""
    path = job.out / files.PLAN
    if path.exists():
        if not resume:
            raise FileExistsError(f"out: a run is in {str(job.out)!r}; resume it, or name another folder")
        return Plan.resumed(path.read_text("utf-8"), question, sources)
    others = files.there(job.out)
    if others:
        raise FileExistsError(f"out: {str(job.out)!r} has files that are no run's: {', '.join(others[:3])}")
    plan = Plan(question, sources, cut_up())
    files.write(job.out, {files.PLAN: plan.text().encode()})
    return plan


def _load(job: Job, source: Source) -> Recording:
    return load_recording(source.path, **job.given)


def _drive(
    engine: Engine, job: Job, plan: Plan, count: Count, retries: int, progress: Callable[[Any], object] | None
) -> None:
    """Have an engine do what is left: first all that reads recordings, then what joins."""
    tries: collections.Counter[Any] = collections.Counter()
    for joins in (False, True):
        waiting = collections.deque(item for item in count.left if bool(item.joins) == joins)
        running = 0
        while waiting or running:
            while waiting and running < engine.slots:
                item = waiting.popleft()
                files.drop_crumb(job.out, item.number)
                engine.submit(item, [plan.sources[k] for k in item.recordings])
                running += 1
            for item, came in engine.wait():
                running -= 1
                if isinstance(came, Exception):
                    waiting.append(_again(job, item, came, tries, retries))
                    continue
                count.add(item, came)
                if progress is not None:
                    progress(count.summary())


def _again(job: Job, item: Item, error: Exception, tries: Any, retries: int) -> Item:
    """The item to begin again, perhaps without the recording that is at fault; or the error is raised."""
    recording = files.read_crumb(job.out, item.number)
    if is_of_recording(error):  # and is not to be a row
        raise error
    tries[item.number, recording] += 1
    if tries[item.number, recording] <= retries:
        return item
    if recording is None or not job.record or is_of_machine(error):
        if isinstance(error, WorkerDied):
            raise RuntimeError(
                f"item {item.number}: its process ended {retries + 1} times ({error}); where it ends before "
                "it begins, the program that calls gpu_collide.batch may lack `if __name__ == '__main__':`"
            ) from error
        raise error
    text = f"its process ended {retries + 1} times" if isinstance(error, WorkerDied) else str(error)
    return item.without(recording, type(error).__name__, text)


class Count:
    """What is done of a plan."""

    def __init__(self, plan: Plan, out: Path, marks: dict[int, Any], begun: float) -> None:
        self._plan, self._out, self._begun = plan, out, begun
        self._rows: collections.Counter[str] = collections.Counter()
        self._failed = self._done = self._whole = 0
        self._open = collections.Counter(k for item in plan.items for k in item.recordings)
        self.left = [item for item in plan.items if item.number not in marks]
        for item in plan.items:
            if item.number in marks:
                self.add(item, marks[item.number])
        self._found = self._done

    def add(self, item: Item, mark: Mapping[str, Any]) -> None:
        self._done += 1
        self._failed += mark["failed"]
        self._rows.update(
            {name: said["rows"] for name, said in mark["tables"].items() if name in (*TABLES, ERRORS)}
        )
        for recording in item.recordings:
            self._open[recording] -= 1
            self._whole += not self._open[recording]

    def summary(self) -> BatchSummary:
        return BatchSummary(
            self._out, len(self._plan.items), self._done, self._found, len(self._plan.sources), self._whole,
            self._failed, dict(self._rows), time.perf_counter() - self._begun,
        )  # fmt: skip


def _seams(names: Any) -> list[str]:
    """Folders of what is joined at the end."""
    return [folder for name in names if name in TABLES and (folder := TABLES[name].seams)]


def _check_tables(names: Any, max_distance: Any) -> tuple[tuple[str, ...], float | None]:
    known = ", ".join(map(repr, TABLES))
    if max_distance is not None:
        max_distance = float(check_positive(max_distance, "max_distance"))
    if names is None:
        names = [name for name, of in TABLES.items() if of.asks == CONTACTS or max_distance is not None]
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"tables: expected a sequence of names out of {known}, got {names!r}")
    names = tuple(names)
    unknown = [name for name in names if name not in TABLES]
    if unknown or not names or len(set(names)) < len(names):
        raise ValueError(f"tables: expected some of {known}, each once, got {names}")
    if (NEAR_MISSES in asked_of(names)) != (max_distance is not None):
        wanted, given = ("a length", "None") if max_distance is None else ("None", f"{max_distance:g}")
        has = "with" if max_distance is None else "without"
        raise ValueError(f"max_distance: expected {wanted} {has} the table 'near_misses', got {given}")
    return tuple(name for name in TABLES if name in names), max_distance


def _asked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that have a say in the results, checked and with their defaults."""
    if options.get("report"):
        raise TypeError("report: expected False in gpu_collide.batch, whose tables have no place for reports")
    told = {field.name: getattr(Options, field.name) for field in dataclasses.fields(Options)}
    told |= dataclasses.asdict(check_step_options(**options)[-1])
    told |= {
        name: options.get(name) for name in ("max_speed", "max_turn", "world", "group", "mask", "ignore")
    }
    told |= {name: bool(options.get(name, False)) for name in ("still_pairs", "exit")}
    return {name: fingerprint(value) for name, value in told.items() if name not in _FREE}


def fingerprint(value: Any) -> Any:
    """What a value is, so that JSON can say it: itself, or the digest of what meshes and arrays hold."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mesh):
        return value.digest
    if isinstance(value, Bodies):
        places = value.shape, value.start.position, value.start.quat_wxyz
        return [[fingerprint(mesh) for mesh in value.meshes], *map(fingerprint, places)]
    if isinstance(value, tuple):
        return [fingerprint(part) for part in value]
    array = as_numpy(value, "options")
    array = np.ascontiguousarray(array, np.float64 if array.dtype.kind == "f" else np.int64)
    text = f"{array.dtype.str} {array.shape}".encode()
    return hashlib.sha256(text + array.tobytes()).hexdigest()
