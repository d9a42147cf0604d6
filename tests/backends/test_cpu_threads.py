"""The pool of threads behind cpu: overhead, forks, any number of threads gives the same."""

import itertools
import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from gpu_collide.backends import pool, sources
from gpu_collide.backends.cpu import CpuBackend
from gpu_collide.errors import BackendUnavailableError

TEXT = (
    sources.joined("common/gc_platform.h")
    + """
GC_KERNEL void s00_mark(int n, GC_GLOBAL int *out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        out[i] += GC_GROUP_ID + 1;
    }
}
/* counts a group in where its scratch is, and out again; in 0: groups that were not alone there */
GC_KERNEL void s00_seat(int n, int laps, GC_GLOBAL int *inside, GC_GLOBAL int *out)
{
    for (int g = GC_GROUP_LO(n); g < GC_GROUP_HI(n); g += GC_GROUP_STEP(n)) {
        GC_GLOBAL int *here = inside + GC_SCRATCH_ID;
        int met = GC_ATOMIC_ADD(here, 1) != 0;
        for (int k = 0; k < laps; ++k) {
            met |= GC_ATOMIC_ADD(here, 1) != 1;
            met |= GC_ATOMIC_ADD(here, -1) != 2;
        }
        GC_ATOMIC_ADD(here, -1);
        out[g] = met ? -1 : GC_SCRATCH_ID;
    }
}
"""
)


def open_cpu(threads):
    try:
        return CpuBackend(threads=threads)
    except BackendUnavailableError as error:
        pytest.skip(str(error))


def marks(backend, n, groups):
    out = backend.zeros(n, "i4")
    backend.launch(backend.compile(TEXT, "mixed")["s00_mark"], groups, None, n=n, out=out)
    return out


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("n, groups", [(10, 1), (10, 3), (10, 25), (10_001, 64)])
def test_groups_share_the_items_in_blocks(threads, n, groups):
    out = marks(open_cpu(threads), n, groups)
    borders = np.arange(groups + 1) * n // groups
    assert np.array_equal(out, np.repeat(np.arange(groups) + 1, np.diff(borders)))


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("groups", [1, 2, 3, 128])
def test_each_thread_has_its_scratch(threads, groups):
    backend = open_cpu(threads)
    kernel = backend.compile(TEXT, "mixed")["s00_seat"]
    for _ in range(20):
        out, inside = backend.fill(backend.empty(groups, "i4"), -1), backend.zeros(threads, "i4")
        kernel.handle.pace = 1.0  # all threads are woken
        backend.launch(kernel, groups, None, n=groups, laps=300, inside=inside, out=out)
        assert out.min() >= 0
        assert out.max() < min(threads, groups)


def start(backend, n, groups, parts, out, pace=1.0):
    """A launch that falls into so many parts, which took so many seconds each last time."""
    kernel, args = backend.compile(TEXT, "mixed")["s00_mark"], {"n": n, "out": out}
    kernel.handle.pace = pace
    backend._launch(kernel, groups, 1, backend._values(kernel, args), parts, args)


def test_launches_follow_each_other():
    backend = open_cpu(4)
    for _ in range(300):
        assert marks(backend, 64, 64).sum() == 64 * 65 // 2


THREADS = """
import threading, warnings
import numpy as np
import gpu_collide as gc
r = np.random.default_rng(0)
def scene(k):
    q = r.normal(size=(2, 20, 4)); q /= np.linalg.norm(q, axis=2)[..., None]
    start, end = (gc.Poses.from_quat_wxyz(r.normal(size=(20, 3)), p) for p in q)
    return gc.Bodies(gc.shapes.box((1 + k, 1, 1)), None, start, end)
scenes = [scene(k) for k in range(8)]
found = [[None] * 6 for _ in scenes]
gate = threading.Barrier(len(scenes))
def work(k):
    gate.wait()
    for i in range(6):
        found[k][i] = gc.collide(scenes[(k + i) % 8], backend="cpu")
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
for k in range(8):
    for i in range(6):
        alone = gc.collide(scenes[(k + i) % 8], backend="cpu")
        assert np.array_equal(found[k][i].time, alone.time), (k, i)
print("same")
"""


def test_first_use_by_many_threads_at_once():
    """Eight threads open the backend, load the kernels and share four tables of meshes, all at once."""
    open_cpu(1)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "GPU_COLLIDE_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", THREADS], env=env, capture_output=True, text=True)
    assert done.stdout == "same\n", done.stderr


@pytest.mark.parametrize("groups, shares", [(1, 1), (1, 7), (3, 1), (3, 5), (25, 3), (64, 200)])
def test_shares_leave_nothing_out(groups, shares, monkeypatch):
    """However a launch is cut, and however often a thread comes back in between: each item once."""
    monkeypatch.setattr(pool, "TURN", 0)
    monkeypatch.setattr(pool, "ALONE", 1)
    backend = open_cpu(3)
    for n, pace in itertools.product((1, 10, 10_001), (1.0, 0.0)):
        out = backend.zeros(n, "i4")
        start(backend, n, groups, groups * shares, out, pace)
        borders = np.arange(groups + 1) * n // groups
        assert np.array_equal(out, np.repeat(np.arange(groups) + 1, np.diff(borders)))


SPIN = (
    TEXT
    + """
GC_KERNEL void s00_spin(int n, int value, int turns, GC_GLOBAL double *begun_out, GC_GLOBAL int *out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        double x = 1;
        begun_out[i] = 1;
        for (int k = 0; k < i * turns; ++k) {
            x = x * 0.5 + 1;
        }
        begun_out[i] = x;
        out[i] = value;
    }
}
"""
)


def test_what_an_interrupted_launch_writes_later_is_waited_for(monkeypatch):
    """The helper of a launch that Ctrl-C ended is still within its share, on buffers that are used again."""
    backend = open_cpu(2)
    kernel = backend.compile(SPIN, "mixed")["s00_spin"]
    begun, out = backend.zeros(8, "f8"), backend.zeros(8, "i4")
    monkeypatch.setattr(pool, "TURN", 0)
    looks = iter(range(100))

    def look():
        if next(looks) < 2:
            return 0.0
        while not begun[2:].any():  # until the helper is in the second group
            time.sleep(0.001)
        raise KeyboardInterrupt

    args = {"begun_out": begun, "out": out}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pool.time, "perf_counter", look)
        backend.launch(kernel, 4, n=8, value=1, turns=10_000_000, **args)
    (dropped,) = pool.crew.dropped
    other = backend.zeros(8, "i4")
    backend.launch(backend.compile(TEXT, "mixed")["s00_mark"], 1, n=8, out=other)
    assert dropped.inside, "what touches nothing of it has to go on at once"
    backend.fill(begun, 0)
    backend.bind(kernel, n=8, value=2, turns=0, **args).launch_items(8)
    assert not dropped.inside and out.tolist() == [2] * 8
    backend.launch(kernel, 1, n=8, value=3, turns=0, **args)
    assert not pool.crew.dropped and out.tolist() == [3] * 8


def test_interrupted_launches_leave_the_pool_usable():
    """A thread that stops sets the flag; helpers leave, and the next launch is whole."""
    backend = open_cpu(2)
    kernel, real = backend.compile(TEXT, "mixed")["s00_mark"], pool.Job.lead

    def interrupted(job, helpers, alone):
        pool.crew.offer(job, helpers)
        job.counters[4] = 1
        raise KeyboardInterrupt

    for _ in range(20):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(pool.Job, "lead", interrupted)
            backend.launch(kernel, 64, None, n=6400, out=backend.zeros(6400, "i4"))
        assert marks(backend, 64, 64).sum() == 64 * 65 // 2
    assert pool.Job.lead is real


def test_long_shares_are_left_to_helpers(monkeypatch):
    """Computing cannot be interrupted, waiting can: after one long share the launching thread only waits."""
    monkeypatch.setattr(pool, "TURN", 0)
    monkeypatch.setattr(pool, "LONG", -1.0)
    offered, offer = [], pool.crew.offer
    monkeypatch.setattr(pool.crew, "offer", lambda *a: offered.append(a) or offer(*a))
    for threads in (1, 2):
        backend = open_cpu(threads)
        out = backend.zeros(1000, "i4")
        start(backend, 1000, 4, 1000, out)
        assert np.array_equal(out, np.repeat(np.arange(4) + 1, 250))
        assert any(len(a) == 3 for a in offered), "alone, it has to leave the share that it began"


def test_overhead_of_a_launch():
    """Measured: 3 us for one group, 5 us for 32."""
    backend = open_cpu(2)
    kernel, out = backend.compile(TEXT, "mixed")["s00_mark"], backend.zeros(8, "i4")
    times = []
    for _ in range(500):
        start = time.perf_counter()
        backend.launch(kernel, 8, None, n=8, out=out)
        times.append(time.perf_counter() - start)
    assert np.median(times) < 200e-6  # the bound of a shared machine


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork():
    """The child has no helper threads any more: it must not wait for them."""
    backend = open_cpu(2)
    marks(backend, 64, 64)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=lambda: os._exit(0 if marks(backend, 64, 64).sum() == 2080 else 3))
    child.start()
    child.join(30)
    if child.is_alive():
        child.kill()
    assert child.exitcode == 0
