"""Faces in an order for which all pivots of m04_order are bad."""

import math

import numpy as np

#: As in m04_order.c.
LONG, SAMPLE, BEYOND = 256, 31, 2


def killer(n):
    """Places (n,) of so many faces along an axis, all different; and how often a quickselect with the
    samples of m04_order looks at each of them where it cuts them all.

    Made while it runs (McIlroy 1999): what is drawn is lower than all that was never drawn, so that a pass
    parts few faces from the others.
    """
    order, where, value = list(range(n)), list(range(n)), [math.inf] * n
    cut = 1 << ((n - 1).bit_length() - 1)
    first, last, draw, lowest, looks, known = 0, n - 1, 1, 0, 0, []
    while last - first + 1 > LONG:
        size, drawn = last - first + 1, []
        for _ in range(SAMPLE):
            draw = (draw * 1664525 + 1013904223) % 2**32
            face = order[first + (draw >> 4) % size]
            if value[face] == math.inf:
                value[face], lowest = lowest, lowest + 1
                known.append(face)
            drawn.append(value[face])
        rank = int((cut - first) / size * SAMPLE) + (BEYOND if cut - first < size // 2 else -BEYOND)
        pivot = sorted(drawn)[min(max(rank, 0), SAMPLE - 1)]
        low = {where[face] for face in known if value[face] <= pivot}
        i, j = first, last
        while i <= j:
            while value[order[i]] < pivot:
                i += 1
            j = max(at for at in low if at <= j)
            if i <= j:
                order[i], order[j] = order[j], order[i]
                where[order[i]], where[order[j]] = i, j
                low = {k for k in low - {i, j} | {i, j} if value[order[k]] <= pivot}
                i, j = i + 1, j - 1
        looks += size
        first, last = (first, j) if cut <= j else (i, last) if cut >= i else (cut, cut)
        known = [face for face in known if first <= where[face] <= last]
    rest = np.isinf(value)
    places = np.array(value)
    places[rest] = lowest + np.arange(rest.sum())
    return places, looks / n
