"""Contact functions of a pair whose bodies move on their own motions, with derivatives and bounds.

Of a vertex ``b`` and a plane of the other body (the owner of the frame), with r the turned b,

    f = n . (P + r) + d      f' = n . y1      f'' = n . y2
    y1 = P' - Oo x P + D x r
    y2 = P'' - 2 Oo x P' + Oo x (Oo x P) + D x (D x r) - X x r

where n is turned with the owner, Oo and Ov are the turns of the owner and of the other, D = Ov - Oo, X = Oo x
Ov. Of two edges with reference points in their middles and unit directions u and v, y from A's to B's,

    g = y . k      g' = y1 . k + y . k1      g'' = y2 . k + 2 y1 . k1 + y . k2
    k = u x v,  k1 = u x (D x v),  k2 = u x (D x (D x v) - X x v)

Third derivatives are bounded over the step (vertex against plane) or over a piece of it (edges), and so is
how fast the places of two features come nearer. Roots are isolated by halving pieces until the bounds show
that there is no root, or that the function is monotone, or that its slope is.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import cross
from gpu_collide.reference.narrow_phase._roots import MAX_DEPTH, NEWTON_STEPS, bracket
from gpu_collide.reference.narrow_phase.body_motion import BodyMotion, State, skew, turned

# Of slopes: how much more than the bound they have to be, and how many roundings of a value.
SLOPE_MARGIN = 1.00001
SLOPE_ROUNDINGS = 8.0
# How many Newton steps a root is away where rounding hides the slope: less than its folds.
FOLDS = 8.0
# Touches farther apart than this are two, however flat.
LONGEST_DOUBT = 1e-2


def _dot(a, b):
    return np.sum(a * b, axis=-1)


class Places(NamedTuple):
    """The `State`, the way y (m, 3) between the reference points of the features, and the velocity and the
    acceleration ``y1``, ``y2`` (m, 3) of the other's as the owner sees them."""

    at: State
    y: np.ndarray
    y1: np.ndarray
    y2: np.ndarray


class Bounds(NamedTuple):
    """Of a pair as one body has it, over the step and a little more: ``y1, y3`` of the velocity and third
    derivative of the other centre in the owner's axes; ``s2``, ``s3`` what a place or unit direction of the
    other body adds to the second and to the third derivative, by its length; ``turn`` |D|; ``own``, ``other``
    the turns; ``straight`` the speed of one centre past the other in axes that stand still. ``O``, ``D``,
    ``D2`` (3, 3) take x to Oo x x, D x x and D x (D x x) - X x x."""

    y1: float
    y3: float
    s2: float
    s3: float
    turn: float
    own: float
    other: float
    straight: float
    O: np.ndarray
    D: np.ndarray
    D2: np.ndarray


def bounds_of(motion, side):
    """`Bounds` for the owner `side`."""
    own, other = (motion.path_a, motion.path_b)[:: 1 if side < 0 else -1]
    norm = np.linalg.norm
    straight = float(norm(motion.W) + norm(own.p) + norm(other.p))
    middle = norm(motion.state(np.zeros(()), side).P)
    farthest = middle + (0.5 + motion.tau) * straight
    turn, chi = float(norm(other.turn - own.turn)), norm(cross(own.turn, other.turn))
    across, p = norm(cross(own.turn, motion.W)), norm(other.p)
    y1 = straight + own.theta * farthest
    y2 = across + turn * p + own.theta * y1
    s2 = chi + turn**2
    y3 = own.theta * across + s2 * p + own.theta * y2
    s3 = own.theta * chi + 3.0 * chi * turn + turn**3
    O, D, X = skew(own.turn), skew(other.turn - own.turn), skew(cross(own.turn, other.turn))
    return Bounds(y1, y3, s2, s3, turn, own.theta, other.theta, straight, O, D, D @ D - X)


@dataclass(frozen=True)
class Functions:
    """A batch of m functions of one pair.

    own, other : (m, 3) reference points of the features, in the axes of their bodies, from the centres.
    reach : (m,) how far both features' points are from these at most, together.
    """

    motion: BodyMotion
    side: float
    bounds: Bounds
    own: np.ndarray
    other: np.ndarray
    reach: np.ndarray

    def take(self, index):
        rows = {k: v[index] for k, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **rows)

    def __len__(self):
        return len(self.reach)

    def rounding(self):
        return np.full(len(self), self.motion.rounding)

    def places(self, s):
        """`Places` at the times ``s`` (m,)."""
        at, b = self.motion.state(s, self.side), self.bounds
        r = turned(at.other_axes, self.other)
        y1 = at.P1 - turned(b.O, at.P) + turned(b.D, r)
        y2 = at.P2 - turned(b.O, 2.0 * at.P1 - turned(b.O, at.P)) + turned(b.D2, r)
        return Places(at, at.P + r - turned(at.own_axes, self.own), y1, y2)

    def apart(self, places, arm):
        """Where features stay farther apart than they reach, at all times within ``arm`` (m,)."""
        own, other = (np.linalg.norm(x, axis=1) for x in (self.own, self.other))
        b = self.bounds
        speed = np.minimum(b.straight + b.own * own + b.other * other, b.y1 + b.turn * other)
        slack = 1e-6 * self.motion.size + self.motion.rounding
        return np.linalg.norm(places.y, axis=1) > self.reach + speed * arm + slack

    def __call__(self, s):
        """Values and first and second derivatives at ``s`` (m,)."""
        return self.expanded(self.places(s))[:3]

    def expanded(self, places, arm=0.0):
        """The same, and a bound of the third derivative within ``arm`` of the time of ``places``."""
        raise NotImplementedError

    def pieces(self, low, high, tolerance):
        """Monotone pieces, and pieces that touch all over, of [low, high]: which function, start, end."""
        item = np.arange(len(self))
        start, end = np.full(len(item), low), np.full(len(item), high)
        done = [(item[:0], start[:0], end[:0])]
        for depth in range(MAX_DEPTH + 1):
            if len(item) == 0:
                break
            middle, arm = 0.5 * (start + end), 0.5 * (end - start)
            part, tol = self.take(item), tolerance[item] + self.motion.rounding
            places = part.places(middle)
            f, f1, f2, third = part.expanded(places, arm)
            bend = np.abs(f2) * arm + 0.5 * third * arm**2  # the most that the slope changes
            possible = _least(f, f1, f2, arm) <= third * arm**3 / 6.0 + tol
            possible &= ~part.apart(places, arm)
            slope = SLOPE_MARGIN * bend + SLOPE_ROUNDINGS * self.motion.rounding
            monotone = np.abs(f1) > slope
            bent = ~monotone & (np.abs(f2) > SLOPE_MARGIN * third * arm)
            flat = (np.abs(f) + (np.abs(f1) + bend) * arm <= tol) | (depth == MAX_DEPTH)
            keep = possible & (monotone | flat)
            done.append((item[keep], start[keep], end[keep]))
            cut = possible & bent & ~flat
            i, a, b = item[cut], start[cut], end[cut]
            # The slope is monotone there, so that there is at most one extremum: cut at it.
            x = self.take(i).steepest(a, b)
            done += [(i, a, x), (i, x, b)]
            split = possible & ~monotone & ~bent & ~flat
            i, a, m, b = item[split], start[split], middle[split], end[split]
            item, start, end = np.concatenate([i, i]), np.concatenate([a, m]), np.concatenate([m, b])
        return tuple(np.concatenate([piece[j] for piece in done]) for j in range(3))

    def settled(self, s, tolerance):
        """Touches at ``s`` moved to their extrema, and what is in doubt of their times. Where f has many
        folds Newton's method on the slope comes nearer by a share each time, until rounding hides the slope;
        an end of the step that is not told from it is the time."""
        s, active = s.copy(), np.arange(len(s))
        for _ in range(NEWTON_STEPS):
            part = self.take(active)
            _, f1, f2 = part(s[active])
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = s[active] - f1 / f2
                good = np.abs(f1) > SLOPE_ROUNDINGS * self.motion.rounding
                good &= np.abs(moved) <= 0.5 + self.motion.tau
            moved = np.where(good, moved, s[active])
            good &= np.abs(part(moved)[0]) <= tolerance[active]
            active, moved = active[good], moved[good]
            if len(active) == 0:
                break
            s[active] = moved
        with np.errstate(divide="ignore"):
            doubt = FOLDS * SLOPE_ROUNDINGS * self.motion.rounding / np.abs(self(s)[2])
        end = np.where(s < 0, -0.5, 0.5)
        at_end = (np.abs(s - end) <= doubt) & (np.abs(self(end)[0]) <= tolerance)
        return np.where(at_end, end, s), np.minimum(doubt, LONGEST_DOUBT)

    def steepest(self, start, end):
        """Where the slopes vanish between ``start`` and ``end``, or the end at which they are least."""

        def slope(s, index=None):
            return (self if index is None else self.take(index))(s)[1:]

        return bracket(slope, start, end)


def _least(f, f1, f2, arm):
    """Least |f + f1 x + f2 x^2/2| over |x| <= arm."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(np.abs(f1) < np.abs(f2) * arm, -f1 / f2, 0.0)
    values = np.stack([f + f1 * x + 0.5 * f2 * x * x for x in (-arm, arm, x)])
    crosses = (values.min(axis=0) <= 0) & (values.max(axis=0) >= 0)
    return np.where(crosses, 0.0, np.abs(values).min(axis=0))


@dataclass(frozen=True)
class VertexFace(Functions):
    """Distances of vertices ``other`` from planes n . x + offset = 0 of the owner."""

    normal: np.ndarray
    offset: np.ndarray

    def expanded(self, places, arm=0.0):
        n = turned(places.at.own_axes, self.normal)
        third = self.bounds.y3 + self.bounds.s3 * np.linalg.norm(self.other, axis=1)
        height = _dot(self.normal, self.own) + self.offset  # of the reference point in the face: rounding
        return _dot(n, places.y) + height, _dot(n, places.y1), _dot(n, places.y2), third


@dataclass(frozen=True)
class EdgeEdge(Functions):
    """Volumes of the way between the middles of edges of A (the owner) and B, and their unit directions."""

    u: np.ndarray
    v: np.ndarray

    def expanded(self, places, arm=0.0):
        at, y, y1, y2 = places
        b = self.bounds
        u, v = turned(at.own_axes, self.u), turned(at.other_axes, self.v)
        k, k1, k2 = cross(u, v), cross(u, turned(b.D, v)), cross(u, turned(b.D2, v))
        y3 = b.y3 + b.s3 * np.linalg.norm(self.other, axis=1)
        l0, l1, l2 = (np.linalg.norm(x, axis=1) for x in (y, y1, y2))
        l0 = l0 + l1 * arm + 0.5 * l2 * arm**2 + y3 * arm**3 / 6.0
        l1 = l1 + l2 * arm + 0.5 * y3 * arm**2
        l2 = l2 + y3 * arm
        third = y3 + 3.0 * l2 * b.turn + 3.0 * l1 * b.s2 + l0 * b.s3
        g1 = _dot(y1, k) + _dot(y, k1)
        return _dot(y, k), g1, _dot(y2, k) + 2.0 * _dot(y1, k1) + _dot(y, k2), third


def vertex_face_functions(motion, face_side, vertex_side, faces, vertices):
    """`VertexFace` of candidates (m,)."""
    t = face_side.tables
    corners = t.loops[faces] >= 0
    points = face_side.points[t.loops[faces]]
    middle = np.where(corners[..., None], points, 0.0).sum(axis=1) / corners.sum(axis=1)[:, None]
    far = np.where(corners, np.linalg.norm(points - middle[:, None], axis=-1), 0.0).max(axis=1, initial=0.0)
    side = face_side.sign
    return VertexFace(
        motion, side, bounds_of(motion, side), middle, vertex_side.points[vertices], far,
        normal=face_side.normals[faces], offset=t.offsets[faces],
    )  # fmt: skip


def edge_edge_functions(motion, a, b, edges_a, edges_b):
    """`EdgeEdge` of candidates (m,)."""
    middle_a, middle_b = (
        side.points[side.tables.edges[edges]].mean(axis=1) for side, edges in ((a, edges_a), (b, edges_b))
    )
    reach = 0.5 * (a.tables.length[edges_a] + b.tables.length[edges_b])
    bounds = bounds_of(motion, -1.0)
    return EdgeEdge(motion, -1.0, bounds, middle_a, middle_b, reach, u=a.unit[edges_a], v=b.unit[edges_b])
