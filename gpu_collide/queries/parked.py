"""Bodies at rest inside each other along trajectories: pairs that no step tests, found by a single test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.rules import check_rules, still_bodies
from gpu_collide.queries.collide import answer
from gpu_collide.queries.pairs import gathered, open_search
from gpu_collide.results.enums import Status
from gpu_collide.results.trajectory_contacts import PAIR_DTYPE

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["parked_pairs"]


def parked_pairs(engine: Any, crew: Any, bodies: Bodies, step: Array, body: Array) -> Array:
    """Rows of `PAIR_DTYPE` for pairs of which both stand still in a step and overlap; steps of the batch.

    While a body stands still nothing about it changes, so that each such stretch of steps is one body here,
    and each two of them that share a step are looked at once.

    Parameters
    ----------
    engine : Pipeline or Reference
    crew : Crew
        Of `gpu_collide.queries.trajectory_batches`.
    bodies : Bodies
        Those of the batch, moving ones first.
    step, body : (m,) ndarray of int
        Of the moving ones.
    """
    nothing = np.empty(0, PAIR_DTYPE)
    rest = np.flatnonzero(still_bodies(bodies)[: len(step)])
    if not len(rest) or not engine.options.check_start:
        return nothing
    rest = rest[np.lexsort([step[rest], body[rest]])]
    begins = np.append(True, (np.diff(body[rest]) != 0) | (np.diff(step[rest]) != 1))
    first, last = rest[begins], rest[np.append(begins[1:], True)]
    always = np.arange(len(step), len(bodies))  # the static ones
    rows = np.concatenate([first, always])
    number = np.concatenate([body[first], crew.n + np.arange(crew.n_static)])
    since = np.concatenate([step[first], np.full(len(always), -1)])
    until = np.concatenate([step[last], np.full(len(always), step.max())])
    pairs = _near(engine, crew, bodies, rows, number, len(first))
    begin, end = np.maximum(*since[pairs].T), np.minimum(*until[pairs].T)
    shared = (begin <= end) & ~crew.ignored(number[pairs])
    pairs, begin, end = pairs[shared], begin[shared], end[shared]
    if not len(pairs):
        return nothing
    here = _poses(bodies, rows)
    found = answer(engine, Bodies(crew.meshes, bodies.shape[rows], here, here), pairs).to_numpy()
    inside = np.flatnonzero(found.status == Status.INITIAL_OVERLAP)
    steps = (end - begin + 1)[inside]
    told = np.empty(steps.sum(), PAIR_DTYPE)
    told["step"] = np.repeat(begin[inside] - np.cumsum(steps) + steps, steps) + np.arange(len(told))
    for side, name in enumerate(("body_a", "body_b")):
        told[name] = np.repeat(number[pairs[inside, side]], steps)
    told["status"], told["toi"] = Status.INITIAL_OVERLAP, np.inf
    return told


def _near(engine: Any, crew: Any, bodies: Bodies, rows: Array, number: Array, moving: int) -> Array:
    """Pairs (p, 2) of `rows` that may overlap, not of two static ones."""
    here = _poses(bodies, rows)
    to = here.position.copy()
    to[:moving, 0] = np.nextafter(to[:moving, 0], np.inf)  # the broad phase pairs no two that stand still
    moved = Bodies(crew.meshes, bodies.shape[rows], here, Poses.from_quat_wxyz(to, here.quat_wxyz))
    world, group, mask = (None if of is None else of[number] for of in (crew.rank, crew.group, crew.mask))
    rules = check_rules(len(rows), world, group, mask, None, False)
    return gathered(open_search(engine, moved, rules, margin=engine.options.target_distance))


def _poses(bodies: Bodies, rows: Array) -> Poses:
    return Poses.from_quat_wxyz(bodies.start.position[rows], bodies.start.quat_wxyz[rows])
