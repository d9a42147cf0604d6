"""Places of cylinders and cones at a pose: stage c04, pair by pair.

Directions are looked for on a fine circle around each edge, or on a sphere, and narrowed where the gap is
greatest. All is seen along a direction with the mesh's coordinates turned, so that it is the z axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.geometry.arrays.adjacency import EDGE_FLAT, EDGE_REFLEX
from gpu_collide.geometry.preparation.prepared import is_convex, is_solid
from gpu_collide.reference.narrow_phase.revolved_contacts import Frustum
from gpu_collide.results.enums import Kind
from gpu_collide.results.manifolds import tangents_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.bodies import Bodies
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = ["can_places_reference"]

_C = sources.constants("mixed", "common/gc_constants.h", "clearance/gc_patch.h", "clearance/gc_can_leads.h")
ALIGNED, WITHIN, PARALLEL, TIE = (
    _C[f"GC_PATCH_{name}"] for name in ("ALIGNED", "WITHIN", "PARALLEL", "TIE")
)
BESIDE, DEEP = _C["GC_CAN_BESIDE"], _C["GC_OVERLAP_DEPTH"]
#: Directions of a circle that are looked at, and how often the best are narrowed.
AROUND, ZOOMS = 240, 14
#: What zooming leaves of a flat part that is across a direction.
FLAT = 1e-7
_TURNED = {Kind.FV: Kind.VF, Kind.VF: Kind.FV, Kind.EV: Kind.VE, Kind.VE: Kind.EV}


class Place(NamedTuple):
    """A row: kind and features as of M and K, gap, points of both and normal from M to K."""

    kind: int
    m: int
    k: int
    gap: float
    on_m: Array
    on_k: Array
    n: Array


class Lead(NamedTuple):
    """A direction that may count: of which feature of M ("F", "E", "V" and a number), its gap, and its place,
    if it has one."""

    sort: str
    number: int
    gap: float
    n: Array
    place: Place | None


class Can(Frustum):
    """A frustum with the two directions across its axis that are fixed on it."""

    marks: Array

    def low_along(self, n: Array) -> Array:
        """How low it is along directions (..., 3)."""
        sine = np.linalg.norm(n - (n @ self.axis)[..., None] * self.axis, axis=-1)
        ends = [n @ end - r * sine for end, r in zip((self.low, self.high), self.radii, strict=True)]
        lower: Array = np.minimum(*ends)
        return lower

    def gap(self, n: Array, of: Array) -> Any:
        """Of directions (..., 3) beside a point."""
        return self.low_along(n) - n @ of

    def moved(self, way: Array) -> Frustum:
        return Frustum(self.low + way, self.high + way, self.radii)


class Seen:
    """A can along a direction, z upwards; `up` -1: from above."""

    def __init__(self, can: Can, axes: Array, up: float = 1.0) -> None:
        self.p = can.lowest(up * axes[2]) @ axes.T
        self.end = int(up * self.p[1, 2] < up * self.p[0, 2])
        way = self.p[1] - self.p[0]
        self.line = bool(way[2] ** 2 <= (1 - ALIGNED**2) * (way @ way))
        self.middle, self.up = axes @ (can.low, can.high)[self.end], axes @ can.axis
        self.r = can.radii[self.end]
        self.disc = self.r > 0 and up * self.up[2] * (1, -1)[self.end] >= ALIGNED
        angle = np.arange(8) * np.pi / 4
        ring = np.cos(angle)[:, None] * can.marks[0] + np.sin(angle)[:, None] * can.marks[1]
        self.rim = self.middle + self.r * ring @ axes.T

    def lift(self, p: Array) -> Array:
        off = p[:2] - self.middle[:2]
        return np.array([p[0], p[1], self.middle[2] - off @ self.up[:2] / self.up[2]])

    def holds(self, p: Array, within: float) -> bool:
        return bool(np.linalg.norm(self.lift(p) - self.middle) <= self.r + within)

    def lowest(self, p: Array, within: float) -> bool:
        """Is a place that of a lowest point, which is told by itself?"""
        some = [self.end, 1 - self.end][: 1 + self.line]
        return bool((np.abs(self.p[some, :2] - p[:2]).max(axis=1) <= within).any())

    def crossings(self, a: Array, b: Array) -> list[float]:
        """Shares of a line at which it is over the rim."""
        off, way = self.lift(a) - self.middle, self.lift(b) - self.lift(a)
        roots = np.roots([way @ way, 2 * off @ way, off @ off - self.r**2]) if way.any() else np.zeros(0)
        real = np.sort(roots.real[np.abs(roots.imag) == 0])
        return [float(x) for x in real] if len(real) == 2 and real[0] < real[1] else []


def can_places_reference(bodies: Bodies, pairs: Array, margin: Array) -> dict[str, Array]:
    """As `gpu_collide.pipeline.cans.CanPlaces.places`."""
    rows: list[tuple[int, Place]] = []
    hidden = np.zeros(len(pairs), bool)
    turn = bodies.start.to_matrix()[:, :3, :3]
    for i, (a, b) in enumerate(pairs):
        of_b = bodies.meshes[bodies.shape[b]].ends is not None
        m, k = (a, b) if of_b else (b, a)
        mesh = bodies.meshes[bodies.shape[m]]
        offset = bodies.start.position[k] - bodies.start.position[m]
        can = _can(bodies.meshes[bodies.shape[k]], turn[m].T @ turn[k], turn[m].T @ offset)
        size = max(mesh.radius, bodies.meshes[bodies.shape[k]].radius)
        if mesh.ends is not None:
            found, around = _two(_can(mesh, np.eye(3), np.zeros(3)), can, size, margin[i]), 0.0
        else:
            around = mesh.rounding
            found, hidden[i] = _Beside(mesh, can, size, margin[i] + around).places()
        origin = bodies.start.position[m]
        for p in found:
            ends = turn[m] @ (p.on_m + around * p.n), turn[m] @ p.on_k
            kind, x, y, n = p.kind, p.m, p.k, turn[m] @ p.n
            if not of_b:
                ends, kind, x, y, n = ends[::-1], _TURNED.get(Kind(kind), kind), y, x, -n
            rows.append((i, Place(kind, x, y, p.gap - around, ends[0] + origin, ends[1] + origin, n)))
    of = np.array([i for i, _ in rows], np.int32)
    columns = [np.array(x) for x in zip(*(p for _, p in rows), strict=True)] if rows else [np.zeros(0)] * 7
    kind, x, y, gap, on_a, on_b, n = columns
    return {
        "pair": of, "kind": kind.astype(np.int8), "feature_a": x.astype(np.int32),
        "feature_b": y.astype(np.int32), "distance": gap.astype(float), "point_a": on_a.reshape(-1, 3),
        "point_b": on_b.reshape(-1, 3), "normal": n.reshape(-1, 3), "hidden": hidden,
    }  # fmt: skip


def _can(mesh: Mesh, turn: Array, place: Array) -> Can:
    own = Frustum(*mesh.vertices, mesh.ends)
    u = np.cross(own.axis, np.eye(3)[np.argmin(np.abs(own.axis))])
    u /= np.linalg.norm(u)
    can = Can(*(mesh.vertices @ turn.T + place), mesh.ends)
    can.marks = np.stack([u, np.cross(own.axis, u)]) @ turn.T
    return can


def _axes(n: Array) -> Array:
    return np.stack([*(t[0] for t in tangents_of(n[None])), n])


def _best(gap: Callable[[Array], Array], low: float, high: float) -> float:
    """Where a function is greatest between two arguments, which has one such place there."""
    for _ in range(ZOOMS):
        x = np.linspace(low, high, 21)
        k = int(np.argmax(gap(x)))
        low, high = x[max(k - 1, 0)], x[min(k + 1, 20)]
    return 0.5 * (low + high)


def _around(can: Can, of: Array, x: Array, y: Array) -> list[Array]:
    """Directions of a circle at which the gap to a point is greatest."""
    angle = np.arange(AROUND + 2) * (2 * np.pi / AROUND)

    def at(t: Any) -> Array:
        ring: Array = np.cos(t)[..., None] * x + np.sin(t)[..., None] * y
        return ring

    g = can.gap(at(angle), of)
    k = 1 + np.flatnonzero((g[1:-1] >= g[:-2]) & (g[1:-1] >= g[2:]))
    best = [_best(lambda t: can.gap(at(t), of), angle[i - 1], angle[i + 1]) for i in k]
    return [at(np.float64(t)) for t in best]


def _corner(
    out: list[Place], axes: Array, kind: int, m: int, k: int, p: Array, high: tuple[float, float]
) -> None:
    on = [np.array([p[0], p[1], z]) @ axes for z in high]
    out.append(Place(int(kind), m, k, float(high[1] - high[0]), on[0], on[1], axes[2]))


def _border(
    out: list[Place], axes: Array, v: Seen, edge: int, a: Array, b: Array, within: float, same: float
) -> None:
    """Where a border from a to b crosses a rim or a line. What is within `same` of a lowest point is that."""
    length = np.linalg.norm((b - a)[:2])
    for k, s in enumerate(v.crossings(a, b) if v.disc else []):
        p = a + s * (b - a)
        if abs(s - 0.5) * length <= 0.5 * length + within and not v.lowest(p, same):
            _corner(out, axes, Kind.EE, edge, 1 + 2 * v.end + k, p, (p[2], v.lift(p)[2]))
    way, side = (b - a)[:2], (v.p[1] - v.p[0])[:2]
    turn = way[0] * side[1] - way[1] * side[0]
    if not v.line or abs(turn) <= PARALLEL * length * np.linalg.norm(side):
        return
    s, u = np.linalg.solve(np.stack([way, -side], axis=1), (v.p[0] - a)[:2])
    if max((abs(s - 0.5) - 0.5) * length, (abs(u - 0.5) - 0.5) * np.linalg.norm(side)) <= within:
        p = a + s * (b - a)
        if v.lowest(p, same):
            return
        _corner(out, axes, Kind.EE, edge, 0, p, (p[2], (v.p[0] + u * (v.p[1] - v.p[0]))[2]))


def _parallel(
    out: list[Place], axes: Array, v: Seen, edge: int, ends: tuple[int, int], a: Array, b: Array, within: float
) -> None:
    way, side = b - a, v.p[1] - v.p[0]
    lengths = np.linalg.norm(way[:2]), np.linalg.norm(side[:2])
    if not v.line or abs(way[0] * side[1] - way[1] * side[0]) > PARALLEL * lengths[0] * lengths[1]:
        return
    for k in (0, 1):
        p = v.p[k]
        s = (p - a)[:2] @ way[:2] / lengths[0] ** 2
        if (abs(s - 0.5) - 0.5) * lengths[0] <= within:
            _corner(out, axes, Kind.EV, edge, k, p, ((a + s * way)[2], p[2]))
        p = (a, b)[k]
        s = (p - v.p[0])[:2] @ side[:2] / lengths[1] ** 2
        if (abs(s - 0.5) - 0.5) * lengths[1] <= within:
            _corner(out, axes, Kind.VE, ends[k], 0, p, (p[2], (v.p[0] + s * side)[2]))


class _Beside:
    """A mesh and a can, seen in the mesh's coordinates."""

    def __init__(self, mesh: Mesh, can: Can, size: float, margin: float) -> None:
        self.mesh, self.can, self.size = mesh, can, size
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
                gap = float(self.can.gap(side, mesh.vertices[self.loop(face)[0]]))
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
        mesh, can, found = self.mesh, self.can, []
        a, b = mesh.vertices[mesh.edges[edge]]
        length = np.linalg.norm(b - a)
        if not length:
            return []
        e, faces = (b - a) / length, self.edge_faces(edge)
        ways = self.middle[faces] - a if len(faces) else np.zeros((0, 3))
        ways = ways - (ways @ e)[:, None] * e
        x = np.cross(e, np.eye(3)[np.argmin(np.abs(e))])
        x /= np.linalg.norm(x)
        for n in _around(can, a, x, np.cross(e, x)):
            if not self.leads_out(n, ways, faces, FLAT):
                continue
            n, flat = self.exact(n, e)
            gap, p = float(can.gap(n, a)), can.lowest(n)
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
        can = self.can
        if np.linalg.norm(np.cross(n, can.axis)) < FLAT and abs(can.axis @ e) < 1e-9:
            m = can.axis - (can.axis @ e) * e
            return m / np.linalg.norm(m) * np.sign(m @ n), "disc"
        p = can.lowest(n)
        if abs((p[1] - p[0]) @ n) > FLAT * self.size:
            return n, ""
        for _ in range(4):  # the side is level where it is across both
            m = np.cross(can.lowest(n)[1] - can.lowest(n)[0], e)
            if np.linalg.norm(m) < 1e-6 * self.size:
                break
            n = m / np.linalg.norm(m) * np.sign(m @ n)
        return n, "side"

    def of_vertex(self, vertex: int) -> list[Lead]:
        mesh, can, found = self.mesh, self.can, []
        x = mesh.vertices[vertex]
        others = mesh.edges[(mesh.edges == vertex).any(axis=1)]
        ways = mesh.vertices[others.sum(axis=1) - vertex] - x
        start = mesh.vertex_face_start
        faces = np.zeros(0, int) if mesh.thin else mesh.vertex_faces[start[vertex] : start[vertex + 1]]
        d, on, part = (y[0] for y in can.of(x[None]))
        z = (x - can.low) @ can.axis
        out = x - can.low - z * can.axis
        rho = np.linalg.norm(out)
        out = out / rho if rho > 1e-11 * self.size else can.marks[0]
        r0, r1 = can.radii
        way = np.array([r1 - r0, can.length]) / np.hypot(r1 - r0, can.length)
        along, side = np.array([rho - r0, z]) @ way, (rho - r0) * way[1] - z * way[0]
        tries = []
        if d > 0:
            tries.append(((on - x) / d, d, part))
        if rho <= r0 and z >= 0:
            tries.append((can.axis, -z, 0))
        if rho <= r1 and z <= can.length:
            tries.append((-can.axis, z - can.length, 1))
        if side <= 0 and 0 <= along <= np.hypot(r1 - r0, can.length):
            tries.append((way[0] * can.axis - way[1] * out, side, 2))
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
        ends = [min(f.lowest(s * n), key=lambda p, s=s: s * p @ n) for s in (1, -1)]
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
        if any(self.meets(self.can, "F", face, deep) for face in self.faces):
            return True
        if not is_solid(self.mesh):
            return False
        way, inside = np.array([0.53728431, 0.61803399, 0.57411682]), False
        p = 0.5 * (self.can.low + self.can.high)
        for face in self.faces:
            loop, n = self.mesh.vertices[self.loop(face)], self.mesh.face_planes[face, :3]
            share = (loop[0] - p) @ n / (way @ n)
            sides = np.roll(loop, -1, axis=0) - loop
            over = np.einsum("ij,ij->i", np.cross(n, sides), p + share * way - loop)
            inside ^= bool(share > 0 and (over >= 0).all())
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
            stays = self.meets(self.can, lead.sort, lead.number, tol)
            for other in rest:
                c = other.n @ lead.n
                if stays and c < ALIGNED:
                    moved = self.can.moved(-other.gap * other.n)
                    stays = -lead.gap + other.gap * c > tol and self.meets(moved, lead.sort, lead.number, tol)
            if stays:
                rest.append(lead)
        return kept + rest

    def together(self) -> bool:
        """Do a convex mesh and K overlap?"""
        if self.faces:
            return self.overlap()
        deep, mesh = DEEP * self.size, self.mesh
        edges = any(self.meets(self.can, "E", k, deep) for k in range(len(mesh.edges)))
        return edges or self.meets(self.can, "V", 0, deep)

    # -- corners ---------------------------------------------------------------------------------------------
    def face(self, n: Array, face: int) -> list[Place]:
        axes = _axes(n)
        v, ids = Seen(self.can, axes), self.loop(face)
        loop, out = self.mesh.vertices[ids] @ axes.T, []  # type: Array, list[Place]
        sides = (np.roll(loop, -1, axis=0) - loop)[:, :2]
        turn = 1.0 if n @ self.mesh.face_planes[face, :3] > 0 else -1.0

        def inside(p: Array) -> bool:
            off = p[:2] - loop[:, :2]
            left = turn * (sides[:, 0] * off[:, 1] - sides[:, 1] * off[:, 0])
            return bool((left >= -self.within * np.linalg.norm(sides, axis=1)).all())

        for k in range(2):
            if (k == v.end or v.line) and inside(v.p[k]):
                _corner(out, axes, Kind.FV, face, k, v.p[k], (loop[0, 2], v.p[k, 2]))
        for k, p in enumerate(v.rim if v.disc else []):
            if inside(p):
                _corner(out, axes, Kind.FV, face, 2 + 8 * v.end + k, p, (loop[0, 2], p[2]))
        for k, p in enumerate(loop):
            if v.disc and v.holds(p, self.within):
                _corner(out, axes, Kind.VV, int(ids[k]), v.end, p, (p[2], v.lift(p)[2]))
            edge = int(self.mesh.face_edges[self.mesh.face_start[face] + k])
            if not self.mesh.edge_flags[edge] & EDGE_FLAT:
                _border(out, axes, v, edge, p, loop[(k + 1) % len(loop)], self.within, self.within)
        return out

    def edge(self, n: Array, edge: int) -> list[Place]:
        axes = _axes(n)
        v, out = Seen(self.can, axes), []  # type: Seen, list[Place]
        ends = self.mesh.edges[edge]
        a, b = self.mesh.vertices[ends] @ axes.T
        _border(out, axes, v, edge, a, b, self.within, FLAT * self.size)
        _parallel(out, axes, v, edge, (int(ends[0]), int(ends[1])), a, b, self.within)
        for k, p in enumerate((a, b)):
            if v.disc and v.holds(p, self.within):
                _corner(out, axes, Kind.VV, int(ends[k]), v.end, p, (p[2], v.lift(p)[2]))
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


# -- two of them ---------------------------------------------------------------------------------------------
def _greatest(e: Can, f: Can) -> tuple[float, Array]:
    """The greatest gap between parallel planes, and its direction from E to F."""

    def gap(n: Array) -> Array:
        return f.low_along(n) + e.low_along(-n)

    tries = [s * c.axis for c in (e, f) for s in (1, -1)]
    slopes = [(c.radii[0] - c.radii[1]) / np.hypot(c.length, c.radii[0] - c.radii[1]) for c in (e, f)]
    for c, s, turn in ((e, slopes[0], 1), (f, slopes[1], -1)):  # beside one side

        def on(t: Any, c: Can = c, s: float = s, turn: int = turn) -> Array:
            ring = np.cos(t)[..., None] * c.marks[0] + np.sin(t)[..., None] * c.marks[1]
            found: Array = turn * (s * c.axis + np.sqrt(1 - s * s) * ring)
            return found

        angle = np.arange(AROUND) * (2 * np.pi / AROUND)
        best = angle[np.argmax(gap(on(angle)))]
        tries.append(on(np.float64(_best(lambda t, on=on: gap(on(t)), best - 0.03, best + 0.03))))
    across = np.cross(e.axis, f.axis)
    if across @ across > 1e-18:  # beside both
        n, *_ = np.linalg.lstsq(np.stack([e.axis, f.axis]), [slopes[0], -slopes[1]], rcond=None)
        rest = (1 - n @ n) / (across @ across)
        tries += [n + s * np.sqrt(max(rest, 0.0)) * across for s in (1, -1) if rest >= 0]
    i = np.arange(3000) + 0.5  # beside both rims
    z, t = 1 - 2 * i / 3000, np.pi * (1 + 5**0.5) * i
    ball = np.stack([np.cos(t) * np.sqrt(1 - z * z), np.sin(t) * np.sqrt(1 - z * z), z], axis=1)
    n, step = ball[np.argmax(gap(ball))], 0.05
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 7)] * 2), axis=-1).reshape(-1, 2)
    for _ in range(60):
        near = n + step * grid @ _axes(n)[:2]
        near = np.concatenate([n[None], near / np.linalg.norm(near, axis=1)[:, None]])
        k = int(np.argmax(gap(near)))
        n, step = near[k], step if k else 0.5 * step
    tries.insert(0, n)
    gaps = gap(np.array(tries))
    k = int(np.flatnonzero(gaps >= gaps.max() - 1e-13 * (e.length + f.length))[-1])
    return float(gaps[k]), tries[k]


def _two(e: Can, f: Can, size: float, margin: float) -> list[Place]:
    gap, n = _greatest(e, f)
    within = WITHIN * size
    if gap > margin + within:
        return []
    axes, out = _axes(n), []  # type: Any, list[Place]
    m, k = Seen(e, axes, -1.0), Seen(f, axes)
    for disc, other, turned in ((m, k, False), (k, m, True)):
        some: list[Place] = []
        if not disc.disc:
            continue
        for i, p in enumerate(other.rim if other.disc else []):
            if disc.holds(p, within):
                _corner(some, axes, Kind.VV, disc.end, 2 + 8 * other.end + i, p, (disc.lift(p)[2], p[2]))
        for i, p in enumerate(other.p):
            if (other.line or i == other.end) and disc.holds(p, within):
                _corner(some, axes, Kind.VV, disc.end, i, p, (disc.lift(p)[2], p[2]))
        for i, s in enumerate(disc.crossings(*other.p) if other.line else []):
            p = other.p[0] + s * (other.p[1] - other.p[0])
            if 0 <= s <= 1 and not other.lowest(p, FLAT * size):
                _corner(some, axes, Kind.EE, 1 + 2 * disc.end + i, 0, p, (disc.lift(p)[2], p[2]))
        out += [
            Place(p.kind, p.k, p.m, -p.gap, p.on_k, p.on_m, p.n) if turned else p for p in some
        ]  # fmt: skip
    if m.disc and k.disc:
        _rims(out, axes, m, k)
    if m.line and k.line:
        _parallel(out, axes, k, 0, (0, 1), m.p[0], m.p[1], within)
    out = [p for p in out if gap - TIE * size <= p.gap <= margin + within]
    flat = [abs(float((c[1] - c[0]) @ n)) <= FLAT * size for c in (e.lowest(-n), f.lowest(n))]
    if out and np.linalg.norm(np.cross(e.axis, f.axis)) <= PARALLEL and flat[0] == flat[1]:
        return out
    return [*out, _nearest(e, f, n, gap, flat)]


def _rims(out: list[Place], axes: Array, m: Seen, k: Seen) -> None:
    """Where two rims cross as they are seen: a rim's points that are over the other, by halves."""
    x = np.append((m.middle - k.middle)[:2], 0.0)
    if not x.any():
        return
    x[2] = -(k.up @ x) / k.up[2]
    x /= np.linalg.norm(x)
    y = np.cross(k.up, x)

    def at(t: float) -> Array:
        point: Array = k.middle + k.r * (np.cos(t) * x + np.sin(t) * y)
        return point

    def off(t: float) -> float:
        return float(np.linalg.norm(m.lift(at(t)) - m.middle) - m.r)

    for side in (0, 1):
        low, high = 0.0, np.pi * (1, -1)[side]
        if off(low) * off(high) >= 0:
            continue
        for _ in range(60):
            t = 0.5 * (low + high)
            low, high = (t, high) if off(t) * off(low) > 0 else (low, t)
        p = at(low)
        _corner(out, axes, Kind.EE, 1 + 2 * m.end + side, 1 + 2 * k.end + side, p, (m.lift(p)[2], p[2]))


def _nearest(e: Can, f: Can, n: Array, gap: float, flat: list[bool]) -> Place:
    """The place of a direction, with the lines or points that are across it."""
    (a, b), (c, d) = e.lowest(-n), f.lowest(n)
    end_e, end_f = int((b - a) @ n > 0), int((d - c) @ n < 0)
    p, q = (b, d)[0] if end_e else a, d if end_f else c
    if flat[0] and flat[1]:
        s = np.linalg.solve(np.stack([b - a, c - d, n], axis=1), c - a)[0]
        on, kind, x, y = a + s * (b - a), Kind.EE, 0, 0
    elif flat[0]:
        way = b - a
        on, kind, x, y = a + (q - a) @ way / (way @ way) * way, Kind.EV, 0, end_f
    elif flat[1]:
        way = d - c
        on, kind, x, y = c + (p - c) @ way / (way @ way) * way - gap * n, Kind.VE, end_e, 0
    else:
        level = np.linalg.norm(np.cross(n, e.axis)) <= 1e-9
        on, kind, x, y = q - gap * n if level else p, Kind.VV, end_e, end_f
    return Place(int(kind), x, y, gap, on, on + gap * n, n)
