"""The pool of threads behind cpu: overhead, forks, any number of threads gives the same."""

import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from gpu_collide.backends import cpu, sources
from gpu_collide.backends.cpu import CpuBackend
from gpu_collide.errors import BackendUnavailableError

TEXT = (
    sources.join([sources.kernels_dir() / "common" / "gc_platform.h"])
    + """
GC_KERNEL void s00_mark(int n, GC_GLOBAL int *out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        out[i] += GC_GROUP_ID + 1;
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
    backend.launch(backend.module("mixed", TEXT)["s00_mark"], groups, None, n=n, out=out)
    return out


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("n, groups", [(10, 1), (10, 3), (10, 25), (10_001, 64)])
def test_groups_share_the_items_in_blocks(threads, n, groups):
    out = marks(open_cpu(threads), n, groups)
    borders = np.arange(groups + 1) * n // groups
    assert np.array_equal(out, np.repeat(np.arange(groups) + 1, np.diff(borders)))


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
    monkeypatch.setattr(sources, "TURN_SECONDS", 0.0)
    backend = open_cpu(3)
    text = TEXT + "/* turns of no time */"
    for n in (1, 10, 10_001):
        out = backend.zeros(n, "i4")
        backend._start(backend.module("mixed", text)["s00_mark"], groups, None, {"n": n, "out": out},
                       groups * shares)  # fmt: skip
        borders = np.arange(groups + 1) * n // groups
        assert np.array_equal(out, np.repeat(np.arange(groups) + 1, np.diff(borders)))


def test_interrupted_launches_leave_the_pool_usable():
    """A thread that stops sets the flag; helpers leave, and the next launch is whole."""
    backend = open_cpu(2)
    kernel, real = backend.module("mixed", TEXT)["s00_mark"], cpu._Job.lead

    def interrupted(job):
        job.counters[4] = 1
        raise KeyboardInterrupt

    for _ in range(20):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(cpu._Job, "lead", interrupted)
            backend.launch(kernel, 64, None, n=6400, out=backend.zeros(6400, "i4"))
        assert marks(backend, 64, 64).sum() == 64 * 65 // 2
    assert cpu._Job.lead is real


def test_long_shares_are_left_to_helpers(monkeypatch):
    """Computing cannot be interrupted, waiting can: after one long share the launching thread only waits."""
    monkeypatch.setattr(sources, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(cpu, "_LONG", -1.0)
    offered, offer = [], cpu._pool.offer
    monkeypatch.setattr(cpu._pool, "offer", lambda *a: offered.append(a) or offer(*a))
    for threads in (1, 2):
        backend = open_cpu(threads)
        out = backend.zeros(1000, "i4")
        kernel = backend.module("mixed", TEXT + "/* turns of no time */")["s00_mark"]
        backend._start(kernel, 4, None, {"n": 1000, "out": out}, 1000)
        assert np.array_equal(out, np.repeat(np.arange(4) + 1, 250)) and offered


def test_overhead_of_a_launch():
    """30 us and 5 us a job are allowed; measured 22 us for one group, 30 us for 32 on a busy machine."""
    backend = open_cpu(2)
    kernel, out = backend.module("mixed", TEXT)["s00_mark"], backend.zeros(8, "i4")
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
