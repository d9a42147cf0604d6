"""Memory that is refused: an error of ours with numbers in it, smaller pieces where that helps, no abort."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends.buffers import DeviceMemoryError
from gpu_collide.backends.host import process_memory_free
from gpu_collide.errors import MemoryLimitError

HUNGRY = """
import resource, sys
import numpy as np
import gpu_collide as gc
name, spares = sys.argv[1], [float(text) for text in sys.argv[2:]]
r = np.random.default_rng(1)
n = 200
quat = r.normal(size=(2, n, 4)); quat /= np.linalg.norm(quat, axis=2)[..., None]
start, end = (gc.Poses.from_quat_wxyz(r.normal(size=(n, 3)), q) for q in quat)
bodies, world = gc.Bodies(gc.shapes.box(), None, start, end), gc.Bodies(gc.shapes.box(), None, start, start)
pairs = np.stack(np.triu_indices(n, 1), axis=1).astype(np.int32)[:8_000]
at, way = r.normal(size=(2, 8_000, 3))
ask = {
    "collide": lambda k: gc.collide(bodies, pairs[:k], backend=name),
    "find_pairs": lambda k: gc.find_pairs(bodies, backend=name),
    "rays": lambda k: gc.sweep.rays(at[:k], way[:k], world, backend=name).time,
    "slide": lambda k: gc.sweep.slide(world, at[:k], [0.1, 0.1, 0.1], way[:k], backend=name).position,
    "translate": lambda k: gc.pluecker.translate(at[:k], world, way[:k], backend=name).fraction,
}
for call in ask.values():
    call(50)
for spare in spares:
    for verb, call in ask.items():
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + int(spare * 2**20), resource.RLIM_INFINITY))
        try:
            call(8_000)
            said = "found"
        except gc.errors.MemoryLimitError as error:
            said = f"raised {error}"
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(spare, verb, said, "then", len(call(50)) > 0, flush=True)
"""


def _in_little(backend, *spares, check="1"):
    """Lines of a process that asks every verb while it may grow by each of `spares` MiB."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "GPU_COLLIDE_THREADS": "2"}
    env["GPU_COLLIDE_CHECK"] = check
    command = [sys.executable, "-c", HUNGRY, backend.name, *map(str, spares)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5 * len(spares)
    assert all(line.endswith("then True") for line in lines)
    return lines


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
@pytest.mark.backends("cpu", "opencl")  # a driver of a GPU maps more than any such limit
def test_process_that_may_not_grow(backend):
    """PoCL allocated at first use, and ended the process by an assertion when that was refused; and what
    checks results raised NumPy's own error."""
    lines = _in_little(backend, 0, 1, 5, 20, 160)
    assert all(" found " in line for line in lines[-5:])  # there is room


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
@pytest.mark.parametrize("check", ["0", "1"])
@pytest.mark.backends("cpu", "opencl")
def test_process_that_may_hardly_grow(backend, check):
    _in_little(backend, *np.arange(0.0, 40.0, 0.5), check=check)


def test_refused_buffers_make_smaller_pieces(backend, monkeypatch):
    """The machine's limit is treated as the one that was set: the same bits, in more pieces."""
    r = np.random.default_rng(1)
    quat = r.normal(size=(2, 12, 4))
    quat /= np.linalg.norm(quat, axis=2)[..., None]
    start, end = (gc.Poses.from_quat_wxyz(r.normal(size=(12, 3)), q) for q in quat)
    bodies = gc.Bodies(gc.shapes.box(), None, start, end)
    pairs = np.stack(np.triu_indices(12, 1), axis=1)
    expected = gc.collide(bodies, pairs, backend=backend.name).to_numpy()
    real, limit, refused = type(backend).empty, [70_000], []

    def empty(self, shape, dtype):
        nbytes = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
        if nbytes > limit[0]:
            refused.append(nbytes)
            raise DeviceMemoryError(f"no {nbytes} bytes")
        return real(self, shape, dtype)

    monkeypatch.setattr(type(backend), "empty", empty)
    found = None
    while found is None:  # the least that one pair needs is the backend's own affair
        try:
            found = gc.collide(bodies, pairs, backend=backend.name).to_numpy()
        except MemoryLimitError as error:
            assert "bytes" in str(error)
            limit[0] *= 2
    assert refused
    for name in ("time", "position", "normal", "pair", "status", "toi"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@pytest.mark.backends("opencl")
def test_errors_of_refused_memory_are_both_kinds(backend):
    with pytest.raises(MemoryLimitError, match="allows .* in one"):
        backend.empty(backend.max_buffer + 1, "u1")
    held = [backend.empty(1 << 20, "u1")]
    assert backend._held() >= 1 << 20
    before = backend._held()
    with pytest.raises(MemoryError, match="has room for"):
        while True:  # stops at what the device grants in all; nothing is touched, so nothing is taken
            held.append(backend.empty(backend.max_buffer, "u1"))
    held.clear()
    assert backend._held() == before - (1 << 20)


def test_limit_of_the_process():
    assert process_memory_free() > 0
