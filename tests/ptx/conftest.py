"""The stand-in for CuPy, and the backend `cuda` on it, for the tests of this folder alone."""

import os
import shutil

import numpy as np
import pytest

import gpu_collide.backends as backends
from gpu_collide.backends import cuda, nvrtc, sources
from gpu_collide.backends.cache import private_file
from gpu_collide.errors import BackendUnavailableError
from tests.ptx import install

PLATFORM = sources.kernels_dir() / "common" / "gc_platform.h"


@pytest.fixture(scope="session")
def possible():
    """NVRTC and a C compiler, on a system with mmap and ucontext."""
    if os.name != "posix" or not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a POSIX system with a C compiler")
    try:
        nvrtc.version(12)
    except BackendUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def cupy(possible):
    """The stand-in, which ``import cupy`` finds while the test runs."""
    with install.temporarily() as module:
        yield module


@pytest.fixture
def on_ptx(cupy):
    """A backend `cuda` on the stand-in."""
    return cuda.CudaBackend()


@pytest.fixture(name="cuda")
def opened(cupy, monkeypatch):
    """`cupy`, and the backend `cuda` opened on it for `gc.collide`; results are not checked anew, which would
    copy them."""
    monkeypatch.setattr(backends, "_open", {})
    monkeypatch.setattr(cuda.CudaBackend, "group_size", 32)
    monkeypatch.setenv("GPU_COLLIDE_CHECK", "0")
    backends.get_backend("cuda")
    return cupy


@pytest.fixture
def run(cupy):
    """``run(text, groups, size, *arguments)`` plays the kernel `k` of a text in the kernels' dialect; arrays
    are copied to the device before, and back to the host afterwards. A `whole` text has gc_platform.h
    already."""

    def play(text, groups, size, *arguments, whole=False):
        if not whole:
            text = sources.join([PLATFORM], sources.kernels_dir()) + '#line 1 "test/t.c"\n' + text
        ptx = cuda.compile_only(90, "mixed", text=text, kind="ptx", major=12)
        kernel = cupy.RawModule(path=str(private_file("test.ptx", ptx))).get_function("k")
        passed = [cupy.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
        kernel((groups,), (size,), tuple(passed))
        return [a.get() for a in passed if isinstance(a, cupy.ndarray)]

    return play
