"""First overlap of convex bodies that start apart, by separating axes and steps that cannot go too far.

No features, no facing, no properness: another principle than contacts between features. Pairs that only touch
stay undecided. For translations between whole numbers the times are exact.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.oracle.solid import Solid, cross, norm, relative

TOUCH = 1e-9  # of the size
DEEP = 1e-6


@dataclass
class First:
    """Per pair: `clear` starts apart; `time` of the first touch (inf: none); `deep` it overlaps afterwards;
    `sure` nothing grazes or ends within the tolerance."""

    clear: np.ndarray
    time: np.ndarray
    deep: np.ndarray
    sure: np.ndarray


def directions(solid):
    """Different directions (up to sign) of the normals and of the edges of a convex solid."""

    def different(v):
        kept = []
        for x in v:
            if all(norm(np.cross(x, y)) > 1e-9 for y in kept):
                kept.append(x)
        return np.array(kept)

    return different(solid.normal), different(solid.edge_dir)


class Gap:
    """Separation of pairs of the same two convex solids: the widest gap over all axes, negative inside."""

    def __init__(self, a, b, twist, axes_b):
        self.a, self.b, self.m, self.axes_b = a, b, twist, axes_b
        self.normals_a, self.edges_a = directions(a)
        self.normals_b, self.edges_b = directions(b)
        self.size = max(a.radius, b.radius)
        self.bound = norm(twist.rho) + twist.theta * b.radius

    def __call__(self, i, t):
        """Of motions i at times t."""

        def turned(x):
            x = np.einsum("nij,kj->nki", self.axes_b[i], x)
            n, k = x.shape[:2]
            return self.m.rotate(np.repeat(i, k), np.repeat(t, k), x.reshape(-1, 3)).reshape(n, k, 3)

        n = len(i)
        edges_b = turned(self.edges_b)
        mixed = cross(self.edges_a[None, :, None], edges_b[:, None]).reshape(n, -1, 3)
        axis = np.concatenate((np.tile(self.normals_a, (n, 1, 1)), turned(self.normals_b), mixed), 1)
        length = norm(axis)
        low = length < 1e-9  # parallel edges have no axis of their own
        axis = axis / np.where(low, 1.0, length)[..., None]
        at_a = np.einsum("nki,vi->nkv", axis, self.a.v)
        at_b = np.einsum("nki,nvi->nkv", axis, turned(self.b.v) + self.m.centre(i, t)[:, None])
        gap = np.maximum(at_b.min(2) - at_a.max(2), at_a.min(2) - at_b.max(2))
        return np.where(low, -np.inf, gap).max(1)


def first_overlap(scene, only=None):
    """`First` of the pairs of a scene of convex solids (of the pairs `only`; the others are not sure)."""
    pairs, shape = np.asarray(scene.pairs), np.asarray(scene.shape)
    n = len(pairs)
    out = First(np.zeros(n, bool), np.full(n, np.inf), np.zeros(n, bool), np.zeros(n, bool))
    solids = [Solid(m) for m in scene.meshes]
    chosen = np.arange(n) if only is None else np.asarray(only)
    kinds = shape[pairs[chosen]]
    for sa, sb in np.unique(kinds, axis=0):
        ids = chosen[(kinds[:, 0] == sa) & (kinds[:, 1] == sb)]
        i, j = pairs[ids].T
        poses = [(x[k], q[k]) for k in (i, j) for x, q in (scene.start, scene.end)]
        gap = Gap(solids[sa], solids[sb], *relative(solids[sa], solids[sb], *poses))
        _march(gap, ids, out)
    return out


def _march(gap, ids, out):
    """Steps of separation over speed, until they touch; then whether they overlap, by samples."""
    n, size = len(ids), gap.size
    every = np.arange(n)
    at_start = gap(every, np.zeros(n))
    out.clear[ids] = at_start > TOUCH * size
    time = np.zeros(n)
    live = every[out.clear[ids] & (gap.bound > 0)]
    late = out.clear[ids] & (gap.bound <= 0)
    least = np.minimum(at_start, gap(every, np.ones(n)))  # a touch at the very end is one of rounding
    for _ in range(300):
        if len(live) == 0:
            break
        apart = gap(live, time[live])
        least[live] = np.minimum(least[live], apart)
        step = np.maximum(apart, 0) / gap.bound[live]
        done = apart <= 1e-3 * TOUCH * size
        time[live] += np.where(done, 0.0, step)
        gone = time[live] > 1
        late[live[gone]] = True
        live = live[~done & ~gone]
    slow = np.isin(every, live)
    touched = out.clear[ids] & ~late & ~slow
    share = np.linspace(0, 1, 49)[1:]
    k = np.flatnonzero(touched)
    low = np.full(n, np.inf)
    for s in share if len(k) else ():
        low[k] = np.minimum(low[k], gap(k, np.minimum(1.0, time[k] + s * np.minimum(1 - time[k], 0.2))))
    out.time[ids] = np.where(touched, time, np.inf)
    out.deep[ids] = touched & (low < -DEEP * size)
    # what never comes near, or goes in deep, is beyond doubt
    away = ~touched & (least > TOUCH * size)
    out.sure[ids] = out.clear[ids] & ~slow & (away | (low < -DEEP * size))


def translation_interval(a, b, start, end):
    """Times [in, out] in which convex vertex sets overlap or touch while b moves straight, in whole numbers.

    Parameters
    ----------
    a, b : Solid, with `start` and `end` the position of b's mesh in a's frame, axes parallel; all numbers
        rational with small denominators

    Returns
    -------
    tuple of Fraction, or None if they never touch
    """

    def exact(x):
        return [[Fraction(float(c)).limit_denominator(1 << 20) for c in row] for row in np.atleast_2d(x)]

    def product(x, y):
        return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]

    def inner(x, y):
        return sum(p * q for p, q in zip(x, y, strict=True))

    va, vb = exact(a.v + a.center), exact(b.v + b.center)
    (p0,), (p1,) = exact(start), exact(end)
    way = [y - x for x, y in zip(p0, p1, strict=True)]

    def spans(solid, v):
        """Edge vectors, and normals from two sides of each face."""
        edges = [[q - p for p, q in zip(v[i], v[j], strict=True)] for i, j in solid.edges]
        normals = []
        for loop in solid.loops:
            x = [v[k] for k in loop[:3]]
            normals.append(product(*([q - p for p, q in zip(x[0], y, strict=True)] for y in x[1:])))
        return edges, normals

    edges_a, axes_a = spans(a, va)
    edges_b, axes_b = spans(b, vb)
    enter, leave = Fraction(0), Fraction(1)
    for axis in [*axes_a, *axes_b, *(product(x, y) for x in edges_a for y in edges_b)]:
        if not any(axis):
            continue
        pa, pb = [inner(axis, x) for x in va], [inner(axis, x) + inner(axis, p0) for x in vb]
        speed = inner(axis, way)
        # min(pb) + speed t <= max(pa) and max(pb) + speed t >= min(pa)
        for room, rate in ((max(pa) - min(pb), speed), (max(pb) - min(pa), -speed)):
            if rate == 0:
                if room < 0:
                    return None
            elif rate > 0:
                leave = min(leave, room / rate)
            else:
                enter = max(enter, room / rate)
        if enter > leave:
            return None
    return enter, leave
