"""g02_pairs: what is no pair is counted, and no kernel behind indexes by it."""

import numpy as np
import pytest

from gpu_collide.reference.upload import g02_pairs

GIVEN = np.array(
    [[0, 1], [2, 0], [1, 1], [-1, 2], [0, 4], [3, 1], [2**40, 0], [0, -(2**62)], [2**31, 1], [3, 0]], np.int64
)
SHAPE, VALID = np.array([2, 0, 1, 0], np.int32), np.array([1, 1, 1, 0], np.uint8)
HEIGHTS = np.arange(9.0).reshape(3, 3) + 0.5


def launched(backend, given, rows=True):
    n = len(given)
    kernel = backend.module("upload", "mixed")["g02_pairs"]
    out = {"pairs_out": 2 * n, "items_out": 3 * n, "todo_out": n}
    out = {k: backend.fill(backend.empty(size, np.int32), -7) for k, size in out.items()}
    out["row_height_out"] = backend.fill(backend.empty(n, np.float64), np.nan)
    out["wrong_out"] = backend.zeros(2, np.int32)
    backend.launch_items(
        kernel, n, n_pairs=n, n_bodies=len(SHAPE), n_meshes=3, rows=int(rows),
        given_in=backend.to_device(given.reshape(-1)), shape_in=backend.to_device(SHAPE),
        valid_in=backend.to_device(VALID),
        height_in=backend.to_device(HEIGHTS.reshape(-1) if rows else np.zeros(1)), **out,
    )  # fmt: skip
    return {k.removesuffix("_out"): backend.to_host(v) for k, v in out.items()}


@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize("times", [1, 60])
def test_against_the_reference(backend, rows, times):
    given = np.tile(GIVEN, (times, 1))
    pairs, items, height, wrong, invalid = g02_pairs.taken_over(
        given, SHAPE, VALID, HEIGHTS if rows else None
    )
    found = launched(backend, given, rows)
    assert found["pairs"].tolist() == pairs.reshape(-1).tolist()
    assert found["items"].tolist() == items.reshape(-1).tolist()
    assert found["todo"].tolist() == list(range(len(given)))
    assert found["row_height"].tolist() == height.tolist()
    assert found["wrong"].tolist() == [wrong, invalid] == [6 * times, 2 * times]
