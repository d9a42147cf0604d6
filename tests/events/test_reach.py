"""Pairs that may come near while each goes on as it moves, against places at many times."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.motion import screw_velocity
from gpu_collide.recordings.reach import Ways, near_pairs

SAMPLES = 60


def swarm(seed, vehicles=14, frames=12):
    """Poses of bodies that drive, turn by large angles, stand, and go away."""
    rng = np.random.default_rng(seed)
    turn = rng.choice([0.0, 0.05, 0.6, 2.5], vehicles) * rng.normal(size=vehicles)
    yaw = rng.uniform(-3, 3, vehicles) + turn * np.arange(frames)[:, None]
    way = rng.choice([0.0, 0.2, 2.0], vehicles)[:, None] * rng.normal(size=(vehicles, 3))
    place = rng.uniform(-12, 12, (vehicles, 3)) * [1, 1, 0.1] + way * np.arange(frames)[:, None, None]
    known = rng.uniform(size=(frames - 1, vehicles)) < 0.9
    world = rng.integers(0, 2, vehicles)
    return rng, gc.Poses.from_yaw(place, yaw), known, world


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("horizon", [1.0, 7.5])
def test_all_that_come_near_are_among_the_pairs(seed, horizon):
    rng, poses, known, world = swarm(seed)
    steps, n = known.shape
    radius, distance = rng.uniform(0.1, 2.0, n), 1.0
    still = np.array([[[-2.0, -2, -1], [30, 30, 30]], [[3.0, 1, 1], [31, 31, 31]]])
    ways = Ways(poses.position, poses.unit_wxyz, known, radius, still)
    share = np.full(steps, horizon)
    found = set()
    for step, a, b in near_pairs(ways.boxes(share), distance, world):
        keep = ways.meet(share, step, a, b, distance)
        found |= set(zip(step[keep].tolist(), a[keep].tolist(), b[keep].tolist(), strict=True))
    for step in range(steps):
        # no end pose is more than half a turn away: along the arc by many short screws of the same velocity
        at, places = poses[step], []
        for _ in range(SAMPLES + 1):
            places.append(at.position)
            at = gone_on(poses[step], poses[step + 1], at, horizon / SAMPLES)
        places = np.array(places)
        off = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1).min(axis=0)
        outside = np.maximum(np.maximum(still[0] - places[:, :, None], places[:, :, None] - still[1]), 0.0)
        beside = np.linalg.norm(outside, axis=-1).min(axis=0)
        for a in np.flatnonzero(known[step]):
            near = known[step] & (world == world[a]) & (off[a] <= radius[a] + radius + distance)
            for b in np.flatnonzero(near):
                assert b <= a or (step, a, b) in found
            for k in np.flatnonzero(beside[a] <= radius[a] + distance):
                assert (step, a, n + k) in found
    assert 0 < len(found) < 0.6 * known.sum() * n  # it leaves out something
    assert all(known[s, a] and (b >= n or (known[s, b] and world[a] == world[b])) for s, a, b in found)


def gone_on(start, end, at, share):
    """Poses after a share of the screw from `start` to `end`, which are at `at` of it now."""
    velocity = screw_velocity(start, end, at.position)
    turn = 2.0 * (start.inverse() @ end).quat_wxyz[:, 3] * np.sign((start.inverse() @ end).quat_wxyz[:, 0])
    angle = 2.0 * np.arcsin(np.clip(0.5 * turn, -1.0, 1.0))
    spin = np.stack([np.zeros(len(angle)), np.zeros(len(angle)), angle], axis=1)
    bent = np.where(np.abs(angle * share) > 1e-9, angle * share, 1e-9)
    c, s = np.sin(bent) / bent, (1 - np.cos(bent)) / bent
    way = share * np.stack(
        [c * velocity[:, 0] - s * velocity[:, 1], s * velocity[:, 0] + c * velocity[:, 1], velocity[:, 2]],
        axis=1,
    )
    return gc.Poses.from_quat_wxyz(at.position + way, at.moved(np.zeros(3), spin, share).unit_wxyz)
