"""Tables and progress, with rich and without."""

import io
import sys

import pytest

from gpu_collide.cli.options import parse_bytes, positive_int
from gpu_collide.cli.terminal import Terminal

pytestmark = pytest.mark.smoke


@pytest.fixture(params=["plain", "rich"])
def terminal(request):
    if request.param == "rich":
        pytest.importorskip("rich", reason="rich is not installed")
    return Terminal(plain=request.param == "plain")


def test_a_table_shows_all_cells(terminal, capsys):
    terminal.table(
        "What was found", ["", "count", "note"], [["pairs [a]", "1,000", "x"], ["contacts", "7", ""]]
    )
    out = capsys.readouterr().out
    for text in ("What was found", "count", "pairs [a]", "1,000", "contacts", "7"):
        assert text in out
    lines = [line.rstrip() for line in out.splitlines()]
    first, second = (next(line for line in lines if text in line) for text in ("pairs", "contacts"))
    assert first.index("1,000") + 5 == second.index("7") + 1, "numbers are aligned to the right"


def test_an_empty_table(terminal, capsys):
    terminal.table("Nothing", ["name", "count"], [])
    assert "count" in capsys.readouterr().out


def test_plain_without_rich(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    terminal = Terminal()
    terminal.table("T", ["a"], [["b"]])
    terminal.error("bad [file]")
    captured = capsys.readouterr()
    assert "b" in captured.out
    assert captured.err == "gpu-collide: error: bad [file]\n"


def test_errors_are_one_readable_line(terminal, capsys):
    terminal.error("bad [file]")
    assert capsys.readouterr().err == "gpu-collide: error: bad [file]\n"


class FakeTerminal(io.StringIO):
    def isatty(self):
        return True


def test_plain_progress_counts_pairs(monkeypatch):
    monkeypatch.setattr(sys, "stderr", FakeTerminal())
    with Terminal(plain=True).progress("colliding") as update:
        update(250, 1000)
        update(1000, 1000)
        text = sys.stderr.getvalue()
    assert "colliding [#####" in text
    assert "1,000 of 1,000 pairs" in text


def test_rich_progress_counts_pairs(monkeypatch):
    pytest.importorskip("rich", reason="rich is not installed")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", FakeTerminal())
    with Terminal().progress("colliding") as update:
        update(250, 1000)
        update(1000, 1000)
    assert "colliding" in sys.stderr.getvalue()
    assert "1,000 of 1,000 pairs" in sys.stderr.getvalue()


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_silent_in_a_pipe_or_when_quiet(quiet, capsys):
    with Terminal(quiet=quiet).progress("colliding") as update:
        update(1, 2)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [("500M", 500_000_000), ("2G", 2 * 10**9), ("1.5k", 1500), ("64", 64), ("2GB", 2 * 10**9)],
)
def test_sizes(text, value):
    assert parse_bytes(text) == value


@pytest.mark.parametrize("text", ["", "-1", "0", "lots", "5X", "G"])
def test_sizes_that_make_no_sense(text):
    with pytest.raises(Exception, match="expected a size such as 500M"):
        parse_bytes(text)


def test_counts():
    assert positive_int("100,000") == positive_int("100_000") == 100_000
    with pytest.raises(Exception, match="whole number above 0"):
        positive_int("-3")
