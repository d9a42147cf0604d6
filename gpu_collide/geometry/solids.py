"""What an overlap test needs of a mesh: its components, which of them are closed, and how its vertices
shrink.

A component is what edges join. A closed one, whose edges all have as many faces on their left as on their
right, has an inside, by its winding number. The layout is that of ``kernels/screw/gc_solid.h``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry import adjacency as adj
from gpu_collide.geometry.columns import columns, dot, length

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.geometry.mesh import Mesh

__all__ = ["Solids", "make_solids"]

_C = sources.constants()
#: Share of a component's thickness by which it is shrunk at most.
SHARE = float(_C["GC_OVERLAP_SHARE"])
#: An outward direction whose least cosine with a normal is below this is replaced by the best one: exactly at
#: vertices of few faces, by some rounds of search at others.
BLUNT, FEW_FACES, ROUNDS = 0.1, 8, 64


@dataclass(frozen=True)
class Solids:
    """The components of a mesh.

    Attributes
    ----------
    witness : (components,) int32
        A vertex of each: the one whose outward direction leads best through all of its faces.
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


def make_solids(mesh: Mesh) -> Solids:
    """`Solids` of a mesh."""
    label, used = _components(mesh)
    count = int(label.max()) + 1
    face_label = label[mesh.face_vertices[mesh.face_start[:-1]]]
    sizes = np.diff(mesh.edge_face_start)
    of_edge = np.repeat(np.arange(len(sizes)), sizes)
    right = np.bincount(of_edge, mesh.edge_faces & 1, len(sizes))
    border = 2 * right != sizes
    closed = np.ones(count, bool)
    closed[label[mesh.edges[border, 0]]] = False
    thickness, volume, box = _thickness(mesh, label, face_label, closed)
    rim = np.zeros(len(mesh.vertices), bool)
    rim[mesh.edges[border].reshape(-1)] = True
    outward, least = _outward(mesh, rim, (~closed)[label] & mesh.two_sided)
    # the best vertex of each component, the first of equals
    order = np.lexsort((-np.where(used, least, -np.inf), label))
    witness = order[np.searchsorted(label[order], np.arange(count))]
    if (volume[closed] < 0).any():
        outward[_inside_out(mesh, face_label, closed, volume, box, witness)[label]] *= -1.0
    codes = closed[face_label].astype(np.int64)
    codes[mesh.vertex_faces[mesh.vertex_face_start[witness]]] += 2 * (witness + 1)
    most = SHARE * thickness * np.where(closed, 1.0, -1.0)
    insets = np.column_stack([outward, np.where(used, most[label], 0.0)])
    return Solids(witness.astype(np.int32), codes.astype(np.int32), insets, bool(closed.any()))


def _components(mesh: Mesh) -> Any:
    """Component of each vertex, numbered in the order of their first vertices, and which vertices have faces.
    Those without any count to component 0."""
    label = np.arange(len(mesh.vertices))
    low, high = mesh.edges.astype(np.int64).T
    with_edges = np.flatnonzero(np.diff(mesh.vertex_edge_start))
    begins, around = mesh.vertex_edge_start[with_edges], mesh.vertex_edges >> 1
    while True:
        joined, near = label.copy(), np.minimum(label[low], label[high])
        np.minimum.at(joined, label[with_edges], np.minimum.reduceat(near[around], begins))
        while (joined != joined[joined]).any():
            joined = joined[joined]
        if (joined == label).all():
            break
        label = joined
    used = np.diff(mesh.vertex_face_start) > 0
    number = np.zeros(len(label), np.int64)
    number[used] = np.unique(label[used], return_inverse=True)[1].reshape(-1)
    return number, used


def _thickness(mesh: Mesh, label: Array, face_label: Array, closed: Array) -> Any:
    """Thickness of each component, three times its volume over its surface, or of an open one half its box's
    diagonal; the volumes, which have the right sign only; and the boxes."""
    count = len(closed)
    start = mesh.face_start.astype(np.int64)
    corners = [x[mesh.face_vertices] for x in columns(mesh.vertices)]
    owner = np.repeat(face_label, np.diff(start))
    order = np.argsort(owner, kind="stable")
    begins = np.searchsorted(owner[order], np.arange(count))
    sorted_corners = [x[order] for x in corners]
    low = np.stack([np.minimum.reduceat(x, begins) for x in sorted_corners], axis=1)
    high = np.stack([np.maximum.reduceat(x, begins) for x in sorted_corners], axis=1)
    size = high - low
    scale = size.max(axis=1)  # lengths in units of the component, so that cubes neither over- nor underflow
    points = [(x - low[owner, k]) / scale[owner] for k, x in enumerate(corners)]
    areas = adj.newell_columns(points, start)
    along = dot(areas, [x[start[:-1]] for x in points])
    volume = np.bincount(face_label, along, count) / 3.0
    surface = np.bincount(face_label, length(areas), count)
    solid = 3.0 * np.abs(volume) / np.where(surface > 0, surface, 1.0)
    thickness = np.where(closed, solid, 0.5 * np.linalg.norm(size / scale[:, None], axis=1)) * scale
    return thickness, volume, (low, high)


def _outward(mesh: Mesh, rim: Array, sideless: Array) -> Any:
    """Outward unit vectors (nv, 3), and the least cosine between each and the normals around its vertex.

    The sum of the faces' normals; on a rim also away from the faces within the surface, and where faces have
    no side, `sideless`, only that. At a sharp tip, where the sum leads in through a face or nearly so, the
    direction that is farthest from doing that.
    """
    sizes = np.diff(mesh.vertex_face_start)
    total, least = np.zeros((len(mesh.vertices), 3)), np.full(len(mesh.vertices), -1.0)
    used = np.flatnonzero(sizes)
    normals = mesh.face_planes[mesh.vertex_faces, :3]
    around = columns(normals)
    total[used] = _unit(np.stack([np.add.reduceat(x, mesh.vertex_face_start[used]) for x in around], axis=1))
    total[sideless] = 0.0
    on = np.flatnonzero(rim)
    if len(on):
        total[on] = _unit(total[on] - _into_surface(mesh, on))
    sided = used[~sideless[used]]
    for size in np.unique(sizes[sided]):
        v = sided[sizes[sided] == size]
        around = normals[mesh.vertex_face_start[v][:, None] + np.arange(size)]
        least[v] = np.einsum("vki,vi->vk", around, total[v]).min(axis=1)
        sharp = least[v] < BLUNT
        if sharp.any():
            search = _sharpest if size <= FEW_FACES else _perceptron
            found, cosine = search(around[sharp], total[v[sharp]])
            better = cosine > least[v[sharp]]
            total[v[sharp][better]], least[v[sharp][better]] = found[better], cosine[better]
    return total, least


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


def _into_surface(mesh: Mesh, vertices: Array) -> Array:
    """Unit vectors from some vertices towards the middles of the faces around them."""
    start = mesh.face_start.astype(np.int64)
    points = (mesh.vertices - mesh.center) / mesh.radius
    middle = np.add.reduceat(points[mesh.face_vertices], start[:-1], axis=0) / np.diff(start)[:, None]
    first, sizes = mesh.vertex_face_start[vertices], np.diff(mesh.vertex_face_start)[vertices]
    of = np.repeat(np.arange(len(vertices)), sizes)
    rows = np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(len(of))
    way = _unit(middle[mesh.vertex_faces[rows]] - points[vertices[of]])
    return _unit(np.add.reduceat(way, np.cumsum(sizes) - sizes, axis=0))


def _unit(x: Array) -> Array:
    """Unit vectors; 0 where what is left of a sum is rounding."""
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.where(length > 1e-14, x / np.where(length > 1e-14, length, 1.0), 0.0)


def _inside_out(
    mesh: Mesh, face_label: Array, closed: Array, volume: Array, box: Array, witness: Array
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


def _winding(mesh: Mesh, faces: Array, x: Array) -> float:
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
