"""The tables of one mesh that kernels read, and the joined tables of several meshes.

The layout is that of ``kernels/common/gc_types.h``: one header per part, whose entries say where its share of
each table begins. Parts are the whole meshes, in their order, and behind them their patches, if the query
looks at near faces only. Where a mesh lies in the tables is a matter of its `Places` alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.backends import declarations, sources
from gpu_collide.geometry.preparation import prepared
from gpu_collide.geometry.preparation.face_tree import level_counts
from gpu_collide.geometry.preparation.patches import PATCH_COLUMNS

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["BEHIND", "FLAGS", "KINDS", "MeshTables", "MeshSizes", "SIZES", "TABLES"]
__all__ += ["assemble", "check_index", "sizes_of", "pieces_of"]

#: Records as kernels read them (gc_types.h).
MESH, MESH_REAL, TREE, SOLID = (sources.record(name) for name in ("mesh", "mesh_real", "tree", "solid"))

#: Index tables of a mesh, by their columns in its header. Those that only patches have come behind.
_INDEX_TABLES = (
    "face_start", "face_vertices", "face_edges", "edges", "edge_face_start", "edge_faces",
    "vertex_edge_start", "vertex_edges", "vertex_face_start", "vertex_faces", "edge_flags", "vertex_flags",
)  # fmt: skip
FLAGS = ("two_sided", "closed")
#: What is counted of a part, as in the record ``gather``.
SIZES = ("vertices", "edges", "faces", "corners", "edge_faces", "vertex_edges", "vertex_faces")
_INDEX, _PATCH_INDEX = ([MESH[name] for name in names] for names in (_INDEX_TABLES, PATCH_COLUMNS))
_COUNTED = ("face_vertices", "edge_faces", "vertex_edges", "vertex_faces")  # tables whose entries are counted
#: What a mesh has rows of. Rows of patches lie behind those of all meshes.
KINDS = ("index", "node", "vertex", "edge", "face", "patch_vertex", "patch_edge", "patch_face")
BEHIND = {"patch_vertex": "vertex", "patch_edge": "edge", "patch_face": "face"}
_OF_PATCHES = {kind: behind for behind, kind in BEHIND.items()}


class _Table:
    """A table that is filled mesh by mesh: numbers a row, what its rows are, its type for a precision."""

    def __init__(self, width: int, kinds: tuple[str, ...], dtype: str):
        self.width, self.kinds, self._dtype = width, kinds, dtype

    def dtype(self, precision: str) -> np.dtype:
        real, raster = declarations.dtypes(precision)
        return {"int": np.dtype(np.int32), "real": real, "raster": raster}[self._dtype]


#: The tables that hold most of the bytes. Those of the screen are in `MeshTables.screen`.
TABLES = {
    "topology_in": _Table(1, ("index",), "int"),
    "nodes_in": _Table(sources.record("node").stride, ("node",), "raster"),
    "vertices_in": _Table(4, ("vertex",), "real"),
    "planes_in": _Table(4, ("face",), "real"),
    "corners_in": _Table(3, ("vertex",), "real"),
    "insets_in": _Table(sources.record("inset").stride, ("vertex",), "real"),
    "screen.vertices_in": _Table(3, ("vertex", "patch_vertex"), "raster"),
    "screen.normals_in": _Table(3, ("face", "patch_face"), "raster"),
    "screen.inverse_length_in": _Table(1, ("edge", "patch_edge"), "raster"),
}


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
        Of the buffers that are of these meshes alone.
    made : dict
        What others make for these meshes on their backend, by names of their own.
    """

    buffers: dict[str, Any]
    screen: dict[str, Any]
    counts: np.ndarray
    largest: np.ndarray
    part_sizes: np.ndarray
    part_flags: np.ndarray
    nbytes: int
    made: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MeshSizes:
    """A mesh and, if it is to be looked at by near faces, its patches.

    Attributes
    ----------
    headers : (parts, GC_MESH_STRIDE) int32
        The mesh, then its patches; all places count from where the mesh's rows begin.
    edge0 : (parts,) int32
        First edge of each part, counted likewise.
    sizes : (parts, 7) int64
        As `MeshTables.part_sizes`.
    rows : dict of str to int
        By `KINDS`.
    index : list of (k,) int32
        The index tables of the mesh, then those of its patches.
    """

    headers: np.ndarray
    edge0: np.ndarray
    sizes: np.ndarray
    rows: dict[str, int]
    index: list[Array]


def sizes_of(mesh: Any, near: bool) -> MeshSizes:
    """`Parts` of a mesh; with its patches if `near`."""
    return prepared.kept_with(mesh, "parts near" if near else "parts", lambda: _parts(mesh, near))


def _parts(mesh: Any, near: bool) -> MeshSizes:
    whole = [len(mesh.vertices), len(mesh.edges), len(mesh.face_planes)]
    patches = prepared.patches_of(mesh) if near else None
    n = 1 if patches is None else 1 + len(patches.counts)
    sizes = np.empty((n, len(SIZES)), np.int64)
    sizes[0] = [*whole, *(getattr(mesh, name).size for name in _COUNTED)]
    headers = np.full((n, MESH.stride), -1, np.int32)
    index = [getattr(mesh, name).reshape(-1) for name in _INDEX_TABLES]
    lengths = np.cumsum([table.size for table in index])
    headers[0, _INDEX] = np.append(0, lengths[:-1])
    end = int(lengths[-1])
    if patches is not None:
        sizes[1:, :3] = patches.counts
        for k, name in enumerate(PATCH_COLUMNS):
            begins, length = patches.begins[:, k], patches.tables[name].size
            if name in _COUNTED:
                sizes[1:, 3 + _COUNTED.index(name)] = np.diff(begins, append=length)
            headers[1:, MESH[name]] = end + begins
            end += length
            index.append(patches.tables[name])
    first = np.cumsum(sizes[1:, :3], axis=0) - sizes[1:, :3]  # of patches; that of the mesh is 0
    headers[:, [MESH[name] for name in ("nv", "ne", "nf")]] = sizes[:, :3]
    headers[0, [MESH["vertex0"], MESH["face0"]]] = 0
    headers[1:, MESH["vertex0"]], headers[1:, MESH["face0"]] = first[:, 0], first[:, 2]
    headers[:, [MESH[name] for name in FLAGS]] = [getattr(mesh, name) for name in FLAGS]
    nodes = sum(level_counts(whole[2])) if near else 0
    rows = [end, nodes, *whole, *sizes[1:, :3].sum(axis=0).tolist()]
    edge0 = np.append(0, first[:, 1]).astype(np.int32)
    return MeshSizes(headers, edge0, sizes, dict(zip(KINDS, rows, strict=True)), index)


def check_index(rows: int) -> None:
    """Refuse index tables that an int does not count."""
    if rows >= 2**31:
        raise ValueError(f"meshes: expected index tables below 2**31 entries in all, got {rows}")


def pieces_of(mesh: Any, near: bool, precision: str) -> dict[tuple[str, str], list[Array]]:
    """What a mesh puts into `TABLES`: by table and kind of the rows, flat arrays that follow each other."""
    _, raster = declarations.dtypes(precision)
    centred = np.zeros((len(mesh.vertices), 4))
    np.subtract(mesh.vertices, mesh.center, out=centred[:, :3])
    points, normals, per_length = prepared.screen_of(mesh, raster)
    pieces = {
        ("topology_in", "index"): sizes_of(mesh, near).index,
        ("vertices_in", "vertex"): [centred.reshape(-1)],
        ("planes_in", "face"): [mesh.face_planes.reshape(-1)],
        ("corners_in", "vertex"): [mesh.vertices.reshape(-1)],
        ("insets_in", "vertex"): [prepared.solids_of(mesh).insets.reshape(-1)],
        ("screen.vertices_in", "vertex"): [points],
        ("screen.normals_in", "face"): [normals],
        ("screen.inverse_length_in", "edge"): [per_length],
    }
    if near:
        points, normals, per_length = prepared.screen_of(mesh, raster, patches=True)
        pieces |= {
            ("screen.vertices_in", "patch_vertex"): [points],
            ("screen.normals_in", "patch_face"): [normals],
            ("screen.inverse_length_in", "patch_edge"): [per_length],
            ("nodes_in", "node"): [prepared.nodes_of(mesh, raster).reshape(-1)],
        }
    return pieces


def assemble(meshes, parts, places, tables, backend, precision, near, held=0):
    """`MeshTables` of meshes that lie in `tables`, with what is to be made of them together.

    Parameters
    ----------
    meshes : sequence of Mesh
    parts : list of Parts
    places : dict of str to (meshes,) array_like of int
        By `KINDS`: the row at which each mesh begins in the tables.
    tables : dict of str to buffer
        `TABLES`, filled.
    backend : Backend
    precision : str
    near : bool
    held : int
        Bytes of `tables`, if these are of these meshes alone.
    """
    real, _ = declarations.dtypes(precision)
    headers, edge0 = _headers(parts, places)
    reals = np.zeros((len(meshes), MESH_REAL.stride), real)
    reals[:, : sum(MESH_REAL.widths.values())] = [prepared.measures_of(m) for m in meshes]
    host = {
        "headers_in": headers, "mesh_reals_in": reals, "edge0_in": edge0,
        "trees_in": _trees(meshes, parts, places["node"], near), "solids_in": _solids(meshes),
    }  # fmt: skip
    # all of it was made here, and nothing writes to it any more
    buffers = {name: backend.to_device(array.reshape(-1), copy=False) for name, array in host.items()}
    buffers |= {name: buffer for name, buffer in tables.items() if "." not in name}
    screen = {name.split(".")[1]: buffer for name, buffer in tables.items() if "." in name}
    screen |= {name: buffers[name] for name in ("headers_in", "topology_in")}
    screen |= {"edge0_in": buffers.pop("edge0_in"), "reach_in": backend.zeros(len(headers), np.int32)}
    sizes = np.concatenate([[p.sizes[0] for p in parts], *(p.sizes[1:] for p in parts)])
    whole = sizes[: len(meshes), :3]
    return MeshTables(
        buffers, screen, whole, whole.max(axis=0), sizes,
        headers[:, [MESH[name] for name in FLAGS]].astype(bool),
        held + sum(array.nbytes for array in host.values()) + screen["reach_in"].nbytes,
    )  # fmt: skip


def _headers(parts, places):
    """Headers of all parts, and the first edge of each."""
    headers = np.concatenate([[p.headers[0] for p in parts], *(p.headers[1:] for p in parts)])
    edge0 = np.concatenate([[p.edge0[0] for p in parts], *(p.edge0[1:] for p in parts)])
    at, n = {kind: np.asarray(places[kind], np.int32) for kind in KINDS}, len(parts)
    columns = "index", "vertex", "face", "edge"
    index, vertex, face, edge = (at[kind] for kind in columns)
    headers[:n, _INDEX] += index[:, None]
    headers[:n, MESH["vertex0"]] += vertex
    headers[:n, MESH["face0"]] += face
    edge0[:n] += edge
    if len(headers) > n:
        patches = [len(p.headers) - 1 for p in parts]
        index, vertex, face, edge = (np.repeat(at[_OF_PATCHES.get(kind, kind)], patches) for kind in columns)
        headers[n:, _PATCH_INDEX] += index[:, None]
        headers[n:, MESH["vertex0"]] += vertex
        headers[n:, MESH["face0"]] += face
        edge0[n:] += edge
    return headers, edge0


def _trees(meshes, parts, nodes, near):
    """Trees of the faces, a record of each mesh. All 0 for a mesh without one."""
    trees = np.zeros((len(meshes), TREE.stride), np.int32)
    if near:
        faces = np.array([len(m.face_planes) for m in meshes])
        patches = np.array([len(p.headers) - 1 for p in parts])
        trees[:, TREE["faces"]], trees[:, TREE["node"]] = faces, nodes
        trees[:, TREE["patch"]] = len(meshes) + np.cumsum(patches) - patches
        trees[:, TREE["height"]] = [(n - 1).bit_length() for n in faces.tolist()]
    return trees


def _solids(meshes):
    """``solids_in`` of all meshes, flat (see ``kernels/narrow_phase/overlap/gc_solid.h``)."""
    parts = [prepared.solids_of(m) for m in meshes]
    witnesses, codes = np.array([(len(p.witness), len(p.codes)) for p in parts]).T
    heads = np.zeros((len(parts), SOLID.stride), np.int64)
    sizes = witnesses + codes
    first = heads.size + np.cumsum(sizes) - sizes
    heads[:, SOLID["witnesses"]], heads[:, SOLID["components"]] = first, witnesses
    heads[:, SOLID["closed"]], heads[:, SOLID["codes"]] = [p.closed for p in parts], first + witnesses
    flat = [x for p in parts for x in (p.witness, p.codes)]
    return np.concatenate([heads.reshape(-1).astype(np.int32), *flat])
