"""`doctor`: on this machine, and on machines that lack one thing or another."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import gpu_collide as gc
import gpu_collide.backends as backends
from gpu_collide.backends import cache, compiler, nvidia, nvrtc, opencl
from gpu_collide.checks import advice, doctor, self_test
from gpu_collide.checks.doctor import Finding
from gpu_collide.checks.self_test import Tried
from gpu_collide.cli import main
from gpu_collide.errors import DOCTOR, BackendUnavailableError, MissingExtraError


@pytest.fixture
def bare(monkeypatch):
    """A machine without compiler, OpenCL, GPU."""
    monkeypatch.setattr(backends, "_open", {})
    monkeypatch.setattr(backends, "_warned", True)
    for name in ("GPU_COLLIDE_BACKEND", "CC"):
        monkeypatch.delenv(name, raising=False)

    def none(*args, **words):
        raise BackendUnavailableError("there is none; install one")

    monkeypatch.setattr(
        backends, "_create", lambda name: none() if name != "reference" else backends.ReferenceBackend()
    )
    monkeypatch.setattr(
        compiler, "compilers", lambda: iter([compiler.Compiler("cc", ["cc"], "", "is not there")])
    )
    monkeypatch.setattr(opencl, "find_platforms", none)
    monkeypatch.setattr(opencl, "list_devices", none)
    monkeypatch.setattr(nvidia, "gpus", lambda: 0)
    monkeypatch.setattr(nvidia, "driver", lambda: None)
    monkeypatch.setattr(nvrtc, "libraries", lambda: iter([]))
    return monkeypatch


def by_area(found, area):
    return [f for f in found.findings if f.area == area]


def test_this_machine(backend):
    """What it says is what the library does, and the backend under test passes its self-test."""
    found = doctor.examine()
    assert found.auto == backends.get_backend().name
    listed = {(f.name, f.state in ("taken", "found")) for f in by_area(found, "backend")}
    assert listed == {(d.backend, d.usable) for d in backends.devices()}
    tried = {t.backend: t for t in found.tried}
    assert tried[backend.kind].right and tried["reference"].right
    assert tried[backend.kind].first > 0 and tried[backend.kind].again > 0
    if backend.kind == "cpu":
        taken = [f for f in by_area(found, "C compiler") if f.state == "taken"]
        assert len(taken) == 1 and compiler.find_compiler()[1].startswith(taken[0].text)
    assert by_area(found, "cache of kernels")[0].name == str(cache.folders()[0][0])
    json.dumps(found.as_dict())


def test_a_bare_machine(bare):
    found = doctor.examine()
    assert found.auto == "reference" and not found.ok
    assert found.needed[0].startswith("no C compiler: ") and "ziglang" in found.needed[0]
    assert any(text.startswith("no OpenCL") for text in found.optional)
    assert [t.backend for t in found.tried] == ["reference"]
    assert {f.state for f in by_area(found, "C compiler")} == {"absent"}


def test_a_bare_machine_in_words(bare, capsys):
    assert main(["doctor", "--plain", "--quiet"]) == 1
    out = capsys.readouterr().out
    assert (
        "To be done:\n  - no C compiler" in out and "something is wrong" in out and "takes: reference" in out
    )
    assert main(["doctor", "--json", "--no-test"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False and told["tried"] == [] and told["auto"] == "reference"


def test_a_gpu_that_nobody_uses(bare):
    """It says which extra, by what the driver serves."""
    bare.setattr(nvidia, "gpus", lambda: 2)
    found = doctor.examine(tests=False)
    assert any("without its driver" in text for text in found.optional)
    bare.setattr(nvidia, "driver", lambda: (12, 4))
    found = doctor.examine(tests=False)
    if any(f.name == "cupy" and f.state == "absent" for f in found.findings):
        assert any("gpu-collide[cuda12]" in text for text in found.optional)
    state = [Finding("NVIDIA", "GPU", "found", ""), Finding("NVIDIA", "driver", "found", "up to 13.1"),
             Finding("package", "cupy", "absent", "")]  # fmt: skip
    assert "gpu-collide[cuda13]" in advice.advise(state + PLAIN, [], "cpu")[1][0]
    old = [state[0], Finding("NVIDIA", "driver", "found", "serves CUDA up to 11.8"), state[2]]
    assert "a newer driver" in advice.advise(old + PLAIN, [], "cpu")[1][0]


PLAIN = [Finding("C compiler", "cc", "taken", "cc 1")]
NO_GPU = [Finding("NVIDIA", "GPU", "absent", ""), Finding("NVIDIA", "driver", "absent", ""),
          Finding("package", "cupy", "absent", "")]  # fmt: skip


@pytest.mark.parametrize(
    "finding, said",
    [
        (
            Finding("package", "trimesh", "rejected", "ImportError: no\nmore"),
            "package trimesh: ImportError: no",
        ),
        (Finding("backend", "cpu", "rejected", "cc cannot build"), "backend cpu: cc cannot build"),
        (Finding("C compiler", "$CC=icc", "rejected", "does not run"), "C compiler $CC=icc: does not run"),
        (
            Finding("system", "kernels", "absent", "no kernel sources; reinstall"),
            "no kernel sources; reinstall",
        ),
        (Finding("environment", "GPU_COLLIDE_BACKEND", "rejected", "must hold names"), "must hold names"),
        (Finding("cache of PoCL", "/x", "rejected", "cannot be written"), "cannot be written"),
    ],
)
def test_what_is_broken_is_to_be_mended(finding, said):
    needed, _ = advice.advise([*PLAIN, *NO_GPU, finding], [], "cpu")
    assert len(needed) == 1 and said in needed[0] and "more" not in needed[0]


@pytest.mark.parametrize(
    "finding",
    [
        Finding("OpenCL", "device", "rejected", "GPU_COLLIDE_OPENCL_DEVICE leaves it out"),
        Finding("cache of kernels", "/home/me/.cache", "rejected", "Permission denied"),
        Finding("C compiler", "clang", "rejected", "does not run"),
        Finding("backend", "cuda", "absent", "CuPy is not importable"),
    ],
)
def test_what_has_a_next_one_is_not(finding):
    assert advice.advise([*PLAIN, *NO_GPU, finding], [], "cpu")[0] == []


def test_a_failed_self_test_is_told():
    tried = [Tried("opencl", "mixed", 1.0, 1.0, False, "time is off")]
    assert advice.advise([*PLAIN, *NO_GPU], tried, "cpu")[0] == [
        "the self-test of backend opencl failed: time is off"
    ]


def test_the_reference_is_no_goal():
    needed, _ = advice.advise([*PLAIN, *NO_GPU], [], "reference")
    assert "unset GPU_COLLIDE_BACKEND" in needed[0]


@pytest.mark.parametrize(
    "text, install",
    [("ID=ubuntu\n", "apt install gcc"), ('ID="rocky"\nID_LIKE="rhel centos"\n', "dnf install gcc"),
     ("ID=alpine\n", "apk add"), ("ID=other\n", "pip install ziglang")],
)  # fmt: skip
def test_what_to_install_is_that_of_the_system(text, install, tmp_path):
    (tmp_path / "os-release").write_text(text)
    assert advice.how_to_install("Linux", tmp_path / "os-release")[0].startswith(install)
    assert advice.how_to_install("Linux", tmp_path / "gone") == advice.ANYWHERE
    assert advice.how_to_install("Darwin")[0] == "xcode-select --install"


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda found: {"time": found.time + 1e-6}, "time is off by 1.0e-06"),
        (lambda found: {"feature_b": found.feature_b + 1}, "feature_b is not that of the reference"),
        (
            lambda found: {"properness": np.nextafter(found.properness, 2)},
            "other bits than cpu in properness",
        ),
    ],
)
def test_the_self_test_can_fail(spoil, said, monkeypatch):
    real = gc.collide

    def spoiled(*args, **words):
        found = (
            real(*args, **{**words, "backend": "cpu"}).to_numpy()
            if words["backend"] != "reference"
            else real(*args, **words)
        )
        if words["backend"] == "opencl":
            for name, value in spoil(found).items():
                object.__setattr__(found, name, value)
        return found

    monkeypatch.setattr(gc, "collide", spoiled)
    monkeypatch.setattr(self_test, "_precision", lambda name: "mixed")
    tried = self_test.self_test(["cpu", "opencl"])
    assert tried[0].right and not tried[1].right and said in tried[1].why_not


def test_a_backend_that_fails_is_told_of(monkeypatch):
    def lost(*args, **words):
        if words["backend"] == "cpu":
            raise RuntimeError("device lost")
        return real(*args, **words)

    real = gc.collide
    monkeypatch.setattr(gc, "collide", lost)
    tried = self_test.self_test(["cpu", "reference"])
    assert [(t.right, t.why_not) for t in tried] == [(False, "device lost"), (True, "")]


def test_gpus_are_counted_without_a_driver(tmp_path):
    for name, vendor, kind in (
        ("a", "0x10de", "0x030200"),
        ("b", "0x10de", "0x040300"),
        ("c", "0x8086", "0x030000"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor").write_text(vendor + "\n")
        (tmp_path / name / "class").write_text(kind + "\n")
    assert nvidia.gpus(tmp_path, tmp_path) == 1
    assert nvidia.gpus(tmp_path / "none", tmp_path) == 0
    (tmp_path / "nvidia0").touch()
    assert nvidia.gpus(tmp_path / "none", tmp_path) == 1


def test_packages_that_overwrite_each_other(monkeypatch):
    monkeypatch.setattr(doctor, "_distributed", lambda name: True)
    assert any("overwrite each other" in row[3] for row in doctor._packages())


def test_a_broken_package_is_rejected_and_an_absent_one_absent(monkeypatch):
    def load(name):
        if name == "trimesh":
            raise ImportError("libGL.so.1: cannot open")
        if name == "zarr":
            raise ModuleNotFoundError("No module named 'zarr'", name="zarr")
        if name == "pyarrow":
            raise ModuleNotFoundError("No module named 'numcodecs'", name="numcodecs")
        return SimpleNamespace(__version__="1.0")

    monkeypatch.setattr(doctor.importlib, "import_module", load)
    states = {row[1]: (row[2], row[3]) for row in doctor._packages()}
    assert states["trimesh"][0] == "rejected" and "libGL.so.1" in states["trimesh"][1]
    assert states["zarr"][0] == "absent" and "gpu-collide[data]" in states["zarr"][1]
    assert states["pyarrow"][0] == "rejected" and states["matplotlib"][0] == "found"


def test_a_cache_that_cannot_be_written_is_rejected(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "file" / "below"))
    first, second = cache.folders()[:2]
    assert first[0] == tmp_path / "file" / "below" and "directory" in first[1]
    rows = list(doctor._caches())
    assert rows[0][2] == "rejected" and rows[1][2] == ("rejected" if second[1] else "taken")


def test_a_variable_that_cannot_be_read_is_told_of(bare):
    bare.setattr(backends, "_create", lambda name: 1 / 0)
    found = doctor.examine(tests=False)
    assert not found.ok and any("division by zero" in text for text in found.needed)
    assert by_area(found, "C compiler"), "the others are looked at"


def test_errors_point_to_it(bare):
    with pytest.raises(BackendUnavailableError, match="gpu-collide doctor"):
        backends.get_backend("cpu")
    bare.setenv("GPU_COLLIDE_BACKEND", "cuda,cpu")
    with pytest.raises(BackendUnavailableError, match="gpu-collide doctor"):
        backends.get_backend()
    assert DOCTOR in str(MissingExtraError("this", "that", "mesh"))
    bare.delenv("GPU_COLLIDE_BACKEND")
    bare.setattr(backends, "_warned", False)
    with pytest.warns(RuntimeWarning, match="gpu-collide doctor"):
        backends.get_backend()
