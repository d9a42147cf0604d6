"""Launch order of the screw method: s01, the screen stages s02 to s06, s07, s08.

Sizes are counted, scanned, then filled. Where a count is only known after a launch, the launch goes into a
buffer of guessed size, says how much it needed, and is repeated if that was more: nothing is dropped.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from gpu_collide._options import Options
from gpu_collide.backends import sources
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline import filters, overlap
from gpu_collide.pipeline.near import find_items, takes_near
from gpu_collide.pipeline.screen import REFINE, TooLarge, scratch_guess, search
from gpu_collide.pipeline.tables import short_edges, tables_for
from gpu_collide.results.contacts import Contacts
from gpu_collide.results.report import FilterReport

__all__ = ["collide"]

#: Pairs taken from the broad phase at a time, and the bytes that one takes there.
BLOCK, BLOCK_BYTES = 1 << 20, 64
#: Room for the near faces of a pair, by which pieces are cut; where they take more, the piece is cut again.
NEAR_BYTES = 1 << 20
#: Contact fields in the order of the result: dtype (None = the solver's type) and width.
_FIELDS = {
    "pair": ("i4", 1), "kind": ("u1", 1), "feature_a": ("i4", 1), "feature_b": ("i4", 1), "time": (None, 1),
    "position": (None, 3), "normal": (None, 3), "properness": (None, 1), "local_a": (None, 3),
    "local_b": (None, 3), "normal_speed": (None, 1), "sustained": ("u1", 1), "time_end": (None, 1),
}  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """So many pairs as are worked on at a time: their bodies as the pose buffers number them, the bodies'
    meshes, row heights or None, whether any looks for candidates in rows, and the number of the first among
    all."""

    pairs: np.ndarray
    shapes: np.ndarray
    heights: np.ndarray | None
    rows: bool
    first: int


@dataclass
class _Run:
    """State of one query on one backend."""

    bodies: object
    options: Options
    progress: object
    backend: object
    module: object
    tables: object
    c: dict
    real: np.dtype
    raster: np.dtype
    buffers: dict = field(default_factory=dict)
    blocks: list = field(default_factory=list)
    origins: list = field(default_factory=list)
    timings: dict = field(default_factory=dict)
    guess: dict = field(default_factory=dict)
    pieces: list = field(default_factory=list)
    narrow: int = 0  # pairs that came to the narrow phase
    near: np.ndarray | None = None  # (meshes,) bool: pairs with it look at near faces only
    report: FilterReport | None = None

    def launch(self, name, n, per_group=False, **args):
        kernel = self.module.kernel(name)
        begun = time.perf_counter()
        (self.backend.launch_groups if per_group else self.backend.launch_items)(kernel, n, **args)
        self.backend.synchronize()
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - begun

    def launch_groups(self, name, groups, **args):
        """`launch` with so many groups, each with scratch of its own."""
        begun = time.perf_counter()
        self.backend.launch(self.module.kernel(name), groups, **args)
        self.backend.synchronize()
        self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - begun


def _pose_buffers(bodies, pairs, backend, real):
    """Poses as the kernels read them. In single precision every pair gets its own two bodies, placed relative
    to A's start, so that a scene far from the origin keeps its digits; pairs are then (0, 1), (2, 3), ..."""
    start, end, shape = bodies.start, bodies.end, bodies.shape
    position = [start.position, end.position]
    quat = [start.unit_wxyz, end.unit_wxyz]
    valid = start.valid & end.valid
    origin = None
    if real == np.float32:
        origin = start.position[pairs[:, 0]]
        flat = pairs.reshape(-1)
        shape, valid = shape[flat], valid[flat]
        position = [p[flat] - np.repeat(origin, 2, axis=0) for p in position]
        quat = [q[flat] for q in quat]
        pairs = np.arange(2 * len(pairs), dtype=np.int32).reshape(-1, 2)
    clean = [np.where(valid[:, None], p, 0.0) for p in position] if not valid.all() else position
    names = ("start_position_in", "end_position_in", "start_quat_in", "end_quat_in")
    arrays = dict(zip(names, [*clean, *quat], strict=True))
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and its pair UNRESOLVED
        buffers = {
            k: backend.to_device(np.ascontiguousarray(a, dtype=real).reshape(-1), copy=False)
            for k, a in arrays.items()
        }
    buffers["shape_in"] = backend.to_device(np.ascontiguousarray(shape, dtype=np.int32), copy=False)
    buffers["valid_in"] = backend.to_device(valid.astype(np.uint8), copy=False)
    return buffers, pairs, origin


def _takes_rows(bodies, options, pairs, near):
    """Does any pair look for its candidates in rows? Near faces do not."""
    if options.candidates != "auto":
        return options.candidates == "raster"
    a, b = bodies.shape[pairs[:, 0]], bodies.shape[pairs[:, 1]]
    limit = sources.constants(options.precision)["GC_AUTO_EDGE_PRODUCT"]
    edges = np.array([len(m.edges) for m in bodies.meshes], dtype=np.int64)
    return bool((~(near[a] | near[b]) & (edges[a] * edges[b] > limit)).any())


def _row_heights(bodies, options, pairs, rows):
    """Row height of each pair in user units, or None if nothing asks for it."""
    a, b = bodies.shape[pairs[:, 0]], bodies.shape[pairs[:, 1]]
    if options.refine == "exact" and not rows:
        return None
    if options.pixel_size is not None:
        return np.full(len(pairs), options.pixel_size)
    return short_edges(bodies.meshes, a, b) / options.resolution


def collide(bodies, pairs, backend, options, about, progress=None):
    """`Contacts` of pairs, (p, 2) int32, or of a search of the broad phase, whose blocks are taken one after
    the other; `about` goes into their ``info``."""
    state = _begin(bodies, options, backend, progress)
    blocks, total = [pairs], len(pairs)
    if not isinstance(pairs, np.ndarray):
        blocks = pairs.blocks(max(1, min(BLOCK, options.max_bytes // BLOCK_BYTES)))
    for block in blocks:
        _block(state, block, total)
    fields = _assemble(state)
    tolerances = {k: float(v) for k, v in state.c.items() if k.startswith(("GC_TOL_", "GC_TAU_"))}
    info = {**about, "tolerances": tolerances, "timings": dict(state.timings)}
    if options.report:
        filters.narrow_phase(state, np.isfinite(fields["toi"]).sum())
        info["report"] = state.report.to_dict()
    return Contacts(**fields, info=info)


def _begin(bodies, options, backend, progress):
    """The state of a query before its first block."""
    module = backend.module(options.precision)
    begun = time.perf_counter()
    real, raster = sources.dtypes(options.precision)
    near = takes_near(bodies.meshes, options)
    trees = near.any() or (options.check_start and overlap.takes_trees(bodies.meshes))
    tables = tables_for(bodies.meshes, backend, options.precision, bool(trees))
    c = sources.constants(options.precision)
    state = _Run(bodies, options, progress, backend, module, tables, c, real, raster)
    state.near = near
    state.report = FilterReport() if options.report else None
    state.timings["compile"] = module.seconds()
    state.timings["prepare"] = time.perf_counter() - begun
    return state


def _block(state, pairs, total):
    """All stages for a block of pairs, in pieces that fit the memory limit."""
    bodies, options = state.bodies, state.options
    done = sum(len(block) for block in state.blocks)
    state.blocks.append(pairs)
    state.buffers, numbers, origin = _pose_buffers(bodies, pairs, state.backend, state.real)
    if origin is not None:
        state.origins.append(origin)
    rows = _takes_rows(bodies, options, pairs, state.near)
    heights = _row_heights(bodies, options, pairs, rows)
    near = np.cumsum(state.near[bodies.shape[pairs]].any(axis=1))
    most_near = max(1, options.max_bytes // NEAR_BYTES)
    n, at, size = len(pairs), 0, _chunk_size(state, len(pairs), rows)
    while at < n:
        stop = min(at + size, n)
        before = near[at - 1] if at else 0
        stop = max(at + 1, min(stop, int(np.searchsorted(near, before + most_near, "right"))))
        piece = Piece(
            numbers[at:stop], bodies.shape[pairs[at:stop]],
            None if heights is None else heights[at:stop], rows, done + at,
        )  # fmt: skip
        told = state.report
        state.report = None if told is None else told + FilterReport()
        try:
            _chunk(state, piece)
        except (TooLarge, MemoryError) as error:  # the limit that was set, or the machine's
            state.report = told  # the halves will tell it again
            if stop - at == 1 and isinstance(error, TooLarge):
                raise MemoryLimitError(
                    f"max_bytes: expected room for pair {done + at}, which needs at least {error.need} "
                    f"bytes, got {options.max_bytes}; {_remedy(options, near[at] > before)}"
                ) from None
            if stop - at == 1:
                raise
            size = max(1, (stop - at) // 2)
            continue
        at = stop
        if state.progress is not None:
            state.progress(done + at, total)


def _remedy(options, near):
    """What helps a pair that is too large; `near` if it looks at near faces already."""
    if near or options.refine != "exact" or options.candidates == "raster":
        return "pass a larger max_bytes"
    return "pass a larger max_bytes, or features='near'"


def _chunk_size(state, n, rows):
    """Pairs a piece: what fits the memory limit, and not more than keeps progress visible."""
    reals, ints = scratch_guess(state.tables.largest, rows)
    scratch = state.backend.max_groups * (reals * state.raster.itemsize + ints * 4)
    per_pair = state.real.itemsize * int(state.c["GC_SCREW_STRIDE"]) + 16 * 40 + 200
    room = state.options.max_bytes - min(scratch, state.options.max_bytes // 2)
    limit = 1 << (20 if state.backend.kind == "cuda" else 16)
    return max(1, min(n, limit, room // per_pair))


def _chunk(state, piece):
    """All stages for a piece of the pairs."""
    be, q, n = state.backend, state.options, len(piece.pairs)
    b = dict(state.buffers)
    b["pairs_in"] = be.to_device(np.ascontiguousarray(piece.pairs).reshape(-1), copy=False)
    stride = int(state.c["GC_SCREW_STRIDE"])
    if n * (stride * state.real.itemsize + 64) > q.max_bytes:
        raise TooLarge(n * (stride * state.real.itemsize + 64))
    screw, pair_state = be.empty(n * stride, state.real), be.empty(n, np.int32)
    names = (
        "pairs_in",
        "shape_in",
        *(f"{end}_{what}_in" for end in ("start", "end") for what in ("position", "quat")),
    )
    poses = {k: b[k] for k in names}
    t = state.tables.buffers
    state.launch("s01_screw", n, n_pairs=n, valid_in=b["valid_in"], mesh_reals_in=t["mesh_reals_in"],
                 screw_out=screw, state_out=pair_state, **poses)  # fmt: skip
    common = {"pairs_in": b["pairs_in"], "shape_in": b["shape_in"], "screw_in": screw,
              "headers_in": t["headers_in"], "topology_in": t["topology_in"]}  # fmt: skip
    solver = {k: t[k] for k in ("mesh_reals_in", "vertices_in", "planes_in")}
    height = np.zeros(n) if piece.heights is None else piece.heights
    row_height = be.to_device(np.ascontiguousarray(height, dtype=state.real))
    todo = filters.apply(state, common, solver, pair_state, n, q.filters)
    lots = find_items(state, common, pair_state, todo, piece.shapes)
    held = n * (stride * state.real.itemsize + 64) + sum(items.nbytes for items in lots)
    n_cand, cand, brackets = search(state, common, lots, piece.rows, row_height, pair_state, held)
    if q.check_start:
        # the filters settle only what a gap divides all the time: their pairs do not overlap at the start
        overlap.mark(be, state.launch, common | solver | t, todo, be.fill(be.empty(n, state.real), -0.5),
                     pair_state)  # fmt: skip
    n_hits, hit, value, pair_hits = _solve(
        state, common, solver, n, n_cand, cand, brackets, pair_state, row_height
    )  # fmt: skip
    hit_start = be.exclusive_scan(pair_hits)
    order, cursor = be.empty(max(n_hits, 1), np.int32), be.zeros(n, np.int32)
    if n_hits:
        state.launch("s08_place", n_hits, n_hits=n_hits, hit_in=hit, hit_start_in=hit_start, cursor=cursor,
                     order_out=order)  # fmt: skip
    kept, status, toi = be.empty(n, np.int32), be.empty(n, np.uint8), be.empty(n, state.real)
    state.launch("s08_resolve", n, n_pairs=n, hit_start_in=hit_start, state_in=pair_state,
                 row_height_in=row_height, value_in=value, refine=REFINE[q.refine],
                 first_only=int(q.first_only), hit_out=hit, order_out=order, kept_out=kept,
                 status_out=status, toi_out=toi, **common, **solver)  # fmt: skip
    contact_start = be.exclusive_scan(kept)
    total = int(be.item(contact_start, -1))
    out = {f: be.empty(max(total, 1) * w, np.dtype(d) if d else state.real) for f, (d, w) in _FIELDS.items()}
    if total:
        state.launch("s08_contacts", n, n_pairs=n, hit_start_in=hit_start, contact_start_in=contact_start,
                     hit_in=hit, value_in=value, order_in=order, first_pair=piece.first,
                     corners_in=t["corners_in"], **poses,
                     **{k: common[k] for k in ("screw_in", "headers_in", "topology_in")}, **solver,
                     **{f"{f}_out": buf for f, buf in out.items()})  # fmt: skip
    state.pieces.append((status, toi, contact_start, total, out))
    state.narrow += sum(items.n for items in lots)


def _solve(state, common, solver, n, n_cand, cand, brackets, pair_state, row_height):
    """Stage s07: hits of all candidates."""
    be, q = state.backend, state.options
    capacity = max(1024, int(n_cand * state.guess.get("hits", 1.0)))
    while True:
        need_bytes = capacity * (16 + 3 * state.real.itemsize)
        if need_bytes > q.max_bytes or 4 * capacity >= 2**31:
            raise TooLarge(need_bytes)
        hit, value = be.empty(capacity * 4, np.int32), be.empty(capacity * 3, state.real)
        count, pair_hits = be.zeros(1, np.int32), be.zeros(n, np.int32)
        if n_cand:
            rough = {} if q.refine == "exact" else {"refine": REFINE[q.refine], "row_height_in": row_height}
            state.launch("s07_answer" if rough else "s07_solve", n_cand, n_candidates=n_cand,
                         candidates_in=cand, brackets_in=brackets, min_properness=q.min_properness,
                         capacity=capacity, state_out=pair_state, pair_hits_out=pair_hits, n_hits_out=count,
                         hit_out=hit, value_out=value, **common, **solver, **rough)  # fmt: skip
        found = int(be.item(count, 0))
        if 0 <= found <= capacity:
            return found, hit, value, pair_hits
        state.guess["hits"] = 1.2 * found / max(n_cand, 1)
        capacity = int(found * 1.2)


def _assemble(state):
    """Pieces to whole arrays, on the host; a single piece on a GPU stays there.

    What is joined is let go at once: the result is large, and should not be there twice.
    """
    be = state.backend
    begun = time.perf_counter()
    keep = be.kind == "cuda" and len(state.pieces) == 1 and not state.origins
    get = (lambda x: x) if keep else be.to_host
    starts, before = [np.zeros(1, np.int64)], 0
    fields = {name: [] for name in _FIELDS}
    status, toi = [], []
    for k, (piece_status, piece_toi, start, total, out) in enumerate(state.pieces):
        state.pieces[k] = None
        status.append(be.to_host(piece_status))
        toi.append(be.to_host(piece_toi).astype(np.float64, copy=False))
        starts.append(be.to_host(start)[1:] + before)
        before += total
        for name, (_, width) in _FIELDS.items():
            flat = get(out[name])[: total * width]
            fields[name].append(flat.reshape(total, width) if width > 1 else flat)
    result = {name: _join(fields.pop(name), *_FIELDS[name], state.real) for name in _FIELDS}
    result["status"] = _join(status, "u1", 1)
    result["contact_start"] = _join(starts, "i8", 1)
    result["pairs"] = _join(state.blocks, "i4", 2)
    times = _join(toi, "f8", 1)
    result["toi"] = np.where(times > 1.5, np.inf, times)
    if not keep:
        result["sustained"] = result["sustained"].astype(bool)
    if state.origins and len(result["pair"]):
        result["position"] = result["position"] + np.concatenate(state.origins)[result["pair"]]
    state.timings["assemble"] = time.perf_counter() - begun
    return result


def _join(parts, dtype, width, real=None):
    """One array of the parts, whose list is empty afterwards."""
    empty = np.zeros((0, width) if width > 1 else 0, np.dtype(dtype) if dtype else real)
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else empty
    parts.clear()
    return whole
