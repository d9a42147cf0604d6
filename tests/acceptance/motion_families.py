"""Edges of arms of boxes among boxes, made so that they are hard to prove: of each family blocks of edges.

A block is an `Arm` (tests/oracle/arm_of_boxes.py), middles of obstacles (6, 3), half their sides (3,), and
times (n, k) at which something touches, for the judge to look at besides.
"""

import numpy as np

from tests.oracle.arm_of_boxes import Arm

__all__ = ["FAMILIES", "block"]

#: How far things are apart, or in each other, where they would touch exactly.
NUDGES = (0.0, 0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-4)


def way(rng, n, joints, turn):
    """Straight edges of a length in joint space."""
    q0, by = rng.uniform(-1.3, 1.3, (n, joints)), rng.normal(size=(n, joints))
    return q0, q0 + turn * by / np.linalg.norm(by, axis=1, keepdims=True)


def scattered(rng):
    return rng.uniform([-0.8, -0.8, 0.1], [0.8, 0.8, 1.5], (6, 3))


def random(rng, n, joints):
    return Arm(*way(rng, n, joints, 1.0), 0.3, 0.06), scattered(rng), np.full(3, 0.12), np.zeros((n, 0))


def rods(rng, n, joints):
    """Links of 4 mm among plates of 4 mm."""
    half = rng.permutation([0.002, 0.2, 0.2])
    return Arm(*way(rng, n, joints, 1.0), 0.3, 0.004), scattered(rng), half, np.zeros((n, 0))


def whole(rng, n, joints):
    """Quarters and eighths of turns from one to the next, links and boxes on a grid: faces in one plane,
    edges on edges, corners on corners, at rest and in passing."""
    q0, steps = rng.integers(-4, 5, (n, joints)), rng.integers(-2, 3, (n, joints))
    steps *= rng.random((n, joints)) < 0.5
    arm = Arm(np.pi / 4 * q0, np.pi / 4 * (q0 + steps), 0.25, 0.125)
    places = 0.125 * rng.integers([-6, -6, 0], [7, 7, 11], (6, 3))
    half = 0.0625 * rng.integers(1, 4, 3)
    return arm, places, half, np.tile(np.linspace(0, 1, 5), (n, 1))


def radians(rng, n, joints):
    """Whole numbers of radians."""
    q0 = rng.integers(-2, 3, (n, joints)).astype(float)
    q1 = q0 + rng.integers(-1, 2, (n, joints))
    return Arm(q0, q1, 0.3, 0.06), scattered(rng).round(1), np.full(3, 0.1), np.zeros((n, 0))


def one_joint(rng, n, joints):
    """A joint that turns alone: no link strays from its screw."""
    arm = random(rng, n, joints)[0]
    only = np.arange(joints) == rng.integers(0, joints, n)[:, None]
    arm = Arm(arm.q0, np.where(only, arm.q1, arm.q0), 0.3, 0.06)
    return touched(rng, arm)


def ends(rng, n, joints):
    """What touches where the edge begins or ends."""
    return touched(rng, random(rng, n, joints)[0], rng.choice([0.0, 1.0], 6))


def passing(rng, n, joints):
    """What touches at some time."""
    return touched(rng, random(rng, n, joints)[0], rng.random(6))


def grazing(rng, n, joints):
    """What touches where a link is farthest out: at no other time near that one."""
    return touched(rng, random(rng, n, joints)[0])


def touched(rng, arm, at=None):
    """Boxes whose faces touch corners of links of some edges, but for a nudge, at times `at` (6,), or when
    the link is farthest out."""
    half, rows = np.array([0.02, 0.03, 0.05]), np.arange(6)
    edge, link = rng.integers(0, arm.n, 6), rng.integers(1, arm.links, 6)
    axis, sign = rng.integers(0, 3, 6), rng.choice([-1.0, 1.0], 6)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * arm.halves()

    def corners(time):
        """(6, 8, 3) of the chosen links at times (6,)."""
        middle, axes = arm.at(edge, time)
        return middle[rows, link][:, None] + np.einsum("kij,cj->kci", axes[rows, link], signs)

    def far(time):
        return (sign[:, None] * corners(time)[rows, :, axis]).max(axis=1)

    if at is None:
        times = np.linspace(0, 1, 257)
        best = np.argmax([far(np.full(6, time)) for time in times], axis=0)
        low, high = times[np.maximum(best - 1, 0)], times[np.minimum(best + 1, 256)]
        for _ in range(60):  # golden section
            a, b = high - 0.618 * (high - low), low + 0.618 * (high - low)
            first = far(a) > far(b)
            low, high = np.where(first, low, a), np.where(first, b, high)
        at = 0.5 * (low + high)
    points = corners(at)
    places = points[rows, (sign[:, None] * points[rows, :, axis]).argmax(axis=1)]
    places = places + rng.uniform(-0.5, 0.5, (6, 3)) * half
    places[rows, axis] = sign * (far(at) + half[axis] + rng.choice(NUDGES, 6))
    return arm, places, half, np.tile(at, (arm.n, 1))


FAMILIES = {made.__name__: made for made in (random, rods, whole, radians, one_joint, ends, passing, grazing)}


def block(family, rng, n, joints):
    return FAMILIES[family](rng, n, joints)
