"""The exact clearance of a pair over a step, by enumeration: an oracle for small meshes.

While two bodies are apart, their distance is the least of smooth functions of time. So its least is at the
start, at the end, at a contact, or where the distance between the carriers (plane, line, point) of two
features has a derivative of zero, U . w(q) = 0. All such times of all pairs of features are found, and at
each the distance of these two features is one of real points: the least of all is the clearance.

These functions are entire in time. Each is interpolated by a Chebyshev series, whose roots are eigenvalues of
its colleague matrix, so that none is lost between samples.
"""

import numpy as np
from numpy.polynomial import chebyshev

from tests.oracle.clearance import _features

__all__ = ["clearance_of"]

#: Nodes of a series. Of two bodies that turn by 2.5 each the last coefficients are rounding.
NODES = 48
_AT_NODES = np.outer(2 * np.arange(NODES) + 1, np.arange(NODES)) % (4 * NODES)  # no digit is lost
_AT_NODES = np.cos(_AT_NODES * (0.5 * np.pi / NODES))
_X = _AT_NODES[:, 1]
_SERIES = _AT_NODES.T * (2.0 - (np.arange(NODES) == 0))[:, None] / NODES
#: Of the largest coefficient, what is rounding; of the largest value, what is a slope by rounding alone.
ROUNDING, CONSTANT = 1e-15, 1e-12
#: Imaginary parts that rounding gives double roots; how far outside a triangle or an edge a foot may be, over
#: its size.
DOUBLE, BORDER = 1e-5, 1e-14


def clearance_of(passage):
    """(least distance of the surfaces, time) of a `Passage` over its step; 0 where they cross."""
    va, used_a, ea, ta = _features(passage.a)
    vb, used_b, eb, tb = _features(passage.b)
    poses = [passage.pose(0.5 * (x + 1.0)) for x in _X]
    r, p = (_SERIES @ np.array([pose[k] for pose in poses]).reshape(NODES, -1) for k in (0, 1))
    for series in (r, p):
        series[np.abs(series) < ROUNDING * np.abs(series).max()] = 0.0

    def b_in_a(x):
        turn, way = _placed(x, r, p)
        return vb @ np.swapaxes(turn, 1, 2) + way

    def a_in_b(x):
        turn, way = _placed(x, r, p)
        return (va - way) @ turn

    def only(vertices):
        return vertices[:, None]

    found = [(passage.distance(t), t) for t in (0.0, 1.0)]
    for kind, still, features, moving, others in (
        (_Points, va, only(used_a), b_in_a, only(used_b)),
        (_EdgePoint, va, ea, b_in_a, only(used_b)), (_EdgePoint, vb, eb, a_in_b, only(used_a)),
        (_TrianglePoint, va, ta, b_in_a, only(used_b)), (_TrianglePoint, vb, tb, a_in_b, only(used_a)),
        (_Edges, va, ea, b_in_a, eb),
    ):  # fmt: skip
        i, j = (k.ravel() for k in np.indices((len(features), len(others))))
        one, other = features[i], others[j]
        values = kind.functions(still[one], moving(_X)[:, other])
        x, row = _roots(np.concatenate([_SERIES @ f for f in values], axis=1))
        row %= len(one)
        there = moving(x)[np.arange(len(x))[:, None], other[row]]
        distance = kind.distance(still[one[row]], there)
        if len(x):
            least = np.argmin(distance)
            found.append((float(distance[least]), 0.5 * (float(x[least]) + 1.0)))
    return min(found)


def _placed(x, r, p):
    powers = chebyshev.chebvander(x, NODES - 1)
    return (powers @ r).reshape(-1, 3, 3), (powers @ p)[:, None]


def _roots(series):
    """All roots in [-1, 1] of functions, columns of coefficients, and the function of each. What is constant
    has none."""
    size = np.abs(series)
    end = NODES - (size > ROUNDING * size.max(axis=0))[::-1].argmax(axis=0)
    some = (2.0 * size[0] <= size.sum(axis=0) * (1.0 + 1e-12)) & (end > 1) & size.any(axis=0)
    roots, rows = [], []
    for n in np.unique(end[some]):
        of = np.flatnonzero(some & (end == n))
        c = series[:n, of].T
        matrix = np.zeros((len(of), n - 1, n - 1))
        if n == 2:
            matrix[:, 0, 0] = -c[:, 0] / c[:, 1]
        else:
            k = np.arange(n - 2)
            matrix[:, k, k + 1] = matrix[:, k + 1, k] = 0.5
            matrix[:, 0, 1] = 1.0
            matrix[:, -1] -= 0.5 * c[:, :-1] / c[:, -1:]
        found = np.linalg.eigvals(matrix)
        real = (np.abs(found.imag) < DOUBLE) & (np.abs(found.real) <= 1.0 + DOUBLE)
        roots.append(np.clip(found.real[real], -1.0, 1.0))
        rows.append(of[np.nonzero(real)[0]])
    return np.concatenate([np.zeros(0), *roots]), np.concatenate([np.zeros(0, int), *rows])


def _derivative(values):
    """Of functions known at the nodes, there; 0 of those that are constant."""
    slope = _AT_NODES[:, :-1] @ chebyshev.chebder(_SERIES @ values)
    constant = np.abs(slope).max(axis=0) <= CONSTANT * np.abs(values).max(axis=0)
    return np.where(constant, 0.0, slope)


def _dot(x, y):
    return (x * y).sum(axis=-1)


class _Points:
    @staticmethod
    def functions(one, other):
        return [_derivative(np.sum((other - one)[..., 0, :] ** 2, axis=-1))]

    @staticmethod
    def distance(one, other):
        return np.linalg.norm((other - one)[..., 0, :], axis=-1)


class _EdgePoint:
    @staticmethod
    def functions(one, other):
        c = np.cross(other[..., 0, :] - one[..., 0, :], one[..., 1, :] - one[..., 0, :])
        return [_derivative(_dot(c, c))]

    @staticmethod
    def distance(one, other):
        return _to_edge(other[..., 0, :], one)


class _TrianglePoint:
    @staticmethod
    def functions(one, other):
        height = _dot(other[..., 0, :] - one[..., 0, :], _normal(one))
        return [height, _derivative(height)]

    @staticmethod
    def distance(one, other):
        n, y = _normal(one), other[..., 0, :] - one[..., 0, :]
        u, v, square = one[..., 1, :] - one[..., 0, :], one[..., 2, :] - one[..., 0, :], _dot(n, n)
        beta, gamma = _dot(np.cross(y, v), n) / square, _dot(np.cross(u, y), n) / square
        inside = (beta >= -BORDER) & (gamma >= -BORDER) & (beta + gamma <= 1.0 + BORDER)
        return np.where(inside, np.abs(_dot(y, n)) / np.sqrt(square), np.inf)


class _Edges:
    @staticmethod
    def functions(one, other):
        c, across = _crossed(one, other)
        square = _dot(c, c)
        slope = _derivative(across) * square - 0.5 * across * _derivative(square)
        return [across, slope]

    @staticmethod
    def distance(one, other):
        c, across = _crossed(one, other)
        way, square = other[..., 0, :] - one[..., 0, :], _dot(c, c)
        d, e = one[..., 1, :] - one[..., 0, :], other[..., 1, :] - other[..., 0, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            s, t = _dot(np.cross(way, e), c) / square, _dot(np.cross(way, d), c) / square
            lines = np.abs(across) / np.sqrt(square)
        inside = (s >= -BORDER) & (s <= 1.0 + BORDER) & (t >= -BORDER) & (t <= 1.0 + BORDER)
        ends = [_to_edge(x[..., k, :], y) for x, y in ((one, other), (other, one)) for k in (0, 1)]
        parallel = square <= 1e-18 * _dot(d, d) * _dot(e, e)
        return np.minimum(np.min(ends, axis=0), np.where(inside & ~parallel, lines, np.inf))


def _normal(triangle):
    return np.cross(triangle[..., 1, :] - triangle[..., 0, :], triangle[..., 2, :] - triangle[..., 0, :])


def _crossed(one, other):
    """The cross product of two edges, and P . c of their distance P . c / |c|."""
    c = np.cross(one[..., 1, :] - one[..., 0, :], other[..., 1, :] - other[..., 0, :])
    return c, _dot(other[..., 0, :] - one[..., 0, :], c)


def _to_edge(x, edge):
    e = edge[..., 1, :] - edge[..., 0, :]
    share = np.clip(_dot(x - edge[..., 0, :], e) / _dot(e, e), 0.0, 1.0)
    return np.linalg.norm(edge[..., 0, :] + share[..., None] * e - x, axis=-1)
