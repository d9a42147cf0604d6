"""Features to test, of unit size: random ones, whole numbers, seams and nearly parallel edges."""

import numpy as np


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def points(rng, whole, *shape):
    """Random points, or such of small whole numbers, where everything coincides."""
    return rng.integers(-3, 4, shape).astype(float) if whole else rng.uniform(-1, 1, shape)


def turns(rng, whole, n):
    """Angles, among them half and quarter turns, axes and origins."""
    angle = rng.uniform(-np.pi, np.pi, n)
    angle[::5], angle[1::5] = np.pi, -np.pi / 2
    axis = points(rng, whole, n, 3)
    axis[(axis == 0).all(axis=1)] = [0, 0, 1]
    return angle, axis, points(rng, whole, n, 3)


def nearly(rng, x, ulps=3):
    """Points within some units in the last place of others."""
    return x + rng.integers(-ulps, ulps + 1, x.shape) * np.spacing(np.abs(x))


def crossing_edges(rng, n, sine):
    """Directions of pairs of edges with this sine between them, and the normal of both."""
    u = unit(rng.normal(size=(n, 3)))
    across = unit(np.cross(u, rng.normal(size=(n, 3))))
    return u, u * np.sqrt(1 - sine**2) + across * sine, np.cross(u, across)


def through(rng, x, u):
    """Edges through points, as their ends."""
    n = len(x)
    return np.stack([x - u * rng.uniform(0.2, 1, (n, 1)), x + u * rng.uniform(0.2, 1, (n, 1))], axis=1)


def turned(x, angle, axis, origin):
    """Points (n, .., 3) turned, each row about its own axis."""
    spread = (slice(None), *(None,) * (x.ndim - 2))
    k, p = unit(axis)[spread], x - origin[spread]
    c, s = np.cos(angle)[spread + (None,)], np.sin(angle)[spread + (None,)]
    along = np.sum(p * k, axis=-1, keepdims=True)
    return origin[spread] + p * c + np.cross(k, p) * s + k * along * (1 - c)
