"""Stage 3: boxes of the nodes of all levels, each from its leaves."""

import numpy as np


def levels_of(boxes, order):
    """Boxes (nodes, 6) of each level, the leaves' first, over boxes (n, 6); `order` (n,) is the leaves'."""
    leaves, levels = boxes[order], []
    size = 1
    while True:
        parts = [leaves[k : k + size] for k in range(0, len(leaves), size)]
        levels.append(
            np.array([np.concatenate([p[:, :3].min(axis=0), p[:, 3:].max(axis=0)]) for p in parts]).reshape(
                -1, 6
            )
        )
        if len(parts) <= 1:
            return levels
        size *= 2
