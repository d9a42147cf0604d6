"""g08_turning: what chords depend on of all queries, and the ways of those that turning bodies carry."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.reference.upload import g08_turning
from tests.sweep._scenes import quaternions

EXTENT = 10


def queries(n, seed=1):
    rng = np.random.default_rng(seed)
    start, path, fall = rng.normal(size=(3, n, 3)) * [[[1.0]], [[3.0]], [[0.2]]]
    state = rng.choice(np.array([gc.Status.MISS] * 3 + [gc.Status.UNRESOLVED, gc.Status.INVALID_INPUT]), n)
    state = state.astype(np.uint8)
    start[state == gc.Status.INVALID_INPUT] = np.nan
    fall[::7, 1] = np.inf
    return start, path, rng.uniform(0.1, 1, (n, 3)), fall, rng.integers(-1, 4, n), state


@pytest.mark.parametrize("n, parts", [(1, 1), (200, 1), (200, 7), (5, 9)])
@pytest.mark.parametrize("walks", [True, False])
def test_extent(backend, n, parts, walks):
    start, path, radius, fall, riding, state = queries(n)
    if n > 5:
        riding[[3, 8]] = 4, -2
    changed = backend.to_device(state)
    out, wrong = backend.fill(backend.empty(parts * EXTENT, np.float64), 77), backend.zeros(1, np.int32)
    flat = {"start": start, "path": path, "fall": fall}
    backend.launch_items(
        backend.module("device_queries", "mixed")["g08_extent"], parts, n=parts, total=n, width=3,
        walks=int(walks),
        n_bodies=4, rides=1, lowest=-np.inf, radius_in=backend.to_device(radius.reshape(-1)), state=changed,
        **{f"{name}_given": backend.to_device(x.reshape(-1)) for name, x in flat.items()},
        **dict.fromkeys(("start_step", "path_step", "fall_step"), 3),
        riding_given=backend.to_device(riding), extent_out=out, wrong_out=wrong,
    )  # fmt: skip
    swept = (state == gc.Status.MISS) & (np.isfinite(fall).all(axis=1) | (not walks))
    seen = backend.to_host(changed)
    assert (seen == (np.where(swept, gc.Status.MISS, gc.Status.INVALID_INPUT) if walks else state)).all()
    low, high, fast, fat, least, rides = g08_turning.reached(start, path, radius, swept, riding)
    most = backend.to_host(out).reshape(parts, EXTENT).max(axis=0)
    assert (-most[:3]).tolist() == low.tolist() and most[3:6].tolist() == high.tolist()
    assert most[6] == pytest.approx(fast, rel=1e-15) and most[7] == fat
    assert -most[8] == least
    assert bool(most[9]) == rides and backend.to_host(wrong)[0] == (2 if n > 5 else 0)
    assert n == 1 or 0 < swept.sum() < n


@pytest.mark.parametrize("n, parts", [(1, 1), (60, 4)])
def test_leaning(backend, n, parts):
    rng = np.random.default_rng(3)
    radii, quat, spins = rng.uniform(0.1, 1, (n, 3)), quaternions(rng, n), rng.normal(size=(5, 3))
    radii[::2] = radii[::2, :1]  # round ones lean by nothing
    radii[0] = 0.2, 0.5, 0.9
    out = backend.fill(backend.empty(parts * 5, np.float64), 77)
    backend.launch_items(
        backend.module("device_queries", "mixed")["g08_leaning"], parts * 5, n=parts * 5, total=n,
        n_turning=5,
        radius_in=backend.to_device(radii.reshape(-1)), quat_in=backend.to_device(quat.reshape(-1)),
        spin_in=backend.to_device(spins.reshape(-1)), leaning_out=out,
    )  # fmt: skip
    found = np.sqrt(backend.to_host(out).reshape(parts, 5).max(axis=0))
    # worst seen: 4e-16
    assert np.allclose(found, g08_turning.leaning(radii, quat, spins), rtol=1e-13, atol=0)


def test_round_ones_lean_by_nothing(backend):
    out = backend.fill(backend.empty(1, np.float64), 77)
    quat = quaternions(np.random.default_rng(4), 1)
    backend.launch_items(
        backend.module("device_queries", "mixed")["g08_leaning"], 1, n=1, total=1, n_turning=1,
        radius_in=backend.to_device(np.full(3, 0.3)), quat_in=backend.to_device(quat.reshape(-1)),
        spin_in=backend.to_device(np.ones(3)), leaning_out=out,
    )  # fmt: skip
    assert backend.to_host(out)[0] == 0


def test_carried(backend):
    rng, n = np.random.default_rng(5), 50
    place, velocity = rng.normal(size=(2, n, 3))
    riding, state = rng.integers(-1, 5, n), rng.choice(np.array([0, 0, gc.Status.INVALID_INPUT], np.uint8), n)
    origin, motion = rng.normal(size=(2, 4, 3))
    turn, turns = quaternions(rng, 4), np.array([1, 0, 1, 1], np.int32)
    flat = {"turn_in": turn, "origin_in": origin, "motion_in": motion, "velocity_in": velocity}
    out = backend.fill(backend.empty(3 * n, np.float64), 77)
    backend.launch_items(
        backend.module("device_queries", "mixed")["g08_carried"], n, n=n, n_bodies=4, start_step=3,
        start_given=backend.to_device(place.reshape(-1)), riding_given=backend.to_device(riding),
        state_in=backend.to_device(state), turns_in=backend.to_device(turns), path_out=out,
        **{name: backend.to_device(x.reshape(-1)) for name, x in flat.items()},
    )  # fmt: skip
    found = backend.to_host(out).reshape(n, 3)
    some = (state == 0) & np.isin(riding, [0, 2, 3])
    assert (found[~some] == 77).all() and 5 < some.sum() < n
    wanted = g08_turning.carried(place[some], velocity[some], riding[some], turn, origin, motion)
    assert np.allclose(found[some], wanted, atol=1e-14)  # worst seen: 1e-15
