"""Built kernels on disk: found again, safe between processes, never in the way."""

import os
import stat
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from gpu_collide.backends import _cache, cpu
from gpu_collide.errors import BackendUnavailableError

BUILD = """
from gpu_collide.backends.cpu import CpuBackend
print(CpuBackend(threads=1).name)
"""


@pytest.fixture(scope="module", autouse=True)
def compiler():
    try:
        cpu.find_compiler()
    except BackendUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(_cache, "_fallback", {})
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_second_process_compiles_nothing(folder, monkeypatch):
    cpu.CpuBackend()
    built = sorted(folder.iterdir())
    assert built and all(p.suffix in (".so", ".dll") for p in built)
    monkeypatch.setattr(cpu.subprocess, "run", lambda *a, **k: pytest.fail("the compiler was called again"))
    cpu.CpuBackend()
    assert sorted(folder.iterdir()) == built


def test_key_depends_on_text_flags_and_compiler(folder, monkeypatch):
    text = "int gc_nothing(void);\nint gc_nothing(void) { return 1; }\n"
    paths = {
        cpu.build_library(text, "mixed", ()),
        cpu.build_library(text, "double", ()),
        cpu.build_library(text + "\n", "mixed", ()),
        cpu.build_library(text, "mixed", ("-g",)),
    }
    command, version = cpu.find_compiler()
    monkeypatch.setattr(cpu, "find_compiler", lambda: (command, version + " patched"))
    paths.add(cpu.build_library(text, "mixed", ()))
    assert len(paths) == 5


def test_many_processes_at_once(folder):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", BUILD], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    results = [r.communicate() for r in runs]
    assert [out.strip() for out, _ in results] == [b"cpu"] * 4, results
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]


def test_damaged_file_is_built_again(folder):
    cpu.CpuBackend()
    for path in folder.iterdir():
        path.unlink()
        path.write_bytes(b"not a library")
    assert cpu.CpuBackend().name == "cpu"


def test_folder_that_cannot_be_made_falls_back(tmp_path, monkeypatch):
    monkeypatch.setattr(_cache, "_fallback", {})
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    chosen = _cache.cache_dir()
    assert chosen.parent == tmp_path / "tmp" and _cache.cache_dir() == chosen
    assert np.array_equal(cpu.CpuBackend().to_host(np.ones(2)), np.ones(2))
    assert list(chosen.glob("*.*"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="about POSIX permissions")
def test_folder_others_can_write_is_not_used(tmp_path, monkeypatch):
    """Libraries are loaded from it: a folder in /tmp that others can fill would hand them this process."""
    monkeypatch.setattr(_cache, "_fallback", {})
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    open_to_all = tmp_path / f"gpu_collide-{os.getuid()}"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    chosen = _cache.cache_dir()
    assert chosen != open_to_all and stat.S_IMODE(chosen.stat().st_mode) == 0o700


def test_failed_build_leaves_nothing(folder):
    folder.mkdir()

    def make(path):
        path.write_text("half")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        _cache.cached("x.so", make)
    assert list(folder.iterdir()) == []
