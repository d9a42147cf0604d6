"""``gpu-collide traffic`` on tables of vehicles."""

import pytest

import gpu_collide as gc
from gpu_collide.cli import main

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

TABLE = {
    "trackId": ["ego", "ego", "van", "van"], "t": [0, 0.2, 0, 0.2], "x": [0, 5.0, 6, 6], "y": [0.0] * 4,
    "heading": [0.0, 0, 90, 90], "length": [4.0] * 4, "width": [2.0] * 4,
}  # fmt: skip


@pytest.fixture
def tracks(tmp_path):
    from pyarrow import csv, parquet

    csv.write_csv(pa.table(TABLE), tmp_path / "tracks.csv")
    parquet.write_table(pa.table(TABLE), tmp_path / "tracks.parquet")
    return tmp_path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_usual_names_of_columns_are_found(suffix, tracks, capsys):
    words = ["traffic", str(tracks / f"tracks.{suffix}"), "--degrees", "--backend", "cpu", "--plain"]
    made = ["-o", str(tracks / "events.parquet"), "--page", str(tracks / "page.html")]
    assert main([*words, *made]) == 0
    text = capsys.readouterr().out
    assert "collisions" in text and "ego, van" in text and "front left" in text and "25.00" in text
    from pyarrow import parquet

    table = parquet.read_table(tracks / "events.parquet").to_pydict()
    assert table["id_a"] == ["ego"] and table["kind"] == ["COLLISION"]
    page = (tracks / "page.html").read_text()
    assert '"ego"' in page and "1 meeting, 0 near misses" in page or "tracks." in page


@pytest.mark.parametrize(
    "words, text",
    [
        (["--columns", "id=track"], "no column 'track'"),
        (["--columns", "yaw=angle"], "no column 'angle'; it has trackId, t, x"),
        (["-o", "events.docx"], "events.docx"),
        (["--page", "page.pdf"], "page.pdf"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(words, text, tracks, capsys):
    assert main(["traffic", str(tracks / "tracks.csv"), *words, "--backend", "cpu"]) == 2
    assert text in capsys.readouterr().err


def test_other_files_are_refused(tracks, capsys):
    for name in ("race.npz", "none.csv"):
        assert main(["traffic", str(tracks / name)]) == 2
    text = capsys.readouterr().err
    assert "expected a table, .csv, .parquet, .xml" in text and "there is no file" in text


def test_a_page_of_events_needs_their_recording(tracks):
    recording = gc.load_recording(
        tracks / "tracks.csv", columns={"id": "trackId", "time": "t", "yaw": "heading"}
    )
    found = gc.events(recording, backend="cpu")
    with pytest.raises(TypeError, match="scene: expected the Recording"):
        gc.view.page(found, recording.bodies(0), tracks / "page.html")


def test_a_folder_is_a_batch_run_that_goes_on(tracks, tmp_path, capsys):
    from pyarrow import parquet

    out = tmp_path / "out"
    words = ["traffic", str(tracks), "--degrees", "--backend", "cpu", "--plain"]
    assert main(words) == 2 and main([*words, "-o", str(out), "--page", "page.html"]) == 2
    told = capsys.readouterr().err
    assert "-o: expected a folder" in told and "--page: expected one file" in told
    assert main([*words, "-o", str(out)]) == 0
    assert main([*words, "-o", str(out), "--resume"]) == 0
    assert "of which 1 were done before" in capsys.readouterr().out
    rows = parquet.read_table(out / "events").to_pydict()
    assert [str(name) for name in rows["recording"]] == ["tracks.csv", "tracks.parquet"]
    assert rows["id_a"] == ["ego", "ego"]
    assert main([*words[:1], str(tracks / "tracks.csv"), *words[2:], "--resume"]) == 2
