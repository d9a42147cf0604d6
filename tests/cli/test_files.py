"""Reading the user's files: what is accepted, and that each complaint says what was expected."""

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.cli import files

pytestmark = pytest.mark.smoke


def pose_arrays(n=3):
    one = {f"{name}_position": np.zeros((n, 3)) for name in files.POSE_NAMES}
    one |= {f"{name}_quat_wxyz": np.tile([1.0, 0, 0, 0], (n, 1)) for name in files.POSE_NAMES}
    return one


def saved(path, **arrays):
    np.savez(path, **arrays)
    return str(path)


def test_poses_are_read_and_paired(tmp_path):
    arrays = pose_arrays()
    arrays["start_b_position"] = np.arange(9.0).reshape(3, 3)
    arrays["end_b_quat_wxyz"] = np.tile([0.0, 0, 0, 1], (3, 1))
    poses = files.read_poses(saved(tmp_path / "poses.npz", **arrays))
    cube = gc.shapes.box()
    bodies, pairs = files.pair_up(cube, cube, poses)
    assert pairs.tolist() == [[0, 3], [1, 4], [2, 5]]
    np.testing.assert_array_equal(bodies.start.position[3:], arrays["start_b_position"])
    np.testing.assert_array_equal(bodies.end.quat_wxyz[3:], arrays["end_b_quat_wxyz"])
    assert bodies.shape.tolist() == [0, 0, 0, 1, 1, 1]


def test_one_row_stands_for_all(tmp_path):
    arrays = pose_arrays(4) | {
        "start_a_position": np.array([1.0, 2, 3]),
        "end_a_position": np.array([[4.0, 5, 6]]),
    }
    start_a, end_a, _, _ = files.read_poses(saved(tmp_path / "poses.npz", **arrays))
    assert start_a.position.tolist() == [[1, 2, 3]] * 4
    assert end_a.position.tolist() == [[4, 5, 6]] * 4


def test_bad_rows_stay_recognisable(tmp_path):
    arrays = pose_arrays(2)
    arrays["start_b_quat_wxyz"][1] = 0.0
    bodies, _ = files.pair_up(
        gc.shapes.box(), gc.shapes.box(), files.read_poses(saved(tmp_path / "p.npz", **arrays))
    )
    assert bodies.start.valid.tolist() == [True, True, True, False]


def test_missing_arrays_are_named(tmp_path):
    arrays = pose_arrays()
    del arrays["end_b_position"], arrays["end_b_quat_wxyz"]
    with pytest.raises(files.UserError) as error:
        files.read_poses(saved(tmp_path / "poses.npz", **arrays, speed=np.zeros(3)))
    message = str(error.value)
    assert "missing end_b_position, end_b_quat_wxyz" in message
    assert "Expected" in message and "start_a_position" in message
    assert "speed" in message


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"start_a_position": np.zeros((3, 2))},
            r"start_a_position should have .* \(n, 3\), got \(3, 2\)",
        ),
        (
            {"end_b_quat_wxyz": np.zeros((3, 3))},
            r"end_b_quat_wxyz should have .* \(n, 4\), got \(3, 3\)",
        ),
        ({"start_b_position": np.zeros((5, 3))}, "different numbers of rows.*start_b_position: 5"),
        (
            {"start_b_position": np.zeros((3, 3), complex)},
            "start_b_position should hold numbers, got .*complex",
        ),
    ],
)
def test_wrong_arrays_are_named(tmp_path, change, expected):
    with pytest.raises(files.UserError, match=expected):
        files.read_poses(saved(tmp_path / "poses.npz", **(pose_arrays() | change)))


def test_files_that_are_no_poses(tmp_path):
    text = tmp_path / "poses.npz"
    text.write_text("x y z\n")
    with pytest.raises(files.UserError, match="not a readable .npz file") as error:
        files.read_poses(str(text))
    assert "start_a_position" in str(error.value) and "pickle" not in str(error.value)
    with pytest.raises(files.UserError, match="no such poses file"):
        files.read_poses(str(tmp_path / "absent.npz"))
    np.save(tmp_path / "poses.npy", np.zeros((3, 3)))
    with pytest.raises(files.UserError, match="single array"):
        files.read_poses(str(tmp_path / "poses.npy"))


def test_meshes_that_cannot_be_read(tmp_path):
    pytest.importorskip("trimesh", reason="reading mesh files needs trimesh")
    with pytest.raises(files.UserError, match="no such mesh file"):
        files.read_mesh(str(tmp_path / "absent.obj"))
    (tmp_path / "empty.obj").write_text("# nothing\n")
    with pytest.raises(files.UserError, match="empty.obj: not a mesh that can be used"):
        files.read_mesh(str(tmp_path / "empty.obj"))
    (tmp_path / "shape.txt").write_text("v 0 0 0\n")
    with pytest.raises(files.UserError, match="shape.txt"):
        files.read_mesh(str(tmp_path / "shape.txt"))


def test_reading_meshes_without_trimesh_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    (tmp_path / "a.stl").write_text("solid\n")
    with pytest.raises(files.UserError, match=r"gpu-collide\[mesh\]"):
        files.read_mesh(str(tmp_path / "a.stl"))


def test_output_is_checked_before_the_work(tmp_path):
    files.check_writable(str(tmp_path / "contacts.npz"))
    with pytest.raises(files.UserError, match="no such folder"):
        files.check_writable(str(tmp_path / "absent" / "contacts.npz"))
    with pytest.raises(files.UserError, match="cannot write"):
        files.check_writable(str(tmp_path))
