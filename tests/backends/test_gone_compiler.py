"""A compiler that built kernels and is gone: what is in the cache serves, and nothing else does.

The story: an image without a compiler, its cache filled where there was one, ran the slow reference.
"""

import os
import subprocess
import sys
import tempfile

import pytest

import gpu_collide as gc
import gpu_collide.backends as backends
from gpu_collide.backends import cache, compiler, cpu, libraries
from gpu_collide.errors import BackendUnavailableError

SUM = """
GC_KERNEL void gc_sum(int n, GC_GLOBAL const gc_real *a_in, GC_GLOBAL gc_real *out)
{
    for (int i = GC_ITEM_LO(n); i < GC_ITEM_HI(n); i += GC_ITEM_STEP(n))
        out[i] = a_in[i] + %d;
}
"""


def text(k):
    from gpu_collide.backends import sources

    return sources.joined("common/gc_platform.h") + SUM % k


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """The folder of a cache that a process with a compiler has filled, as one without it finds it."""
    try:
        compiler.find_compiler()
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    for name in ("CC", "GPU_COLLIDE_CFLAGS", "GPU_COLLIDE_BACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(backends, "_open", {})
    monkeypatch.setattr(backends, "_refused", {})
    cpu.CpuBackend().compile(text(1), "mixed")
    lose_the_compiler(monkeypatch)
    return tmp_path / "cache"


def lose_the_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(compiler, "_has_ziglang", lambda: False)


def record(folder):
    (found,) = folder.glob("compiler-*.json")
    return found


def test_what_is_in_the_cache_is_used_and_said(filled):
    backend = cpu.CpuBackend()
    kernel = backend.compile(text(1), "mixed").kernel("gc_sum")
    out = backend.zeros(3, "f8")
    backend.launch_items(kernel, 3, n=3, a_in=backend.to_device(out + 2), out=out)
    assert out.tolist() == [3.0, 3.0, 3.0]
    (said,) = (d for d in gc.devices() if d.backend == "cpu")
    assert said.usable and "kernels from the cache" in said.device and "no C compiler" in said.device


def test_what_is_not_there_is_told_with_the_remedy(filled):
    backend = cpu.CpuBackend()
    with pytest.raises(
        BackendUnavailableError, match="cache lacks some of the kernels.* install a C compiler"
    ):
        backend.compile(text(2), "mixed")


@pytest.mark.filterwarnings("ignore:gpu_collide runs its slow NumPy reference")
def test_auto_goes_on_where_kernels_are_missing(filled):
    assert backends.get_backend("auto", "mixed", ("solve",)).name != "cpu"


def test_a_compiler_that_is_back_builds_again(filled, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(filled))
    backend = cpu.CpuBackend()
    assert "cache" not in backend.device
    backend.compile(text(2), "mixed")


def test_another_compiler_takes_the_place_of_the_first(filled, monkeypatch):
    before = record(filled).read_bytes()
    libraries.remember(libraries.Builder(["other"], "other 1.0\n"), ())
    assert record(filled).read_bytes() != before
    assert libraries.builder()[:3] == (["other"], "other 1.0\n", ())


def test_flags_are_those_that_built_it(filled, monkeypatch):
    libraries.remember(libraries.builder()._replace(gone=""), ())
    with pytest.raises(BackendUnavailableError, match="cache lacks"):
        cpu.CpuBackend()


def test_kernels_of_another_processor_are_none(filled, monkeypatch):
    monkeypatch.setattr(libraries, "_processor", lambda: "another")
    with pytest.raises(BackendUnavailableError, match="no C compiler found"):
        cpu.CpuBackend()


@pytest.mark.filterwarnings("ignore:nothing is loaded from")
@pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")
@pytest.mark.parametrize("what", ["the record", "a library", "the folder"])
def test_what_others_may_write_to_is_not_used(filled, what):
    """A planted record names another library, a planted library would run."""
    for path in {"the record": [record(filled)], "a library": [*filled.glob("*.so")], "the folder": [filled]}[
        what
    ]:
        path.chmod(path.stat().st_mode | 0o022)
    with pytest.raises(BackendUnavailableError):
        cpu.CpuBackend()


def test_a_record_that_is_damaged_or_no_record_is_passed_over(filled):
    path = record(filled)
    whole = path.read_bytes()
    for k in range(0, len(whole), 7):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        with pytest.raises(BackendUnavailableError, match="no C compiler found"):
            cpu.CpuBackend()
    for data in (b"[]", b"{}", b"\xff", b"null", b'[["cc"], "cc 1"]', b'[["cc"], "", []]', b'["cc", 1, []]'):
        cache.keep(path.name, data)
        with pytest.raises(BackendUnavailableError, match="no C compiler found"):
            cpu.CpuBackend()


def test_a_query_without_a_compiler_for_real(tmp_path):
    """A process of its own with nothing on its path, and the cache that the tests have filled."""
    code = """
import sys, warnings; warnings.simplefilter("error")
sys.modules["cupy"] = sys.modules["pyopencl"] = sys.modules["ziglang"] = None
import gpu_collide as gc
start, end = (gc.Poses.from_quat_wxyz([[0, 0, 0], [x, 0, 0]], [[1.0, 0, 0, 0]] * 2) for x in (2, 0.5))
found = gc.collide(gc.Bodies(gc.shapes.box(), None, start, end), [[0, 1]])
print(found.info["backend"], float(found.toi[0]).hex())
"""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPU_COLLIDE_B") and k != "CC"}
    env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    said = []
    for path in (env.get("PATH", ""), str(tmp_path)):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**env, "PATH": path}
        )
        said.append(done.stdout or done.stderr)
    assert said[0].startswith("cpu") and said[1] == said[0]
