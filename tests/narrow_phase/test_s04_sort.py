"""s04_sort: records in buckets by row, ordered by their lower eta."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.narrow_phase._launch import RASTER, new, probe, probe_text, screened, sharing, stages_of, types

QUICK = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def sort_rows(backend, lengths, keys, precision="mixed"):
    """gc_sort_row on rows of these lengths; returns the record numbers."""
    _, raster = types(precision)
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    order = np.concatenate(
        [np.zeros(0, int), *(np.arange(a, b)[::-1] for a, b in zip(start, start[1:], strict=False))]
    )
    order = backend.to_device(order.astype(np.int32))
    backend.launch_items(
        probe(backend, precision, "probe_sort_row"),
        len(lengths),
        n_rows=len(lengths),
        row_start_in=backend.to_device(start),
        key_in=backend.to_device(np.asarray(keys, raster)),
        order_out=order,
    )
    return start, backend.to_host(order)


def stage(backend, n_rows, row_lo, row_hi, ranges, precision="mixed", groups_of=None):
    """s04_sort on branches with these rows; ranges (4, records)."""
    _, raster = types(precision)
    be = groups_of or backend
    count = np.maximum(np.asarray(row_hi) - np.asarray(row_lo) + 1, 0)
    start = np.cumsum(count) - count
    n = int(count.sum())
    out = new(be, n_rows + 1, "i4"), new(be, max(n, 1), "i4"), new(be, max(4 * n, 1), raster)
    args = {
        k: be.to_device(np.asarray(v, np.int32))
        for k, v in (("row_lo", row_lo), ("row_hi", row_hi), ("start", start))
    }
    kernel = be.compile(probe_text(), precision).kernel("probe_sort")
    be.launch(
        kernel,
        1,
        n_rows=n_rows,
        branches=len(count),
        n_records=n,
        row_start_out=out[0],
        order_out=out[1],
        ranges=be.to_device(np.ascontiguousarray(ranges, raster).reshape(-1)),
        sorted_out=out[2],
        **args,
    )
    got = [be.to_host(x).copy() for x in out]
    return got[0], got[1][:n], got[2][: 4 * n].reshape(4, n), start


def row_of_records(row_lo, row_hi):
    return np.concatenate(
        [np.zeros(0, int), *(np.arange(a, b + 1) for a, b in zip(row_lo, row_hi, strict=True))]
    )


# ---- known answers


def test_one_row_by_hand(backend):
    _, order = sort_rows(backend, [5], [3, -1, 2, -1, 0.5])
    assert order.tolist() == [1, 3, 4, 2, 0]


def test_three_branches_by_hand(backend):
    """Branch 0 in rows 0 and 1, branch 1 nowhere, branch 2 in row 1 alone, before it."""
    ranges = np.array([[5, 5, 4], [6, 6, 5], [0, 1, 2], [1, 2, 3]], float)
    start, order, ordered, _ = stage(backend, 3, [0, 0, 1], [1, -1, 1], ranges)
    assert start.tolist() == [0, 1, 3, 3]
    assert order.tolist() == [0, 2, 1]
    assert np.array_equal(ordered, ranges[:, [0, 2, 1]])


def test_nothing_to_sort(backend):
    start, order, _, _ = stage(backend, 4, [0, 0], [-1, -1], np.zeros((4, 1)))
    assert start.tolist() == [0] * 5 and len(order) == 0


def test_first_above_by_hand(backend):
    keys = np.array([1, 2, 2, 3, 5], np.float32)
    cases = [
        (0, 5, 0, 0),
        (0, 5, 1, 1),
        (0, 5, 2, 3),
        (0, 5, 4.5, 4),
        (0, 5, 9, 5),
        (2, 4, 2, 3),
        (3, 3, 0, 3),
    ]
    out = new(backend, len(cases), "i4")
    ranges = np.array([c[:2] for c in cases], np.int32)
    limits = np.array([c[2] for c in cases], np.float32)
    backend.launch_items(
        probe(backend, "mixed", "probe_first_above"),
        len(cases),
        n=len(cases),
        length=5,
        sorted_in=backend.to_device(keys),
        range_in=backend.to_device(ranges.reshape(-1)),
        limit_in=backend.to_device(limits),
        first_out=out,
    )
    assert backend.to_host(out).tolist() == [c[3] for c in cases]


# ---- invariants


@QUICK
@given(st.lists(st.lists(st.integers(-4, 4), max_size=60), min_size=1, max_size=6))
def test_rows_are_sorted_and_ties_go_by_number(backend, rows):
    keys = np.concatenate([np.zeros(0), *map(np.asarray, rows)])
    start, order = sort_rows(backend, [len(r) for r in rows], np.append(keys, 0.0))
    for a, b in zip(start, start[1:], strict=False):
        assert np.array_equal(order[a:b], a + np.argsort(keys[a:b], kind="stable"))


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 12, 13, 14, 39, 40, 41, 1000])
def test_lengths_around_the_gaps(length, backend):
    keys = np.random.default_rng(length).normal(size=max(length, 1)).astype(np.float32)
    _, order = sort_rows(backend, [length], keys)
    assert np.array_equal(order, np.argsort(keys[:length], kind="stable"))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("n_rows, branches", [(1, 1), (1, 50), (7, 3), (40, 200), (200, 9)])
def test_stage_against_numpy(n_rows, branches, shared, backend):
    """Counting, filling from the back and sorting give exactly the lexicographic order (row, eta, number)."""
    rng = np.random.default_rng(n_rows)
    row_lo = rng.integers(0, n_rows, branches)
    row_hi = np.minimum(row_lo + rng.integers(-1, 5, branches), n_rows - 1)
    row = row_of_records(row_lo, row_hi)
    ranges = rng.integers(-20, 20, (4, len(row))).astype(float)
    other = sharing(backend) if shared else None
    start, order, ordered, _ = stage(backend, n_rows, row_lo, row_hi, ranges, groups_of=other)
    expected = np.lexsort((np.arange(len(row)), ranges[0], row))
    assert np.array_equal(order, expected)
    assert np.array_equal(start, np.searchsorted(row[expected], np.arange(n_rows + 1)))
    assert np.array_equal(ordered, ranges[:, expected])


def test_infinite_and_far_keys_have_a_place(backend):
    keys = np.array([np.inf, -np.inf, 1e15, -1e15, 0, -0.0, np.inf], np.float32)
    _, order = sort_rows(backend, [7], keys)
    assert order.tolist() == [1, 3, 4, 5, 2, 0, 6]


# ---- parity


def test_the_result_does_not_depend_on_the_rows(backend):
    """Hits of row candidates are the same bits for every height of rows, and those of the boxes."""
    stages = stages_of(backend, "random_nonconvex", 25)
    tables = [stages.s07(screened(backend, "random_nonconvex", 25)).table()]
    for resolution in (0.5, 3.0, 12.0):
        found = screened(backend, "random_nonconvex", 25, "mixed", RASTER, resolution)
        tables.append(stages.s07(found).table())
    assert len(tables[0]) > 20
    assert all(t.tobytes() == tables[0].tobytes() for t in tables)


def test_long_rows_are_sorted_by_a_heap_into_the_same_order(backend):
    """One more than Shell's sort takes, and many, with ties: by key, then by number."""
    from tests.narrow_phase._launch import C

    rng = np.random.default_rng(4)
    lengths = [int(C["GC_SORT_BY_HEAP"]) + 1, 3, 20_000]
    keys = rng.integers(0, 500, sum(lengths)).astype(float)
    start, order = sort_rows(backend, lengths, keys)
    for a, b in zip(start, start[1:], strict=False):
        assert np.array_equal(order[a:b], a + np.argsort(keys[a:b], kind="stable"))
