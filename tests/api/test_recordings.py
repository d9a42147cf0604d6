"""Recordings: what the three kinds of file hold, several races in one, and what is said about broken ones."""

import builtins

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import errors
from gpu_collide.recordings.parquet import COLUMNS
from gpu_collide.scenes import demo_race, tiled

BOX = gc.shapes.box()
TRIANGLES = np.array([loop[[0, k, k + 1]] for loop in BOX.faces for k in (1, 2)])


@pytest.fixture
def arrays():
    """A box hops along three posts, twice: two races of 6 and 4 frames."""
    rng = np.random.default_rng(4)
    position = np.zeros((10, 3))
    position[:, 0] = [*np.arange(6.0), *np.arange(4.0)]
    position[:, 1] = 0.1 * rng.normal(size=10)
    quat = rng.normal(0, 0.1, (10, 4)) + [0, 0, 0, 1]
    posts = [[2.5, 0, 1.0], [4.5, 1.0, 0.0], [1.2, 0.3, -0.8]]
    return {
        "track_vertices": np.concatenate([BOX.vertices + p for p in posts]).astype(np.float32),
        "track_faces": np.concatenate([TRIANGLES + 8 * k for k in range(3)]).astype(np.int32),
        "car_vertices": BOX.vertices.astype(np.float32),
        "car_faces": TRIANGLES.astype(np.int32),
        "time": np.array([*np.arange(6.0), *np.arange(4.0)]) * 0.1,
        "position": position,
        "quaternion_xyzw": quat / np.linalg.norm(quat, axis=1, keepdims=True),
        "race_lengths": np.array([6, 4]),
    }


@pytest.fixture
def three_bodies():
    """Positions and quaternions of three bodies in 9 frames, one of them missing in some."""
    rng = np.random.default_rng(9)
    quat = rng.normal(size=(9, 3, 4))
    return {
        "time": np.cumsum(rng.uniform(0.1, 1, 9)),
        "position": rng.normal(0, 2, (9, 3, 3)),
        "quat_wxyz": quat / np.linalg.norm(quat, axis=-1, keepdims=True),
    }


def write_parquet(path, three_bodies, missing=(), order=None, row_group_size=5, **change):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    import pyarrow.parquet as pq

    t, n = three_bodies["position"].shape[:2]
    frame, body = (a.ravel() for a in np.meshgrid(np.arange(t), np.arange(n), indexing="ij"))
    keep = np.array([(f, b) not in missing for f, b in zip(frame, body, strict=True)], bool)
    columns = {"frame": frame, "time": three_bodies["time"][frame], "body": body}
    for k, name in enumerate("xyz"):
        columns[name] = three_bodies["position"][frame, body, k]
    for k, name in enumerate(("qw", "qx", "qy", "qz")):
        columns[name] = three_bodies["quat_wxyz"][frame, body, k]
    rows = np.flatnonzero(keep)
    rows = rows if order is None else order.permutation(rows)
    columns = {
        name: np.asarray(column)[rows] if type(column) is not list else pa.array(column).take(rows)
        for name, column in {**columns, **change}.items() if column is not None
    }  # fmt: skip
    pq.write_table(pa.table(columns), path, row_group_size=row_group_size)
    return path


def same_poses(found, expected):
    np.testing.assert_array_equal(found.valid, expected.valid)
    np.testing.assert_array_equal(found.position[found.valid], expected.position[found.valid])
    np.testing.assert_array_equal(found.quat_wxyz[found.valid], expected.quat_wxyz[found.valid])


def same_result(found, expected):
    for name in ("step", "body_a", "body_b", "time", "position", "pairs", "skipped", "step_pairs"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def test_npz_of_races(arrays, tmp_path):
    np.savez(tmp_path / "race.npz", **arrays)
    recording = gc.load_recording(tmp_path / "race.npz")
    assert recording.races == [(0, 6), (6, 10)] and recording.n_steps == 8 and recording.n_bodies == 1
    assert recording.seconds == pytest.approx(0.8)
    assert recording.static.meshes[0].n_faces == 36 and recording.meshes[0].n_faces == 12
    assert not recording.meshes[0].two_sided
    assert gc.load_recording(tmp_path / "race.npz", two_sided=True).static.meshes[0].two_sided
    poses = gc.Poses.from_quat_xyzw(arrays["position"][:, None], arrays["quaternion_xyzw"][:, None])
    same_poses(recording.poses(), poses)
    assert "2 races" in repr(recording)


def test_no_step_from_one_race_to_the_next(arrays):
    recording = gc.Recording.from_arrays(arrays)
    found = recording.collide(backend="cpu")
    assert found.n_steps == recording.n_steps == 8
    assert len(found.step_pairs) == 9 and found.step_pairs[5] == 0 and 5 not in found.step
    assert len(found.of_step(2).indices(len(found))) == 3
    for first, stop in recording.races:
        alone = gc.collide_trajectories(
            recording.meshes, None, recording.poses(first, stop), recording.times[first:stop],
            static=recording.static, backend="cpu",
        )  # fmt: skip
        mine = (found.step >= first) & (found.step < stop)
        assert len(alone) == mine.sum() > 0
        np.testing.assert_array_equal(found.time[mine], alone.time)
        np.testing.assert_array_equal(found.step[mine], alone.step + first)
        assert np.abs(alone.time - recording.times[first:stop][alone.step]).max() <= 0.1 + 1e-12


@pytest.mark.parametrize(
    "lengths", [[6, 4], [6, 0, 4], [0, 6, 4], [6, 4, 0], [6, 1, 3], [5, 1, 1, 3], [6, 3, 1]]
)
def test_steps_are_counted_alike(lengths, arrays):
    recording = gc.Recording.from_arrays({**arrays, "race_lengths": lengths})
    assert recording.collide(backend="cpu").n_steps == recording.n_steps
    parts = recording.collide(stream=True, frames_per_batch=2, backend="cpu")
    counts = [part.n_steps for part in parts]
    assert sum(counts) == recording.n_steps and min(counts) > 0


def test_races_without_any_step(arrays):
    recording = gc.Recording.from_arrays({**arrays, "race_lengths": [0, *[1] * 10]})
    assert recording.n_steps == recording.collide(backend="cpu").n_steps == 0


def test_streams_and_progress(arrays):
    recording = gc.Recording.from_arrays(arrays)
    seen = []
    parts = recording.collide(
        stream=True, frames_per_batch=2, backend="cpu", progress=lambda *counts: seen.append(counts)
    )
    whole = recording.collide(backend="cpu")
    same_result(gc.TrajectoryContacts.concatenate(parts), whole)
    assert seen[-1] == (8, 8) and seen == sorted(set(seen))


def test_progress_never_repeats_itself(arrays, monkeypatch):
    """The end of one race is the beginning of the next: reported once."""

    def sweep(meshes, shape, blocks, times, *, progress, **options):
        for done in range(len(times)):
            progress(done, len(times) - 1)
        return iter(())

    monkeypatch.setattr("gpu_collide.recordings.recording.collide_trajectories", sweep)
    recording, seen = gc.Recording.from_arrays(arrays), []
    list(recording.collide(stream=True, progress=lambda *counts: seen.append(counts)))
    assert seen == [(k, 8) for k in range(9)]


def test_blocks_are_the_frames(three_bodies):
    recording = gc.Recording.from_arrays(three_bodies, meshes=BOX)
    for frames in (1, 2, 4, 9, 100):
        blocks = list(recording.blocks(frames=frames))
        assert [len(b) for b in blocks[:-1]] == [frames] * (len(blocks) - 1)
        joined = gc.Poses.from_quat_wxyz(
            np.concatenate([b.position for b in blocks]), np.concatenate([b.quat_wxyz for b in blocks])
        )
        same_poses(joined, recording.poses())
    assert [len(b) for b in recording.blocks(3, 3)] == [0]


def test_zarr_is_like_npz(arrays, three_bodies, tmp_path):
    zarr = pytest.importorskip("zarr", reason="needs zarr")
    for name, given, options in (
        ("a", arrays, {}),
        ("b", three_bodies, {"meshes": [BOX], "shape": [0, 0, 0]}),
    ):
        zarr.save_group(str(tmp_path / f"{name}.zarr"), **given)
        np.savez(tmp_path / f"{name}.npz", **given)
        from_zarr = gc.load_recording(tmp_path / f"{name}.zarr", **options)
        from_npz = gc.load_recording(str(tmp_path / f"{name}.npz"), **options)
        same_poses(from_zarr.poses(2, 5), from_npz.poses(2, 5))
        found = from_zarr.collide(backend="cpu")
        same_result(found, from_npz.collide(backend="cpu"))
        assert len(found)


@pytest.mark.parametrize("shuffled", [False, True])
def test_parquet_is_like_npz(three_bodies, tmp_path, shuffled):
    missing = {(3, 1), (8, 0)}
    order = np.random.default_rng(1) if shuffled else None
    path = write_parquet(tmp_path / "three_bodies.parquet", three_bodies, missing, order)
    recording = gc.load_recording(path, meshes=BOX)
    np.testing.assert_array_equal(recording.times, three_bodies["time"])
    assert recording.n_bodies == 3 and recording.static is None
    position, valid = three_bodies["position"].copy(), np.ones((9, 3), bool)
    for at in missing:
        position[at], valid[at] = np.nan, False
    expected = gc.Recording.from_arrays({**three_bodies, "position": position, "valid": valid}, meshes=BOX)
    same_poses(recording.poses(), expected.poses())
    same_poses(recording.poses(3, 9), expected.poses(3, 9))
    found = recording.collide(backend="cpu")
    same_result(found, expected.collide(backend="cpu"))
    assert len(found) and len(found.skipped) == 0  # who is not there is no trouble
    at_an_end = (found.pairs["step"] == 2) | (found.pairs["step"] == 3)
    assert not ((found.pairs["body_a"] == 1) | (found.pairs["body_b"] == 1))[at_an_end].any()


@pytest.mark.parametrize("suffix, package", [("zarr", "zarr"), ("parquet", "pyarrow")])
def test_a_missing_package_is_named(suffix, package, tmp_path, monkeypatch):
    (tmp_path / f"a.{suffix}").write_text("")
    real = builtins.__import__

    def refuse(name, *more):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(errors.MissingExtraError, match=r"gpu-collide\[data\]"):
        gc.load_recording(tmp_path / f"a.{suffix}")


def test_what_is_no_recording(tmp_path):
    with pytest.raises(FileNotFoundError, match="(?s)no recording .*position"):
        gc.load_recording(tmp_path / "none.npz")
    with pytest.raises(
        ValueError,
        match=r"path: expected a name ending in .*\.csv, \.xml, \.mcap or \.osi, got",
    ):
        gc.load_recording(tmp_path / "none.txt")
    for suffix in ("npz", "zarr", "parquet", "csv"):
        pytest.importorskip({"zarr": "zarr", "parquet": "pyarrow", "csv": "pyarrow"}.get(suffix, "numpy"))
        path = tmp_path / f"text.{suffix}"
        path.write_text("hello")
        with pytest.raises(ValueError, match="path: .*text"):
            gc.load_recording(path)
    np.savez(tmp_path / "poor.npz", position=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="poor.npz: no array 'time'; it has position"):
        gc.load_recording(tmp_path / "poor.npz")


@pytest.mark.parametrize(
    "change, kind, text",
    [
        ({"time": None}, ValueError, "no array 'time'"),
        ({"quaternion_xyzw": None}, ValueError, "no array 'quat_wxyz'"),
        ({"car_faces": None}, ValueError, "no array 'car_faces' beside 'car_vertices'"),
        ({"car_faces": None, "car_vertices": None}, ValueError, "meshes: expected the meshes"),
        ({"time": np.arange(9.0)}, ValueError, "time: expected one time per frame, 10, got 9"),
        (
            {"time": np.arange(10) // 2 * 1.0},
            ValueError,
            "time: expected strictly increasing.* first at frame 1",
        ),
        ({"time": np.full(10, np.nan)}, ValueError, "time: expected finite"),
        ({"position": np.zeros((10, 4))}, ValueError, "position: expected shape"),
        ({"position": np.zeros((10, 2, 3))}, ValueError, "quaternion_xyzw: expected shape"),
        ({"race_lengths": [5, 4]}, ValueError, "race_lengths: expected numbers that add up to the 10"),
        ({"race_lengths": [-1, 11]}, ValueError, "race_lengths"),
        ({"race_lengths": [10]}, ValueError, "time: expected strictly increasing.* first at frame 6"),
    ],
)
def test_bad_arrays_are_named(change, kind, text, arrays):
    changed = {k: np.asarray(v) for k, v in {**arrays, **change}.items() if v is not None}
    with pytest.raises(kind, match=text):
        gc.Recording.from_arrays(changed)


def test_bad_meshes_are_named(three_bodies):
    with pytest.raises(TypeError, match="static: expected Bodies, a Mesh or None"):
        gc.Recording.from_arrays(three_bodies, meshes=BOX, static="track")
    with pytest.raises(ValueError, match="shape: expected one mesh index per pose, 3, got 2"):
        gc.Recording.from_arrays(three_bodies, meshes=BOX, shape=[0, 0])


@pytest.mark.parametrize(
    "change, text",
    [
        ({"qz": None}, "has no column 'qz'"),
        ({"time": np.arange(27.0)}, "expected one time per frame.* in frames 0, 1.* to common times first"),
        ({"time": np.repeat([*np.arange(8.0), 6.5], 3)}, "increase with .* 1 frame not later .* first: 8"),
        ({"time": np.repeat([0.0, np.nan, *np.arange(2.0, 9)], 3)}, "time in every row.* 1 frame, first: 1"),
        ({"frame": np.arange(27) // 3 + 2**62}, "column 'frame': expected numbers up to 2"),
        (
            {"body": np.array([0.5, 1, 2] * 9)},
            "column 'body': expected integers or texts, got double",
        ),
        ({"body": [0, 1, None] * 9}, "column 'body': expected an id in each row, got rows without"),
        ({"frame": np.arange(27) / 3}, "column 'frame': expected integers"),
        ({"x": np.array(["a"] * 27)}, "column 'x': expected numbers"),
    ],
)
def test_bad_columns_are_named(change, text, three_bodies, tmp_path):
    path = write_parquet(tmp_path / "bad.parquet", three_bodies, **change)
    with pytest.raises(ValueError, match=text):
        gc.load_recording(path, meshes=BOX).poses()


def test_rows_that_repeat_are_named(three_bodies, tmp_path):
    path = write_parquet(tmp_path / "bad.parquet", three_bodies, body=np.array([0, 1, 1] * 9))
    with pytest.raises(ValueError, match="one row per frame and body, got 2 for frame 0 and body 1"):
        gc.load_recording(path, meshes=BOX).poses()
    assert len(COLUMNS) == 10


def test_an_empty_recording():
    empty = {"time": np.zeros(0), "position": np.zeros((0, 2, 3)), "quat_wxyz": np.zeros((0, 2, 4))}
    recording = gc.Recording.from_arrays(empty, meshes=BOX)
    assert recording.n_steps == 0 and recording.seconds == 0 and len(recording.collide(backend="cpu")) == 0
    none = gc.Recording.from_arrays({**empty, "race_lengths": np.zeros(0, int)}, meshes=BOX)
    assert none.races == [] and len(none.collide(backend="cpu")) == 0


def test_the_demo_race_is_a_race():
    arrays = demo_race(3, stations=60, seconds=8.0)
    again = demo_race(3, stations=60, seconds=8.0)
    assert all(np.array_equal(arrays[k], again[k]) for k in arrays)
    recording = gc.Recording.from_arrays(arrays)
    assert recording.poses().valid.all() and recording.meshes[0].closed and recording.meshes[0].volume > 0
    up = recording.static.meshes[0].face_planes[:, 2]
    assert (up > -1e-9).all(), "every face of the track looks up or to a side"
    # one jump of about 60 m, else the car's own speed
    found = recording.collide(max_speed=70.0, backend="cpu")
    assert found.skipped["reason"].tolist() == ["teleport"]


def test_tiles_are_copies():
    mesh = gc.shapes.star()
    four = tiled(mesh, 4)
    assert four.n_faces == 4 * mesh.n_faces and four.n_edges == 4 * mesh.n_edges
    np.testing.assert_array_equal(four.vertices[: mesh.n_vertices], mesh.vertices)
    low = [four.vertices[k * mesh.n_vertices : (k + 1) * mesh.n_vertices].min(axis=0) for k in range(4)]
    assert len({tuple(np.round(v, 9)) for v in low}) == 4 and len({v[2] for v in low}) == 1
    assert tiled(BOX, 3).n_faces == 18
