"""Trajectories: bad arguments, and the result as an object: files, parts, frozen arrays."""

import dataclasses
import io

import numpy as np
import pytest

import gpu_collide as gc
from tests.acceptance.test_trajectories import BOX, random_case, same_bits, still, straight
from tests.support.tuning import keywords

pytestmark = pytest.mark.smoke

GOOD = {"meshes": BOX, "shape": None, "poses": straight(np.zeros((3, 2, 3))), "times": [0.0, 1.0, 2.0]}
STILL = still(BOX, None, [[9.0, 0, 0]])
MOVING = gc.Bodies(BOX, None, gc.Poses.identity(1), gc.Poses.from_quat_wxyz([[1.0, 0, 0]], [[1.0, 0, 0, 0]]))
LOST = still(BOX, None, [[np.nan, 0, 0]])


@pytest.mark.parametrize(
    "wrong, kind, text",
    [
        ({"meshes": 1.5}, TypeError, "meshes: expected a Mesh"),
        ({"meshes": [BOX, BOX]}, ValueError, "shape: expected"),
        ({"shape": [0, 0, 0]}, ValueError, "shape: expected one mesh index per pose, 2, got 3"),
        ({"shape": [0, 5]}, ValueError, "shape: expected indices"),
        ({"poses": np.zeros((3, 2, 3))}, TypeError, "poses: expected Poses"),
        ({"poses": gc.Poses.identity(3)}, ValueError, r"poses: expected Poses of shape \(t, n\), got \(3,\)"),
        ({"poses": []}, ValueError, "poses: expected at least one block"),
        ({"poses": [gc.Poses.identity(3)]}, ValueError, r"poses: expected blocks of shape \(k, n\)"),
        ({"poses": ["a"]}, TypeError, "poses: expected Poses in every block, got str"),
        ({"poses": [straight(np.zeros((2, 2, 3))), straight(np.zeros((1, 3, 3)))]}, ValueError,
         r"poses: expected blocks of shape \(k, 2\), got \(1, 3\)"),
        ({"poses": [straight(np.zeros((2, 2, 3)))]}, ValueError, "poses: expected 3 frames.* got 2"),
        ({"poses": [straight(np.zeros((2, 2, 3)))] * 2}, ValueError, "poses: expected 3 frames.* got more"),
        ({"times": [0.0, 1.0]}, ValueError, "times: expected one time per frame of poses, 3, got 2"),
        ({"times": [0.0, 1.0, 1.0]}, ValueError, "times: expected strictly increasing.* frame 2"),
        ({"times": [0.0, np.nan, 2.0]}, ValueError, "times: expected finite"),
        ({"times": [[0.0, 1.0, 2.0]]}, ValueError, "times: expected shape"),
        ({"static": "track"}, TypeError, "static: expected Bodies, a Mesh or None, got str"),
        ({"static": MOVING}, ValueError, "static: expected bodies whose end pose equals"),
        ({"static": LOST}, ValueError, "static: expected valid poses"),
        ({"world": [0]}, ValueError, r"world: expected 2 \(moving bodies\) or 3 \(all\) numbers, got 1"),
        ({"world": [0, -2]}, ValueError, r"world: expected -1 \(every world\) or .* got -2"),
        ({"world": [0.0, 1.0]}, TypeError, "world: expected integers"),
        ({"group": [1] * 4}, ValueError, "group: expected 2"),
        ({"mask": "all"}, TypeError, "mask: expected an array"),
        ({"ignore": [[0, 3]]}, ValueError, "ignore: expected indices from 0 to 2"),
        ({"ignore": [[0, 1], [1, 1]]}, ValueError, "ignore: expected two different bodies .* first: 1"),
        ({"ignore": [0, 1]}, ValueError, "ignore: expected shape"),
        ({"still_pairs": 1}, TypeError, "still_pairs: expected a bool"),
        ({"max_speed": 0}, ValueError, "max_speed: expected a positive"),
        ({"max_turn": "1"}, TypeError, "max_turn: expected a positive"),
        ({"frames_per_batch": 0}, ValueError, "frames_per_batch: expected a positive integer"),
        ({"frames_per_batch": 1.5}, TypeError, "frames_per_batch: expected a positive integer"),
        ({"stream": None}, TypeError, "stream: expected a bool"),
        ({"report": "yes"}, TypeError, "report: expected a bool"),
        ({"progress": 3}, TypeError, "progress: expected a callable"),
        ({"max_bytes": -1}, ValueError, "max_bytes: expected a positive"),
        ({"pairs": [[0, 1]]}, TypeError, "pairs: .* broad phase .* world, group, mask and ignore"),
        ({"max_turn": 90}, ValueError, r"max_turn: expected at most pi.* got 90: radians\? .*radians\(90\)"),
        ({"world": [0, 1 << 62]}, ValueError, r"world: expected -1 .* below 2\*\*62, got 4611"),
        ({"group": [1, 1 << 40]}, ValueError, "group: expected"),
        ({"wurld": [0, 0]}, TypeError, "wurld: .* no such option"),
        ({"refine": "sharp"}, ValueError, "refine: expected one of"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(wrong, kind, text):
    with pytest.raises(kind, match=text):
        gc.collide_trajectories(**{**GOOD, "static": STILL, "backend": "cpu", **wrong})


def test_a_stream_complains_at_once():
    with pytest.raises(ValueError, match="times: expected"):
        gc.collide_trajectories(BOX, None, GOOD["poses"], [0, 1], stream=True)
    recording = gc.Recording.from_arrays(
        {"time": GOOD["times"], "position": np.zeros((3, 2, 3)), "quat_wxyz": np.ones((3, 2, 4)) / 2},
        meshes=BOX,
    )
    for wrong in (
        {"refine": "sharp"},
        {"min_properness": 2},
        {"backend": "abacus"},
        {"filters": "all"},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            gc.collide_trajectories(**GOOD, stream=True, **keywords(**wrong))
        with pytest.raises(ValueError, match=next(iter(wrong))):
            recording.collide(stream=True, **keywords(**wrong))


def test_the_greatest_turn():
    for turn in (np.pi, np.float32(np.pi)):
        assert len(gc.collide_trajectories(**GOOD, max_turn=turn, backend="cpu").skipped) == 0


def test_worlds_are_checked_as_by_collide():
    with pytest.raises(ValueError) as mine:
        gc.collide_trajectories(**GOOD, world=[0, -2])
    with pytest.raises(ValueError) as theirs:
        gc.collide(gc.Bodies(BOX, None, gc.Poses.identity(2), gc.Poses.identity(2)), world=[0, -2])
    assert str(mine.value) == str(theirs.value)


def test_a_mesh_may_stand_still():
    poses = straight([[[0, 0, 3.0]], [[0, 0, 0.5]]])
    found = gc.collide_trajectories(BOX, None, poses, [0, 1], static=BOX, backend="cpu")
    same_bits(
        found,
        gc.collide_trajectories(
            BOX, None, poses, [0, 1], static=still(BOX, None, [[0, 0, 0]]), backend="cpu"
        ),
    )
    assert len(found) and found.info["n_static"] == 1


def test_files_round_trip(tmp_path):
    *case, static = random_case(2)
    found = gc.collide_trajectories(*case, static=static, max_speed=20.0, backend="cpu")
    assert len(found) and len(found.skipped)
    found.save(tmp_path / "found")
    again = gc.TrajectoryContacts.load(tmp_path / "found")
    same_bits(again, found)
    assert again.info["backend"] == "cpu" and again.info["tolerances"] == found.info["tolerances"]
    assert repr(again) == repr(found)


def test_files_of_another_kind_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="path: there is no file"):
        gc.TrajectoryContacts.load(tmp_path / "none")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(ValueError, match="written by TrajectoryContacts.save.*not a NumPy file"):
        gc.TrajectoryContacts.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", a=1)
    with pytest.raises(ValueError, match="it lacks format_version"):
        gc.TrajectoryContacts.load(tmp_path / "other.npz")
    poses = gc.Poses.identity(2)
    gc.collide(gc.Bodies(BOX, None, poses, poses), [[0, 1]], backend="cpu").save(tmp_path / "contacts.npz")
    with pytest.raises(ValueError, match="not written by TrajectoryContacts.save: read it by Contacts.load"):
        gc.TrajectoryContacts.load(tmp_path / "contacts.npz")
    *case, static = random_case(2)
    gc.collide_trajectories(*case, static=static, backend="cpu").save(tmp_path / "along.npz")
    with pytest.raises(ValueError, match="read it by TrajectoryContacts.load"):
        gc.Contacts.load(tmp_path / "along.npz")
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(ValueError, match="a single array"):
        gc.TrajectoryContacts.load(tmp_path / "one.npy")


def test_parts_in_disorder_are_refused():
    *case, static = random_case(2)
    parts = list(
        gc.collide_trajectories(*case, static=static, frames_per_batch=2, stream=True, backend="cpu")
    )
    with pytest.raises(ValueError, match="parts: expected parts in the order"):
        gc.TrajectoryContacts.concatenate(parts[::-1])
    with pytest.raises(ValueError, match="at least one"):
        gc.TrajectoryContacts.concatenate([])
    for wrong, text in (
        ([1], "got int as part 0"),
        ([parts[0], None], "got NoneType as part 1"),
        (parts[0], "got a single TrajectoryContacts; put it into a list"),
        (7, "got a single int"),
    ):
        with pytest.raises(TypeError, match=f"parts: expected .*{text}"):
            gc.TrajectoryContacts.concatenate(wrong)
    gap = gc.TrajectoryContacts.concatenate([parts[0], parts[2]])
    assert gap.n_steps == 4 and len(gap.step_pairs) == 6 and (gap.step_pairs[2:4] == 0).all()
    assert len(gap.step[gap.of_step(5)]) == np.sum(gap.step == 5)
    twice = gc.TrajectoryContacts.concatenate([gap, gap.shifted(10)])
    assert twice.n_steps == 8 and len(twice.step_pairs) == 16
    moved = parts[1].shifted(10)
    assert moved.first_step == 12 and np.array_equal(moved.step, parts[1].step + 10)
    assert np.array_equal(moved.time, parts[1].time)
    assert moved.shifted(np.int64(-12)).first_step == 0
    with pytest.raises(TypeError, match="steps: expected an integer, got float"):
        parts[1].shifted(1.5)
    with pytest.raises(ValueError, match="steps: expected -2 or more.* got -5"):
        parts[1].shifted(-5)


def test_steps_that_are_not_there():
    *case, static = random_case(2)
    parts = gc.collide_trajectories(*case, static=static, frames_per_batch=2, stream=True, backend="cpu")
    part = list(parts)[1]
    assert part.of_step(np.int32(3)).stop == len(part)
    for step in (99, -1, 1, 4):
        with pytest.raises(IndexError, match=f"step {step} is out of range: steps are 2 to 3"):
            part.of_step(step)
    for step in (2.5, "a", None, True):
        with pytest.raises(TypeError, match="step: expected an integer"):
            part.of_step(step)
    none = gc.collide_trajectories(BOX, None, straight(np.zeros((1, 1, 3))), [0], backend="cpu")
    with pytest.raises(IndexError, match="there are none"):
        none.of_step(0)


def test_names_of_files_are_checked():
    found = gc.collide_trajectories(**GOOD, backend="cpu")
    for call in (found.save, gc.TrajectoryContacts.load):
        with pytest.raises(TypeError, match="path: expected a str, path-like or binary file, got NoneType"):
            call(None)


def test_an_open_file_is_as_good_as_a_name():
    found = gc.collide_trajectories(**GOOD, backend="cpu")
    file = io.BytesIO()
    found.save(file)
    file.seek(0)
    again = gc.TrajectoryContacts.load(file)
    assert np.array_equal(again.time, found.time) and np.array_equal(again.pairs, found.pairs)


def test_results_never_change():
    *case, static = random_case(2)
    found = gc.collide_trajectories(*case, static=static, backend="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.step = None
    for name in ("time", "pairs", "step_pairs"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(found, name)[:] = 0
