"""`Spins`: bodies whose reference point moves straight on while they spin, as engines integrate them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import Frozen, as_float_array, owned
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import multiply, rotate, turned_by

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array

__all__ = ["FIELDS", "SCREW", "SPIN", "Spins", "per_body"]

SCREW, SPIN = 0, 1  # kinds of motion
FIELDS = ("kind", "displacement", "rotation", "center")


class Spins(Frozen):
    """How n bodies move over a step, as far as their two poses do not say it.

    Attributes
    ----------
    kind : (n,) uint8
        0: along the screw between the two poses. 1: the reference point moves straight on, and the body turns
        about it at a constant rate. Rows of the others below are zero where the kind is 0.
    displacement : (n, 3) float64
        Of the reference point over the step, in the world.
    rotation : (n, 3) float64
        Along the axis of the spin, in the world, and as long as the angle over the step, of any size.
    center : (n, 3) float64
        The reference point, in the body's coordinates.
    """

    kind: NDArray[np.uint8]
    displacement: NDArray[np.float64]
    rotation: NDArray[np.float64]
    center: NDArray[np.float64]

    def __init__(self, kind: Array, displacement: Array, rotation: Array, center: Array) -> None:
        self.__dict__.update(
            kind=owned(kind.astype(np.uint8)), displacement=owned(displacement), rotation=owned(rotation),
            center=owned(center),
        )  # fmt: skip

    @classmethod
    def none(cls, n: int) -> Spins:
        """Of bodies that all move along the screws between their poses."""
        zero = np.zeros((n, 3))
        return cls(np.zeros(n, np.uint8), zero, zero, zero)

    @classmethod
    def concatenate(cls, parts: list[Spins]) -> Spins:
        """Those of several, one after the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))

    def of(self, rows: Any) -> Spins:
        """Those of some bodies."""
        return Spins(*(getattr(self, name)[rows] for name in FIELDS))

    @property
    def spinning(self) -> NDArray[np.bool_]:
        """(n,) bool: the kind is 1."""
        return self.kind == SPIN

    def poses_at(self, start: Poses, share: Any) -> Poses:
        """Where all would be at a share of the step if they spun; of kind 1 it is where they are.

        Parameters
        ----------
        start : Poses of shape (n,)
        share : (n,) array_like of float
        """
        share = np.asarray(share, np.float64)[..., None]
        unit = multiply(turned_by(share * self.rotation), start.unit_wxyz)
        # a body whose reference point is its origin is not to lose digits by its turn
        arm = rotate(start.unit_wxyz, self.center) - rotate(unit, self.center)
        return Poses(start.position + (share * self.displacement + arm), unit, start.valid)


def per_body(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """The argument `name`, three numbers a body or the same three for all, as (n, 3) float64."""
    array = as_float_array(value, name, shape=(..., 3))
    try:
        whole = np.broadcast_to(array, (*shape, 3))
    except ValueError:
        raise ValueError(
            f"{name}: expected shape (3,) or {(*shape, 3)}, a row for each pose, got {array.shape}"
        ) from None
    return whole.reshape(-1, 3)
