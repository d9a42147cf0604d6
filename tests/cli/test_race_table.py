"""``gpu-collide race`` on a table of vehicles."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.cli import main

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

TABLE = {
    "trackId": ["ego", "ego", "van", "van"], "t": [0, 0.2, 0, 0.2], "x": [0, 5.0, 6, 6], "y": [0.0] * 4,
    "heading": [0.0, 0, 90, 90], "length": [4.0] * 4, "width": [2.0] * 4,
}  # fmt: skip
NAMES = ["--columns", "id=trackId,time=t,yaw=heading", "--degrees"]


@pytest.fixture
def tracks(tmp_path):
    from pyarrow import csv

    csv.write_csv(pa.table(TABLE), tmp_path / "tracks.csv")
    return tmp_path / "tracks.csv"


def test_a_table_needs_no_meshes_and_is_told_by_ids(tracks, tmp_path, capsys):
    words = ["race", str(tracks), *NAMES, "--motion", "body", "--backend", "cpu", "--plain"]
    assert main([*words, "--encounters", str(tmp_path / "met.csv"), "-o", str(tmp_path / "f.npz")]) == 0
    text = capsys.readouterr().out
    assert "ego, van" in text and "ego to van" in text
    assert ",ego,van," in (tmp_path / "met.csv").read_text()
    found = gc.TrajectoryContacts.load(tmp_path / "f.npz")
    assert found.info["motion"] == "body" and found.encounters().id_b.tolist() == ["van"]
    assert abs(found.time[0] - 0.12) < 1e-9


def test_a_page_of_contacts_alone_takes_the_table(tracks, tmp_path):
    contacts, page = str(tmp_path / "f.npz"), tmp_path / "page.html"
    assert main(["race", str(tracks), *NAMES, "--backend", "cpu", "--no-bodies", "-o", contacts]) == 0
    assert main(["view", contacts, str(tracks), *NAMES, "-o", str(page)]) == 0 and page.exists()


@pytest.mark.parametrize(
    "words, text",
    [
        ([], "has no column 'id'; it has trackId, t, x"),
        (["--columns", "id=track,time=t,yaw=heading"], "no column 'track'"),
        ([*NAMES, "--max-gap", "0.1"], "max_gap: expected at least the 0.2 s"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(words, text, tracks, capsys):
    assert main(["race", str(tracks), *words, "--backend", "cpu"]) == 2
    assert text in capsys.readouterr().err


def test_names_of_columns_are_checked(tracks, capsys):
    for wrong in ("color=c", "id", "id="):
        with pytest.raises(SystemExit):
            main(["race", str(tracks), "--columns", wrong])
        assert "expected NAME=COLUMN with a name out of id, time, x" in capsys.readouterr().err


def test_columns_are_for_tables(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", time=[0.0, 1])
    assert main(["race", str(tmp_path / "a.npz"), *NAMES, "--backend", "cpu"]) == 2
    assert "columns: expected None" in capsys.readouterr().err
