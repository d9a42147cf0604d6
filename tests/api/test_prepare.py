"""`Mesh.prepare`, and what queries keep of meshes: made once, by any thread, on any backend, and let go."""

import gc as garbage
import os
import pickle
import sys
import threading
import time
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import get_backend
from gpu_collide.backends.cpu import CpuBackend
from gpu_collide.geometry.mesh import pickled
from gpu_collide.geometry.preparation import prepared
from gpu_collide.pipeline.mesh_tables import tables
from tests.backends.test_fork import run

THREADS = 8


def ball(k=2):
    return gc.shapes.icosphere(k)


def host(found, backend):
    both = [*found.buffers.values(), *found.screen.values()]
    return [backend.to_host(buffer).tobytes() for buffer in both]


def together(work, n=THREADS):
    """Run ``work(k)`` in n threads that begin at once; their answers."""
    begin = threading.Barrier(n)

    def one(k):
        begin.wait()
        return work(k)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(one, range(n)))


def counted(monkeypatch, name, seconds=0.0):
    """Calls of one of the makers of `prepared`, which takes so long more."""
    made, make = [], getattr(prepared, name)

    def slow(mesh, *args):
        made.append(weakref.ref(mesh))
        time.sleep(seconds)
        return make(mesh, *args)

    monkeypatch.setattr(prepared, name, slow)
    return made


@pytest.fixture
def quick_switches():
    """Threads take turns as often as can be, so that a race is met."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def sets_of_meshes():
    shapes = [gc.shapes.box(), gc.shapes.car(), ball(1), gc.shapes.star(), gc.shapes.l_block()]
    return [tuple(shapes[j] for j in (k % 5, (k + 1 + k // 5) % 5)) for k in range(12)]


def asked_by_threads(backend, calls):
    sets = sets_of_meshes()
    expected = [host(tables.build_tables(s, backend, "mixed"), backend) for s in sets]
    different = []

    def work(k):
        rng = np.random.default_rng(k)
        for _ in range(calls):
            j = int(rng.integers(len(sets)))
            found = tables.tables_for(sets[j], backend, "mixed")
            if rng.random() < 0.05 and host(found, backend) != expected[j]:
                different.append(j)

    together(work)
    assert different == []


@pytest.mark.parametrize("most", [4, 32])
def test_threads_with_more_sets_than_are_kept(monkeypatch, quick_switches, most):
    """Eight threads over twelve sets: none finds a table gone, all get the same bits."""
    monkeypatch.setattr(tables, "MOST_SETS", most)
    asked_by_threads(CpuBackend(), 40 if most == 4 else 400)


@pytest.mark.slow
def test_many_calls_of_threads(monkeypatch, quick_switches):
    monkeypatch.setattr(tables, "MOST_SETS", 11)
    asked_by_threads(CpuBackend(), 12500)


def test_threads_with_new_meshes_make_each_thing_once(monkeypatch, quick_switches):
    made = counted(monkeypatch, "cut", 0.02)
    solids = counted(monkeypatch, "make_solids", 0.02)
    mesh, backend = ball(), CpuBackend()
    found = together(lambda k: tables.tables_for((mesh,), backend, "mixed", near=True))
    assert len(made) == len(solids) == 1
    assert all(other is found[0] for other in found)
    sets = together(lambda k: tables.tables_for((mesh,) * (k + 2), backend, "mixed", near=True))
    assert len(made) == 1 and len({id(t) for t in sets}) == THREADS


def test_collide_from_threads(quick_switches):
    """The contacts of every call are those of one thread."""
    sets = sets_of_meshes()
    start = gc.Poses(np.array([[0.0, 0, 0], [6, 0.3, 0.2]]), np.tile([1.0, 0, 0, 0], (2, 1)))
    end = gc.Poses(np.array([[0.0, 0, 0], [-6, 0.1, 0.1]]), np.tile([1.0, 0, 0, 0], (2, 1)))
    bodies = [gc.Bodies(list(s), [0, 1], start, end) for s in sets]
    expected = [gc.collide(b, [[0, 1]], backend="cpu") for b in bodies]

    def work(k):
        same = True
        for j in np.random.default_rng(k).permutation(len(sets)).tolist():
            found = gc.collide(bodies[j], [[0, 1]], backend="cpu")
            same &= found.time.tobytes() == expected[j].time.tobytes()
            same &= found.position.tobytes() == expected[j].position.tobytes()
        return same

    assert all(len(c.time) for c in expected) and all(together(work))


def test_two_backends_share_what_was_made_and_keep_tables_of_their_own(monkeypatch):
    made, mesh = counted(monkeypatch, "cut"), ball()
    places = [CpuBackend(), CpuBackend()]
    found = together(lambda k: tables.tables_for((mesh,), places[k % 2], "mixed", near=True))
    assert len(made) == 1 and len({id(t) for t in found}) == 2
    assert host(found[0], places[0]) == host(found[1], places[1])
    tables.tables_for((mesh,), places[0], "double", near=True)
    assert len(made) == 1, "patches do not depend on the precision"
    gone = weakref.ref(places.pop())
    del found
    garbage.collect()
    assert gone() is None, "tables hold no backend"


def test_tables_of_an_open_backend_are_those_of_cpu(backend):
    sets = sets_of_meshes()[:3]
    for meshes in sets:
        here = host(tables.tables_for(meshes, backend, "mixed", near=True), backend)
        there = get_backend("cpu")
        assert here == host(tables.tables_for(meshes, there, "mixed", near=True), there)


def test_a_dropped_mesh_frees_all_that_was_made():
    backend, kept = CpuBackend(), gc.shapes.box()
    tables.tables_for((kept, ball(1)), backend, "mixed", near=True)  # first uses of this and that
    garbage.collect()
    garbage.disable()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        mesh = ball(4).prepare(near=True)
        found = tables.tables_for((kept, mesh), backend, "mixed", near=True)
        held, gone = tracemalloc.get_traced_memory()[0] - before, weakref.ref(mesh)
        assert held > found.nbytes > 1 << 20
        del mesh, found
        assert gone() is None, "nothing but the caller holds a mesh"
        assert tracemalloc.get_traced_memory()[0] - before < 0.02 * held
    finally:
        tracemalloc.stop()
        garbage.enable()


def test_sets_are_bounded_in_number_and_bytes(monkeypatch):
    backend, mesh = CpuBackend(), ball(1)

    def ask(n):
        return tables.tables_for((mesh,) * n, backend, "mixed")

    monkeypatch.setattr(tables, "MOST_SETS", 6)
    first = ask(1)
    for n in range(2, 7):
        ask(n)
    assert ask(1) is first, "the last six are kept"
    ask(7)
    assert ask(1) is first, "the one asked for longest ago goes first"
    monkeypatch.setattr(tables, "MOST_BYTES", 1)
    ask(8)
    assert ask(1) is first
    for n in range(9, 9 + tables.FEW_SETS):
        ask(n)
    assert ask(1) is not first, "of much only a few are kept"


def test_a_new_mesh_at_the_place_of_an_old_one_is_not_taken_for_it():
    backend, seen = CpuBackend(), set()
    for k in range(30):
        mesh = gc.shapes.box((1.0 + k, 1.0, 1.0))
        seen.add(id(mesh))
        found = tables.tables_for((mesh,), backend, "mixed")
        assert found.buffers["mesh_reals_in"][5] == 0.5 + 0.5 * k
        del mesh
    assert len(seen) < 30, "ids were used again"


def test_prepare_makes_all_that_a_query_asks_for(monkeypatch):
    mesh, identity = ball(3), gc.Poses.identity(2)
    assert mesh.prepare(near=True) is mesh
    for name in ("_measures", "make_solids", "cut", "face_tree", "node_table", "_screen"):
        monkeypatch.setattr(prepared, name, None)
    bodies = gc.Bodies(mesh, None, identity, gc.Poses(identity.position + 0.1, identity.unit_wxyz))
    gc.collide(bodies, [[0, 1]], tuning=gc.Tuning(features="near"), backend="cpu")
    gc.collide(bodies, [[0, 1]], refine="segments", resolution=2, backend="cpu")


@pytest.mark.parametrize("near", [None, False, True])
def test_progress(near):
    for mesh in (gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), ball(4)):
        for _ in range(2):  # the second time all is there already
            calls = []
            mesh.prepare(near=near, progress=lambda *now: calls.append(now))  # noqa: B023
            done, totals = zip(*calls, strict=True)
            assert len(set(totals)) == 1 and done[-1] == totals[0] and sorted(set(done)) == list(done)
            assert near is not True or totals[0] >= 7 + (mesh.n_faces - 1).bit_length()


def test_large_meshes_are_prepared_for_near_faces_by_themselves(monkeypatch):
    made = counted(monkeypatch, "cut")
    ball(1).prepare()
    assert not made
    large = ball(4).prepare()
    assert [ref() for ref in made] == [large]


def test_what_progress_raises_comes_through():
    mesh = ball()

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mesh.prepare(near=True, progress=stop)
    assert mesh.prepare(near=True) is mesh


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        (dict(near="yes"), TypeError, "near"),
        (dict(precision="half"), ValueError, "precision"),
        (dict(precision=2), TypeError, "precision"),
        (dict(progress=3), TypeError, "progress"),
    ],
)
def test_bad_arguments(options, error, said):
    with pytest.raises(error, match=said):
        ball(1).prepare(**options)


def test_pickles_leave_it_out(monkeypatch):
    mesh = ball()
    before, names = pickle.dumps(mesh), set(vars(mesh))
    mesh.prepare(near=True)
    assert pickle.dumps(mesh) == before and set(vars(mesh)) == names
    monkeypatch.setattr(pickled, "_meshes", pickled._Meshes())  # as in another process
    again = pickle.loads(before)
    backend = get_backend("cpu")
    one, other = (tables.tables_for((m,), backend, "mixed", near=True) for m in (mesh, again))
    assert one is not other and host(one, backend) == host(other, backend)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_another_thread_prepares():
    printed = run(
        """
from gpu_collide.geometry.preparation import prepared
begun, cut = threading.Event(), prepared.cut
def slow(*args):
    begun.set()
    if os.getpid() == parent:
        time.sleep(0.4)
    return cut(*args)
parent, prepared.cut = os.getpid(), slow
thread = threading.Thread(target=bodies.meshes[0].prepare, kwargs={"near": True})
thread.start()
begun.wait()
in_child(lambda: len(collide("cpu", tuning=gc.Tuning(features="near")).pairs))
thread.join()
print("parent:", len(collide("cpu", tuning=gc.Tuning(features="near")).pairs))
"""
    )
    assert printed == "child: 1\nparent: 1\n"
