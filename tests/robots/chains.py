"""Chains and trees of random joints, as plain matrices and as the library's."""

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.reference.robots.r01_frames import Chain
from gpu_collide.reference.robots.r02_deviations import deviations
from tests.oracle import plain_chain

__all__ = ["Plain", "random_edges"]

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

    def strays(self, curves, begin, end, samples=17, of=None):
        """(k, n): the farthest that a corner of a link is found from the screw, in the world or as seen from
        the link `of`."""

        which = np.arange(len(begin))

        def at(time):
            poses = self.at(curves.at(which, time))
            return poses if of is None else np.linalg.inv(poses[:, of])[:, None] @ poses

        first, last = at(begin), at(end)
        corners = np.concatenate([CORNERS, np.ones((8, 1))], axis=1).T
        worst = 0.0
        for share in np.linspace(0, 1, samples):
            true = at(begin + share * (end - begin))
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
