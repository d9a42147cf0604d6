"""g01_poses: the bits that `Poses` gives on the host."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.poses import UNIT_TOLERANCE
from gpu_collide.pipeline.launch.poses import pose_arrays
from gpu_collide.reference.upload import g01_poses

NAMES = ("start_position", "start_quat", "end_position", "end_quat")


def hostile(n, seed=1):
    """Poses good and bad: off unit length by little and by much, not finite, zero, huge."""
    rng = np.random.default_rng(seed)
    given = {}
    for when in ("start", "end"):
        quat = rng.normal(size=(n, 4))
        quat /= np.linalg.norm(quat, axis=1)[:, None]
        quat *= rng.choice([1, 1, 1, 1 + 9e-4, 1 - 9e-4, 1 + 1.1e-3], n)[:, None]
        position = rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-3, 9, n)[:, None]
        for value in (np.nan, np.inf, -np.inf, 1e200, 0.0):
            quat[rng.integers(n), rng.integers(4)] = value
            position[rng.integers(n), rng.integers(3)] = value
        given[f"{when}_position"], given[f"{when}_quat"] = position, quat
    return given


def launched(backend, given, precision="mixed"):
    n, real = len(given["start_quat"]), np.float32 if precision == "single" else np.float64
    kernel = backend.module("upload", precision)["g01_poses"]
    out = {f"{k}_out": backend.fill(backend.empty(v.size, real), np.nan) for k, v in given.items()}
    out["valid_out"] = backend.fill(backend.empty(n, np.uint8), 7)
    buffers = {f"{k}_given": backend.to_device(v.astype(real).reshape(-1)) for k, v in given.items()}
    backend.launch_items(kernel, n, n=n, tolerance=UNIT_TOLERANCE, **buffers, **out)
    return {k: backend.to_host(v) for k, v in out.items()}


@pytest.mark.parametrize("n", [1, 300])
def test_the_bits_of_poses_on_the_host(backend, n):
    given = hostile(n)
    start = gc.Poses.from_quat_wxyz(given["start_position"], given["start_quat"])
    end = gc.Poses.from_quat_wxyz(given["end_position"], given["end_quat"])
    wanted = pose_arrays(gc.Bodies(gc.shapes.box(), None, start, end))
    found = launched(backend, given)
    for name in (*NAMES, "valid"):
        assert found[f"{name}_out"].tobytes() == wanted[f"{name}_in"].tobytes(), name
    assert n == 1 or 100 < found["valid_out"].sum() < 299


def test_the_reference_agrees(backend):
    given = hostile(200, 2)
    *wanted, valid = g01_poses.taken_over(*given.values(), UNIT_TOLERANCE)
    found = launched(backend, given)
    assert found["valid_out"].astype(bool).tolist() == valid.tolist()
    for name, value in zip(("start_position", "end_position", "start_quat", "end_quat"), wanted, strict=True):
        # worst seen: 2.2e-16, of quaternions
        assert np.abs(found[f"{name}_out"] - value.reshape(-1)).max() < 1e-15, name


def test_single(backend):
    quat = np.array([[0.6, 0.8, 0, 0], [1, 1, 0, 0]])
    position = np.ones((2, 3))
    found = launched(backend, dict(zip(NAMES, (position, quat, position, quat), strict=True)), "single")
    assert found["valid_out"].tolist() == [1, 0] and found["end_quat_out"][4:].tolist() == [1, 0, 0, 0]
    assert found["start_position_out"].tolist() == [1] * 3 + [0] * 3
