"""Casts and characters that are given on the device: nothing goes up, one wait, the bits of the host."""

import dataclasses
import textwrap
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.bodies.quaternion import multiply
from gpu_collide.errors import MemoryLimitError
from tests.ptx._staying import Moved

HERE = gc.Poses.identity(1)
CAR = gc.sweep.Cluster([[-0.4, 0, 0], [0.4, 0, 0.1], [0, 0.2, 0]], [0.2, 0.3, 0.25])
BALL = gc.sweep.Cluster([[0, 0, 0.1]], 0.2)
FORMS = ("rays", "spheres", "ellipsoids", "clusters")


def world_of(seed=3, moving=True):
    """Boxes and balls here and there, of which some move."""
    rng = np.random.default_rng(seed)
    meshes = [gc.shapes.box((1.5, 1.0, 1.2)), gc.shapes.icosphere(1), gc.shapes.box((9, 9, 1))]
    place = np.vstack((rng.uniform(-3, 3, (10, 3)), [[0, 0, -4.0]]))
    quat = rng.normal(size=(11, 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    quat[10] = 1, 0, 0, 0
    end = place + rng.normal(size=(11, 3)) * 0.2 * (np.arange(11) % 3 == 0)[:, None] * moving
    poses = (gc.Poses.from_quat_wxyz(p, quat) for p in (place, end))
    return gc.Bodies(meshes, np.array([0, 1] * 5 + [2]), *poses)


def asked(form, n=60, seed=4, hostile=True):
    """Arguments of a cast by name, with rows among them that are none."""
    rng = np.random.default_rng(seed)
    given = {"start": rng.uniform(-4, 4, (n, 3)), "path": rng.normal(size=(n, 3)) * 3}
    if form == "spheres":
        given["radius"] = rng.uniform(0, 0.4, n)
    if form == "ellipsoids":
        given["radii"] = rng.uniform(0.1, 0.4, (n, 3))
    if form in ("ellipsoids", "clusters"):
        quat = rng.normal(size=(n, 4))
        given["orientation"] = quat / np.linalg.norm(quat, axis=1)[:, None]
    if form == "clusters":
        given["clusters"] = rng.integers(0, 2, n)
    if hostile and n > 30:
        given["start"][3, 1], given["path"][5, 0], given["start"][7] = np.nan, np.inf, 1e300
        given["path"][8] = -0.0
        for name, wrong in (("radius", np.nan), ("radii", np.inf), ("orientation", 2.0)):
            if name in given:
                given[name][11] = wrong
    return given


def cast(form, given, world, put=np.asarray, **options):
    given = {name: put(array) for name, array in given.items()}
    if form == "clusters":
        given["clusters"] = [BALL, CAR], given["clusters"]
    return getattr(gc.sweep, form)(world=world, **given, **options)


def lies(found, kind):
    """Are all arrays of a result of this class?"""
    names = [f.name for f in dataclasses.fields(found) if f.name != "info"]
    return {type(getattr(found, name)) for name in names} == {kind}


def same(found, wanted):
    found, wanted = found.to_numpy(), wanted.to_numpy()
    for field in dataclasses.fields(wanted):
        if field.name != "info":
            a, b = getattr(found, field.name), getattr(wanted, field.name)
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), field.name


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


def steps(n=40, seed=5, hostile=True):
    """Arguments of `slide` by name."""
    rng = np.random.default_rng(seed)
    given = {
        "position": rng.uniform(-4, 4, (n, 3)), "velocity": rng.normal(size=(n, 3)) * [1, 1, 0.1],
        "radii": rng.uniform(0.2, 0.4, (n, 3)), "gravity": np.tile([0, 0, -0.7], (n, 1)),
        "riding": rng.integers(-1, 11, n),
    }  # fmt: skip
    if hostile:
        given["position"][3] = np.nan, 1.5, -np.inf
        given["velocity"][5, 0], given["gravity"][7, 1], given["position"][9] = np.inf, np.nan, 1e300
        given["radii"][11, 2] = np.nan
        given["riding"][[3, 5, 7]] = 10
    return given


def slid(given, world, put=np.asarray, **options):
    given = {name: put(array) for name, array in given.items()}
    return gc.sweep.slide(world, **given, **options)


def test_characters(cuda):
    world, given = world_of(), steps()
    rules = {"up": [0, 0, 1], "step_height": 0.2}
    wanted = slid(given, world, backend="cpu", **rules)
    assert {gc.Status.MISS, gc.Status.HIT, gc.Status.INVALID_INPUT} <= set(wanted.status.tolist())
    assert wanted.grounded.sum() >= 5
    there = {name: cuda.asarray(array) for name, array in given.items()}
    slid(there, world, lambda x: x, backend="cuda", **rules)
    with Moved(cuda) as moved:
        found = slid(there, world, lambda x: x, backend="cuda", **rules)
    assert lies(found, cuda.ndarray) and (moved.up, moved.down, moved.waits) == (0, 1, 1)
    assert moved.launches == 4
    same(found, wanted)
    same(slid(there, world, lambda x: x, backend="cuda", step_height=0.2), wanted)  # up is found there
    assert "grounded" in repr(found) and found.grounded.sum() == wanted.grounded.sum()


@pytest.mark.parametrize("moving", [False, True])
def test_a_loop_of_steps_stays_on_the_device(cuda, moving):
    """What one step leaves is given to the next: nothing goes up, and nothing comes down but a count."""
    world, given = world_of(moving=moving), steps(hostile=False)
    del given["riding"]

    def loop(put, backend, count=4):
        put_all = {name: put(array) for name, array in given.items()}
        place, way, radii, fall = put_all.values()
        ground, seen = None, []
        for _ in range(count):
            found = gc.sweep.slide(
                world, place, radii, way, gravity=fall, up=[0, 0, 1], riding=ground, backend=backend
            )
            place, fall, ground = found.position, found.fall + put_all["gravity"], found.ground_body
            seen.append(found)
        return seen

    loop(cuda.asarray, "cuda", 2)
    with Moved(cuda) as moved:
        found = loop(cuda.asarray, "cuda")
    assert moved.up == 4 and moved.waits == 4  # the arrays at the beginning; a wait a step
    for a, b in zip(found, loop(np.asarray, "cpu"), strict=True):
        same(a, b)


def test_the_loop_of_the_guide(cuda):
    """Line for line, and with `numpy` for `cupy`; no step of it uploads anything but the first."""
    page = (Path(__file__).parents[2] / "docs" / "characters.md").read_text(encoding="utf-8")
    text = textwrap.dedent("    import cupy" + page.split("    import cupy", 1)[1].split("\nThe same", 1)[0])
    found, ups, waits = [], [], []
    for count in (10, 14, 10):
        with Moved(cuda) as moved:
            exec(text.replace("range(10)", f"range({count})"), {"print": found.append})
        ups.append(moved.up)
        waits.append(moved.waits)
    assert ups[1] == ups[2] <= ups[0]  # the world, and places: no more for more steps
    assert waits[1] == waits[2] + 4
    exec(text.replace("cupy", "numpy").replace('backend="cuda"', 'backend="cpu"'), {"print": found.append})
    found = found[2:]
    assert lies(found[0], cuda.ndarray) and found[0].grounded.sum() == 20
    same(*found)


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_planes(cuda, at):
    world, given = world_of(), steps()
    given = {"position": given["position"], "radii": given["radii"]}
    wanted = gc.sweep.planes(world, **given, reach=0.5, at=at, backend="cpu")
    assert len(wanted) > 10 and (wanted.status == gc.Status.INVALID_INPUT).sum() == 3
    there = {name: cuda.asarray(array) for name, array in given.items()}
    for warm in (True, False):
        with Moved(cuda) as moved:
            found = gc.sweep.planes(world, **there, reach=0.5, at=at, backend="cuda")
        assert warm or (moved.up, moved.waits) == (0, 1)
    assert lies(found, cuda.ndarray)
    same(found, wanted)
    same(gc.sweep.planes(world, **given, reach=0.5, at=at, backend="cuda", results="device"), wanted)


@pytest.mark.parametrize("precision", ["single", pytest.param("double", marks=pytest.mark.slow)])
@pytest.mark.parametrize("most", [1 << 20, 7])
def test_precisions_and_pieces(cuda, monkeypatch, precision, most):
    """In single precision positions count from the middle of the world, and come back."""
    monkeypatch.setattr("gpu_collide.pipeline.landing.PIECE", most)
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
    common = {"path": [0, 1.0, -4], "radii": [0.2, 0.3, 0.2], "orientation": [0.6, 0, 0.8, 0]}
    wanted = gc.sweep.ellipsoids(given["start"], world=world, backend="cpu", **common)
    for put in (np.asarray, cuda.asarray):
        there = {name: put(value) for name, value in common.items()}
        start = cuda.asarray(given["start"])
        found = gc.sweep.ellipsoids(start, world=world, backend="cuda", **there)
        assert lies(found, cuda.ndarray)
        same(found, wanted)
    found = gc.sweep.ellipsoids([0, 0, 3.0], world=world, backend="cuda", **there)
    assert lies(found, np.ndarray)  # nothing has rows
    found = gc.sweep.spheres(start, [0, 0, -3], cuda.asarray(0.2), world, backend="cuda")
    same(found, gc.sweep.spheres(given["start"], [0, 0, -3], 0.2, world, backend="cpu"))
    assert lies(found, cuda.ndarray)


def test_other_dtypes_and_strides(cuda):
    world, given = world_of(), asked("spheres", 12, hostile=False)
    start, radius = given["start"].astype(np.float32), given["radius"].astype(np.float32)
    wide = cuda.asarray(np.hstack((given["path"], given["path"])))
    found = gc.sweep.spheres(cuda.asarray(start), wide[:, 3:], cuda.asarray(radius), world, backend="cuda")
    same(found, gc.sweep.spheres(start, given["path"], radius, world, backend="cpu"))
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


def test_characters_that_ride_on_nothing(cuda):
    world, given = world_of(), steps(hostile=False)
    for wrong in (11, -2, 2**40):
        given["riding"][6] = wrong
        with pytest.raises(ValueError, match="riding: expected bodies 0 to 10, or -1") as wanted:
            slid(given, world, backend="cpu")
        with pytest.raises(ValueError) as found:
            slid(given, world, cuda.asarray, backend="cuda")
        assert str(found.value) == str(wanted.value)


def test_shapes_and_dtypes_raise_before_any_launch(cuda):
    world, start = world_of(), np.zeros((4, 3))
    bad = [
        ("rays", {"start": np.zeros((4, 2)), "path": start}),
        ("rays", {"start": start, "path": np.zeros((5, 3))}),
        ("rays", {"start": start + 1j, "path": start}),
        ("spheres", {"start": start, "path": start, "radius": np.zeros(5)}),
        ("ellipsoids", {"start": start, "path": start, "radii": start + 1, "orientation": start}),
        ("clusters", {"start": start, "path": start, "clusters": np.zeros(4)}),
        ("clusters", {"start": start, "path": start, "clusters": np.zeros(3, int)}),
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


def turning_world(moving=True):
    """`world_of`, in which three bodies turn, one of them about its place."""
    world = world_of(moving=moving)
    turned = world.end.quat_wxyz.copy()
    for body, angle in ((0, 0.3), (4, 0.1), (10, 0.05)):
        q, turn = turned[body], np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        turned[body] = multiply(turn, q)
    ends = gc.Poses.from_quat_wxyz(world.end.position, turned)
    return gc.Bodies(world.meshes, world.shape, world.start, ends)


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


@pytest.mark.parametrize("precision", ["mixed", "single"])
@pytest.mark.parametrize("skin, pieces", [(0.2, 2), (0.05, 4), (5.0, 1)])
def test_characters_among_bodies_that_turn_stay_there(cuda, precision, skin, pieces):
    world, given = turning_world(), steps()
    given["riding"][12:30] = np.tile([0, 4, 10], 6)
    options = {"turning": "chord", "skin": skin, "up": [0, 0, 1], "step_height": 0.2, "precision": precision}
    wanted = slid(given, world, backend="cpu", **options)
    assert wanted.info["pieces"] >= pieces and (wanted.info["pieces"] == 1) == (pieces == 1)
    there = {name: cuda.asarray(array) for name, array in given.items()}
    slid(there, world, lambda x: x, backend="cuda", **options)
    with Moved(cuda) as moved:
        found = slid(there, world, lambda x: x, backend="cuda", **options)
    assert lies(found, cuda.ndarray) and moved.waits <= 1 + wanted.info["pieces"]
    assert moved.bytes_down < 300 + 8 * wanted.info["pieces"]  # no character comes down
    for name in ("turning", "pieces"):
        assert found.info[name] == wanted.info[name] > 0
    same(found, wanted)
    assert len(set(wanted.status.tolist())) >= 3
    one = {name: array[0] if name in ("velocity", "gravity") else array for name, array in given.items()}
    same(
        slid(one, world, cuda.asarray, backend="cuda", **options), slid(one, world, backend="cpu", **options)
    )
    host = slid(there, world, lambda x: x, backend="cuda", results="host", **options)
    assert lies(host, np.ndarray)
    same(host, wanted)
    found = slid(given, world, backend="cuda", results="device", **options)  # given on the host
    assert lies(found, cuda.ndarray)
    same(found, wanted)
    alone = {"position": [0.0, 0, 2], "velocity": [0.1, 0, 0], "radii": [0.3] * 3, "gravity": [0, 0, -0.1]}
    found = slid(alone, world, cuda.asarray, backend="cuda", results="device", **options)
    same(found, slid(alone, world, backend="cpu", **options))


def test_pieces_of_the_queries_and_of_the_step(cuda, monkeypatch):
    """What all queries reach is the most of several launches, each of them in several parts."""
    monkeypatch.setattr("gpu_collide.pipeline.landing.PIECE", 150)
    world, given = turning_world(), steps(400)
    given["position"][399] = 12.0, 9.0, 3.0  # it is the last that reaches farthest
    options = {"turning": "chord", "skin": 0.2, "up": [0, 0, 1]}
    there = {name: cuda.asarray(array) for name, array in given.items()}
    found, wanted = (
        slid(x, world, lambda x: x, backend=b, **options) for x, b in ((there, "cuda"), (given, "cpu"))
    )
    assert found.info["turning"] == wanted.info["turning"]
    same(found, wanted)


def test_what_is_wrong_among_bodies_that_turn_is_told_as_on_the_host(cuda):
    world = turning_world()
    for name, row, value in (("radii", 4, -1.0), ("riding", 5, 11), ("riding", 6, -2)):
        given = steps()
        given[name][row] = value
        words = []
        for put, backend in ((np.asarray, "cpu"), (cuda.asarray, "cuda")):
            with pytest.raises(ValueError) as told:
                slid(given, world, put, backend=backend, turning="chord", skin=0.05)
            words.append(str(told.value))
        assert words[0] == words[1] and name in words[0]
    with pytest.raises(ValueError, match="skin: expected more than .* 64 pieces"):
        slid(steps(), world, cuda.asarray, backend="cuda", turning="chord", skin=1e-9)


def test_many_queries_are_put_in_order_there(cuda, monkeypatch):
    monkeypatch.setattr("gpu_collide.pipeline.sweep.MANY", 16)
    monkeypatch.setattr("gpu_collide.pipeline.sweep.LARGE", 16)
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
