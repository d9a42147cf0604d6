"""What of a cylinder or a cone lies across a direction, its corners with borders of others, and two of them.

Directions are looked for on a fine circle, or on a sphere, and narrowed where the gap is greatest. All is
seen along a direction, which is the z axis then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.backends import sources
from gpu_collide.reference.narrow_phase.revolved_gaps import Frustum
from gpu_collide.results.enums import Kind
from gpu_collide.results.manifolds import tangents_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.geometry.mesh.mesh import Mesh

__all__ = [
    "ALIGNED", "BESIDE", "DEEP", "FLAT", "TIE", "WITHIN", "ZOOMS",
    "MarkedFrustum", "Place", "Seen", "axes_of",
    "border", "frustum_of", "corner", "greatest_around", "parallel", "places_of_two",
]  # fmt: skip

_C = sources.constants(
    "mixed", "common/gc_constants.h", "clearance/gc_patch.h", "clearance/gc_frustum_near.h"
)
ALIGNED, WITHIN, PARALLEL, TIE = (_C[f"GC_PATCH_{name}"] for name in ("ALIGNED", "WITHIN", "PARALLEL", "TIE"))
BESIDE, DEEP = _C["GC_FRUSTUM_BESIDE"], _C["GC_OVERLAP_DEPTH"]
#: Directions of a circle that are looked at, and how often the best are narrowed.
AROUND, ZOOMS = 240, 14
#: What zooming leaves of a flat part that is across a direction.
FLAT = 1e-7


class Place(NamedTuple):
    """A row: kind and features as of M and K, gap, points of both and normal from M to K."""

    kind: int
    m: int
    k: int
    gap: float
    on_m: Array
    on_k: Array
    n: Array


class MarkedFrustum(Frustum):
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
    """A cylinder or cone along a direction, z upwards; `up` -1: from above."""

    def __init__(self, frustum: MarkedFrustum, axes: Array, up: float = 1.0) -> None:
        self.p = frustum.lowest(up * axes[2]) @ axes.T
        self.end = int(up * self.p[1, 2] < up * self.p[0, 2])
        way = self.p[1] - self.p[0]
        self.line = bool(way[2] ** 2 <= (1 - ALIGNED**2) * (way @ way))
        self.middle, self.up = axes @ (frustum.low, frustum.high)[self.end], axes @ frustum.axis
        self.r = frustum.radii[self.end]
        self.disc = bool(self.r > 0) and up * self.up[2] * (1, -1)[self.end] >= ALIGNED
        angle = np.arange(8) * np.pi / 4
        ring = np.cos(angle)[:, None] * frustum.marks[0] + np.sin(angle)[:, None] * frustum.marks[1]
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


def frustum_of(mesh: Mesh, turn: Array, place: Array) -> MarkedFrustum:
    own = Frustum(mesh.vertices[0], mesh.vertices[1], mesh.ends)
    u = np.cross(own.axis, np.eye(3)[np.argmin(np.abs(own.axis))])
    u /= np.linalg.norm(u)
    low, high = mesh.vertices @ turn.T + place
    frustum = MarkedFrustum(low, high, mesh.ends)
    frustum.marks = np.stack([u, np.cross(own.axis, u)]) @ turn.T
    return frustum


def axes_of(n: Array) -> Array:
    return np.stack([*(t[0] for t in tangents_of(n[None])), n])


def best_between(gap: Callable[[Array], Array], low: float, high: float) -> float:
    """Where a function is greatest between two arguments, which has one such place there."""
    for _ in range(ZOOMS):
        x = np.linspace(low, high, 21)
        k = int(np.argmax(gap(x)))
        low, high = x[max(k - 1, 0)], x[min(k + 1, 20)]
    return 0.5 * (low + high)


def greatest_around(frustum: MarkedFrustum, of: Array, x: Array, y: Array) -> list[Array]:
    """Directions of a circle at which the gap to a point is greatest."""
    angle = np.arange(AROUND + 2) * (2 * np.pi / AROUND)

    def at(t: Any) -> Array:
        ring: Array = np.cos(t)[..., None] * x + np.sin(t)[..., None] * y
        return ring

    g = frustum.gap(at(angle), of)
    k = 1 + np.flatnonzero((g[1:-1] >= g[:-2]) & (g[1:-1] >= g[2:]))
    best = [best_between(lambda t: frustum.gap(at(t), of), angle[i - 1], angle[i + 1]) for i in k]
    return [at(np.float64(t)) for t in best]


def corner(
    out: list[Place], axes: Array, kind: int, m: int, k: int, p: Array, high: tuple[float, float]
) -> None:
    on = [np.array([p[0], p[1], z]) @ axes for z in high]
    out.append(Place(int(kind), m, k, float(high[1] - high[0]), on[0], on[1], axes[2]))


def border(
    out: list[Place], axes: Array, v: Seen, edge: int, a: Array, b: Array, within: float, same: float
) -> None:
    """Where a border from a to b crosses a rim or a line. What is within `same` of a lowest point is that."""
    length = np.linalg.norm((b - a)[:2])
    for k, s in enumerate(v.crossings(a, b) if v.disc else []):
        p = a + s * (b - a)
        if abs(s - 0.5) * length <= 0.5 * length + within and not v.lowest(p, same):
            corner(out, axes, Kind.EE, edge, 1 + 2 * v.end + k, p, (p[2], v.lift(p)[2]))
    way, side = (b - a)[:2], (v.p[1] - v.p[0])[:2]
    turn = way[0] * side[1] - way[1] * side[0]
    if not v.line or abs(turn) <= PARALLEL * length * np.linalg.norm(side):
        return
    s, u = np.linalg.solve(np.stack([way, -side], axis=1), (v.p[0] - a)[:2])
    if max((abs(s - 0.5) - 0.5) * length, (abs(u - 0.5) - 0.5) * np.linalg.norm(side)) <= within:
        p = a + s * (b - a)
        if v.lowest(p, same):
            return
        corner(out, axes, Kind.EE, edge, 0, p, (p[2], (v.p[0] + u * (v.p[1] - v.p[0]))[2]))


def parallel(
    out: list[Place],
    axes: Array,
    v: Seen,
    edge: int,
    ends: tuple[int, int],
    a: Array,
    b: Array,
    within: float,
) -> None:
    way, side = b - a, v.p[1] - v.p[0]
    lengths = np.linalg.norm(way[:2]), np.linalg.norm(side[:2])
    if not v.line or abs(way[0] * side[1] - way[1] * side[0]) > PARALLEL * lengths[0] * lengths[1]:
        return
    for k in (0, 1):
        p = v.p[k]
        s = (p - a)[:2] @ way[:2] / lengths[0] ** 2
        if (abs(s - 0.5) - 0.5) * lengths[0] <= within:
            corner(out, axes, Kind.EV, edge, k, p, ((a + s * way)[2], p[2]))
        p = (a, b)[k]
        s = (p - v.p[0])[:2] @ side[:2] / lengths[1] ** 2
        if (abs(s - 0.5) - 0.5) * lengths[1] <= within:
            corner(out, axes, Kind.VE, ends[k], 0, p, (p[2], (v.p[0] + s * side)[2]))


# -- two of them ---------------------------------------------------------------------------------------------
def _greatest(e: MarkedFrustum, f: MarkedFrustum) -> tuple[float, Array]:
    """The greatest gap between parallel planes, and its direction from E to F."""

    def gap(n: Array) -> Array:
        return f.low_along(n) + e.low_along(-n)

    tries = [s * c.axis for c in (e, f) for s in (1, -1)]
    slopes = [(c.radii[0] - c.radii[1]) / np.hypot(c.length, c.radii[0] - c.radii[1]) for c in (e, f)]
    for c, s, turn in ((e, slopes[0], 1), (f, slopes[1], -1)):  # beside one side

        def on(t: Any, c: MarkedFrustum = c, s: float = s, turn: int = turn) -> Array:
            ring = np.cos(t)[..., None] * c.marks[0] + np.sin(t)[..., None] * c.marks[1]
            found: Array = turn * (s * c.axis + np.sqrt(1 - s * s) * ring)
            return found

        angle = np.arange(AROUND) * (2 * np.pi / AROUND)
        best = angle[np.argmax(gap(on(angle)))]
        tries.append(on(np.float64(best_between(lambda t, on=on: gap(on(t)), best - 0.03, best + 0.03))))  # type: ignore[misc]
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
        near = n + step * grid @ axes_of(n)[:2]
        near = np.concatenate([n[None], near / np.linalg.norm(near, axis=1)[:, None]])
        k = int(np.argmax(gap(near)))
        n, step = near[k], step if k else 0.5 * step
    tries.insert(0, n)
    gaps = gap(np.array(tries))
    k = int(np.flatnonzero(gaps >= gaps.max() - 1e-13 * (e.length + f.length))[-1])
    return float(gaps[k]), tries[k]


def places_of_two(e: MarkedFrustum, f: MarkedFrustum, size: float, margin: float) -> list[Place]:
    gap, n = _greatest(e, f)
    within = WITHIN * size
    if gap > margin + within:
        return []
    axes, out = axes_of(n), []  # type: Any, list[Place]
    m, k = Seen(e, axes, -1.0), Seen(f, axes)
    for disc, other, turned in ((m, k, False), (k, m, True)):
        some: list[Place] = []
        if not disc.disc:
            continue
        for i, p in enumerate(other.rim if other.disc else []):
            if disc.holds(p, within):
                corner(some, axes, Kind.VV, disc.end, 2 + 8 * other.end + i, p, (disc.lift(p)[2], p[2]))
        for i, p in enumerate(other.p):
            if (other.line or i == other.end) and disc.holds(p, within):
                corner(some, axes, Kind.VV, disc.end, i, p, (disc.lift(p)[2], p[2]))
        for i, s in enumerate(disc.crossings(*other.p) if other.line else []):
            p = other.p[0] + s * (other.p[1] - other.p[0])
            if 0 <= s <= 1 and not other.lowest(p, FLAT * size):
                corner(some, axes, Kind.EE, 1 + 2 * disc.end + i, 0, p, (disc.lift(p)[2], p[2]))
        out += [
            Place(p.kind, p.k, p.m, -p.gap, p.on_k, p.on_m, p.n) if turned else p for p in some
        ]  # fmt: skip
    if m.disc and k.disc:
        _rims(out, axes, m, k)
    if m.line and k.line:
        parallel(out, axes, k, 0, (0, 1), m.p[0], m.p[1], within)
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
        corner(out, axes, Kind.EE, 1 + 2 * m.end + side, 1 + 2 * k.end + side, p, (m.lift(p)[2], p[2]))


def _nearest(e: MarkedFrustum, f: MarkedFrustum, n: Array, gap: float, flat: list[bool]) -> Place:
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
