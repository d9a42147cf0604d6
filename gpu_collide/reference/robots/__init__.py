"""Motions of chains and trees of joints in NumPy float64: `ChainMotions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.quaternion import conjugate, multiply, rotate
from gpu_collide.reference.robots.r01_frames import Frames
from gpu_collide.reference.robots.r02_deviations import deviations, relative_to

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.reference.robots.r01_frames import Chain

__all__ = ["ChainMotions"]


class ChainMotions:
    """Edges in joint space of a chain; `gpu_collide.pipeline.robots` has the same verbs.

    Parameters
    ----------
    chain : Chain
    curves : Curves
    """

    def __init__(self, chain: Chain, curves: Any) -> None:
        self.chain, self.curves = chain, curves

    def frames(self, motion: Array, time: Array) -> Frames:
        """Frames (k, links) in the world, of edges at times."""
        return self.chain.links(self.chain.joints(self.curves.at(motion, time)))

    def deviations(self, motion: Array, begin: Array, end: Array, first: Frames, last: Frames) -> Array:
        """(k, links): how far links may be from the screws between their frames at both ends of pieces."""
        return deviations(self.chain, self.curves.rates(motion, begin, end), first, last)

    def relative(
        self,
        rows: tuple[Array, Array, Array],
        motion: Array,
        begin: Array,
        end: Array,
        first: Frames,
        last: Frames,
    ) -> tuple[Array, Frames]:
        """The same of rows, (r,) each: a piece, a link, and another that its joint carries, in the first
        one's frame; and frames (r, 2) of the second in it, at both ends."""
        piece, of, link = rows
        bound, ends = np.empty(len(piece)), (np.empty((len(piece), 2, 3)), np.empty((len(piece), 2, 4)))
        far = np.zeros(len(piece))
        for k, given in enumerate((first, last)):
            a, b = (Frames(given.position[piece, one], given.quat[piece, one]) for one in (of, link))
            back = conjugate(a.quat)
            ends[0][:, k], ends[1][:, k] = rotate(back, b.position - a.position), multiply(back, b.quat)
            far += np.linalg.norm(a.position, axis=1) + np.linalg.norm(b.position, axis=1)
        for one in np.unique(of):
            some = np.flatnonzero(of == one)
            chain, joints, links = relative_to(self.chain, one)
            rates = self.curves.rates(motion[piece[some]], begin[piece[some]], end[piece[some]])
            rates = type(rates)(*(part[:, joints] for part in rates))
            first, last = (
                Frames(*(np.repeat(part[some, k][:, None], len(links), 1) for part in ends)) for k in (0, 1)
            )
            found = deviations(chain, rates, first, last, far[some])
            bound[some] = found[np.arange(len(some)), np.searchsorted(links, link[some])]
        return bound, Frames(*ends)
