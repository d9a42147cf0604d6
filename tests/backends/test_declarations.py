"""What is read from a kernel text: entry points, records, constants."""

import pytest

from gpu_collide.backends import declarations

pytestmark = pytest.mark.smoke


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
    parsed = declarations.parse(text)
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
    raster = declarations.Arg("r", "gc_raster", True, True)
    assert [raster.dtype(p).str[1:] for p in ("mixed", "double", "single")] == ["f4", "f8", "f4"]


def test_arguments_listed_once():
    text = """
    #define GC_FIELD_ARGS int width, /* cells */ \\
        GC_GLOBAL const gc_real *cells_in /* (width,) */
    GC_KERNEL void a(int n, GC_FIELD_ARGS, GC_GLOBAL int *x_out) { }
    GC_KERNEL void b(GC_FIELD_ARGS) { }
    """.replace("    #", "#")
    parsed = declarations.parse(text)
    assert [a.name for a in parsed["a"].args] == ["n", "width", "cells_in", "x_out"]
    assert parsed["b"].args == parsed["a"].args[1:3] and parsed["b"].args[1].const
    with pytest.raises(ValueError, match="kernel c: cannot read argument 'GC_OTHER_ARGS'"):
        declarations.parse(text + "GC_KERNEL void c(GC_OTHER_ARGS) { }")
    with pytest.raises(ValueError, match="kernel d has two arguments of one name"):
        declarations.parse(text + "GC_KERNEL void d(int width, GC_FIELD_ARGS) { }")


@pytest.mark.parametrize(
    "bad", ["size_t n", "int *x", "GC_GLOBAL int x", "GC_GLOBAL int **x", "GC_GLOBAL float4 *x"]
)
def test_parse_refuses_what_it_cannot_pass(bad):
    with pytest.raises(ValueError, match="kernel s01_a"):
        declarations.parse(f"GC_KERNEL void s01_a({bad}) {{ }}")


def test_parse_refuses_a_name_twice():
    with pytest.raises(ValueError, match="defined twice"):
        declarations.parse("GC_KERNEL void a(int n) {}\nGC_KERNEL void a(int n) {}")


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
    box, leaf = declarations.records(LISTS).values()
    assert (leaf.name, leaf.stride, list(leaf.offsets)) == ("leaf", 8, ["radius", "low", "high"])
    assert (leaf["radius"], leaf["high"], box["high"]) == (0, slice(4, 7), slice(3, 6))
    with pytest.raises(KeyError, match="record leaf has no column 'size'; it has radius, low, high"):
        leaf["size"]


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("STRIDE 6", "STRIDE 5", "GC_BOX_STRIDE of at least 6, got 5"),
        ("ONE(X, radius)", "ONE(X, low)", "GC_LEAF must name each column once"),
        ("ONE(X, radius)", "ONE(X)", "GC_LEAF_COLUMNS.* must list"),
        ("    GC_BOX_COLUMNS", "    GC_BALL_COLUMNS", "GC_BALL_COLUMNS.* got 'no such list'"),
        ("#define GC_LEAF_STRIDE 8", "", "GC_LEAF_STRIDE of at least 7, got none"),
        ("GC_RECORD(GC_LEAF)", "GC_RECORD(GC_BOX)", "GC_BOX is declared twice"),
    ],
)
def test_records_that_cannot_be_read_are_refused(old, new, message):
    with pytest.raises(ValueError, match=message):
        declarations.records(LISTS.replace(old, new))


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
    assert declarations.constants(text, "mixed") == {"GC_COUNT": 7, "GC_TOL": 1e-11, "GC_HALF": 0.5}
    assert declarations.constants(text, "single")["GC_TOL"] == 1e-5
    assert isinstance(declarations.constants(text, "mixed")["GC_COUNT"], int)


def test_a_condition_that_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="condition 'GC_OTHER == 1' must compare GC_PRECISION"):
        declarations.constants("#if GC_OTHER == 1\n#endif\n", "mixed")
