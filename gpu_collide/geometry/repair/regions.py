"""Regions of one plane, viewed along its normal: their outlines, and convex polygons that cover them.

Everything here goes face by face, on plain lists; `gpu_collide.geometry.repair.merge` finds the regions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array

__all__ = ["Regions"]

# A merged polygon is convex to rounding: what an inward corner cuts off would be a hole in the surface.
CONVEX_TOLERANCE = 1e-12


class Regions:
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
        twins = {*inner, *((b, a) for a, b in inner)}
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
                loop = self._join(loops[left], loops[right], a, b, plane, twins)
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
    def _join(left: Any, right: Any, a: int, b: int, plane: Any, twins: Any) -> list[int] | None:
        """Loop around two convex polygons that share side a-b (left walks a to b), or None if not convex.
        Sides out of `twins` are between two faces of the region; others that both have, of edges at which
        more faces meet, stay."""
        n, m = len(left), len(right)
        left_end = left.index(b)
        right_begin = right.index(a)
        right_end, left_begin = right_begin - 1, left_end - 1  # of b in right, of a in left
        shared = 1
        # They may share a whole chain of sides.
        while (
            shared < min(n, m)
            and left[(left_end + 1) % n] == right[right_end - 1]
            and (left[left_end], right[right_end - 1]) in twins
        ):
            left_end, right_end, shared = (left_end + 1) % n, (right_end - 1) % m, shared + 1
        while (
            shared < min(n, m)
            and left[left_begin - 1] == right[(right_begin + 1) % m]
            and (left[left_begin - 1], left[left_begin]) in twins
        ):
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
