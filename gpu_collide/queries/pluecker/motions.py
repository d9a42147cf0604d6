"""Motions of movers, and the `Trace` of what became of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import check_bool
from gpu_collide.bodies.movers import Motion, Turn
from gpu_collide.bodies.poses import Poses
from gpu_collide.geometry.arrays.angles import sine_cosine
from gpu_collide.geometry.arrays.soa import length
from gpu_collide.queries.obstacles import Obstacles
from gpu_collide.queries.pluecker.initial_overlap import start_inside
from gpu_collide.queries.pluecker.movers import check_expel, check_movers, check_moving, movers_on
from gpu_collide.queries.pluecker.moving import World, until_touch
from gpu_collide.results.result import Status
from gpu_collide.results.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.movers import Movers

__all__ = ["checked_end", "trace", "turned"]


def turned(angle: Array, axis: Array, origin: Array) -> Motion:
    """The motion of a turn by `angle`, (n,), about `axis` at `origin`, (n, 3)."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        axis = axis / np.abs(axis).max(axis=1, initial=0.0)[:, None]  # no axis: no numbers
        axis = axis / length(axis.T)[:, None] * np.where(angle < 0.0, -1.0, 1.0)[:, None]
        split = np.abs(angle) > np.pi
        half = np.abs(angle) * np.where(split, 0.25, 0.5)
        bad = ~(np.isfinite(axis).all(axis=1) & np.isfinite(origin).all(axis=1) & np.isfinite(angle))
        half = np.where(bad[:, None], np.nan, np.column_stack(sine_cosine(half)))
    axis = np.where(bad[:, None], [1.0, 0.0, 0.0], axis)
    first = Turn(axis, np.where(bad[:, None], 0.0, origin), half, angle != 0.0)
    turns = (first, replace(first, turns=split)) if split.any() else (first,)
    return Motion(None, turns, split, None)


def checked_end(end: Any, n: int) -> Poses:
    if not isinstance(end, Poses):
        raise TypeError(f"end: expected gpu_collide.Poses, got {type(end).__name__}")
    if end.shape != (n,):
        raise ValueError(f"end: expected poses of the {n} movers, shape ({n},), got {end.shape}")
    return end


def trace(
    movers: Any,
    obstacles: Any,
    motion: Callable[[Movers, int], Motion],
    expel: Any,
    exclude_body: Any,
    world: Any,
    pairs: Any,
    precision: Any,
    backend: Any,
    max_bytes: Any,
    check_start: Any,
) -> Trace:
    """`Trace` of movers; ``motion(rows, n)`` is the `Motion` of the rows made of `n` movers."""
    check_start = check_bool(check_start, "check_start")
    with Obstacles(obstacles, movers_on, precision, backend, max_bytes, own=True) as among:
        bodies, rules, engine, others = among.bodies, among.rules, among.engine, None
        rows = check_movers(movers, exclude_body, world, pairs, bodies, rules)
        asked = motion(rows, rows.count)
        with np.errstate(invalid="ignore", over="ignore"):
            reach = asked.reach(rows)
        finite = np.asarray(np.isfinite(reach).all(axis=1))
        rows = replace(rows, moves=rows.moves & finite)
        stands = bodies
        if among.moving is not None:
            check_moving(movers, engine.precision)
            stands, others = World.split(among)
        made = engine.world(stands, rules, among.resident)
        with np.errstate(invalid="ignore", over="ignore"):
            place = np.abs(rows.position - made.shift).max(axis=1, initial=0.0)
            if others is not None:  # which meet where the world has them
                place = np.maximum(np.abs(rows.position).max(axis=1, initial=0.0), others.extent())
            far = place + np.where(finite, reach.max(axis=1, initial=0.0), 0.0)
        rows = check_expel(
            expel, rows, (place, far), bool(asked.turns), bodies, engine.precision, others is not None
        )
        still = ~rows.moves[:, None]
        way = None if asked.way is None else np.where(still, 0.0, asked.way)
        turns = [replace(t, half=np.where(still, [0.0, 1.0], t.half)) for t in asked.turns]
        among_still = rows if others is None else replace(rows, moves=rows.moves & ~others.has(rows))
        found = engine.trace(made, among_still, way, turns)
        asked, info = asked.whole(way, found), engine.about()
    if others is not None:
        rows = until_touch(rows, asked, others, found)
    inside = start_inside(rows, bodies, rules, info, max_bytes) if check_start else None
    return _result(rows, finite, asked, found, info, inside)


def _result(
    rows: Movers, finite: Array, asked: Motion, found: Any, info: dict[str, Any], inside: Array | None
) -> Trace:
    """`Trace` of what an engine found."""
    moved = rows.moves
    hit = moved & (found["kind"] > 0)
    status = np.where(hit, Status.HIT, Status.MISS).astype(np.uint8)
    if inside is not None:
        status[inside] = Status.INITIAL_OVERLAP
    status[~moved] = Status.UNRESOLVED
    status[~(rows.valid & finite)] = Status.INVALID_INPUT
    fraction = np.where(hit, found["fraction"], np.where(moved, 1.0, 0.0))
    turned = found["turns"] > 0
    if asked.way is None:
        position = np.where(turned[:, None], found["position"], rows.position)
    else:
        position = rows.position + asked.way * np.where(turned, 1.0, fraction)[:, None]
    quat = np.where(turned[:, None], found["quat"], rows.quat)
    if asked.end is not None:
        free, there = moved & ~hit, moved & (turned | ~hit)
        position[there] = asked.end.position[there]
        quat[free] = asked.end.unit_wxyz[free]
    part = (turned if asked.way is not None else moved & bool(asked.turns)).astype(np.uint8)
    return Trace(
        status=status, fraction=fraction, part=part, kind=found["kind"], body=found["body"],
        feature_a=found["feature_a"], feature_b=found["feature_b"], point=found["point"],
        normal=found["normal"], position=position, quat_wxyz=quat, expel=rows.zone, info=info,
    )  # fmt: skip
