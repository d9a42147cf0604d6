"""Children made by fork: ``cpu`` works in them, drivers that do not say so, and nothing waits for ever."""

import multiprocessing
import os
import subprocess
import sys

import pytest

from gpu_collide.backends import get_backend
from gpu_collide.errors import BackendUnavailableError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

START = """
import os, signal, sys, threading, time, warnings
import numpy as np
import gpu_collide as gc
from gpu_collide.backends import get_backend, sources
from gpu_collide.errors import BackendUnavailableError
identity = gc.Poses.identity(2)
bodies = gc.Bodies(gc.shapes.box(), None, identity, identity)

def collide(name, **options):
    return gc.collide(bodies, [[0, 1]], backend=name, **options)

def in_child(act, seconds=60):
    child = os.fork()
    if child == 0:
        code = 9
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                print("child:", act(), *[w.message for w in warned], flush=True)
            code = 0
        except BackendUnavailableError as error:
            print("child:", error, flush=True)
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("child hangs")
"""


def run(code, **env):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **env}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", START + code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.backends("cpu")
def test_cpu_after_cpu(backend):
    code = "collide('cpu')\nin_child(lambda: collide('cpu').info['backend'])\n"
    assert run(code, GPU_COLLIDE_THREADS="4") == "child: cpu\n"


@pytest.mark.backends("cpu")
def test_fork_while_another_thread_compiles(backend, tmp_path):
    """The child got the lock of the build, and no thread to let it go."""
    text = '#!/bin/sh\ncase "$*" in *--version*) echo test 1.0; exit 0;; esac\n'
    text += '[ -e {0} ] || {{ : >{0}; sleep 1; }}\nexec cc "$@"\n'
    slow = tmp_path / "cc"
    slow.write_text(text.format(tmp_path / "compiles"))
    slow.chmod(0o755)
    code = f"""
thread = threading.Thread(target=lambda: get_backend("cpu"))
thread.start()
while not os.path.exists({str(tmp_path / "compiles")!r}):
    time.sleep(0.01)
in_child(lambda: get_backend("cpu").name)
thread.join()
"""
    assert run(code, CC=str(slow), GPU_COLLIDE_CACHE=str(tmp_path / "cache")) == "child: cpu\n"


@pytest.mark.backends("cpu")
def test_fork_while_another_thread_computes(backend):
    code = """
pairs = np.tile([[0, 1]], (200_000, 1))
collide("cpu")
thread = threading.Thread(target=lambda: gc.collide(bodies, pairs, backend="cpu"))
thread.start()
for _ in range(20):
    in_child(lambda: collide("cpu").info["backend"], 20)
thread.join()
"""
    assert run(code, GPU_COLLIDE_THREADS="2") == "child: cpu\n" * 20


@pytest.mark.backends("opencl", "cuda")
def test_drivers_that_do_not_survive_say_so(backend):
    """PoCL's threads are not there in the child: its first call waited for them for ever."""
    name = backend.name
    code = f"""
place = get_backend({name!r})
buffer = place.zeros(8, "i4")
text = sources.join([sources.kernels_dir() / "common" / "gc_platform.h"])
text += "GC_KERNEL void s00_one(int n, GC_GLOBAL int *out) {{ if (GC_LOCAL_ID == 0) out[0] = n; }}"
bound = place.bind(place.compile(text, "single")["s00_one"], n=1, out=buffer)
bound.launch(1)
phase = gc.BroadPhase(2, backend={name!r})
acts = [lambda: collide({name!r}), lambda: place.to_host(buffer), lambda: place.zeros(8, "i4"),
        lambda: place.synchronize(), lambda: bound.launch(1), lambda: place.write(buffer, np.zeros(8, "i4")),
        lambda: phase.find_pairs(bodies), lambda: gc.devices(),
        lambda: collide("cpu").info["backend"]]
for act in acts:
    in_child(act, 30)
in_child(lambda: in_child(lambda: collide({name!r})), 30)
collide({name!r})
"""
    lines = run(code).splitlines()
    assert "child hangs" not in lines
    warnings_seen = [line for line in lines if "in use before this process was forked" in line]
    assert len(warnings_seen) == 9 and all("set_start_method('spawn')" in line for line in warnings_seen)


@pytest.mark.backends("opencl", "cuda")
def test_auto_goes_on_in_the_child(backend):
    name = backend.name
    code = """
get_backend("auto")
in_child(lambda: (get_backend("auto").name, get_backend("auto").name))
"""
    out = run(code, GPU_COLLIDE_BACKEND=f"{name},cpu,reference")
    assert out.startswith("child: ('cpu', 'cpu')") and out.count("was in use before") == 1
    assert "'cpu' is taken now" in out


@pytest.mark.backends("opencl")
def test_child_that_uses_opencl_first(backend):
    """The parent only looked at cpu: the child's driver is its own."""
    code = "get_backend('cpu')\nin_child(lambda: get_backend('opencl').name)\n"
    assert run(code) == "child: opencl\n"


def task(name):
    try:
        return get_backend(name).name
    except BackendUnavailableError as error:
        return str(error)


def test_spawned_processes_have_everything(backend):
    """The remedy that the message names."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(_spawned, (backend.name,)).get(120) == backend.name


def _spawned(name):
    return task(name)
