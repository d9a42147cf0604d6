"""The counted table: what counts as worse, and that the kernels cost what it says."""

import os

import pytest

from bench.cases import counted
from bench.settings import BenchError, Settings
from gpu_collide.backends import nvrtc
from gpu_collide.errors import BackendUnavailableError

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
