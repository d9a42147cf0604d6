"""Stage 3: edges and face boundaries to row records of the collision screen.

The screen is rows of height ``delta`` in rho. r^2 is quadratic along a straight piece, so the piece splits at
its point nearest to the axis into at most two branches monotone in rho; one record per (branch, row) holds
the part of the branch inside the row in closed form. Row k measures every point with its own middle radius
m_k R0:

    h = m_k (W y - g psi) / L_k,   t = (g y + W m_k^2 psi) / L_k^2,   L_k = hypot(W m_k, g)

(Buss, section 7, in psi = R0 phi). Points of A and B that meet have equal rho and h, and meet at s = t_A -
t_B. Along a straight piece psi' = E/m^2 with E constant, so h and t have their extrema where m^2 = g E/(W dy)
and -W m_k^2 E/(g dy): the ranges of a record come from its ends and these. Records near the axis take all h.
"""

from dataclasses import dataclass, fields

import numpy as np

from gpu_collide.errors import MemoryLimitError
from gpu_collide.reference.narrow_phase.s02_facing import AXIS_PAD, azimuth_from, nearest_fraction

# Where in its row or pixel the origin of the frame lies.
ORIGIN = 0.37
# In units of the size: nearer to the axis than this a point is on it, and its azimuth is rounding.
ON_AXIS = 1e-9
# A pair's rows; more are refused, as by the kernels (GC_MAX_ROWS).
MOST_ROWS = 4_000_000
# Rows are no higher than so many longest edges: with much more, squares of heights are no numbers.
HIGHEST = 1e12


@dataclass(frozen=True)
class Rows:
    """Rows of the screen: row k is rho in [low + k delta, low + (k + 1) delta); ``m``, ``L`` (count,) per
    row."""

    delta: float
    low: float
    count: int
    m: np.ndarray
    L: np.ndarray

    def of(self, rho):
        """Row numbers of radii, not limited to the rows that exist."""
        return np.floor((rho - self.low) / self.delta).astype(np.int64)


@dataclass(frozen=True)
class Records:
    """Row records (m,). ``owner`` edge or face; ``edge`` mesh edge or -1 (virtual); ``u0``, ``u1`` fractions
    along the mesh edge; ``rho0`` ... ``t1`` screen coordinates of the two ends; ``h_min`` ... ``t_max``
    padded ranges; ``full`` takes all h and t."""

    owner: np.ndarray
    edge: np.ndarray
    row: np.ndarray
    u0: np.ndarray
    u1: np.ndarray
    rho0: np.ndarray
    rho1: np.ndarray
    h0: np.ndarray
    h1: np.ndarray
    t0: np.ndarray
    t1: np.ndarray
    h_min: np.ndarray
    h_max: np.ndarray
    t_min: np.ndarray
    t_max: np.ndarray
    full: np.ndarray

    def take(self, index):
        return Records(*(getattr(self, f.name)[index] for f in fields(self)))


def pixel(rows, h):
    """Number of the pixel that holds ``h``."""
    return np.floor(h / rows.delta + ORIGIN)


def pixel_of(tables_a, tables_b, resolution, pixel_size, refine):
    """Row height: ``pixel_size``, or the 10th percentile of all edge lengths over ``resolution``; at most
    ``HIGHEST`` longest edges, which is more than anything that is looked at."""
    lengths = np.concatenate([tables_a.length, tables_b.length])
    most = HIGHEST * float(lengths.max())
    if pixel_size is not None:
        return min(float(pixel_size), most)
    with np.errstate(over="ignore"):
        short = np.percentile(lengths, 10)
        return float(
            min(short / ((2.0 if refine == "exact" else 12.0) if resolution is None else resolution), most)
        )


def rows_of(screw, delta, boxes_a, boxes_b, pad):
    """`Rows` that both bodies reach (``boxes_*``: list of `Boxes` of everything of a body); None if there are
    none."""
    ranges = []
    for boxes in (boxes_a, boxes_b):
        rho = np.concatenate([b.rho for b in boxes])
        rho = rho[np.isfinite(rho).all(axis=1)]
        if len(rho) == 0:
            return None
        ranges.append((rho[:, 0].min(), rho[:, 1].max()))
    # Counted from the frame's origin, so that a row does not depend on what else there is, and with no border
    # where whole numbers put vertices and rounding would decide. Both bodies may be in one row and not meet.
    first = max(np.floor((r[0] - 2 * pad) / delta + ORIGIN) for r in ranges)
    last = min(np.floor((r[1] + 2 * pad) / delta + ORIGIN) for r in ranges)
    if first > last:
        return None
    if last - first >= MOST_ROWS:
        raise MemoryLimitError(
            f"resolution, pixel_size: expected at most {MOST_ROWS} rows for a pair, got "
            f"{last - first + 1:.3g}; pass a coarser resolution or pixel_size"
        )
    low, count = (first - ORIGIN) * delta, int(last - first) + 1
    middle = low + (np.arange(count) + 0.5) * delta
    # Any positive radius serves, as long as both bodies use it.
    m = np.maximum(1.0 + screw.kappa * middle, 1e-3 * delta * screw.kappa)
    return Rows(delta, low, count, m, np.hypot(screw.W * m, screw.g))


def screen(screw, rows, row, psi, y):
    """(h, t) of points at azimuth arc ``psi`` and height ``y``, measured in their rows."""
    m, L = rows.m[row], rows.L[row]
    return m * (screw.W * y - screw.g * psi) / L, (screw.g * y + screw.W * m * m * psi) / (L * L)


def shift_of_copy(screw, rows, row, k):
    """What ``k`` turns of A's azimuth add to (h, t)."""
    if k == 0:
        return np.zeros(np.shape(row)), np.zeros(np.shape(row))
    return screen(screw, rows, row, k * screw.period, 0.0)


def pads(screw, rows, row, m_low, pad):
    """What a position error ``pad`` becomes in (h, t) for records whose least radius is ``m_low`` R0."""
    m, L = rows.m[row], rows.L[row]
    across = pad / np.maximum(m_low, AXIS_PAD * screw.size * screw.kappa) if screw.kappa > 0 else pad
    g = abs(screw.g)
    return m * (screw.W * pad + g * across) / L, (g * pad + screw.W * m * m * across) / (L * L)


def fraction_at(p, q, target, rising):
    """Fraction at which q = kappa (x^2 + z^2) + 2 z reaches ``target`` on the rising or falling branch.

    ``p`` = (alpha, beta) of q(u) = q + 2 beta u + alpha u^2; forms without cancellation; NaN where q is
    constant.
    """
    alpha, beta = p
    c = q - target
    root = np.sqrt(np.maximum(beta * beta - alpha * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(beta > 0, -c / (beta + root), (root - beta) / alpha)
        down = np.where(beta < 0, c / (root - beta), -(root + beta) / alpha)
    return np.where(rising, up, down)


def project(screw, rows, segments, reference, pad, bend=None):
    """Row records of ``segments``.

    Parameters
    ----------
    rows : Rows
    segments : Segments, m of them
    reference : (m, 3) points about whose azimuth psi is unwrapped
    pad : float, length by which rows and ranges are widened (0 for records that are the answer themselves)
    bend : float, optional
        Records are halved until their middle is this near to the middle of their ends, in rho, h and way.
    """
    nearest = nearest_fraction(screw, segments.p0, segments.p1)
    index = np.tile(np.arange(len(nearest)), 2)
    start = np.concatenate([np.zeros(len(nearest)), nearest])
    end = np.concatenate([nearest, np.ones(len(nearest))])
    rising = np.repeat([False, True], len(nearest))
    some = end > start
    index, start, end, rising = index[some], start[some], end[some], rising[some]
    p0, d = segments.p0[index], (segments.p1 - segments.p0)[index]
    rho_a, rho_b = (screw.cylinder(p0 + u[:, None] * d)[0] for u in (start, end))
    first = np.maximum(rows.of(np.minimum(rho_a, rho_b) - pad), 0)
    last = np.minimum(rows.of(np.maximum(rho_a, rho_b) + pad), rows.count - 1)
    counts = np.maximum(last - first + 1, 0)
    branch = np.repeat(np.arange(len(index)), counts)
    row = np.arange(len(branch)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    index, start, end, rising, p0, d = (x[branch] for x in (index, start, end, rising, p0, d))

    k = screw.kappa
    alpha = k * (d[:, 0] ** 2 + d[:, 2] ** 2)
    beta = k * (p0[:, 0] * d[:, 0] + p0[:, 2] * d[:, 2]) + d[:, 2]
    q = k * (p0[:, 0] ** 2 + p0[:, 2] ** 2) + 2.0 * p0[:, 2]
    bottom = rows.low + row * rows.delta - pad
    top = bottom + rows.delta + 2 * pad

    def cut(rho, default):
        # A row may reach below the axis, where the radius would grow again; on it there is no azimuth.
        rho = np.maximum(rho, -1.0 / k + ON_AXIS * screw.size) if k > 0 else rho
        u = fraction_at((alpha, beta), q, rho * (2.0 + k * rho), rising)
        return np.clip(np.where(np.isnan(u), default, u), start, end)

    near, far = np.where(rising, start, end), np.where(rising, end, start)
    u_low, u_high = cut(bottom, near), cut(top, far)
    u0, u1 = np.minimum(u_low, u_high), np.maximum(u_low, u_high)

    # Azimuths are measured from the outer end of the branch: within a quarter turn, also through the axis.
    rim = p0 + far[:, None] * d
    base = azimuth_from(screw, reference[index], rim) - screw.cylinder(rim)[1]

    def at(u, some=slice(None)):
        x = p0[some] + u[:, None] * d[some]
        psi = base[some] + azimuth_from(screw, rim[some], x)
        return (screw.cylinder(x)[0],) + screen(screw, rows, row[some], psi, x[:, 1])

    if bend is not None:
        piece, u0, u1 = _straightened(screw, at, u0, u1, bend)
        index, row, p0, d, rim, base, q = (x[piece] for x in (index, row, p0, d, rim, base, q))
        alpha, beta, rising = alpha[piece], beta[piece], rising[piece]
    (rho0, h0, t0), (rho1, h1, t1) = at(u0), at(u1)
    heights, times = [h0, h1], [t0, t1]
    if k > 0:
        slope = (1.0 + k * p0[:, 2]) * d[:, 0] - k * p0[:, 0] * d[:, 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            turning = (
                screw.g * slope / (screw.W * d[:, 1]),
                -screw.W * rows.m[row] ** 2 * slope / (screw.g * d[:, 1]),
            )
            for squared in turning:
                u = fraction_at((alpha, beta), q, (squared - 1.0) / k, rising)
                u = np.where(np.isfinite(u) & (squared > 0), u, u0)
                _, h_at, t_at = at(np.clip(u, u0, u1))
                heights.append(h_at)
                times.append(t_at)
    h, t = np.stack(heights), np.stack(times)
    m_low = 1.0 + k * np.minimum(rho0, rho1)
    full = m_low < AXIS_PAD * screw.size * k
    pad_h, pad_t = pads(screw, rows, row, m_low, pad)
    f0, f1 = segments.u0[index], segments.u1[index]
    return Records(
        segments.owner[index],
        segments.edge[index],
        row,
        f0 + u0 * (f1 - f0),
        f0 + u1 * (f1 - f0),
        rho0,
        rho1,
        h0,
        h1,
        t0,
        t1,
        np.where(full, -np.inf, h.min(axis=0) - pad_h),
        np.where(full, np.inf, h.max(axis=0) + pad_h),
        np.where(full, -np.inf, t.min(axis=0) - pad_t),
        np.where(full, np.inf, t.max(axis=0) + pad_t),
        full,
    )


def _straightened(screw, at, u0, u1, bend):
    """Halves of the pieces ``u0`` to ``u1`` until they are straight: which piece, and its ends."""
    piece = np.arange(len(u0))
    done = []
    for _ in range(60):
        middle = 0.5 * (u0 + u1)
        ends, half = zip(at(u0, piece), at(u1, piece), strict=True), at(middle, piece)
        strays = [np.abs(0.5 * (a + b) - c) for (a, b), c in zip(ends, half, strict=True)]
        bent = np.maximum(np.maximum(strays[0], strays[1]), strays[2] * screw.speed) > bend
        done.append((piece[~bent], u0[~bent], u1[~bent]))
        piece, u0, middle, u1 = piece[bent], u0[bent], middle[bent], u1[bent]
        if len(piece) == 0:
            break
        piece, u0, u1 = np.tile(piece, 2), np.concatenate([u0, middle]), np.concatenate([middle, u1])
    done.append((piece, u0, u1))
    return tuple(np.concatenate(x) for x in zip(*done, strict=True))


@dataclass(frozen=True)
class Spans:
    """What the facing parts of faces cover in the rows: (m,) face, row, range of h and of t."""

    face: np.ndarray
    row: np.ndarray
    h_min: np.ndarray
    h_max: np.ndarray
    t_min: np.ndarray
    t_max: np.ndarray


def spans_of(screw, rows, records, boxes, pad):
    """Hull of the boundary records of every face in every row.

    Between its boundaries h is monotone on a facing face, so the hull holds for the face itself. Its times
    are those of its (psi, y) box. A face that the axis goes through takes all h in the rows up to its largest
    radius.
    """
    pierced = np.nonzero(boxes.full & np.isfinite(boxes.rho).all(axis=1))[0]
    top = np.minimum(rows.of(boxes.rho[pierced, 1] + pad), rows.count - 1)
    bottom = np.maximum(rows.of(boxes.rho[pierced, 0] - pad), 0)
    counts = np.maximum(top - bottom + 1, 0)
    whole_face = np.repeat(pierced, counts)
    whole_row = np.arange(len(whole_face)) - np.repeat(np.cumsum(counts) - counts - bottom, counts)
    usual = ~boxes.full[records.owner]
    key, inverse = np.unique(records.owner[usual] * rows.count + records.row[usual], return_inverse=True)
    face, row = key // rows.count, key % rows.count
    h_min, h_max = np.full(len(key), np.inf), np.full(len(key), -np.inf)
    np.minimum.at(h_min, inverse, records.h_min[usual])
    np.maximum.at(h_max, inverse, records.h_max[usual])
    m, L = rows.m[row], rows.L[row]
    along, across = (
        np.stack([screw.g * boxes.y[face, j] for j in (0, 1)]),
        screw.W * (m * m) * boxes.psi[face].T,
    )
    _, pad_t = pads(screw, rows, row, 1.0 + screw.kappa * boxes.rho[face, 0], pad)
    t_min = (along.min(axis=0) + across[0]) / (L * L) - pad_t
    t_max = (along.max(axis=0) + across[1]) / (L * L) + pad_t
    full = np.full(len(whole_face), np.inf)
    return Spans(
        np.concatenate([face, whole_face]),
        np.concatenate([row, whole_row]),
        np.concatenate([h_min, -full]),
        np.concatenate([h_max, full]),
        np.concatenate([t_min, -full]),
        np.concatenate([t_max, full]),
    )


def join(parts):
    """One structure of arrays from several of the same class."""
    return type(parts[0])(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(parts[0])))


@dataclass(frozen=True)
class Dots:
    """Vertices on the screen: (m,) vertex, row, rho, padded ranges of h and t (equal without pad)."""

    vertex: np.ndarray
    row: np.ndarray
    rho: np.ndarray
    h_min: np.ndarray
    h_max: np.ndarray
    t_min: np.ndarray
    t_max: np.ndarray


def dots_of(screw, rows, vertices, x, pad):
    """Records of vertices at points ``x`` (m, 3): one per row within ``pad``."""
    rho, psi = screw.cylinder(x)
    first, last = rows.of(rho - pad), rows.of(rho + pad)
    index = np.concatenate([np.arange(len(rho)), np.nonzero(last > first)[0]])
    row = np.concatenate([first, last[last > first]])
    there = (row >= 0) & (row < rows.count)
    index, row = index[there], row[there]
    h, t = screen(screw, rows, row, psi[index], x[index, 1])
    m = 1.0 + screw.kappa * rho[index]
    pad_h, pad_t = pads(screw, rows, row, m, pad)
    full = m < AXIS_PAD * screw.size * screw.kappa
    pad_h, pad_t = np.where(full, np.inf, pad_h), np.where(full, np.inf, pad_t)
    return Dots(vertices[index], row, rho[index], h - pad_h, h + pad_h, t - pad_t, t + pad_t)
