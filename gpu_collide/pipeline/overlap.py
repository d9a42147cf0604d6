"""Launch order of the overlap test: s09_near for all pairs asked about, s09_overlap for those it keeps."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources

__all__ = ["mark", "takes_trees"]


def takes_trees(meshes):
    """Does a query that looks for overlaps want trees of the faces? It does if a mesh is large."""
    limit = sources.constants()["GC_AUTO_NEAR_FACES"]
    return any(len(m.face_planes) > limit for m in meshes)


def mark(run, bound, todo, when):
    """Set ``GC_PAIR_OVERLAP`` for those of the pairs `todo` that overlap at their time.

    Parameters
    ----------
    run : Run
    bound : sequence of dict
        Buffers of the pairs and of the meshes, by the names of kernel arguments. Pairs that have any
        ``GC_PAIR_*`` bits are not asked.
    todo : (k,) int32 array
        Numbers of pairs, each once.
    when : buffer (n,) real
        Time of each pair, in [-1/2, 1/2]; above: not asked.
    """
    if not len(todo):
        return
    be = run.backend
    near = be.empty(len(todo), np.uint8)
    run.launch("s09_near", len(todo), *bound, n_todo=len(todo), todo_in=run.to_device(todo), when_in=when,
               near_out=near)  # fmt: skip
    left = todo[be.to_host(near).view(bool)]
    if len(left):
        run.launch_each("s09_overlap", len(left), *bound, n_todo=len(left), todo_in=run.to_device(left),
                        when_in=when)  # fmt: skip
