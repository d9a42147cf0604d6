"""Paths of many bodies that are sure to touch nothing at any time: by an axis each that parts them always.

Along a fixed axis, a place that is carried moves evenly, and one that is turned as middle + b cos + c sin:
the least and the greatest of a convex piece on a path are closed forms. If the mover's least is above the
other's greatest, by more than rounding, the two are apart on all of the path. A turn that no axis of the ones
tried parts as a whole is cut in two, and so on. What is left is for an exact judge.

A surface need not be convex: what starts outside of it and never meets one of its triangles stays outside.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracle.solid import apply

ROUNDING = 100 * 2.0**-52  # of the largest coordinate: a bound on the error of what is compared
CUTS = 28  # a turn is cut in two at most so often
PARTS = 6  # of a pair, which may be left after FEW cuts: near a place of touch, not along all of the way
FEW = 5
SAME = 1e-9
BEST = (
    3  # axes of each kind that are looked at on all of a path: those along which both ends are furthest apart
)


def different(vectors):
    """Unit vectors along those given, without those that are along another, up to the sign."""
    kept: list = []
    for v in vectors:
        length = np.linalg.norm(v)
        if length and not any(np.linalg.norm(np.cross(v / length, k)) < SAME for k in kept):
            kept.append(v / length)
    return np.array(kept).reshape(-1, 3)


def convex_pieces(mesh):
    """(vertices, normals, edges) of the convex pieces of a mesh, or, if it tells none, of its triangles."""
    out = []
    for piece in getattr(mesh, "pieces", None) or [None]:
        part = mesh if piece is None else piece
        loops = [part.face_vertices[i:j] for i, j in zip(part.face_start, part.face_start[1:], strict=False)]
        fans = [[(f[0], f[k], f[k + 1]) for k in range(1, len(f) - 1)] for f in loops]
        if piece is None:
            for t in (part.vertices[list(t)] for fan in fans for t in fan):
                sides = np.roll(t, -1, axis=0) - t
                out.append((t, different([np.cross(sides[0], sides[1])]), different(sides)))
            continue
        normals = [np.cross(x[1] - x[0], x[2] - x[0]) for fan in fans for x in part.vertices[np.array(fan)]]
        sides = [part.vertices[f[k]] - part.vertices[f[k - 1]] for f in loops for k in range(len(f))]
        out.append((part.vertices, different(normals), different(sides)))
    return out


def box_piece(low, high):
    """A piece that is a box along the axes."""
    x = np.array(np.meshgrid(*zip(low, high, strict=True), indexing="ij")).reshape(3, -1).T
    return x.astype(float), np.eye(3), np.eye(3)


class Pieces:
    """Convex pieces side by side, each filled up to the most corners, normals and edges."""

    def __init__(self, pieces, owner):
        self.owner = np.asarray(owner)
        self.corners, self.normals, self.edges = (
            np.array([part[np.arange(n) % len(part)] for part in parts])
            for parts in zip(*pieces, strict=True)
            for n in [max(map(len, parts))]
        )

    def placed(self, position, quat):
        """The same with each piece where its owner stands."""
        out = object.__new__(Pieces)
        m = _matrices(quat)[self.owner]
        out.owner = self.owner
        out.turn = m
        out.corners = apply(m[:, None], self.corners) + position[self.owner][:, None]
        out.normals, out.edges = self.normals, self.edges
        return out

    def normals_of(self, rows):
        """Of pieces that were placed, which most look at never."""
        return apply(self.turn[rows][:, None], self.normals[rows])

    def edges_of(self, rows):
        return apply(self.turn[rows][:, None], self.edges[rows])

    def repeated(self, times, owners):
        """The same `times` times, each with `owners` owners of its own."""
        out = object.__new__(Pieces)
        out.owner = (self.owner + owners * np.arange(times)[:, None]).reshape(-1)
        out.corners, out.normals, out.edges = (
            np.tile(x, (times, 1, 1)) for x in (self.corners, self.normals, self.edges)
        )
        return out


def crossed(u, v):
    """As `numpy.cross`, which is slow for few."""
    a, b, c = u[..., 0], u[..., 1], u[..., 2]
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], -1)


def heights(n, x):
    """Heights of places (k, m, 3) along axes (k, a, 3): (m, k, a), of which the least of m is found fast."""
    x = np.moveaxis(x, 1, 0)[:, :, None]
    return x[..., 0] * n[..., 0] + x[..., 1] * n[..., 1] + x[..., 2] * n[..., 2]


def furthest(n, first, last, other):
    """Those of axes (k, a, 3) along which corners are furthest apart from others at two times: which are
    looked at decides nothing but how soon an axis is found."""
    if n.shape[1] <= BEST:
        return n
    at = heights(n, other)
    low, high = at.min(0), at.max(0)
    above, below = np.inf, np.inf
    for x in (first, last):
        at = heights(n, x)
        above, below = np.minimum(above, at.min(0) - high), np.minimum(below, low - at.max(0))
    apart = np.maximum(above, below)
    best = np.argpartition(-apart, BEST, axis=1)[:, :BEST]
    return np.take_along_axis(n, best[:, :, None], 1)


def _matrices(quat):
    """Of quaternions that need not be of unit length, as the exact judge takes them."""
    w, x, y, z = quat.T
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.stack([np.stack(r, -1) for r in rows], -2) / (quat * quat).sum(1)[:, None, None]


@dataclass
class Paths:
    """Straight ways by `vector`, or turns about `axis` (unit vectors) at `origin` through `angle`, (n,)."""

    vector: np.ndarray | None = None
    axis: np.ndarray | None = None
    origin: np.ndarray | None = None
    angle: np.ndarray | None = None

    def ranges(self, n, x, rows, begin, end, back=False):
        """Least and greatest along axes n (k, a, 3) of places x (k, m, 3) on a part of the paths; `back`: of
        what stands still, as seen from the mover at its start."""
        if self.vector is not None:
            at = heights(n, x)
            way = heights(n, self.vector[rows][:, None])[0] * (-1 if back else 1)
            one, two = begin[:, None] * way, end[:, None] * way
            return at.min(0) + np.minimum(one, two), at.max(0) + np.maximum(one, two)
        axis, origin = self.axis[rows][:, None], self.origin[rows][:, None]
        turn = -self.angle[rows] if back else self.angle[rows]
        along = axis * ((x - origin) * axis).sum(2)[:, :, None]
        off = x - origin - along
        middle = heights(n, origin + along)
        b, c = heights(n, off), heights(n, crossed(axis, off))
        one, two = begin * turn, end * turn
        half, mid = (np.abs(two - one) / 2)[:, None], ((one + two) / 2)[:, None]
        top, reach = np.arctan2(c, b), np.hypot(b, c)
        cos, sin = ([f(angle)[:, None] for angle in (one, two)] for f in (np.cos, np.sin))
        p, q = (middle + b * cos[k] + c * sin[k] for k in range(2))

        def within(at):  # is this angle on the part? a little more than it is
            away = np.abs(np.mod(at - mid + np.pi, 2 * np.pi) - np.pi)
            return away <= half + 1e-9

        low = np.where(within(top + np.pi), middle - reach, np.minimum(p, q))
        high = np.where(within(top), middle + reach, np.maximum(p, q))
        return low.min(0), high.max(0)

    def carried(self, x, rows, share, back=False):
        """Places (k, m, 3) after a share of the paths; `back` as in `ranges`."""
        if self.vector is not None:
            return x + (self.vector[rows] * share[:, None])[:, None] * (-1 if back else 1)
        origin = self.origin[rows][:, None]
        return origin + self.turned(x - origin, rows, -share if back else share)

    def turned(self, v, rows, share):
        """Vectors (k, a, 3) of the mover after a share of the paths."""
        if self.vector is not None:
            return v
        axis, angle = self.axis[rows][:, None], (share * self.angle[rows])[:, None, None]
        along = axis * (v * axis).sum(2)[:, :, None]
        return along + (v - along) * np.cos(angle) + crossed(axis, v) * np.sin(angle)


def joined(paths):
    """Those of several `Paths` of one kind, row after row."""
    columns = zip(*((x.vector, x.axis, x.origin, x.angle) for x in paths), strict=True)
    return Paths(*(None if some[0] is None else np.concatenate(some) for some in columns))


def unsure(movers, still, paths, size):
    """Pairs (owner of a mover's piece, owner of a still one) that no axis parts on all of their path.

    Parameters
    ----------
    movers, still : Pieces
        In the world, at the start.
    paths : Paths
        A row for each owner of movers.
    size : float
        No coordinate is larger, on any path.
    """
    pad = ROUNDING * size
    rows = movers.owner
    zero, one = np.zeros(len(rows)), np.ones(len(rows))
    grid = np.broadcast_to(np.eye(3), (len(rows), 3, 3))
    low, high = paths.ranges(grid, movers.corners, rows, zero, one)
    there = still.corners.min(1), still.corners.max(1)
    near = True
    for axis in range(3):
        near &= low[:, axis, None] <= there[1][:, axis] + pad
        near &= high[:, axis, None] >= there[0][:, axis] - pad
    i, j = np.nonzero(near)
    begin, end = np.zeros(len(i)), np.ones(len(i))
    pair, given_up = np.arange(len(i)), np.zeros(len(i), bool)
    owners = np.column_stack((movers.owner[i], still.owner[j]))
    for cut in range(CUTS if paths.vector is None else 1):
        left = ~_parted(movers, still, paths, i, j, begin, end, pad)
        if cut >= FEW:
            given_up |= np.bincount(pair[left], minlength=len(given_up)) > PARTS
            left &= ~given_up[pair]
        i, j, begin, end, pair = (x[left] for x in (i, j, begin, end, pair))
        if not len(i):
            break
        last, middle = pair, 0.5 * (begin + end)
        i, j, pair = (np.tile(x, 2) for x in (i, j, pair))
        begin, end = np.concatenate((begin, middle)), np.concatenate((middle, end))
    else:
        given_up[last] = True
    return np.unique(owners[given_up], axis=0)


def _parted(movers, still, paths, i, j, begin, end, pad):
    """Which pairs of pieces are parted on this part of their paths."""
    parted = np.zeros(len(i), bool)

    def look(axes, back):
        left = np.flatnonzero(~parted)
        if not len(left):
            return
        a, b, r = i[left], j[left], movers.owner[i[left]]
        n = axes(a, b, r, left)
        moving, other = (
            (still.corners[b], movers.corners[a]) if back else (movers.corners[a], still.corners[b])
        )
        ends = (paths.carried(moving, r, share[left], back) for share in (begin, end))
        n = furthest(n, *ends, other)
        low, high = paths.ranges(n, moving, r, begin[left], end[left], back)
        at = heights(n, other)
        parted[left] = ((low > at.max(0) + pad) | (high < at.min(0) - pad)).any(1)

    def across(share):
        def axes(a, b, r, left):
            mine = paths.turned(movers.edges_of(a), r, share[left])
            n = crossed(mine[:, :, None], still.edges_of(b)[:, None]).reshape(len(a), -1, 3)
            length = np.linalg.norm(n, axis=2)[:, :, None]
            return np.where(length > 1e-6, n / np.maximum(length, 1e-6), [1.0, 0, 0])

        return axes

    look(lambda a, b, r, left: still.normals_of(b), False)
    look(lambda a, b, r, left: movers.normals_of(a), True)
    look(across(end), False)
    if paths.vector is None:
        look(across(begin), False)
    return parted
