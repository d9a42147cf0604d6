"""Runs that are killed, at whichever moment: resumed, they are what they would have been."""

import os
import subprocess

import pytest

from tests.batch import runs

pytest.importorskip("pyarrow", reason="batch runs write Parquet: pip install 'gpu-collide[batch]'")
pytestmark = pytest.mark.backends("cpu")

MOMENTS = ("reading", "colliding", "marking")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Recordings, and the digests of what an undisturbed run makes of them."""
    folder = tmp_path_factory.mktemp("whole")
    inputs = runs.make(folder / "in")
    runs.run(inputs, folder / "out")
    return inputs, runs.tree(folder / "out")


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_killed_and_resumed_is_the_same_tree(whole, tmp_path, moment):
    inputs, expected = whole
    out = tmp_path / "out"
    code, _ = runs.other_process(inputs, out, fault=moment)
    assert code == -9
    left = runs.tree(out)
    assert not set(expected) <= set(left)
    if moment == "marking":  # files without a mark do not count
        assert any(name.startswith("contacts/") for name in left) and "done/part-000000.json" not in left
    runs.run(inputs, out, resume=True)
    assert runs.tree(out) == expected


def test_workers_killed_at_three_moments_cost_a_second_try(whole, tmp_path, monkeypatch):
    inputs, expected = whole
    for name, value in runs.faulty(",".join(MOMENTS), tmp_path / "flag").items():
        monkeypatch.setenv(name, value)
    summary = runs.run(inputs, tmp_path / "out", engine="processes", workers=1)
    assert sorted(path.suffix[1:] for path in tmp_path.glob("flag.*")) == sorted(MOMENTS)
    assert summary.failed == 0 and runs.tree(tmp_path / "out") == expected


def test_a_recording_that_kills_each_time_is_a_row_and_its_bundle_goes_on(tmp_path, monkeypatch):
    inputs = runs.make(tmp_path / "in", 3)
    runs.write(inputs / "r1-lethal.npz", runs.walk(9))
    for name, value in runs.faulty("lethal", None).items():
        monkeypatch.setenv(name, value)
    summary = runs.run(inputs, tmp_path / "out", engine="processes", workers=2, retries=1)
    assert (summary.recordings_done, summary.failed) == (4, 1)
    (row,) = runs.rows_of(tmp_path / "out", "errors").to_pylist()
    assert row == {
        "recording": "r1-lethal.npz",
        "path": str(inputs / "r1-lethal.npz"),
        "step": 0,
        "kind": "WorkerDied",
        "text": "its process ended 2 times",
    }
    kept = [f"r{k}.npz" for k in range(3)]
    runs.same_rows(runs.rows_of(tmp_path / "out", "contacts"), runs.loop(inputs, "contacts", kept))


def full_by_limit(tmp_path, sizes):
    """No file may be as large as the largest."""
    return tmp_path / "out", {"limit": sizes[-1] - 1}, lambda: None


def full_by_tmpfs(tmp_path, sizes):
    """A file system with room for half of all; more is made by giving it another size."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={sum(sizes) // 2}", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip(
            "no file system can be mounted here; the same with a limit on the size of files is tested"
        )
    return (
        disk / "out",
        {},
        lambda: subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True),
    )


@pytest.mark.parametrize("full", [full_by_limit, full_by_tmpfs])
def test_a_full_disk_ends_the_run_and_what_is_done_stays(whole, tmp_path, full):
    inputs, expected = whole
    sizes = sorted(path.stat().st_size for path in (inputs.parent / "out").rglob("*.*"))
    out, options, make_room = full(tmp_path, sizes)
    try:
        code, said = runs.other_process(inputs, out, retries=0, **options)
        assert code == 1 and "OSError" in said
        left = runs.tree(out)
        assert any(name.startswith("done/") for name in left)
        assert all(expected[name] == digest for name, digest in left.items() if name[0] != ".")
        make_room()
        runs.run(inputs, out, resume=True)
        assert runs.tree(out) == expected
    finally:
        if full is full_by_tmpfs:
            subprocess.run(["umount", str(out.parent)], check=True)


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_cancelled_and_resumed(whole, tmp_path, engine):
    inputs, expected = whole

    def cancel(summary):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run(inputs, tmp_path / "out", engine=engine, workers=1, progress=cancel)
    assert not set(expected) <= set(runs.tree(tmp_path / "out"))
    found = []
    runs.run(inputs, tmp_path / "out", resume=True, progress=found.append)
    assert found[0].items_found >= 1
    assert runs.tree(tmp_path / "out") == expected
