"""Poses on the way from one to another along the screw motion between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import as_float_array
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import conjugate, multiply, rotate

if TYPE_CHECKING:
    from gpu_collide._types import ArrayLike

__all__ = ["along_screw", "chord_error"]

HALF_TURN = 1e-12  # cosine of half the turn below which it counts as half a revolution
_COMPONENT = 1e-9  # of a unit axis that counts as none, where its sign is chosen


def along_screw(start: Poses, end: Poses, share: ArrayLike) -> Poses:
    """Poses at a share of the screw motion that leads from `start` to `end`, the shorter way round.

    Parameters
    ----------
    start, end : Poses of shape (...)
    share : (...) array_like of float
        0 is the start, 1 the end; broadcast with the poses.

    Returns
    -------
    Poses
        Not valid where the start or the end is not.

    Notes
    -----
    With half the turn h, its axis v, and the way d of the origin, in parts along and across the axis, the
    origin has moved by ``share d_along + sin(share h) / sin(h) (d_across cos((1 - share) h) - v x d
    sin((1 - share) h))``. No digits are lost where the turn is small and its axis far away; without a turn
    it is a straight line. Of a half turn, where two screws fit, the one is taken whose axis has a positive
    first component that is not zero, in the body's own axes.
    """
    share = as_float_array(share, "share")
    first, last = start.unit_wxyz, end.unit_wxyz
    turn = multiply(last, conjugate(first))
    turn = np.where(turn[..., :1] < 0, -turn, turn)
    sine = np.sqrt((turn[..., 1:] ** 2).sum(axis=-1))
    axis = turn[..., 1:] / np.where(sine > 0, sine, 1.0)[..., None]
    own = rotate(conjugate(first), axis)
    lead = np.where(np.abs(own) > _COMPONENT, np.sign(own), 0.0)
    sign = np.where(lead[..., 0] != 0, lead[..., 0], np.where(lead[..., 1] != 0, lead[..., 1], lead[..., 2]))
    flip = (turn[..., 0] < HALF_TURN) & (sign < 0)
    axis = np.where(flip[..., None], -axis, axis)
    half = np.arctan2(sine, turn[..., 0])
    way = end.position - start.position
    along = (way * axis).sum(axis=-1, keepdims=True) * axis
    across, rest = way - along, (1 - share) * half
    factor = np.where(sine > 0, np.sin(share * half) / np.where(sine > 0, np.sin(half), 1.0), share)
    moved = across * np.cos(rest)[..., None] - np.cross(axis, way) * np.sin(rest)[..., None]
    position = start.position + share[..., None] * along + factor[..., None] * moved
    part = share * half
    rotation = np.concatenate([np.cos(part)[..., None], np.sin(part)[..., None] * axis], axis=-1)
    valid = np.broadcast_to(start.valid & end.valid, position.shape[:-1])
    return Poses(position, multiply(rotation, np.broadcast_to(first, rotation.shape)), valid=valid)


def chord_error(angle: ArrayLike) -> np.ndarray:
    """How far a screw motion is estimated to be from what a body did: a share of the length of its path.

    If one body stands and the other turns evenly about its own centre while that goes straight on, the screw
    between its poses takes the centre along an arc instead. This is the height of the arc over its chord, as
    a share of its length.

    Parameters
    ----------
    angle : array_like of float
        Relative turn of the step, radians, of either sign; at most a revolution.

    Returns
    -------
    ndarray
        ``(1 - cos(angle / 2)) / angle``, 0 where there is no turn; an eighth of small angles.

    Raises
    ------
    ValueError
        An angle that is not finite, or more than a revolution.

    Notes
    -----
    Formula (5) of S. R. Buss, section 4.3. Its table has 0.173 for 60 degrees, where the formula gives 0.128.

    Examples
    --------
    >>> import numpy as np, gpu_collide as gc
    >>> gc.chord_error(np.radians([60, 45, 5])).round(3).tolist()
    [0.128, 0.097, 0.011]
    """
    turn = np.abs(as_float_array(angle, "angle", shape=(...,)))
    if not (turn <= 2.0 * np.pi).all():
        raise ValueError("angle: expected finite radians, at most 2 pi; is it in degrees?")
    # of small angles the cosine has lost what is asked for; its half-angle form has not
    return 2.0 * np.sin(turn / 4.0) ** 2 / np.where(turn > 0.0, turn, 1.0)
