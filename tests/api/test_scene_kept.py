"""What a `gpu_collide.Scene` keeps: made once, counted, bounded, and let go of."""

import gc as garbage
import tracemalloc
import weakref

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.pipeline import device_scene
from gpu_collide.pipeline.broad_phase.trees import BodyTree
from gpu_collide.queries import engine_cache
from tests.support.steps import moved, same, scene_of
from tests.support.worlds import SHAPES, drift


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
    made, make = [], device_scene.build_tables
    monkeypatch.setattr(device_scene, "build_tables", lambda *a: made.append(a[-1]) or make(*a))
    rng, scene = np.random.default_rng(6), scene_of(drift(6, 20), backend.kind)
    for _ in range(3):
        scene.collide()
        scene.collide(contacts="first")
        scene.step(moved(rng, scene.bodies.end))
    assert made == [False]
    scene.collide(tuning=gc.Tuning(features="near"))
    scene.collide(tuning=gc.Tuning(features="near"))
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
    for k in range(engine_cache.MOST_ENGINES + 5):
        for _ in range(2):
            scene.collide([[0, 1]], min_properness=-0.01 * k)
        if k == 0:
            one = scene.nbytes
    assert len(scene._kept.engines) == engine_cache.MOST_ENGINES
    garbage.collect()
    assert scene.nbytes < (engine_cache.MOST_ENGINES + 1) * one, (
        "what they kept for their pairs went with them"
    )
    with pytest.raises(TypeError, match="check_start: expected a bool, got int"):
        scene.collide(check_start=True) and scene.collide(check_start=1)


@pytest.mark.backends("cpu", "opencl")  # on `cuda` all pairs go through one chain: nothing is kept for some
def test_what_is_kept_for_pairs_goes_when_room_is_needed(backend, monkeypatch):
    """For a query that takes the general way, if it is more than a share of the limit."""
    bodies = drift(22, 20)
    scene, pairs = scene_of(bodies, backend.kind), [[0, 1], [2, 3]]
    for asked in ({}, {}, {"contacts": "first"}, {"contacts": "first"}):
        scene.collide(pairs, **asked)
    held = scene.nbytes
    scene.collide(pairs, report=True)
    assert scene.nbytes >= held, "of two gigabytes it is little"
    monkeypatch.setattr("gpu_collide.pipeline.engine.KEPT_SHARE", 1 << 40)
    scene.collide(pairs, report=True)
    assert scene.nbytes < held
    for asked in ({}, {"contacts": "first"}):
        same(scene.collide(pairs, **asked), gc.collide(bodies, pairs, backend=backend.kind, **asked))
    assert scene.nbytes > held / 2


# ---- memory to stay within


def test_what_is_kept_counts(backend):
    bodies = drift(10, 300, side=3.0)
    scene = scene_of(bodies, backend.kind, max_bytes=1 << 30)
    want, most = scene.collide(), 12 << 20
    small = scene_of(bodies, backend.kind, max_bytes=most)
    same(small.collide(), want)
    with pytest.raises(gc.errors.MemoryLimitError, match=r"room for .* pairs of 300 bodies.*, got 1600000"):
        scene_of(bodies, backend.kind, max_bytes=1_600_000).find_pairs(tuning=gc.Tuning(broad_phase="off"))
    for few in (1000, 1 << 20):
        with pytest.raises(gc.errors.MemoryLimitError, match=rf"the scene keeps, \d+ bytes.* got {few};"):
            scene_of(bodies, backend.kind, max_bytes=few)
    ball = gc.shapes.icosphere(4)
    for end, act in ((None, len), (gc.Poses.identity(2), lambda scene: scene.collide([[0, 1]]))):
        with pytest.raises(gc.errors.MemoryLimitError, match=r"scene keeps, \d{7} bytes, .* got 2000000"):
            act(gc.Scene(ball, None, gc.Poses.identity(2), end, backend=backend.kind, max_bytes=2_000_000))
