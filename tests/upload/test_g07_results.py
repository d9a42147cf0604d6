"""g07_results: outcomes, and places in the world."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import sources
from gpu_collide.reference.upload import g07_results

SHIFT = (10.0, -3.5, 1e5)
SHIFTS = dict(zip(("shift_x", "shift_y", "shift_z"), SHIFT, strict=True))
STATES = np.array([gc.Status.MISS, gc.Status.INVALID_INPUT, gc.Status.UNRESOLVED], np.uint8)
WALKED, WALKED_REAL = sources.record("character_result"), sources.record("character_result_real")


@pytest.mark.parametrize("shifted", [True, False])
def test_hits(backend, shifted):
    rng, n = np.random.default_rng(1), 100
    state, touched = rng.choice(STATES, n), rng.choice(np.array([0, 1, 3], np.uint8), n)
    point = rng.normal(size=(n, 3))
    placed = backend.to_device(point.reshape(-1))
    out = backend.fill(backend.empty(n, np.uint8), 77)
    backend.launch_items(
        backend.module("device_queries", "mixed")["g07_hits"], n, n=n, shifted=int(shifted), **SHIFTS,
        state_in=backend.to_device(state), touched_in=backend.to_device(touched), point=placed,
        status_out=out,
    )  # fmt: skip
    status, points = g07_results.hits(state, touched, point, np.array(SHIFT) * shifted)
    assert backend.to_host(out).tolist() == status
    assert backend.to_host(placed).reshape(n, 3).tolist() == np.array(points).tolist()
    assert len(set(status)) == 4


def test_nothing_is_told_of_what_is_not_swept(backend):
    rng, n = np.random.default_rng(3), 100
    state = rng.choice(STATES, n)
    feature, caught = rng.integers(0, 4, n, np.uint8), rng.integers(-1, 9, (4, n), np.int32)
    time, place = rng.random(n), rng.normal(size=(2, n, 3))
    told = np.concatenate([time, place.reshape(-1)])
    there = [backend.to_device(x) for x in (feature, caught.reshape(-1), told)]
    backend.launch_items(
        backend.module("device_queries", "mixed")["g07_unsaid"], n, n=n, state_in=backend.to_device(state),
        feature=there[0], caught=there[1], told=there[2],
    )  # fmt: skip
    wanted = g07_results.unsaid(state, feature, caught, time, place)
    for buffer, right in zip(there, wanted, strict=True):
        assert backend.to_host(buffer).tolist() == right.reshape(-1).tolist()


@pytest.mark.parametrize("step", [3, 0])
def test_slides(backend, step):
    rng, n = np.random.default_rng(2), 100
    state, given = rng.choice(STATES, n), rng.normal(size=(n, 3))
    given[::4, 1], given[1::4, 2] = np.nan, -np.inf
    given = np.broadcast_to(given[:1], (n, 3)) if step == 0 else given
    told, walked = rng.normal(size=(n, WALKED_REAL.stride)), rng.integers(-1, 3, (n, WALKED.stride), np.int32)
    names = "position", "velocity", "fall_velocity", "ground_normal"
    rows = [
        {name: t[WALKED_REAL[name]] for name in names}
        | {name: w[WALKED[name]] for name in ("status", "ground", "casts")}
        for t, w in zip(told, walked, strict=True)
    ]
    out = {name: backend.fill(backend.empty(3 * n, np.float64), 7) for name in names}
    out |= {name: backend.fill(backend.empty(n, np.int32), 77) for name in ("ground_body", "casts")}
    out["status"] = backend.fill(backend.empty(n, np.uint8), 77)
    backend.launch_items(
        backend.module("device_queries", "mixed")["g07_slides"], n, n=n, position_step=step, **SHIFTS,
        position_given=backend.to_device(given.reshape(-1)), state_in=backend.to_device(state),
        told_in=backend.to_device(told.reshape(-1)), walked_in=backend.to_device(walked.reshape(-1)),
        **{f"{name}_out": array for name, array in out.items()},
    )  # fmt: skip
    wanted = g07_results.slides(given, state, rows, np.array(SHIFT))
    for name, buffer in out.items():
        right = np.array([row["ground" if name == "ground_body" else name] for row in wanted])
        found = backend.to_host(buffer)
        assert found.tolist() == right.reshape(-1).astype(found.dtype).tolist(), name
