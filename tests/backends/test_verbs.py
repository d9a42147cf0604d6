"""Each verb on each backend, and the errors of a launch."""

import threading

import numpy as np
import pytest

from gpu_collide.backends import sources
from gpu_collide.errors import KernelCompileError, PrecisionUnavailableError

HEADER = sources.joined("common/gc_platform.h")
TEXT = (
    HEADER
    + """
#line 1 "screw/s00_scale.c"
GC_KERNEL void s00_scale(int n, gc_real factor, GC_GLOBAL const gc_real *x_in, GC_GLOBAL gc_real *y_out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n)) {
        y_out[i] = factor * x_in[i];
    }
}
GC_KERNEL void s00_groups(int n, GC_GLOBAL int *y_out)
{
    int g = GC_GROUP_LO(n);
    for (; g < GC_GROUP_HI(n); g += GC_GROUP_STEP(n)) {
        for (int k = GC_LOCAL_ID; k < 1; k += GC_GROUP_SIZE) {
            y_out[g] += g;
        }
    }
}
"""
)
DTYPES = ["f8", "f4", "i4", "i8", "u1", "u4"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (1,), (5, 3), (2, 0, 4), ()])
def test_to_device_and_back(backend, dtype, shape):
    array = np.random.default_rng(1).integers(0, 100, shape).astype(dtype)
    buf = backend.to_device(array)
    assert buf.shape == shape and buf.dtype == array.dtype and buf.nbytes == array.nbytes
    back = backend.to_host(buf)
    assert back.shape == shape and back.dtype == array.dtype and np.array_equal(back, array)


def test_to_device_copies(backend):
    array = np.arange(10.0)
    buf = backend.to_device(array)
    array[:] = -1
    assert np.array_equal(backend.to_host(buf), np.arange(10.0))


def test_to_device_takes_any_layout(backend):
    array = np.arange(24.0).reshape(4, 6)
    for odd in (array.T, array[::-1, ::2], array.astype(">f8")):
        buf = backend.to_device(odd)
        assert buf.dtype == np.float64 and np.array_equal(backend.to_host(buf), odd)
    assert np.array_equal(backend.to_host(backend.to_device(array[:, 1], copy=False)), array[:, 1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_zeros_fill_item(backend, dtype):
    assert backend.empty(7, dtype).shape == (7,)
    buf = backend.zeros((3, 4), dtype)
    assert not backend.to_host(buf).any()
    assert (backend.to_host(backend.fill(buf, 9)) == 9).all()
    assert backend.fill(backend.empty(0, dtype), 1).size == 0
    buf = backend.to_device(np.arange(5).astype(dtype))
    assert [backend.item(buf), backend.item(buf, 0), backend.item(buf, 3)] == [4, 0, 3]
    with pytest.raises(IndexError):
        backend.item(buf, 5)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_exclusive_scan(backend, dtype, n):
    counts = np.random.default_rng(2).integers(0, 2**30, n).astype(dtype)
    scan = backend.exclusive_scan(backend.to_device(counts))
    assert scan.dtype == np.int64 and scan.shape == (n + 1,)
    expected = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    assert np.array_equal(backend.to_host(scan), expected)  # past 2^31: int32 would wrap


@pytest.mark.parametrize("n", [0, 1, 2, 1000, 5000])
def test_argsort_keeps_equals_in_order(backend, n):
    keys = np.random.default_rng(4).integers(-50, 50, n) * 2**56  # what float64 or int32 would mix up
    keys += np.random.default_rng(5).integers(0, 2, n)
    order = backend.argsort(backend.to_device(keys))
    assert order.dtype == np.int32 and order.shape == (n,)
    assert np.array_equal(backend.to_host(order), np.lexsort([np.arange(n), keys]))


def scaled(backend, precision="double", size=1000, **change):
    real = "f4" if precision == "single" else "f8"
    args = {
        "n": size,
        "factor": 3.0,
        "x_in": backend.to_device(np.arange(size).astype(real)),
        "y_out": backend.fill(backend.empty(size, real), np.nan),
    }
    args.update(change)
    backend.launch_items(backend.compile(TEXT, precision).kernel("s00_scale"), size, **args)
    backend.synchronize()
    return backend.to_host(args["y_out"])


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 100_000])
def test_launch_items(backend, n):
    assert np.array_equal(scaled(backend, size=n), 3.0 * np.arange(n))


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_launch_groups(backend, n):
    out = backend.zeros(n, "i4")
    backend.launch_groups(backend.compile(TEXT, "mixed")["s00_groups"], n, n=n, y_out=out)
    assert np.array_equal(backend.to_host(out), np.arange(n))


def test_hints(backend):
    assert backend.max_groups >= 1 and backend.memory_free() > 2**20 and backend.device
    assert backend.name in repr(backend)


def test_module_is_built_once(backend):
    module = backend.compile(TEXT, "double")
    assert backend.compile(TEXT, "double") is module
    assert list(module) == ["s00_scale", "s00_groups"] and module["s00_scale"] is module.kernel("s00_scale")


def test_launch_from_many_threads(backend):
    results = [None] * 4

    def work(i):
        results[i] = [scaled(backend, size=2000, factor=float(i + k))[-1] for k in range(10)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [[1999.0 * (i + k) for k in range(10)] for i in range(4)]


# -- errors: the same class on every backend -----------------------------------------------------------------
def test_unknown_kernel(backend):
    with pytest.raises(KeyError, match="no kernel named 's77'; there are s00_scale, s00_groups"):
        backend.compile(TEXT, "double").kernel("s77")


def test_unknown_precision(backend):
    with pytest.raises(ValueError, match="precision must be one of mixed, double, single, got 'half'"):
        backend.compile(TEXT, "half")


def test_missing_and_unknown_argument(backend):
    kernel = backend.compile(TEXT, "double").kernel("s00_scale")
    x = backend.zeros(3, "f8")
    with pytest.raises(TypeError, match=r"missing factor, y_out; it takes \(n, factor, x_in, y_out\)"):
        backend.launch(kernel, 1, n=3, x_in=x)
    with pytest.raises(TypeError, match="missing y_out; unknown z_out"):
        backend.launch(kernel, 1, n=3, factor=1.0, x_in=x, z_out=x)


@pytest.mark.parametrize(
    "change, error, words",
    [
        ({"x_in": "f4"}, TypeError, "x_in must be a contiguous .* buffer of float64, got .* of float32"),
        (
            {"y_out": "i4"},
            TypeError,
            "y_out must be a contiguous, writeable .* buffer of float64, got .* of int32",
        ),
        ({"x_in": None}, TypeError, "x_in must be .*, got NoneType"),
        ({"n": 1.5}, TypeError, "n must be a number that int32 holds, got float 1.5"),
        ({"n": 2**31}, ValueError, "n must fit int32, got 2147483648"),
        ({"factor": "two"}, TypeError, "factor must be a number that float64 holds"),
    ],
)
def test_wrong_argument(backend, change, error, words):
    if isinstance(next(iter(change.values())), str) and change.get("factor") is None:
        change = {name: backend.zeros(1000, dtype) for name, dtype in change.items()}
    with pytest.raises(error, match=words):
        scaled(backend, **change)


def test_buffer_of_another_kind(backend):
    alien = [0.0] * 1000 if backend.kind == "cpu" else np.zeros(1000)
    with pytest.raises(TypeError, match="x_in must be"):
        scaled(backend, x_in=alien)


def test_negative_groups(backend):
    with pytest.raises(ValueError, match="groups must not be negative"):
        backend.launch(backend.compile(TEXT, "double")["s00_groups"], -1, n=1, y_out=backend.zeros(1, "i4"))


def test_group_size_where_groups_are_serial(backend):
    if not backend.serial_groups:
        pytest.skip("takes any group size")
    with pytest.raises(ValueError, match="one work-item, got group_size=4"):
        backend.launch(backend.compile(TEXT, "double")["s00_groups"], 1, 4, n=1, y_out=backend.zeros(1, "i4"))


def test_compile_error_names_file_and_line(backend):
    with pytest.raises(KernelCompileError, match=r"s00_broken\.c[:(]41"):
        backend.compile(TEXT + '#line 41 "screw/s00_broken.c"\nint oops = ;\n', "double")


def test_device_without_float64(backend, monkeypatch):
    monkeypatch.setattr(backend, "has_float64", False)
    for precision in ("mixed", "double"):
        with pytest.raises(PrecisionUnavailableError, match="has no float64.*precision='single'"):
            backend.compile(TEXT, precision)
    assert np.array_equal(scaled(backend, "single"), np.float32(3) * np.arange(1000, dtype="f4"))


def test_to_device_without_copy_is_read_only():
    from gpu_collide.backends import get_backend
    from gpu_collide.errors import BackendUnavailableError

    try:
        cpu = get_backend("cpu")
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    array = np.arange(1000.0)
    view = cpu.to_device(array, copy=False)
    assert np.shares_memory(view, array) and not view.flags.writeable
    assert scaled(cpu, x_in=view)[-1] == 2997
    with pytest.raises(TypeError, match="y_out must be a contiguous, writeable"):
        scaled(cpu, y_out=view)
    for buf in (cpu.empty(3, "u1"), cpu.zeros((2, 5), "f8"), cpu.to_device(array)):
        assert buf.__array_interface__["data"][0] % 64 == 0
