"""Times to collision: when bodies would meet if each went on as it moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.queries.collide import collide
from gpu_collide.recordings.separation import stay_apart
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
    used, at = np.unique(pairs, return_inverse=True)
    first, last = bodies.start[used], bodies.end[used]
    cosine = np.abs((first.unit_wxyz * last.unit_wxyz).sum(axis=-1))
    turn = 2.0 * np.arccos(np.minimum(cosine, 1.0))[at.reshape(-1, 2)].max(axis=1) * horizon / seconds
    pieces = np.maximum(np.ceil(turn / _MOST_TURN), 1.0).astype(int)
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
