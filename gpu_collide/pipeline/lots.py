"""Which pairs are for which screen, where pairs of several kinds come in one list."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.pipeline.near import near_pairs

__all__ = ["KINDS", "Lots", "kinds_of", "lots_for", "small_meshes", "takes_small"]

#: Pairs of two small meshes, for `screen_small`; of other whole meshes; those that look at near faces only.
KINDS = ("small", "whole", "near")


class Lots(NamedTuple):
    """What tells pairs of the kinds apart.

    Attributes
    ----------
    kinds : tuple of str
        Those of `KINDS` that two of the meshes may be.
    near_flags, small_flags : buffers of uint8, (meshes,)
        Of each mesh what `takes_near` says, and whether it is small.
    """

    kinds: tuple[str, ...]
    near_flags: Any
    small_flags: Any

    @property
    def near(self) -> bool:
        """May a pair look at near faces only?"""
        return "near" in self.kinds


def small_meshes(run, counts):
    """Which meshes of so many vertices, edges and faces, (meshes, 3), are small, (meshes,) bool."""
    return (counts <= [int(run.c[f"GC_SMALL_{what}"]) for what in ("VERTICES", "EDGES", "FACES")]).all(axis=1)


def lots_for(run, prepared, options):
    """`Lots` of prepared meshes, kept with their tables.

    By pixels and by rows there is but one screen for whole meshes, and by rows nobody looks at near faces.
    Nor is there a screen for small meshes where all groups have the same size.
    """
    made, near = prepared.tables.made, prepared.near
    apart = run.backend.small_group_size is not None and takes_small(options)
    key = ("lots", near.tobytes(), apart)
    if key not in made:
        small = small_meshes(run, prepared.tables.counts) & apart
        made[key] = Lots(kinds_of(near, small), run.to_device(near, np.uint8), run.to_device(small, np.uint8))
    return made[key]


def takes_small(options):
    """May pairs of small meshes take a screen of their own?"""
    return options.refine != "pixels" and options.candidates != "raster"


def kinds_of(near, small):
    """Of all pairs of meshes, which of `KINDS` there are, looking at meshes of one sort once."""
    sorts = np.unique(2 * near.astype(np.int64) + small)
    a, b = (x.reshape(-1) for x in np.meshgrid(sorts, sorts))
    looks = near_pairs(sorts // 2, np.column_stack((np.searchsorted(sorts, a), np.searchsorted(sorts, b))))
    both = (a & b & 1 > 0) & ~looks
    there = {"small": both.any(), "whole": (~both & ~looks).any(), "near": looks.any()}
    return tuple(kind for kind in KINDS if there[kind])
