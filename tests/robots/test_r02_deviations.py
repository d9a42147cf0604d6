"""The bound of how far links stray from screws: never below what dense sampling finds, and near it."""

import numpy as np
import pytest

from gpu_collide.bodies.poses import Poses
from gpu_collide.reference.robots.r01_frames import Chain, Frames
from gpu_collide.robots.curves import Curves
from gpu_collide.reference.robots.r02_deviations import deviations
from tests.oracle import plain_chain

LOW, HIGH = np.array([-0.06, -0.06, -0.06]), np.array([0.06, 0.06, 0.26])
CORNERS = np.array([np.where([x, y, z], LOW, HIGH) for x in (0, 1) for y in (0, 1) for z in (0, 1)])


class Plain:
    """A chain or tree of random joints, as plain matrices and as the library's; links are joints' frames."""

    def __init__(self, rng, n, prismatic=0.0, tree=False):
        self.parents = np.array([rng.integers(-1, j) if tree and j else j - 1 for j in range(n)])
        self.axes = rng.normal(size=(n, 3))
        self.axes /= np.linalg.norm(self.axes, axis=1, keepdims=True)
        turns = np.stack([plain_chain.turned(a, [2.0])[0] for a in self.axes[::-1]])
        self.origins = plain_chain.matrix(turns, rng.uniform(-0.3, 0.3, (n, 3)))
        self.prismatic = rng.random(n) < prismatic

    def chain(self, low=LOW, high=HIGH):
        n, at = len(self.parents), Poses.from_matrix(self.origins)
        same = np.tile([1.0, 0, 0, 0], (n, 1))
        return Chain(
            self.parents, at.position, at.unit_wxyz, self.axes, self.prismatic, np.arange(n),
            np.zeros((n, 3)), same, np.tile(low, (n, 1)), np.tile(high, (n, 1)),
            (np.zeros(3), np.array([1.0, 0, 0, 0])),
        )  # fmt: skip

    def at(self, q):
        return plain_chain.poses(self.parents, self.origins, self.axes, self.prismatic, q)

    def strays(self, curves, begin, end, samples=17):
        """(k, n): the farthest that a corner of a link is found from the screw."""
        which = np.arange(len(begin))
        first, last = self.at(curves.at(which, begin)), self.at(curves.at(which, end))
        corners = np.concatenate([CORNERS, np.ones((8, 1))], axis=1).T
        worst = 0.0
        for share in np.linspace(0, 1, samples):
            true = self.at(curves.at(which, begin + share * (end - begin)))
            screw = plain_chain.screw(first, last, share)
            worst = np.maximum(worst, np.linalg.norm((true - screw) @ corners, axis=-2).max(axis=-1))
        return worst

    def bound(self, curves, begin, end):
        which, chain = np.arange(len(begin)), self.chain()
        ends = [chain.links(chain.joints(curves.at(which, t))) for t in (begin, end)]
        return deviations(chain, curves.rates(which, begin, end), *ends)


def random_edges(rng, k, n, length):
    way = rng.normal(size=(k, n))
    q0 = rng.uniform(-2, 2, (k, n))
    return q0, q0 + length * way / np.linalg.norm(way, axis=1, keepdims=True)


@pytest.mark.parametrize("prismatic, tree", [(0.0, False), (0.4, False), (0.2, True)])
def test_frames_are_those_of_plain_matrices(prismatic, tree):
    """Worst error measured: 1.0e-15."""
    rng = np.random.default_rng(1)
    plain = Plain(rng, 7, prismatic, tree)
    q = rng.uniform(-7, 7, (50, 7))
    frames = plain.chain().joints(q)
    got = Poses.from_quat_wxyz(frames.position, frames.quat).to_matrix()
    assert np.abs(got - plain.at(q)).max() < 1e-14 * (1 + np.abs(q).max())


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
