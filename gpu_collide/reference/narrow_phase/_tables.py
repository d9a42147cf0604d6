"""Adjacency of a mesh as rectangular arrays padded with -1, so that stages can work on whole arrays."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpu_collide.reference.narrow_phase._components import components_of


@dataclass(frozen=True)
class Tables:
    """Padded adjacency of one mesh; -1 marks an empty place.

    vertices (nv, 3), normals (nf, 3), offsets (nf,) with n . (x - centre) + offset = 0, edges (ne, 2) low ->
    high, unit (ne, 3) and length (ne,) of the edges; loops (nf, k) corner vertices, loop_edges (nf, k) the
    side from corner j to the next; edge_faces (ne, m) faces, edge_sides (ne, m) 0 left, 1 right; vertex_edges
    (nv, d), vertex_signs (nv, d) +1 where the vertex is the low end; vertex_faces (nv, d); inward side
    normals ``inward`` (nf, k, 3): in the face plane, at right angles to the side, into the face.
    """

    vertices: np.ndarray
    centre: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray
    edges: np.ndarray
    unit: np.ndarray
    length: np.ndarray
    loops: np.ndarray
    loop_edges: np.ndarray
    inward: np.ndarray
    edge_faces: np.ndarray
    edge_sides: np.ndarray
    edge_reflex: np.ndarray
    vertex_edges: np.ndarray
    vertex_signs: np.ndarray
    vertex_faces: np.ndarray
    vertex_reflex: np.ndarray
    two_sided: bool

    @cached_property
    def components(self):
        """`Components` of the mesh."""
        return components_of(self)


def padded(start, values, fill=-1):
    """Rows of a CSR list as one (n, longest) array."""
    start = np.asarray(start, dtype=np.int64)
    counts = np.diff(start)
    width = max(int(counts.max(initial=0)), 1)
    place = np.arange(width)
    index = start[:-1, None] + place
    inside = place < counts[:, None]
    values = np.asarray(values, dtype=np.int64)
    if values.size == 0:
        return np.full((len(counts), width), fill, dtype=np.int64)
    return np.where(inside, values[np.minimum(index, values.size - 1)], fill)


def tables_of(mesh):
    """`Tables` of a ``Mesh``."""
    vertices = np.asarray(mesh.vertices, dtype=np.float64)
    normals = np.asarray(mesh.face_planes, dtype=np.float64)[:, :3]
    edges = np.asarray(mesh.edges, dtype=np.int64).reshape(-1, 2)
    along = vertices[edges[:, 1]] - vertices[edges[:, 0]]
    length = np.linalg.norm(along, axis=1)
    unit = along / np.where(length > 0.0, length, 1.0)[:, None]  # of a point: none

    loops = padded(mesh.face_start, mesh.face_vertices)
    counts = np.diff(np.asarray(mesh.face_start, dtype=np.int64))
    place = np.arange(loops.shape[1])
    following = np.where(place + 1 < counts[:, None], place + 1, 0)
    nxt = np.take_along_axis(loops, following, axis=1)
    side = vertices[nxt] - vertices[loops]
    norm = np.linalg.norm(side, axis=-1, keepdims=True)
    side = side / np.where(norm > 0, norm, 1.0)
    inward = np.cross(normals[:, None, :], side)
    inward[loops < 0] = 0.0

    ef = padded(mesh.edge_face_start, mesh.edge_faces)
    ve = padded(mesh.vertex_edge_start, mesh.vertex_edges)
    edge_flags = np.asarray(mesh.edge_flags, dtype=np.int64)
    vertex_flags = np.asarray(mesh.vertex_flags, dtype=np.int64)
    return Tables(
        vertices=vertices,
        centre=np.asarray(mesh.center, dtype=np.float64),
        normals=normals,
        offsets=np.asarray(mesh.face_planes, dtype=np.float64)[:, 3],
        edges=edges,
        unit=unit,
        length=length,
        loops=loops,
        loop_edges=padded(mesh.face_start, mesh.face_edges),
        inward=inward,
        edge_faces=np.where(ef >= 0, ef // 2, -1),
        edge_sides=np.where(ef >= 0, ef % 2, -1),
        # a sheet has no inside that could fill more than half of the space around an edge
        edge_reflex=((edge_flags & 1) != 0) & (not mesh.two_sided),
        vertex_edges=np.where(ve >= 0, ve // 2, -1),
        vertex_signs=np.where(ve >= 0, 1 - 2 * (ve % 2), 0),
        vertex_faces=padded(mesh.vertex_face_start, mesh.vertex_faces),
        vertex_reflex=((vertex_flags & 1) != 0) & (not mesh.two_sided),
        two_sided=bool(mesh.two_sided),
    )
