"""Counts of warps, on kernels whose counts are known by heart; what a cubin says of registers and stack."""

import numpy as np
import pytest

from gpu_collide.backends import cuda, sources
from tests.ptx import cubin
from tests.ptx.conftest import PLATFORM
from tests.ptx.counting import counting
from tests.ptx.weights import costs

N32 = np.zeros(32, np.int32)


@pytest.fixture
def count(run):
    """``count(body, *arguments)`` plays one group of 32 and returns, of divisions and writes, how often the
    warp executed each, the same of its busiest lane and of all lanes; and the kernel's totals."""

    def play(body, *arguments, size=32, head=""):
        text = f"{head}GC_KERNEL void k(GC_GLOBAL int *a, GC_GLOBAL int *b)\n{{\n{body}\n}}\n"
        with counting() as counted:
            run(text, 1, size, *arguments)
        lines = {}
        blocks, counts = counted.blocks["k"]
        for block, row in zip(blocks, counts.tolist(), strict=True):
            for s in block.instructions:
                if s.op.startswith(("div.", "rem.", "st.global")):
                    lines.setdefault(s.op.split(".")[0], []).append((row[0], row[2], row[1]))
        return lines, counted.totals("k")

    return play


def test_lanes_that_are_together_count_once(count):
    lines, totals = count("    a[GC_LOCAL_ID] = GC_LOCAL_ID / b[GC_LOCAL_ID];", N32, N32 + 3)
    assert lines["div"] == [(1, 1, 32)] and totals["use"] == 1.0
    assert totals["instructions"] == totals["least"]
    assert totals["instructions"] >= totals["executed"] + costs("div.s32")["instructions"] - 1


def test_a_branch_that_one_lane_takes_in_each_round_is_executed_in_each(count):
    """The busiest lane divides once; the warp 32 times, with one lane at work."""
    lines, _ = count(
        "    int i, x = 7;\n#pragma unroll 1\n    for (i = 0; i < 32; ++i)\n"
        "        if (b[i] == GC_LOCAL_ID) x = x / b[32 + i];\n    a[GC_LOCAL_ID] = x;",
        N32,
        np.concatenate([np.arange(32), np.arange(1, 33)]).astype(np.int32),
    )
    assert lines["div"] == [(32, 1, 32)]
    assert lines["st"] == [(1, 1, 32)]  # all are together again


def test_lanes_that_stay_longer_in_a_loop_keep_the_warp_in_it(count):
    lines, totals = count(
        "    int i, x = 1000;\n#pragma unroll 1\n    for (i = 0; i <= GC_LOCAL_ID; ++i) x = x / b[i];\n"
        "    a[GC_LOCAL_ID] = x;",
        N32,
        N32 + 2,
    )
    assert lines["div"] == [(32, 32, 32 * 33 / 2)]
    assert lines["st"] == [(1, 1, 32)] and 0.5 < totals["use"] < 0.7


def test_a_function_is_run_once_for_the_lanes_that_call_it_together(count):
    head = """GC_LARGE int part(GC_GLOBAL const int *b, int x)
{
    if (x & 1) return x / b[0];
    return x % b[1];
}
"""
    lines, _ = count(
        "    int x = 40;\n    if (GC_LOCAL_ID < 8) x = part(b, GC_LOCAL_ID);\n    a[GC_LOCAL_ID] = x;",
        N32,
        N32 + 3,
        head=head,
    )
    assert lines["div"] == lines["rem"] == [(1, 1, 4)] and lines["st"] == [(1, 1, 32)]


def test_two_warps_count_twice_and_half_a_warp_once(count):
    body = "    a[GC_LOCAL_ID] = GC_LOCAL_ID / b[GC_LOCAL_ID];"
    assert count(body, np.repeat(N32, 2), np.repeat(N32, 2) + 1, size=64)[0]["div"] == [(2, 2, 64)]
    assert count(body, N32, N32 + 1, size=16)[0]["div"] == [(1, 1, 16)]


@pytest.mark.parametrize(
    "place, sectors", [("GC_LOCAL_ID", 4), ("8 * GC_LOCAL_ID", 32), ("0", 1), ("GC_LOCAL_ID + 1", 5)]
)
def test_bytes_and_sectors(count, place, sectors):
    _, totals = count(f"    a[GC_LOCAL_ID] = b[{place}];", N32, np.ones(256, np.int32))
    assert totals["global_bytes"] == 2 * 32 * 4 and totals["sectors"] == 4 + sectors


def test_local_and_shared_memory(count):
    _, totals = count(
        "    int own[16], i;\n    __shared__ int row[32];\n"
        "    for (i = 0; i < 16; ++i) own[(i + b[0]) & 15] = i;\n"
        "    row[GC_LOCAL_ID] = own[b[GC_LOCAL_ID] & 15];\n    GC_BARRIER();\n"
        "    a[GC_LOCAL_ID] = row[GC_LOCAL_ID ^ 1];",
        N32,
        N32 + 1,
    )
    assert totals["local_bytes"] == 32 * 17 * 4 and totals["shared_bytes"] == 2 * 32 * 4


def test_nothing_is_counted_outside(run):
    from tests.ptx import device

    run("GC_KERNEL void k(GC_GLOBAL int *a)\n{\n    a[GC_LOCAL_ID] = 1;\n}\n", 1, 32, N32)
    assert device.counted is None


# -- machine code --------------------------------------------------------------------------------------------
def made(text):
    head = sources.join([PLATFORM], sources.kernels_dir())
    return cuda.compile_only(90, "mixed", text=head + text, major=12)


def test_registers_stack_and_shared_memory_of_a_cubin(possible):
    text = """GC_KERNEL void small(GC_GLOBAL int *a)
{
    a[GC_LOCAL_ID] = 1;
}
GC_KERNEL void large(GC_GLOBAL int *a, int n)
{
    __shared__ int row[32];
    int own[100], i;
    for (i = 0; i < 100; ++i) own[(i * n) % 100] = a[i];
    row[GC_LOCAL_ID] = own[n];
    GC_BARRIER();
    a[GC_LOCAL_ID] = row[GC_LOCAL_ID ^ 1];
}
"""
    needs = cubin.needs(made(text))
    assert set(needs) == {"small", "large"}
    assert needs["small"].stack == needs["small"].shared == 0 and 0 < needs["small"].registers <= 16
    assert 400 <= needs["large"].stack <= 416 and needs["large"].shared == 1024 + 128


@pytest.mark.parametrize(
    "registers, group, shared, share",
    [(32, 64, 0, 1.0), (32, 32, 0, 0.5), (80, 64, 0, 0.375), (128, 64, 0, 0.25), (255, 64, 0, 0.125),
     (128, 256, 0, 0.25), (16, 64, 100 << 10, 0.0625)],
)  # fmt: skip
def test_occupancy(registers, group, shared, share):
    assert cubin.occupancy(registers, group, shared) == share
