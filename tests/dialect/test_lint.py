"""Bans of the dialect that no compiler reports, as a source lint over kernels/ and the test kernel."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gpu_collide.backends import declarations, drivers, sources
from gpu_collide.backends.cache import cached, digest

HERE = Path(__file__).parent
FILES = [*sources.kernel_files(), HERE / "every_macro.c"]
PLATFORM = "gc_platform.h"
BANNED = {
    r"\bf(min|max)f?\s*\(": "fmin/fmax treat NaN differently; use GC_MIN, GC_MAX",
    r"\b(rsqrt|mad|mad24|fma)f?\s*\(": "not correctly rounded, or contracted",
    r"\b(native|half)_\w+\s*\(": "approximate",
    r"(?<!\w)(sin|cos|tan|asin|acos|atan|atan2|exp|log|pow|sincos|hypot)f?\s*\(": "bits differ; use gc_*",
    r"(?<!\w)(sqrt|fabs|floor|rint|ceil|round|trunc)f?\s*\(": "use GC_SQRT, GC_ABS, GC_FLOOR, GC_RINT",
    r"\b(float|double|int|gc_real|gc_raster)3\b": "3-vectors are 12 bytes in CUDA and 16 in OpenCL",
    r"\b(long|short|size_t|unsigned|bool|char)\b": "use int, gc_long, gc_uint, gc_uchar",
    r"\b(template|printf|goto|malloc|__shared__|__local|__global|__kernel)\b": "not in the dialect",
    # the compiler of another target knows them as types or qualifiers: `half` had been a vector's name
    r"\b(half|quad|uchar|ushort|uint|ulong|event_t|kernel|global|local|private|constant)\b": "OpenCL C's own",
    r"\b(class|new|delete|this|public|operator|namespace|virtual|typename|export)\b": "C++'s own",
    r"#\s*include\b": "the loader joins the files; caches do not see included ones",
}


def code_of(path):
    return declarations.strip_comments(path.read_text(encoding="utf-8"))


def places(path, code, pattern):
    return [
        f"{path.name}:{code.count(chr(10), 0, m.start()) + 1}: {m.group()}"
        for m in re.finditer(pattern, code)
    ]


@pytest.mark.parametrize("path", [f for f in FILES if f.name != PLATFORM], ids=lambda p: p.name)
def test_bans(path):
    code = code_of(path)
    found = [f"{place} ({why})" for pattern, why in BANNED.items() for place in places(path, code, pattern)]
    if path.suffix == ".c" and path.parent != HERE:
        found += places(path, code, r"#\s*(if|ifdef|ifndef|elif)\b[^\n]*")
    assert found == []


def loops_with_barrier(code):
    """Heads of for and plain while loops whose body holds a barrier; a bare body ends at its semicolon."""
    found = []
    for match in re.finditer(r"\b(for|while)\s*\(", code):
        end = close(code, match.end() - 1, "()")
        body = end + len(code[end:]) - len(code[end:].lstrip())
        if code[body : body + 1] == ";":
            continue  # the tail of a do-while
        stop = close(code, body, "{}") if code[body] == "{" else code.index(";", body)
        if "GC_BARRIER" in code[body:stop]:
            found.append(f"line {code.count(chr(10), 0, match.start()) + 1}: {match.group()}")
    return found


def close(code, start, pair):
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] == pair[0]) - (code[i] == pair[1])
        if depth == 0:
            return i + 1
    raise AssertionError("unbalanced brackets")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_barriers_stand_in_do_while_only(path):
    """PoCL's compile time explodes with barriers in for loops: 0.45 s, 8 s, a minute for one, two, three."""
    assert loops_with_barrier(code_of(path)) == []


def test_the_loop_lint_sees():
    bad = "for (int i = 0; i < n; ++i) { if (x) { GC_BARRIER(); } }\nwhile (n) { GC_BARRIER(); }"
    assert len(loops_with_barrier(bad)) == 2
    assert loops_with_barrier("do { for (;;) { a(); } GC_BARRIER(); } while (f(x));") == []


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc's preprocessor")
def test_single_has_no_double():
    """Neither the type nor a literal without the suffix f: a device without float64 must not see either."""
    text = sources.join(FILES)
    done = subprocess.run(
        ["gcc", "-E", "-P", "-x", "c", "-DGC_PRECISION=2", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not re.search(r"\bdouble\b", done.stdout)
    literals = re.findall(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?(?![\w.])", done.stdout)
    assert literals == []


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize(
    "precision, how",
    [
        ("mixed", "-O1"),  # what is seen on the way through the code does not depend on how wide a number is
        ("double", "-fsyntax-only"),
        ("single", "-fsyntax-only"),
        pytest.param("double", "-O1", marks=pytest.mark.slow),
        pytest.param("single", "-O1", marks=pytest.mark.slow),
    ],
)
def test_no_warnings(precision, how, tmp_path):
    text = sources.join(FILES)
    text += drivers.c_entry_points(declarations.parse(text))
    command = [
        "gcc",
        "-std=c11",
        how,
        "-Wall",
        "-Wextra",
        "-Wvla",
        "-Wno-unknown-pragmas",
        "-Wno-unused-function",
    ]
    command += ["-Werror", "-ffp-contract=off", f"-DGC_PRECISION={declarations.PRECISIONS[precision]}"]

    def clean():
        done = subprocess.run(
            [*command, "-x", "c", "-c", "-o", str(tmp_path / "k.o"), "-"],
            input=text,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return b"no warnings"

    # what a compiler said of a text it says again: only the good word is kept, among the built kernels
    version = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout
    cached(f"{digest(text, ' '.join(command), version)}.lint", clean, bytes)
