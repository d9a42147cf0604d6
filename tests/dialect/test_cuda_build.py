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
    "a call": r"\bcall(?:\.uni)?\s+(?:\([^)]*\)\s*,\s*)?(?!\(|\S*\d(?:gc_|s0\d_))\S+",
}


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


def matrix():
    """The test kernel everywhere; the programs once for each architecture and precision."""
    for arch in ARCHITECTURES:
        for precision in declarations.PRECISIONS:
            yield pytest.param(MACROS, precision, arch, id=f"every_macro-{precision}-{arch}")
            marks = () if (precision, arch) in EVERYDAY else pytest.mark.slow
            for name in sources.PROGRAMS:
                text = sources.program(name)
                yield pytest.param(text, precision, arch, id=f"{name}-{precision}-{arch}", marks=marks)


def kept_ptx(text, precision, arch):
    """Among the built kernels, under the name that the backend gives it: what depends on the text, the
    options and NVRTC alone is built once."""
    options = cuda._options(str(arch), precision, "ptx")
    name = f"{digest(text, ' '.join(options), 'ptx', nvrtc.version(12))}.ptx"
    build = functools.partial(cuda.compile_only, arch, precision, text=text, kind="ptx", major=12)
    return cached(name, build, bytes).decode()


@pytest.mark.parametrize("text, precision, arch", list(matrix()))
def test_ptx(text, precision, arch):
    ptx = kept_ptx(text, precision, arch)
    assert f".target sm_{arch}" in ptx
    for name in declarations.parse(text):
        assert f".entry {name}(" in ptx
    code = "\n".join(
        line for line in ptx.splitlines() if not line.lstrip().startswith(("//", ".loc", ".file"))
    )
    for what, pattern in FORBIDDEN.items():
        assert not re.search(pattern, code), f"{what}: {re.search('.*' + pattern + '.*', code).group()}"
    if precision == "single":
        assert not re.search(r"\.f64\b", code), "float64 in the single build"


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
