"""Batch runs: what they find is what a loop finds, in one tree of bytes; what is changed is refused."""

import errno
import json
import os
import runpy

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import batch
from gpu_collide.batch import item
from gpu_collide.errors import MissingExtraError
from tests.batch import runs

pytest.importorskip("pyarrow", reason="batch runs write Parquet: pip install 'gpu-collide[batch]'")
pytestmark = pytest.mark.backends("cpu")

TABLES = ("contacts", "pairs", "skipped", "encounters")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small recordings, bundled, and a long one, cut in time; some bodies jump."""
    inputs = runs.make(tmp_path_factory.mktemp("batch") / "in", 5)
    (inputs / "more").mkdir()
    runs.write(inputs / "more" / "long.npz", runs.walk(11, frames=400))
    return inputs


@pytest.fixture(scope="module")
def done(folder):
    out = folder.parent / "out"
    return runs.run(folder, out, max_speed=5.0), out


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_those_of_a_loop(folder, done, table):
    summary, out = done
    found, expected = runs.rows_of(out, table), runs.loop(folder, table, max_speed=5.0)
    assert len(expected) > 10 and summary.rows[table] == len(expected)
    runs.same_rows(found, expected)


def test_exits_are_a_column_of_the_pairs(tmp_path):
    inputs = runs.make(tmp_path / "in", 3)
    runs.run(inputs, tmp_path / "out", tables=["pairs"], exit=True, poses_per_item=20)
    expected = runs.loop(inputs, "pairs", exit=True)
    assert len(expected) - expected.column("exit").null_count > 5
    runs.same_rows(runs.rows_of(tmp_path / "out", "pairs"), expected)
    told = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert told["question"]["options"]["exit"] is True


def test_a_long_recording_is_cut_and_its_encounters_go_over_the_seams(done):
    _, out = done
    items = json.loads((out / "plan.json").read_text())["items"]
    joins = next(item["joins"] for item in items if "joins" in item)
    assert len(joins) == 4 and sum("joins" in item for item in items) == 1
    seams = [items[k]["steps"][0] for k, _ in joins[1:]]
    rows = runs.rows_of(out, "encounters").to_pylist()
    over = [
        r
        for r in rows
        for s in seams
        if r["recording"] == "more/long.npz" and r["first_step"] < s <= r["last_step"]
    ]
    assert len(over) >= 3


def test_the_recording_stands_first_and_all_parts_are_one_data_set(folder, done):
    import pyarrow.dataset

    _, out = done
    rows = pyarrow.dataset.dataset(out / "pairs").to_table()
    assert rows.column_names[0] == "recording"
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.npz"))
    assert sorted(set(rows.column("recording").to_pylist())) == names
    told = json.loads(rows.schema.metadata[b"gpu_collide.options"])
    assert told["max_speed"] == 5.0 and told["min_properness"] == -0.1
    assert json.loads(rows.schema.metadata[b"gpu_collide.version"]) == gc.__version__
    assert json.loads(rows.schema.metadata[b"gpu_collide.precision"]) == "mixed"


def test_verify_finds_what_is_damaged_missing_or_nobodys(tmp_path, folder):
    out = tmp_path / "out"
    runs.run(folder, out, tables=["contacts"])
    assert batch.verify(out) == []
    part = out / "contacts" / "part-000000.parquet"
    whole = part.read_bytes()
    part.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    (out / "contacts" / "mine.parquet").write_bytes(b"")
    (out / "done" / "part-000002.json").unlink()
    assert batch.verify(out) == [
        "item 2 is not done",
        "contacts/part-000000.parquet is not what was written",
        "contacts/mine.parquet is nobody's",
        "contacts/part-000002.parquet is nobody's",
        "errors/part-000002.parquet is nobody's",
    ]
    with pytest.raises(FileNotFoundError, match="no run in"):
        batch.verify(tmp_path)


def test_a_run_that_is_whole_does_nothing_when_resumed(done, folder):
    summary, out = done
    told = []
    again = runs.run(folder, out, resume=True, max_speed=5.0, progress=told.append)
    assert again.items_found == again.items_done == summary.items and not told
    assert (again.rows, again.recordings_done) == (summary.rows, 6)


def test_a_run_is_neither_overwritten_nor_mixed_with_other_files(tmp_path, folder, done):
    with pytest.raises(FileExistsError, match="out: a run is in .*resume it"):
        runs.run(folder, done[1])
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FileExistsError, match=r"no run's: letter\.txt"):
        runs.run(folder, tmp_path)
    (tmp_path / "letter.txt").unlink()
    (tmp_path / "done").mkdir(exist_ok=True)
    (tmp_path / "done" / "part-000000.json").write_text("{}")  # marks of a run whose plan is gone
    with pytest.raises(FileExistsError, match=r"no run's: done/part-000000\.json"):
        runs.run(folder, tmp_path, resume=True)


CHANGES = {
    "option": ({"min_properness": 0.5}, r"options .*\"min_properness\": -0.1.*now .*0.5"),
    "tables": ({"tables": ["pairs"]}, r"tables .*now \[\"pairs\"\]"),
    "mesh": ({"meshes": gc.shapes.box((1.0, 2.0, 1.001))}, "meshes"),
    "static": ({"static": None}, "static .*now null"),
    "array": ({"group": [1, 2]}, "options .*group"),
    "size of items": ({"poses_per_item": 300}, "poses_per_item .*200, now 300"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_question_is_refused(folder, done, change):
    options, said = CHANGES[change]
    with pytest.raises(ValueError, match="resume: " + said):
        runs.run(folder, done[1], resume=True, **{"max_speed": 5.0, **options})


def test_a_changed_version_is_refused(folder, done, monkeypatch):
    monkeypatch.setattr("gpu_collide.batch.run.__version__", "0.0.9")
    with pytest.raises(ValueError, match=r"resume: versions .*0\.1\.0.*now.*0\.0\.9"):
        runs.run(folder, done[1], resume=True, max_speed=5.0)


def test_a_changed_or_missing_input_is_refused(tmp_path):
    inputs, out = runs.make(tmp_path / "in", 2), tmp_path / "out"
    runs.run(inputs, out)
    runs.write(inputs / "r2.npz", runs.walk(2))
    with pytest.raises(ValueError, match="begun with 2 recordings, now there are 3"):
        runs.run(inputs, out, resume=True)
    (inputs / "r1.npz").unlink()
    with pytest.raises(ValueError, match=r"inputs had 'r1\.npz'|inputs had .*r1\.npz"):
        runs.run(inputs, out, resume=True)
    (inputs / "r2.npz").rename(inputs / "r1.npz")
    os.utime(inputs / "r1.npz")
    with pytest.raises(ValueError, match=r"recording .*r1\.npz' was changed since"):
        runs.run(inputs, out, resume=True)


def test_what_changes_no_result_changes_no_byte(tmp_path, folder, done):
    whole = runs.tree(done[1])
    runs.run(
        folder,
        tmp_path / "out",
        max_speed=5.0,
        max_bytes=1 << 24,
        frames_per_batch=7,
        tuning=gc.Tuning(filters="none"),
    )
    assert runs.tree(tmp_path / "out") == whole


def test_a_damaged_recording_is_a_row_and_the_rest_goes_on(tmp_path):
    inputs = runs.make(tmp_path / "in", 3)
    (inputs / "r1.npz").write_bytes((inputs / "r1.npz").read_bytes()[:-200])
    (inputs / "r3.npz").write_bytes(b"")
    runs.write(inputs / "r4.npz", {"time": [0.0, 1.0]})
    summary = runs.run(inputs, tmp_path / "out")
    assert (summary.recordings_done, summary.failed) == (5, 3)
    rows = runs.rows_of(tmp_path / "out", "errors").to_pylist()
    assert [(row["recording"], row["kind"], row["step"]) for row in rows] == [
        (f"r{k}.npz", "ValueError", 0) for k in (1, 3, 4)
    ]
    assert "no array 'position'" in rows[2]["text"] and rows[0]["path"] == str(inputs / "r1.npz")
    runs.same_rows(
        runs.rows_of(tmp_path / "out", "contacts"), runs.loop(inputs, "contacts", ["r0.npz", "r2.npz"])
    )
    with pytest.raises(ValueError, match=r"r1\.npz"):
        runs.run(inputs, tmp_path / "raise", on_error="raise")


def test_a_stretch_that_cannot_be_read_is_a_row_with_its_first_step(tmp_path):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "in" / "long.zarr"
    arrays = runs.walk(3, frames=300)
    group = zarr.open_group(str(path), mode="w")
    for name, values in arrays.items():
        made = group.create_array(
            name, shape=values.shape, dtype=values.dtype, chunks=(100, *values.shape[1:])
        )
        made[:] = values
    chunk = max((path / "position").rglob("1*/0/0"), default=None) or next((path / "position").rglob("1.0.0"))
    chunk.write_bytes(b"damaged")
    summary = runs.run(path.parent, tmp_path / "out")
    rows = runs.rows_of(tmp_path / "out", "errors").to_pylist()
    items = json.loads((tmp_path / "out" / "plan.json").read_text())["items"]
    hurt = [
        item["steps"][0]
        for item in items
        if "steps" in item and item["steps"][0] < 200 and item["steps"][1] >= 100
    ]
    assert [row["step"] for row in rows] == hurt and summary.failed == len(hurt) < len(items) - 1
    whole = gc.Recording.from_arrays(arrays, **runs.GIVEN).collide(backend="cpu")
    kept = [item["steps"] for item in items if "steps" in item and item["steps"][0] not in hurt]
    keep = np.isin(whole.step, np.concatenate([np.arange(*steps) for steps in kept]))
    runs.same_rows(runs.rows_of(tmp_path / "out", "contacts"), whole[keep].to_arrow())


def test_races_keep_their_ends_where_they_are_cut(tmp_path):
    inputs = tmp_path / "in"
    inputs.mkdir()
    arrays = runs.walk(5, frames=300)
    runs.write(inputs / "races.npz", {**arrays, "race_lengths": [100, 1, 99, 0, 100]})
    runs.run(inputs, tmp_path / "out", poses_per_item=100)
    for table in TABLES:
        runs.same_rows(runs.rows_of(tmp_path / "out", table), runs.loop(inputs, table))


BAD = {
    "engine": ({"engine": "spark"}, ValueError, "engine: expected"),
    "tables": ({"tables": ["contacts", "touches"]}, ValueError, "tables: expected some of .*encounters"),
    "one table as text": ({"tables": "contacts"}, TypeError, "tables: expected a sequence"),
    "no such option": ({"min_proper": 1}, TypeError, "min_proper: .* no such option"),
    "pairs": ({"pairs": [[0, 1]]}, TypeError, "pairs: expected no pairs"),
    "value of an option": ({"max_turn": 90}, ValueError, "max_turn: expected at most pi"),
    "several meshes, no shape": ({"meshes": [gc.shapes.box()] * 2}, ValueError, "shape: "),
    "shape": ({"shape": [0, 1]}, ValueError, "shape: "),
    "mesh": ({"meshes": 3}, TypeError, "meshes"),
    "static": ({"static": 3}, TypeError, "static: "),
    "workers": ({"workers": 0}, ValueError, "workers: expected"),
    "report": ({"report": True}, TypeError, "report: expected False"),
    "cut by worlds without worlds": ({"cut": "worlds"}, ValueError, "cut: 'worlds' needs the world"),
    "cut in space beside groups": (
        {"cut": "space", "mask": [1, 1]},
        ValueError,
        "mask: expected None with cut",
    ),
    "no cut": ({"cut": "time"}, ValueError, "cut: expected None or"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_arguments_raise_before_anything_is_written(tmp_path, folder, what):
    options, kind, said = BAD[what]
    with pytest.raises(kind, match=said):
        runs.run(folder, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_results_may_lie_in_the_folder_of_the_inputs(tmp_path):
    inputs = runs.make(tmp_path / "in", 2)
    for resume in (False, True):
        assert runs.run(inputs, inputs / "out", resume=resume).recordings == 2


def test_bad_inputs_raise(tmp_path):
    for inputs, kind, said in (
        (tmp_path, ValueError, "no recording .* in folder"),
        (tmp_path / "none.npz", FileNotFoundError, "there is no recording"),
        ([], ValueError, "at least one recording"),
        ([3], TypeError, "names of recordings"),
        ([__file__, __file__], ValueError, "each recording once"),
    ):
        with pytest.raises(kind, match="inputs: .*" + said):
            runs.run(inputs, tmp_path / "out")


def test_the_example_makes_its_own_recordings_and_goes_on(tmp_path, capsys):
    example = runpy.run_path(str(runs.ROOT / "examples" / "many_recordings.py"))
    assert example["main"](["6", "--folder", str(tmp_path)]) == 0
    first, left = capsys.readouterr().out.split("The hardest encounters:")
    assert "6 of 6 recordings" in first and left.count("m/s") == 8
    whole = runs.tree(tmp_path)
    (tmp_path / "tables" / "done" / "part-000000.json").unlink()
    assert example["main"](["6", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split("The hardest encounters:")[1] == left
    assert runs.tree(tmp_path) == whole


def test_a_second_run_in_one_process_has_its_own_meshes(tmp_path):
    inputs = runs.make(tmp_path / "in", 1)
    for k, side in enumerate((1.0, 2.0)):
        meshes = gc.shapes.box((side, side, side))
        runs.run(inputs, tmp_path / f"out{k}", meshes=meshes)
        found = gc.load_recording(inputs / "r0.npz", **{**runs.GIVEN, "meshes": meshes}).collide(
            backend="cpu"
        )
        runs.same_rows(runs.rows_of(tmp_path / f"out{k}", "contacts"), found.to_arrow())


def test_a_full_disk_while_recordings_are_read_is_no_row(tmp_path, monkeypatch):
    inputs = runs.make(tmp_path / "in", 1)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(item, "load_recording", full)
    with pytest.raises(OSError, match="No space left"):
        runs.run(inputs, tmp_path / "out")
    monkeypatch.setattr(item, "load_recording", lambda *_, **__: [][0])  # a defect, of whatever kind
    summary = runs.run(inputs, tmp_path / "out", resume=True)
    (row,) = runs.rows_of(tmp_path / "out", "errors").to_pylist()
    assert summary.failed == 1 and (row["kind"], row["text"]) == ("IndexError", "list index out of range")


def test_what_another_run_writes_to_is_left_alone(tmp_path, folder):
    def second(_):
        with pytest.raises(RuntimeError, match="another run is writing"):
            runs.run(folder, tmp_path / "out", resume=True)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run(folder, tmp_path / "out", progress=second)


def test_without_pyarrow_the_extra_is_named(tmp_path, folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"gpu-collide\[batch\]"):
        runs.run(folder, tmp_path / "out")


@pytest.mark.parametrize("cut", ["worlds", "space"])
def test_bodies_cut_into_shares_find_the_same_rows(tmp_path, cut):
    inputs = tmp_path / "in"
    inputs.mkdir()
    arrays = runs.walk(21, frames=60, bodies=24)
    arrays["position"][:, :, :2] *= 4
    arrays["position"][20:30, 7] = np.nan
    arrays["position"][:, [4, 14]] = [[0, 0, 3], [0.2, 0, 3]]  # two that stand in each other
    arrays["quat_wxyz"][:, [4, 14]] = [1, 0, 0, 0]
    runs.write(inputs / "many.npz", arrays)
    options = {"ignore": [[2, 9], [0, 24]], "max_speed": 40.0}
    if cut == "worlds":
        options["world"] = np.arange(24) % 5
    summary = runs.run(inputs, tmp_path / "out", cut=cut, parts=3, poses_per_item=300, **options)
    assert summary.items > 6
    for table in TABLES:
        expected = runs.loop(inputs, table, **options)
        assert len(expected) > (0 if table == "skipped" else 20)
        found = runs.rows_of(tmp_path / "out", table)
        if table != "encounters":
            key = ["step", "body"] if table == "skipped" else ["step", "body_a", "body_b"]
            order = np.lexsort([found.column(name).to_numpy() for name in reversed(key)])
            found = found.take(order)
        runs.same_rows(found, expected)
