"""`Surface`: the arrays of a mesh and what follows from them alone, which is all that its preparation
reads."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from gpu_collide._validate import Frozen, how_many, owned
from gpu_collide.geometry.arrays import adjacency as adj
from gpu_collide.geometry.arrays.measures import planes
from gpu_collide.geometry.arrays.soa import columns, length

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.parts import Parts
    from gpu_collide.geometry.arrays.report import MeshReport

__all__ = ["Surface"]


class Surface(Frozen):
    """Base of `Mesh`, which checks and fills the arrays, and says there what each of them is."""

    vertices: NDArray[np.float64]
    center: NDArray[np.float64]
    radius: float
    rounding: float
    ends: tuple[float, float] | None = None
    two_sided: bool
    face_start: NDArray[np.int32]
    face_vertices: NDArray[np.int32]
    face_edges: NDArray[np.int32]
    face_planes: NDArray[np.float64]
    edges: NDArray[np.int32]
    edge_face_start: NDArray[np.int32]
    edge_faces: NDArray[np.int32]
    edge_flags: NDArray[np.int32]
    vertex_edge_start: NDArray[np.int32]
    vertex_edges: NDArray[np.int32]
    vertex_face_start: NDArray[np.int32]
    vertex_faces: NDArray[np.int32]
    vertex_flags: NDArray[np.int32]
    source_face: NDArray[np.int64]
    source_faces_start: NDArray[np.int64]
    source_faces: NDArray[np.int64]
    source_vertex: NDArray[np.int64]
    parts: Parts | None
    report: MeshReport

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_frozen", False):
            raise AttributeError(f"a Mesh never changes: cannot set {name!r}")
        object.__setattr__(self, name, value)

    def _connect(self, start: Array, corners: Array, scaled: Array) -> None:
        """Fill in planes, edges and neighbours from the final loops."""
        n_vertices, radius = len(self.vertices), self.radius - self.rounding
        normals, offsets = planes(scaled, start, corners)
        self.face_planes = np.concatenate([normals, offsets[:, None] * radius], axis=1)
        self.face_start, self.face_vertices = start.astype(np.int32), corners.astype(np.int32)
        self.edges, self.face_edges, self.edge_face_start, self.edge_faces = adj.build_edges(
            start, corners, n_vertices
        )
        self.edge_flags = adj.edge_flags(
            scaled, self.edges, self.edge_face_start, self.edge_faces, normals, self.two_sided
        )
        ends = self.edges.reshape(-1)
        self.vertex_edge_start, self.vertex_edges = adj.group_by(ends, np.arange(len(ends)), n_vertices)
        owner = adj.face_of_corner(start)
        self.vertex_face_start, self.vertex_faces = adj.group_by(corners, owner, n_vertices)
        reflex = self.edges[(self.edge_flags & adj.EDGE_REFLEX) != 0]
        self.vertex_flags = np.zeros(n_vertices, np.int32)
        self.vertex_flags[reflex.reshape(-1)] |= adj.VERTEX_REFLEX
        self._own()

    def _connect_thin(self) -> None:
        """The same of one vertex or two, without a face: an edge, which of one vertex has both ends there,
        and a face without any area, by which queries come to both."""
        n, last = len(self.vertices), len(self.vertices) - 1
        self.edges = np.array([[0, last]], np.int32)
        self.face_planes, self.face_start = np.zeros((1, 4)), np.array([0, 3], np.int32)
        self.face_vertices, self.face_edges = np.array([0, last, 0], np.int32), np.zeros(3, np.int32)
        self.edge_face_start, self.edge_faces = np.array([0, 1], np.int32), np.zeros(1, np.int32)
        self.edge_flags, self.vertex_flags = np.array([adj.EDGE_BORDER], np.int32), np.zeros(n, np.int32)
        self.vertex_edge_start, self.vertex_edges = adj.group_by(self.edges.reshape(-1), np.arange(2), n)
        self.vertex_face_start, self.vertex_faces = np.arange(n + 1, dtype=np.int32), np.zeros(n, np.int32)
        self._own()

    def _own(self) -> None:
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray):
                setattr(self, name, owned(value))

    @property
    def thin(self) -> bool:
        """Is it a point or a line, which only its `rounding` makes a shape?"""
        return len(self.vertices) < 3

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.vertices)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def n_faces(self) -> int:
        """Number of faces."""
        return len(self.face_start) - 1

    @property
    def faces(self) -> tuple[NDArray[np.int32], ...]:
        """Loops of all faces: a tuple of (k,) int32 arrays."""
        return tuple(np.split(self.face_vertices, self.face_start[1:-1]))

    @property
    def closed(self) -> bool:
        """True if every edge has exactly one face on its left and one on its right."""
        if not (np.diff(self.edge_face_start) == 2).all():
            return False
        sides = (self.edge_faces & 1).reshape(-1, 2)
        return bool((sides.sum(axis=1) == 1).all())

    @property
    def edge_lengths(self) -> NDArray[np.float64]:
        """Length of every edge; (ne,) float64."""
        low, high = columns(self.edges, 2)
        return length([x[high] - x[low] for x in columns(self.vertices)])

    @property
    def volume(self) -> float:
        """Signed volume inside the faces; meaningful for a closed mesh (negative: inside out)."""
        areas = adj.newell(self.vertices - self.center, self.face_start.astype(np.int64), self.face_vertices)
        return float(-np.einsum("ij,ij,i->", areas, self.face_planes[:, :3], self.face_planes[:, 3]) / 3)

    def face(self, index: int) -> NDArray[np.int32]:
        """Loop of one face, counted from the end if negative; (k,) int32."""
        try:
            k = operator.index(index)
        except TypeError:
            raise TypeError(f"index: expected an integer, got {type(index).__name__}") from None
        if not -self.n_faces <= k < self.n_faces:
            raise IndexError(f"index: expected one of the mesh's {how_many(self.n_faces, 'face')}, got {k}")
        k %= self.n_faces
        return self.face_vertices[self.face_start[k] : self.face_start[k + 1]]
