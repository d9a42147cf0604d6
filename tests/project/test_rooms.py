"""Imports between rooms run one way: folders of kernels, and folders within `pipeline/` and `geometry/`."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from gpu_collide.backends import sources

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "gpu_collide"


def kernel_rooms():
    """Of each folder of kernels the folders that its files need."""
    graph = {}
    for name, needs in sources.known().items():
        room = name.rpartition("/")[0]
        graph.setdefault(room, set()).update({other.rpartition("/")[0] for other in needs or ()} - {room})
    return graph


def imported(path):
    """Dotted names of what a module imports, whether a module or a name of one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def package_rooms(folder):
    """Of each folder or file in a folder of the package those beside it that it imports, types included."""
    graph = {}
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        room = path.relative_to(PACKAGE / folder).parts[0].removesuffix(".py")
        names = [name.split(".") for name in imported(path)]
        beside = {name[2] for name in names if name[:2] == ["gpu_collide", folder] and len(name) > 2}
        graph.setdefault(room, set()).update(beside - {room})
    return graph


@pytest.mark.parametrize("folder", ["kernels", "pipeline", "geometry"])
def test_rooms_need_each_other_one_way(folder):
    graph = kernel_rooms() if folder == "kernels" else package_rooms(folder)
    assert len(graph) > 5 and sum(map(len, graph.values())) > 8
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_a_circle_of_rooms_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(sources.known(), "common/gc_types.h", ("narrow_phase/solve/gc_solve.h",))
    with pytest.raises(ValueError, match="circle|cycle"):
        TopologicalSorter(kernel_rooms()).prepare()
