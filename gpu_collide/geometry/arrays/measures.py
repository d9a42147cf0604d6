"""Measures of a mesh: coincident vertices, its middle and size, the planes of its faces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.arrays import adjacency as adj

if TYPE_CHECKING:
    from gpu_collide._types import Array

__all__ = ["MAGNITUDES", "normalise", "normalise_thin", "planes", "same_places"]

# Lengths outside cannot be squared and divided in float32 without loss: contacts were lost in "mixed" from
# 1e39 up and from 1e-39 down, in "single" from 1e38 up and from 1e-25 down.
MAGNITUDES = (1e-18, 1e18)


def same_places(points: Array) -> tuple[Array, Array]:
    """First vertex of every different place, in order of appearance, and the place of each vertex."""
    key = points + 0.0  # -0.0 and 0.0 are one place
    order = np.lexsort((key[:, 2], key[:, 1], key[:, 0]))  # stable: within a place by ascending index
    new = np.ones(len(points), bool)
    new[1:] = (key[order[1:]] != key[order[:-1]]).any(axis=1)
    first = order[new]
    place_sorted = np.cumsum(new) - 1
    by_appearance = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_appearance] = np.arange(len(first))
    place = np.empty(len(points), np.int64)
    place[order] = rank[place_sorted]
    return first[by_appearance], place


def normalise(points: Array) -> tuple[Array, float, Array]:
    """Centre of the bounding box, bounding radius, and the points measured in those."""
    center = 0.5 * points.min(axis=0) + 0.5 * points.max(axis=0)
    offset = points - center
    largest = np.abs(offset).max()
    if not MAGNITUDES[0] < max(largest, np.abs(points).max(), 0) < MAGNITUDES[1]:
        if largest > 0 or points.any():
            raise ValueError(
                f"vertices: expected coordinates between {MAGNITUDES[0]:g} and {MAGNITUDES[1]:g} in size"
            )
    radius = float(np.sqrt((offset**2).sum(axis=1).max()))
    if not radius > MAGNITUDES[0]:
        raise ValueError(
            f"vertices: expected points in different places, got all {len(points)} of them in one"
        )
    return center, radius, offset / radius


def normalise_thin(points: Array) -> tuple[Array, float]:
    """Centre and bounding radius of one point or two."""
    if not np.abs(points).max() < MAGNITUDES[1]:
        raise ValueError(f"vertices: expected coordinates below {MAGNITUDES[1]:g} in size")
    center = 0.5 * points[0] + 0.5 * points[-1]
    return center, float(np.linalg.norm(points[0] - center))


def planes(scaled: Array, start: Array, corners: Array) -> tuple[Array, Array]:
    """Unit outward normals (zero where a face has no area) and offsets of the faces, in the scaled frame."""
    areas = adj.newell(scaled, start, corners)
    length = np.linalg.norm(areas, axis=1)
    perimeter = np.add.reduceat(
        np.linalg.norm(scaled[corners[adj.next_corner(start)]] - scaled[corners], axis=1), start[:-1]
    )
    real = length > 1e-14 * perimeter * perimeter
    real |= (np.diff(start) == 3) & (length > 0)  # triangles were checked against their own width
    normals = np.where(real, 1 / np.where(real, length, 1), 0)[:, None] * areas
    middle = np.add.reduceat(scaled[corners], start[:-1], axis=0) / np.diff(start)[:, None]
    return normals, -np.einsum("ij,ij->i", normals, middle)
