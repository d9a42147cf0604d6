"""A judge of round shapes: points, segments and boxes with a ball around each of their points.

The distance of two such cores is in closed form (a segment beside a box: the least of a convex function), and
is looked at at dense times; where it falls below both radii is found by halving. It knows no features, no
contact functions and no screen, and has motions of its own: rotation vectors about an axis that is a place in
the world. Nothing of the library is used.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracle.kept import remembered

TIMES, HALVINGS, THIRDS = 257, 60, 70


# ---- rotations (n, 4), w first -----------------------------------------------------------------------------


def product(p, q):
    w, x, v, u = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    return np.concatenate([w * v - (x * u).sum(-1, keepdims=True), w * u + v * x + np.cross(x, u)], axis=-1)


def turn(q, x):
    t = 2 * np.cross(q[..., 1:], x)
    return x + q[..., :1] * t + np.cross(q[..., 1:], t)


def back(q):
    return q * [1.0, -1.0, -1.0, -1.0]


@dataclass
class Screw:
    """Motions from (p, q) to another pose, n of them, each about an axis at a place, by less than half a
    turn."""

    p: np.ndarray
    q: np.ndarray
    axis: np.ndarray
    angle: np.ndarray
    place: np.ndarray
    along: np.ndarray

    @classmethod
    def between(cls, p0, q0, p1, q1):
        r = product(q1, back(q0))
        r = np.where(r[..., :1] < 0, -r, r)
        sine = np.linalg.norm(r[..., 1:], axis=-1)
        angle = 2 * np.arctan2(sine, r[..., 0])
        turns = angle > 1e-12
        axis = np.where(turns[..., None], r[..., 1:] / np.where(turns, sine, 1.0)[..., None], 0.0)
        way = p1 - p0
        along = (way * axis).sum(-1)
        across = way - along[..., None] * axis
        half = np.where(turns, np.tan(angle / 2), 1.0)[..., None]
        place = p0 + across / 2 + np.cross(axis, across) / (2 * half)
        return cls(p0, q0, np.where(turns[..., None], axis, way), np.where(turns, angle, 0.0), place, along)

    def at(self, t):
        """Positions and rotations at times (n, ...) of each."""
        more = t.ndim - 1
        axis, place, p, q = (
            x.reshape(len(x), *(1,) * more, -1) for x in (self.axis, self.place, self.p, self.q)
        )
        angle, along = (x.reshape(len(x), *(1,) * more) for x in (self.angle, self.along))
        r = np.concatenate(
            [np.cos(angle * t / 2)[..., None], np.sin(angle * t / 2)[..., None] * axis], axis=-1
        )
        turned = place + turn(r, p - place) + (along * t)[..., None] * axis
        straight = p + t[..., None] * axis
        turns = (angle > 0)[..., None]
        return np.where(turns, turned, straight), np.where(turns, product(r, q + 0 * r), q + 0 * r)


# ---- distances of cores ------------------------------------------------------------------------------------


def clamp(x):
    return np.clip(x, 0.0, 1.0)


def point_segment(x, a, b):
    e = b - a
    u = clamp(((x - a) * e).sum(-1) / np.maximum((e * e).sum(-1), 1e-300))
    return np.linalg.norm(x - a - u[..., None] * e, axis=-1)


def segment_segment(a, b, c, d):
    e, f, r = b - a, d - c, c - a
    ee, ff = (e * e).sum(-1), (f * f).sum(-1)
    n = np.cross(e, f)
    n2 = (n * n).sum(-1)
    safe = np.maximum(n2, 1e-300)
    s = (np.cross(r, f) * n).sum(-1) / safe
    t = (np.cross(r, e) * n).sum(-1) / safe
    inside = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1) & (n2 > 1e-14 * ee * ff)
    least = np.minimum(
        np.minimum(point_segment(c, a, b), point_segment(d, a, b)),
        np.minimum(point_segment(a, c, d), point_segment(b, c, d)),
    )
    return np.where(inside, np.minimum(np.abs((r * n).sum(-1)) / np.sqrt(safe), least), least)


def point_box(x, half):
    """Signed: below 0 inside."""
    q = np.abs(x) - half
    return np.linalg.norm(np.maximum(q, 0.0), axis=-1) + np.minimum(q.max(-1), 0.0)


def segment_box(a, b, half):
    """By thirds: along a line the signed distance of a convex body is convex."""
    low, high = np.zeros(a.shape[:-1]), np.ones(a.shape[:-1])
    for _ in range(THIRDS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        d1, d2 = (point_box(a + u[..., None] * (b - a), half) for u in (one, two))
        left = d1 <= d2
        low, high = np.where(left, low, one), np.where(left, two, high)
    u = 0.5 * (low + high)
    return point_box(a + u[..., None] * (b - a), half)


@dataclass
class Round:
    """n shapes of one kind about their own origins: "sphere", "capsule" along z of half lengths (n,), or
    "box" of half sides (n, 3); and radii (n,)."""

    kind: str
    half: np.ndarray
    radius: np.ndarray

    def ends(self, p, q):
        """Ends of segments in the world."""
        up = np.zeros((*p.shape[:-1], 3))
        up[..., 2] = self.half.reshape(len(self.half), *(1,) * (p.ndim - 2))
        up = turn(q, up)
        return p - up, p + up


def distance(a, b, pa, qa, pb, qb):
    """Of the cores, (n, ...); what is inside a box below 0."""
    if a.kind == "box" or (a.kind == "capsule" and b.kind == "sphere"):
        if b.kind != "box":
            return distance(b, a, pb, qb, pa, qa)
        raise NotImplementedError("two boxes")
    if b.kind == "sphere":
        return np.linalg.norm(pb - pa, axis=-1)
    if b.kind == "capsule":
        if a.kind == "sphere":
            return point_segment(pa, *b.ends(pb, qb))
        return segment_segment(*a.ends(pa, qa), *b.ends(pb, qb))
    half = b.half.reshape(len(b.half), *(1,) * (pb.ndim - 2), 3)
    if a.kind == "sphere":
        return point_box(turn(back(qb), pa - pb), half)
    return segment_box(*(turn(back(qb), x - pb) for x in a.ends(pa, qa)), half)


@dataclass
class Passing:
    """Pairs of shapes on their motions."""

    a: Round
    b: Round
    motion_a: Screw
    motion_b: Screw

    def gap(self, t):
        """Of the surfaces at times (n,) or (n, k)."""
        core = distance(self.a, self.b, *self.motion_a.at(t), *self.motion_b.at(t))
        both = self.a.radius + self.b.radius
        return core - both.reshape(len(both), *(1,) * (t.ndim - 1))

    @remembered("round_shapes.py")
    def first(self):
        """First time (n,) at which the gap falls to 0, inf for none; the least gap of dense times and of what
        lies between them; and the gap at the start."""
        n = len(self.a.radius)
        times = np.broadcast_to(np.linspace(0, 1, TIMES), (n, TIMES))
        g = self.gap(times)
        # between neighbours of a least one it is looked for by thirds
        k = np.argmin(g, axis=1)
        rows = np.arange(n)
        low, high = (times[rows, np.clip(k + step, 0, TIMES - 1)].copy() for step in (-1, 1))
        for _ in range(THIRDS):
            one, two = low + (high - low) / 3, high - (high - low) / 3
            left = self.gap(one) <= self.gap(two)
            low, high = np.where(left, low, one), np.where(left, two, high)
        bottom = 0.5 * (low + high)
        least = np.minimum(self.gap(bottom), g.min(axis=1))
        below = g <= 0
        there = below.any(axis=1)
        at = np.argmax(below, axis=1)
        high = np.where(there, times[rows, at], bottom)
        low = np.where(there, times[rows, np.maximum(at - 1, 0)], times[rows, np.maximum(k - 1, 0)])
        for _ in range(HALVINGS):
            mid = 0.5 * (low + high)
            in_ = self.gap(mid) <= 0
            low, high = np.where(in_, low, mid), np.where(in_, mid, high)
        return np.where(least <= 0, high, np.inf), least, g[:, 0]


# ---- signed distances of cores at poses --------------------------------------------------------------------


def axes_of(q):
    """Those of a body, (n, 3, 3): a row each."""
    return np.stack([turn(q, np.broadcast_to(e, (*q.shape[:-1], 3))) for e in np.eye(3)], axis=-2)


def corners_of(half, p, q):
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return p[:, None] + turn(q[:, None], signs[None] * half[:, None])


def box_box(a, b, pa, qa, pb, qb):
    """Of two boxes that are apart: of corners from boxes, and of edges from edges."""
    ca, cb = corners_of(a.half, pa, qa), corners_of(b.half, pb, qb)
    least = np.minimum(
        point_box(turn(back(qb)[:, None], ca - pb[:, None]), b.half[:, None]).min(axis=1),
        point_box(turn(back(qa)[:, None], cb - pa[:, None]), a.half[:, None]).min(axis=1),
    )
    ends = np.array([(i, i | k) for k in (1, 2, 4) for i in range(8) if not i & k])
    ea, eb = ca[:, ends], cb[:, ends]
    edges = segment_segment(*(ea[:, :, None, k] for k in (0, 1)), *(eb[:, None, :, k] for k in (0, 1)))
    return np.minimum(least, edges.min(axis=(1, 2)))


def depth(a, b, pa, qa, pb, qb):
    """Of cores along all axes that may separate them: below 0 they are apart, else the least translation
    that takes them apart, if one is a box."""
    axes, sides = [], []
    for shape, q in ((a, qa), (b, qb)):
        own = axes_of(q)
        sides.append(own if shape.kind == "box" else own[:, 2:] if shape.kind == "capsule" else own[:, :0])
        if shape.kind == "box":
            axes.append(own)
    axes.append(np.cross(sides[0][:, :, None], sides[1][:, None]).reshape(len(pa), -1, 3))
    n = np.concatenate(axes, axis=1)
    long = np.linalg.norm(n, axis=-1)
    n = n / np.where(long > 1e-9, long, 1.0)[..., None]
    reach = np.zeros(long.shape)
    for shape, q in ((a, qa), (b, qb)):
        along = np.abs(np.einsum("nki,nji->nkj", n, axes_of(q)))
        if shape.kind == "box":
            reach += (along * shape.half[:, None]).sum(-1)
        elif shape.kind == "capsule":
            reach += along[..., 2] * shape.half[:, None]
    over = reach - np.abs(np.einsum("nki,ni->nk", n, pb - pa))
    return np.where(long > 1e-9, over, np.inf).min(axis=1)


def signed(a, b, pa, qa, pb, qb):
    """Signed distance of the cores, (n,)."""
    boxes = a.kind == "box", b.kind == "box"
    far = box_box(a, b, pa, qa, pb, qb) if all(boxes) else distance(a, b, pa, qa, pb, qb)
    if not any(boxes):
        return far
    deep = depth(a, b, pa, qa, pb, qb)
    return np.where(deep > 0, -deep, np.maximum(far, 0.0))
