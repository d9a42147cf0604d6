"""Doubts about units: shapes that can hardly belong to the places where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gpu_collide._types import FloatArray

__all__ = ["scale_doubt"]

MANY = 8  # bodies from which on it matters that each overlaps each other
TOO_LARGE = 10.0  # sizes of all that stands still, above which a moving body is no neighbour of it


def scale_doubt(radius: FloatArray, position: FloatArray, still_extent: float | None = None) -> str | None:
    """Why bodies of these sizes are hardly meant to be at these places, or None.

    Parameters
    ----------
    radius : (n,) float64
        Of the moving bodies.
    position : (..., 3) float64
        Where they are, over any number of times; rows that are not finite are passed over.
    still_extent : float, optional
        Radius of all that stands still together.

    Returns
    -------
    str or None
    """
    position = position.reshape(-1, 3)
    position = position[np.isfinite(position).all(axis=1)]
    if not len(position) or not len(radius):
        return None
    remedy = (
        "are all meshes and positions in one unit, not millimetres beside metres? Else scale the vertices"
    )
    spread = 0.5 * float(np.linalg.norm(np.ptp(position, axis=0)))
    typical = float(np.median(radius))
    if len(radius) >= MANY and 0 < spread < typical:
        return (
            f"{len(radius)} moving bodies of radius {typical:.3g} are all within {spread:.3g} of one place, "
            f"so that each overlaps each other, which takes long and means little: {remedy}"
        )
    largest = float(radius.max())
    if still_extent is not None and largest > TOO_LARGE * still_extent > 0:
        return (
            f"a moving body has the radius {largest:.3g}, while all that stands still has "
            f"{still_extent:.3g}: {remedy}"
        )
    return None
