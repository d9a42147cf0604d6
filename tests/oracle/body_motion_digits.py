"""The same motions in fifty digits, straight from the definition: the exponential of the matrix of a
motion."""

import mpmath as mp

DIGITS = 50


def _vector(x):
    return mp.matrix([mp.mpf(float(y)) for y in x])


def _axes(quat):
    w, x, y, z = _vector(quat) / mp.norm(_vector(quat))
    return mp.matrix(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def _spin(x):
    return mp.matrix([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def _rigid(axes, place):
    out = mp.eye(4)
    out[0:3, 0:3] = axes
    out[0:3, 3] = place
    return out


def _logarithm(turn):
    """The vector of a turn by less than half a revolution."""
    anti = mp.matrix([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    sine, cosine = mp.norm(anti), (turn[0, 0] + turn[1, 1] + turn[2, 2] - 1) / 2
    return anti * (mp.atan2(sine, cosine) / sine)


def precise_pose(body, t):
    """Axes (3, 3) and place (3, 1) of a body at time t. Not for half turns, which two screws fit."""
    with mp.workdps(DIGITS):
        t, axes, place = mp.mpf(t), _axes(body["quat"]), _vector(body["place"])
        if body["spin"]:
            ref = _vector(body["reference"])
            turn = mp.expm(t * _spin(_vector(body["turn"][:3]))) * axes
            return turn, place + axes * ref + t * _vector(body["to"]) - turn * ref
        way = _vector(body["to"]) - place
        if all(body["quat"] == body["turn"]):
            return axes, place + t * way
        w = _logarithm(_axes(body["turn"]) * axes.T)
        a, m = mp.norm(w), _spin(w)
        mean = mp.eye(3) + m * ((1 - mp.cos(a)) / a**2) + m * m * ((a - mp.sin(a)) / a**3)
        motion = mp.zeros(4)
        motion[0:3, 0:3] = m
        motion[0:3, 3] = mp.lu_solve(mean, way)
        # about where the origin is at the start: its end is the exponential's
        moved = mp.expm(t * motion)
        return moved[0:3, 0:3] * axes, place + moved[0:3, 3]


def _cross(a, b):
    return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def precise_distance(scene, pair, kind, feature_a, feature_b, edges, t):
    """Signed distance of two features at time t: of a vertex from a face's plane, or of two edges' lines
    times the sine.

    `edges` are the two meshes' lists of edges.
    """
    bodies = [scene.bodies[i] for i in scene.pairs[pair]]
    meshes = [scene.meshes[b["mesh"]] for b in bodies]
    poses = [precise_pose(b, t) for b in bodies]

    def at(side, vertex):
        axes, place = poses[side]
        return axes * _vector(meshes[side].vertices[vertex]) + place

    if kind == 2:
        ends = [[at(i, k) for k in edges[i][f]] for i, f in enumerate((feature_a, feature_b))]
        u, v = (e[1] - e[0] for e in ends)
        return _dot(_cross(u / mp.norm(u), v / mp.norm(v)), ends[1][0] - ends[0][0])
    side, face, vertex = (0, feature_a, feature_b) if kind == 0 else (1, feature_b, feature_a)
    start = meshes[side].face_start
    x, y, z = (at(side, k) for k in meshes[side].face_vertices[start[face] : start[face] + 3])
    n = _cross(y - x, z - x)
    return _dot(n / mp.norm(n), at(1 - side, vertex) - x)


def precise_root(scene, pair, kind, feature_a, feature_b, edges, lo, hi):
    """The time in [lo, hi] at which the distance changes sign, or None if it has the same sign at both."""
    with mp.workdps(DIGITS):

        def f(t):
            return precise_distance(scene, pair, kind, feature_a, feature_b, edges, t)

        lo, hi = mp.mpf(lo), mp.mpf(hi)
        if (f(lo) > 0) == (f(hi) > 0):
            return None
        return mp.findroot(f, (lo, hi), solver="anderson", tol=mp.mpf(10) ** (-40), verify=False)
