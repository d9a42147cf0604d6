"""A stage has one stem everywhere, in every family of stages alike.

That is: a file of kernels with its entry points, a module of the reference, a file of tests, a row in the
table of kernels/README.md and a place in the list of ARCHITECTURE.md. A new family adds its row to FAMILIES.
"""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from gpu_collide.backends import declarations, sources

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = {
    "mesh": "m",
    "upload": "g",
    "broad_phase": "b",
    "filters": "f",
    "pluecker": "p",
    "narrow_phase": "s",
    "sweep": "w",
    "clearance": "c",
    "robots": "r",
}
"""Folder of a family (in kernels, reference and tests) to the letter that its stems begin with."""
ALSO = {"b": "narrow_phase"}
"""Where further stages of a letter are: b05 and b06, trees of faces, belong to the narrow phase."""
SERVES_TOO = {"mesh": "geometry/preparation"}
"""Families whose second opinion, in NumPy, serves queries as well, where nothing is compiled: the folder in
which a stage's module stands, without the stage's number."""
SHARED_LAUNCHES = {
    "screen": ("s02", "s03", "s04", "s05", "s06"),
    "screen_small": ("s02",),
    "screen_first": (),
    "screen_hulls": (),
    "hulls_apart": (),
}
"""Entry points that run several stages, and those stages, which have no entry point of their own. The screen
of small meshes has s05 and s06 in a form of its own (``gc_small.h``)."""

OTHER_LAUNCHES = {
    "s01_bodies": "s01_screw", "s07_answer": "s07_solve", "s07_find": "s07_solve", "s07_start": "s07_solve",
    "s07_spheres": "s07_solve",
}  # fmt: skip
"""Launches in place of a stage's own, or beside it, in files of their own: a query without them does not
build them."""

each_family = pytest.mark.parametrize("family", FAMILIES)


def stems(family, folder, pattern):
    """Stems of the stages that have a file in a folder; {} in `pattern` stands for the stem."""
    letter = FAMILIES[family]
    name = pattern.format(f"{letter}[0-9][0-9]_*")
    homes = {family, ALSO.get(letter, family)}
    return sorted(
        path.stem.removeprefix("test_") for home in homes for path in (ROOT / folder / home).rglob(name)
    )


def kernels(family):
    """Stems of the stages of a family, by its kernels."""
    return [stem for stem in stems(family, "kernels", "{}.c") if stem not in OTHER_LAUNCHES]


def test_every_family_is_looked_at():
    kernels = ROOT / "kernels"
    folders = {path.relative_to(kernels).parts[0] for path in kernels.rglob("*.c")}
    assert folders == set(FAMILIES), "a folder with stages has no row in FAMILIES, or a row no folder"


@each_family
def test_stages_are_numbered_without_a_gap(family):
    found = kernels(family)
    assert found
    assert [stem[:3] for stem in found] == [f"{FAMILIES[family]}{k:02d}" for k in range(1, len(found) + 1)]


@each_family
def test_kernels_reference_and_tests_have_the_same_stages(family):
    if family in SERVES_TOO:
        folder = ROOT / "gpu_collide" / SERVES_TOO[family]
        assert [stem for stem in kernels(family) if not (folder / f"{stem[4:]}.py").is_file()] == []
    else:
        assert stems(family, "gpu_collide/reference", "{}.py") == kernels(family)
    assert stems(family, "tests", "test_{}.py") == kernels(family)


@each_family
def test_every_entry_point_stands_in_the_file_of_its_stage(family):
    joined = {stage for stages in SHARED_LAUNCHES.values() for stage in stages}
    folder = ROOT / "kernels" / family
    heads = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "kernels").rglob("*.h"))
    known = {stem for other in FAMILIES for stem in kernels(other)}
    for path in sorted(folder.rglob("*.c")):
        entries = set(declarations.parse(heads + path.read_text(encoding="utf-8")))
        if path.stem in SHARED_LAUNCHES:
            assert entries == {path.stem}
        elif path.stem[:3] in joined:
            assert path.stem in known and not entries
        else:
            stage = OTHER_LAUNCHES.get(path.stem, path.stem)
            assert stage in known, f"{path.name} is no stage"
            assert {name[:4] for name in entries} == {f"{path.stem[:3]}_"}, path.name


@pytest.mark.parametrize("launch", SHARED_LAUNCHES)
def test_a_shared_launch_runs_each_of_its_stages(launch):
    (path,) = (ROOT / "kernels").rglob(f"{launch}.c")
    text = declarations.strip_comments(path.read_text(encoding="utf-8"))
    for stage in SHARED_LAUNCHES[launch]:
        assert re.search(rf"\b{stage}_\w+\(", text), stage


@each_family
def test_the_guide_to_the_kernels_has_a_row_for_each_stage(family):
    page = (ROOT / "kernels" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| `({FAMILIES[family]}\d\d_\w+)` \|", page, re.M)
    assert sorted(rows) == stems(family, "kernels", "{}.c")
    assert f"\n| `{family}/` |" in page, "the table of files"


@each_family
def test_the_map_of_the_code_lists_each_stage(family):
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert re.findall(rf"\*\*({FAMILIES[family]}\d\d_\w+)\*\*", page) == kernels(family)


def test_each_kernel_of_the_narrow_phase_is_launched_at_one_place():
    """So that a new argument is one edit, whoever runs the launch: at once, or recorded."""
    found: Counter[str] = Counter()
    for path in (ROOT / "gpu_collide/pipeline/narrow_phase").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", "").startswith("launch")
                and node.args
            ):
                texts = [x.value for x in ast.walk(node.args[0]) if isinstance(x, ast.Constant)]
                found.update(text for text in texts if isinstance(text, str))
    programs = (
        "near_faces", "join_near_faces", "screen", "screen_small", "first_contact", "hull_separation",
        "hulls_apart", "solve", "solve_split", "solve_raster", "start", "spheres", "overlap", "bodies",
    )  # fmt: skip
    names = {name for program in programs for name in declarations.parse(sources.program(program))}
    names |= {"s01_screw", "s01_long", "s01_widen", "g02_pairs"}
    names -= {"s09_step"}  # of the bisection
    assert found == Counter(names), (names - set(found), found - Counter(names))


def test_each_kernel_of_casts_and_movers_is_named_at_one_place():
    """What launches it from arrays of the host, and from arrays on a GPU, has it from there."""
    found: Counter[str] = Counter()
    for folder in ("sweep", "movers"):
        for path in (ROOT / "gpu_collide/pipeline" / folder).glob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found.update(x.value for x in ast.walk(tree) if isinstance(x, ast.Constant))
    texts = [
        path.read_text(encoding="utf-8")
        for family in ("sweep", "pluecker")
        for path in (ROOT / "kernels" / family).glob("*.c")
    ]
    names = re.findall(r"GC_KERNEL void (\w+)\(", "".join(texts))
    assert len(names) > 10 and {name: found[name] for name in names} == dict.fromkeys(names, 1)
