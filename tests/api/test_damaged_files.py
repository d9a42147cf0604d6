"""Damaged files: one ``ValueError`` that names file and array, and never wrong data without a word.

Of 300 files with a few bytes changed, what came was zipfile's, zlib's and the parser's; and 28 loaded, with
dtypes, starts and statuses that no result has.
"""

import collections
import io
import json
import os
import zipfile

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.results import npz
from gpu_collide.scenes import demo_race, random_impacts


@pytest.fixture(scope="module")
def result():
    car = gc.shapes.car()
    return gc.collide(*random_impacts(car, car, 40, seed=3), report=True, backend="cpu")


@pytest.fixture(scope="module")
def race():
    found = gc.Recording.from_arrays(demo_race(1)).collide(max_speed=70.0, report=True, backend="cpu")
    assert len(found) and len(found.skipped)
    return found


def same(a, b):
    for name, value in vars(a).items():
        other = getattr(b, name)
        if isinstance(value, np.ndarray):
            if value.dtype != other.dtype or not np.array_equal(value, other):
                return False
        elif value != other:
            return False
    return True


def damaged(raw, rng):
    """Bytes changed, cut off, left out, or a stretch of the archive's list overwritten."""
    raw, how = bytearray(raw), rng.integers(6)
    if how < 3:
        for _ in range(rng.integers(1, 6)):
            raw[rng.integers(len(raw))] = rng.integers(256)
    elif how == 3:
        raw = raw[: rng.integers(len(raw))]
    elif how == 4:
        at = rng.integers(len(raw))
        del raw[at : at + rng.integers(1, 50)]
    else:
        first, last = np.sort(rng.integers(max(len(raw) - 3000, 0), len(raw), 2))
        raw[first:last] = rng.bytes(last - first)
    return bytes(raw)


@pytest.mark.parametrize("kind", ["contacts", "trajectory", "recording"])
def test_damage_is_told_or_harmless(kind, result, race, tmp_path):
    path = tmp_path / "file.npz"
    if kind == "recording":
        np.savez(path, **demo_race(1))
        load = gc.load_recording
        whole = load(path).poses()
    else:
        (result if kind == "contacts" else race).save(path)
        load = gc.Contacts.load if kind == "contacts" else gc.TrajectoryContacts.load
        whole = load(path)
    raw, rng, seen = path.read_bytes(), np.random.default_rng(7), collections.Counter()
    for _ in range(60 if kind == "recording" else 300):
        path.write_bytes(damaged(raw, rng))
        try:
            found = load(path)
            assert same(found if kind != "recording" else found.poses(), whole)
            seen["harmless"] += 1
        except ValueError as error:
            assert str(path) in str(error)
            seen["noticed"] += 1
    assert seen["noticed"] > 50


def changed(raw, **arrays):
    """The file with some arrays replaced, as ``numpy.savez`` writes it."""
    file = io.BytesIO()
    with np.load(io.BytesIO(raw)) as old:
        np.savez(file, **{**old, **arrays})
    file.seek(0)
    return file


def saved(found, path):
    found.save(path)
    return path.read_bytes()


WRONG = {
    "status": [lambda a: np.full_like(a, 200), lambda a: a.astype(np.int64), lambda a: a[:-1]],
    "toi": [lambda a: np.full_like(a, np.nan), lambda a: a + 0.5, lambda a: np.zeros(len(a), "M8[s]")],
    "contact_start": [
        lambda a: a[::-1].copy(), lambda a: np.full(len(a), np.nan), lambda a: a * -7, lambda a: a[:-1],
    ],
    "pair": [lambda a: a[::-1].copy(), lambda a: a + 2**30, lambda a: a.astype(np.int64)],
    "kind": [lambda a: a + 6, lambda a: a.astype(float)],
    "feature_a": [lambda a: -1 - a, lambda a: a.astype(np.int64) + 2**40],
    "time": [
        lambda a: a + 1, lambda a: -a - 1, lambda a: a * np.nan, lambda a: a.astype("M8[s]"),
        lambda a: a[::-1].copy(),
    ],
    "position": [lambda a: a * np.nan, lambda a: a[:, :2], lambda a: a.astype("f4"), lambda a: a.T.copy()],
    "normal": [lambda a: a * 1.4, lambda a: a * np.inf],
    "properness": [lambda a: a + 3, lambda a: a.astype(str)],
    "sustained": [lambda a: a.astype(np.uint8), lambda a: (a.view(np.uint8) + 2).view(bool)],
    "time_end": [lambda a: a - 1, lambda a: a + 1],
    "pairs": [lambda a: a[:, :1].repeat(2, axis=1), lambda a: -a - 1, lambda a: a[1:]],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("version", [1, gc.Contacts._format.unnamed])
def test_the_field_that_cannot_be_is_named(name, version, result, tmp_path):
    """In files of the first version, which have no checksums, too: the values themselves show it."""
    raw = saved(result, tmp_path / "c.npz")
    for change in WRONG[name]:
        file = changed(raw, **{name: change(getattr(result, name)), "format_version": np.int64(version)})
        if version < gc.Contacts._format.first_with_checksums:
            with np.load(file) as old:
                arrays = {key: old[key] for key in old.files if key != "checksums"}
            np.savez(file := io.BytesIO(), **arrays)
            file.seek(0)
        with pytest.raises(ValueError, match=r"path: .* is damaged: \w+: ") as raised:
            gc.Contacts.load(file)
        related = {name, "time", "toi", "pair", "contact_start", "time_end"}
        assert str(raised.value).split("damaged: ")[1].split(":")[0] in related


def test_every_array_that_was_exchanged_is_noticed(result, race, tmp_path):
    """`local_a` for `local_b` fits in every way: only the checksum shows it."""
    for found in (result, race):
        raw = saved(found, tmp_path / "c.npz")
        load = type(found).load
        names = [*(name for name, (_, shape) in found._format.fields.items() if shape[:1] == (None,)), "info"]
        with np.load(io.BytesIO(raw)) as file:
            arrays = dict(file)
        names = [name for name in names if name in arrays]  # names of parts are of meshes that have them
        for a in names:
            for b in names:
                if a < b and arrays[a].dtype == arrays[b].dtype and not np.array_equal(arrays[a], arrays[b]):
                    (tmp_path / "x.npz").write_bytes(changed(raw, **{a: arrays[b], b: arrays[a]}).read())
                    with pytest.raises(ValueError, match="is damaged: "):
                        load(tmp_path / "x.npz")
        (tmp_path / "x.npz").write_bytes(changed(raw, info=np.array(json.dumps({"backend": "x"}))).read())
        with pytest.raises(ValueError, match="is damaged: info: it is not what was saved"):
            load(tmp_path / "x.npz")


@pytest.mark.parametrize("text", ["{", "[1]", '"a"', "null", "[" * 100_000])
def test_info_that_is_none(text, result, tmp_path):
    raw = saved(result, tmp_path / "c.npz")
    with np.load(io.BytesIO(raw)) as old:
        arrays = {key: old[key] for key in old.files if key != "checksums"}
    file = io.BytesIO()
    np.savez(file, **{**arrays, "format_version": np.int64(2), "info": np.array(text)})
    file.seek(0)
    with pytest.raises(ValueError, match="is damaged: info: expected "):
        gc.Contacts.load(file)


@pytest.mark.parametrize(
    "name, change",
    [
        ("pairs", {"status": 9}), ("pairs", {"step": -1}), ("pairs", {"body_a": 7}), ("pairs", {"toi": -1.0}),
        ("skipped", {"reason": "tired"}), ("skipped", {"step": 10**9}), ("skipped", {"body": -3}),
    ],
)  # fmt: skip
def test_rows_of_a_trajectory_that_cannot_be(name, change, race, tmp_path):
    race.save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as old:
        arrays = {key: old[key] for key in old.files if key != "checksums"}
    rows = arrays[name].copy()
    for field, value in change.items():
        rows[field] = value
    np.savez(tmp_path / "t.npz", **{**arrays, name: rows, "format_version": np.int64(1)})
    with pytest.raises(ValueError, match=rf"t.npz is damaged: ({name}|step|body_a): "):
        gc.TrajectoryContacts.load(tmp_path / "t.npz")


def test_files_of_earlier_versions_are_read(result, race, tmp_path):
    """Version 1 had no pairs, 2 no checksums; the first of trajectories had no checksums."""
    for found, versions in ((result, (1, 2)), (race, (1,))):
        found.save(tmp_path / "new.npz")
        with np.load(tmp_path / "new.npz") as file:
            arrays = dict(file)
        del arrays["checksums"]
        for version in versions:
            if found is result and version == 1:
                arrays.pop("pairs")
            np.savez(tmp_path / "old.npz", **{**arrays, "format_version": np.int64(version)})
            again = type(found).load(tmp_path / "old.npz")
            assert np.array_equal(again.time, found.time) and np.array_equal(again.normal, found.normal)
            if found is result:
                assert (again.pairs is None) == (version == 1)
            arrays = {**arrays, **({"pairs": found.pairs})}
    for version in (0, -1, 99):
        np.savez(tmp_path / "other.npz", **{**arrays, "format_version": np.int64(version)})
        with pytest.raises(ValueError, match=f"has format {version}, this version reads 1 to"):
            gc.TrajectoryContacts.load(tmp_path / "other.npz")


def test_names_that_are_none(result, race, tmp_path):
    """``save("c.txt")`` wrote ``c.txt.npz``."""
    for found in (result, race):
        for name in ("c.txt", "c.npz.gz", "c.NPZ", "run.2"):
            with pytest.raises(ValueError, match=r"path: expected a name ending in \.npz"):
                found.save(tmp_path / name)
        for name in ("", str(tmp_path), f"{tmp_path}/", os.devnull, "a\0b"):
            with pytest.raises(ValueError, match="path: expected a file name such as 'contacts.npz'"):
                found.save(name)
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(OSError):
            found.save(tmp_path / "absent" / "c.npz")
        with pytest.raises(IsADirectoryError):
            type(found).load(tmp_path)


def test_open_files_that_cannot_be_read(tmp_path):
    (tmp_path / "c.npz").write_text("text")
    with (
        open(tmp_path / "c.npz") as file,
        pytest.raises(ValueError, match="opened as text; open it with mode 'rb'"),
    ):
        gc.Contacts.load(file)


def test_what_an_archive_may_hold_besides(tmp_path):
    """Objects, and a header that promises more than there is, are no memory error and no code that runs."""
    objects = np.empty(1, object)
    np.savez(tmp_path / "o.npz", status=objects)
    with (
        npz.open_npz(tmp_path / "o.npz", "a file") as reader,
        pytest.raises(TypeError, match="Python objects"),
    ):
        reader.read("status")
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    with zipfile.ZipFile(tmp_path / "h.npz", "w") as archive:
        archive.writestr("time.npy", head.getvalue())
    with (
        npz.open_npz(tmp_path / "h.npz", "a file") as reader,
        pytest.raises(ValueError, match="time: expected 8000"),
    ):
        reader.read("time")


def test_a_damaged_store_of_a_recording_names_the_array(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "r.zarr", mode="w")
    for name, array in demo_race(1).items():
        group[name] = np.asarray(array)
    gc.load_recording(tmp_path / "r.zarr").poses()
    for chunk in (tmp_path / "r.zarr" / "position").rglob("*"):
        if chunk.is_file() and "json" not in chunk.name and not chunk.name.startswith(".z"):
            chunk.write_bytes(chunk.read_bytes()[:10])
    with pytest.raises(ValueError, match="r.zarr is damaged: position: "):
        gc.load_recording(tmp_path / "r.zarr").poses()


def test_a_damaged_parquet_file_names_itself(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    frame = np.repeat(np.arange(30), 2)
    columns = {"frame": frame, "time": frame * 0.1, "body": np.tile([0, 1], 30)}
    columns |= {name: np.random.default_rng(0).normal(size=60) for name in ("x", "y", "z")}
    columns |= {"qw": np.ones(60), **{name: np.zeros(60) for name in ("qx", "qy", "qz")}}
    path, rng = tmp_path / "r.parquet", np.random.default_rng(3)
    pq.write_table(pa.table(columns), path, write_page_checksum=True)
    raw, box = path.read_bytes(), gc.shapes.box()
    whole = gc.load_recording(path, meshes=box).poses()
    for _ in range(60):
        path.write_bytes(damaged(raw, rng))
        try:
            assert same(gc.load_recording(path, meshes=box).poses(), whole)
        except ValueError as error:
            assert "r.parquet" in str(error)
    columns["frame"] = frame * 10**12  # numbers are looked up: nothing is made as large as they are
    pq.write_table(pa.table(columns), path)
    assert same(gc.load_recording(path, meshes=box).poses(), whole)
