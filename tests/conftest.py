"""The `backend` fixture: tests name no backend, they are run on each that there is. And all cores, where that
helps."""

import functools
import gc
import os
import sys
from pathlib import Path

import pytest

from gpu_collide.backends import get_backend
from gpu_collide.errors import BackendUnavailableError
from tests.ptx import install

BACKENDS = ("cpu", "opencl", "cuda")
SMOKE = "smoke and not slow"

# Every result of any test is checked for what holds of every result (gpu_collide/results/invariants.py).
os.environ.setdefault("GPU_COLLIDE_CHECK", "1")

if sys.dont_write_bytecode and not sys.pycache_prefix:
    # No bytecode is to lie beside the sources. Elsewhere, it saves each process of a run the compiling of all
    # tests (ten to twenty seconds), and each command that a test starts that of the package.
    cache = Path(os.environ.get("GPU_COLLIDE_CACHE") or Path.home() / ".cache" / "gpu_collide")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(cache / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False

if install.wanted():  # GPU_COLLIDE_CUDA=ptx: the backend `cuda` without a GPU
    install.install()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """What is asked by whole folders, as ``pytest`` alone does, runs on all cores (``-n auto``)."""
    if (
        config.option.markexpr == "smoke"
    ):  # of the files that are marked as a whole, the long tests are not meant
        config.option.markexpr = SMOKE
    if takes_all_cores(config):
        config.option.numprocesses = "auto"
        # Each process has a stretch of the tests of its own, and gives of it to one that has ended: what the
        # tests of one file share is computed once.
        config.option.dist = "worksteal"


def takes_all_cores(config):
    """Is pytest-xdist there, was nothing said about it, and is nobody to look at a single test?"""
    option = config.option
    if not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return False
    if option.numprocesses is not None or option.tx or option.dist != "no":
        return False
    if option.usepdb or option.trace or option.collectonly or option.capture == "no":
        return False
    return all(Path(name).is_dir() for name in option.file_or_dir)


def _names(variable):
    names = [n.strip() for n in os.environ.get(variable, "").split(",") if n.strip()]
    unknown = set(names) - set(BACKENDS)
    if unknown:
        raise pytest.UsageError(
            f"{variable}: unknown {', '.join(sorted(unknown))}; there are {', '.join(BACKENDS)}"
        )
    return names


def pytest_runtest_setup(item):
    """Where a work-item takes a thousand times as long, a clock and sheer size tell nothing."""
    mark = item.get_closest_marker("scale")
    if mark and install.wanted():
        if len(mark.args) != 1:
            raise pytest.UsageError(f"{item.nodeid}: scale{mark.args} must say why")
        pytest.skip(f"not on PTX on the processor: {mark.args[0]}")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays to the end: no search for garbage looks at it. That took a third of the time,
    and each `gc.collect()` of a test would look again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """File by file, not backend by backend: what the tests of a file expect of every backend is in one
    process, and still there."""
    order = {path: k for k, path in enumerate(sorted({item.path for item in items}))}
    items.sort(key=lambda item: order[item.path])


def pytest_generate_tests(metafunc):
    """A test that takes `backend` is one for each that is chosen; marked with ``backends``, of those."""
    if "backend" in metafunc.fixturenames:
        names = _names("GPU_COLLIDE_TEST_BACKENDS")
        named, names = bool(names), names or BACKENDS
        if mark := metafunc.definition.get_closest_marker("backends"):
            if not mark.args or set(mark.args) - set(BACKENDS):
                raise pytest.UsageError(
                    f"{metafunc.definition.nodeid}: backends{mark.args} must name some of {BACKENDS}"
                )
            names = [name for name in names if name in mark.args]
        names = names if named else _there(names)
        slow = _slow_backends(metafunc.definition)
        each = [pytest.param(name, marks=pytest.mark.slow if name in slow else ()) for name in names]
        metafunc.parametrize("backend", each, indirect=True, scope="session")


@functools.cache
def _missing(name):
    """Why a backend is not there, or None."""
    try:
        get_backend(name)
    except BackendUnavailableError as error:
        return str(error)


def _there(names):
    """Backends that are there or must be; all of them if there is none, so that a skip says why. Of what is
    not there thousands of skips would say no more than the line below the tests."""
    required = _names("GPU_COLLIDE_REQUIRE_BACKENDS")
    return [name for name in names if name in required or not _missing(name)] or names


def pytest_terminal_summary(terminalreporter):
    for name in BACKENDS:
        if why := _missing(name):
            terminalreporter.write_line(f"not tested on {name}: {why.splitlines()[0]}")


def _slow_backends(item):
    """Backends on which a test runs with the slow ones: another test compares their bits with `cpu`'s every
    day, so that here they would show nothing new. A test that names its backends runs on all of them, and so
    do all where somebody names the backends of the run."""
    mark = item.get_closest_marker("shared_bits")
    named = item.get_closest_marker("backends") or os.environ.get("GPU_COLLIDE_TEST_BACKENDS")
    if mark is None or named:
        return ()
    if len(mark.args) != 1 or not (Path(__file__).parents[1] / mark.args[0]).is_file():
        raise pytest.UsageError(
            f"{item.nodeid}: shared_bits{mark.args} must name the file that compares them"
        )
    return ("opencl",)


def pytest_ignore_collect(collection_path, config):
    """`-m smoke` reads only files that have some: reading all of them takes longer than the smoke tests."""
    smoke = config.getoption("markexpr") == SMOKE and collection_path.name.startswith("test_")
    return True if smoke and "mark.smoke" not in collection_path.read_text(encoding="utf-8") else None


@pytest.fixture(scope="session")
def backend(request):
    """An open backend. ``GPU_COLLIDE_TEST_BACKENDS=cpu`` narrows the choice; one that is listed in
    ``GPU_COLLIDE_REQUIRE_BACKENDS`` fails where another is skipped."""
    if why := _missing(request.param):
        if request.param in _names("GPU_COLLIDE_REQUIRE_BACKENDS"):
            pytest.fail(f"required backend is missing: {why}", pytrace=False)
        pytest.skip(why.splitlines()[0])
    return get_backend(request.param)
