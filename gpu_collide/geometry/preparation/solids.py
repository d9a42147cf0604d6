"""The data of a mesh for overlap tests: its components, which of them are closed, and how its vertices
shrink.

A component is what edges join. A closed one, whose edges all have as many faces on their left as on their
right, has an inside, by its winding number. The layout is that of
``kernels/narrow_phase/overlap/gc_solid.h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays import adjacency as adj
from gpu_collide.geometry.arrays.soa import blocks, columns, dot, length

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = ["Solids", "make_solids"]

_C = sources.constants()
#: Share of a component's thickness by which it is shrunk at most.
SHARE = float(_C["GC_OVERLAP_SHARE"])
#: An outward direction whose least cosine with a normal is below this is replaced by the best one: exactly at
#: vertices of few faces, by some rounds of search at others.
BLUNT, FEW_FACES, ROUNDS = 0.1, 8, 64
#: Where the best direction has a least cosine below this, as at an edge of four faces, a vertex of a closed
#: component is not moved: there is no way inwards for all of them.
STUCK = 1e-9


@dataclass(frozen=True)
class Solids:
    """The components of a mesh.

    Attributes
    ----------
    witness : (components and pieces,) int32
        A vertex of each: the one whose outward direction leads best through all of its faces. Behind them one
        of each further piece, where a component hangs together by vertices that cannot be moved only.
    codes : (nf,) int32
        ``2 * (vertex + 1)`` at the face that tells a component, else 0; plus 1 if its component is closed.
    insets : (nv, 4) float64
        Outward unit vector, or 0; the most a vertex is moved against it, negative in an open component.
    closed : bool
        Is a component closed.
    """

    witness: np.ndarray
    codes: np.ndarray
    insets: np.ndarray
    closed: bool


def make_solids(mesh: Surface) -> Solids:
    """`Solids` of a mesh."""
    if mesh.thin:  # one component, shrunk along its axis: one whose ends lie in faces is inside
        insets = np.zeros((len(mesh.vertices), 4))
        axis = mesh.vertices[-1] - mesh.vertices[0]
        length = np.linalg.norm(axis)
        if length > 0.0:
            insets[:, :3], insets[:, 3] = np.multiply.outer([-1.0, 1.0], axis / length), SHARE * length
        return Solids(np.zeros(1, np.int32), np.array([2], np.int32), insets, False)
    label, used = _components(mesh)
    count = int(label.max()) + 1
    face_label = label[mesh.face_vertices[mesh.face_start[:-1]]]
    right = np.add.reduceat(mesh.edge_faces & 1, mesh.edge_face_start[:-1])
    border = 2 * right != np.diff(mesh.edge_face_start)
    closed = np.ones(count, bool)
    closed[label[mesh.edges[border, 0]]] = False
    thickness, volume, box = _thickness(mesh, label, used, face_label, closed)
    rim = np.zeros(len(mesh.vertices), bool)
    rim[mesh.edges[border].reshape(-1)] = True
    outward, least = _outward(mesh, rim, (~closed)[label] & mesh.two_sided)
    # the best vertex of each component, the first of equals
    stuck = used & (least < STUCK) & closed[label]
    outward[stuck] = 0.0
    top, merit = np.full(count, -np.inf), np.where(used, least, -np.inf)
    np.maximum.at(top, label, merit)
    best, witness = np.flatnonzero(merit == top[label]), np.full(count, len(label))
    np.minimum.at(witness, label[best], best)
    if (volume[closed] < 0).any():
        outward[_inside_out(mesh, face_label, closed, volume, box, witness)[label]] *= -1.0
    codes = closed[face_label].astype(np.int64)
    codes[mesh.vertex_faces[mesh.vertex_face_start[witness]]] += 2 * (witness + 1)
    if stuck.any():
        witness = np.append(witness, _of_pieces(mesh, label, stuck, merit, witness, codes))
    most = SHARE * thickness * np.where(closed, 1.0, -1.0)
    insets = np.column_stack([outward, np.where(used, most[label], 0.0)])
    return Solids(witness.astype(np.int32), codes.astype(np.int32), insets, bool(closed.any()))


def _components(mesh: Surface) -> Any:
    """Component of each vertex, numbered in the order of their first vertices, and which vertices have faces.
    Those without any count to component 0."""
    label = _joined(len(mesh.vertices), mesh.edges)
    used = np.diff(mesh.vertex_face_start) > 0
    number = np.cumsum(used & (label == np.arange(len(label)))) - 1
    return np.where(used, number[label], 0), used


def _joined(count: int, edges: Array) -> Array:
    """The lowest vertex that each of `count` is joined to by edges."""
    label = np.arange(count)
    low, high = columns(edges, 2)
    while True:  # each component so far is joined to the lowest that it touches
        ends = label[low], label[high]
        apart = np.flatnonzero(ends[0] != ends[1])
        if not len(apart):
            break
        low, high = low[apart], high[apart]
        a, b = (x[apart] for x in ends)
        np.minimum.at(label, np.maximum(a, b), np.minimum(a, b))
        while not np.array_equal(root := label[label], label):
            label = root
    return label


def _of_pieces(
    mesh: Surface, label: Array, stuck: Array, merit: Array, witness: Array, codes: Array
) -> list[int]:
    """The best vertex of each further piece of a component that only vertices that are not moved hold
    together: one may be inside where the others are not. Adds them to `codes`, at faces that tell none."""
    piece = _joined(len(label), mesh.edges[~stuck[mesh.edges].any(axis=1)])
    told, more = set(piece[witness].tolist()), []
    some = np.flatnonzero(~stuck & (merit > -np.inf) & np.isin(label, label[stuck]))
    for v in some[np.argsort(-merit[some], kind="stable")].tolist():
        faces = mesh.vertex_faces[mesh.vertex_face_start[v] : mesh.vertex_face_start[v + 1]]
        free = faces[codes[faces] < 2]
        if piece[v] not in told and len(free):
            told.add(int(piece[v]))
            codes[free[0]] += 2 * (v + 1)
            more.append(v)
    return more


def _boxes(mesh: Surface, label: Array, used: Array, count: int) -> tuple[Array, Array]:
    """Least and greatest coordinates of each component, (count, 3) each."""
    some = np.flatnonzero(used)
    order = some[np.argsort(label[some], kind="stable")] if count > 1 else some
    begins = np.searchsorted(label[order], np.arange(count))
    ordered = [x[order] for x in columns(mesh.vertices)]
    low, high = (
        np.stack([best.reduceat(x, begins) for x in ordered], axis=1) for best in (np.minimum, np.maximum)
    )
    return low, high


def _thickness(mesh: Surface, label: Array, used: Array, face_label: Array, closed: Array) -> Any:
    """Thickness of each component, three times its volume over its surface, or of an open one half its box's
    diagonal; the volumes, which have the right sign only; and the boxes."""
    count = len(closed)
    start = mesh.face_start.astype(np.int64)
    low, high = _boxes(mesh, label, used, count)
    size = high - low
    scale = size.max(axis=1)  # lengths in units of the component, so that cubes neither over- nor underflow
    vertices, corner = columns(mesh.vertices), columns(low)
    along, area = np.empty(len(face_label)), np.empty(len(face_label))
    for some in blocks(len(face_label)):
        first, end = start[some.start], start[some.stop]
        begins = start[some.start : some.stop + 1] - first
        owner, at = np.repeat(face_label[some], np.diff(begins)), mesh.face_vertices[first:end]
        points = [(x[at] - c[owner]) / scale[owner] for x, c in zip(vertices, corner, strict=True)]
        areas = adj.newell_columns(points, begins)
        along[some] = dot(areas, [x[begins[:-1]] for x in points])
        area[some] = length(areas)
    volume = np.bincount(face_label, along, count) / 3.0
    surface = np.bincount(face_label, area, count)
    solid = 3.0 * np.abs(volume) / np.where(surface > 0, surface, 1.0)
    thickness = np.where(closed, solid, 0.5 * np.linalg.norm(size / scale[:, None], axis=1)) * scale
    return thickness, volume, (low, high)


def _outward(mesh: Surface, rim: Array, sideless: Array) -> Any:
    """Outward unit vectors (nv, 3), and the least cosine between each and the normals around its vertex.

    The sum of the faces' normals; on a rim also away from the faces within the surface, and where faces have
    no side, `sideless`, only that. At a sharp tip, where the sum leads in through a face or nearly so, the
    direction that is farthest from doing that.
    """
    start = mesh.vertex_face_start.astype(np.int64)
    sizes, normals = np.diff(start), columns(mesh.face_planes[:, :3])
    total, least = np.zeros((len(sizes), 3)), np.full(len(sizes), -1.0)
    used = np.flatnonzero(sizes)
    again = rim | sideless  # where the sum of the normals is not all
    for some in blocks(len(used)):
        v = used[some]
        around, begins = _around(mesh, start, v, normals)
        total[v] = _unit(np.stack([np.add.reduceat(x, begins) for x in around], axis=1))
        least[v] = _least(around, begins, sizes[v], total[v])
    total[sideless] = 0.0
    least[again] = -1.0
    on = np.flatnonzero(rim)
    if len(on):
        total[on] = _unit(total[on] - _into_surface(mesh, on))
    sided = used[~sideless[used]]
    on = sided[again[sided]]
    for some in blocks(len(on)):
        v = on[some]
        around, begins = _around(mesh, start, v, normals)
        least[v] = _least(around, begins, sizes[v], total[v])
    sharp = sided[least[sided] < BLUNT]
    for size in np.unique(sizes[sharp]):
        v = sharp[sizes[sharp] == size]
        faces = mesh.vertex_faces[start[v][:, None] + np.arange(size)]
        search = _sharpest if size <= FEW_FACES else _perceptron
        found, cosine = search(mesh.face_planes[faces, :3], total[v])
        better = cosine > least[v]
        total[v[better]], least[v[better]] = found[better], cosine[better]
    return total, least


def _around(mesh: Surface, start: Array, vertices: Array, normals: Any) -> Any:
    """Normals of the faces around some vertices, as three arrays, and where those of each vertex begin."""
    sizes = start[vertices + 1] - start[vertices]
    begins = np.cumsum(sizes) - sizes
    faces = mesh.vertex_faces[np.repeat(start[vertices] - begins, sizes) + np.arange(int(sizes.sum()))]
    return [x[faces] for x in normals], begins


def _least(around: Any, begins: Array, sizes: Array, way: Array) -> Array:
    """The least cosine between each of some vectors and those around it."""
    return np.minimum.reduceat(dot(around, [np.repeat(x, sizes) for x in columns(way)]), begins)


def _sharpest(normals: Array, _: Any) -> Any:
    """The unit vectors (n, 3) whose least cosine with the normals (n, k, 3) is greatest, and that: each is as
    far from one, two or three of them."""
    best, cosine = np.zeros((len(normals), 3)), np.full(len(normals), -2.0)
    for count in (1, 2, 3):
        for chosen in combinations(range(normals.shape[1]), count):
            a, b, c = (normals[:, chosen[j % count]] for j in range(3))
            way = a + b if count < 3 else np.cross(a, b) + np.cross(b, c) + np.cross(c, a)
            way = _unit(way)
            way *= np.where(np.einsum("ij,ij->i", way, a) < 0, -1.0, 1.0)[:, None]
            lead = np.einsum("vki,vi->vk", normals, way).min(axis=1)
            better = lead > cosine
            best[better], cosine[better] = way[better], lead[better]
    return best, cosine


def _perceptron(normals: Array, way: Array) -> tuple[Array, Array]:
    """Some unit vectors with a positive cosine, by adding the normal with the least one again and again."""
    way = way.copy()
    rows = np.arange(len(way))
    for _ in range(ROUNDS):
        cosine = np.einsum("vki,vi->vk", normals, way)
        worst = cosine.argmin(axis=1)
        bad = cosine[rows, worst] <= 0
        way[bad] += normals[rows[bad], worst[bad]]
    way = _unit(way)
    return way, np.einsum("vki,vi->vk", normals, way).min(axis=1)


def _into_surface(mesh: Surface, vertices: Array) -> Array:
    """Unit vectors from some vertices towards the middles of the faces around them."""
    points, start = (mesh.vertices - mesh.center) / mesh.radius, mesh.vertex_face_start
    of, around = adj.gathered(start, mesh.vertex_faces, vertices)
    faces, which = np.unique(around, return_inverse=True)
    owner, corner = adj.gathered(mesh.face_start, mesh.face_vertices, faces)
    sides = np.bincount(owner)
    middle = np.add.reduceat(points[corner], np.cumsum(sides) - sides, axis=0) / sides[:, None]
    way, sizes = _unit(middle[which] - points[vertices[of]]), np.bincount(of)
    return _unit(np.add.reduceat(way, np.cumsum(sizes) - sizes, axis=0))


def _unit(x: Array) -> Array:
    """Unit vectors; 0 where what is left of a sum is rounding."""
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.where(length > 1e-14, x / np.where(length > 1e-14, length, 1.0), 0.0)


def _inside_out(
    mesh: Surface, face_label: Array, closed: Array, volume: Array, box: Array, witness: Array
) -> Array:
    """Which closed components have normals that lead into the solid: those turned inside out that are no
    cavity of another one, and the cavities of such."""
    flip = closed & (volume < 0)
    for c in np.flatnonzero(closed):
        x = mesh.vertices[witness[c]]
        others = closed & ((box[0] <= x) & (box[1] >= x)).all(axis=1)
        others[c] = False
        if others.any():
            around = _winding(mesh, others[face_label], x)
            flip[c] = around <= 0 if volume[c] < 0 else around < 0
    return flip


def _winding(mesh: Surface, faces: Array, x: Array) -> float:
    """Winding number of some faces of a mesh about a point, by solid angles."""
    start = mesh.face_start.astype(np.int64)
    sizes = np.diff(start)
    total = 0.0
    for k in range(1, int(sizes.max()) - 1):
        f = np.flatnonzero(faces & (sizes > k + 1))
        a, b, c = ((mesh.vertices[mesh.face_vertices[start[f] + j]] - x) / mesh.radius for j in (0, k, k + 1))
        la, lb, lc = (np.linalg.norm(p, axis=1) for p in (a, b, c))
        dots = [np.einsum("ij,ij->i", p, q) for p, q in ((a, b), (b, c), (c, a))]
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        total += np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb).sum()
    return round(total / (2 * np.pi))
