"""How the suite itself is run: on all cores, unless somebody looks at one test."""

import itertools
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests import conftest
from tests.support import seeds

ROOT = Path(__file__).parents[2]
OPTION = {"numprocesses": None, "tx": [], "dist": "no", "usepdb": False, "trace": False, "collectonly": False,
          "capture": "fd", "file_or_dir": [], "markexpr": "not slow"}  # fmt: skip


def config(xdist=True, **option):
    manager = SimpleNamespace(hasplugin=lambda name: xdist and name == "xdist")
    return SimpleNamespace(pluginmanager=manager, option=SimpleNamespace(**{**OPTION, **option}))


@pytest.mark.parametrize(
    "change",
    [
        {"xdist": False},
        {"numprocesses": 0},
        {"numprocesses": 3},
        {"tx": ["popen"]},
        {"dist": "loadfile"},
        {"usepdb": True},
        {"trace": True},
        {"collectonly": True},
        {"capture": "no"},
        {"file_or_dir": [__file__]},
        {"file_or_dir": [f"{__file__}::test_all_cores"]},
        {"file_or_dir": [str(ROOT / "tests"), __file__]},
    ],
)
def test_one_process(change):
    conftest.pytest_cmdline_main(asked := config(**change))
    assert asked.option == config(**change).option


@pytest.mark.parametrize("folders", [[], [str(ROOT / "tests")], [str(ROOT / "tests"), str(ROOT / "docs")]])
def test_all_cores(folders):
    conftest.pytest_cmdline_main(asked := config(file_or_dir=folders))
    assert (asked.option.numprocesses, asked.option.dist) == ("auto", "worksteal")


def test_smoke_leaves_out_the_slow_tests_of_its_files():
    conftest.pytest_cmdline_main(asked := config(markexpr="smoke"))
    assert asked.option.markexpr == "smoke and not slow"


def test_a_worker_starts_no_workers():
    asked = config()
    asked.workerinput = {}
    assert not conftest.takes_all_cores(asked)


def test_files_are_not_split_by_backend():
    names = ["a[cpu]", "b[cpu]", "a[opencl]", "b[opencl]", "a"]
    items = [SimpleNamespace(path=Path(name[0]), name=name) for name in names]
    conftest.pytest_collection_modifyitems(items)
    assert [item.name for item in items] == ["a[cpu]", "a[opencl]", "a", "b[cpu]", "b[opencl]"]


def test_no_file_is_begun_twice(request):
    """pytest sorts by backend, and ours comes behind that."""
    paths = [item.path for item in request.session.items]
    assert sum(a != b for a, b in itertools.pairwise(paths)) == len(set(paths)) - 1


@pytest.mark.parametrize(
    "options, workers",
    [
        (["-p", "no:xdist"], False),
        pytest.param([], True, marks=pytest.mark.slow),  # every run of the suite shows it
        pytest.param(["-n0"], False, marks=pytest.mark.slow),
    ],
)
def test_the_plain_command(options, workers):
    """As the README has it, with or without pytest-xdist, with nothing to look through."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", "no_test_has_this_name"]
    command += ["-o", "testpaths=tests/support", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 5, done.stdout + done.stderr  # nothing selected
    assert ("created: " in done.stdout) == workers, done.stdout


def test_several_seeds_are_joined_by_one_function():
    """NumPy 2.5 refuses lists within lists: 112 tests failed there that passed before."""
    assert seeds.generator([2, [3]], 5).random() == np.random.default_rng([2, 3, 5]).random()
    assert seeds.generator(7).random() == np.random.default_rng(7).random()
    own = [
        path for path in (ROOT / "tests").rglob("*.py") if path.name not in ("seeds.py", Path(__file__).name)
    ]
    joined = [str(path) for path in own if "default_rng([" in path.read_text(encoding="utf-8")]
    assert joined == [], "take tests.support.seeds.generator"
