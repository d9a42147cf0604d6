"""Which backend is chosen, what is said where none can be, and the list of devices."""

import os
import subprocess
import sys
import warnings

import pytest

import gpu_collide.backends as backends
from gpu_collide.backends import compiler, cpu, host, libraries, opencl
from gpu_collide.errors import BackendUnavailableError, PrecisionUnavailableError


@pytest.fixture
def fresh(monkeypatch):
    """As in a new process, with no variable set."""
    for name in ("GPU_COLLIDE_BACKEND", "GPU_COLLIDE_OPENCL_DEVICE", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(backends, "_open", {})
    monkeypatch.setattr(backends, "_warned", False)
    return monkeypatch


def lose(monkeypatch, *names):
    """Make backends unusable the way a bare machine does."""
    real = backends._create

    def create(name):
        if name in names:
            raise BackendUnavailableError(f"{name} is lost")
        return real(name)

    monkeypatch.setattr(backends, "_create", create)


def test_names(fresh):
    with pytest.raises(
        ValueError, match="backend must be one of auto, cuda, cpu, opencl, reference, got 'gpu'"
    ):
        backends.get_backend("gpu")
    assert backends.get_backend("reference").name == "reference"


def test_opened_once(fresh):
    assert backends.get_backend("reference") is backends.get_backend("reference")


@pytest.mark.backends("opencl")
def test_auto_without_compiler_takes_opencl(fresh, backend):
    lose(fresh, "cuda", "cpu")
    assert backends.get_backend().name == "opencl"


def test_auto_with_neither_warns_once(fresh):
    lose(fresh, "cuda", "cpu", "opencl")
    with pytest.warns(RuntimeWarning) as caught:
        assert backends.get_backend().name == "reference"
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "apt install gcc" in text and "pip install ziglang" in text and "pocl-opencl-icd" in text
    assert "cpu is lost" in text and "opencl is lost" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert backends.get_backend().name == "reference"
        assert backends.get_backend("reference").name == "reference"


def test_bare_machine_for_real(tmp_path):
    """No compiler on the path, no OpenCL driver, no CuPy: a process of its own, nothing replaced inside."""
    code = (
        "import sys, warnings; sys.modules['pyopencl'] = None; sys.modules['cupy'] = None\n"
        "sys.modules['ziglang'] = None\n"
        "from gpu_collide.backends import get_backend\n"
        "with warnings.catch_warnings(record=True) as w:\n"
        "    warnings.simplefilter('always'); a = get_backend(); b = get_backend()\n"
        "print(a.name, b.name, len(w), 'pip install ziglang' in str(w[0].message))\n"
    )
    keep = {k: v for k, v in os.environ.items() if not k.startswith("GPU_COLLIDE") and k != "CC"}
    env = {**keep, "PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    env["GPU_COLLIDE_CACHE"] = env["TMPDIR"] = str(tmp_path)  # where no kernels are
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=tmp_path)
    assert done.stdout.split() == ["reference", "reference", "1", "True"], done.stderr


def test_named_backend_that_is_missing(fresh):
    lose(fresh, "opencl")
    with pytest.raises(BackendUnavailableError, match="backend 'opencl' is not usable here: opencl is lost"):
        backends.get_backend("opencl")


def test_no_compiler_says_what_to_install(fresh, tmp_path):
    fresh.setenv("PATH", str(tmp_path))
    fresh.setattr(compiler, "_has_ziglang", lambda: False)
    with pytest.raises(
        BackendUnavailableError, match="no C compiler found.*apt install gcc.*pip install ziglang"
    ):
        libraries.find_compiler()


def test_compiler_that_cannot_build(fresh, tmp_path):
    broken = tmp_path / "brokencc"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 && exit 0\necho no headers >&2; exit 1\n'
    )
    broken.chmod(0o755)
    fresh.setenv("CC", str(broken))
    with pytest.raises(BackendUnavailableError, match="cannot build shared libraries.*apt install gcc"):
        cpu.CpuBackend()


@pytest.mark.backends("cpu")  # one backend shows it
def test_wrong_bits_are_refused(fresh, backend):
    """A device that is listed but computes wrongly is passed over."""
    fresh.setattr(cpu.CpuBackend, "to_host", lambda self, buf: buf + 1)
    with pytest.raises(BackendUnavailableError, match="computes wrong f8 bits"):
        cpu.CpuBackend()


def test_environment_narrows_auto(fresh):
    fresh.setenv("GPU_COLLIDE_BACKEND", "reference")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert backends.get_backend().name == "reference"
    fresh.setenv("GPU_COLLIDE_BACKEND", "gpu")
    with pytest.raises(ValueError, match="GPU_COLLIDE_BACKEND must hold names"):
        backends.get_backend()
    lose(fresh, "cuda", "opencl")
    fresh.setenv("GPU_COLLIDE_BACKEND", "cuda, opencl")
    with pytest.raises(BackendUnavailableError, match="cuda: cuda is lost; opencl: opencl is lost"):
        backends.get_backend()


def test_auto_passes_over_devices_without_float64(fresh):
    class Small(backends.ReferenceBackend):
        name = kind = "opencl"
        device = "small"
        has_float64 = False

    lose(fresh, "cuda", "cpu")
    backends._open["opencl"] = Small()
    assert backends.get_backend("auto", "single").name == "opencl"
    with pytest.warns(RuntimeWarning, match="small has no float64"):
        assert backends.get_backend("auto", "mixed").name == "reference"
    with pytest.raises(PrecisionUnavailableError, match="precision='single'"):
        backends.get_backend("opencl").compile("", "mixed")


def test_devices_table(fresh):
    lose(fresh, "cuda")
    fresh.setattr(opencl, "list_devices", lambda: (_ for _ in ()).throw(BackendUnavailableError("no driver")))
    listed = backends.devices()
    by_name = {d.backend: d for d in listed}
    assert not by_name["cuda"].usable and by_name["cuda"].why_not == "cuda is lost"
    assert not by_name["opencl"].usable and by_name["opencl"].precision == ()
    assert by_name["reference"].usable and by_name["reference"].precision == ("double",)
    lines = repr(listed).splitlines()
    assert lines[0].split() == ["backend", "usable", "precision", "device,", "or", "why", "not"]
    assert len(lines) == len(listed) + 1 and "no driver" in repr(listed)


def test_devices_agree_with_get_backend(backend):
    mine = [d for d in backends.devices() if d.backend == backend.name and d.device == backend.device]
    assert len(mine) == 1 and mine[0].usable and mine[0].why_not == ""


def test_thread_count(monkeypatch):
    monkeypatch.setenv("GPU_COLLIDE_THREADS", "3")
    assert host.thread_count() == 3
    monkeypatch.setenv("GPU_COLLIDE_THREADS", "none")
    with pytest.raises(ValueError, match="GPU_COLLIDE_THREADS must be a number"):
        host.thread_count()


def test_import_is_light():
    code = "import sys, gpu_collide.backends; print([m for m in ('pyopencl', 'cupy') if m in sys.modules])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.strip() == "[]"
