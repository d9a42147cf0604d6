"""One sequence and one wait a call, whatever a query asks for: near faces, rows of pixels, single precision,
the filter by planes, reports. The same bits as on `cpu`."""

import numpy as np
import pytest

import gpu_collide as gc
import gpu_collide.backends as backends
from gpu_collide.errors import MemoryLimitError
from gpu_collide.pipeline.narrow_phase.scratch import JOINED
from tests.ptx._staying import MESHES, Moved, lies, made, numbers, same

ROUND = (gc.shapes.icosphere(2), gc.shapes.car(), gc.shapes.torus(1.0, 0.4, 24, 8))  # of 10, 1 and 6 patches
ALL = ("spheres", "boxes", "plane")
WAYS = {
    "near": (ROUND, {"tuning": gc.Tuning(features="near")}),
    "segments": (MESHES, {"refine": "segments"}),
    "pixels": (MESHES, {"refine": "pixels", "resolution": 5}),
    "single": (MESHES, {"precision": "single"}),
    "plane": (MESHES, {"tuning": gc.Tuning(filters=ALL)}),
    "report": (MESHES, {"report": True}),
    "body": (MESHES, {"motion": "body"}),
    "body near": (ROUND, {"motion": "body", "tuning": gc.Tuning(features="near")}),
    "all at once": (
        ROUND,
        {"tuning": gc.Tuning(features="near", filters=ALL), "precision": "single", "report": True},
    ),
}


def ways(*soon, of=WAYS):
    """Values of a parameter: these, and the others in the long run."""
    late = [pytest.param(name, marks=pytest.mark.slow) for name in of if name not in soon]
    return [*soon, *late]


def asked(way, n=24, seed=2):
    """Bodies on the host, numbers for the device, pairs, and options."""
    meshes, options = WAYS[way]
    position, quat, shape, pairs = numbers(n, seed, meshes=meshes)
    return made(position, quat, shape, meshes=meshes), (position, quat, shape), pairs, meshes, options


@pytest.mark.parametrize("way", ways("near", "plane", "report", "body"))  # single: in .ci/run
def test_no_upload_and_one_wait(cuda, way):
    here, given, pairs, meshes, options = asked(way)
    bodies, there = made(*given, cuda.asarray, meshes), cuda.asarray(pairs)
    wanted = gc.collide(here, pairs, backend="cpu", **options)
    assert (wanted.status == gc.Status.HIT).sum() >= 2
    gc.collide(bodies, there, backend="cuda", **options)
    for _ in range(2):
        with Moved(cuda) as moved:
            found = gc.collide(bodies, there, backend="cuda", **options)
        assert lies(found, cuda.ndarray)
        assert (moved.up, moved.down, moved.waits) == (0, 1, 1)
        same(found, wanted)


def test_wide_meshes_side_by_side(cuda):
    """Of a mesh of 1,280 faces near faces are looked at beside small ones only: beside its like there were no
    counts of near faces to learn from, and a KeyError."""
    balls = gc.Poses.from_quat_wxyz([[0, 0, 0], [2.2, 0.3, 0.1]], [[1, 0, 0, 0]] * 2)
    after = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.7, 0.3, 0.1]], [[1, 0, 0, 0]] * 2)
    bodies = gc.Bodies(gc.shapes.icosphere(3), None, balls, after)
    wanted = gc.collide(bodies, [[0, 1]], backend="cpu")
    assert len(wanted)
    same(gc.collide(bodies, [[0, 1]], backend="cuda"), wanted)


@pytest.mark.parametrize("way", ways("near", "pixels"))
def test_from_the_host_and_back(cuda, way):
    here, _, pairs, _, options = asked(way)
    wanted = gc.collide(here, pairs, backend="cpu", **options)
    gc.collide(here, pairs, backend="cuda", **options)
    with Moved(cuda) as moved:
        found = gc.collide(here, pairs, backend="cuda", **options)
    assert lies(found, np.ndarray) and moved.waits == 2  # counts, contacts
    same(found, wanted)


@pytest.mark.parametrize("way", ways("all at once", of=("near", "report")))
def test_reports_tell_what_they_tell_elsewhere(cuda, monkeypatch, way):
    """In one piece and in several, each of which may be repeated."""
    here, given, pairs, meshes, options = asked(way, 48)
    options = options | {"report": True, "tuning": gc.Tuning(filters=ALL)}
    bodies, there = made(*given, cuda.asarray, meshes), cuda.asarray(pairs)
    wanted = gc.collide(here, pairs, backend="cpu", **options)
    assert wanted.report["spheres"].settled and wanted.report["narrow phase"].hits
    backends.get_backend("cuda").kept.pop("guesses", None)
    for most in (1 << 20, 1 << 20, 10):
        monkeypatch.setattr("gpu_collide.pipeline.narrow_phase.device_batches.MOST_PAIRS", most)
        found = gc.collide(bodies, there, backend="cuda", **options)
        assert told(found) == told(wanted), most
        assert all(row.seconds > 0 for row in found.report)


def told(found):
    """The rows of a report but for the time they took."""
    return [(row.name, row.got, row.settled, row.hits) for row in found.report]


def test_no_row_of_a_filter_to_which_no_pair_came(cuda):
    position, quat, shape, pairs = numbers(8)
    position[:, 1::2] += 1000.0
    for backend in ("cpu", "cuda"):
        bodies = made(position, quat, shape)
        found = gc.collide(bodies, pairs, backend=backend, report=True, tuning=gc.Tuning(filters=ALL))
        assert [row.name for row in found.report] == ["spheres", "narrow phase"]


@pytest.mark.parametrize(
    "tiny",
    ways("nodes", "patches", "topology", of=(*JOINED, "reals", "ints", "candidates", "hits")),
)
def test_what_overflows_comes_again(cuda, monkeypatch, tiny):
    """Lists of patches, and the meshes joined of them, that are too short: nothing indexes past them."""
    here, given, pairs, meshes, options = asked("near", 8)
    bodies, there = made(*given, cuda.asarray, meshes), cuda.asarray(pairs)
    wanted = gc.collide(here, pairs, backend="cpu", **options)
    gc.collide(bodies, there, backend="cuda", **options)
    (guess,) = backends.get_backend("cuda").kept["guesses"].values()
    before = dict(guess)
    monkeypatch.setattr("gpu_collide.pipeline.narrow_phase.device_batches.LEAST", 1)
    monkeypatch.setattr("gpu_collide.pipeline.narrow_phase.device_batches.LITTLE", 1)
    guess[tiny] = {"nodes": 2, "reals": 40, "ints": 40}.get(tiny, 0.3 * before[tiny])
    with Moved(cuda) as moved:
        found = gc.collide(bodies, there, backend="cuda", **options)
    assert moved.waits > 1 and guess[tiny] > {"nodes": 2, "reals": 40, "ints": 40}.get(
        tiny, 0.3 * before[tiny]
    )
    same(found, wanted)
    with Moved(cuda) as moved:
        gc.collide(bodies, there, backend="cuda", **options)
    assert moved.waits == 1


def test_large_meshes_beside_small_ones(cuda):
    """Only pairs with a large and far wider mesh take near faces by themselves: two lots for the screen."""
    meshes = (gc.shapes.torus(4.0, 1.6, 40, 27), gc.shapes.box(), gc.shapes.box((0.5, 0.8, 0.3)))
    assert len(meshes[0].face_planes) > 1024
    position, quat, shape, pairs = numbers(24, 3, meshes=meshes)
    shape[:8] = [0, 1, 2, 0, 1, 2, 2, 2]
    shape[8:] = 1 + shape[8:] % 2
    here, options = made(position, quat, shape, meshes=meshes), {"report": True}
    wanted = gc.collide(here, pairs, backend="cpu", **options)
    assert 0 < wanted.report["near features"].got < wanted.report["narrow phase"].got
    bodies, there = made(position, quat, shape, cuda.asarray, meshes), cuda.asarray(pairs)
    for _ in range(2):
        with Moved(cuda) as moved:
            found = gc.collide(bodies, there, backend="cuda", **options)
        same(found, wanted)
    assert (moved.up, moved.waits) == (0, 1)
    assert told(found) == told(wanted)


def test_many_meshes(cuda, monkeypatch):
    """There is no table of heights for any two of so many; who asks for none needs none."""
    monkeypatch.setattr("gpu_collide.pipeline.narrow_phase.device_batches.MOST_HEIGHTS", 8)
    for way, once in (("single", True), ("segments", False)):
        here, given, pairs, meshes, options = asked(way)
        bodies, there = made(*given, cuda.asarray, meshes), cuda.asarray(pairs)
        gc.collide(bodies, there, backend="cuda", **options)
        with Moved(cuda) as moved:
            found = gc.collide(bodies, there, backend="cuda", **options)
        assert (moved.waits == 1) == once
        same(found, gc.collide(here, pairs, backend="cpu", **options))


def test_single_far_from_the_origin(cuda):
    """Poses are made float32 pair by pair, from where A starts; places are told in float64."""
    position, quat, shape, pairs = numbers(24, 2)
    position = position + 3e7
    position[0, 4], position[1, 9, 1] = np.nan, 1e300  # none, and more than a float holds
    here = made(position, quat, shape)
    bodies, there = made(position, quat, shape, cuda.asarray), cuda.asarray(pairs)
    with pytest.warns(RuntimeWarning, match="invalid pose"):
        wanted = gc.collide(here, pairs, backend="cpu", precision="single")
    assert wanted.position.dtype == np.float64 and abs(wanted.position).min() > 1e7
    for given in ((here, pairs), (bodies, there), (here, there), (bodies, pairs)):
        with pytest.warns(RuntimeWarning, match="invalid pose"):
            same(gc.collide(*given, backend="cuda", precision="single"), wanted)


def test_single_without_a_contact(cuda):
    position, quat, shape, pairs = numbers(8)
    position[:, 1::2] += 1000.0
    for where in (np.asarray, cuda.asarray):
        bodies = made(position, quat, shape, where)
        wanted = gc.collide(bodies, pairs, backend="cpu", precision="single")
        assert len(wanted) == 0
        same(gc.collide(bodies, where(pairs), backend="cuda", precision="single"), wanted)


@pytest.mark.parametrize("way", ways("near", of=("single", "plane")))
def test_a_scene_asks_step_after_step(cuda, way):
    meshes, options = WAYS[way]
    position, quat, shape, pairs = numbers(12, meshes=meshes)
    there = cuda.asarray(pairs)
    named = {name: value for name, value in options.items() if name == "precision"}
    asked = {name: value for name, value in options.items() if name != "precision"}
    with gc.Scene(meshes, shape, backend="cuda", **named) as scene:
        for seed in (2, 3, 4):
            position, quat, *_ = numbers(12, seed, meshes=meshes)
            scene.update(*(tuple(map(cuda.asarray, p)) for p in zip(position, quat, strict=True)))
            found = scene.collide(there, **asked)
            wanted = gc.collide(made(position, quat, shape, meshes=meshes), pairs, backend="cpu", **options)
            assert lies(found, cuda.ndarray)
            same(found, wanted)


def test_what_a_pair_needs_is_told(cuda):
    here, _, pairs, _, options = asked("near", 8)
    with pytest.raises(
        MemoryLimitError, match="max_bytes: expected room for pair 0, which needs .*; pass a larger"
    ):
        gc.collide(here, pairs, backend="cuda", max_bytes=20_000, **options)
