"""The bound of how far links stray from screws: never below what dense sampling finds, and near it."""

import numpy as np
import pytest

from gpu_collide._options import Options
from gpu_collide.bodies.quaternion import conjugate, multiply, rotate
from gpu_collide.queries.engine import engine_on
from gpu_collide.reference.robots import ChainMotions
from gpu_collide.reference.robots.r01_frames import Frames
from gpu_collide.reference.robots.r02_deviations import deviations
from gpu_collide.robots.curves import Curves
from tests.oracle import plain_chain
from tests.robots.chains import Plain, random_edges


@pytest.mark.parametrize("prismatic, tree", [(0.0, False), (0.4, False), (0.2, True)])
@pytest.mark.parametrize("length, most", [(1.0, 12), (0.25, 4), (0.0625, 2)])
def test_straight_edges_stray_less_than_the_bound(prismatic, tree, length, most):
    """Nine in ten bounds are below `most` times the truth: 10, 2.9 and 1.5 measured for arms of 6 joints that
    turn and edges of 1, 1/4 and 1/16 rad (0116's sum of accelerations: 35 whatever the length)."""
    rng = np.random.default_rng(2)
    ratios = []
    for _ in range(4):
        plain = Plain(rng, 6, prismatic, tree)
        curves = Curves.between(*random_edges(rng, 100, 6, length))
        begin, end = np.zeros(100), np.ones(100)
        truth, bound = plain.strays(curves, begin, end), plain.bound(curves, begin, end)
        assert (truth <= bound).all()
        ratios.append((bound / np.maximum(truth, 1e-300))[truth > 1e-9])
    assert np.quantile(np.concatenate(ratios), 0.9) < most


@pytest.mark.parametrize("length", [2.0, 0.5, 0.1])
def test_cubics_stray_less_than_the_bound(length):
    """Cubics with any derivatives at their ends, on parts of them: what a spline is made of."""
    rng = np.random.default_rng(3)
    for _ in range(6):
        plain = Plain(rng, 5, 0.3, tree=True)
        curves = Curves.between(*random_edges(rng, 60, 5, length), *length * rng.normal(size=(2, 60, 5)))
        begin = rng.uniform(0, 0.7, 60)
        end = begin + rng.choice([0.3, 0.1, 0.01], 60)
        truth, bound = plain.strays(curves, begin, end), plain.bound(curves, begin, end)
        assert (truth <= bound).all()
        ratio = (bound / np.maximum(truth, 1e-300))[(truth > 1e-8) & ((end - begin) < 0.05)[:, None]]
        assert np.quantile(ratio, 0.9) < 2


def test_a_joint_alone_moves_links_on_screws():
    """One joint moves, by up to 2.9 rad or 3 lengths: the bound is rounding. Worst measured: 1.8e-13."""
    rng = np.random.default_rng(4)
    for prismatic in (0.0, 1.0):
        plain = Plain(rng, 6, prismatic)
        q0 = rng.uniform(-2, 2, (60, 6))
        q1 = q0.copy()
        q1[np.arange(60), np.arange(60) % 6] += rng.uniform(-2.9, 2.9, 60)
        curves = Curves.between(q0, q1)
        bound = plain.bound(curves, np.zeros(60), np.ones(60))
        assert (plain.strays(curves, np.zeros(60), np.ones(60)) <= bound).all() and bound.max() < 1e-12


def test_links_that_may_turn_half_a_turn_have_no_bound():
    """Screws turn by less than half a turn; a joint that makes a whole one ends where it began."""
    plain = Plain(np.random.default_rng(5), 1)
    curves = Curves.between(np.zeros((3, 1)), np.array([[2.9], [np.pi], [2 * np.pi]]))
    bound = plain.bound(curves, np.zeros(3), np.ones(3))
    assert np.isfinite(bound[:, 0]).tolist() == [True, False, False]
    assert np.isfinite(plain.bound(curves, np.zeros(3), np.full(3, 0.25))).all()


def test_a_planar_arm_by_hand():
    """Two bars of length 1 with parallel axes turn against each other: the second keeps its direction and
    moves on a circle, which strays from its chord by 1 - cos(1/4) in the middle of half a radian."""
    origins = plain_chain.matrix(np.tile(np.eye(3), (2, 1, 1)), np.array([[0.0, 0, 0], [1.0, 0, 0]]))
    plain = Plain(np.random.default_rng(0), 2)
    plain.axes, plain.origins, plain.prismatic = np.tile([0.0, 0, 1.0], (2, 1)), origins, np.zeros(2, bool)
    curves = Curves.between(np.zeros((1, 2)), np.array([[0.5, -0.5]]))
    truth = plain.strays(curves, np.zeros(1), np.ones(1))[0, 1]
    bound = plain.bound(curves, np.zeros(1), np.ones(1))[0, 1]
    assert abs(truth - (1 - np.cos(0.25))) < 1e-15 and truth < bound < 1.5 * truth


def test_ends_far_from_the_origin_keep_the_bound_above_rounding():
    """A base 1e4 lengths away: ends are rounded to 1e-12, and the bound says so."""
    plain = Plain(np.random.default_rng(6), 3)
    chain = plain.chain()
    object.__setattr__(chain, "base", (np.full(3, 1e4), np.array([1.0, 0, 0, 0])))
    curves = Curves.between(np.zeros((1, 3)), np.array([[0.0, 1.0, 0.0]]))
    ends = [chain.links(chain.joints(curves.at(np.array([0]), np.array([t])))) for t in (0.0, 1.0)]
    shifted = [Frames(one.position, one.quat) for one in ends]
    bound = deviations(chain, curves.rates(np.array([0]), np.zeros(1), np.ones(1)), *shifted)
    assert 1e-11 < bound.min() and bound.max() < 1e-8


def in_both(backend, plain, curves, begin, end):
    """A function of `ChainMotions`, of the kernels and of the reference, of pieces of all edges."""
    chain, which = plain.chain(), np.arange(len(begin))
    engine = engine_on(backend, Options.checked(motion="body"))
    known, kernels = ChainMotions(chain, curves), engine.chain_motions(chain, curves)
    ends = known.frames(which, begin), known.frames(which, end)
    pieces = which, begin, end, *ends
    return known, kernels, pieces


@pytest.mark.parametrize("prismatic, tree", [(0.0, False), (0.4, False), (0.2, True)])
def test_kernels_and_reference_agree(backend, prismatic, tree):
    """In the world, and of links as seen from those that carry them. Worst error measured: 3.6e-15
    (sums in another order); frames have the same bits."""
    rng = np.random.default_rng(8)
    plain = Plain(rng, 7, prismatic, tree)
    curves = Curves.between(*random_edges(rng, 60, 7, 0.7), *rng.normal(size=(2, 60, 7)))
    begin = rng.uniform(0, 0.5, 60)
    known, kernels, pieces = in_both(backend, plain, curves, begin, begin + rng.choice([0.5, 0.1, 0.01], 60))
    rows = np.array([(k, a, b) for k in range(60) for a, b in np.argwhere(plain.chain().carries)]).T
    seen, frames = kernels.relative(rows, *pieces)
    wanted, places = known.relative(rows, *pieces)
    for got, true in ((kernels.deviations(*pieces), known.deviations(*pieces)), (seen, wanted)):
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(true))
        np.testing.assert_allclose(got, true, rtol=2e-14, atol=2e-14)
    for got, true in zip(frames, places, strict=True):
        np.testing.assert_array_equal(got, true)


@pytest.mark.parametrize("length", [1.0, 0.2])
def test_links_seen_from_others_stray_less_than_the_bound(backend, length):
    """By plain matrices, at 17 poses of each piece. What moves both is not in it: where the common joints
    alone move, the bound is rounding."""
    rng = np.random.default_rng(9)
    plain = Plain(rng, 6, 0.3)
    q0, q1 = random_edges(rng, 80, 6, length)
    q1[:20, 2:] = q0[:20, 2:]  # these move by the first two joints alone
    curves, chain = Curves.between(q0, q1), plain.chain()
    _, kernels, pieces = in_both(backend, plain, curves, np.zeros(80), np.ones(80))
    for a, b in np.argwhere(chain.carries):
        rows = np.arange(80), np.full(80, a), np.full(80, b)
        bound = kernels.relative(rows, *pieces)[0]
        truth = plain.strays(curves, np.zeros(80), np.ones(80), of=a)[:, b]
        assert (truth <= bound).all()
        if a > 0:
            assert bound[:20].max() < 1e-12
    assert chain.carries.sum() > 5


def test_ends_in_a_frame_are_those_in_the_world(backend):
    rng = np.random.default_rng(10)
    plain = Plain(rng, 4)
    _, kernels, pieces = in_both(
        backend, plain, Curves.between(*random_edges(rng, 9, 4, 1.0)), np.zeros(9), np.ones(9)
    )
    ends = kernels.relative((np.arange(9), np.full(9, 1), np.full(9, 3)), *pieces)[1]
    for k, world in enumerate(pieces[3:]):
        back = conjugate(world.quat[:, 1])
        np.testing.assert_allclose(
            ends.position[:, k], rotate(back, world.position[:, 3] - world.position[:, 1]), atol=1e-14
        )
        np.testing.assert_allclose(ends.quat[:, k], multiply(back, world.quat[:, 3]), atol=1e-14)
