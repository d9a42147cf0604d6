"""Forty wrong turns of a new user, each of which ends in a sentence that says what to do.

A turn is what the user does, and words of the remedy. It may raise, warn, or be a command that fails.
"""

import sys

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide import view
from gpu_collide.cli import main
from tests.api._turns import UNIT, Turns, box, hidden, read, two

TURNS = Turns()
turn = TURNS.turn
CORNERS = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
TETRA = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


# -- what is not installed


@turn("pip install 'gpu-collide[opencl]'")
def no_opencl(folder, monkeypatch):
    hidden(monkeypatch, "pyopencl")
    monkeypatch.setattr("gpu_collide.backends._open", {})
    gc.collide(two(), [[0, 1]], backend="opencl")


@turn("gpu-collide doctor")
def no_gpu(folder, monkeypatch):
    hidden(monkeypatch, "cupy")
    monkeypatch.setattr("gpu_collide.backends._open", {})
    gc.collide(two(), [[0, 1]], backend="cuda")


@turn("pip install 'gpu-collide[mesh]'")
def no_mesh_library(folder, monkeypatch):
    hidden(monkeypatch, "trimesh")
    (folder / "a.stl").write_text("solid\n")
    gc.load_mesh(folder / "a.stl")


@turn("pip install 'gpu-collide[view]'")
def no_matplotlib(folder, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("matplotlib", "gpu_collide.view.p"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(view, "pictures", raising=False)
    hidden(monkeypatch, "matplotlib")
    view.plot_contacts(two(), (0, 1))


@turn("pip install 'gpu-collide[data]'")
def no_pandas(folder, monkeypatch):
    hidden(monkeypatch, "pandas")
    gc.collide(two(), [[0, 1]], backend="cpu").to_pandas()


@turn("pip install 'gpu-collide[data]'")
def no_pyarrow(folder, monkeypatch):
    hidden(monkeypatch, "pyarrow", "pyarrow.parquet")
    gc.collide(two(), [[0, 1]], backend="cpu").save(folder / "x.parquet")


@turn("expected one of 'auto', 'cpu', 'opencl', 'cuda', 'reference'")
def backend_that_is_none(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], backend="gpu")


# -- mesh files


@turn("check the name (one without a folder counts from")
def file_that_is_not_there(folder, monkeypatch):
    gc.load_mesh(folder / "nothing.obj")


for does, name, content, remedy in (
    ("file_of_another_kind", "a.step", "ISO-10303-21;", "export it as one of these"),
    ("file_that_is_damaged", "a.obj", "v 0 0 0\nv 1 zero 0\nf 1 2 3\n", "line 2: expected three numbers"),
    ("file_that_was_cut_short", "a.stl", b" " * 80 + b"\14\0\0\0" + b"\0" * 500, "export or copy it anew"),
    ("file_of_points", "a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "export it with its surface"),
    ("faces_from_one", "a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 1 2 3\n", "subtract 1 from them"),
):
    TURNS.file(does, name, content, remedy)


@turn("Remedy: mesh.flip()")
def file_inside_out(folder, monkeypatch):
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {c + 1} {b + 1}" for a, b, c in TETRA]
    (folder / "a.obj").write_text("\n".join(lines))
    gc.load_mesh(folder / "a.obj")


# -- meshes of arrays


@turn("pass faces - 1")
def faces_counted_from_one(folder, monkeypatch):
    gc.Mesh(CORNERS, TETRA + 1)


@turn("pass faces - 1")
def lists_of_faces_counted_from_one(folder, monkeypatch):
    gc.Mesh(CORNERS, (TETRA + 1).tolist())


@turn("expected indices from 0 to 3, got 7")
def corner_that_is_not_there(folder, monkeypatch):
    gc.Mesh(CORNERS, [[0, 1, 7]])


@turn("pass numpy.asarray(faces, dtype=int)")
def faces_of_floats(folder, monkeypatch):
    gc.Mesh(CORNERS, TETRA.astype(float))


@turn("mend them or leave them out")
def vertices_that_are_no_numbers(folder, monkeypatch):
    gc.Mesh([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]], [[0, 1, 2]])


@turn("triangulate=True")
def bent_quad(folder, monkeypatch):
    gc.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0.3], [0, 1, 0]], [[0, 1, 2, 3]])


@turn("pass vertices.T")
def vertices_in_columns(folder, monkeypatch):
    gc.Mesh(np.array(CORNERS).T, TETRA)


@turn("Mesh(vertices, faces) makes one of arrays, load_mesh of a file")
def object_that_is_no_mesh(folder, monkeypatch):
    gc.Bodies({"vertices": CORNERS}, None, gc.Poses.identity(1), gc.Poses.identity(1))


# -- poses


@turn("Poses.from_euler takes three angles")
def euler_angles_for_quaternions(folder, monkeypatch):
    gc.Poses.from_quat_wxyz(np.zeros((2, 3)), np.zeros((2, 3)))


@turn("numpy.broadcast_to(quat, (5, 4)) repeats one for all")
def one_turn_for_many_places(folder, monkeypatch):
    gc.Poses.from_quat_wxyz(np.zeros((5, 3)), UNIT)


@turn("Poses.from_quat_wxyz makes them from arrays")
def arrays_for_poses(folder, monkeypatch):
    gc.Bodies(box(), None, np.zeros((2, 3)), np.zeros((2, 3)))


@turn("Poses.from_matrix takes matrices")
def matrices_for_poses_of_a_scene(folder, monkeypatch):
    gc.Scene(box(), None, np.tile(np.eye(4), (2, 1, 1)))


@turn("divide quaternions by their length")
def quaternions_of_another_length(folder, monkeypatch):
    poses = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0, 0]], [UNIT, [2.0, 0, 0, 0]])
    gc.collide(gc.Bodies(box(), None, poses, poses), [[0, 1]], backend="cpu")


@turn("scales belong to meshes: mesh.scaled")
def matrices_with_a_scale(folder, monkeypatch):
    matrix = np.tile(np.diag([2.0, 2, 2, 1]), (2, 1, 1))
    poses = gc.Poses.from_matrix(matrix)
    gc.collide(gc.Bodies(box(), None, poses, poses), [[0, 1]], backend="cpu")


@turn("Poses.from_quat_xyzw")
def w_last(folder, monkeypatch):
    angle = np.linspace(0.1, 1.4, 9)
    quat = np.stack([0 * angle, 0 * angle, np.sin(angle), np.cos(angle)], axis=1)
    poses = gc.Poses.from_quat_wxyz(9.0 * np.arange(27).reshape(9, 3), quat)
    gc.collide(gc.Bodies(box(), None, poses, poses), [[0, 1]], backend="cpu")


@turn("as many poses as start, 2, got 3")
def poses_of_another_number(folder, monkeypatch):
    gc.Bodies(box(), None, gc.Poses.identity(2), gc.Poses.identity(3))


@turn("poses.broadcast_to")
def worlds_at_the_start_alone(folder, monkeypatch):
    gc.Bodies(box(), None, gc.Poses.identity((4, 2)), gc.Poses.identity(2))


@turn("mend it, or leave the body out")
def position_that_is_no_number(folder, monkeypatch):
    gc.collide(two(end=((0, 0, 0), (np.nan, 0, 0))), backend="cpu")


@turn("not millimetres beside metres")
def millimetres(folder, monkeypatch):
    start, end = (gc.Poses.from_quat_wxyz([[0, 0, 0], [x, 0, 0]], [UNIT] * 2) for x in (3, 1.5))
    gc.collide(gc.Bodies(gc.shapes.box((1000, 1000, 1000)), None, start, end), [[0, 1]], backend="cpu")


# -- questions


@turn("for one pair pass [[a, b]]")
def one_pair_as_two_numbers(folder, monkeypatch):
    gc.collide(two(), [0, 1])


@turn("expected indices from 0 to 1, got 2")
def pair_of_a_body_that_is_not_there(folder, monkeypatch):
    gc.collide(two(), [[0, 2]])


@turn("leave them out")
def body_with_itself(folder, monkeypatch):
    gc.collide(two(), [[1, 1]])


@turn("Bodies(mesh, None, start, end) makes them")
def mesh_for_bodies(folder, monkeypatch):
    gc.collide(box(), [[0, 1]])


@turn("leave world out, or pairs")
def pairs_and_worlds(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], world=[0, 1])


@turn("pass which of them each body has, such as [0, 1]")
def shapes_that_nobody_chose(folder, monkeypatch):
    gc.Bodies([box(), box()], None, gc.Poses.identity(2), gc.Poses.identity(2))


@turn("expected 'auto' or 'all' with candidates='raster'")
def rows_of_near_faces(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], tuning=gc.Tuning(candidates="raster", features="near"))


@turn("expected the world of each body")
def answers_of_worlds_that_were_not_said(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], backend="cpu").by_world()


@turn("pass a larger max_bytes")
def too_little_memory(folder, monkeypatch):
    gc.collide(two(), backend="cpu", max_bytes=10)


# -- recordings and results


@turn("strictly increasing")
def times_that_fall(folder, monkeypatch):
    gc.collide_trajectories(box(), None, gc.Poses.identity((3, 2)), [0.0, 2.0, 1.0])


@turn("divide them by 1000")
def milliseconds(folder, monkeypatch):
    poses = gc.Poses.identity((3, 2))
    gc.collide_trajectories(box(), None, poses, 1.7e12 + 16.0 * np.arange(3), backend="cpu")


@turn("quat_wxyz")
def recording_without_turns(folder, monkeypatch):
    np.savez(folder / "race.npz", time=np.arange(3.0), position=np.zeros((3, 1, 3)))
    gc.load_recording(folder / "race.npz", meshes=box())


@turn("was not written by Contacts.save")
def file_that_is_no_result(folder, monkeypatch):
    np.savez(folder / "x.npz", a=np.zeros(3))
    gc.Contacts.load(folder / "x.npz")


@turn("a name ending in .npz, .csv, .json, .parquet")
def result_into_a_file_of_another_kind(folder, monkeypatch):
    gc.collide(two(), [[0, 1]], backend="cpu").save(folder / "x.xlsx")


@turn("a name ending in .html")
def page_of_another_kind(folder, monkeypatch):
    view.page(gc.collide(two(), [[0, 1]], backend="cpu"), two(), folder / "page.pdf")


# -- the command


@turn("gpu-collide demo --save-input")
def command_without_its_file(folder, monkeypatch):
    main(["run", str(folder / "a.obj"), str(folder / "b.obj"), str(folder / "poses.npz"), "-o", "x.npz"])


@turn("a_quat")
def command_with_other_poses(folder, monkeypatch):
    box_file = folder / "a.obj"
    box_file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    np.savez(folder / "poses.npz", position=np.zeros((1, 3)))
    main(["run", str(box_file), str(box_file), str(folder / "poses.npz"), "-o", str(folder / "x.npz")])


@turn("RECORDING")
def command_without_arguments(folder, monkeypatch):
    main(["race"])


@pytest.mark.parametrize("name", TURNS)
def test_a_wrong_turn_ends_in_what_to_do(name, tmp_path, monkeypatch):
    does, remedy = TURNS[name]
    text = read(does, tmp_path, monkeypatch)
    assert remedy in text, text or "nothing was said"
    assert "Traceback" not in text


def test_there_are_forty_of_them():
    assert len(TURNS) >= 40
