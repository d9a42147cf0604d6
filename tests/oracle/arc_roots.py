"""First touch of two rectangles on arcs by roots of polynomials, with nothing of the library.

A corner of one is on the line of an edge of the other when a sum of two cosines and a constant is zero, if
both turn, or one that stands does not. With yaw rates m w and n w, whole numbers m and n, and u = tan(w t /
2), that is a polynomial of degree ``2 max(|m|, |n - m|)``. Its roots are isolated by Descartes' rule of signs
in the Bernstein basis, so that none is missed, and each is narrowed down by halving.
"""

from math import comb

import numpy as np

__all__ = ["first_touch"]

HALVINGS = 60  # of an interval with one root
NARROW = 2.0**-26  # of the step: two roots nearer than this are told as one that is doubtful
NOTHING = 1e-13  # of the largest coefficient: no sign


def first_touch(ways, sizes, numbers, rate, seconds, tolerance):
    """The first time (k,) at which a corner of one lies on an edge of the other, inf if none does; and
    whether that is doubtful, since two roots are too near to each other or a corner passes the end of an edge
    within the tolerance.

    Parameters
    ----------
    ways : (2, k, 5) ndarray
        Rows (x, y, yaw, speed, yaw rate); the yaw rates are `rate` times `numbers`. Who does not turn stands.
    sizes : (2, k, 2) ndarray
    numbers : tuple of two int
    rate : (k,) ndarray
    seconds, tolerance : float
    """
    count = ways.shape[1]
    first, doubt = np.full(count, np.inf), np.full(count, np.inf)
    for own, other in ((0, 1), (1, 0)):
        m, n = numbers[own], numbers[other]
        for terms, half in _conditions(ways[[own, other]], sizes[[own, other]], m, n, rate):
            pair, time, sure = _roots(terms, m, n, rate, seconds)
            _, aside = _value(terms[:, pair], m, n, rate[pair] * time)
            past = np.abs(aside) - half[pair]
            on = past <= tolerance
            sure &= np.abs(past) > tolerance
            np.minimum.at(first, pair[on], time[on])
            np.minimum.at(doubt, pair[on & ~sure], time[on & ~sure])
    return first, np.isfinite(doubt) & (doubt <= first + 1e-6)


def _conditions(ways, sizes, m, n, rate):
    """Of each edge of the first and each corner of the second: complex ``c1``, ``c2`` and ``c0`` (3, k) of
    ``Re(c1 z^-m + c2 z^(n - m) + c0)``, whose imaginary part is how far along the edge the corner is; and
    half the edge."""
    middle, radius = [], []  # of the arc, and of the body's origin in its own axes about it
    for way, number in zip(ways, (m, n), strict=True):
        turn = number * rate
        bent = np.divide(way[:, 3], turn, out=np.zeros(len(turn)), where=turn != 0)
        middle.append(way[:, 0] + 1j * way[:, 1] + 1j * bent * np.exp(1j * way[:, 2]))
        radius.append(-1j * bent)
    yaw = ways[0, :, 2], ways[1, :, 2]
    for side in range(4):
        out = 1j**side
        half = 0.5 * sizes[0, :, ::-1].T if side % 2 else 0.5 * sizes[0].T
        across, along = half
        for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            corner = 0.5 * (x * sizes[1, :, 0] + 1j * y * sizes[1, :, 1])
            turned = np.exp(-1j * yaw[0]) / out
            yield np.stack([
                turned * (middle[1] - middle[0]),
                turned * np.exp(1j * yaw[1]) * (radius[1] + corner),
                -radius[0] / out - across,
            ]), along  # fmt: skip


def _value(terms, m, n, angle):
    """How far outside of the edge's line the corner is, and how far along it."""
    total = terms[0] * np.exp(-1j * m * angle) + terms[1] * np.exp(1j * (n - m) * angle) + terms[2]
    return total.real, total.imag


def _powers(number, degree):
    """Coefficients (degree + 1,) of ``(1 + i u)^(2 number) (1 + u^2)^(degree / 2 - |number|)``; the conjugate
    for negative numbers."""
    poly = np.ones(1, complex)
    factor = np.array([1.0, 1j if number > 0 else -1j])
    for _ in range(2 * abs(number)):
        poly = np.convolve(poly, factor)
    for _ in range(degree // 2 - abs(number)):
        poly = np.convolve(poly, [1.0, 0.0, 1.0])
    return poly


def _roots(terms, m, n, rate, seconds):
    """Pair, time and whether it is sure, of all roots within the step."""
    degree = 2 * max(abs(m), abs(n - m))
    scale = np.tan(0.5 * rate * seconds)[:, None] ** np.arange(degree + 1)
    poly = sum(
        np.real(c[:, None] * _powers(k, degree)) for c, k in zip(terms, (-m, n - m, 0), strict=True)
    ) * scale  # fmt: skip
    to_bernstein = np.array(
        [[comb(j, i) / comb(degree, i) if i <= j else 0.0 for j in range(degree + 1)]
         for i in range(degree + 1)]
    )  # fmt: skip
    bern, pair = poly @ to_bernstein, np.arange(len(rate))
    low, width = np.zeros(len(rate)), 1.0
    largest = np.abs(terms).sum(axis=0) * NOTHING
    found = []
    while len(pair):
        signs = np.where(np.abs(bern) <= largest[pair][:, None], 0, np.sign(bern))
        changes = _changes(signs)
        ends = signs[:, 0] * signs[:, -1] < 0
        narrow = (changes > 0) & (width <= NARROW)
        one = (changes == 1) & ends & ~narrow
        found.append((pair[one], low[one], np.full(one.sum(), width), np.ones(one.sum(), bool)))
        found.append((pair[narrow], low[narrow], np.full(narrow.sum(), width), np.zeros(narrow.sum(), bool)))
        more = (changes > 0) & ~one & ~narrow
        left, right = _halves(bern[more])
        width /= 2
        bern, pair = np.concatenate([left, right]), np.tile(pair[more], 2)
        low = np.concatenate([low[more], low[more] + width])
    pair, low, width, sure = (np.concatenate(parts) for parts in zip(*found, strict=True))
    high, unit = low + width, np.tan(0.5 * rate * seconds)[pair]
    begins = _value(terms[:, pair], m, n, 2 * np.arctan(unit * low))[0] > 0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = (_value(terms[:, pair], m, n, 2 * np.arctan(unit * middle))[0] > 0) == begins
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return pair, 2 * np.arctan(unit * high) / rate[pair], sure


def _changes(signs):
    """Changes of sign along rows, from 0 to the next sign counted as one."""
    held = signs[:, 0].copy()
    changes = (held == 0).astype(int)
    for column in signs[:, 1:].T:
        changes += (held * column < 0) | ((held != 0) & (column == 0))
        held = np.where(column != 0, column, held)
    return changes


def _halves(bern):
    """Bernstein coefficients of both halves of the interval, by de Casteljau."""
    left, right, row = [bern[:, 0]], [bern[:, -1]], bern
    while row.shape[1] > 1:
        row = 0.5 * (row[:, :-1] + row[:, 1:])
        left.append(row[:, 0])
        right.append(row[:, -1])
    return np.stack(left, axis=1), np.stack(right[::-1], axis=1)
