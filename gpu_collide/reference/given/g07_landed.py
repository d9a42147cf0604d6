"""What casts and characters found, as results tell it."""

import math

import numpy as np

from gpu_collide.results.words import Status

__all__ = ["hits", "slides"]


def hits(state, touched, point, shift):
    """Status (n,) and points (n, 3) in the world."""
    status = [
        said if said else Status.HIT if there else Status.MISS
        for said, there in zip(state, touched, strict=True)
    ]
    return status, [p + shift if there else p for p, there in zip(point, touched, strict=True)]


def slides(given, state, rows, shift):
    """`rows`: of each character by name what w05 tells of it; the same as results have it."""
    found = []
    for place, said, row in zip(given, state, rows, strict=True):
        made = row | {"position": np.asarray(row["position"]) + shift}
        if said:
            stays = [x if math.isfinite(x) else 0.0 for x in place]
            made |= {"status": Status.INVALID_INPUT, "ground": -1, "position": stays}
        if made["ground"] < 0:
            made["ground_normal"] = [0.0, 0.0, 0.0]
        found.append(made)
    return found
