"""Mesh tables: all meshes of a query as a few flat arrays that kernels index.

The layout is that of ``kernels/gc_types.h``: one header per mesh, whose entries say where the mesh's part of
each table begins.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from gpu_collide import _sources

__all__ = ["MeshTables", "tables_for"]

#: Index tables in the order of the header (gc_mesh in gc_types.h), behind the five sizes and offsets.
_INDEX_TABLES = (
    "face_start", "face_vertices", "face_edges", "edges", "edge_face_start", "edge_faces",
    "vertex_edge_start", "vertex_edges", "vertex_face_start", "vertex_faces", "edge_flags", "vertex_flags",
)  # fmt: skip


def _stack(arrays, dtype):
    """Arrays one after another, flat, and where each begins."""
    sizes = np.array([a.size for a in arrays], dtype=np.int64)
    begins = np.concatenate([[0], np.cumsum(sizes)])
    out = np.empty(int(begins[-1]), dtype)
    for a, begin in zip(arrays, begins, strict=False):
        out[begin : begin + a.size] = a.reshape(-1)
    return out, begins[:-1]


def _power_of_two_above(x):
    """Smallest power of two not below each of `x`; scaling by it is exact."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(1.0, np.where(mantissa == 0.5, exponent - 1, exponent))


def _face_reach(mesh):
    """Greatest distance of a face's corner from the mean of its corners."""
    corners, start = mesh.vertices[mesh.face_vertices], mesh.face_start
    sizes = np.diff(start)
    means = np.add.reduceat(corners, start[:-1], axis=0) / sizes[:, None]
    return np.linalg.norm(corners - np.repeat(means, sizes, axis=0), axis=1).max()


@dataclass(frozen=True)
class MeshTables:
    """Device buffers of all meshes (see ``kernels/gc_types.h``) and their sizes on the host.

    Attributes
    ----------
    buffers : dict
        ``headers_in``, ``topology_in``, ``mesh_reals_in``, ``vertices_in``, ``planes_in``, ``corners_in`` for
        the solver, ``vertices_raster``, ``normals_raster``, ``inverse_length_in``, ``edge0_in`` for culling.
    counts : (meshes, 3) int64
        Vertices, edges and faces of each mesh.
    nbytes : int
    """

    buffers: dict
    counts: np.ndarray
    nbytes: int


def build_tables(meshes, backend, precision):
    """Pack `meshes` for `backend`."""
    real = np.float32 if precision == "single" else np.float64
    raster = np.float64 if precision == "double" else np.float32
    c = _sources.constants(precision)
    stride, n_reals = int(c["GC_MESH_STRIDE"]), int(c["GC_MESH_REALS"])
    n = len(meshes)
    counts = np.array([(len(m.vertices), len(m.edges), len(m.face_planes)) for m in meshes], dtype=np.int64)
    headers = np.zeros((n, stride), np.int32)
    headers[:, :3] = counts
    headers[:, 3] = np.cumsum(counts[:, 0]) - counts[:, 0]
    headers[:, 4] = np.cumsum(counts[:, 2]) - counts[:, 2]
    parts, base = [], 0
    for column, name in enumerate(_INDEX_TABLES, start=5):
        flat, begins = _stack([getattr(m, name) for m in meshes], np.int32)
        headers[:, column] = begins + base
        base += flat.size
        parts.append(flat)
    if base >= 2**31:
        raise ValueError(f"meshes: expected index tables below 2**31 entries in all, got {base}")
    headers[:, 17] = [m.two_sided for m in meshes]
    headers[:, 18] = [m.closed for m in meshes]

    reals = np.zeros((n, n_reals))
    reals[:, :3] = [m.center for m in meshes]
    reals[:, 3] = [m.radius for m in meshes]
    reals[:, 4] = _power_of_two_above(reals[:, 3])
    reals[:, 5:8] = [np.abs(m.vertices - m.center).max(axis=0) for m in meshes]
    reals[:, 8] = [_face_reach(m) for m in meshes]
    vertices = np.zeros((int(counts[:, 0].sum()), 4))
    corners = np.empty((len(vertices), 3))
    blocks = []
    at = 0
    for m in meshes:
        centred = m.vertices - m.center
        vertices[at : at + len(centred), :3] = centred
        corners[at : at + len(centred)] = m.vertices
        blocks.append(centred.T)
        at += len(centred)
    lengths = np.concatenate(
        [np.linalg.norm(m.vertices[m.edges[:, 1]] - m.vertices[m.edges[:, 0]], axis=1) for m in meshes]
    )
    host = {
        "headers_in": headers.reshape(-1),
        "topology_in": np.concatenate(parts),
        "mesh_reals_in": reals.astype(real).reshape(-1),
        "vertices_in": vertices.astype(real).reshape(-1),
        "planes_in": np.concatenate([m.face_planes for m in meshes]).astype(real).reshape(-1),
        "corners_in": corners.astype(real).reshape(-1),
        "normals_raster": _stack([np.ascontiguousarray(m.face_planes[:, :3].T) for m in meshes], raster)[0],
        "vertices_raster": np.ascontiguousarray(_stack(blocks, raster)[0]),
        "inverse_length_in": (1.0 / lengths).astype(raster),
        "edge0_in": (np.cumsum(counts[:, 1]) - counts[:, 1]).astype(np.int32),
    }
    buffers = {name: backend.to_device(array) for name, array in host.items()}
    return MeshTables(buffers, counts, sum(a.nbytes for a in host.values()))


_cache: OrderedDict = OrderedDict()
_CACHED = 4


def tables_for(meshes, backend, precision):
    """`build_tables`, kept for the last few sets of meshes: a simulation asks with the same every step."""
    key = (tuple(map(id, meshes)), id(backend), precision)
    if key in _cache:
        _cache.move_to_end(key)
        return _cache[key][1]
    tables = build_tables(meshes, backend, precision)
    _cache[key] = (meshes, tables)  # the meshes are kept alive, so that their ids stay theirs
    while len(_cache) > _CACHED:
        _cache.popitem(last=False)
    return tables


def short_edges(meshes, shape_a, shape_b):
    """Short edge of each pair: the 10th percentile of both bodies' edge lengths (docs/conventions.md).

    Parameters
    ----------
    meshes : sequence of Mesh
    shape_a, shape_b : (p,) int
        Meshes of the pairs.

    Returns
    -------
    (p,) float64
    """
    key, inverse = np.unique(shape_a.astype(np.int64) * len(meshes) + shape_b, return_inverse=True)
    lengths = {}

    def of(k):
        if k not in lengths:
            m = meshes[k]
            lengths[k] = np.linalg.norm(m.vertices[m.edges[:, 1]] - m.vertices[m.edges[:, 0]], axis=1)
        return lengths[k]

    short = np.array(
        [np.percentile(np.concatenate([of(k // len(meshes)), of(k % len(meshes))]), 10) for k in key.tolist()]
    )
    return short[inverse.reshape(-1)] if len(key) else np.zeros(0)
