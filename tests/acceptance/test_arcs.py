"""A few of `tests.acceptance.arcs`, and that its judges notice what is wrong."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance import arcs
from tests.oracle import arcs as judges


@pytest.mark.parametrize("seed", range(2))
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
