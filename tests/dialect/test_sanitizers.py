"""The everyday tests of the kernels on `cpu`, built with AddressSanitizer and UndefinedBehaviorSanitizer.

A read or write outside a buffer, a shift too far, an overflowing int or a float that does not fit an int ends
the process with a report that names our file and line.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_collide import _sources

TESTS = Path(__file__).parents[1]
FLAGS = "-O1 -g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
OUT_OF_BOUNDS = """
import numpy as np
from gpu_collide import _sources
from gpu_collide.backends.cpu import CpuBackend
text = _sources.join([_sources.kernels_dir() / "gc_platform.h"]) + '''
#line 1 "screw/s00_wrong.c"
GC_KERNEL void s00_wrong(int n, GC_GLOBAL double *out) { out[n] = 1.0; }
'''
backend = CpuBackend(threads=1)
kernel = backend.module("mixed", text)["s00_wrong"]
backend.launch(kernel, 1, n=1, out=backend.empty(2, "f8"))
print("inside is fine", flush=True)
backend.launch(kernel, 1, n=2, out=backend.empty(2, "f8"))
"""


def environment(tmp_path):
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True)
    library = Path(found.stdout.strip()).resolve()
    if found.returncode or not library.is_file() or not library.is_absolute():
        pytest.skip("gcc's libasan is not installed")
    return {
        **os.environ,
        "CC": "gcc",
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
        "GPU_COLLIDE_CFLAGS": FLAGS,
        "GPU_COLLIDE_CACHE": str(tmp_path),
        "GPU_COLLIDE_TEST_BACKENDS": "cpu",
        "GPU_COLLIDE_BACKEND": "cpu",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }


@pytest.fixture
def gcc(tmp_path):
    try:
        return environment(tmp_path)
    except FileNotFoundError:
        pytest.skip("needs gcc")


@pytest.mark.slow
def test_the_sanitizer_would_see_it(gcc):
    done = subprocess.run([sys.executable, "-c", OUT_OF_BOUNDS], env=gcc, capture_output=True, text=True)
    assert done.stdout.strip() == "inside is fine" and done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr and "s00_wrong.c:1" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["dialect/test_every_macro.py", "screw", "bvh", "test_near.py"])
def test_everyday_tests_under_sanitizers(gcc, tests):
    if tests == "screw" and not _sources.parse(_sources.source()):
        pytest.skip("no kernels in this checkout")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(TESTS / tests)]
    done = subprocess.run(command, env=gcc, capture_output=True, text=True, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
