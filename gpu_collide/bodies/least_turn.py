"""The least turn: where shapes of revolution end, of which a spin about their own axis changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import conjugate, dot, multiply, rotate
from gpu_collide.geometry.mesh.mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide._types import Array
    from gpu_collide.bodies.compound import Compound

__all__ = ["BALL", "NO_TURN", "SPINDLE", "least_turn", "revolutions"]

BALL, SPINDLE = 1.0, 2.0  # what is in the first column of `revolutions`; 0 is every other shape
#: Sines of half turns up to this are rounding: of quaternions that a caller multiplied, 6e-16 were seen.
NO_TURN = 4e-15


def revolutions(meshes: Sequence[Mesh | Compound]) -> Array | None:
    """Which meshes are shapes of revolution, and about what.

    Parameters
    ----------
    meshes : sequence of Mesh or Compound
        A compound, which has no vertices itself, is none.

    Returns
    -------
    (m, 7) float64 ndarray or None
        `BALL` (one vertex), `SPINDLE` (two: capsules, cylinders, cones) or 0; the center of a ball, or the
        point of an axis that is nearest to the body's origin; the unit vector along the axis. None if no mesh
        is one.
    """
    thin = {k: x.vertices for k, x in enumerate(meshes) if isinstance(x, Mesh) and len(x.vertices) < 3}
    if not thin:
        return None
    first, last = (np.array([vertices[end] for vertices in thin.values()]) for end in (0, -1))
    way = last - first
    largest = np.abs(way).max(axis=1, keepdims=True)
    way = way / np.where(largest > 0, largest, 1.0)
    length = np.sqrt(dot(way, way))[:, None]
    axis = way / np.where(length > 0, length, 1.0)
    center = first - dot(first, axis)[:, None] * axis
    # an axis that leads through the origin but for rounding does so
    near = np.abs(center).max(axis=1) <= NO_TURN * np.maximum(np.abs(first), np.abs(last)).max(axis=1)
    spindle = length[:, 0] > 0
    found = np.zeros((len(meshes), 7))
    which = list(thin)
    found[which, 0] = np.where(spindle, SPINDLE, BALL)
    found[which, 1:4] = np.where((spindle & near)[:, None], 0.0, center)
    found[which, 4:] = axis
    return found


def least_turn(start: Poses, end: Poses, revolution: Array) -> Poses:
    """Poses in which bodies occupy what they do at the end, turned as little as possible from the start.

    Parameters
    ----------
    start, end : Poses of shape (n,)
    revolution : (n, 7) float64 ndarray
        Rows of `revolutions`, of each body.

    Returns
    -------
    Poses of shape (n,)
        Those of `end` in rows of shapes that are not of revolution or have no spin, to the bit; and the
        orientation of `start` where nothing but a spin turns the body.

    Notes
    -----
    Of the turn d from start to end, seen from the body, with the scalar part w and the part s of its vector
    along the axis k, the spin is the turn (w, s k) / sqrt(w^2 + s^2): what is left when it is taken off turns
    about an axis across k. The operations are those of ``kernels/upload/g09_least_turn.c``, and so are the
    bits.
    """
    first, last = start.unit_wxyz, end.unit_wxyz
    center, axis = revolution[:, 1:4], revolution[:, 4:]
    turn = multiply(conjugate(first), last)
    along = turn[:, 1] * axis[:, 0] + turn[:, 2] * axis[:, 1] + turn[:, 3] * axis[:, 2]
    across = turn[:, 1:] - along[:, None] * axis
    sine = np.sqrt(across[:, 0] ** 2 + across[:, 1] ** 2 + across[:, 2] ** 2)
    round_ = (revolution[:, 0] > 0) & start.valid & end.valid
    turned = round_ & (first != last).any(axis=1)
    stays = turned & ((revolution[:, 0] == BALL) | (sine <= NO_TURN))
    spins = turned & ~stays & (np.abs(along) > NO_TURN)
    if not (stays.any() or spins.any()):
        return end
    length = np.where(spins, np.sqrt(turn[:, 0] ** 2 + along**2), 1.0)
    back = np.column_stack([turn[:, :1], -along[:, None] * axis]) / length[:, None]
    given = np.where(spins[:, None], multiply(last, back), end.quat_wxyz)
    given = np.where(stays[:, None], start.quat_wxyz, given)
    unit = Poses(end.position, given, end.valid).unit_wxyz
    # of an axis through the origin nothing is moved
    moved = (stays | spins) & (center != 0.0).any(axis=1)
    arm = np.where(moved[:, None], rotate(last, center) - rotate(unit, center), 0.0)
    position = np.where(moved[:, None], end.position + arm, end.position)
    return Poses(position, given, end.valid)
