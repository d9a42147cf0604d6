"""A `gpu_collide.Scene` asked by several threads, broken off, asked by its own callback, and in a fork."""

import gc as garbage
import itertools
import os
import subprocess
import sys
import threading
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import get_backend
from gpu_collide.backends.buffers import Buffers
from gpu_collide.queries.engine_cache import engines_of
from tests.acceptance import many_calls
from tests.backends.test_fork import run
from tests.support.steps import moved, same, scene_of
from tests.support.worlds import SHAPES, drift

ROOT = Path(__file__).parents[2]

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
    verbs = {name: getattr(type(backend), name) for name in ("write", "launch_items", "sequence")}
    left = [0]

    def breaks(verb):
        def broken(*args, **kwargs):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return verb(*args, **kwargs)

        return broken

    for pairs in (None, scene.find_pairs()[:20], [[0, 1], [1, 2]]):
        for after in itertools.count():
            left[0] = after
            scene.step(moved(rng, scene.bodies.end, bad=0.05 * (after % 3)))
            monkeypatch.setattr(type(backend), "write_all", Buffers.write_all)  # one after the other
            for name, verb in verbs.items():
                monkeypatch.setattr(type(backend), name, breaks(verb))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # of bodies without poses
                    scene.collide(pairs)
            except KeyboardInterrupt:
                pass
            monkeypatch.undo()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                want = gc.collide(scene.bodies, pairs, backend=backend.kind).to_numpy()
                same(scene.collide(pairs), want)
            if left[0] >= 0:
                break
        assert after > 3, "it was broken off in many places"


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


# ---- long


def test_threads_over_many_sets_of_meshes(backend, monkeypatch):
    """No call fails, all have the same bits, and nothing is left of the scenes."""
    if backend.kind != "cpu":
        pytest.skip("the host's part is the same")
    asked = many_calls.Asked("cpu")
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "0")  # their bits are those of results that were checked
    for _ in range(2):
        asked.run(60)  # what is made once in a process
    asked.scenes.clear()
    engines = [engines_of(get_backend("cpu", precision)) for precision in ("mixed", "double", "single")]
    for kept in engines:
        kept.forget()
    garbage.collect()
    tracemalloc.start()
    try:
        asked.run(60)
        for kept in engines:  # of the last calls; they go with the meshes, which are kept here
            kept.forget()
        garbage.collect()
        assert tracemalloc.get_traced_memory()[0] < 1 << 17
    finally:
        tracemalloc.stop()
    assert not asked.wrong
    assert not any(ref() for ref in asked.scenes) and len(asked.scenes) == 19


@pytest.mark.slow
def test_a_hundred_thousand_calls_of_threads():
    env = {**os.environ, "GPU_COLLIDE_CHECK": "0", **many_calls.ONE_HEAP}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.acceptance.many_calls"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    print(ran.stdout)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
@pytest.mark.backends("cpu")  # the host's part is the same
def test_ten_thousand_calls_of_one_thread(backend, monkeypatch):
    """The same bits to the end, and no memory that grows."""
    rng, bodies = np.random.default_rng(20), drift(20, 12)
    scene = scene_of(bodies, "cpu")
    poses = [moved(rng, bodies.end, still=0.0, way=0.1) for _ in range(10)]
    steps = [
        gc.Bodies(bodies.meshes, bodies.shape, a, b)
        for a, b in zip(poses, poses[1:] + poses[:1], strict=True)
    ]
    want = [gc.collide(step, backend="cpu") for step in steps]
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "0")  # the bits are those of results that were checked
    scene.update(poses[0], poses[1])
    for k in range(10_000):
        found = scene.collide() if k % 2 else scene.collide(want[k % 10].pairs)
        if k % 97 == 0 or k > 9_900:
            same(found, want[k % 10] if k % 2 else gc.collide(steps[k % 10], found.pairs, backend="cpu"))
        scene.step(poses[(k + 2) % 10])
        if k == 1000:
            garbage.collect()
            before = sys.getallocatedblocks()
    del found
    garbage.collect()
    # one object left by each call would be 9,000 of them; worst seen 60
    assert sys.getallocatedblocks() - before < 1000
