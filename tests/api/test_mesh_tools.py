"""Meshes in another unit, with another axis up, turned outside in; files and trimesh objects in `Bodies`."""

import warnings

import numpy as np
import pytest

import gpu_collide as gc

UP = [1.0, 0, 0, 0]


def write_obj(path, mesh):
    with open(path, "w") as file:
        file.writelines("v {!r} {!r} {!r}\n".format(*v) for v in mesh.vertices.tolist())
        file.writelines("f " + " ".join(str(v + 1) for v in loop) + "\n" for loop in mesh.faces)
    return path


def test_a_flipped_mesh_has_its_other_side_outside():
    for mesh in (gc.shapes.car(), gc.shapes.torus(), gc.shapes.icosphere(1)):
        turned = mesh.flip()
        assert turned.volume == pytest.approx(-mesh.volume) and "looks inside out" in turned.report
        np.testing.assert_array_equal(turned.edges, mesh.edges)
        np.testing.assert_allclose(turned.face_planes, -mesh.face_planes, atol=1e-12)
        again = turned.flip()
        np.testing.assert_array_equal(again.face_vertices, mesh.face_vertices)
        assert "looks inside out" not in again.report


def test_a_mesh_in_another_unit_and_with_another_axis_up():
    mesh = gc.shapes.box((2, 3, 5))
    np.testing.assert_array_equal(mesh.scaled(0.001).vertices, 0.001 * mesh.vertices)
    for up, size in (("x", (3, 5, 2)), ("y", (5, 2, 3)), ("z", (2, 3, 5))):
        turned = mesh.scaled(2, up=up)
        np.testing.assert_allclose(np.ptp(turned.vertices, axis=0), 2 * np.array(size))
        assert turned.volume == pytest.approx(8 * mesh.volume), "not mirrored"
        np.testing.assert_array_equal(turned.face_vertices, mesh.face_vertices)
    sheet = gc.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], two_sided=True)
    assert sheet.scaled(3).two_sided and sheet.flip().two_sided
    for factor, error in ((0, ValueError), (-1, ValueError), (np.nan, ValueError), ("1", TypeError)):
        with pytest.raises(error, match="factor: expected"):
            mesh.scaled(factor)
    with pytest.raises(ValueError, match="up: expected"):
        mesh.scaled(1, up="w")


def test_files_in_millimetres_with_y_up(tmp_path):
    path = write_obj(tmp_path / "box.obj", gc.shapes.box((2000, 3000, 5000)))
    mesh = gc.load_mesh(path, scale=0.001, up="y")
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [5, 2, 3])
    assert mesh.volume == pytest.approx(30)
    with pytest.raises(ValueError, match="scale: expected"):
        gc.load_mesh(path, scale=0)
    with pytest.raises(ValueError, match="up: expected"):
        gc.load_mesh(path, up="w")


def test_a_file_that_is_inside_out_is_told(tmp_path):
    path = write_obj(tmp_path / "box.obj", gc.shapes.box().flip())
    with pytest.warns(RuntimeWarning, match=r"box.obj: the mesh looks inside out.*mesh.flip\(\)"):
        mesh = gc.load_mesh(path)
    assert mesh.flip().volume > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.load_mesh(write_obj(tmp_path / "good.obj", gc.shapes.box()))
        gc.load_mesh(path, two_sided=True)  # it has no outside


def test_files_and_trimesh_objects_are_shapes_of_bodies(tmp_path):
    box = gc.shapes.box()
    path = write_obj(tmp_path / "box.obj", box)
    start = gc.Poses.from_quat_wxyz([[-3.0, 0.1, 0.2], [0, 0, 0]], [UP, UP])
    end = start.moved([[6.0, 0, 0], [0, 0, 0]])
    expected = gc.collide(gc.Bodies(box, None, start, end), [[0, 1]], backend="cpu")
    shapes = [[path, str(path)], [box, path]]
    try:
        import trimesh

        triangles = gc.Mesh(box.vertices, box.faces, triangulate=True)
        made = trimesh.Trimesh(triangles.vertices, np.array(triangles.faces), process=False)
        shapes.append([made, box])
        assert gc.Bodies(made, None, start, end).meshes[0].n_faces == 12, "as it is"
    except ImportError:
        pass
    for meshes in shapes:
        found = gc.collide(gc.Bodies(meshes, [0, 1], start, end), [[0, 1]], backend="cpu")
        np.testing.assert_allclose(found.toi, expected.toi, rtol=1e-12)
    assert len(gc.Bodies(path, None, start, end)) == 2
    with pytest.raises(FileNotFoundError, match="there is no file"):
        gc.Bodies("none.obj", None, start, end)
    with pytest.raises(TypeError, match="meshes: expected Mesh, got int at index 1"):
        gc.Bodies([box, 3], [0, 1], start, end)
