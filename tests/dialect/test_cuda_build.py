"""The CUDA build without a GPU: NVRTC compiles the kernels for each architecture, the PTX is inspected."""

import functools
import re
from pathlib import Path

import pytest

from gpu_collide.backends import cuda, declarations, nvrtc, sources
from gpu_collide.backends.cache import cached, digest
from gpu_collide.errors import BackendUnavailableError, KernelCompileError

HERE = Path(__file__).parent
MACROS = sources.joined("common/gc_cells.h") + sources.join([HERE / "every_macro.c"])
ARCHITECTURES = (70, 80, 90, 100)
FORBIDDEN = {
    "contraction": r"\bfma\.\w+\.f(32|64)|\bfma\.rn\.f",
    "flushed denormals": r"\.ftz\b",
    "approximation": r"\.approx\b",
    # of something that is not ours: a mathematical function of the library, whose bits are its own
    "a call": r"\bcall(?:\.uni)?\s+(?:\([^)]*\)\s*,\s*)?(?!\(|\S*\d(?:gc_|[a-z]\d\d_))\S+",
}
# Functions of the library that are one instruction each once they are inlined; in haste they are called.
INSTRUCTIONS = (
    r"(__nv_)?(fabs|floor|rint)f?|__(nv_)?[fd]sqrt_rn|_Z\d+atomic(Add|Max|Min|Or|CAS|Exch)P\w+"
    r"|__[iu]Atomic(Add|Max|Min|Or|CAS|Exch)|__(nv_)?(clz|popc|ffs)|__(nv_)?(float|double)2(int|ll)_rz"
)


@pytest.fixture(scope="module", autouse=True)
def known_architectures():
    try:
        known = nvrtc.supported(12)
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    missing = set(ARCHITECTURES) - set(known)
    if missing:
        pytest.skip(f"NVRTC {nvrtc.version(12)} does not know {sorted(missing)}")


EVERYDAY = {("single", 70), ("double", 80), ("mixed", 90)}  # each precision; all macros on each architecture
LINES = "--generate-line-info"  # no other code: with it tests/ptx has the same builds
HASTY = "--Ofast-compile=max"  # hardly optimised, in a tenth of the time: what the text asks for is all there


def matrix():
    """The test kernel everywhere; the programs for each architecture and precision as they are built for
    use; every day so in `mixed`, and in haste in the others."""
    for arch in ARCHITECTURES:
        for precision in declarations.PRECISIONS:
            yield pytest.param(MACROS, precision, arch, (), id=f"every_macro-{precision}-{arch}")
            shared = (precision, arch) == ("mixed", 90)
            marks, more = ((), (LINES,)) if shared else (pytest.mark.slow, ())
            for name in sources.PROGRAMS:
                text, label = sources.program(name), f"{name}-{precision}-{arch}"
                yield pytest.param(text, precision, arch, more, id=label, marks=marks)
                if (precision, arch) in EVERYDAY and marks:
                    yield pytest.param(text, precision, arch, (HASTY,), id=f"{label}-hasty")


def kept_ptx(text, precision, arch, more=()):
    """Among the built kernels, under the name that the backend gives it: what depends on the text, the
    options and NVRTC alone is built once."""
    options = [*cuda._options(str(arch), precision, "ptx"), *more]
    name = f"{digest(text, ' '.join(options), 'ptx', nvrtc.version(12))}.ptx"
    return cached(name, functools.partial(nvrtc.build, text, options, "ptx", 12), bytes).decode()


@pytest.mark.parametrize("text, precision, arch, more", list(matrix()))
def test_ptx(text, precision, arch, more):
    ptx = kept_ptx(text, precision, arch, more)
    assert f".target sm_{arch}" in ptx
    for name in declarations.parse(text):
        assert f".entry {name}(" in ptx
    assert not forbidden(ptx, precision, HASTY in more)


def forbidden(ptx, precision, hasty=False):
    """What must not be in a build, and where it is."""
    code = "\n".join(
        line for line in ptx.splitlines() if not line.lstrip().startswith(("//", ".loc", ".file"))
    )
    if hasty:
        code = re.sub(rf"\bcall(\.uni)?\s+(\([^)]*\)\s*,\s*)?({INSTRUCTIONS})\s*,", "", code)
    patterns = {**FORBIDDEN, **({"float64 in the single build": r"\.f64\b"} if precision == "single" else {})}
    found = ((what, re.search(pattern, code)) for what, pattern in patterns.items())
    return [f"{what}: {code[place.start() : place.end() + 60]}" for what, place in found if place]


BAD = (
    "sinf(x)",
    "__sinf(x)",
    "rsqrtf(x)",
    "__fdividef(x, 3.0f)",
    "fmaf(x, x, x)",
    "__fmaf_rn(x, x, x)",
    "x * 0.1",
)
GOOD = ("GC_SQRT(GC_ABS(GC_FLOOR(x) + GC_RINT(x)))", "x / (x * x + 0.1f)")


@pytest.mark.parametrize("more", [(), (HASTY,)], ids=["usual", "hasty"])
@pytest.mark.parametrize("line", BAD + GOOD)
def test_what_is_forbidden_is_seen(line, more):
    """Neither inlining nor its absence hides it, and what is allowed is let through."""
    text = sources.joined("common/gc_platform.h")
    text += f"GC_KERNEL void s00_one(GC_GLOBAL float *out) {{ float x = out[0]; out[1] = {line}; }}"
    found = forbidden(kept_ptx(text, "single", 70, more), "single", HASTY in more)
    assert bool(found) == (line in BAD), found


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", sources.PROGRAMS)
def test_cubin_of_the_kernels(name, arch):
    assert cuda.compile_only(arch, "mixed", text=sources.program(name), major=12).startswith(b"\x7fELF")


def test_cubin():
    assert cuda.compile_only("sm_90", "mixed", text=MACROS, major=12).startswith(b"\x7fELF")


def test_the_inspection_knows_our_calls_from_others():
    ours = "call.uni (retval0), \n_ZN41_INTERNAL_00_10_kernels_cu_4f59a9b611gc_extremumEPK8gc_curvedd, \n("
    others = "call.uni (retval0), \n__internal_trig_reduction_slowpathd, \n("
    assert not re.search(FORBIDDEN["a call"], ours)
    assert re.search(FORBIDDEN["a call"], others)


def test_error_names_file_and_line():
    broken = MACROS + '#line 7 "screw/s99_broken.c"\nint oops = ;\n'
    with pytest.raises(KernelCompileError, match=r"screw/s99_broken\.c\(7\)"):
        cuda.compile_only(90, text=broken, major=12)


def test_the_inspection_would_find_it():
    """The same text built with contraction on must fail the inspection, or the inspection is blind."""
    options = [o for o in cuda._options("90", "mixed", "ptx") if "fmad" not in o]
    ptx = nvrtc.build(MACROS, options, "ptx", 12).decode()
    assert re.search(FORBIDDEN["contraction"], ptx)
