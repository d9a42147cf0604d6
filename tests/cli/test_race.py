"""``gpu-collide race`` from the outside: on a file, on the demo, and on what it cannot use."""

import json

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.cli import main
from gpu_collide.scenes import demo_race

SMALL = {"stations": 60, "seconds": 8.0}


@pytest.fixture(scope="module")
def arrays():
    return demo_race(2, **SMALL)


@pytest.fixture(scope="module")
def race(arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("race") / "race.npz"
    half = len(arrays["time"]) // 2
    lengths = np.array([half, len(arrays["time"]) - half])
    np.savez(path, **{**arrays, "race_lengths": lengths})
    return path


@pytest.fixture(autouse=True)
def small_demo(monkeypatch):
    monkeypatch.setattr("gpu_collide.scenes.demo_race", lambda seed: demo_race(seed, **SMALL))


def run(*words, code=0):
    assert main(["race", *map(str, words), "--plain", "--backend", "cpu"]) == code


def value(text, name):
    """The cell beside `name` in the tables that were printed."""
    rows = [line.strip() for line in text.splitlines()]
    return next(row[len(name) :].strip() for row in rows if row.startswith(name + "  "))


def test_help_teaches(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["race", "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "gpu-collide race --demo" in text and "quaternion_xyzw" in text


def test_a_file_in_contacts_and_picture_out(race, arrays, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    run(race, "--max-speed", 70, "-o", tmp_path / "found", "--picture", tmp_path / "track.png")
    captured = capsys.readouterr()
    found = gc.TrajectoryContacts.load(tmp_path / "found.npz")
    expected = gc.load_recording(race).collide(max_speed=70.0, backend="cpu")
    assert len(expected) > 0
    for name in ("step", "time", "position", "pairs", "skipped", "step_pairs"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    out = captured.out
    assert value(out, "lasted").endswith("in 2 races")
    assert value(out, "steps") == str(len(arrays["time"]) - 2)
    assert value(out, "faces of the track") == f"{60 * 32:,}"
    assert value(out, "contacts") == str(len(expected))
    hit = len(np.unique(expected.step))
    assert value(out, "steps with contact").startswith(f"{hit} (")
    assert "faster than driven" in out and "Encounters" in out
    assert f"{expected.encounters().first_time[0]:.3f}" in out
    assert "teleport" in out
    assert (tmp_path / "track.png").stat().st_size > 20000
    assert "ready after" in captured.err


def test_exits_are_in_the_file(race, tmp_path):
    run(race, "--exit", "-q", "--max-speed", 70, "-o", tmp_path / "found")
    found = gc.TrajectoryContacts.load(tmp_path / "found.npz")
    expected = gc.load_recording(race).collide(max_speed=70.0, exit=True, backend="cpu")
    assert np.isfinite(expected.exit).any()
    np.testing.assert_array_equal(found.exit, expected.exit)


def test_the_demo_needs_no_file(capsys):
    run("--demo", "--seed", 2, "-q", "--no-table")
    out = capsys.readouterr().out
    assert "demo, seed 2" in out and "teleport" in out


def test_the_table_changes_no_fact(race, capsys):
    facts = []
    for words in ([], ["--no-table"]):
        run(race, "-q", *words)
        text = capsys.readouterr().out
        assert ("near features" in text or "spheres" in text) == (not words)
        facts.append(
            [value(text, n) for n in ("steps with track or bodies near", "steps with contact", "contacts")]
        )
    assert facts[0] == facts[1]


def test_tiles_change_the_track_and_not_the_contacts(race, tmp_path, capsys):
    for tiles in (1, 4):
        run(race, "--tile", tiles, "-o", tmp_path / f"{tiles}.npz", "-q")
        assert value(capsys.readouterr().out, "faces of the track") == f"{60 * 32 * tiles:,}"
    one, four = (gc.TrajectoryContacts.load(tmp_path / f"{tiles}.npz") for tiles in (1, 4))
    for name in ("step", "kind", "feature_a"):
        np.testing.assert_array_equal(getattr(one, name), getattr(four, name))
    # the mesh's centre moves with the copies: worst difference seen 4e-15
    np.testing.assert_allclose(one.time, four.time, rtol=0, atol=1e-11)


def test_limits_of_speed_and_turn(race, tmp_path, capsys):
    run(race, "--max-speed", 1e-3, "-q")
    out = capsys.readouterr().out
    assert value(out, "contacts") == "0" and "teleport" in out
    assert value(out, "steps looked at") == "0 (0.0 %)"
    assert "No step was looked at: all" in out and "--max-speed" in out and "faster than driven" not in out
    run(race, "--max-turn", 2.0, "-o", tmp_path / "turned.npz", "-q")
    recording = gc.load_recording(race)
    found = gc.TrajectoryContacts.load(tmp_path / "turned.npz")
    expected = recording.collide(max_turn=np.radians(2.0), backend="cpu")
    assert 0 < len(expected.skipped) == len(found.skipped)


def test_options_of_the_query(race, tmp_path):
    counts = []
    for words in (["--first"], [], ["--min-properness", "-1"], ["--min-properness", "-1", "--two-sided"]):
        run(race, "-o", tmp_path / "found.npz", "-q", *words)
        counts.append(len(gc.TrajectoryContacts.load(tmp_path / "found.npz")))
    assert 0 < counts[0] < counts[1] < counts[2] <= counts[3]


def test_meshes_from_files(arrays, tmp_path, capsys):
    pytest.importorskip("trimesh", reason="reading mesh files needs trimesh")
    names = [n for n in arrays if not n.startswith(("car", "track"))]
    np.savez(tmp_path / "bare.npz", **{n: arrays[n] for n in names})
    for name in ("car", "track"):
        with open(tmp_path / f"{name}.obj", "w") as file:
            file.writelines("v {} {} {}\n".format(*v) for v in arrays[f"{name}_vertices"].tolist())
            file.writelines("f {} {} {}\n".format(*(f + 1)) for f in arrays[f"{name}_faces"])
    run(tmp_path / "bare.npz", code=2)
    assert "give it with --car-mesh" in capsys.readouterr().err
    words = ["--car-mesh", tmp_path / "car.obj", "--track-mesh", tmp_path / "track.obj"]
    run(tmp_path / "bare.npz", *words, "-q", "-o", tmp_path / "found.npz")
    expected = gc.Recording.from_arrays(arrays).collide(backend="cpu")
    found = gc.TrajectoryContacts.load(tmp_path / "found.npz")
    assert set(found.step.tolist()) == set(expected.step.tolist())


@pytest.mark.parametrize(
    "words, text",
    [
        (["none.npz"], "no recording 'none.npz'"),
        (["none.txt"], "expected a name ending in .npz, .zarr, .parquet"),
        (["--demo", "-o", "no/such/folder/a.npz"], "no such folder"),
        (["--demo", "--picture", "track.xyz"], "expected a name ending in one of"),
        (["--demo", "--tile", 10**8], "--tile: expected at most 5,208 copies"),
    ],
)
def test_what_cannot_be_used_is_told(words, text, capsys):
    if "--picture" in words:
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    run(*words, code=2)
    assert text in capsys.readouterr().err


def test_tile_wants_a_track(arrays, tmp_path, capsys):
    bare = {n: a for n, a in arrays.items() if not n.startswith("track")}
    np.savez(tmp_path / "bare.npz", **bare)
    run(tmp_path / "bare.npz", "--tile", 2, code=2)
    assert "--tile: expected a recording with one track" in capsys.readouterr().err
    run(tmp_path / "bare.npz", "-q")
    assert value(capsys.readouterr().out, "contacts") == "0"


@pytest.mark.parametrize(
    "words, text",
    [
        (["--seed", "-1"], "argument --seed: expected a whole number from 0 up, got '-1'"),
        (["--max-turn", "270"], "argument --max-turn: expected at most 180 degrees"),
        (["--tile", "0"], "argument --tile: expected a whole number above 0"),
    ],
)
def test_options_out_of_range_are_named(words, text, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["race", "--demo", *words])
    assert stop.value.code == 2 and text in capsys.readouterr().err


def test_seeds_of_the_demo():
    with pytest.raises(ValueError, match="seed: expected an integer from 0 up, got -1"):
        demo_race(-1)
    with pytest.raises(TypeError, match="seed: expected an integer, got float"):
        demo_race(1.5)


def test_why_nothing_was_found(arrays, tmp_path, capsys):
    bare = {n: a for n, a in arrays.items() if not n.startswith("track")}
    for change, text in (
        (
            {**arrays, "position": arrays["position"] + [0, 0, 500.0]},
            "No body was ever near the track: are they",
        ),
        ({**arrays, "position": arrays["position"] * np.nan}, "(invalid). Remedy: poses must be finite"),
        ({**arrays, "race_lengths": np.ones(len(arrays["time"]), int)}, "There was no step to look at"),
        (bare, "There was nothing to meet"),
        (arrays, None),
    ):
        np.savez(tmp_path / "odd.npz", **change)
        run(tmp_path / "odd.npz", "-q")
        out = capsys.readouterr().out
        assert text in out if text else not any(word in out for word in ("No ", "There was"))


def test_bodies_that_separate(tmp_path, capsys):
    """A box sinks into another, or comes out of it: then its approach is below 0."""
    from gpu_collide.cli.race import ENCOUNTER_COLUMNS, encounter_rows

    box = gc.shapes.box()
    loops = np.array([loop[[0, k, k + 1]] for loop in box.faces for k in (1, 2)])
    mesh = {
        f"{n}_{a}": v for n in ("car", "track") for a, v in (("vertices", box.vertices), ("faces", loops))
    }
    for name, heights in (("down", [2.0, 0.8]), ("up", [0.8, 2.0])):
        race = {**mesh, "time": [0.0, 1.0], "position": [[0.1, 0.2, h] for h in heights]}
        race["quat_wxyz"] = np.array([[1.0, 0, 0, 0], [1.0, 0, 0, 0]])
        np.savez(tmp_path / f"{name}.npz", **race)
        run(tmp_path / f"{name}.npz", "-q", "--min-properness", "-1")
        found = gc.load_recording(tmp_path / f"{name}.npz").collide(min_properness=-1.0, backend="cpu")
        assert len(found)
        row = encounter_rows(found.encounters())[0]
        approach, out = float(row[ENCOUNTER_COLUMNS.index("approach")]), capsys.readouterr().out
        assert (approach < 0) == (name == "up") == ("A negative approach: the bodies separate" in out)
        assert ("already in touch" in out) == (name == "up")


def test_bodies_of_several_shapes(tmp_path, capsys):
    """A box and a longer one drive into each other: which is which decides when."""
    for name, size in (("short", (1, 1, 1)), ("long", (3, 1, 1))):
        mesh = gc.shapes.box(size)
        with open(tmp_path / f"{name}.obj", "w") as file:
            file.writelines("v {} {} {}\n".format(*v) for v in mesh.vertices.tolist())
            file.writelines("f " + " ".join(str(v + 1) for v in loop) + "\n" for loop in mesh.faces)
    position = [[[-4.0, 0, 0], [4.0, 0.1, 0.2]], [[0.0, 0, 0], [0.0, 0.1, 0.2]]]
    quat = np.broadcast_to([1.0, 0, 0, 0], (2, 2, 4))
    np.savez(tmp_path / "two.npz", time=[0.0, 1.0], position=position, quat_wxyz=quat)
    meshes = ["--car-mesh", tmp_path / "short.obj", "--car-mesh", tmp_path / "long.obj"]
    first = []
    for words in ([], ["--shapes", "0,1"], ["--shapes", "0,0"], ["--shapes", "1,1"]):
        run(tmp_path / "two.npz", *meshes, *words, "-q", "-o", tmp_path / "found.npz")
        first.append(gc.TrajectoryContacts.load(tmp_path / "found.npz").time.min())
    np.testing.assert_allclose(first, [6 / 8, 6 / 8, 7 / 8, 5 / 8])
    capsys.readouterr()
    for words, text in (
        (["--shapes", "0"], "--shapes: expected 2 numbers from 0 to 1"),
        (["--shapes", "0,2"], "got 0,2"),
        ([*meshes[:2]], "--shapes: expected 2 numbers from 0 to 2"),
    ):
        run(tmp_path / "two.npz", *meshes, *words, "-q", code=2)
        assert text in capsys.readouterr().err


def test_tables_of_contacts_and_encounters(race, tmp_path, capsys):
    out = [tmp_path / "contacts.csv", tmp_path / "met.json"]
    run(race, "-q", "-o", out[0], "--encounters", out[1])
    found = gc.load_recording(race).collide(backend="cpu")
    assert len(out[0].read_text().splitlines()) == 1 + len(found)
    rows = json.loads(out[1].read_text())["data"]
    assert [row["first_time"] for row in rows] == found.encounters().first_time.tolist()
    assert f"{rows[-1]['last_time']:.3f}" in capsys.readouterr().out
    run(race, "-q", "--encounters", tmp_path / "met.txt", code=2)
    assert "--encounters: expected a name ending in .npz, .csv" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["a.npz", "--demo"]])
def test_a_file_or_the_demo(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["race", *words])
    assert stop.value.code == 2


def test_pictures_know_what_is_up(arrays):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    import matplotlib.pyplot as plt

    from gpu_collide.view import track as view

    recording = gc.Recording.from_arrays(arrays)
    found = recording.collide(backend="cpu")
    position = recording.poses().position
    assert view.up_axis(recording.static, position) == 2
    assert view.up_axis(None, position) == 2
    figure = view.plot_track(recording, found)
    assert figure.axes[0].get_aspect() == 1.0
    # seen from above: turning from the right of the picture to its top is turning left
    for up in range(3):
        flat = view._Flat(position, up)
        assert np.cross(flat.right, flat.top) @ np.eye(3)[up] == 1.0
    marks = figure.axes[0].collections[-1].get_offsets()
    assert len(marks) == (np.diff(found.contact_start) > 0).sum()
    plt.close(figure)


def test_pictures_without_motion_show_the_track(arrays):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    import matplotlib.pyplot as plt

    from gpu_collide.view.track import plot_track

    size = np.ptp(arrays["track_vertices"], axis=0)
    for frames in ([], [0], [0, 0, 0]):
        still = {n: a[frames] if n in ("position", "quaternion_xyzw") else a for n, a in arrays.items()}
        still |= {"time": np.arange(len(frames)), "race_lengths": [len(frames)]}
        recording = gc.Recording.from_arrays(still)
        figure = plot_track(recording, recording.collide(backend="cpu"), up=2)
        (left, right), (low, high) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
        assert size[0] < right - left < 1.5 * size[0] and size[1] < high - low < 1.5 * size[1]
        figure.canvas.draw()
        plt.close(figure)


def test_pictures_of_nothing():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    import matplotlib.pyplot as plt

    from gpu_collide.view.track import plot_track

    for t, far in ((0, 0.0), (1, 0.0), (3, 0.0), (3, np.nan)):
        poses = {
            "time": np.arange(t),
            "position": np.full((t, 2, 3), far),
            "quat_wxyz": np.ones((t, 2, 4)) / 2,
        }
        recording = gc.Recording.from_arrays(poses, meshes=gc.shapes.box())
        figure = plot_track(recording, recording.collide(backend="cpu"))
        figure.canvas.draw()
        plt.close(figure)
