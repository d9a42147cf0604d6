"""The host side of the CUDA backend against a stand-in for CuPy made of NumPy; no kernel is run.

It shows what the verbs call, that NVRTC's cubin reaches RawModule by path, and that scalars arrive typed.
On a machine with a GPU the fixture `backend` runs everything for real.
"""

import sys
import types

import numpy as np
import pytest

from gpu_collide.backends import nvrtc, sources
from gpu_collide.backends.cuda import CudaBackend
from gpu_collide.backends.self_test import kernel_text
from gpu_collide.errors import BackendUnavailableError

TEXT = kernel_text()


class CudaError(RuntimeError):
    pass


class Settable(np.ndarray):
    """Takes contents as a CuPy array does: contiguous ones only."""

    def set(self, array):
        assert type(array) is np.ndarray and array.flags.c_contiguous
        self[...] = array


def stand_in(compute_capability="90", devices=1):
    calls = []

    class RawModule:
        def __init__(self, path):
            with open(path, "rb") as f:
                self.head = f.read(200)

        def get_function(self, name):
            return lambda grid, block, args: calls.append((name, self.head, grid, block, args))

    def count():
        if devices is None:
            raise CudaError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return devices

    runtime = types.SimpleNamespace(
        CUDARuntimeError=CudaError,
        getDeviceCount=count,
        getDevice=lambda: 0,
        getDeviceProperties=lambda i: {
            "name": b"Stand-in",
            "multiProcessorCount": 4,
            "maxThreadsPerMultiProcessor": 2048,
        },
        runtimeGetVersion=lambda: 12090,
        memGetInfo=lambda: (1000, 2000),
    )
    cuda = types.SimpleNamespace(
        runtime=runtime,
        Device=lambda: types.SimpleNamespace(id=0, compute_capability=compute_capability),
        memory=types.SimpleNamespace(OutOfMemoryError=MemoryError),
        driver=types.SimpleNamespace(CUDADriverError=CudaError),
        get_current_stream=lambda: types.SimpleNamespace(synchronize=lambda: None),
    )
    return types.SimpleNamespace(
        cuda=cuda,
        RawModule=RawModule,
        calls=calls,
        ndarray=np.ndarray,
        asarray=np.array,
        asnumpy=np.array,
        empty=np.empty,
        arange=np.arange,
        stack=np.stack,
        lexsort=np.lexsort,
        cumsum=np.cumsum,
        get_default_memory_pool=lambda: types.SimpleNamespace(free_bytes=lambda: 24),
    )


@pytest.fixture
def cupy(monkeypatch, tmp_path):
    try:
        nvrtc.version(12)
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path))
    monkeypatch.setattr(CudaBackend, "self_test", lambda self: None)  # there is nothing to run it
    module = stand_in()
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_verbs(cupy):
    backend = CudaBackend()
    assert backend.device == "Stand-in (sm_90)" and backend.max_groups == 128
    assert backend.memory_free() == 1024
    buf = backend.to_device(np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1])
    assert backend.to_host(buf).tolist() == [[2, 1, 0], [5, 4, 3]] and backend.item(buf) == 3
    assert backend.exclusive_scan(backend.to_device(np.array([3, 4], "i4"))).tolist() == [0, 3, 7]
    assert backend.exclusive_scan(backend.to_device(np.zeros(0, "i4"))).tolist() == [0]
    assert backend.zeros((2, 2), "f4").tolist() == [[0, 0], [0, 0]]
    order = backend.argsort(backend.to_device(np.array([3, 1, 3, -2, 1], "i8")))
    assert order.tolist() == [3, 1, 4, 0, 2] and order.dtype == np.int32
    assert backend.argsort(backend.zeros(0, "i8")).size == 0
    backend.synchronize()


def test_launch(cupy):
    backend = CudaBackend()
    kernel = backend.compile(TEXT, "single")["gc_probe"]
    x, out = backend.zeros(300, "f4"), backend.zeros((3, 300), "f4")
    backend.launch_items(kernel, 300, n=300, a_in=x, b_in=x, c_in=x, out=out)
    (name, head, grid, block, args) = cupy.calls[0]
    assert name == "gc_probe" and head.startswith(b"\x7fELF") and (grid, block) == ((3,), (128,))
    assert type(args[0]) is np.int32 and args[0] == 300 and args[4] is out
    with pytest.raises(
        TypeError, match="a_in must be a contiguous cuda buffer of float32, got ndarray of float64"
    ):
        backend.launch(kernel, 1, n=1, a_in=x.astype("f8"), b_in=x, c_in=x, out=out)


def test_bound_launch(cupy):
    """Checked at binding; the same typed arguments each time, but for numbers given to one launch."""
    backend = CudaBackend()
    kernel = backend.compile(TEXT, "single")["gc_probe"]
    x, out = backend.zeros(300, "f4"), backend.zeros((3, 300), "f4")
    bound = backend.bind(kernel, n=300, a_in=x, b_in=x, c_in=x, out=out)
    bound.launch_items(300)
    bound.launch_items(300, n=np.int64(7))
    bound.launch(2, 64)
    bound.launch_groups(5)
    bound.launch_items(0)
    assert [call[2:4] for call in cupy.calls] == [
        ((3,), (128,)),
        ((3,), (128,)),
        ((2,), (64,)),
        ((5,), (64,)),
    ]
    assert [call[4][0] for call in cupy.calls] == [300, 7, 300, 300]
    assert all(type(call[4][0]) is np.int32 and call[4][4] is out for call in cupy.calls)
    with pytest.raises(TypeError, match="a_in must be a contiguous cuda buffer of float32, got list"):
        backend.bind(kernel, n=300, a_in=[0.0], b_in=x, c_in=x, out=out)
    with pytest.raises(ValueError, match="n must fit int32"):
        bound.launch_items(300, n=2**40)


def test_write(cupy):
    backend = CudaBackend()
    buf = backend.zeros((2, 3), "f4").view(Settable)
    assert backend.write(buf, np.arange(6.0, dtype="f4").reshape(3, 2).T[:, ::-1].T.reshape(2, 3)) is buf
    assert buf.tolist() == [[4, 5, 2], [3, 0, 1]]
    with pytest.raises(TypeError, match="array must be of dtype float32"):
        backend.write(buf, np.zeros((2, 3)))


def test_gpu_newer_than_nvrtc_gets_ptx(cupy, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", stand_in("999"))
    backend = CudaBackend()
    backend.launch(backend.compile(TEXT, "single")["gc_probe"], 1, n=0, **dict.fromkeys(
        ("a_in", "b_in", "c_in", "out"), backend.zeros(1, "f4")))  # fmt: skip
    assert sys.modules["cupy"].calls[0][1].lstrip().startswith(b"//")


@pytest.mark.parametrize("devices", [0, None])
def test_no_gpu(cupy, monkeypatch, devices):
    monkeypatch.setitem(sys.modules, "cupy", stand_in(devices=devices))
    with pytest.raises(BackendUnavailableError, match="no CUDA device"):
        CudaBackend()


def test_no_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(BackendUnavailableError, match=r"CuPy is not importable.*gpu-collide\[cuda12\]"):
        CudaBackend()


def test_no_nvrtc(monkeypatch):
    monkeypatch.setattr(nvrtc, "_candidates", lambda major: [])
    nvrtc._library.cache_clear()
    try:
        with pytest.raises(BackendUnavailableError, match="NVRTC was not found; pip install"):
            nvrtc.build(sources.source(), [])
    finally:
        nvrtc._library.cache_clear()
