"""Results of casts and characters, as the public results have them."""

import math

import numpy as np

from gpu_collide.results.enums import Status

__all__ = ["hits", "slides", "unsaid"]


def hits(state, touched, point, shift):
    """Status (n,) and points (n, 3) in the world."""
    status = [
        said if said else Status.HIT if there else Status.MISS
        for said, there in zip(state, touched, strict=True)
    ]
    return status, [p + shift if there else p for p, there in zip(point, touched, strict=True)]


def unsaid(state, feature, caught, time, place):
    """Features (n,), numbers (4, n), and times with points and normals (2, n, 3) in a row, of which those of
    queries that are not swept say that nothing is touched."""
    lost = np.asarray(state) != Status.MISS
    place = np.where(lost[:, None], 0.0, place)
    told = np.concatenate([np.where(lost, 1.0, time), place.reshape(-1)])
    return np.where(lost, 0, feature), np.where(lost, -1, caught), told


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
