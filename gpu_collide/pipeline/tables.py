"""Mesh tables: all meshes of a query as a few flat arrays that kernels index.

The layout is that of ``kernels/common/gc_types.h``: one header per part, whose entries say where its share of
each table begins. Parts are the whole meshes, in their order, and behind them their patches, if the query
looks at near faces only.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.patches import cut, face_tree
from gpu_collide.pipeline.solids import solid_tables

__all__ = ["MeshTables", "tables_for"]

#: Index tables in the order of the header (gc_mesh in gc_types.h), behind the five sizes and offsets.
_INDEX_TABLES = (
    "face_start", "face_vertices", "face_edges", "edges", "edge_face_start", "edge_faces",
    "vertex_edge_start", "vertex_edges", "vertex_face_start", "vertex_faces", "edge_flags", "vertex_flags",
)  # fmt: skip
#: Tables that only patches have, by column of the header.
_PATCH_TABLES = {
    19: "source_vertices", 20: "source_edges", 21: "source_faces", 23: "edge_faces_away",
    24: "vertex_edges_away", 25: "vertex_faces_away",
}  # fmt: skip


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
    """Device buffers of all meshes (see ``kernels/common/gc_types.h``) and their sizes on the host.

    Attributes
    ----------
    buffers : dict
        ``headers_in``, ``topology_in``, ``mesh_reals_in``, ``vertices_in``, ``planes_in``, ``corners_in`` for
        the solver; ``trees_in``, ``nodes_in`` for the search for near patches; ``solids_in``, ``insets_in``
        for overlaps.
    screen : dict
        Device buffers of all parts for culling: ``headers_in``, ``topology_in``, ``vertices_in``,
        ``normals_in``, ``inverse_length_in``, ``edge0_in``, ``reach_in``.
    counts : (meshes, 3) int64
        Vertices, edges and faces of each mesh.
    largest : (3,) int64
        Most vertices, edges and faces of a mesh.
    part_sizes : (parts, 7) int64
        Vertices, edges, faces, and entries of four index tables, of each part (see pipeline/near.py).
    part_flags : (parts, 2) bool
        Two-sided, closed.
    nbytes : int
    """

    buffers: dict
    screen: dict
    counts: np.ndarray
    largest: np.ndarray
    part_sizes: np.ndarray
    part_flags: np.ndarray
    nbytes: int


def _headers(meshes, cuts, n_header):
    """Headers of all parts, the joined index tables, and the parts' counts."""
    counts = [np.array([(len(m.vertices), len(m.edges), len(m.face_planes)) for m in meshes], dtype=np.int64)]
    counts += [c.counts for c in cuts]
    counts = np.concatenate(counts)
    headers = np.full((len(counts), n_header), -1, np.int32)
    headers[:, :3] = counts
    headers[:, 3] = np.cumsum(counts[:, 0]) - counts[:, 0]
    headers[:, 4] = np.cumsum(counts[:, 2]) - counts[:, 2]
    parts, base = [], 0
    columns = dict(enumerate((*_INDEX_TABLES, "two_sided", "closed"), start=5)) | _PATCH_TABLES
    for column, name in columns.items():
        if name in ("two_sided", "closed"):
            flags = [np.array([getattr(m, name) for m in meshes])]
            flags += [np.full(len(c.counts), getattr(m, name)) for m, c in zip(meshes, cuts, strict=False)]
            headers[:, column] = np.concatenate(flags)
            continue
        if name in _INDEX_TABLES:
            flat, begins = _stack([getattr(m, name) for m in meshes], np.int32)
            headers[: len(meshes), column] = begins + base
            base += flat.size
            parts.append(flat)
        row = len(meshes)
        for c in cuts:
            flat, begins = c.tables[name]
            headers[row : row + len(begins), column] = begins + base
            row += len(begins)
            base += flat.size
            parts.append(flat)
    if base >= 2**31:
        raise ValueError(f"meshes: expected index tables below 2**31 entries in all, got {base}")
    return headers, np.concatenate(parts), counts


def _blocks(values, sizes, dtype):
    """Rows (n, 3) of parts of the given sizes, each part as a block of x, then y, then z."""
    begins = np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = 3 * begins + np.arange(len(values)) - begins
    out = np.empty(3 * len(values), dtype)
    for k in range(3):
        out[at + k * np.repeat(sizes, sizes)] = values[:, k]
    return out


def _raster_tables(meshes, cuts, counts, raster):
    """What culling reads: vertices, normals and edge lengths of every part."""
    vertices = [m.vertices - m.center for m in meshes]
    normals = [m.face_planes[:, :3] for m in meshes]
    lengths = [np.linalg.norm(m.vertices[m.edges[:, 1]] - m.vertices[m.edges[:, 0]], axis=1) for m in meshes]
    for k, c in enumerate(cuts):
        vertices.append(vertices[k][c.tables["source_vertices"][0]])
        normals.append(normals[k][c.tables["source_faces"][0]])
        lengths.append(lengths[k][c.tables["source_edges"][0]])
    return {
        "vertices_in": _blocks(np.concatenate(vertices), counts[:, 0], raster),
        "normals_in": _blocks(np.concatenate(normals), counts[:, 2], raster),
        "inverse_length_in": (1.0 / np.concatenate(lengths)).astype(raster),
        "edge0_in": (np.cumsum(counts[:, 1]) - counts[:, 1]).astype(np.int32),
    }


def _trees(n_meshes, cuts, node_levels, raster):
    """Trees of the faces: per mesh (faces, first node, first part, height), and the nodes, level by level.
    All 0 for a mesh without one."""
    if not cuts:
        return np.zeros((n_meshes, 4), np.int32), np.zeros(1, raster)
    trees, nodes, node0, part0 = [], [], 0, len(cuts)
    for c, levels in zip(cuts, node_levels, strict=True):
        trees.append((len(levels[0]), node0, part0, len(levels) - 1))
        nodes += levels
        node0 += sum(len(level) for level in levels)
        part0 += len(c.counts)
    return np.array(trees, np.int32), np.concatenate(nodes).astype(raster)


def _cut_all(meshes, backend, precision, headers, topology, vertices_in):
    """Patches of all meshes, and the nodes of their trees."""
    tables = {
        "headers_in": backend.to_device(headers.reshape(-1)), "topology_in": backend.to_device(topology),
        "vertices_in": vertices_in,
    }  # fmt: skip
    cuts, levels = [], []
    for k, m in enumerate(meshes):
        order, nodes = face_tree(m, k, backend, backend.module(precision), tables)
        cuts.append(cut(m, order))
        levels.append(nodes)
    return cuts, levels


def _part_sizes(headers, topology):
    """Vertices, edges, faces, corners, and entries of edge_faces, vertex_edges, vertex_faces of each part."""
    h = headers.astype(np.int64)
    nv, ne, nf = h[:, 0], h[:, 1], h[:, 2]
    last = [topology[h[:, start] + n] for start, n in ((5, nf), (9, ne), (11, nv), (13, nv))]
    return np.column_stack([nv, ne, nf, *last]).astype(np.int64)


def build_tables(meshes, backend, precision, near=False):
    """Pack `meshes` for `backend`; with `near`, cut into patches as well."""
    real = np.float32 if precision == "single" else np.float64
    raster = np.float64 if precision == "double" else np.float32
    c = sources.constants(precision)
    stride = int(c["GC_MESH_STRIDE"])
    headers, topology, counts = _headers(meshes, [], stride)
    whole = counts

    reals = np.zeros((len(meshes), int(c["GC_MESH_REALS"])))
    reals[:, :3] = [m.center for m in meshes]
    reals[:, 3] = [m.radius for m in meshes]
    reals[:, 4] = _power_of_two_above(reals[:, 3])
    reals[:, 5:8] = [np.abs(m.vertices - m.center).max(axis=0) for m in meshes]
    reals[:, 8] = [_face_reach(m) for m in meshes]
    vertices = np.zeros((int(whole[:, 0].sum()), 4))
    vertices[:, :3] = np.concatenate([m.vertices - m.center for m in meshes])
    vertices_in = backend.to_device(vertices.astype(real).reshape(-1))
    cuts, levels = [], []
    if near:
        cuts, levels = _cut_all(meshes, backend, precision, headers, topology, vertices_in)
        headers, topology, counts = _headers(meshes, cuts, stride)
    trees, nodes = _trees(len(meshes), cuts, levels, raster)
    solids, insets = solid_tables(meshes)
    host = {
        "headers_in": headers.reshape(-1),
        "topology_in": topology,
        "mesh_reals_in": reals.astype(real).reshape(-1),
        "planes_in": np.concatenate([m.face_planes for m in meshes]).astype(real).reshape(-1),
        "corners_in": np.concatenate([m.vertices for m in meshes]).astype(real).reshape(-1),
        "trees_in": trees.reshape(-1),
        "nodes_in": nodes.reshape(-1),
        "solids_in": solids,
        "insets_in": insets.astype(real),
    }
    raster_host = _raster_tables(meshes, cuts, counts, raster)
    buffers = {"vertices_in": vertices_in, **{name: backend.to_device(array) for name, array in host.items()}}
    screen = {name: backend.to_device(array) for name, array in raster_host.items()}
    screen |= {name: buffers[name] for name in ("headers_in", "topology_in")}
    screen["reach_in"] = backend.zeros(len(headers), np.int32)
    return MeshTables(
        buffers, screen, whole, whole.max(axis=0), _part_sizes(headers, topology),
        headers[:, 17:19].astype(bool),
        sum(a.nbytes for a in (*host.values(), *raster_host.values())) + vertices_in.nbytes,
    )  # fmt: skip


_cache: OrderedDict = OrderedDict()
_CACHED = 4


def tables_for(meshes, backend, precision, near=False):
    """`build_tables`, kept for the last few sets of meshes: a simulation asks with the same every step.

    Any thread may call: each step is one of OrderedDict's own, and two that build at once both keep theirs.
    """
    key = (tuple(map(id, meshes)), id(backend), precision, near)
    kept = _cache.get(key)
    if kept is None:
        # Meshes and backend are kept alive, so that their ids stay theirs.
        kept = _cache[key] = (meshes, backend, build_tables(meshes, backend, precision, near))
    try:
        _cache.move_to_end(key)
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)
    except KeyError:
        pass  # another thread was quicker
    return kept[2]


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
