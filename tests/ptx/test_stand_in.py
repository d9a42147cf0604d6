"""The stand-in refuses what CuPy refuses."""

import numpy as np
import pytest

from tests.ptx.device import Failure

ONE = "GC_KERNEL void k(int n, GC_GLOBAL int *a) { if (GC_LOCAL_ID < n) a[GC_LOCAL_ID] = 1; }\n"


@pytest.mark.parametrize(
    "use",
    [
        np.asarray,
        lambda a: np.testing.assert_array_equal(a, np.ones(3)),
        lambda a: np.arange(9)[a],
        lambda a: np.array([a, a]),
        lambda a: float(a),
    ],
)
def test_nothing_becomes_a_numpy_array_by_itself(cupy, use):
    with pytest.raises((TypeError, IndexError)):
        use(cupy.ones(3, int))


@pytest.mark.parametrize(
    "use",
    [
        lambda a, b: a + b,
        lambda a, b: b * a,
        lambda a, b: a == b,
        lambda a, b: np.maximum(a, b),
        lambda a, b: np.concatenate([a, b]),
        lambda a, b: np.array_equal(a, b),
        lambda a, b: a.__setitem__(slice(None), b),
        lambda a, b: b.__setitem__(slice(None), a),
    ],
)
def test_the_two_kinds_of_array_do_not_mix(cupy, use):
    with pytest.raises((TypeError, ValueError)):
        use(cupy.ones(3), np.ones(3))


def test_what_does_work(cupy):
    a = cupy.arange(6, dtype=np.int32).reshape(2, 3)
    assert isinstance(a, cupy.ndarray) and a.get().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert a[1, 2].item() == 5 and int(a[0, 1]) == 1 and a[:, 1].tolist() == [1, 4]
    a[0] = 7  # a view writes to the whole
    a[1][2:] = 9
    assert a.tolist() == [[7, 7, 7], [3, 4, 9]] and (a > 6).sum().item() == 4
    assert a[a == 7].tolist() == [7] * 3 and a.reshape(-1)[np.array([5, 3])].tolist() == [9, 3]
    assert isinstance(np.sum(a), cupy.ndarray) and np.add(a, 1).tolist()[0] == [8] * 3
    a += np.float64(0.5) < 1
    assert a.dtype == np.int32 and a[0, 0].item() == 8 and bool((a == a).all())
    assert f"{a[0, 0]:04d}" == "0008" and [int(x) for x in a[1]] == [4, 5, 10]


def test_fresh_memory_is_not_zero(cupy):
    assert (cupy.empty(4, np.int32).get() != 0).all() and np.abs(cupy.empty(4).get()).min() > 1e100


def test_a_scalar_has_the_kernels_type(run):
    for wrong in (3, 3.0, np.int64(3), np.uint8(3)):
        with pytest.raises(Failure, match="kernel k: argument 0 takes 4 bytes"):
            run(ONE, 1, 8, wrong, np.zeros(8, np.int32))
    assert run(ONE, 1, 8, np.int32(3), np.zeros(8, np.int32))[0].sum() == 3


def test_arguments_are_counted_and_are_no_numpy_arrays(run, cupy):
    with pytest.raises(ValueError, match="takes 2 arguments, got 1"):
        run(ONE, 1, 8, np.int32(3))
    with pytest.raises(TypeError, match="Unsupported type"):
        run(ONE, 1, 8, np.int32(3), [1, 2])


def test_an_array_belongs_to_a_device(run, cupy, monkeypatch):
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="invalid device ordinal"):
        cupy.cuda.Device(1)
    monkeypatch.setattr(cupy.cuda.runtime, "count", 2)
    with cupy.cuda.Device(1):
        there = cupy.zeros(8, np.int32)
        assert there.device.id == 1 and run(ONE, 1, 8, np.int32(8), there)[0].all()
    assert cupy.zeros(1).device.id == 0
    with pytest.raises(ValueError, match="argument 1 is on device 1, the current one is 0"):
        run(ONE, 1, 8, np.int32(8), there)


def test_streams_are_ordered_only_by_what_orders_them(run, cupy):
    a = cupy.zeros(8, np.int32)
    one, other = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with one:
        run(ONE, 1, 8, np.int32(8), a)
    with other, pytest.raises(Failure, match="nothing orders the two"):
        run(ONE, 1, 8, np.int32(8), a)
    one.synchronize()
    with other:
        run(ONE, 1, 8, np.int32(8), a)
        event = other.record()
    one.wait_event(event)
    with one:
        run(ONE, 1, 8, np.int32(8), a)
    cupy.cuda.Device().synchronize()
    assert cupy.cuda.get_current_stream() is cupy.cuda.Stream.null


def test_memory_comes_to_an_end_and_is_given_back(cupy):
    free, total = cupy.cuda.runtime.memGetInfo()
    held = cupy.empty(free // 2, np.uint8)
    with pytest.raises(cupy.cuda.memory.OutOfMemoryError, match="Out of memory allocating"):
        cupy.empty(free // 2 + 4096, np.uint8)
    del held
    assert cupy.cuda.runtime.memGetInfo() == (free, total)


def test_an_error_of_a_launch_comes_later(cupy):
    cupy.cuda.runtime.pending = cupy.cuda.runtime.CUDARuntimeError(
        "cudaErrorIllegalAddress: an illegal access"
    )
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="illegal access"):
        cupy.cuda.get_current_stream().synchronize()
    cupy.cuda.get_current_stream().synchronize()


def test_a_cubin_is_for_a_real_device(cupy, tmp_path):
    (tmp_path / "k.cubin").write_bytes(b"\x7fELF....")
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match="NO_BINARY_FOR_GPU"):
        cupy.RawModule(path=str(tmp_path / "k.cubin"))
