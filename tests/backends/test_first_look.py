"""OpenCL drivers that end the process: tried in another one first, so that this one goes on.

The story: with no linker on the path PoCL aborted at the first launch, and ``backend="auto"`` with it.
"""

import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest

from gpu_collide.backends import cache, compiler, first_look, opencl
from gpu_collide.errors import BackendUnavailableError

CODE = """
import sys, warnings; warnings.simplefilter("ignore")
sys.modules["cupy"] = sys.modules["ziglang"] = None
import gpu_collide as gc
i = gc.Poses.identity(2)
print(gc.collide(gc.Bodies(gc.shapes.box(), None, i, i), [[0, 1]]).info["backend"])
print([d.why_not for d in gc.devices() if d.backend == "opencl"])
"""
posix = pytest.mark.skipif(os.name != "posix", reason="the linkers here are shell scripts")


@pytest.fixture
def pocl(tmp_path, monkeypatch):
    """A device of PoCL's, and a process that knows nothing of it yet."""
    try:
        found = [d for d in opencl.list_devices() if d.platform.name == first_look._POCL]
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    if not found:
        pytest.skip("no PoCL here")
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(first_look, "_known", {})
    return found[0]


@pytest.fixture
def ran(monkeypatch):
    """Commands that are run, and how they end."""
    calls, ends = [], {"code": 0, "err": ""}

    def run(command, seconds):
        calls.append(command)
        if isinstance(ends["code"], BaseException):
            raise ends["code"]
        return ends["code"], "", ends["err"]

    monkeypatch.setattr(compiler, "run", run)
    return calls, ends


def another_process(monkeypatch):
    monkeypatch.setattr(first_look, "_known", {})


@posix
@pytest.mark.parametrize("linker", [None, "echo broken >&2; exit 1", "kill -SEGV $$"])
def test_auto_survives_without_a_linker(pocl, tmp_path, linker):
    """For real: a process of its own with nothing on its path, or with a linker that is broken."""
    path = tmp_path / "path"
    path.mkdir()
    if linker:
        (path / "ld").write_text(f"#!/bin/sh\n{linker}\n")
        (path / "ld").chmod(0o755)
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPU_COLLIDE_B") and k != "CC"}
    env |= {"PATH": str(path), "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("reference\n") and "its driver ends the process" in done.stdout
    assert ("put the linker ld on PATH" in done.stdout) == (linker is None)


def test_a_driver_that_works_is_looked_at_once(pocl, monkeypatch):
    opencl.OpenclBackend(pocl)
    monkeypatch.setattr(compiler, "run", None)
    another_process(monkeypatch)
    opencl.OpenclBackend(pocl)


@posix
def test_another_path_or_linker_is_looked_at_again(pocl, monkeypatch, tmp_path, ran):
    calls, _ = ran
    ld = tmp_path / "ld"
    ld.write_text("#!/bin/sh\n")
    ld.chmod(0o755)
    both = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    for expected, path, text in (
        (1, os.environ["PATH"], None), (1, os.environ["PATH"], None), (2, both, None), (2, both, None),
        (3, both, "#!/bin/sh\nexit 1\n"), (4, str(tmp_path / "nothing"), None), (4, both, None),
    ):  # fmt: skip
        monkeypatch.setenv("PATH", path)
        if text:
            ld.write_text(text)
        another_process(monkeypatch)
        first_look.look(pocl)
        assert len(calls) == expected


def test_a_bad_end_is_not_kept(pocl, monkeypatch, ran):
    calls, ends = ran
    ends |= {"code": -6, "err": "note\nlinker error: no room\nmore"}
    for _ in range(2):
        with pytest.raises(
            BackendUnavailableError, match="ends the process at the first kernel: linker error: no"
        ):
            first_look.look(pocl)
    assert len(calls) == 1
    another_process(monkeypatch)
    ends["code"] = 0
    first_look.look(pocl)
    assert len(calls) == 2


@pytest.mark.parametrize("end", [1, OSError("no processes left")])
def test_what_could_not_be_tried_is_not_refused_and_not_kept(pocl, monkeypatch, ran, end):
    calls, ends = ran
    ends["code"] = end
    first_look.look(pocl)
    another_process(monkeypatch)
    first_look.look(pocl)
    assert len(calls) == 2


def test_a_driver_that_hangs_is_passed_over(pocl, ran):
    ran[1]["code"] = subprocess.TimeoutExpired("python", 1)
    with pytest.raises(BackendUnavailableError, match="came to no end within 180 s"):
        first_look.look(pocl)


def test_others_drivers_and_programs_are_left_alone(pocl, monkeypatch, ran):
    """A driver of a GPU aborts at nothing; what embeds Python would be started a second time."""
    first_look.look(SimpleNamespace(platform=SimpleNamespace(name="NVIDIA CUDA")))
    for program in ("", None, "/opt/editor/bin/editor"):
        monkeypatch.setattr(sys, "executable", program)
        first_look.look(pocl)
    assert not ran[0]


@posix
def test_a_verdict_that_others_may_write_is_not_believed(pocl, monkeypatch, ran):
    first_look.look(pocl)
    (kept,) = cache.cache_dir().glob("survived-*")
    kept.chmod(0o666)
    another_process(monkeypatch)
    first_look.look(pocl)
    assert len(ran[0]) == 2
