"""Casts: what a family of them gives, and the shapes that they meet."""

from dataclasses import dataclass, field

import numpy as np

from tests.oracle import shapes
from tests.oracle.scenes_base import IDENTITY
from tests.oracle.solid import RawMesh
from tests.oracle.sweep import Pass, Surface

NO_TURN = (1.0, 0.0, 0.0, 0.0)


@dataclass
class Casts:
    """n balls (`radius` (n,)), ellipsoids (`radius` (n, 3)) or groups of balls through one world."""

    name: str
    meshes: list
    bodies: tuple  # shape (m,), position (m, 3), quaternion (m, 4)
    start: np.ndarray  # (n, 3)
    path: np.ndarray  # (n, 3)
    radius: np.ndarray | None = None
    turned: np.ndarray | None = None  # of ellipsoids, (n, 4)
    groups: list | None = None  # one for each cast: (centers (k, 3), radii (k,))
    carried: np.ndarray | None = None  # how far each body is carried meanwhile, (m, 3)
    two_sided: bool = False
    _made: dict = field(default_factory=dict, repr=False)

    def __post_init__(self):
        self.start, self.path = (np.ascontiguousarray(x, float) for x in (self.start, self.path))
        if self.radius is not None:
            self.radius = np.ascontiguousarray(self.radius, float)

    def __len__(self):
        return len(self.start)

    @property
    def kind(self):
        if self.groups is not None:
            return "clusters"
        if self.radius is None:
            return "rays"
        return "spheres" if self.radius.ndim == 1 else "ellipsoids"

    def balls(self, i):
        """(start, radius, turn) of what moves along in cast i."""
        if self.groups is not None:
            return [(self.start[i] + x, r, None) for x, r in zip(*self.groups[i], strict=True)]
        radius = 0.0 if self.radius is None else self.radius[i]
        return [(self.start[i], radius, None if self.turned is None else self.turned[i])]

    def surface(self, k):
        if k not in self._made:
            self._made[k] = Surface(self.meshes[k])
        return self._made[k]

    def passes(self, i):
        """(ball, body, `Pass`) of cast i."""
        shape, position, quat = self.bodies
        carried = np.zeros_like(position) if self.carried is None else self.carried
        for b, (start, radius, turn) in enumerate(self.balls(i)):
            for k in range(len(shape)):
                pose = position[k], quat[k]
                yield (
                    b,
                    k,
                    Pass.of(
                        self.surface(shape[k]),
                        pose,
                        carried[k],
                        start,
                        self.path[i],
                        radius,
                        turn,
                        self.two_sided,
                    ),
                )

    def take(self, rows):
        rows = np.asarray(rows)

        def some(x):
            return None if x is None else x[rows]

        return Casts(
            self.name, self.meshes, self.bodies, self.start[rows], self.path[rows], some(self.radius),
            some(self.turned), None if self.groups is None else [self.groups[i] for i in rows],
            self.carried, self.two_sided, self._made,
        )  # fmt: skip


def placed(meshes, position=None, quat=None, shape=None):
    """Bodies: one of each mesh, unless `shape` says otherwise."""
    shape = np.arange(len(meshes)) if shape is None else np.asarray(shape)
    n = len(shape)
    position = np.zeros((n, 3)) if position is None else np.broadcast_to(position, (n, 3)).astype(float)
    quat = np.tile(IDENTITY, (n, 1)) if quat is None else np.broadcast_to(quat, (n, 4)).astype(float)
    return shape, position, quat


def mesh_of(vertices, faces, two_sided=False):
    return RawMesh(np.asarray(vertices, float), faces, two_sided)


def cube(size=2):
    """Whole corners for an even size."""
    return shapes.box((size, size, size))


def inside_out(mesh):
    start = mesh.face_start
    loops = [mesh.face_vertices[i:j][::-1] for i, j in zip(start, start[1:], strict=False)]
    return RawMesh(mesh.vertices, loops, mesh.two_sided)


def triangulated(mesh):
    start, flat = mesh.face_start.tolist(), mesh.face_vertices.tolist()
    loops = [flat[i:j] for i, j in zip(start, start[1:], strict=False)]
    faces = [(x[0], x[k], x[k + 1]) for x in loops for k in range(1, len(x) - 1)]
    return RawMesh(mesh.vertices, faces, mesh.two_sided)


def whole_l():
    """An L of whole numbers, one reflex edge."""
    outline = np.array([[0, 0], [6, 0], [6, 2], [2, 2], [2, 6], [0, 6]], float)
    return shapes.prism(outline, [(0, 1, 2, 3), (0, 3, 4, 5)], 4)


def octahedron(size=3):
    v = size * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], float)
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    return RawMesh(v, faces)


def floor(n=4, step=1.0, polygons=False):
    """An open grid of squares (or triangles) in z = 0, facing up."""
    x, y = (a.ravel() for a in np.indices((n + 1, n + 1)))
    v = np.column_stack((x - n // 2, y - n // 2, np.zeros(len(x)))) * step
    faces = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = (
                i * (n + 1) + j,
                (i + 1) * (n + 1) + j,
                (i + 1) * (n + 1) + j + 1,
                i * (n + 1) + j + 1,
            )
            faces += [(a, b, c, d)] if polygons else [(a, b, c), (a, c, d)]
    return RawMesh(v, faces)


def prism_of(corners, height=2.0, radius=1.0):
    """A closed prism over a regular polygon."""
    angle = 2 * np.pi * np.arange(corners) / corners
    outline = radius * np.column_stack((np.cos(angle), np.sin(angle)))
    return shapes.prism(outline, [tuple(range(corners))], height)


def slivers(rng, n=12, width=1e-7):
    """Triangles of all kinds of thinness, some of no area at all."""
    v, faces = [], []
    for k in range(n):
        a, b = rng.uniform(-1, 1, (2, 3))
        thin = [width, 1e-3, 1e-12, 0.0][k % 4]
        c = a + rng.uniform(0.2, 0.8) * (b - a) + thin * rng.normal(size=3)
        if k % 8 == 7:
            c = b
        v += [a, b, c]
        faces.append((3 * k, 3 * k + 1, 3 * k + 2))
    return RawMesh(np.array(v), faces)


def steps(n=4, rise=0.25, tread=0.5, width=2.0):
    """Stairs up along x, closed."""
    outline = [[0.0, 0.0]]
    for k in range(n):
        outline += [[k * tread, (k + 1) * rise], [(k + 1) * tread, (k + 1) * rise]]
    outline += [[n * tread, 0.0]]
    outline = np.array(outline)
    feet = np.array([[k * tread, 0.0] for k in range(1, n)]).reshape(-1, 2)
    flat = np.concatenate((outline, feet))
    first = len(outline)
    v = [[x, -width / 2, z] for x, z in flat] + [[x, width / 2, z] for x, z in flat]
    m = len(flat)
    foot = [0, *range(first, first + n - 1), len(outline) - 1]
    faces = []
    for k in range(n):
        quad = [foot[k], foot[k + 1], 2 * k + 2, 2 * k + 1]
        faces += [tuple(quad), tuple(m + i for i in reversed(quad))]
        low, high = (2 * k, 2 * k + 1) if k else (0, 1)
        faces += [(m + low, low, high, m + high)]  # the rise
        faces += [(m + 2 * k + 1, 2 * k + 1, 2 * k + 2, m + 2 * k + 2)]  # the tread
        faces += [(m + foot[k + 1], foot[k + 1], foot[k], m + foot[k])]  # below
    faces += [(2 * n, len(outline) - 1, m + len(outline) - 1, m + 2 * n)]
    return RawMesh(np.array(v), faces)
