"""``gpu-collide batch``: exit codes, what it says, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gpu_collide.cli import main
from tests.batch import runs

pytest.importorskip("pyarrow", reason="batch runs write Parquet: pip install 'gpu-collide[batch]'")
pytestmark = pytest.mark.backends("cpu")


@pytest.fixture
def folder(tmp_path):
    """Recordings that hold their meshes."""
    (tmp_path / "in").mkdir()
    for k in range(3):
        arrays = runs.walk(k)
        for name, mesh in (("car", runs.GIVEN["meshes"]), ("track", runs.GIVEN["static"])):
            arrays[f"{name}_vertices"] = mesh.vertices
            loops = np.split(mesh.face_vertices, mesh.face_start[1:-1])
            arrays[f"{name}_faces"] = np.array(
                [f[[0, k, k + 1]] for f in loops for k in range(1, len(f) - 1)]
            )
        runs.write(tmp_path / "in" / f"r{k}.npz", arrays)
    return tmp_path / "in"


def command(*words):
    return main(["batch", *map(str, words), "--backend", "cpu", "--plain"])


def test_all_done_is_0_and_the_tables_are_there(folder, tmp_path, capsys):
    assert command(folder, "-o", tmp_path / "out", "--tables", "encounters,contacts") == 0
    said = capsys.readouterr().out
    assert "recordings" in said and "encounters" in said
    assert len(runs.rows_of(tmp_path / "out", "contacts")) and not (tmp_path / "out" / "pairs").exists()
    assert command("-o", tmp_path / "out", "--verify") == 0
    (tmp_path / "out" / "contacts" / "part-000000.parquet").write_bytes(b"")
    assert command("-o", tmp_path / "out", "--verify") == 1
    assert "item 0 is not done" in capsys.readouterr().out


def test_some_failed_is_2_and_so_is_bad_input(folder, tmp_path, capsys):
    (folder / "r1.npz").write_bytes(b"PK\3\4")
    assert command(folder, "-o", tmp_path / "out") == 2
    assert "1 (see errors)" in capsys.readouterr().out
    assert command(folder, "-o", tmp_path / "out", "--resume", "--min-properness", "0") == 2
    assert "resume: options is not what" in capsys.readouterr().err
    assert command(folder, "-o", tmp_path / "other", "--stop-on-error") == 2
    assert "r1.npz" in capsys.readouterr().err
    assert command("-o", tmp_path / "none") == 2


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_cancelled_is_130_and_resume_goes_on(tmp_path, engine):
    inputs = runs.make(tmp_path / "in", 3, frames=40)
    runs.write(inputs / "long.npz", runs.walk(1, frames=20_000))
    given = ["-o", str(tmp_path / "out"), "--car-mesh", "car.obj", "--engine", engine]
    given += ["--workers", "2", "--poses-per-item", "2000"]
    write_obj(tmp_path)
    run = subprocess.Popen(
        [sys.executable, "-m", "gpu_collide.cli", "batch", str(inputs), *given],
        cwd=tmp_path, env=runs.ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # What is started in the background of a script ignores the signal, and so does all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    until = time.monotonic() + 60
    while not list((tmp_path / "out").glob("done/*")):
        assert run.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    sent = time.monotonic()
    said = run.communicate()[1]
    assert run.returncode == 130, said
    assert time.monotonic() - sent < 10, said
    assert "--resume goes on" in said and "Traceback" not in said


def write_obj(folder):
    mesh = runs.GIVEN["meshes"]
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    for loop in np.split(mesh.face_vertices, mesh.face_start[1:-1]):
        lines.append("f " + " ".join(str(k + 1) for k in loop))
    (folder / "car.obj").write_text("\n".join(lines) + "\n")
