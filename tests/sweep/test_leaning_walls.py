"""Who walks between what leans away (upright for who walks) and what bends the way down: an overhang, or
ground that falls. Cut by the upright plane alone the way went on into the leaning one, and all slides were
used up."""

from types import SimpleNamespace

import numpy as np
import pytest

import gpu_collide as gc
from tests.oracle.sweep_casts import mesh_of
from tests.sweep.test_w03_planes import world

pytestmark = pytest.mark.shared_bits("tests/acceptance/test_stored_bits.py")

R, SKIN, FALL = 0.3, 3e-4, [0, 0, -0.05]
OVERHANG = (0.931609, 0.294498, -0.213015)  # of the recorded track `sandtrack`
TOO_STEEP = (-0.704452, -0.129058, 0.697919)


def wall(normal, away=R + SKIN, size=5.0):
    """A large square at a distance from the origin, which it faces."""
    n = np.array(normal, float)
    n /= np.linalg.norm(n)
    a = np.cross(n, [0, 0, 1.0] if abs(n[2]) < 0.9 else [1.0, 0, 0])
    a /= np.linalg.norm(a)
    b = np.cross(n, a)
    corners = [-away * n + size * (s * a + t * b) for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return mesh_of(corners, [(0, 1, 2, 3)], two_sided=True)


def leaning(rng, high):
    """A unit normal with so much of it upwards."""
    angle = rng.uniform(0, 2 * np.pi)
    flat = np.sqrt(1 - high * high)
    return np.array([flat * np.cos(angle), flat * np.sin(angle), high])


def step(backend, normals, way, **options):
    scene = world(*(wall(n) for n in normals))
    options = {"gravity": FALL, "up": [0, 0, 1], "backend": backend.kind} | options
    return gc.sweep.slide(scene, [0.0, 0, 0], [R, R, R], way, **options)


def deepest(normals, place):
    """How much nearer than the radius the place is to a wall."""
    n = np.array(normals) / np.linalg.norm(normals, axis=1)[:, None]
    return R - (n @ place + R + SKIN).min()


def test_the_place_on_the_recorded_track(backend):
    for way in ([-0.034, -0.211, 0], [-0.0128, -0.0798, 0]):
        found = step(backend, (OVERHANG, TOO_STEEP), way)
        assert found.status[0] == gc.Status.HIT and found.casts[0] <= 6
        assert np.linalg.norm(found.position[0]) > 0.005  # it goes on, along both
        assert deepest((OVERHANG, TOO_STEEP), found.position[0]) < 1e-12
        assert found.position[0, 2] < 1e-9


def test_a_will_that_goes_down_goes_along_what_leans(backend):
    found = step(backend, [(-0.9, 0, 0.3)], [0.1, 0.05, -0.1], gravity=[0, 0, -1e-6])
    assert found.status[0] == gc.Status.HIT
    assert found.position[0, 2] < -0.05 and found.position[0, 1] == pytest.approx(0.05, abs=1e-9)
    assert deepest([(-0.9, 0, 0.3)], found.position[0]) < 1e-12


def test_ground_that_falls_towards_a_wall_that_leans(backend):
    """Down along the foot of the wall, not into it."""
    normals = (0.0, 0.5, 0.85), (-0.95, 0.0, 0.3)
    found = step(backend, normals, [0.1, 0.1, -0.2], gravity=[0, 0, -0.2])
    way = found.position[0]
    assert found.status[0] == gc.Status.HIT and found.grounded[0]
    assert way[1] > 0.05 and way[2] < -0.03 and deepest(normals, way) < 1e-12


@pytest.mark.parametrize("high", [1e-12, 1e-8, 1e-5, 0.02])
def test_walls_that_hardly_lean(backend, high):
    normals = (-np.sqrt(1 - high * high), 0, high), (0.6, -0.7, -0.3)
    found = step(backend, normals, [0.3, 0.2, 0])
    assert found.status[0] == gc.Status.HIT and deepest(normals, found.position[0]) < 1e-9
    assert found.position[0, 2] < 1e-6


def test_wedges_at_random(backend):
    """None is held by two walls, comes into one, or rises; the way is the one that the reference has."""
    rng = np.random.default_rng(5)
    for k in range(60):
        normals = leaning(rng, rng.uniform(0.02, 0.69)), leaning(rng, rng.uniform(-0.69, -0.02))
        way = rng.normal(size=3) * [0.1, 0.1, 0]
        found = step(backend, normals, way)
        assert found.status[0] != gc.Status.UNRESOLVED, k
        assert deepest(normals, found.position[0]) < 1e-9 and found.position[0, 2] < 1e-9, k
        assert np.linalg.norm(found.velocity[0]) <= np.linalg.norm(way) * (1 + 1e-12)
        if k < 8:
            wanted = step(SimpleNamespace(kind="reference"), normals, way)
            assert np.allclose(found.position, wanted.position, atol=1e-9), k
            assert np.allclose(found.velocity, wanted.velocity, atol=1e-9), k
            assert found.status[0] == wanted.status[0]


def test_one_that_rises_between_others(backend):
    """What leans and rises pushes aside, and nothing of the way goes into it."""
    meshes = wall(OVERHANG), wall(TOO_STEEP)
    made = world(*meshes)
    lift = gc.Poses.from_quat_wxyz([[0, 0, 0], [0, 0, 0.02]], [[1.0, 0, 0, 0]] * 2)
    moving = gc.Bodies(made.meshes, made.shape, made.start, lift)
    found = gc.sweep.slide(
        moving, [0.0, 0, 0], [R, R, R], [-0.03, -0.2, 0], gravity=FALL, up=[0, 0, 1], backend=backend.kind
    )
    n = np.array(TOO_STEEP) / np.linalg.norm(TOO_STEEP)
    assert n @ (found.position[0] - [0, 0, 0.02]) > -SKIN
