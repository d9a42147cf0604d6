"""Which pairs look for their candidates in rows of the screen, and how high these are."""

from __future__ import annotations

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.pipeline.near import near_pairs

__all__ = ["asks_heights", "row_heights", "takes_rows"]


def asks_heights(options, prepared):
    """May any pair of these meshes ask for a height of its rows?"""
    if options.refine != "exact" or options.candidates != "auto":
        return options.refine != "exact" or options.candidates == "raster"
    limit = sources.constants(options.precision)["GC_AUTO_EDGE_PRODUCT"]
    return int(prepared.edges.max(initial=0)) ** 2 > limit


def takes_rows(options, prepared, shapes):
    """Does any pair look for its candidates in rows? Near faces do not."""
    if options.candidates != "auto":
        return options.candidates == "raster"
    limit = sources.constants(options.precision)["GC_AUTO_EDGE_PRODUCT"]
    edges = prepared.edges
    if int(edges.max(initial=0)) ** 2 <= limit:
        return False
    a, b = shapes.T
    whole = ~near_pairs(prepared.near, shapes) & ~prepared.walked_pairs(shapes)
    return bool((whole & (edges[a] * edges[b] > limit)).any())


def row_heights(options, prepared, shapes, rows):
    """Row height of each pair in user units, or None if nothing asks for it.

    No row is higher than the longest motion that is looked at: all that a pair reaches lies in one row or two
    then, and what is computed with the height stays within the numbers there are.
    """
    if options.refine == "exact" and not rows:
        return None
    most = sources.constants(options.precision)["GC_MAX_MOTION"] * prepared.radii[shapes].max(axis=1)
    if options.pixel_size is not None:
        return np.minimum(options.pixel_size, most)
    with np.errstate(over="ignore"):
        return np.minimum(prepared.short_edges(shapes) / options.resolution, most)
