"""The data that queries need of a mesh beside its own arrays: prepared on first use, once, and freed with
the mesh.

All of it depends on the mesh alone, on no backend, so that several of them, and every combination of meshes,
share it. `gpu_collide.pipeline.mesh_tables.tables` joins it for the meshes of a query.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.geometry.arrays.soa import blocks, columns, length, over_faces
from gpu_collide.geometry.preparation.cast_features import CastFeatures, make_cast_features
from gpu_collide.geometry.preparation.collidable_features import CollidableFeatures, make_collidable_features
from gpu_collide.geometry.preparation.compiled import kernels_for
from gpu_collide.geometry.preparation.face_tree import FaceTree, face_tree
from gpu_collide.geometry.preparation.nodes import node_table
from gpu_collide.geometry.preparation.patches import PATCH_COLUMNS, Patches, cut
from gpu_collide.geometry.preparation.solids import Solids, make_solids

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import DTypeLike, NDArray

    from gpu_collide._types import Array
    from gpu_collide.geometry.arrays.surface import Surface

__all__ = [
    "edge_lengths_of",
    "cast_features_of",
    "kept_with",
    "measures_of",
    "nodes_of",
    "is_convex",
    "is_solid",
    "patches_of",
    "prepare",
    "screen_of",
    "solids_of",
    "collidable_features_of",
    "keep_alike",
    "tree_of",
]

_SOURCES = tuple(PATCH_COLUMNS.index(f"source_{what}") for what in ("vertices", "edges", "faces"))


#: What two meshes have in common whose loops and order of leaves are the same, and which side of each edge is
#: inside.
_OF_LOOPS = frozenset(["is convex", "is solid", "parts", "parts near", "patches"])


class _Store:
    """Things made of one mesh, by name."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}
        self.alike: Surface | None = None  # a mesh of the same loops, that has what follows from them
        self.lock = threading.RLock()


class _Stores:
    """The store of each mesh that has one."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Surface, _Store] = WeakKeyDictionary()
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        # another thread of the parent may have held them; what it was making is not in any store
        self._lock = threading.Lock()
        for store in list(self._of.values()):
            store.lock = threading.RLock()

    def get(self, mesh: Surface, name: str, make: Callable[[], Any]) -> Any:
        """What is called `name`, made by ``make()`` if nobody has yet; others who ask meanwhile wait."""
        store = self._of.get(mesh)
        if store is None:
            with self._lock:
                store = self._of.setdefault(mesh, _Store())
        if store.alike is not None and name in _OF_LOOPS:
            return self.get(store.alike, name, make)
        if name not in store.made:
            with store.lock:
                if name not in store.made:
                    store.made[name] = make()
        return store.made[name]

    def keep(self, mesh: Surface, alike: Surface, made: dict[str, Any]) -> None:
        """Take what is made of a new mesh that nobody else has yet."""
        store = _Store()
        store.made, store.alike = made, alike
        with self._lock:
            self._of[mesh] = store


_stores = _Stores()


def kept_with(mesh: Surface, name: str, make: Callable[[], Any]) -> Any:
    """What others make of a mesh alone, by a name of theirs: made by ``make()`` once, gone with the mesh."""
    return _stores.get(mesh, name, make)


def keep_alike(mesh: Surface, alike: Surface, made: dict[str, Any]) -> None:
    """Keep what is made of a new mesh, by the names here, and share with the mesh `alike` what follows from
    loops and order of leaves, which are the same."""
    _stores.keep(mesh, alike, made)


def measures_of(mesh: Surface) -> NDArray[np.float64]:
    """(12,) float64: centre, radius, the power of two not below it, half the sides of the bounding box, the
    greatest distance of a face's corner from the mean of its corners, the rounding radius, and those of flat
    ends, -1 for none."""
    return _stores.get(mesh, "measures", lambda: _measures(mesh))


def _measures(mesh: Surface) -> NDArray[np.float64]:
    half = [np.abs(x).max() + mesh.rounding for x in columns(mesh.vertices - mesh.center)]
    mantissa, exponent = np.frexp(mesh.radius)
    power = np.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent)  # scaling by it is exact
    points, start, reach = columns(mesh.vertices), mesh.face_start, 0.0
    for some in blocks(len(start) - 1):
        first, end = start[some.start], start[some.stop]
        begins, sizes = start[some] - first, np.diff(start[some.start : some.stop + 1])
        corners = [x[mesh.face_vertices[first:end]] for x in points]
        off = [x - np.repeat(over_faces(np.add, x, begins) / sizes, sizes) for x in corners]
        reach = max(reach, length(off).max())
    ends = (-1.0, -1.0) if mesh.ends is None else mesh.ends
    return np.array([*mesh.center, mesh.radius, power, *half, reach, mesh.rounding, *ends])


def edge_lengths_of(mesh: Surface) -> NDArray[np.float64]:
    """Lengths of all edges, in rising order; (ne,) float64."""
    return _stores.get(mesh, "edge lengths", lambda: np.sort(mesh.edge_lengths))


def solids_of(mesh: Surface) -> Solids:
    """`gpu_collide.geometry.preparation.solids.Solids` of a mesh."""
    return _stores.get(mesh, "solids", lambda: make_solids(mesh))


def is_solid(mesh: Surface) -> bool:
    """Has a mesh an inside everywhere: are all of its components closed, with sides that face out?"""

    def make() -> bool:
        return not mesh.two_sided and bool((solids_of(mesh).codes & 1).all()) and mesh.volume > 0

    return _stores.get(mesh, "is solid", make)


def is_convex(mesh: Surface) -> bool:
    """Is a mesh a convex body: solid, of one component, without reflex edges?"""

    def make() -> bool:
        return is_solid(mesh) and len(solids_of(mesh).witness) == 1 and not (mesh.edge_flags & 1).any()

    return _stores.get(mesh, "is convex", make)


def patches_of(mesh: Surface) -> Patches:
    """`gpu_collide.geometry.preparation.patches.Patches` of a mesh, in the order of its tree."""

    def make() -> Patches:
        order, kernels = tree_of(mesh).order, kernels_for(mesh)
        return cut(mesh, order) if kernels is None else kernels.cut(mesh, order)

    return _stores.get(mesh, "patches", make)


def tree_of(mesh: Surface) -> FaceTree:
    """`FaceTree` of a mesh."""

    def make() -> FaceTree:
        kernels = kernels_for(mesh)
        return face_tree(mesh, None if kernels is None else kernels.leaf_order)

    return _stores.get(mesh, "tree", make)


def collidable_features_of(mesh: Surface) -> CollidableFeatures:
    """`CollidableFeatures` of a mesh, in the order of its tree."""
    return _stores.get(mesh, "collidable_features", lambda: make_collidable_features(mesh, tree_of(mesh)))


def cast_features_of(mesh: Surface) -> CastFeatures:
    """`CastFeatures` of a mesh, in the order of its tree; lengths over its power of two."""
    return _stores.get(
        mesh, "cast_features", lambda: make_cast_features(mesh, tree_of(mesh), float(measures_of(mesh)[4]))
    )


def nodes_of(mesh: Surface, dtype: DTypeLike, stepped: Callable[[], None] | None = None) -> Array:
    """Nodes of the tree of its faces, level by level (see `node_table`); (nodes, GC_NODE_STRIDE)."""
    dtype = np.dtype(dtype)

    def make() -> Array:
        patches = patches_of(mesh)
        points, begins = patches.tables["source_vertices"], patches.begins[:, _SOURCES[0]]
        tree, kernels = tree_of(mesh), kernels_for(mesh, dtype)
        if kernels is not None:
            return kernels.node_table(mesh, tree, points, begins, stepped)
        return node_table(mesh, tree, points, begins, dtype, stepped)

    return _stores.get(mesh, f"nodes {dtype.char}", make)


def screen_of(mesh: Surface, dtype: DTypeLike, patches: bool = False) -> Any:
    """What culling reads of the mesh, or of all its patches: vertices and normals, each part as a block of x,
    then y, then z, and one over the length of each edge; three flat arrays."""
    dtype = np.dtype(dtype)
    name = f"{'patches' if patches else 'screen'} {dtype.char}"
    return _stores.get(mesh, name, lambda: _screen(mesh, dtype, patches))


def _screen(mesh: Surface, dtype: DTypeLike, patches: bool) -> Any:
    if not patches:
        vertices, normals = columns(mesh.vertices - mesh.center), columns(mesh.face_planes[:, :3])
        long = mesh.edge_lengths
        per_length = 1.0 / np.where(long > 0.0, long, np.inf)  # of a point: it has no direction
        return tuple(x.astype(dtype) for x in (np.concatenate(vertices), np.concatenate(normals), per_length))
    points, normals, per_length = screen_of(mesh, dtype)
    parts = patches_of(mesh)
    v, e, f = (parts.tables[f"source_{what}"] for what in ("vertices", "edges", "faces"))
    return (
        _blocks([x[v] for x in np.split(points, 3)], parts.counts[:, 0], dtype),
        _blocks([x[f] for x in np.split(normals, 3)], parts.counts[:, 2], dtype),
        per_length[e],
    )


def _blocks(values: Any, sizes: Any, dtype: DTypeLike) -> Array:
    """Three arrays, of parts of the given sizes, as a block of x, then y, then z for each part."""
    begins = np.repeat(np.cumsum(sizes) - sizes, sizes)
    at, step = np.arange(len(begins)) + 2 * begins, np.repeat(sizes, sizes)
    out = np.empty(3 * len(begins), dtype)
    for x in values:
        out[at] = x
        at += step
    return out


def prepare(mesh: Surface, near: bool | None, precision: str, progress: Any = None) -> None:
    """Make all that queries in `precision` need of a mesh; with `near`, that of queries for near faces too.

    `near` None: if the mesh is so large that queries look at near faces by themselves.
    """
    raster = np.float64 if precision == "double" else np.float32
    if near is None:
        near = len(mesh.face_planes) > sources.constants(precision)["GC_AUTO_NEAR_FACES"]
    steps = [measures_of, edge_lengths_of, solids_of, lambda m: screen_of(m, raster)]
    if near:
        steps += [tree_of, patches_of, lambda m: screen_of(m, raster, patches=True)]
    done, total = 0, len(steps) + ((len(mesh.face_planes) - 1).bit_length() + 1 if near else 0)

    def stepped() -> None:
        nonlocal done
        done += 1
        if progress is not None and done < total:
            progress(done, total)

    for step in steps:
        step(mesh)
        stepped()
    if near:
        nodes_of(mesh, raster, stepped)
    if progress is not None:
        progress(total, total)
