"""Recordings: the poses of bodies at many times, read from ``.npz``, ``.zarr`` or ``.parquet``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, overload

import numpy as np

from gpu_collide._options import DEFAULT_BYTES
from gpu_collide._validate import as_float_array, as_int_array, check_bytes, check_finite, read_only
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.queries.trajectories import as_static, collide_trajectories
from gpu_collide.queries.trajectory_batches import once_each, usual_batch
from gpu_collide.recordings.arrays import (
    FORM,
    PosesOfArrays,
    listed,
    open_zarr,
    read_npz,
    sliced,
    whole,
)
from gpu_collide.recordings.parquet import open_parquet
from gpu_collide.results.result import whole_number
from gpu_collide.results.trajectory_contacts import TrajectoryContacts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Literal

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from gpu_collide._options import StepOptions
    from gpu_collide._types import ArrayLike, Progress, StrPath

__all__ = ["RECORDING_SUFFIXES", "Recording", "load_recording"]

RECORDING_SUFFIXES = (".npz", ".zarr", ".parquet")

_BLOCK_POSES = 1 << 18  # poses in a block: some 15 MB


def load_recording(
    path: StrPath,
    *,
    meshes: Mesh | Sequence[Mesh] | None = None,
    shape: ArrayLike | None = None,
    static: Bodies | Mesh | None = None,
    two_sided: bool = False,
) -> Recording:
    """Read a recording.

    Parameters
    ----------
    path : str or path-like
        ``.npz`` file or ``.zarr`` group with the arrays that `Recording.from_arrays` takes, or ``.parquet``
        file with the columns frame, time, body, x, y, z, qw, qx, qy, qz, a row for each body in each frame,
        in any order. Frames and bodies have any integers for numbers: `Recording.frames` and
        `Recording.ids`. A body without a row in a frame has no valid pose there. Where the number of a frame
        is left out, since nobody is there, no step leads over it.
    meshes : Mesh or sequence of Mesh, optional
        Shapes of the moving bodies; default: the one in the file.
    shape : (n,) array_like of int, optional
        Which mesh each body has.
    static : Bodies or Mesh, optional
        What stands still (a Mesh: at the world's origin); default: the track in the file.
    two_sided : bool, optional
        Passed to `Mesh` for meshes of the file.

    Returns
    -------
    Recording
        Poses of ``.npz`` files are held in memory; those of the others are read when asked for.

    Notes
    -----
    Bytes that were changed are noticed in ``.npz`` files, which carry checksums, and in ``.parquet`` files
    written with checksums of their pages (pyarrow: ``write_page_checksum=True``). ``.zarr`` groups have none
    unless a codec adds them (``crc32c``): there a changed number is read as it is.

    Raises
    ------
    TypeError
        Something that is no path, or arrays of the wrong kind.
    MissingExtraError
        zarr or pyarrow is not installed; the message names the extra that brings it.
    OSError
        There is no such file, or it may not be read.
    ValueError
        The suffix is unknown, the file is damaged, or arrays are missing or disagree.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: expected the name of a recording, got {type(path).__name__}")
    path = os.fspath(path)
    two_sided = _check_bool(two_sided, "two_sided")
    suffix = os.path.splitext(path.rstrip("/\\"))[1].lower()
    if suffix not in RECORDING_SUFFIXES:
        raise ValueError(
            f"path: expected a name ending in {', '.join(RECORDING_SUFFIXES)}, got {path!r}; "
            "Recording.from_arrays takes the arrays of any other file"
        )
    if not os.path.exists(path):
        raise FileNotFoundError(f"path: there is no recording {path!r}. {FORM}")
    parquet = open_parquet(path) if suffix == ".parquet" else None
    arrays = {} if parquet is not None else read_npz(path) if suffix == ".npz" else open_zarr(path)
    try:
        if parquet is not None:
            times, source = parquet
            return _recording(times, meshes, shape, static, source.lengths, source)
        return Recording.from_arrays(arrays, meshes=meshes, shape=shape, static=static, two_sided=two_sided)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from error


class _Source(Protocol):
    """Where the poses of a recording come from."""

    n_bodies: int
    frames: NDArray[np.int64]
    ids: NDArray[np.int64]

    def poses(self, first: int, stop: int) -> Poses: ...

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[Poses]: ...


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
        frames are left out has a race for each stretch without a gap.
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
            what stands still in world coordinates. ``position`` and quaternions may be anything that is
            sliced by frames, such as arrays of zarr. Other names are ignored.
        meshes, shape, static, two_sided
            As for `load_recording`.
        """
        two_sided = _check_bool(two_sided, "two_sided")
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
        source = PosesOfArrays(sliced(arrays, "position"), sliced(arrays, quat), quat, len(times))
        lengths = whole(arrays, "race_lengths") if "race_lengths" in arrays else [len(times)]
        if meshes is None:
            meshes = _mesh_of(arrays, "car", two_sided)
        if static is None:
            static = _mesh_of(arrays, "track", two_sided)
        return _recording(times, meshes, shape, static, lengths, source)

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
    def ids(self) -> NDArray[np.int64]:
        """The file's number of each moving body, (n,); those of arrays are counted from 0.

        Results have their places in this list: ``ids[found.body_a]`` are the numbers in the file.
        """
        return read_only(self._source.ids)

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
        """Poses of shape (k, n) of the frames from `first` up to `stop`."""
        stop = len(self.times) if stop is None else stop
        return self._source.poses(first, stop)

    def blocks(self, first: int = 0, stop: int | None = None, frames: int | None = None) -> Iterator[Poses]:
        """Iterator of Poses of shape (k, n), `frames` frames each; default: about 15 MB each."""
        stop = len(self.times) if stop is None else stop
        yield from self._source.blocks(first, stop, frames or max(1, _BLOCK_POSES // max(self.n_bodies, 1)))

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
            start, end, meshes = _joined(start, still), _joined(end, still), meshes + self.static.meshes
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
        for name in ("meshes", "shape", "poses", "times", "static"):
            if name in options:
                remedy = (
                    "use recording.with_static(static).collide()" if name == "static"
                    else "give it to load_recording or Recording.from_arrays"
                )  # fmt: skip
                raise TypeError(f"{name}: expected no such option, since the recording has its own; {remedy}")
        progress = once_each(progress) if callable(progress) else progress
        races = [race for race in self.races if race[1] - race[0] > 1] or self.races[:1] or [(0, 0)]
        first = self._sweep(races[0], 0, progress, options)  # complains about options, of a stream too
        batches = self._batches(races, first, progress, options)
        return batches if stream else TrajectoryContacts.concatenate(batches)

    def _sweep(
        self, race: tuple[int, int], done: int, progress: Any, options: Any
    ) -> Iterator[TrajectoryContacts]:
        first, stop = race
        max_bytes = check_bytes(options.get("max_bytes"), DEFAULT_BYTES)
        blocks = self.blocks(first, stop, usual_batch(self.n_bodies, max_bytes))
        of_all, total = progress, self.n_steps
        if callable(progress):
            of_all = lambda steps, _: progress(done + steps, total)  # noqa: E731
        return collide_trajectories(
            self.meshes, self.shape, blocks, self.times[first:stop],
            static=self.static, stream=True, progress=of_all, **options,
        )  # fmt: skip

    def _batches(
        self,
        races: list[tuple[int, int]],
        parts: Iterator[TrajectoryContacts],
        progress: Any,
        options: Any,
    ) -> Iterator[TrajectoryContacts]:
        done = 0
        for k, (first, stop) in enumerate(races):
            if k:
                parts = self._sweep((first, stop), done, progress, options)
            for part in parts:
                yield part.shifted(first)
            done += max(stop - first - 1, 0)

    def __repr__(self) -> str:
        races = len(self.race_lengths)
        parts = [f"{len(self.times)} frames of {self.n_bodies} bodies", f"{self.seconds:.6g} s"]
        parts += [f"{races} races"] if races > 1 else []
        parts += [f"{len(self.static)} static bodies"] if self.static is not None else []
        return f"Recording({', '.join(parts)})"


def _joined(a: Poses, b: Poses) -> Poses:
    """Poses of shape (n,) and (m,) as one of (n + m,), bad ones as they are."""
    parts = [np.concatenate([getattr(p, n) for p in (a, b)]) for n in ("position", "quat_wxyz", "valid")]
    return Poses(*parts)


def _recording(
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
    return Recording(times, checked.meshes, checked.shape, as_static(static), lengths, source)


def _check_bool(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected a bool, got {type(value).__name__}")
    return bool(value)


def _mesh_of(arrays: Any, name: str, two_sided: bool) -> Mesh | None:
    """Mesh `name`_vertices, `name`_faces, or None."""
    names = (f"{name}_vertices", f"{name}_faces")
    found = [n for n in names if n in arrays]
    if not found:
        return None
    if len(found) == 1:
        raise ValueError(f"no array {(set(names) - set(found)).pop()!r} beside {found[0]!r}")
    try:
        return Mesh(*(whole(arrays, n) for n in names), two_sided=two_sided)
    except (TypeError, ValueError) as error:  # of vertices or faces: say whose
        text = re.sub(r"^(vertices|faces)\b", rf"{name}_\1", str(error))
        text = text if text.startswith(name) else f"{names[0]}, {names[1]}: {text}"
        raise (TypeError if isinstance(error, TypeError) else ValueError)(text) from error
