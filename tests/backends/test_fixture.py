"""The fixture `backend` itself: narrowed, skipped with a reason, or failing where CI requires the backend."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def run(tmp_path, more="", **variables):
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "test_one.py").write_text(
        "import pytest, gpu_collide.backends as b\n"
        "def lost(name): raise b.BackendUnavailableError(name + ' is lost')\n"
        "b._create = lost\n"
        "def test_it(backend): pass\n" + more
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GPU_COLLIDE", "PYTEST"))}
    env |= {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)} | variables
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # half of the time
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(tmp_path)]
    return subprocess.run(command, env=env, capture_output=True, text=True, cwd=tmp_path).stdout


def test_missing_backends_are_skipped_with_a_reason(tmp_path):
    out = run(tmp_path)
    assert "3 skipped" in out and "opencl is lost" in out


def test_required_backends_fail(tmp_path):
    out = run(tmp_path, GPU_COLLIDE_REQUIRE_BACKENDS="cpu,opencl")
    assert "skipped" not in out and "2 errors" in out and "required backend is missing" in out


def test_what_is_missing_beside_others_is_one_line(tmp_path):
    out = run(tmp_path, "b._create = lambda n: lost(n) if n == 'cuda' else b.ReferenceBackend()\n")
    assert "2 passed" in out and "not tested on cuda" in out and "cuda is lost" in out


def test_narrowed(tmp_path):
    assert "1 skipped" in run(tmp_path, GPU_COLLIDE_TEST_BACKENDS="cpu")


def test_marked(tmp_path):
    """A test about one backend is none of the others: not even a skip."""
    only = "@pytest.mark.backends({})\ndef test_only_{}(backend): pass\n"
    two = only.format('"opencl"', 1) + only.format('"cpu", "cuda"', 2)
    assert "6 skipped" in run(tmp_path, two)
    assert "must name some of" in run(tmp_path, only.format('"gpu"', 1))


def test_bits_that_others_compare(tmp_path):
    """On opencl only among the slow tests, or where opencl is looked at alone."""
    shared = "@pytest.mark.shared_bits({!r})\ndef test_shared(backend): pass\n"
    there = shared.format(f"{tmp_path.name}/test_one.py")
    assert "5 skipped, 1 deselected" in run(tmp_path, there, PYTEST_ADDOPTS="-m 'not slow'")
    assert "2 skipped" in run(
        tmp_path, there, GPU_COLLIDE_TEST_BACKENDS="opencl", PYTEST_ADDOPTS="-m 'not slow'"
    )
    assert "must name the file" in run(tmp_path, shared.format("tests/none.py"))


@pytest.mark.parametrize("variable", ["GPU_COLLIDE_TEST_BACKENDS", "GPU_COLLIDE_REQUIRE_BACKENDS"])
def test_unknown_name_is_an_error(tmp_path, variable):
    out = run(tmp_path, **{variable: "gpu"})
    assert "unknown gpu" in out
