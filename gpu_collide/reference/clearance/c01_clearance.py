"""Stage 1: how near two bodies come during the step, by branch and bound over time for every pair of
features.

All vertices of either body against all triangles of the other, and all pairs of edges, in the frame in
which A rests. In a round every pair of features that is left is looked at in the middle of its span of
time; then either a bound tells that it comes no nearer than the least distance known, less the tolerance,
or the span is halved.

Bounds within h of a moment, for a unit direction n there, w the velocity of B's material relative to A's, K
the greatest acceleration of a point of B as A sees it, L of a point of A as B does (docs/decisions/0112):

    n as A holds it       min over x of B (n.x - h |n.w(x)|) - max over a of A (n.a) - K h^2/2
    n as B holds it       min (n.x) - max (n.a + h |n.w(a)|) - L h^2/2
    n across both edges   n + s m turns with them, m = -(n . (omega x e)) / (m0 . e) m0,  m0 = n x d:
                          min of n.(x - a) - h |m.(x - a) + n.w(x)| - h^2 |m.w(x)| - K h^2/2 (1 + h |m|),
                          over the length of n + h m

Once they are known to meet (`TOUCH`), what counts is the first time at which they do.
"""

from typing import Any, NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.clearance._features import PARALLEL, dot, edge_edge, pierces, point_triangle, unit
from gpu_collide.reference.narrow_phase.body_motion import BodyMotion
from gpu_collide.results.enums import Kind, Status

# In units of the size: as near as this they meet, as in `s07_solve`.
TOUCH = 1e-11
# Rounding of a distance, in units of size and way; and the finest tolerance and touch, in these.
ROUNDING, FINEST = 1e-14, 4.0
# Rounds, each with spans half as long; the last ones are below what a time can tell.
ROUNDS = 46
# Features that are looked at together.
CHUNK = 400_000


class Place(NamedTuple):
    """Where the bodies are nearest, in the frame in which A rests."""

    kind: Kind
    feature_a: int
    feature_b: int
    on_a: np.ndarray
    on_b: np.ndarray
    normal: np.ndarray


class Nearest(NamedTuple):
    """The least distance, a bound from below, when (s from -1/2 to 1/2), and where; without a place
    surfaces cross, or nothing is nearer than what was asked about, and the distance is infinite."""

    distance: float
    bound: float
    s: float
    place: Place | None
    status: Status


class Body(NamedTuple):
    """Points (nv, 3), edges (ne, 2), triangles (m, 3), the face of each and of each side the edge, -1:
    none."""

    points: np.ndarray
    edges: np.ndarray
    triangles: np.ndarray
    face: np.ndarray
    side: np.ndarray
    used: np.ndarray
    owner: object


def body_of(side):
    """`Body` of a `Side`: faces as fans of triangles, with corners in the planes of their faces. A point or a
    line has none."""
    t = side.tables
    triangles, face, sides = [], [], []
    thin = len(side.points) < 3
    for f, loop in enumerate([] if thin else t.loops):
        loop, edges = loop[loop >= 0], t.loop_edges[f]
        last = len(loop) - 1
        for k in range(1, last):
            triangles.append((loop[0], loop[k], loop[k + 1]))
            face.append(f)
            sides.append((edges[0] if k == 1 else -1, edges[k], edges[last] if k + 1 == last else -1))
    corners = np.array(triangles, int).reshape(-1, 3)
    used = np.arange(len(side.points)) if thin else np.unique(corners)
    return Body(side.points, t.edges, corners, np.array(face), np.array(sides), used, side)


class Pair:
    """Two bodies on their motion, and what features of them are near at a time."""

    def __init__(self, motion, a, b):
        self.motion, self.a, self.b = motion, body_of(a), body_of(b)
        self.turns = isinstance(motion, BodyMotion)
        self.faster_b, self.faster_a = self._bends(1), self._bends(-1)

    def _bends(self, side):
        """Greatest acceleration of a point of B (1) as A sees it, or of A (-1) as B does."""
        points = (self.b if side > 0 else self.a).points
        m = self.motion
        if not self.turns:
            off = points + np.array([0.0, 0.0, 1.0 / m.kappa if m.kappa > 0 else 0.0])
            return m.theta**2 * np.hypot(off[:, 0], off[:, 2]).max() if m.theta > 0 else 0.0
        own, other = (m.path_a, m.path_b) if side > 0 else (m.path_b, m.path_a)
        reach = np.linalg.norm(points, axis=1).max()
        straight = np.linalg.norm(m.W) + np.linalg.norm(own.p) + np.linalg.norm(other.p)
        far = np.linalg.norm(m.U) + straight + reach
        fast = straight + other.theta * reach
        bend = (
            own.theta * np.linalg.norm(own.p) + other.theta * np.linalg.norm(other.p) + other.theta**2 * reach
        )
        return bend + 2.0 * own.theta * fast + own.theta**2 * far

    def moved(self, points, s):
        """Points of B as A sees them."""
        return self.motion.carry(points, s, -1.0)

    def velocity(self, x, s):
        """Of B's material relative to A's, where A sees the points x."""
        return self.motion.field(x, s, -1.0)

    def swings(self, x, y, s):
        """Rate of change of y - x, both fixed in B."""
        return self.velocity(y, s) - self.velocity(x, s)

    # -- features --------------------------------------------------------------------------------------------
    def all_features(self):
        """Rows (kind, feature of A, feature of B) of all pairs of features; a face stands for its
        triangles."""
        a, b = self.a, self.b
        rows = [
            _pairs(Kind.FV, np.arange(len(a.triangles)), b.used),
            _pairs(Kind.VF, a.used, np.arange(len(b.triangles))),
            _pairs(Kind.EE, np.arange(len(a.edges)), np.arange(len(b.edges))),
        ]
        return np.concatenate(rows)

    def look(self, features, s, h):
        """`Near` of features (k, 3) of one kind at the times s (k,), and bounds within h of them."""
        kind, fa, fb = features[0, 0], features[:, 1], features[:, 2]
        if kind == Kind.EE:
            return self._edges(fa, fb, s, h)
        return self._vertex(kind, fa, fb, s, h)

    def _vertex(self, kind, fa, fb, s, h):
        when = s[:, None]
        if kind == Kind.FV:
            x = self.moved(self.b.points[fb], s)
            corners = self.a.points[self.a.triangles[fa]]
            near = point_triangle(corners, x)
        else:
            x = self.a.points[fa]
            corners = self.moved(self.b.points[self.b.triangles[fb]], when)
            near = point_triangle(corners, x)
        w = self.velocity(x, s)
        height = dot(near.normal, x) - np.max(dot(near.normal[:, None], corners), axis=1)
        bend = self.faster_b if kind == Kind.FV else self.faster_a
        bound = height - h * np.abs(dot(near.normal, w)) - 0.5 * bend * h * h
        slow = near.distance - h * np.linalg.norm(w, axis=1) - 0.5 * self.turns * bend * h * h
        if kind == Kind.VF:
            near = near._replace(
                first=near.second, second=near.first, normal=-near.normal, at_first=near.at_second,
                at_second=near.at_first,
            )  # fmt: skip
        return near, np.maximum(bound, slow)

    def _edges(self, fa, fb, s, h):
        p, q = (self.a.points[self.a.edges[fa, k]] for k in (0, 1))
        x, y = (self.moved(self.b.points[self.b.edges[fb, k]], s) for k in (0, 1))
        d, e = q - p, y - x
        near = edge_edge(p, d, x, e)
        n = near.normal
        wp, wq, wx, wy = (self.velocity(z, s) for z in (p, q, x, y))
        fast = np.maximum(np.linalg.norm(wx, axis=1), np.linalg.norm(wy, axis=1))
        slow = near.distance - h * fast - 0.5 * self.turns * self.faster_b * h * h
        low, high = np.minimum(dot(n, x), dot(n, y)), np.maximum(dot(n, p), dot(n, q))
        held_a = np.minimum(dot(n, x) - h * np.abs(dot(n, wx)), dot(n, y) - h * np.abs(dot(n, wy)))
        held_b = np.maximum(dot(n, p) + h * np.abs(dot(n, wp)), dot(n, q) + h * np.abs(dot(n, wq)))
        bound = np.maximum(
            held_a - high - 0.5 * self.faster_b * h * h, low - held_b - 0.5 * self.faster_a * h * h
        )
        m0 = cross(n, d)
        across = dot(m0, e)
        skewed = across**2 > PARALLEL**2 * dot(d, d) * dot(e, e)
        m = (-dot(n, wy - wx) / np.where(skewed, across, 1.0))[:, None] * m0
        length = np.linalg.norm(m, axis=1)
        least = np.full(len(s), np.inf)
        for a in (p, q):
            for z, w in ((x, wx), (y, wy)):
                at = dot(n, z - a) - h * np.abs(dot(m, z - a) + dot(n, w)) - h * h * np.abs(dot(m, w))
                least = np.minimum(least, at)
        least = least - 0.5 * self.faster_b * h * h * (1.0 + h * length)
        least = np.where(least > 0, least / np.hypot(1.0, h * length), least)
        return near, np.maximum(np.maximum(slow, bound), np.where(skewed, least, -np.inf))

    def crossing(self, s):
        """Do the surfaces cross at the time s?"""
        moved = self.moved(self.b.points, np.array(s))
        for edges, points, triangles, corners in (
            (self.a.edges, self.a.points, self.b.triangles, moved),
            (self.b.edges, moved, self.a.triangles, self.a.points),
        ):
            rows = np.array(np.meshgrid(np.arange(len(edges)), np.arange(len(triangles)))).reshape(2, -1)
            for k in range(0, rows.shape[1], CHUNK):
                e, f = rows[:, k : k + CHUNK]
                if pierces(points[edges[e, 0]], points[edges[e, 1]], corners[triangles[f]]).any():
                    return True
        return False


def _pairs(kind, a, b):
    rows = np.array(np.meshgrid(a, b, indexing="ij")).reshape(2, -1).T
    return np.column_stack([np.full(len(rows), int(kind)), rows])


class Search:
    """The least distance found so far, and what it takes to be told."""

    def __init__(self, motion, a, b, tolerance, max_distance, rounding):
        self.pair = Pair(motion, a, b)
        self.rough = ROUNDING * motion.unit
        self.margin = max(tolerance * motion.size, FINEST * self.rough)
        self.touch = self.near = max(TOUCH * motion.size, FINEST * self.rough)
        # what touches is found whatever is asked; below 0: do the meshes touch?
        most = rounding + max(max_distance, 2.0 * self.touch) if max_distance >= 0.0 else 2.0 * self.touch
        self.best, self.s, self.below = most, 0.0, np.inf
        self.row: Any = None

    @property
    def meets(self):
        return self.row is not None and self.best <= self.near

    def limit(self):
        return self.near if self.meets else max(self.best - self.margin, self.near)

    def round(self, features, s, h):
        """Look at features (k, 3) at the times s (k,), within h; returns which are to be looked at
        again, (k,)."""
        bound = np.empty(len(s))
        for kind in (Kind.FV, Kind.VF, Kind.EE):
            rows = np.flatnonzero(features[:, 0] == kind)
            for k in range(0, len(rows), CHUNK):
                some = rows[k : k + CHUNK]
                near, below = self.pair.look(features[some], s[some], h)
                bound[some] = below - self.rough
                self.take(near.distance, features[some], s[some])
        again = bound < self.limit()
        self.below = min(self.below, bound[~again].min(initial=np.inf))
        self.last = bound
        return again

    def take(self, distance, features, s):
        """The nearest; of those that meet the first."""
        meets = distance <= self.near
        k = int(np.where(meets, s, np.inf).argmin() if meets.any() else distance.argmin())
        better = s[k] < self.s if self.meets else distance[k] < self.best
        if better and (meets[k] or not self.meets):
            self.best, self.s, self.row = float(distance[k]), float(s[k]), features[k : k + 1]

    def at(self, s):
        """All features at one time."""
        features = self.pair.all_features()
        self.round(features, np.full(len(features), s), 0.0)

    def step(self):
        """All features over the whole step."""
        features = self.pair.all_features()
        middle, h = np.zeros(len(features)), 0.5
        self.below = np.inf
        for _ in range(ROUNDS):
            again = self.round(features, middle, h)
            if self.meets:
                again &= middle - h < self.s
            if not again.any():
                return
            h *= 0.5
            features = np.repeat(features[again], 2, axis=0)
            middle = (middle[again][:, None] + np.array([-h, h])).reshape(-1)
        self.below = min(self.below, self.last.min())

    def refine(self):
        """The moment at which the nearest features are nearest, by golden section beside what was found."""
        share = 0.5 * (np.sqrt(5.0) - 1.0)
        row = np.repeat(self.row, 2, axis=0)
        low, high = max(self.s - 1e-3, -0.5), min(self.s + 1e-3, 0.5)
        for _ in range(60):
            s = np.array([high - share * (high - low), low + share * (high - low)])
            near, _ = self.pair.look(row, s, 0.0)
            self.take(near.distance, row, s)
            low, high = (low, s[1]) if near.distance[0] <= near.distance[1] else (s[0], high)


def nearest(motion, a, b, tolerance, max_distance, moment=None, rounding=0.0):
    """`Nearest` of two `Side` over the step, or at a moment from 0 to 1; of bodies that have rounding radii,
    `rounding` in all: what their meshes have, less these. At a moment it may be below 0."""
    search = Search(motion, a, b, tolerance, max_distance, rounding)
    start = -0.5 if moment is None else moment - 0.5
    if search.pair.crossing(start):
        deep = 0.0 if moment is None else 0.0 - rounding
        status = Status.INITIAL_OVERLAP if rounding > search.touch else Status.HIT
        return Nearest(deep, deep, start, None, status)
    search.at(start)
    overlap = search.row is not None and search.best < rounding - search.touch
    if moment is None and overlap:
        return Nearest(0.0, 0.0, start, None, Status.INITIAL_OVERLAP)
    if moment is None:
        search.near = rounding + search.touch
        if not search.meets:
            search.at(0.5)
            search.step()
        if search.row is not None and not search.meets:
            search.refine()
    far = search.best - rounding
    bound = max(min(search.below, search.best), 0.0) - rounding
    bound = bound if moment is not None else max(bound, 0.0)
    if search.row is not None and search.best <= rounding + search.touch:
        status = Status.INITIAL_OVERLAP if overlap else Status.HIT
        far = 0.0 if moment is None else min(far, 0.0)
        return Nearest(far, min(bound, far), search.s, _place(search), status)
    short = bound < far - search.margin - 2.0 * search.rough
    status = Status.UNRESOLVED if short else Status.MISS
    if search.row is None:
        bound = min(bound, max_distance) if max_distance >= 0.0 else bound
        return Nearest(np.inf, bound, np.inf, None, status)
    return Nearest(far, bound, search.s, _place(search), status)


def _place(search):
    pair, row = search.pair, search.row
    near, _ = pair.look(row, np.array([search.s]), 0.0)
    features, corners = [int(row[0, 1]), int(row[0, 2])], [2, 2]
    for k, (body, at) in enumerate(((pair.a, near.at_first[0]), (pair.b, near.at_second[0]))):
        of_face = row[0, 0] == (Kind.FV, Kind.VF)[k]
        if row[0, 0] == Kind.EE:
            if at:
                features[k], corners[k] = int(body.edges[features[k], at - 1]), 1
        elif not of_face:
            corners[k] = 1
        else:
            features[k], corners[k] = _of_triangle(body, features[k], at)
    kind = Kind[f"{'_VEF'[corners[0]]}{'_VEF'[corners[1]]}"]
    normal = near.normal[0]
    if near.distance[0] <= search.touch:
        normal = _surface_normal(pair, kind, features, corners, search.s, normal)
    return Place(kind, features[0], features[1], near.first[0], near.second[0], normal)


def _of_triangle(body, triangle, at):
    """The feature at a place of a triangle, and how many corners say what it is; a diagonal is within
    the face."""
    if at < 0:
        return int(body.triangles[triangle, -1 - at]), 1
    if at > 0 and body.side[triangle, at - 1] >= 0:
        return int(body.side[triangle, at - 1]), 2
    return int(body.face[triangle]), 3


def _surface_normal(pair, kind, features, corners, s, normal):
    """Where they touch, the direction of the surfaces: the sum of the outward normals of A's faces
    there less that of B's tells the side, and where no face and no two edges say more, the
    direction."""
    out = np.zeros(3)
    for body, feature, count, sign in zip((pair.a, pair.b), features, corners, (1.0, -1.0), strict=True):
        t = body.owner.tables
        faces = {1: t.vertex_faces, 2: t.edge_faces}[count][feature] if count < 3 else np.array([feature])
        total = body.owner.normals[faces[faces >= 0]].sum(axis=0)
        out += sign * (total if sign > 0 else pair.motion.carry_direction(total, np.array(s), -1.0))
    if kind in (Kind.VV, Kind.EV, Kind.VE):
        n = unit(out, normal)
        if kind != Kind.VV:
            ends = pair.a.points[pair.a.edges[features[0]]] if kind == Kind.EV else None
            if ends is None:
                ends = pair.moved(pair.b.points[pair.b.edges[features[1]]], np.array(s))
            e = ends[1] - ends[0]
            n = unit(n - (n @ e) / (e @ e) * e, normal)
        normal = n
    return -normal if normal @ out < 0 else normal
