"""The launch that looks for first contacts alone (``screen_first``), and for which pairs of meshes it is."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.run import TooLarge

__all__ = ["group_bytes", "launch", "limit", "room", "screened", "sizes", "walked_pairs", "walks"]

_C = sources.constants()
_PAGE = 8 * sources.record("seen").stride
#: Pairs of meshes with a larger product of face counts are walked down.
FACE_PRODUCT = int(_C["GC_FIRST_FACE_PRODUCT"])
#: Of `takes_near`: this mesh makes a pair look at near faces, with any mesh or with a smaller one.
LOOKS = int(_C["GC_LOOK_NEAR"]) | int(_C["GC_LOOK_WIDE"])
#: A large pair without a hit after so many pairs of nodes is given up, if so few faces are near and b05 finds
#: them in so many nodes.
BARREN, FACES, NODES = (int(_C[f"GC_FIRST_{name}"]) for name in ("BARREN", "FACES", "NODES"))
#: Pairs of nodes for which a group has room: one work-item alone has them in order, of many each its own.
FEW_NODES, NODES_EACH, SPARE_NODES = 4096, 64, 256


def walks(meshes, options, near):
    """Is there a pair of these meshes of which only the first contact is looked for, down both trees?

    Only if all pairs that look at near faces by themselves (`near`, of `takes_near`) are such: a small mesh
    beside a large one has little to look at so, and all of it otherwise.
    """
    if not options.first_only or options.refine != "exact":
        return False
    if options.candidates != "auto" or options.features != "auto":
        return False
    faces = np.array([len(m.face_planes) for m in meshes], np.int64)
    looking = faces[near & LOOKS > 0]
    if len(looking) and looking.min() * faces.min() <= FACE_PRODUCT:
        return False
    return bool(faces.max(initial=0) ** 2 > FACE_PRODUCT)


def limit(walked):
    """What kernels are told of which pairs are walked down (``gc_goes_down``)."""
    return FACE_PRODUCT if walked else 0


def given_up(looks):
    """The most faces of a mesh whose walks are given up where they cost more than the screen: any number
    where somebody `looks` which pairs these are, and has near faces of the large ones joined (b05, b06)."""
    return np.iinfo(np.int32).max if looks else int(_C["GC_AUTO_NEAR_LARGE"])


def walked_pairs(counts, shapes):
    """Which pairs of meshes `shapes` (n, 2) are large enough for that, (n,) bool; `counts` (meshes, 3) as in
    `MeshTables`. As ``gc_goes_down``."""
    faces = counts[:, 2]
    return faces[shapes[:, 0]] * faces[shapes[:, 1]] > FACE_PRODUCT


def screened(counts):
    """Most vertices, edges and faces (3,) of a mesh in a pair for the screen, where `walked_pairs` are
    left to ``screen_first``."""
    faces = counts[:, 2]
    some = faces * faces.min() <= FACE_PRODUCT
    return counts[some].max(axis=0) if some.any() else np.zeros(3, np.int64)


def room(backend):
    """Pairs of nodes for which a group has room."""
    return FEW_NODES if backend.group_size == 1 else NODES_EACH * backend.group_size + SPARE_NODES


def sizes(backend):
    """Raster numbers and ints of scratch of a group, and the room that they make."""
    nodes, kept = room(backend), 0 if backend.group_size > 1 else int(_C["GC_KEPT_PAGES"])
    return 2 * nodes + 2 * kept * _PAGE, 2 * nodes + 4 * kept + 16, nodes


def group_bytes(run):
    """Bytes of the scratch of a group."""
    reals, ints, _ = sizes(run.backend)
    return reals * run.raster.itemsize + 4 * ints


def launch(work, piece, todo, held, barren, **args):
    """Hits of first contacts, of those pairs `todo` that are walked down; `held`: bytes taken besides.

    Two arrays (k,) int32 of pairs whose walks were given up: those that cost more than the screen, and large
    ones that had no hit after `barren` pairs of nodes, if that is not 0.
    """
    run, be = work.run, work.run.backend
    todo = todo[walked_pairs(work.prepared.tables.counts, piece.shapes[todo])]
    if not len(todo):
        return todo, todo
    reals, ints, nodes = sizes(be)
    group = group_bytes(run)
    groups = min(be.max_groups, len(todo), run.room.fits(group, held))
    if not groups:
        raise TooLarge(group + held)
    keep = be.empty(len(todo), np.uint8)
    run.launch_groups(
        "screen_first", groups, piece.buffers, work.prepared.tables.buffers, n_todo=len(todo),
        todo_in=be.to_device(todo), min_properness=work.options.min_properness,
        scratch_reals=be.empty(groups * reals, run.raster), scratch_ints=be.empty(groups * ints, np.int32),
        room=nodes, walked=limit(True), given_up=given_up(True), barren=barren,
        shut_out=be.zeros(piece.n, np.int32),
        keep_out=keep, **args,
    )  # fmt: skip
    keep = be.to_host(keep)
    return todo[keep == 1], todo[keep == 2]
