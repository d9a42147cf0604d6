"""What families of bodies on motions of their own are made of: shapes, rows, aims."""

import numpy as np

from tests.oracle.body_motion import BODY, Motions, poses
from tests.oracle.passages import wedge
from tests.oracle.scenes_base import random_axis, random_quat, turn_quat, unit4
from tests.oracle.shapes import box, car, hull_of, l_block, prism, sheet, torus
from tests.oracle.solid import apply, quat_mul, rotation_matrix
from tests.support import seeds

FAMILIES = {}
UP = np.array([0.0, 0, 1])


def family(make):
    def seeded(seed, n):
        return make(seeds.generator(seed, list(make.__name__.encode())), n)

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
    apart = (
        random_axis(rng, len(a))
        * (rng.uniform(0, spread, len(a)) * (radius[a["mesh"]] + radius[b["mesh"]]))[:, None]
    )
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


def about(axis, through, angle, rise, place, quat):
    """Poses after a turn by angle about a line and a rise along it."""
    turn = turn_quat(axis, angle)
    return (
        through + apply(rotation_matrix(turn), place - through) + axis * np.asarray(rise)[:, None],
        unit4(quat_mul(turn, quat)),
    )
