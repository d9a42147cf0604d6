"""What queries need of a mesh beside its own arrays: made when first asked for, once, and gone with the mesh.

All of it depends on the mesh alone, on no backend, so that several of them, and every combination of meshes,
share it. `gpu_collide.pipeline.tables` joins it for the meshes of a query.
"""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.geometry.columns import columns, length
from gpu_collide.geometry.face_tree import face_tree, node_table
from gpu_collide.geometry.patches import PATCH_COLUMNS, cut
from gpu_collide.geometry.solids import make_solids

__all__ = ["edge_lengths_of", "measures_of", "nodes_of", "patches_of", "prepare", "screen_of", "solids_of"]

_SOURCES = tuple(PATCH_COLUMNS.index(f"source_{what}") for what in ("vertices", "edges", "faces"))


class _Store:
    """Things made of one mesh, by name."""

    def __init__(self):
        self.made = {}
        self.lock = threading.RLock()


class _Stores:
    """The store of each mesh that has one."""

    def __init__(self):
        self._of = WeakKeyDictionary()
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self):
        # another thread of the parent may have held them; what it was making is not in any store
        self._lock = threading.Lock()
        for store in list(self._of.values()):
            store.lock = threading.RLock()

    def get(self, mesh, name, make):
        """What is called `name`, made by ``make()`` if nobody has yet; others who ask meanwhile wait."""
        store = self._of.get(mesh)
        if store is None:
            with self._lock:
                store = self._of.setdefault(mesh, _Store())
        if name not in store.made:
            with store.lock:
                if name not in store.made:
                    store.made[name] = make()
        return store.made[name]


_stores = _Stores()


def measures_of(mesh):
    """(9,) float64: centre, radius, the power of two not below it, half the sides of the bounding box, and
    the greatest distance of a face's corner from the mean of its corners."""
    return _stores.get(mesh, "measures", lambda: _measures(mesh))


def _measures(mesh):
    half = [np.abs(x).max() for x in columns(mesh.vertices - mesh.center)]
    mantissa, exponent = np.frexp(mesh.radius)
    power = np.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent)  # scaling by it is exact
    corners, begins = [x[mesh.face_vertices] for x in columns(mesh.vertices)], mesh.face_start[:-1]
    sizes = np.diff(mesh.face_start)
    off = [x - np.repeat(np.add.reduceat(x, begins) / sizes, sizes) for x in corners]
    return np.array([*mesh.center, mesh.radius, power, *half, length(off).max()])


def edge_lengths_of(mesh):
    """Lengths of all edges, in rising order; (ne,) float64."""
    return _stores.get(mesh, "edge lengths", lambda: np.sort(mesh.edge_lengths))


def solids_of(mesh):
    """`gpu_collide.geometry.solids.Solids` of a mesh."""
    return _stores.get(mesh, "solids", lambda: make_solids(mesh))


def patches_of(mesh):
    """`gpu_collide.geometry.patches.Patches` of a mesh, in the order of its tree."""
    return _stores.get(mesh, "patches", lambda: cut(mesh, _tree_of(mesh).order))


def _tree_of(mesh):
    return _stores.get(mesh, "tree", lambda: face_tree(mesh))


def nodes_of(mesh, dtype, told=None):
    """Nodes of the tree of its faces, level by level (see `node_table`); (nodes, GC_NODE_STRIDE)."""
    dtype = np.dtype(dtype)

    def make():
        patches = patches_of(mesh)
        points, begins = patches.tables["source_vertices"], patches.begins[:, _SOURCES[0]]
        return node_table(mesh, _tree_of(mesh), points, begins, dtype, told)

    return _stores.get(mesh, f"nodes {dtype}", make)


def screen_of(mesh, dtype, patches=False):
    """What culling reads of the mesh, or of all its patches: vertices and normals, each part as a block of x,
    then y, then z, and one over the length of each edge; three flat arrays."""
    dtype = np.dtype(dtype)
    name = f"{'patches' if patches else 'screen'} {dtype}"
    return _stores.get(mesh, name, lambda: _screen(mesh, dtype, patches))


def _screen(mesh, dtype, patches):
    vertices, normals = columns(mesh.vertices - mesh.center), columns(mesh.face_planes[:, :3])
    per_length = 1.0 / mesh.edge_lengths
    if not patches:
        return tuple(x.astype(dtype) for x in (np.concatenate(vertices), np.concatenate(normals), per_length))
    parts = patches_of(mesh)
    v, e, f = (parts.tables[f"source_{what}"] for what in ("vertices", "edges", "faces"))
    return (
        _blocks([x[v] for x in vertices], parts.counts[:, 0], dtype),
        _blocks([x[f] for x in normals], parts.counts[:, 2], dtype),
        per_length[e].astype(dtype),
    )


def _blocks(values, sizes, dtype):
    """Three arrays, of parts of the given sizes, as a block of x, then y, then z for each part."""
    begins = np.repeat(np.cumsum(sizes) - sizes, sizes)
    at, step = np.arange(len(begins)) + 2 * begins, np.repeat(sizes, sizes)
    out = np.empty(3 * len(begins), dtype)
    for x in values:
        out[at] = x
        at += step
    return out


def prepare(mesh, near, precision, progress=None):
    """Make all that queries in `precision` need of a mesh; with `near`, that of queries for near faces too.

    `near` None: if the mesh is so large that queries look at near faces by themselves.
    """
    raster = np.float64 if precision == "double" else np.float32
    if near is None:
        near = len(mesh.face_planes) > sources.constants(precision)["GC_AUTO_NEAR_FACES"]
    steps = [measures_of, edge_lengths_of, solids_of, lambda m: screen_of(m, raster)]
    if near:
        steps += [_tree_of, patches_of, lambda m: screen_of(m, raster, patches=True)]
    done, total = 0, len(steps) + ((len(mesh.face_planes) - 1).bit_length() + 1 if near else 0)

    def tell():
        nonlocal done
        done += 1
        if progress is not None and done < total:
            progress(done, total)

    for step in steps:
        step(mesh)
        tell()
    if near:
        nodes_of(mesh, raster, tell)
    if progress is not None:
        progress(total, total)
