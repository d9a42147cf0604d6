"""Poses of bodies as the kernels read them, for all methods that move bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["PoseBuffers", "bind_poses"]


class PoseBuffers(NamedTuple):
    """Bodies and pairs bound to buffers.

    Attributes
    ----------
    buffers : dict
        ``start_position_in``, ``end_position_in``, ``start_quat_in``, ``end_quat_in``, ``shape_in``,
        ``valid_in``.
    pairs : (p, 2) int32
        Bodies as the buffers number them.
    origin : (p, 3) float64 or None
        What the positions of each pair are relative to, if it is not the world's origin.
    """

    buffers: dict
    pairs: np.ndarray
    origin: np.ndarray | None


def bind_poses(run, bodies, pairs):
    """Bind the poses of `bodies` for `pairs`, (p, 2) int.

    In single precision every pair gets its own two bodies, placed relative to A's start, so that a scene far
    from the origin keeps its digits; pairs are then (0, 1), (2, 3), ...
    """
    start, end, shape = bodies.start, bodies.end, bodies.shape
    position = [start.position, end.position]
    quat = [start.unit_wxyz, end.unit_wxyz]
    valid = start.valid & end.valid
    origin = None
    if run.real == np.float32:
        origin = start.position[pairs[:, 0]]
        flat = pairs.reshape(-1)
        shape, valid = shape[flat], valid[flat]
        position = [p[flat] - np.repeat(origin, 2, axis=0) for p in position]
        quat = [q[flat] for q in quat]
        pairs = np.arange(2 * len(pairs), dtype=np.int32).reshape(-1, 2)
    clean = position if valid.all() else [np.where(valid[:, None], p, 0.0) for p in position]
    names = ("start_position_in", "end_position_in", "start_quat_in", "end_quat_in")
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and its pair UNRESOLVED
        buffers = {
            name: run.to_device(array, run.real) for name, array in zip(names, [*clean, *quat], strict=True)
        }
    buffers["shape_in"] = run.to_device(shape, np.int32)
    buffers["valid_in"] = run.to_device(valid, np.uint8)
    return PoseBuffers(buffers, pairs, origin)
