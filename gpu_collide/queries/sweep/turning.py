"""Rotating bodies during a cast: the error of chords, and parts of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.casts import CLUSTERS, ELLIPSOIDS, turning
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import between, rotate, turn_vector, turned_by
from gpu_collide.geometry.preparation import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gpu_collide._types import Array
    from gpu_collide.bodies.casts import Casts

__all__ = [
    "Chords", "Extent", "carried_along", "chord_error", "extent_of", "extent_there", "leaning_of",
    "parts_of", "reach_of",
    "those_near", "turning_bodies", "turns_of",
]  # fmt: skip


#: Sets of bodies, without those far away, of which what is made of them is kept.
MOST_NEAR = 4


def turning_bodies(bodies: Bodies) -> Array:
    """Numbers of the bodies that turn between their poses, or spin."""
    which = bodies.__dict__.get("_turning")
    if which is None:
        turns = turning(bodies)
        if bodies.spins is not None:
            turns = turns | (bodies.spins.spinning & (bodies.spins.rotation != 0.0).any(axis=1))
        which = np.flatnonzero(turns & bodies.start.valid & bodies.end.valid)
        bodies.__dict__["_turning"] = which
    return which


class Extent(NamedTuple):
    """What chords depend on of all that is swept; what is not swept is at 0, and has no way.

    Attributes
    ----------
    low, high : (3,) float64
        Box of all paths.
    speed, fat : float
        The longest path, the largest radius.
    own : float
        How far the centre of a cluster's ball is from its origin.
    leaning : (turning bodies,) float64
        By how much the surface of an ellipsoid that does not turn is off one that turns with each of them.
    least : float
        The least radius of what is swept.
    rides : bool
        Is one carried by a body?
    """

    low: Array
    high: Array
    speed: float
    fat: float
    own: float
    leaning: Array
    least: float = np.inf
    rides: bool = False


def _spins(bodies: Bodies, which: Array) -> Array:
    """The turns of some bodies, (bodies, 3)."""
    return turn_vector(bodies.start.unit_wxyz[which], bodies.end.unit_wxyz[which])


def _farthest(balls: Array) -> float:
    """`Extent.own` of the balls of all clusters."""
    return float(np.linalg.norm(balls, axis=1).max(initial=0.0))


def extent_of(casts: Casts, bodies: Bodies, which: Array, rides: bool = False) -> Extent | None:
    """`Extent` of casts on the host among bodies of which some turn, None of none; with the operations of
    ``kernels/upload/g08_turning.c``."""
    if not len(casts):
        return None
    ends = casts.start, casts.start + casts.path
    radius = casts.radius
    return Extent(
        low=np.minimum(*(e.min(axis=0) for e in ends)),
        high=np.maximum(*(e.max(axis=0) for e in ends)),
        speed=float(np.linalg.norm(casts.path, axis=1).max()),
        fat=float(radius.max(initial=0.0)),
        own=_farthest(casts.balls),
        leaning=leaning_of(casts, bodies, which),
        least=float(radius[casts.moves].min(initial=np.inf)) if casts.form != CLUSTERS else np.inf,
        rides=rides,
    )


def leaning_of(casts: Casts, bodies: Bodies, which: Array) -> Array:
    """`Extent.leaning` of casts on the host."""
    if casts.form != ELLIPSOIDS or not which.size:
        return np.zeros(len(which))
    turns, leans = _spins(bodies, which), _leaning_squares(casts.radius, casts.quat)
    if len(leans(turns[0])) == 1:
        return np.asarray(np.sqrt(leans(turns.T)))
    return np.array([np.sqrt(leans(spin).max()) for spin in turns])


def extent_there(landing: Any, bodies: Bodies, fall: Any = None, riding: Any = None) -> Extent:
    """`extent_of` for `DeviceQueries`; for characters with their falls and what they ride on."""
    most, leaning = landing.extent(_spins(bodies, turning_bodies(bodies)), fall, riding, len(bodies))
    given = landing.given
    return Extent(
        low=-most[:3],
        high=most[3:6],
        speed=float(most[6]),
        fat=float(given.radius.max(initial=0.0) if given.form == CLUSTERS else most[7]),
        own=_farthest(given.balls),
        leaning=np.sqrt(leaning),
        least=float(-most[8]),
        rides=bool(most[9]),
    )


def _leaning_squares(radii: Array, quat: Array) -> Callable[[Array], Array]:
    """Of ellipsoids: ``leans(spin)`` is the square of how far the surface of each is from one that turns by
    so much; of one of them, if they are all alike.

    ``|D R n| - |D n|`` for all n is no more than the norm of ``D R - R D``, that of ``D S - S D`` with
    ``S x = x cross spin``.
    """
    if all((rows == rows[:1]).all() for rows in (radii, quat)):
        radii, quat = radii[:1], quat[:1]
    x, y, z = (rotate(quat, np.broadcast_to(e, (len(quat), 3))) for e in np.eye(3))

    def of(i: int, j: int) -> Array:
        a, b, c = (e[:, i] * e[:, j] * radii[:, k] for k, e in enumerate((x, y, z)))
        return a + b + c

    xx, yy, zz, xy, xz, yz = of(0, 0), of(1, 1), of(2, 2), of(0, 1), of(0, 2), of(1, 2)
    even = (radii[:, 0] == radii[:, 1]) & (radii[:, 1] == radii[:, 2])

    def leans(spin: Array) -> Array:
        p = 2.0 * (spin[1] * xz - spin[2] * xy)
        q = 2.0 * (spin[2] * xy - spin[0] * yz)
        r = 2.0 * (spin[0] * yz - spin[1] * xz)
        s = spin[2] * (xx - yy) + (spin[1] * yz - spin[0] * xz)
        t = spin[1] * (zz - xx) + (spin[0] * xy - spin[2] * yz)
        u = spin[0] * (yy - zz) + (spin[2] * xz - spin[1] * xy)
        return np.where(even, 0.0, p * p + q * q + r * r + 2.0 * (s * s + t * t + u * u))

    return leans


def chord_error(extent: Extent | None, bodies: Bodies) -> float:
    """How far from its path a centre, and for ellipsoids a surface, may be taken to be."""
    which = turning_bodies(bodies)
    return float(Chords(extent, bodies, which).errors(1).max()) if which.size and extent is not None else 0.0


class Chords:
    """How far paths, as some bodies that turn see them, are off their chords.

    The chord of a curve is off it by an eighth of its second derivative at most: for a place at `far` from
    the body's origin that goes by `speed` while the body turns by `angle`,
    ``(angle^2 far + 2 angle speed) / 8``. Who is farther off than the body reaches touches it neither way.
    """

    def __init__(self, extent: Extent, bodies: Bodies, which: Array) -> None:
        origin, way = bodies.start.position[which], (bodies.end.position - bodies.start.position)[which]
        turn = turn_vector(bodies.start.unit_wxyz[which], bodies.end.unit_wxyz[which])
        low, high = extent.low, extent.high
        apart = [np.linalg.norm(np.maximum(high - o, o - low), axis=1) for o in (origin, origin + way)]
        self._extent, self._angle = extent, np.linalg.norm(turn, axis=1)
        self._way = np.linalg.norm(way, axis=1)
        self._speed, self._most = extent.speed + self._way, extent.own + np.maximum(*apart)
        self._near = 2.0 * (reach_of(bodies, which) + extent.own + extent.fat + self._speed)

    def errors(self, pieces: Array | int) -> Array:
        """By each of the bodies, in any of some equal pieces of the step."""
        extent, angle = self._extent, self._angle / pieces
        far = np.minimum(self._most, np.where(angle < 1.5, self._near, np.inf))
        speed = self._speed + extent.rides * (self._way + pieces * angle * far)
        bound = (angle * angle * far + 2.0 * angle * speed / pieces) / 8.0
        return np.asarray(bound + extent.leaning / pieces * (1.0 + angle))


def reach_of(bodies: Bodies, which: Array) -> Array:
    """How far from their origins some bodies reach."""
    measures = np.array([prepared.measures_of(mesh) for mesh in bodies.meshes])[bodies.shape[which]]
    return np.linalg.norm(measures[:, :3], axis=1) + np.linalg.norm(measures[:, 5:8], axis=1)


def those_near(bodies: Bodies, absent: Array) -> Bodies:
    """The bodies without those of these numbers; the same ones the next time, so that trees are known."""
    if not absent.size:
        return bodies
    kept = bodies.__dict__.setdefault("_near", {})
    key = absent.tobytes()
    if key not in kept:
        while len(kept) >= MOST_NEAR:
            kept.pop(next(iter(kept)))
        gone = np.zeros(len(bodies), bool)
        gone[absent] = True
        start, end = (Poses(x.position, x.quat_wxyz, x.valid & ~gone) for x in (bodies.start, bodies.end))
        kept[key] = bodies.moved(start, end)
    return kept[key]


def parts_of(bodies: Bodies, pieces: int) -> Iterator[Bodies]:
    """The bodies over one equal piece of their step after the other."""
    if pieces == 1:
        yield bodies
        return
    which, start = turning_bodies(bodies), bodies.start
    turned, way = bodies.start.unit_wxyz.copy(), bodies.end.position - bodies.start.position
    for k in range(1, pieces):
        turned[which] = between(bodies.start.unit_wxyz[which], bodies.end.unit_wxyz[which], k / pieces)
        end = Poses(bodies.start.position + k / pieces * way, turned, start.valid)
        yield bodies.moved(start, end)
        start = end
    yield bodies.moved(start, bodies.end)


def turns_of(bodies: Bodies) -> tuple[Array, Array]:
    """Which bodies turn, (bodies,) bool, and the quaternions from their start to their end, (bodies, 4)."""
    turns = turning(bodies) & bodies.start.valid & bodies.end.valid
    turn = turn_vector(bodies.start.unit_wxyz, bodies.end.unit_wxyz)
    return turns, turned_by(turn)


def carried_along(bodies: Bodies, which: Array, place: Array) -> Array:
    """How far bodies carry places that stand on them; -1: nothing does."""
    if (which < 0).all():  # of none there may be none
        return np.zeros((len(which), 3))
    there = bodies.start.valid & bodies.end.valid
    motion = np.where(there[:, None], bodies.end.position - bodies.start.position, 0.0)
    carried = motion[which]
    turns, quat = turns_of(bodies)
    ride = turns[which]
    if ride.any():
        arm = place[ride] - bodies.start.position[which[ride]]
        carried[ride] += rotate(quat[which[ride]], arm) - arm
    return np.where((which >= 0)[:, None], carried, 0.0)
