"""Turns whose matrices are whole numbers over a whole number: quaternions of whole numbers."""

from itertools import product

import numpy as np

__all__ = ["TURNS"]


def _turn(w, x, y, z):
    """Matrix times its scale, the scale, unit quaternion."""
    m = np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    scale = w * w + x * x + y * y + z * z
    return m, scale, np.array([w, x, y, z]) / np.sqrt(scale)


#: All that have a scale of 1, 2, 3, 4 or 5: quarter turns, and those of 3-4-5 and 1-2-2 triangles among them.
TURNS = [
    _turn(*q)
    for q in product((-2, -1, 0, 1, 2), repeat=4)
    if sum(k * k for k in q) in (1, 2, 3, 4, 5) and next(k for k in q if k) > 0 and np.gcd.reduce(q) == 1
]
