"""Launch order of the bisection in time: s01 once, then s09_overlap and s09_step for the start, for each
sample and for each halving.

Brackets stay on the device; pairs that have nothing to look at are passed over there.
"""

from __future__ import annotations

import time
from itertools import repeat

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline import overlap
from gpu_collide.pipeline.screw import _pose_buffers
from gpu_collide.pipeline.tables import tables_for
from gpu_collide.results.contacts import Status

__all__ = ["run", "sample_times"]

#: Above 1/2 (the end of the step): no time.
_NONE = 2.0
#: Launches between two looks at whether any pair is open; a look copies a number a pair to the host.
_LOOK = 8


def sample_times(samples):
    """Yield the times s in [-1/2, 1/2] to look at: the start, and the ends of `samples` equal steps."""
    for k in range(samples + 1):
        yield (2 * k - samples) / (2 * samples)


def run(bodies, pairs, samples, iterations, backend, options):
    """Bisection of all pairs.

    Returns
    -------
    status : (p,) int
        `Status`.
    apart, meet : (p,) float64
        In [0, 1]: the last time apart before the first overlap that was found, and that; 1 and inf if none
        was.
    tests : (p,) int32
        Overlap tests made.
    timings : dict of str to float
        Seconds.
    """
    precision = options.precision
    module = backend.module(precision)
    built = time.perf_counter()
    real, _ = sources.dtypes(precision)
    trees = overlap.takes_trees(bodies.meshes)
    tables = tables_for(bodies.meshes, backend, precision, trees).buffers
    poses, rows, _ = _pose_buffers(bodies, pairs, backend, real)
    timings = {"compile": module.seconds(), "prepare": time.perf_counter() - built}

    def launch(name, n, per_group=False, **args):
        begun = time.perf_counter()
        (backend.launch_groups if per_group else backend.launch_items)(module.kernel(name), n, **args)
        backend.synchronize()
        timings[name] = timings.get(name, 0.0) + time.perf_counter() - begun

    size = _chunk_size(backend, precision, options.max_bytes)
    parts = [
        _chunk(backend, launch, tables, poses, rows[at : at + size], samples, iterations, real)
        for at in range(0, len(rows), size)
    ]
    dtypes = (np.int32, np.int32, np.float64, np.float64)
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0)] * 4
    state, tests, apart, meet = (a.astype(d) for a, d in zip(joined, dtypes, strict=True))
    return _status(state, meet, sources.constants(precision)), apart, meet, tests, timings


def _status(state, meet, c):
    """`Status` of each pair from what s01 said of it and the time of its overlap."""
    status = np.where(meet == 0.0, Status.INITIAL_OVERLAP, np.where(meet < np.inf, Status.HIT, Status.MISS))
    status[state & int(c["GC_PAIR_UNRESOLVED"]) != 0] = Status.UNRESOLVED
    status[state & int(c["GC_PAIR_INVALID"]) != 0] = Status.INVALID_INPUT
    return status


def _chunk_size(backend, precision, max_bytes):
    """Pairs a piece: what fits the memory limit."""
    real = 4 if precision == "single" else 8
    per_pair = real * (int(sources.constants(precision)["GC_SCREW_STRIDE"]) + 3) + 4 * 4
    if per_pair > max_bytes:
        raise MemoryLimitError(
            f"max_bytes: expected room for one pair, which needs at least {per_pair} bytes, got {max_bytes}; "
            "pass a larger max_bytes"
        )
    return min(1 << (20 if backend.kind == "cuda" else 16), max_bytes // per_pair)


def _chunk(backend, launch, tables, poses, pairs, samples, iterations, real):
    """All launches for some pairs; state, tests, apart and meet on the host."""
    n = len(pairs)
    stride = int(sources.constants("double")["GC_SCREW_STRIDE"])
    common = {
        "n_pairs": n,
        "pairs_in": backend.to_device(np.ascontiguousarray(pairs, np.int32).reshape(-1), copy=False),
        "shape_in": poses["shape_in"],
        "mesh_reals_in": tables["mesh_reals_in"],
    }
    screw, state = backend.empty(n * stride, real), backend.empty(n, np.int32)
    launch("s01_screw", n, screw_out=screw, state_out=state, **common, **_without(poses, "shape_in"))
    common |= tables | {"screw_in": screw}
    everyone = np.arange(n, dtype=np.int32)
    known = backend.to_host(state).copy()
    times = sample_times(samples)
    begin = next(times)
    step = {
        "when_out": backend.to_device(np.where(known == 0, begin, _NONE).astype(real)),
        "apart_out": backend.fill(backend.empty(n, real), begin),
        "meet_out": backend.fill(backend.empty(n, real), _NONE),
        "tests_out": backend.zeros(n, np.int32),
        "state_out": state,
    }
    for rest in (times, repeat(_NONE, min(iterations, 1 << 31) + 1)):  # samples, halvings
        for k, after in enumerate(rest, 1):
            overlap.mark(backend, launch, common, everyone, step["when_out"], state)
            launch("s09_step", n, n_pairs=n, next=after, **step)
            if k % _LOOK == 0 and (backend.to_host(step["when_out"]) > 0.5).all():
                break  # no pair has a time to look at
    apart, meet = (backend.to_host(step[k]).astype(np.float64) + 0.5 for k in ("apart_out", "meet_out"))
    return known, backend.to_host(step["tests_out"]).copy(), apart, np.where(meet > 1.0, np.inf, meet)


def _without(buffers, name):
    return {k: v for k, v in buffers.items() if k != name}
