"""The package as it is installed: light to import, complete, one version."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gpu_collide as gc

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = (
    "trimesh",
    "matplotlib",
    "cupy",
    "pyopencl",
    "rich",
    "scipy",
    "fcl",
    "zarr",
    "pyarrow",
    "pandas",
    "yourdfpy",
    "commonroad",
    "omega_prime",
    "shapely",
)


def python(code, cwd=ROOT):
    """Standard output of a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ["gpu_collide", "gpu_collide.cli"])
def test_import_is_light(module):
    code = f"import sys, {module}; print([m for m in {EXTRAS} if m in sys.modules])"
    assert python(code).strip() == "[]"


def test_help_imports_no_extras():
    code = (
        "import sys; from gpu_collide.cli.main import build_parser; build_parser().format_help();"
        f"print([m for m in {EXTRAS} if m in sys.modules])"
    )
    assert python(code).strip() == "[]"


def test_public_names_exist():
    assert sorted(gc.__all__) == sorted(set(gc.__all__))
    for name in gc.__all__:
        assert hasattr(gc, name), name


def test_one_version():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{gc.__version__}"\n' in text
    assert f"\n## {gc.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling", reason="building a wheel needs hatchling")
    pytest.importorskip("build", reason="building a wheel needs build")
    out = tmp_path_factory.mktemp("dist")
    # Without isolation nothing is downloaded. By way of the sdist, so that both are seen to be complete.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def test_the_wheel_holds_what_pages_are_made_of(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("page.html", "page.css", "motion.js", "scene.js", "draw.js", "panel.js"):
        assert f"gpu_collide/view/page/{name}" in names


def test_the_wheel_holds_the_kernels(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    kernels = [p for p in (ROOT / "kernels").rglob("*") if p.suffix in (".h", ".c")]
    assert len(kernels) > 5
    for path in kernels:
        assert f"gpu_collide/kernels/{path.relative_to(ROOT / 'kernels').as_posix()}" in names
    for path in (ROOT / "gpu_collide").rglob("*.py"):
        assert path.relative_to(ROOT).as_posix() in names


def test_the_wheel_says_that_it_is_typed(wheel):
    assert "gpu_collide/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_the_wheel_holds_nothing_else(wheel):
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"gpu_collide"}


def test_the_wheel_brings_the_command(wheel):
    archive = zipfile.ZipFile(wheel)
    name = next(n for n in archive.namelist() if n.endswith("entry_points.txt"))
    assert "gpu-collide = gpu_collide.cli:main" in archive.read(name).decode()


def test_the_wheel_collides(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import gpu_collide as gc; q = [[1, 0, 0, 0]] * 2;"
        "start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0, 0]], q);"
        "end = gc.Poses.from_quat_wxyz([[0, 0, 0]] * 2, q);"
        "print(gc.__file__, gc.collide(gc.Bodies(gc.shapes.box(), None, start, end), [[0, 1]]).toi[0])"
    )
    where, toi = python(code, cwd=tmp_path).rsplit(maxsplit=1)
    assert Path(where).is_relative_to(tmp_path)
    assert float(toi) == pytest.approx(2 / 3, abs=1e-12)


@pytest.mark.parametrize("command", [["doctor", "--no-test", "--json"], ["verify", "--pairs", "4"]])
def test_the_wheel_looks_after_itself(wheel, tmp_path, command):
    """Nothing of the tests is needed: away from the sources, families and judges are there."""
    if command[0] == "verify":
        command = [*command, "--family", "rays", "--family", "boxes", "--backend", "cpu", "--plain"]
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = f"import sys; from gpu_collide.cli import main; sys.exit(main({command!r}))"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert str(tmp_path) in done.stdout or "all right" in done.stdout, done.stdout + done.stderr
    assert "kernels" in done.stdout or done.returncode == 0
