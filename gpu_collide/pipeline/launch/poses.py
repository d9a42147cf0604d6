"""Poses of bodies as the kernels read them, for all methods that move bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.bodies import all_valid
from gpu_collide.bodies.least_turn import NO_TURN
from gpu_collide.bodies.poses import UNIT_TOLERANCE

__all__ = ["NAMES", "PoseBuffers", "bind_poses", "pose_arrays", "spin_buffers", "spins_of", "take_given"]


#: Of positions and turns, as kernels call them.
NAMES = ("start_position_in", "end_position_in", "start_quat_in", "end_quat_in")


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


def pose_arrays(bodies):
    """Arrays of all bodies by the names of kernel arguments, in float64; positions of bodies whose poses are
    none are 0."""
    arrays = dict(zip(NAMES, positions_and_turns(bodies, all_valid(bodies)), strict=True))
    return arrays | {"shape_in": bodies.shape, "valid_in": bodies.valid.view(np.uint8)}


def positions_and_turns(bodies, valid):
    """Arrays of all bodies in the order of `NAMES`; `valid` says that none has a pose that is none."""
    start, end = bodies.start, bodies.end
    first, last = start.position, end.position
    if not valid:
        first, last = (np.where(bodies.valid[:, None], p, 0.0) for p in (first, last))
    return first, last, start.unit_wxyz, end.unit_wxyz


def spin_buffers(run, spins, rows=slice(None)):
    """Buffers of the bodies of `rows` that say which of them spin, and how."""
    each = np.column_stack([spins.displacement, spins.rotation, spins.center])
    return {
        "spins_in": run.to_device(spins.kind[rows], np.uint8),
        "spin_in": run.to_device(each[rows], run.real),
    }  # fmt: skip


def spins_of(run, bodies, pairs, bound):
    """`spin_buffers` of bodies that were bound to `bound` for `pairs`; none if no body was made of
    velocities."""
    if bodies.spins is None:
        return {}
    # in single precision each pair has bodies of its own
    return spin_buffers(run, bodies.spins, slice(None) if bound.origin is None else pairs.reshape(-1))


def take_given(run, bodies, into=None):
    """Buffers with the poses of `bodies` and ``valid_in``, as the kernels read them, from the device on which
    they were given; None if they were not given on that of `run`.

    `into`, if it is given, are the buffers of an earlier call, which are filled again.
    """
    be, n = run.backend, len(bodies)
    if be.kind != "cuda" or run.real == np.float32:
        return None
    start, end = (poses.given_on(be.device_id) for poses in (bodies.start, bodies.given_end))
    if start is None or end is None:
        return None
    given = dict(zip(NAMES, (start[0], end[0], start[1], end[1]), strict=True))
    buffers = into or {name: be.empty(array.size, run.real) for name, array in given.items()}
    if into is None:
        buffers["valid_in"] = be.empty(n, np.uint8)
    named = {f"{name.removesuffix('_in')}_given": array for name, array in given.items()}
    made = {f"{name.removesuffix('_in')}_out": buffers[name] for name in (*NAMES, "valid_in")}
    run.launch_ahead("g01_poses", n, n=n, tolerance=UNIT_TOLERANCE, **named, **made)
    if bodies.revolved is not None and not (bodies.keeps_spin or bodies.start is bodies.given_end):
        run.launch_ahead(
            "g09_least_turn", n, n=n, no_turn=NO_TURN, shape_in=run.to_device(bodies.shape, np.int32),
            revolution_in=run.to_device(bodies.revolved.reshape(-1), run.real), valid_in=buffers["valid_in"],
            start_quat_in=buffers["start_quat_in"], end_position_out=buffers["end_position_in"],
            end_quat_out=buffers["end_quat_in"],
        )  # fmt: skip
    return buffers


def bind_poses(run, bodies, pairs, placed=None):
    """Bind the poses of `bodies` for `pairs`, (p, 2) int.

    `placed`, if it is given, are the buffers that hold the poses already. In single precision, where there
    are none, every pair gets its own two bodies, placed relative to A's start, so that a scene far from the
    origin keeps its digits; pairs are then (0, 1), (2, 3), ...
    """
    if placed is not None:
        return PoseBuffers(placed, pairs, None)
    arrays, origin = pose_arrays(bodies), None
    if run.real == np.float32:
        origin = bodies.start.position[pairs[:, 0]]
        flat = pairs.reshape(-1)
        arrays = {name: array[flat] for name, array in arrays.items()}
        valid = arrays["valid_in"].view(bool)
        for name in NAMES[:2]:
            position = arrays[name] - np.repeat(origin, 2, axis=0)
            arrays[name] = position if valid.all() else np.where(valid[:, None], position, 0.0)
        pairs = np.arange(2 * len(pairs), dtype=np.int32).reshape(-1, 2)
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and its pair UNRESOLVED
        buffers = {name: run.to_device(arrays[name], run.real) for name in NAMES}
    buffers["shape_in"] = run.to_device(arrays["shape_in"], np.int32)
    buffers["valid_in"] = run.to_device(arrays["valid_in"], np.uint8)
    return PoseBuffers(buffers, pairs, origin)
