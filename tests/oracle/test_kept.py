"""Answers kept on disk: only to the same question, from the same sources, whole."""

import ast
import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests import oracle
from tests.oracle import kept, scenes


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Questions that were really answered, in a folder with no answers."""
    questions = []

    def expect(scene, *options):
        questions.append(options)
        return oracle.expect(scene, *options)

    monkeypatch.setenv("GPU_COLLIDE_ORACLE_CACHE", str(tmp_path / "answers"))
    monkeypatch.setattr(kept, "expect", expect)
    monkeypatch.setattr(kept, "WORTH_KEEPING", 0.0)
    return questions


def test_answered_once(asked):
    scene = scenes.FAMILIES["random_boxes"](1, 5)
    fresh, first, again = oracle.expect(scene), kept.kept(scene), kept.kept(scene)
    assert len(asked) == 1 and len(fresh.atoms)
    for name, value in vars(fresh).items():
        assert np.array_equal(value, getattr(first, name)) and np.array_equal(value, getattr(again, name))
    assert [path.suffix for path in kept.folder().iterdir()] == [".npz"]


@pytest.mark.parametrize("family", ["random_boxes", "lattice"])
def test_the_answer_to_a_part_is_a_part_of_the_answer(family):
    """Pairs are answered by themselves, so tests may share one answer."""
    scene = scenes.FAMILIES[family](1, 12)
    part, whole = oracle.expect(scene.take(np.arange(5))), oracle.expect(scene)
    assert 0 < len(part.atoms) < len(whole.atoms)
    for name, value in vars(whole.first(5)).items():
        assert np.array_equal(value, getattr(part, name)), name


def test_another_question_is_another_answer(asked):
    scene = scenes.FAMILIES["random_boxes"](1, 5)
    kept.kept(scene)
    position, quat = scene.start
    bent = copy.copy(scene.meshes[0])
    bent.vertices = np.nextafter(bent.vertices, 9.0)
    for change in (
        {"start": (np.nextafter(position, 9.0), quat)},
        {"end": (position, quat)},
        {"pairs": scene.pairs[::-1].copy()},
        {"meshes": [bent, *scene.meshes[1:]]},
    ):
        kept.kept(dataclasses.replace(scene, **change))
    kept.kept(scene, -0.2)
    kept.kept(scene, -0.1, only=[0, 1])
    kept.kept(scene, -0.1, only=[0, 1], flip=np.ones(5, bool))
    assert len(asked) == 8 == len(list(kept.folder().iterdir()))


def test_all_sources_of_an_answer_count():
    """What the oracle's entry point imports, and what that imports."""
    folder, todo, found = Path(kept.__file__).parent, ["query"], set()
    while todo:
        stem = todo.pop()
        found.add(stem)
        for node in ast.walk(ast.parse((folder / f"{stem}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests.oracle."):
                todo += {node.module.split(".")[2]} - found
    assert found == set(kept._ANSWERS)


def test_what_is_quickly_answered_is_not_kept(asked, monkeypatch):
    monkeypatch.setattr(kept, "WORTH_KEEPING", 100.0)
    scene = scenes.FAMILIES["random_boxes"](1, 2)
    kept.kept(scene)
    kept.kept(scene)
    assert len(asked) == 2 and not list(kept.folder().iterdir())


def test_a_judge_is_asked_once(monkeypatch, tmp_path):
    """The same of the same arguments, by the same sources."""
    monkeypatch.setenv("GPU_COLLIDE_CACHE", str(tmp_path / "cache"))
    asked = []

    def judge(*args):
        asked.append(args)
        return sum(args)

    one, other = kept.remembered("kept.py")(judge), kept.remembered("judge.py", "kept.py")(judge)
    assert one(1, 2) == one(1, 2) == 3 and asked == [(1, 2)]
    assert one(2, 1) == one(1, 2.0) == other(1, 2) == 3 and len(asked) == 4
