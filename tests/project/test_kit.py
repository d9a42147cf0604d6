"""What contributors find: one version everywhere, pinned tools, extras, CI, how to cite."""

import re
from pathlib import Path

import pytest

import gpu_collide as gc

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).resolve().parents[2]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def extra(name):
    """Requirements of an extra in pyproject.toml, by package."""
    (rows,) = re.findall(rf'^{name} = \[((?:\s*"[^"]*",?\s*)*)\]$', text("pyproject.toml"), re.M)
    return {re.match(r"[\w-]+(\[.*?\])?", each)[0]: each for each in re.findall(r'"([^"]+)"', rows)}


def test_tools_of_the_hooks_are_pinned_as_in_the_extra():
    pinned = set(re.findall(r'"([\w-]+==[\w.]+)"', text(".pre-commit-config.yaml")))
    assert {each.split("==")[0] for each in pinned} == {"ruff", "clang-format"}
    assert pinned <= set(extra("dev").values())


def test_what_only_benchmarks_compare_with_is_an_extra_of_its_own():
    peers = {"embreex", "panda3d", "python-fcl", "warp-lang"}
    assert peers <= set(extra("bench")) and not peers & set(extra("test"))
    assert "gpu-collide[test,bench,docs]" in extra("dev")
    assert ".[dev]" in text(".ci/run")


def test_the_workflow_calls_the_whole_check():
    yaml = pytest.importorskip("yaml", reason="the extra docs brings it")
    jobs = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]
    assert any(step.get("run") == ".ci/run" for step in jobs["check"]["steps"])
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        yaml.safe_load(form.read_text(encoding="utf-8"))


def test_how_to_cite_names_the_papers_and_the_version():
    yaml = pytest.importorskip("yaml", reason="the extra docs brings it")
    cite = yaml.safe_load(text("CITATION.cff"))
    assert str(cite["version"]) == gc.__version__ and cite["cff-version"] == "1.2.0"
    names = {each["authors"][0]["family-names"] for each in cite["references"]}
    assert names == {"Buss", "van Waveren", "Schroeder", "Fauerby", "Blow"}


def test_the_tiers_of_tests_are_markers():
    page = text("CONTRIBUTING.md")
    for marker in ("smoke", "slow"):
        assert f'"{marker}: ' in text("pyproject.toml") and f"-m {marker}" in page
