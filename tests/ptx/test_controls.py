"""Faults put into the kernels are found: a barrier taken out, a fused multiply-add let in, an index off by
one.

Each stage is built alone, from the headers and its own file, so that this takes seconds.
"""

import re

import numpy as np
import pytest

from gpu_collide.backends import cuda, nvrtc, sources
from tests.ptx import build, device
from tests.ptx.device import Failure
from tests.ptx.parse import PtxError, parse
from tests.ptx.translate import translate

KERNELS = sources.kernels_dir()


def text_of(stage, more=""):
    """The kernel text of one stage and what it needs."""
    return sources.joined(stage) + more


def changed(text, old, new, file):
    """`text` changed in a file; the lines stay where they are."""
    begin = text.index(f'#line 1 "{file}"')
    head, rest = text[:begin], text[begin:]
    assert re.search(old, rest), f"{file} has no {old} any more: choose another place"
    return head + re.sub(old, new, rest)


SORT = """
GC_KERNEL void k(int n_rows, int branches, int n_records, GC_GLOBAL int *row_lo, GC_GLOBAL int *row_hi,
                 GC_GLOBAL int *start, GC_GLOBAL gc_raster *ranges, GC_GLOBAL int *row_start_out,
                 GC_GLOBAL int *order_out, GC_GLOBAL gc_raster *sorted_out)
{
    gc_rows rows;
    gc_records o;
    rows.base = GC_F(0.0);
    rows.height = GC_F(1.0);
    rows.n = n_rows;
    o.h0 = ranges;
    o.h1 = ranges + n_records;
    o.l0 = ranges + 2 * n_records;
    o.l1 = ranges + 3 * n_records;
    o.branch = row_lo;
    o.row_lo = row_lo;
    o.row_hi = row_hi;
    o.start = start;
    o.row_start = row_start_out;
    o.order = order_out;
    o.sh0 = sorted_out;
    o.sh1 = sorted_out + n_records;
    o.sl0 = sorted_out + 2 * n_records;
    o.sl1 = sorted_out + 3 * n_records;
    o.n = n_records;
    s04_sort(&rows, &o, branches);
}
"""


def sort(run, text, size):
    """s04_sort of 100 records, one a branch, in 7 rows."""
    n, rows = 100, 7
    row, zeros = (np.arange(n) * 5 % rows).astype(np.int32), np.zeros
    h0 = np.random.default_rng(1).uniform(size=(4, n)).astype(np.float32)
    got = run(
        text, 1, size, np.int32(rows), np.int32(n), np.int32(n), row, row, np.arange(n, dtype=np.int32), h0,
        zeros(rows + 1, np.int32), zeros(n, np.int32), zeros(4 * n, np.float32), whole=True,
    )  # fmt: skip
    return row, h0, got[5]


@pytest.mark.parametrize("size", [32, 64])
def test_s04_as_it_is(run, size):
    row, h0, order = sort(run, text_of("narrow_phase/rows/s04_sort.c", more=SORT), size)
    assert order.tolist() == np.lexsort((h0[0], row)).tolist()


def test_a_barrier_taken_out(run):
    text = text_of("narrow_phase/rows/s04_sort.c", more=SORT)
    barriers = text[text.index('#line 1 "narrow_phase/rows/s04_sort.c"') :].count("    GC_BARRIER();")
    assert barriers == 6
    for n in range(barriers - 1):  # the last one is for whoever comes next
        parts = text.split('#line 1 "narrow_phase/rows/s04_sort.c"')
        pieces = parts[1].split("    GC_BARRIER();")
        pieces[n : n + 2] = ["".join(pieces[n : n + 2])]
        without = parts[0] + '#line 1 "narrow_phase/rows/s04_sort.c"' + "    GC_BARRIER();".join(pieces)
        with pytest.raises(Failure, match=r"kernel k, narrow_phase/rows/s04_sort\.c:\d+.*: data race"):
            sort(run, without, 64)


def ptx_of(text, fmad):
    """PTX of a text with contraction on or off."""
    flags = [f for f in cuda.FLAGS if not f.startswith("--fmad")]
    flags += ["--gpu-architecture=compute_90", "-DGC_PRECISION=0", f"--fmad={fmad}"]
    return nvrtc.build(text, flags, "ptx", 12)


def test_a_fused_multiply_add_let_in(cupy):
    text = text_of("narrow_phase/frame/s01_screw.c")
    translate(parse(ptx_of(text, "false").decode()), "s01_screw")
    opcode = r"kernel s01_screw: .*[ch]:\d+.*not known in (fma\.rn|mul|add|sub)\.f64"
    with pytest.raises(PtxError, match=opcode):
        translate(parse(ptx_of(text, "true").decode()), "s01_screw")


def test_a_fused_multiply_add_changes_bits(cupy):
    """That results are compared bit by bit would find it too, if the opcode were let through."""
    text = """GC_KERNEL void k(GC_GLOBAL const gc_real *a, GC_GLOBAL const gc_real *b, GC_GLOBAL gc_real *out)
{
    int i = GC_LOCAL_ID;
    out[i] = DIFFERENCE;
}
"""
    text = sources.join([KERNELS / "common" / "gc_platform.h"], KERNELS) + text
    a, b = np.random.default_rng(2).uniform(1, 2, (2, 64))
    bits = []
    for how in ("a[i] * b[i] - a[i]", "fma(a[i], b[i], -a[i])"):
        arrays = [cupy.array(a), cupy.array(b), cupy.zeros(64)]
        library = build.library(ptx_of(text.replace("DIFFERENCE", how), "false"), "k", fused=True)
        addresses = [np.array([x.data.ptr], np.uint64) for x in arrays]
        device.device().launch(library, "k", 1, 64, addresses)
        bits.append(arrays[2].get())
    assert np.array_equal(bits[0], a * b - a) and not np.array_equal(bits[0], bits[1])


def test_an_index_off_by_one(on_ptx):
    """f01_spheres writes its answers one place further."""
    text, n = text_of("filters/f01_spheres.c"), 40
    sizes = {
        "todo_in": n,
        "screw_in": n * sources.constants()["GC_SCREW_STRIDE"],
        "state_in": n,
        "keep_out": n,
    }

    def launch(text):
        kernel = on_ptx.compile(text)["f01_spheres"]
        given = {a.name: on_ptx.zeros(sizes[a.name], a.dtype) for a in kernel.args if a.pointer}
        on_ptx.launch_items(kernel, n, n_todo=n, **given)

    launch(text)
    wrong = changed(text, r"keep_out\[i\] =", "keep_out[i + 1] =", "filters/f01_spheres.c")
    where = (
        r"kernel f01_spheres, filters/f01_spheres\.c:\d+: access outside every buffer.*byte 40 of argument 4"
    )
    with pytest.raises(Failure, match=where):
        launch(wrong)
