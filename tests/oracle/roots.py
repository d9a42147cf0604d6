"""All roots of all feature functions of many body pairs at once, by subdivision of time with derivative
bounds.

An item is one feature pair of one body pair: FV (face of A, vertex of B), VF (vertex of A, face of B) or
EE. Its
function is the signed distance in the geometry at time t: vertex to plane, or (dA x dB).(midB - midA) for
unit
edge directions. An interval is dropped only when a bound proves that the features stay apart in it, or that
the
function has no zero in it; it is settled when the derivative cannot vanish in it; else it is halved.
"""

from dataclasses import dataclass

import numpy as np

from tests.oracle.solid import Twist, apply, cross, dot, norm, quat_conj, quat_mul, rotation_matrix

FV, VF, EE = 0, 1, 2
TOUCH = (
    1e-10  # of the size: functions that come this near to zero without a safe crossing are kept as touches
)
FLAT = 1e-11  # of the size: a function that stays below is sustained (docs/conventions.md)


class Scene:
    """Pairs of the same two meshes: solids, motions and B's geometry in A's axes at t = 0."""

    def __init__(self, a, b, twist, axes_b):
        self.a, self.b, self.m, self.axes_b = a, b, twist, axes_b
        p = len(axes_b)

        def turned(x):
            return np.einsum("pij,nj->pni", axes_b, x)

        self.b_v, self.b_normal, self.b_face = turned(b.v), turned(b.normal), turned(b.face_center)
        self.b_dir, self.b_mid = turned(b.edge_dir), turned(b.edge_mid)
        self.size = max(a.radius, b.radius)
        along = dot(twist.rho, twist.v)
        across = norm(twist.rho - along[:, None] * twist.v)
        self.speed = np.hypot(np.maximum(across, twist.theta * self.size), along)
        # below this nothing but rounding moves: the pair is at rest
        self.path = norm(twist.p0) + norm(twist.rho)
        self.rounding = 1e-14 * self.size + 1e-15 * self.path
        self.still = self.speed <= 1e-13 * self.size
        self.tau = np.where(self.still, 0.0, 1e-9 + 1e-10 * self.size / np.where(self.still, 1, self.speed))
        self.n = p

    def facing_masks(self):
        """Per pair, faces, vertices and edges that may face the other body somewhere; generous."""
        a, b, m, n = self.a, self.b, self.m, self.n
        slack = (1e-6 * self.speed + 10 * self.rounding)[:, None]

        def flow(x):  # x (p, k, 3)
            return (
                m.theta[:, None, None] * cross(np.broadcast_to(m.v[:, None], x.shape), x - m.p0[:, None])
                + (m.rho[:, None])
            )

        flow_a = flow(np.broadcast_to(a.v, (n, *a.v.shape)))
        flow_b = flow(self.b_v + m.p0[:, None])

        def corners(solid, normals, field):
            return np.einsum("...fi,...fki->...fk", normals, field[:, solid.face_corners])

        back = corners(a, a.normal[None], flow_a)
        forth = corners(b, self.b_normal, flow_b)
        if a.two_sided:
            back = np.full_like(back, -np.inf)
        if b.two_sided:
            forth = np.full_like(forth, np.inf)
        face_a, face_b = back.min(2) <= slack, forth.max(2) >= -slack

        def spread(solid, at_corner, n_pairs):
            """Does any adjacent face keep the vertex / the edge? From the values at the corners of faces."""
            vertex = np.zeros((n_pairs, len(solid.v)), bool)
            for f, loop in enumerate(solid.loops):
                vertex[:, loop] |= at_corner[:, f, : len(loop)]
            edge = np.zeros((n_pairs, len(solid.edges)), bool)
            whole = at_corner.any(2)
            for k in range(solid.edge_face.shape[1]):
                edge |= (solid.edge_side[:, k] != 0) & whole[:, solid.edge_face[:, k]]
            return vertex, edge

        vertex_a, edge_a = spread(a, back <= slack[..., None], n)
        vertex_b, edge_b = spread(b, forth >= -slack[..., None], n)
        return face_a, vertex_a, edge_a, face_b, vertex_b, edge_b

    def items(self):
        """Items (kind, pair, feature a, feature b) that facing allows."""
        fa, va, ea, fb, vb, eb = self.facing_masks()
        out = []
        for kind, x, y in ((FV, fa, vb), (VF, va, fb), (EE, ea, eb)):
            p, i, j = np.nonzero(x[:, :, None] & y[:, None, :])
            out.append((np.full(len(p), kind), p, i, j))
        return [np.concatenate(c) for c in zip(*out, strict=True)]


@dataclass
class Items:
    """Feature pairs with what evaluating them needs. `ca` and `cb` are the features' centres (cb from B's
    centre,
    in A's axes at t = 0), `da` the normal or direction on A, `db` on B, `reach` the sum of their radii."""

    scene: Scene
    kind: np.ndarray
    pair: np.ndarray
    fa: np.ndarray
    fb: np.ndarray
    ca: np.ndarray
    cb: np.ndarray
    da: np.ndarray
    db: np.ndarray
    reach: np.ndarray
    pace: np.ndarray  # speed of B's feature centre
    bend: np.ndarray  # bound of the part of |f''| that does not depend on the distance
    ends: np.ndarray  # sum of half lengths, EE

    @classmethod
    def make(cls, scene, kind, pair, fa, fb):
        a, b, m = scene.a, scene.b, scene.m
        n = len(kind)
        ca, cb, da, db = (np.zeros((n, 3)) for _ in range(4))
        reach, bend = np.zeros(n), np.zeros(n)
        i = np.nonzero(kind == FV)[0]
        ca[i], da[i], cb[i] = a.face_center[fa[i]], a.normal[fa[i]], scene.b_v[pair[i], fb[i]]
        reach[i] = a.face_radius[fa[i]]
        i = np.nonzero(kind == VF)[0]
        ca[i], db[i], cb[i] = a.v[fa[i]], scene.b_normal[pair[i], fb[i]], scene.b_face[pair[i], fb[i]]
        reach[i] = b.face_radius[fb[i]]
        i = np.nonzero(kind == EE)[0]
        ca[i], da[i], cb[i] = a.edge_mid[fa[i]], a.edge_dir[fa[i]], scene.b_mid[pair[i], fb[i]]
        db[i] = scene.b_dir[pair[i], fb[i]]
        reach[i] = a.edge_half[fa[i]] + b.edge_half[fb[i]]
        flow_b = m.flow(pair, m.p0[pair] + cb)
        pace = norm(flow_b)
        mover = np.where((kind == VF)[:, None], m.flow(pair, ca), flow_b)
        bend = m.theta[pair] * norm(cross(mover, m.v[pair]))
        bend = np.where(kind == EE, bend + 2 * m.theta[pair] * pace, bend)
        return cls(scene, kind, pair, fa, fb, ca, cb, da, db, reach, pace, bend, reach)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        rest = {k: getattr(self, k)[i] for k in self.__dataclass_fields__ if k != "scene"}
        return Items(self.scene, **rest)

    def value(self, t):
        """f, df/dt and the distance of the features' centres at times t."""
        m, p = self.scene.m, self.pair
        sine, vers = m.turn(p, t)
        v = m.v[p]

        def rotate(x):
            vx = cross(v, x)
            return x + sine[:, None] * vx + vers[:, None] * cross(v, vx)

        y = m.centre(p, t) + rotate(self.cb)
        w = y - self.ca
        u = rotate(self.db)
        flow_y = m.flow(p, y)
        edge = self.kind == EE
        # FV: n = da; VF: n = -u moving along -w; EE: n = da x u
        n = np.where(edge[:, None], cross(self.da, u), self.da - u)
        turning = self.scene.m.theta[p][:, None] * cross(v, u)
        dn = np.where(edge[:, None], cross(self.da, turning), -turning)
        return dot(n, w), dot(n, flow_y) + dot(dn, w), norm(w)

    def curvature(self, distance, h):
        """Bound of |f''| in an interval of length h at whose middle the centres are `distance` apart."""
        theta = self.scene.m.theta[self.pair]
        return self.bend + np.where(self.kind == EE, theta**2 * (distance + self.pace * h / 2), 0.0)

    def sine(self, t):
        """|sin| of the angle of the edges (1 for vertex-face)."""
        u = self.scene.m.rotate(self.pair, t, self.db)
        return np.where(self.kind == EE, norm(cross(self.da, u)), 1.0)


def flat_items(items):
    """Masks: functions that vanish during the whole step, and those that nearly do."""
    size = items.scene.size
    n = len(items)
    near = np.ones(n, bool)
    for t in (0.0, 0.31, 0.62, 1.0):
        i = np.nonzero(near)[0]
        near[i] = np.abs(items[i].value(np.full(len(i), t))[0]) <= 1e-9 * size
    flat = near.copy()
    i = np.nonzero(near)[0]
    sub = items[i]
    worst = np.zeros(len(i))
    for t in np.linspace(0, 1, 17):
        time = np.full(len(i), t)
        worst = np.maximum(worst, np.abs(sub.value(time)[0]) / np.maximum(sub.sine(time), 1e-12))
    flat[i] = worst <= FLAT * size + sub.scene.rounding[sub.pair]
    return flat, near


def find(items):
    """Roots (item, t), touches (item, lo, hi) and flat items (item, whether truly flat)."""
    scene = items.scene
    pair = items.pair
    margin = 2 * scene.tau + np.where(scene.still, 0.0, 1e-8)
    lo, hi = -margin[pair], 1 + margin[pair]
    size = scene.size
    # functions that surely stay near zero for the whole step have no slope to trust: nothing below may
    # judge them
    f, df, distance = items.value(np.full(len(items), 0.5))
    level_still = np.abs(f) + np.abs(df) / 2 + items.curvature(distance, 1.0) / 8 <= 1e-9 * size
    flat = np.nonzero(level_still)[0]
    flat = (flat, flat_items(items[flat])[0])
    which = np.nonzero(~level_still)[0]
    lo, hi = lo[which], hi[which]
    none = (np.zeros(0, int), np.zeros(0), np.zeros(0))
    roots, touches = [none], [none]
    for level in range(60):
        if len(which) == 0:
            break
        sub = items[which]
        h = hi - lo
        mid = lo + h / 2
        f, df, distance = sub.value(mid)
        bound = sub.curvature(distance, h)
        keep = distance <= sub.reach + sub.pace * h / 2 + 1e-6 * size
        keep &= np.abs(f) <= np.abs(df) * h / 2 + bound * h * h / 8 + TOUCH * size
        # a slope of rounding (a vertex on the axis, a sliding face) is no slope
        noise = 10 * scene.rounding[pair[which]]
        simple = keep & (np.abs(df) * h > bound * h * h / 2 * (1 + 1e-9) + noise)
        i = np.nonzero(simple)[0]
        if len(i):
            s = sub[i]
            low, high = s.value(lo[i])[0] > 0, s.value(hi[i])[0] > 0
            i = i[low != high]
            roots.append((which[i], lo[i], hi[i]))
        keep &= ~simple
        scale = np.where(sub.kind == EE, np.maximum(sub.sine(mid), 1e-3), 1.0)
        small = keep & (bound * h * h / 8 <= 2e-11 * size * scale)
        i = np.nonzero(small)[0]
        touches.append((which[i], lo[i], hi[i]))
        i = np.nonzero(keep & ~small)[0]
        if level == 3 and len(i):
            # a function that vanishes identically would be halved for ever
            ids = np.unique(which[i])
            truly, near = flat_items(items[ids])
            flat = (np.concatenate((flat[0], ids[near])), np.concatenate((flat[1], truly[near])))
            i = i[~np.isin(which[i], ids[near])]
        which, lo, hi, mid = which[i], lo[i], hi[i], mid[i]
        which, lo, hi = np.concatenate((which, which)), np.concatenate((lo, mid)), np.concatenate((mid, hi))
    else:
        raise AssertionError("subdivision did not end")
    # items settled before level 3 as touches of the whole step are flat too (tiny motions, bodies at rest)
    item, a, b = (np.concatenate(c) for c in zip(*touches, strict=True))
    ids = np.unique(item)
    truly, near = flat_items(items[ids])
    flat = (np.concatenate((flat[0], ids[near])), np.concatenate((flat[1], truly[near])))
    keep = ~np.isin(item, flat[0])
    touch = merge(item[keep], a[keep], b[keep])
    ri, a, b = (np.concatenate(c) for c in zip(*roots, strict=True))
    known = ~np.isin(ri, flat[0])
    ri, rt = ri[known], polish(items[ri[known]], a[known], b[known])
    return (ri, rt), touch, flat


def merge(item, lo, hi):
    """Join touching intervals of the same item."""
    order = np.lexsort((lo, item))
    out = []
    for k in order:
        if out and out[-1][0] == item[k] and lo[k] - out[-1][2] <= hi[k] - lo[k]:
            out[-1][2] = max(out[-1][2], hi[k])
        else:
            out.append([item[k], lo[k], hi[k]])
    if not out:
        return np.zeros(0, int), np.zeros(0), np.zeros(0)
    item, lo, hi = zip(*out, strict=True)
    return np.array(item), np.array(lo), np.array(hi)


def polish(items, lo, hi):
    """The root of monotone functions in brackets: Newton, with bisection where it leaves the bracket."""
    lo, hi = lo.copy(), hi.copy()
    t = (lo + hi) / 2
    if len(t) == 0:
        return t
    rising = items.value(lo)[0] <= 0
    live = np.arange(len(t))
    for _ in range(100):
        s = items[live]
        f, df, _ = s.value(t[live])
        above = (f > 0) == rising[live]
        hi[live] = np.where(above, t[live], hi[live])
        lo[live] = np.where(above, lo[live], t[live])
        step = t[live] - f / np.where(df == 0, 1.0, df)
        inside = (step > lo[live]) & (step < hi[live]) & (df != 0)
        new = np.where(inside, step, (lo[live] + hi[live]) / 2)
        moved = np.abs(new - t[live])
        t[live] = np.where(f == 0, t[live], new)
        live = live[(f != 0) & (moved > 2e-16 * np.maximum(1.0, np.abs(new)))]
        if len(live) == 0:
            break
    return t


def world_pose(start, end, t, x):
    """A's pose in the world at times t (n,): the screw of inv(start) end in A's own frame.

    Returns origin (n, 3), matrix (n, 3, 3), |w| of A's own turn (0: a half-turn), world speed (n,) of A's
    points x.

    `start`, `end` are (position (n, 3), unit quaternion (n, 4)).
    """
    (p0, q0), (p1, q1) = start, end
    axes = rotation_matrix(q0)
    n = len(t)
    identity = np.tile([1.0, 0, 0, 0], (n, 1))
    shift = apply(np.swapaxes(axes, -1, -2), p1 - p0)
    own = Twist.between(identity, np.zeros((n, 3)), quat_mul(quat_conj(q0), q1), shift)
    i = np.arange(n)
    turned = np.stack([own.rotate(i, t, np.tile(e, (n, 1))) for e in np.eye(3)], -1)
    return p0 + apply(axes, own.centre(i, t)), axes @ turned, np.abs(own.w), norm(own.flow(i, x))
