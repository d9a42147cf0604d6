"""Mesh tables: all meshes of a query as a few flat arrays (those of
`gpu_collide.pipeline.mesh_tables.layout`), kept."""

from __future__ import annotations

import operator
import threading
import weakref
from collections import defaultdict

import numpy as np

from gpu_collide.backends.fork import renew_after_fork
from gpu_collide.geometry.preparation import prepared
from gpu_collide.pipeline.mesh_tables.arena import MeshArena
from gpu_collide.pipeline.mesh_tables.layout import (
    BEHIND,
    KINDS,
    TABLES,
    assemble,
    check_index,
    pieces_of,
    sizes_of,
)

__all__ = ["MeshSets", "build_tables", "sets_of", "short_edges", "tables_for"]

#: Sets of meshes whose tables are kept on a backend, and the bytes beyond which only a few are.
MOST_SETS, FEW_SETS, MOST_BYTES = 32, 4, 1 << 28
#: Sets with a mesh of more faces are not copied together, but lie on a shelf.
FEW_FACES = 1 << 13


def build_tables(meshes, backend, precision, near=False):
    """Join what was made of each mesh (`gpu_collide.geometry.preparation.prepared`), or is now, for
    `backend`; with
    `near`, the meshes' patches as well."""
    parts = [sizes_of(m, near) for m in meshes]
    rows = np.array([[p.rows[kind] for kind in KINDS] for p in parts])
    totals = dict(zip(KINDS, rows.sum(axis=0).tolist(), strict=True))
    check_index(totals["index"])
    places = dict(zip(KINDS, (np.cumsum(rows, axis=0) - rows).T, strict=True))
    for kind, before in BEHIND.items():
        places[kind] = places[kind] + totals[before]
    pieces: defaultdict = defaultdict(list)
    for mesh in meshes:
        for key, arrays in pieces_of(mesh, near, precision).items():
            pieces[key] += arrays
    tables, held = {}, 0
    for name, table in TABLES.items():
        dtype = table.dtype(precision)
        arrays = [x for kind in table.kinds for x in pieces[name, kind]] or [np.zeros(1, dtype)]
        joined = np.concatenate(arrays, dtype=dtype, casting="same_kind")
        tables[name], held = backend.to_device(joined, copy=False), held + joined.nbytes
    return assemble(meshes, parts, places, tables, backend, precision, near, held)


class _Set:
    """The tables of some meshes, until one of these is gone."""

    def __init__(self, meshes):
        this = weakref.ref(self)

        def drop(_):
            if (entry := this()) is not None:
                entry.tables = None

        self.meshes = [weakref.ref(mesh, drop) for mesh in meshes]
        self.tables = None
        self.shelf = None  # where they lie, if they are not these meshes' alone
        self.lock = threading.Lock()  # held by the thread that joins the tables

    def holds(self, meshes):
        """Is it these very meshes, not later ones of the same ids?"""
        return all(map(operator.is_, [ref() for ref in self.meshes], meshes))


class MeshSets:
    """The tables of the last sets of meshes that were used on one backend; freed with the backend.

    What is kept of a set is its tables, or what ``build(meshes, backend, precision)`` makes, if it is given.
    """

    def __init__(self, build=None):
        self._build = build
        self._sets, self._shelves = {}, {}
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self):
        self._lock, self._shelving = threading.Lock(), threading.Lock()
        self._shelves.clear()  # another thread of the parent may have been putting something there
        for entry in self._sets.values():
            entry.lock = threading.Lock()

    def get(self, meshes, backend, precision, near=False):
        ids = tuple(map(id, meshes))
        with self._lock:
            near = near or (ids, precision, True) in self._sets  # those have all that the others have
            key = (ids, precision, near)
            entry = self._sets.pop(key, None)
            if entry is None or not entry.holds(meshes):
                entry = _Set(meshes)
            self._sets[key] = entry
        with entry.lock:
            # the caller holds the meshes, so nothing drops the tables meanwhile
            if entry.tables is not None:
                return entry.tables
            if self._build is None:
                tables = self._make(entry, meshes, backend, precision, near)
            else:
                entry.tables = tables = self._build(meshes, backend, precision)
        with self._lock:
            self._trim()
        return tables

    def _make(self, entry, meshes, backend, precision, near):
        """Tables of a set, which they are kept with from now on."""
        if max(len(mesh.face_planes) for mesh in meshes) <= FEW_FACES:
            entry.tables = tables = build_tables(meshes, backend, precision, near)
            return tables
        for mesh in meshes:
            prepared.prepare(mesh, near, precision)  # others need not wait for it
        with self._shelving:
            key = precision, near
            shelf = self._shelves.get(key) or MeshArena(backend, precision, near)
            try:
                tables = shelf.tables(meshes, entry)
                if tables is None:
                    shelf = shelf.renewed(meshes)
                    tables = shelf.tables(meshes, entry)
                entry.shelf, self._shelves[key] = shelf, shelf
            except MemoryError:  # a shelf takes more than its meshes need
                self._shelves.pop(key, None)
                tables = build_tables(meshes, backend, precision, near)
            entry.tables = tables
            if entry.shelf is not None and entry.shelf.gone:
                entry.tables = None
        return tables

    def _trim(self):
        """Let go of the sets that were asked for longest ago. A set being joined counts for nothing yet."""
        tables = [entry.tables for entry in self._sets.values()]
        held = [0 if t is None else t.nbytes for t in tables]
        for key, nbytes in list(zip(self._sets, held, strict=True)):
            if len(self._sets) <= (FEW_SETS if sum(held) > MOST_BYTES else MOST_SETS):
                break
            self._sets.pop(key)
            held.remove(nbytes)
        used = {id(entry.shelf) for entry in self._sets.values()}
        for key, shelf in list(self._shelves.items()):
            if id(shelf) not in used:
                del self._shelves[key]


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
    return sets_of(backend, "tables").get(meshes, backend, precision, near)


def sets_of(backend, name, build=None):
    """The `MeshSets` of this name on a backend."""
    sets = backend.kept.get(name)
    return backend.kept.setdefault(name, MeshSets(build)) if sets is None else sets


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
