"""One test kernel that uses every macro, on every backend, in every precision, with the same bits."""

import re
from pathlib import Path

import numpy as np
import pytest

from gpu_collide.backends import declarations, sources

HERE = Path(__file__).parent
TEXT = sources.joined("common/gc_cells.h") + sources.join([HERE / "every_macro.c"])


def _text(name):
    return (sources.kernels_dir() / "common" / name).read_text()


def test_every_macro_is_used():
    header = declarations.strip_comments(_text("gc_platform.h") + _text("gc_cells.h"))
    macros = set(re.findall(r"#define (GC_\w+)", header))
    helpers = {m for m in macros if m.endswith(("_FN", "_FLOAT", "_DOUBLE", "_H"))} - {"GC_FN"}
    helpers |= {"GC_ALIGNED"}  # of the gc_four that the records are made of
    used = (HERE / "every_macro.c").read_text()
    assert {m for m in macros - helpers if not re.search(rf"\b{m}\b", used)} == set()


def types(precision):
    return (
        np.dtype("f4" if precision == "single" else "f8"),
        np.dtype("f8" if precision == "double" else "f4"),
    )


@pytest.mark.parametrize("precision", ["mixed", "double", "single"])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_items(backend, precision, n):
    real, raster = types(precision)
    x = (np.linspace(-20, 60, n) + 0.125).astype(real)
    outs = {
        "reals_out": backend.fill(backend.empty(n, real), np.nan),
        "rasters_out": backend.fill(backend.empty(4 * n, raster), np.nan),
        "bytes_out": backend.fill(backend.empty(n, "u1"), 255),
        "longs_out": backend.fill(backend.empty(n, "i8"), -1),
        "uints_out": backend.zeros(n, "u4"),
    }
    scalars = {"n": n, "offset": 5_000_000_000, "factor": 1.5, "shift": 0.375, "byte": 200}
    kernel = backend.compile(TEXT, precision).kernel("t01_items")
    backend.launch_items(kernel, n, **scalars, x_in=backend.to_device(x), **outs)
    got = {name: backend.to_host(buf) for name, buf in outs.items()}

    table = np.array([0.5, -1.25, 2.0, 1e-3], real)[np.arange(n) & 3]
    factor, y = real.type(1.5), x.astype(raster) + raster.type(0.375)
    blend = np.abs(x) * real.type(0.75) + np.sqrt(np.maximum(x, factor))
    assert np.array_equal(got["reals_out"], blend * table + np.rint(x) + np.minimum(x, factor))
    r = got["rasters_out"].reshape(n, 4)
    expected = [np.sqrt(np.abs(y)), np.floor(y), np.rint(y * raster.type(0.5)), y / raster.type(3)]
    assert np.array_equal(r, np.stack(expected, axis=1))
    whole = np.floor(x).astype("i8")
    assert np.array_equal(got["bytes_out"], (200 + whole).astype("u1"))
    assert np.array_equal(got["longs_out"], 15_000_000_000 + whole)
    assert np.array_equal(got["uints_out"], np.arange(n, dtype="u4") * np.uint32(2654435769))


@pytest.mark.parametrize("groups, group_size", [(1, None), (3, None), (7, 4), (64, 16)])
def test_rows(backend, groups, group_size):
    if backend.serial_groups:
        group_size = 1
    check_rows(backend, groups, group_size)


@pytest.mark.backends("opencl")
def test_rows_with_barriers_on_opencl(backend):
    """Processors run groups of one; the barriers that a GPU needs are tried on them all the same."""
    from gpu_collide.backends.opencl import OpenclBackend

    check_rows(OpenclBackend(group_size=8), 5, None)


def check_rows(backend, groups, group_size):
    size = group_size or backend.group_size
    n_rows, n_columns = 13, 32
    values = np.random.default_rng(3).integers(-1000, 1000, (n_rows, n_columns), dtype=np.int32)
    sums, total = (
        backend.fill(backend.empty(n_rows, "i4"), -7),
        backend.to_device(np.array([0, -(2**31)], "i4")),
    )
    visits = backend.zeros(groups + 1, "i4")
    backend.launch(
        backend.compile(TEXT, "mixed")["t02_rows"], groups, group_size,
        n_rows=n_rows, n_columns=n_columns, scratch=backend.empty((n_rows, n_columns), "i4"),
        sums_out=sums, total_out=total, visits_out=visits, **{"in": backend.to_device(values)},
    )  # fmt: skip
    expected = values.sum(axis=1)
    assert np.array_equal(backend.to_host(sums), expected)
    assert backend.to_host(total).tolist() == [expected.sum(), expected.max()]
    *visited, serial = backend.to_host(visits)
    assert serial == backend.serial_groups
    shares = np.array(visited) // (groups * size)
    assert shares.sum() == n_rows and shares.max() <= -(-n_rows // groups)


@pytest.mark.parametrize("groups, group_size", [(1, None), (3, 1), (5, 2), (7, 7), (4, 64), (2, 128)])
def test_sides(backend, groups, group_size):
    check_sides(backend, groups, 1 if backend.serial_groups else group_size)


def test_sides_with_barriers_on_opencl(backend):
    if backend.kind != "opencl":
        pytest.skip("about opencl")
    from gpu_collide.backends.opencl import OpenclBackend

    check_sides(OpenclBackend(group_size=8), 5, None)


def check_sides(backend, groups, group_size):
    values = np.random.default_rng(4).integers(-(2**31), 2**31, (13, 2, 32)).astype(np.int32)
    sums, bits = backend.zeros((13, 2), "i4"), backend.fill(backend.empty((13, 3), "i4"), -7)
    anything, seen = backend.zeros(13, "i4"), backend.fill(backend.empty(13, "i4"), -7)
    backend.launch(
        backend.compile(TEXT, "mixed")["t04_sides"], groups, group_size,
        n_rows=13, sums_out=sums, bits_out=bits, any_out=anything, seen_out=seen,
        **{"in": backend.to_device(values)},
    )  # fmt: skip
    less = values.astype("i8") - values[:, :1, :1]
    assert np.array_equal(backend.to_host(sums), less.sum(axis=2).astype("i4"))  # as far as 32 bits go
    flat = values.reshape(13, 64)
    some = np.bitwise_or.reduce(np.uint32(1) << (flat & 31).astype("u4"), axis=1)
    assert np.array_equal(backend.to_host(anything).view("u4"), some)
    assert np.array_equal(backend.to_host(seen), np.sum(flat % 2 == 0, axis=1))
    counts, zeros, serial = backend.to_host(bits).T
    words = values.reshape(13, 64).view("u4").tolist()
    assert counts.tolist() == [row[1].bit_count() for row in words]
    assert zeros.tolist() == [32 - (row[2] | 1).bit_length() for row in words]
    assert set(serial.tolist()) == {int(backend.serial_groups)}


@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("groups, group_size", [(1, None), (3, 1), (4, 64)])
def test_records(backend, precision, groups, group_size):
    check_records(backend, precision, groups, 1 if backend.serial_groups else group_size)


def test_records_in_fours_on_opencl(backend):
    if backend.kind != "opencl":
        pytest.skip("about opencl")
    from gpu_collide.backends.opencl import OpenclBackend

    check_records(OpenclBackend(group_size=8), "mixed", 5, None)


def check_records(backend, precision, groups, group_size):
    rows, n = 5, 48
    raster = np.float64 if precision == "double" else np.float32
    sums = backend.fill(backend.empty((rows, 6), raster), -7)
    backend.launch(
        backend.compile(TEXT, precision)["t05_records"], groups, group_size,
        n_rows=rows, n=n, scratch=backend.empty((rows, 8 * n), raster), sums_out=sums,
    )  # fmt: skip
    first = 6 * np.arange(n)[:, None] + np.arange(rows)
    expected = [(first + k).sum(axis=0) for k in range(6)]
    assert np.array_equal(backend.to_host(sums), np.transpose(expected))


def test_slots(backend):
    n = 5000
    next_slot, slots = backend.zeros(1, "i4"), backend.fill(backend.empty(n, "i4"), -1)
    backend.launch(
        backend.compile(TEXT, "mixed")["t03_slots"], 40, None, n=n, next=next_slot, slots_out=slots
    )
    assert backend.item(next_slot) == n
    assert np.array_equal(np.sort(backend.to_host(slots)), np.arange(n))
