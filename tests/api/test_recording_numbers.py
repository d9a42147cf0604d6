"""Parquet recordings: frames and bodies are looked up by number, rows in any order, in bounded memory."""

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_collide as gc
from gpu_collide.recordings import parquet
from gpu_collide.recordings.numbered import NumberedFrames
from tests.api.test_recordings import BOX, same_poses, same_result, three_bodies, write_parquet  # noqa: F401

FRAME, BODY = np.arange(27) // 3, np.arange(27) % 3


def compared(path, three_bodies, frames=None, position=None, lengths=None, valid=None):  # noqa: F811
    """The recording in a file, of which all is compared with that of arrays."""
    recording = gc.load_recording(path, meshes=BOX)
    chosen = slice(None) if frames is None else frames
    arrays = {name: values[chosen] for name, values in three_bodies.items()}
    if position is not None:
        arrays["position"] = position[chosen]
    arrays |= {} if valid is None else {"valid": valid}
    arrays |= {} if lengths is None else {"race_lengths": lengths}
    expected = gc.Recording.from_arrays(arrays, meshes=BOX)
    np.testing.assert_array_equal(recording.times, expected.times)
    assert recording.races == expected.races
    same_poses(recording.poses(), expected.poses())
    found = recording.collide(backend="cpu")
    same_result(found, expected.collide(backend="cpu"))
    return recording, found


@pytest.mark.parametrize("ordered", [True, False])
def test_ids_are_looked_up_not_counted(three_bodies, tmp_path, ordered):  # noqa: F811
    """Ids of 1000 + 7k are three bodies, not a thousand and fourteen of which all others are missing."""
    order = None if ordered else np.random.default_rng(1)
    path = write_parquet(tmp_path / "r.parquet", three_bodies, order=order, body=1000 + 7 * BODY)
    recording, found = compared(path, three_bodies)
    assert recording.n_bodies == 3 and len(found.skipped) == 0 and len(found)
    assert recording.ids.tolist() == [1000, 1007, 1014] and recording.ids.dtype == np.int64
    assert set(recording.ids[found.body_a]) | set(recording.ids[found.body_b]) <= {1000, 1007, 1014}


def test_ids_of_any_integers_and_texts(three_bodies, tmp_path):  # noqa: F811
    for ids in ([-5, 0, 2**61], [3, 4, 5], [-(2**62), -1, 2**62], ["bus", "car 7", "ego"]):
        path = write_parquet(tmp_path / "r.parquet", three_bodies, body=np.array(ids)[BODY])
        recording, found = compared(path, three_bodies)
        assert recording.ids.tolist() == ids
        assert found.id_a.tolist() == [ids[k] for k in found.body_a]
        assert found.encounters().id_b.dtype == found.to_pandas()["id_b"].to_numpy().dtype or ids[0] == "bus"


def test_frames_may_begin_anywhere_and_have_any_step(three_bodies, tmp_path):  # noqa: F811
    for first, step in ((100, 1), (-4, 1), (7, 40), (10**15, 33_333)):
        path = write_parquet(tmp_path / "r.parquet", three_bodies, frame=first + step * FRAME)
        recording, found = compared(path, three_bodies)
        assert recording.frames.tolist() == [first + step * k for k in range(9)] and found.n_steps == 8


@pytest.mark.parametrize("step", [1, 10])
def test_no_step_leads_over_a_frame_in_which_nobody_is(three_bodies, tmp_path, step):  # noqa: F811
    """Frame 4 is left out: as if two files, one up to frame 3 and one from frame 5 on."""
    missing = {(4, body) for body in range(3)}
    path = write_parquet(tmp_path / "r.parquet", three_bodies, missing, frame=100 + step * FRAME)
    recording, found = compared(path, three_bodies, [0, 1, 2, 3, 5, 6, 7, 8], lengths=[4, 4])
    assert recording.frames.tolist() == [100 + step * k for k in range(9) if k != 4]
    assert found.n_steps == 6 and len(found.skipped) == 0


def test_numbers_in_uneven_steps_are_only_numbers(three_bodies, tmp_path):  # noqa: F811
    """Clock readings for numbers: nothing is left out between them, and every step is there."""
    ticks = np.array([0, 33, 67, 100, 133, 167, 201, 233, 267])
    path = write_parquet(tmp_path / "r.parquet", three_bodies, frame=ticks[FRAME])
    recording, found = compared(path, three_bodies)
    assert found.n_steps == 8 and recording.races == [(0, 9)] and recording.frames.tolist() == ticks.tolist()


def test_a_body_without_a_row_is_absent_whatever_its_number(three_bodies, tmp_path):  # noqa: F811
    position, there = three_bodies["position"].copy(), np.ones((9, 3), bool)
    position[3, 1] = position[8, 0] = np.nan
    there[3, 1] = there[8, 0] = False
    path = write_parquet(tmp_path / "r.parquet", three_bodies, {(3, 1), (8, 0)}, body=[11, 5000, 5001] * 9)
    recording, found = compared(path, three_bodies, position=position, valid=there)
    assert len(found.skipped) == 0 and len(found)
    np.testing.assert_array_equal(recording.there(), there)


def test_numbers_without_a_value_are_no_pose(three_bodies, tmp_path):  # noqa: F811
    x = three_bodies["position"][..., 0].ravel().tolist()
    x[10] = None
    position = three_bodies["position"].copy()
    position[3, 1] = np.nan
    path = write_parquet(tmp_path / "r.parquet", three_bodies, x=x)
    _, found = compared(path, three_bodies, position=position)
    assert found.skipped["body"].tolist() == [1, 1]


@given(
    seed=st.integers(0, 1 << 16), first=st.integers(0, 9), stop=st.integers(0, 9), frames=st.integers(1, 10),
    group=st.integers(1, 30), piece=st.integers(1, 30), pending=st.integers(1, 9),
    order=st.sampled_from(["frames", "bodies", "none"]),
)  # fmt: skip
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_blocks_of_any_size_from_any_file(
    seed, first, stop, frames, group, piece, pending, order, tmp_path, monkeypatch
):
    """Rows in any order, row groups and pieces of any size, frames left out: the same poses in blocks."""
    rng = np.random.default_rng(seed)
    given = {
        "time": np.arange(9.0),
        "position": rng.normal(size=(9, 3, 3)),
        "quat_wxyz": np.tile([1.0, 0, 0, 0], (9, 3, 1)),
    }
    missing = {(f, b) for f in range(9) for b in range(3) if rng.uniform() < 0.4} - {(0, 0), (0, 1), (0, 2)}
    monkeypatch.setattr(parquet, "_PIECE_ROWS", piece)
    monkeypatch.setattr("gpu_collide.recordings.rows._UNORDERED_POSES", 3 * pending)
    monkeypatch.setattr("gpu_collide.recordings.numbered._PENDING", pending)

    class Order:
        def permutation(self, rows):
            if order == "bodies":
                return rows[np.argsort(BODY[rows], kind="stable")]
            return rng.permutation(rows)

    path = write_parquet(
        tmp_path / "r.parquet", given, missing, None if order == "frames" else Order(), row_group_size=group
    )
    there = [f for f in range(9) if not all((f, b) in missing for b in range(3))]
    position = given["position"].copy()
    for at in missing:
        position[at] = np.nan
    recording = gc.load_recording(path, meshes=BOX)
    assert recording.frames.tolist() == there and recording.ids.tolist() == [0, 1, 2]
    expected = gc.Poses.from_quat_wxyz(position[there], given["quat_wxyz"][there])
    first, stop = min(first, len(there)), min(stop, len(there))
    blocks = list(recording.blocks(first, stop, frames))
    assert [len(b) for b in blocks] == [min(frames, stop - k) for k in range(first, stop, frames)] or (
        stop <= first and [len(b) for b in blocks] == [0]
    )
    for k, block in enumerate(blocks if stop > first else []):
        begin = first + k * frames
        same_poses(block, expected[begin : begin + len(block)])


def test_the_file_is_opened_once_for_a_run(three_bodies, tmp_path, monkeypatch):  # noqa: F811
    recording = gc.load_recording(write_parquet(tmp_path / "r.parquet", three_bodies), meshes=BOX)
    opened, real = [], parquet._opened
    monkeypatch.setattr(parquet, "_opened", lambda path: opened.append(path) or real(path))
    monkeypatch.setattr("gpu_collide.queries.trajectory_batches._MOST_BODIES", 3)  # a frame a block
    assert recording.collide(backend="cpu").n_steps == 8 and len(opened) == 1


def test_a_file_that_was_exchanged_is_noticed(three_bodies, tmp_path):  # noqa: F811
    path = write_parquet(tmp_path / "r.parquet", three_bodies)
    recording = gc.load_recording(path, meshes=BOX)
    write_parquet(path, three_bodies, body=BODY + 1)
    with pytest.raises(ValueError, match="r.parquet: expected the file that was opened, got another"):
        recording.poses()


def test_recordings_of_files_can_be_pickled(three_bodies, tmp_path):  # noqa: F811
    path = write_parquet(tmp_path / "r.parquet", three_bodies, body=1000 + 7 * BODY)
    recording = gc.load_recording(path, meshes=BOX)
    again = pickle.loads(pickle.dumps(recording))
    same_poses(again.poses(), recording.poses())
    assert again.ids.tolist() == recording.ids.tolist()


def test_numbers_of_arrays_are_counted(three_bodies):  # noqa: F811
    recording = gc.Recording.from_arrays(three_bodies, meshes=BOX)
    assert recording.ids.tolist() == [0, 1, 2] and recording.frames.tolist() == list(range(9))
    with pytest.raises(ValueError):
        recording.ids[0] = 3


def test_many_frames_out_of_order_are_held_once():
    """Numbers of frames are put together now and then, so that pieces in no order do not pile up."""
    rng, frames = np.random.default_rng(0), NumberedFrames("path: x")
    for _ in range(40):
        at = rng.permutation(20_000)
        frames.take(at, at * 0.1, at % 7)
        assert frames._held <= 1 << 16
    frames.close()
    assert len(frames.numbers) == 20_000 and frames.ids.tolist() == list(range(7)) and not frames.ordered


MEMORY = """
    import resource, sys
    import numpy as np, pyarrow.parquet
    import gpu_collide as gc

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    path, limit = sys.argv[1], float(sys.argv[2])
    box, two = gc.shapes.box((4.6, 1.9, 1.5)), np.zeros((2, 2, 3))
    two[:, 1, 0] = 9, 3
    poses = gc.Poses.from_quat_wxyz(two, np.tile([1.0, 0, 0, 0], (2, 2, 1)))
    gc.collide_trajectories(box, None, poses, [0.0, 1.0], backend="cpu")  # kernels are there
    before = peak()
    recording = gc.load_recording(path, meshes=box)
    parts = recording.collide(backend="cpu", stream=True, max_bytes=int(limit * 2**20))
    print(sum(map(len, parts)), peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in other units elsewhere")
@pytest.mark.parametrize("order, most", [("frames", 48), ("bodies", 96)])
def test_memory_of_a_run_is_what_was_asked_and_a_constant(order, most, tmp_path):
    """Of rows in the order of frames 32 MiB were measured at 8 MiB, of bodies 90; before, 245 and 256."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    import pyarrow.parquet as pq

    rng, t, n = np.random.default_rng(1), 300, 2000
    way = rng.uniform(0, 600, (n, 2)) + rng.normal(0, 8, (n, 2)) * 0.1 * np.arange(t)[:, None, None]
    frame, body = (a.ravel() for a in np.meshgrid(np.arange(t), np.arange(n), indexing="ij"))
    columns = {"frame": frame, "time": 0.1 * frame, "body": body}
    columns |= {name: way[..., k].ravel() for k, name in enumerate("xy")}
    columns |= {name: np.full(t * n, float(name == "qw")) for name in ("z", "qw", "qx", "qy", "qz")}
    rows = pa.table(columns)
    rows = rows if order == "frames" else rows.take(np.lexsort([frame, body]))
    pq.write_table(rows, tmp_path / "r.parquet")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEMORY), str(tmp_path / "r.parquet"), "8"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, more = done.stdout.split()
    assert int(found) > 1000 and float(more) <= 8 + most
