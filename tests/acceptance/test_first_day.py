"""The command for the first day on a GPU: its parts do not harm each other, and it runs on the stand-in."""

import os
import shutil
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.backends import declarations, nvrtc, sources
from gpu_collide.errors import BackendUnavailableError
from gpu_collide.scenes import random_impacts
from tests.acceptance import first_day, first_day_parts
from tests.acceptance.first_day import NOTHING, Part

HANGS = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("begun", flush=True)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).wait()
"""

REACHED = f"import os; print('reached', os.environ['WHO'], float(os.environ['{first_day.SECONDS}']) > 1)"


def part(name, code, share=1.0, **more):
    return Part(name, share, (sys.executable, "-c", code), **more)


@pytest.mark.skipif(os.name != "posix", reason="processes that ignore Ctrl-C")
def test_a_part_that_fails_or_hangs_leaves_the_others_theirs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(first_day, "GRACE", 0.5)
    listed = [
        part("device", "print('a GPU')", 10), part("bits", "raise SystemExit('other bits')", 10),
        part("bench", HANGS, 1.0), part("opencl", f"print('none'); raise SystemExit({NOTHING})", 10),
        part("memcheck", "", lacks="there is none"), Part("gone", 10, ("/nowhere/at-all",)),
        part("suite", REACHED, 10, environment=(("WHO", "me"),)),
    ]  # fmt: skip
    begun = time.monotonic()
    ended = first_day.run(listed, tmp_path / "out", 45)
    assert time.monotonic() - begun < 30, "what hangs, and what that started, was ended"
    assert [one.name for one in ended if one.bad] == ["bits", "bench", "gone"]
    page = (tmp_path / "out" / "report.txt").read_text()
    assert "FAILED: bits, bench, gone" in page and "reached me True" in page and "== device ==\na GPU" in page
    assert "OUT OF TIME" in page and "left out: there is none" in page
    assert "begun" in (tmp_path / "out" / "bench.txt").read_text(), "what it said before"


@pytest.mark.skipif(os.name != "posix", reason="processes of another group")
def test_what_does_not_end_is_left_behind(monkeypatch):
    """A process in a group of its own holds the pipe, as one that waits for a device would."""
    monkeypatch.setattr(first_day.processes, "PATIENCE", 0.2)
    escapes = "import subprocess, sys; print('said', flush=True); subprocess.run([sys.executable, '-c', "
    escapes += "'import time; time.sleep(4)'], start_new_session=True)"
    begun = time.monotonic()
    code, text = first_day.processes.run([sys.executable, "-c", escapes], 1.0, first_day.ROOT)
    assert code == first_day.processes.OUT_OF_TIME and time.monotonic() - begun < 3
    assert text.startswith("said") and "left behind" in text


def test_without_a_device_nothing_else_is_tried(tmp_path):
    listed = [part("device", "raise SystemExit('no GPU')"), part("suite", "print('run')")]
    ended = first_day.run(listed, tmp_path, 20)
    assert [one.how.split(":")[0] for one in ended] == ["FAILED with 1", "NOT RUN"] and ended[1].bad
    assert "no GPU" in (tmp_path / "report.txt").read_text()


def test_the_parts_share_the_time(tmp_path):
    listed = first_day.parts(tmp_path, small=False)
    assert sum(p.share for p in listed) <= 615 and listed[-1].name == "suite"
    assert ["device", "bits"] == [p.name for p in listed[:2]]
    assert all((first_day.ROOT / word).exists() for word in listed[-1].command if word.startswith("tests"))
    with pytest.raises(SystemExit):
        first_day.main(["--only", "nothing"])


def test_one_bit_is_found(capsys):
    mesh = gc.shapes.box()
    found = gc.collide(*random_impacts(mesh, mesh, 8, seed=1), backend="reference")
    time = found.time.copy()
    time[0] = np.nextafter(time[0], 2)
    assert first_day_parts.differing(found, found) == []
    assert first_day_parts.differing(replace(found, time=time), found) == ["time"]
    rows = first_day_parts.Rows(1.0)
    rows.compare("movers", (x for x in [("turn", ["fraction"], 3), ("way", [], 2)]))
    assert rows.bad == ["movers turn: fraction"] and rows.contacts == 5
    rows.compare("worlds", iter([]))
    assert rows.bad[1:] == ["worlds: nothing was found"]


def test_what_a_run_left_is_kept_beside_other_devices(tmp_path, capsys):
    left, results = tmp_path / "left", tmp_path / "results"
    (left / "bench" / "cuda-h100").mkdir(parents=True)
    (left / "bench" / "cuda-h100" / "cars.csv").write_text("pairs,rate")
    (left / "report.txt").write_text("all well")
    (results / "cuda-h100").mkdir(parents=True)
    (results / "cuda-h100" / "tori.csv").write_text("of before")
    assert first_day.keep(left, results)
    kept = sorted(p.relative_to(results / "cuda-h100").as_posix() for p in results.rglob("*.*"))
    assert kept == ["cars.csv", "first_day/report.txt", "tori.csv"]
    assert not first_day.keep(tmp_path / "none", results) and "has no rates" in capsys.readouterr().out


NCU = """#!{python}
import sys
assert "--csv" in sys.argv and sys.argv[-1] == "hot", sys.argv
print({says!r})
raise SystemExit({code})
"""


@pytest.mark.skipif(os.name != "posix", reason="a script as a command")
@pytest.mark.parametrize(
    "says, code, how",
    [
        ('"ID","Kernel Name"\n"0","screen_small"', 0, 0),
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", 1, NOTHING),
        ("==ERROR== no such section", 1, 1),
        ("==WARNING== No kernels were profiled.", 0, 1),
        (None, 0, NOTHING),
    ],
)
def test_ncu_is_used_if_it_is_there_and_allowed(tmp_path, monkeypatch, capfd, says, code, how):
    if says is not None:
        (tmp_path / "ncu").write_text(NCU.format(python=sys.executable, says=says, code=code))
        (tmp_path / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert first_day_parts.main(["profile"]) == how
    assert ("no ncu on PATH" if says is None else says.splitlines()[0]) in capfd.readouterr().out


def test_the_hot_kernels_are_ours():
    assert set(first_day_parts.HOT.split("|")) <= set(declarations.parse(sources.source()))


@pytest.mark.slow
def test_on_the_stand_in(tmp_path, monkeypatch):
    """Every part but compute-sanitizer, with few pairs, on PTX on the processor."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler")
    try:
        nvrtc.version()
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    monkeypatch.setenv("GPU_COLLIDE_CUDA", "ptx:64")
    command = [sys.executable, "-m", "tests.acceptance.first_day", "--small", "--minutes", "20"]
    code, text = first_day.processes.run([*command, "--out", str(tmp_path)], 1500, first_day.ROOT)
    assert code == 0, text
    page = (tmp_path / "report.txt").read_text()
    assert "all well" in page and "0 differ (none)" in page and ", 0 wrong" in page
    assert sorted(p.name for p in tmp_path.glob("bench/*/*.csv"))[0] == "batches.csv"
