"""The documentation: every code block runs as a reader copies it, and the site builds without a warning."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

import gpu_collide as gc
import gpu_collide.errors
from gpu_collide.cli.main import build_parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(p for p in (ROOT / "docs").rglob("*.md") if "```python\n" in p.read_text(encoding="utf-8"))


def test_there_are_pages_with_code():
    assert len(PAGES) >= 10
    assert not [
        p for p in (ROOT / "docs").rglob("*.md") if re.search(r"^```py\b", p.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT / "docs").as_posix())
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
        exec(compile(code, page.name, "exec"), {})
        assert capsys.readouterr().out.strip(), "a block shows something"


def test_commands_that_pages_and_helps_say_are_commands(capsys):
    """Each line that begins with the command is understood by it, as it stands there."""
    texts = {
        p.name: p.read_text(encoding="utf-8") for p in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    }
    parser = build_parser()
    (commands,) = (a for a in parser._actions if hasattr(a, "choices") and isinstance(a.choices, dict))
    texts |= {f"{name} --help": each.epilog or "" for name, each in commands.choices.items()}
    texts["--help"] = parser.epilog
    seen = 0
    for where, text in texts.items():
        for line in re.findall(r"^ {2,4}gpu-collide (.*)", text, re.M):
            words = re.split(
                r" {2,}| and | & | \.\.\.| so | Each ", line.replace("npz your own", "npz  your own")
            )[0]
            try:
                parser.parse_args(shlex.split(words))
            except SystemExit as left:
                assert left.code == 0, f"{where}: gpu-collide {line}: {capsys.readouterr().err}"
            seen += 1
    assert seen > 40


def test_names_that_pages_say_are_there():
    """``gc.`` and what follows it, in lines that are shown and not run."""
    walk_through = {".shapes.cylinder"}  # which development/first_change.md adds
    for page in (ROOT / "docs").rglob("*.md"):
        for name in (
            set(re.findall(r"\bgc((?:\.[A-Za-z_]\w*)+)", page.read_text(encoding="utf-8"))) - walk_through
        ):
            value = gc
            for part in name[1:].split("."):
                value = getattr(value, part)


def test_numbers_that_pages_say():
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    for degrees in (60, 45, 30, 20, 10, 5):
        value = float(gc.chord_error(degrees * 3.141592653589793 / 180))
        assert f"| {degrees} | {value:.3f} |" in page


def test_the_reference_has_every_public_name():
    """With the name that users type, also those of modules."""
    pages = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs" / "api").glob("*.md"))
    named = set(re.findall(r"^      heading: (.+)$", pages, re.M))
    modules = {name for name in gc.__all__ if isinstance(getattr(gc, name), types.ModuleType)} | {"errors"}
    expected = {f"gc.{name}" for name in gc.__all__ if name not in modules}
    expected |= {f"gc.{module}.{name}" for module in modules for name in getattr(gc, module).__all__}
    assert named == expected
    assert {"gc.sweep.slide", "gc.view.save_result", "gc.errors.MemoryLimitError"} <= named


def test_every_page_is_in_the_navigation():
    """But the records of decisions, which have an index."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- (?:\w+: )?(\S+\.md)$", text, re.M)
    pages = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert set(listed) == {p for p in pages if not re.match(r"decisions/\d", p)}


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="needs the extra docs")
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in (
        "index.html",
        "guide/quickstart/index.html",
        "decisions/0016-a-threshold-is-a-filter/index.html",
    ):
        assert (tmp_path / "site" / name).is_file()
    api = (tmp_path / "site" / "api" / "collisions" / "index.html").read_text(encoding="utf-8")
    assert "Parameters" in api and "min_properness" in api
    sweeps = (tmp_path / "site" / "api" / "sweeps" / "index.html").read_text(encoding="utf-8")
    assert re.search(r"<h2[^>]*>\s*gc\.sweep\.slide", sweeps)
