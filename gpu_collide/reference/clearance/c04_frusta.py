"""Places of cylinders and cones at a pose: stage c04, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.geometry.arrays.adjacency import EDGE_FLAT, EDGE_REFLEX
from gpu_collide.geometry.preparation.prepared import is_convex, is_solid
from gpu_collide.reference.clearance._frusta import (
    ALIGNED,
    BESIDE,
    DEEP,
    FLAT,
    TIE,
    WITHIN,
    ZOOMS,
    MarkedFrustum,
    Place,
    Seen,
    axes_of,
    border,
    corner,
    frustum_of,
    greatest_around,
    parallel,
    places_of_two,
)
from gpu_collide.reference.narrow_phase.revolved_gaps import Frustum
from gpu_collide.results.enums import Kind

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["frustum_places_reference"]

_TURNED = {Kind.FV: Kind.VF, Kind.VF: Kind.FV, Kind.EV: Kind.VE, Kind.VE: Kind.EV}


class Lead(NamedTuple):
    """A direction that may count: of which feature of M ("F", "E", "V" and a number), its gap, and its place,
    if it has one."""

    sort: str
    number: int
    gap: float
    n: Array
    place: Place | None


def frustum_places_reference(bodies: Bodies, pairs: Array, margin: Array) -> dict[str, Array]:
    """As `gpu_collide.pipeline.frusta.FrustumPlaces.places`."""
    rows: list[tuple[int, Place]] = []
    hidden = np.zeros(len(pairs), bool)
    turn = bodies.start.to_matrix()[:, :3, :3]
    for i, (a, b) in enumerate(pairs):
        of_b = bodies.meshes[bodies.shape[b]].ends is not None
        m, k = (a, b) if of_b else (b, a)
        mesh = bodies.meshes[bodies.shape[m]]
        offset = bodies.start.position[k] - bodies.start.position[m]
        frustum = frustum_of(bodies.meshes[bodies.shape[k]], turn[m].T @ turn[k], turn[m].T @ offset)
        size = max(mesh.radius, bodies.meshes[bodies.shape[k]].radius)
        if mesh.ends is not None:
            found, around = (
                places_of_two(frustum_of(mesh, np.eye(3), np.zeros(3)), frustum, size, margin[i]),
                0.0,
            )
        else:
            around = mesh.rounding
            found, hidden[i] = _Beside(mesh, frustum, size, margin[i] + around).places()
        origin = bodies.start.position[m]
        for p in found:
            ends = turn[m] @ (p.on_m + around * p.n), turn[m] @ p.on_k
            kind, x, y, n = p.kind, p.m, p.k, turn[m] @ p.n
            if not of_b:
                ends, kind, x, y, n = ends[::-1], _TURNED.get(Kind(kind), kind), y, x, -n
            rows.append((i, Place(kind, x, y, p.gap - around, ends[0] + origin, ends[1] + origin, n)))
    of = np.array([i for i, _ in rows], np.int32)
    columns = [np.array(x) for x in zip(*(p for _, p in rows), strict=True)] if rows else [np.zeros(0)] * 7
    return {
        "pair": of, "kind": columns[0].astype(np.int8), "feature_a": columns[1].astype(np.int32),
        "feature_b": columns[2].astype(np.int32), "distance": columns[3].astype(float),
        "point_a": columns[4].reshape(-1, 3), "point_b": columns[5].reshape(-1, 3),
        "normal": columns[6].reshape(-1, 3), "hidden": hidden,
    }  # fmt: skip


class _Beside:
    """A mesh and a frustum, seen in the mesh's coordinates."""

    def __init__(self, mesh: Mesh, frustum: MarkedFrustum, size: float, margin: float) -> None:
        self.mesh, self.frustum, self.size = mesh, frustum, size
        self.within = WITHIN * size
        self.margin = margin + self.within
        self.convex = mesh.thin or is_convex(mesh)
        self.two_sided = mesh.two_sided and not mesh.thin
        self.faces = [] if mesh.thin else list(range(mesh.n_faces))
        self.middle = np.array([mesh.vertices[self.loop(f)].mean(axis=0) for f in self.faces])

    def loop(self, face: int) -> Array:
        return self.mesh.face_vertices[self.mesh.face_start[face] : self.mesh.face_start[face + 1]]

    def edge_faces(self, edge: int) -> Array:
        if self.mesh.thin:
            return np.zeros(0, int)
        start = self.mesh.edge_face_start
        return self.mesh.edge_faces[start[edge] : start[edge + 1]] >> 1

    def places(self) -> tuple[list[Place], bool]:
        leads = self.leads()
        kept = self.settled([lead for lead in leads if lead.gap <= self.margin])
        hidden = False
        if not any(lead.gap < -DEEP * self.size for lead in kept) and self.faces:
            apart = any(lead.gap >= -DEEP * self.size for lead in leads) and self.convex
            if not apart and self.overlap():
                deep = [lead for lead in leads if lead.gap < -DEEP * self.size]
                kept = [max(deep, key=lambda lead: lead.gap)] if deep else []
                hidden = not kept
        return [lead.place for lead in kept if lead.place] + self.corners(kept), hidden

    # -- directions ------------------------------------------------------------------------------------------
    def leads(self) -> list[Lead]:
        mesh, found = self.mesh, []
        for face in self.faces:
            n = mesh.face_planes[face, :3]
            for side in (n, -n)[: 1 + self.two_sided]:
                gap = float(self.frustum.gap(side, mesh.vertices[self.loop(face)[0]]))
                if side is not n and gap < -DEEP * self.size:
                    continue
                corners = self.face(side, face)
                if corners and min(p.gap for p in corners) <= gap + BESIDE * self.size:
                    found.append(Lead("F", face, gap, side, None))
        for edge in range(len(mesh.edges)):
            if not mesh.edge_flags[edge] & (EDGE_FLAT | EDGE_REFLEX):
                found += self.of_edge(edge)
        for vertex in range(mesh.n_vertices):
            found += self.of_vertex(vertex)
        return found

    def leads_out(self, n: Array, ways: Array, faces: Array, beside: float = BESIDE) -> bool:
        if len(ways) and (ways @ n > -beside * np.linalg.norm(ways, axis=1)).any():
            return False
        return len(faces) < 2 or bool((self.mesh.face_planes[faces, :3] @ n > 0).any())

    def of_edge(self, edge: int) -> list[Lead]:
        mesh, frustum, found = self.mesh, self.frustum, []
        a, b = mesh.vertices[mesh.edges[edge]]
        length = np.linalg.norm(b - a)
        if not length:
            return []
        e, faces = (b - a) / length, self.edge_faces(edge)
        ways = self.middle[faces] - a if len(faces) else np.zeros((0, 3))
        ways = ways - (ways @ e)[:, None] * e
        x = np.cross(e, np.eye(3)[np.argmin(np.abs(e))])
        x /= np.linalg.norm(x)
        for n in greatest_around(frustum, a, x, np.cross(e, x)):
            if not self.leads_out(n, ways, faces, FLAT):
                continue
            n, flat = self.exact(n, e)
            gap, p = float(frustum.gap(n, a)), frustum.lowest(n)
            if flat:
                corners = self.edge(n, edge)
                if any(q.gap <= gap + 10 * BESIDE * self.size for q in corners):
                    found.append(Lead("E", edge, gap, n, None))
                    continue
                if flat == "side":
                    continue
            end = int((p[1] - p[0]) @ n < 0)
            s = (p[end] - a) @ e
            if -self.within <= s <= length + self.within:
                on = a + s * e
                place = Place(int(Kind.EV), edge, end, gap, on, on + gap * n, n)
                found.append(Lead("E", edge, gap, n, place))
        return found

    def exact(self, n: Array, e: Array) -> tuple[Array, str]:
        """A direction around an edge; exactly that of a flat part of K, if one is across it."""
        frustum = self.frustum
        if np.linalg.norm(np.cross(n, frustum.axis)) < FLAT and abs(frustum.axis @ e) < 1e-9:
            m = frustum.axis - (frustum.axis @ e) * e
            return m / np.linalg.norm(m) * np.sign(m @ n), "disc"
        p = frustum.lowest(n)
        if abs((p[1] - p[0]) @ n) > FLAT * self.size:
            return n, ""
        for _ in range(4):  # the side is level where it is across both
            m = np.cross(frustum.lowest(n)[1] - frustum.lowest(n)[0], e)
            if np.linalg.norm(m) < 1e-6 * self.size:
                break
            n = m / np.linalg.norm(m) * np.sign(m @ n)
        return n, "side"

    def of_vertex(self, vertex: int) -> list[Lead]:
        mesh, frustum, found = self.mesh, self.frustum, []
        x = mesh.vertices[vertex]
        others = mesh.edges[(mesh.edges == vertex).any(axis=1)]
        ways = mesh.vertices[others.sum(axis=1) - vertex] - x
        start = mesh.vertex_face_start
        faces = np.zeros(0, int) if mesh.thin else mesh.vertex_faces[start[vertex] : start[vertex + 1]]
        d, on, part = (y[0] for y in frustum.of(x[None]))
        z = (x - frustum.low) @ frustum.axis
        out = x - frustum.low - z * frustum.axis
        rho = np.linalg.norm(out)
        out = out / rho if rho > 1e-11 * self.size else frustum.marks[0]
        r0, r1 = frustum.radii
        way = np.array([r1 - r0, frustum.length]) / np.hypot(r1 - r0, frustum.length)
        along, side = np.array([rho - r0, z]) @ way, (rho - r0) * way[1] - z * way[0]
        tries = []
        if d > 0:
            tries.append(((on - x) / d, d, part))
        if rho <= r0 and z >= 0:
            tries.append((frustum.axis, -z, 0))
        if rho <= r1 and z <= frustum.length:
            tries.append((-frustum.axis, z - frustum.length, 1))
        if side <= 0 and 0 <= along <= np.hypot(r1 - r0, frustum.length):
            tries.append((way[0] * frustum.axis - way[1] * out, side, 2))
        for n, gap, of in tries:
            if self.leads_out(n, ways, faces):
                kind, k = (Kind.VE, 0) if of == 2 else (Kind.VV, int(of))
                found.append(Lead("V", vertex, gap, n, Place(int(kind), vertex, k, gap, x, x + gap * n, n)))
        return found

    # -- which of them count ---------------------------------------------------------------------------------
    def meets(self, f: Frustum, sort: str, number: int, tol: float) -> bool:
        mesh = self.mesh
        if sort == "V":
            return bool(f.of(mesh.vertices[number][None])[0][0] < -tol)
        if sort == "E":
            return self.through(f, *mesh.vertices[mesh.edges[number]]) < -tol
        loop, n = mesh.vertices[self.loop(number)], mesh.face_planes[number, :3]
        ends = [p[np.argmin(s * p @ n)] for s in (1, -1) for p in [f.lowest(s * n)]]
        low, high = ((p - loop[0]) @ n for p in ends)
        if not (low < -tol and high > tol):
            return False
        p = ends[0] + low / (low - high) * (ends[1] - ends[0])
        sides = np.roll(loop, -1, axis=0) - loop
        inside = (np.einsum("ij,ij->i", np.cross(n, sides), p - loop) >= 0).all()
        return bool(inside) or any(self.through(f, a, a + s) < -tol for a, s in zip(loop, sides, strict=True))

    @staticmethod
    def through(f: Frustum, a: Array, b: Array) -> float:
        """The least signed distance along a segment."""
        low, high, d = 0.0, 1.0, np.zeros(1)
        for _ in range(ZOOMS):
            u = np.linspace(low, high, 21)
            d = f.of(a + u[:, None] * (b - a))[0]
            k = int(np.argmin(d))
            low, high = u[max(k - 1, 0)], u[min(k + 1, 20)]
        return float(d.min())

    def overlap(self) -> bool:
        deep = DEEP * self.size
        if any(self.meets(self.frustum, "F", face, deep) for face in self.faces):
            return True
        if not is_solid(self.mesh):
            return False
        way, inside = np.array([0.53728431, 0.61803399, 0.57411682]), False
        p = 0.5 * (self.frustum.low + self.frustum.high)
        for face in self.faces:
            loop, n = self.mesh.vertices[self.loop(face)], self.mesh.face_planes[face, :3]
            share = (loop[0] - p) @ n / (way @ n)
            sides = np.roll(loop, -1, axis=0) - loop
            over = np.einsum("ij,ij->i", np.cross(n, sides), p + share * way - loop)
            inside = inside != bool(share > 0 and (over >= 0).all())
        return inside

    def settled(self, leads: list[Lead]) -> list[Lead]:
        """Without those of overlaps that a smaller way along another settles; of a convex mesh the least."""
        deep, tol = DEEP * self.size, BESIDE * self.size
        kept = [lead for lead in leads if lead.gap >= -deep]
        if self.convex and (kept or not self.together()):
            return kept
        rest: list[Lead] = []
        for lead in sorted((x for x in leads if x.gap < -deep), key=lambda x: -x.gap):
            if self.convex:
                return [*kept, lead]
            stays = self.meets(self.frustum, lead.sort, lead.number, tol)
            for other in rest:
                c = other.n @ lead.n
                if stays and c < ALIGNED:
                    moved = self.frustum.moved(-other.gap * other.n)
                    stays = bool(-lead.gap + other.gap * c > tol) and self.meets(
                        moved, lead.sort, lead.number, tol
                    )
            if stays:
                rest.append(lead)
        return kept + rest

    def together(self) -> bool:
        """Do a convex mesh and K overlap?"""
        if self.faces:
            return self.overlap()
        deep, mesh = DEEP * self.size, self.mesh
        edges = any(self.meets(self.frustum, "E", k, deep) for k in range(len(mesh.edges)))
        return edges or self.meets(self.frustum, "V", 0, deep)

    # -- corners ---------------------------------------------------------------------------------------------
    def face(self, n: Array, face: int) -> list[Place]:
        axes = axes_of(n)
        v, ids = Seen(self.frustum, axes), self.loop(face)
        loop, out = self.mesh.vertices[ids] @ axes.T, []  # type: Array, list[Place]
        sides = (np.roll(loop, -1, axis=0) - loop)[:, :2]
        turn = 1.0 if n @ self.mesh.face_planes[face, :3] > 0 else -1.0

        def inside(p: Array) -> bool:
            off = p[:2] - loop[:, :2]
            left = turn * (sides[:, 0] * off[:, 1] - sides[:, 1] * off[:, 0])
            return bool((left >= -self.within * np.linalg.norm(sides, axis=1)).all())

        for k in range(2):
            if (k == v.end or v.line) and inside(v.p[k]):
                corner(out, axes, Kind.FV, face, k, v.p[k], (loop[0, 2], v.p[k, 2]))
        for k, p in enumerate(v.rim if v.disc else []):
            if inside(p):
                corner(out, axes, Kind.FV, face, 2 + 8 * v.end + k, p, (loop[0, 2], p[2]))
        for k, p in enumerate(loop):
            if v.disc and v.holds(p, self.within):
                corner(out, axes, Kind.VV, int(ids[k]), v.end, p, (p[2], v.lift(p)[2]))
            edge = int(self.mesh.face_edges[self.mesh.face_start[face] + k])
            if not self.mesh.edge_flags[edge] & EDGE_FLAT:
                border(out, axes, v, edge, p, loop[(k + 1) % len(loop)], self.within, self.within)
        return out

    def edge(self, n: Array, edge: int) -> list[Place]:
        axes = axes_of(n)
        v, out = Seen(self.frustum, axes), []  # type: Seen, list[Place]
        ends = self.mesh.edges[edge]
        a, b = self.mesh.vertices[ends] @ axes.T
        border(out, axes, v, edge, a, b, self.within, FLAT * self.size)
        parallel(out, axes, v, edge, (int(ends[0]), int(ends[1])), a, b, self.within)
        for k, p in enumerate((a, b)):
            if v.disc and v.holds(p, self.within):
                corner(out, axes, Kind.VV, int(ends[k]), v.end, p, (p[2], v.lift(p)[2]))
        return out

    def corners(self, leads: list[Lead]) -> list[Place]:
        out: list[Place] = []
        tie = TIE * self.size

        def within(places: list[Place], floor: float) -> list[Place]:
            return [p for p in places if floor - tie <= p.gap <= self.margin]

        for face in self.faces:
            n = self.mesh.face_planes[face, :3]
            for side in (n, -n)[: 1 + self.two_sided]:
                floors = [lead.gap for lead in leads if lead.n @ side >= ALIGNED]
                if floors:
                    out += within(self.face(side, face), min(floors))
        for lead in leads:
            if lead.sort != "E":
                continue
            faces = self.edge_faces(lead.number)
            if lead.place is None or not (self.mesh.face_planes[faces, :3] @ lead.n >= ALIGNED).any():
                out += within(self.edge(lead.n, lead.number), lead.gap)
        return out
