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


def test_each_file_is_joined_once_under_its_name():
    names = re.findall(r'^#line 1 "(.*)"$', sources.source(), re.M)
    assert names[0] == "common/gc_platform.h" and len(names) == len(set(names))
    headers = [n for n in names if n.endswith(".h")]
    assert names == headers + sorted(n for n in names if n.endswith(".c"))
    folder = sources.kernels_dir()
    there = {p.relative_to(folder).as_posix() for e in ("*.h", "*.c") for p in folder.rglob(e)}
    assert set(names) == there


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
