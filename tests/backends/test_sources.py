"""Reading the kernel text: signatures, constants, the order of the files."""

import re

import pytest

from gpu_collide.backends import sources


def test_parse_reads_what_is_written():
    text = """
    /* GC_KERNEL void commented(int n) { } */
    GC_KERNEL void declared(int n);
    GC_KERNEL void s01_a(int n, gc_long m,   // two, counts
                         GC_GLOBAL const gc_real *GC_RESTRICT x_in,  /* (n, 3) */
                         GC_GLOBAL gc_uchar *flags_out)
    {
    }
    """
    parsed = sources.parse(text)
    assert list(parsed) == ["s01_a"]
    args = [(a.name, a.ctype, a.pointer, a.const) for a in parsed["s01_a"].args]
    assert args == [
        ("n", "int", False, False),
        ("m", "gc_long", False, False),
        ("x_in", "gc_real", True, True),
        ("flags_out", "gc_uchar", True, False),
    ]
    x = parsed["s01_a"].args[2]
    assert [x.dtype(p).str[1:] for p in ("mixed", "double", "single")] == ["f8", "f8", "f4"]
    raster = sources.Arg("r", "gc_raster", True, True)
    assert [raster.dtype(p).str[1:] for p in ("mixed", "double", "single")] == ["f4", "f8", "f4"]


@pytest.mark.parametrize(
    "bad", ["size_t n", "int *x", "GC_GLOBAL int x", "GC_GLOBAL int **x", "GC_GLOBAL float4 *x"]
)
def test_parse_refuses_what_it_cannot_pass(bad):
    with pytest.raises(ValueError, match="kernel s01_a"):
        sources.parse(f"GC_KERNEL void s01_a({bad}) {{ }}")


def test_parse_refuses_a_name_twice():
    with pytest.raises(ValueError, match="defined twice"):
        sources.parse("GC_KERNEL void a(int n) {}\nGC_KERNEL void a(int n) {}")


def test_every_entry_point_is_found():
    text = sources.strip_comments(sources.source())
    written = set(re.findall(r"GC_KERNEL\s+void\s+(\w+)", text)) - {"gc_set_group"}
    assert written == set(sources.parse(text))


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
    by_program = [name for text in map(sources.program, sources.PROGRAMS) for name in sources.parse(text)]
    assert sorted(by_program) == sorted(sources.parse(sources.source()))
    with pytest.raises(KeyError, match="no program named 'all'; there are bvh, near"):
        sources.program("all")


def test_find_pairs_does_not_pay_for_the_solver():
    joined = set(re.findall(r'^#line 1 "(.*)"$', sources.program("bvh"), re.M))
    assert {name.split("/")[0] for name in joined} == {"common", "bvh"}
    assert len(sources.program("bvh")) < len(sources.source()) / 4


LISTS = """
#define GC_BOX_STRIDE 6
#define GC_BOX_COLUMNS(ONE, MANY, X) MANY(X, low, 3) MANY(X, high, 3)
GC_RECORD(GC_BOX)
#define GC_LEAF_STRIDE 8
#define GC_LEAF_COLUMNS(ONE, MANY, X) \\
    ONE(X, radius) /* of the ball */ \\
    GC_BOX_COLUMNS(ONE, MANY, X)
GC_RECORD(GC_LEAF)
"""


def test_records():
    box, leaf = sources.records(LISTS).values()
    assert (leaf.name, leaf.stride, list(leaf.offsets)) == ("leaf", 8, ["radius", "low", "high"])
    assert (leaf["radius"], leaf["high"], box["high"]) == (0, slice(4, 7), slice(3, 6))
    with pytest.raises(KeyError, match="record leaf has no column 'size'; it has radius, low, high"):
        leaf["size"]
    with pytest.raises(KeyError, match="no record named 'leaves'; there are mesh,"):
        sources.record("leaves")


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("STRIDE 6", "STRIDE 5", "GC_BOX_STRIDE of at least 6, got 5"),
        ("ONE(X, radius)", "ONE(X, low)", "GC_LEAF must name each column once"),
        ("ONE(X, radius)", "ONE(X)", "GC_LEAF_COLUMNS.* must list"),
        ("    GC_BOX_COLUMNS", "    GC_BALL_COLUMNS", "GC_BALL_COLUMNS.* got 'no such list'"),
        ("#define GC_LEAF_STRIDE 8", "", "GC_LEAF_STRIDE of at least 7, got none"),
    ],
)
def test_records_that_cannot_be_read_are_refused(old, new, message):
    with pytest.raises(ValueError, match=message):
        sources.records(LISTS.replace(old, new))


def test_constants():
    text = """
    #ifndef GUARD
    #define GUARD
    #define GC_COUNT 7  /* items */
    #if GC_PRECISION != 2
    #define GC_TOL GC_R(1e-11)
    #else
    #define GC_TOL GC_R(1e-5)
    #endif
    #define GC_HALF (0.5f)
    #define GC_SUM (GC_COUNT + 1)
    #endif
    """
    assert sources.constants("mixed", text) == {"GC_COUNT": 7, "GC_TOL": 1e-11, "GC_HALF": 0.5}
    assert sources.constants("single", text)["GC_TOL"] == 1e-5
    assert isinstance(sources.constants("mixed", text)["GC_COUNT"], int)
    assert sources.constants("double")["GC_TOL_INSIDE"] == 1e-11
