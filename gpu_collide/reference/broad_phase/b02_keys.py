"""Stage 2: numbers whose order is that of the leaves: segment, then place on a Morton curve."""

import numpy as np


def keys_of(boxes, ranks, origin, per_length, bits):
    """Keys (n,) int64 of boxes (n, 6).

    Parameters
    ----------
    boxes : (n, 6)
        Least and greatest coordinates.
    ranks : (n,) int
        Segments, from 0.
    origin : (3,)
        Lower corner of the cube that the curve fills.
    per_length : float
        Cells per unit of length.
    bits : int
        Bits of a cell's number on each axis; what lies outside the cube counts to its border.
    """
    cells = np.floor((0.5 * boxes[:, :3] + 0.5 * boxes[:, 3:] - origin) * per_length)
    cells = np.clip(np.nan_to_num(cells, nan=0.0), 0, 2.0**bits - 1).astype(np.int64)
    keys = np.asarray(ranks, np.int64) << (3 * bits)
    for bit in range(bits):
        for axis in range(3):  # x in the highest of the three
            keys |= (cells[:, axis] >> bit & 1) << (3 * bit + 2 - axis)
    return keys
