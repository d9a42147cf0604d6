"""Stage w01: the first touch of each query."""

from __future__ import annotations

import numpy as np

from gpu_collide.reference.sweep.w02_all import touches

__all__ = ["first_touches"]


def first_touches(bodies, casts, two_sided, buffer, exact=False, rules=None):
    """Rows of the least touch of each query by time, feature, body, number and sphere."""
    rows = touches(bodies, casts, two_sided, buffer, exact, rules)
    keys = [rows[name] for name in ("query", "touch", "feature", "body", "number", "sphere")]
    order = np.lexsort(keys[::-1])
    query = rows["query"][order]
    first = order[np.diff(query, prepend=-1) > 0]
    return {name: array[first] for name, array in rows.items() if name != "touch"}
