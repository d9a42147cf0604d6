"""The features that may touch first: colliding vertices and edges of a mesh, in the order of the tree of
its faces.

An edge at which the surface folds inwards, or does not fold at all, can never touch another body before
something else does, and neither can a vertex all of whose edges are so (van Waveren, "Robust continuous
collision detection", section 4). They remain borders of faces. Each vertex and each edge belongs to one face,
the first of its faces in the tree, so that a walk over the tree sees it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.arrays.adjacency import gathered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface
    from gpu_collide.geometry.preparation.face_tree import FaceTree

__all__ = ["FLAT", "LEAF_LEVEL", "POINT", "CollidableFeatures", "make_collidable_features"]

#: In roundings of the greatest coordinate: what a ridge may stand above its faces' planes and still be flat.
FLAT = 8.0
#: Faces of a leaf of the tree that queries walk over: 2 to this power.
LEAF_LEVEL = 2


@dataclass(frozen=True)
class CollidableFeatures:
    """Features of a mesh that may touch, in the order of its tree of faces; vertices keep their numbers.

    Attributes
    ----------
    faces : (nf + 1, 4) int32
        Where the corners, the colliding edges, the colliding vertices and the borders of each face begin; the
        last row is where those of the last face end.
    source : (nf,) int32
        The mesh's face of each.
    planes : (nf, 3) float64
        Outward normals.
    corners : (L,) int32
        Vertices of the loops, from the corner on that stands out most along the normal.
    across : (L,) int32
        The face behind the border that begins at each corner: its row + 1, if the two bend outwards there, so
        that its plane has all of this face on its back; less than zero, if they do so seen from the back of a
        mesh with two sides; 0: neither.
    edges : (k, 4) int32
        Ends, number in the mesh, and how many faces count: 2, one to either side; 1, a border, whose face is
        to the left of the way from the first end to the second; 0, it may be touched from all around.
    normals : (k, 6) float64
        Of the faces to the left and to the right, seen from the side on which the edge stands out.
    vertices : (m,) int32
        Colliding vertices.
    borders : (b,) int32
        Rows of `edges` that have one face.
    fans : (m + 1,) int32
        Where in `spokes` the vertices begin to which edges lead from each of `vertices`; the last is its end.
    spokes : (s,) int32
    nodes : (2 ** (height + 1), 6) float64
        Least and greatest coordinates of the nodes: 1 is the root, 2 i and 2 i + 1 are the children of i;
        the 2 ** height leaves hold 2 ** `LEAF_LEVEL` faces each. A node that holds nothing is inside out.
    height : int
    internal_edges, internal_vertices : int
        How many do not collide; vertices without a face do not count.
    reach : float
        Greatest coordinate of a vertex in the mesh's own frame.
    """

    faces: NDArray[np.int32]
    source: NDArray[np.int32]
    planes: NDArray[np.float64]
    corners: NDArray[np.int32]
    across: NDArray[np.int32]
    edges: NDArray[np.int32]
    normals: NDArray[np.float64]
    vertices: NDArray[np.int32]
    borders: NDArray[np.int32]
    fans: NDArray[np.int32]
    spokes: NDArray[np.int32]
    nodes: NDArray[np.float64]
    height: int
    internal_edges: int
    internal_vertices: int
    reach: float


def make_collidable_features(mesh: Surface, tree: FaceTree) -> CollidableFeatures:
    """`CollidableFeatures` of a mesh in the order of its tree."""
    points, order = mesh.vertices - mesh.center, tree.order.astype(np.int64)
    place = np.empty(len(order), np.int64)  # of each face in the tree
    place[order] = np.arange(len(order))
    reach = float(np.abs(mesh.vertices).max())
    ends, normals, sides, internal, bend = _folds(mesh, points, reach)
    used = np.diff(mesh.vertex_face_start) > 0
    collides = np.zeros(len(points), bool)
    collides[mesh.edges[~internal].reshape(-1)] = True

    edge_owner = np.minimum.reduceat(place[mesh.edge_faces >> 1], mesh.edge_face_start[:-1].astype(np.int64))
    edge = np.flatnonzero(~internal)
    edge = edge[np.argsort(edge_owner[edge], kind="stable")]
    vertex_owner = np.full(len(points), len(order))
    np.minimum.at(vertex_owner, np.repeat(np.arange(len(points)), np.diff(mesh.vertex_face_start)),
                  place[mesh.vertex_faces])  # fmt: skip
    vertex = np.flatnonzero(collides)
    vertex = vertex[np.argsort(vertex_owner[vertex], kind="stable")]

    starts, corner, planes = _loops(mesh, points, order)
    across = bend[mesh.face_edges[corner]] * (place[_faces_across(mesh)[corner]] + 1)
    numbers = np.arange(len(order) + 1)
    border = np.flatnonzero(sides[edge] == 1)
    owners = edge_owner[edge], vertex_owner[vertex], edge_owner[edge[border]]
    faces = np.stack([starts, *(np.searchsorted(owner, numbers) for owner in owners)], axis=1)
    nodes, height = _nodes(tree.boxes)
    fans, spokes = _fans(mesh, vertex)
    return CollidableFeatures(
        faces.astype(np.int32), order.astype(np.int32), planes,
        mesh.face_vertices[corner].astype(np.int32), across.astype(np.int32),
        np.column_stack([ends[edge], edge, sides[edge]]).astype(np.int32), normals[edge],
        vertex.astype(np.int32), border.astype(np.int32), fans, spokes, nodes, height, int(internal.sum()),
        int((used & ~collides).sum()), reach,
    )  # fmt: skip


def _fans(mesh: Surface, vertices: Array) -> tuple[Array, Array]:
    """The vertices to which edges lead from each of `vertices`, all edges, as rows of a CSR."""
    owner, end = gathered(mesh.vertex_edge_start, mesh.vertex_edges, vertices)
    fans = np.searchsorted(owner, np.arange(len(vertices) + 1)).astype(np.int32)
    return fans, mesh.edges.reshape(-1)[end ^ 1].astype(np.int32)


def _loops(mesh: Surface, points: Array, order: Array) -> tuple[Array, Array, Array]:
    """Loops of the faces in their order, as places of their corners in the mesh's list, each from the one on
    that stands out most; and normals."""
    sizes = np.diff(mesh.face_start).astype(np.int64)[order]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    corner = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)  # within its loop
    begins = np.repeat(mesh.face_start[:-1].astype(np.int64)[order], sizes)
    normals = mesh.face_planes[order, :3]
    up = np.repeat(normals, sizes, axis=0) * points[mesh.face_vertices[begins + corner]]
    up = (up[:, 0] + up[:, 1]) + up[:, 2]
    most = np.repeat(np.maximum.reduceat(up, starts[:-1]), sizes)
    first = np.minimum.reduceat(np.where(up == most, corner, len(corner)), starts[:-1])
    corner = (corner + np.repeat(first, sizes)) % np.repeat(sizes, sizes)
    return starts, begins + corner, normals


def _faces_across(mesh: Surface) -> Array:
    """Of each corner in the mesh's list a face behind the border that begins there: the other one of two."""
    own = np.repeat(np.arange(len(mesh.face_start) - 1), np.diff(mesh.face_start))
    begin = mesh.edge_face_start[mesh.face_edges].astype(np.int64)
    one = mesh.edge_faces[begin] >> 1
    two = mesh.edge_faces[np.minimum(begin + 1, len(mesh.edge_faces) - 1)] >> 1
    return np.where(one == own, two, one)


def _folds(mesh: Surface, points: Array, reach: float) -> tuple[Array, Array, Array, Array, Array]:
    """Of each edge its ends, the normals of the faces to the left and to the right of it from the first end
    to the second, how many of these there are, whether it is internal, and how the two bend there: 1
    outwards, -1 inwards on a mesh with two sides, else 0."""
    begin, count = mesh.edge_face_start[:-1].astype(np.int64), np.diff(mesh.edge_face_start)
    one = mesh.edge_faces[begin]
    two = np.where(count == 2, mesh.edge_faces[np.minimum(begin + 1, len(mesh.edge_faces) - 1)], one)
    opposed = (count == 2) & ((one & 1) != (two & 1))
    left, right = np.where(one & 1, two, one) >> 1, np.where(one & 1, one, two) >> 1
    flat = FLAT * np.finfo(np.float64).eps * reach
    above, below = _heights(mesh, points, left, right)
    back_above, back_below = _heights(mesh, points, right, left)
    lowest, highest = np.minimum(below, back_below), np.maximum(above, back_above)
    n_left, n_right = mesh.face_planes[left, :3], mesh.face_planes[right, :3]
    facing = n_left * n_right
    same_way = (facing[:, 0] + facing[:, 1]) + facing[:, 2] > 0.0
    # a blade whose two sides lie in one plane is as sharp as an edge can be
    level = (lowest >= -flat) & (highest <= flat)
    inwards = lowest >= -flat
    internal = opposed & np.where(level, same_way, inwards & (not mesh.two_sided))

    bends = opposed & ~level
    bend = np.where(bends & (highest <= flat), 1, np.where(bends & inwards & mesh.two_sided, -1, 0))

    # a border has its face to the left; a sheet that folds inwards stands out on its other side
    back = opposed & inwards
    turned = back | ((count == 1) & (one & 1 == 1))
    sign = np.where(back, -1.0, 1.0)[:, None]
    sides = np.where(opposed, 2, np.where(count == 1, 1, 0))
    normals = np.zeros((len(count), 6))
    normals[:, :3] = np.where(sides[:, None] > 0, sign * n_left, 0.0)
    normals[:, 3:] = np.where(opposed[:, None], sign * n_right, 0.0)
    return np.where(turned[:, None], mesh.edges[:, ::-1], mesh.edges), normals, sides, internal, bend


def _heights(mesh: Surface, points: Array, face: Array, other: Array) -> tuple[Array, Array]:
    """How far the corners of `other` reach above the plane of `face` that goes through the edge (n,), most
    and least."""
    start = mesh.face_start.astype(np.int64)
    sizes = np.diff(start)[other]
    ends = np.cumsum(sizes)
    corner = np.arange(int(sizes.sum())) + np.repeat(start[other] - (ends - sizes), sizes)
    edge = np.repeat(np.arange(len(face)), sizes)
    away = points[mesh.face_vertices[corner]] - points[mesh.edges[edge, 0]]
    up = mesh.face_planes[face, :3][edge] * away
    up = (up[:, 0] + up[:, 1]) + up[:, 2]
    return np.maximum.reduceat(up, ends - sizes), np.minimum.reduceat(up, ends - sizes)


def _nodes(boxes: Array) -> tuple[Array, int]:
    """Boxes of the nodes of the tree, and its height."""
    leaves = -(-len(boxes) >> LEAF_LEVEL)
    height = (leaves - 1).bit_length()
    n = 1 << height
    nodes = np.empty((2 * n, 6))
    nodes[:, :3], nodes[:, 3:] = np.inf, -np.inf
    begins = np.arange(leaves) << LEAF_LEVEL
    nodes[n : n + leaves, :3] = np.minimum.reduceat(boxes[:, :3], begins)
    nodes[n : n + leaves, 3:] = np.maximum.reduceat(boxes[:, 3:], begins)
    while n > 1:
        children, n = nodes[n : 2 * n].reshape(-1, 2, 6), n >> 1
        nodes[n : 2 * n, :3] = children[:, :, :3].min(axis=1)
        nodes[n : 2 * n, 3:] = children[:, :, 3:].max(axis=1)
    return nodes, height


#: A point: one vertex and, so that a walk over faces sees it, a face without corners.
POINT = CollidableFeatures(
    np.array([[0, 0, 0, 0], [0, 0, 1, 0]], np.int32), np.zeros(1, np.int32), np.zeros((1, 3)),
    np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 4), np.int32), np.zeros((0, 6)),
    np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(2, np.int32), np.zeros(0, np.int32),
    np.zeros((2, 6)), 0, 0, 0, 0.0,
)  # fmt: skip
