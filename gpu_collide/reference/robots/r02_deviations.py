"""r02: how far links of a chain stray from screws between their poses, proved (docs/decisions/0122)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpu_collide.bodies.quaternion import conjugate, cross, rotate, turn_vector
from gpu_collide.reference.robots.r01_frames import Frames

if TYPE_CHECKING:
    from gpu_collide._types import Array
    from gpu_collide.reference.robots.r01_frames import Chain

__all__ = ["Rates", "deviations", "relative_to"]

#: A link that may turn farther than this, in radians, has no bound: screws turn by less than half a turn.
WIDEST = 3.0
#: Rounding of poses, twists and bounds, as a share of the lengths they are made of: ninety roundings.
ROUNDING = 2e-14
#: Below this the series of the coefficient is exact to rounding; above it the closed form loses no more.
SMALL_TURN = 0.25


class Rates(NamedTuple):
    """Joint values (k, j) on pieces, as functions of a time from 0 to 1 on each.

    Attributes
    ----------
    middle : values at the middle of the piece
    first, second : derivatives there
    speed, change, third : most that the first, second and third derivatives are, anywhere on the piece
    travel : most that the values are, either way
    """

    middle: Array
    first: Array
    second: Array
    speed: Array
    change: Array
    third: Array
    travel: Array


class Twists(NamedTuple):
    """Fields of velocity, ``turn x y + shift`` at the point y."""

    turn: Array
    shift: Array

    def at(self, point: Array) -> Array:
        return cross(self.turn, point) + self.shift


def deviations(chain: Chain, rates: Rates, begin: Frames, end: Frames, far: Array | None = None) -> Array:
    """(k, n): no point of a link is farther than this, at any time of the piece, from where the screw between
    the link's poses at `begin` and at `end` (k, n) has it; inf for links that may turn by half a turn. `far`,
    (k,): lengths that the poses were made of, if these are not their places."""
    base = chain.base[0]
    joints = chain.joints(rates.middle)
    links = chain.links(joints)
    velocity, change = (_of_links(chain, field) for field in _twists(chain, rates, joints))
    centre = np.broadcast_to(0.5 * (chain.low + chain.high), links.position.shape)
    middle = links.position - base + rotate(links.quat, centre)
    off = _less_screw(velocity, *(Frames(one.position - base, one.quat) for one in (begin, end)))
    speed, third, turned = _crude(chain, rates)
    bound = (
        _most(off, middle, links.quat, chain) / 2
        + _length(off.turn) * speed / 8
        + _most(change, middle, links.quat, chain) / 8
        + _length(change.turn) * speed / 24
        + third / 48
    )
    lengths = 2 * _length(begin.position) + 2 * _length(end.position) if far is None else 2 * far[:, None]
    rounding = ROUNDING * (_length(middle) + lengths + speed + chain.reach)
    return np.where(turned < WIDEST, bound * (1 + ROUNDING) + rounding, np.inf)


def relative_to(chain: Chain, link: int) -> tuple[Chain, Array, Array]:
    """The chain in the frame of one of its links: of joints and links that the link's joint carries, with
    their numbers (ascending)."""
    carrier, n = chain.carrier[link], len(chain.parent)
    carried = chain.before[carrier] > 0 if carrier >= 0 else np.ones(n, bool)
    joints, number = np.flatnonzero(carried), np.full(n + 1, -1)
    number[joints] = np.arange(len(joints))
    links = np.flatnonzero(carried[chain.carrier] & (chain.carrier >= 0))
    back = conjugate(chain.rest[link])
    base = rotate(back, -chain.place[link]), back
    seen = type(chain)(
        number[chain.parent[joints]], chain.offset[joints], chain.turn[joints], chain.axis[joints],
        chain.prismatic[joints], number[chain.carrier[links]], chain.place[links], chain.rest[links],
        chain.low[links], chain.high[links], base,
    )  # fmt: skip
    return seen, joints, links


def _twists(chain: Chain, rates: Rates, joints: Frames) -> tuple[Twists, Twists]:
    """Twists of the joints' frames and their derivatives by time, at the middle: (j, k, 3) each. Of a joint
    [V, J] is the change of its own twist J by the twist V of what carries it."""
    n, k = len(chain.parent), len(rates.middle)
    velocity, change = (Twists(np.zeros((n + 1, k, 3)), np.zeros((n + 1, k, 3))) for _ in range(2))
    for j, p in enumerate(chain.parent):  # number n, the last: the base, which rests
        axis = rotate(joints.quat[:, j], np.broadcast_to(chain.axis[j], (k, 3)))
        rate, second = rates.first[:, j, None], rates.second[:, j, None]
        turn, shift = velocity.turn[p], velocity.shift[p]
        if chain.prismatic[j]:
            own, new = (np.zeros_like(axis), axis), (np.zeros_like(axis), cross(turn, axis))
        else:
            arm = cross(joints.position[:, j] - chain.base[0], axis)
            own, new = (axis, arm), (cross(turn, axis), cross(turn, arm) + cross(shift, axis))
        for of, was, by in zip(range(2), (turn, shift), range(2), strict=True):
            velocity[of][j] = was + rate * own[by]
            change[of][j] = change[of][p] + second * own[by] + rate * new[by]
    return velocity, change


def _of_links(chain: Chain, field: Twists) -> Twists:
    """(k, n, 3): the fields of what carries the links, about the base."""
    return Twists(*(part[chain.carrier].swapaxes(0, 1) for part in field))


def _less_screw(velocity: Twists, begin: Frames, end: Frames) -> Twists:
    """The twists less those of the screws from `begin` to `end`."""
    turn = turn_vector(begin.quat, end.quat)
    way = end.position - begin.position
    once = cross(turn, way)
    shift = way - 0.5 * once + _coefficient(_length(turn))[..., None] * cross(turn, once)
    # of the screw: turn x (y - begin) + shift
    return Twists(velocity.turn - turn, velocity.shift - (shift - cross(turn, begin.position)))


def _coefficient(turn: Array) -> Array:
    """(1 - (t / 2) cot(t / 2)) / t^2 of angles below `WIDEST`."""
    square = turn * turn
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600 + square / 47900160)))
    half = np.where(turn > SMALL_TURN, 0.5 * turn, 1.0)
    closed = (1.0 - half / np.tan(half)) / np.where(turn > SMALL_TURN, square, 1.0)
    return np.where(turn > SMALL_TURN, closed, series)


def _most(field: Twists, middle: Array, quat: Array, chain: Chain) -> Array:
    """(k, n): the longest vector of a field in the box of each link, from above: component by component."""
    back = conjugate(quat)
    x, y, z = np.moveaxis(np.abs(rotate(back, field.turn)), -1, 0)
    a, b, c = np.moveaxis(0.5 * (chain.high - chain.low), -1, 0)
    at = np.moveaxis(np.abs(rotate(back, field.at(middle))), -1, 0)
    return np.sqrt((at[0] + y * c + z * b) ** 2 + (at[1] + z * a + x * c) ** 2 + (at[2] + x * b + y * a) ** 2)


def _crude(chain: Chain, rates: Rates) -> tuple[Array, Array, Array]:
    """(k, n) each: the most that points of a link move on the piece, that the second derivative of a link's
    twist is where such points are, and that a link turns. By lengths and rates alone, whatever the pose."""
    d, e, f = rates.speed, rates.change, rates.third
    turns, before, moves = ~chain.prismatic, chain.before, chain.moves
    onward = before + np.eye(len(before))
    lengths, reaches = (part * turns[:, None] for part in chain.distances(rates.travel))
    slides = chain.prismatic[:, None]
    # the speed of a later origin, or of points of a link, for each unit of a joint's rate
    arms, levers = lengths + before * slides, reaches + moves * slides
    theta = (d * turns) @ before  # of what carries the joint: how fast it turns, at most
    pi = _through(d, arms)  # how fast its origin moves
    bent = (e * turns + d * turns * theta) @ before + theta**2  # second derivative of its axis
    # second derivative of its origin: of each joint before it the change of rate, of axis, and of arm
    alpha = (
        _through(e + d * ((d * turns) @ onward), arms)
        + 2 * _through(d * theta, lengths)
        + (d * theta * chain.prismatic) @ before
    )
    speed = _through(d, levers)
    by_arm = f + 2 * e * theta + d * bent
    by_origin = 2 * e * pi + d * (2 * theta * pi + alpha)
    second = _through(by_arm, levers) + 0.5 * speed * ((by_arm * turns) @ moves) + (by_origin * turns) @ moves
    return speed, second, (d * turns) @ moves


def _through(rows: Array, lengths: Array) -> Array:
    """Products of rows (k, j) with matrices (k, j, n) or (1, j, n)."""
    return rows @ lengths[0] if len(lengths) == 1 else (rows[:, None] @ lengths)[:, 0]


def _length(vectors: Array) -> Array:
    return np.sqrt((vectors**2).sum(axis=-1))
