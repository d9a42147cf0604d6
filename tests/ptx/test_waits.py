"""What the host waits for where all bodies are asked about: the counts of the pairs once, then what a chain
waits for. The pairs and contacts are those of `cpu`."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.pipeline.broad_phase import pairs as broad_phase
from gpu_collide.scenes import worlds
from tests.ptx._staying import Moved, made, same


def on(cuda, bodies):
    """The same bodies, from arrays on the device."""
    there = [
        gc.Poses.from_quat_wxyz(*map(cuda.asarray, (p.position, p.quat_wxyz)))
        for p in (bodies.start, bodies.end)
    ]
    return gc.Bodies(bodies.meshes, bodies.shape, *there)


@pytest.fixture(scope="module")
def traffic():
    return worlds(2, 8, 3)


def test_find_pairs(cuda, traffic):
    bodies, world = traffic
    wanted = gc.find_pairs(bodies, world=world, backend="cpu")
    with Moved(cuda) as moved:
        found = gc.find_pairs(bodies, world=world, backend="cuda")
    assert moved.waits == 2  # counts, pairs
    assert len(wanted) > 8 and np.array_equal(found, wanted)


@pytest.mark.parametrize("where", ["host", "device"])
def test_collide(cuda, traffic, where):
    bodies, world = traffic
    given = bodies if where == "host" else on(cuda, bodies)
    wanted = gc.collide(bodies, world=world, backend="cpu")
    gc.collide(given, world=world, backend="cuda")  # what a pair takes is known from here on
    with Moved(cuda) as moved:
        found = gc.collide(given, world=world, backend="cuda")
    # counts of pairs, counts of contacts; to the host also contacts, and the pairs themselves
    assert moved.waits == (4 if where == "host" else 2)
    same(found, wanted)
    assert {name for name, seconds in found.info["timings"].items() if seconds > 0} >= {
        "b01_bodies",
        "b04_count",
    }


def test_steps(cuda, traffic):
    """A tree that is refitted, with pairs before it."""
    bodies, world = traffic
    with gc.Scene(bodies.meshes, bodies.shape, world=world, backend="cuda") as scene:
        for step in range(3):
            share = 0.5 + 0.25 * step
            end = bodies.start.position + share * (bodies.end.position - bodies.start.position)
            end = gc.Poses.from_quat_wxyz(end, bodies.end.quat_wxyz)
            with Moved(cuda) as moved:
                scene.update(bodies.start, end)
                found = scene.collide()
            moving = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, end)
            same(found, gc.collide(moving, world=world, backend="cpu"))
    assert moved.waits == 4


def test_many_are_looked_at_on_the_way(cuda, monkeypatch, traffic):
    """So that a search for far too many pairs ends early; what is found is the same."""
    bodies, world = traffic
    monkeypatch.setattr(broad_phase, "FIRST_STEP", 4)
    monkeypatch.setattr(broad_phase, "AHEAD_TESTS", 8 * len(bodies))
    with Moved(cuda) as moved:
        found = gc.find_pairs(bodies, world=world, backend="cuda")
    assert moved.waits == 1 + int(np.ceil(np.log2(len(bodies) / 8 + 1)))
    assert np.array_equal(found, gc.find_pairs(bodies, world=world, backend="cpu"))


def test_a_report_says_what_the_tree_took(cuda, traffic):
    bodies, world = traffic
    phase = gc.BroadPhase(len(bodies), world=world, backend="cuda")
    phase.find_pairs(bodies)
    assert phase.report.seconds_build > 0 and phase.report.seconds_search > 0


def test_scenery_in_coordinates_of_the_world(cuda):
    """Bodies that all stand at the origin, with meshes that do not: the curve divides the space they fill."""
    rng, box, n = np.random.default_rng(5), gc.shapes.box(), 200
    meshes = tuple(gc.Mesh(box.vertices + rng.uniform(-25, 25, 3), box.faces) for _ in range(n))
    position, quat = rng.uniform(-3, 3, (2, n, 3)), np.tile([1.0, 0, 0, 0], (2, n, 1))
    bodies = made(position, quat, np.arange(n), meshes=meshes)
    found, tests = [], []
    for backend in ("cuda", "cpu"):
        phase = gc.BroadPhase(n, backend=backend)
        found.append(phase.find_pairs(bodies))
        tests.append(phase.report.tests)
    assert tests[0] < 1.1 * tests[1]
    assert len(found[1]) > 2 and np.array_equal(*found)


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_to_ask(cuda, n):
    """A tree was made and nothing was waited for: what its launches took was asked before they had ended,
    which is an error on a GPU."""
    none = np.zeros((n, 3))
    bodies = made(np.stack([none, none]), np.tile([1.0, 0, 0, 0], (2, n, 1)), np.zeros(n, int))
    assert len(gc.find_pairs(bodies, backend="cuda")) == 0 == len(gc.collide(bodies, backend="cuda"))
    with gc.Scene(bodies.meshes, bodies.shape, backend="cuda") as scene:
        scene.update(bodies.start, bodies.end)
        assert scene.find_pairs().shape == (0, 2) and len(scene.collide()) == 0
