"""The counted table: what counts as worse, and that the kernels cost what it says."""

import os

import numpy as np
import pytest

from bench import lines
from bench.cases import counted
from bench.settings import BenchError, Settings
from gpu_collide.backends import nvrtc, sources
from gpu_collide.errors import BackendUnavailableError
from tests.ptx.blocks import Block
from tests.ptx.counting import Counted
from tests.ptx.parse import Instruction

ROW = {"case": "cars", "group": 64, "kernel": "screen", "instructions": 1000.0, "local_bytes": 4000.0}
ROW |= {"sectors": 50.0}


def test_two_hundredths_are_let_pass():
    rows = [ROW | {"instructions": 1019.0, "local_bytes": 4090.0, "sectors": 51.9}]
    assert counted.compare(rows, [ROW]) == []


@pytest.mark.parametrize(
    "name, value", [("instructions", 1023.0), ("local_bytes", 4097.0), ("sectors", 52.1)]
)
def test_more_is_worse(name, value):
    worse = counted.compare([ROW | {name: value}], [ROW])
    assert len(worse) == 1 and f"cars 64 screen: {name}" in worse[0]


def test_what_is_new_is_said():
    assert "cars 32 screen: not in the table" in counted.compare([ROW | {"group": 32}], [ROW])[0]


def test_a_table_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(counted.nvrtc, "version", lambda major: "12.9")
    path = tmp_path / "counted.csv"
    whole = {name: 1.0 for name in counted.PER_PAIR} | ROW | {"pairs": 64, "launches": 1, "use": 0.5}
    counted.write(path, [whole], Settings())
    about, rows = counted.read(path)
    assert about["nvrtc"] == "12.9" and about["precision"] == "mixed"
    assert counted.compare(rows, [whole]) == [] and rows[0]["local_bytes"] == 4000.0


def test_without_nvrtc_it_says_so(monkeypatch):
    def none(major):
        raise BackendUnavailableError("NVRTC was not found")

    monkeypatch.setattr(counted.nvrtc, "version", none)
    with pytest.raises(BenchError, match="NVRTC was not found"):
        counted.table(Settings())


def test_a_place_is_that_of_the_function_around_it():
    text = (
        (sources.kernels_dir() / "narrow_phase/candidates/gc_emit.h").read_text(encoding="utf-8").splitlines()
    )
    first = next(i for i, line in enumerate(text, 1) if "gc_vertex_may_be_proper(" in line)
    assert lines.function_at(f"narrow_phase/candidates/gc_emit.h:{first}") == "gc_vertex_may_be_proper"
    assert lines.function_at(f"narrow_phase/candidates/gc_emit.h:{first + 20}") == "gc_vertex_may_be_proper"
    assert lines.function_at(f"narrow_phase/candidates/gc_emit.h:{first - 3}") != "gc_vertex_may_be_proper"
    assert lines.function_at("narrow_phase/candidates/gc_emit.h:0") == lines.function_at("?") == "?"


def test_lines_and_functions_add_up_to_their_kernel(capsys):
    ops = [
        ("add.s64", "narrow_phase/rows/s04_sort.c:13"),
        ("ld.global.f32", "narrow_phase/rows/s04_sort.c:14"),
    ]
    ops += [("add.s64", "narrow_phase/candidates/gc_scratch.h:105 in narrow_phase/rows/s04_sort.c:60")]
    block = Block("k", [Instruction(op, (), "", place) for op, place in ops])
    what = Counted(launches={"k": 1}, blocks={"k": ([block], np.array([[4.0, 64, 2, 0, 0, 0, 0]]))})
    for by_line in (False, True):
        found = lines.shares(what, 2, by_line)
        assert sum(s.instructions for s in found) == what.totals("k")["instructions"] / 2 == 2 * (2 + 1 + 2)
        assert sum(s.least for s in found) == 1 * (2 + 1 + 2) and {s.use for s in found} == {0.5}
    assert {s.line for s in found} == {place.partition(" in ")[0] for _, place in ops}
    lines.show("cars", 32, what, 2, 1)
    said = capsys.readouterr().out.splitlines()
    assert sum("groups of 32" in line for line in said) == sum(" k  " in line for line in said) == 2


@pytest.mark.slow
def test_no_kernel_costs_more_than_the_table_says():
    """20 s; a minute where nothing is built. After a change that is worth it: python -m bench counted."""
    if os.name != "posix":
        pytest.skip("the stand-in for CuPy needs a POSIX system")
    about, stored = counted.read(counted.TABLE)
    try:
        if nvrtc.version(counted.NVRTC) != about["nvrtc"]:
            pytest.skip(f"the table is of NVRTC {about['nvrtc']}")
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    rows = counted.table(Settings(), sizes=False)
    assert counted.compare(rows, stored) == []
    costlier = [r | {"instructions": 1.03 * r["instructions"] + 3.0} for r in rows]
    assert len(counted.compare(costlier, stored)) > len(rows) // 2  # the table is of these kernels
