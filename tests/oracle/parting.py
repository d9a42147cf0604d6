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
CUTS = 9  # a turn is cut in two at most so often
SAME = 1e-9


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
        out.corners = apply(m[:, None], self.corners) + position[self.owner][:, None]
        out.normals, out.edges = apply(m[:, None], self.normals), apply(m[:, None], self.edges)
        return out

    def taken(self, rows):
        out = object.__new__(Pieces)
        out.owner, out.corners = self.owner[rows], self.corners[rows]
        out.normals, out.edges = self.normals[rows], self.edges[rows]
        return out


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
            at = np.einsum("kai,kmi->kam", n, x)
            way = np.einsum("kai,ki->ka", n, self.vector[rows])[:, :, None] * (-1 if back else 1)
            a, b = at + begin[:, None, None] * way, at + end[:, None, None] * way
            return np.minimum(a, b).min(2), np.maximum(a, b).max(2)
        axis, origin = self.axis[rows][:, None], self.origin[rows][:, None]
        turn = -self.angle[rows] if back else self.angle[rows]
        along = axis * ((x - origin) * axis).sum(2)[:, :, None]
        off = x - origin - along
        middle = np.einsum("kai,kmi->kam", n, origin + along)
        b, c = np.einsum("kai,kmi->kam", n, off), np.einsum("kai,kmi->kam", n, np.cross(axis, off))
        one, two = (begin * turn)[:, None, None], (end * turn)[:, None, None]
        half, mid = np.abs(two - one) / 2, (one + two) / 2
        top, reach = np.arctan2(c, b), np.hypot(b, c)
        p, q = middle + b * np.cos(one) + c * np.sin(one), middle + b * np.cos(two) + c * np.sin(two)

        def within(at):  # is this angle on the part? a little more than it is
            away = np.abs(np.mod(at - mid + np.pi, 2 * np.pi) - np.pi)
            return away <= half + 1e-9

        low = np.where(within(top + np.pi), middle - reach, np.minimum(p, q))
        high = np.where(within(top), middle + reach, np.maximum(p, q))
        return low.min(2), high.max(2)

    def turned(self, v, rows, share):
        """Vectors (k, a, 3) of the mover after a share of the paths."""
        if self.vector is not None:
            return v
        axis, angle = self.axis[rows][:, None], (share * self.angle[rows])[:, None, None]
        along = axis * (v * axis).sum(2)[:, :, None]
        return along + (v - along) * np.cos(angle) + np.cross(axis, v) * np.sin(angle)


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
    near = (low[:, None] <= there[1][None] + pad).all(2) & (high[:, None] >= there[0][None] - pad).all(2)
    i, j = np.nonzero(near)
    begin, end = np.zeros(len(i)), np.ones(len(i))
    for _ in range(CUTS if paths.vector is None else 1):
        left = ~_parted(movers, still, paths, i, j, begin, end, pad)
        i, j, begin, end = i[left], j[left], begin[left], end[left]
        if not len(i):
            break
        middle = 0.5 * (begin + end)
        last = i, j
        i, j = np.tile(i, 2), np.tile(j, 2)
        begin, end = np.concatenate((begin, middle)), np.concatenate((middle, end))
    else:
        i, j = last
    pairs = np.column_stack((movers.owner[i], still.owner[j]))
    return np.unique(pairs, axis=0)


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
        low, high = paths.ranges(n, moving, r, begin[left], end[left], back)
        at = np.einsum("kai,kmi->kam", n, other)
        parted[left] = ((low > at.max(2) + pad) | (high < at.min(2) - pad)).any(1)

    def crossed(share):
        def axes(a, b, r, left):
            mine = paths.turned(movers.edges[a], r, share[left])
            n = np.cross(mine[:, :, None], still.edges[b][:, None]).reshape(len(a), -1, 3)
            length = np.linalg.norm(n, axis=2)[:, :, None]
            return np.where(length > 1e-6, n / np.maximum(length, 1e-6), [1.0, 0, 0])

        return axes

    look(lambda a, b, r, left: still.normals[b], False)
    look(lambda a, b, r, left: movers.normals[a], True)
    look(crossed(end), False)
    if paths.vector is None:
        look(crossed(begin), False)
    return parted
