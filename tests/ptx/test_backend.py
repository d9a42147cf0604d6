"""The backend `cuda` on the stand-in: what goes wrong on a device reaches the caller as an error of ours."""

import gc
import warnings

import numpy as np
import pytest

import gpu_collide.backends as backends
from gpu_collide.backends import nvrtc
from gpu_collide.backends.base import GpuUnusableError
from gpu_collide.backends.buffers import DeviceMemoryError
from gpu_collide.backends.self_test import kernel_text
from gpu_collide.errors import BackendUnavailableError, DeviceError, MemoryLimitError
from gpu_collide.results.contacts import CONTACT_DTYPE, Contacts

VERBS = {
    "to_device": lambda be, buf: be.to_device(np.zeros(1000)),
    "empty": lambda be, buf: be.empty(1000, "f8"),
    "zeros": lambda be, buf: be.zeros(1000, "f8"),
    "exclusive_scan": lambda be, buf: be.exclusive_scan(buf),
    "argsort": lambda be, buf: be.argsort(buf),
}
LATE = VERBS | {
    "to_host": lambda be, buf: be.to_host(buf),
    "item": lambda be, buf: be.item(buf),
    "write": lambda be, buf: be.write(buf, np.zeros(1000, np.int32)),
    "synchronize": lambda be, buf: be.synchronize(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_out_of_memory_in_every_verb(on_ptx, cupy, monkeypatch, verb):
    buf = on_ptx.zeros(1000, np.int32)
    own = buf.buffer.device
    monkeypatch.setattr(own, "capacity", own.used + 100)
    with pytest.raises(DeviceMemoryError, match="PTX on this processor.*Out of memory") as raised:
        VERBS[verb](on_ptx, buf)
    assert isinstance(raised.value, MemoryLimitError) and isinstance(raised.value, MemoryError)


@pytest.mark.parametrize("verb", LATE)
def test_an_error_that_comes_late(on_ptx, cupy, verb):
    buf = on_ptx.zeros(1000, np.int32)
    runtime = cupy.cuda.runtime
    runtime.pending = runtime.CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access", 700)
    with pytest.raises(
        DeviceError, match="illegal memory access.*a launch or copy before it may be the reason"
    ):
        LATE[verb](on_ptx, buf)
    assert runtime.pending is None


def probe(be, n=8):
    kernel = be.compile(kernel_text(), "single")["gc_probe"]
    x = be.zeros(n, "f4")
    be.launch_items(kernel, n, n=n, a_in=x, b_in=x, c_in=x, out=be.zeros((3, n), "f4"))


@pytest.mark.parametrize("status, kind", [(2, DeviceMemoryError), (700, DeviceError)])
def test_errors_of_a_launch(on_ptx, cupy, monkeypatch, status, kind):
    def refuse(*_):
        raise cupy.cuda.driver.CUDADriverError("CUDA_ERROR_SOME: refused", status)

    monkeypatch.setattr("cupy._module.RawKernel.__call__", refuse)
    with pytest.raises(kind, match="CUDA_ERROR_SOME"):
        probe(on_ptx)


def test_stacks_that_the_driver_will_reserve_are_not_free(on_ptx):
    text = (
        kernel_text()
        + """
GC_KERNEL void gc_deep(int n, GC_GLOBAL int *out)
{
    int own[500], i;
    for (i = 0; i < 500; ++i) own[(i * n) % 500] = i;
    out[GC_LOCAL_ID] = own[(n + GC_LOCAL_ID) % 500];
}
"""
    )
    gc.collect()  # what other tests left would become free in between
    before = on_ptx.memory_free()
    kernel = on_ptx.compile(text, "single")["gc_deep"]
    assert on_ptx.memory_free() == before - 2048 * 2000  # work-items at once, bytes of `own`
    on_ptx.launch(kernel, 1, 32, n=1, out=on_ptx.zeros(32, np.int32))
    assert on_ptx.memory_free() == before  # now the driver has them, and they are not free for it either


@pytest.fixture
def anew(cupy, monkeypatch):
    """No backend is open, and nothing was told."""
    monkeypatch.setattr(backends, "_open", {})
    monkeypatch.setattr(backends, "_told", set())
    monkeypatch.setattr(backends, "_refused", {})
    monkeypatch.delenv("GPU_COLLIDE_BACKEND", raising=False)
    return monkeypatch


def test_auto_says_once_why_it_passes_over_a_gpu(anew):
    def refuse(*_):
        raise BackendUnavailableError("NVRTC was not found; pip install something")

    anew.setattr(nvrtc, "supported", refuse)
    with pytest.warns(
        RuntimeWarning, match="the GPU is not used: PTX on this proc.*NVRTC was not found.*is taken"
    ):
        assert backends.get_backend("auto", "mixed").name != "cuda"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert backends.get_backend("auto", "mixed").name != "cuda"
    with pytest.raises(BackendUnavailableError, match="NVRTC was not found"):
        backends.get_backend("cuda")


def test_auto_says_why_where_the_kernels_cannot_be_built(anew):
    real = backends._builds

    def refuse(opened, *rest):
        return GpuUnusableError("no kernels") if opened.name == "cuda" else real(opened, *rest)

    anew.setattr(backends, "_builds", refuse)
    with pytest.warns(RuntimeWarning, match="the GPU is not used: no kernels; '\\w+' is taken now"):
        backends.get_backend("auto", "mixed")


def test_auto_says_nothing_where_there_is_no_gpu(anew, cupy):
    anew.setattr(cupy.cuda.runtime, "count", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert backends.get_backend("auto", "mixed").name != "cuda"


def test_sustained_is_bool_on_the_device(cupy):
    n = 3
    values = {
        name: np.zeros((n, *CONTACT_DTYPE[name].shape), CONTACT_DTYPE[name].base)
        for name in CONTACT_DTYPE.names
    }
    values["sustained"] = np.array([1, 0, 1], np.uint8)  # as kernels write it
    on_device = {name: cupy.array(value) for name, value in values.items()}
    found = Contacts(
        status=np.zeros(1, np.uint8), toi=np.zeros(1), contact_start=np.array([0, n]), **on_device
    )
    assert isinstance(found.sustained, cupy.ndarray) and found.sustained.dtype == bool
    assert found.pair[found.sustained].size == 2 and found.to_numpy().sustained.tolist() == [
        True,
        False,
        True,
    ]


def test_builtins_are_loaded_before_nvrtc(tmp_path, monkeypatch):
    """Wheels have them beside it, where no loader looks."""
    opened = []

    def load(path):
        opened.append(str(path).rsplit("/")[-1])
        raise OSError("not a library")

    for name in ("libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc-builtins.so.12.9"):
        (tmp_path / name).touch()
    monkeypatch.setattr(nvrtc, "_candidates", lambda major: [str(tmp_path / "libnvrtc.so.13")])
    monkeypatch.setattr(nvrtc.ctypes, "CDLL", load)
    nvrtc._library.cache_clear()
    try:
        with pytest.raises(BackendUnavailableError, match="NVRTC was not found"):
            nvrtc.version(13)
    finally:
        nvrtc._library.cache_clear()
    assert opened == ["libnvrtc-builtins.so.13.0", "libnvrtc.so.13"]
