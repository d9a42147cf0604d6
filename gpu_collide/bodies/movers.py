"""`Movers`: bodies or points that move one by one through a world; `Motion`: how; `Turn`: their rotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.poses import Poses
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["Motion", "Movers", "Turn"]


@dataclass(frozen=True)
class Movers:
    """A row for each answer.

    Attributes
    ----------
    count : int
        How many movers the caller has.
    meshes : tuple of Mesh or None
        None: points.
    shape : (n,) int32
    position : (n, 3) float64
    quat : (n, 4) float64
        Unit quaternions.
    valid : (n,) bool
        Is the pose one?
    mover : (n,) int32
        Row of the caller's movers.
    body, own : (n,) int32
        The only body of the world to look at, and the one that a mover is itself; -1: none.
    rank, group, mask : (n,) int32
        Which bodies it may meet, by the rules of the world: rank of its own world, 0 for every one, and bits.
    moves : (n,) bool
        Is it moved at all?
    zone : (n,) float64
        Thickness of the zone that each keeps.
    doubt : (n,) float64
        How far off rounding may put a place of each.
    """

    count: int
    meshes: tuple[Mesh, ...] | None
    shape: Array
    position: Array
    quat: Array
    valid: Array
    mover: Array
    body: Array
    own: Array
    rank: Array
    group: Array
    mask: Array
    moves: Array
    zone: Array
    doubt: Array


@dataclass(frozen=True)
class Turn:
    """A turn of each mover by at most pi, right-handed.

    Attributes
    ----------
    axis : (n, 3) float64
        Unit vectors.
    pivot : (n, 3) float64 or None
        A point of each axis; None: the body's origin, wherever it has come to.
    half : (n, 2) float64
        Sine and cosine of half the angle.
    turns : (n,) bool
        Is there a turn at all?
    """

    axis: Array
    pivot: Array | None
    half: Array
    turns: Array


class Motion(NamedTuple):
    """What is asked of movers.

    Attributes
    ----------
    way : (n, 3) float64 or None
    turns : tuple of Turn
    split : (n,) bool or None
        Which turns are made in two halves.
    end : Poses or None
        Where movers come to that nothing stops; None: where the numbers lead.
    """

    way: Array | None
    turns: tuple[Turn, ...]
    split: Array | None
    end: Poses | None

    def reach(self, rows: Movers) -> Array:
        """How far each mover goes, and from where turns count, (n, 3); not finite if it is no motion."""
        far = np.zeros((len(rows.position), 3)) if self.way is None else np.abs(self.way)
        for turn in self.turns:
            if turn.pivot is not None:
                far = np.maximum(far, 2.0 * np.abs(rows.position - turn.pivot))
            far = np.where(np.isfinite(turn.half).all(axis=1, keepdims=True), far, np.nan)
        return far

    def whole(self, way: Array | None, found: dict[str, Array]) -> Motion:
        """The same with the ways that movers go; makes fractions of halves found those of the turns."""
        if self.split is not None:
            halves = self.split & (found["kind"] > 0)
            found["fraction"][halves] = 0.5 * (found["fraction"][halves] + (found["turns"][halves] - 1))
        return self._replace(way=way)
