"""The OpenCL text in Oclgrind's simulator in groups of 8 and 64, and that it finds what is wrong."""

import pytest

from tests.dialect import oclgrind

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        oclgrind.found() is None, reason="needs oclgrind (Debian/Ubuntu: apt install oclgrind)"
    ),
]

PLAY = """
import sys
from tests.dialect import oclgrind
oclgrind.prepare(8)
from gpu_collide.backends import opencl, sources
backend = opencl.OpenclBackend()
text = sources.joined("common/gc_platform.h") + '''
#line 1 "test/t.c"
GC_KERNEL void s00_play(int n, GC_GLOBAL int *a, GC_GLOBAL int *out)
{
    int i = GC_LOCAL_ID;
    BODY
}
'''.replace("BODY", sys.argv[1])
kernel = backend.compile(text, "mixed")["s00_play"]
a, out = backend.zeros(8, "i4"), backend.empty(8, "i4")
backend.launch(kernel, 1, n=8, a=a, out=out)
backend.synchronize()
print(backend.device, backend.group_size)
"""
SHIFT = "a[i] = i; GC_BARRIER(); out[i] = a[(i + 1) % n];"


def play(body):
    code, text, report = oclgrind.simulated(["-c", PLAY, body], 8, 300)
    assert code == 0 and "Oclgrind Simulator 8" in text, text
    return report


@pytest.mark.parametrize(
    "body, said",
    [
        (SHIFT, ""),
        (SHIFT.replace(" GC_BARRIER();", ""), "data race"),
        ("out[0] = n;", "data race"),
        ("out[i] = a[i + 1];", "Invalid read"),
        ("out[i + 1] = i;", "Invalid write"),
        ("if (out[i] > 3) a[i] = 1;", "Controlflow depends on uninitialized value"),
        ("if (i < 4) { GC_BARRIER(); } out[i] = i;", "divergence"),
    ],
    ids=["right", "no barrier", "one place", "read outside", "write outside", "never written", "divergent"],
)
def test_what_is_wrong_is_found(body, said):
    report = play(body)
    assert said in report and bool(report) == bool(said), report
    if said:
        assert "s00_play" in report and "test/t.c" in report


@pytest.mark.parametrize("size", oclgrind.SIZES)
def test_a_sample_of_all_stages(size, capfd):
    assert oclgrind.main(["--size", str(size), "--pairs", "2"]) == 0, capfd.readouterr().out
