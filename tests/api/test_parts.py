"""Names of parts: read from files, kept by meshes, found again in contacts."""

import pickle

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide._validate import as_numpy
from gpu_collide.geometry.arrays.parts import Parts
from gpu_collide.geometry.mesh.mesh import Mesh

UNIT = [1.0, 0, 0, 0]
BOX = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"


def car_of_two(tmp_path):
    """A cab and a wheel beside each other along x, in one OBJ file."""
    faces = ["4 3 2 1", "5 6 7 8", "1 2 6 5", "2 3 7 6", "3 4 8 7", "4 1 5 8"]
    wheel = [" ".join(str(int(k) + 8) for k in face.split()) for face in faces]
    moved = "".join(
        f"v {float(x) + 2} {y} {z}\n" for _, x, y, z in (line.split() for line in BOX.splitlines())
    )
    text = BOX + moved + "o car\ng cab\n" + "".join(f"f {f}\n" for f in faces)
    text += "g wheel\n" + "".join(f"f {f}\n" for f in wheel)
    path = tmp_path / "car.obj"
    path.write_text(text)
    return path


def drive(mesh, other, backend="cpu"):
    """`other` comes from beyond the wheel and goes through both parts."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [6, 0.3, 0.2]], [UNIT] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [-6, 0.3, 0.2]], [UNIT] * 2)
    return gc.Bodies([mesh, other], [0, 1], start, end)


def test_contacts_tell_the_parts_of_a_file(tmp_path, backend):
    path = car_of_two(tmp_path)
    bodies = drive(path, gc.shapes.box((0.4, 0.4, 0.4)))
    assert bodies.named and bodies.meshes[0].parts.names == ("car/cab", "car/wheel")
    found = gc.collide(bodies, [[0, 1], [1, 0]], backend=backend.kind)
    assert found.parts == ("car/cab", "car/wheel")
    of_pair = found.of_pair(0)
    assert list(of_pair["part_a"][:1]) == ["car/wheel"] and set(of_pair["part_b"]) == {""}
    assert set(of_pair["part_a"]) == {"car/wheel", "car/cab"} and "car/wheel" in str(of_pair)
    assert list(found.of_pair(1)["part_b"][:1]) == ["car/wheel"] and set(found.of_pair(1)["part_a"]) == {""}
    on_cab = found.of_bodies(0).of_part("car/cab")
    assert len(on_cab) and (on_cab.local_a[on_cab.pair == 0, 0] < 1.5).all()
    assert len(on_cab) + len(found.of_part("car/wheel")) == len(found)
    with pytest.raises(
        ValueError, match="name: expected a part of this result, got 'door'; it has 'car/cab'"
    ):
        found.of_part("door")


def test_tables_and_files_have_the_names(tmp_path):
    pytest.importorskip("pandas")
    found = gc.collide(drive(car_of_two(tmp_path), gc.shapes.box((0.4, 0.4, 0.4))), [[0, 1]], backend="cpu")
    frame = found.to_pandas()
    assert frame["part_a"].tolist() == found.part_names("part_a").tolist()
    found.save(tmp_path / "x.npz")
    again = gc.Contacts.load(tmp_path / "x.npz")
    assert again.parts == found.parts and again.part_a.tobytes() == found.part_a.tobytes()
    found.save(tmp_path / "x.csv")
    assert ",car/wheel," in (tmp_path / "x.csv").read_text()
    none = gc.collide(drive(gc.shapes.box(), gc.shapes.box()), [[0, 1]], backend="cpu")
    assert (
        none.part_a is None
        and "part_a" not in none.to_pandas()
        and none.part_names("part_a").tolist() == [""] * len(none)
    )
    assert none.of_pair(0).dtype.names == gc.results.contacts.CONTACT_DTYPE.names
    with pytest.raises(ValueError, match="it has no names; meshes have them from files"):
        none.of_part("cab")


def test_names_with_commas_and_quotes_in_csv(tmp_path):
    csv = pytest.importorskip("csv")
    box = gc.shapes.box()
    mesh = Mesh(box.vertices, box.faces, parts=['left, "upper"'] * 6)
    found = gc.collide(drive(mesh, box), [[0, 1]], backend="cpu")
    found.save(tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["part_a"] for row in rows] == ['left, "upper"'] * len(found)


def test_edges_and_merged_faces_belong_to_several_parts():
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]]
    faces = [[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    mesh = Mesh(corners, faces, parts=["left", "right", "roof", "roof", "roof", ""], merge_coplanar=True)
    assert mesh.n_faces == 5 and mesh.part_of("face", 0) == "left + right"
    said = {mesh.part_of("edge", k) for k in range(mesh.n_edges)}
    assert said == {"left + right + roof", "roof", "left + right"}
    assert mesh.part_of("vertex", 4) == "roof" and mesh.part_of("face", 4) == ""
    assert mesh.scaled(2.0).part_of("face", 0) == mesh.flip().part_of("face", 0) == "left + right"
    again = pickle.loads(pickle.dumps(mesh))
    assert again.parts.names == mesh.parts.names and again.part_of("face", 1) == "roof"
    with pytest.raises(ValueError, match="number: expected indices from 0 to 4, got 5"):
        mesh.part_of("face", 5)
    for bad, error in (
        ("roof", TypeError),
        (["roof"] * 5, ValueError),
        ([1] * 6, TypeError),
        (Parts(["a"], np.arange(3), np.zeros(2)), ValueError),
    ):
        with pytest.raises(error, match="^parts: expected "):
            Mesh(corners, faces, parts=bad)
    assert Mesh(corners, faces, parts=[""] * 6).parts is None


def test_solids_of_stl_nodes_of_glb_and_labels_of_ply(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box()
    scene = trimesh.Scene()
    for name, x in (("front", 0.0), ("back", 5.0)):
        scene.add_geometry(
            box, node_name=name, transform=trimesh.transformations.translation_matrix([x, 0, 0])
        )
    scene.export(tmp_path / "two.glb")
    solids = [
        f"solid {name}\n"
        + "".join(
            "facet normal 0 0 1\nouter loop\n"
            + "".join(f"vertex {a + x} {b} {c}\n" for a, b, c in triangle)
            + "endloop\nendfacet\n"
            for triangle in box.triangles
        )
        + f"endsolid {name}\n"
        for name, x in (("front", 0.0), ("back", 5.0))
    ]
    (tmp_path / "two.stl").write_text("".join(solids))
    for file in ("two.glb", "two.stl"):
        mesh = gc.load_mesh(tmp_path / file)
        assert sorted(mesh.parts.names) == ["back", "front"]
        for f in range(mesh.n_faces):
            middle = mesh.vertices[mesh.face(f)].mean(axis=0)
            assert mesh.part_of("face", f) == ("back" if middle[0] > 2.5 else "front")
    assert sorted(Mesh.from_trimesh(scene).parts.names) == ["back", "front"]
    box.export(tmp_path / "one.stl")  # binary: it has no name
    assert gc.load_mesh(tmp_path / "one.stl").parts is None
    ply = (
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 2\nproperty list uchar int vertex_indices\nproperty int label\nend_header\n"
        "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2 7\n3 0 2 3 9\n"
    )
    (tmp_path / "labels.ply").write_text(ply)
    assert gc.load_mesh(tmp_path / "labels.ply").parts.names == ("label 7", "label 9")


def test_bodies_take_scenes_of_trimesh_and_paths(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene({"hull": trimesh.creation.box()})
    path = car_of_two(tmp_path)
    poses = gc.Poses.identity(3)
    bodies = gc.Bodies([scene, str(path), trimesh.creation.box()], [0, 1, 2], poses, poses)
    assert [mesh.parts and mesh.parts.names for mesh in bodies.meshes] == [
        ("hull",), ("car/cab", "car/wheel"), None,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="it holds no triangles"):
        Mesh.from_trimesh(trimesh.Scene())


def test_encounters_and_streams_keep_the_names(tmp_path):
    mesh, box = gc.load_mesh(car_of_two(tmp_path)), gc.shapes.box((0.4, 0.4, 0.4))
    x = np.linspace(6.0, -6.0, 9)
    position = np.stack([np.zeros((9, 3)), np.stack([x, 0.3 + 0 * x, 0.2 + 0 * x], axis=1)], axis=1)
    poses = gc.Poses.from_quat_wxyz(position, np.broadcast_to(UNIT, (9, 2, 4)))
    asked = ([mesh, box], [0, 1], poses, np.arange(9.0))
    found = gc.collide_trajectories(*asked, backend="cpu")
    met = found.encounters()
    assert met.part_names("part_a")[0] == "car/wheel"
    parts = list(gc.collide_trajectories(*asked, stream=True, frames_per_batch=1, backend="cpu"))
    joined = gc.TrajectoryContacts.concatenate(parts)
    assert len(parts) > 2 and joined.part_names("part_a").tolist() == found.part_names("part_a").tolist()
    found.save(tmp_path / "t.npz")
    assert gc.TrajectoryContacts.load(tmp_path / "t.npz").of_part("car/cab").parts == found.parts
    met.save(tmp_path / "m.npz")
    assert type(met).load(tmp_path / "m.npz").part_names("part_b").tolist() == [""] * len(met)


def test_parts_of_results_that_were_made_without_bodies(tmp_path):
    bodies = drive(car_of_two(tmp_path), gc.shapes.box((0.4, 0.4, 0.4)))
    found = gc.collide(bodies, [[0, 1]], backend="cpu")
    fields = {
        name: getattr(found, name) for name in (*gc.results.contacts.CONTACT_DTYPE.names, "status", "toi")
    }
    plain = gc.Contacts(**fields, contact_start=found.contact_start, pairs=found.pairs)
    assert plain.part_a is None
    assert plain.with_parts(bodies).part_a.tobytes() == found.part_a.tobytes()
    with pytest.raises(ValueError, match="bodies: expected those of the query, 2 or more, got 1"):
        one = gc.Poses.identity(1)
        plain.with_parts(gc.Bodies(bodies.meshes, [0], one, one))


def test_damaged_names_are_noticed(tmp_path):
    found = gc.collide(drive(car_of_two(tmp_path), gc.shapes.box()), [[0, 1]], backend="cpu")
    from gpu_collide.results.file_validation import part_faults

    codes = {"part_a": found.part_a, "part_b": found.part_b}
    assert list(part_faults(codes, found.parts)) == []
    assert [name for name, _ in part_faults(codes, ["one"])] == ["part_a"]
    assert [name for name, _ in part_faults(codes, None)] == ["info"]
    assert [name for name, _ in part_faults({"part_a": found.part_a}, found.parts)] == ["part_b"]


@pytest.mark.parametrize("results", ["host", "device"])
def test_names_are_the_same_wherever_the_result_lies(results, backend, tmp_path):
    """On a device they are looked up when somebody asks; selections, tables, files and copies have them."""
    bodies = drive(car_of_two(tmp_path), gc.shapes.box((0.4, 0.4, 0.4)))
    expected = gc.collide(bodies, [[0, 1], [1, 0]], backend="cpu")

    def found():
        return gc.collide(bodies, [[0, 1], [1, 0]], backend=backend.kind, results=results)

    for name in ("part_a", "part_b"):
        codes = getattr(found(), name)
        assert type(codes) is type(found().feature_a) and codes.dtype == np.int32
        assert as_numpy(codes, name).tobytes() == getattr(expected, name).tobytes()
        assert found().part_names(name).tolist() == expected.part_names(name).tolist()
    assert found().parts == expected.parts == ("car/cab", "car/wheel")
    assert found().of_part("car/cab").part_a.tobytes() == expected.of_part("car/cab").part_a.tobytes()
    assert found().of_pair(0)["part_a"].tolist() == expected.of_pair(0)["part_a"].tolist()
    assert found().to_numpy().part_a.tobytes() == expected.part_a.tobytes()
    assert found()[:3].part_names("part_b").tolist() == expected.part_names("part_b")[:3].tolist()
    assert pickle.loads(pickle.dumps(found().to_numpy())).parts == expected.parts
    found().save(tmp_path / "c.npz")
    assert gc.Contacts.load(tmp_path / "c.npz").parts == expected.parts
    found().save(tmp_path / "c.csv")
    assert "car/wheel" in (tmp_path / "c.csv").read_text()
    again = found().with_parts(bodies)
    assert as_numpy(again.part_b, "part_b").tobytes() == expected.part_b.tobytes()
    assert found().info.get("device") == again.info.get("device")
    few = gc.Poses.identity(1)
    with pytest.raises(ValueError, match="bodies: expected those of the query, 2 or more, got 1"):
        found().with_parts(gc.Bodies(bodies.meshes, [0], few, few)).part_names("part_a")
