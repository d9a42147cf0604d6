"""`gc.Scene`: the bits of `collide` step by step, what is kept and let go of, and every error."""

import gc as garbage
import inspect
import re
import threading
import tracemalloc
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.pipeline.bvh import BodyTree
from gpu_collide.queries import scene as scene_module
from tests.backends.test_fork import run
from tests.support.worlds import SHAPES, drift

STILL = [[1.0, 0, 0, 0]] * 2


def same(got, want):
    """Bit by bit, and the same things in `info`."""
    for field in fields(gc.Contacts):
        if field.name != "info":
            one, two = getattr(got, field.name), getattr(want, field.name)
            assert one.dtype == two.dtype and one.tobytes() == two.tobytes(), field.name
    assert got.info.keys() == want.info.keys()
    for key in got.info.keys() - {"timings", "report"}:
        assert np.array_equal(got.info[key], want.info[key]), key


def moved(rng, poses, *, way=0.4, still=0.2, bad=0.0):
    """Poses a step later: a share of bodies stands still, and of a few the poses are none."""
    n = len(poses)
    position, quat = poses.position.copy(), poses.quat_wxyz.copy()
    goes = rng.uniform(size=n) >= still
    position[goes] += way * rng.normal(size=(goes.sum(), 3))
    quat[goes] += 0.1 * rng.normal(size=(goes.sum(), 4))
    quat /= np.linalg.norm(quat, axis=1)[:, None]
    position[~np.isfinite(position)] = 0.0
    position[rng.uniform(size=n) < bad] = np.nan
    return gc.Poses.from_quat_wxyz(position, quat)


def scene_of(bodies, backend, **options):
    return gc.Scene(bodies.meshes, bodies.shape, bodies.start, bodies.end, backend=backend, **options)


# ---- the same bits

ASKED = [
    {}, {"contacts": "first"}, {"report": True}, {"features": "near"}, {"filters": ["plane"]},
    {"refine": "segments", "resolution": 4}, {"refine": "pixels"}, {"candidates": "raster"},
    {"check_start": False, "min_properness": 0.2}, {"broad_phase": "off", "filters": "none"},
]  # fmt: skip


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_steps_have_the_bits_of_collide(backend, precision):
    """With worlds, groups, masks, ignored pairs, still bodies and poses that are none; asked in many ways."""
    rng = np.random.default_rng(1)
    bodies = drift(1, 50, meshes=SHAPES)
    rules = {
        "world": rng.integers(-1, 2, 50), "group": rng.integers(1, 4, 50), "mask": rng.integers(1, 4, 50),
        "ignore": rng.integers(0, 25, (20, 2)) + [0, 25], "still_pairs": True,
    }  # fmt: skip
    place = {"backend": backend.kind, "precision": precision}
    scene, refitted = scene_of(bodies, **place, **rules), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for k, asked in enumerate(ASKED if precision == "mixed" else ASKED[::3]):
            want = gc.collide(scene.bodies, **place, **rules, **asked)
            got = scene.collide(**asked)
            same(got, want)
            refitted.append(scene.report.refitted)
            same(
                scene.collide(want.pairs[::-1], **asked | {"broad_phase": "hierarchy"}),
                gc.collide(scene.bodies, want.pairs[::-1], **place, **asked | {"broad_phase": "hierarchy"}),
            )
            bare = gc.find_pairs(scene.bodies, **place, **rules)
            assert np.array_equal(scene.find_pairs(), bare)
            assert scene.report.refitted, "the tree stands already"
            scene.step(moved(rng, scene.bodies.end, bad=0.05 * (k == 2)))
    assert refitted[:3] == [False, True, True], "while the same bodies have valid poses"
    assert not refitted[3]


def test_the_same_pairs_again_and_again(backend):
    """What is kept for them has the bits of `collide`, also when other pairs are asked about in between."""
    rng, scene = np.random.default_rng(21), scene_of(drift(21, 40), backend.kind)
    some, others, before = scene.find_pairs(), [[3, 1], [1, 3], [3, 1]], []
    for k in range(8):
        pairs = others if k == 4 else some
        same(scene.collide(pairs), gc.collide(scene.bodies, pairs, backend=backend.kind))
        before.append(scene.nbytes)
        scene.step(moved(rng, scene.bodies.end))
    assert before[0] < before[1] == before[3] and before[4] == before[0] and before[6] == before[1]
    told = []
    scene.collide(some, progress=lambda done, total: told.append((done, total)))
    assert told == [(len(some), len(some))]


def test_reference_answers_too():
    rng = np.random.default_rng(2)
    bodies = drift(2, 8)
    scene = scene_of(bodies, "reference")
    assert scene.nbytes == 0 and scene.prepared.tree is None
    for _ in range(2):
        want = gc.collide(scene.bodies, backend="reference")
        same(scene.collide(), want)
        same(scene.collide(want.pairs), gc.collide(scene.bodies, want.pairs, backend="reference"))
        assert np.array_equal(scene.find_pairs(), want.pairs)
        scene.step(moved(rng, scene.bodies.end))


def test_poses_as_arrays_and_updates(backend):
    """At rest, moving, at rest again; what `update` gives is what `Bodies` would have."""
    bodies = drift(3, 20)
    one, two = (bodies.start.position, bodies.start.quat_wxyz), (bodies.end.position, bodies.end.quat_wxyz)
    scene = gc.Scene(bodies.meshes, bodies.shape, backend=backend.kind, still_pairs=True)
    assert scene.bodies is None and len(scene) == 20
    for start, end in ((one, two), (one, None), (bodies.end, one)):
        scene.update(start, end)
        want = gc.Bodies(
            bodies.meshes,
            bodies.shape,
            *(gc.Poses(*p) if isinstance(p, tuple) else p for p in (start, end or start)),
        )
        same(scene.collide(), gc.collide(want, backend=backend.kind, still_pairs=True).to_numpy())
    scene.step(two)
    assert np.array_equal(scene.bodies.start.position, one[0])
    assert np.array_equal(scene.bodies.end.position, two[0])


def test_first_steps_from_rest(backend):
    """Two boxes: one comes down onto the other, which stands."""
    with gc.Scene(gc.shapes.box(), None, ([[0, 0, 0], [0.1, 0.2, 3]], STILL), backend=backend.kind) as scene:
        assert len(scene.collide()) == 0
        scene.step(([[0, 0, 0], [0.1, 0.2, 2]], STILL))
        assert np.isinf(scene.collide().toi).all()
        scene.step(([[0, 0, 0], [0.1, 0.2, 0]], STILL))
        assert scene.collide().toi == pytest.approx([0.5])


def test_results_outlast_later_steps(backend):
    """No buffer of a result is written to by what comes after."""
    rng = np.random.default_rng(4)
    scene = scene_of(drift(4, 40), backend.kind)
    found, pairs = scene.collide(), scene.find_pairs()
    want, want_pairs = gc.collide(scene.bodies, backend=backend.kind).to_numpy(), pairs.copy()
    for _ in range(3):
        scene.step(moved(rng, scene.bodies.end))
        scene.collide()
        scene.find_pairs()
    scene.close()
    same(found, want)
    assert np.array_equal(pairs, want_pairs)


def test_nothing_and_one_body(backend):
    for n in (0, 1):
        scene = gc.Scene(gc.shapes.box(), None, gc.Poses.identity(n), backend=backend.kind)
        scene.step(gc.Poses.identity(n))
        assert len(scene.collide().pairs) == 0 and scene.find_pairs().shape == (0, 2) and len(scene) == n


# ---- what is kept


def test_the_tree_is_refitted_and_searched(backend, monkeypatch):
    """One is built, however many steps follow; the same poses again cost no tree at all."""
    rng, built = np.random.default_rng(5), []
    build, refit = BodyTree.build.__func__, BodyTree.refit
    monkeypatch.setattr(BodyTree, "build", classmethod(lambda *a: built.append("built") or build(*a)))
    monkeypatch.setattr(BodyTree, "refit", lambda *a: built.append("refitted") or refit(*a))
    scene = scene_of(drift(5, 200), backend.kind)
    for _ in range(4):
        found = scene.collide()
        assert np.array_equal(scene.find_pairs(), found.pairs)
        assert "b02_keys" not in found.info["timings"] and "b04_count" in found.info["timings"]
        scene.step(moved(rng, scene.bodies.end, way=0.05))
    assert built == ["built"] + 3 * ["refitted"]


def test_tables_are_made_once(backend, monkeypatch):
    made, make = [], scene_module.scene_too_large.__globals__["build_tables"]
    monkeypatch.setattr(
        "gpu_collide.pipeline.resident.build_tables", lambda *a: made.append(a[-1]) or make(*a)
    )
    rng, scene = np.random.default_rng(6), scene_of(drift(6, 20), backend.kind)
    for _ in range(3):
        scene.collide()
        scene.collide(contacts="first")
        scene.step(moved(rng, scene.bodies.end))
    assert made == [False]
    scene.collide(features="near")
    scene.collide(features="near")
    assert made == [False, True]


def test_what_is_prepared_of_bodies_at_rest(backend):
    """For methods that ask about still worlds: trees of faces, the tree over bodies, poses in buffers."""
    bodies = drift(7, 30, meshes=SHAPES)
    scene = gc.Scene(bodies.meshes, bodies.shape, bodies.start, backend=backend.kind)
    assert repr(scene) == f"Scene(30 bodies, 5 meshes, {backend.kind}, at rest, {scene.nbytes} bytes)"
    ready = scene.prepared
    assert ready.tree is scene.prepared.tree and ready.tables is scene.prepared.tables
    assert ready.tree.n == 30 and ready.tree.still.all() and sorted(ready.tree.order_host) == list(range(30))
    faces = backend.to_host(ready.tables.buffers["trees_in"]).reshape(-1, 4)[:, 0]
    assert faces.tolist() == [len(m.face_planes) for m in bodies.meshes]
    assert ready.placed["start_position_in"] is scene.prepared.placed["start_position_in"]
    shifted = gc.Poses(bodies.start.position + 1, bodies.start.quat_wxyz)
    scene.update(shifted)
    ready = scene.prepared
    for name in ("start_position_in", "end_position_in"):
        assert backend.to_host(ready.placed[name]).tobytes() == shifted.position.tobytes()
    leaves = backend.to_host(ready.tree.leaves).reshape(30, -1)
    assert np.allclose(leaves[:, :3], leaves[:, 3:6]) and ready.bodies is scene.bodies


def test_nbytes_are_those_that_are_held(backend):
    bodies = drift(8, 2000, meshes=(gc.shapes.icosphere(3),))
    if backend.kind != "cpu":
        scene = scene_of(bodies, backend.kind)
        assert scene.nbytes == 0
        scene.collide([[0, 1]])
        tables = scene.prepared.tables.nbytes
        assert scene.nbytes > 2 * tables > 0
        scene.close()
        assert scene.nbytes == 0
        return
    scene_of(bodies, "cpu").collide([[0, 1]])  # what is made of the mesh, and first uses
    garbage.collect()
    tracemalloc.start()
    try:
        scene = scene_of(bodies, "cpu")
        made, before = scene.bodies, tracemalloc.get_traced_memory()[0]
        scene.find_pairs()
        scene.collide([[0, 1]])
        held = tracemalloc.get_traced_memory()[0] - before
        assert 0.9 * held < scene.nbytes < 1.1 * held and held > 1 << 20
        scene.close()
        assert scene.nbytes == 0 and tracemalloc.get_traced_memory()[0] - before < 0.02 * held
        assert len(made) == 2000
    finally:
        tracemalloc.stop()


def test_a_dropped_scene_is_gone(backend):
    mesh = gc.shapes.icosphere(2)
    bodies = gc.Bodies(mesh, None, gc.Poses.identity(3), gc.Poses.identity(3))
    scene = scene_of(bodies, backend.kind)
    scene.collide()
    prepared = scene.prepared
    gone = [weakref.ref(x) for x in (scene, mesh, prepared.tree, prepared.tables, bodies)]
    garbage.collect()
    garbage.disable()
    try:
        del scene, prepared, mesh, bodies
        assert [ref() for ref in gone] == [None] * 5, "no circle, and nobody else holds them"
    finally:
        garbage.enable()


def test_engines_are_bounded(backend):
    scene = scene_of(drift(9, 6), backend.kind)
    for k in range(scene_module.MOST_ENGINES + 5):
        scene.collide([[0, 1]], min_properness=-0.01 * k)
    held = [value for value in vars(scene).values() if isinstance(value, dict)]
    assert max(map(len, held)) <= scene_module.MOST_ENGINES
    with pytest.raises(TypeError, match="check_start: expected a bool, got int"):
        scene.collide(check_start=True) and scene.collide(check_start=1)


# ---- memory to stay within


def test_what_is_kept_counts(backend):
    bodies = drift(10, 300, side=3.0)
    scene = scene_of(bodies, backend.kind, max_bytes=1 << 30)
    want, most = scene.collide(), 12 << 20
    small = scene_of(bodies, backend.kind, max_bytes=most)
    same(small.collide(), want)
    with pytest.raises(gc.errors.MemoryLimitError, match=r"room for .* pairs of 300 bodies.*, got 1600000"):
        scene_of(bodies, backend.kind, max_bytes=1_600_000).find_pairs(broad_phase="off")
    for few in (1000, 1 << 20):
        with pytest.raises(gc.errors.MemoryLimitError, match=rf"the scene keeps, \d+ bytes.* got {few};"):
            scene_of(bodies, backend.kind, max_bytes=few)
    ball = gc.shapes.icosphere(4)
    for end, act in ((None, len), (gc.Poses.identity(2), lambda scene: scene.collide([[0, 1]]))):
        with pytest.raises(gc.errors.MemoryLimitError, match=r"scene keeps, \d{7} bytes, .* got 2000000"):
            act(gc.Scene(ball, None, gc.Poses.identity(2), end, backend=backend.kind, max_bytes=2_000_000))


# ---- several at a time


def test_threads_share_a_scene_and_have_their_own(backend):
    """Eight threads, four sets of meshes, a scene each two; each finds what it would find alone."""
    sets = [drift(11 + k, 30, meshes=SHAPES[k : k + 2]) for k in range(4)]
    scenes = [scene_of(bodies, backend.kind) for bodies in sets]
    want = [gc.collide(bodies, backend=backend.kind).to_numpy() for bodies in sets]
    begin = threading.Barrier(8)

    def work(k):
        begin.wait()
        for _ in range(4):
            same(scenes[k % 4].collide(), want[k % 4])
            own = scene_of(sets[(k + 1) % 4], backend.kind)
            assert np.array_equal(own.find_pairs(), want[(k + 1) % 4].pairs)
            own.close()

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work, k) for k in range(8)]:
            future.result()


def test_what_is_interrupted_is_done_anew(backend, monkeypatch):
    """Wherever a step breaks off, the next question has the right bits."""
    rng, scene = np.random.default_rng(15), scene_of(drift(15, 40), backend.kind)
    scene.collide()
    write, launch = type(backend).write, type(backend).launch_items
    for after in range(0, 15, 2):
        scene.step(moved(rng, scene.bodies.end))
        left = [after]

        def breaks(verb, left=left):
            def broken(*args, **kwargs):
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
                return verb(*args, **kwargs)

            return broken

        monkeypatch.setattr(type(backend), "write", breaks(write))
        monkeypatch.setattr(type(backend), "launch_items", breaks(launch))
        with pytest.raises(KeyboardInterrupt):
            scene.collide()
        monkeypatch.undo()
        same(scene.collide(), gc.collide(scene.bodies, backend=backend.kind).to_numpy())


def test_progress_may_not_ask(backend):
    scene = scene_of(drift(16, 10), backend.kind)
    told = []

    def progress(done, total):
        for act in (scene.collide, scene.find_pairs, scene.close):
            with pytest.raises(ValueError, match="^scene: expected no question while it works on another"):
                act()
        told.append((done, total))

    want = scene.collide()
    same(scene.collide(progress=progress), want)
    assert told and told[-1][0] == told[-1][1] == len(want.pairs)
    same(scene.collide(), want)


def test_a_forked_child_asks_on():
    """Also where another thread of the parent was in the middle of a query."""
    code = """
scene = gc.Scene(gc.shapes.box(), None, identity, ([[0, 0, 0], [3, 0, 0]], [[1, 0, 0, 0]] * 2), backend="cpu")
scene.collide()
def in_the_middle(done, total):
    in_child(lambda: (scene.find_pairs().tolist(), len(scene.collide())))
threading.Thread(target=lambda: scene.collide(progress=in_the_middle)).start()
time.sleep(1)
in_child(lambda: (scene.find_pairs().tolist(), len(scene.collide())))
"""
    out = run(code)
    assert "hangs" not in out and out.count("child: ([[0, 1]], ") == 2


# ---- errors

POSES = gc.Poses.identity(2)


@pytest.mark.parametrize(
    "args, options, error, text",
    [
        ((gc.shapes.box(), None), {}, ValueError, "shape: expected (n,) mesh indices where no poses say"),
        ((gc.shapes.box(), None, None, POSES), {}, ValueError, "poses: expected the start poses where end"),
        ((gc.shapes.box(), [0, 0], POSES, gc.Poses.identity(3)), {}, ValueError, "end: expected as many"),
        ((gc.shapes.box(), [0], POSES), {}, ValueError, "shape: expected one mesh index per pose, 2, got 1"),
        ((gc.shapes.box(), [0, 1], POSES), {}, ValueError, "shape: expected indices from 0 to 0, got 1"),
        ((gc.shapes.box(), [0.5]), {}, TypeError, "shape: expected integers, got float64"),
        ((gc.shapes.box(), "ab"), {}, TypeError, "shape: expected an array, got str"),
        ((None, None, POSES), {}, TypeError, "meshes: expected a Mesh or a sequence of Mesh, got NoneType"),
        ((gc.shapes.box(), None, 3), {}, TypeError, "poses: expected gpu_collide.Poses or a pair"),
        ((gc.shapes.box(), None, POSES, (1, 2, 3)), {}, TypeError, "end: expected gpu_collide.Poses or a "
         "pair (position, quat_wxyz), got tuple of 3; Poses.from_matrix takes matrices"),
        ((gc.shapes.box(), None, POSES), {"world": [1]}, ValueError, "world: expected one number per"),
        ((gc.shapes.box(), None, POSES), {"precision": "half"}, ValueError, "precision: expected one of"),
        ((gc.shapes.box(), None, POSES), {"backend": "tpu"}, ValueError, "backend: expected one of"),
        ((gc.shapes.box(), None, POSES), {"max_bytes": 0}, ValueError, "max_bytes: expected a positive"),
    ],
)  # fmt: skip
def test_bad_scenes(args, options, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        gc.Scene(*args, **options)


def test_bad_questions(backend):
    scene = gc.Scene(gc.shapes.box(), [0, 0], backend=backend.kind)
    late = [scene.collide, scene.find_pairs, lambda: scene.prepared, lambda: scene.step(POSES)]
    for act in late:
        with pytest.raises(ValueError, match=r"^poses: expected poses of the bodies .* got none; call up"):
            act()
    for name, act in (
        ("poses", scene.update), ("end", lambda p: scene.update(POSES, p)), ("poses", scene.step),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rf"^{name}: expected poses of the scene.* got \(3,\)"):
            act(gc.Poses.identity(3))
        with pytest.raises(ValueError, match=rf"^{name}: expected poses of the scene.* got \(\)"):
            act(gc.Poses.identity(()))
    with pytest.raises(TypeError, match="^poses: expected gpu_collide.Poses or a pair .* got None"):
        scene.update(None)
    scene.update(POSES, POSES)
    for bad, error, text in (
        ({"pairs": [[0, 2]]}, ValueError, "pairs: expected indices from 0 to 1"),
        (
            {"pairs": [[0, 1]], "broad_phase": "off"},
            ValueError,
            "broad_phase: expected nothing when",
        ),
        ({"broad_phase": "no"}, ValueError, "broad_phase: expected one of"),
        ({"refine": "exact", "features": "some"}, ValueError, "features: expected one of"),
        ({"progress": 3}, TypeError, "progress: expected a callable or None, got int"),
        ({"filters": [[]]}, TypeError, "filters: expected 'auto', 'none' or a tuple"),
    ):
        with pytest.raises(error, match="^" + re.escape(text)):
            scene.collide(**bad)
    with pytest.raises(ValueError, match="^broad_phase: expected one of"):
        scene.find_pairs(broad_phase="no")
    assert len(scene.collide([[0, 1]]).pairs) == 1


def test_a_closed_scene_says_so(backend):
    scene = gc.Scene(gc.shapes.box(), None, POSES, backend=backend.kind)
    with scene as same_one:
        assert same_one is scene
    scene.close()
    acts = [
        scene.collide, scene.find_pairs, lambda: scene.prepared, lambda: scene.step(POSES),
        lambda: scene.update(POSES), scene.__enter__,
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(ValueError, match="^scene: expected an open Scene, got one that was closed; make"):
            act()
    assert repr(scene) == f"Scene(2 bodies, {backend.kind}, closed)" and scene.bodies is None


def test_invalid_bodies_are_warned_of_where_the_caller_asks(backend):
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [np.nan, 0, 0]], STILL)
    scene = gc.Scene(gc.shapes.box(), None, poses, poses, backend=backend.kind, still_pairs=True)
    for act in (scene.find_pairs, scene.collide, lambda: scene.collide([[0, 1]])):
        with pytest.warns(RuntimeWarning, match="1 bodies have an invalid pose") as caught:
            act()
        assert len(caught) == 1 and caught[0].filename == __file__
    assert scene.collide([[0, 1]]).status.tolist() == [gc.Status.INVALID_INPUT]


def test_options_are_those_of_collide():
    """A keyword of `collide` is fixed by the scene or asked in its `collide`, with the same default."""
    whole, own, made = (inspect.signature(f).parameters for f in (gc.collide, gc.Scene.collide, gc.Scene))
    fixed = {"world", "group", "mask", "ignore", "still_pairs", "precision", "backend", "max_bytes"}
    assert set(whole) - {"bodies"} == (set(own) - {"self"}) | fixed and fixed < set(made)
    for name, parameter in whole.items():
        if name != "bodies":
            assert (made if name in fixed else own)[name].default == parameter.default, name


# ---- long


@pytest.mark.slow
@pytest.mark.backends("cpu")  # the host's part is the same
def test_a_hundred_thousand_calls(backend):
    """The same bits to the end, and no memory that grows."""
    rng, bodies = np.random.default_rng(20), drift(20, 12)
    scene = scene_of(bodies, "cpu")
    poses = [moved(rng, bodies.end, still=0.0, way=0.1) for _ in range(10)]
    steps = [
        gc.Bodies(bodies.meshes, bodies.shape, a, b)
        for a, b in zip(poses, poses[1:] + poses[:1], strict=True)
    ]
    want = [gc.collide(step, backend="cpu") for step in steps]
    scene.update(poses[0], poses[1])
    tracemalloc.start()
    try:
        for k in range(100_000):
            found = scene.collide() if k % 2 else scene.collide(want[k % 10].pairs)
            if k % 97 == 0 or k > 99_900:
                same(found, want[k % 10] if k % 2 else gc.collide(steps[k % 10], found.pairs, backend="cpu"))
            scene.step(poses[(k + 2) % 10])
            if k == 1000:
                garbage.collect()
                before = tracemalloc.get_traced_memory()[0]
        del found
        garbage.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 1 << 17
    finally:
        tracemalloc.stop()
