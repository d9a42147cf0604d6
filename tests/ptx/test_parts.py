"""The long run in parts: what one did is kept, and is taken for what it is when the sources have changed."""

import json
import sys
from types import SimpleNamespace

import pytest

from tests.ptx import __main__ as long_run
from tests.ptx import parts
from tests.support import processes

pytestmark = pytest.mark.usefixtures("possible")  # what a part depends on is made with NVRTC

TESTS = """
import pytest
def test_well_cuda(): pass
def test_wrong_cuda(): assert 1 == 2, "two is not one"
@pytest.mark.skip(reason="no time")
def test_later_cuda(): pass
def test_of_another(): assert False
"""


@pytest.fixture
def part(tmp_path):
    path = tmp_path / "test_some.py"
    path.write_text(TESTS)
    return parts.Part(64, str(path))


def test_what_a_part_did_is_kept(part, tmp_path):
    folder = tmp_path / "kept"
    assert parts.kept(folder, part) is None
    made = parts.play(part, 100, folder)
    assert made.counts == {"passed": 1, "failed": 1, "skipped": 1} and not made.good
    ((name, text),) = made.failures
    assert "test_wrong_cuda" in name and "two is not one" in text
    found = parts.kept(folder, part)
    assert found == made and found.fresh
    page = long_run.page([found], [parts.Part(32, "tests/other.py")])
    assert "1 failed, 1 passed, 1 skipped" in page and "two is not one" in page
    assert "skipped: 1 because no time" in page and "older sources" not in page

    with open(part.what, "a") as file:
        file.write("\n# changed\n")
    assert not parts.kept(folder, part).fresh
    assert "of older sources: 1 parts" in long_run.page([parts.kept(folder, part)], [])
    next(folder.iterdir()).write_text("{")
    assert parts.kept(folder, part) is None, "cut short: as if it had not run"


def test_a_part_out_of_time_is_not_kept(part, tmp_path, monkeypatch):
    monkeypatch.setattr(
        parts.Part, "command", lambda self, results: [sys.executable, "-c", "import time; time.sleep(60)"]
    )
    made = parts.play(part, 0.5, tmp_path / "kept")
    assert made.code == processes.OUT_OF_TIME and not made.good
    assert "ended after" in made.failures[0][1] and parts.kept(tmp_path / "kept", part) is None


def test_a_run_goes_on_where_it_was(part, tmp_path, monkeypatch, capsys):
    """What is kept and well is not run again, what failed is; --report runs nothing."""
    played = []
    well = parts.Outcome(64, "a", "", "", 0, 1.0, "now", {"passed": 3}, totals=[["screen", "launches", 2]])
    bad = parts.Outcome(64, "b", "", "", 1, 1.0, "now", {"failed": 1}, [["b", "wrong"]])
    monkeypatch.setattr(long_run, "kept", lambda folder, p: {"a": well, "b": bad}.get(p.what))
    monkeypatch.setattr(long_run, "play", lambda p, limit, folder: played.append(p.what) or well)
    asked = ["--size", "64", "--keep", str(tmp_path), "--tests", "a", "b"]
    assert long_run.main(asked) == 0 and played == [parts.BITS, "b"]
    assert long_run.main([*asked, "--report"]) == 1 and len(played) == 2, "nothing of the stored bits is kept"
    said = capsys.readouterr().out
    assert "FAILED at 64: b: wrong" in said
    monkeypatch.setattr(long_run, "play", lambda p, limit, folder: bad)
    assert long_run.main([*asked, "--anew"]) == 1


def test_the_sample_keeps_nothing(monkeypatch, capsys):
    played = []
    well = parts.Outcome(32, "a", "", "", 0, 1.0, "now", {"passed": 3}, totals=[["screen", "launches", 2]])
    monkeypatch.setattr(
        long_run, "play", lambda p, limit, folder: played.append((p.size, p.what, folder)) or well
    )
    assert long_run.main(["--sample"]) == 0
    assert [what for size, what, _ in played if size == 32] == long_run.SAMPLE[32]
    assert parts.BITS in {what for _, what, _ in played}, "all of them with one of the sizes"
    assert {folder for *_, folder in played} == {None} and {size for size, *_ in played} == {32, 64, 256}
    assert all(
        (parts.ROOT / what.split("::")[0]).is_file()
        for _, what, _ in played
        if not what.startswith(parts.BITS)
    )


def test_a_part_depends_on_the_programs_that_it_launched(part, tmp_path, monkeypatch):
    made = parts.play(part, 100, tmp_path)
    assert made.launched == set() and made.long == []
    path = next(tmp_path.glob("*.json"))
    kept = json.loads(path.read_text())
    kept["totals"] = [["w01_first", "launches", 1], ["gc_probe", "launches", 1], ["", "add.f64", 1]]
    kept["kernels"] = parts.kernel_texts({"w01_first", "gc_probe"})
    path.write_text(json.dumps(kept))
    assert parts.kept(tmp_path, part).fresh and "launched nothing" in long_run.page([made], [])
    text = parts.sources.program

    def after(change, of=None):
        changed = lambda name: text(name) + change * (of in (None, name))  # noqa: E731
        monkeypatch.setattr(parts.sources, "program", changed)
        return parts.kept(tmp_path, part).fresh

    assert after("int more;", of="screen"), "it has launched no kernel of this program"
    assert not after("int more;", of="sweep")
    assert after("/* a remark */ // and one more\n"), "comments compute nothing"


def test_parts_run_side_by_side(part, tmp_path, monkeypatch, capsys):
    other = tmp_path / "test_other.py"
    other.write_text("def test_well_cuda(): pass\n")
    monkeypatch.setattr(long_run, "parts", lambda options: [part, parts.Part(64, str(other))])
    folder = tmp_path / "kept"
    page = tmp_path / "page.txt"
    assert long_run.main(["--jobs", "2", "--keep", str(folder), "--page", str(page)]) == 1
    assert "FAILED, " in page.read_text() and "two is not one" in page.read_text()
    assert len(list(folder.glob("*.json"))) == 2 and "two is not one" in capsys.readouterr().out


def test_what_is_a_part_of_its_own_is_not_run_twice(monkeypatch):
    listed = (
        "tests/acceptance/test_stored_bits.py::test_a[cuda]\ntests/x.py::test_b[cuda-1]\ntests/y.py::test_c"
    )
    done = SimpleNamespace(stdout=listed, stderr="")
    monkeypatch.setattr(parts.subprocess, "run", lambda *a, **k: done)
    assert parts.files_of_tests() == ["tests/x.py"]
