"""Launch order of the overlap test: s09_near for all pairs asked about, s09_overlap for those it keeps."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources

__all__ = ["mark", "takes_trees"]

_NEAR = ("pairs_in", "shape_in", "screw_in", "mesh_reals_in")
_OVERLAP = (*_NEAR, "headers_in", "topology_in", "vertices_in", "planes_in", "trees_in", "nodes_in",
            "solids_in", "insets_in")  # fmt: skip


def takes_trees(meshes):
    """Does a query that looks for overlaps want trees of the faces? It does if a mesh is large."""
    limit = sources.constants()["GC_AUTO_NEAR_FACES"]
    return any(len(m.face_planes) > limit for m in meshes)


def mark(backend, launch, buffers, todo, when, pair_state):
    """Set ``GC_PAIR_OVERLAP`` for those of the pairs `todo` that overlap at their time.

    Parameters
    ----------
    backend : Backend
    launch : callable
        ``launch(name, n, per_group=False, **args)``.
    buffers : dict
        Buffers of the pairs and of the meshes, by the names of kernel arguments.
    todo : (k,) int32 array
        Numbers of pairs, each once.
    when : buffer (n,) real
        Time of each pair, in [-1/2, 1/2]; above: not asked.
    pair_state : buffer (n,) int32
        ``GC_PAIR_*`` bits; pairs that have any are not asked.
    """
    if not len(todo):
        return
    near = backend.empty(len(todo), np.uint8)
    launch("s09_near", len(todo), n_todo=len(todo), todo_in=backend.to_device(todo, copy=False), when_in=when,
           state_in=pair_state, near_out=near, **{k: buffers[k] for k in _NEAR})  # fmt: skip
    left = todo[backend.to_host(near).view(bool)]
    if len(left):
        launch("s09_overlap", len(left), True, n_todo=len(left), todo_in=backend.to_device(left, copy=False),
               when_in=when, state_out=pair_state, **{k: buffers[k] for k in _OVERLAP})  # fmt: skip
