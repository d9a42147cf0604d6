"""Launches bound to their arguments: what they do is what a launch does, and what cannot be raises alike."""

import gc
import os
import statistics
import threading
import time

import numpy as np
import pytest

from gpu_collide.backends import pool, sources

TEXT = (
    sources.join([sources.kernels_dir() / "common" / "gc_platform.h"])
    + """
#line 1 "screw/s00_bound.c"
GC_KERNEL void s00_scale(int n, gc_real factor, GC_GLOBAL const gc_real *x_in, GC_GLOBAL gc_real *y_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        y_out[i] = factor * x_in[i];
    }
}
GC_KERNEL void s00_groups(int n, int add, GC_GLOBAL int *y_out)
{
    for (int g = GC_GROUP_LO(n); g < GC_GROUP_HI(n); g += GC_GROUP_STEP(n)) {
        for (int k = GC_LOCAL_ID; k < 1; k += GC_GROUP_SIZE) {
            y_out[g] += add;
        }
    }
}
GC_KERNEL void s00_echo(int at, int i4, gc_uint u4, gc_long i8, gc_uchar u1, gc_real real, gc_raster raster,
                        GC_GLOBAL gc_long *whole_out, GC_GLOBAL gc_real *real_out,
                        GC_GLOBAL gc_raster *raster_out)
{
    for (int k = GC_ITEM_LO(1); k < GC_ITEM_HI(1); k += GC_ITEM_STEP(1)) {
        whole_out[4 * at] = i4;
        whole_out[4 * at + 1] = u4;
        whole_out[4 * at + 2] = i8;
        whole_out[4 * at + 3] = u1;
        real_out[at] = real;
        raster_out[at] = raster;
    }
}
"""
)
NUMBERS = {"at": 0, "i4": -(2**31), "u4": 2**32 - 1, "i8": -(2**63), "u1": 255, "real": 0.1, "raster": 0.1}


def scale(backend, size=1000, **change):
    """A bound `s00_scale` of so many items, its kernel and its output."""
    out = backend.fill(backend.empty(size, "f8"), np.nan)
    kernel = backend.compile(TEXT, "double")["s00_scale"]
    args = {"n": size, "factor": 3.0, "x_in": backend.to_device(np.arange(float(size))), "y_out": out}
    return backend.bind(kernel, **{**args, **change}), kernel, out


@pytest.mark.parametrize("n", [0, 1, 257, 100_000])
def test_items(backend, n):
    bound, _, out = scale(backend, n)
    for _ in range(3):
        bound.launch_items(n)
        assert np.array_equal(backend.to_host(out), 3.0 * np.arange(n))
        backend.fill(out, -1)


@pytest.mark.parametrize("n", [1, 5, 1000])
def test_groups_as_launched_each_time(backend, n):
    kernel = backend.compile(TEXT, "mixed")["s00_groups"]
    expected, out = backend.zeros(n, "i4"), backend.zeros(n, "i4")
    bound = backend.bind(kernel, n=n, add=1, y_out=out)
    for groups in (n, 1, 3):
        backend.launch(kernel, groups, n=n, add=1, y_out=expected)
        backend.launch_groups(kernel, n, n=n, add=1, y_out=expected)
        bound.launch(groups)
        bound.launch_groups(n)
    bound.launch(0)
    bound.launch_groups(0)
    assert backend.to_host(out).tolist() == backend.to_host(expected).tolist() == [6] * n


def test_numbers_by_name_hold_for_one_launch(backend):
    bound, _, out = scale(backend, 8)
    bound.launch_items(3, n=3, factor=-2)
    assert backend.to_host(out)[:4].tolist()[:3] == [0, -2, -4] and np.isnan(backend.to_host(out)[3])
    bound.launch_items(8)
    assert backend.to_host(out).tolist() == [0, 3, 6, 9, 12, 15, 18, 21]
    bound.launch_items(8, factor=np.float32(0.5))
    bound.launch_items(2, n=2)
    assert backend.to_host(out).tolist() == [0, 3, 1, 1.5, 2, 2.5, 3, 3.5]


def echo(backend, precision, bound, **numbers):
    real = np.float32 if precision == "single" else np.float64
    raster = np.float64 if precision == "double" else np.float32
    names = ("whole_out", "real_out", "raster_out")
    outs = [backend.zeros(4, np.int64), backend.zeros(1, real), backend.zeros(1, raster)]
    kernel, buffers = backend.compile(TEXT, precision)["s00_echo"], dict(zip(names, outs, strict=True))
    if bound:
        backend.bind(kernel, **NUMBERS, **buffers).launch_items(1, **numbers)
    else:
        backend.launch_items(kernel, 1, **{**NUMBERS, **numbers}, **buffers)
    return [backend.to_host(out) for out in outs]


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
def test_numbers_arrive_exactly(backend, precision, bound):
    whole, real, raster = echo(backend, precision, bound)
    assert whole.tolist() == [-(2**31), 2**32 - 1, -(2**63), 255]
    assert real[0] == real.dtype.type(0.1) and raster[0] == raster.dtype.type(0.1)
    numbers = {
        "i4": 2**31 - 1,
        "u4": np.uint64(3),
        "i8": 2**63 - 1,
        "u1": True,
        "real": -0.0,
        "raster": np.inf,
    }
    whole, real, raster = echo(backend, precision, bound, **numbers)
    assert whole.tolist() == [2**31 - 1, 3, 2**63 - 1, 1]
    assert real[0] == 0 and np.signbit(real[0]) and raster[0] == np.inf


@pytest.mark.parametrize(
    "change, error, words",
    [
        ({"x_in": "f4"}, TypeError, "x_in must be a contiguous .* buffer of float64, got .* of float32"),
        ({"y_out": None}, TypeError, "y_out must be a contiguous, writeable .*, got NoneType"),
        ({"n": 1.5}, TypeError, "n must be a number that int32 holds, got float 1.5"),
        ({"n": 2**31}, ValueError, "n must fit int32, got 2147483648"),
        ({"factor": "two"}, TypeError, "factor must be a number that float64 holds, got str 'two'"),
        ({"factor": 10**400}, ValueError, "factor must fit float64"),
        ({"z": 1}, TypeError, r"s00_scale: unknown z; it takes \(n, factor, x_in, y_out\)"),
    ],
)
def test_errors_are_those_of_a_launch(backend, change, error, words):
    if change.get("x_in"):
        change = {"x_in": backend.zeros(1000, change["x_in"])}
    with pytest.raises(error, match=words):
        scale(backend, **change)
    bound, kernel, out = scale(backend)
    args = {"n": 1, "factor": 1.0, "x_in": backend.zeros(1, "f8"), "y_out": out, **change}
    with pytest.raises(error, match=words):
        backend.launch(kernel, 1, **args)
    if change.keys() & {"n", "factor"}:
        with pytest.raises(error, match=words):
            bound.launch_items(0, **change)  # nothing to do, and yet it is looked at


def test_missing_arguments(backend):
    with pytest.raises(TypeError, match=r"missing factor, y_out; it takes"):
        backend.bind(backend.compile(TEXT, "double")["s00_scale"], n=3, x_in=backend.zeros(3, "f8"))


def test_what_a_launch_may_change(backend):
    bound, _, out = scale(backend)
    for name in ("y_out", "z"):
        with pytest.raises(
            TypeError, match=rf"{name} is none of the numbers .* \(n, factor\); .* bind it anew"
        ):
            bound.launch_items(1000, **{name: out})
    for launch in (bound.launch, bound.launch_items, bound.launch_groups):
        with pytest.raises(ValueError, match="must not be negative, got -1"):
            launch(-1)
    if backend.serial_groups:
        with pytest.raises(ValueError, match="one work-item, got group_size=4"):
            bound.launch(1, 4)


def test_it_holds_its_buffers(backend):
    out = backend.zeros(4, "f8")
    bound = backend.bind(backend.compile(TEXT, "double")["s00_scale"], n=4, factor=2.0,
                         x_in=backend.to_device(np.arange(4.0)), y_out=out)  # fmt: skip
    gc.collect()
    others = [backend.fill(backend.empty(4, "f8"), 7) for _ in range(50)]
    bound.launch_items(4)
    assert backend.to_host(out).tolist() == [0, 2, 4, 6] and others


def test_many_threads_share_one(backend):
    outs = [backend.zeros(800, np.int64), backend.zeros(200, "f8"), backend.zeros(200, "f4")]
    buffers = dict(zip(("whole_out", "real_out", "raster_out"), outs, strict=True))
    bound = backend.bind(backend.compile(TEXT, "mixed")["s00_echo"], **NUMBERS, **buffers)

    def work(first):
        for at in range(first, 200, 4):
            bound.launch_items(1, at=at, i8=at**5, real=at / 7, **({"u1": 7} if at % 3 else {}))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    whole, at = backend.to_host(outs[0]).reshape(200, 4), np.arange(200)
    assert np.array_equal(whole[:, 2], at**5) and np.array_equal(whole[:, 3], np.where(at % 3, 7, 255))
    assert np.array_equal(backend.to_host(outs[1]), at / 7)


def test_write(backend):
    bound, _, out = scale(backend, 4)
    x = backend.zeros(4, "f8")
    bound = backend.bind(backend.compile(TEXT, "double")["s00_scale"], n=4, factor=1.0, x_in=x, y_out=out)
    for size in (4, 100_000):  # small ones go another way
        buf, array = backend.zeros((size, 2), "f4"), np.arange(2.0 * size, dtype="f4").reshape(size, 2)
        assert backend.write(buf, array[::-1]) is buf
        assert np.array_equal(backend.to_host(buf), array[::-1])
    array = np.arange(4.0)
    backend.write(x, array)
    bound.launch_items(4)
    array[:] = 9
    backend.write(x, array)  # the launch before has the old contents, on a queue too
    array[:] = -1
    assert backend.to_host(out).tolist() == [0, 1, 2, 3] and backend.to_host(x).tolist() == [9] * 4
    assert backend.write(backend.zeros(0, "i4"), np.zeros(0, "i4")).size == 0
    for size in (5, 100_000):
        buf, array = backend.fill(backend.empty(size + 7, "i4"), -1), np.arange(size, dtype="i4")
        assert backend.write(buf, array, 4) is buf and backend.write(buf, array[:0], size + 7) is buf
        assert backend.to_host(buf).tolist() == [-1] * 4 + array.tolist() + [-1] * 3
    with pytest.raises(TypeError, match="array must be of dtype float64, as the buffer is, got float32"):
        backend.write(x, np.zeros(4, "f4"))
    with pytest.raises(ValueError, match=r"array must have the buffer's shape \(4,\), got \(2, 2\)"):
        backend.write(x, np.zeros((2, 2)))
    for array, at in ((np.zeros(3), 2), (np.zeros(3), -1), (np.zeros((2, 1)), 0)):
        with pytest.raises(ValueError, match=r"one axis and lie within the buffer's \(4,\), got .* at -?\d"):
            backend.write(x, array, at)


@pytest.mark.backends("cpu")  # elsewhere no buffer is the caller's memory
def test_callers_memory_is_not_written(backend):
    array = np.zeros(3)
    with pytest.raises(ValueError, match="buf must be a buffer that may be written"):
        backend.write(backend.to_device(array, copy=False), np.ones(3))


def test_cost(backend):
    """Measured on an idle machine: 1.8 us on cpu, 2.3 us on PoCL, without what the device does."""
    kernel = backend.compile(TEXT, "mixed")["s00_groups"]
    bound = backend.bind(kernel, n=1, add=1, y_out=backend.zeros(1, "i4"))
    times = []
    for _ in range(300):
        begun = time.perf_counter()
        bound.launch_groups(1)
        times.append(time.perf_counter() - begun)
        backend.synchronize()
    assert statistics.median(times) < 60e-6  # the bound of a shared machine


@pytest.mark.backends("cpu")
def test_short_launches_wake_nobody(backend, monkeypatch):
    kernel, woken = backend.compile(TEXT, "mixed")["s00_groups"], []
    monkeypatch.setattr(pool.crew, "offer", lambda job, helpers, mine=None: woken.append(helpers))
    monkeypatch.setattr(backend, "threads", 2)
    bound = backend.bind(kernel, n=2, add=1, y_out=backend.zeros(2, "i4"))
    monkeypatch.setattr(kernel.handle, "pace", 1e-3)
    bound.launch_groups(2)  # taken for long
    assert woken == [1]
    for _ in range(30):  # on a busy machine one may be found long
        monkeypatch.setattr(kernel.handle, "pace", 1e-7)
        woken.clear()
        bound.launch_groups(2)
        if not woken:
            break
    assert not woken and kernel.handle.pace < 1e-3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.backends("cpu")
def test_after_a_fork(backend):
    """On `cpu`; drivers that do not survive are in test_fork.py."""
    bound, _, out = scale(backend, 100_000)
    bound.launch_items(100_000)
    child = os.fork()
    if child == 0:
        try:
            backend.fill(out, 0)
            bound.launch_items(100_000, factor=2.0)
            os._exit(0 if np.array_equal(out, 2.0 * np.arange(100_000)) else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(out, 3.0 * np.arange(100_000))
