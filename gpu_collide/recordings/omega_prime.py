"""ASAM OSI ground truth in MCAP files (with the package omega-prime, extra ``traffic``) as tables of
vehicles."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.errors import MissingExtraError

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["QUAT", "read_omega_prime"]

QUAT = ("qw", "qx", "qy", "qz")
"""Columns of the orientation, which `Recording.from_table` takes as ``quat_wxyz``."""

_COLUMNS = {
    "id": "idx",
    "x": "x",
    "y": "y",
    "z": "z",
    "length": "length",
    "width": "width",
    "height": "height",
}


def read_omega_prime(path: str) -> dict[str, Array]:
    """Columns of a table, as `Recording.from_table` takes them, of all moving objects.

    Places are the middles of boxes, and orientations yaw, then pitch, then roll, about axes that turn along,
    as OSI has them. Maps are not read.

    Raises
    ------
    MissingExtraError
        omega-prime is not installed.
    ValueError
        The file is none of OSI ground truth.
    """
    try:
        import omega_prime
    except ImportError as error:
        raise MissingExtraError("reading OSI ground truth", "omega-prime", "traffic") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no map, or another version of OSI
            rows = omega_prime.Recording.from_file(path).df
    except Exception as error:
        raise ValueError(f"path: cannot read OSI ground truth from {path!r}: {error!r}") from error
    table = {name: np.asarray(rows[of].to_numpy()) for name, of in _COLUMNS.items()}
    angles = np.stack([rows[name].to_numpy() for name in ("yaw", "pitch", "roll")], axis=1)
    place = np.stack([table[name] for name in "xyz"], axis=1)
    quat = Poses.from_euler(place, "ZYX", angles).quat_wxyz
    seconds = rows["total_nanos"].to_numpy() * 1e-9
    return {**table, "time": seconds, **dict(zip(QUAT, quat.T, strict=True))}
