"""Recordings of traffic in files of others: CommonRoad, OSI, drone recordings, counts of frames."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.cli import main
from gpu_collide.errors import MissingExtraError

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

STEPS = 11
TIMES = 0.1 * np.arange(STEPS)


def head_on(recording, names):
    """A car that comes along x at 10 m/s from the middle 0, and one that stands across at 8 m: ends 2 m and
    7 m, so that they meet at 0.5 s."""
    found = gc.events(recording, backend="cpu")
    assert found.id_a.tolist() == [names[0]] and found.id_b.tolist() == [names[1]]
    np.testing.assert_allclose(found.time, recording.times[0] + 0.5, atol=1e-9)  # worst 9e-14
    np.testing.assert_allclose(found.closing_speed, 10.0, atol=1e-6)  # worst 4e-14
    assert found.side_b.tolist() == [gc.Side.LEFT] and found.kind.tolist() == [gc.EventKind.COLLISION]


def write(path, **columns):
    from pyarrow import csv

    csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture
def in_d(tmp_path):
    """Three tracks laid out as inD; the third, a pedestrian far away, has no size."""
    n = np.repeat([4, 7, 9], STEPS)
    x = np.concatenate([10 * TIMES, np.full(STEPS, 8.0), np.full(STEPS, 90.0)])
    write(
        tmp_path / "07_tracks.csv", recordingId=np.full(len(n), 7), trackId=n,
        frame=np.tile(np.arange(STEPS) + 50, 3), xCenter=x, yCenter=0 * x,
        heading=np.repeat([0.0, 90.0, 180.0], STEPS), width=np.repeat([2.0, 2.0, 0.0], STEPS),
        length=np.repeat([4.0, 6.0, 0.0], STEPS),
    )  # fmt: skip
    write(tmp_path / "07_tracksMeta.csv", trackId=[9, 4, 7], **{"class": ["pedestrian", "car", "truck_bus"]})
    write(tmp_path / "07_recordingMeta.csv", recordingId=[7], frameRate=[10.0], locationId=[1])
    return tmp_path / "07_tracks.csv"


def test_drone_recordings_laid_out_as_ind(in_d):
    recording = gc.load_recording(in_d)
    assert recording.ids.tolist() == [4, 7, 9] and recording.times[0] == 5.0
    head_on(recording, (4, 7))
    sizes = [2 * recording.meshes[k].vertices.max(axis=0) for k in recording.shape]
    assert np.array(sizes)[:, :2].tolist() == [[4, 2], [6, 2], [0.5, 0.5]]


def test_drone_recordings_laid_out_as_highd(tmp_path):
    """Upper lanes drive towards smaller x; places are upper left corners, and y is downward."""
    x = np.concatenate([10 * TIMES, 20 - 10 * TIMES])
    write(
        tmp_path / "01_tracks.csv", frame=np.tile(np.arange(STEPS), 2), id=np.repeat([1, 2], STEPS),
        x=x - 2.0, y=np.repeat([7.0, 7.5], STEPS) - 1.0, width=0 * x + 4.0, height=0 * x + 2.0,
    )  # fmt: skip
    write(tmp_path / "01_tracksMeta.csv", id=[1, 2], drivingDirection=[2, 1], **{"class": ["Car", "Truck"]})
    write(tmp_path / "01_recordingMeta.csv", id=[1], frameRate=[10.0])
    recording = gc.load_recording(tmp_path / "01_tracks.csv")
    assert recording.poses(0, 1).position[0].tolist() == [[0, -7, 0], [20, -7.5, 0]]
    found = gc.events(recording, backend="cpu")
    np.testing.assert_allclose(found.time, 0.8, atol=1e-12)
    assert abs(abs(found.heading_difference[0]) - np.pi) < 1e-12 and (found.clock_a[0], found.clock_b[0]) == (
        12,
        12,
    )


def test_damaged_drone_recordings_are_refused(in_d):
    write(in_d.parent / "07_tracksMeta.csv", trackId=[4, 7], **{"class": ["car", "car"]})
    with pytest.raises(ValueError, match="track 9, of which its meta file has no row"):
        gc.load_recording(in_d)
    write(in_d.parent / "07_tracksMeta.csv", trackId=[4, 7, 9], **{"class": ["car"] * 3})
    with pytest.raises(ValueError, match="no size of track 9, of class 'car'"):
        gc.load_recording(in_d)
    write(in_d, trackId=[1])
    with pytest.raises(ValueError, match="layout of inD or highD, got no column 'id'"):
        gc.load_recording(in_d)


def test_times_may_be_counts_of_frames(tmp_path, capsys):
    n = np.repeat([4, 7], STEPS)
    columns = {
        "x": np.where(n == 4, 10 * np.tile(TIMES, 2), 8.0), "y": 0.0 * n,
        "yaw": np.where(n == 4, 0, np.pi / 2), "length": np.where(n == 4, 4.0, 6.0), "width": 0 * n + 2.0,
    }  # fmt: skip
    frames = np.tile(np.arange(STEPS) + 100, 2)
    head_on(gc.Recording.from_table({"id": n, "frame": frames, **columns}, rate=10), (4, 7))
    head_on(gc.Recording.from_table({"id": n, "time": frames, **columns}, rate=10), (4, 7))
    head_on(gc.Recording.from_table({"id": n, "k": frames, **columns}, time="k", rate=10.0), (4, 7))
    both = {"id": n, "frame": frames, "time": 0.0 * n, **columns}
    head_on(gc.Recording.from_table(both, rate=10.0), (4, 7))
    with pytest.raises(ValueError, match="rate"):
        gc.Recording.from_table({"id": n, "frame": frames, **columns}, rate=0)
    for name in ("frame", "frame_id", "time"):
        path = write(tmp_path / f"{name}.csv", track_id=n, **{name: frames}, **columns)
        assert main(["traffic", str(path), "--rate", "10", "--backend", "cpu", "--plain"]) == 0
        text = capsys.readouterr().out
        assert "1.0 s in 11 frames" in text and "10.500" in text


def test_the_command_takes_drone_recordings(in_d, capsys):
    assert main(["traffic", str(in_d), "--backend", "cpu", "--plain"]) == 0
    text = capsys.readouterr().out
    assert "5.500" in text and "4, 7" in text


@pytest.mark.parametrize("suffix, package", [(".xml", "commonroad"), (".mcap", "omega_prime")])
def test_what_is_no_such_file_is_said(suffix, package, tmp_path, capsys):
    (tmp_path / f"a{suffix}").write_bytes(b"nothing")
    try:
        __import__(package)
    except ImportError:
        with pytest.raises(MissingExtraError, match=r"gpu-collide\[traffic\]"):
            gc.load_recording(tmp_path / f"a{suffix}")
        says = 1
    else:
        with pytest.raises(ValueError, match="path: cannot read"):
            gc.load_recording(tmp_path / f"a{suffix}")
        says = 2
    assert main(["traffic", str(tmp_path / f"a{suffix}")]) == says
    assert "Traceback" not in capsys.readouterr().err


def commonroad_scenario(path, obstacles):
    """What the library writes."""
    from commonroad.common.file_writer import CommonRoadFileWriter, OverwriteExistingFile
    from commonroad.common.util import FileFormat
    from commonroad.planning.planning_problem import PlanningProblemSet
    from commonroad.scenario.scenario import Scenario, ScenarioID

    scenario = Scenario(0.1, ScenarioID())
    scenario.add_objects(obstacles)
    writer = CommonRoadFileWriter(
        scenario, PlanningProblemSet(), "a", "b", "c", set(), file_format=FileFormat.XML, decimal_precision=12
    )
    writer.write_to_file(str(path), OverwriteExistingFile.ALWAYS)
    return path


def commonroad_car(number, shape, x, y, yaw, first=0):
    from commonroad.prediction.prediction import TrajectoryPrediction
    from commonroad.scenario.obstacle import DynamicObstacle, ObstacleType
    from commonroad.scenario.state import CustomState, InitialState
    from commonroad.scenario.trajectory import Trajectory

    def state(kind, k):
        return kind(
            time_step=first + k, position=np.array([x[k], y[k]]), orientation=yaw[k], velocity=1.0,
            **({"acceleration": 0.0, "yaw_rate": 0.0, "slip_angle": 0.0} if kind is InitialState else {}),
        )  # fmt: skip

    way = Trajectory(first + 1, [state(CustomState, k) for k in range(1, len(x))])
    return DynamicObstacle(
        number, ObstacleType.CAR, shape, state(InitialState, 0), TrajectoryPrediction(way, shape)
    )


def commonroad_shapes():
    """A rectangle, a circle and a polygon; the library renamed them in 2025."""
    try:
        from commonroad.geometry.obstacle_shapes.circle_obstacle_shape import CircleObstacleShape as Circle
        from commonroad.geometry.obstacle_shapes.rect_obstacle_shape import RectObstacleShape as Rectangle
    except ImportError:
        from commonroad.geometry.shape import Circle, Rectangle
    return Rectangle, Circle


def test_commonroad_scenarios(tmp_path):
    pytest.importorskip("commonroad", reason="the extra `traffic` brings commonroad-io")
    from commonroad.scenario.obstacle import ObstacleType, StaticObstacle
    from commonroad.scenario.state import InitialState

    rectangle, circle = commonroad_shapes()
    across = InitialState(
        time_step=0, position=np.array([8.0, 0.0]), orientation=np.pi / 2, velocity=0.0, acceleration=0.0,
        yaw_rate=0.0, slip_angle=0.0,
    )  # fmt: skip
    zero = np.zeros(STEPS)
    path = commonroad_scenario(tmp_path / "a.xml", [
        commonroad_car(30, rectangle(length=4.0, width=2.0), 10 * TIMES, zero, zero),
        StaticObstacle(41, ObstacleType.PARKED_VEHICLE, rectangle(length=6.0, width=2.0), across),
        commonroad_car(52, circle(radius=1.5), zero[:5] + 50.0, zero[:5], zero[:5], first=3),
    ])  # fmt: skip
    recording = gc.load_recording(path)
    assert recording.ids.tolist() == [30, 41, 52]
    np.testing.assert_allclose(recording.times, TIMES, atol=1e-12)
    assert recording.there().sum(axis=0).tolist() == [STEPS, STEPS, 5]
    head_on(recording, (30, 41))
    sizes = np.array([2 * recording.meshes[k].vertices.max(axis=0) for k in recording.shape])
    np.testing.assert_allclose(sizes[:, :2], [[4, 2], [6, 2], [3, 3]], atol=1e-9)  # worst 0


def test_osi_ground_truth(tmp_path):
    omega_prime = pytest.importorskip("omega_prime", reason="the extra `traffic` brings omega-prime")
    polars = pytest.importorskip("polars")
    nothing = dict.fromkeys(["vel_x", "vel_y", "vel_z", "acc_x", "acc_y", "acc_z", "roll", "pitch"], 0.0)
    whole = {"type": 2, "subtype": 5, "role": 1, "z": 1.0, "height": 2.0, "width": 2.0, **nothing}
    cars = [{"idx": 3, "length": 4.0, "yaw": 0.0}, {"idx": 9, "length": 6.0, "yaw": np.pi / 2}]
    frames = []
    for k, t in enumerate(TIMES):
        for car, x in zip(cars, (10 * t, 8.0), strict=True):
            frames.append({"total_nanos": 10**9 + k * 10**8, "x": x, "y": 0.0, **car, **whole})
    omega_prime.Recording(polars.DataFrame(frames)).to_file(tmp_path / "a.mcap")
    recording = gc.load_recording(tmp_path / "a.mcap")
    assert recording.ids.tolist() == [3, 9] and recording.poses(0, 1).position[0, :, 2].tolist() == [1.0, 1.0]
    head_on(recording, (3, 9))
