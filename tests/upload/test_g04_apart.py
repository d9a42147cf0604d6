"""g04_apart: float32 poses from where A starts, with the bits that NumPy gives."""

import numpy as np
import pytest

from gpu_collide.reference.upload import g04_apart

NAMES = ("start_position", "end_position", "start_quat", "end_quat")


@pytest.mark.parametrize("n", [1, 300])
def test_against_the_reference(backend, n):
    rng = np.random.default_rng(3)
    start, end = rng.normal(size=(2, 9, 3)) + 1e7  # float32 itself would leave no digit of them
    end[3] = 1e300  # which it cannot hold
    poses = (start, end, *rng.normal(size=(2, 9, 4)))
    shape, valid = rng.integers(0, 4, 9, dtype=np.int32), np.ones(9, np.uint8)
    valid[5] = 0
    pairs = rng.integers(0, 9, (n, 2), dtype=np.int32)
    pairs[0] = 5, 3
    widths = {"pairs": 1, "shape": 1, "valid": 1, **dict(zip(NAMES, (3, 3, 4, 4), strict=True))}
    kinds = {"pairs": np.int32, "shape": np.int32, "valid": np.uint8}
    out = {
        name: backend.fill(backend.empty(2 * n * width, kinds.get(name, np.float32)), 7)
        for name, width in widths.items()
    }
    backend.launch_items(
        backend.module("upload", "mixed")["g04_apart"], n, n_pairs=n,
        pairs_in=backend.to_device(pairs.reshape(-1)), shape_in=backend.to_device(shape),
        valid_in=backend.to_device(valid), **{f"{name}_out": buffer for name, buffer in out.items()},
        **{f"{name}_in": backend.to_device(x.reshape(-1)) for name, x in zip(NAMES, poses, strict=True)},
    )  # fmt: skip
    wanted = g04_apart.apart(pairs, shape, valid, *poses)
    for (name, buffer), right in zip(out.items(), wanted, strict=True):
        found = backend.to_host(buffer)
        assert found.tobytes() == right.astype(found.dtype).tobytes(), name
    assert np.isinf(backend.to_host(out["end_position"])).any()
