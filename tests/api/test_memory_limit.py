"""A pair that does not fit `max_bytes`: the message names what helps in the mode asked for."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.engine import Reference

ONE = [1.0, 0, 0, 0]


@pytest.mark.parametrize(
    "options, remedy",
    [
        (dict(), "pass a larger max_bytes, or features='near'"),
        (dict(candidates="pairs"), "pass a larger max_bytes, or features='near'"),
        (dict(features="near"), "pass a larger max_bytes"),
        (dict(candidates="raster"), "pass a larger max_bytes"),
        (dict(refine="segments"), "pass a larger max_bytes, or features='near'"),
        (dict(refine="pixels"), "pass a larger max_bytes, or features='near'"),
        (dict(refine="pixels", features="near"), "pass a larger max_bytes"),
    ],
)
def test_remedy_for_a_pair_that_is_too_large(options, remedy, backend):
    poses = [gc.Poses.from_quat_wxyz(np.array([[0, 0, 0], [x, 0.1, 0.2]]), [ONE] * 2) for x in (-4.0, 0.0)]
    bodies = gc.Bodies(gc.shapes.torus(), None, *poses)
    with pytest.raises(gc.errors.MemoryLimitError) as caught:
        gc.collide(bodies, [[0, 1]], filters="none", max_bytes=20_000, backend=backend.kind, **options)
    assert str(caught.value).startswith("max_bytes: expected room for pair 0, which needs at least ")
    assert str(caught.value).endswith(f" bytes, got 20000; {remedy}")


def test_memory_that_comes_to_an_end_within_a_query(monkeypatch):
    """What Python or NumPy say of it names no remedy."""

    def full(*_):
        raise MemoryError("Unable to allocate 3.7 TiB")

    monkeypatch.setattr(Reference, "collide", full)
    poses = gc.Poses.identity(2)
    with pytest.raises(gc.errors.MemoryLimitError, match=r"no memory left \(Unable .*\); ask for a share at"):
        gc.collide(gc.Bodies(gc.shapes.box(), None, poses, poses), [[0, 1]], backend="reference")
