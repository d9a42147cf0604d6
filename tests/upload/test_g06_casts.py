"""g06_casts: what is given of casts and characters is checked, and made harmless where it is wrong."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.poses import UNIT_TOLERANCE
from gpu_collide.reference.upload import g06_casts

SHIFT = (1.5, -2.0, 0.25)
WORDS = {gc.Status.MISS: "swept", gc.Status.INVALID_INPUT: "invalid", gc.Status.UNRESOLVED: "too long"}
LIMIT = 1e6
FORMS = {"spheres": 0, "ellipsoids": 1, "clusters": 2}


def hostile(form, n, seed=1):
    """Rows good and bad."""
    rng = np.random.default_rng(seed)
    start, path = rng.normal(size=(2, n, 3))
    quat = rng.normal(size=(n, 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    quat *= rng.choice([1, 1, 1, 1 + 9e-4, 1.1], n)[:, None]
    radius = rng.uniform(0.1, 1, (n, 3 if form == "ellipsoids" else 1))
    cluster = rng.integers(-1, 4, n)
    for array in (start, path, quat, radius):
        for value in (np.nan, np.inf, -np.inf, 1e9, 0.0, -0.0, -0.3):
            array[rng.integers(n), rng.integers(array.shape[1])] = value
    cluster[rng.integers(n)] = 2**40
    return start, path, radius, quat, cluster


def launched(backend, form, given, turned=True, out_step=6, steps=(3, 3, None, 4)):
    start, path, radius, quat, cluster = given
    n, width = len(start), radius.shape[1]
    steps = {
        name: width if step is None else step
        for name, step in zip(("start", "path", "radius", "quat"), steps, strict=True)
    }
    fresh = lambda size, dtype: backend.fill(backend.empty(size, dtype), 7)  # noqa: E731
    out = {"radius": fresh(width * n, np.float64), "quat": fresh(4 * n, np.float64)}
    out |= {"cluster": fresh(n, np.int32), "state": fresh(n, np.uint8), "wrong": backend.zeros(1, np.int32)}
    out |= {"start": fresh(out_step * n, np.float64), "path": fresh(out_step * n, np.float64)}
    placed = {name: backend.to_device(array.reshape(-1)) for name, array in
              zip(("start", "path", "radius", "quat", "cluster"), given, strict=True)}  # fmt: skip
    backend.launch_items(
        backend.module("device_queries", "mixed")["g06_casts"], n, n=n, form=FORMS[form], turned=int(turned),
        out_step=out_step, n_clusters=3, tolerance=UNIT_TOLERANCE, limit=LIMIT, ball=2.0, fat=0.5,
        **{f"{name}_step": step for name, step in steps.items()},
        **dict(zip(("shift_x", "shift_y", "shift_z"), SHIFT, strict=True)),
        **{f"{name}_given": array for name, array in placed.items()},
        **{f"{name}_out": array for name, array in out.items()},
    )  # fmt: skip
    return {name: backend.to_host(array) for name, array in out.items()}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [1, 300])
def test_against_the_reference(backend, form, n):
    given = hostile(form, n)
    start, path, radius, quat, cluster = given
    alone = form == "clusters"
    wanted = g06_casts.taken_over(
        start, path, None if alone else radius, None if form == "spheres" else quat, cluster, LIMIT,
        UNIT_TOLERANCE, np.array(SHIFT), 2.5, 3,
    )  # fmt: skip
    found = launched(backend, form, given)
    assert [WORDS[s] for s in found["state"]] == wanted.state
    assert n == 1 or set(wanted.state) == set(WORDS.values())
    assert found["wrong"][0] == wanted.wrong and (n == 1 or wanted.wrong > 0)
    for name, exact in (("start", wanted.start), ("path", wanted.path)):
        assert found[name].reshape(n, 6)[:, :3].tolist() == exact.tolist(), name
        assert (found[name].reshape(n, 6)[:, 3:] == 7).all(), "written beside it"
    if alone:
        assert found["cluster"].tolist() == wanted.cluster.tolist()
    else:
        assert found["radius"].tolist() == wanted.radius.reshape(-1).tolist()
    if form != "spheres":
        # worst seen: 2.2e-16
        assert np.abs(found["quat"] - wanted.quat.reshape(-1)).max() < 1e-15


def test_one_row_for_all(backend):
    start, path, cluster = np.full((5, 3), 0.5), np.full((5, 3), -2.0), np.zeros(5, np.int64)
    radius, quat = np.full((5, 3), 0.3), np.tile([0.6, 0, 0.8, 0], (5, 1))
    wanted = launched(backend, "ellipsoids", (start, path, radius, quat, cluster), out_step=3)
    found = launched(
        backend, "ellipsoids", (start, path, radius, quat, cluster), out_step=3, steps=(0, 0, 0, 0)
    )
    assert all((found[name] == wanted[name]).all() for name in found)
    radius[:] = np.inf
    given = start, path, radius, quat, cluster
    assert launched(backend, "ellipsoids", given)["wrong"][0] == 0  # each by itself is INVALID_INPUT
    assert launched(backend, "ellipsoids", given, steps=(3, 3, 0, 4))["wrong"][0] == 5


def test_without_orientations(backend):
    found = launched(backend, "clusters", hostile("clusters", 20), turned=False)
    assert found["quat"].reshape(-1, 4).tolist() == [[1, 0, 0, 0]] * 20


@pytest.mark.parametrize("rides", [True, False])
def test_characters_against_the_reference(backend, rides):
    n, rng = 200, np.random.default_rng(5)
    start, path, radius, quat, cluster = hostile("ellipsoids", n)
    fall, riding = rng.normal(size=(n, 3)), rng.integers(-2, 5, n)
    fall[4, 2], fall[7, 0], riding[9] = np.nan, -np.inf, 2**33
    motion = rng.normal(size=(4, 3))
    taken = g06_casts.taken_over(start, path, radius, quat, cluster, LIMIT, UNIT_TOLERANCE, np.array(SHIFT))
    wanted = g06_casts.walkers(taken, fall, riding if rides else np.full(n, -1), motion, SHIFT)
    made = launched(backend, "ellipsoids", (start, path, radius, quat, cluster), out_step=3)
    changed = {name: backend.to_device(made[name]) for name in ("start", "state")}
    changed["velocity"] = backend.to_device(made["path"])
    out = {f"{name}_out": backend.fill(backend.empty(3 * n, np.float64), 7) for name in ("path", "fall")}
    out["wrong_out"] = backend.zeros(1, np.int32)
    backend.launch_items(
        backend.module("device_queries", "mixed")["g06_walkers"], n, n=n, n_bodies=4, fall_step=3,
        rides=int(rides),
        **dict(zip(("shift_x", "shift_y", "shift_z"), SHIFT, strict=True)),
        fall_given=backend.to_device(fall.reshape(-1)), riding_given=backend.to_device(riding),
        motion_in=backend.to_device(motion.reshape(-1)), **changed, **out,
    )  # fmt: skip
    found = [changed["start"], changed["velocity"], out["path_out"], out["fall_out"]]
    for buffer, right in zip(found, wanted, strict=False):
        assert backend.to_host(buffer).reshape(n, 3).tolist() == right.tolist()
    *_, good, wrong = wanted
    assert (backend.to_host(changed["state"]) == 0).tolist() == good and 0 < sum(good) < n
    assert int(backend.to_host(out["wrong_out"])[0]) == (wrong if rides else 0)


def test_rules_against_the_reference(backend):
    bits = [0, 1, -1, 2**31, 2**31 - 1, -(2**31), 2**32 - 1, 2**32, -(2**31) - 1, 2**62, -(2**62)]
    group, mask, ignore = (x.reshape(-1) for x in np.meshgrid(bits, bits, [-1, 0, 3, 4, -2, 2**32]))
    world = np.arange(len(group))
    for given in (
        (group, mask, ignore, world),
        (group, mask[:1], ignore[:1], world[:1]),
        (group[-1:], mask, ignore, world),
    ):
        n = max(map(len, given))
        out = {"rules_out": backend.fill(backend.empty(4 * n, np.int32), 7)}
        out["wrong_out"] = backend.zeros(1, np.int32)
        named = dict(zip(("group", "mask", "ignore", "world"), given, strict=True))
        backend.launch_items(
            backend.module("device_queries", "mixed")["g06_rules"], n, n=n, n_bodies=4,
            **{f"{name}_step": int(len(array) > 1) for name, array in named.items()},
            **{f"{name}_given": backend.to_device(array) for name, array in named.items()}, **out,
        )  # fmt: skip
        wanted, wrong = g06_casts.rules(*(np.broadcast_to(array, n).tolist() for array in given), 4)
        assert backend.to_host(out["rules_out"]).reshape(n, 4).tolist() == wanted
        assert int(backend.to_host(out["wrong_out"])[0]) == wrong
        assert 0 < wrong < n or len(given[0]) == 1
