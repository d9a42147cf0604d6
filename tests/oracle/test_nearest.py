"""The judge of clearance in C is that in NumPy, and what it is for finds what is wrong."""

import dataclasses

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.clearance import EVERY, faults
from tests.oracle import nearest
from tests.oracle.clearance import Passage

pytestmark = pytest.mark.skipif(nearest.missing() is not None, reason=str(nearest.missing()))


@pytest.mark.parametrize("name", EVERY)
def test_distances_are_those_of_the_plain_judge(name):
    bodies, pairs = EVERY[name](np.random.default_rng(3), 6)
    size = max(mesh.radius for mesh in bodies.meshes)
    for motion in ("body",) if name == "spins" else ("relative", "body"):
        time = np.random.default_rng(4).random(len(pairs))
        found = nearest.Passages(bodies, pairs, motion).distance(time)
        want = [Passage.of(bodies, *pair, motion).distance(t) for pair, t in zip(pairs, time, strict=True)]
        assert np.abs(found - want).max() <= 1e-12 * size  # worst seen: 2.5e-14, `huge`


@pytest.mark.parametrize("name", EVERY)
def test_clearance_is_right_and_what_is_not_is_found(name):
    bodies, pairs = EVERY[name](np.random.default_rng(5), 40)
    motion = "body" if name == "spins" else "relative"
    found = gc.clearance(bodies, pairs, motion=motion, backend="cpu")
    judge = nearest.Passages(bodies, pairs, motion)
    least, none = judge.least(24, 2), np.full(len(pairs), np.inf)
    assert len(faults(bodies, pairs, found, judge, least, none)) == 0
    apart = found.distance > 1e-6
    far = dataclasses.replace(found, distance=found.distance * 1.001, lower_bound=found.lower_bound * 1.001)
    near = dataclasses.replace(found, distance=found.distance * 0.999, lower_bound=found.lower_bound * 0.999)
    for bad in (far, near):
        assert set(np.flatnonzero(apart)) <= set(faults(bodies, pairs, bad, judge, least, none))
    limit = found.distance * 0.999  # all that are apart are beyond it, and would not be beyond their distance
    beyond = dataclasses.replace(found, distance=none, lower_bound=limit)
    assert not set(np.flatnonzero(apart)) & set(faults(bodies, pairs, beyond, judge, least, limit))
    beyond = dataclasses.replace(found, distance=none, lower_bound=found.distance * 1.001)
    assert set(np.flatnonzero(apart)) <= set(
        faults(bodies, pairs, beyond, judge, least, found.distance * 1.001)
    )
