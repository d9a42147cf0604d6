"""Joining neighbouring coplanar faces into larger convex polygons.

Regions of one plane are grown from their largest face. A region whose outline is convex becomes one polygon;
any other is merged greedily, leaving out one inner edge after the other, longest first, as long as the two
polygons beside it make a convex one. Vertices left in the middle of a straight edge are then removed from
both sides of it.

Lengths are relative to the mesh's size (its bounding radius).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.geometry.arrays import adjacency as adj
from gpu_collide.geometry.repair.loops import take_faces
from gpu_collide.geometry.repair.regions import Regions

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["merge_coplanar"]

NORMAL_TOLERANCE = 1e-3  # angle between normals: small features on a large mesh must not be flattened


def merge_coplanar(
    start: Array,
    corners: Array,
    points: Array,
    normals: Array,
    offsets: Array,
    tolerance: float,
) -> tuple[Array, Array, Array]:
    """Merge faces.

    Parameters
    ----------
    start, corners : CSR loops
    points : (nv, 3) float64
    normals, offsets : (nf, 3), (nf,) float64
        Planes of the faces.
    tolerance : float
        Distance of a region's corners from its plane, and of a straight edge's vertices from its line.

    Returns
    -------
    start, corners : CSR loops of the merged faces, in the order of the lowest face in each
    label : (nf,) int64
        Merged face that each face has become part of.
    """
    twin = _faces_across(start, corners, len(points))
    regions, region_of = _grow_regions(start, corners, points, normals, offsets, twin, tolerance)
    if not regions:
        return start, corners, np.arange(len(start) - 1)
    merger = Regions(start, corners, points, normals, twin, region_of)
    pieces = []  # per region: list of (loop, member faces)
    for faces in regions:
        outline = merger.outline(faces)
        pieces.append([(outline, faces)] if outline is not None else merger.greedy(faces))
    split = [len(p) != 1 for p in pieces]
    while True:
        new_start, new_corners, label, first_of_region = _assemble(start, corners, regions, pieces)
        straight = _straight_vertices(new_start, new_corners, points, tolerance)
        keep = ~straight[new_corners]
        owner = adj.face_of_corner(new_start)[keep]
        counts = np.bincount(owner, minlength=len(new_start) - 1)
        stripped_start, stripped = np.concatenate([[0], np.cumsum(counts)]), new_corners[keep]
        # Outlines were taken whole in the hope that their straight corners go; those that kept a dent are cut
        # up.
        again = False
        for region, faces in enumerate(regions):
            if split[region]:
                continue
            face = first_of_region[region]
            loop = stripped[stripped_start[face] : stripped_start[face + 1]].tolist()
            if not merger.is_convex(loop, merger.project(faces[0], loop)):
                pieces[region], split[region], again = merger.greedy(faces), True, True
        if not again:
            return stripped_start, stripped, label


def _faces_across(start: Array, corners: Array, n_vertices: int) -> Array:
    """Face across each loop side, -1 unless there is exactly one, wound the same way; (L,) int64."""
    _, face_edges, edge_start, edge_faces = adj.build_edges(start, corners, n_vertices)
    two = np.diff(edge_start) == 2
    first = edge_faces[np.minimum(edge_start[:-1], len(edge_faces) - 1)].astype(np.int64)
    second = edge_faces[np.minimum(edge_start[:-1] + 1, len(edge_faces) - 1)].astype(np.int64)
    two &= (first & 1) != (second & 1)
    own = adj.face_of_corner(start)
    other = (first[face_edges] >> 1) + (second[face_edges] >> 1) - own
    return np.where(two[face_edges], other, -1)


def _grow_regions(
    start: Array,
    corners: Array,
    points: Array,
    normals: Array,
    offsets: Array,
    twin: Array,
    tolerance: float,
) -> Any:
    """Connected sets of two or more faces in one plane, and the region of each face (-1: none)."""
    n_faces = len(start) - 1
    own = adj.face_of_corner(start)
    close = twin >= 0
    close &= np.linalg.norm(normals[own] - normals[twin], axis=1) <= 2 * NORMAL_TOLERANCE
    near_start, near = adj.group_by(own[close], twin[close], n_faces)
    region_of = np.full(n_faces, -1)
    seeds = np.flatnonzero(np.diff(near_start) > 0)
    if not len(seeds):
        return [], region_of
    area = np.linalg.norm(adj.newell(points, start, corners), axis=1)
    seeds = seeds[np.argsort(-area[seeds], kind="stable")]
    # Plain lists: the walk visits faces one by one.
    near_start, near = near_start.tolist(), near.tolist()
    normal_list, start_list, corner_list, point_list = (
        normals.tolist(),
        start.tolist(),
        corners.tolist(),
        points.tolist(),
    )
    taken = [False] * n_faces
    regions: list[Any] = []

    def fits(face: int, n: Any, d: float) -> bool:
        m = normal_list[face]
        if (m[0] - n[0]) ** 2 + (m[1] - n[1]) ** 2 + (m[2] - n[2]) ** 2 > NORMAL_TOLERANCE**2:
            return False
        for vertex in corner_list[start_list[face] : start_list[face + 1]]:
            x = point_list[vertex]
            if abs(n[0] * x[0] + n[1] * x[1] + n[2] * x[2] + d) > tolerance:
                return False
        return True

    for seed in seeds.tolist():
        if taken[seed]:
            continue
        taken[seed] = True
        n, d = normal_list[seed], float(offsets[seed])
        region, stack = [seed], [seed]
        while True:
            before, turned_away = len(region), []
            while stack:
                face = stack.pop()
                for other in near[near_start[face] : near_start[face + 1]]:
                    if taken[other]:
                        continue
                    if fits(other, n, d):
                        taken[other] = True
                        region.append(other)
                        stack.append(other)
                    else:
                        turned_away.append(face)
            if not turned_away or len(region) < 2 * before:
                break
            # A small seed's plane is rough far away from it: fit one to all that was found, and go on from
            # the rim.
            stack = turned_away
            n, d = _fit_plane(
                points, [v for f in region for v in corner_list[start_list[f] : start_list[f + 1]]], n
            )
            if not all(fits(face, n, d) for face in region):
                break
        if len(region) > 1:
            region_of[region] = len(regions)
            regions.append(region)
    return regions, region_of


def _fit_plane(points: Any, vertices: Any, normal: Any) -> Any:
    """Least-squares plane ``(n, d)`` of some points, as plain floats, with n on the side of `normal`."""
    p = points[np.unique(vertices)]
    middle = p.mean(axis=0)
    n = np.linalg.eigh((p - middle).T @ (p - middle))[1][:, 0]
    n = n if n @ normal > 0 else -n
    return n.tolist(), -float(n @ middle)


def _assemble(start: Array, corners: Array, regions: Any, pieces: Any) -> Any:
    """All loops, merged or not, ordered by their lowest face.

    Returns
    -------
    start, corners : CSR loops
    label : (nf,) int64
    first_of_region : list of int
        New face of the first piece of each region.
    """
    n_faces = len(start) - 1
    alone = np.ones(n_faces, bool)
    for faces in regions:
        alone[faces] = False
    loops, lowest, members, owner = [], [], [], []
    for region, polygons in enumerate(pieces):
        for loop, faces in polygons:
            loops.append(loop)
            lowest.append(min(faces))
            members.append(faces)
            owner.append(region)
    single = np.flatnonzero(alone)
    single_start, single_corners = take_faces(start, corners, alone)
    counts = np.concatenate([np.diff(single_start), [len(loop) for loop in loops]]).astype(np.int64)
    flat = np.concatenate([single_corners, *[np.asarray(loop, np.int64) for loop in loops]])
    begin = np.concatenate([[0], np.cumsum(counts)])[:-1]
    order = np.argsort(np.concatenate([single, lowest]), kind="stable")
    counts, begin = counts[order], begin[order]
    new_start = np.concatenate([[0], np.cumsum(counts)])
    gather = np.repeat(begin - new_start[:-1], counts) + np.arange(new_start[-1])
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    label = np.empty(n_faces, np.int64)
    label[single] = position[: len(single)]
    first_of_region = [-1] * len(regions)
    for k, faces in enumerate(members):
        label[faces] = position[len(single) + k]
        if first_of_region[owner[k]] < 0:
            first_of_region[owner[k]] = int(position[len(single) + k])
    return new_start, flat[gather], label, first_of_region


def _straight_vertices(start: Array, corners: Array, points: Array, tolerance: float) -> Array:
    """Vertices that have just two neighbours and lie on the line between them; (nv,) bool."""
    straight = np.zeros(len(points), bool)
    edges, _, _, _ = adj.build_edges(start, corners, len(points))
    ends = edges.reshape(-1).astype(np.int64)
    ends_start, ends_list = adj.group_by(ends, edges[:, ::-1].reshape(-1), len(points))
    two = np.flatnonzero(np.diff(ends_start) == 2)
    if not len(two):
        return straight
    a, b = ends_list[ends_start[two]], ends_list[ends_start[two] + 1]
    straight[two] = _between(points[two], points[a], points[b], tolerance)
    neighbours = {int(v): (int(x), int(y)) for v, x, y in zip(two, a, b, strict=True) if straight[v]}
    # A run of straight vertices must be straight as a whole: many small turns make a curve.
    seen, runs, ends_of_runs = set(), [], []
    for vertex in neighbours:
        if vertex in seen:
            continue
        run, ends_of_run = [vertex], []
        for step in neighbours[vertex]:
            previous, here = vertex, step
            while here in neighbours and here != vertex:
                run.append(here)
                x, y = neighbours[here]
                previous, here = here, (y if x == previous else x)
            ends_of_run.append(here)
        seen.update(run)
        runs.append(run)
        ends_of_runs.append(ends_of_run)
    if runs:
        owner = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
        flat = np.concatenate([np.asarray(run, np.int64) for run in runs])
        p, q = points[np.array(ends_of_runs)[owner]].transpose(1, 0, 2)
        bent = np.bincount(owner[~_between(points[flat], p, q, tolerance)], minlength=len(runs)) > 0
        straight[flat[bent[owner]]] = False
    # A sliver must not lose the corner that gives it its width.
    counts = np.bincount(adj.face_of_corner(start)[~straight[corners]], minlength=len(start) - 1)
    if (counts < 3).any():
        _, protected = take_faces(start, corners, counts < 3)
        straight[protected] = False
    return straight


def _between(x: Array, a: Array, b: Array, tolerance: float) -> Array:
    """True where x lies within `tolerance` of the segment from a to b, and between its ends; (n,) bool."""
    along = b - a
    square = np.einsum("ij,ij->i", along, along)
    share = np.einsum("ij,ij->i", x - a, along)
    off = np.linalg.norm(np.cross(x - a, along), axis=1)
    return (share > 0) & (share < square) & (off <= tolerance * np.sqrt(square))
