"""The launch that looks for first contacts beside a plane between the bodies' hulls (``screen_hulls``)."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.run import TooLarge

__all__ = ["group_bytes", "limits", "looks", "search", "sizes"]

_C = sources.constants()
#: Pairs of meshes with a smaller product of face counts are sooner looked at whole: by a work-item alone, and
#: by many.
ALONE_PRODUCT, FACE_PRODUCT = int(_C["GC_HULLS_ALONE_PRODUCT"]), int(_C["GC_HULLS_FACE_PRODUCT"])
#: Meshes with more vertices have trees to go down.
MOST_VERTICES = int(_C["GC_HULLS_VERTICES"])


def looks(meshes, options, backend):
    """Is there a pair of these meshes of which the first contact is looked for between hulls?"""
    if not options.first_only or options.refine != "exact":
        return False
    if options.candidates != "auto" or options.features != "auto":
        return False
    faces = [len(m.face_planes) for m in meshes if len(m.vertices) <= MOST_VERTICES]
    return bool(faces) and max(faces) ** 2 >= limits(backend)["least_product"]


def limits(backend):
    """What the kernel is told of which pairs it is for."""
    product = ALONE_PRODUCT if backend.group_size == 1 else FACE_PRODUCT
    return {"least_product": product, "most_vertices": MOST_VERTICES}


def sizes(backend):
    """Raster numbers and ints of scratch of a group."""
    room, met, counts, many = _C["GC_SLAB_ROOM"], _C["GC_SLAB_MET"], _C["GC_SLAB_COUNTS"], backend.group_size
    return int(36 * room + 2 * many), int(counts + 6 * room + 4 * met + many)


def group_bytes(run):
    """Bytes of the scratch of a group."""
    reals, ints = sizes(run.backend)
    return reals * run.raster.itemsize + 4 * ints


def search(work, piece, todo):
    """Candidates of those of the pairs `todo` that are settled so; and the others.

    Returns
    -------
    (k,) int32 ndarray
        Pairs that are left to the screen.
    int, (buffer, buffer)
        Number of candidates, candidates and brackets, as those of the screen.
    """
    run, be = work.run, work.run.backend
    reals, ints = sizes(be)
    group, each = group_bytes(run), 16 + 2 * run.raster.itemsize
    keep = be.empty(len(todo), np.uint8)

    def fill(capacity):
        made = be.empty(capacity * 4, np.int32), be.empty(capacity * 2, run.raster)
        count = be.zeros(1, np.int32)
        groups = min(be.max_groups, len(todo), run.room.fits(group, piece.nbytes + capacity * each))
        if not groups:
            raise TooLarge(group + piece.nbytes + capacity * each)
        run.launch_groups(
            "screen_hulls", groups, piece.buffers, work.prepared.tables.buffers, n_todo=len(todo),
            todo_in=be.to_device(todo), columns_in=work.prepared.tables.screen["vertices_in"],
            min_properness=work.options.min_properness, scratch_reals=be.empty(groups * reals, run.raster),
            scratch_ints=be.empty(groups * ints, np.int32), capacity=capacity, keep_out=keep,
            n_candidates_out=count, candidates_out=made[0], brackets_out=made[1], **limits(be),
        )  # fmt: skip
        return int(be.item(count, 0)), made

    found, made = run.room.filled("hulls", len(todo), fill, each=each, first=2.0, least=1024, width=4)
    return todo[be.to_host(keep).view(bool)], (found, *made)
