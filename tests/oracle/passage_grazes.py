"""Turns in which two edges pass each other at a part of the zone, just as a face comes flat onto an edge."""

import numpy as np

from tests.oracle.passage_shapes import generator
from tests.oracle.passages import Passages, convex
from tests.oracle.scenes_base import IDENTITY, turn_quat
from tests.oracle.scenes_whole import half_numbers
from tests.oracle.solid import RawMesh, apply, rotation_matrix

ZONES = (1e-10, 1e-8, 1e-6, 1e-5)
#: Of the zone, at the nearest: below a quarter the edges have to be stopped.
SHARES = (-0.1, 0.0, 0.0005, 0.01, 0.05, 0.1, 0.2, 0.24)


def tetrahedron(corners):
    """Of four corners, with its faces outwards."""
    v = np.asarray(corners, float)
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    up = np.cross(v[1] - v[0], v[2] - v[0]) @ (v[3] - v[0])
    return convex(RawMesh(v, faces if up > 0 else [face[::-1] for face in faces]))


def passing(rng):
    """Corners of two tetrahedra of whole numbers that touch at the origin, an edge of either there and the
    face at the one in one plane with the other; a whole axis about which the touch does not move along the
    normal, and a point of it. They come together before, and part afterwards."""
    while True:
        u, w, axis = rng.integers(-3, 4, (3, 3)).astype(float)
        n = np.cross(u, w)
        if not n.any() or not np.cross(axis, n).any():
            continue
        mine = np.array(
            [-u, u * rng.integers(1, 3), w * rng.choice([-2, -1, 1, 2]) + u, half_numbers(rng, 1, 4)[0]]
        )
        theirs = np.array([-w, w * rng.integers(1, 3), *half_numbers(rng, 2, 4)])
        if not (mine[3] @ n > 0 and (theirs[2:] @ n < 0).all()):
            continue
        if not np.cross(w, theirs[2] - theirs[3]) @ theirs[2]:
            continue
        origin = n * rng.choice([-1, -0.5, 0.5, 1]) + axis * rng.integers(-1, 2)
        near = [distance(u, w, axis, origin, angle) for angle in (-0.01, 0.01)]
        if min(near) > 1e-6:  # not one that slides at the same distance
            return mine, theirs, axis, origin, n / np.linalg.norm(n)


def distance(u, w, axis, origin, angle):
    """Of the lines along u and w through the origin, after a turn of the one, along their normal."""
    turn = rotation_matrix(turn_quat(axis / np.linalg.norm(axis), np.array(angle)))
    n = np.cross(turn @ u, w)
    return n @ (origin - turn @ origin) / np.linalg.norm(n)


def flat_graze_turn(seed, n):
    """The face is the mover's or the still body's; at its nearest the one edge is a share of the zone off."""
    rng = generator("flat_graze_turn", seed)
    drawn = [passing(rng) for _ in range(n)]
    one, other, axis, origin, normal = (np.array(x) for x in zip(*drawn, strict=True))
    zone = rng.choice(ZONES)
    lift = normal * (rng.choice(SHARES, n) * zone)[:, None]
    swap = rng.uniform(size=(n, 1)) < 0.5
    mine, theirs = (np.where(swap[..., None], *x) for x in ((other, one), (one, other)))
    before, sign = rng.uniform(0.1, 0.8, n), rng.choice([-1.0, 1.0], n)
    quat = turn_quat(axis / np.linalg.norm(axis, axis=1)[:, None], -sign * before)
    start = origin + apply(rotation_matrix(quat), np.where(swap, -lift, lift) - origin)
    meshes = [tetrahedron(x) for pair in zip(mine, theirs, strict=True) for x in pair]
    rows = 2 * np.arange(n)
    still = rows + 1, np.zeros((n, 3)), np.tile(IDENTITY, (n, 1))
    return Passages(
        "flat_graze_turn", meshes, (rows, start, quat), still, angle=sign * before * rng.uniform(1.2, 3, n),
        axis=axis, origin=origin, expel=zone, start="any",
    )  # fmt: skip
