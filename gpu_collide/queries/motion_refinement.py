"""Pieces of motions, divided until they are proved free, collide, or are as short as they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.queries.clearance_arguments import Asked
from gpu_collide.queries.motion_pieces import NO_ROWS, TOLERANCE, Pieces, Rows, joined
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.queries.motion_pieces import Problem

__all__ = ["COARSE", "Answers", "halved", "of_pieces", "refine", "tell_places", "where_to_cut"]

#: Pieces that may stray by more than this share of the largest link are halved unlooked at: little would be
#: proved.
COARSE = 0.5


class Answers:
    """What is known of n motions."""

    def __init__(self, n: int) -> None:
        self.status = np.full(n, Status.MISS, np.uint8)
        self.free_fraction = np.ones(n)
        self.time = np.full(n, np.inf)
        self.link = np.full(n, -1, np.int32)
        self.other = np.full(n, -1, np.int32)
        self.other_is_link = np.zeros(n, bool)
        self.point = np.zeros((n, 3))
        self.pieces = np.zeros(n, np.int64)
        self.gap, self.gap_bound, self.gap_time = np.full(n, np.inf), np.zeros(n), np.full(n, np.inf)
        self.gap_link, self.gap_other = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        self.gap_other_is_link = np.zeros(n, bool)

    def refuse(self, motion: Array) -> None:
        """Of these motions nothing is known: they have poses that are none."""
        self.status[motion], self.free_fraction[motion] = Status.INVALID_INPUT, 0.0
        self.time[motion], self.link[motion], self.other[motion] = np.inf, -1, -1
        self.other_is_link[motion] = False

    def note(self, motion: Array, time: Array, rows: Rows, status: Status) -> None:
        """Of each motion the earliest of `rows` and its time; of several that with the lowest numbers."""
        order = np.lexsort((rows.other, rows.with_link, rows.link, time, motion))
        m = motion[order]
        order = order[np.flatnonzero(np.diff(m, prepend=-1))]
        order = order[time[order] < self.time[motion[order]]] if status == Status.HIT else order
        m = motion[order]
        self.status[m] = status
        self.link[m], self.other[m] = rows.link[order], rows.other[order]
        self.other_is_link[m] = rows.with_link[order]
        if status == Status.HIT:
            self.time[m] = time[order]
            self.status[m[time[order] == 0]] = Status.INITIAL_OVERLAP


def refine(problem: Problem, pieces: Pieces, found: Answers, first: bool) -> None:
    """Divide pieces until all of a motion are proved free, or what is left begins behind a pose that
    collides, or is as short as it may be. Without `first` a motion is left once a pose of it collides.

    Pairs that are proved apart on a piece are so on its parts, so only those without a proof are looked at
    again. `rows` are these; of pieces that nobody has looked at yet they are not known.
    """
    rows, known, left = NO_ROWS, np.zeros(len(pieces.motion), bool), []
    while len(pieces.motion):
        valid = (pieces.first.valid & pieces.last.valid).all(axis=1)
        if not valid.all():
            found.refuse(pieces.motion[~valid])
            some = found.status[pieces.motion] != Status.INVALID_INPUT
            pieces, rows, known = pieces.take(some), of_pieces(rows, some), known[some]
        off = problem.motions.bound(pieces)
        shortest = pieces.end - pieces.begin <= problem.shortest
        coarse = ~known & ~shortest & (off > COARSE * problem.radius.max()).any(axis=1)
        np.add.at(found.pieces, pieces.motion[~coarse], 1)
        new = np.flatnonzero(~known & ~coarse)
        near = problem.near(pieces.take(new), off[new], problem.margin)
        rows = joined([rows, near._replace(piece=new[near.piece])])
        rows, met, time = problem.not_proved(pieces, rows, off)
        at = rows.take(met)
        found.note(pieces.motion[at.piece], pieces.begin[at.piece], at, Status.HIT)
        at = rows.take((shortest & (pieces.end == 1.0))[rows.piece])  # no piece begins there
        at = at.take(problem.collide(pieces.last, at))
        found.note(pieces.motion[at.piece], pieces.end[at.piece], at, Status.HIT)
        open_ = coarse.copy()
        open_[rows.piece] = True
        hit = found.time[pieces.motion]
        ends = open_ & (shortest | (pieces.begin >= hit if first else np.isfinite(hit)))
        np.minimum.at(found.free_fraction, pieces.motion[ends], pieces.begin[ends])
        at = rows.take(ends[rows.piece])
        left.append((pieces.motion[at.piece], pieces.begin[at.piece], at))
        divided = open_ & ~ends
        if not divided.any():
            break
        cuts = where_to_cut(pieces, rows, time, problem.shortest)[divided]
        rows, known = halved(of_pieces(rows, divided)), np.repeat(~coarse[divided], 2)
        pieces = problem.divided(pieces.take(divided), cuts)
    np.minimum(found.free_fraction, found.time, out=found.free_fraction)
    motion, begin = (np.concatenate([one[k] for one in left]) for k in range(2))
    unknown = np.isinf(found.time[motion])
    rows = joined([one[2] for one in left]).take(unknown)
    found.note(motion[unknown], begin[unknown], rows, Status.UNRESOLVED)


def tell_places(problem: Problem, found: Answers) -> None:
    """Where what collides is nearest, or deepest, at the pose told: between the points of both bodies."""
    motion = np.flatnonzero(np.isfinite(found.time))
    if not len(motion):
        return
    rows = Rows(np.arange(len(motion)), found.link[motion], found.other[motion], found.other_is_link[motion])
    asked = Asked(TOLERANCE, np.inf, np.zeros(1))
    there = problem.motions.poses(motion, found.time[motion])
    fields, _ = problem.engine.clearance(*problem.at(there, there, rows), asked)
    told = fields["normal"].any(axis=1)
    middle = 0.5 * (fields["point_a"] + fields["point_b"])
    found.point[motion[told]] = middle[told]


def where_to_cut(pieces: Pieces, rows: Rows, time: Array, shortest: float) -> Array:
    """Where each piece is to be divided: where something may collide, but leaving a quarter on both sides; a
    multiple of the shortest length."""
    share = np.full(len(pieces.motion), np.inf)
    np.minimum.at(share, rows.piece, time)
    share = np.clip(np.where(share <= 1.0, share, 0.5), 0.25, 0.75)
    length = np.round((pieces.end - pieces.begin) / shortest)
    return np.asarray(pieces.begin + shortest * np.clip(np.round(share * length), 1, length - 1))


def of_pieces(rows: Rows, some: Array) -> Rows:
    """The rows of some pieces, (k,) bool, by what their numbers are then."""
    rows = rows.take(some[rows.piece])
    return rows._replace(piece=(np.cumsum(some) - 1)[rows.piece])


def halved(rows: Rows) -> Rows:
    """The rows of both parts of each piece."""
    return joined([rows._replace(piece=2 * rows.piece + k) for k in range(2)])
