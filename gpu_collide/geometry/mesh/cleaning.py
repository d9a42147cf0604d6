"""Points and faces as they were given, made into what a mesh keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.geometry.arrays.measures import normalise, planes, same_places
from gpu_collide.geometry.mesh import merging
from gpu_collide.geometry.repair import loops
from gpu_collide.geometry.repair.triangulate import triangulate_loops

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Cleaned", "cleaned"]


class Cleaned(NamedTuple):
    """What is left of given points and faces, and what became of the others.

    Attributes
    ----------
    points : (n, 3) float64 ndarray
    start, corners : (f + 1,), (c,) int ndarray
        Loops of the faces, one after the other.
    source, source_vertex : (f,), (n,) int ndarray
        The given face (of merged ones the first) and vertex of each.
    members_start, members : (f + 1,), (g,) int ndarray
        All given faces of each.
    findings : list of (str, ndarray)
        What was odd, and where.
    """

    points: Array
    start: Array
    corners: Array
    source: Array
    source_vertex: Array
    members_start: Array
    members: Array
    findings: list[tuple[str, Any]]


def cleaned(
    points: Array,
    start: Array,
    corners: Array,
    triangulate: bool,
    merge_vertices: bool,
    merge_coplanar: bool | float,
    dtype: Any,
) -> Cleaned:
    """`Cleaned` points and loops, by the options of `Mesh`; `dtype`: in what the points were given."""
    if max(len(points), len(corners)) >= 2**30:
        raise ValueError(
            f"faces: expected fewer than 2**30 corners and vertices, got {max(len(points), len(corners))}"
        )
    findings: list[tuple[str, Any]] = []
    source_vertex = np.arange(len(points))

    used_given = np.zeros(len(points), bool)
    used_given[corners] = True
    first_of_place, place = same_places(points)
    twins = np.flatnonzero(first_of_place[place] != np.arange(len(points)))
    if merge_vertices and len(twins):
        source_vertex, corners, points = first_of_place, place[corners], points[first_of_place]
        findings.append(("vertices welded to another of the same coordinates", twins))
    elif len(twins):
        what = "vertices repeat the coordinates of another (kept apart; merge_vertices=True welds them)"
        findings.append((what, twins))

    _, radius, scaled = normalise(points)
    start, corners, kept, shortened, dropped = loops.clean_loops(start, corners, scaled)
    findings.append(("faces lost repeated corners", shortened))
    findings.append(("faces dropped: fewer than three distinct corners", dropped))
    wide = loops.drop_degenerate(start, corners, scaled)
    findings.append(("faces dropped: no wider than a line", kept[~wide]))
    start, corners = loops.take_faces(start, corners, wide)
    source = kept[wide]
    if triangulate and len(source):
        start, corners, origin = triangulate_loops(start, corners, scaled, source)
        source = source[origin]
        wide = loops.drop_degenerate(start, corners, scaled)
        start, corners = loops.take_faces(start, corners, wide)
        source = source[wide]
    if len(source) == 0:
        raise ValueError("faces: expected at least one face of some area, got only degenerate ones")
    normals, offsets = planes(scaled, start, corners)
    loops.check_polygons(start, corners, scaled, normals, offsets, source)

    members_start, members = np.arange(len(source) + 1), source
    if merge_coplanar:
        from gpu_collide.geometry.repair import merge

        start, corners, label = merge.merge_coplanar(
            start,
            corners,
            scaled,
            normals,
            offsets,
            merging.flatness(merge_coplanar, dtype, points, radius),
        )
        members_start, members = merging.gather_sources(label, source)
        source = np.minimum.reduceat(members, members_start[:-1])
    if merge_coplanar or merge_vertices:
        alive = np.zeros(len(points), bool)
        alive[corners] = True
        gone = np.flatnonzero(~alive)
        findings.append(("vertices removed: no face needs them", source_vertex[gone]))
        renumber = np.cumsum(alive) - 1
        corners, points, source_vertex = renumber[corners], points[alive], source_vertex[alive]
    else:
        findings.append(("vertices belong to no face", np.flatnonzero(~used_given)))
    return Cleaned(points, start, corners, source, source_vertex, members_start, members, findings)
