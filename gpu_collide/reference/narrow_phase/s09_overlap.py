"""Whether two solids overlap at one time of the step, deeper than a small depth; touching is not overlap.

Each solid in turn is shrunk: its vertices move inwards along their normals, its face centres along the face
normals. The solids overlap if a shrunk edge goes through a face of the other, or if a shrunk vertex or face
centre is inside the other. Inside is asked of closed components only, by their winding number.

A component too thin for the depth is shrunk by a share of its thickness. What cannot be shrunk has to go
through a face by the depth on both sides and within it: what is too small, a two-sided sheet, which has no
side to be shrunk to, and edges at vertices without a way inwards, where solids meet in an edge or a corner.
An open component is inside if one of its vertices is so by the depth.

Where a shrunk edge ends in a face, or one that cannot be shrunk passes along a border, what the solids share
there is looked at by itself (`_corners.py`).
"""

import numpy as np

from gpu_collide.reference.narrow_phase._components import windings
from gpu_collide.reference.narrow_phase._corners import shared_at

# In units of the size: solids overlap if they go deeper than this.
DEPTH = 1e-7
# Rounding of places, in units of size and way.
ROUNDING = 1e-14
# Share of its thickness by which a component is shrunk at most.
SHARE = 0.01
# How many roundings this has to be, for the component to be shrunk at all.
SPECK = 16.0
# Edge-face or point-triangle pairs worked on at a time.
CHUNK = 200_000


class Solid:
    """A body at the time ``s`` in the screw frame: points (nv, 3), normals (nf, 3), its shrunk features."""

    def __init__(self, screw, side, s, depth, rough):
        t = side.tables
        parts = t.components
        self.tables, self.parts = t, parts
        moves = side.sign > 0
        self.points = screw.flow(side.points, s) if moves else side.points
        self.normals = screw.turn(side.normals, s) if moves else side.normals
        self.inward = screw.turn(side.inward, s) if moves else side.inward
        place = screw.direction_from_b if moves else screw.direction_from_a
        outward = place(parts.outward)
        outward = screw.turn(outward, s) if moves else outward
        self.radius = np.linalg.norm(t.vertices - t.centre, axis=1).max()
        most = SHARE * parts.thickness
        self.shrinks = most > SPECK * rough  # by more than rounding
        self.thick = most > depth  # solid angles lose their digits beside what is thinner
        by = np.minimum(depth, most)
        self.used = parts.of_vertex >= 0
        self.by = by[parts.of_vertex]  # what a vertex is moved by, if a way leads inwards
        self.shrunk = self.points - np.where(self.used, by[parts.of_vertex], 0.0)[:, None] * outward
        sideless = ~parts.closed & t.two_sided
        moved = (self.shrinks & ~sideless)[parts.of_vertex] & outward.any(axis=1)
        self.moved = moved & self.used
        self.through = np.where(moved, rough, np.maximum(by, 2 * rough)[parts.of_vertex])
        corners = t.loops >= 0
        sums = np.where(corners[:, :, None], self.points[t.loops], 0.0).sum(axis=1)
        out = parts.faces_out[:, None] * self.normals
        self.shrunk_centres = sums / corners.sum(axis=1)[:, None] - by[parts.of_face, None] * out

    def triangles(self):
        """Those of the closed components, (k, 3, 3)."""
        loops = self.tables.loops
        face, corner = np.nonzero((loops[:, 2:] >= 0) & self.parts.closed[self.parts.of_face][:, None])
        corners = [loops[face, 0], loops[face, corner + 1], loops[face, corner + 2]]
        return np.stack([self.points[c] for c in corners], axis=1)


def overlap_at(screw, a, b, s):
    """True if the solids ``a`` and ``b`` (`Side`) overlap at the time ``s`` in [-1/2, 1/2] deeper than
    `DEPTH` times the size."""
    centre = screw.flow(b.centre, s)
    radius_a, radius_b = (np.linalg.norm(x.points - x.centre, axis=1).max() for x in (a, b))
    if np.linalg.norm(centre - a.centre) > radius_a + radius_b:
        return False
    rough = ROUNDING * (screw.size + screw.speed)
    depth = max(DEPTH * screw.size, SPECK * rough)
    points = a.points, screw.flow(b.points, s)
    (low_a, high_a), (low_b, high_b) = ((p.min(axis=0) - depth, p.max(axis=0) + depth) for p in points)
    if (low_a > high_b).any() or (low_b > high_a).any():
        return False
    one, other = (Solid(screw, x, s, depth, rough) for x in (a, b))
    return any(_enters(x, y, depth, rough) for x, y in ((one, other), (other, one)))


def _enters(shrunk, whole, depth, rough):
    return _is_inside(shrunk, whole, depth, rough) or _pierces(shrunk, whole, rough)


def _is_inside(shrunk, whole, depth, rough):
    """Whether a component of one solid lies inside the other, as far as one of its points shows."""
    parts = shrunk.parts
    if not whole.parts.closed.any() or whole.radius <= SPECK * rough:
        return False
    solid = shrunk.shrinks & parts.closed
    firm = shrunk.moved & solid[parts.of_vertex]
    points = [
        shrunk.shrunk[firm],
        shrunk.shrunk_centres[(solid & shrunk.thick)[parts.of_face]],
    ]
    if _all_inside(whole, np.concatenate(points)[:, None]).any():
        return True
    around = depth * np.concatenate([np.eye(3), -np.eye(3)])
    stuck = shrunk.points[shrunk.used & ~firm]
    if len(shrunk.points) == 2:  # a line, of which both ends may lie in faces
        stuck = np.vstack([stuck, shrunk.points.mean(axis=0)])
    return _all_inside(whole, stuck[:, None] + around).any()


def _all_inside(whole, points):
    """Which rows of points (n, k, 3) lie inside with all k."""
    low, high = whole.points.min(axis=0), whole.points.max(axis=0)
    points = points[((points > low) & (points < high)).all(axis=(1, 2))]
    if not len(points):
        return np.zeros(0, bool)
    number = windings(whole.triangles(), points.reshape(-1, 3), CHUNK).reshape(points.shape[:2])
    return (np.abs(number) > 0.5).all(axis=1)


def _pierces(shrunk, whole, rough):
    """Whether a shrunk edge of one solid goes through a face of the other, or shows that they share volume
    where it ends in one."""
    t = whole.tables
    p, q = (shrunk.shrunk[shrunk.tables.edges[:, j]] for j in (0, 1))
    through = shrunk.through[shrunk.tables.edges].max(axis=1)
    by = shrunk.by[shrunk.tables.edges[:, 0]]
    corners = t.loops >= 0
    at = whole.points[t.loops]
    most = through.max(initial=rough)
    low = np.where(corners[:, :, None], at, np.inf).min(axis=1) - most
    high = np.where(corners[:, :, None], at, -np.inf).max(axis=1) + most
    near = ((np.maximum(p, q) >= low.min(axis=0)) & (np.minimum(p, q) <= high.max(axis=0))).all(axis=1)
    p, q, through, by = p[near], q[near], through[near], by[near]
    solid = shrunk.parts.closed.any() and whole.parts.closed.any()
    for start in range(0, len(p), step := max(1, CHUNK // len(low))):
        e, f, far = (x[start : start + step] for x in (p, q, through))
        meet = np.all((np.minimum(e, f)[:, None] <= high) & (np.maximum(e, f)[:, None] >= low), axis=-1)
        i, face = np.nonzero(meet)
        n, origin = whole.normals[face], at[face, 0]
        d0, d1 = np.sum(n * (e[i] - origin), axis=1), np.sum(n * (f[i] - origin), axis=1)
        across = (np.minimum(d0, d1) < -far[i]) & (np.maximum(d0, d1) > far[i])
        ends = [(x[i], np.abs(d) <= far[i], -far[i], np.inf) for x, d in ((e, d0), (f, d1))]
        with np.errstate(divide="ignore", invalid="ignore"):
            x = e[i] + (d0 / (d0 - d1))[:, None] * (f[i] - e[i])
        firm = np.where(far[i] > rough, far[i], -rough)
        for place, ask, least, enough in ((x, across, -far[i], firm), *ends):
            some = np.flatnonzero(ask)
            margin = np.sum(whole.inward[face[some]] * (place[some][:, None] - at[face[some]]), axis=-1)
            margin = np.where(corners[face[some]], margin, np.inf).min(axis=1)
            if (margin > np.broadcast_to(enough, far[i].shape)[some]).any():
                return True
            some = some[margin >= least[some]]
            if solid and _share(shrunk, whole, place[some], by[start + i[some]], face[some], rough):
                return True
    return False


def _share(shrunk, whole, places, by, faces, rough):
    """Whether the solids share volume at one of the places, each in a face of the other."""
    for x, mine, face in zip(places, by, faces, strict=True):
        depth = min(mine, whole.by[whole.tables.loops[face, 0]])
        if depth > SPECK * rough and shared_at(shrunk, whole, x, 2 * mine, depth):
            return True
    return False
