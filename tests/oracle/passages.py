"""Moves of bodies past still ones: what a family of scenes gives, and the shapes that it is made of."""

from dataclasses import dataclass, field

import numpy as np

from tests.oracle import shapes
from tests.oracle.exact import Placed, Topology
from tests.oracle.exact_motion import Rotation, Translation
from tests.oracle.scenes_base import IDENTITY, turn_quat
from tests.oracle.solid import RawMesh, apply, rotation_matrix


@dataclass
class Passages:
    """n moves. Mover i goes past the still body i (`each`), or past all of them.

    `start` says what the movers' first places are meant to be: "clear" of everything, in the "zone" or at
    "rest" (0 to `expel` away), or "any".
    """

    name: str
    meshes: list
    mover: tuple  # shape (n,), position (n, 3), quaternion (n, 4)
    still: tuple
    vector: np.ndarray | None = None  # a translation, (n, 3)
    angle: np.ndarray | None = None  # a turn, (n,), (n, 3), (n, 3)
    axis: np.ndarray | None = None
    origin: np.ndarray | None = None
    expel: float | None = None  # None: what the library thinks is enough
    start: str = "clear"
    each: bool = True
    _made: dict = field(default_factory=dict, repr=False)

    def __len__(self):
        return len(self.mover[0])

    @property
    def turns(self):
        return self.angle is not None

    def bodies_near(self, i):
        """Still bodies that mover i may come near; at least the nearest."""
        if self.each:
            return [i]
        reach, (shape, position, _) = self._reach(), self.still
        start = self.mover[1][i]
        if self.turns:
            axis = self.axis[i] / np.linalg.norm(self.axis[i])
            turns = turn_quat(np.tile(axis, (33, 1)), np.linspace(0, self.angle[i], 33))
            path = apply(rotation_matrix(turns), start - self.origin[i]) + self.origin[i]
            gap = np.sqrt(((position[:, None] - path) ** 2).sum(-1).min(1))
            gap -= np.linalg.norm(path[1] - path[0])  # it may be nearer between two of them
        else:
            v = self.vector[i]
            along = np.clip((position - start) @ v / max(v @ v, 1e-300), 0, 1)
            gap = np.linalg.norm(position - start - along[:, None] * v, axis=1)
        gap = gap - reach[shape] - reach[self.mover[0][i]]
        return np.flatnonzero(gap <= max(gap.min(), 0.0) + 0.05 * reach.max())

    def _reach(self):
        return np.array([np.linalg.norm(m.vertices, axis=1).max() for m in self.meshes])

    def topology(self, k):
        if k not in self._made:
            self._made[k] = Topology(self.meshes[k])
        return self._made[k]

    def placed(self, which, i, pose=None):
        """Body i of "mover" or "still", exactly; at another pose if one is given."""
        shape, position, quat = getattr(self, which)
        position, quat = (position[i], quat[i]) if pose is None else pose
        return Placed.at(self.topology(shape[i]), position, quat)

    def motions(self, i):
        """Of mover i past each body that it may meet."""
        mover = self.placed("mover", i)
        for k in self.bodies_near(i):
            still = self.placed("still", k)
            if self.turns:
                yield k, Rotation(mover, still, self.angle[i], self.axis[i], self.origin[i])
            else:
                yield k, Translation(mover, still, self.vector[i])

    def take(self, rows):
        rows = np.asarray(rows)

        def some(x):
            return None if x is None else x[rows]

        return Passages(
            self.name, self.meshes, tuple(x[rows] for x in self.mover),
            tuple(x[rows] for x in self.still) if self.each else self.still,
            some(self.vector), some(self.angle), some(self.axis), some(self.origin),
            self.expel, self.start, self.each, self._made,
        )  # fmt: skip


def convex(mesh):
    """The mesh, told to be one convex piece."""
    mesh.pieces = [mesh]
    return mesh


def box(size=(1, 1, 1)):
    return convex(shapes.box(size))


def l_block():
    mesh = shapes.l_block()
    low, high = np.array([[0, 0], [2, 0.8]]) - 0.8, np.array([[0, 0], [0.8, 2]]) - 0.8
    mesh.pieces = []
    for (x0, y0), (x1, y1) in (low, high):
        piece = shapes.box()
        piece.vertices = np.where(piece.vertices > 0, [x1, y1, 0.45], [x0, y0, -0.45])
        mesh.pieces.append(piece)
    return mesh


def hull(rng, n):
    return convex(shapes.hull(rng, n))


def star(rng, spikes=4):
    return shapes.star(rng, spikes)


def wedge(degrees, length=2.0, depth=1.0):
    """A blade: two long faces that meet at z = 0 along y at a sharp inner angle, depth below."""
    half = np.tan(np.radians(degrees) / 2) * depth
    outline = np.array([[0, 0], [-half, -depth], [half, -depth]])
    v = [[x, y, z] for y in (-length / 2, length / 2) for x, z in outline]
    return convex(RawMesh(v, [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)]))


def fan(n=6, height=0.3, radius=1.0, deep=1.0, rng=None):
    """A block with n triangles around one top vertex at (0, 0, height): a hill, flat, or a dent."""
    angle = 2 * np.pi * np.arange(n) / n
    if rng is not None:
        angle = angle + rng.uniform(-0.3, 0.3, n) * 2 * np.pi / n
    rim = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    top = np.column_stack((rim, np.zeros(n)))
    low = np.column_stack((rim, np.full(n, -deep)))
    v = np.concatenate((top, low, [[0, 0, height]]))
    faces = [(i, (i + 1) % n, 2 * n) for i in range(n)]
    faces += [(n + i, n + (i + 1) % n, (i + 1) % n, i) for i in range(n)] + [
        tuple(range(2 * n - 1, n - 1, -1))
    ]
    mesh = RawMesh(v, faces)
    return convex(mesh) if height > 0 and rng is None else mesh


def ridge(n=8, rise=0.2, rng=None):
    """A strip of triangles on a block, with a ridge along y whose vertices lie on a line or nearly so."""
    y = np.linspace(-1, 1, n)
    up = np.full(n, rise) if rng is None else rise + rng.uniform(-0.02, 0.02, n)
    v = [[-0.5, a, 0] for a in y] + [[0, a, b] for a, b in zip(y, up, strict=True)] + [[0.5, a, 0] for a in y]
    v += [[-0.5, -1, -1], [0.5, -1, -1], [0.5, 1, -1], [-0.5, 1, -1]]
    left, top, right, (p, q, r, s) = 0, n, 2 * n, range(3 * n, 3 * n + 4)
    faces = []
    for i in range(n - 1):
        faces += [(left + i, top + i, top + i + 1), (left + i, top + i + 1, left + i + 1)]
        faces += [(top + i, right + i, right + i + 1), (top + i, right + i + 1, top + i + 1)]
    faces += [(p, s, r, q), (left, p, q, right), (left, right, top)]
    faces += [(right + n - 1, r, s, left + n - 1), (right + n - 1, left + n - 1, top + n - 1)]
    faces += [(left + n - 1, s, p, *range(left, left + n - 1))]
    faces += [(right, q, r, right + n - 1, *range(right + n - 2, right, -1))]
    return RawMesh(v, faces)


def tip(width=0.1, height=0.2):
    """A tetrahedron that stands on its tip at (0, 0, 0)."""
    w, h = width, height
    v = [[0, 0, 0], [w, 0, h], [-w / 2, w, h], [-w / 2, -w, h]]
    return convex(RawMesh(v, [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)]))


def reversed_winding(mesh):
    start = mesh.face_start
    loops = [mesh.face_vertices[i:j][::-1] for i, j in zip(start, start[1:], strict=False)]
    return RawMesh(mesh.vertices, loops, mesh.two_sided)


def scaled(mesh, size):
    other = RawMesh(mesh.vertices * size, [[0]], mesh.two_sided)
    other.face_start, other.face_vertices = mesh.face_start, mesh.face_vertices
    pieces = getattr(mesh, "pieces", None)
    if pieces:
        other.pieces = [other if p is mesh else scaled(p, size) for p in pieces]
    return other


def resting_at(shape, position=None, quat=None):
    """Bodies of the shapes given, at the origin unless said otherwise."""
    shape = np.asarray(shape)
    n = len(shape)
    position = np.zeros((n, 3)) if position is None else np.broadcast_to(position, (n, 3)).astype(float)
    quat = np.tile(IDENTITY, (n, 1)) if quat is None else np.broadcast_to(quat, (n, 4)).astype(float)
    return shape, position, quat
