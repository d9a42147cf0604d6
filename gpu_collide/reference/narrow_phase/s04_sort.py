"""Stage 4: bucket by row, order by h.

Input: anything with ``row`` and ``h_min`` fields (m,). Output: the same, sorted by (row, h_min), and where
each row begins.
"""

from dataclasses import fields

import numpy as np


def by_row(items, row_count):
    """Sorted copy of a structure of arrays and ``start`` (row_count + 1,): row k is ``start[k]:start[k +
    1]``.

    Ties keep their order, so that equal input gives equal output.
    """
    order = np.lexsort((items.h_min, items.row))
    sorted_items = type(items)(*(getattr(items, f.name)[order] for f in fields(items)))
    return sorted_items, np.searchsorted(sorted_items.row, np.arange(row_count + 1))


def overlaps(a, start_a, b, start_b, shift_h, shift_t, window):
    """Index pairs (m, 2) of items in the same row whose ranges of h overlap and whose times can meet.

    ``shift_h``, ``shift_t`` (rows,) are added to A's h and t; ``window`` bounds |s| for s = t_A - t_B.
    """
    found = [np.zeros((0, 2), dtype=np.int64)]
    for row in np.nonzero((np.diff(start_a) > 0) & (np.diff(start_b) > 0))[0]:
        i, j = slice(start_a[row], start_a[row + 1]), slice(start_b[row], start_b[row + 1])
        dh, dt = shift_h[row], shift_t[row]
        # Sorted by h_min: past the last possible item of the other list nothing can overlap.
        i = slice(i.start, i.start + np.searchsorted(a.h_min[i] + dh, b.h_max[j].max(), side="right"))
        j = slice(
            j.start, j.start + np.searchsorted(b.h_min[j], a.h_max[i].max(initial=-np.inf) + dh, side="right")
        )
        meet = (a.h_min[i, None] + dh <= b.h_max[None, j]) & (b.h_min[None, j] <= a.h_max[i, None] + dh)
        meet &= a.t_min[i, None] + dt - b.t_max[None, j] <= window
        meet &= a.t_max[i, None] + dt - b.t_min[None, j] >= -window
        pair = np.argwhere(meet)
        pair += [i.start, j.start]
        found.append(pair)
    return np.concatenate(found)
