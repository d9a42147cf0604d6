"""The everyday tests of the kernels on `cpu`, built with AddressSanitizer and UndefinedBehaviorSanitizer.

A read or write outside a buffer, a shift too far, an overflowing int or a float that does not fit an int ends
the process with a report that names our file and line. A sample of it is in .ci/run (sanitized.py).
"""

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_collide.backends import declarations, sources
from tests.dialect import sanitized

TESTS = Path(__file__).parents[1]
OUT_OF_BOUNDS = """
import numpy as np
from gpu_collide.backends import sources
from gpu_collide.backends.cpu import CpuBackend
text = sources.joined("common/gc_platform.h") + '''
#line 1 "screw/s00_wrong.c"
GC_KERNEL void s00_wrong(int n, GC_GLOBAL double *out) { out[n] = 1.0; }
'''
backend = CpuBackend(threads=1)
kernel = backend.compile(text, "mixed")["s00_wrong"]
backend.launch(kernel, 1, n=1, out=backend.empty(2, "f8"))
print("inside is fine", flush=True)
backend.launch(kernel, 1, n=2, out=backend.empty(2, "f8"))
"""

RACE = """
import numpy as np
from gpu_collide.backends import sources
from gpu_collide.backends.cpu import CpuBackend
text = sources.joined("common/gc_platform.h") + '''
#line 1 "screw/s00_race.c"
GC_KERNEL void s00_race(int n, GC_GLOBAL double *out) { for (int i = 0; i < n; i++) out[0] += GC_GROUP_ID; }
'''
backend = CpuBackend(threads=4)
kernel = backend.compile(text, "mixed")["s00_race"]
backend.launch(kernel, 2000, n=1000, out=backend.empty(2, "f8"))
"""


@pytest.fixture
def gcc(tmp_path):
    env = sanitized.environment(tmp_path)
    if env is None:
        pytest.skip("needs gcc with its libasan")
    return env


@pytest.mark.slow
def test_the_sanitizer_would_see_it(gcc):
    done = subprocess.run([sys.executable, "-c", OUT_OF_BOUNDS], env=gcc, capture_output=True, text=True)
    assert done.stdout.strip() == "inside is fine" and done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr and "s00_wrong.c:1" in done.stderr


@pytest.mark.slow
def test_the_sanitizer_of_threads_would_see_it(tmp_path):
    """Groups on several threads that all write to one place."""
    env = sanitized.environment(tmp_path, "thread")
    if env is None:
        pytest.skip("needs gcc with its libtsan")
    done = subprocess.run([sys.executable, "-c", RACE], env=env, capture_output=True, text=True)
    assert done.returncode == 66, done.stdout + done.stderr[-3000:]
    assert "data race" in done.stderr and "s00_race.c:1" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tests", ["dialect/test_every_macro.py", "screw", "bvh", "test_near.py"])
def test_everyday_tests_under_sanitizers(gcc, tests):
    if tests == "screw" and not declarations.parse(sources.source()):
        pytest.skip("no kernels in this checkout")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(TESTS / tests)]
    done = subprocess.run(command, env=gcc, capture_output=True, text=True, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
