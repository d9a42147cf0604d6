"""First contacts compared with the first of all, bit for bit, and scenes where much coincides."""

import numpy as np

import gpu_collide as gc
from tests.broad_phase import _near

FIELDS = (
    "pair", "kind", "feature_a", "feature_b", "time", "position", "normal", "properness", "local_a",
    "local_b", "normal_speed", "sustained", "time_end",
)  # fmt: skip
THRESHOLDS = (-1.0, -0.1, 0.0, 0.5)


def same_bits(one, other, keep=slice(None)):
    """The contacts `keep` of the one result are those of the other."""
    assert np.array_equal(one.status, other.status) and np.array_equal(one.toi, other.toi)
    for name in FIELDS:
        assert np.asarray(getattr(one, name))[keep].tobytes() == np.asarray(getattr(other, name)).tobytes(), (
            name
        )


def assert_first(bodies, pairs, backend, **args):
    """The first contacts by themselves are the first of all; how many there are."""
    every, found = (
        gc.collide(bodies, pairs, contacts=x, backend=backend.name, **args).to_numpy()
        for x in ("all", "first")
    )
    same_bits(every, found, np.asarray(every.time) == np.asarray(every.toi)[np.asarray(every.pair)])
    return len(found)


def whole(n, seed):
    """Blocks and balls on a lattice, moved and turned by whole numbers: much coincides, rests, slides."""
    rng = np.random.default_rng(seed)
    meshes = [
        _near.block(5, (2.0, 2.0, 2.0)),
        _near.block(4, (4.0, 2.0, 2.0)),
        gc.shapes.icosphere(2),
        gc.shapes.box(),
    ]
    turns = np.array(
        [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 1]], float
    )
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    start, end = (rng.integers(-3, 4, (2 * n, 3)).astype(float) for _ in range(2))
    rests = rng.random(2 * n) < 0.4
    end[rests] = start[rests]
    first_turn = turns[rng.integers(0, 6, 2 * n)]
    last_turn = np.where(rng.random((2 * n, 1)) < 0.6, first_turn, turns[rng.integers(0, 6, 2 * n)])
    poses = [gc.Poses.from_quat_wxyz(p, q) for p, q in ((start, first_turn), (end, last_turn))]
    bodies = gc.Bodies(meshes, rng.integers(0, 4, 2 * n).astype(np.int32), *poses)
    return bodies, np.column_stack([np.arange(n), np.arange(n, 2 * n)])
