"""Launch order of the bisection in time: s01 once, then s09_overlap and s09_step for the start, for each
sample and for each halving.

Brackets stay on the device; pairs that have nothing to look at are passed over there.
"""

from __future__ import annotations

import time
from itertools import repeat

import numpy as np

from gpu_collide._options import Options
from gpu_collide.pipeline.launch.pair_pieces import pair_pieces
from gpu_collide.pipeline.launch.poses import bind_poses, spins_of
from gpu_collide.pipeline.mesh_tables.tables import tables_for
from gpu_collide.pipeline.narrow_phase.immediate import Immediate
from gpu_collide.pipeline.narrow_phase.plan import decide
from gpu_collide.pipeline.narrow_phase.stages import find_motion, mark_overlaps
from gpu_collide.results.contacts import Status

__all__ = ["bisection", "sample_times"]

#: Above 1/2 (the end of the step): no time.
_NONE = 2.0
#: Launches between two looks at whether any pair is open; a look copies a number a pair to the host.
_LOOK = 8


def sample_times(samples):
    """Yield the times s in [-1/2, 1/2] to look at: the start, and the ends of `samples` equal steps."""
    for k in range(samples + 1):
        yield (2 * k - samples) / (2 * samples)


def bisection(run, options, bodies, pairs, samples, iterations):
    """Bisection of all pairs; of the options only how bodies move.

    Returns
    -------
    status : (p,) int
        `Status`.
    apart, meet : (p,) float64
        In [0, 1]: the last time apart before the first overlap that was found, and that; 1 and inf if none
        was.
    tests : (p,) int32
        Overlap tests made.
    """
    asked = Options(features="all", precision=run.precision, motion=options.motion)
    plan = decide(bodies.meshes, asked, run.backend)
    run.build("screw", "bodies", "overlap_body") if plan.pieces else run.build("screw", "overlap")
    begun = time.perf_counter()
    tables = tables_for(bodies.meshes, run.backend, run.precision, plan.trees)
    bound, shapes = bind_poses(run, bodies, pairs), bodies.shape[pairs]
    run.spent("prepare", begun)
    parts = [(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros(0))]

    def some(at, stop):
        buffers = (
            bound.buffers
            | spins_of(run, bodies, pairs, bound)
            | {"pairs_in": run.to_device(bound.pairs[at:stop], np.int32)}
        )
        buffers["row_height_in"] = run.backend.zeros(stop - at, run.real)  # of rows that nobody asks for
        x = Immediate(run, plan, tables, shapes[at:stop], buffers)
        parts.append(_piece(x, samples, iterations))

    run.room.limit(run.room.asked, run.backend.reserved_bytes)
    per_pair = run.real.itemsize * (int(run.c["GC_SCREW_STRIDE"]) + 4) + 4 * 4
    pair_pieces(run, len(pairs), per_pair, some)
    state, tests, apart, meet = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _status(state, meet, run.c), apart, meet, tests


def _status(state, meet, c):
    """`Status` of each pair from what s01 said of it and the time of its overlap."""
    status = np.where(meet == 0.0, Status.INITIAL_OVERLAP, np.where(meet < np.inf, Status.HIT, Status.MISS))
    status[state & int(c["GC_PAIR_UNRESOLVED"]) != 0] = Status.UNRESOLVED
    status[state & int(c["GC_PAIR_INVALID"]) != 0] = Status.INVALID_INPUT
    return status


def _piece(x, samples, iterations):
    """All launches for the pairs of an executor; state, tests, apart and meet on the host."""
    run, be, n, state = x.run, x.run.backend, x.pairs.n, x.buffers["state_in"]
    find_motion(x)
    known = be.to_host(state).copy()
    times = sample_times(samples)
    begin = next(times)
    step = {
        "when_out": be.to_device(np.where(known == 0, begin, _NONE).astype(run.real)),
        "apart_out": be.fill(be.empty(n, run.real), begin),
        "meet_out": be.fill(be.empty(n, run.real), _NONE),
        "tests_out": be.zeros(n, np.int32),
        "state_out": state,
    }
    for rest in (times, repeat(_NONE, min(iterations, 1 << 31) + 1)):  # samples, halvings
        for k, after in enumerate(rest, 1):
            mark_overlaps(x, x.todo, step["when_out"])
            run.launch(x.plan.solver("s09_step"), n, step, n_pairs=n, next=after)
            if k % _LOOK == 0 and (be.to_host(step["when_out"]) > 0.5).all():
                break  # no pair has a time to look at
    apart, meet = (be.to_host(step[k]).astype(np.float64) + 0.5 for k in ("apart_out", "meet_out"))
    return known, be.to_host(step["tests_out"]).copy(), apart, np.where(meet > 1.0, np.inf, meet)
