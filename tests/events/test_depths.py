"""`Recording.encounters`: until when bodies are together along a recording, and how deep in each other."""

import numpy as np
import pytest

import gpu_collide as gc
from tests.events.test_events import drive
from tests.oracle.clearance import Passage
from tests.oracle.exits import apart_boxes

BOX = gc.shapes.box()
ONE = [1.0, 0.0, 0.0, 0.0]


def recording(xs, times=None, y=0.1, **more):
    """A box that stands, and another at xs (t,) along its x axis, and at `y` beside it."""
    position = np.zeros((len(xs), 2, 3))
    position[:, 1, 0], position[:, 1, 1] = xs, y
    arrays = {
        "time": np.arange(len(xs), dtype=float) if times is None else times,
        "position": position, "quat_wxyz": np.broadcast_to(ONE, (len(xs), 2, 4)), **more,
    }  # fmt: skip
    return gc.Recording.from_arrays(arrays, meshes=BOX)


def only(met):
    assert len(met) == 1
    return met[0]


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_overlaps_throughout(motion):
    """A car that creeps on inside another: without a contact, from the first frame to the last."""
    met = recording([0.25, 0.125, 0.5, 0.75], times=[10.0, 11, 12, 14]).encounters(motion=motion)
    row = only(met)
    assert (row["first_time"], row["last_time"], row["contacts"], row["in_touch"]) == (10, 14, 0, True)
    assert (row["first_step"], row["last_step"], row["hardest"]) == (0, 2, -1)
    assert (row["depth"], row["depth_time"]) == (0.875, 11.0)
    assert "deepest    0.875 at t = 11, bodies 0 and 1" in repr(met)


@pytest.mark.parametrize("motion", ["relative", "body"])
def test_in_and_out(motion):
    """It goes in at 1.5 s and out at 5.25 s, in the middle of steps; frames see it from 2 to 5 s."""
    row = only(recording([2, 1.5, 0.5, 0.25, 0.5, 0.75, 1.75, 2.75]).encounters(motion=motion))
    assert (row["first_time"], row["last_time"]) == (1.5, 5.25)
    assert (row["depth"], row["depth_time"], row["in_touch"]) == (0.75, 3.0, False)


def test_between_two_frames():
    """Through it in one step: no frame overlaps."""
    row = only(recording([-3, 3]).encounters())
    assert row["first_time"] == pytest.approx(1 / 3, abs=1e-15)
    assert row["last_time"] == pytest.approx(2 / 3, abs=1e-15)
    assert row["depth"] == 0 and np.isnan(row["depth_time"])


def test_touch_that_lasts_and_ends():
    """It slides along the face, and off it."""
    row = only(recording([0.0, 0.5, 0.75, 1.25], y=1.0).encounters())
    assert (row["first_time"], row["last_time"], row["depth"]) == (0.0, 2.5, 0.0)


def test_two_encounters_and_one_that_ends_with_the_recording():
    met = recording([0.5, 1.5, 3, 1.5, 0.5, 0.25]).encounters()
    assert met.first_time.tolist() == [0.0, 3.5] and met.last_time.tolist() == [0.5, 5.0]
    assert met.depth.tolist() == [0.5, 0.75] and met.depth_time.tolist() == [0.0, 5.0]


def test_the_rest_is_that_of_collide():
    """Also of many cars, and over races and static bodies."""
    rng = np.random.default_rng(3)
    position = np.cumsum(rng.normal(size=(12, 6, 3)) * 0.3, axis=0)
    quat = rng.normal(size=(12, 6, 4)) * 0.1 + ONE
    quat /= np.linalg.norm(quat, axis=2)[..., None]
    arrays = {"time": np.arange(12) * 0.5, "position": position, "quat_wxyz": quat, "race_lengths": [7, 5]}
    many = gc.Recording.from_arrays(arrays, meshes=BOX).with_static(BOX)
    for motion in ("relative", "body"):
        met, plain = many.encounters(motion=motion), many.collide(motion=motion).encounters()
        assert len(met) > 10 and plain.depth is None
        for name in plain._rows:
            if name != "last_time":
                assert getattr(met, name).tobytes() == getattr(plain, name).tobytes(), name
        assert (met.last_time >= plain.last_time).all()
        assert (met.last_time > plain.last_time).any() and (met.depth > 0.1).any()
        judged = 0
        for row in met:  # right behind it the two are apart, if the step goes on
            step = row["last_step"]
            begin, end = many.times[step], many.times[step + 1]
            passage = Passage.of(many.bodies(step), row["body_a"], row["body_b"], motion)
            share = (row["last_time"] - begin) / (end - begin)
            if share < 1.0 - 1e-6:
                assert apart_boxes(passage, share + 1e-6) > 0.0
                judged += 1
        assert judged > 3


def test_depths_are_those_of_clearance_at_frames():
    met = drive((0, 0, 0.0, 10), (6, 0.3, 0.2, 4), seconds=1.0).encounters(motion="body")
    row = only(met)
    found = drive((0, 0, 0.0, 10), (6, 0.3, 0.2, 4), seconds=1.0)
    depths = []
    for step in range(10):
        told = gc.clearance(found.bodies(step), [[0, 1]], at=[0.0, 1.0], motion="body")
        depths += np.maximum(-told.distance, 0.0).tolist()
    assert row["depth"] == pytest.approx(max(depths), abs=1e-14) and row["depth"] > 0.5  # worst seen: 0


def test_tables_files_selection_and_joins(tmp_path):
    met = recording([0.5, 1.5, 3, 1.5, 0.5, 0.25]).encounters()
    met.save(tmp_path / "met.npz")
    again = gc.Encounters.load(tmp_path / "met.npz")
    assert again.depth.tolist() == met.depth.tolist()
    assert met[1:].depth.tolist() == [0.75]
    assert met.to_pandas()["depth"].tolist() == [0.5, 0.75]
    found = recording([0.5, 1.5, 3]).collide()
    assert "depth" not in found.encounters().to_pandas().columns
    joined = gc.Encounters.concatenate([met[:1], met[1:]])
    assert joined.depth.tolist() == met.depth.tolist()
    assert gc.Encounters.concatenate([found.encounters(), met[1:]]).depth is None
    assert len(recording([5.0, 6.0]).encounters()) == 0


def test_refused():
    with pytest.raises(TypeError, match="refine: expected no such option"):
        recording([0.5, 1.5]).encounters(refine="exact")
