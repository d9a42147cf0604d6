"""Casts that are given on the device: nothing goes up, one wait, the bits of the host."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.errors import MemoryLimitError
from tests.ptx._landing import FORMS, asked, cast, lies, same, slid, steps, turning_world, world_of
from tests.ptx._staying import Moved


@pytest.mark.parametrize("form", FORMS)
def test_nothing_goes_up_and_the_host_waits_once(cuda, form):
    world, given = world_of(), asked(form)
    wanted = cast(form, given, world, backend="cpu")
    statuses = set(wanted.status.tolist())
    assert statuses == {gc.Status.MISS, gc.Status.HIT, gc.Status.INVALID_INPUT, gc.Status.UNRESOLVED}
    there = {name: cuda.asarray(array) for name, array in given.items()}
    for hits in ("first", "any", "all"):
        cast(form, there, world, lambda x: x, backend="cuda", hits=hits)  # the world goes up, once
        with Moved(cuda) as moved:
            found = cast(form, there, world, lambda x: x, backend="cuda", hits=hits)
        assert lies(found, cuda.ndarray)
        assert (moved.up, moved.down, moved.waits) == (0, 1, 1), hits
        same(found, cast(form, given, world, backend="cpu", hits=hits))
    assert repr(found).splitlines()[:3] == repr(found.to_numpy()).splitlines()[:3]


@pytest.mark.slow  # each precision is a build of its own: single is in .ci/run
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("most", [1 << 20, 7])
def test_precisions_and_pieces(cuda, monkeypatch, precision, most):
    """In single precision positions count from the middle of the world, and come back."""
    monkeypatch.setattr("gpu_collide.pipeline.sweep.device_queries.PIECE", most)
    world = world_of()
    far = gc.Poses.from_quat_wxyz(world.start.position + [1e5, 0, -3e4], world.start.quat_wxyz)
    world = gc.Bodies(world.meshes, world.shape, far, far)
    for form in FORMS:
        given = asked(form, 40)
        given["start"] += [1e5, 0, -3e4]
        for hits in ("first", "all"):
            wanted = cast(form, given, world, backend="cpu", precision=precision, hits=hits)
            found = cast(form, given, world, cuda.asarray, backend="cuda", precision=precision, hits=hits)
            assert lies(found, cuda.ndarray) and wanted.hit.sum() > 3
            same(found, wanted)
    given = steps()
    given["position"] += [1e5, 0, -3e4]
    same(
        slid(given, world, cuda.asarray, backend="cuda", precision=precision),
        slid(given, world, backend="cpu", precision=precision),
    )
    given = {"position": given["position"], "radii": given["radii"], "reach": 0.4, "precision": precision}
    there = given | {name: cuda.asarray(given[name]) for name in ("position", "radii")}
    same(gc.sweep.planes(world, **there, backend="cuda"), gc.sweep.planes(world, **given, backend="cpu"))


@pytest.mark.parametrize("results", ["auto", "host", "device"])
@pytest.mark.parametrize("on", ["all", "start", "none"])
def test_one_rule_for_where_results_live(cuda, on, results):
    world = world_of()
    kind = cuda.ndarray if results == "device" or (results, on) == ("auto", "all") else np.ndarray
    for form in FORMS:
        for n in (12, 0):
            given = {k: v[:n] for k, v in asked(form, hostile=False).items()}
            there = {
                name: cuda.asarray(v) if on == "all" or (on == "start" and name == "start") else v
                for name, v in given.items()
            }
            for hits in ("first", "all"):
                found = cast(form, there, world, lambda x: x, backend="cuda", results=results, hits=hits)
                assert lies(found, kind), (form, n, hits)
                same(found, cast(form, given, world, backend="cpu", hits=hits))
    given = steps(12, hostile=False)
    there = {
        name: cuda.asarray(v) if on == "all" or (on == "start" and name == "position") else v
        for name, v in given.items()
    }
    found = slid(there, world, lambda x: x, backend="cuda", results=results, up=[0, 0, 1])
    assert lies(found, kind)
    same(found, slid(given, world, backend="cpu", up=[0, 0, 1]))


def test_what_all_have_in_common_need_not_lie_there(cuda):
    """A path, a radius, an orientation for all: they have no rows, and say nothing of where results are."""
    world, given = world_of(), asked("ellipsoids", hostile=False)
    common = {"displacement": [0, 1.0, -4], "radii": [0.2, 0.3, 0.2], "orientation": [0.6, 0, 0.8, 0]}
    wanted = gc.sweep.ellipsoids(given["start"], obstacles=world, backend="cpu", **common)
    for put in (np.asarray, cuda.asarray):
        there = {name: put(value) for name, value in common.items()}
        start = cuda.asarray(given["start"])
        found = gc.sweep.ellipsoids(start, obstacles=world, backend="cuda", **there)
        assert lies(found, cuda.ndarray)
        same(found, wanted)
    found = gc.sweep.ellipsoids([0, 0, 3.0], obstacles=world, backend="cuda", **there)
    assert lies(found, np.ndarray)  # nothing has rows
    found = gc.sweep.spheres(start, [0, 0, -3], cuda.asarray(0.2), world, backend="cuda")
    same(found, gc.sweep.spheres(given["start"], [0, 0, -3], 0.2, world, backend="cpu"))
    assert lies(found, cuda.ndarray)


def test_other_dtypes_and_strides(cuda):
    world, given = world_of(), asked("spheres", 12, hostile=False)
    start, radius = given["start"].astype(np.float32), given["radius"].astype(np.float32)
    wide = cuda.asarray(np.hstack((given["displacement"], given["displacement"])))
    found = gc.sweep.spheres(cuda.asarray(start), wide[:, 3:], cuda.asarray(radius), world, backend="cuda")
    same(found, gc.sweep.spheres(start, given["displacement"], radius, world, backend="cpu"))
    found = slid(steps() | {"riding": np.full(40, -1, np.int8)}, world, cuda.asarray, backend="cuda")
    same(found, slid(steps() | {"riding": np.full(40, -1)}, world, backend="cpu"))


WRONG = {
    "radius": ("spheres", "radius", lambda x: x.__setitem__(4, -1.0)),
    "radii": ("ellipsoids", "radii", lambda x: x.__setitem__((4, 1), 0.0)),
    "negative": ("ellipsoids", "radii", lambda x: x.__setitem__((4, 1), -0.5)),
    "cluster": ("clusters", "clusters", lambda x: x.__setitem__(4, 2)),
    "below": ("clusters", "clusters", lambda x: x.__setitem__(4, -1)),
}


@pytest.mark.parametrize("which", WRONG)
def test_what_raises_on_the_host_raises_when_it_is_known(cuda, which):
    form, name, spoil = WRONG[which]
    world, given = world_of(), asked(form, hostile=False)
    spoil(given[name])
    for hits in ("first", "all"):
        with pytest.raises(ValueError) as wanted:
            cast(form, given, world, backend="cpu", hits=hits)
        with pytest.raises(ValueError) as found:
            cast(form, given, world, cuda.asarray, backend="cuda", hits=hits)
        assert str(found.value) == str(wanted.value)
    with Moved(cuda) as moved, pytest.raises(ValueError) as found:
        cast(form, given, world, backend="cuda", results="device")
    assert str(found.value) == str(wanted.value) and moved.launches == 0


def test_shapes_and_dtypes_raise_before_any_launch(cuda):
    world, start = world_of(), np.zeros((4, 3))
    bad = [
        ("rays", {"start": np.zeros((4, 2)), "displacement": start}),
        ("rays", {"start": start, "displacement": np.zeros((5, 3))}),
        ("rays", {"start": start + 1j, "displacement": start}),
        ("spheres", {"start": start, "displacement": start, "radius": np.zeros(5)}),
        ("ellipsoids", {"start": start, "displacement": start, "radii": start + 1, "orientation": start}),
        ("clusters", {"start": start, "displacement": start, "clusters": np.zeros(4)}),
        ("clusters", {"start": start, "displacement": start, "clusters": np.zeros(3, int)}),
    ]
    for form, given in bad:
        with pytest.raises((TypeError, ValueError)) as wanted:
            cast(form, given, world, backend="cpu")
        with Moved(cuda) as moved, pytest.raises(wanted.type) as found:
            cast(form, given, world, cuda.asarray, backend="cuda")
        words = (str(error.value).split("; pass ")[0] for error in (found, wanted))
        assert len(set(words)) == 1 and moved.launches == 0
    with pytest.raises(ValueError, match=r"gravity: expected shape \(3,\) or \(40, 3\)"):
        slid(steps() | {"gravity": np.zeros((3, 3))}, world, cuda.asarray, backend="cuda")
    with pytest.raises(TypeError, match="riding: expected integers, got float64"):
        slid(steps() | {"riding": np.zeros(40)}, world, cuda.asarray, backend="cuda")


@pytest.mark.parametrize("form", FORMS)
def test_bodies_that_turn_are_met_there(cuda, form):
    """Nothing goes up, and no query comes down, but how far all of them reach."""
    world, given = turning_world(), asked(form)
    with pytest.raises(ValueError, match="without turning, got 3 that turn"):
        cast(form, given, world, cuda.asarray, backend="cuda")
    there = {name: cuda.asarray(array) for name, array in given.items()}
    for hits in ("first", "all"):
        options = {"turning": "chord", "hits": hits}
        cast(form, there, world, lambda x: x, backend="cuda", **options)
        with Moved(cuda) as moved:
            found = cast(form, there, world, lambda x: x, backend="cuda", **options)
        assert lies(found, cuda.ndarray) and (moved.up, moved.waits) == (0, 2)
        assert moved.bytes_down < 300
        wanted = cast(form, given, world, backend="cpu", **options)
        assert found.info["turning"] == wanted.info["turning"] > 0
        same(found, wanted)


@pytest.mark.parametrize("form", ["spheres", "clusters"])
def test_bodies_that_turn_on_their_own_motions_are_met_there(cuda, form):
    """As among bodies that do not turn: nothing goes up, one wait, the bits of the host."""
    world, given = turning_world(), asked(form)
    there = {name: cuda.asarray(array) for name, array in given.items()}
    for hits in ("first", "all"):
        options = {"turning": "exact", "hits": hits}
        cast(form, there, world, lambda x: x, backend="cuda", **options)
        with Moved(cuda) as moved:
            found = cast(form, there, world, lambda x: x, backend="cuda", **options)
        assert lies(found, cuda.ndarray) and (moved.up, moved.down, moved.waits) == (0, 1, 1)
        wanted = cast(form, given, world, backend="cpu", **options)
        assert found.info["turning"] == wanted.info["turning"] == 0 and wanted.hit.sum() > 3
        same(found, wanted)


def test_many_queries_are_put_in_order_there(cuda, monkeypatch):
    monkeypatch.setattr("gpu_collide.pipeline.sweep.casts.MANY", 16)
    monkeypatch.setattr("gpu_collide.pipeline.sweep.casts.LARGE", 16)
    world, given = world_of(), asked("spheres")
    cast("spheres", given, world, cuda.asarray, backend="cuda")
    there = {name: cuda.asarray(array) for name, array in given.items()}
    with Moved(cuda) as moved:
        found = cast("spheres", there, world, lambda x: x, backend="cuda")
    assert (moved.up, moved.waits) == (0, 1)
    assert {"w01_keys", "w01_first"} <= set(found.info["timings"])
    same(found, cast("spheres", given, world, backend="cpu"))


def test_a_scene_and_the_callers_stream(cuda):
    """All of a call is on the stream that is current."""
    world, given = world_of(), asked("spheres")
    wanted = cast("spheres", given, world, backend="cpu")
    with gc.Scene(world.meshes, world.shape, world.start, world.end, backend="cuda") as scene:
        with cuda.cuda.Stream(non_blocking=True):
            there = {name: cuda.asarray(array) for name, array in given.items()}
            for _ in range(2):
                found = cast("spheres", there, scene, lambda x: x)
            assert lies(found, cuda.ndarray)
            same(found, wanted)
            same(cast("spheres", there, scene, lambda x: x, hits="all", results="host"),
                 cast("spheres", given, world, backend="cpu", hits="all"))  # fmt: skip


def test_other_backends_and_devices_take_what_lies_on_a_gpu(cuda, monkeypatch):
    world, given = world_of(), asked("clusters")
    wanted = cast("clusters", given, world, backend="cpu")
    for results in ("auto", "device"):
        found = cast("clusters", given, world, cuda.asarray, backend="cpu", results=results)
        assert lies(found, np.ndarray)
        same(found, wanted)
    monkeypatch.setattr(cuda.cuda.runtime, "count", 2)
    with cuda.cuda.Device(1):
        there = {name: cuda.asarray(array) for name, array in given.items()}
    found = cast("clusters", there, world, lambda x: x, backend="cuda")
    assert lies(found, np.ndarray)  # they lie on another device than the backend
    same(found, wanted)
    there["start"] = cuda.asarray(given["start"])
    found = cast("clusters", there, world, lambda x: x, backend="cuda", results="device")
    assert lies(found, cuda.ndarray)  # by way of the host, from two devices
    same(found, wanted)


def test_what_is_made_of_results_on_the_device(cuda, tmp_path):
    """Rows, files and tables are the host's."""
    world, given = world_of(), asked("spheres", hostile=False)
    found = cast("spheres", given, world, cuda.asarray, backend="cuda", hits="all")
    here = found.to_numpy()
    assert lies(here, np.ndarray) and here.to_numpy() is here
    same(found[::2], here[::2])
    assert found[1] == here[1] and len(list(found)) == len(here)
    found.save(tmp_path / "hits.npz")
    same(gc.sweep.Hits.load(tmp_path / "hits.npz"), here)


def test_memory(cuda):
    """Pieces keep to the limit; what does not fit alone says so."""
    world, given = world_of(), asked("spheres", 400, hostile=False)
    wanted = cast("spheres", given, world, backend="cpu", hits="all")
    there = {name: cuda.asarray(array) for name, array in given.items()}

    def found(most):
        return cast("spheres", there, world, lambda x: x, backend="cuda", hits="all", max_bytes=most)

    with pytest.raises(MemoryLimitError, match="room for the world") as raised:
        found(10)
    held = int(str(raised.value).split("the world, ")[1].split()[0])
    with pytest.raises(MemoryLimitError, match="all that query . touches"):
        found(held + 300)
    with Moved(cuda) as moved:
        pieces = found(held + 20_000)
    assert moved.waits > 2  # a wait a piece
    same(pieces, wanted)
