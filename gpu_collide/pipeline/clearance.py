"""Launch order of the clearance of pairs: s01 once; then s09 for the start and c01 for the step, or both
for one time after the other. Pairs that stay farther apart than anybody asks about are settled before, by
f01 and planes between hulls."""

from __future__ import annotations

import operator
import time
import weakref
from dataclasses import replace

import numpy as np

from gpu_collide._options import Options
from gpu_collide.pipeline.depth import Depths, take_depths, with_regions
from gpu_collide.pipeline.launch.pair_pieces import pair_pieces
from gpu_collide.pipeline.launch.poses import bind_poses, spins_of
from gpu_collide.pipeline.mesh_tables.tables import tables_for
from gpu_collide.pipeline.narrow_phase.immediate import Immediate
from gpu_collide.pipeline.narrow_phase.plan import decide
from gpu_collide.pipeline.narrow_phase.stages import find_motion, find_near, mark_overlaps
from gpu_collide.results.clearance import CLEARANCE_ROWS

__all__ = ["clearance"]

#: Above 1/2, the end of the step: all of it.
_STEP = 1.0
#: What the kernel writes, by the fields of a result, with the numbers of a row.
_WRITTEN = {
    "status": ("u1", 1), "time": ("real", 1), "distance": ("real", 1), "lower_bound": ("real", 1),
    "kind": ("i4", 1), "feature_a": ("i4", 1), "feature_b": ("i4", 1),
    "point_a": ("real", 3), "point_b": ("real", 3), "normal": ("real", 3),
}  # fmt: skip
_LENGTHS = {"float32": 1e37, "float64": 1e300}
"""A length beyond all, for no limit, by the type of lengths."""


def clearance(run, options, bodies, pairs, asked, progress=None):
    """Fields of `Clearance` beside its pairs: a row for each pair, or for each pair and time asked for, and
    perhaps for each region of it.

    Parameters
    ----------
    run : Launcher
    options : Options
        Of which only how bodies move counts.
    bodies : Bodies
    pairs : (p, 2) int32 ndarray
    asked : gpu_collide.queries.clearance.Asked
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    """
    plan = _plan(run, bodies.meshes, options.motion)
    far = asked.at is None and np.min(asked.max_distance, initial=np.inf) < np.inf
    programs = ("bodies", "overlap_body", "clearance_body") if plan.pieces else ("overlap", "clearance")
    run.build("screw", *programs, *(("hulls_apart",) if far else ()))
    begun = time.perf_counter()
    tables = tables_for(bodies.meshes, run.backend, run.precision, True)
    bound, shapes = bind_poses(run, bodies, pairs), bodies.shape[pairs]
    run.spent("prepare", begun)
    times = 1 if asked.at is None else len(asked.at)
    limits = np.empty((len(pairs), 2))
    limits[:, 0] = np.minimum(asked.max_distance, _LENGTHS[str(run.real)])
    limits[:, 1] = asked.enough
    parts: list[dict[str, np.ndarray]] = []
    regions: list[tuple[np.ndarray, Depths]] = []

    def some(at, stop):
        buffers = (
            bound.buffers
            | spins_of(run, bodies, pairs, bound)
            | {"pairs_in": run.to_device(bound.pairs[at:stop], np.int32)}
        )
        buffers["limits_in"] = run.to_device(limits[at:stop], run.real)
        if far:
            buffers["distance_in"] = run.to_device(limits[at:stop, 0], run.real)
        buffers["row_height_in"] = run.backend.zeros(stop - at, run.real)  # of rows that nobody asks for
        x = Immediate(run, plan, tables, shapes[at:stop], buffers)
        rows, deep = _piece(x, bodies.meshes, asked)
        parts.append(rows)
        regions.extend((times * (at + found.features[:, 0]) + k, found) for k, found in enumerate(deep))

    told = None if progress is None else lambda stop: progress(stop * times, len(pairs) * times)
    per_pair = run.real.itemsize * (int(run.c["GC_SCREW_STRIDE"]) + 12) + 4 * 12
    pair_pieces(run, len(pairs), per_pair, some, told)
    joined = _joined(parts or [_empty(times)], 0)
    found = {name: array.reshape(-1, *array.shape[2:]) for name, array in joined.items()}
    row = np.arange(len(pairs) * times)
    if asked.regions:
        found, row = with_regions(found, regions)
    found["pair"] = (row // times).astype(np.int32)
    return _placed(found, bound.origin)


def _plan(run, meshes, motion):
    """The plan for meshes, which are mostly those of the call before."""
    kept, plan = run.kept.get(("clearance", motion), ((), None))
    if len(kept) != len(meshes) or not all(map(operator.is_, (ref() for ref in kept), meshes)):
        # Of the filters, boxes settle less than they cost beside planes. Distances are those of the meshes,
        # less both rounding radii.
        options = Options(features="all", precision=run.precision, motion=motion, filters=("spheres",))
        plan = replace(decide(meshes, options, run.backend), at_distance=False)
        run.kept["clearance", motion] = [weakref.ref(mesh) for mesh in meshes], plan
    return plan


def _empty(times):
    return {name: np.zeros((0, times, *tail), dtype) for name, (dtype, tail) in CLEARANCE_ROWS.items()}


def _joined(parts, axis):
    """Rows of some parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts], axis) for name in CLEARANCE_ROWS}


def _placed(found, origin):
    """Rows as they are told, with points counted from the world's origin."""
    if origin is not None:
        told = found["normal"].any(axis=1)[:, None]
        for name in ("point_a", "point_b"):
            found[name] = np.where(told, found[name] + origin[found["pair"]], 0.0)
    return found


def _piece(x, meshes, asked):
    """All launches for the pairs of an executor: fields on the host, (pairs, times, ...), and of each time
    the regions of overlap."""
    run, be, n, state = x.run, x.run.backend, x.pairs.n, x.buffers["state_in"]
    near = find_near(x) if "distance_in" in x.buffers else None
    if near is None:
        find_motion(x)
    if "spins_in" not in x.buffers:  # nobody spins
        x.buffers |= {"spins_in": be.zeros(1, np.uint8), "spin_in": be.zeros(9, run.real)}
    known = be.to_host(state).copy()
    if near is not None:
        known[~near & (known == 0)] = run.c["GC_PAIR_APART"]
    moments = [None] if asked.at is None else asked.at
    parts, regions = [], []
    for moment in moments:
        be.write(state, known)
        start = -0.5 if moment is None else moment - 0.5
        mark_overlaps(x, x.todo, be.fill(be.empty(n, run.real), start))
        written = {
            name: be.empty(n * width, run.real if kind == "real" else np.dtype(kind))
            for name, (kind, width) in _WRITTEN.items()
        }
        x.launch(
            x.plan.solver("c01_clearance"), x.pairs,
            {f"{'bound' if name == 'lower_bound' else name}_out": b for name, b in written.items()},
            moment=_STEP if moment is None else start, tolerance=asked.tolerance,
        )  # fmt: skip
        rows = {name: be.to_host(b).astype(CLEARANCE_ROWS[name][0]) for name, b in written.items()}
        nothing = rows["time"] < 0.0
        rows["time"][nothing] = rows["distance"][nothing] = np.inf
        if moment is not None:
            rows["time"][rows["time"] < np.inf] = moment
            if np.max(asked.enough, initial=-1.0) < 0.0:  # else nobody asks how deep
                regions.append(take_depths(x, meshes, start, rows))
        parts.append(rows)
    shapes = {name: (n, 1, *tail) for name, (_, tail) in CLEARANCE_ROWS.items()}
    parts = [{name: part[name].reshape(shape) for name, shape in shapes.items()} for part in parts]
    return _joined(parts, 1), regions
