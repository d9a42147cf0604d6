"""Recordings from tables of vehicles: ids, sizes, clocks, gaps; beside a slow obvious construction."""

import dataclasses
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from tests.api._vehicles import CAR, rows, two_cars


def same(a, b):
    for name in ("step", "body_a", "body_b", "time", "position", "normal", "pairs", "skipped"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def obvious(table, max_gap, **options):
    """(id, id, time, position) of contacts, vehicle by vehicle and step by step in plain Python."""
    tracks, sizes = {}, {}
    for k, (name, t) in enumerate(zip(table["id"], table["time"], strict=True)):
        size = [table[s][k] for s in ("length", "width", "height")]
        tracks.setdefault(name, {})[t] = (table["x"][k], table["y"][k], table["z"][k], table["yaw"][k])
        sizes[name] = np.maximum(sizes.get(name, np.zeros(3)), size)

    def pose(x, y, z, yaw):
        return gc.Poses.from_yaw([[x, y, z]], [yaw])

    def at(name, t):
        track = tracks[name]
        if t in track:
            return pose(*track[t])
        before, after = [u for u in track if u < t], [u for u in track if u > t]
        if not before or not after or min(after) - max(before) > max_gap:
            return None
        u, v = max(before), min(after)
        return pose(*track[u]).toward(pose(*track[v]), (t - u) / (v - u))

    def drives(name, t0, t1):
        return at(name, t0) is not None and at(name, t1) is not None and not (
            t0 in tracks[name] and t1 in tracks[name] and t1 - t0 > max_gap
        )  # fmt: skip

    found = []
    times = sorted({t for track in tracks.values() for t in track})
    order = sorted(tracks, key=lambda name: (isinstance(name, str), name))
    for t0, t1 in itertools.pairwise(times):
        there = [name for name in order if drives(name, t0, t1)]
        for a, b in itertools.combinations(there, 2):
            ends = [gc.Poses.concatenate([at(a, t), at(b, t)]) for t in (t0, t1)]
            bodies = gc.Bodies([gc.shapes.box(sizes[a]), gc.shapes.box(sizes[b])], [0, 1], *ends)
            met = gc.collide(bodies, [[0, 1]], backend="cpu", **options)
            found += [
                (a, b, min(t0 + f * (t1 - t0), t1), tuple(p))
                for f, p in zip(met.time.tolist(), met.position.tolist(), strict=True)
            ]
    return found


@given(
    seed=st.integers(0, 1 << 20), kind=st.sampled_from(["integers", "texts", "mixed"]),
    clocks=st.sampled_from(["one", "uneven", "own"]), missing=st.sampled_from([0.0, 0.2, 0.6]),
    motion=st.sampled_from(["relative", "body"]),
)  # fmt: skip
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_tables_are_what_is_obvious(seed, kind, clocks, missing, motion):
    """Vehicles that appear, leave and are away, rows in no order, one clock or one for each."""
    rng = np.random.default_rng(seed)
    names = {"integers": [1007, -3, 40], "texts": ["van", "bus 2", "ego"], "mixed": ["ego", 12, 3]}[kind]
    times = 17.0 + (np.arange(6) * 0.1 if clocks != "uneven" else np.cumsum(rng.uniform(0.05, 0.15, 6)))
    columns = {name: [] for name in ("id", "time", "x", "y", "z", "yaw", *CAR)}
    for name in names:
        way, speed, yaw, spin = (
            rng.uniform(-3, 3, 2),
            rng.uniform(-20, 20, 2),
            rng.uniform(-4, 4),
            rng.normal(0, 2),
        )
        mine = times + (rng.uniform(0, 0.1) if clocks == "own" else 0.0)
        for t in mine[rng.uniform(size=6) >= missing]:
            x, y = way + speed * (t - 17.2)
            size = rng.uniform([3, 1.5, 1], [5, 2.5, 2])
            for column, value in zip(
                columns, (name, t, x, y, 0.1 * rng.normal(), yaw + spin * (t - 17), *size), strict=True
            ):
                columns[column].append(value)
    order = rng.permutation(len(columns["x"]))
    table = {name: [values[k] for k in order] for name, values in columns.items()}
    of = np.array([str(name) for name in table["id"]])
    steps = np.concatenate([np.diff(np.sort(np.array(table["time"])[of == str(name)])) for name in names])
    max_gap = 0.16 if clocks == "own" or min(steps, default=0) < 0.16 else max(steps, default=1.0)
    if min(steps, default=0) > max_gap:
        with pytest.raises(ValueError, match="max_gap: expected at least"):
            gc.Recording.from_table(table, max_gap=max_gap)
        return
    recording = gc.Recording.from_table(table, max_gap=max_gap)
    found = recording.collide(backend="cpu", motion=motion)
    told = zip(
        found.id_a.tolist(),
        found.id_b.tolist(),
        found.time.tolist(),
        map(tuple, found.position.tolist()),
        strict=True,
    )
    assert sorted(told, key=str) == sorted(obvious(table, max_gap, motion=motion), key=str)
    assert len(found.skipped) == 0
    parts = recording.collide(backend="cpu", motion=motion, stream=True, frames_per_batch=2)
    same(gc.TrajectoryContacts.concatenate(parts), found)


@pytest.mark.parametrize("start", [0.0, -7.25, 1.7e9])
def test_ids_and_times_come_back_everywhere(start, tmp_path):
    """Also with 1.7e9 s on the clock, where a float holds 2.4e-7 s."""
    found = gc.Recording.from_table(two_cars(start=start)).collide(backend="cpu")
    met = found.encounters()
    for result in (found, met, found[0], met[0], list(found)[0]):
        names = (
            [result["id_a"], result["id_b"]]
            if isinstance(result, np.void)
            else [*result.id_a[:1], *result.id_b[:1]]
        )
        assert names == ["ego", "van"]
    assert abs(met.first_time[0] - (start + 0.12)) <= 2.4e-7 and "ego and van" in repr(met) + repr(found)
    found.save(tmp_path / "found.npz")
    met.save(tmp_path / "met.npz")
    assert gc.TrajectoryContacts.load(tmp_path / "found.npz").id_b.tolist() == found.id_b.tolist()
    assert gc.Encounters.load(tmp_path / "met.npz").id_a.tolist() == ["ego"]
    met.save(tmp_path / "met.csv")
    assert "ego,van" in (tmp_path / "met.csv").read_text()
    assert len(found.of_ids("ego")) == len(found.of_ids("van", "ego")) == len(found) > 0
    with pytest.raises(KeyError, match="'bus'.*no body has this id; it has 'ego', 'van'"):
        found.of_ids("bus")
    with pytest.raises(KeyError, match="have no ids"):
        gc.collide_trajectories(gc.shapes.box(), None, gc.Poses.identity((2, 1)), [0, 1]).of_ids("ego")


def test_ids_in_damaged_files_are_noticed(tmp_path):
    found = gc.Recording.from_table(two_cars()).collide(backend="cpu")
    for wrong in (["ego"], {"ego": 0}, [["ego"], "van"]):
        for result in (found, found.encounters()):
            dataclasses.replace(result, info={**found.info, "ids": wrong}).save(tmp_path / "f.npz")
            with pytest.raises(ValueError, match="f.npz.*info: expected"):
                type(result).load(tmp_path / "f.npz")


def test_shapes_and_quaternions_in_place_of_boxes_and_headings():
    """The columns of files of poses, with a mesh of each body's own."""
    table = two_cars()
    quat = gc.Poses.from_yaw(np.zeros((4, 3)), table["yaw"]).quat_wxyz
    given = {
        **{name: table[name] for name in ("id", "time", "x", "y")},
        **dict(zip("wijk", quat.T, strict=True)),
    }
    meshes = [gc.shapes.box((4.0, 2, 1.5)), gc.shapes.star()]
    found = gc.Recording.from_table(given, quat_wxyz="wijk", meshes=meshes[0]).collide(backend="cpu")
    same(found, gc.Recording.from_table(table).collide(backend="cpu"))
    other = gc.Recording.from_table(given, quat_wxyz=[*"wijk"], meshes=meshes, shape=[1, 0])
    assert other.meshes[1].n_faces == meshes[1].n_faces and other.shape.tolist() == [1, 0]


def test_zarr_groups_have_ids_and_who_is_there(tmp_path):
    zarr = pytest.importorskip("zarr", reason="needs zarr")
    there = np.array([[True, True], [True, True], [True, False]])
    given = {
        "time": np.arange(3.0), "position": np.arange(18.0).reshape(3, 2, 3), "id": np.array([30, 20]),
        "quat_wxyz": np.tile([1.0, 0, 0, 0], (3, 2, 1)), "valid": there,
    }  # fmt: skip
    zarr.save_group(str(tmp_path / "a.zarr"), **given)
    np.savez(tmp_path / "a.npz", **given)
    for name in ("a.zarr", "a.npz"):
        recording = gc.load_recording(tmp_path / name, meshes=gc.shapes.box())
        assert recording.ids.tolist() == [30, 20]
        np.testing.assert_array_equal(recording.there(1, 3), there[1:])


def test_pages_and_kept_recordings_have_ids(tmp_path):
    """A result kept with its recording comes back with ids and with who was there."""
    table = two_cars(("ego", 7))
    table = {name: values[:3] for name, values in table.items()}  # the second car is there once
    recording = gc.Recording.from_table(table)
    found = recording.collide(backend="cpu")
    gc.view.save_result(found, recording, tmp_path / "kept.npz")
    again = gc.view.load_result(tmp_path / "kept.npz")
    assert again[1].ids.tolist() == [7, "ego"] and again[0].info["ids"] == [7, "ego"]
    np.testing.assert_array_equal(again[1].there(), recording.there())
    gc.view.page(found, recording, tmp_path / "page.html")


@pytest.mark.parametrize(
    "ids, column", [(("ego", "van"), "string"), ((7, 4_000_000_000), "int64"), (("ego", 7), "string")]
)
@pytest.mark.parametrize("ground", [False, True])
def test_ids_in_tables_have_one_type(ids, column, ground, tmp_path):
    """Integers stay integers, of several kinds texts are made; what stands still has none."""
    static = None
    if ground:
        here = gc.Poses.from_yaw([[0, 0, -1.2]], [0.0])
        static = gc.Bodies(gc.shapes.box((50, 50, 1)), None, here, here)
    found = gc.Recording.from_table(two_cars(ids), static=static).collide(backend="cpu")
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    for table in ("contacts", "pairs", "skipped"):
        arrow = found.to_arrow(table)
        names = ("id",) if table == "skipped" else ("id_a", "id_b")
        assert all(str(arrow.schema.field(name).type) == column for name in names)
    told = found.to_arrow("pairs").to_pydict()
    assert (None in told["id_b"]) == ground and None not in told["id_a"]
    numbers = dict(enumerate(sorted(ids, key=lambda i: (isinstance(i, str), i))))
    assert all(str(numbers.get(b)) == str(i) for b, i in zip(told["body_b"], told["id_b"], strict=True))
    assert found.id_b.tolist() == [numbers.get(k) for k in found.body_b.tolist()]
    pytest.importorskip("pandas", reason="needs pandas")
    frame = found.to_pandas("pairs")
    assert frame["id_b"].isna().any() == ground
    if column == "int64":
        assert str(frame["id_a"].dtype) in ("int64", "Int64")
    for suffix in ("csv", "json", "parquet"):
        found.save(tmp_path / f"t.{suffix}")


def test_ids_of_thousands():
    """Ids of 1000 + 7k and of any text are as many bodies as there are, in their order."""
    n = 3000
    order = np.random.default_rng(3).permutation(2 * n)
    for ids in (1000 + 7 * np.arange(n), np.array([f"v{k:05}" for k in range(n)])):
        x, time = 20.0 * np.tile(np.arange(n), 2), np.repeat([5.0, 5.1], n)
        recording = gc.Recording.from_table(rows(id=np.tile(ids, 2)[order], time=time[order], x=x[order]))
        assert recording.n_bodies == n and recording.ids.tolist() == ids.tolist()
        assert len(recording.meshes) == 1 and recording.poses().valid.all()
        assert len(recording.collide(backend="cpu")) == 0


def test_a_step_in_which_a_vehicle_is_away_has_no_contact_of_it():
    """Car two is away at the third of five times; car one touches it all the time."""
    times = np.arange(5) * 0.1
    table = rows(
        id=["a"] * 5 + ["b"] * 4,
        time=[*times, *np.delete(times, 2)],
        x=[*(3.0 + 2 * times), *np.full(4, 7.2)],
    )
    recording = gc.Recording.from_table(table)
    found = recording.collide(backend="cpu")
    assert set(found.pairs["step"].tolist()) <= {0, 3} and len(found.skipped) == 0 and len(found.pairs)
    assert recording.there().tolist() == [[True, True]] * 2 + [[True, False]] + [[True, True]] * 2
    bridged = gc.Recording.from_table(table, max_gap=0.2)
    assert bridged.there().all() and set(bridged.collide(backend="cpu").pairs["step"].tolist()) >= {1, 2}


def test_no_step_leads_over_a_time_without_anyone():
    times = np.array([0, 0.1, 0.2, 0.5, 0.6])
    table = rows(id=np.repeat([1, 2], 5), time=np.tile(times, 2), x=[*(100 * times), *np.full(5, 40.0)])
    recording = gc.Recording.from_table(table)
    assert recording.races == [(0, 3), (3, 5)] and recording.times.tolist() == times.tolist()
    assert len(recording.collide(backend="cpu").pairs) == 0  # the way through car 2 is in no row
    assert len(gc.Recording.from_table(table, max_gap=0.4).collide(backend="cpu").pairs)


def test_a_turn_over_the_half_is_a_small_one():
    """From 179 to -179 degrees are 2 degrees: the long car does not sweep round."""
    table = rows(
        id=[1, 1, 2, 2], time=[0, 0.1, 0, 0.1], x=[0.0, 0, 0, 0], y=[0.0, 0, 4, 4], yaw=[179.0, -179, 0, 0],
        length=[10.0, 10, 1, 1], width=[1.0] * 4,
    )  # fmt: skip
    for motion in ("relative", "body"):
        assert (
            len(gc.Recording.from_table(table, degrees=True).collide(backend="cpu", motion=motion).pairs) == 0
        )
    half = gc.Recording.from_table(table, degrees=True).poses()[0].toward(
        gc.Recording.from_table(table, degrees=True).poses()[1], 0.5
    )  # fmt: skip
    assert abs(abs(half.apply([1.0, 0, 0])[0, 0]) - 1) < 1e-12


def test_times_that_differ_by_rounding_are_one_frame():
    table = two_cars(start=1.7e9)
    table["time"] = table["time"] + np.array([0, 0, 3e-7, -3e-7])
    assert len(gc.Recording.from_table(table).times) == 2
    fine = rows(id=[1] * 4, time=1e-7 * np.arange(4), x=np.zeros(4))
    assert len(gc.Recording.from_table(fine).times) == 4  # a crash, computed in steps of 0.1 us


def test_own_clocks_are_bridged_on_the_arc():
    """Two cars on a circle of radius 30, each with its own clock: at all frames both are on it."""
    times = np.concatenate([0.1 * np.arange(9), 0.037 + 0.1 * np.arange(8)])
    angle = 0.5 * times + np.repeat([0.0, 1.0], [9, 8])
    table = rows(
        id=np.repeat(["a", "b"], [9, 8]), time=times, x=30 * np.sin(angle), y=-30 * np.cos(angle), yaw=angle
    )
    recording = gc.Recording.from_table(table)
    there, poses = recording.there(), recording.poses()
    assert len(recording.times) == 17 and there.sum() == 2 * 17 - 2
    radius = np.linalg.norm(poses.position[there][:, :2], axis=-1)
    ahead = poses[there].apply([1.0, 0, 0])[:, :2] - poses.position[there][:, :2]
    expected = (0.5 * recording.times[:, None] + [0.0, 1.0])[there]
    assert np.abs(radius - 30).max() < 2e-14  # worst measured: 3.6e-15
    assert np.abs(ahead - np.stack([np.cos(expected), np.sin(expected)], axis=-1)).max() < 2e-14  # 1.9e-15


def test_a_changing_size_is_the_largest():
    table = two_cars()
    table["length"] = np.array([4.0, 4.5, np.nan, 6.0])
    sizes = [np.ptp(mesh.vertices, axis=0).tolist() for mesh in gc.Recording.from_table(table).meshes]
    assert sizes == [[4.5, 2.0, 1.5], [6.0, 2.0, 1.5]]
    assert len(gc.Recording.from_table(two_cars(), length=5, width=2.5, height=1).meshes) == 1


def test_vehicles_of_one_row_are_there_and_move_nowhere():
    table = rows(id=["a", "b", "a"], time=[0.0, 0.1, 0.1], x=[0.0, 1, 0])
    recording = gc.Recording.from_table(table)
    assert recording.n_bodies == 2 and len(recording.collide(backend="cpu").pairs) == 0
    alone = gc.Recording.from_table(rows(id=["a"], time=[3.0], x=[0.0]))
    assert alone.n_steps == 0 and len(alone.collide(backend="cpu")) == 0
    none = gc.Recording.from_table(rows(id=[], time=[], x=[]))
    assert none.n_bodies == 0 and len(none.collide(backend="cpu")) == 0


def test_a_row_that_is_no_pose_is_told():
    table = two_cars()
    table["x"][3] = np.nan
    found = gc.Recording.from_table(table).collide(backend="cpu")
    assert [found.ids_of(found.skipped["body"]).tolist(), found.skipped["reason"].tolist()] == [
        ["van"],
        ["invalid"],
    ]


def test_waymo_arrays_are_a_table():
    """Arrays (objects, steps) with ids (objects, 1) and times (steps,); what is not valid is not there."""
    rng, (n, t) = np.random.default_rng(5), (12, 20)
    valid = rng.uniform(size=(n, t)) < 0.8
    start, speed = rng.uniform(-15, 15, (n, 2, 1)), rng.uniform(-8, 8, (n, 2, 1))
    x, y = np.where(valid, (start + speed * 0.1 * np.arange(t)).swapaxes(0, 1), -1.0)
    yaw = np.where(valid, np.arctan2(speed[:, 1], speed[:, 0]), -1.0)
    size = {name: np.where(valid, value, -1.0) for name, value in CAR.items()}
    ids, times = rng.permutation(900)[:n], 0.1 * np.arange(t)
    recording = gc.Recording.from_table(
        {"id": ids[:, None], "time": times, "x": x, "y": y, "heading": yaw, **size, "ok": valid.astype(int)},
        yaw="heading", valid="ok",
    )  # fmt: skip
    order = np.argsort(ids)
    np.testing.assert_array_equal(recording.there(), valid[order].T)
    found = recording.collide(backend="cpu")
    arrays = {
        "time": times, "position": np.stack([x, y, 0 * x], axis=-1)[order].swapaxes(0, 1), "id": ids[order],
        "quat_wxyz": gc.Poses.from_yaw(np.zeros((t, n, 3)), yaw[order].T).quat_wxyz, "valid": valid[order].T,
    }  # fmt: skip
    again = gc.Recording.from_arrays(arrays, meshes=gc.shapes.box(tuple(CAR.values()))).collide(backend="cpu")
    same(found, again)
    assert len(found) and found.id_a.tolist() == again.id_a.tolist()


def library(name, table):
    columns = {k: v.tolist() for k, v in table.items()}
    if name == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    if name == "pandas-nullable":
        return pytest.importorskip("pandas").DataFrame(columns).convert_dtypes()
    if name == "pandas-category":
        frame = pytest.importorskip("pandas").DataFrame(columns)
        return frame.assign(id=frame["id"].astype("category"))
    if name == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    if name == "polars":
        return pytest.importorskip("polars", reason="needs polars").DataFrame(columns)
    return np.rec.fromarrays(list(table.values()), names=list(table)) if name == "records" else columns


@pytest.mark.parametrize(
    "name", ["pandas", "pandas-nullable", "pandas-category", "pyarrow", "polars", "records", "lists"]
)
@pytest.mark.parametrize("ids", [("ego", "van"), (7, 3)])
def test_tables_of_every_library_are_one(name, ids):
    table = two_cars(ids)
    table["id"] = np.array(table["id"].tolist())
    found = gc.Recording.from_table(library(name, table)).collide(backend="cpu")
    expected = gc.Recording.from_table(table).collide(backend="cpu")
    same(found, expected)
    assert found.info["ids"] == expected.info["ids"] and type(found.info["ids"][0]) is type(ids[0])


def test_parquet_and_csv_hold_the_same_table(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    from pyarrow import csv, parquet

    table = {**two_cars(), "id": np.array(["ego", "ego", "van", "van"])}
    parquet.write_table(pa.table(table), tmp_path / "t.parquet")
    csv.write_csv(pa.table(table).rename_columns({"id": "trackId"}), tmp_path / "t.csv")
    expected = gc.Recording.from_table(table).collide(backend="cpu")
    same(gc.load_recording(tmp_path / "t.parquet").collide(backend="cpu"), expected)
    read = gc.load_recording(tmp_path / "t.csv", columns={"id": "trackId"})
    same(read.collide(backend="cpu"), expected)
    with pytest.raises(ValueError, match="t.csv: id: the table has no column 'id'; it has y, yaw, .*trackId"):
        gc.load_recording(tmp_path / "t.csv")
    np.savez(tmp_path / "a.npz", time=[0.0])
    with pytest.raises(ValueError, match="columns: expected None"):
        gc.load_recording(tmp_path / "a.npz", columns={"id": "trackId"})


def test_recordings_of_tables_can_be_pickled_and_cut():
    recording = gc.Recording.from_table(two_cars(("a", 3)))
    again = pickle.loads(pickle.dumps(recording))
    same(again.collide(backend="cpu"), recording.collide(backend="cpu"))
    assert again.ids.tolist() == [3, "a"]


def test_every_backend_has_the_same_bits(backend):
    recording = gc.Recording.from_table(two_cars())
    for motion in ("relative", "body"):
        same(
            recording.collide(backend=backend.name, motion=motion),
            recording.collide(backend="cpu", motion=motion),
        )


def test_there_of_trajectories():
    """Bodies that are away by `there`, whatever their poses say, beside NaN; in blocks and at once."""
    rng = np.random.default_rng(2)
    position, there = rng.normal(0, 1.5, (8, 5, 3)), rng.uniform(size=(8, 5)) < 0.7
    quat = np.tile([1.0, 0, 0, 0], (8, 5, 1))
    poses, gone = gc.Poses.from_quat_wxyz(position, quat), np.where(there[..., None], position, np.nan)
    expected = gc.collide_trajectories(
        gc.shapes.box(), None, gc.Poses.from_quat_wxyz(gone, quat), np.arange(8.0), backend="cpu"
    )
    found = gc.collide_trajectories(gc.shapes.box(), None, poses, np.arange(8.0), there=there, backend="cpu")
    np.testing.assert_array_equal(found.time, expected.time)
    np.testing.assert_array_equal(found.pairs, expected.pairs)
    assert len(found) and len(found.skipped) == 0 < len(expected.skipped)
    blocks = ((poses[k : k + 3], there[k : k + 3]) for k in (0, 3, 6))
    same(gc.collide_trajectories(gc.shapes.box(), None, blocks, np.arange(8.0), backend="cpu"), found)
    for wrong, kind, text in (
        (there[:3], ValueError, "there: expected the shape of poses"),
        (there.astype(int), TypeError, "there: expected bool"),
    ):
        with pytest.raises(kind, match=text):
            gc.collide_trajectories(gc.shapes.box(), None, poses, np.arange(8.0), there=wrong)
    with pytest.raises(ValueError, match="there: expected None with poses in blocks"):
        gc.collide_trajectories(gc.shapes.box(), None, [poses], np.arange(8.0), there=there)


def test_ids_and_who_is_there_in_arrays():
    given = {
        "time": [0.0, 1.0],
        "position": np.zeros((2, 2, 3)),
        "quat_wxyz": np.tile([1.0, 0, 0, 0], (2, 2, 1)),
    }
    for change, kind, text in (
        ({"id": [1, 1]}, ValueError, "id: expected ids that differ, got 1 twice"),
        ({"id": [1, 2, 3]}, ValueError, "id: expected one for each body, 2"),
        ({"valid": np.ones((2, 3), bool)}, ValueError, "valid: expected shape"),
        ({"valid": np.ones((2, 2))}, TypeError, "valid: expected bool, got float64"),
    ):
        with pytest.raises(kind, match=text):
            gc.Recording.from_arrays({**given, **change}, meshes=gc.shapes.box())
    recording = gc.Recording.from_arrays({**given, "id": ["b", "a"]}, meshes=gc.shapes.box())
    assert recording.ids.tolist() == ["b", "a"] and recording.there().all()
