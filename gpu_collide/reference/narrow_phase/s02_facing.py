"""Stage 2: facing clip, virtual silhouette edges, copies around the axis, and cull boxes.

Input: a body's `Tables` and the `Screw` of the pair. Output: the body in the screw frame (`Side`), the parts
of its edges with a properly facing neighbour, the boundary of the facing part of every face, and boxes in
(rho, psi, y). n . omega is affine in the point, so along an edge a face is facing on a half line, and a face
is cut along a straight line: the *virtual silhouette edge*, without which vertex-face contacts are lost.

A line of the body in azimuth is measured from a point of its own (the farther end of an edge, the middle of a
face), so nothing is cut at +-pi; the copies of A around the axis are shifts by the period, made when boxes
are compared. What comes within `AXIS_PAD` of the axis has no azimuth and takes all of it.

Everything here proposes: the pads make supersets, wider than any tolerance of the solver.
Sources: Buss, sections 4.2 and 8; docs/decisions/0002 and 0004.
"""

from dataclasses import dataclass

import numpy as np

from gpu_collide.reference.narrow_phase._tables import Tables

# In units of the speed; the solver accepts 1e-9.
FACING_PAD = 1e-7
# In units of the size: how far a position may be off when boxes or records are compared; the solver accepts
# 1e-11. Wide, since here it costs nothing but time, and whatever the speed.
POSITION_PAD = 1e-7
# Pairs of boxes compared at a time, to bound the memory of large meshes.
BOXES_AT_A_TIME = 4_000_000
# In units of the size: nearer than this to the axis an azimuth is not trusted. Here it is always float64.
AXIS_PAD = 1e-3


@dataclass(frozen=True)
class Side:
    """One body of a pair in the screw frame (B at its half-way pose).

    sign : -1 for A, whose backward faces matter, +1 for B, whose forward faces matter.
    points (nv, 3), centre (3,), normals (nf, 3), unit (ne, 3) edge directions, inward (nf, k, 3).
    """

    tables: Tables
    sign: float
    points: np.ndarray
    centre: np.ndarray
    normals: np.ndarray
    unit: np.ndarray
    inward: np.ndarray

    def facing(self, motion, faces, x, s, tolerance):
        """True where ``faces`` (...) face the other body at the points ``x`` (..., 3) at the times ``s``; -1
        is no face."""
        value = np.sum(self.normals[faces] * motion.field(x, s, self.sign), axis=-1)
        good = self.sign * value >= -tolerance * motion.speed
        return (faces >= 0) & (good | self.tables.two_sided)


def side_of(screw, tables, body):
    """`Side` of body "a" or "b"."""
    place, direction = (
        (screw.from_a, screw.direction_from_a) if body == "a" else (screw.from_b, screw.direction_from_b)
    )
    return Side(
        tables,
        -1.0 if body == "a" else 1.0,
        place(tables.vertices),
        place(tables.centre),
        direction(tables.normals),
        direction(tables.unit),
        direction(tables.inward),
    )


@dataclass(frozen=True)
class Segments:
    """Straight pieces (m,) of a body: ``owner`` is the edge or face they belong to, ``edge`` the mesh edge or
    -1 for a virtual silhouette edge, ``u0``, ``u1`` the fractions along that edge, ``p0``, ``p1`` the
    ends."""

    owner: np.ndarray
    edge: np.ndarray
    u0: np.ndarray
    u1: np.ndarray
    p0: np.ndarray
    p1: np.ndarray


@dataclass(frozen=True)
class Boxes:
    """Ranges (m, 2) of rho, psi, y of things; ``full`` (m,) marks those that take every azimuth."""

    rho: np.ndarray
    psi: np.ndarray
    y: np.ndarray
    full: np.ndarray


def half_line(start, end, limit):
    """Part of [0, 1] where the affine function with values ``start``, ``end`` is at least ``limit``."""
    with np.errstate(invalid="ignore", divide="ignore"):
        cut = np.clip((limit - start) / (end - start), 0.0, 1.0)
    low = np.where(start >= limit, 0.0, np.where(end >= limit, cut, 1.0))
    high = np.where(end >= limit, 1.0, np.where(start >= limit, cut, 0.0))
    return low, high, (start >= limit) | (end >= limit)


def edge_parts(screw, side):
    """Parts of the edges with at least one facing neighbour (`Segments`, at most two parts an edge)."""
    t = side.tables
    a, b = side.points[t.edges[:, 0]], side.points[t.edges[:, 1]]
    normal = side.normals[t.edge_faces]
    start = side.sign * np.sum(normal * screw.omega(a)[:, None], axis=-1)
    end = side.sign * np.sum(normal * screw.omega(b)[:, None], axis=-1)
    low, high, kept = half_line(start, end, -FACING_PAD * screw.speed)
    if t.two_sided or not screw.moves:
        low, high, kept = np.zeros_like(low), np.ones_like(high), np.ones_like(kept)
    kept &= t.edge_faces >= 0
    # Each interval begins at 0 or ends at 1, so the union is at most one part at either end.
    from_low = np.where(kept & (low <= 0.0), high, -1.0).max(axis=1)
    to_high = np.where(kept & (high >= 1.0), low, 2.0).min(axis=1)
    whole = from_low >= to_high
    index = np.arange(len(t.edges))
    first, second = from_low >= 0.0, (to_high <= 1.0) & ~whole
    edge = np.concatenate([index[first], index[second]])
    u0 = np.concatenate([np.zeros(first.sum()), to_high[second]])
    u1 = np.concatenate([np.where(whole, 1.0, from_low)[first], np.ones(second.sum())])
    p0 = a[edge] + u0[:, None] * (b - a)[edge]
    p1 = a[edge] + u1[:, None] * (b - a)[edge]
    return Segments(edge, edge, u0, u1, p0, p1)


def face_boundaries(screw, side, part="facing"):
    """Boundaries of parts of the faces (`Segments`, with virtual silhouette edges).

    ``part`` is "facing", "away" (the rest, which matters for two-sided meshes) or "whole".
    """
    t = side.tables
    corners = t.loops >= 0
    counts = corners.sum(axis=1)
    following = np.where(
        np.arange(t.loops.shape[1]) + 1 < counts[:, None], np.arange(t.loops.shape[1]) + 1, 0
    )
    a = side.points[t.loops]
    b = np.take_along_axis(a, following[:, :, None], axis=1)
    value = side.sign * np.sum(side.normals[:, None] * screw.omega(a), axis=-1)
    if part == "away":
        value = -value
    if part == "whole" or not screw.moves:
        value = np.ones_like(value)
    after = np.take_along_axis(value, following, axis=1)
    limit = -FACING_PAD * screw.speed
    low, high, kept = half_line(value, after, limit)
    kept &= corners
    face, corner = np.nonzero(kept)
    u0, u1 = low[kept], high[kept]
    p0 = a[kept] + u0[:, None] * (b - a)[kept]
    p1 = a[kept] + u1[:, None] * (b - a)[kept]
    # Fractions above run along the loop; records use fractions along the mesh edge, low to high.
    edge = t.loop_edges[kept]
    same = t.edges[edge, 0] == t.loops[kept]
    f0, f1 = np.where(same, u0, 1.0 - u0), np.where(same, u1, 1.0 - u1)
    # Where the loop leaves the facing part and where it comes back: the ends of the virtual edge.
    leaves = kept & (value >= limit) & (after < limit)
    enters = kept & (value < limit) & (after >= limit)
    cut = leaves.any(axis=1) & enters.any(axis=1)
    out, back = np.argmax(leaves, axis=1)[cut], np.argmax(enters, axis=1)[cut]
    cut_faces = np.nonzero(cut)[0]

    def crossing(index, u):
        return a[cut_faces, index] + u[cut_faces, index][:, None] * (b - a)[cut_faces, index]

    v0, v1 = crossing(out, high), crossing(back, low)
    none, zero, one = np.full(len(cut_faces), -1), np.zeros(len(cut_faces)), np.ones(len(cut_faces))
    return Segments(
        np.concatenate([face, cut_faces]),
        np.concatenate([edge, none]),
        np.concatenate([f0, zero]),
        np.concatenate([f1, one]),
        np.concatenate([p0, v0]),
        np.concatenate([p1, v1]),
    )


def facing_vertices(screw, side):
    """Numbers of the vertices with at least one facing face."""
    t = side.tables
    tolerance = FACING_PAD if screw.moves else 1.0
    good = side.facing(screw, t.vertex_faces, side.points[:, None, :], 0.0, tolerance)
    return np.nonzero(good.any(axis=1))[0]


def azimuth_from(screw, reference, x):
    """psi of points ``x``, unwrapped about the psi of ``reference``."""
    k = screw.kappa
    xr, cr = reference[..., 0], 1.0 + k * reference[..., 2]
    x1, c1 = x[..., 0], 1.0 + k * x[..., 2]
    return screw.cylinder(reference)[1] + screw.arc(x1 * cr - xr * c1, c1 * cr + k * k * x1 * xr)


def nearest_fraction(screw, p0, p1):
    """Fraction in [0, 1] of the point of the segments nearest to the axis (0 if all are equally far)."""
    d, k = p1 - p0, screw.kappa
    alpha = k * (d[..., 0] ** 2 + d[..., 2] ** 2)
    beta = k * (p0[..., 0] * d[..., 0] + p0[..., 2] * d[..., 2]) + d[..., 2]
    with np.errstate(invalid="ignore", divide="ignore"):
        u = np.where(alpha > 0, -beta / alpha, np.where(beta < 0, 1.0, 0.0))
    return np.clip(np.nan_to_num(u), 0.0, 1.0)


def far_ends(screw, p0, p1):
    """The ends (m, 3) of segments that are farther from the axis: their azimuth is always known."""
    farther = screw.cylinder(p1)[0] > screw.cylinder(p0)[0]
    return np.where(farther[:, None], p1, p0)


def segment_boxes(screw, p0, p1, reference=None):
    """`Boxes` of segments with ends (m, 3); azimuths unwrapped about ``reference`` (default: far ends)."""
    if reference is None:
        reference = far_ends(screw, p0, p1)
    u = nearest_fraction(screw, p0, p1)
    nearest = p0 + u[:, None] * (p1 - p0)
    rho = np.stack([screw.cylinder(p)[0] for p in (p0, p1, nearest)])
    psi = np.stack([azimuth_from(screw, reference, p0), azimuth_from(screw, reference, p1)])
    y = np.stack([p0[:, 1], p1[:, 1]])
    full = 1.0 + screw.kappa * rho.min(axis=0) < AXIS_PAD * screw.size * screw.kappa
    return Boxes(_range(rho), _range(psi), _range(y), full)


def face_centres(side):
    """Mean of the corners of every face, (nf, 3)."""
    corners = side.tables.loops >= 0
    total = np.where(corners[:, :, None], side.points[side.tables.loops], 0.0).sum(axis=1)
    return total / corners.sum(axis=1)[:, None]


def face_boxes(screw, side, boundary):
    """`Boxes` (nf,) of the facing parts of the faces; a face that is not facing has an empty box."""
    t = side.tables
    count = len(t.loops)
    centre = face_centres(side)
    pieces = segment_boxes(screw, boundary.p0, boundary.p1, centre[boundary.owner])
    box = [np.full((count, 2), [np.inf, -np.inf]) for _ in range(3)]
    for whole, piece in zip(box, (pieces.rho, pieces.psi, pieces.y), strict=True):
        np.minimum.at(whole[:, 0], boundary.owner, piece[:, 0])
        np.maximum.at(whole[:, 1], boundary.owner, piece[:, 1])
    full = np.zeros(count, dtype=bool)
    full[boundary.owner[pieces.full]] = True
    # The axis goes through a face if all sides of the outline seen along the axis turn the same way about it.
    k = screw.kappa
    turn = boundary.p1[:, 0] * (1.0 + k * boundary.p0[:, 2]) - boundary.p0[:, 0] * (
        1.0 + k * boundary.p1[:, 2]
    )
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, boundary.owner, turn)
    np.maximum.at(most, boundary.owner, turn)
    if k > 0:
        pierced = ((least > 0) | (most < 0)) & np.isfinite(least)
        full |= pierced
        box[0][pierced, 0] = -1.0 / k
    rho, psi, y = box
    return Boxes(rho, psi, y, full)


def point_boxes(screw, x):
    """`Boxes` of points (m, 3)."""
    rho, psi = screw.cylinder(x)
    full = 1.0 + screw.kappa * rho < AXIS_PAD * screw.size * screw.kappa
    return Boxes(np.stack([rho, rho], -1), np.stack([psi, psi], -1), np.stack([x[:, 1], x[:, 1]], -1), full)


def _range(values):
    return np.stack([values.min(axis=0), values.max(axis=0)], axis=-1)


def psi_pad(screw, boxes):
    """What `POSITION_PAD` becomes in psi at the smallest radius of each box (not used where ``full``)."""
    low = np.where(np.isfinite(boxes.rho[:, 0]), boxes.rho[:, 0], 0.0)
    ratio = np.maximum(1.0 + screw.kappa * low, AXIS_PAD * screw.size * screw.kappa)
    return POSITION_PAD * screw.size / np.where(ratio > 0, ratio, 1.0)


def copies(screw, a, b):
    """Shifts of A's azimuth, in periods, that can bring the boxes ``a`` to the swept boxes ``b``."""
    if screw.kappa == 0.0:
        return np.array([0])
    hulls = []
    for boxes in (a, b):
        there = np.isfinite(boxes.psi).all(axis=1)
        if not there.any():
            return np.array([0])
        low, high = boxes.psi[there].T
        # Near the axis a piece may be anywhere within half a turn of the azimuth it is measured from, and so
        # are its ends.
        full = boxes.full[there]
        low, high = np.where(full, high - screw.period, low), np.where(full, low + screw.period, high)
        hulls.append((low.min(), high.max()))
    (low_a, high_a), (low_b, high_b) = hulls
    reach = 0.5 * screw.W + 1e-6 * screw.period
    first = np.ceil((low_b - reach - high_a) / screw.period)
    last = np.floor((high_b + reach - low_a) / screw.period)
    return np.arange(int(first), int(last) + 1)


def box_pairs(screw, a, b):
    """Index pairs (m, 2) of boxes of A and B that can meet within the step.

    B's boxes move by (W, g) a step in (psi, y) and keep rho; they meet a box of A while the ranges overlap in
    all three. Resting bodies are compared where they are, in the coordinates of the screw frame.
    """
    step = max(1, BOXES_AT_A_TIME // max(len(b.full), 1))
    found = [np.zeros((0, 2), dtype=np.int64)]
    shifts, pad_a, pad_b = copies(screw, a, b), psi_pad(screw, a), psi_pad(screw, b)
    for first in range(0, len(a.full), step):
        some = slice(first, first + step)
        part = Boxes(a.rho[some], a.psi[some], a.y[some], a.full[some])
        found.append(_box_pairs(screw, part, b, shifts, pad_a[some], pad_b) + [first, 0])
    return np.concatenate(found)


def _box_pairs(screw, a, b, shifts, pad_a, pad_b):
    pad, window = POSITION_PAD * screw.size, 0.5 + screw.tau
    meet = (a.rho[:, None, 0] <= b.rho[None, :, 1] + pad) & (b.rho[None, :, 0] <= a.rho[:, None, 1] + pad)
    i, j = np.nonzero(meet)
    from_y, to_y = crossing_times(a.y[i, 0] - b.y[j, 1] - pad, a.y[i, 1] - b.y[j, 0] + pad, screw.g)
    from_y, to_y = np.maximum(from_y, -window), np.minimum(to_y, window)
    some = from_y <= to_y
    i, j, from_y, to_y = i[some], j[some], from_y[some], to_y[some]
    found = a.full[i] | b.full[j]
    pads = pad_a[i] + pad_b[j]
    low, high = a.psi[i, 0] - b.psi[j, 1] - pads, a.psi[i, 1] - b.psi[j, 0] + pads
    for k in shifts:
        shift = k * screw.period if k else 0.0
        start, end = crossing_times(low + shift, high + shift, screw.W)
        found |= np.maximum(start, from_y) <= np.minimum(end, to_y)
    return np.stack([i[found], j[found]], axis=-1)


def crossing_times(low, high, speed):
    """Times s with ``low <= speed s <= high``: (from, to), empty as (inf, -inf)."""
    if speed == 0.0:
        inside = (low <= 0.0) & (high >= 0.0)
        return np.where(inside, -np.inf, np.inf), np.where(inside, np.inf, -np.inf)
    first, second = low / speed, high / speed
    return (first, second) if speed > 0 else (second, first)
