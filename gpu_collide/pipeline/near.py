"""What the screen looks at: for each pair its two meshes, or only their faces that come near (b05, b06)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.parts import FLAGS, SIZES
from gpu_collide.pipeline.run import MOST_INDEX, Scratch, TooLarge
from gpu_collide.pipeline.screen import REFINE

__all__ = ["Items", "find_few", "find_items", "near_pairs", "takes_near"]

#: Records as kernels read them (gc_types.h, gc_near.h).
MESH, GATHER = sources.record("mesh"), sources.record("gather")
SEEN_STRIDE = sources.record("seen").stride
#: Ints of scratch for each node of a set.
NEAR_INTS = int(sources.constants()["GC_NEAR_INTS"])
#: Columns of `MeshTables.part_sizes`.
_VERTICES, _EDGES, _FACES, _CORNERS, _EDGE_FACES, _VERTEX_EDGES, _VERTEX_FACES = range(len(SIZES))
_C = sources.constants()
#: Halvings of width that there are bits for.
_MOST_WIDTH = 63
#: Nodes that a set of them may hold at first, and more where groups are few and meshes have many faces; pairs
#: that need more walk again, with four times as many.
NODES, MORE_NODES, ALL_NODES, GROWS = 256, 32768, 1 << 19, 4.0


@dataclass(frozen=True)
class Items:
    """Work of the screen.

    Attributes
    ----------
    buffer : (n, 3) int32 buffer, flat
        Pair, part of A's mesh, part of B's.
    n : int
    tables : dict
        Tables of the parts: ``headers_in``, ``topology_in``, ``vertices_in``, ``normals_in``,
        ``inverse_length_in``, ``edge0_in``, ``reach_in``.
    largest : (3,) int64
        Most vertices, edges and faces of a part.
    patches : int
        Patches listed in all, 0 where meshes are looked at whole.
    faces, edges : (n,) int64
        Sum of the faces of both parts, and product of their edges.
    """

    buffer: Any
    n: int
    tables: dict[str, Any]
    largest: np.ndarray
    patches: int = 0
    faces: Any = ()
    edges: Any = ()

    @property
    def nbytes(self):
        """Bytes of the items, and of tables made for them."""
        return self.buffer.nbytes + (sum(b.nbytes for b in self.tables.values()) if self.patches else 0)


def takes_near(meshes, options, gives_up=True):
    """What says of each mesh whether a pair with it looks at near faces only, (meshes,) uint8 of GC_LOOK_*
    bits, to be asked by `near_pairs`; 0 if no pair does.

    None for rows, which whole meshes have; by themselves pairs of meshes for which it pays: where one
    has very many faces, or many and is far wider than the other, which comes near few of them.
    """
    if options.candidates == "raster" or options.features == "all":
        return np.zeros(len(meshes), np.uint8)
    if options.features == "near":
        return np.full(len(meshes), _C["GC_LOOK_NEAR"], np.uint8)
    faces = np.array([len(m.face_planes) for m in meshes], np.int64)
    width = np.frexp([m.radius for m in meshes])[1]
    bits = np.minimum(width - min(width, default=0), _MOST_WIDTH)
    bits = bits.astype(np.uint8) * _C["GC_LOOK_STEP"]
    bits[faces > _C["GC_AUTO_NEAR_FACES"]] |= _C["GC_LOOK_WIDE"]
    # by pixels less is settled on the way down (docs/decisions/0079): twice as many faces before it pays
    very = _C["GC_AUTO_NEAR_ALWAYS" if gives_up else "GC_AUTO_NEAR_LARGE"]
    bits[faces > very << (options.refine == "pixels")] |= _C["GC_LOOK_NEAR"]
    return bits if (faces > _C["GC_AUTO_NEAR_FACES"]).any() else np.zeros(len(meshes), np.uint8)


def near_pairs(near, shapes):
    """Which pairs look at near faces only, (n,) bool.

    Parameters
    ----------
    near : (meshes,) uint8
        From `takes_near`.
    shapes : (n, 2) int
        Meshes of the pairs.
    """
    bits = np.asarray(near).astype(np.int64)[shapes]
    width, wider = bits // _C["GC_LOOK_STEP"], _C["GC_AUTO_NEAR_WIDER"]
    wide = (bits & _C["GC_LOOK_WIDE"] > 0) & (width >= width[:, ::-1] + wider)
    return ((bits & _C["GC_LOOK_NEAR"] > 0) | wide).any(axis=1)


def find_items(work, piece, todo, near=None):
    """Items of the pairs `todo` of a piece, in at most two lots.

    Whole meshes are one part each. For pairs that look at near faces only, the trees of both meshes are
    walked down (b05), the patches with faces that come near are put together into a mesh for each side of
    each pair (b06), and these are the parts; a pair without any is no item. By itself, ``features="auto"``, a
    walk is given up that costs more than it saves; whole meshes are looked at in its place.

    Parameters
    ----------
    work : Work
    piece : Piece
    todo : (n,) int32
        Pairs to look at.
    near : (meshes,) uint8, optional
        From `takes_near`. Default: that of the query.

    Returns
    -------
    list of Items
    """
    shapes = piece.shapes
    near = work.prepared.near if near is None else near
    if not near.any():
        return [_whole(work, piece, todo)] if len(todo) else []
    close = near_pairs(near, shapes[todo])
    whole, lots = todo[~close], []
    if close.any():
        begun = time.perf_counter()
        gives_up = work.gives_up and work.options.features == "auto"
        patches, left = _near_patches(work, piece, todo[close], gives_up=gives_up)
        found = _gather(work, piece, *patches)
        lots.append(found)
        whole = np.union1d(whole, left).astype(np.int32)
        if work.report is not None:
            seconds = time.perf_counter() - begun
            dropped = int(close.sum()) - len(left) - found.n
            work.report.add("near features", int(close.sum()), dropped, seconds)
    return [_whole(work, piece, whole), *lots] if len(whole) else lots


def _whole(work, piece, todo):
    """Items of whole meshes."""
    items = np.empty((len(todo), 3), np.int32)
    items[:, 0], items[:, 1:] = todo, piece.shapes[todo]
    prepared = work.prepared
    sizes = prepared.tables.counts[items[:, 1:]]
    # walked pairs are among them and are no work
    largest = prepared.largest if prepared.walked else sizes.max(axis=(0, 1))
    return Items(
        work.run.to_device(items), len(items), prepared.tables.screen, largest,
        faces=sizes[:, :, 2].sum(axis=1), edges=sizes[:, :, 1].prod(axis=1),
    )  # fmt: skip


def find_few(work, piece, todo, most, nodes):
    """Items, as `find_items` has them, of those of the pairs `todo` with no more than `most` near faces that
    b05 finds in so many nodes a side; and the other pairs."""
    (side, part, mask), many = _near_patches(work, piece, todo, nodes=nodes)
    faces = np.zeros(piece.n, np.int64)
    each = np.unpackbits(mask.astype(np.uint32).view(np.uint8)).reshape(-1, 32).sum(axis=1)
    np.add.at(faces, side >> 1, each)
    few = faces[side >> 1] <= most
    many = np.append(many, todo[faces[todo] > most])
    return _gather(work, piece, side[few], part[few], mask[few]), many


def _near_patches(work, piece, todo, *, nodes=None, gives_up=False):
    """(2 pair + side, part, mask of faces) of all patches that are near, in order, on the host; and the pairs
    of which nothing is listed: those that need room for more than `nodes` (default: as many as they need),
    and with `gives_up` those for which whole meshes are looked at sooner."""
    run, be = work.run, work.run.backend
    tables = work.prepared.tables.buffers
    per_node = 2 * SEEN_STRIDE * run.raster.itemsize + 4 * NEAR_INTS
    ends = _may_give_up(work, piece.shapes[todo]) if gives_up else np.zeros(len(todo), bool)
    many = todo[:0]

    def fill(capacity):
        nonlocal many
        found, n_found = be.empty(3 * capacity, np.int32), be.zeros(1, np.int32)
        whole = be.zeros(piece.n if ends.any() else 1, np.int32)

        def launch(ending, left, groups, sizes):
            (room,) = sizes
            need, no_room = be.zeros(1, np.int32), be.zeros(piece.n, np.int32)
            run.launch_groups(
                "b05_features", groups, piece.buffers, tables, n_todo=len(left), todo_in=be.to_device(left),
                min_properness=work.options.min_properness, refine=REFINE[work.options.refine],
                scratch_reals=be.empty(groups * 2 * room * SEEN_STRIDE, run.raster),
                scratch_ints=be.empty(groups * (NEAR_INTS * room + 8), np.int32), room=room,
                gives_up=ending, capacity=capacity, need_out=need, no_room_out=no_room, whole_out=whole,
                n_out=n_found, list_out=found,
            )  # fmt: skip
            return be.to_host(need).tolist(), lambda: np.flatnonzero(be.to_host(no_room)).astype(np.int32)

        held = 12 * capacity
        faces = int(work.prepared.tables.largest[2])
        most = max(NODES, min(MORE_NODES, ALL_NODES // be.max_groups, faces // 2))
        first = max(1, min(most, run.room.fits(per_node, held)))
        if nodes is None:
            scratch = [Scratch("nodes", first, per_node, width=2 * SEEN_STRIDE, grows=GROWS)]
            for ending in (0, 1):
                some = todo[ends == ending]
                run.room.worked_off(some, scratch, partial(launch, ending), held=held, groups=be.max_groups)
            if ends.any():
                many = np.flatnonzero(be.to_host(whole)).astype(np.int32)
        elif groups := min(be.max_groups, len(todo), run.room.fits(per_node * nodes, held)):
            many = todo[np.isin(todo, launch(0, todo, groups, [nodes])[1]())]
        else:
            many = todo
        return int(be.item(n_found, 0)), found

    n, found = run.room.filled("patches", len(todo), fill, each=12, first=16.0, least=16384, width=3)
    rows = be.to_host(found)[: 3 * n].reshape(n, 3).astype(np.int64)
    key = rows[:, 0] << 32 | rows[:, 1]
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    mask = np.bitwise_or.reduceat(rows[order, 2], first) if n else rows[:, 2]
    return (key[first] >> 32, key[first] & 0xFFFFFFFF, mask), many


def _may_give_up(work, shapes):
    """For which pairs the walk may be given up, (n,) bool: meshes of some size, whose edges need no rows."""
    prepared = work.prepared
    edges, faces = prepared.edges[shapes], prepared.tables.counts[shapes, 2]
    pairs = work.options.candidates == "pairs" or edges.prod(axis=1) <= _C["GC_AUTO_EDGE_PRODUCT"]
    return pairs & (faces.sum(axis=1) <= _C["GC_NEAR_WHOLE"])


def _before(values, first):
    """Sums of `values` (n, k) before each row, counted anew from each row of `first`."""
    sums = np.cumsum(values, axis=0) - values
    sizes = np.diff(np.append(first, len(values)))
    return sums - np.repeat(sums[first], sizes, axis=0)


def _gather(work, piece, side, part, mask):
    """Join the patches of each side into a mesh."""
    run, be, t = work.run, work.run.backend, work.prepared.tables
    first = np.flatnonzero(np.diff(side, prepend=-1))
    sizes = t.part_sizes[part]
    if not len(first):
        return Items(be.zeros(0, np.int32), 0, t.screen, t.largest)
    joined = np.add.reduceat(sizes, first, axis=0)
    headers, n_topology = _joined_headers(work, joined, part[first])
    raster = run.raster.itemsize
    need = 4 * n_topology + raster * (3 * joined[:, [_VERTICES, _FACES]].sum() + joined[:, _EDGES].sum())
    run.room.check(2 * (need + 40 * len(part)))
    if n_topology > MOST_INDEX:
        raise TooLarge(2 * need)
    edge0 = (np.cumsum(joined[:, _EDGES]) - joined[:, _EDGES]).astype(np.int32)
    entries = np.zeros((len(part), GATHER.stride), np.int64)
    entries[:, GATHER["part"]], entries[:, GATHER["near"]] = part, mask
    entries[:, [GATHER[name] for name in SIZES]] = _before(sizes, first)
    entries = entries.astype(np.int32)
    mesh = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(part)))).astype(np.int32)
    tables = {
        "headers_in": be.to_device(headers.reshape(-1)), "edge0_in": be.to_device(edge0),
        "topology_in": be.empty(n_topology, np.int32),
        "vertices_in": be.empty(3 * int(joined[:, _VERTICES].sum()), run.raster),
        "normals_in": be.empty(3 * int(joined[:, _FACES].sum()), run.raster),
        "inverse_length_in": be.empty(int(joined[:, _EDGES].sum()), run.raster),
        "reach_in": be.zeros(len(first), np.int32),
    }  # fmt: skip
    made = ("topology_in", "vertices_in", "normals_in", "inverse_length_in", "reach_in")
    run.launch_each(
        "b06_gather", len(part), piece.buffers, t.screen, n_entries=len(part),
        entries_in=be.to_device(entries.reshape(-1)), mesh_in=be.to_device(mesh),
        mesh_start_in=be.to_device(np.append(first, len(part)).astype(np.int32)),
        side_in=be.to_device(side[first].astype(np.int32)), vertices_in=t.buffers["vertices_in"],
        joined_headers_in=tables["headers_in"], joined_edge0_in=tables["edge0_in"],
        **{name.replace("_in", "_out"): tables[name] for name in made},
    )  # fmt: skip
    # a pair has both sides or none, A's before B's
    numbers = np.arange(len(first)).reshape(-1, 2)
    items = np.column_stack([side[first[::2]] >> 1, numbers]).astype(np.int32)
    largest = joined[:, [_VERTICES, _EDGES, _FACES]].max(axis=0)
    sizes = joined.reshape(-1, 2, joined.shape[1])
    return Items(
        be.to_device(items.reshape(-1)), len(items), tables, largest, len(part),
        sizes[:, :, _FACES].sum(axis=1), sizes[:, :, _EDGES].prod(axis=1),
    )  # fmt: skip


def _joined_headers(work, joined, some_part):
    """Headers (m, GC_MESH_STRIDE) of meshes of the given sizes, and the length of their index tables."""
    headers = np.full((len(joined), MESH.stride), -1, np.int64)
    nv, ne, nf = (joined[:, k] for k in (_VERTICES, _EDGES, _FACES))
    headers[:, MESH["nv"]], headers[:, MESH["ne"]], headers[:, MESH["nf"]] = nv, ne, nf
    headers[:, MESH["vertex0"]], headers[:, MESH["face0"]] = np.cumsum(nv) - nv, np.cumsum(nf) - nf
    lengths = {
        "face_start": nf + 1, "face_vertices": joined[:, _CORNERS], "face_edges": joined[:, _CORNERS],
        "edges": 2 * ne, "edge_face_start": ne + 1, "edge_faces": joined[:, _EDGE_FACES],
        "vertex_edge_start": nv + 1, "vertex_edges": joined[:, _VERTEX_EDGES], "vertex_face_start": nv + 1,
        "vertex_faces": joined[:, _VERTEX_FACES], "edge_flags": ne, "vertex_flags": nv,
        "source_vertices": nv, "source_edges": ne, "source_faces": nf, "near_faces": nf,
    }  # fmt: skip
    each = np.stack(list(lengths.values()), axis=1)
    begin = np.cumsum(each.reshape(-1)).reshape(each.shape) - each
    headers[:, [MESH[name] for name in lengths]] = begin
    headers[:, [MESH[name] for name in FLAGS]] = work.prepared.tables.part_flags[some_part]
    total = int(begin[-1, -1] + nf[-1])
    return headers.astype(np.int32) if total < 2**31 else headers, total
