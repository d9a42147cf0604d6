"""Stage 6: edges of one body over edges of the other, on the screen.

`candidates` gives every pair of edges with records that meet in a row within the step: a superset of the
exact contacts. `on_screen` gives the answer of ``refine="segments"``: records crossed as straight pieces of
the (rho, h) screen, times interpolated; edges that both come through the axis meet there at the time that
their heights give. `on_pixels` gives that of ``refine="pixels"``: pixel ranges that overlap in a row, one
answer a pair of edges. Neither looks for roots. Edges that slide along each other lie on one curve of the
screen: segments do not cross there (the vertex contacts of their ends stand for them).
"""

import numpy as np

from gpu_collide.reference.narrow_phase._intervals import PARALLEL
from gpu_collide.reference.narrow_phase.s02_facing import nearest_fraction
from gpu_collide.reference.narrow_phase.s03_project import ON_AXIS, ORIGIN, pixel, shift_of_copy
from gpu_collide.reference.narrow_phase.s04_sort import overlaps


def candidates(screw, rows, a, start_a, b, start_b, shifts):
    """Edge pairs (m, 2), each once, whose records meet for any of A's copies ``shifts``."""
    found = []
    for k in shifts:
        shift_h, shift_t = shift_of_copy(screw, rows, np.arange(rows.count), k)
        pairs = overlaps(a, start_a, b, start_b, shift_h, shift_t, 0.5 + screw.tau)
        found.append(np.stack([a.owner[pairs[:, 0]], b.owner[pairs[:, 1]]], axis=-1))
    return np.unique(np.concatenate(found), axis=0) if found else np.zeros((0, 2), dtype=np.int64)


def on_screen(screw, rows, a, start_a, b, start_b, shifts, parts_a, parts_b):
    """Meetings of edges where their records cross.

    Parameters
    ----------
    a, b : Records in order, with the starts of their rows
    shifts : copies of A
    parts_a, parts_b : Segments, what the records are of

    Returns
    -------
    edges_a, edges_b (m,) int; s (m,) f8 times - 1/2; u_a, u_b (m,) f8 fractions along the edges
    """
    axis_a, axis_b = _on_axis(screw, parts_a), _on_axis(screw, parts_b)
    found = [_meet_on_axis(screw, axis_a, axis_b)]
    for k in shifts:
        shift_h, shift_t = shift_of_copy(screw, rows, np.arange(rows.count), k)
        pairs = overlaps(a, start_a, b, start_b, shift_h, shift_t, np.inf)
        ra, rb = a.take(pairs[:, 0]), b.take(pairs[:, 1])
        ea, eb, s, u_a, u_b, rho = _cross(ra, rb, shift_h[ra.row], shift_t[ra.row])
        # What crosses next to the axis is the meeting there, of edges that both come through it.
        there = np.isin(ea, axis_a[0]) & np.isin(eb, axis_b[0])
        there &= 1.0 + screw.kappa * rho < 100 * ON_AXIS * screw.size * screw.kappa
        found.append(tuple(x[~there] for x in (ea, eb, s, u_a, u_b)))
    ea, eb, s, u_a, u_b = (np.concatenate(c) for c in zip(*found, strict=True))
    good = np.abs(s) <= 0.5 + screw.tau
    ea, eb, s, u_a, u_b = ea[good].astype(int), eb[good].astype(int), s[good], u_a[good], u_b[good]
    order = np.lexsort((s, eb, ea))
    ea, eb, s, u_a, u_b = ea[order], eb[order], s[order], u_a[order], u_b[order]
    new = np.ones(len(s), dtype=bool)
    new[1:] = (ea[1:] != ea[:-1]) | (eb[1:] != eb[:-1])
    # A crossing on the border of two records shows up in both.
    new[1:] |= (np.abs(np.diff(s)) > 1e-9) | (np.abs(np.diff(u_a)) > 1e-6)
    return ea[new], eb[new], s[new], u_a[new], u_b[new]


def _on_axis(screw, parts):
    """Of edge parts that come to the axis: the edge, its height there, the fraction along it."""
    u = nearest_fraction(screw, parts.p0, parts.p1)
    x = parts.p0 + u[:, None] * (parts.p1 - parts.p0)
    k = screw.kappa
    there = np.hypot(k * x[:, 0], 1.0 + k * x[:, 2]) <= ON_AXIS * screw.size * k if k > 0 else u < -1
    return parts.owner[there], x[there, 1], (parts.u0 + u * (parts.u1 - parts.u0))[there]


def _meet_on_axis(screw, a, b):
    """Meetings of edges on the axis (Buss, section 7: h = 0, t = y/g)."""
    i, j = (x.reshape(-1) for x in np.meshgrid(np.arange(len(a[0])), np.arange(len(b[0])), indexing="ij"))
    way = a[1][i] - b[1][j]
    if abs(screw.g) <= 1e-11 * screw.size:
        s = np.where(np.abs(way) <= 1e-11 * screw.size, -0.5, np.inf)
    else:
        s = way / screw.g
    return a[0][i], b[0][j], s, a[2][i], b[2][j]


def on_pixels(screw, rows, a, start_a, b, start_b, shifts):
    """Meetings of edges that share pixels.

    A pair has one answer. Of the pixels it shares those that hold ends of both edges come first, then those
    with one end, then the others, and among equals the earliest (Buss, section 9, step 6). The time is the
    middle of the times that the records have in the pixels, kept inside the step if their range meets it.

    Returns
    -------
    As `on_screen`; a fraction is 0 or 1 exactly where the pixel is that of an end.
    """
    found = [(np.zeros(0),) * 6]
    for k in shifts:
        shift_h, shift_t = shift_of_copy(screw, rows, np.arange(rows.count), k)
        # Whole pixels of slack: the ranges are compared again below.
        pairs = overlaps(_widened(a, rows.delta), start_a, b, start_b, shift_h, shift_t, np.inf)
        ra, rb = a.take(pairs[:, 0]), b.take(pairs[:, 1])
        found.append(_share(screw, rows, ra, rb, shift_h[ra.row], shift_t[ra.row]))
    ea, eb, s, u_a, u_b, ends = (np.concatenate(c) for c in zip(*found, strict=True))
    order = np.lexsort((s, -ends, eb, ea))
    ea, eb, s, u_a, u_b = (x[order] for x in (ea.astype(int), eb.astype(int), s, u_a, u_b))
    new = np.ones(len(s), dtype=bool)
    new[1:] = (ea[1:] != ea[:-1]) | (eb[1:] != eb[:-1])
    return ea[new], eb[new], s[new], u_a[new], u_b[new]


def _widened(records, slack):
    values = {name: getattr(records, name) for name in records.__dataclass_fields__}
    return type(records)(**dict(values, h_min=records.h_min - slack, h_max=records.h_max + slack))


def _cross(a, b, dh, dt):
    """Crossings of straight pieces in (rho, h), and their rho."""
    ax, ay = a.rho1 - a.rho0, a.h1 - a.h0
    bx, by = b.rho1 - b.rho0, b.h1 - b.h0
    gx, gy = b.rho0 - a.rho0, b.h0 - a.h0 - dh
    area = ax * by - ay * bx
    with np.errstate(divide="ignore", invalid="ignore"):
        v_a, v_b = (gx * by - gy * bx) / area, (gx * ay - gy * ax) / area
    near = 1e-9
    good = (v_a >= -near) & (v_a <= 1 + near) & (v_b >= -near) & (v_b <= 1 + near)
    good &= np.abs(area) > PARALLEL * np.hypot(ax, ay) * np.hypot(bx, by)
    v_a, v_b = np.clip(v_a, 0.0, 1.0), np.clip(v_b, 0.0, 1.0)
    s = a.t0 + v_a * (a.t1 - a.t0) + dt - b.t0 - v_b * (b.t1 - b.t0)
    u_a, u_b = a.u0 + v_a * (a.u1 - a.u0), b.u0 + v_b * (b.u1 - b.u0)
    return tuple(x[good] for x in (a.owner, b.owner, s, u_a, u_b, a.rho0 + v_a * ax))


def _share(screw, rows, a, b, dh, dt):
    """Records with a pixel in common: edges, times, fractions, and how many of the two have an end there."""
    low = np.maximum(pixel(rows, np.minimum(a.h0, a.h1) + dh), pixel(rows, np.minimum(b.h0, b.h1)))
    high = np.minimum(pixel(rows, np.maximum(a.h0, a.h1) + dh), pixel(rows, np.maximum(b.h0, b.h1)))
    good = low <= high
    a, b, dh, dt, low, high = a.take(good), b.take(good), dh[good], dt[good], low[good], high[good]
    window = 0.5 + screw.tau
    found = []
    left = np.ones(len(low), dtype=bool)
    for at_ends in (True, False):
        # Where the ends that share a pixel do not meet during the step, the edges still may.
        first, last, u_a, u_b, ends = _when(rows, a, b, dh, dt, low, high, at_ends)
        good = left & (first <= window) & (last >= -window)
        s = np.clip(0.5 * (first + last), -0.5, 0.5)
        found.append([x[good] for x in (a.owner, b.owner, s, u_a, u_b, ends)])
        left &= ~good
    return tuple(np.concatenate(x) for x in zip(*found, strict=True))


def _when(rows, a, b, dh, dt, low, high, at_ends):
    """Earliest and latest time at which records can meet in the pixels ``low`` to ``high``, the fractions
    along their edges, and how many of the two have an end there; without ``at_ends`` as if none had."""
    nothing = np.full(len(low), np.nan)
    end_a = end_b = t_end_a = t_end_b = nothing
    if at_ends:
        end_a, t_end_a, low, high = _end_pixel(rows, a, dh, low, high)
        end_b, t_end_b, low, high = _end_pixel(rows, b, np.zeros(len(dh)), low, high)
    from_h, to_h = (low - ORIGIN) * rows.delta, (high + 1.0 - ORIGIN) * rows.delta

    def part(r, shift, end, t_end):
        """Range of t of the record in the pixels, and the fraction along its edge in their middle."""
        length = r.h1 - r.h0
        with np.errstate(divide="ignore", invalid="ignore"):
            v = np.clip((np.stack([from_h, to_h]) - shift - r.h0) / length, 0.0, 1.0)
        v = np.where(length == 0, np.array([[0.0], [1.0]]), v)
        t = r.t0 + v * (r.t1 - r.t0)
        u = np.where(np.isnan(end), r.u0 + v.mean(axis=0) * (r.u1 - r.u0), end)
        t = np.where(np.isnan(end), t, t_end)
        return t.min(axis=0), t.max(axis=0), u

    (a_low, a_high, u_a), (b_low, b_high, u_b) = part(a, dh, end_a, t_end_a), part(b, 0.0, end_b, t_end_b)
    ends = (~np.isnan(end_a)).astype(int) + ~np.isnan(end_b)
    if not at_ends:
        # strictly inside, where an edge has no end
        u_a, u_b = (np.clip(u, 1e-9, 1 - 1e-9) for u in (u_a, u_b))
    return a_low + dt - b_high, a_high + dt - b_low, u_a, u_b, ends


def _end_pixel(rows, r, shift, low, high):
    """The end of the edge (fraction 0 or 1, else NaN) whose pixel is one of ``low`` to ``high``, and its t;
    then these are all. Of two ends the nearer to the middle."""
    end, time, best = np.full(len(low), np.nan), np.zeros(len(low)), np.full(len(low), np.inf)
    at = np.zeros(len(low))
    middle = (0.5 * (low + high + 1.0) - ORIGIN) * rows.delta
    low_end_first = [(r.u0, r.rho0, r.h0, r.t0), (r.u1, r.rho1, r.h1, r.t1)]
    for number in (0.0, 1.0):
        for u, rho, h, t in low_end_first:
            p = pixel(rows, h + shift)
            off = np.abs(h + shift - middle)
            hit = (u == number) & (rows.of(rho) == r.row) & (p >= low) & (p <= high) & (off < best)
            end, time, best = np.where(hit, number, end), np.where(hit, t, time), np.where(hit, off, best)
            at = np.where(hit, p, at)
    found = ~np.isnan(end)
    return end, time, np.where(found, at, low), np.where(found, at, high)
