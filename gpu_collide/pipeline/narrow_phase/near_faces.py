"""The work items of the screen: pairs by class; near faces are found by b05 and joined by g05 and b06."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.launch.launcher import Scratch
from gpu_collide.pipeline.narrow_phase import scratch
from gpu_collide.pipeline.narrow_phase.executor import Span, WorkList
from gpu_collide.pipeline.narrow_phase.immediate import reads
from gpu_collide.pipeline.narrow_phase.plan import REFINE

if TYPE_CHECKING:
    from gpu_collide._types import Array, Buffer
    from gpu_collide.pipeline.narrow_phase.executor import Entries, Executor, Seats
    from gpu_collide.pipeline.narrow_phase.plan import PairClasses

__all__ = ["Lot", "lots_of", "whole_lot"]

_MESH, _GATHER = sources.record("mesh").stride, sources.record("gather").stride


class Lot(NamedTuple):
    """Items of one launch of the screen.

    Attributes
    ----------
    todo : WorkList
        Numbers of the items.
    items : buffer (n, 3) int32
        Pair, part of A's mesh, part of B's.
    tables : dict
        Tables of the parts, by the names of kernel arguments.
    near : bool
        Parts are joined of patches.
    small : bool
        Both meshes of all items are small.
    largest : (3,) int64
        Most vertices, edges and faces of a part, where it is known.
    faces : (todo,) int64
        Sum of the faces of both parts, where it is known.
    """

    todo: WorkList
    items: Buffer
    tables: dict[str, Any]
    near: bool = False
    small: bool = False
    largest: Any = ()
    faces: Any = ()


class _Sides(NamedTuple):
    """Patches that come near, in order of side (2 pair + 0 or 1) and patch.

    Attributes
    ----------
    start : buffer (2 pairs + 1,) int64
        Where each side begins.
    unique : buffer (places + 1,) int64
        How many different ones there are before each place.
    part, faces : buffers (places,) int32
        The patch, and bits of those of its faces that come near.
    places : int
    """

    start: Buffer
    unique: Buffer
    part: Buffer
    faces: Buffer
    places: int


def lots_of(x: Executor, todo: WorkList, classes: PairClasses) -> list[Lot]:
    """The pairs `todo` by their kinds; whole meshes are one part each.

    Where pairs look at near faces only, the trees of both meshes are walked down (b05), the patches with
    faces that come near are put together into a mesh for each side of each pair (b06), and these are the
    parts; a pair without any is no item. By itself, ``features="auto"``, a walk is given up that costs more
    than it saves; whole meshes are looked at in its place.
    """
    chosen = _by_kind(x, todo, classes)
    near, lots = chosen.pop("near", None), []
    if near is not None and (not reads(x) or near.n):
        begun = time.perf_counter()
        patches, given_up = _patches(x, near)
        lots += _joined(x, _ordered(x, patches))
        if reads(x):
            whole = np.append(chosen["whole"].read if "whole" in chosen else near.read[:0], given_up)
            chosen["whole"] = x.listed(np.sort(whole))
        x.settled_near(near, len(given_up), sum(lot.todo.most for lot in lots), begun)
    whole_ones = [whole_lot(x, some, kind == "small") for kind, some in chosen.items() if some.most]
    return whole_ones + lots


def whole_lot(x: Executor, todo: WorkList, small: bool = False) -> Lot:
    """Items of whole meshes."""
    plan = x.plan
    lot = Lot(todo, x.items, x.tables.screen, False, small)
    if not reads(x):
        return lot
    sizes = plan.counts[x.shapes[todo.read]]
    # pairs that are walked down are among them and are no work
    largest = plan.largest if plan.walked else sizes.max(axis=(0, 1), initial=0)
    return lot._replace(largest=largest, faces=sizes[:, :, 2].sum(axis=1))


def _by_kind(x: Executor, todo: WorkList, classes: PairClasses) -> dict[str, WorkList]:
    """The pairs of each kind there is (g05_near)."""
    if len(classes.kinds) == 1 or (reads(x) and not todo.n):
        return {kind: todo for kind in classes.kinds[:1]}
    flags = {kind: x.empty(todo.most, np.uint8) for kind in ("small", "whole", "near")}
    bits = {f"{name}_in": _kept(x, getattr(classes, name), np.uint8) for name in ("near", "small")}
    x.launch("g05_near", todo, bits, items_in=x.items, **{f"{k}_out": made for k, made in flags.items()})
    return {kind: x.select(todo, flags[kind]) for kind in classes.kinds}


def _kept(x: Executor, array: Array, dtype: Any) -> Buffer:
    """An array about the meshes on the backend, kept with their tables."""
    key = (array.tobytes(), array.shape, dtype)
    if key not in x.tables.made:
        x.tables.made[key] = x.run.to_device(array, dtype)
    return x.tables.made[key]


def _patches(x: Executor, todo: WorkList) -> tuple[Entries, Array]:
    """b05: the list of patches that come near, and the pairs for which whole meshes are looked at sooner."""
    parts: list[tuple[int, WorkList]] = [(0, todo)]
    if reads(x) and (ends := x.plan.may_give_up(x.shapes[todo.read])).any():
        parts = [(k, x.listed(todo.read[ends == k])) for k in (0, 1)]
    whole = x.zeros(x.pairs.most) if len(parts) > 1 else None

    def emit(found: Entries) -> None:
        for gives_up, some in parts:
            _walk(x, some, found, gives_up, whole)

    found = x.fill("patches", scratch.PATCHES, todo.most, emit)
    given_up: Array = np.zeros(0, np.int32) if whole is None else np.flatnonzero(x.run.backend.to_host(whole))
    return found, given_up.astype(np.int32)


def _walk(x: Executor, todo: WorkList, found: Entries, gives_up: int, whole: Buffer | None) -> None:
    each = scratch.group_bytes(x.run, scratch.near(1)) - scratch.group_bytes(x.run, scratch.near(0))
    first = scratch.nodes_first(x.run, x.plan, each, x.held) if reads(x) else 0
    grows = Scratch("nodes", first, each, width=scratch.near(1)[0], grows=scratch.GROWS)

    def emit(some: WorkList, seats: Seats) -> None:
        _features(x, some, seats, found, gives_up, whole)

    if not reads(x) or todo.n:
        x.work_off("node", todo, [grows], scratch.near, emit)


def _features(
    x: Executor, todo: WorkList, seats: Seats, found: Entries, gives_up: int, whole: Buffer | None
) -> None:
    options = x.plan.options
    x.launch(
        "b05_features", todo, found.out, seats=seats, room=seats.sizes[0], gives_up=gives_up,
        min_properness=x.plan.least_properness, refine=REFINE[options.refine],
        whole_out=seats.given["no_room_out"] if whole is None else whole,
    )  # fmt: skip


def _ordered(x: Executor, patches: Entries) -> _Sides:
    """The list of b05 in order, each patch of a side once: by g05, or on the host where it is read."""
    if reads(x):
        return _sides(x, *_rows(x, patches))
    n, most = x.pairs.most, patches.most
    count, cursor, order = x.zeros(2 * n), x.zeros(2 * n), x.empty(most, np.int32)
    part, faces, first = (x.empty(most, np.int32) for _ in range(3))
    x.launch("g05_count", patches, count_out=count)
    start = x.scan(count)
    x.launch("g05_place", patches, start_in=start, cursor=cursor, order_out=order)
    x.launch("g05_order", Span(most, most), patches.given, n_sides=2 * n, start_in=start, order_in=order,
             part_out=part, faces_out=faces, first_out=first)  # fmt: skip
    return _Sides(start, x.scan(first), part, faces, most)


def _rows(x: Executor, patches: Entries) -> tuple[Array, Array, Array]:
    """Side, patch and mask of faces of the list, in order, those of one patch in one row."""
    rows = x.run.backend.to_host(patches.columns["list"])[: 3 * patches.n].reshape(-1, 3).astype(np.int64)
    key = rows[:, 0] << 32 | rows[:, 1]
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    mask = np.bitwise_or.reduceat(rows[order, 2], first) if len(key) else rows[:, 2]
    return key[first] >> 32, key[first] & 0xFFFFFFFF, mask


def _sides(x: Executor, side: Array, part: Array, mask: Array) -> _Sides:
    to_device = x.run.to_device
    start = np.searchsorted(side, np.arange(2 * x.pairs.most + 1))
    unique = np.arange(len(side) + 1)
    return _Sides(
        to_device(start, np.int64), to_device(unique, np.int64), to_device(part, np.int32),
        to_device(mask.astype(np.uint32).view(np.int32), np.int32), len(side),
    )  # fmt: skip


def _joined(x: Executor, sides: _Sides) -> list[Lot]:
    """g05, b06: the patches of each side joined into a mesh; the lot that they are, if there are any."""
    if not sides.places:
        return []
    run, n, raster = x.run, x.pairs.most, x.run.raster
    sizes = _kept(x, x.tables.part_sizes, np.int32)
    entries, sums = x.empty(_GATHER * sides.places, np.int32), x.empty(9 * n, np.int32)
    given = {"part_sizes_in": sizes, "start_in": sides.start, "unique_in": sides.unique}
    x.launch("g05_measure", x.pairs, given, part_in=sides.part, faces_in=sides.faces, entries_out=entries,
             sums_out=sums)  # fmt: skip
    before = x.scan(sums)
    room = x.joined_sizes(before, sides.places)
    k = room["pairs"]
    mesh, todo = x.blank(sides.places), x.blank(k)
    begin, side = x.empty(2 * k + 1, np.int32), x.empty(2 * k, np.int32)
    items = x.zeros(3 * k)  # the screen reads one even if it does none
    tables = {f"{name}_in": x.empty(max(width * room[of], 1), kind) for name, of, width, kind in (
        ("vertices", "vertices", 3, raster), ("normals", "faces", 3, raster),
        ("inverse_length", "edges", 1, raster), ("topology", "topology", 1, np.int32),
    )}  # fmt: skip
    made = {name.replace("_in", "_out"): buffer for name, buffer in tables.items()}
    tables |= {"headers_in": x.empty(2 * _MESH * k, np.int32), "edge0_in": x.empty(2 * k, np.int32)}
    tables["reach_in"] = made["reach_out"] = x.zeros(2 * k)
    most = {f"most_{name}": room[name] for name in scratch.JOINED}
    x.launch(
        "g05_headers", x.pairs, given, most, x.tables.screen, entries_in=entries, sums_in=before,
        headers_out=tables["headers_in"], edge0_out=tables["edge0_in"], side_out=side, mesh_start_out=begin,
        mesh_out=mesh, items_out=items, todo_out=todo,
    )  # fmt: skip
    x.launch(
        "b06_gather", Span(sides.places, sides.places), made, x.tables.screen, each=True, entries_in=entries,
        mesh_in=mesh, mesh_start_in=begin, side_in=side, vertices_in=x.tables.buffers["vertices_in"],
        joined_headers_in=tables["headers_in"], joined_edge0_in=tables["edge0_in"],
    )  # fmt: skip
    if not reads(x):
        return [Lot(WorkList(todo, k, k), items, tables, near=True)]
    features = run.backend.to_host(sums)[n : 7 * n].reshape(3, n, 2)  # vertices, edges, faces of both sides
    some = features[:, run.backend.to_host(sums)[:n] > 0].astype(np.int64)
    numbers = x.listed(np.arange(k))
    return [Lot(numbers, items, tables, True, False, some.max(axis=(1, 2), initial=0), some[2].sum(axis=1))]
