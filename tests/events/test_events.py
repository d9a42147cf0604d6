"""Meetings and near misses of vehicles against closed forms, and against rectangles at 10,000 Hz."""

import math

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.recordings import encroachment
from tests.api._vehicles import rows

N, E, S, W = math.pi / 2, 0.0, -math.pi / 2, math.pi
CAR = np.array([4.0, 2.0])


def drive(*cars, seconds=3.0, rate=10.0, size=(4.0, 2.0)):
    """A recording of cars (x, y, yaw, speed[, yaw rate]) that keep both."""
    t = np.arange(round(seconds * rate) + 1) / rate
    columns = {name: [] for name in ("id", "time", "x", "y", "yaw")}
    for k, (x, y, yaw, speed, *rest) in enumerate(cars):
        turn = rest[0] if rest else 0.0
        heading = yaw + turn * t
        chord = np.sinc(turn * t / (2 * np.pi)) * speed * t
        told = (np.full(len(t), k), t, x + chord * np.cos((yaw + heading) / 2),
                y + chord * np.sin((yaw + heading) / 2), heading)  # fmt: skip
        for name, values in zip(columns, told, strict=True):
            columns[name].append(values)
    table = rows(**{name: np.concatenate(values) for name, values in columns.items()})
    table["length"][:], table["width"][:] = size
    return gc.Recording.from_table(table)


def events(recording, **options):
    return gc.events(recording, backend="cpu", **options)


def only(found):
    assert len(found) == 1, found.to_pandas().to_string()
    return found[0]


@pytest.mark.parametrize(
    "cars, time, closing, turned, sides, clocks",
    [  # from 12 m or 10 m apart, by whole numbers
        (((0, 0, E, 10), (16, 0, W, 5)), 0.8, 15, math.pi, ("FRONT", "FRONT"), (12, 12)),
        (((0, 0, E, 10), (12, 0, E, 4)), 8 / 6, 6, 0, ("FRONT", "REAR"), (12, 6)),
        (((0, 0, E, 10), (13, 0, N, 0)), 1.0, 10, N, ("FRONT", "LEFT"), (12, 9)),
        (((0, 0, E, 10), (13, 0, S, 0)), 1.0, 10, -N, ("FRONT", "RIGHT"), (12, 3)),
        (((13, 0, S, 0), (0, 0, E, 10)), 1.0, 10, N, ("RIGHT", "FRONT"), (3, 12)),
    ],
    ids=["head-on", "rear-end", "into its left", "into its right", "the other way round"],
)
def test_straight_cars_meet_as_arithmetic_says(cars, time, closing, turned, sides, clocks):
    found = events(drive(*cars, seconds=2.0))
    row = only(found)
    assert row["kind"] == gc.EventKind.COLLISION and row["gap"] == 0 and row["pet"] == 0
    np.testing.assert_allclose(row["time"], time, atol=1e-12)  # worst 0
    np.testing.assert_allclose(row["closing_speed"], closing, atol=1e-10)  # worst 1.5e-14
    np.testing.assert_allclose(abs(row["heading_difference"]), abs(turned), atol=1e-12)
    assert turned in (0, math.pi) or row["heading_difference"] * turned > 0
    assert tuple(gc.Side(row[name]).name for name in ("side_a", "side_b")) == sides
    assert (row["clock_a"], row["clock_b"]) == clocks
    assert row["ttc"] <= 0.1 + 1e-9 and row["ttc"] + row["ttc_time"] == pytest.approx(time, abs=1e-9)
    np.testing.assert_allclose(np.linalg.norm(row["relative_velocity"]), closing, atol=1e-10)


def test_time_to_collision_and_deepest_overlap_of_a_head_on_pass():
    found = events(drive((0, 0, E, 10), (16, 0.5, W, 5), seconds=4.0), max_ttc=3.0)
    row = only(found)
    assert row["last_time"] == pytest.approx(20 / 15, abs=1e-9)  # both have passed each other
    # frames at 0.9 ... 1.3 s: what takes them apart is the 1.5 m beside, or what is left of their lengths
    assert row["overlap_frames"] == 5 and row["depth"] == pytest.approx(1.5, abs=1e-9)
    assert not found.missed_by_frames.any()


def test_what_frames_do_not_see_is_counted():
    quick = events(drive((-6, 0, E, 40), (0, -6, N, 40), seconds=2.0, rate=2.0, size=(1.0, 1.0)))
    assert quick.missed_by_frames.tolist() == [True] and quick.time[0] == pytest.approx(5 / 40, abs=1e-12)
    assert "missed    1" in repr(quick)


@pytest.mark.parametrize("late", [0.25, 0.5, 1.3])
def test_post_encroachment_time_of_crossing_cars(late):
    """A's rear leaves the square both pass at x = 1; B's front arrives at y = -1, `late` seconds after."""
    leaves = (1 + 2 - -20) / 10
    found = events(
        drive((-20, 0, E, 10), (0, -3 - 8 * (leaves + late), N, 8), seconds=8.0), max_distance=15.0
    )
    row = only(found)
    assert row["kind"] == gc.EventKind.NEAR_MISS
    assert row["pet"] == pytest.approx(late, abs=1e-6)  # worst 2.3e-16
    swapped = events(
        drive((0, -3 - 8 * (leaves + late), N, 8), (-20, 0, E, 10), seconds=8.0), max_distance=15.0
    )
    assert swapped.pet.tolist() == pytest.approx([late], abs=1e-6)


def test_post_encroachment_time_of_a_car_that_follows():
    row = only(events(drive((0, 0, E, 10), (14.5, 0, E, 10)), max_distance=11.0))
    assert row["pet"] == pytest.approx(1.05, abs=1e-6) and row["gap"] == pytest.approx(10.5)
    assert np.isinf(row["ttc"])
    assert np.isinf(events(drive((0, 0, E, 10), (14.5, 0, E, 10)), max_distance=11.0, max_pet=1.0).pet[0])


def test_parallel_cars_are_a_near_miss_without_a_collision_ahead():
    row = only(events(drive((0, 0, E, 10), (0, 2.75, E, 10))))
    assert row["kind"] == gc.EventKind.NEAR_MISS and row["gap"] == pytest.approx(0.75, abs=1e-12)
    assert (
        np.isinf(row["ttc"]) and np.isinf(row["pet"]) and row["closing_speed"] == pytest.approx(0, abs=1e-9)
    )
    assert gc.Side(row["side_a"]).name == "LEFT" and gc.Side(row["side_b"]).name == "RIGHT"
    assert len(events(drive((0, 0, E, 10), (0, 3.25, E, 10)))) == 0


def test_standing_cars_are_told_only_if_they_overlap():
    assert len(events(drive((0, 0, E, 0), (0, 2.5, E, 0)))) == 0
    row = only(events(drive((0, 0, E, 0), (3, 0, E, 0), seconds=1.0)))
    assert row["kind"] == gc.EventKind.IN_TOUCH and row["depth"] == pytest.approx(1.0, abs=1e-9)
    assert row["overlap_frames"] == 11 and gc.Side(row["side_a"]).name == "FRONT"
    assert row["closing_speed"] == 0 and row["speed_a"] == 0


def test_a_car_that_appears_in_another_is_in_touch():
    table = {
        "id": [0, 0, 0, 0, 1, 1], "time": [0, 0.1, 0.2, 0.3, 0.2, 0.3], "x": [0, 1, 2, 3, 3.5, 4.5],
        "y": [0.0] * 6, "yaw": [0.0] * 6, "length": [4.0] * 6, "width": [2.0] * 6,
    }  # fmt: skip
    found = events(gc.Recording.from_table(table))
    row = only(found)
    assert row["kind"] == gc.EventKind.IN_TOUCH and row["time"] == pytest.approx(0.2)
    assert row["depth"] == pytest.approx(2.0, abs=1e-9) and row["normal"][2] == 0  # level, though 1.5 m high


def test_braking_in_time_is_a_near_miss_by_time_to_collision_alone():
    x = np.concatenate([10 * np.arange(11) / 10, 10 + 0 * np.arange(1, 11)])
    t = np.arange(21) / 10
    table = rows(id=np.repeat([0, 1], 21), time=np.tile(t, 2), x=np.concatenate([x, np.full(21, 20.0)]))
    row = only(events(gc.Recording.from_table(table)))
    assert row["kind"] == gc.EventKind.NEAR_MISS and row["gap"] == pytest.approx(6.0)
    assert row["ttc"] == pytest.approx(0.7) and row["ttc_time"] == pytest.approx(0.9)  # 7 m at 10 m/s


def corners(x, y, yaw, size):
    half = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * np.asarray(size) / 2
    c, s = np.cos(yaw)[..., None], np.sin(yaw)[..., None]
    return np.stack(
        [x[..., None] + c * half[:, 0] - s * half[:, 1], y[..., None] + s * half[:, 0] + c * half[:, 1]], -1
    )


def separation(a, yaw_a, b, yaw_b):
    """The largest gap along the four axes of two rectangles, below 0 where they overlap."""
    best = np.full(yaw_a.shape, -np.inf)
    for yaw in (yaw_a, yaw_a + np.pi / 2, yaw_b, yaw_b + np.pi / 2):
        axis = np.stack([np.cos(yaw), np.sin(yaw)], -1)[..., None, :]
        p, q = (a * axis).sum(-1), (b * axis).sum(-1)
        best = np.maximum(best, np.maximum(q.min(-1) - p.max(-1), p.min(-1) - q.max(-1)))
    return best


def distance(a, b):
    """Least distance of two rectangles that are apart: of a corner of one from an edge of the other."""
    best = np.full(a.shape[:-2], np.inf)
    for p, q in ((a, b), (b, a)):
        start, edge = q[..., None, :, :], (np.roll(q, -1, axis=-2) - q)[..., None, :, :]
        way = p[..., :, None, :] - start
        share = np.clip((way * edge).sum(-1) / (edge * edge).sum(-1), 0, 1)
        best = np.minimum(best, np.linalg.norm(way - share[..., None] * edge, axis=-1).min((-2, -1)))
    return best


def on_arc(way, t):
    """Place and heading of one of `drive`."""
    x, y, yaw, speed, turn = way
    chord, half = np.sinc(turn * t / (2 * np.pi)) * speed * t, yaw + turn * t / 2
    return x + chord * np.cos(half), y + chord * np.sin(half), yaw + turn * t


def arcs_that_meet(seed):
    """Two cars on arcs, the centres of which come within some 6 m of each other."""
    rng = np.random.default_rng(seed)
    ways = [(0.0, 0.0, rng.uniform(-3, 3), rng.uniform(2, 12), rng.normal(0, 0.4)) for _ in "ab"]
    when = rng.uniform(0.8, 1.6)
    (ax, ay, _), (bx, by, _) = (on_arc(way, when) for way in ways)
    aside = rng.normal(0, 4.0, 2)
    return ways[0], (ax - bx + aside[0], ay - by + aside[1], *ways[1][2:])


ARCS = range(24)


def test_the_random_arcs_meet_and_miss():
    """So that the next test looks at both."""
    t = np.arange(2001) / 1000
    least = []
    for seed in ARCS:
        places = [on_arc(way, t) for way in arcs_that_meet(seed)]
        least.append(separation(*(x for p in places for x in (corners(*p, CAR), p[2]))).min())
    assert sum(x < 0 for x in least) >= 8 and sum(x > 0 for x in least) >= 3


@pytest.mark.parametrize("seed", ARCS)
def test_random_arcs_agree_with_rectangles_at_10000_hz(seed):
    way = arcs_that_meet(seed)
    found = events(drive(*way, seconds=2.0), max_distance=4.0)
    t = np.arange(20001) / 10000
    places = [(corners(*on_arc(each, t), CAR), on_arc(each, t)[2]) for each in way]
    gap = separation(*places[0], *places[1])
    if gap[0] < 0:
        assert found.kind[0] == gc.EventKind.IN_TOUCH and found.time[0] == 0
    elif (gap < 0).any():
        first = t[np.argmax(gap < 0)]
        met = found[found.met]
        assert abs(met.time[0] - first) < 1.1e-4  # worst 9.9e-5: samples are 1e-4 apart
        at = round(first * 10000)
        before = [(p[at] - p[at - 1]).mean(0) * 10000 for p, _ in places]
        assert met.speed_a[0] == pytest.approx(np.linalg.norm(before[0]), rel=1e-3)
        assert gap[::1000].min() >= 0 or met.overlap_frames[0] > 0
    else:
        assert not found.met.any()
        least = distance(places[0][0], places[1][0]).min()
        if least < 3.9:  # the least of samples is never less; worst 5.6e-6 above
            assert least - 1e-5 <= found.gap.min() <= least + 1e-9


def test_tables_files_and_wrong_arguments(tmp_path):
    recording = drive((0, 0, E, 10), (16, 0, W, 5), (0, 2.75, E, 10))
    found = events(recording)
    assert len(found) == len(found.to_pandas()) and {"id_a", "kind", "ttc", "pet"} <= set(found.to_pandas())
    found.save(tmp_path / "e.npz")
    again = gc.TrafficEvents.load(tmp_path / "e.npz")
    assert all(np.array_equal(getattr(again, name), getattr(found, name)) for name in found._rows)
    found.save(tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text().count("\n") == len(found) + 1
    with pytest.raises(TypeError, match="recording: expected a Recording, got dict"):
        gc.events({})
    with pytest.raises(ValueError, match="max_ttc"):
        gc.events(recording, max_ttc=-1.0)
    with pytest.raises(ValueError, match="world"):
        gc.events(recording, world=[0, -1, 0])


def test_vehicles_of_different_worlds_do_not_meet():
    recording = drive((0, 0, E, 10), (16, 0, W, 5))
    assert len(events(recording, world=[0, 1])) == 0 and len(events(recording, world=[4, 4])) == 1


def of_pairs(found, *pairs):
    """The rows of some pairs of bodies, as records without the ids."""
    pair = found.body_a.astype(int) * 100 + found.body_b
    some = np.isin(pair, [100 * a + b for a, b in pairs])
    return [getattr(found, name)[some].tolist() for name in found._rows]


def crowd(static=None):
    """Six cars of which many meet, and come near each other."""
    rng = np.random.default_rng(3)
    cars = []
    for angle in np.arange(6) * np.pi / 3 + rng.normal(0, 0.2, 6):  # from around, about towards the middle
        x, y = rng.uniform(10, 16) * np.array([math.cos(angle), math.sin(angle)])
        cars.append((x, y, angle + math.pi + rng.normal(0, 0.2), rng.uniform(6, 10), rng.normal(0, 0.1)))
    recording = drive(*cars, seconds=3.0)
    return recording if static is None else recording.with_static(static)


WALL = gc.Bodies(gc.shapes.box((1.0, 30.0, 3.0)), None, *(gc.Poses.identity(1),) * 2)
PAIRS = [(a, b) for a in range(6) for b in range(a + 1, 7)]


@pytest.mark.parametrize("static", [None, WALL], ids=["alone", "at a wall"])
def test_rules_leave_out_pairs_and_change_no_other_row(static):
    recording = crowd(static)
    everything = events(recording, max_ttc=3.0)
    pairs = [(a, b) for a, b in PAIRS if b < 6 or static is not None]
    told = set(zip(everything.body_a.tolist(), everything.body_b.tolist(), strict=True))
    ignore = sorted(told)[::2]
    assert len(ignore) > 3 and (static is None or any(b == 6 for _, b in ignore))
    group = np.array([1, 1, 2, 2, 3, 3])
    mask = np.array([1, 3, 3, 2, 3, 0])
    both = np.append(group, 2), np.append(mask, 1)

    def kept(group, mask):
        group, mask = (np.append(bits, np.full(7 - len(bits), 0xFFFFFFFF)) for bits in (group, mask))
        return [(a, b) for a, b in pairs if group[a] & mask[b] and group[b] & mask[a]]

    cases = [
        ({"ignore": [(b, a) for a, b in ignore]}, [pair for pair in pairs if pair not in ignore]),
        ({"group": group, "mask": mask}, kept(group, mask)),
        ({"mask": mask}, kept(np.full(6, 0xFFFFFFFF), mask)),
        ({"ignore": ignore, "mask": mask},
         [p for p in kept(np.full(6, 0xFFFFFFFF), mask) if p not in ignore]),
    ]  # fmt: skip
    if static is not None:
        cases.append(({"group": both[0], "mask": both[1]}, kept(*both)))
    for rules, left in cases:
        found = events(recording, max_ttc=3.0, **rules)
        assert 0 < len(found) < len(everything)
        assert of_pairs(found, *pairs) == of_pairs(everything, *left), rules


def test_wrong_rules_are_refused():
    recording = crowd()
    with pytest.raises(ValueError, match="mask: expected 6 numbers, got 2"):
        events(recording, mask=[1, 2])
    with pytest.raises(ValueError, match="ignore: expected two different bodies in each row"):
        events(recording, ignore=[[1, 1]])


def test_post_encroachment_times_do_not_depend_on_batches(monkeypatch):
    recording = crowd()
    found = events(recording, max_distance=8.0)
    assert np.isfinite(found.pet[~found.met]).sum() > 3
    monkeypatch.setattr(encroachment, "_MOST_PLACES", 1500)
    again = events(recording, max_distance=8.0)
    assert found.pet.tobytes() == again.pet.tobytes()


def test_nothing_is_no_trouble():
    assert len(events(drive((0, 0, E, 10)))) == 0
    assert len(events(drive((0, 0, E, 10), (0, 9, E, 10), seconds=0.0))) == 0


def test_vehicles_whose_meshes_are_far_off_their_origins():
    """Post-encroachment times are those of the same boxes about their origins."""
    cars = drive((-20, 0, E, 10), (0, -40, N, 10), seconds=6.0)
    off = np.array([60.0, 0.0, 0.0])
    poses = cars.poses()
    moved = poses.position - gc.Poses.from_quat_wxyz(np.zeros_like(poses.position), poses.quat_wxyz).apply(
        np.broadcast_to(off, poses.position.shape)
    )
    box = gc.shapes.box((4.0, 2.0, 1.5))
    arrays = {"time": cars.times, "position": moved, "quat_wxyz": poses.quat_wxyz}
    far = gc.Recording.from_arrays(arrays, meshes=gc.Mesh(box.vertices + off, box.faces))
    plain = only(events(cars, max_distance=30.0))
    told = only(events(far, max_distance=30.0))
    assert told["pet"] == pytest.approx(plain["pet"], abs=1e-6) and 0.5 < told["pet"] < 2.5
    assert told["gap"] == pytest.approx(plain["gap"], abs=1e-9)
