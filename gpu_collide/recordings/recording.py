"""`Recording`: the poses of bodies at many times, from arrays or from a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, overload

import numpy as np

from gpu_collide._options import DEFAULT_BYTES
from gpu_collide._validate import (
    as_float_array,
    as_int_array,
    check_bool,
    check_bytes,
    check_finite,
    read_only,
)
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.compound import refuse_compounds
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.refusals import refuse_ends
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.trajectories import as_static, collide_trajectories
from gpu_collide.queries.trajectory_batches import once_each, usual_batch
from gpu_collide.recordings.arrays import FORM, PosesOfArrays, listed, mesh_of, sliced, whole
from gpu_collide.recordings.table import rows_of_table
from gpu_collide.results.result import whole_number
from gpu_collide.results.trajectory_contacts import TrajectoryContacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Literal

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from gpu_collide._options import StepOptions
    from gpu_collide._types import Array, ArrayLike, Progress
    from gpu_collide.results.encounters import Encounters

__all__ = ["Recording", "recording_of"]

_BLOCK_POSES = 1 << 18  # poses in a block: some 15 MB


class _Source(Protocol):
    """Where the poses of a recording come from, with which bodies are there (None: all)."""

    n_bodies: int
    frames: NDArray[np.int64]
    ids: Array
    named: bool  # whether bodies have ids of their own, or are counted

    def poses(self, first: int, stop: int) -> tuple[Poses, Array | None]: ...

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[tuple[Poses, Array | None]]: ...


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """Recorded motion of bodies.

    Attributes
    ----------
    times : (t,) float64
        Seconds of each frame; strictly increasing within a race.
    meshes : tuple of Mesh
        Shapes of the moving bodies.
    shape : (n,) int32 or None
        Which mesh each of them has.
    static : Bodies or None
        What stands still.
    race_lengths : (r,) int64
        Frames of each race, in order; no step leads from one race to the next. A file in which numbers of
        frames are left out, or a table with a time at which nobody is there, has a race for each stretch
        without a gap.
    """

    times: NDArray[np.float64]
    meshes: tuple[Mesh, ...]
    shape: NDArray[np.int32] | None
    static: Bodies | None
    race_lengths: NDArray[np.int64]
    _source: _Source

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, Any],
        *,
        meshes: Mesh | Sequence[Mesh] | None = None,
        shape: ArrayLike | None = None,
        static: Bodies | Mesh | None = None,
        two_sided: bool = False,
    ) -> Recording:
        """Recording of named arrays.

        Parameters
        ----------
        arrays : mapping of str to array
            ``time`` (t,) in seconds, ``position`` (t, 3) or (t, n, 3), and ``quat_wxyz`` or
            ``quaternion_xyzw`` of the same leading shape. Optional: ``race_lengths`` (r,), the meshes
            ``car_vertices``, ``car_faces`` of the moving bodies, and ``track_vertices``, ``track_faces`` of
            what stands still in world coordinates; ``id`` (n,), what the bodies are called in results;
            ``valid`` (t, n) of bool, whether each is there. ``position``, quaternions and ``valid`` may be
            anything that is sliced by frames, such as arrays of zarr. Other names are ignored.
        meshes, shape, static, two_sided
            As for `load_recording`.
        """
        two_sided = check_bool(two_sided, "two_sided")
        if not all(hasattr(arrays, name) for name in ("keys", "__getitem__", "__contains__")):
            kind = type(arrays).__name__
            raise TypeError(f"arrays: expected a mapping of names to arrays, got {kind}. {FORM}")
        if "quat_wxyz" in arrays and "quaternion_xyzw" in arrays:
            raise ValueError(
                "quaternion_xyzw: expected one array of orientations, got quat_wxyz as well; remove the one "
                "that is not meant"
            )
        quat = "quaternion_xyzw" if "quaternion_xyzw" in arrays else "quat_wxyz"
        missing = [name for name in ("time", "position", quat) if name not in arrays]
        if missing:
            raise ValueError(f"no array {missing[0]!r}; it has {listed(arrays)}. {FORM}")
        times = as_float_array(whole(arrays, "time"), "time", shape=(None,))
        ids = whole(arrays, "id") if "id" in arrays else None
        valid = sliced(arrays, "valid", "b") if "valid" in arrays else None
        source = PosesOfArrays(sliced(arrays, "position"), sliced(arrays, quat), quat, len(times), ids, valid)
        lengths = whole(arrays, "race_lengths") if "race_lengths" in arrays else [len(times)]
        if meshes is None:
            meshes = mesh_of(arrays, "car", two_sided)
        if static is None:
            static = mesh_of(arrays, "track", two_sided)
        return recording_of(times, meshes, shape, static, lengths, source)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        id: str = "id",
        time: str = "time",
        x: str = "x",
        y: str = "y",
        z: str | float | None = None,
        yaw: str = "yaw",
        quat_wxyz: Sequence[str] | None = None,
        length: str | float = "length",
        width: str | float = "width",
        height: str | float | None = None,
        valid: str | None = None,
        degrees: bool = False,
        rate: float | None = None,
        max_gap: float | None = None,
        meshes: Mesh | Sequence[Mesh] | None = None,
        shape: ArrayLike | None = None,
        static: Bodies | Mesh | None = None,
    ) -> Recording:
        """Recording of a table with a row for each vehicle at each time, in any order of rows.

        Parameters
        ----------
        table : DataFrame, pyarrow.Table, or mapping of names to arrays
            Of pandas, polars, pyarrow, or whatever has names of columns and gives a column by its name.
            Arrays of a mapping are broadcast to one shape: ``id`` (n, 1), ``time`` (t,), and all others (n,
            t) are n t rows.
        id : str, optional
            Name of the column that says which vehicle a row is of: integers, texts, or both. They come back
            in all results.
        time : str, optional
            Seconds on one clock, from any start.
        x, y, z : str, optional
            Centre of the vehicle. `z` may be a number for all; default: the column ``z`` if there is one,
            else 0.
        yaw : str, optional
            Heading in the plane, from x towards y, radians or `degrees`, of any size.
        quat_wxyz : sequence of four str, optional
            Columns of a quaternion, the scalar first, in place of `yaw`.
        length, width, height : str or float, optional
            Columns, or a number for all. Each vehicle is a box of the largest size that its rows say.
            `height` by default: the column ``height`` if there is one, else 1.5.
        valid : str, optional
            Column of bool: rows where it is False are passed over.
        degrees : bool, optional
            Whether `yaw` is in degrees.
        rate : float, optional
            Frames a second, where the column `time` counts frames; by default it is then the column
            ``frame``, if there is one.
        max_gap : float, optional
            Seconds. A vehicle is away from one of its rows to its next if these are farther apart; if not,
            and others have rows between, it is put there on its own arc. Default: one and a half times what
            is usual from a row of a vehicle to its next.
        meshes : Mesh or sequence of Mesh, optional
            Shapes in place of boxes; no sizes are read.
        shape : (n,) array_like of int, optional
            Which of `meshes` each vehicle has, in the order of `ids`.
        static : Bodies or Mesh, optional
            What stands still, as for `load_recording`.

        Returns
        -------
        Recording
            Its frames are all times of the table; times within a microsecond are one. Vehicles are in the
            order of their ids, numbers before texts.

        Raises
        ------
        TypeError
            Something that is no table, or columns of the wrong kind, such as dates for times.
        ValueError
            A column that is not there, times that are not finite, two rows of a vehicle at one time, a row
            without an id, sizes that are not positive; or no `max_gap`, and times too uneven to tell when a
            vehicle is away.

        Notes
        -----
        A vehicle that is away has no contact, and nothing is told of it. One with a row whose place or
        heading is not a number is there with an invalid pose: ``skipped`` lists it.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> cars = {"id": ["ego", "ego", "van", "van"], "time": [0, 0.2, 0, 0.2], "x": [0, 5, 6, 6],
        ...         "y": [0, 0, 0, 0], "yaw": [0, 0, 90, 90], "length": [4, 4, 6, 6], "width": [2, 2, 2, 2]}
        >>> met = gc.Recording.from_table(cars, degrees=True).collide().encounters()
        >>> met.id_a.tolist(), met.id_b.tolist(), met.first_time.round(9).tolist(), met.approach.tolist()
        (['ego'], ['van'], [0.12], [25.0])
        """
        columns = {
            "id": id, "time": time, "x": x, "y": y, "z": z, "yaw": yaw, "length": length, "width": width,
            "height": height, "valid": valid,
        }  # fmt: skip
        rows = rows_of_table(table, columns, quat_wxyz, degrees, rate, max_gap, meshes is None)
        if rows.meshes is not None:
            if shape is not None:
                raise ValueError(
                    "shape: expected None without meshes, since each vehicle is a box; give meshes="
                )
            meshes, shape = rows.meshes, rows.shape
        return recording_of(rows.times, meshes, shape, static, rows.source.lengths, rows.source)

    @property
    def n_bodies(self) -> int:
        """Number of moving bodies."""
        return self._source.n_bodies

    @property
    def frames(self) -> NDArray[np.int64]:
        """The file's number of each frame, (t,); those of arrays are counted from 0.

        Steps of results are counted by the frames that there are: step k leads from ``frames[k]`` on.
        """
        return read_only(self._source.frames)

    @property
    def ids(self) -> Array:
        """What each moving body is called in the file or table, (n,); those of arrays without ids are counted
        from 0.

        Results have their places in this list as `body_a` and `body_b`, and what they are called as `id_a`
        and `id_b`.
        """
        return read_only(self._source.ids)

    @property
    def _ids_in_info(self) -> dict[str, Any]:
        """What the ``info`` of results says of ids: ``ids``, a list with one for each moving body, or nothing
        where bodies are only counted."""
        return {"ids": self._source.ids.tolist()} if self._source.named else {}

    @property
    def races(self) -> list[tuple[int, int]]:
        """First frame of each race and the one after its last: a list of (first, stop)."""
        stops = np.cumsum(self.race_lengths)
        return list(zip((stops - self.race_lengths).tolist(), stops.tolist(), strict=True))

    @property
    def n_steps(self) -> int:
        """Number of steps of all races."""
        return int(np.maximum(self.race_lengths - 1, 0).sum())

    @property
    def seconds(self) -> float:
        """How long the races lasted together."""
        return float(
            sum(self.times[stop - 1] - self.times[first] for first, stop in self.races if stop > first)
        )

    def poses(self, first: int = 0, stop: int | None = None) -> Poses:
        """Poses of shape (k, n) of the frames from `first` up to `stop`; invalid of who is not there."""
        stop = len(self.times) if stop is None else stop
        return self._source.poses(first, stop)[0]

    def there(self, first: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        """Whether each body is there, (k, n), in the frames from `first` up to `stop`."""
        stop = len(self.times) if stop is None else stop
        poses, there = self._source.poses(first, stop)
        return np.ones(poses.shape, bool) if there is None else there

    def blocks(self, first: int = 0, stop: int | None = None, frames: int | None = None) -> Iterator[Poses]:
        """Iterator of Poses of shape (k, n), `frames` frames each; default: about 15 MB each."""
        stop = len(self.times) if stop is None else stop
        frames = frames or max(1, _BLOCK_POSES // max(self.n_bodies, 1))
        yield from (poses for poses, _ in self._source.blocks(first, stop, frames))

    def bodies(self, step: int) -> Bodies:
        """All bodies in one step, as `collide` takes them: the moving ones, then what stands still.

        Parameters
        ----------
        step : int
            From frame `step` to the next one.

        Returns
        -------
        Bodies
            Their numbers are those of the contacts of `collide` here.

        Raises
        ------
        IndexError
            There is no such step: no race has both frames.
        """
        step = whole_number(step, "step")
        if not any(first <= step < stop - 1 for first, stop in self.races):
            frames = len(self.times)
            raise IndexError(f"step {step} is none: no race has frames {step} and {step + 1}, of {frames}")
        poses = self.poses(step, step + 2)
        shape = np.zeros(self.n_bodies, np.int32) if self.shape is None else self.shape
        start, end, meshes = poses[0], poses[1], self.meshes
        if self.static is not None:
            still = self.static.start
            shape = np.concatenate([shape, self.static.shape + len(meshes)])
            start, end = (Poses.concatenate([pose, still]) for pose in (start, end))
            meshes += self.static.meshes
        return Bodies(meshes, shape, start, end)

    def with_static(self, static: Bodies | Mesh | None) -> Recording:
        """The same motions among other static bodies (Bodies, a Mesh at the world's origin, or None)."""
        return replace(self, static=as_static(static))

    @overload
    def collide(
        self,
        *,
        stream: Literal[False] = False,
        progress: Progress | None = None,
        **options: Unpack[StepOptions],
    ) -> TrajectoryContacts: ...

    @overload
    def collide(
        self, *, stream: Literal[True], progress: Progress | None = None, **options: Unpack[StepOptions]
    ) -> Iterator[TrajectoryContacts]: ...

    def collide(
        self, *, stream: bool = False, progress: Progress | None = None, **options: Unpack[StepOptions]
    ) -> TrajectoryContacts | Iterator[TrajectoryContacts]:
        """`collide_trajectories` of every race; steps are numbered by frames of the whole recording.

        Step k leads from frame k to frame k + 1; a step from the last frame of a race to the first one of the
        next does not exist and has no pairs. Times are those of the recording.

        Parameters
        ----------
        stream : bool, optional
            Return an iterator of results instead of one.
        progress : callable, optional
            Called as ``progress(steps_done, steps)``.
        **options
            Handed to `collide_trajectories`.
        """
        for name in ("meshes", "shape", "poses", "times", "there", "static"):
            if name in options:
                remedy = (
                    "use recording.with_static(static).collide()" if name == "static"
                    else "give it to load_recording or Recording.from_arrays"
                )  # fmt: skip
                raise TypeError(f"{name}: expected no such option, since the recording has its own; {remedy}")
        parts = self.swept(collide_trajectories, progress, {**options, "stream": True})
        batches = (part.shifted(first) for first, part in parts)
        return batches if stream else TrajectoryContacts.concatenate(batches)

    def encounters(self, *, progress: Progress | None = None, **options: Unpack[StepOptions]) -> Encounters:
        """Which bodies were together, from when until when, and how deep in each other.

        Those of ``collide(...).encounters()``, with two things more, for which the poses of all frames are
        held in memory: how deep the two are at the frames, and until when the motion keeps them together.

        Parameters
        ----------
        progress, **options
            As in `collide`, but for `stream`, `target_distance`, `refine`, `check_start` and `exit`.

        Returns
        -------
        Encounters
            With `Encounters.depth` and `Encounters.depth_time`; `last_time` is when the motion takes the two
            apart (`Contacts.exit` of the last step), or the last frame if it does not.

        Examples
        --------
        >>> import gpu_collide as gc
        >>> cars = {"id": ["ego"] * 3 + ["van"] * 3, "time": [0, 1, 2] * 2, "x": [0, 0, 0, 3, 3.5, 5],
        ...         "y": [0] * 6, "yaw": [0] * 6, "length": [4] * 6, "width": [2] * 6, "height": [1.5] * 6}
        >>> met = gc.Recording.from_table(cars).encounters()  # they overlap from the first frame on
        >>> met.first_time.tolist(), met.last_time.round(9).tolist(), met.in_touch.tolist()
        ([0.0], [1.333333333], [True])
        >>> met.depth.tolist(), met.depth_time.tolist()
        ([1.0], [0.0])
        """
        from gpu_collide.recordings.overlaps import with_depths

        for name in ("stream", "target_distance", "refine", "check_start", "exit"):
            if name in options:
                raise TypeError(f"{name}: expected no such option; collide(...).encounters() has no depths")
        meshes = self.meshes if self.static is None else (*self.meshes, *self.static.meshes)
        refuse_ends(meshes, "recording", "encounters")
        found = self.collide(progress=progress, **options)
        machine: dict[str, Any] = {
            name: options[name] for name in ("precision", "backend", "max_bytes") if name in options
        }
        return with_depths(self, found, options.get("motion", "relative"), machine)

    def swept(self, ask: Any, progress: Any, options: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
        """What `ask`, which takes the arguments of `collide_trajectories`, yields of every race, with ids in
        its ``info``, and the first frame of that race; steps are counted from there."""
        progress = once_each(progress) if callable(progress) else progress
        races = [race for race in self.races if race[1] - race[0] > 1] or self.races[:1] or [(0, 0)]
        first = self._sweep(ask, races[0], 0, progress, options)  # complains about options, of a stream too
        return self._parts(ask, races, first, progress, options)

    def _sweep(self, ask: Any, race: tuple[int, int], done: int, progress: Any, options: Any) -> Any:
        first, stop = race
        max_bytes = check_bytes(options.get("max_bytes"), DEFAULT_BYTES)
        blocks = self._source.blocks(first, stop, usual_batch(self.n_bodies, max_bytes))
        of_all, total = progress, self.n_steps
        if callable(progress):
            of_all = lambda steps, _: progress(done + steps, total)  # noqa: E731
        return ask(
            self.meshes, self.shape, blocks, self.times[first:stop],
            static=self.static, progress=of_all, **options,
        )  # fmt: skip

    def _parts(self, ask: Any, races: Any, parts: Any, progress: Any, options: Any) -> Iterator[Any]:
        done, named = 0, self._ids_in_info
        for k, (first, stop) in enumerate(races):
            if k:
                parts = self._sweep(ask, (first, stop), done, progress, options)
            for part in parts:
                yield first, replace(part, info={**part.info, **named}) if named else part
            done += max(stop - first - 1, 0)

    def __repr__(self) -> str:
        races = len(self.race_lengths)
        parts = [f"{len(self.times)} frames of {self.n_bodies} bodies", f"{self.seconds:.6g} s"]
        parts += [f"{races} races"] if races > 1 else []
        parts += [f"{len(self.static)} static bodies"] if self.static is not None else []
        return f"Recording({', '.join(parts)})"


def recording_of(
    times: Any,
    meshes: Mesh | Sequence[Mesh] | None,
    shape: ArrayLike | None,
    static: Bodies | Mesh | None,
    lengths: Any,
    source: Any,
) -> Recording:
    """A `Recording` of parts, checked."""
    check_finite(times, "time")
    lengths = as_int_array(lengths, "race_lengths", shape=(None,), low=0)
    if lengths.sum() != len(times):
        raise ValueError(
            f"race_lengths: expected numbers that add up to the {len(times)} frames, got {lengths.sum()}"
        )
    for stop, length in zip(np.cumsum(lengths), lengths, strict=True):
        late = np.flatnonzero(np.diff(times[stop - length : stop]) <= 0)
        if len(late):
            raise ValueError(
                "time: expected strictly increasing times within a race, got "
                f"{len(late)} that are not, first at frame {stop - length + late[0] + 1}"
            )
    if meshes is None:
        raise ValueError(
            "meshes: expected the meshes of the moving bodies, got None, and the file has no car_vertices "
            "and car_faces; pass meshes="
        )
    meshes = (meshes,) if isinstance(meshes, Mesh) else meshes
    still = Poses.identity(source.n_bodies)
    checked = Bodies(meshes, shape, still, still)
    refuse_compounds(checked, "meshes", "a recording")
    return Recording(times, checked.meshes, checked.shape, as_static(static), lengths, source)
