"""Pieces of motions that are known within a bound: what is proved of each, and which are halved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._validate import as_float_array
from gpu_collide.bodies.bodies import Bodies, on_screws
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import conjugate, multiply
from gpu_collide.bodies.rules import EVERYWHERE, check_rules
from gpu_collide.geometry.arrays.angles import angle_of
from gpu_collide.queries.clearance_arguments import FINEST, Asked
from gpu_collide.queries.pairs import gathered, open_search
from gpu_collide.results.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpu_collide._types import Array, ArrayLike
    from gpu_collide.geometry.mesh.mesh import Mesh

    PosesAt = Callable[[Array, Array], Poses]
    Deviation = Callable[[Array, Array, Array], ArrayLike]
    Bound = Callable[["Pieces"], Array]

__all__ = [
    "NO_ROWS",
    "ROUNDING",
    "TOLERANCE",
    "Motions",
    "Pieces",
    "Problem",
    "Rows",
    "bound_by_acceleration",
    "bound_by_function",
    "joined",
]

LINKS, OBSTACLES = 1, 2  # groups of bodies
#: Share of the smallest link to which least distances would be found if there were one piece alone.
TOLERANCE = 1e-2
#: Deviations are sums and products of few numbers, rounded by less than this share.
ROUNDING = 1e-12


class Pieces(NamedTuple):
    """Parts of motions.

    Attributes
    ----------
    motion : (k,) int64
    begin, end : (k,) float64
    first, last : Poses of shape (k, links)
        At the beginning and at the end.
    """

    motion: Array
    begin: Array
    end: Array
    first: Poses
    last: Poses

    def take(self, rows: Array) -> Pieces:
        return Pieces(self.motion[rows], self.begin[rows], self.end[rows], self.first[rows], self.last[rows])


class Rows(NamedTuple):
    """Pairs of bodies in a piece.

    Attributes
    ----------
    piece : (r,) int64
        Row of the `Pieces`.
    link, other : (r,) int64
        Number of the link, and of the obstacle or of the other link.
    with_link : (r,) bool
        `other` is a link.
    """

    piece: Array
    link: Array
    other: Array
    with_link: Array

    def take(self, rows: Array) -> Rows:
        return Rows(*(field[rows] for field in self))


NO_ROWS = Rows(np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), np.zeros(0, bool))


class Open(NamedTuple):
    """Pairs without a proof.

    Attributes
    ----------
    rows : Rows
    met : (r,) bool
        They are within the margin at the beginning of their piece.
    time : (r,) float64
        A share of the piece at which they may be.
    """

    rows: Rows
    met: Array
    time: Array


class Motions:
    """What is known of motions: poses of the links, (k, links), at times, and of pieces how far points of the
    links may be from the screws between both poses, (k, links)."""

    def __init__(self, poses_at: PosesAt, bound: Bound, links: int) -> None:
        self._poses_at, self.bound, self._links = poses_at, bound, links

    def poses(self, motion: Array, time: Array) -> Poses:
        got = self._poses_at(motion, time)
        wanted = (len(motion), self._links)
        if not isinstance(got, Poses) or got.shape != wanted:
            what = f"Poses of shape {got.shape}" if isinstance(got, Poses) else type(got).__name__
            raise ValueError(
                f"poses_at: expected to return Poses of shape (times, links) = {wanted}, got {what}; it is "
                "called with arrays of motion numbers and of times, an entry for each"
            )
        return got

    def relative(self, pieces: Pieces, rows: Rows) -> Relative | None:
        """Pairs of links of which more is known than of both alone."""
        return None


class Relative(NamedTuple):
    """How links move as seen from others.

    Attributes
    ----------
    row : (r,) int64
        Number of the row.
    of, link : (r,) int64
        The link that rests, and that which moves.
    bound : (r,) float64
        How far points of the second may be from its screw in the frame of the first.
    first, last : Poses of shape (r,)
        Of the second in the frame of the first, at the beginning and at the end of the piece.
    """

    row: Array
    of: Array
    link: Array
    bound: Array
    first: Poses
    last: Poses

    def take(self, some: Array) -> Relative:
        ends = self.first[some], self.last[some]
        return Relative(self.row[some], self.of[some], self.link[some], self.bound[some], *ends)


@dataclass(frozen=True)
class Problem:
    """What stays the same while pieces are halved; see `check_motions`. `shortest` is the length of pieces
    that are not divided."""

    meshes: tuple[Mesh, ...]
    shape: Array
    motions: Motions
    obstacles: Bodies | None
    link_pairs: Array
    margin: float
    engine: Any
    shortest: float

    @property
    def share(self) -> float:
        """To this length least distances are found: as a deviation falls, from a hundredth of the smallest
        link. Coarser ones need more pieces, and are no faster."""
        return float(TOLERANCE * self.shortest**2 * self.radius.min())

    @property
    def radius(self) -> Array:
        """(links,): bounding radii."""
        return np.array([mesh.radius for mesh in self.meshes])[self.shape]

    def near(self, pieces: Pieces, off: Array, reach: float) -> Rows:
        """Pairs that may come within the deviations `off`, (k, links), and a length, perhaps inf."""
        (k, n), among = off.shape, len(self.link_pairs) > 0
        if not k:
            return NO_ROWS
        bodies = self._bodies(pieces.first, pieces.last)
        if self.obstacles is not None:
            bodies = Bodies.concatenate([bodies, self.obstacles])
        many = [k * n, len(bodies) - k * n]
        grown = np.full(len(bodies), reach)
        grown[: k * n] += 2 * off.reshape(-1)
        grown = grown * (1 + ROUNDING) + self.share
        if not np.isfinite(grown).all():
            a, b = np.divmod(np.arange(k * n * (n + many[1])), n + many[1])
            b += np.where(b < n, a - a % n, (k - 1) * n)
        else:
            world = np.repeat([0, EVERYWHERE], many)
            world[: k * n] = np.repeat(np.arange(k), n)
            group = np.repeat([LINKS, OBSTACLES], many)
            mask = np.repeat([OBSTACLES + LINKS * among, LINKS], many)
            rules = check_rules(len(bodies), world, group, mask, None, True)
            a, b = gathered(open_search(self.engine, bodies, rules, margin=grown)).T
        links = b < k * n
        return joined(
            [self._of_link_pairs(a[links], b[links]), _rows(a[~links], b[~links] - k * n, False, n)]
        )

    def _of_link_pairs(self, a: Array, b: Array) -> Rows:
        """Those of some pairs of links of one piece that are looked at, each as it was given."""
        n = len(self.shape)
        given = np.zeros((n, n), bool)
        given[tuple(self.link_pairs.T)] = True
        a, b = np.concatenate([a, b]), np.concatenate([b, a])
        told = (a != b) & given[a % n, b % n]
        return _rows(a[told], b[told] % n, True, n)

    def of_pieces(self, pieces: Pieces, rows: Rows, off: Array) -> tuple[Bodies, Array, Array]:
        """Bodies on the screws of their pieces, the pairs of the rows, and how far the two of each may be
        from their screws together, by `off`, (k, links): in the world, or one as seen from the other."""
        bodies, pairs = self.at(pieces.first, pieces.last, rows)
        other = off[rows.piece, np.where(rows.with_link, rows.other, 0)]
        both = np.asarray(off[rows.piece, rows.link] + np.where(rows.with_link, other, 0.0))
        seen = self.motions.relative(pieces, rows)
        if seen is not None:
            seen = seen.take(seen.bound < both[seen.row])
            n, still = len(self.shape), Poses.identity(len(self.shape))
            pairs[seen.row] = np.stack([seen.of, n + np.arange(len(seen.row))], axis=1) + len(bodies)
            both[seen.row] = seen.bound
            ends = (Poses.concatenate([still, one]) for one in (seen.first, seen.last))
            more = Bodies(self.meshes, np.concatenate([self.shape, self.shape[seen.link]]), *ends)
            bodies = Bodies.concatenate([bodies, more])
        return bodies, pairs, both

    def not_proved(self, pieces: Pieces, rows: Rows, off: Array) -> Open:
        """Those of the rows that are not proved to stay farther apart than `off`, (k, links), and the
        margin."""
        if not len(rows.piece):
            return Open(rows, np.zeros(0, bool), np.zeros(0))
        bodies, pairs, both = self.of_pieces(pieces, rows, off)
        need = (both + self.margin) * (1 + ROUNDING)
        largest = max(mesh.radius for mesh in bodies.meshes)
        tolerance = min(max(self.share / (2 * largest), FINEST), TOLERANCE) if largest > 0 else FINEST
        # what is farther apart is proved to be so up to the tolerance; what is nearer than it may be, is open
        asked = Asked(tolerance, need + 2 * tolerance * largest, None, enough=need)
        fields, _ = self.engine.clearance(bodies, pairs, asked)
        open_ = np.flatnonzero(~(fields["lower_bound"] > need))
        rows, status, time = rows.take(open_), fields["status"][open_], fields["time"][open_]
        met = (status == Status.INITIAL_OVERLAP) | ((status == Status.HIT) & (time == 0.0))
        # of what is near later on it is known that nothing is at the beginning
        unknown = np.flatnonzero(~met & ~((time > 0.0) & (time <= 1.0)))
        met[unknown] = self.collide(pieces.first, rows.take(unknown))
        return Open(rows, met, time)

    def _bodies(self, first: Poses, last: Poses) -> Bodies:
        bodies = Bodies(self.meshes, np.tile(self.shape, len(first)), first.flat(), last.flat())
        return on_screws(bodies)  # which the deviations are from

    def at(self, first: Poses, last: Poses, rows: Rows) -> tuple[Bodies, Array]:
        """Bodies at the poses, (k, links), of their piece, and the pairs of the rows."""
        n, bodies = len(self.shape), self._bodies(first, last)
        other = rows.piece * n + rows.other
        if self.obstacles is not None:
            other = np.where(rows.with_link, other, len(bodies) + rows.other)
            bodies = Bodies.concatenate([bodies, self.obstacles])
        return bodies, np.stack([rows.piece * n + rows.link, other], axis=1).astype(np.int32)

    def collide(self, poses: Poses, rows: Rows) -> Array:
        """(r,) bool: are both bodies within the margin at the poses, (k, links), of their piece?"""
        if not len(rows.piece):
            return np.zeros(0, bool)
        of, piece = np.unique(rows.piece, return_inverse=True)
        poses, rows = poses[of], rows._replace(piece=piece.reshape(-1))
        # what touches at the margin is told as well
        beyond = self.margin * (1 + TOLERANCE) + TOLERANCE * self.radius.min()
        asked = Asked(FINEST, beyond, np.zeros(1), enough=self.margin)
        fields, _ = self.engine.clearance(*self.at(poses, poses, rows), asked)
        met = (fields["status"] == Status.HIT) | (fields["status"] == Status.INITIAL_OVERLAP)
        return np.asarray(met | (fields["distance"] <= self.margin))

    def divided(self, pieces: Pieces, at: Array) -> Pieces:
        """Both parts of each piece, before and behind a time, one after the other."""
        there = self.motions.poses(pieces.motion, at)
        turns = np.arange(2 * len(at)).reshape(2, -1).T.reshape(-1)  # 0, k, 1, k + 1, ...
        return Pieces(
            np.repeat(pieces.motion, 2),
            np.stack([pieces.begin, at], axis=1).reshape(-1),
            np.stack([at, pieces.end], axis=1).reshape(-1),
            Poses.concatenate([pieces.first, there])[turns],
            Poses.concatenate([there, pieces.last])[turns],
        )


def _rows(link: Array, other: Array, links: bool, n: int) -> Rows:
    """Rows of bodies that are links, n a piece, and others."""
    return Rows(link // n, link % n, other, np.full(len(link), links))


def joined(parts: list[Rows]) -> Rows:
    return Rows(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def bound_by_acceleration(acceleration: Array, links: Bodies) -> Bound:
    """By how much points of the links are accelerated, (motions, links), and points on the screw."""
    far = np.array([float((mesh.vertices**2).sum(axis=1).max(initial=0.0)) for mesh in links.meshes])
    reach = np.sqrt(far)[links.shape]  # of a link's points from its origin

    def bound(pieces: Pieces) -> Array:
        step = (pieces.end - pieces.begin)[:, None]
        true = acceleration[pieces.motion] * step * step
        return np.asarray((true + _screw_acceleration(pieces, reach)) / 8 * (1 + ROUNDING))

    return bound


def bound_by_function(deviation: Deviation, links: int) -> Bound:
    """By a function of the caller."""

    def bound(pieces: Pieces) -> Array:
        wanted = (len(pieces.motion), links)
        given = as_float_array(deviation(pieces.motion, pieces.begin, pieces.end), "deviation")
        if given.shape not in (wanted, wanted[:1]):
            raise ValueError(
                f"deviation: expected to return lengths of shape (times, links) = {wanted} or (times,), got "
                f"shape {given.shape}"
            )
        if not (given >= 0).all():
            raise ValueError(
                f"deviation: expected to return lengths from 0 up, got {given[~(given >= 0)][0]}"
            )
        return np.broadcast_to(given if given.shape == wanted else given[:, None], wanted)

    return bound


def _screw_acceleration(pieces: Pieces, reach: Array) -> Array:
    """(k, links): a bound of the acceleration of points on the screw between both poses, times the square of
    the piece's length: the square of the turn times the distance from the axis. The axis is no farther from
    the link's origin than ``chord / (2 sin(turn / 2))``, and the link's points no farther than `reach`."""
    turned = multiply(pieces.last.unit_wxyz, conjugate(pieces.first.unit_wxyz))
    sine = np.sqrt((turned[..., 1:] ** 2).sum(axis=-1))
    half = angle_of(sine, np.abs(turned[..., 0]))
    chord = np.sqrt(((pieces.last.position - pieces.first.position) ** 2).sum(axis=-1))
    # half / sine lies between 1 and pi / 2; it is 1 where nothing turns
    stretch = np.where(sine > 0, half / np.where(sine > 0, sine, 1.0), 1.0)
    return 2 * half * chord * stretch + 4 * half * half * reach
