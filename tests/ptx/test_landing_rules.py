"""Groups, masks and bodies to ignore that are given on the device: nothing goes up, the bits of the host."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.ptx._landing import FORMS, asked, cast, lies, same, slid, steps, turning_world, world_of
from tests.ptx._staying import Moved

BITS = np.array([0, 1, 2, 3, 0xFFFFFFFF, 0xFFFFFFFF, -1, 1 << 31, -(1 << 31)])


def scene_of(world, backend):
    rng = np.random.default_rng(11)
    bits = {name: rng.choice(BITS, len(world)) for name in ("group", "mask")}
    return gc.Scene(world.meshes, world.shape, world.start, world.end, **bits, backend=backend)


def rules_of(n):
    rng = np.random.default_rng(12)
    return {"group": rng.choice(BITS, n), "mask": rng.choice(BITS, n), "ignore": rng.integers(-1, 11, n)}


def placed(cuda, given):
    return {name: cuda.asarray(array) for name, array in given.items()}


@pytest.mark.parametrize("form", FORMS)
def test_casts(cuda, form):
    given, world = asked(form), world_of()
    rules = rules_of(len(given["start"]))
    there, rules_there = placed(cuda, given), placed(cuda, rules)
    with scene_of(world, "cpu") as wanted, scene_of(world, "cuda") as scene:
        free = cast(form, given, world, backend="cpu")
        for hits in ("first", "any", "all"):
            cast(form, there, scene, lambda x: x, hits=hits, **rules_there)
            with Moved(cuda) as moved:
                found = cast(form, there, scene, lambda x: x, hits=hits, **rules_there)
            assert lies(found, cuda.ndarray) and (moved.up, moved.down, moved.waits) == (0, 1, 1), hits
            host = cast(form, given, wanted, hits=hits, **rules)
            same(found, host)
            assert 0 < host.hit.sum() < free.hit.sum()
        one = {"group": 3, "mask": np.uint32(0xFFFFFFFF), "ignore": 10}
        same(cast(form, there, scene, lambda x: x, **one), cast(form, given, wanted, **one))


@pytest.mark.parametrize("turning", [False, True])
def test_characters(cuda, turning):
    """Also where bodies turn, and cut the steps of those alone who meet them."""
    world, given = (turning_world() if turning else world_of()), steps()
    rules = rules_of(len(given["position"]))
    how = {"turning": "chord", "skin": 0.02} if turning else {}
    with scene_of(world, "cpu") as wanted, scene_of(world, "cuda") as scene:
        host = slid(given, wanted, **rules, **how)
        found = slid(placed(cuda, given), scene, lambda x: x, **placed(cuda, rules), **how)
        assert lies(found, cuda.ndarray)
        same(found, host)
        assert found.info.get("pieces") == host.info.get("pieces") and (host.info.get("pieces", 9) > 1)
        free = slid(given, world, backend="cpu", **how)
        moved = np.abs(host.position - free.position).max(axis=1) > 1e-3
        assert moved.sum() > 3
        near = {"position": given["position"], "radii": given["radii"]}
        planes = gc.sweep.planes(scene, **placed(cuda, near), reach=0.4, **placed(cuda, rules))
        same(planes, gc.sweep.planes(wanted, **near, reach=0.4, **rules))


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("ignore", 11, "ignore: expected bodies from 0 to 10, or -1, got 11"),
        ("mask", 1 << 32, "mask: expected 32 bits a cast"),
        ("group", -(1 << 31) - 1, "group: expected 32 bits a cast"),
    ],
)
def test_what_are_no_rules_is_refused(cuda, name, value, text):
    """Known when the one wait is over; wrong shapes and dtypes before."""
    world, given = world_of(), asked("rays", hostile=False)
    rules = {name: np.zeros(60, np.int64)}
    rules[name][17] = value
    there, how = placed(cuda, given), {"backend": "cuda"}
    for hits in ("first", "all"):
        with pytest.raises(ValueError, match=text):
            cast("rays", there, world, lambda x: x, hits=hits, **placed(cuda, rules), **how)
    with pytest.raises(ValueError, match=rf"{name}: expected shape \(60,\), got \(3,\)"):
        cast("rays", there, world, lambda x: x, **{name: cuda.asarray(np.zeros(3, np.int64))}, **how)
    with pytest.raises(TypeError, match=f"{name}: expected integers, got float64"):
        cast("rays", there, world, lambda x: x, **{name: cuda.asarray(np.zeros(60))}, **how)
