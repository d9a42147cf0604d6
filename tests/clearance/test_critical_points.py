"""Clearance against the exact one, by enumeration of all times at which it may be least
(tests/oracle/critical_points.py): the distance told is neither above it nor below."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from tests.clearance._families import BOX, FAMILIES, ONE, scene
from tests.oracle.clearance import Passage
from tests.oracle.critical_points import clearance_of
from tests.support.critical import off


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(["random", "whole", "planar", "resting", "grazing", "nested", "thin", "alike", "cars"]),
    st.sampled_from(["relative", "body"]),
    st.integers(0, 10_000),
)
def test_the_least_of_all_critical_points(name, motion, seed):
    bodies, pairs = FAMILIES[name](np.random.default_rng(seed), 1)
    found = gc.clearance(bodies, pairs, motion=motion, backend="cpu")
    wrong, _ = off(bodies, pairs, found, motion)
    assert not len(wrong), (found.distance, found.lower_bound)


def test_critical_points_known_by_hand():
    """A corner that goes straight past a corner is nearest on the way, edges beside each other all along."""
    turn = np.tile(ONE, (2, 1))
    for p0, p1, least in (
        ([-3.0, 2.0, 2.0], [3.0, 2.0, 2.0], np.sqrt(2.0)),
        ([-2.0, 3.0, 2.0], [3.0, -2.0, 2.0], 1.0),  # past an edge, and then above the face
        ([2.0, -1.0, 3.0], [2.0, 1.0, 0.0], 1.0),
        ([3.0, 0.25, 0.0], [0.5, 0.25, 0.0], 0.0),
    ):
        bodies, pairs = scene(
            [BOX], [0, 0], np.array([[0.0, 0, 0], p0]), turn, np.array([[0.0, 0, 0], p1]), turn
        )
        assert clearance_of(Passage.of(bodies, 0, 1))[0] == pytest.approx(least, abs=2e-15)


@pytest.mark.parametrize("off_by", [1e-5, -1e-5, 1e-9, -1e-9])
def test_edges_level_past_each_other_at_all_but_the_distance(off_by, backend):
    """Edges that are parallel for a moment take more pieces than the cap of contact at a distance: the pair
    is UNRESOLVED, what was found is right, and clearance knows."""
    turn = np.array([[ONE, [np.cos(0.2), 0.0, 0.0, way * np.sin(0.2)]] for way in (-1, 1)])
    places = np.array([[0.0, 0, 0], [-2.0, 0.3, 1.59]])
    bodies, pairs = scene([BOX], [0, 0], places, turn[0], places * [-1, 1, 1], turn[1])
    passage = Passage.of(bodies, 0, 1)
    least, _ = clearance_of(passage)
    near = gc.clearance(bodies, pairs, backend=backend.kind)
    assert near.distance[0] == pytest.approx(least, abs=1e-13) and least == pytest.approx(0.59, abs=1e-13)
    found = gc.collide(bodies, pairs, target_distance=least + off_by, backend=backend.kind)
    assert found.status[0] == gc.Status.UNRESOLVED
    if off_by < 0:
        assert len(found) == 0
        return
    low, high = 0.0, 0.5
    while high - low > 1e-14:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if passage.distance(middle) <= least + off_by else (middle, high)
    assert found.toi[0] == pytest.approx(high, abs=1e-9)
