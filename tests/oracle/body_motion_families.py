"""Families of pairs whose bodies each move on a motion of their own, by seed."""

import numpy as np

from tests.oracle import body_motion_places  # noqa: F401  (registers its families)
from tests.oracle.body_motion import poses
from tests.oracle.body_motion_scenes import (
    FAMILIES,
    UP,
    about,
    aimed,
    bodies_of,
    family,
    mixed,
    paired,
    random_pairs,
    roaming,
    shifted,
    solids,
    wheel,
)
from tests.oracle.scenes_base import random_axis, random_quat, turn_quat, unit4
from tests.oracle.shapes import box, car
from tests.oracle.solid import apply, cross, quat_mul, rotation_matrix

__all__ = ["FAMILIES"]


@family
def tumbling(rng, n):
    """Shapes of all kinds, each turning by 0.1 to 3.1."""
    meshes = mixed()
    return paired("tumbling", meshes, *random_pairs(rng, n, meshes, 0.1, 3.1))


@family
def cubes(rng, n):
    meshes = [box()]
    return paired("cubes", meshes, *random_pairs(rng, n, meshes, 0.0, 1.6))


@family
def spins(rng, n):
    """Straight centres, turns of up to three revolutions."""
    meshes = mixed()
    return paired("spins", meshes, *random_pairs(rng, n, meshes, 0.1, 20, spin=True))


@family
def spin_and_screw(rng, n):
    """One body by velocities, the other by poses; sometimes centres that are not the mesh's."""
    meshes = solids()
    a = roaming(rng, n, rng.integers(0, len(meshes), n), 0, 6, spin=True)
    a["reference"] = rng.uniform(-0.5, 0.5, (n, 3)) * (rng.random(n) < 0.5)[:, None]
    b = roaming(rng, n, rng.integers(0, len(meshes), n), 0, 2.5)
    a, b = aimed(rng, meshes, a, b)
    swap = rng.random(n) < 0.5
    return paired("spin_and_screw", meshes, np.where(swap, b, a), np.where(swap, a, b))


@family
def common_axis(rng, n):
    """Two screws about one line, less than half a revolution apart: the relative screw is the truth, to
    rounding."""
    meshes = solids()
    axis, through = random_axis(rng, n), rng.uniform(-1, 1, (n, 3))
    rows = []
    for _ in range(2):
        place, quat = rng.uniform(-1.5, 1.5, (n, 3)), random_quat(rng, n)
        end = about(axis, through, rng.uniform(-1.5, 1.5, n), rng.uniform(-2, 2, n), place, quat)
        rows.append(bodies_of(rng.integers(0, len(meshes), n), place, quat, *end))
    return paired("common_axis", meshes, *rows)


@family
def drills(rng, n):
    """A needle or a wheel that turns about its own line while it moves along it, against what tumbles."""
    meshes = [*solids(), box((0.2, 0.2, 2.0)), wheel(8, 0.3, 1.5)]
    axis = random_axis(rng, n)
    quat = unit4(
        quat_mul(random_quat(rng, n) * 0 + _onto(axis), turn_quat(np.tile(UP, (n, 1)), rng.uniform(0, 6, n)))
    )
    place = rng.uniform(-1, 1, (n, 3))
    angle = rng.uniform(0.1, 3.1, n)
    end = about(axis, place, angle, rng.uniform(0.5, 3, n), place, quat)
    a = bodies_of(np.full(n, len(meshes) - 2), place, quat, *end)
    still = rng.random(n) < 0.3
    b = roaming(rng, n, rng.integers(0, len(meshes) - 2, n), 0.1, 2.0)
    b["to"] = np.where(still[:, None], b["place"], b["to"])
    b["turn"] = np.where(still[:, None], b["quat"], b["turn"])
    return paired("drills", meshes, *aimed(rng, meshes, a, b, 0.6))


def _onto(axis):
    """Quaternions that take z to the axis."""
    half = np.concatenate((1 + axis[:, 2:], cross(np.broadcast_to(UP, axis.shape), axis)), 1)
    return unit4(half + 1e-300)


def _rolling(rng, n, spin):
    """Wheels on the ground z = 0 without slip towards a kerb or another wheel; now and then over level
    ground."""
    meshes = [wheel(12), wheel(16, 0.4), box((3, 3, 0.2)), box((0.5, 2.0, 0.4))]
    place = np.concatenate((rng.uniform(-1, 1, (n, 2)), np.full((n, 1), 0.5)), 1)
    heading = rng.uniform(0, 2 * np.pi, n)
    ahead = np.stack((np.cos(heading), np.sin(heading), np.zeros(n)), 1)
    quat = turn_quat(np.tile(UP, (n, 1)), heading)
    axis = cross(np.broadcast_to(UP, ahead.shape), ahead)  # rolls ahead when it turns about this
    angle = rng.uniform(0.2, 3.0, n) if not spin else rng.uniform(0.2, 12.0, n)
    way = ahead * (0.5 * angle)[:, None]
    quat = unit4(quat_mul(turn_quat(axis, rng.uniform(0, 6, n)), quat))
    if spin:
        a = bodies_of(np.zeros(n), place, quat, way, axis * angle[:, None], 1)
    else:
        a = bodies_of(np.zeros(n), place, quat, place + way, unit4(quat_mul(turn_quat(axis, angle), quat)))
    kind = rng.integers(0, 3, n)
    # 0: the ground, still; 1: a kerb ahead, still or turning about the vertical; 2: another wheel that rolls
    low = np.array([-0.1, 0.2 - 1e-3, 0.4])[kind]
    at = place + way * rng.uniform(0.4, 1.0, n)[:, None] * (kind > 0)[:, None]
    at = np.concatenate((at[:, :2] + ahead[:, :2] * 0.4 * (kind > 0)[:, None], low[:, None]), 1)
    turn = np.where(
        kind == 1, rng.uniform(-1, 1, n) * (rng.random(n) < 0.6), np.where(kind == 2, angle * 0.7, 0.0)
    )
    other = np.where((kind == 2)[:, None], axis, UP)
    q = np.where((kind == 2)[:, None], quat, turn_quat(np.tile(UP, (n, 1)), rng.uniform(0, 6, n)))
    go = np.where(
        (kind == 2)[:, None], cross(other, np.broadcast_to(UP, other.shape)) * (0.4 * turn)[:, None], 0.0
    )
    shape = np.array([2, 3, 1])[kind]
    if spin:
        b = bodies_of(shape, at, q, go, other * turn[:, None], 1)
    else:
        b = bodies_of(shape, at, q, at + go, unit4(quat_mul(turn_quat(other, turn), q)))
    return paired("rolling", meshes, a, b)


@family
def rolling(rng, n):
    return _rolling(rng, n, False)


@family
def rolling_spins(rng, n):
    return _rolling(rng, n, True)


def cars(rng, n, speed, yaw, seconds, level=0.5):
    """Cars that each drive an arc; a share `level` of the pairs at equal heights, the others on slopes of
    their own."""
    meshes = [car()]
    rows = []
    flat = rng.random(n) < level
    for _ in range(2):
        heading = rng.uniform(0, 2 * np.pi, n)
        quat = turn_quat(np.tile(UP, (n, 1)), heading)
        place = np.zeros((n, 3))
        pace, turn = rng.uniform(0.3, 1, n) * speed * seconds, rng.uniform(-1, 1, n) * yaw * seconds
        ahead = np.stack((np.cos(heading), np.sin(heading), np.zeros(n)), 1)
        bend = np.stack((-np.sin(heading), np.cos(heading), np.zeros(n)), 1)
        along = np.where(turn == 0, 1, np.sin(turn) / np.where(turn == 0, 1, turn))
        aside = np.where(turn == 0, 0, (1 - np.cos(turn)) / np.where(turn == 0, 1, turn))
        end = place + (ahead * along[:, None] + bend * aside[:, None]) * pace[:, None]
        last = turn_quat(np.tile(UP, (n, 1)), heading + turn)
        tilt = turn_quat(random_axis(rng, n), np.where(flat, 0.0, rng.uniform(0, 0.05, n)))
        rise = np.where(flat, 0.0, rng.uniform(-0.3, 0.3, n))
        m = rotation_matrix(tilt)
        place, end = (apply(m, x) + UP * rise[:, None] for x in (place, end))
        rows.append(
            bodies_of(np.zeros(n), place, unit4(quat_mul(tilt, quat)), end, unit4(quat_mul(tilt, last)))
        )
    a, b = rows
    when = rng.uniform(0.1, 1.0, n)
    angle, far = rng.uniform(0, 2 * np.pi, n), rng.uniform(2.2, 4.4, n)
    apart = np.stack((np.cos(angle) * far, np.sin(angle) * far, np.zeros(n)), 1)
    return paired("cars", meshes, a, shifted(b, _planar(poses(a, when)[0] - poses(b, when)[0]) + apart))


def _planar(x):
    x = x.copy()
    x[:, 2] = 0
    return x


@family
def cars_10hz(rng, n):
    return cars(rng, n, 30, 1, 0.1)


@family
def cars_town(rng, n):
    return cars(rng, n, 14, 2, 0.1)


@family
def cars_racing(rng, n):
    return cars(rng, n, 80, 2.5, 1 / 30)


@family
def cars_2hz(rng, n):
    return cars(rng, n, 30, 1, 0.5)


@family
def one_still(rng, n):
    """One body stands still: the relative screw is the truth."""
    meshes = mixed()
    a, b = random_pairs(rng, n, meshes, 0.1, 3.1)
    b["to"], b["turn"] = b["place"], b["quat"]
    a, b = aimed(rng, meshes, a, b)
    swap = rng.random(n) < 0.5
    return paired("one_still", meshes, np.where(swap, b, a), np.where(swap, a, b))


@family
def translating(rng, n):
    meshes = mixed()
    a, b = random_pairs(rng, n, meshes, 0, 1)
    a["turn"], b["turn"] = a["quat"], b["quat"]
    return paired("translating", meshes, *aimed(rng, meshes, a, b))
