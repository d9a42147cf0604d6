"""Edges in joint space as motions to be proved free."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.bodies.poses import Poses
from gpu_collide.queries.motion_pieces import Motions, Relative
from gpu_collide.reference.robots.r01_frames import Frames

if TYPE_CHECKING:
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.queries.motion_pieces import Pieces, Rows
    from gpu_collide.reference.robots.r01_frames import Chain
    from gpu_collide.robots.curves import Curves

__all__ = ["Edges", "poses_of"]


class Edges(Motions):
    """Motions of the links of a chain along edges, on an engine."""

    def __init__(self, engine: Any, chain: Chain, curves: Curves) -> None:
        self._found = engine.chain_motions(chain, curves)
        self._carries = chain.carries

    def poses(self, motion: Array, time: Array) -> Poses:
        return poses_of(self._found.frames(motion, time))

    def bound(self, pieces: Pieces) -> Array:
        return np.asarray(self._found.deviations(*_asked(pieces)))

    def relative(self, pieces: Pieces, rows: Rows) -> Relative | None:
        """Pairs of links of which one carries the other: what moves both is not in how they move relative to
        each other."""
        other = np.where(rows.with_link, rows.other, rows.link)
        down, up = self._carries[rows.link, other], self._carries[other, rows.link]
        row = np.flatnonzero((down | up) & rows.with_link)
        if not len(row):
            return None
        of, link = (np.where(down, a, b)[row] for a, b in ((rows.link, other), (other, rows.link)))
        bound, ends = self._found.relative((rows.piece[row], of, link), *_asked(pieces))
        return Relative(
            row, of, link, bound, *(poses_of(Frames(*(part[:, k] for part in ends))) for k in (0, 1))
        )


def poses_of(frames: Frames) -> Poses:
    return Poses.from_quat_wxyz(frames.position, frames.quat)


def _asked(pieces: Pieces) -> tuple[Any, ...]:
    ends = (Frames(poses.position, poses.unit_wxyz) for poses in (pieces.first, pieces.last))
    return pieces.motion, pieces.begin, pieces.end, *ends
