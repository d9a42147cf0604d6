"""The kernel text: the order of its files, and the programs they make."""

import re

import pytest

from gpu_collide.backends import declarations, sources

pytestmark = pytest.mark.smoke


def test_every_entry_point_is_found():
    text = declarations.strip_comments(sources.source())
    written = set(re.findall(r"GC_(?:CROWDED_)?KERNEL\s+void\s+(\w+)", text)) - {"gc_set_group"}
    assert written == set(declarations.parse(text))


def test_each_file_is_joined_once_behind_what_it_needs():
    names = re.findall(r'^#line 1 "(.*)"$', sources.source(), re.M)
    folder = sources.kernels_dir()
    there = {p.relative_to(folder).as_posix() for e in ("*.h", "*.c") for p in folder.rglob(e)}
    assert set(names) == there and len(names) == len(there)
    for place, name in enumerate(names):
        assert set(sources.needs((folder / name).read_text(encoding="utf-8"))) <= set(names[:place]), name


def test_needs_are_read_from_the_head_alone():
    head = "/* s01_a: does it.\n * needs: common/gc_a.h bvh/gc_b.h\n * needs: screw/gc_c.h\n */\n"
    assert sources.needs(head + "int x; /*\n * needs: x/y.h\n */") == (
        "common/gc_a.h", "bvh/gc_b.h", "screw/gc_c.h",
    )  # fmt: skip
    assert sources.needs("/* a\n * needs: nothing\n */") == ()
    assert sources.needs("/* a file without */\n") is None and sources.needs("int x;") is None


def test_needs_are_put_in_order():
    known = {"x/d.c": ("x/b.h", "x/c.h"), "x/c.h": ("x/a.h",), "x/b.h": ("x/a.h",), "x/a.h": ()}
    assert sources.resolve(["x/d.c"], known) == ["x/a.h", "x/b.h", "x/c.h", "x/d.c"]
    assert sources.resolve(["x/c.h", "x/d.c", "x/c.h"], known) == ["x/a.h", "x/c.h", "x/b.h", "x/d.c"]


@pytest.mark.parametrize(
    "known, message",
    [
        ({"x/a.h": ("x/b.h",)}, r"x/a\.h needs x/b\.h, which is no kernel file"),
        ({"x/b.h": ()}, r"^x/a\.h is no kernel file"),
        ({"x/a.h": ("x/b.h",), "x/b.h": None}, r"x/b\.h does not say what it needs.*needs: \.\.\."),
        (
            {"x/a.h": ("x/b.h",), "x/b.h": ("x/c.h",), "x/c.h": ("x/b.h",)},
            r"circle: x/b\.h needs x/c\.h needs x/b\.h",
        ),
        ({"x/a.h": ("x/a.h",)}, r"circle: x/a\.h needs x/a\.h"),
    ],
)
def test_needs_that_cannot_be_met_name_the_file(known, message):
    with pytest.raises(ValueError, match=message):
        sources.resolve(["x/a.h"], known)


def test_every_entry_point_is_in_one_program():
    by_program = [
        name for text in map(sources.program, sources.PROGRAMS) for name in declarations.parse(text)
    ]
    assert sorted(by_program) == sorted(declarations.parse(sources.source()))
    with pytest.raises(KeyError, match="no program named 'all'; there are bvh, near"):
        sources.program("all")


def test_find_pairs_does_not_pay_for_the_solver():
    joined = set(re.findall(r'^#line 1 "(.*)"$', sources.program("bvh"), re.M))
    assert {name.split("/")[0] for name in joined} == {"common", "broad_phase", "tree"}
    assert len(sources.program("bvh")) < len(sources.source()) / 4


def test_records_and_constants_of_the_kernels():
    assert sources.record("screw").stride == sources.constants()["GC_SCREW_STRIDE"]
    with pytest.raises(KeyError, match="no record named 'leaves'; there are mesh,"):
        sources.record("leaves")
    assert sources.constants("double")["GC_TOL_INSIDE"] == 1e-11
    assert "GC_TOL_INSIDE" not in sources.constants("double", "tree/gc_bvh.h")
    assert sources.constants("double", "tree/gc_bvh.h")["GC_BVH_PIECES"] > 0
