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

from gpu_collide.geometry import adjacency as adj
from gpu_collide.geometry.loops import take_faces

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["merge_coplanar"]

NORMAL_TOLERANCE = 1e-3  # angle between normals: small features on a large mesh must not be flattened
# A merged polygon is convex to rounding: what an inward corner cuts off would be a hole in the surface.
CONVEX_TOLERANCE = 1e-12


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
    merger = _Merger(start, corners, points, normals, twin, region_of)
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


class _Merger:
    """Outlines and greedy merging of regions, seen along the plane of each region's first face."""

    def __init__(
        self,
        start: Array,
        corners: Array,
        points: Array,
        normals: Array,
        twin: Array,
        region_of: Array,
    ) -> None:
        # Plain lists: everything here goes face by face.
        self.start, self.corners, self.twin = start.tolist(), corners.tolist(), twin.tolist()
        self.points, self.normals, self.region_of = points.tolist(), normals.tolist(), region_of.tolist()

    def project(self, face: int, vertices: Any) -> dict[int, tuple[float, float]]:
        """Coordinates in the plane of `face`: dict from vertex to (x, y)."""
        n = self.normals[face]
        # Any two axes across the normal; see Duff et al., "Building an Orthonormal Basis, Revisited" (2017).
        sign = 1.0 if n[2] >= 0 else -1.0
        p = -1 / (sign + n[2])
        q = n[0] * n[1] * p
        u = (1 + sign * n[0] * n[0] * p, sign * q, -sign * n[0])
        v = (q, sign + n[1] * n[1] * p, -n[1])
        o = self.points[vertices[0]]
        plane = {}
        for vertex in vertices:
            x = self.points[vertex]
            x0, x1, x2 = x[0] - o[0], x[1] - o[1], x[2] - o[2]
            plane[vertex] = (u[0] * x0 + u[1] * x1 + u[2] * x2, v[0] * x0 + v[1] * x1 + v[2] * x2)
        return plane

    def outline(self, faces: Any) -> list[int] | None:
        """Loop around a region, or None unless it is a single one that visits every vertex once."""
        following = {}
        region = self.region_of[faces[0]]
        for face in faces:
            first, last = self.start[face], self.start[face + 1]
            loop, across = self.corners[first:last], self.twin[first:last]
            for k, other in enumerate(across):
                if other >= 0 and self.region_of[other] == region:
                    continue
                if loop[k] in following:
                    return None
                following[loop[k]] = loop[(k + 1) % len(loop)]
        if len(following) < 3:
            return None
        first = min(following)
        loop, here = [first], following[first]
        while here != first:
            loop.append(here)
            here = following.get(here)
            if here is None or len(loop) > len(following):
                return None
        return loop if len(loop) == len(following) else None

    def greedy(self, faces: Any) -> Any:
        """Convex polygons that together cover a region, as (loop, member faces)."""
        region = self.region_of[faces[0]]
        loops, side_of, inner = {}, {}, []
        for face in faces:
            first, last = self.start[face], self.start[face + 1]
            loop = self.corners[first:last]
            loops[face] = loop
            for k, other in enumerate(self.twin[first:last]):
                a, b = loop[k], loop[(k + 1) % len(loop)]
                side_of[a, b] = face
                if a < b and other >= 0 and self.region_of[other] == region:
                    inner.append((a, b))
        plane = self.project(faces[0], sorted({v for loop in loops.values() for v in loop}))
        inner.sort(
            key=lambda e: (
                -((plane[e[0]][0] - plane[e[1]][0]) ** 2 + (plane[e[0]][1] - plane[e[1]][1]) ** 2),
                e,
            )
        )
        parent = {face: face for face in faces}
        members = {face: [face] for face in faces}

        def root(face: int) -> int:
            while parent[face] != face:
                parent[face] = parent[parent[face]]
                face = parent[face]
            return face

        merged = True
        while merged:  # a union that was not convex may become so once its parts have grown
            merged, left_over = False, []
            for a, b in inner:
                left, right = root(side_of[a, b]), root(side_of[b, a])
                if left == right:
                    continue  # left out already together with another edge of the same chain
                loop = self._join(loops[left], loops[right], a, b, plane)
                if loop is None:
                    left_over.append((a, b))
                    continue
                merged = True
                parent[right] = left
                loops[left] = loop
                members[left] += members.pop(right)
                del loops[right]
            inner = left_over
        return [(loops[face], members[face]) for face in loops]

    @staticmethod
    def _join(left: Any, right: Any, a: int, b: int, plane: Any) -> list[int] | None:
        """Loop around two convex polygons that share side a-b (left walks a to b), or None if not convex."""
        n, m = len(left), len(right)
        left_end = left.index(b)
        right_begin = right.index(a)
        right_end, left_begin = right_begin - 1, left_end - 1  # of b in right, of a in left
        shared = 1
        # They may share a whole chain of sides.
        while shared < min(n, m) and left[(left_end + 1) % n] == right[right_end - 1]:
            left_end, right_end, shared = (left_end + 1) % n, (right_end - 1) % m, shared + 1
        while shared < min(n, m) and left[left_begin - 1] == right[(right_begin + 1) % m]:
            left_begin, right_begin, shared = (left_begin - 1) % n, (right_begin + 1) % m, shared + 1
        # Both are convex, so only the two ends of the chain can turn the wrong way.
        for before, corner, after in (
            (left[left_begin - 1], left[left_begin], right[(right_begin + 1) % m]),
            (right[right_end - 1], left[left_end], left[(left_end + 1) % n]),
        ):
            if not _turns_left(plane[before], plane[corner], plane[after]):
                return None
        loop = left[left_end:] + left[:left_end]
        other = right[right_begin:] + right[:right_begin]
        loop = loop[: n - shared + 1] + other[1 : m - shared]
        return loop if len(loop) >= 3 and len(set(loop)) == len(loop) else None

    @staticmethod
    def is_convex(loop: Any, plane: Any) -> bool:
        """True if the loop goes round once and turns neither inward nor back by more than rounding."""
        if len(loop) < 3:
            return False
        before, corner = plane[loop[-2]], plane[loop[-1]]
        rising, changes = None, 0
        for vertex in loop + loop[:1]:
            after = plane[vertex]
            if not _turns_left(before, corner, after):
                return False
            up = after[1] > corner[1] or (after[1] == corner[1] and after[0] > corner[0])
            changes += rising is not None and up != rising
            rising = up
            before, corner = corner, after
        return changes == 2  # going round once, a convex loop rises once and falls once


def _turns_left(before: Any, corner: Any, after: Any) -> bool:
    """True if the path turns left or runs straight on at `corner`, within rounding."""
    ux, uy = corner[0] - before[0], corner[1] - before[1]
    wx, wy = after[0] - corner[0], after[1] - corner[1]
    turn = ux * wy - uy * wx
    if turn > 0:
        return True
    chord = ((ux + wx) ** 2 + (uy + wy) ** 2) ** 0.5
    return ux * wx + uy * wy > 0 and -turn <= CONVEX_TOLERANCE * chord
