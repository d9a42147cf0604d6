"""`load_recording`: a recording from a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gpu_collide._validate import check_bool
from gpu_collide.recordings.arrays import FORM, open_zarr, read_npz
from gpu_collide.recordings.commonroad import read_commonroad
from gpu_collide.recordings.drone import is_drone_recording, read_drone_recording
from gpu_collide.recordings.omega_prime import QUAT, read_omega_prime
from gpu_collide.recordings.parquet import columns_of_file, open_parquet, read_rows
from gpu_collide.recordings.recording import Recording, recording_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gpu_collide._types import Array, ArrayLike, StrPath
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["RECORDING_SUFFIXES", "TRAFFIC_SUFFIXES", "load_recording"]

RECORDING_SUFFIXES = (".npz", ".zarr", ".parquet")  # in folders of recordings; a .csv is often something else
TRAFFIC_SUFFIXES = (".csv", ".parquet", ".xml", ".mcap", ".osi")


def load_recording(
    path: StrPath,
    *,
    meshes: Mesh | Sequence[Mesh] | None = None,
    shape: ArrayLike | None = None,
    static: Bodies | Mesh | None = None,
    two_sided: bool = False,
    columns: Mapping[str, Any] | None = None,
) -> Recording:
    """Read a recording, also of traffic as others write it.

    Parameters
    ----------
    path : str or path-like
        ``.npz`` file or ``.zarr`` group with the arrays that `Recording.from_arrays` takes; ``.parquet`` file
        with the columns frame, time, body, x, y, z, qw, qx, qy, qz, a row for each body in each frame, in any
        order; or ``.parquet`` or ``.csv`` file with the columns that `Recording.from_table` takes; CommonRoad
        scenario (``.xml``, extra ``traffic``); OSI ground truth (``.mcap``, ``.osi``, extra
        ``traffic``); ``NN_tracks.csv`` of drone recordings laid out as inD, rounD, exiD or highD, with
        its two meta files beside it. Frames
        have any integers for numbers, bodies integers or texts: `Recording.frames` and `Recording.ids`. A
        body without a row in a frame is not there. Where the number of a frame is left out, since nobody is
        there, no step leads over it.
    meshes : Mesh or sequence of Mesh, optional
        Shapes of the moving bodies; default: the one in the file, or boxes of the sizes in a table.
    shape : (n,) array_like of int, optional
        Which mesh each body has.
    static : Bodies or Mesh, optional
        What stands still (a Mesh: at the world's origin); default: the track in the file.
    two_sided : bool, optional
        Passed to `Mesh` for meshes of the file.
    columns : mapping, optional
        Of a file that is a table: what is given to `Recording.from_table`, as ``{"id": "trackId", "degrees":
        True}``. Of the formats of others only ``max_gap`` and ``height``, if need be.

    Returns
    -------
    Recording
        Poses of ``.npz`` files and of tables of vehicles are held in memory; those of the others are read
        when asked for.

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
        A package that reads such files is not installed; the message names the extra that brings it.
    OSError
        There is no such file, or it may not be read.
    ValueError
        The suffix is unknown, the file is damaged, or arrays are missing or disagree.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: expected the name of a recording, got {type(path).__name__}")
    path = os.fspath(path)
    two_sided = check_bool(two_sided, "two_sided")
    suffix = os.path.splitext(path.rstrip("/\\"))[1].lower()
    suffixes = [*dict.fromkeys((*RECORDING_SUFFIXES, *TRAFFIC_SUFFIXES))]
    if suffix not in suffixes:
        raise ValueError(
            f"path: expected a name ending in {', '.join(suffixes[:-1])} or {suffixes[-1]}, got {path!r}; "
            "Recording.from_arrays and from_table take what any other file has"
        )
    if not os.path.exists(path):
        raise FileNotFoundError(f"path: there is no recording {path!r}. {FORM}")
    foreign = _reader(path, suffix)
    a_table = suffix == ".csv" or columns is not None or (suffix == ".parquet" and _is_table(path))
    if a_table and suffix not in TRAFFIC_SUFFIXES:
        raise ValueError(f"columns: expected None, since {path!r} holds arrays and no table; leave it out")
    table = foreign(path) if foreign else read_rows(path) if a_table else None
    if foreign is read_omega_prime:
        columns = {"quat_wxyz": QUAT, **(columns or {})}
    parquet = open_parquet(path) if suffix == ".parquet" and not a_table else None
    arrays = read_npz(path) if suffix == ".npz" else open_zarr(path) if suffix == ".zarr" else {}
    given: dict[str, Any] = {"meshes": meshes, "shape": shape, "static": static}
    try:
        if table is not None:
            return Recording.from_table(table, **{**(columns or {}), **given})
        if parquet is not None:
            times, source = parquet
            return recording_of(times, lengths=source.lengths, source=source, **given)
        return Recording.from_arrays(arrays, two_sided=two_sided, **given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from error


def _reader(path: str, suffix: str) -> Callable[[str], dict[str, Array]] | None:
    """What reads a file of a format of others as columns of a table; None of our own."""
    if suffix == ".csv" and is_drone_recording(path):
        return read_drone_recording
    return {".xml": read_commonroad, ".mcap": read_omega_prime, ".osi": read_omega_prime}.get(suffix)


def _is_table(path: str) -> bool:
    """Whether the columns of a parquet file are those of a table of vehicles."""
    return {"time", "x", "y", "yaw"} <= set(columns_of_file(path))
