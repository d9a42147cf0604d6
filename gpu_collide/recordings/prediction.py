"""Times to collision: when bodies would meet if each went on as it moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.bodies.quaternion import conjugate, multiply
from gpu_collide.queries.collide import collide
from gpu_collide.recordings.separation import balls_meet, bend_of, stay_apart
from gpu_collide.results.enums import Status

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies

__all__ = ["times_to_collision"]

_MOST_TURN = 2.0  # radians of a piece of a predicted motion: less than half a turn, so that it has one screw


def times_to_collision(
    bodies: Bodies,
    pairs: Array,
    seconds: Array,
    horizon: float | None,
    measures: Array,
    options: dict[str, Any],
) -> tuple[Array, Array]:
    """Time to collision at the start of the step, of all pairs that would meet within `horizon` seconds.

    Each body goes on along the screw of the step, that is with constant speed and yaw rate, and `collide`
    finds the first contact. Pairs that overlap at the start of the step have none.

    Parameters
    ----------
    bodies : Bodies
    pairs : (p, 2) int ndarray
    seconds : (p,) float64 ndarray
        How long the step of each lasts.
    horizon : float or None
        None: nothing is asked.
    measures : (m, 10) float64 ndarray
        Of the meshes, as `measures_of` has them.
    options : dict
        Of `collide`.

    Returns
    -------
    which : (k,) int64 ndarray
        Those of the pairs that would meet.
    seconds : (k,) float64 ndarray
    """
    if horizon is None or len(pairs) == 0:
        return np.zeros(0, int), np.zeros(0)
    turn, meet = _ahead(bodies, pairs, horizon / seconds, measures)
    pieces = np.maximum(np.ceil(turn / _MOST_TURN), 1.0).astype(int)
    pieces[~meet] = 0
    if not meet.any():
        return np.zeros(0, int), np.zeros(0)
    pair = np.repeat(np.arange(len(pairs)), pieces)
    piece = np.arange(len(pair)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    pieces, share = pieces[pair], (horizon / seconds)[pair]
    most = int(pieces.max()) + 1
    row = (pairs[pair] * most + pieces[:, None]) * most + piece[:, None]  # a body in a piece of so many
    row, one, two = np.unique(row, return_index=True, return_inverse=True)
    two, of = two.reshape(-1, 2), one // 2
    body = pairs[pair].reshape(-1)[one]
    start, end = bodies.start[body], bodies.end[body]
    ends = [start.toward(end, share[of] * ((piece[of] + k) / pieces[of])) for k in (0, 1)]
    going = bodies.again(bodies.shape[body], *ends)
    some = np.flatnonzero(~stay_apart(going, two, measures))
    pair, piece, pieces = pair[some], piece[some], pieces[some]
    met = collide(going, two[some], contacts="first", motion="body", **options)
    closes = np.bincount(met.pair[met.normal_speed < 0], minlength=len(met.status)) > 0
    inside = met.status == Status.INITIAL_OVERLAP
    rows = np.flatnonzero(inside | ((met.status == Status.HIT) & closes))
    when = (piece + np.where(inside, 0.0, met.toi)) * (horizon / pieces)
    rows = rows[np.lexsort([when[rows], pair[rows]])]
    which, first_of = np.unique(pair[rows], return_index=True)
    when = when[rows[first_of]]
    return which[when > 0.0], when[when > 0.0]  # 0: they overlap at the start of the step


def _ahead(bodies: Bodies, pairs: Array, share: Array, measures: Array) -> tuple[Array, Array]:
    """How far the bodies of pairs turn at most while they go on for so many steps, (p,), and whether they may
    meet: balls around their origins do, or one turns by more than a piece."""
    used, at = np.unique(pairs, return_inverse=True)
    at, shares = at.reshape(-1, 2), np.empty(len(used))
    shares[at] = share[:, None]
    first, last = bodies.start[used], bodies.end[used]
    cosine = np.abs((first.unit_wxyz * last.unit_wxyz).sum(axis=-1))
    turn = 2.0 * np.arccos(np.minimum(cosine, 1.0)) * shares
    quat = multiply(last.unit_wxyz, conjugate(first.unit_wxyz))
    sine = np.linalg.norm(quat[:, 1:], axis=1)
    half, turns = np.arctan2(sine, np.abs(quat[:, 0])), sine > 1e-9
    axis = quat[:, 1:] * (np.where(quat[:, 0] < 0, -1.0, 1.0) / np.where(turns, sine, 1.0))[:, None]
    # `Poses.toward` of the origins alone, roughly: a filter
    way = last.position - first.position
    along = (way * axis).sum(axis=1, keepdims=True) * axis
    factor = np.where(turns, np.sin(shares * half) / np.where(turns, np.sin(half), 1.0), shares)
    rest = ((1.0 - shares) * half)[:, None]
    moved = np.cos(rest) * (way - along) - np.sin(rest) * np.cross(axis, way)
    way = np.where(turns[:, None], shares[:, None] * along + factor[:, None] * moved, shares[:, None] * way)
    sizes = measures[bodies.shape[used]]
    radius = np.linalg.norm(sizes[:, :3], axis=1) + sizes[:, 3]
    once = turn <= _MOST_TURN
    chord = np.linalg.norm(way, axis=1)
    reach = (1.0 + 1e-6) * radius + 1e-6 * chord + bend_of(np.where(once, turn, 0.0), chord)
    return turn[at].max(axis=1), balls_meet(first.position, way, reach, at) | ~once[at].all(axis=1)
