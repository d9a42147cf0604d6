"""Small files that hold more than the machine has memory for: refused by what their heads say, nothing read.

The story: an array of 8 GB of zeros, 8 MB in its file, ended in a plain ``MemoryError``.
"""

import tracemalloc
import zipfile

import numpy as np
import pytest

import gpu_collide as gc
from gpu_collide.cli import files, view
from gpu_collide.results import npz
from gpu_collide.scenes import demo_race

FREE = 60_000_000


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    monkeypatch.setattr(npz, "host_memory_free", lambda: FREE)


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """The ``.npy`` file of 80 MB of zeros, deflated, as a member of an archive: 80 KB."""
    path = tmp_path_factory.mktemp("bomb") / "bomb.npz"
    np.savez_compressed(path, bomb=np.zeros((FREE // 18, 3)))
    return path


def with_bomb(path, bomb, name):
    """The archive `path` with the array `name` exchanged for the bomb."""
    with zipfile.ZipFile(path) as archive:
        members = {n: archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(bomb) as archive:
        members[name + ".npy"] = archive.read("bomb.npy")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    assert path.stat().st_size < FREE // 20


def found():
    start, end = (gc.Poses.from_quat_wxyz([[0, 0, 0], [x, 0, 0]], [[1.0, 0, 0, 0]] * 2) for x in (2, 0.5))
    bodies = gc.Bodies(gc.shapes.box(), None, start, end)
    return gc.collide(bodies, [[0, 1]], backend="reference"), bodies


def refuses(read, error=ValueError):
    tracemalloc.start()
    try:
        with pytest.raises(error, match=r"takes 0\.08 GB in memory, and 0\.06 are free; read it on a larger"):
            read()
        assert tracemalloc.get_traced_memory()[1] < FREE // 10
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["status", "position", "info", "format_version", "checksums"])
def test_a_result(tmp_path, bomb, name):
    found()[0].save(tmp_path / "c.npz")
    with_bomb(tmp_path / "c.npz", bomb, name)
    refuses(lambda: gc.Contacts.load(tmp_path / "c.npz"))


@pytest.mark.parametrize("name", ["scene", "scene_0"])
def test_a_kept_file(tmp_path, bomb, name):
    gc.view.save_result(*found(), tmp_path / "k.npz")
    with_bomb(tmp_path / "k.npz", bomb, name)
    refuses(lambda: gc.view.load_result(tmp_path / "k.npz"))


@pytest.mark.parametrize("name", ["time", "position", "track_faces"])
def test_a_recording(tmp_path, bomb, name):
    np.savez(tmp_path / "r.npz", **demo_race(1))
    with_bomb(tmp_path / "r.npz", bomb, name)
    refuses(lambda: gc.load_recording(tmp_path / "r.npz"))


def test_poses_of_the_command(tmp_path, bomb):
    arrays = {key: np.zeros((1, 3 if key.endswith("position") else 4)) for key in files.POSE_KEYS}
    np.savez(tmp_path / "p.npz", **arrays)
    with_bomb(tmp_path / "p.npz", bomb, files.POSE_KEYS[2])
    refuses(lambda: files.read_poses(str(tmp_path / "p.npz")), files.UserError)


def test_a_result_of_the_command(tmp_path, bomb):
    found()[0].save(tmp_path / "c.npz")
    with_bomb(tmp_path / "c.npz", bomb, "format_kind")
    refuses(lambda: view.read_result(str(tmp_path / "c.npz")), files.UserError)


def test_arrays_of_others_in_a_recording_are_not_read(tmp_path, bomb):
    np.savez(tmp_path / "r.npz", **demo_race(1))
    with_bomb(tmp_path / "r.npz", bomb, "somebody_elses")
    assert gc.load_recording(tmp_path / "r.npz").times.size


def test_reading_takes_the_memory_of_the_array_alone(tmp_path, monkeypatch):
    """A copy beside it was twice that."""
    monkeypatch.setattr(npz, "host_memory_free", lambda: 1 << 40)
    np.savez_compressed(tmp_path / "a.npz", a=np.arange(8_000_000.0))
    with npz.open_npz(tmp_path / "a.npz", "a file") as reader:
        tracemalloc.start()
        try:
            array = reader.read("a")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert array[-1] == 7_999_999 and not array.flags.writeable and peak < 2 * array.nbytes
