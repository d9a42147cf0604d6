"""Families of pairs whose bodies each move on a motion of their own, by seed."""

import numpy as np

from tests.oracle.body_motion import BODY, Motions, first_touches, poses
from tests.oracle.passages import wedge
from tests.oracle.scenes_base import IDENTITY, random_axis, random_quat, turn_quat, unit4
from tests.oracle.shapes import box, car, hull_of, l_block, prism, sheet, torus
from tests.oracle.solid import apply, cross, quat_mul, rotation_matrix

FAMILIES = {}
UP = np.array([0.0, 0, 1])


def family(make):
    def seeded(seed, n):
        return make(np.random.default_rng([*np.atleast_1d(seed), *make.__name__.encode()]), n)

    FAMILIES[make.__name__] = seeded
    return make


def tetrahedron():
    return hull_of(np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.6)


def octahedron():
    return hull_of(np.concatenate((np.eye(3), -np.eye(3))) * 0.9)


def wheel(sides=12, radius=0.5, width=0.3):
    """A prism about the y axis."""
    angle = 2 * np.pi * np.arange(sides) / sides
    mesh = prism(radius * np.stack((np.cos(angle), np.sin(angle)), 1), [tuple(range(sides))], width)
    mesh.vertices = mesh.vertices[:, [1, 2, 0]]
    return mesh


def solids():
    return [box(), tetrahedron(), octahedron(), wheel(6, 0.7, 1.0), l_block(), wedge(30)]


def mixed():
    small_car = car()
    small_car.vertices = small_car.vertices / 3
    return [*solids(), small_car, torus(0.8, 0.3, 6, 4), sheet(two_sided=True)]


def bodies_of(shape, place, quat, to, turn, spin=0):
    """BODY rows. With `spin`, `to` is a velocity and `turn` (n, 3) an angular velocity."""
    out = np.zeros(len(place), BODY)
    out["mesh"], out["spin"] = shape, spin
    out["place"], out["quat"] = place, quat
    out["to"] = to
    if np.shape(turn)[-1] == 3:
        out["turn"][:, :3] = turn
    else:
        out["turn"] = turn
    return out


def paired(name, meshes, a, b):
    rows = np.stack((a, b), 1).reshape(-1)
    return Motions(name, meshes, rows, np.arange(len(rows)).reshape(-1, 2))


def shifted(body, by):
    """The same motion elsewhere."""
    out = body.copy()
    out["place"] += by
    out["to"] = np.where(out["spin"][:, None] == 1, out["to"], out["to"] + by)
    return out


def aimed(rng, meshes, a, b, spread=0.8):
    """B shifted so that at a random moment the two are as near as parts of their radii."""
    radius = np.array([np.linalg.norm(m.vertices, axis=1).max() for m in meshes])
    when = rng.uniform(0.3, 0.95, len(a))
    apart = random_axis(rng, len(a)) * (
        rng.uniform(0, spread, len(a)) * (radius[a["mesh"]] + radius[b["mesh"]])
    )[:, None]
    return a, shifted(b, poses(a, when)[0] - poses(b, when)[0] + apart)


def roaming(rng, n, shape, low, high, way=5.0, spin=False):
    """Bodies that turn by `low` to `high` about any axis on a way of up to `way`."""
    place, quat = rng.uniform(-1, 1, (n, 3)), random_quat(rng, n)
    axis, angle = random_axis(rng, n), rng.uniform(low, high, n)
    go = random_axis(rng, n) * rng.uniform(0.3 * way, way, n)[:, None]
    if spin:
        return bodies_of(shape, place, quat, go, axis * angle[:, None], 1)
    return bodies_of(shape, place, quat, place + go, unit4(quat_mul(turn_quat(axis, angle), quat)))


def random_pairs(rng, n, meshes, low, high, way=5.0, spin=False, spread=0.8):
    a, b = (roaming(rng, n, rng.integers(0, len(meshes), n), low, high, way, spin) for _ in range(2))
    return aimed(rng, meshes, a, b, spread)


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
    b = roaming(rng, n, rng.integers(0, len(meshes), n), 0, 2.5)
    a, b = aimed(rng, meshes, a, b)
    swap = rng.random(n) < 0.5
    return paired("spin_and_screw", meshes, np.where(swap, b, a), np.where(swap, a, b))


def about(axis, through, angle, rise, place, quat):
    """Poses after a turn by angle about a line and a rise along it."""
    turn = turn_quat(axis, angle)
    return (
        through + apply(rotation_matrix(turn), place - through) + axis * np.asarray(rise)[:, None],
        unit4(quat_mul(turn, quat)),
    )


@family
def common_axis(rng, n):
    """Two screws about one line: here the relative screw is the truth."""
    meshes = solids()
    axis, through = random_axis(rng, n), rng.uniform(-1, 1, (n, 3))
    rows = []
    for _ in range(2):
        place, quat = rng.uniform(-1.5, 1.5, (n, 3)), random_quat(rng, n)
        end = about(axis, through, rng.uniform(-3, 3, n), rng.uniform(-2, 2, n), place, quat)
        rows.append(bodies_of(rng.integers(0, len(meshes), n), place, quat, *end))
    return paired("common_axis", meshes, *rows)


@family
def drills(rng, n):
    """A needle or a wheel that turns about its own line while it moves along it, against what tumbles."""
    meshes = [*solids(), box((0.2, 0.2, 2.0)), wheel(8, 0.3, 1.5)]
    axis = random_axis(rng, n)
    quat = unit4(quat_mul(random_quat(rng, n) * 0 + _onto(axis), turn_quat(np.tile(UP, (n, 1)), rng.uniform(0, 6, n))))
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
    """Wheels on the ground z = 0 without slip towards a kerb or another wheel; now and then over level ground."""
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
    turn = np.where(kind == 1, rng.uniform(-1, 1, n) * (rng.random(n) < 0.6), np.where(kind == 2, angle * 0.7, 0.0))
    other = np.where((kind == 2)[:, None], axis, UP)
    q = np.where((kind == 2)[:, None], quat, turn_quat(np.tile(UP, (n, 1)), rng.uniform(0, 6, n)))
    go = np.where((kind == 2)[:, None], cross(other, np.broadcast_to(UP, other.shape)) * (0.4 * turn)[:, None], 0.0)
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
    """Cars that each drive an arc; a share `level` of the pairs at equal heights, the others on slopes of their own."""
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
        rows.append(bodies_of(np.zeros(n), place, unit4(quat_mul(tilt, quat)), end, unit4(quat_mul(tilt, last))))
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
        rows.append(bodies_of(rng.integers(0, 4, n), place, quat, np.where(spin[:, None], way, place + way), turn, spin))
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
def touching(rng, n):
    """Face on face, edge on face or corner on face at the start, then each on its own way."""
    meshes = [box((2, 2, 2))]
    a = roaming(rng, n, np.zeros(n, int), 0, 1.5, 1.0)
    a["place"], a["quat"] = 0, IDENTITY
    kind = rng.integers(0, 3, n)
    quat = np.where(
        (kind == 0)[:, None],
        turn_quat(np.tile(UP, (n, 1)), rng.uniform(0, 6, n)),
        np.where((kind == 1)[:, None], turn_quat(np.tile(np.eye(3)[0], (n, 1)), rng.uniform(0.2, 1.3, n)), random_quat(rng, n)),
    )
    corners = np.einsum("nij,kj->nki", rotation_matrix(quat), meshes[0].vertices)
    low = corners[np.arange(n), corners[..., 2].argmin(1)]
    place = np.stack((*rng.uniform(-0.7, 0.7, (2, n)), 1 - low[:, 2]), 1)
    place[:, :2] -= low[:, :2] * (kind > 0)[:, None]
    turn = turn_quat(random_axis(rng, n), rng.uniform(0, 1.5, n) * (rng.random(n) < 0.8))
    a["to"] = random_axis(rng, n) * rng.uniform(0, 1, n)[:, None]
    a["turn"] = turn_quat(random_axis(rng, n), rng.uniform(0, 1.5, n) * (rng.random(n) < 0.8))
    b = bodies_of(np.zeros(n), place, quat, place + random_axis(rng, n) * rng.uniform(0, 2, n)[:, None],
                  unit4(quat_mul(turn, quat)))
    return paired("touching", meshes, a, b)


@family
def grazing(rng, n):
    """Moved aside until they just miss, then by 1e-4 to 1e-9 to either side of that."""
    meshes = [box(), tetrahedron(), octahedron()]
    a, b = random_pairs(rng, n, meshes, 0.1, 2.0)
    aside = random_axis(rng, n)
    near, far = np.zeros(n), np.full(n, 12.0)
    for _ in range(36):
        middle = (near + far) / 2
        found = first_touches(paired("", meshes, a, shifted(b, aside * middle[:, None])))
        hit = found["status"] != 0
        near, far = np.where(hit, middle, near), np.where(hit, far, middle)
    beside = rng.choice([-1, 1], n) * 10.0 ** rng.integers(-9, -3, n)
    return paired("grazing", meshes, a, shifted(b, aside * (far + beside)[:, None]))


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
