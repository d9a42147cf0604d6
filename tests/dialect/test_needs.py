"""The heads of the kernel files are true: what a file uses is in what it needs, and nothing else."""

import re

import pytest

from gpu_collide.backends import declarations, sources

pytestmark = pytest.mark.smoke

FOLDER = sources.kernels_dir()
KNOWN = sources.known()
CODE = {name: declarations.strip_comments((FOLDER / name).read_text(encoding="utf-8")) for name in KNOWN}
DEFINED = re.compile(
    r"^#define\s+(GC_\w+)|^\}\s*(gc_\w+);|^typedef\s+(?!struct)[\w ]+?(gc_\w+);"
    r"|^(?:GC_FN|GC_LARGE|GC_RARE|GC_INLINE)\s+(?:const\s+)?(?:GC_GLOBAL\s+)?\w+\s+\*?(\w+)\(",
    re.M,
)


def defined(code):
    """Macros, types, functions and places of records that a file defines."""
    names = {name for groups in DEFINED.findall(code) for name in groups if name}
    lists = declarations.records(sources.source())
    for record in re.findall(r"^GC_RECORD\(GC_(\w+)\)", code, re.M):
        names |= {f"GC_{record}_{column}" for column in lists[record.lower()].offsets}
    return names


DEFINES = {name: defined(code) for name, code in CODE.items()}


def uses(name):
    """Files that define something whose name stands in a file."""
    words = set(re.findall(r"\w+", CODE[name]))
    return {other for other in CODE if other != name and (DEFINES[other] - DEFINES[name]) & words}


def brought(names):
    return set(sources.resolve(names, KNOWN))


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_used_is_needed(name):
    assert uses(name) <= brought(KNOWN[name])


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_needed_is_used_and_not_brought_by_another(name):
    for need in KNOWN[name]:
        assert need in uses(name), f"{name} uses nothing of {need}"
        others = [other for other in KNOWN[name] if other != need]
        assert need not in brought(others), f"{need} comes with what else {name} needs"


def test_only_a_launch_of_several_stages_needs_stages():
    """A stage file calls no other; those that a shared launch calls have no entry point of their own."""
    for name, needed in KNOWN.items():
        stages = [need for need in needed if need.endswith(".c")]
        assert name in ("narrow_phase/screen/screen.c", "narrow_phase/screen/screen_small.c") or not stages, (
            f"{name} needs {stages}"
        )
        assert not any(declarations.parse(CODE[stage]) for stage in stages)


def test_no_name_is_defined_twice():
    """Two files that one program joins must not define the same; none do at all."""
    seen = {}
    for name, names in DEFINES.items():
        for each in names - {"GC_SERIAL_GROUPS", "GC_DOUBLE_FN"}:
            assert each not in seen, f"{each}: {seen[each]} and {name}"
            seen[each] = name


def test_the_lint_sees():
    assert defined("#define GC_A 1\ntypedef int gc_b;\n} gc_c;\nGC_FN gc_real *gc_d(int x)") == {
        "GC_A", "gc_b", "gc_c", "gc_d",
    }  # fmt: skip
    assert uses("narrow_phase/solve/s07_solve.c") >= {
        "narrow_phase/solve/gc_solve_bodies.h",
        "narrow_phase/contact/gc_hits.h",
    }
