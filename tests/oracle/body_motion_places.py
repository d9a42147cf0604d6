"""Families at the borders: whole numbers, half turns, thin, touching, grazing, resting bodies."""

import numpy as np

from tests.oracle.body_motion import MISSES, first_touches
from tests.oracle.body_motion_scenes import (
    UP,
    about,
    aimed,
    bodies_of,
    family,
    octahedron,
    paired,
    random_pairs,
    roaming,
    shifted,
    solids,
    tetrahedron,
    wheel,
)
from tests.oracle.scenes_base import IDENTITY, random_axis, random_quat, turn_quat, unit4
from tests.oracle.shapes import box, prism, sheet
from tests.oracle.solid import apply, quat_mul, rotation_matrix


@family
def whole_numbers(rng, n):
    """Places in whole numbers, quarter and half turns about the axes; a third by velocities."""
    meshes = [box((2, 2, 2)), box((2, 2, 4)), _whole_l(), octahedron()]
    meshes[3].vertices = np.round(meshes[3].vertices / 0.9) * 2
    rows = []
    spin = rng.random(n) < 1 / 3
    for _ in range(2):
        place = rng.integers(-4, 5, (n, 3)).astype(float)
        quat = _quarters(rng, n)
        axis = np.eye(3)[rng.integers(0, 3, n)]
        quarter = rng.integers(-1, 2, n) * (rng.random(n) < 0.8)
        way = rng.integers(-3, 4, (n, 3)) * (rng.random(n) < 0.9)[:, None]
        turn = np.where(
            spin[:, None],
            np.concatenate((axis * (quarter * np.pi / 2)[:, None], np.zeros((n, 1))), 1),
            _times(quarter, axis, quat),
        )
        rows.append(
            bodies_of(
                rng.integers(0, 4, n), place, quat, np.where(spin[:, None], way, place + way), turn, spin
            )
        )
    return paired("whole_numbers", meshes, *rows)


def _whole_l():
    outline = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]]) - 1.0
    return prism(outline, [(0, 1, 2, 3), (0, 3, 4, 5)], 2)


def _quarters(rng, n):
    """Turns of a cube onto itself about one axis, to rounding."""
    axis, quarter = np.eye(3)[rng.integers(0, 3, n)], rng.integers(0, 4, n)
    return unit4(turn_quat(axis, quarter * np.pi / 2))


def _times(quarter, axis, quat):
    return unit4(quat_mul(turn_quat(axis, quarter * np.pi / 2), quat))


@family
def half_turns(rng, n):
    """Both turn by half a revolution between their poses, or nearly."""
    meshes = solids()
    rows = []
    for _ in range(2):
        body = roaming(rng, n, rng.integers(0, len(meshes), n), 0, 1)
        angle = np.pi - np.where(rng.random(n) < 0.5, 0.0, 10.0 ** rng.uniform(-9, -2, n))
        turn = turn_quat(random_axis(rng, n), angle)
        turn[angle == np.pi, 0] = 0
        body["turn"] = quat_mul(unit4(turn), body["quat"])
        rows.append(body)
    return paired("half_turns", meshes, *aimed(rng, meshes, *rows))


@family
def thin(rng, n):
    """Plates, needles and sheets."""
    meshes = [box((1, 1, 0.01)), box((0.02, 0.02, 2)), box((1.5, 0.3, 1e-3)), sheet(two_sided=True), box()]
    a, b = (roaming(rng, n, rng.integers(0, 5, n), 0.05, 2.5) for _ in range(2))
    return paired("thin", meshes, *aimed(rng, meshes, a, b, 0.4))


@family
def far(rng, n):
    """A hundred to a million lengths from the origin, half of the pairs on a long way together."""
    meshes = solids()
    a, b = random_pairs(rng, n, meshes, 0.1, 3.1)
    by = random_axis(rng, n) * (10.0 ** rng.uniform(2, 6, n))[:, None]
    together = random_axis(rng, n) * (rng.uniform(0, 300, n) * (rng.random(n) < 0.5))[:, None]
    for body in (a, b):
        body["place"] += by
        body["to"] += by + together
    return paired("far", meshes, a, b)


@family
def slight(rng, n):
    """Turns of 1e-12 to 1e-3, by poses or by velocities."""
    meshes = solids()
    rows = []
    for _ in range(2):
        body = roaming(rng, n, rng.integers(0, len(meshes), n), 0, 1, 5.0, rng.random() < 0.5)
        axis, angle = random_axis(rng, n), 10.0 ** rng.uniform(-12, -3, n)
        if body["spin"].any():
            body["turn"][:, :3] = axis * angle[:, None]
        else:
            body["turn"] = unit4(quat_mul(turn_quat(axis, angle), body["quat"]))
        rows.append(body)
    return paired("slight", meshes, *aimed(rng, meshes, *rows))


@family
def fast(rng, n):
    """Ways of a hundred to ten thousand lengths across each other, and turns."""
    meshes = solids()
    a, b = (roaming(rng, n, rng.integers(0, len(meshes), n), 0.1, 2.0) for _ in range(2))
    for body in (a, b):
        body["to"] = body["place"] + random_axis(rng, n) * (10.0 ** rng.uniform(2, 4, n))[:, None]
    return paired("fast", meshes, *aimed(rng, meshes, a, b))


@family
def touching(rng, n):
    """Face on face, edge on face or corner on face at the start, then each on its own way."""
    meshes = [box((2, 2, 2))]
    a = roaming(rng, n, np.zeros(n, int), 0, 1.5, 1.0)
    a["place"], a["quat"] = 0, IDENTITY
    kind = rng.integers(0, 3, n)
    quat = np.where(
        (kind == 0)[:, None],
        turn_quat(np.tile(UP, (n, 1)), rng.uniform(0, 6, n)),
        np.where(
            (kind == 1)[:, None],
            turn_quat(np.tile(np.eye(3)[0], (n, 1)), rng.uniform(0.2, 1.3, n)),
            random_quat(rng, n),
        ),
    )
    corners = np.einsum("nij,kj->nki", rotation_matrix(quat), meshes[0].vertices)
    low = corners[np.arange(n), corners[..., 2].argmin(1)]
    place = np.stack((*rng.uniform(-0.7, 0.7, (2, n)), 1 - low[:, 2]), 1)
    place[:, :2] -= low[:, :2] * (kind > 0)[:, None]
    turn = turn_quat(random_axis(rng, n), rng.uniform(0, 1.5, n) * (rng.random(n) < 0.8))
    a["to"] = random_axis(rng, n) * rng.uniform(0, 1, n)[:, None]
    a["turn"] = turn_quat(random_axis(rng, n), rng.uniform(0, 1.5, n) * (rng.random(n) < 0.8))
    b = bodies_of(
        np.zeros(n),
        place,
        quat,
        place + random_axis(rng, n) * rng.uniform(0, 2, n)[:, None],
        unit4(quat_mul(turn, quat)),
    )
    return paired("touching", meshes, a, b)


@family
def grazing(rng, n):
    """Moved aside until they just miss, then by 1e-3 to 1e-9 to either side of that; each of up to 100
    pairs often."""
    meshes = [box(), tetrahedron(), octahedron()]
    m = min(n, 100)
    a, b = random_pairs(rng, m, meshes, 0.1, 2.0)
    aside = random_axis(rng, m)
    near, far = np.zeros(m), np.full(m, 12.0)
    for _ in range(36):
        middle = (near + far) / 2
        found = first_touches(paired("", meshes, a, shifted(b, aside * middle[:, None])), 4000)
        hit = found["status"] != MISSES
        near, far = np.where(hit, middle, near), np.where(hit, far, middle)
    i = np.arange(n) % m
    beside = rng.choice([-1, 1], n) * 10.0 ** rng.integers(-9, -2, n)
    return paired("grazing", meshes, a[i], shifted(b[i], aside[i] * (far[i] + beside)[:, None]))


@family
def resting(rng, n):
    """A box on a turntable: carried with it, or turning on it about another vertical, or sliding."""
    meshes = [box((4, 4, 1)), box(), wheel(12, 2.0, 1.0)]
    meshes[2].vertices = meshes[2].vertices[:, [2, 0, 1]]
    shape = rng.choice([0, 2], n)
    tilt = np.where((rng.random(n) < 0.5)[:, None], IDENTITY, random_quat(rng, n))
    zero = np.zeros((n, 3))
    spot = np.stack((*rng.uniform(-1.2, 1.2, (2, n)), np.ones(n)), 1)
    quat = turn_quat(np.tile(UP, (n, 1)), rng.uniform(0, 6, n))
    up = np.tile(UP, (n, 1))
    angle = rng.uniform(-2, 2, n)
    kind = rng.integers(0, 3, n)
    table = about(up, zero, angle, np.zeros(n), zero, np.tile(IDENTITY, (n, 1)))
    carried = about(up, zero, angle, np.zeros(n), spot, quat)
    other = about(up, spot, rng.uniform(-2, 2, n), np.zeros(n), spot + 0, quat)
    slid = (spot + np.stack((*rng.uniform(-1, 1, (2, n)), np.zeros(n)), 1), quat)
    to, turn = (
        np.where((kind == 0)[:, None], x, np.where((kind == 1)[:, None], y, z))
        for x, y, z in zip(carried, other, slid, strict=True)
    )
    m = rotation_matrix(tilt)
    rows = [
        bodies_of(s, apply(m, p), unit4(quat_mul(tilt, q)), apply(m, e), unit4(quat_mul(tilt, f)))
        for s, p, q, e, f in (
            (shape, zero, np.tile(IDENTITY, (n, 1)), *table), (np.ones(n), spot, quat, to, turn),
        )
    ]  # fmt: skip
    return paired("resting", meshes, *rows)
