"""Bounds over all queries that the error of chords depends on, and the paths of characters that rotating
bodies carry."""

import numpy as np

from gpu_collide.bodies.quaternion import rotate

__all__ = ["carried", "leaning", "reached"]


def reached(start, path, radius, swept, riding):
    """Box of all paths, the longest, the largest radius, the least that is swept, and whether one of these
    rides; of what is not swept start and path are 0."""
    ends = np.where(swept[:, None, None], np.stack([start, start + path], axis=1), 0.0)
    low, high = ends.min(axis=(0, 1)), ends.max(axis=(0, 1))
    fast = max((np.linalg.norm(p) for p in path[swept]), default=0.0)
    radii = radius[swept]
    return low, high, fast, radius.max(), radii.min() if radii.size else np.inf, (riding[swept] >= 0).any()


def leaning(radii, quat, spins):
    """Of each turn the norm of ``D S - S D``, of that ellipsoid of which it is largest."""
    found = []
    for spin in spins:
        across = np.cross(np.eye(3), spin).T
        most = 0.0
        for r, q in zip(radii, quat, strict=True):
            axes = np.array([rotate(q, e) for e in np.eye(3)]).T
            own = axes @ np.diag(r) @ axes.T
            most = max(most, float(np.linalg.norm(own @ across - across @ own)))
        found.append(most)
    return np.array(found)


def carried(place, velocity, riding, turn, origin, motion):
    """Ways of characters on bodies that turn: their velocity, and from where their place is to where it
    comes with the body."""
    ways = velocity.copy()
    for i, body in enumerate(riding):
        ways[i] += origin[body] + motion[body] + rotate(turn[body], place[i] - origin[body]) - place[i]
    return ways
