"""`order_of` and `groups_of`, against what NumPy has for the same."""

import numpy as np
import pytest

from gpu_collide.geometry.arrays.order import FEW, groups_of, order_of, taken

COLUMNS = {
    "whole": lambda rng, n: [rng.integers(-1, 5, n).astype(np.int32) for _ in range(4)],
    "with lengths": lambda rng, n: [rng.integers(0, 9, n), rng.choice([-1.5, -0.0, 0.0, np.inf, 1e-300], n)],
    "bytes": lambda rng, n: [rng.integers(0, 256, n, np.uint8), rng.integers(-128, 128, n, np.int8)],
    "up to the limits": lambda rng, n: [rng.integers(-(2**31), 2**31, n, np.int32) for _ in range(2)],
    "63 bits": lambda rng, n: [rng.choice([0, 2**31 - 1], n), rng.choice([0, 2**32 - 1], n)],
    "more than 64 bits": lambda rng, n: [rng.integers(0, 2**62, n) % 3 * 2**60 for _ in range(4)],
    "all the same": lambda rng, n: [np.zeros(n, np.int32), np.zeros(n)],
}  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, FEW - 1, FEW, 3000])
@pytest.mark.parametrize("kind", COLUMNS)
def test_order_and_groups(kind, n):
    columns = COLUMNS[kind](np.random.default_rng(n), n)
    before = [column.copy() for column in columns]
    order = order_of(*columns)
    assert order.tolist() == np.lexsort(columns[::-1]).tolist()
    assert all(np.array_equal(one, other) for one, other in zip(columns, before, strict=True))
    groups = groups_of(*columns)
    assert (np.diff(groups[order]) >= 0).all()
    named = {}
    for row, group in zip(zip(*(column.tolist() for column in columns), strict=True), groups, strict=True):
        assert named.setdefault(row, group) == group
    assert len(set(named.values())) == len(named)
    some = taken({"a": columns[0]}, order[::2])
    assert some["a"].tolist() == columns[0][order[::2]].tolist()
