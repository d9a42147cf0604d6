"""How near free motions come to something: branch and bound over pieces of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_collide.queries.clearance_arguments import FINEST, Asked
from gpu_collide.queries.motion_pieces import NO_ROWS, ROUNDING, TOLERANCE, Pieces, Rows, joined
from gpu_collide.queries.motion_refinement import COARSE, Answers, halved, of_pieces, where_to_cut

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.queries.motion_pieces import Problem

__all__ = ["find_gaps"]

#: Gaps are proved to this share of the largest link.
SHARE = 1e-2


class Least:
    """Of n motions the least distance that is known to be reached, when, and by which pair; and a bound from
    below of all pieces that nobody looks at any more."""

    def __init__(self, n: int, limit: float) -> None:
        self.upper, self.lower = np.full(n, limit), np.full(n, limit)
        self.time = np.full(n, np.inf)
        self.row = Rows(np.full(n, -1), np.full(n, -1), np.full(n, -1), np.zeros(n, bool))

    def reach(self, motion: Array, upper: Array, time: Array, rows: Rows) -> None:
        """These pairs come at least so near, at these times."""
        order = np.lexsort((rows.other, rows.with_link, rows.link, time, upper, motion))
        order = order[np.flatnonzero(np.diff(motion[order], prepend=-1))]
        order = order[upper[order] < self.upper[motion[order]]]
        m = motion[order]
        self.upper[m], self.time[m] = upper[order], time[order]
        for known, new in zip(self.row, rows, strict=True):
            known[m] = new[order]


def find_gaps(problem: Problem, motion: Array, found: Answers, limit: float) -> None:
    """Least distances of motions that are free, up to `limit`.

    On a piece a pair is as near as on its screws, but for the deviation. Pieces of pairs that may come nearer
    than what is known to be reached, by more than the tolerance, are divided where they are nearest.
    """
    if not len(motion):
        return
    zeros, ones = np.zeros(len(motion)), np.ones(len(motion))
    ends = problem.motions.poses(motion, zeros), problem.motions.poses(motion, ones)
    pieces, known = Pieces(np.arange(len(motion)), zeros, ones, *ends), np.zeros(len(motion), bool)
    least, rows, share = Least(len(motion), limit), NO_ROWS, SHARE * float(problem.radius.max())
    while len(pieces.motion):
        asked = pieces._replace(motion=motion[pieces.motion])
        off = problem.motions.bound(asked)
        shortest = pieces.end - pieces.begin <= problem.shortest
        coarse = ~known & ~shortest & (off > COARSE * problem.radius.max()).any(axis=1)
        new = np.flatnonzero(~known & ~coarse)
        near = problem.near(pieces.take(new), off[new], float(least.upper[pieces.motion[new]].max(initial=0)))
        rows = joined([rows, near._replace(piece=new[near.piece])])
        bound, time = _bounds(problem, asked, rows, off, pieces.motion, least, share)
        upper = least.upper[pieces.motion[rows.piece]]
        open_ = (bound < upper - share) & ~shortest[rows.piece]
        np.minimum.at(least.lower, pieces.motion[rows.piece[~open_]], bound[~open_])
        rows, time = rows.take(open_), time[open_]
        divided = coarse.copy()
        divided[rows.piece] = True
        if not divided.any():
            break
        cuts = where_to_cut(pieces, rows, time, problem.shortest)[divided]
        rows, known = halved(of_pieces(rows, divided)), np.repeat(~coarse[divided], 2)
        asked = problem.divided(asked.take(divided), cuts)
        pieces = asked._replace(motion=np.repeat(pieces.motion[divided], 2))
    _tell(problem, motion, found, least)


def _bounds(
    problem: Problem, pieces: Pieces, rows: Rows, off: Array, motion: Array, least: Least, share: float
) -> tuple[Array, Array]:
    """Bounds below the distances of pairs on their pieces, and when they are nearest; `least` is kept up.
    First of that pair of each motion that seems the nearest; of the others only whether they come nearer."""
    bound, time = np.full(len(rows.piece), -np.inf), np.full(len(rows.piece), np.inf)
    if not len(rows.piece):
        return bound, time
    bodies, pairs, both = problem.of_pieces(pieces, rows, off)
    radius = np.array([mesh.radius for mesh in bodies.meshes])
    tolerance = min(max(share / (8 * radius.max()), FINEST), TOLERANCE) if radius.max() > 0 else FINEST
    a, b, of = pairs[:, 0], pairs[:, 1], motion[rows.piece]
    at = bodies.start.position, bodies.end.position
    apart = [((position[a] - position[b]) ** 2).sum(axis=1) for position in at]
    seems = np.sqrt(np.minimum(*apart)) - radius[bodies.shape[a]] - radius[bodies.shape[b]]
    order = np.lexsort((seems, of))
    first = np.zeros(len(of), bool)
    first[order[np.flatnonzero(np.diff(of[order], prepend=-1))]] = True
    exact = first | (both <= 0.5 * share) | (pieces.end - pieces.begin <= problem.shortest)[rows.piece]
    for some in (np.flatnonzero(first), np.flatnonzero(~first)):
        upper = least.upper[of[some]] + both[some]
        most = upper * (1 + ROUNDING) + 2 * tolerance * radius.max()
        # what comes nearer than this is looked at again, whatever its distance
        enough = np.where(exact[some] | (upper <= share), -1.0, upper - share)
        asked = Asked(tolerance, most, None, enough=enough)
        fields, _ = problem.engine.clearance(bodies, pairs[some], asked)
        told = np.isfinite(both[some])
        bound[some[told]] = fields["lower_bound"][told] - both[some[told]]
        begin, end = (part[rows.piece[some]] for part in (pieces.begin, pieces.end))
        time[some], upper = fields["time"], fields["distance"] + both[some]
        seen = np.flatnonzero(np.isfinite(upper))
        when = (begin + fields["time"] * (end - begin))[seen]
        least.reach(of[some[seen]], upper[seen], when, rows.take(some[seen]))
    return bound, time


def _tell(problem: Problem, motion: Array, found: Answers, least: Least) -> None:
    """The distances at the poses at which they are least."""
    some, distance = np.flatnonzero(np.isfinite(least.time)), np.full(len(motion), np.inf)
    if len(some):
        rows = least.row.take(some)._replace(piece=np.arange(len(some)))
        there = problem.motions.poses(motion[some], least.time[some])
        fields, _ = problem.engine.clearance(
            *problem.at(there, there, rows), Asked(FINEST, np.inf, np.zeros(1))
        )
        distance[some] = np.maximum(fields["distance"], 0.0)
    found.gap[motion], found.gap_time[motion] = distance, least.time
    found.gap_bound[motion] = np.clip(least.lower, 0.0, distance)
    found.gap_link[motion], found.gap_other[motion] = least.row.link, least.row.other
    found.gap_other_is_link[motion] = least.row.with_link
