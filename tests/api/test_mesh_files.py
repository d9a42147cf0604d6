"""`load_mesh`: every format there and back, and clear errors."""

import sys

import numpy as np
import pytest

from gpu_collide.errors import GpuCollideError, MissingExtraError
from gpu_collide.geometry import shapes
from gpu_collide.geometry.io.files import load_mesh
from gpu_collide.geometry.mesh.mesh import Mesh

FORMATS = ["obj", "stl", "ply", "off", "glb"]


def as_trimesh(mesh):
    trimesh = pytest.importorskip("trimesh")
    cut = Mesh(mesh.vertices, mesh.faces, triangulate=True)
    return trimesh.Trimesh(cut.vertices, cut.face_vertices.reshape(-1, 3), process=False)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("make", [shapes.box, shapes.car, shapes.torus])
def test_formats(tmp_path, suffix, make):
    mesh = make()
    path = tmp_path / f"shape.{suffix}"
    as_trimesh(mesh).export(path)
    loaded = load_mesh(path)
    assert (loaded.n_vertices, loaded.n_edges, loaded.n_faces) == (
        mesh.n_vertices,
        mesh.n_edges,
        mesh.n_faces,
    )
    assert loaded.closed and loaded.volume == pytest.approx(mesh.volume, rel=1e-6)
    assert np.allclose(
        sorted(loaded.radius * loaded.face_planes[:, 3]),
        sorted(loaded.radius * mesh.face_planes[:, 3]),
        atol=1e-5,
    )
    # Every triangle of the file belongs to exactly one face.
    plain = load_mesh(str(path), merge_coplanar=False)
    assert (np.diff(plain.face_start) == 3).all() and plain.closed
    assert sorted(loaded.source_faces.tolist()) == list(range(plain.n_faces))
    for face in range(loaded.n_faces):
        parts = loaded.source_faces[loaded.source_faces_start[face] : loaded.source_faces_start[face + 1]]
        turned = plain.face_planes[parts, :3] @ loaded.face_planes[face, :3]
        assert (turned > 1 - 1e-6).all()


def test_stl_vertices_are_welded_unless_told_not_to(tmp_path):
    path = tmp_path / "box.stl"
    as_trimesh(shapes.box()).export(path)
    assert load_mesh(path).n_vertices == 8
    apart = load_mesh(path, merge_vertices=False, merge_coplanar=False)
    assert apart.n_vertices == 36 and "merge_vertices=True" in apart.report


def test_parts_of_a_scene_are_put_in_place(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    for k in range(3):
        place = np.eye(4)
        place[0, 3] = 5 * k
        scene.add_geometry(as_trimesh(shapes.box()), transform=place)
    scene.export(tmp_path / "three.glb")
    mesh = load_mesh(tmp_path / "three.glb", two_sided=True)
    assert (mesh.n_vertices, mesh.n_faces) == (24, 18) and mesh.two_sided
    assert np.ptp(mesh.vertices, axis=0).tolist() == [11, 1, 1]


def test_polygons_of_a_file(tmp_path):
    """A quad out of its plane is cut in two; the flat one is put together again."""
    pytest.importorskip("trimesh")
    path = tmp_path / "polygons.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 1\nf 1 2 3 4\nf 2 5 6 3\n")
    mesh = load_mesh(path)
    assert sorted(np.diff(mesh.face_start).tolist()) == [3, 3, 4]


@pytest.mark.parametrize(
    "name, error", [("a.txt", ValueError), ("a", ValueError), ("a.obj", FileNotFoundError)]
)
def test_paths(tmp_path, name, error):
    with pytest.raises(error, match="path: "):
        load_mesh(tmp_path / name)


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_that_hold_no_mesh(tmp_path, suffix):
    pytest.importorskip("trimesh")
    for text in ("", "this is no mesh\n"):
        path = tmp_path / f"bad.{suffix}"
        path.write_text(text)
        with pytest.raises(ValueError, match="path: "):
            load_mesh(path)


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.obj").mkdir()
    with pytest.raises(FileNotFoundError):
        load_mesh(tmp_path / "folder.obj")


def test_without_trimesh_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)  # importing it now raises ImportError
    path = tmp_path / "a.stl"
    path.write_text("solid\n")
    with pytest.raises(MissingExtraError, match=r"trimesh.*pip install 'gpu-collide\[mesh\]'") as caught:
        load_mesh(path)
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, GpuCollideError)
    assert caught.value.extra == "mesh"


def test_flags_are_bools(tmp_path):
    path = tmp_path / "box.off"
    as_trimesh(shapes.box()).export(path)
    for name in ("two_sided", "triangulate", "merge_vertices", "merge_coplanar"):
        with pytest.raises(TypeError, match=f"^{name}: expected a bool.* got str; pass True"):
            load_mesh(path, **{name: "no"})


def test_a_file_cut_short_is_told_as_one(tmp_path):
    """A truncated STL was reported as a missing module, which trimesh asks for to make sense of the text."""
    for suffix, options in (("stl", {}), ("stl", {"file_type": "stl_ascii"}), ("glb", {})):
        path = tmp_path / f"ball.{suffix}"
        as_trimesh(shapes.torus()).export(path, **options)
        raw = path.read_bytes()
        for size in (0, 10, 83, 84, 90, 134, 1000, len(raw) // 2, len(raw) - 30):
            path.write_bytes(raw[:size])
            with pytest.raises(ValueError, match=f"path: .*ball.{suffix}'") as raised:
                load_mesh(path)
            assert "module" not in str(raised.value), size
        if suffix == "stl" and not options:
            path.write_bytes(raw[:-1])
            with pytest.raises(
                ValueError, match="triangles has .* bytes, this one has .*damaged or cut short"
            ):
                load_mesh(path)
    (tmp_path / "noise.stl").write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(ValueError, match="damaged or cut short"):
        load_mesh(tmp_path / "noise.stl")


def test_polygons_need_no_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert load_mesh(path).n_faces == 1


@pytest.mark.parametrize("path", [None, 3, b"a.obj", ["a.obj"]])
def test_names_of_the_wrong_kind(path):
    with pytest.raises(TypeError, match="^path: expected the name of a mesh file, got"):
        load_mesh(path)
