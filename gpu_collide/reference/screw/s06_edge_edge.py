"""Stage 6: edges of one body over edges of the other, on the screen.

`candidates` gives every pair of edges with records that meet in a row within the step: a superset of the
exact contacts. `on_screen` gives the answer of ``refine="segments"`` (the two records crossed as straight
pieces of the (rho, h) screen, times interpolated) and ``"pixels"`` (pixel ranges that overlap in a row; where
a pair overlaps more than once, the earliest time counts, as in Buss, section 9). Neither looks for roots.
Edges that slide along each other lie on one curve of the screen: segments do not cross there (the vertex
contacts of their ends tell of them), pixels report the earliest.
"""

import numpy as np

from .s03_project import shift_of_copy
from .s04_sort import overlaps


def candidates(screw, rows, a, start_a, b, start_b, shifts):
    """Edge pairs (m, 2), each once, whose records meet for any of A's copies ``shifts``."""
    found = []
    for k in shifts:
        shift_h, shift_t = shift_of_copy(screw, rows, np.arange(rows.count), k)
        pairs = overlaps(a, start_a, b, start_b, shift_h, shift_t, 0.5 + screw.tau)
        found.append(np.stack([a.owner[pairs[:, 0]], b.owner[pairs[:, 1]]], axis=-1))
    return np.unique(np.concatenate(found), axis=0) if found else np.zeros((0, 2), dtype=np.int64)


def on_screen(screw, rows, refine, a, start_a, b, start_b, shifts):
    """Approximate meetings of edges.

    Returns
    -------
    edges_a, edges_b (m,) int; s (m,) f8 times - 1/2; u_a, u_b (m,) f8 fractions along the edges
    """
    found = []
    for k in shifts:
        shift_h, shift_t = shift_of_copy(screw, rows, np.arange(rows.count), k)
        # Whole pixels of slack: the ranges are compared again below.
        slack = rows.delta if refine == "pixels" else 0.0
        pairs = overlaps(_widened(a, slack), start_a, b, start_b, shift_h, shift_t, np.inf)
        ra, rb = a.take(pairs[:, 0]), b.take(pairs[:, 1])
        dh, dt = shift_h[ra.row], shift_t[ra.row]
        found.append((_cross if refine == "segments" else _share)(rows, ra, rb, dh, dt))
    ea, eb, s, u_a, u_b = (
        (np.concatenate(c) for c in zip(*found, strict=True)) if found else (np.zeros(0),) * 5
    )
    good = np.abs(s) <= 0.5 + screw.tau
    ea, eb, s, u_a, u_b = ea[good].astype(int), eb[good].astype(int), s[good], u_a[good], u_b[good]
    order = np.lexsort((s, eb, ea))
    ea, eb, s, u_a, u_b = ea[order], eb[order], s[order], u_a[order], u_b[order]
    new = np.ones(len(s), dtype=bool)
    new[1:] = (ea[1:] != ea[:-1]) | (eb[1:] != eb[:-1])
    if refine == "segments":
        # A crossing on the border of two records shows up in both.
        new[1:] |= (np.abs(np.diff(s)) > 1e-6) | (np.abs(np.diff(u_a)) > 1e-6)
    return ea[new], eb[new], s[new], u_a[new], u_b[new]


def _widened(records, slack):
    if slack == 0.0:
        return records
    values = {name: getattr(records, name) for name in records.__dataclass_fields__}
    return type(records)(**dict(values, h_min=records.h_min - slack, h_max=records.h_max + slack))


def _cross(rows, a, b, dh, dt):
    """Crossings of straight pieces in (rho, h)."""
    ax, ay = a.rho1 - a.rho0, a.h1 - a.h0
    bx, by = b.rho1 - b.rho0, b.h1 - b.h0
    gx, gy = b.rho0 - a.rho0, b.h0 - a.h0 - dh
    area = ax * by - ay * bx
    with np.errstate(divide="ignore", invalid="ignore"):
        v_a, v_b = (gx * by - gy * bx) / area, (gx * ay - gy * ax) / area
    near = 1e-9
    good = (v_a >= -near) & (v_a <= 1 + near) & (v_b >= -near) & (v_b <= 1 + near)
    del rows
    v_a, v_b = np.clip(v_a, 0.0, 1.0), np.clip(v_b, 0.0, 1.0)
    s = a.t0 + v_a * (a.t1 - a.t0) + dt - b.t0 - v_b * (b.t1 - b.t0)
    u_a, u_b = a.u0 + v_a * (a.u1 - a.u0), b.u0 + v_b * (b.u1 - b.u0)
    return a.owner[good], b.owner[good], s[good], u_a[good], u_b[good]


def _share(rows, a, b, dh, dt):
    """Records with a pixel in common; the place is the middle of what both cover in h."""
    d = rows.delta
    good = np.floor((a.h_min + dh) / d) <= np.floor(b.h_max / d)
    good &= np.floor(b.h_min / d) <= np.floor((a.h_max + dh) / d)
    a, b, dh, dt = a.take(good), b.take(good), dh[good], dt[good]
    low = np.maximum(np.minimum(a.h0, a.h1) + dh, np.minimum(b.h0, b.h1))
    high = np.minimum(np.maximum(a.h0, a.h1) + dh, np.maximum(b.h0, b.h1))
    h = 0.5 * (low + high)

    def part(r, at):
        length = r.h1 - r.h0
        with np.errstate(divide="ignore", invalid="ignore"):
            v = (at - r.h0) / length
        return np.clip(np.where(np.isfinite(v), v, 0.5), 0.0, 1.0)

    v_a, v_b = part(a, h - dh), part(b, h)
    s = a.t0 + v_a * (a.t1 - a.t0) + dt - b.t0 - v_b * (b.t1 - b.t0)
    return a.owner, b.owner, s, a.u0 + v_a * (a.u1 - a.u0), b.u0 + v_b * (b.u1 - b.u0)
