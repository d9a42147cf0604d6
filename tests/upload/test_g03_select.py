"""g03_select: those with a flag in their order, and nothing behind them."""

import numpy as np
import pytest

from gpu_collide.reference.upload import g03_select

pytestmark = pytest.mark.smoke


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_against_the_reference(backend, n, share):
    rng = np.random.default_rng(n)
    numbers, flags = rng.permutation(n).astype(np.int32), (rng.random(n) < share).astype(np.uint8)
    wanted, count = g03_select.selected(numbers, flags)
    be, kernel = backend, backend.module("upload", "mixed")["g03_select"]
    starts = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
    out, n_out = be.fill(be.empty(n, np.int32), -7), be.fill(be.empty(1, np.int32), -7)
    be.launch_items(
        kernel, n, n=n, numbers_in=be.to_device(numbers), flags_in=be.to_device(flags),
        starts_in=be.to_device(starts), out=out, n_out=n_out,
    )  # fmt: skip
    assert be.to_host(out).tolist() == wanted.tolist() and be.item(n_out) == count
