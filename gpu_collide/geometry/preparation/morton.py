"""Order along a Morton curve, on the host: the cube that codes divide, and the codes of ``b02_keys``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["SAMPLE", "codes", "cube", "sample", "spread"]

SAMPLE = 4096  # centres that the cube of the codes is taken from
CORE = (2, 98)  # percentiles of the sample between which the codes have their cells


def sample(n: int) -> Array:
    """Numbers of at most `SAMPLE` of n things, spread evenly."""
    k = min(n, SAMPLE)
    return np.arange(k, dtype=np.int64) * n // max(k, 1)


def cube(centres: Any, bits: int, real: Any = np.float64) -> tuple[Any, Any]:
    """Lower corner and side of the cube that codes of so many bits an axis divide.

    Parameters
    ----------
    centres : (k, 3) float64
        A sample of what is to be ordered; what is not finite does not count.
    bits : int
    real : dtype
        What the codes will be computed in.
    """
    centres = centres[np.isfinite(centres).all(axis=1)]
    if not len(centres):
        return np.zeros(3), 1.0
    low, high = np.percentile(centres, CORE, axis=0)
    with np.errstate(over="ignore"):
        side = float((high - low).max()) * 1.25
        origin = 0.5 * low + 0.5 * high - 0.5 * side
    limit = float(np.finfo(real).max) / 4
    least = max(np.abs([low, high]).max() * 1e-15, float(np.finfo(real).tiny) * 2.0 ** (bits + 2))
    side = min(max(side, least), limit)
    return np.clip(origin, -limit, limit), side


def codes(centres: Any, bits: int, origin: Any, side: Any) -> Array:
    """Code of each place, three arrays of finite float64; those outside the cube go to its border."""
    per_length, code = 2.0**bits / side, np.int64(0)
    for x, low in zip(centres, origin, strict=True):
        cell = np.clip(np.floor((x - low) * per_length), 0.0, 2.0**bits - 1.0)
        code = code << 1 | _spread(cell.astype(np.int64))
    return code


def spread(sides: Array, bits: int, cells: int) -> tuple[Array, Array]:
    """A curve of codes of so many bits over a box, in cells as near to cubes as it goes: a flat box spends no
    bits on its height.

    Parameters
    ----------
    sides : (3,) float64
        Of the box.
    bits : int
    cells : int
        At most so many along an axis, a power of two.

    Returns
    -------
    per_length : (3,) float64
        Cells per length of each axis; 0 where there is one.
    table : (3, cells) int32
        What each cell of each axis adds to a code.
    """
    places: list[list[int]] = [[], [], []]  # of the bits of each axis, from the highest
    side, per_length = 0.5 * float(np.max(sides)), np.zeros(3)
    most: int = cells.bit_length() - 1
    made = 0
    for _ in range(64):
        for k in np.flatnonzero(np.asarray(sides) > side):
            if made < bits and len(places[k]) < most:
                places[k].append(bits - 1 - made)
                made, per_length[k] = made + 1, 1.0 / side
        side *= 0.5
    table = np.zeros((3, cells), np.int64)
    for row, own in zip(table, places, strict=True):
        cell = np.minimum(np.arange(cells), (1 << len(own)) - 1)
        for bit, place in enumerate(reversed(own)):
            row |= (cell >> bit & 1) << place
    return per_length, table.astype(np.int32)


def _spread(v: Array) -> Array:
    """Bits of v, at most 21, at every third place."""
    v = (v | v << 32) & 0x1F00000000FFFF
    v = (v | v << 16) & 0x1F0000FF0000FF
    v = (v | v << 8) & 0x100F00F00F00F00F
    v = (v | v << 4) & 0x10C30C30C30C30C3
    return (v | v << 2) & 0x1249249249249249
