"""Mesh tables: all meshes of a query as a few flat arrays that kernels index.

The layout is that of ``kernels/common/gc_types.h``: one header per part, whose entries say where its share of
each table begins. Parts are the whole meshes, in their order, and behind them their patches, if the query
looks at near faces only.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.geometry import prepared
from gpu_collide.geometry.patches import PATCH_COLUMNS

__all__ = ["FLAGS", "MeshTables", "SIZES", "build_tables", "kept_for", "short_edges", "tables_for"]

#: Sets of meshes whose tables are kept on a backend, and the bytes beyond which only a few are.
MOST_SETS, FEW_SETS, MOST_BYTES = 32, 4, 1 << 28
#: Records as kernels read them (gc_types.h).
MESH, MESH_REAL, TREE, SOLID = (sources.record(name) for name in ("mesh", "mesh_real", "tree", "solid"))

#: Index tables of a mesh, by their columns in its header.
_INDEX_TABLES = (
    "face_start", "face_vertices", "face_edges", "edges", "edge_face_start", "edge_faces",
    "vertex_edge_start", "vertex_edges", "vertex_face_start", "vertex_faces", "edge_flags", "vertex_flags",
)  # fmt: skip
#: Those that only patches have.
_PATCH_TABLES = (
    "source_vertices", "source_edges", "source_faces", "edge_faces_away", "vertex_edges_away",
    "vertex_faces_away",
)  # fmt: skip
FLAGS = ("two_sided", "closed")
#: What is counted of a part, as in the record ``gather``.
SIZES = ("vertices", "edges", "faces", "corners", "edge_faces", "vertex_edges", "vertex_faces")


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
        `SIZES` of each part: its features, and the entries of four index tables.
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


def _headers(meshes, cuts):
    """Headers of all parts, the joined index tables, and the parts' counts.

    The index tables stand one after another, in each those of the meshes, then those of their patches.
    """
    of_meshes = np.array(
        [(len(m.vertices), len(m.edges), len(m.face_planes)) for m in meshes], dtype=np.int64
    )
    counts = np.concatenate([of_meshes, *(c.counts for c in cuts)])
    headers = np.full((len(counts), MESH.stride), -1, np.int32)
    headers[:, [MESH[name] for name in ("nv", "ne", "nf")]] = counts
    headers[:, MESH["vertex0"]] = np.cumsum(counts[:, 0]) - counts[:, 0]
    headers[:, MESH["face0"]] = np.cumsum(counts[:, 2]) - counts[:, 2]
    patches = [len(c.counts) for c in cuts]
    for name in FLAGS:
        flags = np.array([getattr(m, name) for m in meshes])
        headers[:, MESH[name]] = np.concatenate([flags, np.repeat(flags, patches)] if cuts else [flags])
    flat: list[Any] = []
    base = 0
    for name in (*_INDEX_TABLES, *_PATCH_TABLES):
        column = MESH[name]
        if name in _INDEX_TABLES:
            arrays = [getattr(m, name).reshape(-1) for m in meshes]
            begins = base + _before([a.size for a in arrays])
            headers[: len(meshes), column] = begins[:-1]
            flat, base = flat + arrays, int(begins[-1])
        if cuts:
            arrays = [c.tables[name] for c in cuts]
            begins = base + _before([a.size for a in arrays])
            within = np.concatenate([c.begins[:, PATCH_COLUMNS.index(name)] for c in cuts])
            headers[len(meshes) :, column] = np.repeat(begins[:-1], patches) + within
            flat, base = flat + arrays, int(begins[-1])
    if base >= 2**31:
        raise ValueError(f"meshes: expected index tables below 2**31 entries in all, got {base}")
    return headers, np.concatenate(flat), counts


def _before(sizes):
    """Where each of some things of these sizes begins, one after another, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _raster_tables(meshes, near, counts, raster):
    """What culling reads: vertices, normals and edge lengths of every part."""
    parts = [prepared.screen_of(m, raster) for m in meshes]
    if near:
        parts += [prepared.screen_of(m, raster, patches=True) for m in meshes]
    arrays = [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]
    joined = dict(zip(("vertices_in", "normals_in", "inverse_length_in"), arrays, strict=True))
    return joined | {"edge0_in": (np.cumsum(counts[:, 1]) - counts[:, 1]).astype(np.int32)}


def _trees(meshes, cuts, raster):
    """Trees of the faces, a record of each mesh, and their nodes, level by level. All 0 for a mesh without
    one."""
    trees = np.zeros((len(meshes), TREE.stride), np.int32)
    if not cuts:
        return trees, np.zeros(1, raster)
    nodes = [prepared.nodes_of(m, raster) for m in meshes]
    faces = np.array([len(m.face_planes) for m in meshes])
    trees[:, TREE["faces"]] = faces
    trees[:, TREE["node"]] = _before([len(n) for n in nodes])[:-1]
    trees[:, TREE["patch"]] = len(meshes) + _before([len(c.counts) for c in cuts])[:-1]
    trees[:, TREE["height"]] = [(n - 1).bit_length() for n in faces.tolist()]
    return trees, np.concatenate([n.reshape(-1) for n in nodes])


def _solids(meshes, real):
    """``solids_in`` and ``insets_in`` of all meshes, flat (see ``kernels/screw/gc_solid.h``)."""
    parts = [prepared.solids_of(m) for m in meshes]
    witnesses, codes = np.array([(len(p.witness), len(p.codes)) for p in parts]).T
    heads = np.zeros((len(parts), SOLID.stride), np.int64)
    first = heads.size + _before(witnesses + codes)[:-1]
    heads[:, SOLID["witnesses"]], heads[:, SOLID["components"]] = first, witnesses
    heads[:, SOLID["closed"]], heads[:, SOLID["codes"]] = [p.closed for p in parts], first + witnesses
    flat = [x for p in parts for x in (p.witness, p.codes)]
    ints = np.concatenate([heads.reshape(-1).astype(np.int32), *flat])
    return ints, np.concatenate([p.insets for p in parts]).astype(real).reshape(-1)


def _part_sizes(headers, topology):
    """Vertices, edges, faces, corners, and entries of edge_faces, vertex_edges, vertex_faces of each part."""
    nv, ne, nf = (headers[:, MESH[name]].astype(np.int64) for name in ("nv", "ne", "nf"))
    starts = {"face_start": nf, "edge_face_start": ne, "vertex_edge_start": nv, "vertex_face_start": nv}
    last = [topology[headers[:, MESH[name]] + n] for name, n in starts.items()]
    return np.column_stack([nv, ne, nf, *last]).astype(np.int64)


def build_tables(meshes, backend, precision, near=False):
    """Join what was made of each mesh (`gpu_collide.geometry.prepared`), or is now, for `backend`; with
    `near`, the meshes' patches as well."""
    real = np.float32 if precision == "single" else np.float64
    raster = np.float64 if precision == "double" else np.float32
    cuts = [prepared.patches_of(m) for m in meshes] if near else []
    headers, topology, counts = _headers(meshes, cuts)
    whole = counts[: len(meshes)]
    reals = np.zeros((len(meshes), MESH_REAL.stride), real)
    reals[:, : sum(MESH_REAL.widths.values())] = [prepared.measures_of(m) for m in meshes]
    vertices, at = np.zeros((int(whole[:, 0].sum()), 4), real), 0
    for m in meshes:
        vertices[at : at + len(m.vertices), :3] = m.vertices - m.center
        at += len(m.vertices)
    trees, nodes = _trees(meshes, cuts, raster)
    solids, insets = _solids(meshes, real)
    host = {
        "headers_in": headers,
        "topology_in": topology,
        "mesh_reals_in": reals,
        "vertices_in": vertices,
        "planes_in": np.concatenate([m.face_planes for m in meshes], dtype=real, casting="same_kind"),
        "corners_in": np.concatenate([m.vertices for m in meshes], dtype=real, casting="same_kind"),
        "trees_in": trees,
        "nodes_in": nodes,
        "solids_in": solids,
        "insets_in": insets,
    }
    raster_host = _raster_tables(meshes, near, counts, raster)
    # all of it was made here, and nothing writes to it any more
    buffers = {name: backend.to_device(array.reshape(-1), copy=False) for name, array in host.items()}
    screen = {name: backend.to_device(array, copy=False) for name, array in raster_host.items()}
    screen |= {name: buffers[name] for name in ("headers_in", "topology_in")}
    screen["reach_in"] = backend.zeros(len(headers), np.int32)
    return MeshTables(
        buffers, screen, whole, whole.max(axis=0), _part_sizes(headers, topology),
        headers[:, [MESH[name] for name in FLAGS]].astype(bool),
        sum(a.nbytes for a in (*host.values(), *raster_host.values(), screen["reach_in"])),
    )  # fmt: skip


class _Set:
    """The tables of some meshes, until one of these is gone."""

    def __init__(self, meshes):
        this = weakref.ref(self)

        def drop(_):
            if (entry := this()) is not None:
                entry.tables = None

        self.meshes = [weakref.ref(mesh, drop) for mesh in meshes]
        self.tables = None
        self.lock = threading.Lock()  # held by the thread that joins the tables

    def holds(self, meshes):
        """Is it these very meshes, not later ones of the same ids?"""
        return all(ref() is mesh for ref, mesh in zip(self.meshes, meshes, strict=True))


class _Sets:
    """The last sets of meshes that one backend was asked for; goes with the backend."""

    def __init__(self):
        self._sets = {}
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self):
        self._lock = threading.Lock()
        for entry in self._sets.values():
            entry.lock = threading.Lock()

    def get(self, meshes, what, build):
        key = (tuple(map(id, meshes)), *what)
        with self._lock:
            entry = self._sets.pop(key, None)
            if entry is None or not entry.holds(meshes):
                entry = _Set(meshes)
            self._sets[key] = entry
        with entry.lock:
            # the caller holds the meshes, so nothing drops the tables meanwhile
            if entry.tables is not None:
                return entry.tables
            tables = entry.tables = build()
        with self._lock:
            self._trim()
        return tables

    def _trim(self):
        """Let go of the sets that were asked for longest ago. A set being joined counts for nothing yet."""
        tables = [entry.tables for entry in self._sets.values()]
        held = [0 if t is None else t.nbytes for t in tables]
        for key, nbytes in list(zip(self._sets, held, strict=True)):
            if len(self._sets) <= (FEW_SETS if sum(held) > MOST_BYTES else MOST_SETS):
                return
            self._sets.pop(key)
            held.remove(nbytes)


def tables_for(meshes, backend, precision, near=False):
    """`build_tables`, kept for the last few sets of meshes: a simulation asks with the same every step.

    Any thread may call; those that ask for one set at a time get the same tables. A set is kept on its
    backend as long as all of its meshes live, and others have not taken its place.

    Parameters
    ----------
    meshes : sequence of Mesh
    backend : Backend
    precision : {"mixed", "double", "single"}
    near : bool
        With the meshes' patches and trees.

    Returns
    -------
    MeshTables
    """
    build = partial(build_tables, meshes, backend, precision, near)
    return kept_for("tables", meshes, backend, (precision, near), build)


def kept_for(kind, meshes, backend, what, build):
    """What ``build()`` makes of some meshes, kept as `tables_for` keeps tables, which are one `kind` of it.

    Parameters
    ----------
    kind : str
    meshes : sequence of Mesh
    backend : Backend
    what : tuple
        What else it depends on.
    build : callable
        Its result has ``nbytes``.
    """
    sets = backend.kept.get(kind)
    if sets is None:
        sets = backend.kept.setdefault(kind, _Sets())
    return sets.get(meshes, what, build)


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
    of = prepared.edge_lengths_of
    short = [_tenth(of(meshes[k // len(meshes)]), of(meshes[k % len(meshes)])) for k in key.tolist()]
    return np.array(short)[inverse.reshape(-1)] if len(key) else np.zeros(0)


def _tenth(a, b):
    """10th percentile of the numbers of two rising lists, as `numpy.percentile` has it of both together."""
    place = (len(a) + len(b) - 1) * 0.1
    k = int(place)
    low = np.partition(np.concatenate([a[: k + 2], b[: k + 2]]), [k, k + 1])
    return np.quantile(low[k : k + 2], place - k)
