"""Pairs as given, checked, and what the stages read of each."""

import numpy as np

__all__ = ["taken_over"]


def taken_over(given, shape, valid, heights=None):
    """Pairs (p, 2), items (p, 3), heights of rows (p,), how many rows are no pair, and how many have a body
    without poses."""
    pairs, wrong, invalid = [], 0, 0
    for a, b in given.tolist():
        if a == b or not {a, b} <= set(range(len(shape))):
            wrong += 1
            a = b = 0
        elif not (valid[a] and valid[b]):
            invalid += 1
        pairs.append((a, b))
    items = [(i, shape[a], shape[b]) for i, (a, b) in enumerate(pairs)]
    height = np.array([0.0 if heights is None else heights[shape[a], shape[b]] for a, b in pairs])
    return np.array(pairs).reshape(-1, 2), np.array(items).reshape(-1, 3), height, wrong, invalid
