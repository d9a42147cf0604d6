"""Pieces of motions that are known within a bound: what is proved of each, and which are halved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide._validate import as_float_array
from gpu_collide.bodies.bodies import Bodies
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

__all__ = ["Answers", "Pieces", "Problem", "bound_by_acceleration", "bound_by_function", "refine"]

LINKS, OBSTACLES = 1, 2  # groups of bodies
#: Least distances are found to this share of the smallest link; to a quarter of it on each next level.
TOLERANCE = 1e-2
#: Pieces that may stray by more than this share of a link are halved unlooked at: little would be proved.
COARSE = 0.5
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


@dataclass(frozen=True)
class Problem:
    """What stays the same while pieces are halved; see `check_motions`.

    `bound` tells of pieces how far points of the links may be from the screws between both poses, (k, links).
    """

    meshes: tuple[Mesh, ...]
    shape: Array
    poses_at: PosesAt
    bound: Bound
    obstacles: Bodies | None
    link_pairs: Array
    margin: float
    engine: Any

    @property
    def radius(self) -> Array:
        """(links,): bounding radii."""
        return np.array([mesh.radius for mesh in self.meshes])[self.shape]

    def poses(self, motion: Array, time: Array) -> Poses:
        """Poses of all links, (k, links), as the caller's function has them."""
        got = self.poses_at(motion, time)
        wanted = (len(motion), len(self.shape))
        if not isinstance(got, Poses) or got.shape != wanted:
            what = f"Poses of shape {got.shape}" if isinstance(got, Poses) else type(got).__name__
            raise ValueError(
                f"poses_at: expected to return Poses of shape (times, links) = {wanted}, got {what}; it is "
                "called with arrays of motion numbers and of times, an entry for each"
            )
        return got

    def not_proved(self, pieces: Pieces, off: Array, level: int) -> Rows:
        """Pairs whose distance is not proved to exceed the deviations `off`, (k, links), and the margin."""
        (k, n), parts = off.shape, []
        moving = self._bodies(pieces.first, pieces.last)
        share = TOLERANCE / 4**level * self.radius.min()
        if self.obstacles is not None and k:
            bodies, many = Bodies.concatenate([moving, self.obstacles]), [k * n, len(self.obstacles)]
            group = np.repeat([LINKS, OBSTACLES], many)
            world = np.concatenate([np.repeat(np.arange(k), n), np.full(many[1], EVERYWHERE)])
            rules = check_rules(len(bodies), world, group, LINKS + OBSTACLES - group, None, True)
            near = (self.margin + off.max()) * (1 + ROUNDING) + share
            pairs = gathered(open_search(self.engine, bodies, rules, margin=near))
            link, other = pairs.T
            open_ = self._open(bodies, pairs, off.reshape(-1)[link], share)
            parts.append(_rows(link[open_], other[open_] - k * n, False, n))
        if len(self.link_pairs) and k:
            pairs = (np.arange(k)[:, None, None] * n + self.link_pairs).reshape(-1, 2)
            both = off[:, self.link_pairs].sum(axis=-1).reshape(-1)
            open_ = self._open(moving, pairs, both, share)
            parts.append(_rows(pairs[open_, 0], pairs[open_, 1] % n, True, n))
        parts.append(_rows(np.zeros(0, int), np.zeros(0, int), True, n))
        return Rows(*(np.concatenate(field) for field in zip(*parts, strict=True)))

    def _open(self, bodies: Bodies, pairs: Array, off: Array, share: float) -> Array:
        """Numbers of the pairs that are not proved to stay farther apart than `off`, (p,), and the margin."""
        need = (off + self.margin) * (1 + ROUNDING)
        largest = max(mesh.radius for mesh in bodies.meshes)
        tolerance = min(max(share / (2 * largest), FINEST), TOLERANCE) if largest > 0 else FINEST
        # what is farther apart is proved to be so up to the tolerance; what is nearer than it may be, is open
        asked = Asked(tolerance, need + 2 * tolerance * largest, None, enough=need)
        fields, _ = self.engine.clearance(bodies, pairs, asked)
        return np.flatnonzero(~(fields["lower_bound"] > need))

    def _bodies(self, first: Poses, last: Poses) -> Bodies:
        return Bodies(self.meshes, np.tile(self.shape, len(first)), first.flat(), last.flat())

    def _at(self, poses: Poses, rows: Rows) -> tuple[Bodies, Array]:
        """Bodies at the poses, (k, links), of their piece, and the pairs of the rows."""
        n, bodies = len(self.shape), self._bodies(poses, poses)
        other = rows.piece * n + rows.other
        if self.obstacles is not None:
            other = np.where(rows.with_link, other, len(bodies) + rows.other)
            bodies = Bodies.concatenate([bodies, self.obstacles])
        return bodies, np.stack([rows.piece * n + rows.link, other], axis=1).astype(np.int32)

    def collide(self, poses: Poses, rows: Rows) -> Array:
        """(r,) bool: are both bodies within the margin at the poses, (k, links), of their piece?"""
        # what touches at the margin is told as well
        beyond = self.margin * (1 + TOLERANCE) + TOLERANCE * self.radius.min()
        asked = Asked(FINEST, beyond, np.zeros(1), enough=self.margin)
        fields, _ = self.engine.clearance(*self._at(poses, rows), asked)
        met = (fields["status"] == Status.HIT) | (fields["status"] == Status.INITIAL_OVERLAP)
        return met | (fields["distance"] <= self.margin)

    def places(self, found: Answers) -> None:
        """Where what collides is nearest, or deepest, at the pose told: between the points of both bodies."""
        motion = np.flatnonzero(np.isfinite(found.time))
        if not len(motion):
            return
        rows = Rows(
            np.arange(len(motion)), found.link[motion], found.other[motion], found.other_is_link[motion]
        )
        asked = Asked(TOLERANCE, np.inf, np.zeros(1))
        fields, _ = self.engine.clearance(*self._at(self.poses(motion, found.time[motion]), rows), asked)
        told = fields["normal"].any(axis=1)
        middle = 0.5 * (fields["point_a"] + fields["point_b"])
        found.point[motion[told]] = middle[told]

    def halves(self, pieces: Pieces) -> Pieces:
        """Both halves of each piece, one after the other."""
        middle = 0.5 * (pieces.begin + pieces.end)
        there = self.poses(pieces.motion, middle)
        turns = np.arange(2 * len(middle)).reshape(2, -1).T.reshape(-1)  # 0, k, 1, k + 1, ...
        return Pieces(
            np.repeat(pieces.motion, 2),
            np.stack([pieces.begin, middle], axis=1).reshape(-1),
            np.stack([middle, pieces.end], axis=1).reshape(-1),
            Poses.concatenate([pieces.first, there])[turns],
            Poses.concatenate([there, pieces.last])[turns],
        )


def _rows(link: Array, other: Array, links: bool, n: int) -> Rows:
    """Rows of bodies that are links, n a piece, and others."""
    return Rows(link // n, link % n, other, np.full(len(link), links))


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


def refine(problem: Problem, pieces: Pieces, found: Answers, deepest: int) -> None:
    """Halve pieces until all of a motion are proved free, or what is left begins behind a pose that collides,
    or is as short as it may be."""
    for level in range(deepest + 1):
        pieces = _with_poses(pieces, found)
        off = problem.bound(pieces)
        coarse = (off > COARSE * problem.radius).any(axis=1) & (level < deepest)
        looked = np.flatnonzero(~coarse)
        rows = problem.not_proved(pieces.take(looked), off[looked], level)
        rows = rows._replace(piece=looked[rows.piece])
        np.add.at(found.pieces, pieces.motion[looked], 1)
        ends = [(pieces.first, pieces.begin)] + ([(pieces.last, pieces.end)] if level == 0 else [])
        for poses, time in ends if len(rows.piece) else ():
            met = rows.take(np.flatnonzero(problem.collide(poses, rows)))
            found.note(pieces.motion[met.piece], time[met.piece], met, Status.HIT)
        open_ = coarse.copy()
        open_[rows.piece] = True
        open_ &= pieces.begin < found.time[pieces.motion]
        if level == deepest or not open_.any():
            break
        pieces = problem.halves(pieces.take(np.flatnonzero(open_)))
    rows = rows.take(np.flatnonzero(open_[rows.piece]))
    motion, begin = pieces.motion[rows.piece], pieces.begin[rows.piece]
    np.minimum.at(found.free_fraction, motion, begin)
    np.minimum(found.free_fraction, found.time, out=found.free_fraction)
    unknown = np.flatnonzero(np.isinf(found.time[motion]))
    found.note(motion[unknown], begin[unknown], rows.take(unknown), Status.UNRESOLVED)


def _with_poses(pieces: Pieces, found: Answers) -> Pieces:
    """The pieces of motions all of whose poses are some; the others are noted."""
    valid = (pieces.first.valid & pieces.last.valid).all(axis=1)
    if valid.all():
        return pieces
    found.refuse(pieces.motion[~valid])
    return pieces.take(np.flatnonzero(found.status[pieces.motion] != Status.INVALID_INPUT))
