"""Shapes with whole-number corners: combs, gears, dents, cut and doubled faces, unions of unit cells.

Each is a `Shape`: whole vertices and loops. Coplanar neighbours, T-junctions, edges with four faces, corners
of the same place, equal faces, inner walls and reversed windings are all in it. Nothing here is random but
`cells` and `cut`, which take a generator.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np


@dataclass(frozen=True, eq=False)
class Shape:
    name: str
    vertices: np.ndarray  # (nv, 3) whole numbers
    loops: tuple  # of tuples
    two_sided: bool = False

    @property
    def closed_winding(self):
        """Whether every edge has as many faces on its left as on its right."""
        count = {}
        for loop in self.loops:
            for p, q in zip(loop, loop[1:] + loop[:1], strict=True):
                count[min(p, q), max(p, q)] = count.get((min(p, q), max(p, q)), 0) + (1 if p < q else -1)
        return not any(count.values())

    def mesh(self, scale=1.0, shift=(0, 0, 0)):
        """The same as `gpu_collide.Mesh`."""
        import gpu_collide as gc

        corners = self.vertices * float(scale) + np.asarray(shift, float)
        return gc.Mesh(corners, [list(loop) for loop in self.loops], two_sided=self.two_sided)


def shape(name, vertices, loops, two_sided=False):
    whole = np.array(vertices, np.int64)
    return Shape(name, whole, tuple(tuple(int(v) for v in loop) for loop in loops), two_sided)


def quads(name, squares, two_sided=False):
    """A shape of squares, each four whole corners; equal corners become one vertex."""
    known = {}
    loops = [[known.setdefault(tuple(x), len(known)) for x in square] for square in squares]
    return shape(name, list(known), loops, two_sided)


def cell_squares(filled):
    """The outer squares of a set of unit cells (x, y, z), counter-clockwise from outside, two wide."""
    filled = set(filled)
    out = []
    for cell in sorted(filled):
        for axis, side in product(range(3), (0, 1)):
            other = list(cell)
            other[axis] += 2 * side - 1
            if tuple(other) in filled:
                continue
            u, v = (axis + 1) % 3, (axis + 2) % 3
            square = []
            for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
                x = list(cell)
                x[axis] += side
                x[u] += du
                x[v] += dv
                square.append(tuple(2 * c for c in x))
            out.append(square if side else square[::-1])
    return out


def centred(s):
    """Moved by a whole vector, so that the middle of its box is near the origin."""
    middle = (s.vertices.min(0) + s.vertices.max(0)) // 2
    return Shape(s.name, s.vertices - middle, s.loops, s.two_sided)


def of_cells(name, cells):
    return centred(quads(name, cell_squares(cells)))


def box(size=(2, 2, 2), name="box"):
    low = [-(s // 2) for s in size]
    corners = [[low[k] + b[k] * size[k] for k in range(3)] for b in product((0, 1), repeat=3)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return shape(name, corners, faces)


def prism(name, outline, parts, high):
    """Over a whole outline (counter-clockwise), whose two ends are cut into the convex `parts`."""
    n = len(outline)
    corners = [[*p, 0] for p in outline] + [[*p, high] for p in outline]
    loops = [[n + i for i in part] for part in parts] + [list(part)[::-1] for part in parts]
    loops += [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return centred(shape(name, corners, loops))


def cut(s, rng, share=1.0):
    """Polygons cut into triangles from a corner drawn for each: diagonals lead any way."""
    loops = []
    for loop in s.loops:
        if len(loop) == 3 or rng.uniform() > share:
            loops.append(loop)
            continue
        k = int(rng.integers(len(loop)))
        turned = loop[k:] + loop[:k]
        loops += [(turned[0], turned[i], turned[i + 1]) for i in range(1, len(loop) - 1)]
    return Shape(s.name + "/cut", s.vertices, tuple(loops), s.two_sided)


def reversed_(s):
    return Shape(s.name + "/reversed", s.vertices, tuple(loop[::-1] for loop in s.loops), s.two_sided)


def sided(s):
    return Shape(s.name + "/two-sided", s.vertices, s.loops, True)


def doubled(s):
    """Every face twice, with corners of its own the second time."""
    n = len(s.vertices)
    loops = s.loops + tuple(tuple(n + v for v in loop) for loop in s.loops)
    return Shape(s.name + "/doubled", np.concatenate((s.vertices, s.vertices)), loops, s.two_sided)


def unwelded(s):
    """Every face with corners of its own: nothing but borders."""
    corners, loops = [], []
    for loop in s.loops:
        loops.append(tuple(range(len(corners), len(corners) + len(loop))))
        corners += [s.vertices[v] for v in loop]
    return Shape(s.name + "/unwelded", np.array(corners), tuple(loops), s.two_sided)


def joined(name, *parts):
    """One shape of several (shape, shift), with vertices of their own."""
    corners, loops, base = [], [], 0
    for part, shift in parts:
        corners.append(part.vertices + np.array(shift))
        loops += [tuple(base + v for v in loop) for loop in part.loops]
        base += len(part.vertices)
    return Shape(name, np.concatenate(corners), tuple(loops), any(p.two_sided for p, _ in parts))


def turned(s, matrix):
    """By a whole rotation of the grid."""
    return Shape(s.name, s.vertices @ np.asarray(matrix).T, s.loops, s.two_sided)


def grid(n, name="grid", size=2):
    """A flat sheet of n x n squares in the plane z = 0."""
    half = n * size // 2
    squares = [
        [(size * i - half, size * j - half, 0) for i, j in ((a, b), (a + 1, b), (a + 1, b + 1), (a, b + 1))]
        for a in range(n)
        for b in range(n)
    ]
    return quads(name, squares)


def stepped(cells):
    return [(x, 0, z) for x, top in enumerate(cells) for z in range(top)]


def tee():
    """A box of which one face is whole and its neighbour cut: a corner in the middle of an edge (no seam)."""
    b = box((4, 4, 4))
    n = len(b.vertices)
    middles = [[2, 0, -2], [2, 0, 2]]  # on two edges of the face x = 2
    corners = np.concatenate((b.vertices, middles))
    loops = [loop for k, loop in enumerate(b.loops) if k != 1]
    return Shape("tee", corners, (*loops, (4, n, n + 1, 5), (n, 6, 7, n + 1)))


def dent():
    """A block with a pyramid taken out of its top: a pit, and reflex edges."""
    v = [
        [-2, -2, -2], [2, -2, -2], [2, 2, -2], [-2, 2, -2], [-2, -2, 2], [2, -2, 2], [2, 2, 2], [-2, 2, 2],
        [0, 0, 0],
    ]  # fmt: skip
    f = [(3, 2, 1, 0), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    return shape("dent", v, [*f, (4, 5, 8), (5, 6, 8), (6, 7, 8), (7, 4, 8)])


@lru_cache(maxsize=1)
def named():
    """All that have a name, as a list."""
    rng = np.random.default_rng(20261122)
    cube = box()
    tip = shape(
        "tip", [[0, 0, -2], [2, 0, 1], [0, 2, 1], [-2, 0, 1], [0, -2, 1]],
        [(1, 2, 3, 4), (0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4)],
    )  # fmt: skip
    eight = shape(
        "octahedron", [[2, 0, 0], [0, 2, 0], [0, 0, 2], [-2, 0, 0], [0, -2, 0], [0, 0, -2]],
        [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)],
    )  # fmt: skip
    plus = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (2, 2), (2, 3), (1, 3), (1, 2), (0, 2), (0, 1), (1, 1)]
    star = [(0, -4), (1, -1), (4, 0), (1, 1), (0, 4), (-1, 1), (-4, 0), (-1, -1)]
    frame = [(x, y, 0) for x in range(3) for y in range(3) if (x, y) != (1, 1)]
    tent = [[-2, 0, 1], [2, 0, 1], [-2, -2, 0], [2, -2, 0], [-2, 2, 0], [2, 2, 0]]
    ridge = shape("ridge", tent, [(0, 2, 3, 1), (0, 1, 5, 4)])
    two = box((2, 2, 2), "brick")
    lid = shape("lidless", cube.vertices, cube.loops[:5])
    wall = joined("cells", (cube, (0, 0, 0)), (cube, (2, 0, 0)))
    big = of_cells("big cube", product(range(2), repeat=3))
    square, tile = grid(1, "square", 4), grid(2)
    made = [
        cube, box((4, 2, 2), "bar"), box((4, 4, 2), "slab"), cut(cube, rng), cut(cube, rng), big,
        cut(big, rng),
        of_cells("slab of cells", product(range(3), range(3), range(1))),
        of_cells("L", [(0, 0, 0), (1, 0, 0), (0, 1, 0)]),
        of_cells("U", [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (2, 0, 1)]),
        of_cells("comb", stepped([2, 1, 2, 1, 2])), of_cells("stairs", stepped([1, 2, 3])),
        of_cells("frame", frame), of_cells("edge to edge", [(0, 0, 0), (1, 1, 0)]),
        of_cells("corner to corner", [(0, 0, 0), (1, 1, 1)]),
        prism("plus", plus, [(0, 1, 2, 11), (11, 2, 5, 8), (8, 5, 6, 7), (2, 3, 4, 5), (8, 9, 10, 11)], 2),
        prism("star", star, [(7, 1, 3, 5), (7, 0, 1), (1, 2, 3), (3, 4, 5), (5, 6, 7)], 2),
        tip, eight, dent(), tee(), lid, sided(lid), ridge, sided(ridge), reversed_(ridge),
        sided(reversed_(ridge)), tile, sided(tile), cut(tile, rng), doubled(square), sided(square),
        joined("both ways", (square, (0, 0, 0)), (reversed_(square), (0, 0, 0))),
        reversed_(cube), reversed_(dent()), doubled(cube), unwelded(cube), cut(unwelded(cube), rng), wall,
        joined("stack", (two, (0, 0, -1)), (two, (0, 0, 1))),
        joined("nested", (box((4, 4, 4)), (0, 0, 0)), (cube, (0, 0, 0))),
        joined("hollow", (box((4, 4, 4)), (0, 0, 0)), (reversed_(cube), (0, 0, 0))),
    ]  # fmt: skip
    return made


def cells(rng, size=3, share=0.5):
    """A random union of unit cells of a cube: any of the above, and worse."""
    some = [c for c in product(range(size), repeat=3) if rng.uniform() < share] or [(0, 0, 0)]
    s = of_cells("cells", some)
    kind = rng.integers(0, 6)
    if kind in (1, 2, 3):
        s = cut(s, rng, 1.0 if kind < 3 else 0.5)
    if kind in (2, 4):
        s = unwelded(s) if rng.uniform() < 0.5 else sided(s)
    return s


def rotations():
    """The 24 turns of the grid, as whole matrices."""
    out = []
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        for signs in product((-1, 1), repeat=3):
            m = np.zeros((3, 3), int)
            m[range(3), order] = signs
            if round(np.linalg.det(m)) == 1:
                out.append(m)
    return np.array(out)


def quaternion(matrix):
    """Of a whole turn, w first; halves and roots of a half as near as float64 has them."""
    m = np.asarray(matrix, float)
    square = np.array([1 + np.trace(m), *(1 + 2 * np.diag(m) - np.trace(m))]) / 4
    k = int(np.argmax(square))
    skew = np.array([0, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    sign = np.sign(skew if k == 0 else np.array([skew[k], *(m[k - 1] + m[:, k - 1])]))
    sign[k] = 1
    return sign * np.sqrt(np.maximum(square, 0))
