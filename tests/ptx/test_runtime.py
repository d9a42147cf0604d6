"""What the runtime of translated PTX takes for a failure, each with kernel and source line, and what it does
not."""

import numpy as np
import pytest

from tests.ptx.device import Failure

N32 = np.zeros(32, np.int32)

TURN = """GC_KERNEL void k(int n, GC_GLOBAL int *row, GC_GLOBAL int *out)
{
    int i = GC_LOCAL_ID;
    if (i < n) row[i] = 3 * i;
    GC_BARRIER();
    if (i < n) out[i] = row[n - 1 - i];
}
"""


@pytest.mark.parametrize("size", [32, 64, 256])
def test_work_items_that_meet_at_a_barrier(run, size):
    row = np.zeros(size, np.int32)
    got = run(TURN, 1, size, np.int32(size), row, row)
    assert got[1].tolist() == (3 * np.arange(size)[::-1]).tolist()


def test_a_barrier_taken_out_is_a_race(run):
    text = TURN.replace("    GC_BARRIER();\n", "\n")
    with pytest.raises(Failure, match=r"kernel k, test/t\.c:(4|6): data race.*at test/t\.c:(4|6)") as raised:
        run(text, 1, 32, np.int32(32), N32, N32)
    assert "byte" in str(raised.value) and "of argument 1, which has 128" in str(raised.value)


def test_the_order_of_work_items_is_drawn_anew(run):
    text = """GC_KERNEL void k(GC_GLOBAL int *next, GC_GLOBAL int *out)
{
    out[GC_ATOMIC_ADD(next, 1)] = GC_LOCAL_ID;
    GC_BARRIER();
    out[32 + GC_ATOMIC_ADD(next + 1, 1)] = GC_LOCAL_ID;
}
"""
    order = run(text, 1, 32, np.zeros(2, np.int32), np.zeros(64, np.int32))[1].reshape(2, 32)
    again = run(text, 1, 32, np.zeros(2, np.int32), np.zeros(64, np.int32))[1].reshape(2, 32)
    assert np.array_equal(np.sort(order, axis=1), [range(32)] * 2)
    assert len({tuple(x) for x in (*order, *again)}) == 4


def test_different_barriers(run):
    text = """GC_KERNEL void k(GC_GLOBAL int *a)
{
    if (GC_LOCAL_ID & 1) {
        a[GC_LOCAL_ID] = 1;
        GC_BARRIER();
    } else {
        a[GC_LOCAL_ID] = 2;
        GC_BARRIER();
    }
    a[GC_LOCAL_ID] += 1;
}
"""
    with pytest.raises(Failure, match=r"kernel k, test/t\.c:[58]: work-items wait at different barriers"):
        run(text, 1, 32, N32)


def test_an_early_exit(run):
    text = """GC_KERNEL void k(GC_GLOBAL int *a)
{
    if (GC_LOCAL_ID == 7) return;
    GC_BARRIER();
    a[GC_LOCAL_ID] = 1;
}
"""
    with pytest.raises(Failure, match=r"t\.c:4: a work-item has ended while others wait.*is work-item 7"):
        run(text, 1, 32, N32)


def test_all_may_leave_together(run):
    text = """GC_KERNEL void k(int n, GC_GLOBAL int *a)
{
    if (GC_GROUP_ID >= n) return;
    GC_BARRIER();
    a[GC_GROUP_ID * GC_GROUP_SIZE + GC_LOCAL_ID] = 1;
}
"""
    assert run(text, 3, 16, np.int32(2), np.zeros(48, np.int32))[0].sum() == 32


def test_groups_race_with_each_other(run):
    text = """GC_KERNEL void k(GC_GLOBAL int *a)
{
    GC_BARRIER();
    a[GC_LOCAL_ID] = 1;
    GC_BARRIER();
}
"""
    run(text, 1, 32, N32)
    with pytest.raises(
        Failure, match=r"t\.c:4: data race.*group 1.*the other is work-item \d+ at test/t\.c:4"
    ):
        run(text, 2, 32, N32)


def test_atomics_do_not_race_with_each_other_but_with_plain_reads(run):
    text = """GC_KERNEL void k(GC_GLOBAL int *a, GC_GLOBAL int *out)
{
    GC_ATOMIC_MAX(a, GC_LOCAL_ID);
    READ
}
"""
    assert run(text.replace("READ", ""), 4, 32, N32, N32)[0][0] == 31
    with pytest.raises(Failure, match=r"t\.c:[34]: data race"):
        run(text.replace("READ", "out[GC_LOCAL_ID] = a[0];"), 1, 32, N32, N32)


def test_neighbouring_bytes_are_no_race(run):
    text = """GC_KERNEL void k(GC_GLOBAL gc_uchar *a)
{
    a[GC_LOCAL_ID] = 1;
    a[GC_LOCAL_ID] += 1;
}
"""
    assert run(text, 1, 32, np.zeros(32, np.uint8))[0].tolist() == [2] * 32


def test_what_was_never_written(run, cupy):
    text = """GC_KERNEL void k(GC_GLOBAL const int *a, GC_GLOBAL int *out)
{
    out[GC_LOCAL_ID] = a[GC_LOCAL_ID];
}
"""
    raw = cupy.empty(32, np.int32)
    with pytest.raises(Failure, match=r"t\.c:3: read of what was never written.*argument 0, which has 128"):
        run(text, 1, 32, raw, N32)
    raw[:31] = 5
    assert run(text, 1, 31, raw, N32)[1].sum() == 31 * 5
    with pytest.raises(Failure, match="byte 124 of argument 0"):
        run(text, 1, 32, raw, N32)


@pytest.mark.parametrize("place, byte", [("GC_LOCAL_ID + 1", 128), ("GC_LOCAL_ID - 1", -4)])
def test_a_write_outside(run, place, byte):
    text = f"""GC_KERNEL void k(GC_GLOBAL int *a)
{{
    a[{place}] = 1;
}}
"""
    with pytest.raises(
        Failure, match=rf"kernel k, test/t\.c:3: access outside every buffer.*byte {byte} of argument 0"
    ):
        run(text, 1, 32, N32)


def test_a_buffer_that_is_no_more(run, cupy):
    text = """GC_KERNEL void k(GC_GLOBAL int *a)
{
    a[GC_LOCAL_ID] = 1;
}
"""
    gone = cupy.zeros(32, np.int32)
    address = np.uint64(gone.data.ptr)
    del gone
    with pytest.raises(Failure, match="access outside every buffer"):
        run(text, 1, 32, address)


def test_a_misaligned_address(run):
    text = """GC_KERNEL void k(GC_GLOBAL gc_uchar *a)
{
    *(GC_GLOBAL int *)(a + 2) = 1;
}
"""
    with pytest.raises(Failure, match=r"t\.c:3: misaligned address"):
        run(text, 1, 1, np.zeros(32, np.uint8))


def test_division_by_zero(run):
    text = """GC_KERNEL void k(int n, GC_GLOBAL int *a)
{
    a[0] = 7 / n;
}
"""
    assert run(text, 1, 1, np.int32(2), N32)[0][0] == 3
    with pytest.raises(Failure, match=r"t\.c:3: division of integers by zero"):
        run(text, 1, 1, np.int32(0), N32)


def test_local_memory_is_a_work_items_own_and_never_zero_by_itself(run):
    text = """GC_KERNEL void k(int n, GC_GLOBAL int *a)
{
    int own[16], i;
    if (n > 0) for (i = 0; i < 16; ++i) own[(i * n) & 15] = GC_LOCAL_ID;
    GC_BARRIER();
    a[GC_LOCAL_ID] = own[(GC_LOCAL_ID + n) & 15];
}
"""
    assert run(text, 1, 32, np.int32(1), N32)[0].tolist() == list(range(32))
    assert (run(text, 1, 32, np.int32(0), N32)[0] == np.int32(-0x1A1A1A1B)).all()


def test_shared_memory(run):
    text = """GC_KERNEL void k(GC_GLOBAL int *a)
{
    __shared__ int row[32];
    row[GC_LOCAL_ID] = a[GC_LOCAL_ID];
    WAIT
    a[GC_LOCAL_ID] = row[GC_LOCAL_ID ^ 1];
}
"""
    given = np.arange(32, dtype=np.int32)
    groups = text.replace("WAIT", "GC_BARRIER();").replace(
        "a[GC_LOCAL_ID]", "a[32 * GC_GROUP_ID + GC_LOCAL_ID]"
    )
    got = run(groups, 3, 32, np.tile(given, 3))[0]  # each group has its own
    assert got.tolist() == (given ^ 1).tolist() * 3
    got = run(text.replace("WAIT", "GC_BARRIER();"), 1, 32, given)[0]
    assert got.tolist() == (given ^ 1).tolist()
    with pytest.raises(Failure, match=r"t\.c:[46]: (data race|read of what was never written)"):
        run(text.replace("WAIT", ""), 1, 32, given)


def test_the_largest_group_and_one_more(run):
    text = "GC_KERNEL void k(GC_GLOBAL int *a) { a[GC_LOCAL_ID] = 1; }\n"
    assert run(text, 1, 1024, np.zeros(1024, np.int32))[0].all()
    with pytest.raises(Failure, match="the launch is refused"):
        run(text, 1, 1025, np.zeros(1025, np.int32))
