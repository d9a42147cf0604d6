"""Annotations: public functions have them, and a user's program is checked by them as it should be."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

from gpu_collide import _types
from gpu_collide.backends import declarations

ROOT = Path(__file__).resolve().parents[2]


def test_names_of_precisions_are_those_of_the_kernels():
    assert get_args(_types.Precision) == tuple(declarations.PRECISIONS)


@pytest.mark.slow
def test_mypy_finds_nothing(tmp_path):
    """In the package, nor in a program that uses it, whose wrong calls are marked as errors."""
    if find_spec("mypy") is None:
        pytest.skip("needs mypy (the extra dev)")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
