"""Stage 3: boxes of the nodes of all levels, each from its leaves."""

import numpy as np


def levels_of(boxes, counts):
    """Boxes (nodes, 6) of each level, the leaves' first, over boxes (n, 6) in the order of the leaves.

    Leaves that do not count, (n,) bool, take no part: a node without any that does has its least coordinates
    at infinity and its greatest at minus infinity.
    """
    leaves = np.where(counts[:, None], boxes, np.repeat([np.inf, -np.inf], 3))
    levels, size = [], 1
    while True:
        parts = [leaves[k : k + size] for k in range(0, len(leaves), size)]
        levels.append(np.array([[*p[:, :3].min(axis=0), *p[:, 3:].max(axis=0)] for p in parts]))
        if len(parts) <= 1:
            return levels
        size *= 2
