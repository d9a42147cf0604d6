"""The commands from the outside: output, files, exit codes, and what they say when something is wrong."""

import re
import warnings

import numpy as np
import pytest

import gpu_collide as gc
import gpu_collide.cli.demo
import gpu_collide.cli.devices
from gpu_collide.backends import get_backend
from gpu_collide.cli import main
from gpu_collide.cli.demo import save_input, telling_pair
from gpu_collide.cli.files import POSE_NAMES
from gpu_collide.cli.terminal import Terminal
from gpu_collide.scenes import demo_race, random_impacts

N_PAIRS = 24


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with shape.obj and poses.npz, and the scene they were made from."""
    pytest.importorskip("trimesh", reason="reading mesh files needs trimesh")
    folder = tmp_path_factory.mktemp("inputs")
    mesh = gc.shapes.car()
    bodies, pairs = random_impacts(mesh, mesh, N_PAIRS, seed=3)
    save_input([], [mesh] * 2, bodies, pairs, str(folder), Terminal(quiet=True, plain=True))
    return folder, bodies, pairs


def run_cli(*arguments):
    return main([str(a) for a in arguments])


def failure(capsys, *arguments):
    """Exit code and error text of a command that cannot work."""
    code = run_cli(*arguments)
    return code, capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["demo"], ["run"], ["screen"], ["devices"], ["doctor"], ["verify"]])
def test_help_teaches(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "gpu-collide" in text
    if command in ([], ["demo"], ["run"], ["screen"]):
        assert "gpu-collide run" in text or "gpu-collide demo" in text, "an example to copy"


def test_without_a_command_help_is_shown(capsys):
    assert main([]) == 0
    assert "gpu-collide demo" in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert gc.__version__ in capsys.readouterr().out


def test_devices(capsys):
    assert run_cli("devices", "--plain") == 0
    out = capsys.readouterr().out
    for backend in ("cpu", "opencl", "cuda", "reference"):
        assert backend in out
    assert f'backend "auto" takes: {get_backend().name}' in out


def test_devices_tells_of_the_environment(capsys, monkeypatch):
    monkeypatch.setenv("GPU_COLLIDE_BACKEND", "reference")
    assert run_cli("devices", "--plain") == 0
    out = capsys.readouterr().out
    assert "GPU_COLLIDE_BACKEND=reference" in out and '"auto" takes: reference' in out
    monkeypatch.setenv("GPU_COLLIDE_BACKEND", "nonsense")
    code, text = failure(capsys, "devices", "--plain")
    assert code == 2 and "GPU_COLLIDE_BACKEND" in text and "'nonsense'" in text


@pytest.mark.backends("cpu")
def test_verify_prints_a_page_and_writes_it(backend, tmp_path, capsys):
    page = tmp_path / "page.md"
    chosen = ("--backend", "cpu", "--pairs", "6", "--family", "rays", "-o", page)
    assert run_cli("verify", "--plain", *chosen) == 0
    out = capsys.readouterr().out
    assert "all right" in out and "rays" in out and "| rays | points | 6 |" in page.read_text()
    code, text = failure(capsys, "verify", "--family", "cubes", "--backend", "cpu")
    assert code == 2 and "family must be one of boxes" in text
    code, text = failure(capsys, "verify", "-o", tmp_path / "no" / "page.md")
    assert code == 2 and "no" in text


@pytest.mark.backends("cpu")
def test_verify_ends_with_1_where_something_is_wrong(backend, capsys, monkeypatch):
    monkeypatch.setattr("gpu_collide.checks.verify.same_bits", lambda one, other: ["time"])
    chosen = ("--backend", "cpu", "--pairs", "2", "--family", "rays", "--plain")
    assert run_cli("verify", *chosen) == 1
    out = capsys.readouterr().out
    assert "WRONG: rays on cpu: with precision='double' other bits in time" in out
    assert "--family rays --seed 0 --pairs 2 --backend cpu" in out, "how to repeat it"


def test_warnings_are_sentences(capsys, monkeypatch):
    monkeypatch.setattr(
        gpu_collide.cli.devices, "list_devices", lambda *_: warnings.warn("it is slow", stacklevel=1)
    )
    assert run_cli("devices") == 0
    assert capsys.readouterr().err == "gpu-collide: warning: it is slow\n"


def test_an_open_mesh_is_told_of(inputs, tmp_path, capsys):
    folder, _, _ = inputs
    (tmp_path / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    command = ["run", folder / "shape.obj", tmp_path / "open.obj", folder / "poses.npz", "-o", tmp_path / "c"]
    assert run_cli(*command) == 0
    assert "--two-sided b" in capsys.readouterr().err
    assert run_cli(*command, "--two-sided", "b") == 0
    assert "B is open" not in capsys.readouterr().err


def test_run_writes_what_collide_finds(inputs, tmp_path, capsys):
    folder, bodies, pairs = inputs
    mesh, out = folder / "shape.obj", tmp_path / "contacts.npz"
    assert run_cli("run", mesh, mesh, folder / "poses.npz", "-o", out, "--plain", "--keep-triangles") == 0
    captured = capsys.readouterr()
    written = gc.Contacts.load(out)
    assert f"wrote {out}" in captured.out
    assert "pairs per second" in captured.out
    assert "shape.obj: Mesh(" in captured.err

    loaded = gc.load_mesh(mesh, merge_coplanar=False)
    same = gc.Bodies(loaded, None, bodies.start, bodies.end)
    expected = gc.collide(same, pairs).to_numpy()
    assert len(expected) > 0
    np.testing.assert_array_equal(written.status, expected.status)
    np.testing.assert_array_equal(written.feature_b, expected.feature_b)
    np.testing.assert_array_equal(written.time, expected.time)


def test_run_moves_each_body_on_its_own(inputs, tmp_path):
    folder, bodies, pairs = inputs
    words = [
        folder / "shape.obj",
        folder / "shape.obj",
        folder / "poses.npz",
        "-o",
        tmp_path / "own.npz",
        "-q",
    ]
    assert run_cli("run", *words, "--motion", "body", "--backend", "cpu") == 0
    found = gc.Contacts.load(tmp_path / "own.npz")
    expected = gc.collide(bodies, pairs, motion="body", backend="cpu")
    assert found.info["motion"] == "body" and len(found) == len(expected) > 0
    np.testing.assert_allclose(found.toi, expected.toi, atol=1e-9)
    with pytest.raises(SystemExit):
        run_cli("run", *words, "--motion", "own")


def test_run_takes_the_options_of_the_query(inputs, tmp_path):
    folder, _, _ = inputs
    mesh, poses = folder / "shape.obj", folder / "poses.npz"
    counts = []
    for name, options in (("few", ["--first"]), ("usual", []), ("all", ["--min-properness", "-1"])):
        out = tmp_path / f"{name}.npz"
        assert run_cli("run", mesh, mesh, poses, "-o", out, "-q", "--plain", *options) == 0
        counts.append(len(gc.Contacts.load(out)))
    assert 0 < counts[0] <= counts[1] < counts[2]
    assert gc.Contacts.load(tmp_path / "all.npz").exit is None
    assert run_cli("run", mesh, mesh, poses, "-o", tmp_path / "exits.npz", "-q", "--plain", "--exit") == 0
    found = gc.Contacts.load(tmp_path / "exits.npz")
    assert (np.isnan(found.exit) == (found.status == gc.Status.MISS)).all()


def test_wrong_input_ends_with_two_and_a_reason(inputs, tmp_path, capsys):
    folder, _, _ = inputs
    mesh, poses, out = folder / "shape.obj", folder / "poses.npz", tmp_path / "c.npz"
    np.savez(tmp_path / "wrong.npz", position=np.zeros((2, 3)))
    cases = [
        (["run", tmp_path / "absent.obj", mesh, poses, "-o", out], "no such mesh file"),
        (["run", mesh, mesh, tmp_path / "absent.npz", "-o", out], "no such poses file"),
        (["run", mesh, mesh, tmp_path / "wrong.npz", "-o", out], "missing start_a_position"),
        (["run", mesh, mesh, poses, "-o", tmp_path / "absent" / "c.npz"], "no such folder"),
        (["run", mesh, mesh, poses, "-o", out, "--resolution", "-3"], "resolution"),
        (["screen", mesh, mesh, poses, "--pair", N_PAIRS, "-o", tmp_path / "s.png"], f"0 to {N_PAIRS - 1}"),
        (["screen", mesh, mesh, poses, "--pair", -1, "-o", tmp_path / "s.png"], f"0 to {N_PAIRS - 1}"),
    ]
    for arguments, expected in cases:
        code, text = failure(capsys, *arguments, "--plain")
        assert code == 2, arguments
        assert expected in text and "gpu-collide: error:" in text, arguments
        assert "Traceback" not in text
    assert not out.exists()


def test_traceback_on_request(tmp_path):
    with pytest.raises(Exception, match="no such poses file"):
        run_cli("run", "a.obj", "b.obj", tmp_path / "absent.npz", "-o", tmp_path / "c.npz", "--traceback")


def test_demo_prints_what_was_found(tmp_path, capsys):
    assert run_cli("demo", "--pairs", 200, "-o", tmp_path / "demo", "--no-pictures", "--plain") == 0
    captured = capsys.readouterr()
    for text in (
        "200 pairs of cars (16 vertices, 26 edges, 12 faces each)",
        "HIT",
        "MISS",
        "pairs per second",
        "FV",
    ):
        assert text in captured.out
    assert "kernels ready" in captured.err
    assert not (tmp_path / "demo").exists()


def test_demo_draws_two_pictures_and_saves_its_input(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    folder = tmp_path / "demo"
    assert (
        run_cli("demo", "--pairs", 100, "--shape", "cube", "-o", folder, "--save-input", "--plain", "-q") == 0
    )
    assert sorted(p.name for p in folder.iterdir()) == [
        "contacts.png",
        "page.html",
        "poses.npz",
        "screen.png",
        "shape.obj",
    ]
    for name in ("contacts.png", "screen.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
        assert str(folder / name) in capsys.readouterr().out or name == "screen.png"


def test_the_page_of_the_demo_has_the_pair_of_its_pictures(tmp_path, capsys):
    """The pictures were of any of 5,000 pairs, the page of the first hundred with contacts."""
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    assert run_cli("demo", "--pairs", 2000, "--shape", "cube", "-o", tmp_path, "--plain", "-q") == 0
    drawn = re.search(r"pair (\d+) on the collision screen", capsys.readouterr().out).group(1)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.search(rf'"pair {drawn}: bodies ', page), "the page says which pairs it has"


def test_demo_takes_meshes_of_the_users(inputs, tmp_path, capsys):
    """Two files, or one for both; the page needs no matplotlib, and `run` takes what is saved."""
    folder, _, _ = inputs
    mine, out = tmp_path / "my shape.obj", tmp_path / "out"
    mine.write_text((folder / "shape.obj").read_text().replace("\n", "\r\n"))
    other = tmp_path / "b.obj"
    other.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    words = ["demo", other, mine, "--pairs", 40, "-o", out, "--save-input", "--plain", "-q"]
    assert run_cli(*words) == 0
    said = capsys.readouterr().out
    assert "40 pairs of b.obj (" in said and "and my shape.obj (" in said
    assert f"by a browser: {out / 'page.html'}" in said and (out / "page.html").stat().st_size > 10_000
    assert f"gpu-collide run {other} '{mine}' {out / 'poses.npz'} -o" in said
    words = ["run", other, mine, out / "poses.npz", "-o", out / "contacts.npz", "-q", "--plain"]
    assert run_cli(*words) == 0
    assert gc.Contacts.load(out / "contacts.npz").n_pairs == 40
    assert not (out / "shape.obj").exists()
    capsys.readouterr()
    assert run_cli("demo", mine, "--no-pictures", "--plain", "--backend", "cpu") == 0
    assert "1,000 pairs of my shape.obj (" in capsys.readouterr().out
    for words, text in (
        ([mine, mine, mine], "expected one or two mesh files, got 3"),
        ([mine, "--shape", "car"], "--shape: expected none beside mesh files"),
        ([tmp_path / "none.obj"], "no such mesh file"),
    ):
        assert run_cli("demo", *words) == 2
        assert text in capsys.readouterr().err


def test_demo_without_matplotlib_says_what_to_install(tmp_path, capsys, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "matplotlib" else found(name, *a)
    )
    assert run_cli("demo", "--pairs", 50, "-o", tmp_path / "demo", "--plain", "-q") == 0
    assert "gpu-collide[view]" in capsys.readouterr().out


def test_demo_is_short_on_the_numpy_backend(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(gpu_collide.cli.demo, "REFERENCE_PAIRS", 40)
    assert run_cli("demo", "--backend", "reference", "-o", tmp_path / "demo", "--no-pictures", "--plain") == 0
    captured = capsys.readouterr()
    assert "40 pairs of cars" in captured.out
    assert "40 pairs only: the NumPy backend is slow" in captured.err


def test_screen_draws_any_pair(inputs, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    folder, _, _ = inputs
    mesh, screen, space = folder / "shape.obj", tmp_path / "screen.svg", tmp_path / "space.png"
    arguments = ["screen", mesh, mesh, folder / "poses.npz", "--pair", 5, "-o", screen, "--space", space]
    assert run_cli(*arguments, "--resolution", 12, "--plain", "-q") == 0
    assert "<svg" in screen.read_text()
    assert space.read_bytes().startswith(b"\x89PNG")
    assert "Contacts" in capsys.readouterr().out


def test_a_type_of_picture_that_does_not_exist(inputs, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    folder, _, _ = inputs
    mesh = folder / "shape.obj"
    code, text = failure(
        capsys, "screen", mesh, mesh, folder / "poses.npz", "-o", tmp_path / "screen.xyz", "--plain"
    )
    assert code == 2
    assert "screen.xyz: expected a name ending in one of" in text and "png" in text
    assert "Mesh(" not in text, "before the work"


def test_telling_pair_prefers_all_kinds():
    class Found:
        contact_start = np.array([0, 0, 2, 5])
        pair = np.array([1, 1, 2, 2, 2])
        kind = np.array([0, 0, 0, 1, 2])
        time = np.linspace(0.1, 0.5, 5)

    assert telling_pair(Found, 3) == 2
    assert telling_pair(Found, 2) == 1, "only the first two are looked at"
    Found.contact_start = np.zeros(4, int)
    assert telling_pair(Found, 3) is None


def poses_file(path, **changes):
    still, q = np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1))
    arrays = {f"{name}_position": still for name in ("start_a", "end_a")}
    arrays |= {"start_b_position": still - [9.0, 0, 0], "end_b_position": still + [9.0, 0, 0]}
    arrays |= {f"{name}_quat_wxyz": q for name in POSE_NAMES}
    np.savez(path, **{**arrays, **changes})
    return path


def test_poses_that_cannot_be_used_are_told(inputs, tmp_path, capsys):
    """All quaternions of length 1.01: every pair was INVALID_INPUT and the command ended with 0."""
    mesh, out = inputs[0] / "shape.obj", tmp_path / "c.npz"
    long = np.array([[1.01, 0, 0, 0]] * 2)
    poses = poses_file(tmp_path / "p.npz", end_b_quat_wxyz=long)
    code, text = failure(capsys, "run", mesh, mesh, poses, "-o", out, "--plain")
    assert code == 2 and not out.exists()
    assert "2 of 2 rows" in text and "row 0, end_b: quaternion has length 1.01" in text and "divide" in text
    poses = poses_file(tmp_path / "p.npz", end_b_quat_wxyz=long * [[1], [1 / 1.01]])
    assert run_cli("run", mesh, mesh, poses, "-o", out, "--plain", "-q", "--no-check-start") == 0
    said = capsys.readouterr().err
    assert "warning" in said and "1 of 2 rows" in said and said.count("warning") == 1
    assert gc.Contacts.load(out).status.tolist() == [gc.Status.INVALID_INPUT, gc.Status.HIT]


def test_outputs_that_cannot_be(inputs, tmp_path, capsys):
    """``-o ""`` wrote ``.npz``, and ``-o poses.npz`` the result over the poses."""
    mesh = inputs[0] / "shape.obj"
    poses = poses_file(tmp_path / "poses.npz")
    before = poses.read_bytes()
    for output, expected in (
        ("", "-o: expected a file name"), (tmp_path, "-o: expected a file name"),
        (f"{tmp_path}/", "expected a file"),
        (tmp_path / "c.txt", "ending in .npz"), (poses, "it is an input of this command"),
        (tmp_path / "poses", "it is an input of this command"),
    ):  # fmt: skip
        code, text = failure(capsys, "run", mesh, mesh, poses, "-o", output, "--plain")
        assert code == 2 and expected in text, output
    np.savez(tmp_path / "race.npz", **demo_race(1))
    for option, output in (("-o", ""), ("-o", tmp_path / "race.npz"), ("-o", "c.txt"), ("--picture", "")):
        code, _ = failure(capsys, "race", tmp_path / "race.npz", option, output, "--plain")
        assert code == 2, (option, output)
    code, text = failure(capsys, "screen", mesh, mesh, poses, "-o", "", "--plain")
    assert code == 2 and "expected the name of a file" in text
    assert poses.read_bytes() == before and sorted(p.name for p in tmp_path.iterdir()) == [
        "poses.npz",
        "race.npz",
    ]


def test_seeds_and_folders_are_checked_before_the_work(inputs, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run_cli("demo", "--seed", "-1")
    assert "argument --seed: expected a whole number from 0 up" in capsys.readouterr().err
    mesh = inputs[0] / "shape.obj"
    code, text = failure(capsys, "demo", "--save-input", "-o", mesh, "--plain")
    assert code == 2 and "cannot make the folder" in text and "kernels ready" not in text
    poses = poses_file(tmp_path / "poses.npz")
    code, text = failure(
        capsys,
        "screen",
        mesh,
        mesh,
        poses,
        "-o",
        tmp_path / "a.png",
        "--space",
        tmp_path / "a.png",
        "--plain",
    )
    assert code == 2 and "--space: expected another file than -o" in text
