"""A few of `tests.acceptance.arcs`, and that its judges notice what is wrong."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import arcs
from tests.oracle import arc_roots
from tests.oracle import arcs as judges
from tests.support.seeds import everyday


@pytest.mark.parametrize("seed", everyday(1, 2))
@pytest.mark.shared_bits("tests/narrow_phase/test_body_motion.py")
def test_cars_on_arcs_meet_when_judges_say_so(seed, backend):
    total, _ = arcs.run(1000, seed, backend.name)
    assert not arcs.wrong(total), total
    assert total["met"] - total["inside from the start"] > 400 and total["straight"] > 400


def given(seed=0, n=2000):
    ways, sizes = arcs.pairs_on_arcs(np.random.default_rng(seed), n, (40.0, 80.0))
    return ways, sizes, *arcs.asked(ways, sizes, "cpu")


def test_judges_notice_what_is_wrong():
    ways, sizes, status, toi = given()
    assert not arcs.wrong(arcs.judged(ways, sizes, status, toi))
    for wrong, name in ((gc.Status.MISS, "missed beside advancing"), (gc.Status.HIT, "invented")):
        row = np.flatnonzero(status == (gc.Status.HIT if wrong == gc.Status.MISS else gc.Status.MISS))[3]
        told = status.copy()
        told[row] = wrong
        assert arcs.judged(ways, sizes, told, toi)[name] == 1
    late = np.where(status == gc.Status.HIT, toi + 1e-6, toi)
    assert arcs.wrong(arcs.judged(ways, sizes, status, late))


def test_judges_agree_with_each_other_and_with_arithmetic():
    ways, sizes, *_ = given(1, 300)
    both = *ways, *sizes
    t = np.arange(1001) / 10_000
    every = np.array([judges.separation(*both, np.full(300, at)) < 0 for at in t]).any(axis=0)
    assert (judges.meets_at_samples(*both, 0.1) == every).all() and every.any() and not every.all()
    met = np.isfinite(judges.advanced(*both, 0.1))
    assert met[every].all()
    car = np.array([[4.0, 2.0]])
    one, other = np.array([[0.0, 0, 0, 10, 0]]), np.array([[9.0, 0.5, np.pi, 20, 0]])  # 5 m at 30 m/s
    first = judges.straight_meeting(one, other, car, car, 1.0)
    assert first[0] == pytest.approx(5 / 30, abs=1e-15)
    assert judges.advanced(one, other, car, car, 1.0)[0] == pytest.approx(5 / 30, abs=1e-9)
    beside = np.array([[9.0, 2.5, np.pi, 20, 0]])
    assert not np.isfinite(judges.straight_meeting(one, beside, car, car, 1.0)[0])


@pytest.mark.parametrize("seed", everyday(1, 2))
@pytest.mark.shared_bits("tests/narrow_phase/test_body_motion.py")
def test_turning_cars_meet_when_roots_of_polynomials_say_so(seed, backend):
    total, _ = arcs.run_roots(1000, seed, backend.name)
    assert not arcs.wrong(total), total
    assert total["clear at the start"] > 1500 and total["doubtful roots"] < 5


def test_roots_are_those_of_arithmetic():
    """A pole of 1 x 1 m whose near side is 3 m away, and a bar that turns in its place."""
    rate, sizes = np.array([2.0]), np.array([[[8.0, 1e-3]], [[1.0, 1.0]]])
    pole, bar = [3.5, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, np.pi / 2, 0.0, -2.0]
    for order, numbers in ((slice(None), (-1, 0)), (slice(None, None, -1), (0, -1))):
        ways = np.array([[bar], [pole]])[order]
        first, doubtful = arc_roots.first_touch(ways, sizes[order], numbers, rate, 1.0, 1e-9)
        # a face of the bar comes to the corner (3, 0.5): half its thickness off the line through its middle
        angle = np.pi / 2 - np.arctan2(0.5, 3.0) - np.arcsin(0.5e-3 / np.hypot(3.0, 0.5))
        assert first[0] == pytest.approx(angle / 2.0, abs=1e-12) and not doubtful[0]
    ways = np.array(
        [[[0.0, 0, 0, 2.0, 2.0]], [[0.0, 10.0, 0, -2.0, 2.0]]]
    )  # turn alike: neither turns in the other's axes
    square = np.full((2, 1, 2), 2.0)
    first, _ = arc_roots.first_touch(ways, square, (1, 1), rate, 1.0, 1e-9)
    assert np.isinf(first[0])
    t = np.arange(1001) / 1000
    both = [np.repeat(x, len(t), axis=0) for x in (*ways, *square)]
    assert judges.separation(*both, t).min() > 0


def test_the_judge_of_roots_notices_what_is_wrong():
    rng = np.random.default_rng(5)
    ways, sizes, rate = arcs.pairs_on_multiples(rng, 300, (15.0, 30.0), (1, 2))
    status, toi = arcs.asked(ways, sizes, "cpu")
    given = ways, sizes, (1, 2), rate
    assert not arcs.wrong(arcs.judged_by_roots(*given, status, toi))
    hit = status == gc.Status.HIT
    clear = hit & (judges.separation(*ways, *sizes, np.zeros(300)) > 0)
    for row, changed in (
        (np.flatnonzero(clear)[2], gc.Status.MISS),
        (np.flatnonzero(status == gc.Status.MISS)[2], gc.Status.HIT),
    ):
        told = status.copy()
        told[row] = changed
        assert arcs.wrong(arcs.judged_by_roots(*given, told, toi))
    assert arcs.wrong(arcs.judged_by_roots(*given, status, np.where(hit, toi + 1e-6, toi)))
