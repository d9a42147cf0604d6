"""Batch runs over tables of vehicles: the events of each, whatever happens on the way."""

import os

import pytest

import gpu_collide as gc
from examples.traffic import town
from gpu_collide import batch
from gpu_collide.batch import files
from gpu_collide.batch import traffic as asked
from tests.batch.runs import rows_of, tree

pa = pytest.importorskip("pyarrow", reason="batch runs write Parquet: pip install 'gpu-collide[batch]'")
pytestmark = pytest.mark.backends("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from pyarrow import csv, parquet

    made = tmp_path_factory.mktemp("events") / "in"
    (made / "more").mkdir(parents=True)
    for k in range(7):
        table = pa.table(dict(town(20, 3.0, side=80.0, seed=k)))
        parquet.write_table(table, made / f"{k}.parquet")
    csv.write_csv(table, made / "more" / "6.csv")
    (made / "8_recordingMeta.csv").write_text("of a recording that is somewhere else\n")
    (made / "bad.csv").write_text("hello\n")
    for path in made.rglob("*.*"):
        os.utime(path, ns=(10**18, 10**18))
    return made


@pytest.fixture
def small_items(monkeypatch):
    monkeypatch.setattr(asked, "_ITEM_RECORDINGS", 4)
    monkeypatch.setattr(asked, "_AT_ONCE", 3)


@pytest.fixture
def whole(folder, small_items, tmp_path):
    out = tmp_path / "whole"
    return batch.events(folder, out, backend="cpu"), out


def test_rows_are_those_of_each_recording_alone(folder, whole):
    summary, out = whole
    assert summary.recordings_done == 9 and summary.failed == 1 and summary.items == 3
    table = rows_of(out, "events")
    names = table.column("recording").to_pylist()
    assert sorted(set(names)) == [*(f"{k}.parquet" for k in range(7)), "more/6.csv"]
    for name in sorted(set(names)):
        found = gc.events(gc.load_recording(folder / name), backend="cpu").to_arrow()
        mine = table.filter(pa.array([n == name for n in names])).drop_columns("recording")
        assert repr(mine.to_pydict()) == repr(found.to_pydict()) and len(found) > 3  # some are nan
    failed = rows_of(out, "errors").to_pylist()
    assert [row["recording"] for row in failed] == ["bad.csv"] and "no column" in failed[0]["text"]
    assert not batch.verify(out)


def test_a_run_that_ends_at_any_recording_is_resumed_to_the_same_bytes(folder, whole, tmp_path, monkeypatch):
    _, out = whole
    read = asked.load_recording
    for stop in (1, 5, 8):
        count, again = 0, tmp_path / f"again {stop}"

        def reading(path, stop=stop, **given):
            nonlocal count
            count += 1
            if count == stop:
                raise KeyboardInterrupt
            return read(path, **given)

        monkeypatch.setattr(asked, "load_recording", reading)
        with pytest.raises(KeyboardInterrupt):
            batch.events(folder, again, backend="cpu")
        batch.events(folder, again, backend="cpu", resume=True)
        assert tree(again) == tree(out)


def test_an_item_whose_process_ended_asks_about_each_alone(folder, whole, tmp_path, monkeypatch):
    """So that what is noted when it ends again is the recording that is at fault."""
    seen, sizes, ask, read = {}, [], asked.events_of, asked.load_recording

    def planned(job, question, sources, cut_up, *rest, **working):
        seen.update(job=job, item=cut_up()[0], sources=sources)

    def asking(recordings, **options):
        recordings = list(recordings)
        sizes.append(len(recordings))
        return ask(iter(recordings), **options)

    def ending(path, **given):
        raise KeyboardInterrupt

    monkeypatch.setattr(asked, "carried_out", planned)
    batch.events(folder, tmp_path / "out", backend="cpu")
    job, item, sources = seen["job"], seen["item"], seen["sources"][:4]
    monkeypatch.setattr(asked, "events_of", asking)
    with files.locked(job.out, ("events", "errors")):
        monkeypatch.setattr(asked, "load_recording", ending)
        with pytest.raises(KeyboardInterrupt):
            job.run(item, sources)
        monkeypatch.setattr(asked, "load_recording", read)
        job.run(item, sources)
        assert sizes == [1, 1, 1, 1]
        job.run(item, sources)
        assert sizes[4:] == [3, 1]
    told = "events/part-000000.parquet"
    assert (job.out / told).read_bytes() == (whole[1] / told).read_bytes()


def test_one_that_cannot_be_asked_about_is_an_error_and_the_others_go_on(
    folder, whole, tmp_path, monkeypatch
):
    _, out = whole
    ask = asked.events_of

    def asking(recordings, **options):
        recordings = list(recordings)
        if any("car 3" in recording.ids for recording in recordings):
            raise ValueError("about car 3")
        return ask(iter(recordings), **options)

    monkeypatch.setattr(asked, "events_of", asking)
    summary = batch.events(folder, tmp_path / "out", backend="cpu")
    failed = {row["recording"]: row["text"] for row in rows_of(tmp_path / "out", "errors").to_pylist()}
    assert 1 < summary.failed == len(failed) < 9 and list(failed.values()).count("about car 3") > 0
    others = [name for name in rows_of(out, "events").column("recording").to_pylist() if name not in failed]
    assert rows_of(tmp_path / "out", "events").column("recording").to_pylist() == others


def test_what_is_wrong_is_said_before_the_work(folder, whole, tmp_path):
    _, out = whole
    for options, error, text in (
        ({"max_ttc": -1}, ValueError, "max_ttc"), ({"motion": "any"}, ValueError, "motion"),
        ({"engine": "none"}, ValueError, "engine"), ({"on_error": "x"}, ValueError, "on_error"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            batch.events(folder, tmp_path / "none", **options)
    assert not (tmp_path / "none").exists()
    with pytest.raises(FileExistsError, match="resume it"):
        batch.events(folder, out, backend="cpu")
    with pytest.raises(ValueError, match="options is not what the run was begun with"):
        batch.events(folder, out, backend="cpu", max_ttc=2.0, resume=True)
    with pytest.raises(ValueError, match="no column"):
        batch.events(folder, tmp_path / "raised", backend="cpu", on_error="raise")
