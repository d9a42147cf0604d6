"""The filters between broad phase and narrow phase: each gets the pairs that those before it left.

A filter settles a pair if it shows that nothing can touch during the step. It is as careful as the culling
that follows, so the contacts are the same bits with any of them on or off (docs/decisions/0010).
"""

from __future__ import annotations

import time

import numpy as np

__all__ = ["AUTO", "FILTERS", "apply", "chosen", "narrow_phase"]

#: Name of each filter and its kernel, in the order in which they cost.
FILTERS = {"spheres": "f01_spheres", "boxes": "f02_boxes", "plane": "f03_plane"}
#: What ``filters="auto"`` runs: those that earn their time (docs/decisions/0010).
AUTO = ("spheres", "boxes")


def chosen(filters):
    """The names that the option `filters` of ``collide`` stands for, in the order given; raises TypeError or
    ValueError if it is nothing of the kind."""
    what = f"'auto', 'none' or a tuple of {', '.join(map(repr, FILTERS))}"
    if isinstance(filters, str):
        if filters not in ("auto", "none"):
            hint = f"; one filter is ({filters!r},)" if filters in FILTERS else ""
            raise ValueError(f"filters: expected {what}, got {filters!r}{hint}")
        return AUTO if filters == "auto" else ()
    if not isinstance(filters, (tuple, list)) or not all(isinstance(name, str) for name in filters):
        got = type(filters).__name__
        if isinstance(filters, (tuple, list)):
            got += " with " + next(type(name).__name__ for name in filters if not isinstance(name, str))
        raise TypeError(f"filters: expected {what}, got {got}")
    for name in filters:
        if name not in FILTERS:
            raise ValueError(f"filters: expected {what}, got {name!r}")
        if list(filters).count(name) > 1:
            raise ValueError(f"filters: expected each once, got {name!r} twice")
    return tuple(filters)


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
    room = state.query.max_bytes // 4 // (reals * state.raster.itemsize + 8 * be.group_size)
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
