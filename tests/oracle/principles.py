"""Other ways to the same facts, for the oracle's own tests: separating axes, piercing, winding, 40 digits."""

import numpy as np

from tests.oracle.solid import cross, dot, norm


def arc_time(centre, axis, angle):
    """First overlap of a unit square that turns about `axis` with the unit square at the origin, by
    bisection."""

    def apart(t):
        a = angle * t
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        corners = np.array([[x, y] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
        moved = axis + (centre + corners - axis) @ turn.T
        return max(
            max((moved @ d).min() - (corners @ d).max(), (corners @ d).min() - (moved @ d).max())
            for d in (*np.eye(2), *turn.T)
        )

    lo, hi = 0.0, 0.5
    assert apart(lo) > 0 > apart(hi)
    for _ in range(60):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if apart(mid) > 0 else (lo, mid)
    return lo


def cut(scene, t):
    """Whether an edge of one surface pierces a face of the other at time t."""
    i = np.zeros(1, int)

    def place(x):
        return np.array(
            [(scene.m.centre(i, np.array([t])) + scene.m.rotate(i, np.array([t]), y))[0] for y in x]
        )

    va, vb = scene.a.v, place(scene.b_v[0])
    for v, solid_v, w, solid_w in ((va, scene.a, vb, scene.b), (vb, scene.b, va, scene.a)):
        for loop in solid_w.loops:
            x = w[loop]
            n = cross(x - x.mean(0), np.roll(x, -1, 0) - x.mean(0)).sum(0)
            n /= norm(n)
            ends = v[solid_v.edges]
            d = (ends - x[0]) @ n
            through = np.nonzero(d[:, 0] * d[:, 1] < 0)[0]
            if len(through) == 0:
                continue
            share = d[through, 0] / (d[through, 0] - d[through, 1])
            p = ends[through, 0] + share[:, None] * (ends[through, 1] - ends[through, 0])
            sides = cross(np.broadcast_to(n, x.shape), np.roll(x, -1, 0) - x)
            if ((p[:, None] - x) * sides).sum(2).min(1).max() > 0:
                return True
    return False


def holds(scene, t):
    """Whether one body's first vertex lies inside the other (for surfaces that do not cut): winding
    number."""
    i = np.zeros(1, int)
    b0 = (scene.m.centre(i, np.array([t])) + scene.m.rotate(i, np.array([t]), scene.b_v[0][:1]))[0]
    return winding(scene.a, b0) > 0.5 or winding(scene.b, inside_b(scene, scene.a.v[0])) > 0.5


def inside_b(scene, x):
    return scene.axes_b[0].T @ (x - scene.m.p0[0])


def winding(solid, x):
    total = 0.0
    for loop in solid.loops:
        y = solid.v[loop] - x
        for k in range(1, len(loop) - 1):
            a, b, c = y[0], y[k], y[k + 1]
            la, lb, lc = norm(a), norm(b), norm(c)
            top = dot(a, cross(b, c))
            total += 2 * np.arctan2(top, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    return total / (4 * np.pi)


def exact_function(mp, scene, i, j, atom):
    """Vertex-to-plane distance at time t with the relative motion in the working precision of mpmath."""

    def vec(x):
        return mp.matrix([mp.mpf(float(y)) for y in x])

    def quat(q):
        q = vec(q)
        return q / mp.norm(q)

    def mul(p, q):
        a, b, c, d = p
        e, f, g, h = q
        return mp.matrix(
            [a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
             a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e]
        )  # fmt: skip

    def conj(q):
        return mp.matrix([q[0], -q[1], -q[2], -q[3]])

    def turn(q, x):
        y = mul(mul(q, mp.matrix([0, x[0], x[1], x[2]])), conj(q))
        return mp.matrix([y[1], y[2], y[3]])

    def cross3(a, b):
        return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

    def inner(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    (xs, qs), (xe, qe) = scene.start, scene.end
    q0, q1 = (mul(conj(quat(q[i])), quat(q[j])) for q in (qs, qe))
    p0, p1 = (turn(conj(quat(q[i])), vec(x[j]) - vec(x[i])) for x, q in ((xs, qs), (xe, qe)))
    dq = mul(q1, conj(q0))
    if dq[0] < 0:
        dq = -dq
    v = mp.matrix([dq[1], dq[2], dq[3]])
    theta, v = 2 * mp.atan2(mp.norm(v), dq[0]), v / mp.norm(v)
    chord = p1 - p0
    g = inner(chord, v)
    across = chord - v * g
    u = p0 + across / 2 + cross3(v, across) / (2 * mp.tan(theta / 2))
    mesh_a, mesh_b = scene.meshes[scene.shape[i]], scene.meshes[scene.shape[j]]

    def plane(mesh, face):
        loop = mesh.face_vertices[mesh.face_start[face] : mesh.face_start[face + 1]]
        x = [vec(mesh.vertices[k]) for k in loop]
        n = cross3(x[1] - x[0], x[2] - x[0])
        return n / mp.norm(n), x[0]

    def f(t):
        q = mp.matrix([mp.cos(theta * t / 2), *(mp.sin(theta * t / 2) * v)])
        centre = u + turn(q, p0 - u) + v * (g * t)
        q = mul(q, q0)
        if atom["kind"] == 0:
            n, x = plane(mesh_a, atom["feature_a"])
            return inner(n, turn(q, vec(mesh_b.vertices[atom["feature_b"]])) + centre - x)
        n, x = plane(mesh_b, atom["feature_b"])
        return inner(n, turn(conj(q), vec(mesh_a.vertices[atom["feature_a"]]) - centre) - x)

    return f
