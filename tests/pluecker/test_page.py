"""docs/pluecker.md: its code runs, says what it says, and shows every public function."""

import re
from pathlib import Path

import numpy as np
import pytest

import gpu_collide as gc

PAGE = Path(__file__).parents[2] / "docs" / "pluecker.md"


@pytest.fixture(scope="module")
def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def test_every_function_is_shown(blocks):
    text = "".join(blocks)
    shown = set(re.findall(r"\bp\.(\w+)", text)) | {"Trace", "TouchPoints"}
    assert shown >= set(gc.pluecker.__all__)


def test_the_code_runs(blocks, capsys):
    printed = []
    for code in blocks:  # each by itself, as a reader copies it
        exec(compile(code, PAGE.name, "exec"), {})
        printed.append(capsys.readouterr().out.splitlines())
    (stopped, moved), (*halves, turned, lines), (among,) = printed
    assert stopped == "[0.4] [[0. 0. 1.]] ['VF', 'VF', 'VF', 'VF']"
    turns, tips, pushed, rest = re.fullmatch(r"\[(.*?)\] \[(.*?)\] \[(.*?)\] (.*)", moved).groups()
    assert float(turns) == 1 and 0 <= float(tips) < 1e-9 and 0 <= float(pushed) < 1e-9
    assert rest == "[0] [0.5 1. ] [1 0]" and halves[0] == "0.5" and halves[2] == "[0.5 inf]"
    assert abs(float(halves[1]) - 0.5) < 1e-9
    assert abs(np.sin(float(turned) * np.pi / 2) - 0.8) < 1e-9
    met, stands, near, swings = re.fullmatch(r"\[(.*?)\] \[(.)\] \[(.*?)\] \[(.*?)\]", among).groups()
    assert abs(float(met) - 0.5) < 1e-7 and stands == "0" and near.count("EE") == 8 and 0 < float(swings) < 1
    assert lines.startswith("-1.0 5.68434188608") and lines.endswith("(140, 0)")
