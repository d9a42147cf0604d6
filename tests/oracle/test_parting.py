"""Paths that an axis parts are clear by the exact judge; nearly all that are clear are found, no others."""

from fractions import Fraction

import numpy as np
import pytest

from tests.oracle import passages, shapes
from tests.oracle.exact import Placed, Topology
from tests.oracle.exact_motion import Rotation, Translation, first
from tests.oracle.exact_nudge import in_by_at_most, overlap_at_most, stepped
from tests.oracle.exact_pose import penetrating, touching
from tests.oracle.parting import Paths, Pieces, convex_pieces, unsure
from tests.oracle.scenes_base import random_axis, random_quat
from tests.support.seeds import generator

NONE = np.array([1.0, 0, 0, 0])


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("kind", ["box", "star"])
def test_what_is_parted_is_clear(kind, turn):
    rng, n = generator(3, turn), 60
    mover = passages.box((0.6, 0.4, 0.3))
    still = passages.box() if kind == "box" else shapes.star(np.random.default_rng(1))
    position, quat = rng.uniform(-1.1, 1.1, (n, 3)), random_quat(rng, n)
    vector, angle = rng.normal(size=(n, 3)) * 0.7, rng.uniform(-2, 2, n)
    axis, origin = random_axis(rng, n), position + rng.normal(size=(n, 3)) * 0.4
    own = [(i, x) for i in range(n) for x in convex_pieces(mover)]
    own = Pieces([x for _, x in own], [i for i, _ in own])
    parts = convex_pieces(still)
    there = Pieces(parts, np.zeros(len(parts), int)).placed(np.zeros((1, 3)), NONE[None])
    paths = Paths(axis=axis, origin=origin, angle=angle) if turn else Paths(vector)
    left = set(unsure(own.placed(position, quat), there, paths, 16.0)[:, 0].tolist())
    one, two, clear = Topology(mover), Placed.at(Topology(still), np.zeros(3)), set()
    for i in range(n):
        a = Placed.at(one, position[i], quat[i])
        motion = Rotation(a, two, angle[i], axis[i], origin[i]) if turn else Translation(a, two, vector[i])
        # a box that begins inside of a star touches none of its triangles
        if not touching(a, two) and first(motion) is None:
            clear.add(i)
            assert kind == "star" or not penetrating(a, two)
    assert 10 < len(clear) < n - 8
    assert len(clear & left) <= 2  # measured: 0 or 1 of about 30
    assert not (set(range(n)) - clear) - left


def test_a_path_beside_a_face_by_little_more_than_rounding():
    box = passages.box()
    own, there = (Pieces(convex_pieces(box), [0]) for _ in range(2))
    there = there.placed(np.zeros((1, 3)), NONE[None])
    along = Paths(np.array([[0.5, 0.3, 0]]))
    for gap, count in ((2e-12, 0), (0.0, 1), (-1e-15, 1)):
        assert len(unsure(own.placed(np.array([[0.2, 0, 1 + gap]]), NONE[None]), there, along, 16.0)) == count


def test_how_deep_a_path_leads_in_is_known_exactly():
    """Edge on edge, the mover stands in the other by `deep` on both axes and goes past it."""
    box = Topology(passages.box())
    still = Placed.at(box, np.zeros(3))
    for deep, at_most, want in ((1e-16, 1e-14, True), (0.0, 1e-14, True), (1e-13, 1e-14, False)):
        corner = stepped(Placed.at(box, np.array([1.0, 1.0, 0])), [-deep, -deep, 0.0])
        assert in_by_at_most(Translation(corner, still, [0, -2.0, 0]), Fraction(1), at_most) is want
    into = Placed.at(box, np.array([1.0, 1.0, 0]))
    assert not in_by_at_most(Translation(into, still, [-0.01, -2.0, 0]), Fraction(1), 1e-14)
    assert in_by_at_most(Translation(into, still, [-0.01, -2.0, 0]), Fraction(1), 0.011)
    turned = Rotation(into, still, 1.0, [0, 0, 1.0], [1.5, 0.5, 0])
    assert not in_by_at_most(turned, Fraction(1), 1e-14)
    assert in_by_at_most(turned, Fraction(0), 1e-14)
    assert overlap_at_most(Placed.at(box, np.array([1 - 1e-15, 0, 0])), still, 1e-14)
    assert not overlap_at_most(Placed.at(box, np.array([1 - 1e-12, 0, 0])), still, 1e-14)
