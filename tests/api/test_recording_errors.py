"""Recordings: what is said about arrays and options that cannot be used."""

import numpy as np
import pytest

import gpu_collide as gc

pytestmark = pytest.mark.smoke

BOX = gc.shapes.box()
TRIANGLES = np.array([loop[[0, k, k + 1]] for loop in BOX.faces for k in (1, 2)])


@pytest.fixture
def arrays():
    return {
        "car_vertices": BOX.vertices.copy(), "car_faces": TRIANGLES,
        "track_vertices": BOX.vertices - [0, 0, 1.2], "track_faces": TRIANGLES,
        "time": np.arange(5.0),
        "position": np.arange(5.0)[:, None] * [0.1, 0.2, -0.2],
        "quat_wxyz": np.tile([1.0, 0, 0, 0], (5, 1)),
    }  # fmt: skip


def objects(values):
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array


@pytest.mark.parametrize(
    "change, kind, text",
    [
        ({"race_lengths": 5}, ValueError, r"race_lengths: expected shape \(n,\), got \(\)"),
        ({"race_lengths": "5"}, TypeError, "race_lengths: expected"),
        ({"time": 1.0}, ValueError, r"time: expected shape \(n,\), got \(\)"),
        ({"position": np.full((5, 3), "1")}, TypeError, "position: expected float32 or float64, got <U1"),
        ({"position": np.zeros((5, 3), complex)}, TypeError, "position: expected .* got complex128"),
        ({"position": np.zeros(3)}, ValueError, "position: expected shape"),
        ({"quat_wxyz": np.zeros((5, 4), bool)}, TypeError, "quat_wxyz: expected .* got bool"),
        (
            {"quaternion_xyzw": np.ones((5, 4)) / 2},
            ValueError,
            "quaternion_xyzw: .*quat_wxyz as well; remove",
        ),
        ({"car_vertices": np.zeros((8, 2))}, ValueError, "car_vertices: expected shape"),
        ({"car_vertices": 3.0}, ValueError, "car_vertices: expected shape"),
        ({"car_faces": np.zeros((2, 3))}, TypeError, "car_faces: expected"),
        ({"track_faces": [[0, 1, 99]]}, ValueError, "track_faces"),
        ({"track_vertices": np.full((8, 3), np.nan)}, ValueError, "track_vertices: expected finite"),
    ],
)
def test_the_array_is_named(change, kind, text, arrays, tmp_path):
    with pytest.raises(kind, match="^" + text):
        gc.Recording.from_arrays({**arrays, **change})
    np.savez(tmp_path / "race.npz", **{**arrays, **change})
    with pytest.raises(kind, match="race.npz: " + text):
        gc.load_recording(tmp_path / "race.npz")


def test_arrays_of_objects_are_named(arrays, tmp_path):
    rows = [list(row) for row in arrays["position"]]
    np.savez(tmp_path / "race.npz", **{**arrays, "position": objects(rows)})
    with pytest.raises(TypeError, match=r"race.npz: position: .*np.asarray\(position, dtype=float\)"):
        gc.load_recording(tmp_path / "race.npz")
    np.savez(tmp_path / "race.npz", **{**arrays, "car_faces": objects(TRIANGLES.tolist())})
    with pytest.raises(TypeError, match=r"car_faces: .*dtype=int\)"):
        gc.load_recording(tmp_path / "race.npz")
    np.savez(
        tmp_path / "race.npz", **arrays, driver=objects(["a", "b"])
    )  # what is not looked at may be anything
    assert gc.load_recording(tmp_path / "race.npz").n_steps == 4


def test_lists_are_arrays(arrays):
    found = gc.Recording.from_arrays(arrays).collide(backend="cpu")
    lists = {name: array.tolist() for name, array in arrays.items()}
    again = gc.Recording.from_arrays(lists).collide(backend="cpu")
    assert len(found) and np.array_equal(found.time, again.time)
    with pytest.raises(TypeError, match="position: expected"):
        gc.Recording.from_arrays({**lists, "position": [["a", "b", "c"]] * 5})


@pytest.mark.parametrize("wrong", [[1], None, "race.npz", 3])
def test_a_mapping_is_asked_for(wrong):
    with pytest.raises(TypeError, match="arrays: expected a mapping of names to arrays, got"):
        gc.Recording.from_arrays(wrong)


def test_no_body_at_all(arrays):
    none = {**arrays, "position": np.zeros((5, 0, 3)), "quat_wxyz": np.zeros((5, 0, 4))}
    recording = gc.Recording.from_arrays(none)
    assert recording.n_bodies == 0 and recording.poses(1, 4).shape == (3, 0)
    found = recording.collide(backend="cpu")
    assert found.n_steps == 4 and len(found) == 0


def test_arguments_of_load_recording(arrays, tmp_path):
    for wrong in (None, 3, b"race.npz"):
        with pytest.raises(TypeError, match=f"path: expected the name .* got {type(wrong).__name__}"):
            gc.load_recording(wrong)
    np.savez(tmp_path / "race.npz", **arrays)
    for wrong in ("no", 0, None):
        with pytest.raises(TypeError, match="two_sided: expected a bool"):
            gc.load_recording(tmp_path / "race.npz", two_sided=wrong)
        with pytest.raises(TypeError, match="two_sided: expected a bool"):
            gc.Recording.from_arrays(arrays, two_sided=wrong)


def test_what_the_recording_has_is_no_option(arrays):
    recording = gc.Recording.from_arrays(arrays)
    with pytest.raises(TypeError, match=r"static: .*recording.with_static\(static\).collide\(\)"):
        recording.collide(static=BOX)
    for name in ("meshes", "shape", "poses", "times"):
        with pytest.raises(TypeError, match=f"{name}: expected no such option.*load_recording"):
            recording.collide(**{name: None})
    assert recording.with_static(None).collide(backend="cpu").info["n_static"] == 0
