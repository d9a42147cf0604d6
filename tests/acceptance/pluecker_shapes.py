"""Shapes of whole numbers, solid and not all convex, with the convex parts that they are made of."""

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

import gpu_collide as gc

__all__ = ["SHAPES", "Part", "Shape"]


@dataclass(frozen=True)
class Part:
    """A convex part of a shape: numbers of its vertices; among these three corners of each of its sides, and
    the ends of edges that have all their directions."""

    vertices: np.ndarray
    sides: np.ndarray
    edges: np.ndarray

    def normals(self, x):
        """Along the sides, of its vertices (n, k, 3)."""
        return [np.cross(x[:, b] - x[:, a], x[:, c] - x[:, a]) for a, b, c in self.sides]

    def ways(self, x):
        return [x[:, b] - x[:, a] for a, b in self.edges]


@dataclass(frozen=True)
class Shape:
    """A mesh and its parts."""

    mesh: gc.Mesh
    parts: tuple[Part, ...]

    @property
    def vertices(self):
        return self.mesh.vertices.astype(int) if self.whole else self.mesh.vertices

    @property
    def whole(self):
        return bool((self.mesh.vertices == np.rint(self.mesh.vertices)).all())

    @property
    def radius(self):
        return float(np.linalg.norm(self.mesh.vertices, axis=1).max())

    @property
    def edges(self):
        return self.mesh.edges

    @property
    def fans(self):
        """Triangles of each face, (faces, most of one, 3), the first one again where there are fewer."""
        loops = [f.tolist() for f in self.mesh.faces]
        most = max(map(len, loops)) - 2
        rows = [[(f[0], f[k], f[k + 1]) for k in range(1, len(f) - 1)] for f in loops]
        return np.array([r + [r[0]] * (most - len(r)) for r in rows])

    @property
    def triangles(self):
        return np.unique(self.fans.reshape(-1, 3), axis=0)


def part_of(points, number):
    """The `Part` of the convex hull of some vertices, by all planes through three of them."""
    sides, edges = {}, {}
    for a, b, c in combinations(range(len(number)), 3):
        n = np.cross(points[b] - points[a], points[c] - points[a])
        up = (points - points[a]) @ n
        if n.any() and ((up >= 0).all() or (up <= 0).all()):
            out = n if (up <= 0).all() else -n
            sides.setdefault(tuple(out // np.gcd.reduce(n)), (a, b, c))
    for a, b in combinations(range(len(number)), 2):
        way = points[b] - points[a]
        both = [n for n, (p, _, _) in sides.items() if not ((points[[a, b]] - points[p]) @ np.array(n)).any()]
        if len(both) >= 2:
            way = way // np.gcd.reduce(way)
            edges.setdefault(tuple(way * (1 if tuple(way) > (0, 0, 0) else -1)), (a, b))
    return Part(np.array(number), np.array(list(sides.values())), np.array(list(edges.values())))


def hull(points):
    mesh = gc.shapes.convex_hull(np.array(points, float))
    number = list(range(len(mesh.vertices)))
    return Shape(mesh, (part_of(mesh.vertices.astype(int), number),))


def prism(outline, low, high, parts):
    """Between two copies of an outline (counter-clockwise), whose convex parts are told by their corners."""
    n = len(outline)
    points = [(x, y, z) for z in (low, high) for x, y in outline]
    sides = [[k, (k + 1) % n, n + (k + 1) % n, n + k] for k in range(n)]
    ends = [f for part in parts for f in (part[::-1], [n + k for k in part])]
    mesh = gc.Mesh(np.array(points, float), sides + ends)
    whole = mesh.vertices.astype(int)
    index = {tuple(v): k for k, v in enumerate(whole.tolist())}
    made = []
    for part in parts:
        number = [index[points[k + shift]] for shift in (0, n) for k in part]
        made.append(part_of(whole[number], number))
    return Shape(mesh, tuple(made))


SHAPES = {
    "box": hull(list(product((-1, 1), repeat=3))),
    "slab": hull(list(product((-3, 3), (-2, 2), (0, 1)))),
    "tetrahedron": hull([(0, 0, 0), (3, 0, 0), (0, 3, 0), (0, 0, 3)]),
    "octahedron": hull([(2, 0, 0), (-2, 0, 0), (0, 2, 0), (0, -2, 0), (0, 0, 2), (0, 0, -2)]),
    "wedge": hull([(-2, -1, 0), (2, -1, 0), (-2, 1, 0), (2, 1, 0), (-2, 0, 3), (2, 0, 3)]),
    "angle": prism(
        [(-2, -2), (2, -2), (2, 0), (0, 0), (0, 2), (-2, 2)], -1, 1, [[0, 1, 2, 3], [0, 3, 4, 5]]
    ),
}  # fmt: skip
