"""A result and its bodies in one file: it comes back as it was, its page is the same, damage is noticed."""

import io
import json
import zipfile

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.cli import main
from gpu_collide.cli.files import bytes_of_scene
from gpu_collide.scenes import demo_race, random_impacts, worlds
from gpu_collide.view.result_file import FORMAT
from tests.view._pages import UP, floor, movers_over_a_floor, turning_cars, walkers


def batch():
    car = gc.shapes.car()
    bodies, pairs = random_impacts(car, gc.shapes.torus(), 20, seed=4)
    return gc.collide(bodies, pairs, backend="cpu"), bodies, {}


def of_worlds():
    bodies, world = worlds(3, seed=3)
    return gc.collide(bodies, world=world, backend="cpu"), bodies, {"world": world}


def race():
    recording = turning_cars()
    return recording.collide(backend="cpu"), recording, {}


def swept():
    given = {"start": [[0, 0, 3], [0, 1, 3]], "displacement": [[1, 0, -4]] * 2, "radii": 0.25}
    hits = gc.sweep.spheres(given["start"], given["displacement"], given["radii"], floor(), backend="cpu")
    return hits, floor(), given


def characters():
    world, start, way, found = walkers(5)
    return found, world, {"start": start, "displacement": way, "radii": [0.3, 0.3, 0.6]}


def moved(k):
    movers, found = movers_over_a_floor()
    words, trace = found[k]
    return trace, floor(), {"movers": movers, **words}


KINDS = {
    "a batch": batch,
    "worlds": of_worlds,
    "a recording": race,
    "what is swept": swept,
    "characters": characters,
    "a way": lambda: moved(0),
    "a turn": lambda: moved(1),
    "a pose": lambda: moved(2),
    "a ray among a mesh": lambda: (
        gc.sweep.rays([[0, 0, 3.0]], [[0, 0, -4.0]], floor(), backend="cpu"),
        floor().meshes[0],
        {"start": [[0, 0, 3.0]], "displacement": [[0, 0, -4.0]]},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_has_the_page_of_what_was_given(kind, tmp_path, capsys):
    result, scene, how = KINDS[kind]()
    gc.view.save_result(result, scene, tmp_path / "kept.npz", **how)
    gc.view.page(result, scene, tmp_path / "given.html", **how)
    expected = (tmp_path / "given.html").read_bytes()
    again, among, told = gc.view.load_result(tmp_path / "kept.npz")
    gc.view.page(again, among, tmp_path / "kept.html", **told)
    assert (tmp_path / "kept.html").read_bytes() == expected
    assert main(["view", str(tmp_path / "kept.npz"), "-o", str(tmp_path / "shell.html"), "-q"]) == 0
    assert (tmp_path / "shell.html").read_bytes() == expected
    first = result[0] if isinstance(result, list) else result
    alone = type(first).load(tmp_path / "kept.npz")
    assert np.array_equal(alone.status if hasattr(alone, "status") else alone.time,
                          first.status if hasattr(first, "status") else first.time)  # fmt: skip


def test_bodies_come_back_to_the_bit(tmp_path):
    """Poses that are none, names of parts, two-sided and merged meshes, worlds in rows."""
    ball, cube = gc.shapes.icosphere(2), gc.shapes.box()
    named = gc.Mesh(cube.vertices, cube.face_vertices.reshape(-1, 4), parts=["", "lid", "wall"] * 2)
    merged = gc.Mesh(ball.vertices, ball.face_vertices.reshape(-1, 3), merge_coplanar=1e-8, two_sided=True)
    rng = np.random.default_rng(1)
    quat = rng.normal(size=(3, 2, 4))
    quat[:2] /= np.linalg.norm(quat[:2], axis=-1, keepdims=True)
    start = gc.Poses.from_quat_wxyz(rng.normal(size=(3, 2, 3)) * 1e5, quat)
    assert not start.valid.all()
    for end in (start, gc.Poses.from_quat_wxyz(start.position + [1 / 3, 0, 0], quat)):
        bodies = gc.Bodies([named, merged], [1, 0], start, end)
        with pytest.warns(RuntimeWarning, match="invalid pose"):
            found = gc.collide(bodies, backend="cpu")
        gc.view.save_result(found, bodies, tmp_path / "kept")
        with pytest.warns(RuntimeWarning, match="invalid pose"):
            same = gc.collide(gc.view.load_result(tmp_path / "kept.npz")[1], backend="cpu")
        again, among, _ = gc.view.load_result(tmp_path / "kept.npz")
        assert again.parts == found.parts and among.worlds == (3, 2)
        assert (among.start is among.end) == (end is start)
        for mine, other in zip(bodies.meshes, among.meshes, strict=True):
            for name in ("vertices", "face_start", "face_vertices", "face_planes", "edges", "edge_flags"):
                np.testing.assert_array_equal(getattr(mine, name), getattr(other, name))
            assert mine.two_sided == other.two_sided
            assert (mine.parts is None) == (other.parts is None)
        assert among.meshes[0].part_of("face", 1) == "lid"
        for name in ("position", "unit_wxyz", "valid"):
            np.testing.assert_array_equal(getattr(among.end, name), getattr(bodies.end, name))
        for name in found._format.fields:
            np.testing.assert_array_equal(getattr(found, name), getattr(same, name))


def test_files_of_the_command_are_enough(tmp_path, capsys):
    np.savez(tmp_path / "race.npz", **demo_race(2, stations=60, seconds=4.0))
    (tmp_path / "a.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    )
    still, flies = [[0.0, 0, 0]], ([[-3.0, 0.1, 0.1]], [[3.0, 0.1, 0.1]])
    poses = {f"{w}_{s}_quat_wxyz": [UP] for w in ("start", "end") for s in "ab"}
    poses |= {"start_a_position": still, "end_a_position": still}
    poses |= {"start_b_position": flies[0], "end_b_position": flies[1]}
    np.savez(tmp_path / "poses.npz", **poses)
    files = [str(tmp_path / name) for name in ("a.obj", "a.obj", "poses.npz")]
    for words in (["run", *files], ["race", str(tmp_path / "race.npz"), "--no-table"]):
        said = [*words, "--backend", "cpu", "-q", "--plain", "-o"]
        out, pages = str(tmp_path / "my result.npz"), [str(tmp_path / f"{k}.html") for k in "ab"]
        assert main([*said, out, "--page", pages[0]]) == 0
        assert f"gpu-collide view '{out}' -o page.html" in capsys.readouterr().out
        assert main(["view", out, "-o", pages[1]]) == 0
        assert open(pages[0]).read() == open(pages[1]).read()
        assert main([*said, out, "--no-bodies"]) == 0
        assert main(["view", out, "-o", pages[1]]) == 2
        assert "holds a result alone: name what it was made from behind it" in capsys.readouterr().err


def test_large_scenes_are_left_out_unless_they_are_wanted(tmp_path, capsys, monkeypatch):
    recording = turning_cars()
    assert bytes_of_scene(recording) > 56 * 9 * 12
    monkeypatch.setattr("gpu_collide.cli.files.MOST_KEPT", 100)
    words = ["race", "--demo", "-o", str(tmp_path / "c.npz"), "-q", "--no-table", "--backend", "cpu"]
    assert main(words) == 0
    assert "without its meshes and poses of" in capsys.readouterr().out
    with pytest.raises(ValueError, match="holds a result alone"):
        gc.view.load_result(tmp_path / "c.npz")
    assert main([*words, "--bodies"]) == 0
    assert isinstance(gc.view.load_result(tmp_path / "c.npz")[1], gc.Recording)


def rewritten(path, change):
    """The file with other members: `change` gets them by name, as bytes."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def tree_of(members):
    return json.loads(str(np.load(io.BytesIO(members["scene.npy"]))))


def put(members, tree):
    file = io.BytesIO()
    np.save(file, np.array(tree if isinstance(tree, str) else json.dumps(tree)))
    members["scene.npy"] = file.getvalue()


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda m: m.pop("scene_2.npy"), "is damaged: scene_2"),
        (lambda m: m.update({"scene_0.npy": m["scene_1.npy"]}), "damaged: scene_0: .* checksum differs"),
        (lambda m: put(m, "{"), "damaged: scene: expected JSON"),
        (lambda m: put(m, "[]"), "damaged: scene"),
        (lambda m: put(m, tree_of(m) | {"scene": {"mesh": 9}}), "damaged: scene"),
        (lambda m: put(m, tree_of(m) | {"scene": {"code": "import os"}}), "damaged: scene"),
        (
            lambda m: put(m, tree_of(m) | {"format": FORMAT + 1}),
            "in format 3, this version reads 1 to 2; a newer",
        ),
        (lambda m: m.pop("scene.npy"), "holds a result alone"),
        (lambda m: m.pop("time.npy"), "it lacks time"),
        (lambda m: m.pop("info.npy") and m.pop("scene.npy"), "not written by gpu_collide.view.save_result"),
    ],
)
def test_damage_is_noticed(change, text, tmp_path):
    gc.view.save_result(*batch()[:2], tmp_path / "kept.npz")
    rewritten(tmp_path / "kept.npz", change)
    with pytest.raises(ValueError, match=text):
        gc.view.load_result(tmp_path / "kept.npz")


def test_a_newer_scene_leaves_the_result_readable(tmp_path):
    found, bodies, _ = batch()
    gc.view.save_result(found, bodies, tmp_path / "kept.npz")
    rewritten(tmp_path / "kept.npz", lambda m: put(m, tree_of(m) | {"format": 2}))
    assert len(gc.Contacts.load(tmp_path / "kept.npz")) == len(found)


def test_what_cannot_be_kept(tmp_path):
    found, bodies, _ = batch()
    for arguments, error, text in (
        ((found, bodies, 3), TypeError, "path: expected the name of a file, got int"),
        ((found, bodies, tmp_path / "a.csv"), ValueError, "ending in .npz, got .*tables hold no bodies"),
        ((found, turning_cars(), tmp_path / "a.npz"), TypeError, "scene: expected the Bodies"),
        (([1], bodies, tmp_path / "a.npz"), TypeError, "result: expected Contacts"),
    ):
        with pytest.raises(error, match=text):
            gc.view.save_result(*arguments)
        assert not (tmp_path / "a.npz").exists()
    with pytest.raises(TypeError, match="path: expected the name of a file, got int"):
        gc.view.load_result(3)
    with pytest.raises(FileNotFoundError):
        gc.view.load_result(tmp_path / "none.npz")
    (tmp_path / "page.html").write_text("<html>")
    with pytest.raises(ValueError, match="not a NumPy file"):
        gc.view.load_result(tmp_path / "page.html")


def test_names_raise_the_version_of_the_file(tmp_path):
    """Readers before names refuse such files by their number, and read those without names."""
    cube = gc.shapes.box()
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [-3, 0.1, 0.2]], [UP] * 2)
    end = gc.Poses.from_quat_wxyz([[0, 0, 0], [3, 0.1, 0.2]], [UP] * 2)
    named = gc.Mesh(cube.vertices, cube.face_vertices.reshape(-1, 4), parts=["lid"] * 6)
    for mesh, versions in ((cube, (3, 5, 4)), (named, (4, 5, 4))):
        found = gc.collide(gc.Bodies(mesh, None, start, end), backend="cpu")
        frames = gc.Poses.from_quat_wxyz(np.stack([start.position, end.position]), np.tile(UP, (2, 2, 1)))
        along = gc.collide_trajectories(mesh, None, frames, [0.0, 1.0], backend="cpu")
        for result, version in zip((found, along, along.encounters()), versions, strict=True):
            assert len(result)
            result.save(tmp_path / "c.npz")
            with np.load(tmp_path / "c.npz") as file:
                assert file["format_version"] == version
            assert type(result).load(tmp_path / "c.npz").parts == result.parts


def test_bodies_that_spin_come_back_to_the_bit(tmp_path):
    """With the page that they had: some by two poses, some by velocities; whole turns are no rest."""
    start = gc.Poses.from_quat_wxyz([[0, 0, 0], [1.2, 0.1, 0.2], [3, 0, 0], [5, 0, 0]], [UP] * 4)
    spun = gc.Bodies.from_velocities(
        gc.shapes.box(),
        None,
        start[1:],
        [-0.4, 0, 0],
        [[1, 2, 3], [0, 0, 2 * np.pi], [0, 0, 0]],
        center=[0.1, 0, 0],
    )
    bodies = gc.Bodies.concatenate([gc.Bodies(gc.shapes.box(), None, start[:1], start[:1]), spun])
    found = gc.collide(bodies, motion="body", backend="cpu")
    assert len(found) > 0
    gc.view.save_result(found, bodies, tmp_path / "kept.npz")
    again, among, _ = gc.view.load_result(tmp_path / "kept.npz")
    assert again.info["motion"] == "body"
    for name in ("kind", "displacement", "rotation", "center"):
        np.testing.assert_array_equal(getattr(among.spins, name), getattr(bodies.spins, name))
    for name, of in (("given", (found, bodies)), ("kept", (again, among))):
        gc.view.page(*of, tmp_path / f"{name}.html")
    assert (tmp_path / "kept.html").read_bytes() == (tmp_path / "given.html").read_bytes()
    screws = gc.Bodies(bodies.meshes, bodies.shape, bodies.start, bodies.end)
    with pytest.raises(ValueError, match="motion: expected 'body' for bodies that spin"):
        gc.view.page(gc.collide(screws, backend="cpu"), bodies, tmp_path / "other.html")
