"""Figures of the concepts: made by one script, in the docs, and of what they say."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib")

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("make_figures", ROOT / "docs" / "make_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_is_there_and_shown(figures):
    page = (ROOT / "docs" / "guide" / "concepts.md").read_text(encoding="utf-8")
    shown = re.findall(r"images/concept_(\w+)\.svg", page)
    assert (
        sorted(shown)
        == sorted(figures.FIGURES)
        == sorted(path.stem.removeprefix("concept_") for path in IMAGES.glob("concept_*"))
    )
    for name in shown:
        assert (IMAGES / f"concept_{name}.svg").stat().st_size < 250_000


def test_the_script_draws_them(figures, tmp_path):
    figures.main(tmp_path)
    for name in figures.FIGURES:
        text = (tmp_path / f"concept_{name}.svg").read_text(encoding="utf-8")
        assert text.rstrip().endswith("</svg>") and text.count("<path") > 20
        assert "<dc:date>" not in text, "the same again: nothing changes with the day"
