"""Stage 2: how deep two closed bodies are in each other at a time, by all pairs of features.

A pair of features *overlaps* if it is proper and its features are past each other: a vertex behind a face,
its foot inside the face, all edges at the vertex leaving to the outside of the face; or two edges, neither
reflex, whose lines pass each other within both, along a normal that leads out of both bodies. Its depth is
the length between its points. Of two convex bodies the least depth is the least translation that takes them
apart.

Other bodies may overlap in several regions. `Regions` has what hangs together: places where edges of one body
go through faces of the other (cuts), vertices of one inside the other, and what is between these along edges
and along the lines in which two faces meet. A pair of features belongs to the region that has one of its
points. The depth of a region is that of its least pair. Where surfaces meet in one closed line, it reaches so
far along the area vector of A's surface in it; pairs that are more than `TWICE` as deep do not count, and
without any the reach is its depth. Where they meet in several, as a bar that goes clean through a plate, or
in none, the least translation along a face normal that takes the whole bodies apart is in its place. The
depth of two bodies is that of their deepest region.

Regions are those of B moved a little (`NUDGE`) in a direction that no shape has, so that nothing touches
exactly.
"""

import itertools
from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase._properness import vertex_properness
from gpu_collide.reference.narrow_phase.s09_overlap import DEPTH, ROUNDING, SPECK
from gpu_collide.results.enums import Kind

# Properness and borders, the latter in units of the size: what gives by so much counts as being at the limit.
INSIDE = 1e-11
# Sine below which edges count as parallel.
PARALLEL = 1e-9
# In units of the size, and at least so many roundings: features as near as this touch, and count.
TOUCH, FINEST = 1e-11, 4.0
# Depths closer than this, in units of the size, are equal: the first of kind and features is told.
TIE = 1e-11
# A pair of features so many times as deep as its region reaches is none of it.
TWICE = 2.0
# How far B is moved where regions are looked for, in the least depths that are an overlap; where to, in A.
NUDGE, ASTRAY = 0.25, np.array([0.5139748, 0.7471233, 0.4214561])


class Deep(NamedTuple):
    """A pair of features that overlaps, in the frame in which A rests."""

    depth: float
    kind: Kind
    feature_a: int
    feature_b: int
    on_a: np.ndarray
    on_b: np.ndarray
    normal: np.ndarray  # from A to B: B moved by the depth along it touches only, there
    at_a: float  # of two edges: how far along them the points are, 0 to 1
    at_b: float


class Posed(NamedTuple):
    """Points and normals of a side (`Side`) at a time."""

    side: object
    points: np.ndarray
    normals: np.ndarray


def depths_at(motion, a, b, s):
    """The regions (`Deep`) of two sides that overlap at s in [-1/2, 1/2], the deepest first; none: not both
    are closed."""
    thin = [len(side.points) < 3 for side in (a, b)]
    if all(thin) or not all(is_solid(side.tables) or line for side, line in zip((a, b), thin, strict=True)):
        return []
    size, rough = motion.size, ROUNDING * (motion.size + motion.speed)
    one = Posed(a, a.points, a.normals)
    other = Posed(b, motion.flow(b.points, s), motion.turn(b.normals, s))
    pairs = overlapping_pairs(motion, one, other, s, size, max(TOUCH * size, FINEST * rough))
    if are_convex(a, b):
        return [least(pairs, size) or whole(one, other)]
    overlap = max(DEPTH * size, SPECK * rough)
    nudge = NUDGE * overlap
    pairs = [pair for pair in pairs if pair.depth > overlap]
    moved = other._replace(points=other.points + nudge * motion.direction_from_a(ASTRAY))
    joined = regions_of(one, moved)
    found = []
    for label in sorted(set(joined.region.values())) or [None]:
        reach = None if label is None else joined.reach(label)
        limit, reach = (TWICE * reach.depth, reach) if reach else ((far := whole(one, other)).depth, far)
        own = [p for p in pairs if p.depth <= limit and (label is None or joined.has(p, label))]
        found.append(least(own, size) or reach)
    return sorted(found, key=lambda pair: (-pair.depth, *pair[1:4]))


def is_solid(tables):
    """Has a mesh an inside everywhere: is it closed, and has its surface sides?"""
    return (
        bool(tables.components.closed.all() and (tables.components.faces_out > 0).all())
        and not tables.two_sided
    )


def is_convex(tables):
    """Is a closed mesh a convex body: one component without reflex edges?"""
    return len(tables.components.closed) == 1 and not tables.edge_reflex.any()


def are_convex(a, b):
    """Are two sides both convex bodies?"""
    return all(len(side.points) < 3 or (is_solid(side.tables) and is_convex(side.tables)) for side in (a, b))


def least(pairs, size):
    """The pair of least depth, of equals the first; None of none."""
    if not pairs:
        return None
    most = min(pair.depth for pair in pairs) + TIE * size
    return min((pair for pair in pairs if pair.depth <= most), key=lambda pair: pair[1:4])


def deepest(pairs, size):
    """The pair of greatest depth, of equals the first."""
    enough = max(pair.depth for pair in pairs) - TIE * size
    return min((pair for pair in pairs if pair.depth >= enough), key=lambda pair: pair[1:4])


def overlapping_pairs(motion, a, b, s, size, touch):
    """All pairs of features that overlap, each a `Deep`."""
    found = _behind(motion, a, b, s, size, touch, Kind.FV) + _behind(motion, b, a, s, size, touch, Kind.VF)
    return found + _passing(a, b, size, touch)


def _behind(motion, faces, vertices, s, size, touch, kind):
    t = faces.side.tables
    found = []
    for f in range(len(t.loops) if len(faces.points) > 2 else 0):
        n, loop = faces.normals[f], t.loops[f][t.loops[f] >= 0]
        corners = faces.points[loop]
        height = (vertices.points - corners[0]) @ n
        feet = vertices.points - height[:, None] * n
        behind = height <= touch
        for u, v in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            side = np.cross(n, v - u)
            behind &= (feet - u) @ side >= -INSIDE * size * np.linalg.norm(v - u)
        for v in np.flatnonzero(behind & (vertices.side.tables.vertex_edges >= 0).any(axis=1)):
            own = faces.side.normals[f][None]
            if (
                len(vertices.points) > 1
                and vertex_properness(motion, faces.side, vertices.side, np.array([v]), own, np.array([s]))[0]
                < -INSIDE
            ):
                continue
            depth = max(-float(height[v]), 0.0)
            if kind == Kind.FV:
                found.append(Deep(depth, kind, f, int(v), feet[v], vertices.points[v], n, 0.0, 0.0))
            else:
                found.append(Deep(depth, kind, int(v), f, vertices.points[v], feet[v], -n, 0.0, 0.0))
    return found


def _passing(a, b, size, touch):
    ta, tb = a.side.tables, b.side.tables
    i, j = np.nonzero(~ta.edge_reflex[:, None] & ~tb.edge_reflex[None])
    if min(len(a.points), len(b.points)) == 1:
        return []  # a point has no edge
    p, r = a.points[ta.edges[i, 0]], b.points[tb.edges[j, 0]]
    d, e = a.points[ta.edges[i, 1]] - p, b.points[tb.edges[j, 1]] - r
    long_d, long_e = np.linalg.norm(d, axis=1), np.linalg.norm(e, axis=1)
    c = cross(d, e)
    square = np.sum(c * c, axis=1)
    some = square > (PARALLEL * long_d * long_e) ** 2
    i, j, p, r, d, e, c, square, long_d, long_e = (
        x[some] for x in (i, j, p, r, d, e, c, square, long_d, long_e)
    )
    at_a, at_b = np.sum(cross(r - p, e) * c, axis=1) / square, np.sum(cross(r - p, d) * c, axis=1) / square
    give_a, give_b = INSIDE * size / long_d, INSIDE * size / long_e
    within = (at_a >= -give_a) & (at_a <= 1 + give_a) & (at_b >= -give_b) & (at_b <= 1 + give_b)
    found = []
    for k in np.flatnonzero(within):
        n = c[k] / np.sqrt(square[k])
        gap = float(n @ (r[k] - p[k]))
        for sign in (1.0, -1.0):
            if sign * gap <= touch and _leads_out(a, i[k], sign * n) and _leads_out(b, j[k], -sign * n):
                s, t = np.clip((at_a[k], at_b[k]), 0.0, 1.0)
                on_a, on_b = p[k] + s * d[k], r[k] + t * e[k]
                found.append(
                    Deep(max(-sign * gap, 0.0), Kind.EE, int(i[k]), int(j[k]), on_a, on_b, sign * n, s, t)
                )
                break
    return found


def _leads_out(body, edge, n):
    """Does n lead out of a body at an edge: into none of the faces there?"""
    t = body.side.tables
    d = body.points[t.edges[edge, 1]] - body.points[t.edges[edge, 0]]
    d /= np.linalg.norm(d)
    for face, side in zip(t.edge_faces[edge], t.edge_sides[edge], strict=True):
        if face >= 0:
            into = np.cross(body.normals[face], d) * (1.0 if side == 0 else -1.0)
            if n @ into > INSIDE:
                return False
    return True


# -- regions -------------------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """Where an edge of a body (0: A, 1: B) goes through a face of the other; `enters`: from its first
    vertex."""

    of: int
    edge: int
    at: float
    face: int
    enters: bool


class Joined:
    """Things that are joined, and in what they end."""

    def __init__(self):
        self.up = {}

    def root(self, x):
        while x in self.up:
            x = self.up[x]
        return x

    def join(self, x, y):
        x, y = self.root(x), self.root(y)
        if x != y:
            self.up[x] = y


class Regions:
    """What of an overlap hangs together.

    Attributes
    ----------
    bodies : (Posed, Posed)
    lines : dict of (face of A, face of B) to list of Cut
        Cuts on the line in which two faces meet.
    line : dict of Cut to Cut
        A cut of the closed line on which it is.
    region : dict of Cut to Cut
        The first cut of its region.
    """

    def __init__(self, a, b, cuts):
        self.bodies = a, b
        joined = Joined()
        self.on_edge: dict[tuple[int, int], list[Cut]] = {}
        self.lines: dict[tuple[int, int], list[Cut]] = {}
        for cut in cuts:
            self.on_edge.setdefault((cut.of, cut.edge), []).append(cut)
            for face in self.bodies[cut.of].side.tables.edge_faces[cut.edge]:
                if face >= 0:
                    line = (int(face), cut.face) if cut.of == 0 else (cut.face, int(face))
                    self.lines.setdefault(line, []).append(cut)
        for on in self.lines.values():
            for cut in on[1:]:
                joined.join(on[0], cut)
        self.line = {cut: joined.root(cut) for cut in cuts}
        for of in (0, 1):
            self._join_edges(joined, of)
        self.joined = joined
        self.first: dict[object, Cut] = {}
        for cut in cuts:
            self.first.setdefault(joined.root(cut), cut)
        self.region = {cut: self.first[joined.root(cut)] for cut in cuts}

    def _join_edges(self, joined, of):
        for edge, ends in enumerate(self.bodies[of].side.tables.edges):
            first, last = ((of, int(v)) for v in ends)
            on = self.on_edge.get((of, edge), [])
            if not on:
                joined.join(first, last)
                continue
            if not on[0].enters:
                joined.join(first, on[0])
            if on[-1].enters:
                joined.join(on[-1], last)
            for x, y in zip(on, on[1:], strict=False):
                if x.enters or not y.enters:
                    joined.join(x, y)

    def of_vertex(self, of, vertex):
        """The region that a vertex is in, or None."""
        return self.first.get(self.joined.root((of, vertex)))

    def of_place(self, of, edge, at):
        """The region that a place on an edge is in, or None."""
        on = self.on_edge.get((of, edge), [])
        if not on:
            return self.of_vertex(of, int(self.bodies[of].side.tables.edges[edge, 0]))
        before, behind = [cut for cut in on if cut.at <= at], [cut for cut in on if cut.at > at]
        if before and before[-1].enters:
            return self.region[before[-1]]
        return self.region[behind[0]] if behind and not behind[0].enters else None

    def has(self, pair, label):
        """Has a region one of the points of a pair, and no other one the other?"""
        if pair.kind == Kind.FV:
            own = {self.of_vertex(1, pair.feature_b)}
        elif pair.kind == Kind.VF:
            own = {self.of_vertex(0, pair.feature_a)}
        else:
            own = {
                self.of_place(of, edge, at)
                for of, edge, at in ((0, pair.feature_a, pair.at_a), (1, pair.feature_b, pair.at_b))
            }
        return own - {None} == {label}

    def reach(self, label):
        """How far a region reaches along the area vector of A's surface in it (`Deep`); None where surfaces
        meet in several closed lines. That vector is an integral along the line."""
        own = [cut for cut, region in self.region.items() if region == label]
        if len({self.line[cut] for cut in own}) > 1:
            return None
        a, b = bodies = self.bodies
        place = {cut: _place(bodies[cut.of], cut) for cut in own}
        area = np.zeros(3)
        for (face_a, face_b), on in self.lines.items():
            if self.region[on[0]] != label:
                continue
            along = cross(a.normals[face_a], b.normals[face_b])
            for x, y in itertools.pairwise(sorted(on, key=lambda cut: place[cut] @ along)):
                area += 0.5 * cross(place[x] - place[own[0]], place[y] - place[own[0]])
        if not area.any():
            return None
        points = np.array(
            list(place.values())
            + [x for of in (0, 1) for v, x in enumerate(bodies[of].points) if self.of_vertex(of, v) == label]
        )
        n = area / np.linalg.norm(area)
        top, bottom = (points @ n).argmax(), (points @ n).argmin()
        depth = float((points[top] - points[bottom]) @ n)
        return Deep(depth, Kind.NONE, -1, -1, points[top], points[bottom], n, 0.0, 0.0)


def regions_of(a, b):
    """`Regions` of two bodies in which nothing touches exactly."""
    return Regions(a, b, sorted(_cuts(0, a, b) + _cuts(1, b, a)))


def _place(body, cut):
    p, q = body.points[body.side.tables.edges[cut.edge]]
    return p + cut.at * (q - p)


def _cuts(of, body, other):
    t, faces = body.side.tables, other.side.tables
    p, q = body.points[t.edges[:, 0]], body.points[t.edges[:, 1]]
    found = []
    for f, loop in enumerate(faces.loops):
        n, corners = other.normals[f], other.points[loop[loop >= 0]]
        hp, hq = (p - corners[0]) @ n, (q - corners[0]) @ n
        for e in np.flatnonzero((hp < 0) != (hq < 0)):
            at = hp[e] / (hp[e] - hq[e])
            x = p[e] + at * (q[e] - p[e])
            sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
            if all(np.cross(n, v - u) @ (x - u) >= 0 for u, v in sides):
                found.append(Cut(of, int(e), float(at), f, bool(hp[e] >= 0)))
    return found


def whole(a, b):
    """The least translation along the normal of a face that takes the bodies apart, wherever they overlap;
    the points are their outermost vertices, which the normal need not join."""
    best = None
    for body, sign in ((a, 1.0), (b, -1.0)):
        for normal in body.normals if len(body.points) > 2 else ():
            n = sign * normal
            of_a, of_b = a.points @ n, b.points @ n
            i, j = int(of_a.argmax()), int(of_b.argmin())
            depth = float(of_a[i] - of_b[j])
            if best is None or depth < best.depth:
                best = Deep(depth, Kind.NONE, -1, -1, a.points[i], b.points[j], n, 0.0, 0.0)
    return best
