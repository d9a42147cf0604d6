"""Scenes of bodies on their own motions, and a judge of boxes that samples the step."""

import itertools

import numpy as np

import gpu_collide as gc
from gpu_collide.bodies.quaternion import rotate

IDENTITY = (1.0, 0.0, 0.0, 0.0)
BOX = gc.shapes.box()
FIELDS = (
    "status", "toi", "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a",
    "local_b", "normal_speed", "sustained", "time_end",
)  # fmt: skip
KINDS = ("screw", "spin", "swing")
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))


def collide(bodies, pairs, motion="body", **options):
    return gc.collide(bodies, pairs, motion=motion, backend="reference", **options)


def unit(rng, n, k=3):
    x = rng.normal(size=(n, k))
    return x / np.linalg.norm(x, axis=1)[:, None]


def tumbling(seed, pairs, turn, kind, mesh=None, way=0.6, line=0.0):
    """Bodies 2i and 2i + 1 on their way through each other, all turning by `turn` radians; each
    `line` farther along x than the one before."""
    rng, n = np.random.default_rng(seed), 2 * pairs
    place = unit(rng, n) * rng.uniform(0.8, 1.6, n)[:, None]
    start = gc.Poses.from_quat_wxyz(place + line * np.arange(n)[:, None] * [1, 0, 0], unit(rng, n, 4))
    move, spin = way * (rng.normal(size=(n, 3)) * 0.4 - place), unit(rng, n) * turn
    mesh = gc.shapes.box() if mesh is None else mesh
    if kind == "screw":
        return gc.Bodies(mesh, None, start, start.moved(move, spin))
    middle = 0.3 * rng.normal(size=(n, 3)) if kind == "swing" else None
    return gc.Bodies.from_velocities(mesh, None, start, move, spin, center=middle)


def pairs_of(bodies):
    return np.arange(len(bodies)).reshape(-1, 2)


def box_gaps(bodies, time):
    """Widest gap along the 15 axes of unit boxes 2i and 2i + 1 at one time: negative where they overlap, and
    zero where they touch."""
    poses = bodies.poses_at(time)
    axes = np.stack(
        [rotate(poses.unit_wxyz, np.broadcast_to(e, (len(bodies), 3))) for e in np.eye(3)], axis=1
    )
    (a, b), way = (axes[0::2], axes[1::2]), poses.position[1::2] - poses.position[0::2]
    lines = [a[:, i] for i in range(3)] + [b[:, i] for i in range(3)]
    lines += [np.cross(a[:, i], b[:, j]) for i in range(3) for j in range(3)]
    gap = np.full(len(way), -np.inf)
    for line in lines:
        length = np.linalg.norm(line, axis=1)
        line = line / np.where(length > 1e-9, length, 1.0)[:, None]
        reach = 0.5 * np.abs(np.einsum("nij,nj->ni", np.concatenate([a, b], axis=1), line)).sum(axis=1)
        here = np.abs(np.sum(line * way, axis=1)) - reach
        gap = np.maximum(gap, np.where(length > 1e-9, here, -np.inf))
    return gap


def first_overlaps(bodies, samples=1500):
    """The earliest sampled time at which unit boxes 2i and 2i + 1 overlap, narrowed by bisection; inf without
    one. Whether they overlap at the start."""
    times = np.linspace(0.0, 1.0, samples + 1)
    gaps = np.array([box_gaps(bodies, t) for t in times])
    hit = (gaps < 0).any(axis=0)
    late = np.argmax(gaps < 0, axis=0) / samples
    low, high = np.maximum(late - 1.0 / samples, 0.0), late.copy()
    for _ in range(45):
        middle = 0.5 * (low + high)
        over = box_gaps(bodies, np.repeat(middle, 2)) < 0
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return np.where(hit, high, np.inf), gaps[0] < -1e-7


def rows(found, swap=False):
    """Contacts as rows in order: pair, kind, features, time, end, sustained; of A and B exchanged if `swap`.
    And that order."""
    kind, a, b = found.kind.astype(int), found.feature_a, found.feature_b
    if swap:
        kind, a, b = np.array([1, 0, 2])[kind], b, a
    table = np.stack([found.pair, kind, a, b, found.time, found.time_end, found.sustained], axis=1)
    order = np.lexsort((table[:, 4], table[:, 3], table[:, 2], table[:, 1], table[:, 0]))
    return table[order], order


def same_contacts(one, other, swap=False, atol=1e-9):
    """Both hold the same contacts at the same times; returns the orders in which they do."""
    (first, i), (second, j) = rows(one), rows(other, swap)
    assert first.shape == second.shape
    assert np.array_equal(first[:, [0, 1, 2, 3, 6]], second[:, [0, 1, 2, 3, 6]])
    assert np.abs(first[:, 4:6] - second[:, 4:6]).max(initial=0) < atol
    return i, j
