"""Each query once, small, on each backend, beside the reference: what breaks here is broken everywhere."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.scenes import random_impacts

pytestmark = pytest.mark.smoke
CAR = gc.shapes.car()
# Seen: 1.6e-15 of times and fractions of these scenes, 3e-15 of places.
CLOSE = dict(rtol=0, atol=1e-12)


def still(mesh, place=(0.0, 0.0, 0.0)):
    pose = gc.Poses.from_quat_wxyz([place], [[1, 0, 0, 0]])
    return gc.Bodies(mesh, None, pose, pose)


@pytest.fixture
def both(backend):
    """The same question to this backend and to the reference."""
    return lambda ask: (ask(backend.kind), ask("reference"))


def test_collide(both):
    bodies, pairs = random_impacts(CAR, CAR, 12, seed=3)
    found, expected = both(lambda backend: gc.collide(bodies, pairs, backend=backend))
    assert len(found) > 5 and (found.status == expected.status).all()
    for name in ("pair", "kind", "feature_a", "feature_b"):
        assert (getattr(found, name) == getattr(expected, name)).all(), name
    for name in ("time", "position", "normal", "properness"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), **CLOSE)


def test_pairs_and_scene(both):
    bodies, _ = random_impacts(CAR, CAR, 6, seed=4)
    found, expected = both(lambda backend: gc.find_pairs(bodies, backend=backend))
    assert 0 < len(found) and set(map(tuple, expected)) <= set(map(tuple, found))

    def step(backend):
        with gc.Scene(CAR, None, bodies.start, backend=backend) as scene:
            scene.step(bodies.end)
            return scene.collide(found).toi

    np.testing.assert_allclose(*both(step), **CLOSE)


def test_movers(both):
    start = gc.Poses.from_quat_wxyz([[0.2, 0, 3]], [[0.8, 0, 0.6, 0]])
    mover, floor = gc.Bodies(CAR, None, start, start), still(gc.shapes.box((9, 9, 1)))
    found, expected = both(lambda backend: gc.pluecker.translate(mover, floor, [0, 0, -5], backend=backend))
    assert 0.01 < found.fraction[0] < 0.9 and found.kind[0] == expected.kind[0]
    np.testing.assert_allclose(found.position, expected.position, **CLOSE)


def test_sweeps_and_characters(both):
    floor = still(gc.shapes.box((9, 9, 1)))
    start, path = [[0, 0, 3], [4.4, 0.1, 3], [9, 0, 3]], [0.1, 0.2, -4]
    for cast in (
        lambda backend: gc.sweep.rays(start, path, floor, backend=backend),
        lambda backend: gc.sweep.spheres(start, path, 0.25, floor, backend=backend),
        lambda backend: gc.sweep.ellipsoids(start, path, [0.2, 0.2, 0.5], floor, backend=backend),
    ):
        found, expected = both(cast)
        assert found.hit.tolist() == expected.hit.tolist() == [True, True, False]
        np.testing.assert_allclose(found.time, expected.time, **CLOSE)

    def walk(backend):
        asked = dict(gravity=[0, 0, -0.2], backend=backend)
        return gc.sweep.slide(floor, [0, 0, 1.1], [0.3, 0.3, 0.6], [0.1, 0, 0], **asked).position

    np.testing.assert_allclose(*both(walk), **CLOSE)
