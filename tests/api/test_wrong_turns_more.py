"""Forty more wrong turns: files that are something else, tables and tensors, folders, the command."""

import struct

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import view
from gpu_collide.cli import main
from tests.api._turns import UNIT, Turns, box, read, two

TURNS = Turns()
turn = TURNS.turn
TETRA = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
PLY = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"

# -- mesh files

for does, name, content, remedy in (
    ("web_page_for_a_mesh", "a.obj", "<!DOCTYPE html><html>404</html>", "download the file itself"),
    ("web_page_for_glb", "a.glb", "<html>not found</html>", "download the file itself"),
    ("pointer_of_git_lfs", "a.stl", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    ("archive_for_a_mesh", "a.obj", b"PK\3\4" + b"\0" * 50, "unpack it first"),
    ("text_in_utf16", "a.obj", TETRA.encode("utf-16"), "save it as UTF-8"),
    ("decimals_with_commas", "a.obj", TETRA.replace("1 0 0", "1,5 0 0"), "decimals stand behind a point"),
    ("empty_file", "a.obj", "", "export it with its surface"),
    ("lines_alone", "a.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n", "export it with its surface"),
    ("ply_without_heights", "a.ply", PLY + "element face 1\nproperty list uchar int vertex_indices\n"
     "end_header\n0 0\n1 0\n0 1\n3 0 1 2\n", "export it with x, y and z"),
    ("ply_of_points", "a.ply", PLY + "property float z\nend_header\n0 0 0\n1 0 0\n0 1 0\n",
     "with its surface"),
    ("ply_with_odd_properties", "a.ply", PLY.replace("float x", "quad x") + "end_header\n", "quad"),
    ("text_stl_cut_short", "a.stl", "solid a\nfacet normal 0 0 1\nouter loop\n", "export or copy it anew"),
    ("stl_that_says_too_many", "a.stl", b"x" * 80 + struct.pack("<I", 99) + bytes(150),
     "export or copy it anew"),
    ("glb_that_is_none", "a.glb", b"glTF" + bytes(20), "export it anew"),
    ("drawing_of_a_cad_program", "a.fbx", b"Kaydara FBX Binary", "export it as one of these"),
):  # fmt: skip
    TURNS.file(does, name, content, remedy)


@turn("expected a mesh file, got the folder")
def folder_for_a_mesh(folder, monkeypatch):
    (folder / "a.obj").mkdir()
    gc.load_mesh(folder / "a.obj")


@turn("export it with its surface")
def scene_of_points(folder, monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    gc.Mesh.from_trimesh(trimesh.Scene([trimesh.PointCloud(np.zeros((3, 3)))]))


# -- arrays


@turn("give all rows as many numbers")
def rows_of_several_lengths(folder, monkeypatch):
    gc.Mesh([[0, 0, 0], [1, 0], [0, 1, 0]], [[0, 1, 2]])


@turn("numpy.c_[vertices, numpy.zeros(len(vertices))]")
def vertices_in_a_plane(folder, monkeypatch):
    gc.Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2]])


@turn("vertices.astype(float)")
def vertices_as_texts(folder, monkeypatch):
    gc.Mesh([["0", "0", "0"], ["1", "0", "0"], ["0", "1", "0"]], [[0, 1, 2]])


@turn("replace what is no number")
def table_with_words(folder, monkeypatch):
    pandas = pytest.importorskip("pandas")
    gc.Poses.from_quat_wxyz(pandas.DataFrame({"x": [0, 1], "y": [0, 1], "z": [0, "?"]}), [UNIT, UNIT])


@turn("pass array[..., :3] and array[..., 3:]")
def places_and_quaternions_in_one(folder, monkeypatch):
    seven = np.zeros((2, 7))
    gc.Poses.from_quat_wxyz(seven, seven)


@turn("places come first and quaternions second")
def quaternions_first(folder, monkeypatch):
    gc.Poses.from_quat_wxyz([UNIT], [[0, 0, 0]])


@turn("whole[:, :3, :3] = matrix")
def rotations_for_poses(folder, monkeypatch):
    gc.Poses.from_matrix(np.tile(np.eye(3), (2, 1, 1)))


@turn("numpy.swapaxes(matrix, -1, -2)")
def matrices_that_act_on_rows(folder, monkeypatch):
    matrix = np.tile(np.eye(4), (2, 1, 1))
    matrix[:, 3, :3] = [3, 0, 0]
    poses = gc.Poses.from_matrix(matrix)
    gc.collide(gc.Bodies(box(), None, poses, poses), [[0, 1]], backend="cpu")


@turn("Tensor")
def tensor_that_nobody_can_read(folder, monkeypatch):
    torch = pytest.importorskip("torch")
    gc.Poses.from_quat_wxyz(torch.zeros(2, 3, device="meta"), [UNIT, UNIT])


@turn("pass numpy.asarray(pairs, dtype=int)")
def pairs_of_floats(folder, monkeypatch):
    gc.collide(two(), [[0.0, 1.0]])


@turn("pass pairs.T")
def pairs_in_columns(folder, monkeypatch):
    gc.collide(two(), np.zeros((2, 5), int))


@turn("pass a number, as 2 * 10**9")
def memory_as_text(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], max_bytes="2G")


@turn("90 degrees are math.radians(90)")
def degrees_for_radians(folder, monkeypatch):
    gc.collide_trajectories(box(), None, gc.Poses.identity((3, 2)), [0.0, 1, 2], max_turn=90)


@turn("of a single body pass poses[:, None]")
def one_body_without_its_axis(folder, monkeypatch):
    gc.collide_trajectories(box(), None, gc.Poses.identity(3), [0.0, 1, 2])


@turn("Bodies(mesh, None, here, here)")
def mesh_for_a_world(folder, monkeypatch):
    gc.sweep.rays([[0, 0, 3]], [[0, 0, -4]], box())


@turn("call its update(poses) without end")
def world_that_moves(folder, monkeypatch):
    bodies = two()
    with gc.Scene(box(), None, bodies.start, bodies.end, backend="cpu") as world:
        gc.pluecker.contacts(bodies, world)


# -- results, recordings and files


@turn("make it first")
def result_into_a_folder_that_is_not_there(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], backend="cpu").save(folder / "results" / "c.npz")


@turn("make it first")
def page_into_a_folder_that_is_not_there(folder, monkeypatch):
    view.page(gc.collide(two(), [[0, 1]], backend="cpu"), two(), folder / "pages" / "p.html")


@turn("such as contacts.pairs[0]")
def picture_of_one_body(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    view.plot_contacts(two(), 0)


@turn("plot_contacts draws a pair of bodies")
def track_without_a_recording(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    view.plot_track(two(), gc.collide(two(), [[0, 1]], backend="cpu"))


@turn("Recording.from_arrays and from_table take what any other file has")
def recording_as_mat(folder, monkeypatch):
    gc.load_recording(folder / "drive.mat")


@turn("read it by TrajectoryContacts.load")
def result_of_another_class(folder, monkeypatch):
    found = gc.collide_trajectories(box(), None, gc.Poses.identity((2, 2)), [0.0, 1.0], backend="cpu")
    found.save(folder / "c.npz")
    gc.Contacts.load(folder / "c.npz")


@turn("see Contacts.pairs")
def bodies_for_the_row_of_a_pair(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], backend="cpu").of_pair((0, 1))


# -- the command


@turn("name what it was made from behind it")
def result_without_its_bodies(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], backend="cpu").save(folder / "c.npz")
    main(["view", str(folder / "c.npz"), "-o", str(folder / "p.html")])


@turn("it holds no result")
def poses_for_a_result(folder, monkeypatch):
    np.savez(folder / "poses.npz", start_a_position=np.zeros((1, 3)))
    main(["view", str(folder / "poses.npz"), "-o", str(folder / "p.html")])


@turn("invalid choice: 'rnu'")
def command_misspelt(folder, monkeypatch):
    main(["rnu"])


@turn("choose another name")
def result_over_its_input(folder, monkeypatch):
    (folder / "a.obj").write_text(TETRA)
    poses = {f"{w}_{s}_position": [[0.0, 0, 0]] for w in ("start", "end") for s in "ab"}
    poses |= {f"{w}_{s}_quat_wxyz": [UNIT] for w in ("start", "end") for s in "ab"}
    np.savez(folder / "poses.npz", **poses)
    files = [str(folder / name) for name in ("a.obj", "a.obj", "poses.npz")]
    main(["run", *files, "-o", files[2], "--backend", "cpu"])


@turn("expected a size such as 500M or 2G")
def size_in_words(folder, monkeypatch):
    main(["demo", "--max-bytes", "lots"])


@turn("cannot make the folder")
def demo_into_a_file(folder, monkeypatch):
    (folder / "taken").write_text("")
    main(["demo", "--pairs", "5", "-o", str(folder / "taken" / "out")])


@pytest.mark.parametrize("name", TURNS)
def test_a_wrong_turn_ends_in_what_to_do(name, tmp_path, monkeypatch):
    does, remedy = TURNS[name]
    folder = tmp_path / "with a space"
    folder.mkdir()
    text = read(does, folder, monkeypatch)
    assert remedy in text, text or "nothing was said"
    assert "Traceback" not in text


def test_there_are_forty_of_them():
    assert len(TURNS) >= 40


def test_line_ends_of_windows_and_names_with_spaces_are_no_wrong_turn(tmp_path):
    path = tmp_path / "my shape.obj"
    path.write_bytes(TETRA.replace("\n", "\r\n").encode())
    assert gc.load_mesh(path).closed


def test_empty_batches_are_no_wrong_turn():
    nothing = gc.Poses.identity(0)
    for found in (
        gc.collide(two(), [], backend="cpu"),
        gc.collide(gc.Bodies(box(), None, nothing, nothing), backend="cpu"),
    ):
        assert len(found) == found.n_pairs == 0
