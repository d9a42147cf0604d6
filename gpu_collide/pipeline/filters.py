"""The filters between broad phase and narrow phase: each gets the pairs that those before it left.

A filter settles a pair if it shows that nothing can touch during the step. It is as careful as the culling
that follows, so the contacts are the same bits with any of them on or off (docs/decisions/0010).
"""

from __future__ import annotations

import time

import numpy as np

from gpu_collide import _options

__all__ = ["FILTERS", "apply", "narrow_phase"]

#: Name of each filter and its kernel.
FILTERS = {name: f"f{k:02d}_{name}" for k, name in enumerate(_options.FILTERS, start=1)}


def apply(state, common, solver, pair_state, n, names):
    """Run the filters `names`, in that order, on the `n` pairs of a chunk.

    Parameters
    ----------
    state : the pipeline's run
        Gives backend and launches; its ``report``, if there is one, gets a row per filter.
    common, solver : dict
        Buffers of the chunk and of the meshes, by the names of kernel arguments.
    pair_state : buffer (n,) int32
        ``GC_PAIR_*`` bits; pairs that have any stay.
    n : int
    names : sequence of str
        Keys of `FILTERS`.

    Returns
    -------
    (k,) int32 array
        Pairs of the chunk that remain, ascending.
    """
    todo = np.arange(n, dtype=np.int32)
    for name in names:
        if not len(todo):
            break
        begun = time.perf_counter()
        keep = _RUN[name](state, common, solver, pair_state, todo)
        left = todo[state.backend.to_host(keep).view(bool)]
        seconds = time.perf_counter() - begun
        if state.report is not None:
            state.report.add(name, len(todo), len(todo) - len(left), seconds)
        todo = left
    return todo


def _spheres(state, common, solver, pair_state, todo):
    be = state.backend
    keep = be.empty(len(todo), np.uint8)
    state.launch("f01_spheres", len(todo), n_todo=len(todo), todo_in=be.to_device(todo, copy=False),
                 screw_in=common["screw_in"], state_in=pair_state, keep_out=keep)  # fmt: skip
    return keep


def _boxes(state, common, solver, pair_state, todo):
    be = state.backend
    keep = be.empty(len(todo), np.uint8)
    state.launch("f02_boxes", len(todo), n_todo=len(todo), todo_in=be.to_device(todo, copy=False),
                 state_in=pair_state, mesh_reals_in=solver["mesh_reals_in"], keep_out=keep,
                 **{k: common[k] for k in ("pairs_in", "shape_in", "screw_in")})  # fmt: skip
    return keep


def _plane(state, common, solver, pair_state, todo):
    be, t = state.backend, state.tables
    vertices = 2 * int(t.counts[:, 0].max())
    reals = 4 * vertices + 2 * be.group_size
    room = state.options.max_bytes // 4 // (reals * state.raster.itemsize + 8 * be.group_size)
    groups = min(be.max_groups, len(todo), room)
    if groups < 1 or reals >= 2**31:  # a test that may be left out
        return be.fill(be.empty(len(todo), np.uint8), 1)
    keep = be.empty(len(todo), np.uint8)
    tables = {k: common[k] for k in ("pairs_in", "shape_in", "screw_in", "headers_in")}
    state.launch_groups("f03_plane", groups, n_todo=len(todo), todo_in=be.to_device(todo, copy=False),
                        state_in=pair_state, mesh_reals_in=solver["mesh_reals_in"],
                        vertices_in=t.screen["vertices_in"], reals_per_group=reals, keep_out=keep,
                        scratch_reals=be.empty(groups * reals, state.raster),
                        scratch_ints=be.empty(groups * 2 * be.group_size, np.int32), **tables)  # fmt: skip
    return keep


_NARROW = ("screen", "s07_solve", "s08_place", "s08_contacts", "s09_near", "s09_overlap")
_RUN = {"spheres": _spheres, "boxes": _boxes, "plane": _plane}


def narrow_phase(state, hits):
    """Add the last row to the report: the pairs that the tests before left, all settled by the launches
    of the screw method. What is done for every pair, its screw and its place in the result, is not in it."""
    launches = sum(v for k, v in state.timings.items() if k in _NARROW)
    state.report.add("narrow phase", state.narrow, state.narrow, launches, hits)
