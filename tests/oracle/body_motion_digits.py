"""The same motions in fifty digits, straight from the definition: the exponential of the matrix of a motion."""

import mpmath as mp

from tests.oracle.body_motion import Motions

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


def _rigid(axes, place):
    out = mp.eye(4)
    for i in range(3):
        for j in range(3):
            out[i, j] = axes[i, j]
        out[i, 3] = place[i]
    return out


def precise_pose(body, t):
    """4 by 4 matrix of a body at time t. Not for half turns, which two screws fit."""
    t = mp.mpf(t)
    start = _rigid(_axes(body["quat"]), _vector(body["place"]))
    if body["spin"]:
        axes, ref = _axes(body["quat"]), _vector(body["reference"])
        x, y, z = _vector(body["turn"][:3]) * t
        turn = mp.expm(mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])) * axes
        centre = _vector(body["place"]) + axes * ref + t * _vector(body["to"])
        return _rigid(turn, centre - turn * ref)
    if all(body["quat"] == body["turn"]):
        return _rigid(_axes(body["quat"]), _vector(body["place"]) * (1 - t) + t * _vector(body["to"]))
    end = _rigid(_axes(body["turn"]), _vector(body["to"]))
    return mp.expm(t * mp.logm(end * start**-1)) * start


def _cross(a, b):
    return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def precise_distance(scene: Motions, pair, kind, feature_a, feature_b, edges, t):
    """Signed distance of two features at time t: of a vertex from a face's plane, or of two edges' lines times the sine.

    `edges` are the two meshes' lists of edges.
    """
    bodies = [scene.bodies[i] for i in scene.pairs[pair]]
    placed = []
    for body in bodies:
        m = precise_pose(body, t)
        placed.append(lambda x, m=m: (m * mp.matrix([*_vector(x), 1]))[0:3])
    meshes = [scene.meshes[b["mesh"]] for b in bodies]
    if kind == 2:
        ends = [
            [placed[i](meshes[i].vertices[k]) for k in edges[i][f]]
            for i, f in enumerate((feature_a, feature_b))
        ]
        u, v = (e[1] - e[0] for e in ends)
        n = _cross(u / mp.norm(u), v / mp.norm(v))
        return _dot(n, ends[1][0] - ends[0][0])
    side, face, vertex = (0, feature_a, feature_b) if kind == 0 else (1, feature_b, feature_a)
    start = meshes[side].face_start
    corners = [placed[side](meshes[side].vertices[k]) for k in meshes[side].face_vertices[start[face] : start[face + 1]]]
    n = _cross(corners[1] - corners[0], corners[2] - corners[0])
    point = placed[1 - side](meshes[1 - side].vertices[vertex])
    return _dot(n / mp.norm(n), point - corners[0])


def precise_root(scene, pair, kind, feature_a, feature_b, edges, lo, hi):
    """The time in [lo, hi] at which the distance changes sign, or None if it has the same sign at both."""
    with mp.workdps(DIGITS):
        def f(t):
            return precise_distance(scene, pair, kind, feature_a, feature_b, edges, t)

        lo, hi = mp.mpf(lo), mp.mpf(hi)
        a, b = f(lo), f(hi)
        if (a > 0) == (b > 0):
            return None
        return mp.findroot(f, (lo, hi), solver="anderson", tol=mp.mpf(10) ** (-40), verify=False)
