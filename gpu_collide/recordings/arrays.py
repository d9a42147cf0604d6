"""The arrays of a recording, from ``.npz`` files, ``.zarr`` groups or memory, and the poses in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, as_numpy
from gpu_collide.bodies.poses import Poses
from gpu_collide.errors import MissingExtraError
from gpu_collide.geometry.mesh.mesh import Mesh
from gpu_collide.recordings.ids import numbered_ids
from gpu_collide.results.ids import array_of_ids
from gpu_collide.results.npz import open_npz

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gpu_collide._types import Array, StrPath

__all__ = ["FORM", "PosesOfArrays", "listed", "mesh_of", "open_zarr", "read_npz", "sliced", "whole"]

FORM = """Expected arrays:
  time (t,)                                   seconds
  position (t, 3) or (t, n, 3)                places of one body or of n
  quat_wxyz or quaternion_xyzw, (..., 4)      orientations, of the same leading shape
and, if there are any,
  id (n,)                                     what the bodies are called: numbers or texts
  valid (t, n)                                whether a body is there
  race_lengths (races,)                       how many of the t frames belong to each race, in order
  car_vertices (k, 3), car_faces (m, 3)       the mesh of the moving bodies, in their own frame
  track_vertices (k, 3), track_faces (m, 3)   a mesh that stands still, in the world"""
"""What a recording has to hold, for messages."""

_NAMES = (
    "time", "position", "quat_wxyz", "quaternion_xyzw", "id", "valid", "race_lengths",
    "car_vertices", "car_faces", "track_vertices", "track_faces",
)  # fmt: skip


class PosesOfArrays:
    """Poses in arrays that are sliced by frames: of NumPy, or of a store that reads what is asked for."""

    def __init__(
        self, position: Any, quat: Any, name_of_quat: str, frames: int, ids: Any = None, valid: Any = None
    ) -> None:
        self.position, self.quat, self.name_of_quat, self.valid = position, quat, name_of_quat, valid
        lead = tuple(position.shape[:-1])
        for name, array, width in (("position", position, 3), (name_of_quat, quat, 4)):
            if tuple(array.shape) != (*lead, width) or len(lead) not in (1, 2):
                wanted = f"(t, {width}) or (t, n, {width})" if name == "position" else (*lead, 4)
                raise ValueError(f"{name}: expected shape {wanted}, got {tuple(array.shape)}")
        if lead[0] != frames:
            raise ValueError(f"time: expected one time per frame, {lead[0]}, got {frames}")
        self.n_bodies = 1 if len(lead) == 1 else lead[1]
        if valid is not None and tuple(valid.shape) not in (lead, (frames, self.n_bodies)):
            raise ValueError(f"valid: expected shape {lead}, got {tuple(valid.shape)}")
        self.named = ids is not None
        self.frames, self.ids = np.arange(frames), np.arange(self.n_bodies)
        if ids is not None:
            self.ids = _ids_of_arrays(ids, self.n_bodies)

    def poses(self, first: int, stop: int) -> tuple[Poses, Array | None]:
        position = as_float_array(self.position[first:stop], "position")
        quat = as_float_array(self.quat[first:stop], self.name_of_quat)
        lead = (len(position), self.n_bodies)
        make = Poses.from_quat_wxyz if self.name_of_quat == "quat_wxyz" else Poses.from_quat_xyzw
        poses = make(position.reshape(*lead, 3), quat.reshape(*lead, 4))
        if self.valid is None:
            return poses, None
        there = as_numpy(self.valid[first:stop], "valid")
        if there.dtype != bool:
            raise TypeError(f"valid: expected bool, got {there.dtype}")
        return poses, there.reshape(lead)

    def blocks(self, first: int, stop: int, frames: int) -> Iterator[tuple[Poses, Array | None]]:
        """Poses of the frames from `first` up to `stop`, so many at a time, and which bodies are there (None:
        all); at least one block."""
        for begin in range(first, max(stop, first + 1), frames):
            yield self.poses(begin, min(begin + frames, stop))


def _ids_of_arrays(ids: Any, n_bodies: int) -> Array:
    mine = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    if len(mine) != n_bodies or np.ndim(ids) > 1:
        raise ValueError(f"id: expected one for each body, {n_bodies}, got {np.shape(ids)}")
    rows = np.empty(n_bodies, object)
    rows[:] = mine
    if len(numbered_ids(rows, "id")[0]) < n_bodies:
        twice = next(value for k, value in enumerate(mine) if value in mine[:k])
        raise ValueError(f"id: expected ids that differ, got {twice!r} twice")
    return array_of_ids(mine)


def read_npz(path: StrPath) -> dict[str, Any]:
    """Arrays of an ``.npz`` file by name, in memory; None for names that no recording has."""
    with open(path, "rb") as file:
        head = file.read(4)
    if head not in (b"PK\x03\x04", b"PK\x05\x06"):  # NumPy takes anything else for a pickle
        raise ValueError(f"path: {path} is not a readable .npz file. {FORM}")
    with open_npz(path, "a readable .npz file of a recording") as reader:
        reader.check_names()
        # Names of others are kept for messages, not what they hold.
        return {name: _from_npz(reader, name) if name in _NAMES else None for name in reader.names}


def _from_npz(reader: Any, name: str) -> Array:
    try:
        return reader.read(name)
    except TypeError as error:
        dtype = "int" if name.endswith(("faces", "lengths")) else "float"
        raise TypeError(
            f"{reader.path}: {name}: expected an array of numbers, got one of Python objects; save it with "
            f"rows of equal length, as np.asarray({name}, dtype={dtype})"
        ) from error


def open_zarr(path: StrPath) -> dict[str, Any]:
    """Arrays of a ``.zarr`` group by name, read when they are sliced."""
    try:
        import zarr
    except ImportError as error:
        raise MissingExtraError("reading .zarr recordings", "zarr", "data") from error
    try:
        group = zarr.open_group(path, mode="r")
        return {name: _FromZarr(path, name, group[name]) for name in group.array_keys()}
    except Exception as error:
        raise ValueError(f"path: cannot read a zarr group from {path!r}: {error}") from error


class _FromZarr:
    """An array of a zarr group, which reads what is asked for and says which array is damaged."""

    def __init__(self, path: StrPath, name: str, array: Any) -> None:
        self.path, self.name, self._array = path, name, array
        self.shape, self.dtype = tuple(array.shape), array.dtype

    def __getitem__(self, index: Any) -> Array:
        try:
            return self._array[index]
        except MemoryError:
            raise
        except Exception as error:  # codecs raise whatever they trip over
            raise ValueError(f"path: {self.path} is damaged: {self.name}: {error}") from error


def listed(arrays: Any) -> str:
    """Names of arrays, for messages."""
    return ", ".join(sorted(map(str, arrays.keys()))) or "none at all"


def whole(arrays: Any, name: str) -> Array:
    """All of an array, wherever it is stored."""
    array = arrays[name]
    return array[...] if hasattr(array, "shape") and hasattr(array, "dtype") else array


def sliced(arrays: Any, name: str, kinds: str = "fiu") -> Any:
    """An array of numbers, or of bool, that can be sliced; what a store keeps is not read yet."""
    array = arrays[name]
    if not (hasattr(array, "shape") and hasattr(array, "dtype") and hasattr(array, "__getitem__")):
        return as_float_array(array, name) if kinds == "fiu" else as_numpy(array, name)
    kind = getattr(array.dtype, "kind", kinds[0])  # another library's dtype is looked at when it is read
    if kind not in kinds:
        what = "float32 or float64" if kinds == "fiu" else "bool"
        raise TypeError(f"{name}: expected {what}, got {array.dtype}")
    return array


def mesh_of(arrays: Any, name: str, two_sided: bool) -> Mesh | None:
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
