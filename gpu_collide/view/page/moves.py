"""Scenes of movers of `gpu_collide.pluecker`: their motions, where they stop, and what stops them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array, first_few, how_many
from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.rules import still_bodies
from gpu_collide.results.result import Status
from gpu_collide.view.page.scene import Cast, Events, PageScene, fields_of, poses_of
from gpu_collide.view.page.sweeps import DOT, ball, rows_of

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.results.trace import Trace

__all__ = ["scene_of_movers"]

PIECES = 8  # of a turn: each is far below the half turn beyond which a screw would take the other way
LABELS = ("vertex on face", "face on vertex", "edge on edge")


def scene_of_movers(
    trace: Trace, bodies: Bodies, movers: Any, way: Any, turn: tuple[Any, Any, Any], end: Any, most: int
) -> PageScene:
    """Movers in a still world, each up to where it stops; what it would have gone on to is its line.

    Parameters
    ----------
    movers : Bodies or (n, 3) array_like
        As the query was given them.
    way : (n, 3) or (3,) array_like, optional
        Of `translate`.
    turn : tuple
        Angle, axis and origin of `rotate`; all None for others.
    end : Poses, optional
        Of `move`; default: the end poses of the movers.
    """
    n = len(trace)
    moving = np.flatnonzero(~still_bodies(bodies) & bodies.start.valid)
    if moving.size:
        which = how_many(moving.size, "body that moves", "bodies that move")
        raise ValueError(
            f"scene: expected bodies that stand still, as a page of a Trace shows them, got {which}, first: "
            f"{first_few(moving)}; scene.moved(scene.start, scene.start) shows them at their start"
        )
    start, meshes, shape = _movers(movers, bodies, n)
    frames, times, note = _frames(start, movers, way, turn, end, n)
    touched = trace.kind > 0
    chosen = np.concatenate([np.flatnonzero(touched), np.flatnonzero(~touched)])
    left_out = f" The first {most:,} of {n:,}, those that touch something before others, are here."
    chosen = np.sort(chosen[:most])
    done = trace.fraction + (trace.part if len(times) == 3 else 0)
    still = np.flatnonzero(bodies.start.valid)
    cast = Cast(
        (*meshes, *bodies.meshes), shape[chosen], frames[:, chosen], np.concatenate([chosen, still]),
        bodies.shape[still] + len(meshes), poses_of(bodies.start)[still], stop=done[chosen],
        names={k: f"mover {i}" for k, i in enumerate(chosen.tolist())}
        | {len(chosen) + k: f"body {i}" for k, i in enumerate(still.tolist())},
    )  # fmt: skip
    rows = chosen[touched[chosen]]
    position = np.full(len(bodies), -1)
    position[still] = len(chosen) + np.arange(len(still))
    events = Events.single(
        np.zeros(len(rows), int), np.ones(len(rows)), trace.kind[rows].astype(int) - 1,
        a=np.searchsorted(chosen, rows), b=position[trace.body[rows]], time=done[rows],
        place=trace.point[rows], normal=-trace.normal[rows], fields=fields_of(trace, rows),
        labels=list(LABELS),
    )  # fmt: skip
    inside = int((trace.status == Status.INITIAL_OVERLAP).sum())
    note += f" {how_many(inside, 'begins', 'begin')} inside something." if inside else ""
    return PageScene(
        f"{how_many(n, 'mover')}, {how_many(int(touched.sum()), 'of which stops', 'of which stop')}",
        note + (left_out if n > most else ""),
        cast, events, times, ["all"], [np.arange(len(cast.number))], np.array([[0, len(times) - 1]]),
        what="stops", speed=("touches", "which features touch, the mover's first"), clock="of the motion",
    )  # fmt: skip


def _movers(movers: Any, bodies: Bodies, n: int) -> tuple[Poses, tuple[Any, ...], Array]:
    """Where movers start, their meshes, and which each of them has."""
    if movers is None:
        raise ValueError("movers: expected those that the query was given, got None; pass movers=")
    if isinstance(movers, Bodies):
        start, meshes, shape = movers.start, movers.meshes, movers.shape
    else:
        places = as_float_array(movers, "movers", shape=(None, 3))
        size = max((mesh.radius for mesh in bodies.meshes), default=1.0)
        start = Poses.from_quat_wxyz(places, np.tile([1.0, 0, 0, 0], (len(places), 1)))
        meshes, shape = (ball().scaled(4 * DOT * size),), np.zeros(len(places), int)
    if len(start) != n:
        raise ValueError(
            f"movers: expected the {n} of the result, got {len(start)}; of a query by pairs pass a mover for "
            "each of them"
        )
    return start, meshes, shape


def _frames(
    start: Poses, movers: Any, way: Any, turn: tuple[Any, Any, Any], end: Any, n: int
) -> tuple[Array, Array, str]:
    """Poses (t, n, 7) along the whole motion, the times of these, and what is said of it."""
    turns = [name for name, value in zip(("angle", "axis", "origin"), turn, strict=True) if value is not None]
    if way is not None and (turns or end is not None):
        raise ValueError(
            f"displacement: expected one motion, got {(turns or ['end'])[0]} as well; pass that of the query"
        )
    if turns:
        if len(turns) < 3:
            raise ValueError(
                f"{turns[0]}: expected angle, axis and origin together, as rotate was given them"
            )
        angle = np.broadcast_to(as_float_array(turn[0], "angle"), (n,))
        axis, origin = rows_of(turn[1], "axis", n), rows_of(turn[2], "origin", n)
        times = np.linspace(0.0, 1.0, PIECES + 1)
        zero = np.zeros(n)
        along = [Poses.from_screw(axis, origin, share * angle, zero, start) for share in times]
        return (
            np.stack([poses_of(poses) for poses in along]),
            times,
            "About their axes, up to the first touch.",
        )
    if way is not None:
        there = poses_of(start)
        there[:, :3] += rows_of(way, "displacement", n)
        return np.stack([poses_of(start), there]), np.array([0.0, 1.0]), "Along ways, up to the first touch."
    if end is None and isinstance(movers, Bodies) and movers.end is not movers.start:
        end = movers.end
    if not isinstance(end, Poses) or end.shape != (n,):
        raise ValueError(
            "displacement: expected the motion that the query was given, got None; pass displacement= of "
            f"translate, angle=, axis= and origin= of rotate, or end= (Poses of shape ({n},)) of move"
        )
    first, last = poses_of(start), poses_of(end)
    shifted = np.concatenate([last[:, :3], first[:, 3:]], axis=1)
    note = "First the shift, from 0 to 1, then the turn, from 1 to 2, up to the first touch."
    return np.stack([first, shifted, last]), np.array([0.0, 1.0, 2.0]), note
