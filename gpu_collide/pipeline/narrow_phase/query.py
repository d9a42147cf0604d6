"""The screw method for the pairs of a query, in batches that fit the memory.

What is made of meshes (`prepare`), of poses (`bind_poses`) and of pairs (`collide`) stands apart, so that
each is done as often as it changes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_collide.pipeline.launch.poses import bind_poses, spins_of
from gpu_collide.pipeline.mesh_tables.tables import tables_for
from gpu_collide.pipeline.narrow_phase import device_batches, scratch
from gpu_collide.pipeline.narrow_phase.assemble import Assembler
from gpu_collide.pipeline.narrow_phase.context import Prepared, Query
from gpu_collide.pipeline.narrow_phase.immediate import Immediate
from gpu_collide.pipeline.narrow_phase.pieces import distances_of
from gpu_collide.pipeline.narrow_phase.plan import decide, near_pairs
from gpu_collide.pipeline.narrow_phase.stages import narrow_phase
from gpu_collide.results.report import FilterReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_collide._options import Options
    from gpu_collide._types import Array, Progress
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh
    from gpu_collide.pipeline.launch.launcher import Launcher
    from gpu_collide.pipeline.narrow_phase.plan import Plan

__all__ = ["collide", "prepare"]

#: Pairs taken from the broad phase at a time, and the bytes that one takes there.
BLOCK, BLOCK_BYTES = 1 << 20, 64
#: Room for the near faces of a pair, by which pieces are cut; where they take more, the piece is cut again.
NEAR_BYTES = 1 << 20
#: Launches of the narrow phase, of which the report tells the time. What is done for every pair, its screw
#: and its place in the result, is not in it.
_NARROW = (
    "screen_hulls", "screen", "screen_small", "s07_solve", "s07_find", "s07_test", "s07_last", "s08_place",
    "s08_contacts", "s09_near", "s09_overlap",
)  # fmt: skip


def prepare(run: Launcher, meshes: Sequence[Mesh], options: Options) -> Prepared:
    """The plan, the kernels that it asks for, and tables of the meshes on the run's backend."""
    plan = decide(meshes, options, run.backend)
    run.build(*plan.programs)
    begun = time.perf_counter()
    prepared = Prepared(plan, tables_for(meshes, run.backend, run.precision, plan.trees))
    run.spent("prepare", begun)
    return prepared


def collide(
    run: Launcher,
    prepared: Prepared,
    bodies: Bodies,
    pairs: Any,
    progress: Progress | None = None,
    stay: bool = False,
    distances: Array | None = None,
) -> tuple[dict[str, Any], Query]:
    """The whole query.

    Parameters
    ----------
    run : Launcher
    prepared : Prepared
        Of the meshes of `bodies`.
    bodies : Bodies
    pairs : (p, 2) int32 ndarray, or a Search of the broad phase, whose blocks are taken one after the other,
        or a Given, if `gpu_collide.pipeline.narrow_phase.device_batches.serves` says yes
    progress : callable, optional
    stay : bool
        All fields stay where they were computed, as arrays of `Backend.arrays`; else all are on the host.
    distances : (p,) float64 array, optional
        At which the bodies of each given pair are in contact; default: that of the options.

    Returns
    -------
    dict
        Fields of `Contacts`.
    Query
    """
    query = Query(run, prepared, FilterReport() if prepared.plan.options.report else None)
    found, total = Assembler(), len(pairs)
    there = device_batches.serves(run.backend, bodies, prepared.plan.asks_heights) and bodies.spins is None
    blocks = [pairs]
    if not isinstance(pairs, (np.ndarray, device_batches.Given)):
        limit = max(1, min(BLOCK, run.room.fits(BLOCK_BYTES)))
        blocks = pairs.blocks(limit, True) if there else pairs.blocks(limit)
    for block in blocks:
        if there:
            device_batches.block(query, bodies, block, found, total, stay, progress, distances)
        else:
            _block(query, bodies, block, found, total, progress, distances)
    begun = time.perf_counter()
    fields = found.fields(run, stay)
    run.spent("assemble", begun)
    if query.report is not None:
        seconds = sum(spent for name, spent in run.timings.items() if name in _NARROW)
        hits = query.hits if there else int((fields["toi"] < np.inf).sum())
        query.report.add("narrow phase", query.narrow, query.narrow, seconds, hits)
    return fields, query


def _block(
    query: Query,
    bodies: Bodies,
    pairs: Array,
    found: Assembler,
    total: int,
    progress: Progress | None,
    distances: Array | None,
) -> None:
    """All stages for a block of pairs, one launch after the other, in pieces that fit the memory limit."""
    run, prepared = query.run, query.prepared
    bound = bind_poses(run, bodies, pairs, prepared.placed)
    spins = spins_of(run, bodies, pairs, bound)
    done, shapes, plan = found.add_block(pairs, bound.origin), bodies.shape[pairs], prepared.plan
    near: Any = np.cumsum(near_pairs(plan.near, shapes)) if plan.any_near else None
    most_near = max(1, run.room.fits(NEAR_BYTES))

    def take(plan: Plan, at: int, stop: int) -> None:
        some, report = shapes[at:stop], None if query.report is None else FilterReport()
        heights = prepared.row_heights(bodies.meshes, some)
        buffers = bound.buffers | spins
        buffers["pairs_in"] = run.to_device(bound.pairs[at:stop])
        buffers["row_height_in"] = run.to_device(
            np.zeros(stop - at) if heights is None else heights, run.real
        )
        if plan.at_distance:
            buffers["distance_in"] = distances_of(run, plan.options, stop - at, distances, at)
        x = Immediate(run, plan, prepared.tables, some, buffers, done + at, report)
        found.add_piece(narrow_phase(x))
        query.narrow += x.narrow
        if report is not None:
            query.report = query.report + report

    def cut(at: int) -> Any:
        """Where so many pairs look at near faces as there is room for."""
        return np.searchsorted(near, (near[at - 1] if at else 0) + most_near, "right")

    def refusal(at: int, need: int) -> str:
        looks_near = near is not None and near[at] > (near[at - 1] if at else 0)
        return query.refusal(done + at, need, looks_near)

    passed_on = None if progress is None else lambda stop: progress(done + stop, total)
    size, some = _piece_size(query, len(pairs)), query.with_alternatives(take)
    run.room.pieces(len(pairs), size, some, None if near is None else cut, refusal, passed_on)


def _piece_size(query: Query, n: int) -> int:
    """Pairs a piece: what fits the memory limit, and not more than keeps progress visible."""
    run = query.run
    group = scratch.group_bytes(run, scratch.screen(query.prepared.plan.largest, query.prepared.plan.rows))
    per_pair = run.real.itemsize * int(run.c["GC_SCREW_STRIDE"]) + 16 * 40 + 200
    beside = run.room.fits(per_pair, held=run.backend.max_groups * group)
    most = max(beside, run.room.fits(per_pair, share=2))
    limit = 1 << (20 if run.backend.kind == "cuda" else 16)
    return max(1, min(n, limit, most))
