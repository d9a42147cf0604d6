"""Traffic recorded by drones, laid out as inD (also rounD, exiD, uniD) or highD, as tables of vehicles.

A recording is ``NN_tracks.csv`` with ``NN_tracksMeta.csv`` and ``NN_recordingMeta.csv`` beside it (R.
Krajewski et al., "The highD dataset", ITSC 2018; J. Bock et al., "The inD dataset", IV 2020).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.recordings.parquet import read_rows

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["is_drone_recording", "read_drone_recording"]

_SUFFIX = "_tracks.csv"
#: Length and width of those of which inD tells none, by their class.
SIZES = {
    "pedestrian": (0.5, 0.5),
    "bicycle": (1.8, 0.6),
    "motorcycle": (2.2, 0.8),
}
_FORWARD = 2  # driving direction of highD: towards greater x


def is_drone_recording(path: str) -> bool:
    """Whether a path is that of the tracks of such a recording, with its meta files."""
    return path.endswith(_SUFFIX) and all(
        os.path.exists(_beside(path, what)) for what in ("tracks", "recording")
    )


def read_drone_recording(path: str) -> dict[str, Array]:
    """Columns of a table, as `Recording.from_table` takes them.

    y is upward and headings are in radians, in both layouts. In that of highD boxes lie along x and head as
    their lane does.

    Raises
    ------
    MissingExtraError
        pyarrow is not installed.
    ValueError
        Columns are missing, or a track has no size and no class that says one.
    """
    tracks, meta = read_rows(path), read_rows(_beside(path, "tracks"))
    rate = float(_column(read_rows(_beside(path, "recording")), "frameRate", path)[0])
    in_d = "xCenter" in tracks.column_names
    of = {name: _column(tracks, name, path) for name in (_IN_D if in_d else _HIGH_D)}
    name = "trackId" if in_d else "id"
    row = _rows_of(_column(meta, name, path), of[name], path)
    table = {"id": of[name], "time": of["frame"] / rate}
    if not in_d:
        ahead = _column(meta, "drivingDirection", path)[row] == _FORWARD
        return table | {
            "x": of["x"] + 0.5 * of["width"], "y": -(of["y"] + 0.5 * of["height"]),
            "yaw": np.where(ahead, 0.0, np.pi), "length": of["width"], "width": of["height"],
        }  # fmt: skip
    size = np.stack([of["length"], of["width"]], axis=1).astype(np.float64)
    flat = ~(size > 0).all(axis=1)
    kinds = _column(meta, "class", path)[row]
    for kind in sorted(set(kinds[flat].tolist())):
        if kind not in SIZES:
            first = of[name][np.flatnonzero(flat & (kinds == kind))[0]]
            raise ValueError(f"path: {path} has no size of track {first}, of class {kind!r}")
        size[flat & (kinds == kind)] = SIZES[kind]
    return table | {
        "x": of["xCenter"], "y": of["yCenter"], "yaw": np.radians(of["heading"]),
        "length": size[:, 0], "width": size[:, 1],
    }  # fmt: skip


_IN_D = ("trackId", "frame", "xCenter", "yCenter", "heading", "length", "width")
_HIGH_D = ("id", "frame", "x", "y", "width", "height")


def _beside(path: str, what: str) -> str:
    return f"{path[: -len(_SUFFIX)]}_{what}Meta.csv"


def _column(table: Any, name: str, path: str) -> Array:
    if name not in table.column_names:
        raise ValueError(
            f"path: {path} and its meta files are expected in the layout of inD or highD, got no column "
            f"{name!r} among {', '.join(table.column_names)}"
        )
    return np.asarray(table[name].to_numpy())


def _rows_of(known: Array, ids: Array, path: str) -> Array:
    """Rows of the meta file of tracks."""
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known, ids, sorter=order), len(known) - 1)
    row = order[at] if len(known) else at
    missing = np.flatnonzero(known[row] != ids) if len(known) else np.arange(len(ids))
    if len(missing):
        raise ValueError(f"path: {path} has track {ids[missing[0]]}, of which its meta file has no row")
    return row
